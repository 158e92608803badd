"""Five walks through Insula, traced: how much of the code a stranger meets on the way of one thing.

A walk is a real run through public names, traced from its first to its last step in every thread. It counts

* **functions** of `src/insula` that are entered: `def`s, no comprehensions and no bodies of modules;
* **files** that they stand in;
* **edges**: pairs of files where a function of the one is entered with a function of the other next below it on the
  stack, whatever library lies between. What is handed to another thread begins a stack of its own there;
* **types**: classes of ours of which a function was given, or returned, an instance that holds the message: its one
  rare word stands, in letters of any case, in a text that is a field of the instance, or in a container that is one.
  Plain texts, mappings and objects that only hold such an instance are none.

Each walk ends by looking whether it arrived: a count of a run that does nothing is worth nothing. Nothing is left out
by lot, so that the figures are the same each time.
"""

import asyncio
import inspect
import os
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, cast

import insula
from insula import Metacognition
from insula.hosts.hook import respond

SOURCE = str(Path(insula.__file__).parent)
USER = "ana"
FAILURES = 8
ENTRIES = 64
"""Entries of a container that are looked at."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk met."""

    name: str
    files: int
    functions: int
    edges: int
    types: list[str]
    arrived: bool


class Tracer:
    """Notes each function of ours that is entered and left while it is on.

    Attributes:
        word: the rare word of the message, in small letters.
        functions: file and name of each.
        edges: the file of the caller, and that of the called.
        types: those that held the word.
    """

    def __init__(self, word: str) -> None:
        self.word = word
        self.functions: set[tuple[str, str]] = set()
        self.edges: set[tuple[str, str]] = set()
        self.types: set[str] = set()
        self._on = False

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Note what is entered within the block, and nothing from before, in all threads since `install_tracer`."""
        for noted in (self.functions, self.edges, self.types):
            noted.clear()
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def __call__(self, frame: FrameType, event: str, value: object) -> None:
        """What `sys.setprofile` calls."""
        if not self._on or event not in {"call", "return"} or not is_function(frame):
            return
        if event == "return":
            self._note_type(value)
            return
        file = frame.f_code.co_filename
        self.functions.add((file, frame.f_code.co_qualname))
        if (caller := find_caller(frame)) not in {None, file}:
            self.edges.add((cast("str", caller), file))
        for argument in inspect.getargvalues(frame).locals.values():
            self._note_type(argument)

    def _note_type(self, value: object) -> None:
        for each in (value, *list_entries(value)):
            name = f"{type(each).__module__}.{type(each).__qualname__}"
            if not name.startswith("insula.") or name in self.types:
                continue
            if any(holds_word(content, self.word) for content in list_fields(each)):
                self.types.add(name)


def is_function(frame: FrameType) -> bool:
    """Whether a frame is a `def` of ours."""
    code = frame.f_code
    return code.co_filename.startswith(SOURCE) and code.co_name[0] != "<" and bool(code.co_flags & inspect.CO_OPTIMIZED)


def find_caller(frame: FrameType) -> str | None:
    """The file of ours that is next below on the stack."""
    below = frame.f_back
    while below is not None and not below.f_code.co_filename.startswith(SOURCE):
        below = below.f_back
    return below and below.f_code.co_filename


def list_entries(value: object) -> list[object]:
    """The first entries of a container; of a named tuple, which is an object of ours, none."""
    if isinstance(value, Mapping):
        return list(cast("Mapping[object, object]", value).values())[:ENTRIES]
    if isinstance(value, list | tuple | set | frozenset) and type(cast("object", value)).__module__ == "builtins":
        return list(cast("list[object]", value))[:ENTRIES]
    return []


def list_fields(value: object) -> Iterator[object]:
    """What an instance holds itself, whichever way it is declared."""
    kinds = type(value).__mro__
    if isinstance(value, tuple):
        yield from cast("tuple[object, ...]", value)
    yield from getattr(cast("object", value), "__dict__", {}).values()
    for kind in kinds:
        slots: Any = kind.__dict__.get("__slots__", ())
        yield from (
            getattr(cast("object", value), name, None) for name in ((slots,) if isinstance(slots, str) else slots)
        )


def holds_word(content: object, word: str) -> bool:
    """Whether a text, or a text of a container, has a word in it."""
    return any(isinstance(text, str) and word in text.lower() for text in (content, *list_entries(content)))


@contextmanager
def install_tracer(tracer: Tracer) -> Generator[None]:
    """Have a tracer asked in this thread and in all that start within the block."""
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def play_walks() -> list[Walk]:
    """Play all five, each in a folder of its own, once what is loaded once is there."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(walk_told_fact(Tracer(""), Path(folder)))
    return [play_walk(name, word, work) for name, (word, work) in WALKS.items()]


Work = Callable[[Tracer, Path], Awaitable[bool]]


def play_walk(name: str, word: str, work: Work) -> Walk:
    """Play one walk."""
    tracer = Tracer(word)
    with tempfile.TemporaryDirectory() as folder, install_tracer(tracer):
        arrived = asyncio.run(run_walk(work, tracer, Path(folder)))
    files = {file for file, _ in tracer.functions}
    return Walk(name, len(files), len(tracer.functions), len(tracer.edges), sorted(tracer.types), arrived)


async def run_walk(work: Work, tracer: Tracer, folder: Path) -> bool:
    """A walk on an event loop."""
    return await work(tracer, folder)


# The walks.


async def walk_tool_call(tracer: Tracer, folder: Path) -> bool:
    """The failure of a test at which the senses speak, from a host's payload to the text that its model gets."""
    os.environ["INSULA_HOLDOUT"] = "off"
    for number in range(FAILURES):
        payload = {
            "session_id": "walk",
            "cwd": str(folder),
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": "python -m pytest tests/test_quagga.py"},
            "tool_use_id": f"toolu_{number}",
            "error": f"Exit code 1\nE   AssertionError: quagga {number}\nFAILED tests/test_quagga.py::test_herd",
        }
        with tracer.tracing():
            told = respond(str(folder), "claude-code", payload, 1_000_000_000.0 + 60 * number)
        if told:
            return True
    return False


async def walk_told_fact(tracer: Tracer, folder: Path) -> bool:
    """A fact about oneself, from the message to the store."""
    async with await Metacognition.open(folder / "insula.db", holdout=0.0) as mind:
        await take_turn(mind, "warm", "Hello there", "Hello!")
        with tracer.tracing():
            await take_turn(mind, "monday", TOLD, "Good to know.")
        return "Krakow" in await read_request(mind, ASKED)


async def walk_asked_fact(tracer: Tracer, folder: Path) -> bool:
    """A question about it in another session, from the message to the assessment of the answer."""
    async with await Metacognition.open(folder / "insula.db", holdout=0.0) as mind:
        await take_turn(mind, "monday", TOLD, "Good to know.")
        with tracer.tracing():
            return "Krakow" in await take_turn(mind, "tuesday", ASKED, "Your sister Zdenka lives in Krakow.")


async def walk_preference(tracer: Tracer, folder: Path) -> bool:
    """A preference, from the message by way of a night to SOUL.md."""
    async with await Metacognition.open(folder / "insula.db", holdout=0.0) as mind:
        await take_turn(mind, "warm", "Hello there", "Hello!")
        with tracer.tracing():
            await take_turn(mind, "monday", "From now on, always give distances in furlongs.", "I will.")
            await mind.sleep(USER, soul=folder / "SOUL.md", force=True)
        return "furlongs" in (folder / "SOUL.md").read_text("utf-8")


async def walk_night(tracer: Tracer, folder: Path) -> bool:
    """A night after three sessions with a fact, a correction, thanks and a preference, without a model."""
    async with await Metacognition.open(folder / "insula.db", holdout=0.0) as mind:
        for day, talk in enumerate(DAYS):
            for message, response in talk:
                await take_turn(mind, f"day {day}", message, response)
        with tracer.tracing():
            await mind.sleep(USER, soul=folder / "SOUL.md", force=True)
        return (folder / "SOUL.md").is_file()


async def take_turn(mind: Metacognition, session: str, message: str, response: str) -> str:
    """One exchange; returns what stood before the model."""
    async with mind.turn(USER, session, message) as turn:
        turn.finish(response)
        return turn.instructions


async def read_request(mind: Metacognition, message: str) -> str:
    """What would stand before the model for a message."""
    return await take_turn(mind, "look", message, "I see.")


TOLD = "My sister Zdenka has lived in Krakow since May."
ASKED = "Where does my sister Zdenka live?"
DAYS = (
    (
        (TOLD, "Good to know."),
        (ASKED, "She lives in Prague."),
        ("No, that is wrong: Zdenka lives in Krakow.", "Sorry. Zdenka lives in Krakow."),
    ),
    (
        ("From now on, always give distances in kilometres.", "I will."),
        ("How far is it from Krakow to Prague?", "About 400 kilometres by road."),
        ("Thank you, that is what Zdenka needed.", "You are welcome."),
    ),
    (
        ("What should I bring Zdenka from Lisbon?", "A tin of sardines, perhaps."),
        ("No, she does not eat fish. Please suggest something else.", "A tile, then."),
        ("Thanks, perfect!", "With pleasure."),
    ),
)
WALKS: Mapping[str, tuple[str, Work]] = {
    "a tool call": ("quagga", walk_tool_call),
    "a told fact": ("zdenka", walk_told_fact),
    "an asked fact": ("zdenka", walk_asked_fact),
    "a preference to SOUL.md": ("furlong", walk_preference),
    "a night": ("zdenka", walk_night),
}
