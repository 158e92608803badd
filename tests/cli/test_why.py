"""`/why` names the lessons of a turn, and the messages that they were learned from."""

import asyncio
import io
import sys
from pathlib import Path

import pytest

from insula.cli import chat as command
from insula.cli import common
from insula.memory.storage.store import Store
from insula.night.cycle import PhaseName, sleep_cycle
from insula.night.phases.lessons import reinforce_lessons
from insula.night.phases.mistakes import learn_corrections

WISH = "From now on, always answer in metric units."


def said(monkeypatch: pytest.MonkeyPatch, session: str, *lines: str) -> None:
    piped = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", piped)
    command.chat(model="test", user="me", session=session, resume=False, json=False)


async def night(path: Path) -> None:
    async with await Store.open(path) as store:
        await sleep_cycle(
            store, "me", [(PhaseName.MISTAKES, learn_corrections), (PhaseName.LESSONS, reinforce_lessons)], force=True
        )


def test_why_shows_the_lessons_and_what_they_were_learned_from(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    said(monkeypatch, "monday", WISH)
    asyncio.run(night(home / common.DATABASE))
    said(monkeypatch, "tuesday", "How far is it to Porto?", "/why")
    out = capsys.readouterr().out
    assert f", used: {WISH}" in out
    assert f"learned from monday, memory 1: {WISH}" in out


def test_why_with_a_number_explains_that_answer_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    said(monkeypatch, "monday", "I live in Porto.", "Where do I live?", "/why 2", "/why 3")
    shown = capsys.readouterr()
    explained = shown.out.split("› ")[-1]
    assert "nothing is stored yet" in explained
    assert "There is no answer '3' places back; give a number from 1, the last, to 2." in shown.err + shown.out
