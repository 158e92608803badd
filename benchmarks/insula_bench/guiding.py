"""`insula bench guiding`: fits the heads by which a night tells what guidance may rest on; how well they do.

`feedback` learns from messages that speak of how the assistant works (by hand, and the standing preferences of the
tables), against composed and real messages of ordinary days; `wards` from templates of guidance with things in them;
`corrects` and `thanks` from composed messages and from some by hand, against the same ordinary days; `tells` from
guidance, accounts of past work and notes on a person as a model writes them (by hand; the eight languages say the
same), from what people tell of their lives and from what they ask, want and complain of. A message or template is left
out with its whole group in one of five folds. What `tells` does on other matters (`tells_held.txt`) is counted beside.
"""

import json as jsonlib
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import insula
from insula.language.guiding import CORRECTS, FEEDBACK, FILES, TELLS, THANKS, WARDS, GuidingHead
from insula_bench import network
from insula_bench.compose import compose
from insula_bench.heads import Vectors
from insula_bench.statistics import auroc

EPOCHS: dict[GuidingHead, int] = {"feedback": 12, "wards": 40, "corrects": 16, "thanks": 16, "tells": 24}
HIDDEN: dict[GuidingHead, int] = {"tells": 128}
"""How wide the hidden layer of a head is, where it is not `network.HIDDEN`."""
POINTS: dict[GuidingHead, float] = {
    "feedback": FEEDBACK,
    "wards": WARDS,
    "corrects": CORRECTS,
    "thanks": THANKS,
    "tells": TELLS,
}
LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "pt", "zh")
FOLDS = 5
COMPOSED, COMPOSED_REACTIONS = 1500, 3000
MEANT = frozenset({"preference", "for_now"})
NEITHER = frozenset({"correction", "thanks", "follow_up", "no_preference"})
"""Kinds of composed messages that are or are not feedback, as the case may be."""
TABLES = ("dev", "held", "third", "fresh", "wide")
"""Tables of preferences whose standing ones are learned from; the others are not."""
BY_HAND, REACTION, REACTION_BY_HAND, NOTE, COMPLAINT = 4, 6, 8, 6, 3
"""How often each line written by hand is read, each that corrects or thanks, and by `tells` each note of a model and
each word of a user's on how the assistant works: they are few."""
THINGS = 4
"""Of a template of guidance that `tells` reads."""


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
        if head == "tells":
            figures[head]["held_out"] = _held_figures(made, vectors)
    if write:
        _write(fitted)
    print(jsonlib.dumps(figures, indent=None if json else 1))
    return 0


def _write(fitted: dict[str, Any]) -> None:
    save: Any = np.savez_compressed  # typed as if no array could be called anything
    for file, heads in FILES.items():
        names = [f"{head}_{part}" for head in heads for part in ("hidden", "out")]
        save(
            Path(insula.__file__).parent / "language" / file,
            **{name: fitted[name].astype(np.float16) for name in names},
        )


def _held_figures(made: network.Head, vectors: Vectors) -> dict[str, str]:
    """How many of the notes of other matters `tells` takes for what they are."""
    held = [(text, is_told) for _, is_told, text in _notes("tells_held.txt")]
    vectors.add(text for text, _ in held)
    odds = made.odds(vectors.rows([text for text, _ in held]))
    right = [(network.chance(float(one)) >= TELLS) == is_told for one, (_, is_told) in zip(odds, held, strict=True)]
    told = [each for each, (_, is_told) in zip(right, held, strict=True) if is_told]
    return {"told": f"{sum(told)} of {len(told)}", "other": f"{sum(right) - sum(told)} of {len(right) - len(told)}"}


def _fit(head: GuidingHead, examples: list[Example], vectors: Vectors) -> network.Head:
    read = [one for one in examples for _ in range(one.times)]
    labels = np.array([one.label for one in read])
    return network.fit(vectors.rows([one.text for one in read]), labels, EPOCHS[head], HIDDEN.get(head, network.HIDDEN))


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
        case "tells":
            yield from _of_tells()
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
    yield from _of_standing(label=True)
    for number, row in enumerate(_lines("guiding/feedback.jsonl")):
        yield Example(row["text"], row["feedback"], f"feedback {number}", True, BY_HAND)


def _of_ordinary_days() -> Iterator[Example]:
    for language in LANGUAGES:
        for number, row in enumerate(_lines(f"ordinary/{language}.jsonl")):
            yield Example(row["text"], False, f"ordinary {language} {number}")
    for row in _lines("everyday.jsonl"):
        yield from (Example(text[:300], False, row["id"]) for text in row["messages"][:3])


def _of_tells() -> Iterator[Example]:
    for number, is_told, text in _notes("tells.txt"):
        yield Example(text, is_told, f"note {number}", True, NOTE)
    for number, row in enumerate(_lines("guiding/wards.jsonl")):
        for thing in row["things"][:THINGS]:
            yield Example(row["template"].format(x=thing), False, f"wards {number}")
    for number, row in enumerate(_lines("guiding/feedback.jsonl")):
        if row["feedback"]:
            yield Example(row["text"], False, f"feedback {number}", times=COMPLAINT)
    yield from _of_lives()
    yield from _of_standing(label=False)


def _of_lives() -> Iterator[Example]:
    """What people tell of their lives, and what they ask of the world."""
    for language in LANGUAGES:
        for number, row in enumerate(_lines(f"life/lives/{language}.jsonl")):
            yield Example(row["text"], True, f"life {language} {number}")
        for number, row in enumerate(_lines(f"ordinary/{language}.jsonl")):
            if row["kind"] == "world":
                yield Example(row["text"], False, f"ordinary {language} {number}")
    for _, label, text in _written("told.txt"):
        yield Example(text, label == "told", f"written {text}")


def _of_standing(*, label: bool) -> Iterator[Example]:
    """What people want of all answers."""
    for table in TABLES:
        for number, row in enumerate(_lines(f"wishes_{table}.jsonl")):
            if row.get("standing"):
                yield Example(row["text"], label, f"{table} {number}")


def _notes(name: str) -> Iterator[tuple[str, bool, str]]:
    """Notes of a model: the number of each among those of its kind, whether it tells of somebody, and itself."""
    counted = Counter[tuple[str, str]]()
    for language, label, text in _written(f"guiding/{name}"):
        counted[language, label] += 1
        yield f"{label} {counted[language, label]}", label == "tells", text


def _written(name: str) -> Iterator[tuple[str, str, str]]:
    """Language, label and text of lines under headings such as "# en told"."""
    language = label = ""
    for line in (files("insula_bench") / name).read_text("utf-8").splitlines():
        if line.startswith("# "):
            _, language, label = line.split(" ", 2)
        else:
            yield from ((language, label, text) for text in map(str.strip, line.split(" | ")) if text)


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
