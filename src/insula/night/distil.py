"""Which guidelines stand in SOUL.md after a night: pure, from the document as it was and from what is supported now.

Support alone decides, and a guideline keeps its place as long as something backs it. One night changes
at most `DRIFT` of the document, and what would cost a supported guideline its place is proposed to a person, not done.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from insula.caches import clear_on_erasure
from insula.guidance import ACTIVE, CORROBORATED, MUTED, PINNED
from insula.night.agreement import says_opposite, says_same
from insula.night.grounding import find_harm
from insula.night.soul import Document, Section, SoulChange, diff_documents, revise_document, taken_out
from insula.night.soul.render import WORDS, count_heading_words, count_told_words, count_words
from insula.screening import screen_text
from insula.text.analysis import analyse_text

DRIFT = 0.3
"""Share of the night's part of the document, in words, that one night may take away or add (R8)."""
YOUNG = 150
"""Words up to which a document grows freely; a smaller one is taken for as large when its drift is measured. The first
one is not measured: nothing drifts from nothing."""
ADVICE = 200
"""Characters of a guideline; a longer one is not told."""
SENIORITY = 1
"""Sessions that standing in the document counts for."""
_MOST_STATEMENTS = 1_000
_MARKUP = re.compile(r"<!--|-->|```|\A\s*(?:[#>|*+-]|\d+[.)]\s)|[\r\n]")
_SPEAKS_OF_ITSELF = re.compile(
    r"\A(?:I|(?:The |This )?(?:assistant|agent|AI|model))\s+(should|must|need(?:s)? to|ought to)\b", re.IGNORECASE
)
_ID = re.compile(r"[0-9a-z_]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """A piece of guidance that might stand in the document, as the ledger has it."""

    id: str
    section: Section
    text: str
    sessions: frozenset[str]
    """The distinct sessions that back it."""
    since: float = 0.0
    """When it was first learned, in seconds since the epoch."""
    state: str = ACTIVE
    """A state of `guidance`: active and pinned ones may be told; the like of a muted one may not."""
    said: bool = False
    """Whether the user said it in plain words: then one session is enough (R9)."""

    @property
    def support(self) -> int:
        """How many sessions back it."""
        return len(self.sessions)


class DroppedGuideline(NamedTuple):
    """A guideline that was offered and does not stand in the document, and why."""

    id: str
    text: str
    why: str
    into: str = ""
    """The id of the one that gained its support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilResult:
    """What a night made of the document."""

    document: Document
    """What may be written now; the old document itself where there is nothing new."""
    proposal: Document | None = None
    """The whole that the evidence asks for, where a person has to accept it or further nights have to reach it."""
    reasons: tuple[str, ...] = ()
    """Why it waits."""
    changes: tuple[SoulChange, ...] = ()
    """From the old document to the one that may be written."""
    dropped: tuple[DroppedGuideline, ...] = ()
    rejected: frozenset[str] = frozenset()
    """What a person took out or rewrote since the last night; the caller keeps them muted."""


def distil_document(
    old: Document, offered: Iterable[Guideline], *, last: Document | None = None, freely: bool = False
) -> DistilResult:
    """Put the document together anew.

    Args:
        old: the document as it was found.
        offered: all that was learned, in any state and order; what is in the document and not among it has lost its
            support.
        last: what the last night wrote; a guideline that has gone from it since was taken out by a person.
        freely: whether a person accepted what is proposed.
    """
    rejected = taken_out(last, old) if last else frozenset[str]()
    choice = _Choice(old, tuple(offered), rejected)
    whole = choice.whole_document()
    document = whole if freely else choice.next_document()
    waits = document.lines != whole.lines
    return DistilResult(
        document=document,
        proposal=whole if waits else None,
        reasons=choice.list_reasons() if waits else (),
        changes=diff_documents(old, document, {gone.id: gone.why for gone in choice.dropped.values()}),
        dropped=choice.list_absent(document),
        rejected=rejected,
    )


class _Choice:
    """The guidelines that the evidence asks for, and the step towards them that needs nobody's leave."""

    def __init__(self, old: Document, offered: tuple[Guideline, ...], rejected: frozenset[str]) -> None:
        self.dropped: dict[str, DroppedGuideline] = {}
        self._old = old
        self._here = {line.id: line.text for line in old.derived}
        self._unsafe = {line.id for line in old.derived if find_harm(line.text)}
        self._by_person: set[str] = set()
        """Ids that a person's word keeps out; they go at once."""
        self._rejected = rejected | old.rewritten
        self._own = [part.text for line in old.own for part in analyse_text(line.text).sentences][:_MOST_STATEMENTS]
        unique = {guideline.id: guideline for guideline in reversed(offered)}.values()
        self._muted = [guideline.text for guideline in unique if guideline.state == MUTED or guideline.id in rejected]
        self._pool = self._merge_offered(sorted(unique, key=lambda guideline: (guideline.since, guideline.id)))
        self._wanted = self._without_rivals()
        self._room = WORDS - count_heading_words(old) - count_told_words(old.own)
        whole = _Room(self._room, WORDS, WORDS)
        self._fitting = [each for each in self._wanted if whole.add_words(_count_words(each.text))]

    # Which of them may be told.

    def _merge_offered(self, offered: Sequence[Guideline]) -> list[Guideline]:
        """The fit ones, those that say the same made one: of two, the one in the document stays, else the older."""
        kept: list[Guideline] = []
        for each in sorted(offered, key=lambda guideline: guideline.id not in self._here):
            if why := self._find_flaw(each):
                self._drop_guideline(each, why)
                continue
            fit = replace(each, text=_address_assistant(each.text))
            at = next((i for i, other in enumerate(kept) if says_same(fit.text, other.text)), None)
            if at is None:
                kept.append(fit)
            else:
                kept[at] = _join_guidelines(kept[at], fit)
                self._drop_guideline(fit, f"It says the same as “{kept[at].text}”", kept[at].id)
        return [guideline for guideline in kept if self._is_backed(guideline)]

    def _is_backed(self, guideline: Guideline) -> bool:
        enough = guideline.support >= CORROBORATED or guideline.state == PINNED or guideline.said
        if not enough:
            self._drop_guideline(guideline, f"Fewer than {CORROBORATED} sessions back it")
        return enough

    def _find_flaw(self, guideline: Guideline) -> str:
        if why := self._ruled_out(replace(guideline, text=_address_assistant(guideline.text))):
            self._by_person.add(guideline.id)
            return why
        if guideline.state not in (ACTIVE, PINNED):
            return f"It is {guideline.state}"
        return find_flaw(guideline.text) or ("" if _ID.fullmatch(guideline.id) else "Its id cannot stand in a mark")

    def _ruled_out(self, guideline: Guideline) -> str:
        """Which word of a person's is against it; empty for none."""
        if guideline.state == MUTED or guideline.id in self._rejected:
            return "A person muted it, rewrote it or took it out"
        if any(says_same(guideline.text, other) for other in self._muted):
            return "A person muted the like"
        for statement in self._own:
            if says_same(guideline.text, statement):
                return "A person wrote the same"
            if says_opposite(guideline.text, statement):
                return f"A person wrote the opposite: “{statement}”"
        return ""

    def _without_rivals(self) -> list[Guideline]:
        """Best first, without those whose opposite is better supported, or older where support is equal."""
        kept: list[Guideline] = []
        for guideline in sorted(self._pool, key=self._rank_guideline):
            other = next((each for each in kept if says_opposite(guideline.text, each.text)), None)
            if other is None:
                kept.append(guideline)
            else:
                self._drop_guideline(
                    guideline, f"{other.support} sessions to {guideline.support} back the opposite: “{other.text}”"
                )
        return kept

    def _rank_guideline(self, guideline: Guideline) -> tuple[bool, int, float, str]:
        seniority = SENIORITY if guideline.id in self._here else 0
        return guideline.state != PINNED, -guideline.support - seniority, guideline.since, guideline.id

    def _drop_guideline(self, guideline: Guideline, why: str, into: str = "") -> None:
        self.dropped[guideline.id] = DroppedGuideline(guideline.id, guideline.text, f"{why}.", into)

    # What stands in the document.

    def whole_document(self) -> Document:
        """All that the evidence asks for and there is room for."""
        return self._make_document({guideline.id: guideline.text for guideline in self._fitting})

    def next_document(self) -> Document:
        """What may be written tonight."""
        size = count_told_words(line for line in self._old.derived)
        drift = DRIFT * max(size, YOUNG)
        room = _Room(self._room, drift, drift + max(0, YOUNG - size) if size else WORDS)
        words = self._list_staying(room)
        for guideline in self._fitting:
            text, before = guideline.text, words.get(guideline.id)
            if before is not None:
                fits = text == before or room.swap_words(_count_words(before), _count_words(text))
            else:
                is_rival = any(says_opposite(text, other) for other in words.values())
                fits = not is_rival and room.add_words(_count_words(text))
            if fits:
                words[guideline.id] = text
        return self._make_document(words)

    def _list_staying(self, room: "_Room") -> dict[str, str]:
        """What is in the document and stays: all that is supported, for which only a person's own words can leave no
        room, and what has lost its support where that is more than one night may take away.
        """
        supported = [
            guideline.id for guideline in sorted(self._pool, key=self._rank_guideline) if guideline.id in self._here
        ]
        lost = [name for name in self._here if name not in supported and name not in self._by_person]
        words: dict[str, str] = {}
        for name in (*supported, *lost):
            cost = _count_words(self._here[name])
            goes = name in self._unsafe or (name in lost and room.remove_words(cost))
            if not goes and room.keep_words(cost):
                words[name] = self._here[name]
        return words

    def list_reasons(self) -> tuple[str, ...]:
        """Why the whole is not done at once."""
        whole = {guideline.id: guideline.text for guideline in self._fitting}
        lost = [guideline.text for guideline in self._pool if guideline.id in self._here and guideline.id not in whole]
        reasons = [f"It would take out what conversations still back: {' / '.join(lost)}"] if lost else []
        size = count_told_words(line for line in self._old.derived)
        removed = sum(_count_words(text) for name, text in self._here.items() if name not in whole)
        added = sum(_count_words(text) for name, text in whole.items() if name not in self._here)
        share = max(removed, added - max(0, YOUNG - size)) / max(size, YOUNG)
        if share > DRIFT:
            reasons.append(f"It would change {share:.0%} of the words; one night changes at most {DRIFT:.0%}.")
        return tuple(reasons) or ("It changes more than one night may.",)

    def list_absent(self, document: Document) -> tuple[DroppedGuideline, ...]:
        """What was offered and does not stand in the document."""
        told = {line.id for line in document.derived}
        crowded = {
            guideline.id: DroppedGuideline(guideline.id, guideline.text, "There is no room, or it waits.")
            for guideline in self._pool
        }
        return tuple(each for name, each in (crowded | self.dropped).items() if name not in told)

    def _make_document(self, words: Mapping[str, str]) -> Document:
        return revise_document(
            self._old,
            remove=self._here.keys() - words.keys(),
            reword={name: text for name, text in words.items() if self._here.get(name, text) != text},
            add=[
                (guideline.section, guideline.id, words[guideline.id])
                for guideline in self._fitting
                if guideline.id in words.keys() - self._here
            ],
        )


@dataclass(slots=True)
class _Room:
    """What one night may spend: words in the document, words taken away, words added."""

    left: int
    removed: float
    added: float

    def keep_words(self, words: int) -> bool:
        fits = words <= self.left
        self.left -= words if fits else 0
        return fits

    def add_words(self, words: int) -> bool:
        fits = words <= self.added and self.keep_words(words)
        self.added -= words if fits else 0
        return fits

    def remove_words(self, words: int) -> bool:
        fits = words <= self.removed
        self.removed -= words if fits else 0
        return fits

    def swap_words(self, old: int, new: int) -> bool:
        fits = old <= self.removed and new <= self.added and new - old <= self.left
        if fits:
            self.left, self.removed, self.added = self.left + old - new, self.removed - old, self.added - new
        return fits


def _count_words(text: str) -> int:
    return count_words(f"- {text}")


def _join_guidelines(guideline: Guideline, other: Guideline) -> Guideline:
    return replace(
        guideline,
        sessions=guideline.sessions | other.sessions,
        since=min(guideline.since, other.since),
        state=PINNED if PINNED in (guideline.state, other.state) else guideline.state,
        said=guideline.said or other.said,
    )


# Which words may stand there.


@clear_on_erasure
@lru_cache(maxsize=4_096)
def _address_assistant(text: str) -> str:
    """The text as one visible line, written to the assistant."""
    return _SPEAKS_OF_ITSELF.sub(r"You \1", screen_text(text, len(text)).text)


@clear_on_erasure
@lru_cache(maxsize=4_096)
def find_flaw(text: str) -> str:
    """Why a text is no guideline; empty where it is one."""
    if len(line := _address_assistant(text)) > ADVICE:
        return f"It has {len(line)} characters, and {ADVICE} are the most"
    if not any(map(str.isalnum, text)):
        return "It says nothing"
    if unsafe := find_harm(text) or ("markup" if _MARKUP.search(text) else ""):
        return f"It must not be told ({unsafe})"
    if len(analyse_text(text).sentences) > 1:
        return "It is more than one sentence"
    return ""
