"""What the load test does with a server, one after the other: talk, listen, ask how it stands, and raise the rate."""

import asyncio
import math
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from insula.cli.common import DATABASE
from insula.errors import InsulaError
from insula.memory.storage import views
from insula.memory.storage.store import Store
from insula.stats import slope
from insula_bench import load_years
from insula_bench.load_client import Connection, Listeners, get
from insula_bench.load_processes import MODEL_SECONDS, Running
from insula_bench.load_sessions import Session, talking

PAUSE_SECONDS = 10.0
"""Between two messages of a session, on average: 200 of them make 20 turns a second (issue 6)."""
GOAL_MS = 25.0
"""What the 95th percentile of a turn may take, its model aside (issue 6)."""
WARM_UP = 0.1
"""Share of the time that is not measured, in which caches are filled."""
LISTENERS = 2.5
"""Listeners for each session that talks: 500 for 200."""
WINDOW_SECONDS = 5.0
"""Of each such stretch the 95th percentile is looked at by itself: on a machine that others use, some are quiet."""
LEAST_IN_A_WINDOW = 20
"""Turns of which a 95th percentile says something."""
KEPT_UP = 0.9
"""Share of the rate that has to come about: a session that waits for an answer says nothing else."""
STEP = 0.5
"""By which the rate is raised, as a share of the one at which sessions talk."""
STEPS = 20
"""Rates that are tried at most."""
STEP_SHARE = 0.25
"""How long each of them is kept, as a share of the whole time."""
ROUNDS, ROUND_SHARE, CLIENTS = 7, 1 / 30, 8
"""Rounds of the status route and of the bare one in turn, how long each is, and connections that never pause."""
COMMON_SHARE, COMMON_ROUNDS, COMMON_WHILE, COMMON_PACE = 0.2, 3, 1 / 3, 0.1
"""The share of questions about common words, how often it is talked with and without them in turn, and how long each
time and how fast, as shares of the whole.
"""
SETTLE_SECONDS = 30.0
"""How long what is under way at the end may take to reach its listeners."""

Figures = dict[str, Any]


class Stage(NamedTuple):
    """What the phases share."""

    server: Running
    model: Running
    home: Path
    sessions: Sequence[Session]
    seconds: float
    store: str = ""
    """The URL of a store on PostgreSQL; by default it is a file in the home."""

    @property
    def memory(self) -> str | Path:
        """What `Store` opens."""
        return self.store or self.home / DATABASE

    @property
    def rate(self) -> float:
        """Turns a second at which the sessions talk."""
        return len(self.sessions) / PAUSE_SECONDS


async def talk(stage: Stage) -> Figures:
    """What a turn takes at the rate of the goal, after a while that is not counted."""
    await talking(stage.sessions, stage.seconds * WARM_UP, stage.rate)
    return await _talked(stage, stage.seconds, stage.rate)


async def common(stage: Stage) -> Figures:
    """What a turn takes where people have talked for years, without common words and with a fifth of questions of them.

    Both in turn, several times, so that what else the machine does falls on both.
    """
    sessions = load_years.people(stage.server.port)
    taken: dict[float, list[float]] = {0.0: [], COMMON_SHARE: []}
    failed = 0
    try:
        for share in (None, *list(taken) * COMMON_ROUNDS):
            for one in sessions:
                one.common = share or 0.0
            turns = await talking(sessions, stage.seconds * COMMON_WHILE, stage.rate * COMMON_PACE)
            failed += sum(bool(turn.failure) for turn in turns)
            if share is not None:  # the first while is not counted
                taken[share] += [turn.ms - 1000 * MODEL_SECONDS for turn in turns if not turn.failure]
    finally:
        for one in sessions:
            one.close()
    without, with_them = (quantiles(taken[share]) for share in taken)
    ratio = with_them["p95"] / without["p95"] if without and with_them else None
    return {"failed": failed, "without": without, "with": with_them, "ratio": ratio}


async def listen(stage: Stage) -> Figures:
    """Whether listeners cost memory, and whether each is told exactly its user's signals while turns go on."""
    users = sorted({one.user for one in stage.sessions})
    number = int(LISTENERS * len(stage.sessions))
    before = stage.server.cost().resident
    async with Listeners(stage.server.port, [users[k % len(users)] for k in range(number)]) as listeners:
        watching = asyncio.create_task(_watched(stage))
        figures = await _talked(stage, stage.seconds, stage.rate)
        ledger = await _ledger(stage.memory, users)
        late = await listeners.late(ledger, SETTLE_SECONDS)
        watching.cancel()
        memory = await watching
        gone = listeners.gone
    steepness, low, high = slope(*zip(*memory, strict=True)) if memory else (0.0, 0.0, 0.0)
    return figures | {
        "listeners": number,
        "gone": gone,
        "late_seconds": late,
        "told": sum(len(one.heard) for one in listeners.all),
        "wrong": sum(one.is_wrong(ledger[one.user]) for one in listeners.all),
        "rss_mb": {"before": before, "start": memory[0][1] if memory else None, "end": stage.server.cost().resident},
        "rss_mb_a_minute": {"slope": 60 * steepness, "low": 60 * low, "high": 60 * high},
    }


async def status(stage: Stage, bare: Running) -> Figures:
    """How fast the server says how it stands, beside a bare route of FastAPI, in turn."""
    ours, least = get("/agent/chat/metacog/status"), get("/bare")
    rounds: dict[str, list[tuple[float, float]]] = {"status": [], "bare": []}
    for _ in range(ROUNDS):
        rounds["bare"].append(await _asked(bare, least, stage.seconds * ROUND_SHARE))
        rounds["status"].append(await _asked(stage.server, ours, stage.seconds * ROUND_SHARE))
    figures = {
        name: {
            "a_second": statistics.median(rate for rate, _ in found),
            "cpu_ms": statistics.median(cpu for _, cpu in found),
        }
        for name, found in rounds.items()
    }
    spent = figures["status"]["cpu_ms"]  # 0 where it took less than a tick of the system's clock
    return figures | {
        "share": figures["status"]["a_second"] / figures["bare"]["a_second"],
        "share_by_cpu": figures["bare"]["cpu_ms"] / spent if spent else 0.0,
    }


async def rates(stage: Stage) -> Figures:
    """The highest steps that the server holds and keeps up with: from a low one on, until it falls behind twice."""
    tried: list[Figures] = []
    failures = number = 0
    while failures < 2 and number < STEPS:
        rate = stage.rate * STEP * (number + 1)
        found = await _talked(stage, stage.seconds * STEP_SHARE, rate)
        kept_up = not found["failed"] and found["a_second"] >= KEPT_UP * rate
        held = kept_up and found["server_ms"].get("p95", math.inf) <= GOAL_MS
        failures = 0 if kept_up else failures + 1
        number += kept_up
        tried.append({"rate": rate, "held": held, "kept_up": kept_up, **found})
    return {
        "held": max((one["rate"] for one in tried if one["held"]), default=0.0),
        "kept_up": max((one["rate"] for one in tried if one["kept_up"]), default=0.0),
        "tried": tried,
    }


async def lost(stage: Stage) -> int:
    """How many acknowledged turns are not in the transcripts, or are there otherwise."""
    return sum([await one.lost() for one in stage.sessions])


async def _talked(stage: Stage, seconds: float, rate: float) -> Figures:
    """Let the sessions talk for a while; what it took, and what it cost."""
    began, server, model, driver = time.monotonic(), stage.server.cost(), stage.model.cost(), time.process_time()
    turns = await talking(stage.sessions, seconds, rate)
    took = time.monotonic() - began
    whole = max(1, len(turns))
    failed = [turn.failure for turn in turns if turn.failure]
    told = [turn for turn in turns if not turn.failure]
    return {
        "turns": len(turns),
        "a_second": len(turns) / took,
        "failed": len(failed),
        "failures": sorted(set(failed))[:5],
        "server_ms": quantiles([turn.ms - 1000 * MODEL_SECONDS for turn in told]),
        "server_p95_ms_by_window": by_window([(turn.at, turn.ms - 1000 * MODEL_SECONDS) for turn in told]),
        "added_ms": quantiles([turn.added_ms for turn in told]),
        "model_client_ms": quantiles([turn.model_ms - 1000 * MODEL_SECONDS for turn in told]),
        "cpu_ms_a_turn": {
            "server": 1000 * (stage.server.cost().cpu - server.cpu) / whole,
            "model": 1000 * (stage.model.cost().cpu - model.cpu) / whole,
            "driver": 1000 * (time.process_time() - driver) / whole,
        },
        "waited_ms_a_turn": 1000 * (stage.server.cost().waited - server.waited) / whole,
        "load_average": os.getloadavg()[0],
    }


async def _watched(stage: Stage) -> list[tuple[float, float]]:
    """Seconds and resident megabytes of the server, until it is cancelled."""
    seen: list[tuple[float, float]] = []
    try:
        while True:
            seen.append((time.monotonic(), stage.server.cost().resident))
            await asyncio.sleep(min(1.0, stage.seconds / 20))
    except asyncio.CancelledError:
        return seen


async def _ledger(path: str | Path, users: Sequence[str]) -> dict[str, list[int]]:
    """User -> the places of all their signals, read from the file."""
    found: dict[str, list[int]] = {}
    async with await Store.open(path) as store:
        for user in users:
            mine = found.setdefault(user, [])
            while more := await store.run(views.list_entries, user, mine[-1] if mine else 0, views.MOST):
                mine.extend(entry.id for entry in more)
    return found


async def _asked(server: Running, request: bytes, seconds: float) -> tuple[float, float]:
    """Requests a second, and milliseconds of CPU for each, with several connections that never pause."""
    until, cpu, began = time.monotonic() + seconds, server.cost().cpu, time.monotonic()
    done = sum(await asyncio.gather(*(_asks(Connection(server.port), request, until) for _ in range(CLIENTS))))
    return done / (time.monotonic() - began), 1000 * (server.cost().cpu - cpu) / done


async def _asks(connection: Connection, request: bytes, until: float) -> int:
    done = 0
    while time.monotonic() < until:
        answer = await connection.ask(request)
        if answer.status != 200:
            raise InsulaError(f"The server answered {answer.status} when it was asked how it stands; see its log.")
        done += 1
    connection.close()
    return done


def by_window(times: Sequence[tuple[float, float]]) -> dict[str, float]:
    """The 95th percentiles of stretches of some seconds: the quietest one's, and the median."""
    stretches: dict[int, list[float]] = {}
    for at, ms in times:
        stretches.setdefault(int(at / WINDOW_SECONDS), []).append(ms)
    found = [quantiles(each)["p95"] for each in stretches.values() if len(each) >= LEAST_IN_A_WINDOW]
    return {"lowest": min(found), "median": statistics.median(found)} if found else {}


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th and 99th percentile and maximum; of no values, none."""
    ordered = sorted(values)
    if not ordered:
        return {}
    last = len(ordered) - 1
    places = {"median": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: round(ordered[round(share * last)], 3) for name, share in places.items()}
