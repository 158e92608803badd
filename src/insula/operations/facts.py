"""What a user told of their life, as facts: each with whom it is about, since when, and in which words it was said."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from insula.errors import NotFound
from insula.language.owner import NOBODY, SOMEBODY, USER
from insula.language.statements import Statement
from insula.memory.storage import facts as stated
from insula.memory.storage.filters import Filter
from insula.memory.storage.store import Store
from insula.operations.memories import PAGE, get_memory, list_memories
from insula.text.analysis import fold_accents
from insula.types import Memory

PEOPLE = 100
"""Beings that are listed, those with the most facts."""
NAMED = 8
"""Beings that are named where somebody is looked for in vain."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody, or something, that facts are about."""

    id: str
    """By which facts are filtered."""
    name: str
    facts: int
    also: tuple[str, ...] = ()
    """Other names of theirs: a sister who has a name goes by each."""


def facts_of(whose: str = "", meant: str = "", since: float | None = None) -> Filter:
    """The filter that wants facts alone."""
    return Filter(kind="semantic", answers=False, whose=whose, meant=meant, since=since)


async def list_facts(
    store: Store, user: str, wanted: Filter | None = None, *, before: int | None = None, limit: int = PAGE
) -> FactPage:
    """A page of the facts that a filter wants, newest first.

    Raises:
        InputError: the limit cannot be used.
    """
    page = await list_memories(store, user, wanted or facts_of(), before=before, limit=limit)
    return FactPage(facts=await describe_facts(store, user, page.memories), next=page.next)


async def get_fact(store: Store, user: str, number: int) -> Fact:
    """One memory of a user, as a fact.

    Raises:
        NotFound: there is none such.
    """
    (fact,) = await describe_facts(store, user, [await get_memory(store, user, number)])
    return fact


async def list_people(store: Store, user: str) -> tuple[Person, ...]:
    """Whom facts are about: the user first, then those with the most facts."""
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        return ()
    subjects = await store.read(stated.list_subjects, user_id, PEOPLE)
    people = {path: Person(id=path, name=_subject_name(path, [text]), facts=count) for path, count, text in subjects}
    pairs = await store.read(stated.named_kin, user_id)
    beside = Counter(subject for pair in pairs for subject in pair[:2])
    for kin, name, both in pairs:
        known = [people[key].facts for key in (kin, name) if key in people]
        if beside[kin] == beside[name] == 1 and len(known) == 2 and both == min(known):
            _join_people(people, kin, name)
    return tuple(sorted(people.values(), key=lambda person: (person.id != USER, -person.facts)))


def _join_people(people: dict[str, Person], kin: str, name: str) -> None:
    """Let a sister and the one name that stands beside her be one person, by the one of the two that all facts have."""
    first, second = people[kin], people[name]
    more, less = (first, second) if first.facts >= second.facts else (second, first)
    del people[less.id]
    both = f"{first.name} {second.name}"
    people[more.id] = replace(more, name=both, also=(first.name, second.name))


def find_person(people: Sequence[Person], name: str) -> Person:
    """The one of some beings that goes by a name.

    Raises:
        NotFound: there is none.
    """
    wanted = name.strip().casefold()
    person = next(
        (person for person in people if wanted in (person.id, *map(str.casefold, (person.name, *person.also)))), None
    )
    if person is None:
        known = ", ".join(person.name for person in people[:NAMED]) or "nobody yet"
        raise NotFound(f"No fact is about {name[:60]!r}; facts are about {known}.")
    return person


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
