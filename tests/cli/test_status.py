"""`insula status`: from the store alone, in words and as JSON."""

import asyncio
from pathlib import Path

import pytest
from harness import run_insula

from insula import Metacognition, Usage
from insula.testing import FrozenClock


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide, without colours, and in a zone that is the same everywhere."""
    for name, value in (("COLUMNS", "200"), ("NO_COLOR", "1"), ("INSULA_TIME_ZONE", "UTC")):
        monkeypatch.setenv(name, value)


def status(*words: str) -> str:
    ran = run_insula("status", "--user", "ana", *words)
    assert (ran.status, ran.err) == (0, "")
    return "\n".join(line.rstrip() for line in ran.out.splitlines())


async def live(path: Path, *seconds: float) -> None:
    """Turns a minute apart, with a model that takes so long for a hundred tokens."""
    clock = FrozenClock()
    async with await Metacognition.open(path, clock=lambda: clock().timestamp(), embed=None) as mind:
        for number, took in enumerate(seconds):
            clock.advance(60.0)
            async with mind.turn("ana", f"day {number // 10}", f"I saw fox number {number}.", model="tiny") as turn:
                turn.finish("Nice.", usage=Usage(calls=1, output_tokens=100, seconds=took))


def test_the_store_says_how_it_is_doing_in_words(home: Path) -> None:
    asyncio.run(live(home / "insula.db", *[2.0] * 20, *[6.0] * 20))
    said, verbose = status(), status("--verbose")
    assert said.startswith("as of the last snapshot\n\nHow it is doing\n")
    for words in (
        "the model takes 3.0 times as long as usual",
        "memories per answer: 16 → 12, because the model had become slow",
        "What it holds of ana",
        "4 sessions, 80 messages",
        "--verbose",
    ):
        assert words in said, words
    for words in ("snapshot        the last one at turn ", "next            at turn ", "one every "):
        assert words in verbose, words
        assert words not in said, words


def test_a_store_that_is_well_says_so_and_a_night_that_is_due(home: Path) -> None:
    asyncio.run(live(home / "insula.db", *[2.0] * 30))
    said = status()
    assert "3 sessions, 60 messages, 30 facts (insula memory lists them)" in said
    assert "there was none yet; one is due: insula sleep" in said
    assert run_insula("sleep", "--user", "ana", "--force").status == 0
    held = run_insula("status", "--user", "ana", "--json").json["user"]["held"]
    assert (held["sessions"], held["messages"]) == (3, 60)


def test_where_there_is_no_snapshot_none_is_spoken_of() -> None:
    assert status().startswith("\nHow it is doing\n")


def test_looking_leaves_no_trace_of_a_user_who_never_spoke() -> None:
    assert "nothing yet    talk first: insula chat" in status()
    assert run_insula("user", "list", "--json").json == []


def test_through_a_pipe_it_is_as_wide_as_a_look_back_and_nothing_trails(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(live(home / "insula.db", *[2.0] * 20, *[6.0] * 20))
    monkeypatch.delenv("COLUMNS")
    lines = run_insula("status", "--user", "ana").out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert 80 < max(map(len, lines)) <= 140
