"""`insula bench guiding`: fits the heads by which a night tells what guidance may rest on; how well they do.

`feedback` learns from messages that speak of how the assistant works (by hand, and the standing preferences of the
tables), against composed and real messages of ordinary days; `wards` from templates of guidance with things in them;
`corrects` and `thanks` from composed messages and from some by hand, against the same ordinary days. A message or
template is left out with its whole group in one of five folds.
"""

import json as jsonlib
from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import insula
from insula.language.guiding import CORRECTS, FEEDBACK, THANKS, WARDS, GuidingHead
from insula_bench import network
from insula_bench.compose import compose
from insula_bench.heads import Vectors
from insula_bench.statistics import auroc

EPOCHS: dict[GuidingHead, int] = {"feedback": 12, "wards": 40, "corrects": 16, "thanks": 16}
POINTS: dict[GuidingHead, float] = {"feedback": FEEDBACK, "wards": WARDS, "corrects": CORRECTS, "thanks": THANKS}
FOLDS = 5
COMPOSED, COMPOSED_REACTIONS = 1500, 3000
MEANT = frozenset({"preference", "for_now"})
NEITHER = frozenset({"correction", "thanks", "follow_up", "no_preference"})
"""Kinds of composed messages that are or are not feedback, as the case may be."""
TABLES = ("dev", "held", "third", "fresh", "wide")
"""Tables of preferences whose standing ones are learned from; the others are not."""
BY_HAND, REACTION, REACTION_BY_HAND = 4, 6, 8
"""How often each line written by hand is read, and each that corrects or thanks: they are few."""


class Example(NamedTuple):
    """A sentence that a head learns from."""

    text: str
    label: bool
    group: str
    by_hand: bool = False
    times: int = 1
    """How often it is read."""


def run(write: bool, json: bool) -> int:
    """Fit the heads; where asked to, write them into the package."""
    figures: dict[str, Any] = {}
    vectors = Vectors()
    fitted: dict[str, Any] = {}
    for head in EPOCHS:
        examples = list(_examples(head))
        vectors.add(one.text for one in examples)
        figures[head] = _figures(head, examples, vectors)
        made = _fit(head, examples, vectors)
        fitted |= {f"{head}_hidden": made.hidden, f"{head}_out": made.out}
    if write:
        save: Any = np.savez_compressed  # typed as if no array could be called anything
        target = Path(insula.__file__).parent / "language" / "guiding.npz"
        save(target, **{name: one.astype(np.float16) for name, one in fitted.items()})
    print(jsonlib.dumps(figures, indent=None if json else 1))
    return 0


def _fit(head: GuidingHead, examples: list[Example], vectors: Vectors) -> network.Head:
    read = [one for one in examples for _ in range(one.times)]
    return network.fit(vectors.rows([one.text for one in read]), np.array([one.label for one in read]), EPOCHS[head])


def _figures(head: GuidingHead, examples: list[Example], vectors: Vectors) -> dict[str, Any]:
    """How well a head does on what it was fitted without."""
    fold = np.array([blake2b(one.group.encode(), digest_size=4).digest()[0] % FOLDS for one in examples])
    chances = np.zeros(len(examples))
    rows = vectors.rows([one.text for one in examples])
    for number in range(FOLDS):
        made = _fit(head, [one for one, at in zip(examples, fold, strict=True) if at != number], vectors)
        chances[fold == number] = [network.chance(odds) for odds in made.odds(rows[fold == number])]
    label, hand = np.array([one.label for one in examples]), np.array([one.by_hand for one in examples])
    point = POINTS[head]
    return {
        "examples": len(examples),
        "meant": int(label.sum()),
        "auroc": round(auroc(list(chances[label]), list(chances[~label])), 3),
        "auroc_by_hand": round(auroc(list(chances[label & hand]), list(chances[~label & hand])), 3),
        "found_by_hand": round(float((chances[label & hand] >= point).mean()), 3),
        "taken_by_hand": round(float((chances[~label & hand] >= point).mean()), 3),
        "taken": round(float((chances[~label] >= point).mean()), 3),
    }


def _examples(head: GuidingHead) -> Iterator[Example]:
    match head:
        case "wards":
            yield from _of_wards()
        case "feedback":
            yield from _of_feedback()
        case _:
            yield from _of_reactions(head)


def _of_wards() -> Iterator[Example]:
    for number, row in enumerate(_lines("guiding/wards.jsonl")):
        for thing in row["things"]:
            yield Example(row["template"].format(x=thing), row["wards"], f"wards {number}", True, BY_HAND)


def _of_feedback() -> Iterator[Example]:
    for one in compose(count=COMPOSED):
        if one.kind not in NEITHER:
            yield Example(one.text, one.kind in MEANT, one.group)
    yield from _of_ordinary_days()
    for table in TABLES:
        for number, row in enumerate(_lines(f"wishes_{table}.jsonl")):
            if row.get("standing"):
                yield Example(row["text"], True, f"{table} {number}")
    for number, row in enumerate(_lines("guiding/feedback.jsonl")):
        yield Example(row["text"], row["feedback"], f"feedback {number}", True, BY_HAND)


def _of_ordinary_days() -> Iterator[Example]:
    for language in ("de", "en", "es", "fr", "it", "ja", "pt", "zh"):
        for number, row in enumerate(_lines(f"ordinary/{language}.jsonl")):
            yield Example(row["text"], False, f"ordinary {language} {number}")
    for row in _lines("everyday.jsonl"):
        yield from (Example(text[:300], False, row["id"]) for text in row["messages"][:3])


def _of_reactions(head: GuidingHead) -> Iterator[Example]:
    kind = "correction" if head == "corrects" else "thanks"
    for one in compose(count=COMPOSED_REACTIONS):
        yield Example(one.text, one.kind == kind, one.group, times=REACTION if one.kind == kind else 1)
    yield from _of_ordinary_days()
    for row in _lines("guiding/reactions.jsonl"):
        yield Example(row["text"], row["says"] == head, row["group"], True, REACTION_BY_HAND)
    for number, row in enumerate(_lines("guiding/feedback.jsonl")):
        if not row["feedback"]:
            yield Example(row["text"], False, f"feedback {number}", times=BY_HAND)


def _lines(name: str) -> Iterator[dict[str, Any]]:
    text = (files("insula_bench") / name).read_text("utf-8")
    return (jsonlib.loads(line) for line in text.splitlines() if line.strip())
