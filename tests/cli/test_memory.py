"""`insula memory`: what is remembered can be seen, brought back and erased."""

import asyncio
import json
import re
import sqlite3
from pathlib import Path

import pytest

from insula.cli.common import soul_of
from insula.cli.main import main
from insula.memory.storage.changes import Forget, InsightChange, LessonChange, Summary
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES

SECRET = "Ana had an operation in May."


@pytest.fixture
def remembered(home: Path) -> Path:
    """A home in which a few things were said, and something was derived of them."""

    async def talk() -> None:
        async with await Store.open(home / "insula.db") as store:
            metacognition = Metacognition(store)
            for line in (SECRET, "My brother Ben lives in Porto.", "We meet on Friday."):
                async with metacognition.turn("me", "monday", line) as turn:
                    turn.finish("Noted.")
            user = await store.nights.find_user_id("me")
            assert user is not None
            (session,) = await store.nights.sessions_to_sleep_on(user)
            await store.nights.record_phase(
                user, "d", "summaries", {}, [Summary(session.id, "An operation of Ana.", ("ana",), 6, session.last)]
            )
            insight = InsightChange("Operations worry the user.", ("operation",), (session.id,), 0.5, 0.5)
            lesson = LessonChange("k", "Ask after the operation.", ("operation",), "", "derived", (1,))
            await store.nights.record_phase(user, "d", "reflection", {}, [insight, lesson])

    asyncio.run(talk())
    return home


def insula(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["insula", "memory", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def test_what_was_forgotten_comes_back(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def forget() -> None:
        async with await Store.open(remembered / "insula.db") as store:
            user = await store.nights.find_user_id("me")
            assert user is not None
            await store.nights.record_phase(user, "e", "c", {}, [Forget(1, "not used for 200 days")])

    asyncio.run(forget())
    assert "night: not used for 200 days" in insula(monkeypatch, capsys, "show", "1")[1]
    assert insula(monkeypatch, capsys, "restore", "1")[0] == 0
    assert insula(monkeypatch, capsys, "restore", "1")[0] == 1
    assert "long-term" in insula(monkeypatch, capsys, "show", "1")[1]


def test_what_is_erased_stands_nowhere(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = insula(monkeypatch, capsys, "erase", "1")
    assert (code, "--yes" in err) == (1, True)
    assert insula(monkeypatch, capsys, "erase", "1", "--yes")[0] == 0
    with sqlite3.connect(remembered / "insula.db") as raw:
        dump = "\n".join(raw.iterdump())
    raw.close()
    for word in ("operation", "Operation"):
        assert word not in dump
    assert "(erased)" in insula(monkeypatch, capsys, "show", "1")[1]


def test_what_is_erased_is_in_no_guideline_and_not_in_the_file_that_quotes_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wish = "Please don't give sizes in feet, use metres."

    async def live() -> None:
        async with await Store.open(home / "insula.db") as store:
            for session in ("monday", "tuesday"):
                for line in ("Does NASA use wind tunnels?", wish):
                    async with Metacognition(store).turn("me", session, line) as turn:
                        turn.finish("Yes, one of 9 by 15 feet.")
            assert not (await sleep_cycle(store, "me", PHASES, soul=soul_of("me"))).failed

    async def told() -> str:
        async with await Store.open(home / "insula.db") as store:
            assert not (await sleep_cycle(store, "me", PHASES, soul=soul_of("me"), force=True)).failed
            async with Metacognition(store).turn("me", "friday", "Hello.") as turn:
                return turn.instructions.partition("Memories")[0]

    asyncio.run(live())
    file = soul_of("me")
    file.write_text(file.read_text("utf-8") + "\nMy own line.\n", "utf-8")
    assert "metres" in file.read_text("utf-8")
    with sqlite3.connect(home / "insula.db") as raw:
        numbers = [row[0] for row in raw.execute("SELECT id FROM memories WHERE content = ?", (wish,))]
    raw.close()
    for number in numbers:
        assert insula(monkeypatch, capsys, "erase", str(number), "--yes")[0] == 0
    assert "metres" not in file.read_text("utf-8")
    assert "My own line." in file.read_text("utf-8")
    assert "metres" not in asyncio.run(told())
    with sqlite3.connect(home / "insula.db") as raw:
        assert "metres" not in "\n".join(raw.iterdump())
    raw.close()


def test_what_is_not_there_is_said(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("erase", "99", "--yes"), ("restore", "99"), ("show", "1", "--user", "x")):
        code, _, err = insula(monkeypatch, capsys, *words)
        assert (code, err[:8]) == (1, "insula: "), words


def test_how_sure_memory_makes_is_shown_and_begun_anew(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said, _ = insula(monkeypatch, capsys, "calibration")
    assert "high from 0.90 on" in said
    assert "what everybody begins with" in said

    async def corrected() -> None:
        async with await Store.open(remembered / "insula.db") as store:
            metacognition = Metacognition(store)
            for message in ("Where does Ben live?", "No, that's wrong."):
                async with metacognition.turn("me", "tuesday", message) as turn:
                    turn.finish("He lives in Faro.")
            await metacognition.sleep("me", force=True)

    asyncio.run(corrected())
    _, said, _ = insula(monkeypatch, capsys, "calibration")
    assert "It rests on 1 answer, of which 0 held" in said
    _, told, _ = insula(monkeypatch, capsys, "calibration", "--json")
    assert (json.loads(told)["outcomes"], json.loads(told)["held"]) == (1, 0)
    code, said, _ = insula(monkeypatch, capsys, "calibration", "--reset")
    assert code == 0
    assert "what everybody begins with" in said


@pytest.fixture
def many(home: Path) -> Path:
    """A home in which much was said."""

    async def talk() -> None:
        async with await Store.open(home / "insula.db") as store:
            for number in range(30):
                async with Metacognition(store).turn("ana", "monday", f"My sister {number} lives in Porto.") as turn:
                    turn.finish(f"Noted, number {number}.")

    asyncio.run(talk())
    return home


def test_what_is_not_listed_is_counted_and_can_be_listed(
    many: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ("--user", "ana", "--transcript")
    more = "… and 10 older; insula memory --transcript --all --user ana shows them"
    _, said, err = insula(monkeypatch, capsys, *told)
    assert said.splitlines()[-1] == more
    assert (len(said.splitlines()), "sister 0 " in said, err) == (51, False, "")
    _, said, _ = insula(monkeypatch, capsys, *told, "--all")
    assert (len(said.splitlines()), "sister 0 " in said) == (60, True)
    _, said, err = insula(monkeypatch, capsys, *told, "--json")
    assert (len(json.loads(said)), err) == (50, f"{more}\n")
    _, said, err = insula(monkeypatch, capsys, *told, "--json", "--all")
    assert (len(json.loads(said)), err) == (60, "")
    _, said, _ = insula(monkeypatch, capsys, "--user", "ana", "--json")
    assert len(json.loads(said)) == 30, "facts alone: not what was answered"


def test_facts_are_listed_with_whose_they_are_since_when_and_in_which_words(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, added, _ = insula(monkeypatch, capsys, "add", "Karl hates tomatoes.")
    assert re.search(r"Karl hates tomatoes\.\n +Karl · added on \d{4}-\d\d-\d\d\n", added)
    _, said, _ = insula(monkeypatch, capsys)
    assert re.search(r"My brother Ben lives in Porto\.\n +your brother Ben · told on", said)
    assert "Noted." not in said
    _, said, _ = insula(monkeypatch, capsys, "--whose", "karl")
    assert said == added
    _, said, _ = insula(monkeypatch, capsys, "--whose", "your brother", "--json")
    assert [(one["fact"], one["whose"]) for one in json.loads(said)] == [
        ("My brother Ben lives in Porto.", ["your brother Ben"])
    ]
    _, said, _ = insula(monkeypatch, capsys, "--since", "2999-01-01")
    assert said == "No fact fits.\n"
    _, said, _ = insula(monkeypatch, capsys, "--user", "nobody")
    assert "insula memory add" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--whose", "Zoe"), "No fact is about 'Zoe'; facts are about"),
        (("--since", "soon"), "is no date"),
        (("add", "  "), "nothing to remember"),
    ],
)
def test_what_cannot_be_listed_or_added_is_said(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str], why: str
) -> None:
    code, _, err = insula(monkeypatch, capsys, *words)
    assert (code, why in err) == (1, True)


def test_on_a_narrow_terminal_no_word_of_a_memory_is_broken(
    remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("lines", "render"):
        monkeypatch.setattr(f"insula.cli.{module}.terminal_width", lambda: 40)
    _, said, _ = insula(monkeypatch, capsys)
    assert [line for line in said.splitlines() if len(line) > 40] == []
    _, said, _ = insula(monkeypatch, capsys, "--transcript")
    assert [line for line in said.splitlines() if len(line) > 40] == []
    assert {"operation", "brother"} <= set(said.split())
