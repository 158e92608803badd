"""`insula bench preferences`: which preferences are heard, how many are invented, and what a newer one makes of one
that stands; with `--write` it fits the networks of `insula.language.preferences` first (`make heads` does).

They are fitted on what people say of how they want answers (`prefs/`, by many hands; `standing/`; people's own days;
tables), and on what asks for nothing of the kind, most of it real conversations and composed messages. Each group (a
topic in all languages, a table, a person) is left out in one of five folds; all figures come from the folds in which it
was left out.
"""

import json as jsonlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.preferences import MEANINGS, MESSAGE, Meaning, Preference, find_preferences, part_of
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.memory.wishes import Relation, relate_preferences
from insula.text.analysis import analyse_text
from insula_bench import heads, life, softmax
from insula_bench.affinity import LIVES
from insula_bench.compose import compose
from insula_bench.heads import PACKAGE, Vectors, fold_of, pieces_of
from insula_bench.softmax import Network

Array = npt.NDArray[Any]

FOLDS = 5
FIRST, EPOCHS, EPOCHS_PART = 3, 8, 60
HIDDEN = 256
"""How wide the network of what a sentence means is: of people left out 89 in 100 preferences are heard with 256 where
83 are with 64, at 8 other messages of 3,000."""
CLOSEST = 2
"""How often a fit reads each line of people's own days, and what was written about answers, since so much else needs
nothing."""
COMPOSED = 600
"""Messages of each language that are composed."""
WEIGHS = {"meant": 0.8, "spelled": 0.6}
"""What the log-odds of the network and of the spelling count for."""
TABLES = ("dev", "held", "fresh", "third", "own", "fourth", "wide", "fifth")
PAIRS = ("", "_third", "_fourth", "_wide", "_fifth")
_SAME = (
    "length",
    "name",
    "formality",
    "units",
    "temperature",
    "clock",
    "language",
    "emoji",
    "closing",
    "opening",
    "code",
)
SLOTS: Mapping[str, str] = dict(zip(_SAME, _SAME, strict=True)) | {
    "tone": "tone",
    "currency": "currency",
    "table": "tables",
    "example": "examples",
    "source": "sources",
    "case": "markup",
}
"""What the tables of pairs call the parts of an answer."""
ACTIONS: Mapping[str, Meaning] = {"standing": "standing", "lifts": "lifts", "unsure": "standing"}
TAKEN = {"standing": 0.009, "lifts": 0.003, "unsure": 0.023}
"""For each action, the share of real messages that it may take by mistake; what is only likely enough to be `unsure`
counts where it is about what stands already."""
LEAST = {"standing": 0.82, "lifts": 0.5, "unsure": 0.5}
"""Chance from which each is acted on at least, however seldom real messages reach less: one sentence that stands
wrongly stands beside all later messages."""
OTHERS = {"amid": 0.95, "for_good": 0.6, "asked": 0.005, "none": 0.5, "part": 0.4}
"""The other points: from which it stands amid other things, or of no known part of an answer; from which a form of
address stands; from which a bare request may stand once it is asked again; below which a sentence may ask for something
for now; and from which it is believed what it is about."""


class Said(NamedTuple):
    """A message that the networks learn from, in the pieces that they read."""

    text: str
    pieces: tuple[str, ...]
    language: str
    may: frozenset[Meaning]
    """What it may mean."""
    group: str
    """What is left out together."""
    part: str = ""
    """What of an answer it is about: "length.short", or "length" where it is not known which way; empty: not known."""
    is_real: bool = False
    """Whether somebody wrote it to an assistant, and nobody for this."""
    times: int = 1
    """How often a fit reads it."""


class Fitted(NamedTuple):
    """The network of what a sentence means, and its weights of n-grams."""

    network: Network
    spelled: Array

    def chances(self, rows: Array, pieces: Sequence[str], vectors: Vectors) -> Array:
        """The chance of each meaning, a row for each piece."""
        read = softmax.spelled_odds([vectors.spelled(one) for one in pieces], self.spelled)
        odds = WEIGHS["meant"] * self.network.odds(rows) + WEIGHS["spelled"] * read
        return softmax.softmax(odds.astype(np.float32))


def run(write: bool, json: bool) -> int:
    """Measure, and where asked to fit first and write what was fitted into the package."""
    report = {"left out": fit_all()} if write else {}
    report |= {f"wishes_{name}": measured(read(f"wishes_{name}.jsonl")) for name in TABLES}
    report |= {f"wish_pairs{name}": measured_pairs(read(f"wish_pairs{name}.jsonl")) for name in PAIRS}
    for name, found in report.items() if not json else ():
        print(f"{name:<18} " + "; ".join(f"{how}: {value}" for how, value in found.items()))
    if json:
        print(jsonlib.dumps(report, indent=2))
    return 0


# What they are fitted on.

NOT_STANDING: frozenset[Meaning] = frozenset(MEANINGS) - {"standing"}
OF_NOW: frozenset[Meaning] = frozenset({"none", "once"})


def learned_from() -> Iterator[Said]:
    """The messages that the networks learn from."""
    yield from _by_hand()
    for one in heads.preferred_frames():
        may = frozenset[Meaning]({"standing"}) if one.label else NOT_STANDING
        yield Said(one.text, one.pieces, one.language, may, one.group, _part_bidden(one) if one.label else "")
    for name in TABLES:
        for row in read(f"wishes_{name}.jsonl"):
            may = frozenset[Meaning]({"standing"}) if row["standing"] else NOT_STANDING
            pieces = pieces_of(row["text"], row["lang"])
            yield Said(row["text"], pieces, row["lang"], may, f"wishes {name}", times=CLOSEST)
    yield from _of_pairs()
    yield from _ordinary()
    yield from _lived()
    yield from _plain()


def _part_bidden(one: heads.Message) -> str:
    """What of an answer the bidding in a frame is about."""
    table = jsonlib.loads((files("insula_bench") / "standing" / f"{one.language}.json").read_text("utf-8"))
    bids = zip(table["bids"], table["parts"], strict=True)
    return next((part for bid, part in bids if bid.casefold() in one.text.casefold()), "")


def _of_pairs() -> Iterator[Said]:
    """Preferences that stand, and what was said of them later: for good or for now, as it was not said for how long."""
    for name in PAIRS:
        for row in read(f"wish_pairs{name}.jsonl"):
            language, kinds, part = row["lang"], _wanted(row["relation"]), SLOTS.get(row.get("slot", ""), "")
            some = frozenset[Meaning]({"standing"} if part in ("name", "formality") else {"standing", "once"})
            pieces, group = pieces_of(row["old"], language), f"wish_pairs{name}"
            yield Said(row["old"], pieces, language, some, group, part, times=CLOSEST)
            if kinds == {"lifts"} or kinds <= {"same", "replaces"}:
                may = frozenset[Meaning]({"lifts"}) if kinds == {"lifts"} else some
                pieces = pieces_of(row["new"], language)
                yield Said(row["new"], pieces, language, may, group, part, times=CLOSEST)


def _by_hand() -> Iterator[Said]:
    """What people say of how they want answers: for good, for once, no longer, and what only sounds like it."""
    for file, _, row in heads.rows_in("prefs"):
        for kind in MEANINGS:
            part = "none" if kind == "none" else row.get("slot", row["topic"])
            for text in row.get(kind, ()):
                pieces = pieces_of(text, file[:2])
                yield Said(text, pieces, file[:2], frozenset({kind}), f"prefs {row['topic']}", part, times=CLOSEST)


def _ordinary() -> Iterator[Said]:
    """What asks nothing for good: real conversations, what people write on ordinary days, what they tell."""
    for one in (*heads.everyday(), *heads.ordinary()):
        yield Said(one.text, one.pieces, one.language, OF_NOW, one.group, "none", one.is_real)
    for author, row in heads.authored():
        pieces = pieces_of(row["text"], author[:2])
        yield Said(row["text"], pieces, author[:2], frozenset({"none"}), f"told {row['matter']}", "none")
    for one in compose(count=COMPOSED):
        may = frozenset[Meaning]({"standing"}) if one.kind == "preference" else NOT_STANDING
        yield Said(one.text, pieces_of(one.text, one.language), one.language, may, one.group)


def _lived() -> Iterator[Said]:
    """What people told, asked and wanted on their own days."""
    kinds = {"preference": frozenset[Meaning]({"standing"}), "no_preference": NOT_STANDING}
    for table in (*LIVES, "fifth", *life.FURTHER):
        for language in life.languages():
            for row in life.read(table, language):
                may, pieces = kinds.get(row["kind"], OF_NOW), pieces_of(row["text"], language)
                part, group = "" if row["kind"] == "preference" else "none", f"life {table} {language}"
                yield Said(row["text"], pieces, language, may, group, part, times=CLOSEST)


def _plain() -> Iterator[Said]:
    """What is told and asked in the plainest words. What is wanted there is left out, since nobody says for how long,
    and so are the tables of facts alone (`_facts`), with which fewer preferences are heard, and of what people type to
    an assistant (`_traffic`), with which more are heard that nobody stated."""
    for file, number, row in heads.rows_in("plain"):
        if row["kind"] not in {"standing", "forget"} and not file.endswith(("_facts.jsonl", *heads.TYPED)):
            pieces, group = pieces_of(row["text"], file[:2]), f"plain {row['kind']} {number}"
            yield Said(row["text"], pieces, file[:2], OF_NOW, group)


def read(name: str) -> list[dict[str, Any]]:
    """A table."""
    return [jsonlib.loads(line) for line in (files("insula_bench") / name).read_text("utf-8").splitlines()]


# The fit.


def fit_all() -> dict[str, str]:
    """Fit both networks and write them and their card; says how they do on what was left out."""
    said, vectors = list(learned_from()), Vectors()
    vectors.add(text for one in said for text in (*one.pieces, one.text[:MESSAGE]))
    left = left_out(said, vectors)
    at = {name: _point(said, left[:, MEANINGS.index(ACTIONS[name])], share) for name, share in TAKEN.items()}
    points = {name: max(point, LEAST[name]) for name, point in at.items()}
    fitted = _fit(said, vectors)
    parts, network, right = _fit_parts(said, vectors)
    save: Any = np.savez_compressed  # typed as if no array could be called anything
    arrays = {"meaning_hidden": fitted.network.hidden, "meaning_out": fitted.network.out, "spelled": fitted.spelled}
    arrays |= {"part_hidden": network.hidden, "part_out": network.out}
    save(PACKAGE / "preferences.npz", **heads.pack_weights(arrays))
    report = {name: _at(said, left, name, point) for name, point in points.items()} | {"part": right}
    card = {
        "decides": "whether a sentence states a preference for good, for now or no longer, and of what of an answer",
        "fitted_on": {"messages": len(said), "real": sum(one.is_real for one in said)},
        "points": {name: round(point, 4) for name, point in points.items()} | OTHERS,
        "left_out": report,
        "weighs": WEIGHS,
        "parts": parts,
    }
    (PACKAGE / "preferences.json").write_text(jsonlib.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return report


def _fit(said: Sequence[Said], vectors: Vectors) -> Fitted:
    """The network of what a sentence means; of a message of several pieces it learns from the one that says so most."""
    pieces, rows, may, owner = _pieces(said, vectors)
    open_ = np.array(["none" in one.may or len(one.pieces) == 1 for one in said])[owner]
    first = softmax.fit(rows[open_], may[open_], FIRST)
    others = np.flatnonzero(~open_)
    likely = (softmax.softmax(first.odds(rows[others])) * may[others]).sum(1) if len(others) else np.zeros(0)
    best: dict[int, tuple[float, int]] = {}
    for at, chance in zip(map(int, others), map(float, likely), strict=True):
        best[owner[at]] = max(best.get(owner[at], (-1.0, at)), (chance, at))
    kept = np.concatenate([np.flatnonzero(open_), np.array([at for _, at in best.values()], np.int64)])
    kept = np.repeat(kept, np.array([one.times for one in said])[owner][kept])
    grams = softmax.fit_spelled([vectors.spelled(pieces[at]) for at in map(int, kept)], may[kept])
    return Fitted(softmax.fit(rows[kept], may[kept], EPOCHS, HIDDEN), grams)


def _pieces(said: Sequence[Said], vectors: Vectors) -> tuple[list[str], Array, Array, Array]:
    """Each piece of some messages: its text, what is read of it, what it may mean, and the place of its message."""
    owner = np.repeat(np.arange(len(said)), [len(one.pieces) for one in said])
    pieces = [piece for one in said for piece in one.pieces]
    rows = np.hstack([vectors.rows(pieces), vectors.rows([one.text[:MESSAGE] for one in said])[owner]])
    may = np.array([[meaning in one.may for meaning in MEANINGS] for one in said])[owner]
    return pieces, rows, may, owner


def left_out(said: Sequence[Said], vectors: Vectors) -> Array:
    """The chance of each meaning of each message, of its likeliest piece, by networks fitted without its group."""
    folds = np.array([fold_of(one.group, FOLDS) for one in said])
    chances = np.zeros((len(said), len(MEANINGS)), np.float32)
    for number in range(FOLDS):
        fitted = _fit([one for one, fold in zip(said, folds, strict=True) if fold != number], vectors)
        within = np.flatnonzero(folds == number)
        pieces, rows, _, owner = _pieces([said[at] for at in map(int, within)], vectors)
        np.maximum.at(chances, within[owner], fitted.chances(rows, pieces, vectors))
    return chances


def _point(said: Sequence[Said], chances: Array, share: float) -> float:
    """The chance that so small a share of real messages reaches."""
    return float(np.quantile(chances[[one.is_real for one in said]], 1 - share))


def _at(said: Sequence[Said], left: Array, name: str, point: float) -> str:
    """What is found and what is taken from a point on."""
    meaning = ACTIONS[name]
    reached = left[:, MEANINGS.index(meaning)] >= point
    kinds: dict[str, list[bool]] = {}
    for one, is_reached in zip(said, reached, strict=True):
        kind = meaning if one.may == frozenset([meaning]) else "of real" if one.is_real else "of others"
        kinds.setdefault(kind if meaning not in one.may or kind == meaning else "", []).append(bool(is_reached))
    return "; ".join(f"{kind} {sum(one)} of {len(one)}" for kind, one in sorted(kinds.items()) if kind)


def _fit_parts(said: Sequence[Said], vectors: Vectors) -> tuple[list[str], Network, str]:
    """What of an answer a sentence is about: the names, the network, and how often it is right on a group left out."""
    known = [one for one in said if one.part and (one.part != "none" or one.group.startswith("prefs"))]
    parts = sorted({one.part for one in known} - {one.part.partition(".")[0] for one in known if "." in one.part})
    rows = vectors.rows([one.text[:MESSAGE] for one in known])
    may = np.array([[one.part in (part, part.partition(".")[0]) for part in parts] for one in known])
    folds = np.array([_part_fold(one) for one in known])
    right = Counter[bool]()
    for number in range(FOLDS):
        network = softmax.fit(rows[folds != number], may[folds != number], EPOCHS_PART)
        within = np.flatnonzero(folds == number)
        best = network.odds(rows[within]).argmax(1)
        right.update(bool(may[at, found]) for at, found in zip(within, best, strict=True) if known[at].part != "none")
    return parts, softmax.fit(rows, may, EPOCHS_PART), f"{right[True]} of {right.total()}"


def _part_fold(one: Said) -> int:
    """A fold of texts: of a group left out whole nothing would be known of the part that it is about."""
    return fold_of(re.sub(r"\W", "", one.text), FOLDS)


# What is heard.


@cache
def _vector(text: str) -> Any:
    return embed_each(embed_text, [text])[0]


def heard_in(text: str, language: str) -> tuple[Preference, ...]:
    """What a message says of how answers are to be."""
    analysis = analyse_text(text, default=language)
    pieces = pieces_of(text, language)
    return find_preferences(
        {one: _vector(one) for one in pieces}, _vector(text[:MESSAGE]), analysis.language, len(text)
    )


def measured(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How many preferences are heard, and how many of the other messages are taken for one, where both were fitted."""
    counts = Counter(
        (bool(row["standing"]), any(one.force == "standing" for one in heard_in(row["text"], row["lang"])))
        for row in rows
    )
    told, others = (counts[kind, True] + counts[kind, False] for kind in (True, False))
    return {"heard": f"{counts[True, True]} of {told}", "invented": f"{counts[False, True]} of {others}"}


def measured_pairs(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How often it is right what a newer preference makes of one that stands."""
    counts = Counter[str]()
    for row in rows:
        wanted, found = _wanted(row["relation"]), _relation(row)
        gone = {"same", "replaces", "lifts"}
        counts["right"] += found in wanted
        counts["kept or ended rightly"] += (found in gone) == (not wanted.isdisjoint(gone))
        counts["ended wrongly"] += found in gone and wanted == {"unrelated"}
    return {name: f"{count} of {len(rows)}" for name, count in counts.items()}


def _wanted(relations: str | list[str]) -> set[str]:
    """What a reader says of a pair; of two preferences, one that refines or contradicts takes the other's place."""
    kinds = relations if isinstance(relations, list) else [relations]
    return {"replaces" if kind in ("contradicts", "refines") else kind for kind in kinds}


def _relation(row: Mapping[str, Any]) -> Relation:
    """What the day makes of a pair."""
    part = part_of(_vector(row["old"]))
    told = (one for one in heard_in(row["new"], row["lang"]) if one.force != "once")
    ended: list[Relation] = [made for one in told if (made := relate_preferences(one, part, row["old"])) != "unrelated"]
    return ended[0] if ended else "unrelated"
