"""Memories filled as they are in use, and asked: the features of each probe, what was found, and what it cost."""

import math
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from insula.errors import InputError
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import Utterance, extract_statements
from insula.memory.item import new_item
from insula.memory.retrieval.query import Cue, build_cue, encode_claims, load_terms
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Embed, Vector, embed_normalised
from insula.metacognition.reading import make_vectors, memory_text
from insula.text.analysis import analyse_text
from insula.turn.confidence import estimate_confidence, is_evidence, owner_features, recall_features
from insula.types import Controls
from insula_bench.confidence_probes import Entry, Probe, World
from insula_bench.sought import Sought, sought

TOP = 5
K1, B = 1.2, 0.75
"""Robertson and Walker's usual values, for the baseline."""
_ALL = Controls(consolidation_threshold=0.0, stm_capacity=1_000_000)
"""Everything is kept, so that what is measured is recall and not salience."""


class Answer(NamedTuple):
    """What a memory said to a probe."""

    world: str
    probe: Probe
    values: Mapping[str, float]
    whose: Mapping[str, float]
    shipped: float
    """The score of the shipped calibration."""
    recall: float
    """Share of the evidence among the first five."""
    bm25_recall: float
    bm25: float
    """The best BM25 score, the simplest measure of whether something is stored."""
    recall_ms: float
    estimate_ms: float


class Embedding:
    """An embedding by its name; what was embedded is kept, and each call timed.

    Raises:
        InputError: it cannot be imported, or makes no vector of numbers.
    """

    def __init__(self, name: str, of: Embed) -> None:
        self._of = of
        self._name = name
        self._known: dict[str, Vector] = {}
        self._took: list[float] = []
        # The first call often loads the model: it is neither timed nor kept.
        _check(name, of)

    def __call__(self, text: str) -> Vector:
        if (known := self._known.get(text)) is not None:
            return known
        began = time.perf_counter()
        vector = embed_normalised(self._of, text)
        self._took.append((time.perf_counter() - began) * 1000)
        return self._known.setdefault(text, vector)

    def report(self) -> dict[str, Any]:
        """Its name, and the median milliseconds of a call; none where it was never called."""
        return {"name": self._name, "ms": round(statistics.median(self._took), 3) if self._took else None}


def _check(name: str, embed: Embed) -> None:
    try:
        embed_normalised(embed, "Where did Ana buy her guitar?")
    except InputError as error:
        raise InputError(f"The embedding {name!r} cannot be used: {error}") from error
    except Exception as error:  # whatever a user's function raises is the reason
        raise InputError(
            f"The embedding {name!r} failed at its first text ({error!r}); it must take a text and return its vector."
        ) from error


async def ask(world: World, folder: Path, step: Callable[[], None], embed: Embedding | None = None) -> list[Answer]:
    """Fill a memory, ask it, and ask copies of it from which something was erased."""
    path = folder / f"{world.name}.db"
    async with await Store.open(path) as store:
        ids = await _fill(store, world, embed)
        place = await store.resolve_place("one", "questions")
        plain = _Plain(world.entries)
        names = {memory: entry for entry, memory in ids.items()}
        answers = [
            await _answer(store, place, world, probe, names, plain, step, embed)
            for probe in world.probes
            if not probe.erased
        ]
    lacking = [await _erased(path, world, probe, ids, plain, step, embed) for probe in world.probes if probe.erased]
    return answers + lacking


async def _fill(store: Store, world: World, embed: Embedding | None) -> dict[str, int]:
    ids: dict[str, int] = {}
    last: dict[str, str] = {}
    spoken: dict[str, list[Entry]] = {}
    for entry in world.entries:
        place = await store.resolve_place("one", entry.session)
        analysis = analyse_text(entry.text)
        encoding = encode_claims(analysis, entry.speaker.lower(), entry.listener.lower())
        speaker, listener = entry.speaker.lower(), entry.listener.lower()
        lines = spoken.setdefault(entry.session, [])
        said = [Utterance(line.text, line.speaker == entry.speaker) for line in lines]
        teller = speaker if entry.provenance == "user" else ""
        told = extract_statements(analysis, teller, listener, said) if entry.provenance in {"user", "tool"} else ()
        stated = [one._replace(vector=embed(one.text)) for one in told] if embed else told
        spoken.setdefault(entry.session, []).append(entry)
        item = new_item(analysis, encoding, entry.provenance, entry.speaker, (), (), stated)
        text = memory_text(last.get(entry.session, ""), entry.text)
        vector = embed(text) if embed and text else None
        last[entry.session] = entry.text
        (ids[entry.id],), _ = await store.sessions.add_lines(place, [(item._replace(vector=vector), entry.at)], _ALL)
    return ids


async def _erased(
    path: Path,
    world: World,
    probe: Probe,
    ids: Mapping[str, int],
    plain: "_Plain",
    step: Callable[[], None],
    embed: Embedding | None,
) -> Answer:
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    async with await Store.open(copy) as store:
        place = await store.resolve_place("one", "questions")
        for entry in probe.erased:
            await store.memories.erase_memories(place.user_id, ids[entry])
        if embed:
            await make_vectors(store, place.user_id, embed)
        names = {memory: entry for entry, memory in ids.items()}
        return await _answer(store, place, world, probe, names, plain, step, embed)


async def _answer(
    store: Store,
    place: Place,
    world: World,
    probe: Probe,
    names: Mapping[int, str],
    plain: "_Plain",
    step: Callable[[], None],
    embed: Embedding | None,
) -> Answer:
    step()
    analysis = analyse_text(probe.text)
    asked = build_cue(analysis, USER, ASSISTANT)
    began = time.perf_counter()
    wanted = sought(analysis, {entry.speaker for entry in world.entries}, embed) if embed else Sought((), ())
    limit = Controls().max_context_items
    found = await store.memories.recall_memories(place, asked, limit, sought=wanted.read, asked=wanted.asked)
    recalled = time.perf_counter()
    score = estimate_confidence(asked, found, context=probe.context).score
    done = time.perf_counter()
    known = [one for one in found.recalled if is_evidence(one)]
    best = await store.memories.search_index(place, asked, TOP) if probe.evidence else []
    return Answer(
        world=world.name,
        probe=probe,
        values=recall_features(asked, known, found, probe.context, None),
        whose=owner_features(known, found.standing),
        shipped=score,
        recall=_share(probe, [names.get(one.memory.id, "") for one in found.recalled[:TOP]]),
        bm25_recall=_share(probe, [names.get(memory, "") for memory in best]),
        bm25=plain.best(asked, probe.erased),
        recall_ms=(recalled - began) * 1000,
        estimate_ms=(done - recalled) * 1000,
    )


def _share(probe: Probe, found: Sequence[str]) -> float:
    return len(probe.evidence.intersection(found)) / len(probe.evidence) if probe.evidence else 0.0


class _Plain:
    """BM25 over the same terms, for the baseline."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._held = {entry.id: Counter(_terms(entry)) for entry in entries}
        self._lengths = {name: sum(held.values()) for name, held in self._held.items()}
        self._mean = sum(self._lengths.values()) / max(len(entries), 1) or 1.0
        self._where: dict[str, list[str]] = {}
        for name, held in self._held.items():
            for term in held:
                self._where.setdefault(term, []).append(name)

    def best(self, asked: Cue, erased: frozenset[str]) -> float:
        scores: dict[str, float] = {}
        for term in asked.terms:
            here = self._where.get(term, [])
            rarity = math.log(1 + (len(self._held) - len(here) + 0.5) / (len(here) + 0.5))
            for name in here:
                tf = self._held[name][term]
                damped = tf + K1 * (1 - B + B * self._lengths[name] / self._mean)
                scores[name] = scores.get(name, 0.0) + rarity * tf * (K1 + 1) / damped
        return max((score for name, score in scores.items() if name not in erased), default=0.0)


def _terms(entry: Entry) -> list[str]:
    return load_terms(
        encode_claims(analyse_text(entry.text), entry.speaker.lower(), entry.listener.lower()).dump_claims()
    )
