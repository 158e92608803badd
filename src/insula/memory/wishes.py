"""One ledger of wishes: what a new plain word of the user's makes of those that stand. The newest wins at once.

Pure: wishes that stand and the new one go in, what is written comes out. An old wish that was refined, contradicted or
lifted is retired with the reason and what took its place, and can be brought back.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from insula.memory.changes import Change, Lesson, Retired, Revision
from insula.memory.rows import Kept
from insula.redaction import without_markers
from insula.screening import screen
from insula.text import triggers
from insula.text.analysis import analyse
from insula.text.relations import relation
from insula.text.wishing import Relation, Wish, unsettled, wishes

WISH = "wish"
"""The first part of a wish's key."""
ASKED = "asked"
"""The second one where it was a wish for now: it stands when it was said twice."""
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


class Heard(NamedTuple):
    """What a new wish changes, and the wishes that stand then."""

    changes: tuple[Change, ...]
    kept: tuple[Kept, ...]


def wished(
    message: str,
    language: str,
    previous: str = "",
    response: str = "",
    tools: Iterable[str] = (),
    meant: tuple[tuple[str, float], ...] = (),
) -> tuple[Wish, ...]:
    """The wishes in a message that may be learned from: none where any part of it reads like an attack, and none that
    holds a secret or repeats what a tool said.

    Args:
        message: the user's, redacted.
        language: of the message, as far as it can tell; of the talk where it is too short.
        previous: the user's message before it.
        response: what came back.
        tools: what tools said in the session.
        meant: of its parts, by their meaning, the chance that each is a standing wish.
    """
    return plain(wishes(message, language, previous[:SCREENED], response[:SCREENED], meant), message, tools)


def unsure(message: str, language: str, tools: Iterable[str] = ()) -> tuple[Wish, ...]:
    """What a message may wish, or take back, and its words leave open, under the same conditions."""
    return plain(unsettled(message, language), message, tools)


def plain(found: Sequence[Wish], message: str, tools: Iterable[str]) -> tuple[Wish, ...]:
    """Of some wishes those that may be learned from."""
    if not found or screen(message[:SCREENED], SCREENED).reasons:
        return ()
    echoes = [_flat(text) for text in tools]
    return tuple(one for one in found if _is_plain(one.words, echoes))


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
    """Whether a wish is told: one for now only where it was said twice, or a person accepted it."""
    for_now = kept.key.split("/")[1:2] == [ASKED]
    return is_wish(kept) and (not for_now or len(kept.citations) >= TWICE or bool(kept.mode) or kept.author == "person")


def words(kept: Kept) -> str:
    """A wish in the words that the user used."""
    framed = _FRAMED.match(kept.advice)
    return framed[1] if framed else kept.advice


def hear(kept: Iterable[Kept], heard: Sequence[Wish], message: int, now: float, pointed: Sequence[int] = ()) -> Heard:
    """What the wishes of one message change.

    Args:
        kept: a user's guidance.
        heard: the wishes, in their order.
        message: the id of the message.
        now: seconds since the epoch.
        pointed: ids of what was told, or said, just before: what "stop doing that" points at, where it is one.
    """
    everything = list(kept)
    standing = [one for one in everything if is_wish(one)]
    changes: list[Change] = []
    for wish in heard:
        if wish.force == "pointing":
            meant = [one for one in everything if one.id in pointed]
            changes += [Retired(one.key, USER, WHY["lifts"], "", message) for one in meant if len(meant) == 1]
        elif not any(message in one.citations and words(one) == wish.words for one in standing):
            made, standing = _heard(standing, wish, message, now)
            changes += made
    return Heard(tuple(changes), tuple(standing))


def _heard(standing: list[Kept], wish: Wish, message: int, now: float) -> tuple[list[Change], list[Kept]]:
    found = [(one, relation(wish, words(one))) for one in standing if is_of_one_matter(wish, one)]
    out: dict[str, Relation] = {one.key: what for one, what in found if what in WHY}
    if wish.force in ("once", "weak") and "refines" not in out.values():
        gone: dict[str, Relation] = {key: what for key, what in out.items() if what == "lifts"}
        return _retired(standing, gone, "", message), [one for one in standing if one.key not in gone]
    same = next((one for one, what in found if what == "same"), None)
    if same is not None and not out:
        return _again(same, message), [_cited(one, message) if one is same else one for one in standing]
    if "lifts" in out.values():
        return _retired(standing, out, "", message), [one for one in standing if one.key not in out]
    new = entry(wish, message, now)
    left = [one for one in standing if one.key not in out and one.key != new.key]
    crowd = {one.key: "crowded" for one in sorted(left, key=lambda one: one.created_at)[: max(0, len(left) - MOST + 1)]}
    changes: list[Change] = [*_retired(standing, out, new.key, message), *_crowded(left, crowd)]
    changes += [_lesson(new), _said(new, "said", message)]
    return changes, [*(one for one in left if one.key not in crowd), new]


def is_of_one_matter(wish: Wish, one: Kept) -> bool:
    """Whether both hold for the same: what is wished for one topic leaves what is wished in general alone."""
    about = _terms(wish.about)
    return (not about and not one.trigger) or triggers.overlap(about, one.trigger) >= triggers.SAME or wish.lifts


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


def _again(one: Kept, message: int) -> list[Change]:
    return [_lesson(_cited(one, message)), _said(one, "said again", message)]


def backed(one: Kept, *said: int) -> Lesson:
    """A wish as a change, with further messages that say it."""
    return _lesson(_cited(one, *said))


def _lesson(one: Kept) -> Lesson:
    return Lesson(one.key, one.advice, one.trigger, "", one.author, one.citations)


def _said(one: Kept, why: str, message: int) -> Revision:
    return Revision(f"lesson:{one.key}", USER, one.advice, {"why": why, "message": message})


def _retired(standing: Iterable[Kept], out: dict[str, Relation], by: str, message: int) -> list[Change]:
    gone = (one for one in standing if one.key in out)
    return [Retired(one.key, USER, WHY[out[one.key]], by, message) for one in gone]


def _crowded(standing: Iterable[Kept], crowd: dict[str, str]) -> list[Change]:
    return [Retired(one.key, "night", "there were too many", "", 0) for one in standing if one.key in crowd]
