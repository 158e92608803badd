"""The phase that asks a model about wishes whose words leave open what the newer makes of the older (R8).

One short question a pair, journalled and bounded; without a model nothing is asked, and both stand. Nor is one asked
that does not tell apart a few pairs whose answer is known: a small model takes all of them for contradictions.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NotRequired, TypedDict

from pydantic import BaseModel

from insula.errors import BudgetExceeded, ModelMalformed, ModelRefused
from insula.memory.storage import ledger
from insula.memory.storage.rows import Kept
from insula.memory.wishes import is_wish, stands, unsure, words
from insula.night import prompts
from insula.night.asking import Json, ask, total
from insula.night.corrections import is_users
from insula.night.cycle import Night, Result
from insula.night.pairs import Later, Pair, doubtful, settled
from insula.night.sessions import Heard, since_last_night
from insula.text.analysis import detect
from insula.text.slots import slots
from insula.text.wishing import Relation, Wish

if TYPE_CHECKING:
    from pydantic_ai.models import Model

PURPOSE = "wishes"
MAX_TOKENS = 40


UNFIT = "The model could not be asked, or did not tell known pairs apart: wishes in doubt stand as they are."
KNOWN: tuple[tuple[str, str, Relation], ...] = (
    ("Keep it short.", "My skirt has got too short.", "unrelated"),
    ("No emojis, please.", "My nephew sends far too many emojis.", "unrelated"),
    ("Keep it short.", "From now on I want every detail.", "contradicts"),
)
"""Pairs that a model must tell apart before it is asked about others."""


class Verdict(BaseModel):
    """What the later word makes of the wish."""

    relation: Relation


class Done(TypedDict):
    """What became of a pair."""

    what: str
    old: str
    new: str


class Report(TypedDict):
    """The pairs that were asked about."""

    asked: NotRequired[int]
    unread: NotRequired[int]
    """Answers that could not be read: then both stand."""
    left: NotRequired[int]
    """Pairs for which the budget did not suffice."""
    done: NotRequired[list[Done]]
    refused: NotRequired[list[Done]]
    usage: NotRequired[dict[str, int]]
    up_to: int


async def settle(night: Night) -> Result:
    """Ask about each doubtful pair of wishes since the last night, and write down what is said of it.

    Raises:
        InsulaError: the model was not reached: nothing is written, and the next start asks what is left.
    """
    heard, _ = await since_last_night(night)
    seen = heard[-1].session.last if heard else night.seen
    if night.model is None:
        return Result(Report(up_to=seen), skipped="Without a model, nobody is asked about wishes in doubt.")
    pieces = await night.store.read(ledger.pieces, night.user_id)
    kept = [one.kept for one in pieces if not one.retired]
    pairs = doubtful(_later(heard, kept, night.seen), kept, [one.kept for one in pieces if one.retired])
    if not pairs:
        return Result(Report(up_to=seen), skipped="No two wishes are in doubt.")
    answers, unread, usages = await _asked(night, night.model, pairs)
    if not answers:
        return Result(Report(up_to=seen, left=len(pairs)), skipped=UNFIT)
    found = settled(pairs[: len(answers)], answers, kept, night.now)
    report: Report = {
        "asked": len(answers),
        "unread": unread,
        "left": len(pairs) - len(answers),
        "done": [_told(pair, what) for pair, what in found.done],
        "refused": [_told(pair, why) for pair, why in found.refused],
        "usage": total(usages),
        "up_to": seen,
    }
    return Result(report, found.changes)


def _told(pair: Pair, what: str) -> Done:
    return {"what": what, "old": words(pair.old), "new": pair.new.wish.words}


def _later(heard: Sequence[Heard], kept: Sequence[Kept], seen: int) -> Iterator[Later]:
    """What was wished since the last night, and what may have been, oldest first."""
    for one in heard:
        tools, previous = list[str](), ""
        for line in one.lines:
            if line.provenance == "tool":
                tools.append(line.content)
            if not is_users(line) or line.id <= seen:
                continue
            mine = [each for each in kept if is_wish(each) and max(each.citations, default=0) == line.id]
            yield from (Later(line.id, _as_wish(each), each) for each in mine)
            said = {words(each) for each in mine}
            language = detect(line.content, detect(previous, "en"))
            open_ = (wish for wish in unsure(one.said[line.id], language, tools) if wish.words not in said)
            yield from (Later(line.id, wish, None) for wish in open_)
            previous = line.content


def _as_wish(one: Kept) -> Wish:
    return Wish(words(one), slots(words(one)), "standing" if stands(one) else "asked")


async def _asked(
    night: Night, model: "Model", pairs: Sequence[Pair]
) -> tuple[list[Relation], int, list[dict[str, int]]]:
    """The answers on some pairs, as far as the budget reaches; none of a model that does not know the known ones."""
    answers, unread, usages = list[Relation](), 0, list[dict[str, int]]()
    try:
        for number, (old, new, wanted) in enumerate(KNOWN):
            answer = await _answer(night, model, f"wishes:known:{number}", old, new)
            usages.append(answer["usage"])
            if _read(answer) != wanted:
                return [], 0, usages
        for pair in pairs:
            name = sha256(f"{pair.old.key} {pair.new.wish.words}".encode()).hexdigest()[:16]
            entry = f"wishes:{pair.new.message}:{name}"
            answer = await _answer(night, model, entry, words(pair.old), pair.new.wish.words)
            usages.append(answer["usage"])
            unread += answer["value"] is None
            answers.append(_read(answer))
    except BudgetExceeded:
        pass
    return answers, unread, usages


async def _answer(night: Night, model: "Model", name: str, old: str, new: str) -> Json:
    return await ask(
        night,
        model,
        name,
        prompts.pair(old, new),
        Verdict,
        purpose=PURPOSE,
        max_tokens=MAX_TOKENS,
        temperature=0.0,
        final=(ModelMalformed, ModelRefused),
    )


def _read(answer: Json) -> Relation:
    """What an answer says; what cannot be read says nothing."""
    return Verdict.model_validate(answer["value"]).relation if answer["value"] else "unrelated"
