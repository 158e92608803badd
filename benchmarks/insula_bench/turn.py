"""`insula bench turn`: what a turn costs outside the model, and how well recall finds what was asked for."""

import asyncio
import json as jsonlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from insula.calibration import load_shipped
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import NewItem, new_item
from insula.memory.retrieval.query import Cue, build_cue, encode_claims
from insula.memory.storage.rows import Place
from insula.memory.storage.sqlite import MEMORY
from insula.memory.storage.store import Recollection, Store
from insula.metacognition import Metacognition, warm_up
from insula.text.analysis import analyse_text
from insula.turn.confidence import estimate_confidence
from insula.turn.monitor import assess
from insula.types import Controls
from insula_bench import locomo
from insula_bench.locomo import ADVERSARIAL, Conversation
from insula_bench.progress import steps
from insula_bench.scale import MANY, quantiles, recall_at_scale
from insula_bench.statistics import auroc

_SCALE = "scale.db"
TOP = 5
REPLY_CHARS = 2_000
MEMORY_LINES = 5
QUESTIONS = 300
FOREIGN = 60
SEED = 7
STARTS = 9
_ALL = Controls(consolidation_threshold=0.0, stm_capacity=1_000_000)
"""Everything is kept, so that what is measured is recall and not salience."""


def run(path: str, memories: int, json: bool, recall_alone: bool = False) -> int:
    """Measure everything, or recall at scale alone; print it, and return the exit code."""
    talks = locomo.read(path)
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(_measure(talks, Path(folder), memories, recall_alone))
        figures["resident_mb"] = resident(Path(folder) / _SCALE)
    if not recall_alone:
        figures["start"] = start_up()
    print(jsonlib.dumps(figures, indent=2)) if json else _show(figures)
    return 0


async def _measure(talks: list[Conversation], folder: Path, memories: int, recall_alone: bool) -> dict[str, Any]:
    scale = {"scale": await recall_at_scale(talks, folder / _SCALE, memories)}
    if recall_alone:
        return scale
    return scale | {
        "recall": await recall_quality(talks, folder),
        "turn": await whole_turns(talks, folder / "turns.db"),
        "monitor": monitor_cost(talks),
    }


async def recall_quality(talks: list[Conversation], folder: Path) -> dict[str, Any]:
    """Mean recall and hit rate of the evidence among the first five, beside BM25's own order; confidence by kind."""
    ours: list[tuple[float, bool]] = []
    bm25: list[tuple[float, bool]] = []
    sure: dict[str, list[float]] = {"answerable": [], "another_person": [], "foreign": []}
    for talk in talks:
        async with await Store.open(folder / f"{talk.name}.db") as store:  # one each: FTS5's BM25 counts all it holds
            ids = await _read_in(store, talk)
            place = await store.resolve_place(talk.name, "questions")
            for question in talk.questions:
                asked, found = await _ask(store, place, question.text)
                kind = "another_person" if question.category == ADVERSARIAL else "answerable"
                sure[kind].append(estimate_confidence(asked, found).score)
                if kind == "answerable" and question.evidence:
                    ours.append(_hits(question.evidence, [ids[one.memory.id] for one in found.recalled[:TOP]]))
                    best = await store.memories.search_index(place, asked, TOP)
                    bm25.append(_hits(question.evidence, [ids[i] for i in best]))
            for text in _foreign(talk, talks):
                asked, found = await _ask(store, place, text)
                sure["foreign"].append(estimate_confidence(asked, found).score)
    return {"n": len(ours), "ours": _means(ours), "bm25": _means(bm25), "confidence": _confidence(sure)}


async def _read_in(store: Store, talk: Conversation) -> dict[int, str]:
    """Ingest a conversation as it would be in use; returns memory id -> id of the turn."""
    ids: dict[int, str] = {}
    for line in steps(talk.lines, f"reading {talk.name}"):
        place = await store.resolve_place(talk.name, line.session)
        item = _item(talk, line.speaker, line.text)
        (memory,), _ = await store.sessions.add_lines(place, [(item, line.at)], _ALL)
        ids[memory] = line.id
    return ids


async def _ask(store: Store, place: Place, text: str) -> tuple[Cue, Recollection]:
    asked = build_cue(analyse_text(text), USER, ASSISTANT)
    return asked, await store.memories.recall_memories(place, asked, Controls().max_context_items)


def _foreign(talk: Conversation, talks: list[Conversation]) -> list[str]:
    """Answerable questions of the other conversations: a topic that this one never touched."""
    others = [
        question.text
        for other in talks
        if other is not talk
        for question in other.questions
        if question.category != ADVERSARIAL
    ]
    return random.Random(SEED).sample(others, min(FOREIGN, len(others)))


def _confidence(sure: dict[str, list[float]]) -> dict[str, Any]:
    high = load_shipped().high
    kinds = {
        kind: {"n": len(scores), "high": round(statistics.fmean(score >= high for score in scores), 3)}
        for kind, scores in sure.items()
    }
    auc = {kind: round(auroc(sure["answerable"], sure[kind]), 3) for kind in ("another_person", "foreign")}
    return {"auroc": auc, "kinds": kinds}


def _item(talk: Conversation, speaker: str, text: str) -> NewItem:
    listener = talk.speakers[speaker == talk.speakers[0]]
    analysis = analyse_text(text)
    return new_item(analysis, encode_claims(analysis, speaker.lower(), listener.lower()), "user", speaker, (), ())


def _hits(evidence: frozenset[str], found: Sequence[str]) -> tuple[float, bool]:
    share = len(evidence.intersection(found)) / len(evidence)
    return share, share > 0


def _means(hits: Sequence[tuple[float, bool]]) -> dict[str, float]:
    return {
        "recall_at_5": round(statistics.fmean(share for share, _ in hits), 3),
        "hit_at_5": round(statistics.fmean(hit for _, hit in hits), 3),
    }


async def whole_turns(talks: list[Conversation], path: Path) -> dict[str, Any]:
    """Added milliseconds of every turn of the longest conversation: one speaker asks, the other is the model."""
    talk = max(talks, key=lambda one: len(one.lines))
    first = talk.speakers[0]
    added: list[float] = []
    async with await Metacognition.open(path) as metacognition:
        pairs = [(a, b) for a, b in zip(talk.lines, talk.lines[1:], strict=False) if a.speaker == first != b.speaker]
        for asked, answered in steps(pairs, "taking turns"):
            async with metacognition.turn("one", asked.session, asked.text) as turn:
                turn.finish(answered.text)
            added.append(turn.added * 1000)
    size = await asyncio.to_thread(lambda: path.stat().st_size)
    return {"turns": len(added), "added_ms": quantiles(added), "bytes_per_message": round(size / (2 * len(added)))}


def resident(many: Path) -> dict[str, int]:
    """MB that a process holds after turns that recalled: by words alone, with the shipped embedding, and with that and
    the memories of a store (Linux).
    """
    return {
        "none": _held("None", MEMORY, "one"),
        "use": _held("embed_text", MEMORY, "one"),
        "many": _held("embed_text", str(many), MANY),
    }


def _held(embed: str, path: str, user: str) -> int:
    script = _TURN.format(embed=embed, path=path, user=user)
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return round(int(said.stdout) / 1024)


_TURN = """
import asyncio
from insula.memory.retrieval.embedding import embed_text
from insula.metacognition import Metacognition

async def turns():
    async with await Metacognition.open({path!r}, embed={embed}) as mind:
        for text in ("I live in Porto.", "Where do I live?", "What about the garden?"):
            async with mind.turn({user!r}, text, text) as turn:
                turn.finish("In Porto.")
        print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")))

asyncio.run(turns())
"""
"""A process of its own: three turns, and what it holds then in kB."""


def monitor_cost(talks: list[Conversation]) -> dict[str, Any]:
    """CPU milliseconds of `assess` over distinct replies of 2 kB, beside five recent ones or five lines of memory."""
    chance = random.Random(SEED)
    texts = [line.text for talk in talks for line in talk.lines]
    questions = [question.text for talk in talks for question in talk.questions]
    replies = [_reply(texts, chance) for _ in range(QUESTIONS)]
    alone: list[float] = []
    remembering: list[float] = []
    for i, reply in enumerate(replies):
        recent = [replies[i - k] for k in range(1, 6)]
        message = chance.choice(questions)
        alone.append(_cpu(lambda message=message, reply=reply, recent=recent: assess(message, reply, recent)))
        message, other = chance.choice(questions), _reply(texts, chance)
        lines = [f"- {text}" for text in chance.sample(texts, MEMORY_LINES)]
        remembering.append(
            _cpu(lambda message=message, other=other, lines=lines: assess(message, other, memory=lines, level="high"))
        )
    return {
        "replies": len(alone),
        "assess_cpu_ms": quantiles(alone),
        "assess_with_memory_cpu_ms": quantiles(remembering),
    }


def _reply(texts: Sequence[str], chance: random.Random) -> str:
    reply = ""
    while len(reply) < REPLY_CHARS:
        reply += chance.choice(texts) + " "
    return reply[:REPLY_CHARS]


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def start_up() -> dict[str, float]:
    """Wall milliseconds of a bare interpreter, of `import insula`, and of `insula --help`; medians."""
    bare = _median_run(["-c", "pass"])
    package = _median_run(["-c", "import insula"])
    command = _median_run(["-m", "insula.cli", "--help"])
    return {"bare_ms": bare, "import_ms": round(package - bare, 1), "help_ms": command}


def _median_run(arguments: list[str]) -> float:
    taken: list[float] = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        taken.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(taken), 1)


def _show(figures: dict[str, Any]) -> None:
    console = Console()
    _show_scale(console, figures["scale"], figures["resident_mb"])
    if "turn" not in figures:
        return
    table = Table("measure", "median", "p95", "max", box=None, header_style="dim")
    for name, part in (
        (f"a turn without its model, ms ({figures['turn']['turns']} turns)", figures["turn"]["added_ms"]),
        ("assess a reply of 2 kB, CPU ms", figures["monitor"]["assess_cpu_ms"]),
        ("the same with five lines of memory", figures["monitor"]["assess_with_memory_cpu_ms"]),
    ):
        table.add_row(name, *(f"{part[key]:.2f}" for key in ("median", "p95", "max")))
    console.print(table)
    quality = figures["recall"]
    console.print(
        f"evidence among the first five ({quality['n']} questions): recall {quality['ours']['recall_at_5']:.3f}, "
        f"BM25 {quality['bm25']['recall_at_5']:.3f}"
    )
    for kind, area in quality["confidence"]["auroc"].items():
        console.print(f"confidence, answerable against {kind.replace('_', ' ')}: AUROC {area:.3f}")
    console.print(f"{figures['turn']['bytes_per_message']:,} bytes a message in the store")
    start = figures["start"]
    console.print(f"start: import insula {start['import_ms']} ms, insula --help {start['help_ms']} ms")


def _show_scale(console: Console, scale: dict[str, Any], held: dict[str, int]) -> None:
    size = f"{scale['memories']:,}"
    table = Table("CPU ms", "median", "p95", "max", "times the floor", box=None, header_style="dim")
    for kind, ours in scale["recall_cpu_ms"].items():
        floor = scale["floor_cpu_ms"][kind]
        for name, part in ((f"recall from {size} memories, {kind} words", ours), ("  SQLite's own BM25", floor)):
            times = f"{part['median'] / floor['median']:.1f}" if part is ours else ""
            table.add_row(name, *(f"{part[key]:.2f}" for key in ("median", "p95", "max")), times)
    estimate = scale["confidence_cpu_ms"]
    table.add_row("confidence after it", *(f"{estimate[key]:.2f}" for key in ("median", "p95", "max")), "")
    console.print(table)
    console.print(
        f"the store was written in {scale['built_cpu_s']} s of CPU and takes {scale['mb']:,} MB; a process holds "
        f"{held['none']} MB, with the embedding {held['use']}, with these memories {held['many']}"
    )
