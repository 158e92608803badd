"""The phase in which the user's own model reads what no rest between two turns has read (K3a).

It reads as a rest does (`insula.night.understanding`), some lines a call, each written by itself; so a night that is
killed here goes on with the lines that are left.
"""

from collections import Counter

from insula.errors import BudgetExceeded, ModelError
from insula.memory.storage import unread
from insula.memory.storage.unread import TOKENS_A_DAY
from insula.night.asking import total_usage
from insula.night.cycle import Night, Result
from insula.night.understanding import Reader, UnderstandingReport, read_lines
from insula.night.wording import count_noun, join_parts

CALLS = 8
"""Calls of one night; what is left over is for the next."""
NOBODY = "No model is there to read what was said."
NOTHING = "All that was said was read before."


async def understand_lines(night: Night) -> Result:
    """The phase: what the model reads in the lines since the last, as far as the user's own words bear it out."""
    return await understand_within(night, TOKENS_A_DAY)


async def understand_within(night: Night, tokens: int) -> Result:
    """The same within another amount of tokens for a day."""
    if night.model is None:
        return Result({"read": await night.store.read(unread.last_read, night.user_id)}, skipped=NOBODY)
    reader = Reader(
        store=night.store,
        user=night.user,
        user_id=night.user_id,
        model=night.model,
        account=night.account,
        embed=night.embed,
        tokens=tokens,
    )
    reports, why = list[UnderstandingReport](), ""
    try:
        while len(reports) < CALLS and (report := await read_lines(reader)) is not None:
            reports.append(report)
    except (ModelError, BudgetExceeded) as error:
        why = str(error)
    read = await night.store.read(unread.last_read, night.user_id)
    if not reports:
        return Result({"read": read}, skipped=why or NOTHING)
    understood = [number for report in reports for number in report["understood"]]
    ended = [pair for report in reports for pair in report["ended"]]
    wishes = sum(report["wishes"] for report in reports)
    refused = sum((Counter(report["refused"]) for report in reports), Counter[str]())
    report = {
        "lines": sum(report["lines"] for report in reports),
        "understood": understood,
        "ended": ended,
        "wishes": wishes,
        "refused": dict(refused),
        "spent": total_usage(report["usage"] for report in reports),
        "read": read,
    }
    said = join_parts(
        (
            f"in {count_noun(len(understood), 'line')} of yours the model found facts" if understood else "",
            f"{count_noun(len(ended), 'fact')} {'is' if len(ended) == 1 else 'are'} over" if ended else "",
            f"{count_noun(wishes, 'preference')} of yours changed" if wishes else "",
            f"{count_noun(refused.total(), 'claim')} of the model refused" if refused else "",
        )
    )
    return Result(report, says=[said] if said else ())
