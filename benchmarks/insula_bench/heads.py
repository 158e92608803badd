"""`make heads`: fit the heads that tell what a sentence means, and say how well each does where it was not fitted.

All data is in this repository: messages composed by program (`compose.py`), real conversations whose licence allows it
(`everyday.jsonl`), and the tables of the other benchmarks. Each group (a template, a conversation, a table) is left out
in one of five folds, and all that is reported, and each operating point, comes from the folds in which it was left out.
Most of it needs nothing, as in a day.
"""

import json as jsonlib
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import SCALE, HeadName
from insula.language.units import units
from insula.memory.embedding import embedded_all, use
from insula.stats import auroc, wilson
from insula.text.analysis import LANGUAGES, analyse
from insula_bench import gate, network
from insula_bench.affinity import fit_projections
from insula_bench.compose import compose
from insula_bench.conversations import read as conversation_table
from insula_bench.network import Head

Array = npt.NDArray[Any]

PACKAGE = Path(__file__).parents[2] / "src" / "insula" / "language"
FOLDS = 5
FIRST, EPOCHS = 3, 10
"""Rounds through the data: to find the piece of a message that means it, and to fit the head."""
AT_ONCE = 256
COMPOSED = 2_500
"""Messages of each language that are composed."""
TABLES = ("dev", "held", "later", "third", "fourth", "fifth", "fresh")

DECIDES: Mapping[HeadName, str] = {
    "personal": "whether only this user can have told what is asked",
    "fact": "whether the user states a lasting fact about themselves, their people or their things",
}
POSITIVE: Mapping[HeadName, frozenset[str]] = {
    "personal": frozenset({"personal"}),
    "fact": frozenset({"statement"}),
}
NEITHER: Mapping[HeadName, frozenset[str]] = {
    "personal": frozenset[str](),
    "fact": frozenset({"preference", "personal", "correction", "shaped"}),
}
"""Kinds that a head learns nothing from: they may hold what it decides, and are not labelled for it."""
POINTS: Mapping[HeadName, Mapping[str, float]] = {
    "personal": {"sure": 0.005},
    "fact": {"store": 0.08, "answer": 0.65},
}
"""For each action, the share of ordinary real messages that it may take by mistake."""


CHAT = "xpersona"
"""Conversations of two people."""
NEEDLESS = 100
"""Real messages of each language that need nothing, and are lived to fit what lets lines in."""
LET_IN: Mapping[str, float] = {"real": 0.025, "world": 0.03}
"""The share of them, and of questions of the world that say "I" or "my", that may be shown a line by mistake."""


class Message(NamedTuple):
    """A message that a head learns from, in the pieces that it reads."""

    text: str
    pieces: tuple[str, ...]
    language: str
    label: bool
    group: str
    """What is left out together."""
    is_real: bool = False
    """Whether somebody wrote it to an assistant, and nobody for this."""


def run(write: bool, json: bool) -> int:
    """Fit all heads; where asked to, write them into the package."""
    projections = fit_projections()
    fitted: dict[str, Array] = {"answer_asked": projections.asked, "answer_told": projections.told}
    cards: dict[str, Any] = {}
    vectors = Vectors()
    learned: dict[HeadName, tuple[list[Message], Array, Head]] = {}
    for head in DECIDES:
        messages = list(learned_from(head))
        vectors.add(piece for one in messages for piece in one.pieces)
        chances = left_out(messages, vectors)
        cards[head] = card(head, messages, chances)
        weights = fit_messages(messages, vectors)
        fitted |= {f"{head}_hidden": weights.hidden, f"{head}_out": weights.out}
        learned[head] = messages, chances, weights
    if write:  # the lives below are lived with what is written here
        save: Any = np.savez_compressed  # typed as if no array could be called anything
        save(PACKAGE / "heads.npz", **{name: one.astype(np.float16) for name, one in fitted.items()})
    cards["personal"]["lines"], answer = _scores(*learned["personal"], vectors)
    cards["answer"] = {"decides": "how likely a remembered line answers what is asked"} | answer
    if write:
        (PACKAGE / "heads.json").write_text(jsonlib.dumps(cards, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(jsonlib.dumps(cards, indent=1, ensure_ascii=False) if json else _table(cards))
    return 0


class Vectors:
    """The vectors of texts, each made once."""

    def __init__(self) -> None:
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def add(self, texts: Iterator[str]) -> None:
        """Make those that are not there yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            self._known.update(zip(some, embedded_all(use, some), strict=True))

    def rows(self, texts: Sequence[str]) -> Array:
        """What a head reads of each text."""
        return (SCALE * np.array([self._known[text] for text in texts])).astype(np.float32)


def fit_messages(messages: Sequence[Message], vectors: Vectors) -> Head:
    """A head; of a message that means it, it learns from the piece that says so most, of the others from each piece."""
    known = [(piece, one.label) for one in messages for piece in one.pieces if not one.label or len(one.pieces) == 1]
    first = network.fit(vectors.rows([piece for piece, _ in known]), np.array([label for _, label in known]), FIRST)
    several = [one.pieces for one in messages if one.label and len(one.pieces) > 1]
    known += [(_likeliest(first, pieces, vectors), True) for pieces in several]
    return network.fit(vectors.rows([piece for piece, _ in known]), np.array([label for _, label in known]), EPOCHS)


def _likeliest(head: Head, pieces: Sequence[str], vectors: Vectors) -> str:
    odds = head.odds(vectors.rows(pieces))
    return pieces[int(np.argmax(odds))]


def left_out(messages: Sequence[Message], vectors: Vectors) -> Array:
    """The chance of each message by a head that was fitted without its group."""
    fold = np.array([_fold(one.group) for one in messages])
    found = np.zeros(len(messages))
    for number in range(FOLDS):
        head = fit_messages([one for one, at in zip(messages, fold, strict=True) if at != number], vectors)
        for place in map(int, np.flatnonzero(fold == number)):
            found[place] = network.chance(head.odds(vectors.rows(messages[place].pieces)).max())
    return found


def _fold(group: str) -> int:
    """The fold of a group; templates and questions of one number are left out together: they may be translations."""
    number = re.sub(r"_[A-Z]{2}$", "", group.split("-", 1)[-1])
    return blake2b(number.encode(), digest_size=4).digest()[0] % FOLDS


def _scores(
    messages: Sequence[Message], chances: Array, head: Head, vectors: Vectors
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """The scores that build on the heads: see `gate`. What a head learned from counts as where it was left out."""
    lived = gate.live({lang: _real(messages, lang) for lang in LANGUAGES})
    known = dict(zip((one.pieces for one in messages), chances, strict=True))
    personal: list[float] = []
    for one in lived:
        pieces = pieces_of(one.text, one.language)
        vectors.add(iter(pieces))
        odds = head.odds(vectors.rows(pieces)).max()
        personal.append(float(known.get(pieces, network.chance(odds))))
    return gate.fit(lived, personal, LET_IN)


def _real(messages: Sequence[Message], language: str) -> Sequence[str]:
    """Real messages that need nothing."""
    texts = [one.text for one in messages if one.language == language and one.is_real]
    return texts[:: max(len(texts) // NEEDLESS, 1)][:NEEDLESS]


def card(head: HeadName, messages: Sequence[Message], chances: Array) -> dict[str, Any]:
    """What is known of a head; see the module."""
    labels = np.array([one.label for one in messages])
    real = np.array([one.is_real for one in messages])
    points = {name: _point(chances[real & ~labels], share) for name, share in POINTS[head].items()}
    return {
        "decides": DECIDES[head],
        "fitted_on": {"messages": len(messages), "meant": int(labels.sum()), "real": int(real.sum())},
        "auroc": round(auroc(list(chances[labels]), list(chances[~labels])), 3),
        "points": {name: round(point, 4) for name, point in points.items()},
        "at_points": {name: _at(point, chances, labels, real, messages) for name, point in points.items()},
    }


def _point(ordinary: Array, share: float) -> float:
    """The chance that so small a share of ordinary messages reaches."""
    return float(np.quantile(ordinary, 1 - share))


def _at(point: float, chances: Array, labels: Array, real: Array, messages: Sequence[Message]) -> dict[str, Any]:
    language = np.array([one.language for one in messages])
    composed = ~labels & ~real
    return {
        "found": _share(chances[labels], point),
        "taken_of_real": _share(chances[~labels & real], point),
        "taken_of_composed": _share(chances[composed], point),
        "found_by_language": {lang: _share(chances[labels & (language == lang)], point)[0] for lang in LANGUAGES},
        "taken_by_language": {lang: _share(chances[composed & (language == lang)], point)[0] for lang in LANGUAGES},
    }


def _share(chances: Array, point: float) -> list[float]:
    """The share at or above a point, and its 95 % interval."""
    count, n = int((chances >= point).sum()), len(chances)
    return [round(value, 3) for value in (count / n if n else 0.0, *wilson(count, n))]


def learned_from(head: HeadName) -> Iterator[Message]:
    """The messages that a head learns from."""
    for one in compose(count=COMPOSED):
        if one.kind in NEITHER[head]:
            continue
        label = one.kind in POSITIVE[head] or (head == "fact" and bool(one.spans))
        yield Message(one.text, pieces_of(one.text, one.language), one.language, label, one.group)
    yield from _everyday(head)
    yield from _ordinary(head)
    yield from {"personal": _asked, "fact": _told}[head]()


def pieces_of(text: str, language: str) -> tuple[str, ...]:
    """The pieces of a message that a head reads."""
    return units(analyse(text, default=language)) or (text[:300],)


def _everyday(head: HeadName) -> Iterator[Message]:
    for line in _lines("everyday.jsonl"):
        if head == "fact" and line["id"].startswith(CHAT):
            continue  # they play a person, and state what is theirs
        states, in_passing = line.get("states", ()), line.get("in_passing", ())
        for number, text in enumerate(line["messages"]):
            if head != "fact" or number not in in_passing:
                label = head == "fact" and number in states
                language = line["language"]
                yield Message(text, pieces_of(text, language), language, label, line["id"], is_real=True)


def _ordinary(head: HeadName) -> Iterator[Message]:
    """What people write on ordinary days, by other authors: mostly what asks nothing that they told."""
    for file in sorted((files("insula_bench") / "ordinary").iterdir(), key=lambda one: one.name):
        language = file.name[:2]
        for line in file.read_text("utf-8").splitlines():
            row = jsonlib.loads(line)
            if head == "fact" and row["kind"] in {"personal", "both"}:
                continue
            label = row["kind"] in ({"personal", "both"} if head == "personal" else {"statement"})
            yield Message(row["text"], pieces_of(row["text"], language), language, label, f"ordinary {row['group']}")


def _asked() -> Iterator[Message]:
    for author, row in _authored():
        for ask in row["asks"]:
            yield Message(ask, pieces_of(ask, author[:2]), author[:2], True, f"asked {row['matter']}")
    for table in TABLES:
        for one in conversation_table(str(files("insula_bench") / f"conversations_{table}.jsonl"), held=False):
            yield Message(one["ask"], (one["ask"],), one.get("ask_lang") or one["lang"], True, f"asked {table}")


def _told() -> Iterator[Message]:
    yield from _written()
    for author, row in _authored():
        yield Message(row["text"], pieces_of(row["text"], author[:2]), author[:2], True, f"told {row['matter']}")
    for table in TABLES:
        for one in conversation_table(str(files("insula_bench") / f"conversations_{table}.jsonl"), held=False):
            for line in one["told"]:
                if line["who"] == "user" and one["known"] and line["text"] == one["line"]:
                    pieces = pieces_of(line["text"], one["lang"])
                    yield Message(line["text"], pieces, one["lang"], True, f"told {table}")


def _authored() -> Iterator[tuple[str, dict[str, Any]]]:
    """What people told and how they ask for it, each with its author."""
    for file in sorted((files("insula_bench") / "asked").iterdir(), key=lambda one: one.name):
        for line in file.read_text("utf-8").splitlines():
            yield file.name, jsonlib.loads(line)


def _written() -> Iterator[Message]:
    """Sentences that were written by hand: facts, and requests, greetings, parts in games, words about answers."""
    language, label = "en", False
    for line in (files("insula_bench") / "told.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            _, language, kind = line.split()
            label = kind == "told"
        else:
            for text in filter(None, map(str.strip, line.split(" | "))):
                yield Message(text, (text,), language, label, f"written {text}")


def _lines(name: str) -> Iterator[dict[str, Any]]:
    for line in (files("insula_bench") / name).read_text("utf-8").splitlines():
        yield jsonlib.loads(line)


def _table(cards: Mapping[str, Any]) -> str:
    lines: list[str] = []
    for name, one in cards.items():
        if "auroc" not in one:
            lines.append(f"{name}: {one['left_out']}")
            continue
        lines.append(f"{name}: AUROC {one['auroc']}, {one['fitted_on']}")
        for action, point in one["points"].items():
            at = one["at_points"][action]
            lines.append(f"  {action} from {point}: " + ", ".join(f"{what} {share}" for what, share in at.items()))
    return "\n".join(lines)
