"""What a user told of their life, as facts: each with whom it is about, since when, and in which words it was said."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from insula.language.owner import NOBODY, SOMEBODY, USER
from insula.language.statements import Statement
from insula.memory.storage import facts as stated
from insula.memory.storage.filters import Filter
from insula.memory.storage.store import Store
from insula.operations.memories import PAGE, get_memory, list_memories
from insula.text.analysis import fold_accents
from insula.types import Memory

FACTS = Filter(kind="semantic", answers=False)
"""What is told of a life, and not what was only asked or answered."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that a user told, and where it comes from."""

    memory: Memory
    whose: tuple[str, ...] = ()
    """Whom it is about, by name: `you`, `your sister`, `Ana`."""
    over: datetime | None = None
    """When the user said something that ended it; None while it stands."""

    @property
    def text(self) -> str:
        """The fact, in the user's words."""
        line, content = self.memory.line, self.memory.content
        return content if not line or _visible_letters(line) == _visible_letters(content) else line

    @property
    def said(self) -> str:
        """All that was said, where that is more than the fact."""
        return "" if self.text == self.memory.content else self.memory.content

    @property
    def teller(self) -> str:
        """Who told it, a person or a tool; empty for the user."""
        return "" if self.memory.speaker == USER else self.memory.speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPage:
    """A page of facts: the newest first, or of a search the best."""

    facts: tuple[Fact, ...]
    next: int | None = None
    """What to give as `before` for the page behind this one; None on the last."""


async def list_facts(store: Store, user: str, *, before: int | None = None, limit: int = PAGE) -> FactPage:
    """A page of a user's facts, newest first.

    Raises:
        InputError: the limit cannot be used.
    """
    page = await list_memories(store, user, FACTS, before=before, limit=limit)
    return FactPage(facts=await describe_facts(store, user, page.memories), next=page.next)


async def get_fact(store: Store, user: str, number: int) -> Fact:
    """One memory of a user, as a fact.

    Raises:
        NotFound: there is none such.
    """
    (fact,) = await describe_facts(store, user, [await get_memory(store, user, number)])
    return fact


async def describe_facts(store: Store, user: str, memories: Sequence[Memory]) -> tuple[Fact, ...]:
    """Some memories as facts."""
    user_id = await store.nights.find_user_id(user)
    if user_id is None or not memories:
        return ()
    ids = [memory.id for memory in memories]
    known, ended = (
        await store.read(stated.read_statements, user_id, ids),
        await store.read(stated.read_superseded, user_id, ids),
    )
    return tuple(
        Fact(memory=memory, whose=_subject_names(known.get(memory.id, ()), memory.content), over=ended.get(memory.id))
        for memory in memories
    )


def _visible_letters(text: str) -> str:
    """What is left of a text without what cannot be seen, or is laid out otherwise in a prompt."""
    return "".join(filter(str.isalnum, text))


def _subject_names(made: Iterable[Statement], content: str) -> tuple[str, ...]:
    """Whom statements are about, each once: of a sister who has a name "your sister Ana"."""
    names: dict[str, None] = {}
    for statement in made:
        kin = sorted(path for path in statement.subjects if "/" in path)
        named = sorted(statement.subjects - {NOBODY, *kin})
        if len(kin) == len(named) == 1 and named[0] != USER:
            names[f"{_subject_name(kin[0], ())} {_subject_name(named[0], [content])}"] = None
        else:
            names |= dict.fromkeys(
                _subject_name(path, [content]) for path in (*named, *kin) if not path.startswith(SOMEBODY)
            )
    return tuple(name for name in names if not any(other.endswith(f" {name}") for other in names))


def _subject_name(path: str, texts: Sequence[str]) -> str:
    """What somebody is called: `user/boss/dog` is your boss's dog, and a name is written as the user wrote it."""
    first, *rest = path.split("/")
    if first != USER:
        words = (word for text in texts for word in _WORD.findall(text) if fold_accents(word.casefold()) == first)
        return "'s ".join([next(words, first.title()), *rest])
    return "your " + "'s ".join(rest) if rest else "you"
