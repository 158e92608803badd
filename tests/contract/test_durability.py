"""kill -9, a full disk, two processes: what was acknowledged is not lost, and nothing stands half."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from harness import GUARD_SECONDS, ClaudeCode, address_of, run_insula, serving, spawn_insula

from insula import Metacognition
from insula.testing import FakeServer


def _contents(user: str = "me") -> list[str]:
    return [
        memory["content"] for memory in run_insula("memory", "--transcript", "--user", user, "--all", "--json").json
    ]


TALK = ("chat", "--model", "test", "--json", "--user", "me")


def _acknowledged(process: "subprocess.Popen[str]", turns: int) -> Iterator[str]:
    """Say so many things, each once the one before was answered; those that were."""
    assert process.stdin
    assert process.stdout
    for number in range(turns):
        process.stdin.write(f"My friend number {number} lives in Lisbon.\n")
        process.stdin.flush()
        yield json.loads(process.stdout.readline())["message"]


def test_no_acknowledged_turn_is_lost_under_kill_9(home: Path) -> None:
    with spawn_insula(*TALK) as process:
        acknowledged = list(_acknowledged(process, 5))
        process.kill()
    assert len(acknowledged) == 5
    assert set(acknowledged) <= set(_contents())
    again = run_insula("chat", "--model", "test", "--json", stdin="Where does my friend number 0 live?\n")
    assert again.lines[0]["error"] is None


def test_a_message_whose_model_was_killed_is_kept(home: Path) -> None:
    with (
        FakeServer("endless") as model,
        spawn_insula("chat", "--model", f"{model.url}#fake", INSULA_EMBED="none") as process,
    ):
        assert process.stdin
        process.stdin.write("I live in Porto.\n")
        process.stdin.flush()
        assert model.received.wait(GUARD_SECONDS)
        process.kill()
    assert "I live in Porto." in _contents()


def test_a_server_that_is_killed_has_what_it_answered(home: Path) -> None:
    with serving(home) as server:
        for number in range(5):
            server.say(f"My friend number {number} lives in Lisbon.", "me")
        server.process.kill()
        server.process.wait()
    assert [f"My friend number {number} lives in Lisbon." in _contents() for number in range(5)] == [True] * 5
    asked = "Where does my friend number 3 live?"
    with Metacognition.sync(home / "insula.db", holdout=0.0) as mind, mind.turn("me", "later", asked) as turn:
        assert "My friend number 3 lives in Lisbon." in turn.instructions


def test_two_servers_that_start_at_once_on_an_empty_home_both_serve(home: Path) -> None:
    """Each finds no memory and makes one: the tables are made once, and neither is in the other's way."""
    asked = ("serve", "--port", "0", "--model", "test")
    with spawn_insula(*asked, INSULA_HOME=str(home)) as first, spawn_insula(*asked, INSULA_HOME=str(home)) as second:
        for number, process in enumerate((first, second)):
            said = {"user": "me", "session": "s", "message": f"My friend number {number} lives in Lisbon."}
            with httpx2.Client(base_url=address_of(process), timeout=GUARD_SECONDS) as client:
                answer = client.post("/agent/chat", json=said).json()
            assert (answer["turn"], answer["troubles"]) == (number + 1, [])
    assert {f"My friend number {number} lives in Lisbon." for number in range(2)} <= {*_contents()}


def test_two_processes_lose_nothing_of_each_other(home: Path) -> None:
    said = list[str]()
    with spawn_insula(*TALK, INSULA_EMBED="none") as other, Metacognition.sync(home / "insula.db") as mind:
        for line in _acknowledged(other, 6):
            with mind.turn("me", "here", line) as turn:
                turn.finish("I see.")
            assert not turn.troubles
            said.append(line)
        other.communicate()
        assert other.returncode == 0
    stored = _contents()
    assert len(said) == 6
    assert all(stored.count(line) == 2 for line in said)


def test_a_night_that_was_killed_is_completed_once(home: Path) -> None:
    run_insula(
        "chat", "--model", "test", stdin="I live in Porto.\nFrom now on always answer in one sentence.\nThanks.\n"
    )
    with FakeServer("endless") as model, spawn_insula("sleep", "--force", "--model", f"{model.url}#fake") as process:
        assert model.received.wait(GUARD_SECONDS)
        process.kill()
    (night,) = run_insula("sleep", "--force", "--json").json
    assert {phase["state"] for phase in night["phases"]} <= {"done", "skipped"}
    text = run_insula("soul", "show", "--json").json["text"]
    assert text.count("one sentence") == 1
    assert len(run_insula("soul", "history", "--json").json) == 1


FILLING = """
import pathlib, resource, sys
from insula import Metacognition
with Metacognition.sync(sys.argv[1]) as mind:
    for number in range(20):
        with mind.turn("me", "monday", f"My friend number {number} lives in Lisbon.") as turn:
            print(turn.finish(f"Noted, number {number}.").response)
        for trouble in turn.troubles:
            print("trouble:", trouble)
        if number == 2:
            bound = max(file.stat().st_size for file in pathlib.Path(sys.argv[1]).parent.glob("insula.db*"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (bound, bound))
"""
"""A host whose disk is full after some turns: no file may grow beyond a bound."""


def test_a_full_disk_is_said_and_the_host_goes_on(tmp_path: Path) -> None:
    database = tmp_path / "insula.db"
    done = subprocess.run(
        [sys.executable, "-c", FILLING, database], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    lines = done.stdout.splitlines()
    answered = [line for line in lines if not line.startswith("trouble:")]
    assert answered == [f"Noted, number {number}." for number in range(20)]
    troubles = {line for line in lines if line.startswith("trouble:")}
    assert troubles
    assert all("disk" in trouble or "room" in trouble for trouble in troubles)
    with Metacognition.sync(database) as mind, mind.turn("me", "later", "Where does my friend number 0 live?") as turn:
        assert any(found.memory.content.startswith("My friend number 0 lives") for found in turn.recalled)


def test_a_hook_with_nowhere_to_write_leaves_its_host_alone(home: Path, tmp_path: Path) -> None:
    claude = ClaudeCode(home, tmp_path)
    told = [claude.bash("make", "no rule to make target", failed=True) for _ in range(3)]
    assert any(told)
    shutil.rmtree(home)
    home.write_text("a file where the folder was")
    with pytest.raises(OSError):
        claude.bash("make", "no rule to make target", failed=True)


def test_a_store_that_is_damaged_is_said_and_not_touched(home: Path) -> None:
    run_insula("chat", "--model", "test", stdin="I live in Porto.\n")
    database = home / "insula.db"
    for beside in home.glob("insula.db-*"):
        beside.unlink()
    database.write_bytes(b"no database" * 1_000)
    ran = run_insula("memory", "--transcript", "--json")
    assert (ran.status, ran.out) == (1, "")
    assert json.loads(ran.err)["error"]["kind"] == "StoreCorrupt"
    assert database.read_bytes() == b"no database" * 1_000
