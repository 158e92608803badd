"""The phase in which the user's own model reads what no rest between two turns has read (K3a).

It reads as a rest does (`insula.night.understanding`), some lines a call, each written by itself; so a night that is
killed here goes on with the lines that are left.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NotRequired, TypedDict

from insula.errors import BudgetExceeded, ModelError
from insula.memory.storage import unread
from insula.memory.storage.unread import TOKENS_A_DAY
from insula.night.asking import total
from insula.night.cycle import Night, Result
from insula.night.understanding import Reader, Report, read_lines

CALLS = 8
"""Calls of one night; what is left over is for the next."""
NOBODY = "No model is there to read what was said."
NOTHING = "All that was said was read before."


class Done(TypedDict):
    """What became of the lines of a night."""

    lines: NotRequired[int]
    understood: NotRequired[list[int]]
    """The memories of which the model said what they state."""
    ended: NotRequired[list[list[int]]]
    """Memories that are over, each with the one that ended it."""
    wishes: NotRequired[int]
    refused: NotRequired[dict[str, int]]
    spent: NotRequired[dict[str, int]]
    """Tokens of all calls; each stands in the entry of its own, too."""
    read: int
    """Id of the last message that was read."""


async def understand(night: Night) -> Result:
    """The phase: what the model reads in the lines since the last, as far as the user's own words bear it out."""
    return await understand_within(night, TOKENS_A_DAY)


async def understand_within(night: Night, tokens: int) -> Result:
    """The same within another amount of tokens for a day."""
    if night.model is None:
        return Result(await _done(night, ()), skipped=NOBODY)
    reader = Reader(
        store=night.store,
        user=night.user,
        user_id=night.user_id,
        model=night.model,
        account=night.account,
        embed=night.embed,
        tokens=tokens,
    )
    reports, why = list[Report](), ""
    try:
        while len(reports) < CALLS and (report := await read_lines(reader)) is not None:
            reports.append(report)
    except (ModelError, BudgetExceeded) as error:
        why = str(error)
    return Result(await _done(night, reports), skipped="" if reports else why or NOTHING)


async def _done(night: Night, reports: Iterable[Report]) -> Done:
    read = await night.store.read(unread.last_read, night.user_id)
    every = list(reports)
    if not every:
        return {"read": read}
    return {
        "lines": sum(one["lines"] for one in every),
        "understood": [number for one in every for number in one["understood"]],
        "ended": [pair for one in every for pair in one["ended"]],
        "wishes": sum(one["wishes"] for one in every),
        "refused": dict(sum((Counter(one["refused"]) for one in every), Counter[str]())),
        "spent": total(one["usage"] for one in every),
        "read": read,
    }
