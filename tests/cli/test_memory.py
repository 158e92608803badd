"""`insula memory`: what is remembered can be seen, listed and erased."""

import asyncio
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from harness import DAY, Ran, agent, run_insula

from insula import Controls

SAID = ("Ana had an operation in May.", "My brother Ben lives in Porto.", "We meet on Friday.")


def memory(*words: str) -> Ran:
    """Run `insula memory` with some words."""
    return run_insula("memory", *words)


def talk(*said: str, user: str = "me", session: str = "monday") -> None:
    """Say something in a chat."""
    text = "".join(f"{line}\n" for line in said)
    assert run_insula("chat", "--model", "test", "--user", user, "--session", session, stdin=text).status == 0


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in a home in which a few things were said."""
    folder = tmp_path_factory.mktemp("told") / "home"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSULA_HOME", str(folder))
        talk(*SAID)
    return folder


@pytest.fixture
def remembered(told: Path, home: Path) -> Path:
    """Such a home, of the test's own."""
    shutil.copytree(told, home, dirs_exist_ok=True)
    return home


def test_what_is_erased_is_in_no_guideline_and_not_in_the_file_that_quotes_it(home: Path) -> None:
    wish = "Please don't give sizes in feet, use metres."
    for session in ("monday", "tuesday"):
        talk("Does NASA use wind tunnels?", wish, session=session)
    assert run_insula("sleep").status == 0
    file = home / "users" / "me" / "SOUL.md"
    file.write_text(file.read_text("utf-8") + "\nMy own line.\n", "utf-8")
    assert "metres" in file.read_text("utf-8")
    for line in memory("--transcript", "--json").json:
        if line["content"] == wish:
            assert memory("erase", str(line["id"]), "--yes").status == 0
            assert "(erased)" in memory("show", str(line["id"])).out
            again = memory("erase", str(line["id"]), "--yes")
            assert (again.status, "is erased already" in again.err) == (1, True)
    assert run_insula("sleep", "--force").status == 0
    assert "metres" not in file.read_text("utf-8")
    assert "My own line." in file.read_text("utf-8")
    with sqlite3.connect(home / "insula.db") as raw:
        assert "metres" not in "\n".join(raw.iterdump())
    raw.close()


@pytest.mark.anyio
async def test_what_a_night_let_go_comes_back(home: Path) -> None:
    async with agent(place=home / "insula.db", controls=Controls(consolidation_threshold=0.0)) as ana:
        for number in range(4):
            await ana.say(f"Well, hm, {number}.")
        ana.clock.advance(900 * DAY)
        for _ in range(3):
            await ana.say("Hello.", session="later")
        report = await ana.sleep()
    (found,) = (phase.found for phase in report.phases if phase.name == "consolidation")
    number, *_ = map(str, found["forgotten"])
    words = ("--user", "ana")
    assert "night: " in (await asyncio.to_thread(memory, "show", number, *words)).out
    assert [(await asyncio.to_thread(memory, "undo", number, *words)).status for _ in range(2)] == [0, 1]
    assert "long-term" in (await asyncio.to_thread(memory, "show", number, *words)).out


def test_what_is_not_listed_is_counted_and_can_be_listed() -> None:
    talk(*(f"My sister {number} lives in Porto." for number in range(30)), user="ana")
    words = ("--user", "ana", "--transcript")
    more = "… and 10 older; insula memory --transcript --all --user ana shows them"
    some, every = memory(*words), memory(*words, "--all")
    assert some.out.splitlines()[-1] == more
    assert (len(some.out.splitlines()), "sister 0 " in some.out, some.err) == (51, False, "")
    assert (len(every.out.splitlines()), "sister 0 " in every.out) == (60, True)
    some, every = memory(*words, "--json"), memory(*words, "--json", "--all")
    assert (len(some.json), some.err) == (50, f"{more}\n")
    assert (len(every.json), every.err) == (60, "")
    assert len(memory("--user", "ana", "--json").json) == 30, "facts alone: not what was answered"


def test_facts_are_listed_with_whose_they_are_since_when_and_in_which_words(remembered: Path) -> None:
    added = memory("add", "Karl hates tomatoes.").out
    assert re.search(r"Karl hates tomatoes\.\n +Karl · added on \d{4}-\d\d-\d\d\n", added)
    every = memory().out
    assert re.search(r"My brother Ben lives in Porto\.\n +your brother Ben · told on", every)
    assert "Noted." not in every
    brothers = [one for one in memory("--json").json if one["whose"] == ["your brother Ben"]]
    assert [one["fact"] for one in brothers] == [SAID[1]]
    assert "insula memory add" in memory("--user", "nobody").out


def test_what_is_no_fact_is_added_as_none_and_that_is_said() -> None:
    assert "That is a question, so nothing was added" in memory("add", "Where does Karl live?").out
    assert "It holds a secret" in memory("add", "My password is hunter2xK9#vQ2!pL7z").out
    assert memory("add", "Never use emojis.", "--json").json == {"outcome": "preference"}
    assert memory("--json").json == []
    assert "Never use emojis." in run_insula("guidance").out
    memory("add", "Karl hates tomatoes.")
    assert "That was remembered already." in memory("add", "karl hates tomatoes.").out
    assert len(memory("--json").json) == 1


def test_a_fact_without_words_is_refused(remembered: Path) -> None:
    ran = memory("add", "  ")
    assert (ran.status, "nothing to remember" in ran.err) == (1, True)
