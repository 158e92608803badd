"""What may stand among the guidelines: what is offered, and why the rest may not be told."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from insula.guidance import ACTIVE, CORROBORATED, MUTED, PINNED
from insula.night.agreement import opposite, same
from insula.night.soul import Document, Section
from insula.screening import screen
from insula.text.analysis import analyse

ADVICE = 200
"""Characters of a guideline; a longer one is not told."""
SENIORITY = 1
"""Sessions that standing in the document counts for."""
_MOST_STATEMENTS = 1_000
_MARKUP = re.compile(r"<!--|-->|```|\A\s*(?:[#>|*+-]|\d+[.)]\s)|[\r\n]")
_LINK = re.compile(r"\b\w+://|\bwww\.|\]\(|\bmailto:|\w@[\w-]+\.\w", re.IGNORECASE)
SPEAKS_OF_ITSELF = re.compile(
    r"\A(?:I|(?:The |This )?(?:assistant|agent|AI|model))\s+(should|must|need(?:s)? to|ought to)\b", re.IGNORECASE
)


_ID = re.compile(r"[0-9a-z_]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A piece of guidance that might stand in the document, as the caller's records have it."""

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
    sources: tuple[str, ...] = ()
    """The passages that it cites; a wording may use their words (R7)."""

    @property
    def support(self) -> int:
        """How many sessions back it."""
        return len(self.sessions)


class Dropped(NamedTuple):
    """A guideline that was offered and does not stand in the document, and why."""

    id: str
    text: str
    why: str
    into: str = ""
    """The id of the one that gained its support."""


class Sieve:
    """What may be told of what was offered, with why the rest may not."""

    def __init__(self, old: Document, items: tuple[Item, ...], rejected: frozenset[str]) -> None:
        self.dropped: dict[str, Dropped] = {}
        self.here = {line.id: line for line in old.derived}
        self.unsafe = {line.id for line in old.derived if reasons_against(line.text)}
        self.by_person: set[str] = set()
        """Ids that a person's word keeps out; they go at once."""
        items = tuple({item.id: item for item in reversed(items)}.values())
        self._items = sorted(items, key=lambda item: (item.since, item.id))
        self._rejected = rejected | old.rewritten
        self._own = [part.text for line in old.own for part in analyse(line.text).sentences][:_MOST_STATEMENTS]
        self._muted = [item.text for item in items if item.state == MUTED or item.id in rejected]

    def merged(self) -> list[Item]:
        """The fit items, those that say the same made one: of two, the one in the document stays, else the older."""
        kept: list[Item] = []
        for item in sorted(self._items, key=lambda item: item.id not in self.here):
            fit = self._fit(item)
            if fit is None:
                continue
            text = self.here[fit.id].text if fit.id in self.here else fit.text
            at = next((i for i, other in enumerate(kept) if same(text, other.text)), None)
            if at is None:
                kept.append(fit)
            else:
                kept[at] = _joined(kept[at], fit)
                self._drop(fit, f"It says the same as “{kept[at].text}”", kept[at].id)
        return [item for item in kept if self._backed(item)]

    def _backed(self, item: Item) -> bool:
        enough = item.support >= CORROBORATED or item.state == PINNED or item.said
        if not enough:
            self._drop(item, f"Fewer than {CORROBORATED} sessions back it")
        return enough

    def _fit(self, item: Item) -> Item | None:
        raw, item = item.text, replace(item, text=_addressed(item.text))
        if why := self._against(item):
            self.by_person.add(item.id)
        elif item.state not in (ACTIVE, PINNED):
            why = f"It is {item.state}"
        else:
            why = unfit(raw) or ("" if _ID.fullmatch(item.id) else "Its id cannot stand in a mark")
        return self._drop(item, why) if why else item

    def _against(self, item: Item) -> str:
        if item.state == MUTED or item.id in self._rejected:
            return "A person muted it, rewrote it or took it out"
        if any(same(item.text, other) for other in self._muted):
            return "A person muted the like"
        for statement in self._own:
            if same(item.text, statement):
                return "A person wrote the same"
            if opposite(item.text, statement):
                return f"A person wrote the opposite: “{statement}”"
        return ""

    def resolved(self, pool: Iterable[Item]) -> list[Item]:
        """Best first, without those whose opposite is better supported, or older where support is equal."""
        kept: list[Item] = []
        for item in sorted(pool, key=self.rank):
            other = next((each for each in kept if opposite(item.text, each.text)), None)
            if other is None:
                kept.append(item)
            else:
                self._drop(item, f"{other.support} sessions to {item.support} back the opposite: “{other.text}”")
        return kept

    def rank(self, item: Item) -> tuple[bool, int, float, str]:
        seniority = SENIORITY if item.id in self.here else 0
        return item.state != PINNED, -item.support - seniority, item.since, item.id

    def _drop(self, item: Item, why: str, into: str = "") -> None:
        self.dropped[item.id] = Dropped(item.id, item.text, f"{why}.", into)


def _joined(item: Item, other: Item) -> Item:
    state = PINNED if PINNED in (item.state, other.state) else item.state
    return replace(
        item,
        sessions=item.sessions | other.sessions,
        since=min(item.since, other.since),
        state=state,
        said=item.said or other.said,
        sources=(*item.sources, *other.sources),
    )


@lru_cache(maxsize=4_096)
def _addressed(text: str) -> str:
    """The text as one visible line, written to the assistant."""
    line = screen(text, len(text)).text
    return SPEAKS_OF_ITSELF.sub(r"You \1", line)


@lru_cache(maxsize=4_096)
def unfit(text: str) -> str:
    """Why a text is no guideline; empty where it is one."""
    if len(line := _addressed(text)) > ADVICE:
        return f"It has {len(line)} characters, and {ADVICE} are the most"
    if not any(map(str.isalnum, text)):
        return "It says nothing"
    if unsafe := reasons_against(text):
        return f"It must not be told ({', '.join(unsafe)})"
    if len(analyse(text).sentences) > 1:
        return "It is more than one sentence"
    return ""


@lru_cache(maxsize=4_096)
def reasons_against(text: str) -> tuple[str, ...]:
    """Why a text must not stand among guidelines: what screening says, and what only an attack has use for here."""
    found: list[str] = [*screen(text, ADVICE).reasons]
    found += ["secret"] if "[REDACTED:" in text else []
    found += ["link"] if _LINK.search(text) else []
    found += ["markup"] if _MARKUP.search(text) else []
    return tuple(found)
