"""`insula bench corrections`: whether it is noticed that a user corrects the assistant, or is dissatisfied with it."""

import json as jsonlib
import lzma
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from rapidfuzz import fuzz
from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula.language.guiding import CORRECTS
from insula.memory.retrieval.embedding import embed_text
from insula.night.corrections import Reaction, judge_reaction
from insula.stats import wilson
from insula.text.analysis import warm_up
from insula_bench.progress import steps
from insula_bench.statistics import auroc

DISSATISFIED = 2.75
"""A turn whose mean rating, from 1 to 5, is below this is one of a dissatisfied user."""

LIKE = 0.75
"""Similarity from which the baseline takes a message for one said anew."""

SUFFIXES = (".jsonl", ".txt", ".txt.xz")
_PAIR = frozenset({"first", "second", "agent_response", "label"})
_COLUMNS = 4
_ROLES = ("USER", "SYSTEM")
_CHUNK = 500
_OURS = ("insula", "without repairs")
_APOLOGY = re.compile(r"sorry|not sure|don't (?:know|understand)|unfortunately|apolog", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:no|not|never|nothing|wrong|\w+n't)\b", re.IGNORECASE)

Figures = dict[str, Any]


class Pair(NamedTuple):
    """A message with what came before it, and whether it truly corrects (or comes from a dissatisfied user)."""

    set: str
    message: str
    previous: str
    response: str
    corrects: bool


def run(data: Sequence[str], json: bool) -> int:
    """Measure everything, print it, and return the exit code.

    Raises:
        InputError: a path does not exist, or nothing under them can be used.
    """
    figures = measure(data)
    print(jsonlib.dumps(figures, indent=2)) if json else _show(figures)
    return 0


def measure(data: Iterable[str | Path]) -> Figures:
    """The figures of each set under `data`."""
    sets: dict[str, list[Pair]] = {}
    for pair in pairs(data):
        sets.setdefault(pair.set, []).append(pair)
    if not sets:
        raise InputError(
            "No message could be read from the paths given; "
            "give command pairs (JSON Lines) or rated dialogues (tab-separated), or a folder of such files."
        )
    warm_up()
    return {"threshold": CORRECTS, "sets": {name: judged(found) for name, found in sets.items()}}


# Reading.


def pairs(data: Iterable[str | Path]) -> Iterator[Pair]:
    """Every message under `data`; a file of another form is passed over with a sentence on standard error."""
    for path in _files(data):
        try:
            yield from _read(path)
        except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError, EOFError) as error:
            _errors().print(f"{str(path)!r} is passed over: {error}.", style="dim", markup=False, highlight=False)


def _files(data: Iterable[str | Path]) -> Iterator[Path]:
    for path in map(Path, data):
        if not path.exists():
            raise InputError(f"{str(path)!r} does not exist; give a file of conversations or a folder of such files.")
        yield from sorted(one for one in path.rglob("*") if one.name.endswith(SUFFIXES)) if path.is_dir() else [path]


def _read(path: Path) -> list[Pair]:
    raw = path.read_bytes()
    text = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8")
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("{"):
        return [_pair(line) for line in lines if line.strip()]
    if first.count("\t") == _COLUMNS - 1 and first.startswith(_ROLES):
        return list(_dialogues(lines, f"uss_{path.name.split('.')[0].lower()}"))
    raise ValueError("it holds neither command pairs nor rated dialogues")


def _pair(line: str) -> Pair:
    record = cast(dict[str, Any], jsonlib.loads(line))
    if not record.keys() >= _PAIR:
        raise ValueError(f"a record lacks one of {', '.join(sorted(_PAIR))}")
    response = str(record["agent_response"]).replace("\\", "").strip()
    return Pair("saif", record["second"], record["first"], response, record["label"] > 0)


def _dialogues(lines: Iterable[str], name: str) -> Iterator[Pair]:
    """The rated user turns of dialogues that blank lines part; what one side says in a row is one turn."""
    previous = response = ""
    for line in lines:
        if not line.strip():
            previous = response = ""
            continue
        role, text, _, ratings = (*line.split("\t"), "", "", "")[:_COLUMNS]
        if role == "SYSTEM":
            response = f"{response} {text}".strip()
        elif text != "OVERALL" and ratings.strip():
            rating = statistics.fmean(map(float, ratings.split(",")))
            yield Pair(name, text, previous, response, rating < DISSATISFIED)
            previous, response = text, ""


# Judging.


def judged(found: Sequence[Pair]) -> Figures:
    """The figures of one set: ours and those of the baselines."""
    began = time.process_time()
    ours = [
        judge_reaction(pair.message, pair.previous, pair.response, embed_text)
        for pair in steps(found, f"reading {found[0].set}")
    ]
    taken = 1000 * (time.process_time() - began) / len(found)
    truth = [pair.corrects for pair in found]
    return {
        "n": len(found),
        "base_rate": _rounded(statistics.fmean(truth)),
        "ms": _rounded(taken),
        "insula": detector([one.score for one in ours], truth, CORRECTS),
        "without repairs": detector([_said(one) for one in ours], truth, CORRECTS),
        "baselines": {name: detector([rule(one) for one in found], truth, at) for name, (rule, at) in _RULES.items()},
        "kinds": {kind: _kind(ours, truth, kind) for kind in ("correction", "repair")},
    }


def _said(one: Reaction) -> float:
    """The score of what a user says is wrong or wanted; a request said anew says neither."""
    return 0.0 if one.kind == "repair" else one.score


def detector(scores: Sequence[float], truth: Sequence[bool], threshold: float) -> Figures:
    """AUROC of scores; precision, recall and F1 of those at or above a threshold, with Wilson's intervals."""
    positive = [score for score, true in zip(scores, truth, strict=True) if true]
    negative = [score for score, true in zip(scores, truth, strict=True) if not true]
    hits, false = (sum(score >= threshold for score in group) for group in (positive, negative))
    return {
        "auroc": _area(positive, negative),
        "precision": _share(hits, hits + false),
        "recall": _share(hits, len(positive)),
        "f1": _rounded(2 * hits / (hits + false + len(positive))) if positive else None,
    }


def _area(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """AUROC, some positives at a time: all their pairs at once would take hundreds of megabytes."""
    if not positive or not negative:
        return None
    chunks = [positive[i : i + _CHUNK] for i in range(0, len(positive), _CHUNK)]
    return _rounded(sum(len(chunk) * auroc(chunk, negative) for chunk in chunks) / len(positive))


def _share(successes: int, n: int) -> Figures:
    low, high = wilson(successes, n)
    share = successes / n if n else None
    return {"share": None if share is None else _rounded(share), "interval": [_rounded(low), _rounded(high)], "n": n}


def _kind(ours: Sequence[Reaction], truth: Sequence[bool], kind: str) -> Figures:
    right = [true for one, true in zip(ours, truth, strict=True) if one.kind == kind]
    return {"n": len(right), "right": sum(right)}


def likeness(pair: Pair) -> float:
    """Baseline: how alike the message and the one before it are."""
    return fuzz.token_set_ratio(pair.message.lower(), pair.previous.lower()) / 100 if pair.previous else 0.0


def apology(pair: Pair) -> float:
    """Baseline: the likeness, and as much as 0.75 of it for an apology of the assistant's."""
    return likeness(pair) + 0.75 * bool(_APOLOGY.search(pair.response))


def negation(pair: Pair) -> float:
    """Baseline: the share of cues among a negation of the user's and an apology of the assistant's."""
    return (bool(_NEGATION.search(pair.message)) + bool(_APOLOGY.search(pair.response))) / 2


_RULES: dict[str, tuple[Callable[[Pair], float], float]] = {
    "similarity": (likeness, LIKE),
    "similarity + apology": (apology, 1.25),
    "negation or apology": (negation, 0.5),
}
"""Baselines, each with its threshold."""


# Showing.


def _errors() -> Console:
    return Console(stderr=True)


def _rounded(value: float) -> float:
    return round(value, 3)


def _show(figures: Figures) -> None:
    console = Console()
    for name, one in figures["sets"].items():
        console.print(
            f"[bold]{name}[/]: {one['n']} messages, {_percent(one['base_rate'])} positive, {one['ms']} ms each"
        )
        table = Table("detector", "AUROC", "precision", "recall", "F1", box=None, header_style="dim")
        for label, row in ({name: one[name] for name in _OURS} | one["baselines"]).items():
            table.add_row(
                label, str(row["auroc"]), _interval(row["precision"]), _interval(row["recall"]), str(row["f1"])
            )
        console.print(table)
        kinds = (f"{kind} {row['right']} of {row['n']}" for kind, row in one["kinds"].items())
        console.print(f"right: {', '.join(kinds)}")


def _interval(share: Figures) -> str:
    low, high = share["interval"]
    return f"{_percent(share['share'])} [{_percent(low)}, {_percent(high)}]"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"
