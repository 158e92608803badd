"""The verbs of a memory over very many facts of one user: how long each takes, and whether its pages hold each once."""

import asyncio
import json as encoded
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from insula import Metacognition
from insula_bench import bulk

USER, SEED, TIMES = "ana", 1, 60
NAMES = ["Mia", "Tom", "Ben", "Eva", "Leo", "Ida", "Max", "Zoe", "Jan", "Kim", "Lou", "Ned"]
KIN = ["sister", "brother", "cousin", "aunt", "uncle", "neighbour", "friend", "boss", "teacher", "dentist"]
CITIES = [
    "Lisbon",
    "Porto",
    "Cork",
    "Faro",
    "Rome",
    "Oslo",
    "Bern",
    "Graz",
    "Lyon",
    "Nice",
    "Bath",
    "York",
    "Kyoto",
    "Osaka",
    "Lima",
    "Quito",
]
Timed = Callable[[int], Awaitable[object]]


async def filled(path: Path, size: int) -> None:
    """Write so many facts of one user."""
    chance = random.Random(SEED)
    texts = [f"My {kin} {name} lives in {city}." for kin in KIN for name in NAMES for city in chance.sample(CITIES, 2)]
    made = [bulk.sentence(text) for text in texts]
    async with await Metacognition.open(path) as mind:
        place = await mind.store.resolve_place(USER, "all")
        await bulk.fill(mind.store, place, bulk.lines(made, {}, size, chance), size)


async def measured(path: Path, size: int) -> dict[str, tuple[float, float]]:
    """Of each verb the median and the 95th percentile, in milliseconds."""
    chance = random.Random(SEED)
    async with await Metacognition.open(path) as mind:
        await mind.search(USER, "Where does my sister Mia live?")  # what is loaded once
        verbs: dict[str, tuple[Timed, int]] = {
            "add": (lambda n: mind.add(USER, f"My friend Quentin{n} lives in {chance.choice(CITIES)}."), TIMES),
            "search": (
                lambda _: mind.search(USER, f"Where does my {chance.choice(KIN)} {chance.choice(NAMES)} live?"),
                TIMES,
            ),
            "search, nothing found": (lambda _: mind.search(USER, "boat engine"), TIMES),
            "list": (lambda _: mind.list(USER), TIMES),
            "list, of a session": (lambda _: mind.list(USER, session="added"), TIMES),
            "get": (lambda _: mind.get(USER, chance.randint(1, size)), TIMES),
            "update": (lambda n: mind.update(USER, n + 1, "My sister Mia lives in Paris."), 10),
            "delete": (lambda n: mind.delete(USER, n + 20), 10),
        }
        found = {
            verb: _figures([await _seconds(call, n) for n in range(times)]) for verb, (call, times) in verbs.items()
        }
        return found | {"page of 500": _figures(await _walked(mind))}


async def _walked(mind: Metacognition) -> list[float]:
    """Walk all pages while facts come and go; returns what each took."""
    seen: list[int] = []
    took: list[float] = []
    before: int | None = None
    while before is not None or not seen:
        began = time.perf_counter()
        page = await mind.list(USER, before=before, limit=500)
        took.append(time.perf_counter() - began)
        seen += [memory.id for memory in page.memories]
        before = page.next
        if len(took) % 20 == 0:
            await mind.add(USER, "My boss Werner lives in Cadiz.")
            await mind.delete(USER, seen[-1])
    if seen != sorted(set(seen), reverse=True):
        raise AssertionError("a memory stood on two pages, or out of its order")
    return took


async def _seconds(call: Timed, number: int) -> float:
    began = time.perf_counter()
    await call(number)
    return time.perf_counter() - began


def _figures(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return 1000 * median(ordered), 1000 * ordered[int(0.95 * (len(ordered) - 1))]


def run(size: int, json: bool) -> int:
    """Measure all of it on a store that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "insula.db"
        asyncio.run(filled(path, size))
        found = asyncio.run(measured(path, size))
    if json:
        print(encoded.dumps({verb: {"median_ms": mid, "p95_ms": high} for verb, (mid, high) in found.items()}))
        return 0
    print(f"{size:,} facts of one user, milliseconds")
    for verb, (mid, high) in found.items():
        print(f"  {verb:24} median {mid:7.1f}   p95 {high:7.1f}")
    return 0
