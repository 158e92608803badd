"""What recall costs one user who has talked for years, by how common the words are that are asked with.

Beside it, in the same run, stands the floor: the best forty by BM25 out of SQLite's own full-text index of the same
texts, for the same questions; no statements, no meaning, no rows.
"""

import asyncio
import gc
import random
import sqlite3
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.index import CANDIDATES
from insula.memory.retrieval.query import build_cue
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Store
from insula.text.analysis import AnalysedWord, analyse_text
from insula.turn.confidence import estimate_confidence
from insula.types import Controls
from insula_bench import bulk
from insula_bench.locomo import Conversation
from insula_bench.progress import steps
from insula_bench.sought import sought

EACH = 100
"""Questions of each kind, after `WARM` that do not count."""
WARM = 5
OF_FLOOR = 20
"""Questions of each kind that the floor is asked."""
SEED = 7
MANY = "many"
"""The user."""
_BEST = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?"
COMMON = {"2 %": (0.02, ("lighthouse", "harvest", "accordion")), "67 %": (0.67, ("breakfast", "garden"))}
"""Words that stand in a share of all memories, each by itself."""
ASKED = ("Tell me about the {} and the {}.", "What about the {}?", "Was it the {} or the {}?")


async def recall_at_scale(talks: Sequence[Conversation], path: Path, size: int) -> dict[str, Any]:
    """CPU milliseconds of recall, embedding of the question included, and of the confidence after it, by kind of words.

    CPU times are those of all threads, and steadier than wall times on a shared machine.
    """
    chance = random.Random(SEED)
    texts = [sentence.text for talk in talks for line in talk.lines for sentence in analyse_text(line.text).sentences]
    made = [bulk.sentence(text) for text in steps(texts, "reading sentences")]
    common = {share: [bulk.sentence(f"There was the {word}.") for word in words] for share, words in COMMON.values()}
    new = partial(bulk.lines, made, common, size)
    recalling: dict[str, list[float]] = {}
    estimating: list[float] = []
    async with await Store.open(path) as store:
        began = time.process_time()
        await bulk.fill(store, await store.resolve_place(MANY, "all"), new(random.Random(SEED)), size)
        built = time.process_time() - began
        asking = await store.resolve_place(MANY, "later")
        gc.collect()
        gc.freeze()  # as `insula chat` does with what it has loaded
        asked = _questions(talks, chance)
        for kind, each in asked.items():
            for number, text in enumerate(each):
                taken, estimated = await _asked(store, asking, text)
                if number >= WARM:
                    recalling.setdefault(kind, []).append(taken)
                    estimating.append(estimated)
    return {
        "memories": size,
        "built_cpu_s": round(built, 1),
        "floor_cpu_ms": await asyncio.to_thread(_floor, path.with_suffix(".fts"), new(random.Random(SEED)), asked),
        "recall_cpu_ms": {kind: quantiles(taken) for kind, taken in recalling.items()},
        "confidence_cpu_ms": quantiles(estimating),
        "mb": await asyncio.to_thread(lambda: round(path.stat().st_size / 2**20, 1)),
    }


async def _asked(store: Store, place: Place, text: str) -> tuple[float, float]:
    asked = analyse_text(text)
    began = time.process_time()
    wanted = sought(asked, (), embed_text)
    given, limit = build_cue(asked, USER, ASSISTANT), Controls().max_context_items
    found = await store.memories.recall_memories(place, given, limit, sought=wanted.read, asked=wanted.asked)
    recalled = time.process_time()
    estimate_confidence(given, found)
    return 1000 * (recalled - began), 1000 * (time.process_time() - recalled)


def _questions(talks: Sequence[Conversation], chance: random.Random) -> dict[str, list[str]]:
    real = [one.text for talk in talks for one in talk.questions]
    texts = {"rare": chance.sample(real, min(EACH + WARM, len(real)))}
    for kind, (_, words) in COMMON.items():
        texts[kind] = [chance.choice(ASKED).format(*chance.sample(words, 2)) for _ in range(EACH + WARM)]
    return texts


def _floor(path: Path, new: Iterable[bulk.Line], asked: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """CPU milliseconds in which SQLite's full-text index finds as many by BM25, by kind of words."""
    bulk.floor(path, new)
    with closing(sqlite3.connect(path)) as raw:
        return {kind: quantiles([_matched(raw, text) for text in each[:OF_FLOOR]]) for kind, each in asked.items()}


def _matched(raw: sqlite3.Connection, text: str) -> float:
    terms = " OR ".join(f'"{term}"' for term in dict.fromkeys(word.text for word in _words(text)))
    began = time.process_time()
    raw.execute(_BEST, (terms, CANDIDATES)).fetchall()
    return 1000 * (time.process_time() - began)


def _words(text: str) -> list[AnalysedWord]:
    """The words of a question that our own index is asked for."""
    return [word for sentence in analyse_text(text).sentences for word in sentence.words if word.term]


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 3),
        "max": round(ordered[-1], 3),
    }
