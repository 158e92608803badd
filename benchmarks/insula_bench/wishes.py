"""`insula bench wishes`: how many wishes are heard by words alone and with their meaning, and the head that hears it.

`wishes.txt` holds sentences of the kinds of `insula.memory.manner` in eight languages, written for this by hand;
statements and questions of `matters.txt` stand for plain facts. Each table is heard by a head that was fitted on those
and on the other tables alone.
"""

import json as jsonlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from insula.memory.embedding import use
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.manner import KINDS, wishing
from insula.memory.matter import SCALE
from insula.text.wishing import parts, wishes
from insula_bench import matters, pairs, talks

TABLES = tuple(f"wishes_{half}.jsonl" for half in ("dev", "held", "fresh", "third", "own", "fourth"))
FACTS, QUESTIONS, TALKED = 500, 300, 300
"""Sentences of `matters.txt`, and of each kind of talk, that are taken for plain ones."""
_KIND = {"one_off": "once", "style_task": "once", "fact": "fact"}

Row = Mapping[str, Any]
Head = npt.NDArray[np.float32]


def run(fitted: str | None, model: str | None, json: bool) -> int:
    """Measure each table and the pairs, and write the head that was fitted on all where a file is named."""
    tables = {name: read(name) for name in TABLES}
    report = {name: measured(rows, _fitted([*tables.values()], rows)) for name, rows in tables.items()}
    report["talks"] = {"taken for a wish, with meaning": _in_talks(_fitted([*tables.values()], ()))}
    report |= pairs.report(model)
    if fitted:
        head = _fitted([*tables.values()], ())
        np.savez_compressed(fitted, sentence=head.astype(np.float16))
    for name, found in report.items() if not json else ():
        print(f"{name:<38} " + "; ".join(f"{how}: {value}" for how, value in found.items()))
    if json:
        print(jsonlib.dumps(report, indent=2))
    return 0


def read(name: str) -> list[Row]:
    """A table: texts, with whether each is a standing wish."""
    text = (files("insula_bench") / name).read_text("utf-8")
    return [jsonlib.loads(line) for line in text.splitlines()]


def measured(rows: Sequence[Row], head: Head) -> dict[str, str]:
    """How many of the wishes are heard, and of the others taken for one: by words, and with meaning."""
    found: dict[str, str] = {}
    for how in ("words", "with meaning"):
        heard = [_is_heard(row, head if how != "words" else None) for row in rows]
        for what, standing in (("heard", True), ("taken for a wish", False)):
            mine = [one for one, row in zip(heard, rows, strict=True) if bool(row["standing"]) is standing]
            found[f"{what}, {how}"] = f"{sum(mine)} of {len(mine)}"
    return found


def _in_talks(head: Head) -> str:
    """How many lines of users who talk with an assistant are taken for a wish; few of them are one."""
    lines = [line for talk in talks.with_assistant() for line in talk.lines if line.speaker == USER]
    said = [{"text": line.text, "lang": "en"} for line in lines]
    return f"{sum(_is_heard(one, head) for one in said)} of {len(said)}"


def _is_heard(row: Row, head: Head | None) -> bool:
    said = parts(row["text"], row["lang"]) if head is not None else ()
    meant = tuple((text, round(wishing(_vector(text), head), 3)) for text in said) if head is not None else ()
    return any(one.force == "standing" for one in wishes(row["text"], row["lang"], meant=meant))


def _fitted(tables: Sequence[Sequence[Row]], left_out: Sequence[Row]) -> Head:
    """A head fitted on what was written and on all tables but one."""
    texts, kinds = _written()
    unseen = {row["text"] for row in left_out}
    for row in (row for rows in tables for row in rows if row["text"] not in unseen):
        said = parts(row["text"], row["lang"])
        if not row["standing"] or len(said) == 1:
            texts += said
            kinds += [KINDS.index("wish" if row["standing"] else _KIND.get(row.get("kind", ""), "other"))] * len(said)
    vectors = np.array([_vector(text) for text in texts], float) * SCALE
    head = matters.fit(np.hstack([vectors, np.ones((len(vectors), 1))]), np.array(kinds), len(KINDS))
    return head.astype(np.float32)


def _written() -> tuple[list[str], list[int]]:
    texts, kinds, kind = list[str](), list[int](), 0
    for line in (files("insula_bench") / "wishes.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            kind = KINDS.index(line[2:])
        else:
            said = [text.strip() for text in line.split(" | ")]
            texts += said
            kinds += [kind] * len(said)
    sentences = matters.read()
    plain = [*_some(sentences.statements.texts, FACTS), *_some(sentences.questions.texts, QUESTIONS), *_talked()]
    return [*texts, *plain], kinds + [KINDS.index("fact")] * len(plain)


def _talked() -> list[str]:
    """What people say to each other of their lives, and what an assistant advises."""
    two = [line.text for talk in talks.of_two() for line in talk.lines]
    advice = [line.text for talk in talks.with_assistant() for line in talk.lines if line.speaker == ASSISTANT]
    return [each for lines in (two, advice) for each in _some([part for line in lines for part in parts(line)], TALKED)]


def _some(texts: Sequence[str], number: int) -> list[str]:
    return [texts[int(i)] for i in np.random.default_rng(0).permutation(len(texts))[:number]]


@cache
def _vector(text: str) -> npt.NDArray[np.float32]:
    return use(text)
