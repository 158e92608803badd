"""`insula status`: from a server, from the store, from neither; in words and as JSON."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from insula.cli import standing
from insula.cli.lines import PIPE_WIDTH
from insula.cli.main import main
from insula.cli.status import status as show_status
from insula.errors import InputError
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES
from insula.session.adaptation import Adaptation, Effect
from insula.session.conditions import DEGRADED, STM_HIGH
from insula.session.saved import Saved
from insula.session.snapshot import Performance, Snapshot

NOW = 1_767_700_000.0
Status = Callable[..., str]
"""Runs the command with some options; returns what it printed."""


@pytest.fixture(autouse=True)
def free_port(monkeypatch: pytest.MonkeyPatch) -> int:
    """The default port is one at which nobody listens, whatever runs on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setattr(standing, "PORT", port)
    return port


@pytest.fixture
def status(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Status:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("INSULA_TIME_ZONE", "UTC")

    def show(user: str = "me", url: str | None = None, json: bool = False, verbose: bool = False) -> str:
        assert show_status(user=user, url=url, json=json, verbose=verbose) is None
        out, err = capsys.readouterr()
        assert err == ""
        return "\n".join(line.rstrip() for line in out.splitlines())

    return show


@contextmanager
def answering(answers: Mapping[str, tuple[int, bytes]]) -> Generator[str]:
    """A server that gives some answers, by path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = answers.get(self.path.partition("?")[0], (404, b"nothing"))
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


SNAPSHOT = Snapshot(
    ts=NOW - 180,
    turn_counter=18,
    performance=Performance(latency_p95_ms=3000, degraded=True),
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
        effect=Effect(latency_p95_ms=-300, stm_utilization=0.1),
    ),
    Adaptation(at=NOW - 300, lever="consolidation_threshold", reason=STM_HIGH, before=0.55, after=0.6, effect=Effect()),
    Adaptation(
        at=NOW - 240, lever="snapshot_interval", reason="stable", before=5, after=6, effect=Effect(latency_p95_ms=0.2)
    ),
    Adaptation(at=NOW - 180, lever="skipped_stages", reason=DEGRADED, before=(), after=("embedding", "assessor_model")),
)
PERFORMANCE: Mapping[str, Any] = {
    "latency_p95_ms": 3000.0,
    "degraded": True,
    "slowdown": 2.5,
    "turns": 19,
    "counters": {},
    "metacog": {"interval": 3, "next_due_turn": 21},
}


def answers(
    snapshot: Snapshot | None = SNAPSHOT,
    adaptations: tuple[Adaptation, ...] = ADAPTATIONS,
    performance: Mapping[str, Any] = PERFORMANCE,
) -> dict[str, tuple[int, bytes]]:
    said: dict[str, Any] = {"available": snapshot is not None}
    if snapshot:
        said["snapshot"] = snapshot.model_dump(mode="json")
    said["adaptations"] = [one.model_dump(mode="json") for one in adaptations]
    return {
        "/agent/chat/metacog/status": (200, json.dumps(said).encode()),
        "/agent/chat/performance": (200, json.dumps(performance).encode()),
    }


def test_a_server_says_how_it_is_doing_in_words(status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insula.cli.status.time.time", lambda: NOW)
    with answering(answers()) as url:
        said, _, more = status(url=url).partition("\n\nEvery figure")
        verbose = status(url=url, verbose=True)
    assert "untold" in verbose
    assert "recent items    29 of 32 wait to be stored" in verbose
    assert "lines           25% of your recent ones were stored as lasting memories" in verbose
    assert "snapshot        the last one at turn 18, 3 minutes ago" in verbose
    assert "next            at turn 21; one every 3 turns now" in verbose
    assert "turns between snapshots: 5 → 6, because all was well; afterwards: as before" in verbose
    assert "--verbose" in more
    assert (
        said
        == f"""from the server at {url}

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


def test_that_more_was_kept_than_said_is_put_into_words(status: Status) -> None:
    late = SNAPSHOT.model_copy(update={"recent_consolidation_selectivity": 2.5})
    with answering(answers(late)) as url:
        said = status(url=url, verbose=True)
    assert "all of your recent ones, and some from before, were stored as lasting memories" in said


def test_how_long_each_stage_takes_is_said_where_the_server_tells(status: Status) -> None:
    stages = {"recall": {"p50": 8.1, "p95": 14.9}, "model": {"p50": 640.0, "p95": 1_902.3}}
    with answering(answers(performance={**PERFORMANCE, "stages": stages})) as url:
        said, record = status(url=url, verbose=True), json.loads(status(url=url, json=True))
    assert "of it           recall 8 ms (15 ms); the model 640 ms (1.9 s): the middle turn" in said
    assert record["stages"] == stages


def test_a_server_that_has_just_begun_says_that_it_does_not_know_yet(status: Status) -> None:
    performance = {**PERFORMANCE, "latency_p95_ms": None, "slowdown": None, "degraded": False, "turns": 1}
    with answering(answers(None, (), performance)) as url:
        said = status(url=url, verbose=True)
    assert "speed       not known yet; it takes 20 turns to tell" in said
    assert "snapshot    none yet: 1 turn so far" in said
    assert "nothing yet    it does so when the model gets slow or many items wait, and undoes it after" in said


def test_the_server_of_this_machine_is_found_without_a_word(
    status: Status, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    with answering(answers()) as url:
        monkeypatch.setattr(standing, "PORT", int(url.rpartition(":")[2]))
        record = json.loads(status(json=True))
    assert record["url"] == url
    assert record["snapshot"]["turn_counter"] == 18
    assert record["performance"] == {"latency_p95_ms": 3000.0, "degraded": True, "slowdown": 2.5}
    assert record["metacog"] == {"interval": 3, "next_due_turn": 21}
    assert [one["lever"] for one in record["adaptations"]] == [one.lever for one in ADAPTATIONS]
    assert record["user"] == {"name": "me", "held": None}


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
    assert said.startswith("from the store, as of the last snapshot: no server answers here")
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
            return await store.nights.users()

    assert "nothing yet    talk first: insula chat" in status("nobody")
    assert asyncio.run(users()) == []


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1", "nonsense", "", "http://[bad", "http://a b", "http://127.0.0.1:1", "http://127.0.0.1:x"]
)
def test_an_address_without_a_server_is_one_sentence(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["insula", "status", "--url", url])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (1, "", 1)
    assert repr(url) in err


BROKEN: Mapping[str, dict[str, tuple[int, bytes]]] = {
    "another server": {},
    "a failing one": dict.fromkeys(answers(), (500, b"{}")),
    "a page": dict.fromkeys(answers(), (200, b"<html>")),
    "a list": dict.fromkeys(answers(), (200, b"[1]")),
    "half of it": {**answers(), "/agent/chat/performance": (200, b"{}")},
    "an odd rhythm": answers(performance={**PERFORMANCE, "metacog": [1]}),
    "a newer snapshot": {
        **answers(),
        "/agent/chat/metacog/status": (200, b'{"available": true, "snapshot": {"version": 99}}'),
    },
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_answers_but_is_no_server_of_insula_is_said_where_it_was_named_and_else_passed_over(
    what: str, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(BROKEN[what]) as url:
        with pytest.raises(InputError, match="No server of Insula answers at"):
            standing.of_server(url)
        monkeypatch.setattr(standing, "PORT", int(url.rpartition(":")[2]))
        assert status().startswith("from the store")


def test_a_server_that_says_nothing_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "WAIT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert standing.of_server(None) is None
        with pytest.raises(InputError):
            standing.of_server(f"http://127.0.0.1:{mute.getsockname()[1]}")


def test_through_a_pipe_it_is_as_wide_as_a_look_back_and_nothing_trails(
    status: Status, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS")
    with answering(answers()) as url:
        assert show_status(user="me", url=url, json=False) is None
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert 80 < max(map(len, lines)) <= PIPE_WIDTH


def test_a_server_that_asks_for_a_token_is_said_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str | None] = []

    class Closed(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            self.send_error(401)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Closed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(InputError, match="asks for a token; put one into the variable INSULA_TOKEN"):
            standing.of_server(url)
        monkeypatch.setenv("INSULA_TOKEN", "a-token")
        with pytest.raises(InputError, match="does not know the token in the variable INSULA_TOKEN"):
            standing.of_server(url)
        monkeypatch.setattr(standing, "PORT", server.server_port)
        monkeypatch.setattr("sys.argv", ["insula", "status"])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr()
        assert "Until then this is from the store." in said.err
        assert "no server answers here" not in said.out
        server.shutdown()
    assert seen == [None, "Bearer a-token", "Bearer a-token"]
