"""`insula bench rate`: nights a second on one PostgreSQL, by workers, beside what the bare engine does.

    insula bench rate --store postgresql://… [--users 100] [--workers 1,2,4] [--model-ms 200]

With `--flat 10000` it tells instead what one worker holds after a tenth of so many nights, and after all of them.

Each round has so many users of its own for each worker, a worker process each, and the same database. The rate is that
from when as many nights had ended as are run at once to the last of all, by the engine's own record: what a process
loads at first counts for nothing. The bare engine runs as many empty workflows the same way.
"""

import asyncio
import json as jsonlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from insula.errors import InputError
from insula.memory.privacy import archive
from insula.memory.privacy.archive import Archive
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night import durable
from insula.testing import Request, ScriptedModel
from insula_bench.progress import steps

HERE = "insula_bench.night_rate"
FOLDER = Path(__file__).parents[1]
AT_ONCE = 8
PATIENCE_SECONDS = 1_800.0
LOOK_SECONDS = 0.5
SAID = (
    ("What is the capital of Australia?", "Sydney is the capital."),
    ("No, the capital is Canberra.", "Sorry, it is Canberra."),
    ("We talked of trains to Bendigo.", "Fine."),
)
_ENDED = sa.text("""
SELECT updated_at FROM dbos.workflow_status WHERE name = :name AND status = 'SUCCESS' AND workflow_uuid LIKE :date
ORDER BY updated_at
""")
_DATE = "%-{}"
_SILENT = sa.text("""
WITH made AS (
    INSERT INTO users(name, created_at) SELECT :prefix || n, 0 FROM generate_series(0, :number - 1) AS n RETURNING id
) SELECT min(id), max(id) FROM made
""")
"""Users of whom nothing is known."""


class Round(NamedTuple):
    """What the nights of one date came to."""

    a_second: float
    seconds: float
    resident_mb: float
    """Of the worker that held most, at the end."""
    calls: int


def run(store: str, users: int, workers: str, model_ms: int, json: bool, flat: int = 0) -> int:
    """Measure, print, and return the exit code."""
    if flat:
        print(jsonlib.dumps(asyncio.run(_flat(store, flat))))
        return 0
    found: list[dict[str, Any]] = []
    for number in [int(each) for each in workers.split(",")]:
        row: dict[str, Any] = {"workers": number}
        for kind in ("bare", "night", *(["model"] if model_ms else [])):
            row[kind] = asyncio.run(_round(store, users * number, number, kind, model_ms))._asdict()
        if model_ms:
            row["model_allows"] = _allowed(row["model"], users * number, number, model_ms)
        found.append(row)
        if not json:
            print(_told(row), flush=True)
    if json:
        print(jsonlib.dumps({"users": users, "at_once": AT_ONCE, "model_ms": model_ms, "rounds": found}, indent=2))
    return 0


def _allowed(found: dict[str, Any], users: int, workers: int, model_ms: int) -> float:
    """Nights a second if they took nothing but their model's time."""
    return round(workers * AT_ONCE / max(found["calls"] / users * model_ms / 1000, 1e-9), 2)


def _told(row: dict[str, Any]) -> str:
    said = f"{row['workers']} workers: {row['night']['a_second']} nights a second ({row['night']['resident_mb']} MB)"
    said += f"; empty workflows {row['bare']['a_second']}"
    if "model" in row:
        said += f"; with the model {row['model']['a_second']} of {row['model_allows']} that it allows"
    return said


async def _round(url: str, users: int, workers: int, kind: str, model_ms: int) -> Round:
    date = f"{kind}{workers}.{time.time_ns()}"
    if kind != "bare":
        await _fill(url, f"{date}.u", users)
    processes = [_started(url, kind, f"{date}.w{number}", model_ms) for number in range(workers)]
    try:
        await _called(url, date, users, bare=kind == "bare")
        ended = await _over(url, date, users)
        resident = max(_resident(process.pid) for process in processes)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    first = min(AT_ONCE * workers, users - 1)
    seconds = (ended[-1] - ended[first - 1]) / 1000
    return Round(
        round((len(ended) - first) / max(seconds, 1e-3), 2), round(seconds, 1), resident, await _calls(url, date)
    )


def _started(url: str, kind: str, name: str, model_ms: int) -> "subprocess.Popen[bytes]":
    """A worker in a process of its own."""
    words = [sys.executable, "-m", HERE, url, kind, name, str(model_ms)]
    return subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(FOLDER)})


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return round(pages * 4096 / 1e6, 1)


async def _fill(url: str, prefix: str, users: int) -> None:
    """So many users, who said the same."""
    async with await Store.open(":memory:") as first:
        for session in ("monday", "tuesday"):
            for message, response in SAID:
                async with Metacognition(first, embed=None).turn("u", session, message) as turn:
                    turn.finish(response)
        text = "".join(await first.run(lambda connection: list(archive.lines(connection, "u", {}))))
    taken = archive.read_archive(text.encode())
    async with await Store.open(url) as store:
        for number in steps(range(users), "making users", users):
            name = f"{prefix}{number}"
            await store.run(archive.unpack_archive, name, Archive(name, taken.rows, {}), store.now())


async def _called(url: str, date: str, users: int, *, bare: bool) -> None:
    """Put so many nights on the queue: of the users who are new, or of nobody."""
    async with await Store.open(url) as store:
        house = durable.WorkerConfig(
            store=store, url=url, executor=f"{date}.caller", limits=durable.Limits(at_once=AT_ONCE)
        )
        async with durable.run_worker(house, works=False) as caller:
            if bare:
                nobody = [(number, "nobody", date) for number in range(users)]
                await asyncio.to_thread(caller._enqueue_nights, nobody)  # pyright: ignore[reportPrivateUsage]
            elif (called := await caller.enqueue_due(date=date)) != users:
                raise InputError(f"{called} nights wait instead of {users}; give an empty database.")


async def _over(url: str, date: str, users: int) -> list[int]:
    """When each ended, by the engine's record, once all have."""
    until = time.monotonic() + PATIENCE_SECONDS
    values = {"name": durable.NIGHT, "date": _DATE.format(date)}
    async with await Store.open(url) as store:
        while time.monotonic() < until:
            ended = await store.run(lambda connection: list(connection.execute(_ENDED, values).scalars()))
            if len(ended) >= users:
                return ended
            await asyncio.sleep(LOOK_SECONDS)
    raise TimeoutError(f"not all of {users} nights ended in {PATIENCE_SECONDS:.0f} s")


async def _calls(url: str, date: str) -> int:
    """Answers of the model that stand in the journals of a date."""
    query = sa.text("SELECT count(*) FROM nights WHERE night = :date AND state = 'asked'")
    async with await Store.open(url) as store:
        return await store.run(lambda connection: connection.execute(query, {"date": date}).scalar_one())


async def _flat(url: str, nights: int) -> dict[str, Any]:
    """What one worker holds after more and more nights of users of whom nothing is new."""
    date = f"flat.{time.time_ns()}"
    async with await Store.open(url) as store:
        made = {"prefix": f"{date}.u", "number": nights}
        first, last = await store.run(lambda connection: connection.execute(_SILENT, made).one())
        worker = _started(url, "night", f"{date}.w", 0)
        try:
            await _queued(url, date, first, last)
            held: dict[int, float] = {}
            for mark in (nights // 10, nights // 2, nights):
                held[len(await _over(url, date, mark))] = _resident(worker.pid)
        finally:
            worker.kill()
            worker.wait()
    return {"nights": nights, "resident_mb_after": held}


async def _queued(url: str, date: str, first: int, last: int) -> None:
    """Put the nights of some users on the queue, whatever the gate would say."""
    async with await Store.open(url) as store:
        house = durable.WorkerConfig(
            store=store, url=url, executor=f"{date}.caller", limits=durable.Limits(at_once=AT_ONCE)
        )
        async with durable.run_worker(house, works=False) as caller:
            due = [(number, f"{date}.u{number - first}", date) for number in range(first, last + 1)]
            await asyncio.to_thread(caller._enqueue_nights, due)  # pyright: ignore[reportPrivateUsage]


def _answer(request: Request) -> Any:
    if "five lists" in request.prompt:
        return {"explanation": [], "principles": [], "procedures": [], "advice": []}
    if "Word each" in request.prompt:
        return "nothing"
    return {"summary": "The user asked for the capital of Australia.", "topics": ["capital", "Australia"]}


async def _nothing(number: int, user: str, date: str) -> dict[str, Any]:
    del number, user, date
    return {}


async def _worker(url: str, kind: str, name: str, model_ms: int) -> None:
    model = ScriptedModel(_answer, delay=model_ms / 1000) if kind == "model" else None
    async with await Store.open(url) as store:
        limits = durable.Limits(at_once=AT_ONCE)
        house = durable.WorkerConfig(store=store, url=url, model=model, executor=name, limits=limits)
        async with durable.run_worker(house) as worker:
            if kind == "bare":
                worker.run_night = _nothing
            await asyncio.sleep(PATIENCE_SECONDS)


if __name__ == "__main__":
    asyncio.run(_worker(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
