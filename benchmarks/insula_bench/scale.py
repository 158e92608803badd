"""What recall costs one user who has talked for years, by how common the words are that are asked with."""

import asyncio
import gc
import random
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from insula.memory import assertion
from insula.memory.cue import cue
from insula.memory.embedding import use
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.item import NewItem, new_item
from insula.memory.rows import Place
from insula.memory.store import Store
from insula.memory.vectors import Array, Vector, embedded
from insula.metacognition.meaning import question
from insula.text.analysis import analyse
from insula.turn.confidence import estimate
from insula.types import Controls
from insula_bench.locomo import Conversation
from insula_bench.progress import steps

EACH = 100
"""Questions of each kind, after `WARM` that do not count."""
WARM = 5
SEED = 7
COMMON = {"2 %": (0.02, ("lighthouse", "harvest", "accordion")), "67 %": (0.67, ("breakfast", "garden"))}
"""Words that stand in a share of all memories, each by itself."""
ASKED = ("Tell me about the {} and the {}.", "What about the {}?", "Was it the {} or the {}?")
_ALL = Controls(consolidation_threshold=0.0, stm_capacity=1_000_000)
_BATCH = 2_000


class Made(NamedTuple):
    """A sentence that memories are put together from."""

    text: str
    vector: Vector


async def recall_at_scale(talks: Sequence[Conversation], path: Path, size: int) -> dict[str, Any]:
    """CPU milliseconds of recall, embedding of the question included, and of the confidence after it, by kind of words.

    CPU times are those of all threads, and steadier than wall times on a shared machine.
    """
    chance = random.Random(SEED)
    recalling: dict[str, list[float]] = {}
    estimating: list[float] = []
    async with await Store.open(path) as store:
        place = await store.place("many", "all")
        await _fill(store, place, _generated(talks, size, chance), size)
        asking = await store.place("many", "later")
        gc.collect()
        gc.freeze()  # as `insula chat` does with what it has loaded
        for kind, texts in _questions(talks, chance).items():
            for number, text in enumerate(texts):
                taken, estimated = await _asked(store, asking, text)
                if number >= WARM:
                    recalling.setdefault(kind, []).append(taken)
                    estimating.append(estimated)
    return {
        "memories": size,
        "recall_cpu_ms": {kind: quantiles(taken) for kind, taken in recalling.items()},
        "confidence_cpu_ms": quantiles(estimating),
        "mb": await asyncio.to_thread(lambda: round(path.stat().st_size / 2**20, 1)),
    }


async def _asked(store: Store, place: Place, text: str) -> tuple[float, float]:
    asked = analyse(text)
    began = time.process_time()
    meaning = cache(partial(embedded, use))  # a turn makes the vector of a text once
    vector = meaning(question(asked, ()))
    asks = [one._replace(vector=meaning(one.text)) for one in assertion.questions(asked, USER, ASSISTANT)]
    sought, limit = cue(asked, USER, ASSISTANT), Controls().max_context_items
    found = await store.memories.recall(place, sought, limit, vector=vector, asked=asks)
    recalled = time.process_time()
    estimate(sought, found)
    return 1000 * (recalled - began), 1000 * (time.process_time() - recalled)


def _questions(talks: Sequence[Conversation], chance: random.Random) -> dict[str, list[str]]:
    real = [one.text for talk in talks for one in talk.questions]
    texts = {"rare": chance.sample(real, min(EACH + WARM, len(real)))}
    for kind, (_, words) in COMMON.items():
        texts[kind] = [chance.choice(ASKED).format(*chance.sample(words, 2)) for _ in range(EACH + WARM)]
    return texts


def _generated(talks: Sequence[Conversation], size: int, chance: random.Random) -> Iterator[NewItem]:
    """New lines, each of two halves of real ones and some common words, as one user might have said them over years.

    The vector of a line and of what it states is the mean of its sentences': a second where the encoder would
    take minutes.
    """
    texts = [sentence.text for talk in talks for line in talk.lines for sentence in analyse(line.text).sentences]
    made = [Made(text, embedded(use, text)) for text in steps(texts, "embedding")]
    for _ in range(size):
        one, other = chance.sample(made, 2)
        said = [word for share, words in COMMON.values() for word in words if chance.random() < share]
        analysis = analyse(f"{one.text} {other.text} {' '.join(f'There was the {word}.' for word in said)}")
        vector = _unit(one.vector + other.vector)
        stated = [told._replace(vector=vector) for told in assertion.statements(analysis, USER, ASSISTANT)]
        item = new_item(analysis, encode(analysis, USER, ASSISTANT), "user", USER, (), (), stated)
        yield item._replace(vector=vector)


def _unit(vector: Array) -> Vector:
    return vector / (np.linalg.norm(vector) or 1.0)


async def _fill(store: Store, place: Place, items: Iterable[NewItem], size: int) -> None:
    batch: list[tuple[NewItem, float]] = []
    began = store.now() - size
    for i, item in enumerate(steps(items, f"making {size:,} memories", size)):
        batch.append((item, began + i))
        if len(batch) == _BATCH or i == size - 1:
            await store.sessions.add(place, batch, _ALL)
            batch = []


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 3),
        "max": round(ordered[-1], 3),
    }
