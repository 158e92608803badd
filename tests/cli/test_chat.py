"""`insula chat` as its user meets it: a pipe, a terminal, and whatever people paste."""

import io
import json
import os
import pty
import re
import select
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula

import mortal
from insula.cli import chat as command
from insula.cli import common, render
from insula.metacognition import Turn
from insula.testing import FakeServer

INSULA = [sys.executable, "-m", "insula.cli"]


class Pipe(io.TextIOWrapper):
    """Standard input that holds some bytes."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")


Talk = Callable[..., tuple[int, str, str]]
"""Pipes some text through `insula chat`; returns the exit code, standard output and standard error."""


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Talk:
    def run(data: str | bytes, **options: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", Pipe(data.encode() if isinstance(data, str) else data))
        given: dict[str, Any] = {"model": "test", "user": "me", "session": None, "resume": False, "json": True}
        code = command.chat(**(given | options))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def records(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_under_a_turn_stands_nothing_where_nothing_is_to_be_said(talk: Talk) -> None:
    _, out, _ = talk("My sister Ana moved to Lisbon in May.\nThanks!\n", json=False)
    first, second = out.strip().split("\n\n")
    assert first.splitlines()[0] == "› My sister Ana moved to Lisbon in May."
    assert (len(first.splitlines()), len(second.splitlines())) == (2, 2)  # the message and the answer


def test_why_memory_and_status_are_sentences_that_need_no_manual(talk: Talk) -> None:
    lines = "My sister Ana moved to Lisbon in May.\nWhere does Ana live?\n/why\n/memory\n/status\n/help\n"
    code, out, _ = talk(lines, json=False)
    assert code == 0
    for shown in (
        "How sure (from memory, before the answer): medium, ",
        "match: My sister Ana moved to Lisbon in May. (you, ",
        "  addresses the question: ",
        "     1  My sister Ana moved to Lisbon in May.\n        your sister Ana · told on ",
        "1 session, 4 messages, 1 fact",
        "spent on answer",
        "/session",
    ):
        assert shown in out


def test_what_was_spent_is_counted_as_people_count(talk: Talk) -> None:
    _, out, _ = talk("Hello there.\n/status\nAnd you?\n/status\n", json=False)
    assert "  1 call, " in out
    assert "  2 calls, " in out


def test_on_a_narrow_terminal_what_belongs_together_stands_together(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "terminal_width", lambda: 40)
    _, out, _ = talk("/help\n/status\n", json=False)
    assert "/why       what the last answer rests\n           on: memory, guidance, and its\n" in out
    assert "user, session  me,\n               20" in out


CORRECTED = """Are wind tunnels useful in the design of airplanes?
Please don't give sizes in feet, use metres.
/session second
Does NASA use wind tunnels?
Please don't give sizes in feet, use metres.
"""
"""A user who asks twice for the same."""


def test_the_night_runs_in_a_chat_and_what_it_learned_can_be_seen(talk: Talk) -> None:
    code, out, err = talk(f"/guidance\n/soul\n{CORRECTED}/sleep\n/guidance\n/soul\n", json=False)
    assert (code, err) == (0, "")
    before, after = out.split("• You want")
    assert before.count("Nothing is learned yet") == 2
    assert "The night is over." in after
    assert "don't give sizes in feet, use metres." in after
    assert re.search(r"preference +used +Always +Please don't give sizes in feet", after)


def test_what_the_night_learned_in_a_chat_reaches_its_next_message(talk: Talk) -> None:
    _, out, _ = talk(f"{CORRECTED}/sleep\n/session third\nWhich wind tunnels does NASA use?\n/why\n", json=False)
    assert re.search(r"Preference \w+, used: .*metres", out)


def test_what_is_shown_to_a_person_is_refused_as_json(talk: Talk) -> None:
    code, out, _ = talk("/sleep\n/soul\n/guidance\n")
    assert code == 1
    assert all("leave --json out" in record["error"] for record in records(out))


def test_nobody_is_asked_for_a_night_through_a_pipe(talk: Talk) -> None:
    _, out, err = talk(CORRECTED, json=False)
    assert "A night is due" not in out + err


def test_an_unknown_command_is_refused_and_the_next_line_goes_on(talk: Talk) -> None:
    code, out, err = talk("/nope\nHello there.\n", json=False)
    assert code == 1
    assert "There is no command '/nope'; /help lists them." in err
    assert "› Hello there." in out


ODD = {
    "binary": bytes(range(256)).replace(b"\n", b"").replace(b"\r", b""),
    "lone surrogate": b"\xed\xa0\x80 what is this?",
    "nul": b"a\x00b what is this?",
    "mixed": "\u202eWhere does Ana live?\u202c".encode(),
    "one word": b"x" * 150_000,
    "format": b"%s {0} {x} ${HOME} \\n [bold]red[/bold]",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_input_is_answered_and_stored_whole(talk: Talk, home: Path, name: str) -> None:
    code, out, err = talk(ODD[name] + b"\nHello there.\n")
    assert (code, err) == (0, "")
    assert all(record["error"] is None and record["troubles"] == [] for record in records(out))
    assert counted(home, "messages") == counted(home, "memories") == 4


@pytest.mark.parametrize("data", [b"x" * 1_000_000, b"Why? " * 50_000, b"\x00\x01\x02"])
def test_what_is_too_much_or_nothing_is_refused_in_one_sentence(talk: Talk, home: Path, data: bytes) -> None:
    code, out, _ = talk(data + b"\nHello there.\n")
    refused, answered = records(out)
    assert code == 1
    assert refused["error"].startswith("The message ")
    assert answered["error"] is None
    assert counted(home, "messages") == 2


def counted(home: Path, table: str) -> int:
    connection = sqlite3.connect(home / common.DATABASE)
    try:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    finally:
        connection.close()


def said(home: Path) -> list[tuple[str]]:
    connection = sqlite3.connect(home / common.DATABASE)
    try:
        return connection.execute("SELECT content FROM messages ORDER BY id").fetchall()
    finally:
        connection.close()


def test_an_unusable_home_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "file"))
    done = run_insula("chat", "--model", "test", stdin="Hello.\n")
    assert (done.status, done.err[:19]) == (1, "insula: The folder ")
    assert "INSULA_HOME" in done.err


class Terminal:
    """A person at a terminal: what they type, and what they see."""

    def __init__(self, *arguments: str) -> None:
        self.file, self.other = pty.openpty()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TERM", "dumb")
            patch.setenv("COLUMNS", "100")
            self.process = mortal.command(arguments, [os.ttyname(self.other)] * 3)
        self.seen = ""

    def types(self, text: str) -> None:
        os.write(self.file, text.encode())

    def sees(self, text: str, seconds: float = 120.0) -> bool:
        """Whether some text appears, after whatever was looked for before."""
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                self.seen += os.read(self.file, 65536).decode(errors="replace")
            elif not self.process.is_alive():
                break
        _, found, self.seen = self.seen.partition(text)
        return bool(found)

    def leaves(self, key: str = "") -> int | None:
        """The exit code, or None where the command had to be killed.

        Args:
            key: typed again and again: what comes before the terminal is set for a line is lost.
        """
        end = time.monotonic() + 120
        while self.process.is_alive() and time.monotonic() < end:
            self.types(key)
            self.sees("nothing in particular", 0.1)
        code = self.process.exitcode
        self.process.kill()
        self.process.join()
        self.process.close()
        os.close(self.file)
        os.close(self.other)
        return code


def test_ctrl_c_stops_the_answer_keeps_the_message_and_the_conversation_goes_on(home: Path) -> None:
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
    assert [line[0] for line in said(home)] == ["Where does Ana live?", "And Tom?", "The answer is 4."]


def test_ctrl_c_before_the_message_is_written_does_not_say_that_it_is_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def typed(_: object) -> Iterator[str]:
        return iter(["Where does Ana live?", "/quit"])

    monkeypatch.setattr(Turn, "_embed_texts", interrupted)
    monkeypatch.setattr(sys, "stdin", Pipe(b""))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(command, "_read_typed", typed)
    assert command.chat(model="test", user="me", session=None, resume=False, json=False) == 0
    shown = capsys.readouterr().out
    assert "A night is due" not in shown
    assert "stopped before what you wrote was kept" in shown
    assert "is kept" not in shown
    assert said(home) == []


def test_ctrl_c_on_an_empty_line_says_how_to_leave_and_a_night_that_is_due_is_run_on_a_yes(home: Path) -> None:
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
    assert counted(home, "lessons") >= 1


def test_sigterm_ends_the_command_without_a_traceback(home: Path, tmp_path: Path) -> None:
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
    assert said(home) == [("Where does Ana live?",)]
