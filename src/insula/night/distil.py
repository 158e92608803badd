"""A night's distillation: the old document and what is supported now become the new document, or a proposal.

What is told is decided by support alone; a model's draft only words what enters. Old guidance outweighs new: it keeps
its words and its place as long as something backs it, one night changes at most `DRIFT` of the document, and whatever
would cost a supported guideline its place is proposed to a person and not done.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from insula.night import draft as drafts
from insula.night.agreement import faithful, keeps, opposite
from insula.night.sieve import ADVICE, SPEAKS_OF_ITSELF, Dropped, Item, Sieve, reasons_against, unfit
from insula.night.soul import Change, Document, diff, revise, taken_out
from insula.night.soul.render import WORDS, fixed, load, weigh

DRIFT = 0.3
"""Share of the night's part of the document, in words, that one night may take away or add (R8)."""
YOUNG = 150
"""Words up to which a document grows freely; a smaller one is taken for as large when its drift is measured. The first
one is not measured: nothing drifts from nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a night made of the document."""

    document: Document
    """What may be written now; the old document itself where there is nothing new."""
    proposal: Document | None = None
    """The whole that the evidence asks for, where a person has to accept it or further nights have to reach it."""
    reasons: tuple[str, ...] = ()
    """Why it waits."""
    changes: tuple[Change, ...] = ()
    """From the old document to the one that may be written."""
    dropped: tuple[Dropped, ...] = ()
    rejected: frozenset[str] = frozenset()
    """What a person took out or rewrote since the last night; the caller keeps them muted."""
    draft: Mapping[str, int] = field(default_factory=dict[str, int])
    """What became of the draft's wordings: `used`, `known`, `unmatched`, a reason of the screening, `overlong`, …"""


def distil(
    old: Document, items: Iterable[Item], draft: str = "", *, last: Document | None = None, freely: bool = False
) -> Outcome:
    """Distil the document anew.

    Args:
        old: the document as it was found.
        items: all that was learned, in any state and order; what is in the document and not among them has lost its
            support.
        draft: what a model returned; empty: the guidelines keep their own words.
        last: what the last night wrote; a guideline that has gone from it since was taken out by a person.
        freely: whether a person accepted what is proposed.
    """
    rejected = taken_out(last, old) if last else frozenset[str]()
    sieve = Sieve(old, tuple(items), rejected)
    pool = sieve.merged()
    wanted = sieve.resolved(pool)
    words, report = _worded(draft, [item for item in wanted if item.id not in sieve.here])
    plan = _Plan(old, pool, wanted, sieve, words)
    whole = plan.whole()
    document = whole if freely else plan.step()
    waits = document.lines != whole.lines
    why = {gone.id: gone.why for gone in sieve.dropped.values()}
    return Outcome(
        document=document,
        proposal=whole if waits else None,
        reasons=plan.reasons() if waits else (),
        changes=diff(old, document, why),
        dropped=_absent(sieve, pool, document),
        rejected=rejected,
        draft=report,
    )


def _absent(sieve: "Sieve", pool: Sequence[Item], document: Document) -> tuple[Dropped, ...]:
    told = {line.id for line in document.derived}
    crowded = [Dropped(item.id, item.text, "There is no room, or it waits.") for item in pool]
    gone = {each.id: each for each in crowded} | sieve.dropped
    return tuple(each for name, each in gone.items() if name not in told)


# --- the draft ---------------------------------------------------------------------------------------------------


def _worded(text: str, entering: Sequence[Item]) -> tuple[dict[str, str], dict[str, int]]:
    """The wordings of a draft for what enters the document, and what became of each."""
    read = drafts.read(text)
    words: dict[str, str] = {}
    report = Counter[str]([read.problem] if read.problem else [])
    for wording in read.wordings:
        if why := _refused(wording.text):
            report[why] += 1
            continue
        item = _meant(wording, [each for each in entering if each.id not in words])
        report["used" if item else "unmatched"] += 1
        if item:
            words[item.id] = wording.text
    return words, dict(report)


def _refused(text: str) -> str:
    if len(text) > ADVICE:
        return "overlong"
    if unsafe := reasons_against(text):
        return unsafe[0]
    return "unfit" if unfit(text) or SPEAKS_OF_ITSELF.match(text) else ""


def _meant(wording: drafts.Wording, items: Sequence[Item]) -> Item | None:
    """The item that a wording is faithful to: the one that it names, else the first."""
    named = [item for item in items if item.id == wording.id] or items
    return next((item for item in named if faithful(wording.text, item.text, item.sources)), None)


# --- how far one night goes --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Purse:
    """What one night may spend: words in the document, words taken away, words added."""

    room: int
    removed: float
    added: float

    def add(self, words: int) -> bool:
        if words > self.room or words > self.added:
            return False
        self.room, self.added = self.room - words, self.added - words
        return True

    def remove(self, words: int) -> bool:
        if words > self.removed:
            return False
        self.removed -= words
        return True


class _Plan:
    """The document that the evidence asks for, and the step towards it that needs nobody's leave."""

    def __init__(
        self, old: Document, pool: Sequence[Item], wanted: Sequence[Item], sieve: Sieve, words: Mapping[str, str]
    ) -> None:
        self._old, self._pool, self._sieve, self._words = old, pool, sieve, words
        self._room = WORDS - fixed(old) - load(old.own)
        self._whole = self._fitting(wanted, [], _Purse(self._room, 0, WORDS))

    def whole(self) -> Document:
        """What the evidence asks for."""
        return self._made(self._whole, frozenset())

    def step(self) -> Document:
        """What may be written tonight."""
        purse = self._purse()
        stay = self._staying(purse)
        retained = self._retained(purse)
        reworded = {item.id for item in stay if self._outdated(item) and not self._may_reword(item, purse)}
        others = [self._sieve.here[name].text for name in retained]
        new = [item for item in self._whole if item.id not in self._sieve.here]
        chosen = [*stay, *self._fitting(new, [*others, *(self._text(item) for item in stay)], purse)]
        return self._made(chosen, retained | reworded)

    def reasons(self) -> tuple[str, ...]:
        """Why the whole is not done at once."""
        whole = {item.id for item in self._whole}
        lost = [item.text for item in self._pool if item.id in self._sieve.here and item.id not in whole]
        found = [f"It would lose {len(lost)} supported guidelines: {' / '.join(lost)}"] if lost else []
        share = self._drift()
        if share > DRIFT:
            found.append(f"It would change {share:.0%} of the words; one night changes at most {DRIFT:.0%}.")
        return tuple(found) or ("It changes more than one night may.",)

    def _drift(self) -> float:
        whole = {item.id for item in self._whole}
        removed = sum(self._cost(line.text) for name, line in self._sieve.here.items() if name not in whole)
        added = sum(self._cost(self._text(item)) for item in self._whole if item.id not in self._sieve.here)
        size = self._size()
        return max(removed, added - max(0, YOUNG - size)) / max(size, YOUNG)

    def _size(self) -> int:
        return load(self._sieve.here.values())

    def _purse(self) -> _Purse:
        size = self._size()
        allowed = DRIFT * max(size, YOUNG)
        return _Purse(self._room, allowed, allowed + max(0, YOUNG - size) if size else WORDS)

    def _staying(self, purse: _Purse) -> list[Item]:
        """What is supported and in the document stays; only a person's own words, and nothing new, can crowd it out."""
        stay: list[Item] = []
        for item in sorted(self._pool, key=self._sieve.rank):
            words = self._cost(self._sieve.here[item.id].text) if item.id in self._sieve.here else WORDS
            if item.id in self._sieve.here and words <= purse.room and item.id not in self._sieve.unsafe:
                purse.room -= words
                stay.append(item)
        return stay

    def _retained(self, purse: _Purse) -> frozenset[str]:
        """What has lost its support, and is more than one night may take away."""
        pool = {item.id for item in self._pool}
        at_once = self._sieve.by_person | self._sieve.unsafe
        retained: set[str] = set()
        for name, line in self._sieve.here.items():
            words = self._cost(line.text)
            if name in pool or name in at_once or purse.remove(words) or words > purse.room:
                continue
            purse.room -= words
            retained.add(name)
        return frozenset(retained)

    def _outdated(self, item: Item) -> bool:
        """Whether the words in the document no longer say what the item says."""
        text = self._sieve.here[item.id].text
        return text != item.text and not keeps(text, item.text)

    def _may_reword(self, item: Item, purse: _Purse) -> bool:
        old, new = self._cost(self._sieve.here[item.id].text), self._cost(item.text)
        purse.room += old
        if new <= purse.room and purse.removed >= old and purse.remove(old) and purse.add(new):
            return True
        purse.room -= old
        return False

    def _fitting(self, items: Iterable[Item], beside: Sequence[str], purse: _Purse) -> list[Item]:
        chosen: list[Item] = []
        for item in items:
            text = self._text(item)
            if not any(opposite(text, other) for other in beside) and purse.add(self._cost(text)):
                chosen.append(item)
        return chosen

    def _text(self, item: Item) -> str:
        """The words of an item: those in the document while they say what it says, else a model's, else its own."""
        if item.id in self._sieve.here and item.id not in self._sieve.unsafe and not self._outdated(item):
            return self._sieve.here[item.id].text
        return self._words.get(item.id, item.text)

    def _cost(self, text: str) -> int:
        return weigh(f"- {text}")

    def _made(self, chosen: Sequence[Item], as_it_is: frozenset[str]) -> Document:
        here = self._sieve.here
        keep = {item.id for item in chosen} | as_it_is
        texts = {item.id: self._text(item) for item in chosen if item.id in here and item.id not in as_it_is}
        return revise(
            self._old,
            remove=here.keys() - keep,
            reword={name: text for name, text in texts.items() if text != here[name].text},
            add=[(item.section, item.id, self._text(item)) for item in chosen if item.id not in here],
        )
