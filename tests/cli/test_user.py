"""`insula user`: what is kept of somebody can be taken along, put aside, brought back, and erased to the last word."""

import asyncio
import json
import os
import re
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from pathlib import Path
from types import FrameType

import pytest

import mortal
from insula.cli.common import LOG_FILE, soul_of
from insula.cli.main import main
from insula.memory.privacy import custody
from insula.memory.privacy.archive import TABLES
from insula.memory.storage.changes import InsightChange, LessonChange, RevisionChange, Summary
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition

ANA = (
    "My zebrafish Quillon lives in Ouagadougou.",
    "Wolfram and Ptolemy visit the observatory on Thursdays.",
    "Does Quillon like marzipan?",
    "What does Ptolemy bring to the planetarium?",
    "What does Ptolemy bring to the planetarium?",
)
BEN = ("My brother sells umbrellas in Porto.", "We meet on Friday.")
SESSION = "zeppelin-diary"
REFERENCES = {"id", "after_id", "up_to", "citations", "subject"}
ANSWER = "Noted, the gastropod of Antofagasta."


async def _talk(store: Store, user: str, session: str, said: tuple[str, ...], answer: str = "Noted.") -> None:
    metacognition = Metacognition(store)
    for line in said:
        async with metacognition.turn(user, session, line) as turn:
            turn.finish(answer)


async def _filled(home: Path) -> None:
    async with await Store.open(home / "insula.db") as store:
        await _talk(store, "ana", SESSION, ANA, ANSWER)
        await _talk(store, "ben", "monday", BEN)
        user = await store.nights.find_user_id("ana")
        assert user is not None
        (session,) = await store.nights.sessions_to_sleep_on(user)
        lesson = LessonChange("wish/x", "Mention the xylophone.", ("xylophone",), "", "derived", (1,))
        summary = Summary(session.id, "Quillon the zebrafish.", ("zebrafish",), 6, session.last)
        await store.nights.record_phase(user, "d", "s", {"said": "kaleidoscope"}, [summary])
        await store.nights.record_phase(
            user, "d", "r", {}, [InsightChange("Worries of Quillon.", ("worry",), (session.id,), 0.5, 0.5), lesson]
        )
        await store.guidance.add_revision(user, RevisionChange("soul", "night", "# Quillon\n", {"why": "walrus"}))
    soul_of("ana").parent.mkdir(parents=True)
    soul_of("ana").write_text("# Quillon the walrus\n")
    (home / LOG_FILE).write_text('{"message": "the turn about Quillon failed"}\n')


@pytest.fixture
def filled(home: Path) -> Path:
    asyncio.run(_filled(home))
    return home


def insula(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["insula", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out + output.err


def _words(*texts: str) -> set[str]:
    """The words that ana's texts alone hold."""
    shared = {word for text in BEN for word in re.findall(r"\w{5,}", text.lower())}
    return {word for text in texts for word in re.findall(r"\w{5,}", text.lower())} - shared - {"noted", "thursdays"}


def _stands_in(folder: Path, words: set[str]) -> dict[str, list[str]]:
    """Which of the words stand in the raw bytes of which file."""
    found: dict[str, list[str]] = {}
    for path in (one for one in folder.rglob("*") if one.is_file()):
        data = path.read_bytes().lower()
        if there := sorted(word for word in words if word.encode() in data):
            found[path.name] = there
    return found


HERS = _words(*ANA, ANSWER, "xylophone kaleidoscope walrus zebrafish zeppelin-diary zeppelin diary quillon")


def test_erasing_each_memory_leaves_no_word_either(filled: Path) -> None:
    async def all_of_them() -> None:
        async with await Store.open(filled / "insula.db") as store:
            user = await store.nights.find_user_id("ana")
            assert user is not None
            with sqlite3.connect(filled / "insula.db") as raw:
                numbers = [row[0] for row in raw.execute("SELECT id FROM memories WHERE user_id = ?", (user,))]
            raw.close()
            for number in numbers:
                await store.memories.erase_memories(user, number)

    asyncio.run(all_of_them())
    left = _stands_in(filled, _words(*ANA, "zeppelin-diary zeppelin diary") - {"quillon"})  # that one SOUL.md holds
    assert not left


def _dump(home: Path, user: str) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a user but for ids, table by table."""
    with sqlite3.connect(home / "insula.db") as raw:
        (number,) = raw.execute("SELECT id FROM users WHERE name = ?", (user,)).fetchone()
        found: dict[str, list[tuple[object, ...]]] = {}
        for table in TABLES:
            references = {key.parent.name for key in table.foreign_keys} | REFERENCES
            columns = ", ".join(f'"{column.name}"' for column in table.c if column.name not in references)
            rows = raw.execute(f"SELECT {columns} FROM {table.name} WHERE user_id = ? ORDER BY id", (number,))
            found[table.name] = rows.fetchall()
        found["terms"] = raw.execute(
            "SELECT term, memories, semantic FROM terms WHERE user_id = ? ORDER BY term", (number,)
        ).fetchall()
    raw.close()
    return found


def _sealed(data: bytes, line: bytes) -> bytes:
    """The archive with one more line, and the checksum made anew by who wrote that."""
    *body, _ = data.splitlines(keepends=True)
    whole = b"".join([*body, line, b"\n"])
    return whole + json.dumps({"sha256": sha256(whole).hexdigest()}).encode() + b"\n"


def _row(table: str, number: object, **more: object) -> bytes:
    return json.dumps({"table": table, "row": {"id": number} | more}).encode()


HARM: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "foreign": (lambda data: b"hello\nworld\n", "no archive of Insula"),
    "empty": (lambda data: b"", "no archive of Insula"),
    "cut": (lambda data: data[: len(data) // 2], "ends too early"),
    "edited": (lambda data: data.replace(b"Quillon", b"Quentin", 1), "changed after it was written"),
    "newer": (lambda data: data.replace(b'"insula":1', b'"insula":2', 1), "newer version"),
    "sealed again with a line of no kind": (
        lambda data: _sealed(data, b'{"hello":"world"}'),
        "none that Insula writes",
    ),
    "another's session, sealed again": (
        lambda data: _sealed(data, _row("messages", 10**6, session_id=2, speaker="user")),
        "does not fit the tables",
    ),
    "a number too great, sealed again": (lambda data: _sealed(data, _row("messages", 2**70)), "does not fit"),
    "no number, sealed again": (lambda data: _sealed(data, _row("messages", "x")), "does not fit"),
    "an unknown table, sealed again": (
        lambda data: _sealed(data, _row("passwords", 1)),
        "which this version does not know",
    ),
    "newer tables": (lambda data: data.replace(b'"schema":"00', b'"schema":"99', 1), "newer version"),
}


def test_nothing_is_erased_where_nobody_can_be_asked(
    filled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = insula(capsys, monkeypatch, "user", "erase", "ana")
    assert (code, "--yes" in said) == (1, True)
    assert "ana" in insula(capsys, monkeypatch, "user", "list")[1]


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
def test_killed_anywhere_it_is_all_or_nothing(
    filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """`os._exit` at one call of many stands for kill -9: no handler runs and nothing is flushed."""
    insula(capsys, monkeypatch, "user", "backup", "ana")
    before, words, said = _dump(filled, "ana"), ["user", *command.split()], tmp_path / "said"

    def run(place: int) -> int | None:
        return mortal.ended(killed, place, str(filled), words, str(said))

    assert run(0) == 0, said.read_text()
    calls = int(said.read_text().rpartition("CALLS ")[2])
    assert calls > PLACES
    for place in range(calls // PLACES, calls, calls // PLACES):
        if "ana" not in insula(capsys, monkeypatch, "user", "list")[1].splitlines():
            asyncio.run(_again(filled))
            insula(capsys, monkeypatch, "user", "backup", "ana")
            before = _dump(filled, "ana")
        assert run(place) in {9, 0, 1}, said.read_text()
        is_noted = (filled / custody.ERASING).exists()
        names = insula(capsys, monkeypatch, "user", "list")[1]
        if "ana" in names.splitlines():
            assert _dump(filled, "ana") == before
        else:
            assert command.startswith("erase")
            assert ("finished now" in names) == is_noted
            assert _stands_in(filled, HERS) == {}
        assert not [path for path in soul_of("ana").parent.rglob("*.jsonl") if _broken(path)]


def _broken(path: Path) -> bool:
    return "sha256" not in json.loads(path.read_text("utf-8").splitlines()[-1])


async def _again(home: Path) -> None:
    async with await Store.open(home / "insula.db") as store:
        await _talk(store, "ana", SESSION, ANA, ANSWER)
