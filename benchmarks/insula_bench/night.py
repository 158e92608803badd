"""What a night costs: users per second with a scripted model on SQLite, and whether memory stays flat."""

import asyncio
import json as jsonlib
import resource
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from insula.language.owner import ASSISTANT, USER
from insula.memory.item import NewItem, new_item
from insula.memory.retrieval.query import encode_claims
from insula.memory.storage.store import Store
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES
from insula.testing import Reply, Request, ScriptedModel
from insula.text.analysis import analyse_text
from insula.types import Controls
from insula_bench.progress import steps

SAID = (
    ("user", "How do I get from Lisbon to Porto with a small dog?"),
    ("assistant", "By bus, which takes three and a half hours and allows no dogs."),
    ("user", "No, I asked for a way that allows dogs. Please always give times in 24-hour format."),
    ("assistant", "By train: it leaves at 14:30 and arrives at 17:20, and small dogs travel free in a carrier."),
    ("user", "Thanks, the train it is. My sister Ana lives in Porto."),
    ("assistant", "Have a good journey to Ana."),
)
"""A session of everyday talk, with a correction and a standing wish in it."""
SUMMARY = "The user asked how to get from Lisbon to Porto with a small dog, and wanted times in 24-hour format."
SAMPLES = 20
"""How often resident memory is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures."""

    users: int
    users_per_second: float
    seconds: float
    calls: int
    """Calls of the scripted model, which answers at once."""
    failed_phases: int
    rss_mb_start: float
    """Resident memory after the first twentieth of the users."""
    rss_mb_end: float
    database_mb: float


def run(users: int, model: bool, json: bool) -> int:
    """Measure and print; the exit status is 1 where a phase failed."""
    report = asyncio.run(measure(users, model))
    if json:
        print(jsonlib.dumps(asdict(report), indent=2))
    else:
        for name, value in asdict(report).items():
            print(f"{name.replace('_', ' '):<18} {value}")
    return int(report.failed_phases > 0)


async def measure(users: int, model: bool = True) -> Report:
    """The nights of so many users, one after the other, in a database of their own."""
    scripted = ScriptedModel(_answer, name="scripted") if model else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "night.db"
        async with await Store.open(path) as store:
            await _populate(store, users)
            memory: list[float] = []
            failed = calls = 0
            began = time.perf_counter()
            for number in steps(range(users), "nights"):
                report = await sleep_cycle(store, f"user-{number}", PHASES, date="2026-01-01", model=scripted)
                failed += len(report.failed)
                if scripted:
                    calls += len(scripted.requests)
                    scripted.requests.clear()  # it keeps them all, which is not the night's memory
                if number % max(1, users // SAMPLES) == 0:
                    memory.append(_resident())
            seconds = time.perf_counter() - began
        size = path.stat().st_size / 1e6
    return Report(
        users=users,
        users_per_second=round(users / seconds, 1),
        seconds=round(seconds, 2),
        calls=calls,
        failed_phases=failed,
        rss_mb_start=round(memory[min(1, len(memory) - 1)], 1),
        rss_mb_end=round(_resident(), 1),
        database_mb=round(size, 1),
    )


def _answer(request: Request) -> Reply:
    """What a model would say: a summary where one is wanted, else that there is nothing to add."""
    fields = (request.schema or {}).get("properties", {})
    if "summary" in fields:
        return {"summary": SUMMARY, "topics": ["Lisbon", "Porto", "dog"]}
    return {name: [] if shape.get("type") == "array" else "" for name, shape in fields.items()}


async def _populate(store: Store, users: int) -> None:
    items = [_item(who, text) for who, text in SAID]
    for number in steps(range(users), "users"):
        place = await store.resolve_place(f"user-{number}", "monday")
        at = store.now()
        await store.sessions.add_lines(place, [(item, at) for item in items], Controls())


def _item(who: str, text: str) -> NewItem:
    analysis = analyse_text(text)
    speaker, listener = (USER, ASSISTANT) if who == "user" else (ASSISTANT, USER)
    provenance = "user" if who == "user" else "assistant"
    return new_item(analysis, encode_claims(analysis, speaker, listener), provenance, speaker, (), ())


def _resident() -> float:
    """Megabytes of memory that this process holds now (Linux), or held at most."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * resource.getpagesize() / 1e6
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
