"""`insula memory`: look at what is remembered, bring back what was let go, erase what should never have been kept."""

import asyncio
import json as jsonlib
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from insula import settings
from insula.cli import lines
from insula.errors import InputError

if TYPE_CHECKING:
    from insula.memory.amendment import Do
    from insula.memory.storage.rows import Change
    from insula.memory.storage.store import Store
    from insula.operations.facts import Fact
    from insula.operations.memories import Deleted
    from insula.types import Memory

T = TypeVar("T")
ADDED = "added"
"""The conversation of what was added by hand."""
ME = "me"
"""The user whom no option names."""
SHOWN = 50
NARROW = 72
"""Columns from which on a memory has room beside its number, its date and whom it is from."""
NUMBER = 8
"""Columns of a number."""
GONE_TOO = "So are the assistant's lines that repeated it. Backups were renewed without it."
LINE = 160
"""Characters of what is derived, which has no line for a prompt."""


def listing(user: str, whose: str, kind: str, since: str, everything: bool, json: bool) -> int:
    """The latest facts that a filter wants, newest first, and how many older ones there are; or all of them.

    Raises:
        InputError: a filter cannot be used.
    """
    from insula.memory.storage.filters import Filter, read_moment
    from insula.operations import facts, memories

    async def work(store: "Store") -> "tuple[list[Fact], int]":
        path = facts.find_person(await facts.list_people(store, user), whose).id if whose else ""
        wanted: Filter = facts.facts_of(path, kind, read_moment(since) if since else None)
        page = await facts.list_facts(store, user, wanted)
        found = list(page.facts)
        if not everything:
            return found, await memories.count_memories(store, user, wanted) - len(found) if page.next else 0
        while page.next is not None:
            page = await facts.list_facts(store, user, wanted, before=page.next, limit=memories.MOST)
            found += page.facts
        return found, 0

    rows, older = _with(work)
    if json:
        told = [{**_record(one.memory), "fact": one.text, "whose": list(one.whose)} for one in rows]
        return _print_json(told, older, user)
    if not rows:
        filtered = whose or kind or since
        print(
            "No fact fits."
            if filtered
            else f"Nothing is known of {user!r} yet; insula memory add SENTENCE adds a fact."
        )
    for one in rows:
        _print_fact(one)
    _print_older(older, user)
    return 0


def transcript(user: str, everything: bool, json: bool) -> int:
    """What was said, word for word: the latest lines, newest first, and how many older ones there are; or all."""
    rows, older = _with(lambda store: _listed(store, user, everything))
    if json:
        return _print_json([_record(memory) for memory in rows], older, user, "--transcript ")
    if not rows:
        print(f"Nothing is remembered of {user!r} yet.")
    for memory in rows:
        _print(memory)
    _print_older(older, user, "--transcript ")
    return 0


def add(user: str, text: str, json: bool) -> int:
    """Remember a fact."""
    from insula.memory import embedding
    from insula.metacognition import Metacognition
    from insula.metacognition.facts import add_fact

    embed = embedding.named(settings.load().embed)
    fact = _with(lambda store: add_fact(Metacognition(store, embed=embed).engine, user, text))
    if json:
        print(jsonlib.dumps({**_record(fact.memory), "fact": fact.text, "whose": list(fact.whose)}, indent=2))
        return 0
    _print_fact(fact)
    return 0


def _print_json(rows: "Sequence[Mapping[str, object]]", older: int, user: str, option: str = "") -> int:
    print(jsonlib.dumps(rows, indent=2))
    if older:  # what a program reads is a list and nothing else
        print(_more(older, user, option), file=sys.stderr)
    return 0


def _print_older(older: int, user: str, option: str = "") -> None:
    if older:
        print("\n".join(lines.fold(_more(older, user, option), lines.width(), "", "  ")))


def _more(older: int, user: str, option: str) -> str:
    whose = "" if user == ME else f" --user {shlex.quote(user)}"
    return f"… and {older:,} older; insula memory {option}--all{whose} shows them"


def _print_fact(one: "Fact") -> None:
    """A fact with its number; below it whose it is, since when, and in which words it was said."""
    memory, columns, indent = one.memory, lines.width(), " " * NUMBER
    print("\n".join(lines.fold(one.text, columns, f"{memory.id:>6}  ", indent)))
    how = "added" if memory.session == ADDED else "told" if memory.speaker == "user" else f"from {memory.speaker}"
    about = [", ".join(one.whose), f"{how} on {memory.said_at:%Y-%m-%d}", memory.mode]
    about += [f"over since {one.over:%Y-%m-%d}"] if one.over else []
    print("\n".join(lines.fold(" · ".join(filter(None, about)), columns, indent, indent)))
    if one.said:
        said = one.said if len(one.said) <= LINE else f"{one.said[:LINE]}…"
        print("\n".join(lines.fold(f"you said: “{' '.join(said.split())}”", columns, indent, indent)))


async def _listed(store: "Store", user: str, everything: bool) -> "tuple[list[Memory], int]":
    """The first page, and how many are older; or all pages, and 0."""
    from insula.operations import memories

    page = await memories.list_memories(store, user)
    found = list(page.memories)
    if not everything:
        return found, await memories.count_memories(store, user) - len(found) if page.next else 0
    while page.next is not None:
        page = await memories.list_memories(store, user, before=page.next, limit=memories.MOST)
        found += page.memories
    return found, 0


def _record(memory: "Memory") -> dict[str, object]:
    from insula.memory.storage.views import record

    return record(memory)


def _print(memory: "Memory") -> None:
    """A memory on a line; where there is no room for that, it stands below its number."""
    said = memory.line or memory.content[:LINE]
    said = f"(working) {said}" if memory.state == "working" else said
    head, columns = f"{memory.id:>6}  {memory.said_at:%Y-%m-%d}  {memory.provenance:<9}  ", lines.width()
    if columns < NARROW:
        print(head.rstrip())
        head = " " * NUMBER
    print("\n".join(lines.fold(said, columns, head, " " * len(head))))


def show(user: str, number: int, json: bool) -> int:
    """One memory with where it is from and what became of it.

    Raises:
        InputError: there is none such.
    """
    from insula.operations import memories

    async def work(store: "Store") -> "tuple[Memory, tuple[Change, ...]]":
        return await memories.get_memory(store, user, number), await memories.read_history(store, user, number)

    memory, history = _with(work)
    if json:
        past = [[one.author, one.why] for one in history]
        print(jsonlib.dumps({**_record(memory), "history": past}, indent=2))
        return 0
    print(memory.content or "(erased)")
    print(f"  said by {memory.speaker} on {memory.said_at:%Y-%m-%d %H:%M} in session {memory.session!r}")
    how = f"{memory.kind}, {memory.provenance}, {memory.state}"
    print(f"  {how}; used {memory.uses} times; importance {memory.importance:.2f}")
    if memory.withheld:
        print(f"  never shown to a model: {', '.join(memory.withheld)}")
    for one in history:
        print(f"  {one.author}: {one.why}")
    return 0


def restore(user: str, number: int) -> int:
    """Bring a merged or forgotten memory back."""

    async def work(store: "Store") -> bool:
        return await store.memories.restore(await _known(store, user), number)

    if not _with(work):
        raise InputError(
            f"There is no retired memory {number} of {user!r}; `insula memory show {number}` says how it stands."
        )
    print(f"Memory {number} is back in long-term memory.")
    return 0


def amend(user: str, number: int, do: "Do", text: str = "") -> int:
    """Correct, pin or mute a memory, or undo the last decision on it.

    Raises:
        InputError: there is none such, or that cannot be done with it.
    """
    from insula.memory.amendment import DONE
    from insula.operations.memories import change_memory

    _with(lambda store: change_memory(store, user, number, do, text))
    print(f"Memory {number} is {'as it was before' if do == 'undo' else DONE[do]}.")
    return 0


def erase(user: str, number: int, yes: bool) -> int:
    """Erase a memory for good, after asking."""
    from insula.cli.common import counted, soul_of
    from insula.operations import memories

    memory = _with(lambda store: memories.get_memory(store, user, number))
    if not yes and not _agreed(memory.line or memory.content[:80]):
        print("Nothing was erased.")
        return 1

    async def work(store: "Store") -> "tuple[Deleted, list[Memory]]":
        gone = await memories.delete_memory(store, user, number, soul_of(user))
        return gone, [await memories.get_memory(store, user, other) for other in gone.others]

    gone, others = _with(work)
    if gone.left:
        print(f"insula: {gone.left}", file=sys.stderr)
    print(f"Memory {number} is erased, with the line it came from and what was derived of its session, for good.")
    print(GONE_TOO)
    if others:
        print(f"What you said elsewhere with its words stands: {counted(len(others), 'memory')}.")
        for other in others:
            _print(other)
        print("To erase one of them, too: insula memory erase NUMBER")
    return 0


def erase_session(user: str, session: str, yes: bool) -> int:
    """Erase all that was said in a session for good, after asking."""
    from insula.cli.common import soul_of
    from insula.memory.storage.filters import Filter
    from insula.operations.memories import forget_memories

    if not yes and not _agreed(f"all of session {session}"):
        print("Nothing was erased.")
        return 1
    gone = _with(lambda store: forget_memories(store, user, Filter(session=session), soul_of(user)))
    if not gone.memories:
        raise InputError(f"Nothing is remembered of a session {session!r} of {user!r}; `insula memory` lists memories.")
    if gone.left:
        print(f"insula: {gone.left}", file=sys.stderr)
    print(f"Session {session!r} is erased for good.\n{GONE_TOO}")
    return 0


def search(user: str, text: str, json: bool) -> int:
    """What is remembered that answers a question or shares words with it, best first; else what comes nearest."""
    from insula.memory import embedding
    from insula.metacognition import Metacognition

    embed = embedding.named(settings.load().embed)
    found = _with(lambda store: Metacognition(store, embed=embed).search(user, text, limit=SHOWN))
    if json:
        print(jsonlib.dumps([_record(hit.memory) for hit in found.hits], indent=2))
        return 0
    if not found.hits:
        print(f"Nothing that is remembered of {user!r} answers {text!r}{'; nearest to it:' if found.nearest else '.'}")
    for hit in found.hits or found.nearest:
        _print(hit.memory)
    return 0


def calibration(user: str, reset: bool, json: bool) -> int:
    """How confidence is calibrated for a user, or the shipped calibration again."""
    from insula.calibration import adjusted, shipped
    from insula.cli.common import counted
    from insula.night import outcomes

    async def work(store: "Store") -> outcomes.Own:
        user_id = await _known(store, user)
        if reset:
            await outcomes.forget(store, user_id)
        return await outcomes.own(store, user_id, shipped())

    found = _with(work)
    if json:
        print(jsonlib.dumps(found.as_json(), indent=2))
        return 0
    print(f"Confidence is high from {found.calibration.high:.2f} on, low below {found.calibration.medium:.2f}.")
    if not found.outcomes:
        print("That is what everybody begins with; nights learn from thanks, corrections and questions asked again.")
        return 0
    held = sum(one.held for one in found.outcomes)
    print(f"It rests on {counted(len(found.outcomes), 'answer')}, of which {held} held:")
    for before in (0.9, 0.7, 0.5, 0.3):
        print(f"  what would be {before:.0%} for others is {adjusted(found.calibration, before):.0%} for you")
    return 0


def _agreed(line: str) -> bool:
    if not sys.stdin.isatty():
        raise InputError("Erasing asks first, and nobody can be asked here; give --yes.")
    return input(f"Erase for good: {line!r}? [y/N] ").strip().lower() in {"y", "yes"}


async def _known(store: "Store", user: str) -> int:
    if (user_id := await store.nights.sleeper(user)) is None:
        raise InputError(f"Nothing is remembered of {user!r}; name another user with --user.")
    return user_id


def _with(work: "Callable[[Store], Awaitable[T]]") -> T:
    from insula.cli.common import memory_of
    from insula.memory.storage.store import Store

    home = settings.home()
    settings.check_home(home)

    async def run() -> T:
        async with await Store.open(memory_of()) as store:
            return await work(store)

    return asyncio.run(run())
