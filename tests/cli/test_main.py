"""The command as a whole: terminals of any encoding, and options that cannot be used."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from insula.cli.main import main
from insula.coding.hosts import install
from insula.coding.hosts.places import HOSTS


class Told(NamedTuple):
    """What a command came to: its status, and what it said in bytes."""

    status: int
    out: bytes
    err: bytes


Insula = Callable[..., Told]
"""Runs the command over streams of an encoding, with some words and perhaps some input."""


@pytest.fixture
def insula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Insula:
    """A user with the hooks of an agent, without a transcript of one."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for host in HOSTS.values():
        monkeypatch.delenv(host.variable, raising=False)

    def run(encoding: str, *words: str, text: str = "") -> Told:
        with monkeypatch.context() as patch:
            kept = [io.BytesIO(given) for given in (text.encode(), b"", b"")]
            for name, file in zip(("stdin", "stdout", "stderr"), kept, strict=True):
                patch.setattr(sys, name, io.TextIOWrapper(file, encoding, "surrogateescape", write_through=True))
            patch.setattr(sys, "argv", ["insula", *words])
            with pytest.raises(SystemExit) as ended:
                main()
            return Told(int(ended.value.code or 0), *(file.getvalue() for file in kept[1:]))

    return run


def test_no_terminal_is_too_poor_to_be_talked_to(insula: Insula) -> None:
    install.install_hooks(HOSTS["gemini"])
    told = [insula("ascii", "chat", "--model", "test", text="Where does Zoë live? ✓\n/why\n/memory\n/status\n")]
    told += [insula("ascii", *words) for words in (("memory",), ("doctor",), ("status",), ("sleep", "--force"))]
    assert {(one.status, one.err) for one in told} == {(0, b"")}
    assert b"> Where does Zo" in told[0].out


def test_a_process_in_a_poor_encoding_says_what_it_can() -> None:
    poor = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    poor.pop("PYTHONIOENCODING", None)
    done = subprocess.run(
        [sys.executable, "-m", "insula.cli", "rules", "show", "✓"], env=poor, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr[:8]) == (1, b"insula: ")
    assert b"Traceback" not in done.stderr


def test_with_standard_output_closed_a_command_says_nothing_and_breaks_nothing() -> None:
    command = ["sh", "-c", 'exec "$0" -m insula.cli memory >&-', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_their_characters_what_is_well_is_told_from_what_is_broken(insula: Insula) -> None:
    install.install_hooks(HOSTS["gemini"])
    assert b"+ settings" in insula("ascii", "doctor").out
    HOSTS["gemini"].find_settings().write_text("{}")
    assert b"x settings" in insula("ascii", "doctor").out


def test_what_a_program_reads_stays_json_and_loses_no_character(insula: Insula) -> None:
    """Latin-1 has some of the characters and lacks others, so that they might be lost in two ways; ASCII in one."""
    said = "Where does Zoë live? ✓ 😀"
    told = insula("latin-1", "chat", "--model", "test", "--json", text=f"{said}\n")
    assert json.loads(told.out)["message"] == said
    assert [one["content"] for one in json.loads(insula("latin-1", "memory", "--transcript", "--json").out)][1:] == [
        said
    ]
    shown = insula("latin-1", "memory", "--transcript")
    assert (shown.status, shown.err) == (0, b"")
    assert "Where does Zoë live?" in shown.out.decode("latin-1")


def test_a_file_whose_name_is_no_text_can_be_named(insula: Insula, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / name).write_text('{"rows": 3}\n')
    told = insula("utf-8", "replay", str(tmp_path / name))
    assert (told.status, told.err) == (1, b"")
    assert told.out


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command that cannot be run says."""
    monkeypatch.setattr("sys.argv", ["insula", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.replace("│", "").split())


@pytest.mark.parametrize(
    "words",
    [
        ("night", "--users", "0"),
        ("hook", "--rounds", "-1"),
        ("gsm8k", "--data", "x", "--out", "y", "--tokens", "0"),
    ],
)
def test_a_measurement_of_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert "greater than or equal to 1" in refused(monkeypatch, capsys, "bench", *words)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("memory", "show"), "`insula memory` lists them"),
        (("memory", "restore"), "`insula memory` lists them"),
        (("memory", "erase"), "`insula memory` lists them"),
        (("soul", "diff"), "`insula guidance soul history` lists them"),
        (("soul", "undo"), "`insula guidance soul history` lists them"),
    ],
)
def test_what_is_no_number_is_named_with_where_the_numbers_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], remedy: str
) -> None:
    said = refused(monkeypatch, capsys, *words, "abc")
    assert "'abc' is no number of a" in said
    assert remedy in said
