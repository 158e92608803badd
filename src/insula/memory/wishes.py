"""One ledger of preferences: what a new plain word of the user's makes of those that stand. The newest wins at once.

Pure: preferences that stand and the new one go in, what is written comes out. One that was refined, contradicted or
lifted is retired with the reason and what took its place, and can be brought back. A request of the moment is written
down, too, and is told once it was made again in another session; until then it takes the place of no preference.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, NewType

from insula.language.handed import UsersWords
from insula.memory.storage.changes import Change, Lesson, Retired, Revision
from insula.memory.storage.rows import Kept
from insula.redaction import without_markers
from insula.screening import screen
from insula.text import triggers
from insula.text.analysis import analyse
from insula.text.relations import relation
from insula.text.wishing import Relation, Wish, unsettled, wishes

WISH = "wish"
"""The first part of a wish's key."""
ASKED = "asked"
"""The second one where it was a request of the moment: it stands when it was made in two sessions."""
TWICE = 2
MOST = 200
"""Wishes that stand; of more the oldest is retired."""
TOPIC_TERMS = 8
USER = "user"
SCREENED = 2_000
"""Characters of a message that are looked at; a longer one is not the user's own plain words."""
MOSTLY = 0.8
"""Share of a message that its wishes must make up for it to be nothing else."""
ECHO_WORDS = 4
"""So many words that a tool said before are the tool's, whoever repeats them."""
_FRAMED = re.compile(r"\AThe user always wants this: \"(.*)\"\Z", re.DOTALL)
WHY: dict[Relation, str] = {
    "contradicts": "the user said the opposite",
    "refines": "the user said it more precisely",
    "lifts": "the user took it back",
}


OwnWish = NewType("OwnWish", Wish)
"""A wish in words that the user said themselves, of which guidance may be made; only `plain` makes it."""


class Heard(NamedTuple):
    """What the wishes of a message change, and the ledger then."""

    changes: tuple[Change, ...]
    kept: tuple[Kept, ...]
    stood: tuple[OwnWish, ...]
    """Those of the message that stand from now on, and did not before."""


def wished(
    said: UsersWords,
    language: str,
    previous: str = "",
    response: str = "",
    tools: Iterable[str] = (),
) -> tuple[OwnWish, ...]:
    """The wishes in a message that may be learned from: none where any part of it reads like an attack, and none that
    holds a secret or repeats what a tool said.

    Args:
        said: what of the message the user said themselves, redacted.
        language: of the message, as far as it can tell; of the talk where it is too short.
        previous: the user's message before it.
        response: what came back.
        tools: what tools said in the session.
    """
    return plain(wishes(said.text, language, previous[:SCREENED], response[:SCREENED]), said, tools)


def unsure(said: UsersWords, language: str, tools: Iterable[str] = ()) -> tuple[OwnWish, ...]:
    """What a message may wish, or take back, and its words leave open, under the same conditions."""
    return plain(unsettled(said.text, language), said, tools)


def plain(found: Sequence[Wish], said: UsersWords, tools: Iterable[str]) -> tuple[OwnWish, ...]:
    """Of some wishes that what a user said may hold those that may be learned from."""
    if not found or screen(said.text[:SCREENED], SCREENED).reasons:
        return ()
    echoes = [_flat(text) for text in tools]
    return tuple(OwnWish(one) for one in found if _is_plain(one.words, echoes))


def is_all(heard: Sequence[Wish], message: str) -> bool:
    """Whether a message is nothing but what it wishes of the manner of answers, and so tells nothing of the user."""
    told = sum(len(one.words) for one in heard if one.force in ("standing", "asked"))
    return told >= MOSTLY * len(message.strip()) > 0


def _is_plain(said: str, echoes: Sequence[str]) -> bool:
    repeats = len(said.split()) >= ECHO_WORDS and any(_flat(said) in echo for echo in echoes)
    return without_markers(said) == said and not repeats


def _flat(text: str) -> str:
    return " ".join(text.lower().split())


def is_wish(kept: Kept) -> bool:
    """Whether a piece of guidance is a wish on how to answer."""
    return not kept.section and kept.key.partition("/")[0] == WISH


def stands(kept: Kept) -> bool:
    """Whether a wish is told: a request only where it was made in two sessions, or a person accepted it."""
    for_now = kept.key.split("/")[1:2] == [ASKED]
    return is_wish(kept) and (not for_now or len(kept.citations) >= TWICE or bool(kept.mode) or kept.author == "person")


def words(kept: Kept) -> str:
    """A wish in the words that the user used."""
    framed = _FRAMED.match(kept.advice)
    return framed[1] if framed else kept.advice


def hear(
    kept: Iterable[Kept],
    heard: Sequence[OwnWish],
    message: int,
    now: float,
    pointed: Sequence[int] = (),
    session: Collection[int] = (),
) -> Heard:
    """What the wishes of one message change.

    Args:
        kept: a user's guidance.
        heard: the wishes, in their order.
        message: the id of the message.
        now: seconds since the epoch.
        pointed: ids of what was told, or said, just before: what "stop doing that" points at, where it is one.
        session: ids of the messages of its session: a request that one of them made is not made again.
    """
    everything = list(kept)
    standing = [one for one in everything if is_wish(one)]
    changes, stood = list[Change](), list[OwnWish]()
    for wish in heard:
        if wish.force == "pointing":
            meant = [one for one in everything if one.id in pointed]
            changes += [Retired(one.key, USER, WHY["lifts"], "", message) for one in meant if len(meant) == 1]
        elif not any(message in one.citations and words(one) == wish.words for one in standing):
            before = {one.key for one in standing if stands(one)}
            made, standing = _heard(standing, wish, message, now, session)
            changes += made
            stood += [wish] if any(stands(one) and one.key not in before for one in standing) else []
    return Heard(tuple(changes), tuple(standing), tuple(stood))


def _heard(
    standing: list[Kept], wish: Wish, message: int, now: float, session: Collection[int]
) -> tuple[list[Change], list[Kept]]:
    found = [(one, relation(wish, words(one))) for one in standing if is_of_one_matter(wish, one)]
    same = next((one for one, what in found if what == "same"), None)
    if wish.force == "asked" and same is not None and not stands(same):
        if not session or set(session).isdisjoint(same.citations):
            return _again(same, standing, wish, message)
        return [], standing
    out: dict[str, Relation] = {one.key: what for one, what in found if what in WHY and _may_end(wish, one)}
    if wish.force in ("once", "weak") and "refines" not in out.values():
        gone: dict[str, Relation] = {key: what for key, what in out.items() if what == "lifts"}
        return _retired(standing, gone, "", message), [one for one in standing if one.key not in gone]
    if same is not None and stands(same) and not out:
        cited = _cited(same, message)
        return [_lesson(cited), _said(cited, "said again", message)], [
            cited if one is same else one for one in standing
        ]
    if "lifts" in out.values():
        return _retired(standing, out, "", message), [one for one in standing if one.key not in out]
    if same is not None and not stands(same):
        out[same.key] = "refines"  # what was asked for is wished for good
    return _written(standing, out, entry(wish, message, now), message)


def _may_end(wish: Wish, one: Kept) -> bool:
    """Whether a wish may end another: a request of the moment only another request, or what it bids to stop."""
    return wish.force != "asked" or wish.lifts or wish.stops or not stands(one)


def _again(same: Kept, standing: list[Kept], wish: Wish, message: int) -> tuple[list[Change], list[Kept]]:
    """A request that was made in another session, too: it stands from now on, in the place of what contradicts it."""
    others = [one for one in standing if one is not same and is_of_one_matter(wish, one)]
    out: dict[str, Relation] = {
        one.key: what for one in others if (what := relation(wish, words(one))) == "contradicts"
    }
    return _written(standing, out, _cited(same, message), message, "said again")


def _written(
    standing: list[Kept], out: Mapping[str, Relation], new: Kept, message: int, why: str = "said"
) -> tuple[list[Change], list[Kept]]:
    """The ledger with a new entry in the place of some others, and without the oldest where there are too many."""
    left = [one for one in standing if one.key not in out and one.key != new.key]
    crowd = {one.key for one in sorted(left, key=lambda one: one.created_at)[: max(0, len(left) - MOST + 1)]}
    changes: list[Change] = [*_retired(standing, out, new.key, message), *_crowded(left, crowd)]
    changes += [_lesson(new), _said(new, why, message)]
    return changes, [*(one for one in left if one.key not in crowd), new]


def is_of_one_matter(wish: Wish, one: Kept) -> bool:
    """Whether both hold for the same: what is wished for one topic leaves what is wished in general alone."""
    about = _terms(wish.about)
    if not about or not one.trigger:
        return (not about and not one.trigger) or (wish.lifts and not about)
    return triggers.overlap(about, one.trigger) >= triggers.SAME


def _terms(about: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(analyse(about).terms))[:TOPIC_TERMS] if about else ()


def entry(wish: Wish, message: int, now: float) -> Kept:
    """A wish as it is written down."""
    name = sha256(" ".join(wish.words.lower().split()).encode()).hexdigest()[:16]
    return Kept(
        id=0,
        key=f"{WISH}/{ASKED if wish.force == 'asked' else 'standing'}/{name}",
        advice=wish.words,
        trigger=_terms(wish.about),
        section="",
        author="derived",
        mode="",
        citations=(message,),
        created_at=now,
        evidence=(),
    )


def _cited(one: Kept, *said: int) -> Kept:
    return one._replace(citations=tuple(sorted({*one.citations, *said})))


def backed(one: Kept, *said: int) -> Lesson:
    """A wish as a change, with further messages that say it."""
    return _lesson(_cited(one, *said))


def _lesson(one: Kept) -> Lesson:
    return Lesson(one.key, one.advice, one.trigger, "", one.author, one.citations)


def _said(one: Kept, why: str, message: int) -> Revision:
    return Revision(f"lesson:{one.key}", USER, one.advice, {"why": why, "message": message})


def _retired(standing: Iterable[Kept], out: Mapping[str, Relation], by: str, message: int) -> list[Change]:
    gone = (one for one in standing if one.key in out)
    return [Retired(one.key, USER, WHY[out[one.key]], by, message) for one in gone]


def _crowded(standing: Iterable[Kept], crowd: Collection[str]) -> list[Change]:
    return [Retired(one.key, "night", "there were too many", "", 0) for one in standing if one.key in crowd]
