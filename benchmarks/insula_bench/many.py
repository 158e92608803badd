"""`insula bench many`: recall and writes on PostgreSQL where very many memories of very many users are.

    insula bench many --store postgresql://… [--memories 1000000] [--users 10000] [--heavy 100000] [--clients 32]

Each kind of question is asked one after the other, with the CPU time of this process and, on the server's own machine,
of the server; then all clients ask, and write, at a steady pace from several processes, each over a connection of its
own, as the requests of many servers do. What a machine that others use adds is in the wall times and not in the CPU.
"""

import asyncio
import json as jsonlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_statements
from insula.memory.item import NewItem, new_item
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import Cue, build_cue, encode_claims
from insula.memory.storage import statements
from insula.memory.storage.postgres import CONNECTIONS
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import embed_normalised
from insula.text.analysis import analyse_text
from insula.types import Controls
from insula_bench import talks
from insula_bench.many_fill import COMMON, HEAVY, SEED, fill
from insula_bench.progress import steps
from insula_bench.scale import quantiles
from insula_bench.sought import Sought, sought

HERE = "insula_bench.many"
FOLDER = Path(__file__).parents[1]
EACH, WARM = 100, 5
"""Questions of each kind one after the other, after some that do not count."""
LINES = 20
"""Different lines that are written."""
RARE = "rare"
GOALS_MS = {"recall": 25.0, "write": 10.0}
"""p95 with all clients (issue 22)."""
HEAVY_RATIO = 2.0
"""What a user with very much may cost of what others cost."""
_FROM_BACKENDS = sa.text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
_USERS = sa.text("SELECT name FROM users WHERE name <> :heavy ORDER BY id")
_TICK = os.sysconf("SC_CLK_TCK")


class Ask(NamedTuple):
    """A question as a turn asks it of the store."""

    cue: Cue
    sought: Sought


class Took(NamedTuple):
    """What one call took, in milliseconds."""

    wall: float
    cpu: float


def run(store: str, memories: int, users: int, heavy: int, clients: int, seconds: float, json: bool) -> int:
    """Fill an empty database, measure, print, and return the exit code: 1 where a goal is missed."""
    figures: dict[str, Any] = asyncio.run(_filled(store, users, memories, heavy))
    figures |= asyncio.run(_alone(store))
    figures |= {"clients": clients, "at_once": {kind: _together(store, kind, clients, seconds) for kind in KINDS}}
    figures["held"] = _held(figures)
    print(jsonlib.dumps(figures, indent=2)) if json else _show(figures)
    return int(not all(figures["held"].values()))


async def _filled(url: str, users: int, memories: int, heavy: int) -> dict[str, Any]:
    """Fill a database that is empty; one that this has filled before is measured as it is."""
    async with await Store.open(url) as store:
        known = await store.run(lambda connection: connection.execute(sa.text("SELECT max(id) FROM users")).scalar())
        began = time.monotonic()
        if known is None:
            await asyncio.to_thread(fill, url, users, memories, heavy)
        size = sa.text("SELECT pg_database_size(current_database()) / 1e6")
        count = sa.text("SELECT count(*), sum(memories), max(memories) FROM users")
        number, held, most = await store.run(lambda connection: connection.execute(count).one())
        return {
            "users": number,
            "memories": held,
            "of_the_heaviest": most,
            "filled_in_s": round(time.monotonic() - began, 1) if known is None else None,
            "mb": round(await store.run(lambda connection: float(connection.execute(size).scalar_one()))),
        }


def _asks(chance: random.Random) -> dict[str, list[Ask]]:
    """Questions by how common their words are."""
    rare = [one.text for talk in talks.with_assistant() for one in talk.questions]
    texts = {RARE: chance.sample(rare, min(EACH, len(rare)))}
    for kind, (_, word) in COMMON.items():
        texts[kind] = [f"What about the {word}?", f"Tell me about the {word}.", f"Was the {word} nice?"]
    return {kind: [_ask(text) for text in asked] for kind, asked in texts.items()}


def _ask(text: str) -> Ask:
    asked = analyse_text(text)
    return Ask(build_cue(asked, USER, ASSISTANT), sought(asked, (), embed_text))


def _items(chance: random.Random) -> list[NewItem]:
    """What is written: lines that users said."""
    lines = [line.text for talk in talks.with_assistant() for line in talk.lines if line.speaker == USER]
    return [_item(text) for text in chance.sample(lines, LINES)]


def _item(text: str) -> NewItem:
    analysis = analyse_text(text)
    told = extract_statements(analysis, USER, ASSISTANT)
    stated = [one._replace(vector=embed_normalised(embed_text, one.text)) for one in told]
    item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), (), stated)
    return item._replace(vector=embed_normalised(embed_text, text))


class Bench:
    """One process's side of it."""

    def __init__(self, store: Store, users: list[str], chance: random.Random) -> None:
        self.store, self.users, self.chance = store, users, chance
        self.asks, self.items = _asks(chance), _items(chance)

    @classmethod
    async def ready(cls, store: Store, seed: str) -> "Bench":
        names = await store.run(lambda connection: list(connection.execute(_USERS, {"heavy": HEAVY}).scalars()))
        return cls(store, names, random.Random(seed))

    async def recall(self, user: str, kind: str) -> Took:
        """One question of a user's, as a turn asks it."""
        ask = self.chance.choice(self.asks[kind])
        with on_behalf_of(user):
            place = await self.store.resolve_place(user, "now")
            limit = Controls().max_context_items
            return await _timed(
                lambda: self.store.memories.recall_memories(
                    place, ask.cue, limit, sought=ask.sought.read, asked=ask.sought.asked
                )
            )

    async def write(self, user: str) -> Took:
        """One line, as a turn writes it: what was said, and what goes to long-term memory."""
        with on_behalf_of(user):
            place = await self.store.resolve_place(user, "now")
            item = self.chance.choice(self.items)
            said = await _timed(lambda: self.store.sessions.write_message(place, item))
            at = self.store.now()
            kept = await _timed(lambda: self.store.run(statements.promote_items, place, Controls(), at))
            return max(said, kept)

    async def any(self, kind: str) -> Took:
        """What a client does, of a user by lot."""
        user = self.chance.choice(self.users)
        return await (self.write(user) if kind == WRITE else self.recall(user, kind))


WRITE = "write"
KINDS = (RARE, *COMMON, WRITE)


async def _timed(work: Callable[[], Awaitable[object]]) -> Took:
    began, cpu = time.perf_counter(), time.process_time()
    await work()
    return Took(1000 * (time.perf_counter() - began), 1000 * (time.process_time() - cpu))


async def _alone(url: str) -> dict[str, Any]:
    """Each kind one after the other, of those who said little and of the one who said much."""
    found: dict[str, dict[str, Any]] = {}
    async with await Store.open(url) as store:
        bench = await Bench.ready(store, f"{SEED} alone")
        began = time.perf_counter()
        await bench.recall(HEAVY, RARE)  # reads the vectors of all that the heaviest said, once in a process
        first = round(time.perf_counter() - began, 2)
        for kind in steps(KINDS, "one after the other"):
            for who, name in (("others", ""), (HEAVY, HEAVY)):
                do = bench.write if kind == WRITE else partial(bench.recall, kind=kind)
                found[f"{kind}, {who}"] = await _measured(bench, do, name)
    return {"first_recall_of_the_heaviest_s": first, "one_after_the_other": found}


async def _measured(bench: Bench, do: Callable[[str], Awaitable[Took]], name: str) -> dict[str, Any]:
    taken: list[Took] = []
    server = 0.0
    for number in range(EACH + WARM):
        if number == WARM:
            server = await _server_ms(bench.store)
        user = name or bench.chance.choice(bench.users)
        taken.append(await do(user))
    spent = (await _server_ms(bench.store) - server) / EACH
    wall, cpu = (quantiles([one[side] for one in taken[WARM:]]) for side in range(2))
    return {"wall_ms": wall, "cpu_ms": cpu, "server_cpu_ms": round(spent, 2) or None, "load": _load()}


async def _server_ms(store: Store) -> float:
    """CPU milliseconds that the server's processes for this database have spent, where this machine is the server's."""
    pids = await store.run(lambda connection: list(connection.execute(_FROM_BACKENDS).scalars()))
    return sum(map(_spent_ms, pids))


def _spent_ms(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / _TICK
    return 0.0


def _load() -> float:
    return round(os.getloadavg()[0], 1)


def _together(url: str, kind: str, clients: int, seconds: float) -> dict[str, Any]:
    """What all clients wait, who do something once a second each."""
    shares = [CONNECTIONS] * (clients // CONNECTIONS) + ([rest] if (rest := clients % CONNECTIONS) else [])
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", HERE, kind, str(share), str(seconds), str(number)],
            env={**os.environ, "PYTHONPATH": str(FOLDER), "INSULA_STORE": url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number, share in enumerate(shares)
    ]
    pipes = [one.stdout for one in processes if one.stdout]
    for pipe in pipes:
        pipe.readline()  # it is ready
    for one in processes:
        if one.stdin:
            one.stdin.write(b"\n")
            one.stdin.flush()
    taken = [ms for one in processes for ms in jsonlib.loads(one.communicate()[0])]
    if any(one.returncode for one in processes) or not taken:
        raise InputError("A client failed; what it said stands above.")
    return {"calls": len(taken), "a_second": round(len(taken) / seconds, 1), "wall_ms": quantiles(taken)} | {
        "load": _load()
    }


def _held(figures: dict[str, Any]) -> dict[str, bool]:
    """Which goals are reached."""
    at_once, alone = figures["at_once"], figures["one_after_the_other"]
    found = {
        f"{kind}: p95 with all clients": at_once[kind]["wall_ms"]["p95"]
        <= GOALS_MS["write" if kind == WRITE else "recall"]
        for kind in KINDS
    }
    for kind in KINDS:
        others, heavy = (alone[f"{kind}, {who}"]["wall_ms"]["p95"] for who in ("others", HEAVY))
        found[f"{kind}: the heaviest"] = heavy <= max(HEAVY_RATIO * others, HEAVY_RATIO * GOALS_MS["recall"])
    return found


def _show(figures: dict[str, Any]) -> None:
    console = Console()
    console.print(
        f"{figures['memories']:,} memories of {figures['users']:,} users, {figures['mb']:,} MB; the heaviest has "
        f"{figures['of_the_heaviest']:,}"
    )
    table = Table("ms", "median", "p95", "CPU", "p95", "server's CPU", "load", box=None, header_style="dim")
    console.print(f"the first recall of the heaviest in a process: {figures['first_recall_of_the_heaviest_s']} s")
    for name, found in figures["one_after_the_other"].items():
        times = [str(found[kind][which]) for kind in ("wall_ms", "cpu_ms") for which in ("median", "p95")]
        table.add_row(name, *times, str(found["server_cpu_ms"]), str(found["load"]))
    for kind, found in figures["at_once"].items():
        wall = found["wall_ms"]
        shown = (wall["median"], wall["p95"], "", "", "", found["load"])
        table.add_row(f"{kind}, {figures['clients']} clients, {found['a_second']} a second", *map(str, shown))
    console.print(table)
    for goal, held in figures["held"].items():
        console.print(f"{goal}: {'held' if held else 'missed'}")


async def _client(url: str, kind: str, clients: int, seconds: float, seed: str) -> None:
    """Some of the clients, in a process of their own; prints what each call took."""
    async with await Store.open(url) as store:
        bench = await Bench.ready(store, f"{SEED} {kind} {seed}")
        for _ in range(WARM):
            await bench.any(kind)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        until, taken = time.monotonic() + seconds, list[float]()

        async def paced() -> None:
            due = time.monotonic() + bench.chance.random()
            while due < until:
                await asyncio.sleep(max(due - time.monotonic(), 0))
                taken.append((await bench.any(kind)).wall)
                due = max(due + bench.chance.uniform(0.8, 1.2), time.monotonic())

        await asyncio.gather(*(paced() for _ in range(clients)))
    print(jsonlib.dumps(taken))


if __name__ == "__main__":
    asyncio.run(_client(os.environ["INSULA_STORE"], sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]))
