"""Which guidelines stand in SOUL.md after a night: pure, from the document as it was and from what is supported now.

Support alone decides, and a guideline keeps its place as long as something backs it. One night changes
at most `DRIFT` of the document, and what would cost a supported guideline its place is proposed to a person, not done.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from insula.caches import clear_on_erasure
from insula.guidance import ACTIVE, CORROBORATED, MUTED, PINNED
from insula.night.agreement import says_opposite, says_same
from insula.night.grounding import find_harm
from insula.night.soul.document import (
    WORDS,
    Document,
    Section,
    count_heading_words,
    count_told_words,
    count_words,
    revise_document,
    taken_out,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilResult:
    """What a night made of the document."""

    document: Document
    """What may be written now; the old document itself where there is nothing new."""
    proposal: Document | None = None
    """The whole that the evidence asks for, where a person has to accept it or further nights have to reach it."""
    reasons: tuple[str, ...] = ()
    """Why it waits."""
    dropped: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ids of guidelines that were offered and may not stand there, each with why."""
    merged: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of these, the ids that say what another one says, with the id of that, which gained their support."""


def distil_document(old: Document, offered: Iterable[Guideline], *, last: Document | None = None) -> DistilResult:
    """Put the document together anew.

    Args:
        old: the document as it was found.
        offered: all that was learned, in any state and order; what is in the document and not among it has lost its
            support.
        last: what the last night wrote; a guideline that has gone from it since was taken out by a person.
    """
    choice = _Choice(old, tuple(offered), taken_out(last, old) if last else frozenset())
    whole, document = choice.whole_document(), choice.next_document()
    waits = document != whole
    return DistilResult(
        document=document,
        proposal=whole if waits else None,
        reasons=choice.list_reasons() if waits else (),
        dropped=choice.dropped,
        merged=choice.merged,
    )


class _Choice:
    """The guidelines that the evidence asks for, and the step towards them that needs nobody's leave."""

    def __init__(self, old: Document, offered: tuple[Guideline, ...], rejected: frozenset[str]) -> None:
        self.dropped: dict[str, str] = {}
        self.merged: dict[str, str] = {}
        self._old = old
        self._here = {line.id: line.text for line in old.learned}
        self._by_person: set[str] = set()
        """Ids that a person's word keeps out; they go at once."""
        self._rejected = rejected | old.rewritten
        self._own = [part.text for line in old.own for part in analyse_text(line.text).sentences][:_MOST_STATEMENTS]
        unique = {guideline.id: guideline for guideline in reversed(offered)}.values()
        self._muted = [guideline.text for guideline in unique if guideline.state == MUTED or guideline.id in rejected]
        pool = self._merge_offered(sorted(unique, key=lambda guideline: (guideline.since, guideline.id)))
        self._pool = sorted(pool, key=self._rank_guideline)
        room = _Room(WORDS - count_heading_words(old) - count_told_words(old.own))
        self._fitting = [each for each in self._list_unopposed() if room.add_words(each.text)]

    # Which of them may be told.

    def _merge_offered(self, offered: Sequence[Guideline]) -> list[Guideline]:
        """The fit ones, those that say the same made one: of two, the one in the document stays, else the older."""
        kept: list[Guideline] = []
        for each in sorted(offered, key=lambda guideline: guideline.id not in self._here):
            if why := self._find_flaw(each):
                self.dropped[each.id] = f"{why}."
                continue
            fit = replace(each, text=_address_assistant(each.text))
            at = next((i for i, other in enumerate(kept) if says_same(fit.text, other.text)), None)
            if at is None:
                kept.append(fit)
            else:
                kept[at] = _join_guidelines(kept[at], fit)
                self.dropped[fit.id] = f"It says the same as “{kept[at].text}”."
                self.merged[fit.id] = kept[at].id
        backed = [each for each in kept if each.support >= CORROBORATED or each.state == PINNED or each.said]
        weak = f"Fewer than {CORROBORATED} sessions back it."
        self.dropped |= {each.id: weak for each in kept if each not in backed}
        return backed

    def _find_flaw(self, guideline: Guideline) -> str:
        if why := self._ruled_out(guideline.id, guideline.state, _address_assistant(guideline.text)):
            self._by_person.add(guideline.id)
            return why
        if guideline.state not in (ACTIVE, PINNED):
            return f"It is {guideline.state}"
        return find_flaw(guideline.text)

    def _ruled_out(self, name: str, state: str, text: str) -> str:
        """Which word of a person's is against it; empty for none."""
        if state == MUTED or name in self._rejected:
            return "A person muted it, rewrote it or took it out"
        if any(says_same(text, other) for other in self._muted):
            return "A person muted the like"
        for statement in self._own:
            if says_same(text, statement):
                return "A person wrote the same"
            if says_opposite(text, statement):
                return f"A person wrote the opposite: “{statement}”"
        return ""

    def _list_unopposed(self) -> list[Guideline]:
        """Best first, without those whose opposite is better supported, or older where support is equal."""
        kept: list[Guideline] = []
        for guideline in self._pool:
            other = next((each for each in kept if says_opposite(guideline.text, each.text)), None)
            if other is None:
                kept.append(guideline)
            else:
                support = f"{other.support} sessions to {guideline.support}"
                self.dropped[guideline.id] = f"{support} back the opposite: “{other.text}”."
        return kept

    def _rank_guideline(self, guideline: Guideline) -> tuple[bool, int, float, str]:
        seniority = SENIORITY if guideline.id in self._here else 0
        return guideline.state != PINNED, -guideline.support - seniority, guideline.since, guideline.id

    # What stands in the document.

    def whole_document(self) -> Document:
        """All that the evidence asks for and there is room for."""
        return self._make_document({guideline.id: guideline.text for guideline in self._fitting})

    def next_document(self) -> Document:
        """What may be written tonight."""
        size = count_told_words(self._old.learned)
        drift = DRIFT * max(size, YOUNG)
        growth = drift + max(0, YOUNG - size) if size else WORDS
        room = _Room(WORDS - count_heading_words(self._old) - count_told_words(self._old.own), drift, growth)
        words = self._list_staying(room)
        for guideline in self._fitting:
            if guideline.id in words:
                words[guideline.id] = guideline.text
            elif not any(says_opposite(guideline.text, other) for other in words.values()):
                words |= {guideline.id: guideline.text} if room.add_words(guideline.text) else {}
        return self._make_document(words)

    def _list_staying(self, room: "_Room") -> dict[str, str]:
        """What is in the document and stays: all that is supported, for which only a person's own words can leave no
        room, and what has lost its support where that is more than one night may take away.
        """
        supported = [guideline.id for guideline in self._pool if guideline.id in self._here]
        lost = [name for name in self._here if name not in supported and name not in self._by_person]
        words: dict[str, str] = {}
        for name in (*supported, *lost):
            text = self._here[name]
            goes = bool(find_harm(text)) or (name in lost and room.remove_words(text))
            if not goes and room.keep_words(text):
                words[name] = text
        return words

    def list_reasons(self) -> tuple[str, ...]:
        """Why the whole is not done at once."""
        whole = {guideline.id: guideline.text for guideline in self._fitting}
        lost = [guideline.text for guideline in self._pool if guideline.id in self._here and guideline.id not in whole]
        reasons = [f"It would take out what conversations still back: {' / '.join(lost)}"] if lost else []
        size = count_told_words(self._old.learned)
        removed = sum(_count_words(text) for name, text in self._here.items() if name not in whole)
        added = sum(_count_words(text) for name, text in whole.items() if name not in self._here)
        share = max(removed, added - max(0, YOUNG - size)) / max(size, YOUNG)
        if share > DRIFT:
            reasons.append(f"It would change {share:.0%} of the words; one night changes at most {DRIFT:.0%}.")
        return tuple(reasons) or ("It changes more than one night may.",)

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
    removed: float = WORDS
    added: float = WORDS

    def keep_words(self, text: str) -> bool:
        fits = _count_words(text) <= self.left
        self.left -= _count_words(text) if fits else 0
        return fits

    def add_words(self, text: str) -> bool:
        fits = _count_words(text) <= self.added and self.keep_words(text)
        self.added -= _count_words(text) if fits else 0
        return fits

    def remove_words(self, text: str) -> bool:
        fits = _count_words(text) <= self.removed
        self.removed -= _count_words(text) if fits else 0
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
