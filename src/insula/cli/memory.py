"""`insula memory`: facts that were told, and what was said; each can be corrected, pinned, muted, undone and erased."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, TypeVar

import typer

from insula import settings
from insula.cli import lines
from insula.cli.common import soul_of, with_store
from insula.cli.lines import confirm_action, print_folded, print_json, print_warning
from insula.cli.options import Json, User, Yes, make_number_parser
from insula.cli.render import NUMBER, render_fact
from insula.errors import InputError
from insula.language.owner import USER
from insula.memory.privacy.amendment import DONE, Do
from insula.memory.retrieval import embedding
from insula.memory.storage.filters import Filter
from insula.memory.storage.store import Store
from insula.memory.storage.views import memory_record
from insula.metacognition import Metacognition
from insula.metacognition.observing import AdditionOutcome, add_fact, amend_fact
from insula.operations import facts, memories
from insula.operations.facts import Fact
from insula.operations.memories import Deleted, MemoryPage
from insula.server.page.words import STANDS, describe_author
from insula.text.wording import count_noun, count_times
from insula.types import Memory

T = TypeVar("T")
ME = "me"
"""The user whom no option names."""
SHOWN = 50
NARROW = 72
"""Columns from which on a memory has room beside its number, its date and whom it is from."""
LINE = 160
"""Characters of what is derived, which has no line for a prompt."""

app = typer.Typer()
_number = make_number_parser("memory", "insula memory")
Number = Annotated[
    int, typer.Argument(parser=_number, metavar="NUMBER", help="Of a memory, as `insula memory` lists it.")
]
Transcript = Annotated[bool, typer.Option("--transcript", help="What was said, word for word, in place of facts.")]
Every = Annotated[bool, typer.Option("--all", help="All of them, not the latest 50 alone.")]


@app.callback(invoke_without_command=True)
@app.command("list")
def list_memory(
    context: typer.Context,
    user: User = ME,
    transcript: Transcript = False,
    everything: Every = False,
    json: Json = False,
) -> None:
    """The latest 50 facts, newest first: what it is, whose, since when and in which words; with --all every one."""
    if context.invoked_subcommand is not None:
        return
    if transcript:
        rows, older = with_store(lambda store: _list_lines(store, user, everything))
        _print_list(rows, memory_record, _print_memory, older, user, json, option="--transcript ")
        empty = f"Nothing is remembered of {user!r} yet."
    else:
        rows, older = with_store(lambda store: _list_facts(store, user, everything))
        _print_list(rows, _record_of, _print_fact, older, user, json)
        empty = f"Nothing is known of {user!r} yet; insula memory add SENTENCE adds a fact."
    if not rows and not json:
        print(empty)


async def _list_facts(store: Store, user: str, everything: bool) -> tuple[list[Fact], int]:
    """The first page of facts, and how many are older; or all of them, and 0."""
    page = await facts.list_facts(store, user)
    fact_rows = list(page.facts)
    if not everything:
        return fact_rows, await memories.count_memories(store, user, facts.FACTS) - len(fact_rows) if page.next else 0
    while page.next is not None:
        page = await facts.list_facts(store, user, before=page.next, limit=memories.MOST)
        fact_rows += page.facts
    return fact_rows, 0


async def _list_lines(store: Store, user: str, everything: bool) -> tuple[list[Memory], int]:
    """The first page of what was said, and how many lines are older; or all of them, and 0."""
    page: MemoryPage = await memories.list_memories(store, user)
    memory_rows = list(page.memories)
    if not everything:
        return memory_rows, await memories.count_memories(store, user) - len(memory_rows) if page.next else 0
    while page.next is not None:
        page = await memories.list_memories(store, user, before=page.next, limit=memories.MOST)
        memory_rows += page.memories
    return memory_rows, 0


def _print_list(
    rows: Sequence[T],
    as_record: Callable[[T], dict[str, object]],
    show: Callable[[T], None],
    older: int,
    user: str,
    json: bool,
    option: str = "",
) -> None:
    """Print a list, and how many older ones there are: what a program reads is a list and nothing else."""
    whose = "" if user == ME else f" --user {shlex.quote(user)}"
    more = f"… and {older:,} older; insula memory {option}--all{whose} shows them"
    if json:
        print_json([as_record(row) for row in rows])
        if older:
            print(more, file=sys.stderr)
        return
    for row in rows:
        show(row)
    if older:
        print_folded(more, "", "  ")


def _record_of(fact: Fact) -> dict[str, object]:
    return {**memory_record(fact.memory), "fact": fact.text, "whose": list(fact.whose)}


def _print_fact(fact: Fact) -> None:
    print(render_fact(fact))


def _print_memory(memory: Memory) -> None:
    """A memory on a line; where there is no room for that, it stands below its number."""
    said = memory.line or memory.content[:LINE]
    head, columns = f"{memory.id:>6}  {memory.said_at:%Y-%m-%d}  {memory.provenance:<9}  ", lines.terminal_width()
    if columns < NARROW:
        print(head.rstrip())
        head = " " * NUMBER
    print("\n".join(lines.fold_text(said, columns, head, " " * len(head))))


OUTCOME_WORDS: Mapping[AdditionOutcome, str] = {
    "redacted": "What holds a secret is not kept.",
    "secret": "It holds a secret, so nothing of it was added.",
    "known": "That was remembered already.",
    "preference": "It is a preference, and counts from your next message on; insula guidance lists it.",
    "asked": "That is a question, so nothing was added; insula memory search answers it.",
}
"""What is said of what was added where that is more than the fact."""


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="A sentence, as in “My sister Ana lives in Lisbon.”")],
    user: User = ME,
    json: Json = False,
) -> None:
    """Add a fact in your own words."""
    outcome, fact = with_store(lambda store: add_fact(_open_mind(store).engine, user, text))
    if json:
        print_json(_record_of(fact) if fact else {"outcome": outcome})
        return
    if fact:
        _print_fact(fact)
    if outcome in OUTCOME_WORDS:
        print(OUTCOME_WORDS[outcome])


def _open_mind(store: Store) -> Metacognition:
    return Metacognition(store, embed=embedding.embedding_by_name(settings.load_settings().embed))


@app.command()
def search(
    text: Annotated[str, typer.Argument(help="Words that are looked for, or a question.")],
    user: User = ME,
    json: Json = False,
) -> None:
    """What answers a question or shares words with it, best first; else what comes nearest."""
    result = with_store(lambda store: _open_mind(store).search(user, text, limit=SHOWN))
    if json:
        return print_json([memory_record(hit.memory) for hit in result.hits])
    if not result.hits:
        print(f"Nothing that is remembered of {user!r} answers {text!r}{'; nearest to it:' if result.nearest else '.'}")
    for hit in result.hits or result.nearest:
        _print_memory(hit.memory)
    return None


@app.command()
def show(number: Number, user: User = ME, json: Json = False) -> None:
    """One memory, where it is from and what became of it."""

    async def read_memory(store: Store) -> tuple[Memory, list[tuple[str, str]]]:
        history = await memories.read_history(store, user, number)
        return await memories.get_memory(store, user, number), [(change.author, change.why) for change in history]

    memory, history = with_store(read_memory)
    if json:
        return print_json({**memory_record(memory), "history": history})
    print(memory.content or "(erased)")
    who = "you" if memory.speaker == USER else memory.speaker
    print(f"  said by {who} on {memory.said_at:%Y-%m-%d %H:%M} in the conversation {memory.session!r}")
    print(f"  {STANDS.get(memory.state, memory.state)}; used {count_times(memory.uses)}")
    if memory.withheld:
        print(f"  never shown to a model: {', '.join(memory.withheld)}")
    for name, why in history:
        print(f"  {describe_author(name)}: {why}")
    return None


@app.command()
def edit(number: Number, text: Annotated[str, typer.Argument(help="What it should say.")], user: User = ME) -> None:
    """Let a memory say something else; `undo` brings the old words back."""
    _change_memory(user, number, "correct", text)


_DECISIONS: dict[Do, str] = {
    "pin": "Keep a memory: no night merges or forgets it.",
    "unpin": "Undo `pin`.",
    "mute": "Use a memory in no answer any more.",
    "unmute": "Undo `mute`.",
    "undo": "Take back the last decision on a memory: yours, or what a night let go.",
}


def _make_decision(do: Do) -> Callable[[Number, User], None]:
    def decide_memory(number: Number, user: User = ME) -> None:
        _change_memory(user, number, do)

    return decide_memory


for _do, _about in _DECISIONS.items():
    app.command(_do, help=_about)(_make_decision(_do))


def _change_memory(user: str, number: int, do: Do, text: str = "") -> None:
    with_store(lambda store: amend_fact(_open_mind(store).engine, user, number, do, text))
    print(f"Memory {number} is {'as it was before' if do == 'undo' else DONE[do]}.")


@app.command()
def erase(
    number: Annotated[int | None, typer.Argument(parser=_number, metavar="NUMBER", help="Of a memory.")] = None,
    session: Annotated[str, typer.Option("--session", help="Erase all that was said in a session instead.")] = "",
    user: User = ME,
    yes: Yes = False,
) -> int:
    """Erase a memory for good, or a session, with the lines they came from and what quotes them."""
    if (number is None) == (not session):
        raise typer.BadParameter("Name a memory, as `insula memory` numbers it, or a session with --session.")
    return _erase_session(user, session, yes) if number is None else _erase_memory(user, number, yes)


def _erase_memory(user: str, number: int, yes: bool) -> int:
    memory = with_store(lambda store: memories.find_unerased(store, user, number))
    if not confirm_action(f"Erase for good: {memory.line or memory.content[:80]!r}?", yes, "erased"):
        return 1

    async def erase_memory(store: Store) -> tuple[Deleted, list[Memory]]:
        gone = await memories.delete_memory(store, user, number, soul_of(user))
        return gone, [await memories.get_memory(store, user, other) for other in gone.others]

    gone, others = with_store(erase_memory)
    print_warning(gone.left)
    print(f"Memory {number} is erased, with the line it came from and what was derived of its session, for good.")
    print(_say_gone_too(gone.backups))
    if others:
        print(f"What you said elsewhere with its words stands: {count_noun(len(others), 'memory')}.")
        for other in others:
            _print_memory(other)
        print("To erase one of them, too: insula memory erase NUMBER")
    return 0


def _erase_session(user: str, session: str, yes: bool) -> int:
    if not confirm_action(f"Erase for good: all of session {session!r}?", yes, "erased"):
        return 1
    gone = with_store(lambda store: memories.forget_memories(store, user, Filter(session=session), soul_of(user)))
    if not gone.memories:
        raise InputError(f"Nothing is remembered of a session {session!r} of {user!r}; `insula memory` lists memories.")
    print_warning(gone.left)
    print(f"Session {session!r} is erased for good.\n{_say_gone_too(gone.backups)}")
    return 0


def _say_gone_too(backups: int) -> str:
    """What went with what was erased, of what there was."""
    renewed = {0: "", 1: " The backup was renewed without it."}
    many = f" {backups} backups were replaced by one without it."
    return f"So are lines of the assistant's that repeated it, if any did.{renewed.get(backups, many)}"
