"""What changed last night: told once at the next start, in three lines, with what takes each back; nothing else."""

from collections.abc import Sequence

import pytest

from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night import curation
from insula.night.telling import changed_last_night
from insula.testing import FrozenClock

pytestmark = pytest.mark.anyio

WISH = "From now on, answer in one sentence."
CORRECTED = ("What is the capital of Australia?", "No, the capital is Canberra.", "Thanks.")
ORDINARY = ("How long do I boil an egg?", "Thanks!", "Write a haiku about the sea.")


@pytest.fixture
def clock() -> FrozenClock:
    from datetime import UTC, datetime

    return FrozenClock(datetime(2026, 1, 5, 8, tzinfo=UTC))


async def day(store: Store, clock: FrozenClock, session: str, said: Sequence[str]) -> Metacognition:
    """Somebody talks, and sleeps on it."""
    store.now = lambda: clock().timestamp()
    mind = Metacognition(store, holdout=0.0)
    for message in said:
        clock.advance(60)
        async with mind.turn("ana", session, message) as turn:
            turn.finish("It is so.")
    clock.advance(3_600)
    await mind.sleep("ana", force=True)
    clock.advance(3_600)
    return mind


async def test_the_next_start_tells_what_changed_and_how_to_take_it_back(store: Store, clock: FrozenClock) -> None:
    await day(store, clock, "monday", (WISH, *ORDINARY))
    (line,) = await changed_last_night(store, "ana")
    assert line.startswith(f"Added: {WISH} (take it back: insula guidance forget w")
    name = line.rstrip(")").rpartition(" ")[2]
    assert (await curation.decide_piece(store, "ana", None, name, "forget")) is not None
    assert (await curation.find_piece(store, "ana", name)).retired


async def test_a_lesson_of_a_correction_is_told_with_its_words(store: Store, clock: FrozenClock) -> None:
    await day(store, clock, "monday", CORRECTED)
    assert await changed_last_night(store, "ana") == ()
    await day(store, clock, "tuesday", CORRECTED)
    (line,) = await changed_last_night(store, "ana")
    assert line.startswith("From now on: When this comes up, keep to what they corrected: “the capital is Canberra”.")
    assert "insula guidance forget c" in line


async def test_whether_two_preferences_both_hold_is_asked_once(store: Store, clock: FrozenClock) -> None:
    casual, formal = "From now on, use a casual tone with me.", "From now on, be formal with me."
    await day(store, clock, "monday", (casual, *ORDINARY))
    assert not any("Do both hold" in line for line in await changed_last_night(store, "ana"))
    await day(store, clock, "tuesday", (formal, *ORDINARY))
    (asked,) = [line for line in await changed_last_night(store, "ana") if "Do both hold" in line]
    assert asked.startswith(f"Do both hold, “{casual}” and “{formal}”? (only the newer: insula guidance forget w")
    await day(store, clock, "wednesday", ORDINARY)
    assert await changed_last_night(store, "ana") == ()


async def test_an_ordinary_night_says_nothing(store: Store, clock: FrozenClock) -> None:
    await day(store, clock, "monday", ORDINARY)
    assert await changed_last_night(store, "ana") == ()
    assert await changed_last_night(store, "nobody") == ()


async def test_it_is_said_until_somebody_talks_and_never_again(store: Store, clock: FrozenClock) -> None:
    mind = await day(store, clock, "monday", (WISH, *ORDINARY))
    assert await changed_last_night(store, "ana")
    async with mind.turn("ana", "tuesday", "Hello.") as turn:
        turn.finish("Hello.")
    assert await changed_last_night(store, "ana") == ()


async def test_there_are_three_lines_at_most(store: Store, clock: FrozenClock) -> None:
    wishes = (
        *(WISH, "From now on use Celsius.", "Always give sizes in metres."),
        *("Never use emojis.", "Call me Mara when you answer me."),
    )
    await day(store, clock, "monday", wishes)
    lines = await changed_last_night(store, "ana")
    assert len(lines) == 3
    assert lines[-1] == "… and 3 more: insula guidance soul diff"
