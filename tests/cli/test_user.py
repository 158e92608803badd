"""`insula user`: what is kept of somebody is put aside, brought back, and erased to the last word, or not at all."""

import importlib.metadata
import json
import os
import re
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

import pytest
from harness import run_insula

import mortal

ANA = (
    "My zebrafish Quillon lives in Ouagadougou.",
    "Wolfram and Ptolemy visit the observatory on Thursdays.",
    "Does Quillon like marzipan?",
    "From now on, call me Xylophone.",
    "What does Ptolemy bring to the planetarium?",
)
BEN = ("My brother sells umbrellas in Porto.", "We meet on Friday.")
HERS = {word for text in (*ANA, "zeppelin diary") for word in re.findall(r"\w{6,}", text.lower())} - {"friday"}
"""Words that are told of ana alone."""


def talk(user: str, session: str, *said: str) -> None:
    text = "".join(f"{line}\n" for line in said)
    assert run_insula("chat", "--model", "test", "--user", user, "--session", session, stdin=text).status == 0


@pytest.fixture
def filled(home: Path) -> Path:
    """A home in which two people talked, and one slept."""
    talk("ana", "zeppelin-diary", *ANA)
    talk("ben", "monday", *BEN)
    assert run_insula("sleep", "--user", "ana").status == 0
    assert "Xylophone" in (home / "users" / "ana" / "SOUL.md").read_text()
    return home


def known(home: Path, user: str) -> list[object]:
    """All that is kept of a user, as the commands show it."""
    lines = run_insula("memory", "--transcript", "--all", "--user", user, "--json").json
    lessons = run_insula("lessons", "--all", "--user", user, "--json").json
    soul = home / "users" / user / "SOUL.md"
    return [
        [line["content"] for line in lines],
        [lesson["advice"] for lesson in lessons],
        soul.exists() and soul.read_text(),
    ]


def stands_in(folder: Path) -> dict[str, list[str]]:
    """Which of her words stand in the raw bytes of which file."""
    files = {path.name: path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()}
    found = {name: [word for word in HERS if word.encode() in data] for name, data in files.items()}
    return {name: words for name, words in found.items() if words}


def test_erasing_each_memory_leaves_no_word_either(filled: Path) -> None:
    for line in run_insula("memory", "--transcript", "--all", "--user", "ana", "--json").json:
        assert run_insula("memory", "erase", str(line["id"]), "--user", "ana", "--yes").status == 0
    left = {word for words in stands_in(filled).values() for word in words}
    assert left <= {"zeppelin"}  # the name of the session stays until its user goes


def test_nothing_is_erased_where_nobody_can_be_asked(filled: Path) -> None:
    refused = run_insula("user", "erase", "ana")
    assert (refused.status, "--yes" in refused.err) == (1, True)
    assert "ana" in run_insula("user", "list").out


def killed(place: int, home: str, words: list[str], said: str) -> None:
    """A command that dies at one call of many; where it does not, it writes down how many there were."""
    os.environ["INSULA_HOME"] = home
    calls = [0]

    def watch(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and ("insula/memory" in name or "custody" in name or "shutil" in name):
            calls[0] += 1
            if calls[0] == place:
                os._exit(9)

    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="insula")
    main = entry.load()
    sys.argv = ["insula", *words]
    threading.setprofile(watch)
    sys.setprofile(watch)
    with Path(said).open("w") as output, redirect_stdout(output), redirect_stderr(output):
        try:
            main()
        finally:
            sys.setprofile(None)
            output.write(f"CALLS {calls[0]}")


PLACES = 4


@pytest.mark.parametrize("command", ["erase ana --yes", "restore ana --yes", "backup ana"])
def test_killed_anywhere_it_is_all_or_nothing(filled: Path, tmp_path: Path, command: str) -> None:
    """`os._exit` at one call of many stands for kill -9: no handler runs and nothing is flushed."""
    run_insula("user", "backup", "ana")
    before, words, said = known(filled, "ana"), ["user", *command.split()], tmp_path / "said"

    def run(place: int) -> int | None:
        return mortal.ended(killed, place, str(filled), words, str(said))

    assert run(0) == 0, said.read_text()
    calls = int(said.read_text().rpartition("CALLS ")[2])
    assert calls > PLACES
    for place in range(calls // PLACES, calls, calls // PLACES):
        if "ana" not in run_insula("user", "list").out.splitlines():
            talk("ana", "zeppelin-diary", *ANA)
            run_insula("user", "backup", "ana")
            before = known(filled, "ana")
        assert run(place) in {9, 0, 1}, said.read_text()
        is_noted = (filled / "erasing").exists()
        names = run_insula("user", "list").out + run_insula("user", "list").err
        if "ana" in names.splitlines():
            assert known(filled, "ana") == before
        else:
            assert command.startswith("erase")
            assert stands_in(filled) == {}
        assert not [path for path in (filled / "users").rglob("*.jsonl") if not is_whole(path)] or is_noted


def is_whole(path: Path) -> bool:
    """Whether an archive has its checksum at its end; the requests that are kept have none."""
    return path.name == "requests.jsonl" or "sha256" in json.loads(path.read_text("utf-8").splitlines()[-1])
