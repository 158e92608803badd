"""`insula chat` as its user meets it: a pipe, a terminal, and whatever people paste."""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from harness import Ran, run_insula

import mortal
from insula.testing import FakeServer
from terminals import Terminal, run_over_bytes

CORRECTED = """Are wind tunnels useful in the design of airplanes?
Please don't give sizes in feet, use metres.
/session second
Does NASA use wind tunnels?
Please don't give sizes in feet, use metres.
"""
"""A user who asks twice for the same."""


def talk(text: str, *words: str) -> Ran:
    """Pipe some text through `insula chat`."""
    return run_insula("chat", "--model", "test", *words, stdin=text)


def records(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def said() -> list[str]:
    """What is kept of the talk, oldest first."""
    return [line["content"] for line in run_insula("memory", "--transcript", "--all", "--json").json][::-1]


def test_why_memory_and_status_are_sentences_that_need_no_manual() -> None:
    ran = talk("My sister Ana moved to Lisbon in May.\n/status\nWhere does Ana live?\n/why\n/memory\n/status\n/help\n")
    assert ran.status == 0
    for shown in (
        "  1 call, ",
        "How sure (from memory, before the answer): medium, ",
        "match: My sister Ana moved to Lisbon in May. (you, ",
        "  addresses the question: ",
        "     1  My sister Ana moved to Lisbon in May.\n        your sister Ana · told on ",
        "1 session, 4 messages, 1 fact",
        "spent on answer",
        "  2 calls, ",
        "/session",
    ):
        assert shown in ran.out


def test_the_night_runs_in_a_chat_and_what_it_learned_can_be_seen_and_is_told_with_its_source() -> None:
    last = "/session third\nWhich wind tunnels does NASA use?\n/why\n"
    ran = talk(f"/guidance\n/soul\n{CORRECTED}/sleep\n/guidance\n/soul\n{last}")
    assert (ran.status, ran.err) == (0, "")
    before, after = ran.out.split("• You want")
    assert before.count("Nothing is learned yet") == 2
    assert "The night is over." in after
    assert re.search(r"Please don't give sizes in feet.*\n +used · .*Always", after)
    assert re.search(r"Preference \w+, used: .*metres", after)
    assert re.search(r"learned from second, memory \d+: Please don't give sizes in feet, use metres\.", after)


def test_what_is_shown_to_a_person_is_refused_as_json() -> None:
    ran = talk("/sleep\n/soul\n/guidance\n", "--json")
    assert ran.status == 1
    assert all("leave --json out" in record["error"] for record in ran.lines)


ODD = (
    bytes(range(256)).replace(b"\n", b"").replace(b"\r", b""),
    b"\xed\xa0\x80 what is this?",
    b"a\x00b what is this?",
    "\u202eWhere does Ana live?\u202c".encode(),
    b"x" * 150_000,
    b"%s {0} {x} ${HOME} \\n [bold]red[/bold]",
)
"""Binary, half a surrogate pair, NUL, a change of direction, one word without end, and what formats read."""


def test_odd_input_is_answered_and_stored_whole() -> None:
    told = run_over_bytes("chat", "--model", "test", "--json", stdin=b"\n".join((*ODD, b"Hello there.\n")))
    assert (told.status, told.err) == (0, b"")
    assert [(record["error"], record["troubles"]) for record in records(told.out)] == [(None, [])] * 7
    assert len(said()) == 14


def test_what_is_too_much_or_nothing_is_refused_in_one_sentence() -> None:
    lines = (b"x" * 1_000_000, b"Why? " * 50_000, b"\x00\x01\x02", b"Hello there.\n")
    told = run_over_bytes("chat", "--model", "test", "--json", stdin=b"\n".join(lines))
    *refused, answered = records(told.out)
    assert told.status == 1
    assert [record["error"].startswith("The message ") for record in refused] == [True] * 3
    assert answered["error"] is None
    assert len(said()) == 2


def test_an_unusable_home_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "file"))
    ran = talk("Hello.\n")
    assert (ran.status, ran.err[:19]) == (1, "insula: The folder ")
    assert "INSULA_HOME" in ran.err


def test_ctrl_c_stops_the_answer_keeps_the_message_and_the_conversation_goes_on() -> None:
    with FakeServer("endless", "ok") as server:
        terminal = Terminal("chat", "--model", f"{server.url}#fake")
        assert terminal.sees("> "), terminal.seen
        terminal.types("Where does Ana live?\n")
        while not server.requests:
            time.sleep(0.05)
        terminal.types("\x03")
        assert terminal.sees("what you wrote is kept"), terminal.seen
        assert terminal.sees("> "), terminal.seen
        terminal.types("And Tom?\n")
        assert terminal.sees("The answer is 4."), terminal.seen
        assert terminal.sees("> "), terminal.seen
        terminal.types("\x04")
        assert terminal.sees("A night is due"), terminal.seen
        assert terminal.leaves("\x04") == 0
    assert said() == ["Where does Ana live?", "And Tom?", "The answer is 4."]


INTERRUPTING = """import os, signal, time

def embed(text):
    if "Quillon" in text:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)
    return [1.0, 0.0]
"""


def test_ctrl_c_before_the_message_is_written_does_not_say_that_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "interrupting_embedding.py").write_text(INTERRUPTING)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("INSULA_EMBED", "interrupting_embedding:embed")
    terminal = Terminal("chat", "--model", "test")
    assert terminal.sees("> "), terminal.seen
    terminal.types("Where does Quillon live?\n")
    assert terminal.sees("stopped before what you wrote was kept"), terminal.seen
    assert terminal.leaves("\x04") == 0
    monkeypatch.delenv("INSULA_EMBED")
    assert said() == []


def test_ctrl_c_on_an_empty_line_says_how_to_leave_and_a_night_that_is_due_is_run_on_a_yes() -> None:
    terminal = Terminal("chat", "--model", "test")
    assert terminal.sees("> "), terminal.seen
    told = False
    for _ in range(5):  # what comes in the instant in which the prompt is printed, CPython hears with the next key
        terminal.types("\x03")
        if told := terminal.sees("(/quit or Ctrl-D leaves)", 3):
            break
    assert told
    for line in CORRECTED.splitlines():
        assert terminal.sees("> "), terminal.seen
        terminal.types(f"{line}\n")
    assert terminal.sees("> "), terminal.seen
    terminal.types("/quit\n")
    assert terminal.sees("A night is due"), terminal.seen
    terminal.types("y\n")
    assert terminal.sees("The night is over"), terminal.seen
    assert terminal.leaves() == 0
    assert run_insula("lessons", "--json").json


def test_sigterm_ends_the_command_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "typed").write_text("Where does Ana live?\n")
    with FakeServer("endless") as server:
        words = ["chat", "--model", f"{server.url}#fake"]
        process = mortal.command(words, [str(tmp_path / name) for name in ("typed", "told", "failed")])
        while not server.requests:
            assert process.is_alive(), (tmp_path / "failed").read_text()
            time.sleep(0.05)
        process.terminate()
        process.join(120)
        assert not process.is_alive()
        process.close()
    assert "Traceback" not in (tmp_path / "failed").read_text()
    assert said() == ["Where does Ana live?"]


def test_what_was_typed_is_kept_for_the_next_chat_without_secrets_until_something_is_erased() -> None:
    path = Path(os.environ["INSULA_HOME"]) / "history"
    with FakeServer(answer="What is the password of your wifi?") as server:
        terminal = Terminal("chat", "--model", f"{server.url}#fake")
        for line in ("My middle name is Ottilie.", "hunter22blue"):
            assert terminal.sees("> "), terminal.seen
            terminal.types(f"{line}\n")
            assert terminal.sees("of your wifi?"), terminal.seen
        assert terminal.sees("> "), terminal.seen
        terminal.types("\x04")
        assert terminal.leaves("\x04") == 0
    typed = path.read_text("utf-8")
    assert "Ottilie" in typed
    assert "hunter22blue" not in typed
    (fact,) = [one for one in run_insula("memory", "--json").json if "Ottilie" in json.dumps(one)]
    assert run_insula("memory", "erase", str(fact["id"]), "--yes").status == 0
    assert not path.exists()
