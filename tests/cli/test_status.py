"""`insula status`: from the store or without one; in words and as JSON."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from insula.cli.lines import PIPE_WIDTH
from insula.cli.status import status as show_status
from insula.memory.storage import vitals
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES
from insula.session.adaptation import Adaptation, AdaptationEffect
from insula.session.conditions import DEGRADED, STM_HIGH
from insula.session.ring import Ring
from insula.session.saved import Saved
from insula.session.schedule import Schedule
from insula.session.snapshot import Performance, Snapshot

NOW = 1_767_700_000.0
Status = Callable[..., str]
"""Runs the command with some options; returns what it printed."""


@pytest.fixture
def status(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Status:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("INSULA_TIME_ZONE", "UTC")

    def show(user: str = "me", json: bool = False, verbose: bool = False) -> str:
        assert show_status(user=user, json=json, verbose=verbose) is None
        out, err = capsys.readouterr()
        assert err == ""
        return "\n".join(line.rstrip() for line in out.splitlines())

    return show


SNAPSHOT = Snapshot(
    ts=NOW - 180,
    turn_counter=18,
    performance=Performance(latency_p95_ms=3000, slowdown=2.5, degraded=True),
    recent_consolidation_selectivity=0.25,
    promotion_age_p95_seconds=7_300,
    stm_utilization=0.9,
    stm_capacity=32,
    last_user_turn_status="skipped",
)
ADAPTATIONS = (
    Adaptation(
        at=NOW - 86_400,
        lever="max_context_items",
        reason=DEGRADED,
        before=16,
        after=12,
        saved=Saved(memories=7),
        effect=AdaptationEffect(latency_p95_ms=-300, stm_utilization=0.1),
    ),
    Adaptation(
        at=NOW - 300,
        lever="consolidation_threshold",
        reason=STM_HIGH,
        before=0.55,
        after=0.6,
        effect=AdaptationEffect(),
    ),
    Adaptation(
        at=NOW - 240,
        lever="snapshot_interval",
        reason="stable",
        before=5,
        after=6,
        effect=AdaptationEffect(latency_p95_ms=0.2),
    ),
    Adaptation(at=NOW - 180, lever="skipped_stages", reason=DEGRADED, before=(), after=("embedding", "assessor_model")),
)


async def write_down(path: Path, snapshot: Snapshot = SNAPSHOT) -> None:
    """Leave a service's state in the store as if it had run until then."""
    ring = Ring(schedule=Schedule(interval=3, due=21), snapshots=(snapshot,), adaptations=ADAPTATIONS)
    state = {"ring": ring.model_dump(mode="json"), "turns": 19}
    async with await Store.open(path) as store:
        await store.run(vitals.write_state, "insula@here", state, None, NOW)


def test_the_store_says_how_it_is_doing_in_words(status: Status, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr("insula.cli.status.time.time", lambda: NOW)
    asyncio.run(write_down(home / "insula.db"))
    said, _, more = status().partition("\n\nEvery figure")
    verbose = status(verbose=True)
    assert "untold" in verbose
    assert "recent items    29 of 32 wait to be stored" in verbose
    assert "lines           25% of your recent ones were stored as lasting memories" in verbose
    assert "snapshot        the last one at turn 18, 3 minutes ago" in verbose
    assert "next            at turn 21; one every 3 turns now" in verbose
    assert "turns between snapshots: 5 → 6, because all was well; afterwards: as before" in verbose
    assert "--verbose" in more
    assert (
        said
        == """as of the last snapshot

How it is doing
  speed           slow: 19 of 20 turns take 3.0 s or less; the model takes 2.5 times as long as usual
  last message    not kept, because the store could not be written

What it changed about itself, latest first
  11:43               steps put off or left out: none → reading the answer for its meaning, asking a second model, \
because the model had become slow
  11:41               importance needed for long-term memory: 0.55 → 0.6, because working memory was nearly full
  2026-01-05 11:46    memories per answer: 16 → 12, because the model had become slow; 7 fewer memories shown

What it holds of me
  nothing yet    talk first: insula chat"""
    )


def test_that_more_was_kept_than_said_is_put_into_words(status: Status, home: Path) -> None:
    asyncio.run(write_down(home / "insula.db", SNAPSHOT.model_copy(update={"recent_consolidation_selectivity": 2.5})))
    said = status(verbose=True)
    assert "all of your recent ones, and some from before, were stored as lasting memories" in said


async def live(path: Path, turns: int) -> None:
    store = await Store.open(path)
    async with Metacognition(store) as metacognition:
        for number in range(turns):
            session = f"day {number % max(2, turns // 4)}"
            async with metacognition.turn("ana", session, "Please use metres.", model="tiny") as turn:
                turn.finish("I will.")


def test_without_a_server_the_store_says_how_it_was(status: Status, home: Path) -> None:
    asyncio.run(live(home / "insula.db", 30))
    said = status("ana", verbose=True)
    assert said.startswith("as of the last snapshot")
    assert "snapshot        the last one at turn 26, " in said
    assert "next            at turn 35; one every 9 turns now" in said
    assert "speed           19 of 20 turns take" in said
    assert "7 sessions, 60 messages, 0 facts (insula memory lists them)" in said
    assert "there was none yet; one is due: insula sleep" in said


def test_a_night_that_was_is_told_and_none_is_due(status: Status, home: Path) -> None:
    async def sleep() -> None:
        async with await Store.open(home / "insula.db", lambda: time.time() - 7_200) as store:
            await sleep_cycle(store, "ana", PHASES)

    asyncio.run(live(home / "insula.db", 4))
    asyncio.run(sleep())
    assert "night     the last one 2 hours ago; none is due" in status("ana")
    held = json.loads(status("ana", json=True))["user"]["held"]
    assert held["night_due"] is False
    assert held["sessions"] == 2


def test_looking_leaves_no_trace_of_a_user_who_never_spoke(status: Status, home: Path) -> None:
    async def users() -> list[str]:
        async with await Store.open(home / "insula.db") as store:
            return await store.nights.list_users()

    assert "nothing yet    talk first: insula chat" in status("nobody")
    assert asyncio.run(users()) == []


def test_through_a_pipe_it_is_as_wide_as_a_look_back_and_nothing_trails(
    status: Status, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    asyncio.run(write_down(home / "insula.db"))
    monkeypatch.delenv("COLUMNS")
    assert show_status(user="me", json=False) is None
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert 80 < max(map(len, lines)) <= PIPE_WIDTH
