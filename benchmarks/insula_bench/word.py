"""`insula bench word`: what the hook says of the user's word, on streams of events with what is expected at each.

A stream is a session as the hook gets it. Those of development stand in `streams/*.txt`, written short; those of an
author who saw no code in `streams/*.jsonl.xz`, in the form of `streams/HELD.md`; later tables in folders beside
them. Each event goes through the same function as the installed hook's, in a folder of its own.
"""

import json
import lzma
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from insula.coding.hosts import hook
from insula.coding.step.instructions import heads
from insula.stats import wilson
from insula_bench import word_fit, word_streams

LATER = ("later", "latest", "newest")
"""Tables that were written after those of development, in `streams/`, each counted once before it was read."""
HOSTS = {"claude": "claude-code", "codex": "codex"}
STEP = 20.0
"""Seconds between two events."""
Record = dict[str, Any]


@dataclass(slots=True)
class Counts:
    """What was expected, and what was said."""

    streams: int = 0
    expected: int = 0
    met: int = 0
    late: int = 0
    false: int = 0
    streams_with_false: int = 0
    by_kind: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Kind -> expected, met."""
    by_language: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    false_by_kind: dict[str, int] = field(default_factory=dict[str, int])
    """Event, kind and look-alike of the stream -> what was said there for nothing."""
    missed: list[str] = field(default_factory=list[str])
    false_alarms: list[str] = field(default_factory=list[str])

    @property
    def recall(self) -> float:
        """The share of what was expected that was said."""
        return self.met / self.expected if self.expected else 0.0

    @property
    def precision(self) -> float:
        """The share of what was said that was expected."""
        said = self.met + self.false
        return self.met / said if said else 1.0


def run(held: bool, as_json: bool, cases: bool, fit: bool) -> int:
    """Play the streams of the repository; the exit status.

    Args:
        held: play those of another author, too, by counts alone.
        as_json: print figures as JSON.
        cases: name what was missed and what was said for nothing, in the streams of development.
        fit: fit the heads anew first, and write them into the package.
    """
    report: dict[str, Any] = {}
    if fit:
        report["heads"] = {name: word_fit.fit(name, write=True) for name in heads.CLASSES}
    sets = {"development": word_streams.streams()}
    for part in ("held", "healthy") if held else ():
        sets[f"{part} out" if part == "held" else part] = read(word_streams.FILES / f"{part}.jsonl.xz")
    if held:
        sets |= {name: word_streams.streams(word_streams.FILES / name / "word.txt") for name in LATER}
    for name, streams in sets.items():
        report[name] = _figures(play(streams), cases and name == "development")
    print(json.dumps(report, indent=2, ensure_ascii=False)) if as_json else Console().print(_table(report))
    return 0


def read(path: Path) -> list[Record]:
    """The streams of a file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def play(streams: Iterable[Record]) -> Counts:
    """What is said in streams, against what is expected."""
    counts = Counts()
    with mock.patch.dict(os.environ, {"INSULA_HOLDOUT": "off"}):  # nothing is withheld by lot
        os.environ.pop("CLAUDE_CODE_SESSION_ATTENDED", None)
        for number, stream in enumerate(streams):
            with tempfile.TemporaryDirectory() as home:
                Path(home, "insula").mkdir()
                _count(counts, stream, said(stream, home, number))
    return counts


def said(stream: Record, home: str, number: int) -> list[str]:
    """What the hook answers to each event of a stream: the text that a model or a person reads; empty for silence."""
    now, cwd = 1_790_000_000.0, _make_links(stream, home)
    transcript = Path(home) / "transcript.jsonl"
    answers: list[str] = []
    for place, event in enumerate(stream["events"]):
        now += STEP
        _write(transcript, stream.get("turns", ()), place)
        payload = {
            **json.loads(json.dumps(event["payload"]).replace(stream["cwd"], cwd)),
            "session_id": f"stream-{number}",
            "cwd": cwd,
            "transcript_path": str(transcript),
        }
        answers.append(_text(hook.respond(f"{home}/insula", HOSTS[stream["host"]], payload, now)))
    return answers


def _make_links(stream: Record, home: str) -> str:
    """The folder of a stream: where links are in it, one on the disk."""
    links: Sequence[Sequence[str]] = stream.get("links", ())
    for link, target in links:
        (Path(home) / "work" / target).mkdir(parents=True)
        (Path(home) / "work" / link).symlink_to(target)
    return f"{home}/work" if links else str(stream["cwd"])


def _write(path: Path, turns: Sequence[Record], place: int) -> None:
    lines = [one.get("raw") or json.dumps(_turn(one)) for one in turns if one.get("at", 0) <= place]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _turn(turn: Record) -> Record:
    if turn["role"] == "tool":
        part = {"type": "tool_result", "tool_use_id": turn.get("id", ""), "content": turn.get("text", "")}
        return {"type": "user", "message": {"role": "user", "content": [part]}}
    if "tool_use" in turn:
        return {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "tool_use", **turn["tool_use"]}]},
        }
    return {"type": turn["role"], "message": {"role": turn["role"], "content": turn.get("text", "")}}


def _text(answer: str) -> str:
    if not answer:
        return ""
    found: Record = json.loads(answer)
    given: Record = found.get("hookSpecificOutput", found)
    return str(
        given.get("additionalContext")
        or given.get("permissionDecisionReason")
        or found.get("reason")
        or found.get("systemMessage")
        or answer
    )


def _count(counts: Counts, stream: Record, answers: list[str]) -> None:
    counts.streams += 1
    expect: Mapping[str, Record] = stream["expect"]
    before = counts.false
    for index, wanted in expect.items():
        answer = answers[int(index)]
        if "kind" in wanted and not wanted.get("optional"):
            _expected(counts, stream, int(index), wanted, answers)
        if answer and not _is_right(answer, wanted, expect):
            counts.false += 1
            name = stream["events"][int(index)]["event"]
            kind = f"{name}: {stream['kind']}, {stream['lookalike']}"
            counts.false_by_kind[kind] = counts.false_by_kind.get(kind, 0) + 1
            counts.false_alarms.append(f"{stream['id']} [{index} {name}] {answer}")
    counts.streams_with_false += counts.false > before


def _expected(counts: Counts, stream: Record, index: int, wanted: Record, answers: list[str]) -> None:
    places: list[int] = [index, *wanted.get("also_ok", ())]
    met = any(_mentions(answers[place], wanted) for place in places)
    too_late: list[int] = wanted.get("late", [])
    late = not met and any(_mentions(answers[place], wanted) for place in too_late)
    counts.expected += 1
    counts.met += met
    counts.late += late
    for table, key in ((counts.by_kind, wanted["kind"]), (counts.by_language, stream["lang"])):
        pair = table.setdefault(key, [0, 0])
        pair[0] += 1
        pair[1] += met
    if not met:
        counts.missed.append(
            f"{stream['id']} [{index}] {wanted['kind']} {wanted.get('must_mention')} {answers[index]!r}"
        )


def _is_right(answer: str, wanted: Record, expect: Mapping[str, Record]) -> bool:
    if "silent_or" in wanted:
        wanted = expect[str(wanted["silent_or"])]
    return "kind" in wanted and _mentions(answer, wanted)


def _mentions(answer: str, wanted: Record) -> bool:
    return bool(answer) and any(_plain(piece) in _plain(answer) for piece in wanted.get("must_mention", ()))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = text.translate(str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'}))
    return re.sub(r"\s+", " ", text).strip()


def _figures(counts: Counts, cases: bool) -> dict[str, Any]:
    whole = asdict(counts)
    missed, alarms = whole.pop("missed"), whole.pop("false_alarms")
    low, high = wilson(counts.met, counts.expected) if counts.expected else (0.0, 1.0)
    figures = {
        **whole,
        "recall": round(counts.recall, 3),
        "recall_interval": [round(low, 3), round(high, 3)],
        "precision": round(counts.precision, 3),
    }
    return {**figures, "missed": missed, "false_alarms": alarms} if cases else figures


def _table(report: Mapping[str, Any]) -> Table:
    table = Table("streams", "how many", "expected", "said", "recall", "false", "precision")
    for name, one in report.items():
        if "streams" not in one:
            continue
        row = (one["streams"], one["expected"], one["met"], one["recall"], one["false"], one["precision"])
        table.add_row(name, *map(str, row))
    return table
