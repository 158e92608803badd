"""The command as a whole: terminals of any encoding, and options that cannot be used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import run_insula

import insula
from terminals import run_over_bytes


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user without a coding agent."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path / "user"


def test_no_terminal_is_too_poor_to_be_talked_to() -> None:
    said = "Where does Zoë live? ✓\n/why\n/memory\n/status\n".encode()
    told = [run_over_bytes("chat", "--model", "test", stdin=said, encoding="ascii")]
    told += [run_over_bytes(*words, encoding="ascii") for words in (("memory",), ("status",), ("sleep", "--force"))]
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


def test_without_their_characters_what_is_well_is_told_from_what_is_broken(user: Path) -> None:
    assert run_insula("install", "gemini").status == 0
    assert b"+ settings" in run_over_bytes("doctor", encoding="ascii").out
    (user / ".gemini" / "settings.json").write_text("{}")
    assert b"x settings" in run_over_bytes("doctor", encoding="ascii").out


def test_what_a_program_reads_stays_json_and_loses_no_character() -> None:
    """Latin-1 has some of the characters and lacks others, so that they might be lost in two ways; ASCII in one."""
    said = "Where does Zoë live? ✓ 😀"
    told = run_over_bytes("chat", "--model", "test", "--json", stdin=f"{said}\n".encode(), encoding="latin-1")
    assert json.loads(told.out)["message"] == said
    listed = run_over_bytes("memory", "--transcript", "--json", encoding="latin-1")
    assert [line["content"] for line in json.loads(listed.out)][1:] == [said]
    shown = run_over_bytes("memory", "--transcript", encoding="latin-1")
    assert (shown.status, shown.err) == (0, b"")
    assert "Where does Zoë live?" in shown.out.decode("latin-1")


def test_a_file_whose_name_is_no_text_can_be_named(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / name).write_text('{"rows": 3}\n')
    told = run_over_bytes("replay", str(tmp_path / name))
    assert (told.status, told.err) == (1, b"")
    assert told.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("bench", "night", "--users", "0"), "greater than or equal to 1"),
        (("bench", "hook", "--rounds", "-1"), "greater than or equal to 1"),
        (("bench", "gsm8k", "--data", "x", "--out", "y", "--tokens", "0"), "greater than or equal to 1"),
        (("memory", "show", "abc"), "'abc' is no number of a memory; `insula memory` lists them"),
        (("soul", "undo", "abc"), "`insula guidance soul history` lists them"),
    ],
)
def test_an_option_that_cannot_be_used_is_named_with_the_remedy(words: tuple[str, ...], why: str) -> None:
    ran = run_insula(*words)
    assert ran.status == 2
    assert why in " ".join(ran.err.replace("│", "").split())


def test_a_clone_of_the_repository_has_the_benchmarks() -> None:
    told = run_insula("bench", "--help").out
    assert "confidence" in told
    assert "conversations" in told


def test_an_installed_package_says_where_the_benchmarks_are(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python" / "site").mkdir(parents=True)
    (tmp_path / "lib" / "python" / "site" / "insula").symlink_to(Path(insula.__file__).parent)
    alone = os.environ | {"PYTHONPATH": str(tmp_path / "lib" / "python" / "site")}
    for words in (["bench"], ["bench", "confidence", "--data", "x"]):
        command = [sys.executable, "-m", "insula.cli", *words]
        done = subprocess.run(command, env=alone, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert "benchmarks/" in done.stderr


@pytest.mark.parametrize("words", ["user list", "token list", "model list", "config show", "memory list"])
def test_the_name_of_a_group_alone_lists(words: str) -> None:
    group, verb = words.split()
    alone, named = run_insula(group), run_insula(group, verb)
    assert (alone.status, alone.out) == (0, named.out)
    assert run_insula(group, "--json").json == run_insula(group, verb, "--json").json
