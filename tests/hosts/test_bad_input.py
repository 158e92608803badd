"""Whatever comes in, and whatever our state has become: exit 0, no word, the host unharmed, counted for `doctor`."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coding_agents import HOSTS, recorded
from payloads import call, failing, spawn

from insula.hosts.hook import respond

RECORDED = tuple(name for name in HOSTS if name not in {"cursor", "droid"})


def failures(home: Path) -> list[dict[str, Any]]:
    path = home / "failures.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


PAYLOAD = failing(recorded("claude-code"))


def test_a_large_payload_costs_little_on_disk(tmp_path: Path) -> None:
    assert spawn(tmp_path, "claude-code", PAYLOAD | {"error": "Exit code 1\n" + "x" * 7_000_000}) is None
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl")) < 4_000
    assert not failures(tmp_path)


@pytest.mark.parametrize("handed", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_event_is_counted_as_that_and_as_no_failure_of_the_hook(tmp_path: Path, handed: bytes) -> None:
    assert spawn(tmp_path, "claude-code", handed) is None
    assert [each["kind"] for each in failures(tmp_path)] == ["PayloadError"]


@pytest.mark.parametrize("field", sorted(PAYLOAD))
@pytest.mark.parametrize("value", [None, 1, -1.5, True, [], {}, "", [[1]], {"x": {"y": None}}, "\ud800"])
def test_a_field_of_the_wrong_type_breaks_nothing(tmp_path: Path, field: str, value: object) -> None:
    respond(str(tmp_path), "claude-code", PAYLOAD | {field: value}, 1.0)


@pytest.mark.parametrize("content", [b"\0\xff", b"{", b'{"v":1,"end":5,"value":{"window":[{}]}}'])
@pytest.mark.parametrize("name", ["trace.jsonl", "checkpoint.json", "blast.json", "rules.json"])
def test_corrupt_state_costs_a_word_at_most(tmp_path: Path, name: str, content: bytes) -> None:
    folder = tmp_path / "sessions" / PAYLOAD["session_id"]
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    for payload in (*recorded("claude-code"), PAYLOAD):
        call(tmp_path, "claude-code", payload)


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"[]", b'{"off":"yes","projects_off":7,"holdout":"much"}', b'{"holdout":null}']
)
def test_a_corrupt_configuration_is_silence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hook.json").write_bytes(content)
    for payload in recorded("claude-code"):
        assert call(tmp_path, "claude-code", payload) is None
    assert spawn(tmp_path, "claude-code", PAYLOAD) is None
    assert not failures(tmp_path)


def fuzzed(seed: int, count: int) -> Iterator[tuple[str, Any]]:
    """Recorded payloads with some of their parts put in another place, cut, or replaced."""
    chance = random.Random(seed)
    pool = {host: recorded(host) for host in RECORDED}
    odd: list[Any] = [None, 0, -1, 1e300, True, "", "x" * 5_000, "\ud800", "\0", [], {}, [[]], {"error": {"a": []}}]
    odd += ["PostToolUse", "AfterTool", "SessionEnd", "Exit code 1\nfatal: x", {"command": ["a", 1]}, "*** Begin Patch"]
    for _ in range(count):
        host = chance.choice(HOSTS)
        payload: dict[str, Any] = json.loads(json.dumps(chance.choice(pool[chance.choice(sorted(pool))])))
        for _ in range(chance.randint(0, 4)):
            place: Any = payload
            while isinstance(place, dict) and place and chance.random() < 0.6:
                name = chance.choice(sorted(place))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                if not isinstance(place[name], dict):
                    break
                place = place[name]  # pyright: ignore[reportUnknownVariableType]
            if isinstance(place, dict) and place:
                name = chance.choice([*place, "new"])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                place[name] = copy.deepcopy(chance.choice(odd))
        yield host, payload


def test_generated_payloads_break_no_state(tmp_path: Path) -> None:
    for host, payload in fuzzed(2, 2_000):
        respond(str(tmp_path), host, payload, 1.0)
    assert len(list((tmp_path / "sessions").iterdir())) > 5


def test_generated_payloads_break_no_process(tmp_path: Path) -> None:
    for host, payload in fuzzed(3, 20):
        spawn(tmp_path, host, json.dumps(payload).encode())
