"""Whether a response in the wrong language is flagged: replies of the Language Confusion Benchmark, kept or swapped.

The labels are made, not given. A reply counts if it is in the language that it was asked for, as its script tells or,
among languages in Latin letters, the words that the benchmark's own prompts use most; the monitor has no part in that.
Such a reply is right for its prompt, and wrong for the same prompt in another language.
"""

import csv
import io
import lzma
import random
import re
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from insula.turn.monitor import assess
from insula_bench.progress import steps

Figures = dict[str, Any]
Key = tuple[str, str, str, str]

PROMPTS = "test_sets.zip"
SOURCES = {"aya": "aya_human_annotated", "dolly": "dolly_human_edited", "native": "native_prompts"}
"""What a folder of prompts is called among the replies."""

SCRIPTS = {
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
}
"""Letters that tell a language; kana before Chinese characters, which Japanese has, too."""

MOSTLY = 0.5
KANA = 0.1
"""From these shares of its letters on a text is in a language (in Japanese, of kana)."""

FREQUENT = 60
"""So many of the words that most prompts of a language hold make its profile."""

LEAD = 2
LEAST = 4
"""A text is in the language whose profile it meets this often, and so many times as often as any other."""

RESAMPLES = 1_000
_WORD = re.compile(r"[^\W\d_]+")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NAME = re.compile(r"\b[A-Z][a-z]{2,} [A-Z][a-z]{2,}\b")


class Reply(NamedTuple):
    """A model's reply, with what it was asked."""

    model: str
    task: str
    source: str
    language: str
    id: str
    prompt: str
    text: str


class Case(NamedTuple):
    """A reply put to a prompt, and whether its language is the wrong one."""

    reply: Reply
    prompt: str
    wrong: bool


def languages(folder: Path) -> Figures:
    """F1 of the flag `wrong_language`, by task and by model, and its false alarms on code and on names."""
    prompts = _prompts(folder / PROMPTS)
    profiles = _profiles(prompts)
    seen = [reply for path in sorted(folder.rglob("*.csv.xz")) for reply in _replies(path, prompts)]
    usable = [one for one in seen if in_language(one.text, one.language, profiles)]
    if not usable:
        return {}
    found = cases(usable)
    times: list[int] = []
    shown = steps(found, "assessing replies")
    flagged = [_flagged(one.prompt, one.reply.text, times) for one in shown]
    truth = [one.wrong for one in found]
    return {
        "language_f1": _f1(flagged, truth),
        "language_f1_interval": _interval(flagged, truth),
        "language": {
            "n": len(found),
            "replies": len(seen),
            "in_their_language": len(usable),
            "precision": _share(truth, flagged),
            "recall": _share(flagged, truth),
            "f1_by_task": _by([one.reply.task for one in found], flagged, truth),
            "f1_by_model": _by([one.reply.model for one in found], flagged, truth),
            "false_on_code": _false(code(seen)),
            "false_on_names": _false(names(usable)),
        },
        "us_of_languages": times,
    }


def _prompts(path: Path) -> dict[Key, str]:
    """Task, source, language and id -> prompt."""
    found: dict[Key, str] = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith(".csv"):
                continue
            *_, task, source, file = name.split("/")
            with archive.open(name) as raw:
                for number, row in enumerate(csv.DictReader(io.TextIOWrapper(raw, "utf-8"))):
                    key = (task, SOURCES.get(source, source), file.removesuffix(".csv"), str(number))
                    found[key] = row["prompt"]
    return found


def _replies(path: Path, prompts: Mapping[Key, str]) -> Iterator[Reply]:
    csv.field_size_limit(2**31 - 1)
    with lzma.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            key = (row["task"], row["source"], row["language"], row["id"])
            if (prompt := prompts.get(key)) and (text := row["completion"].strip()):
                yield Reply(path.name.split(".csv")[0], *key, prompt, text)


def _profiles(prompts: Mapping[Key, str]) -> dict[str, frozenset[str]]:
    """The most frequent words of each language in Latin letters, by how many of its prompts hold them."""
    counts: dict[str, Counter[str]] = {}
    for (task, _, language, _), prompt in prompts.items():
        if task == "monolingual" and language not in SCRIPTS:
            counts.setdefault(language, Counter()).update(set(_WORD.findall(prompt.lower())))
    return {code: frozenset(word for word, _ in count.most_common(FREQUENT)) for code, count in counts.items()}


def in_language(text: str, language: str, profiles: Mapping[str, frozenset[str]]) -> bool:
    """Whether a text is in a language by its script, or by the words of its profile."""
    letters = sum(map(str.isalpha, text))
    shares = {code: len(script.findall(text)) / max(1, letters) for code, script in SCRIPTS.items()}
    if language == "ja":
        return shares["ja"] >= KANA and shares["ja"] + shares["zh"] >= MOSTLY
    if language in SCRIPTS:
        return shares[language] >= MOSTLY and (language != "zh" or shares["ja"] < KANA)
    if sum(shares.values()) >= MOSTLY:
        return False
    found = Counter(_WORD.findall(text.lower()))
    hits = {code: sum(found[word] for word in profile) for code, profile in profiles.items()}
    own = hits.pop(language, 0)
    return own >= LEAST and own >= LEAD * max(hits.values(), default=0)


def cases(usable: Sequence[Reply]) -> list[Case]:
    """Each reply with its own prompt, and with that of the same task in another language."""
    draw, found = random.Random(0), list[Case]()
    same: dict[tuple[str, str, str, str], list[Reply]] = {}
    tasks: dict[tuple[str, str], list[Reply]] = {}
    for one in usable:
        same.setdefault((one.model, one.task, one.source, one.id), []).append(one)
        tasks.setdefault((one.model, one.task), []).append(one)
    for one in usable:
        found.append(Case(one, one.prompt, False))
        siblings = [other for other in same[one.model, one.task, one.source, one.id] if other.language != one.language]
        while not siblings and len({other.language for other in tasks[one.model, one.task]}) > 1:
            other = draw.choice(tasks[one.model, one.task])
            siblings = [other] if other.language != one.language else []
        if siblings:
            found.append(Case(draw.choice(siblings), one.prompt, True))
    return found


def code(seen: Sequence[Reply]) -> list[Case]:
    """The fenced blocks of all replies by themselves, with their prompts: code has no language that could be wrong."""
    blocks = [(one, "\n".join(_FENCED.findall(one.text))) for one in seen]
    return [Case(one._replace(text=text), one.prompt, False) for one, text in blocks if text]


def names(usable: Sequence[Reply]) -> list[Case]:
    """The names in English replies, listed as answers to prompts in other languages."""
    english = [one for one in usable if one.language == "en"]
    lists = [", ".join(dict.fromkeys(_NAME.findall(one.text))) for one in english]
    others = [one for one in usable if one.task == "monolingual" and one.language != "en"]
    lists = [one for one in lists if one]
    return [Case(one._replace(text=text), one.prompt, False) for one, text in zip(others, lists, strict=False)]


def _false(found: Sequence[Case]) -> Figures:
    flagged = [one.reply.text for one in found if _flagged(one.prompt, one.reply.text, [])]
    return {"n": len(found), "flagged": len(flagged), "examples": [text[:120] for text in flagged[:3]]}


def _flagged(prompt: str, text: str, times: list[int]) -> bool:
    began = time.process_time_ns()
    flags = assess(prompt, text).flags
    times.append((time.process_time_ns() - began) // 1_000)
    return "wrong_language" in flags


def _by(groups: Sequence[str], flagged: Sequence[bool], truth: Sequence[bool]) -> Figures:
    found: Figures = {}
    for name in dict.fromkeys(groups):
        inside = [i for i, group in enumerate(groups) if group == name]
        found[name] = _f1([flagged[i] for i in inside], [truth[i] for i in inside])
    return found


def _f1(flagged: Sequence[bool], truth: Sequence[bool]) -> float | None:
    hits = sum(one and other for one, other in zip(flagged, truth, strict=True))
    return round(2 * hits / (sum(flagged) + sum(truth)), 4) if any(truth) else None


def _interval(flagged: Sequence[bool], truth: Sequence[bool]) -> list[float]:
    one, other, draw = np.array(flagged), np.array(truth), np.random.default_rng(0)
    figures: list[float] = []
    for _ in range(RESAMPLES):
        pick = draw.integers(0, len(one), len(one))
        figures.append(float(2 * (one[pick] & other[pick]).sum() / max(1, one[pick].sum() + other[pick].sum())))
    low, high = np.quantile(figures, (0.025, 0.975))
    return [round(float(low), 4), round(float(high), 4)]


def _share(of: Sequence[bool], among: Sequence[bool]) -> float | None:
    """The share of `of` among those where `among` holds."""
    chosen = [one for one, inside in zip(of, among, strict=True) if inside]
    return round(sum(chosen) / len(chosen), 4) if chosen else None
