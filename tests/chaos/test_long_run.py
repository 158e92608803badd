"""A talk that goes on for long loses no recall and grows no process; `python -m long_run` plays 20,000 turns of it."""

import asyncio
import functools
import gc
from collections import Counter, deque
from typing import Any, cast

import pytest
from long_run import talk

from insula import Metacognition

SAID = (
    ("My sister Ana lives in Lisbon and keeps three dogs.", "Lovely, three dogs."),
    ("Where does my sister live?", "In Lisbon, you told me."),
    ("From now on, keep your answers short.", "I will."),
    ("How do I cook rice?", "One part of rice, two of water, twelve minutes."),
    ("Please write two lines about a harbour.", "Ropes and gulls.\nThe tide comes in."),
)
WARM, TURNS = 150, 50
"""Turns until caches and windows are full of what is said again and again, and those that are watched then."""
CACHE = type(functools.cache(len))
CONTAINERS = (dict, list, tuple, set, frozenset, deque)


def test_no_turn_of_a_long_talk_fails() -> None:
    """What is over may be known of a line that shares nothing with the question: at turn 119 recall fell over it."""
    *_, last = asyncio.run(talk(160, users=1))
    assert last.failed == 0


async def _say_again(metacognition: Metacognition, first: int, last: int) -> None:
    for number in range(first, last):
        message, response = SAID[number % len(SAID)]
        async with metacognition.turn(f"user {number % 2}", f"session {number % 4}", message) as turn:
            turn.finish(response)


def _count_held() -> Counter[str]:
    """How many containers there are, and values of each class of ours; weak references come and go with libraries."""
    gc.collect()
    kinds = (cast("type[object]", type(held)) for held in gc.get_objects())
    return Counter(kind.__name__ for kind in kinds if kind in CONTAINERS or str(kind.__module__).startswith("insula"))


def test_a_process_holds_no_more_after_more_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said again and again fills no cache, so whatever grows with turns is kept of each of them."""
    monkeypatch.setattr("insula.session.regulator.KEPT", 5)

    async def grow() -> dict[str, int]:
        async with await Metacognition.open(":memory:", embed=None) as metacognition:
            await _say_again(metacognition, 0, WARM)
            before = _count_held()
            await _say_again(metacognition, WARM, WARM + TURNS)
            after = _count_held()
        return {name: after[name] - before[name] for name in after if after[name] - before[name] >= TURNS // 2}

    assert asyncio.run(grow()) == {}


def _count_unbounded() -> dict[str, int]:
    """How much each cache of ours holds that has no bound."""
    gc.unfreeze()  # what another test froze is seen by nobody else
    caches: list[Any] = [held for held in gc.get_objects() if type(cast("object", held)) is CACHE]
    ours = [each for each in caches if each.__module__.startswith("insula") and each.cache_info().maxsize is None]
    return {f"{each.__module__}.{each.__qualname__}": each.cache_info().currsize for each in ours}


def test_no_cache_without_a_bound_takes_what_is_said() -> None:
    asyncio.run(talk(24, users=2))
    before = _count_unbounded()
    asyncio.run(talk(60, users=2))
    assert before
    assert {name for name, size in _count_unbounded().items() if size > before.get(name, 0) + 12} == set()
