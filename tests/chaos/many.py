"""The nights of many users on PostgreSQL while workers are killed, the server restarts, and the model fails.

    python tests/chaos/many.py [--users 1000] [--workers 4] [--every 1.0] [--out FILE]

It must show: each user's night once and whole, no lesson twice, and no model call paid twice but the one in flight.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg

import postgres as tests_postgres
from insula.errors import ModelUnavailable
from insula.memory.privacy import archive
from insula.memory.privacy.archive import Archive
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage import postgres
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import END, sleep_cycle
from insula.night.phases import PHASES
from insula.testing import Reply, Request, ScriptedModel, answer_second_look

NIGHT = "chaos"
LEASE = 6.0
"""Seconds after which a dead worker is missed here: less than usual, so that much happens in little time."""
FAILING = 0.1
"""Share of model calls that fail."""
RESTARTS = 2
SAID = (
    ("What is the capital of Australia, as zepp0 asks?", "Sydney is the capital."),
    ("No, the capital of Australia is Canberra, as in zepp0.", "Sorry, it is Canberra."),
)
PRINCIPLE = {"text": "Say that the capital of Australia is Canberra.", "section": "interaction", "sessions": [1, 2]}
TABLES = ("summaries", "lessons", "evidence", "relations", "revisions", "nights")
ENTRIES = "state = 'done'"
"""Of the journal, the phases; what a model was asked stands there, too, and one that failed was not."""
LOADED = ("insula.night.durable", "pydantic_ai.direct", "genai_prices.data", "__main__")
"""What a worker needs is loaded and warmed once, and forked: here one dies before a fresh interpreter could load it."""


def model(ledger: Path, seed: int, failing: float) -> ScriptedModel:
    """A model that fails now and then, and puts down each answer that is to be paid: for whom, by whom, for what."""
    lots = random.Random(seed)

    def reply(request: Request) -> Reply:
        if lots.random() < failing:
            return ModelUnavailable("The model is down for a moment.")
        found = re.search(r"zepp\d+", request.prompt)
        line = [found[0] if found else "", os.getpid(), time.time(), request.prompt]
        with ledger.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if "five lists" in request.prompt:
            return {"explanation": [], "principles": [PRINCIPLE], "procedures": [], "advice": []}
        if looked := answer_second_look(request):
            return looked
        if "statements" in (request.schema or {}).get("properties", {}):
            return {"statements": [], "ended": [], "preferences": []}
        return {
            "summary": f"The user asked for the capital of Australia and spoke of trains to {line[0]}.",
            "topics": ["capital", "Australia"],
        }

    return ScriptedModel(reply)


async def talk(store: Store) -> None:
    """What everybody said."""
    for session in ("monday", "tuesday"):
        for message, response in (*SAID, (f"We talked of trains to zepp0 on {session}.", "Fine.")):
            async with Metacognition(store, embed=None).turn("u0", session, message) as turn:
                turn.finish(response)


async def warm() -> None:
    """A night in memory, so that all is loaded that a night needs."""
    async with await Store.open(":memory:") as store:
        await talk(store)
        silent = model(Path(os.devnull), 0, 0.0)
        await sleep_cycle(store, "u0", PHASES, date=NIGHT, model=silent, embed=embed_text, force=True)


async def fill(url: str, users: int) -> None:
    """So many users, who said the same but for one word."""
    async with await Store.open(":memory:") as first:
        await talk(first)
        text = "".join(await first.run(lambda connection: list(archive.lines(connection, "u0", {}))))
    taken = archive.read_archive(text.encode())
    async with await Store.open(url) as store:
        for number in range(users):
            rows = json.loads(json.dumps(taken.rows).replace("zepp0", f"zepp{number}"))
            await store.run(archive.unpack_archive, f"u{number}", Archive(f"u{number}", rows, {}), store.now())


async def undisturbed(users: int, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """What the nights of some users leave that nothing disturbs, of the words that each of them said."""
    with tests_postgres.database(tests_postgres.server()) as url:
        await fill(url, users)
        steady = model(Path(os.devnull), 0, 0.0)
        async with await Store.open(url) as store:
            for name in names:
                report = await sleep_cycle(store, name, PHASES, date=NIGHT, model=steady, embed=embed_text, force=True)
                assert not report.failed, report
        left = counted(url)
    return {name: left[name] for name in names}


def counted(url: str) -> dict[str, dict[str, int]]:
    """How many rows each user has in the tables that a night writes."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(TABLES, 0))
    with psycopg.connect(url) as connection:
        for table in TABLES:
            which = f"WHERE {ENTRIES}" if table == "nights" else ""
            query = f"SELECT name, count(*) FROM {table} JOIN users ON users.id = user_id {which} GROUP BY name"
            for name, count in connection.execute(query.encode()):
                found[name][table] = count
    return dict(found)


async def worker(url: str, ledger: Path, name: str) -> None:
    """One worker, until it is killed."""
    postgres.LEASE = LEASE
    from insula.night import durable

    durable.PAUSE = 1.0
    durable._LOOK = LEASE / 3  # pyright: ignore[reportPrivateUsage]
    async with await Store.open(url) as store:
        house = durable.WorkerConfig(
            store=store,
            url=url,
            model=model(ledger, int.from_bytes(os.urandom(4)), FAILING),
            embed=embed_text,
            executor=name,
            limits=durable.Limits(at_once=4),
        )
        async with durable.run_worker(house):
            await asyncio.sleep(86_400)


def begin(url: str, ledger: Path, name: str, log: Path) -> None:
    """Be a worker, whose words go to a log."""
    with log.open("ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    asyncio.run(worker(url, ledger, name))


async def call(url: str) -> int:
    """Put everybody's night on the queue."""
    from insula.night import durable

    async with await Store.open(url) as store:
        house = durable.WorkerConfig(store=store, url=url, executor="caller", limits=durable.Limits(at_once=4))
        async with durable.run_worker(house, works=False) as caller:
            return await caller.enqueue_due(date=NIGHT)


def done(url: str) -> int:
    query = "SELECT count(*) FROM nights WHERE phase = %s AND night = %s AND state = 'done'"
    with psycopg.connect(url, connect_timeout=3) as connection:
        row = connection.execute(query, [END, NIGHT]).fetchone()
    return row[0] if row else 0


FORKS = multiprocessing.get_context("forkserver")


class Storm:
    """Workers that are killed at random, and a server that restarts."""

    def __init__(self, url: str, ledger: Path, workers: int, every: float, log: Path) -> None:
        self.url, self.ledger, self.every, self.log = url, ledger, every, log
        self.killed: dict[int, float] = {}
        self.restarts: list[float] = []
        self.started = 0
        self.running = [self.start() for _ in range(workers)]

    def start(self) -> ForkServerProcess:
        self.started += 1
        process = FORKS.Process(target=begin, args=(self.url, self.ledger, f"w{self.started}", self.log))
        process.start()
        return process

    def rage(self, users: int, patience: float) -> int:
        """Go on until all nights are over; returns how many are."""
        began, ended = time.monotonic(), 0
        while ended < users and time.monotonic() - began < patience:
            time.sleep(self.every * random.uniform(0.5, 1.5))
            victim = random.randrange(len(self.running))
            self.killed[killed(self.running[victim])] = time.time()
            self.running[victim] = self.start()
            if len(self.restarts) < RESTARTS and ended > (len(self.restarts) + 1) * users / (RESTARTS + 1):
                tests_postgres.restart("immediate")
                self.restarts.append(time.time())
            ended = done(self.url)
            print(f"\r{ended} of {users} nights, {len(self.killed)} killed ", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        for one in self.running:
            killed(one)
        return ended


def killed(process: ForkServerProcess) -> int:
    """Kill a worker with -9, and see it dead; returns its number."""
    process.kill()
    process.join()
    assert process.pid
    return process.pid


def judged(lines: list[list[Any]], killed: dict[int, float]) -> dict[str, int]:
    """How often a model call was paid, and which of the second times nothing explains.

    One is explained where the process that had made the first was killed with it in flight: it was the last that this
    process asked for this user.
    """
    by_call: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    last: dict[tuple[str, int], float] = {}
    for token, pid, at, prompt in lines:
        by_call[token, prompt].append((pid, at))
        last[token, pid] = max(at, last.get((token, pid), 0.0))
    again = {key: made for key, made in by_call.items() if len(made) > 1}
    unexplained = [
        (token, at)
        for (token, _), made in again.items()
        for pid, at in sorted(made, key=lambda one: one[1])[:-1]
        if pid not in killed or last[token, pid] > at
    ]
    return {
        "model_calls": len(lines),
        "paid_again_in_flight": sum(len(made) - 1 for made in again.values()) - len(unexplained),
        "paid_twice": len(unexplained),
    }


def main(users: int, workers: int, every: float, out: Path | None, patience: float) -> int:
    """Run it; returns 0 where everything held."""
    if not tests_postgres.start():
        print(f"insula: {tests_postgres.AWAY}", file=sys.stderr)
        return 1
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, tests_postgres.database(tests_postgres.server()) as url:
        ledger, log = Path(folder) / "calls", Path(folder) / "log"
        ledger.touch()
        asyncio.run(fill(url, users))
        expected = asyncio.run(undisturbed(1, ["u0"]))["u0"]
        called = asyncio.run(call(url))
        night_began = time.monotonic()
        storm = Storm(url, ledger, workers, every, log)
        ended = storm.rage(users, patience)
        seconds = time.monotonic() - night_began
        found = counted(url)
        lines = [json.loads(line) for line in ledger.read_text("utf-8").splitlines()]
        others = [name for name in (f"u{n}" for n in range(users)) if found.get(name) != expected]
        right = asyncio.run(undisturbed(users, others)) if others else {}  # a head may read another's words otherwise
        differ = {name: found.get(name) for name in others if found.get(name) != right[name]}
        paid = judged(lines, storm.killed)
        report = {
            "users": users,
            "workers": workers,
            "called": called,
            "nights_ended": ended,
            "users_whose_night_left_something_else": len(differ),
            "left_by_each_night": expected,
            "workers_killed": len(storm.killed),
            "server_restarts": len(storm.restarts),
            "seconds": round(seconds, 1),
            "seconds_in_all": round(time.monotonic() - began, 1),
            **paid,
            "calls_without_a_user": sum(not line[0] for line in lines),
        }
        if differ:
            print(json.dumps(Counter(json.dumps(rows) for rows in differ.values()), indent=1), file=sys.stderr)
        if ended < users:
            print(log.read_text("utf-8", "replace")[-4_000:], file=sys.stderr)
    print(json.dumps(report, indent=2))
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(report, indent=2) + "\n")
    return int(ended < users or bool(differ) or paid["paid_twice"] > 0)


if __name__ == "__mp_main__" and not multiprocessing.parent_process():  # where workers are forked from
    asyncio.run(warm())

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two kills")
    parser.add_argument("--patience", type=float, default=3_600.0, help="seconds until it is given up")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    FORKS.set_forkserver_preload(list(LOADED))
    sys.exit(main(given.users, given.workers, given.every, given.out, given.patience))
