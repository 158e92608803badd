"""A life in which nothing changes: told over days, asked in new sessions, in eight languages. Nothing is ever over."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from insula import Metacognition, Turn
from insula.testing import FrozenClock, memory_store

pytestmark = pytest.mark.anyio
DAY = 86_400.0
A_DAY = 4
"""Lines that are told on one day."""
OVER = "no longer since"


def life(language: str) -> list[tuple[str, str]]:
    """What somebody tells of their life, and what is asked of each line."""
    parts = (Path(__file__).parent / "fixtures" / "life.txt").read_text("utf-8").split("# ")
    own = next(part for part in parts if part.startswith(language))
    return [(told, asked) for told, _, asked in (line.partition("|") for line in own.splitlines()[1:])]


@asynccontextmanager
async def living(*lines: str) -> AsyncGenerator[tuple[Metacognition, FrozenClock]]:
    """An agent that was told some lines, some of them a day."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
        for number, line in enumerate(lines):
            clock.advance(DAY if number % A_DAY == 0 else 60.0)
            await mind.observe("me", f"day {number // A_DAY}", line)
        yield mind, clock


async def asked(mind: Metacognition, clock: FrozenClock, number: int, question: str) -> Turn:
    clock.advance(DAY)
    async with mind.turn("me", f"asked {number}", question) as turn:
        turn.finish("Hm.")
    return turn


def shown(turn: Turn) -> list[str]:
    found = [one.memory for one in turn.recalled if one.memory.id in turn.shown]
    return [one.content for one in sorted(found, key=lambda one: turn.instructions.find(one.line))]


@pytest.mark.parametrize("language", ["en", "es", "de", "ja"])
async def test_on_a_life_in_which_nothing_changes_nothing_is_over(language: str) -> None:
    facts = life(language)
    asked_for = facts[::4]
    found = 0
    async with living(*(told for told, _ in facts)) as (mind, clock):
        for number, (line, question) in enumerate(asked_for):
            turn = await asked(mind, clock, number, question)
            assert OVER not in turn.instructions, turn.instructions
            assert all(one.bearing != "history" for one in turn.recalled)
            found += line in shown(turn)
    assert found > len(asked_for) / 2, "it is asked whether lines that are told are over"


async def test_a_life_told_twice_and_in_other_words_ends_nothing() -> None:
    facts = [told for told, _ in life("en")]
    again = (
        "Bristol is where I live.",
        "I'm 1.68 tall.",
        "I moved.",
        "My job? Physiotherapist, at the Royal Infirmary.",
    )
    async with living(*facts, *facts, *again) as (mind, clock):
        for number, (_, question) in enumerate(life("en")[1::6]):
            turn = await asked(mind, clock, number, question)
            assert OVER not in turn.instructions, turn.instructions


@pytest.mark.parametrize(
    "lines",
    [
        ("Ik woon in Gent.", "Ik woon niet meer in Gent."),
        ("Mieszkam w Krakowie.", "Już nie mieszkam w Krakowie."),
        ("I live in Leipzig.", "Ich wohne nicht mehr in Leipzig."),
        ("Mi hermana lives in Lisboa.", "Mi hermana doesn't live in Lisboa any more, sie wohnt in Graz."),
    ],
)
async def test_in_a_ninth_language_and_across_two_nothing_is_called_over(lines: Sequence[str]) -> None:
    async with living(*lines) as (mind, clock):
        for number, question in enumerate(
            ("Where do I live?", "Waar woon ik?", "Wo wohne ich?", "¿Dónde vive mi hermana?")
        ):
            turn = await asked(mind, clock, number, question)
            assert OVER not in turn.instructions


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("I live in Bristol.", "I no longer live in Bristol.", "Where do I live?"),
        ("Ich bin Vegetarierin.", "Ich bin keine Vegetarierin mehr.", "Bin ich Vegetarierin?"),
        ("Pagamos 40 euros de internet.", "Ahora pagamos 45 euros de internet.", "¿Cuánto pagamos de internet?"),
        ("我住在南京。", "我从南京搬到了苏州。", "我住在哪里？"),
    ],
)  # fmt: skip
async def test_what_the_user_ends_is_told_as_over_with_its_date(older: str, newer: str, question: str) -> None:
    async with living(older, newer) as (mind, clock):
        turn = await asked(mind, clock, 0, question)
        assert shown(turn)[0] == newer
        assert turn.instructions.count(older) == 1
        assert f"{OVER} 6 January 2026" in turn.instructions


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("I live in Bristol.", "We moved to York last week.", "Where do I live?"),
        ("I work as a physiotherapist.", "I work as a teacher now.", "What do I do for a living?"),
        ("Wir haben einen Golf.", "Wir haben den Golf verkauft.", "Welches Auto haben wir?"),
        ("Tengo un Seat.", "Vendí el Seat.", "¿Qué coche tengo?"),
        ("私は理学療法士です。", "私は今は教師です。", "私の仕事は何ですか？"),
    ],
)
async def test_what_may_have_changed_stands_beside_the_newer_line_and_is_not_called_over(
    older: str, newer: str, question: str
) -> None:
    async with living(older, newer) as (mind, clock):
        turn = await asked(mind, clock, 0, question)
        assert sorted(shown(turn)) == sorted([newer, older])
        assert OVER not in turn.instructions
