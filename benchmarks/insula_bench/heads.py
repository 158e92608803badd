"""`make heads`: fit the heads that tell what a sentence means, and say how well each does where it was not fitted.

All data is in this repository: messages composed by program (`compose.py`), real conversations whose licence allows it
(`everyday.jsonl`), and the tables of the other benchmarks. Each group (a template, a conversation, a table) is left out
in one of three folds; all that is reported, and each operating point, comes from the folds in which it was left out.
Most of it needs nothing, as in a day.
"""

import json as jsonlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.encoder import FEATURES, load_encoder
from insula.language.forget import Meaning
from insula.language.heads import DIMENSIONS, SCALE, HeadName, Projections, load_cards, log_odds
from insula.language.spelling import Spelled, hash_ngrams
from insula.metacognition.reading import MEANT_CHARS
from insula.stats import wilson
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.grammar import UNSPACED
from insula.text.pasted import ELLIPSIS, QUOTED, split_units, told_words
from insula_bench import gate, life, network
from insula_bench import spelled as spelling
from insula_bench.affinity import LIVES, WHOLE_LIVES, fit_projections
from insula_bench.compose import compose
from insula_bench.conversations import read as conversation_table
from insula_bench.limits import fit_limits
from insula_bench.network import Head
from insula_bench.statistics import auroc

Array = npt.NDArray[Any]

PACKAGE = Path(__file__).parents[2] / "src" / "insula" / "language"
FOLDS = 3
FIRST = 3
"""Rounds through the data to find the piece of a message that means it."""
EPOCHS: Mapping[HeadName, int] = {"personal": 8, "fact": 10, "handed": 10}
"""Rounds through the data to fit a head."""
HIDDEN: Mapping[HeadName, int] = {"personal": 128, "fact": 128, "handed": 64}
"""How wide the hidden layer of a head is."""
READS_PLACES: frozenset[HeadName] = frozenset({"personal", "fact"})
"""Heads that read what the encoder saw at each place of a text beside its vector: of the questions of people left out
personal finds 87 in 100 at 2 % of questions of the world, and 81 by the vector alone."""
LIVED: Mapping[HeadName, int] = {"personal": 6, "fact": 8}
"""How often a head reads a message of people's own days in each round: they are few beside what is composed, and the
nearest to what people write."""
PLAIN: Mapping[HeadName, tuple[int, int]] = {"personal": (6, 6), "fact": (4, 10)}
"""The same of a plain sentence that means what the head decides, and of one that does not."""
TYPED = ("_traffic.jsonl", "_traffic_2.jsonl")
"""Tables of what people type to an assistant."""
READS_TYPED: Mapping[HeadName, tuple[str, ...]] = {"personal": TYPED, "fact": TYPED[:1]}
"""Those of them that a head reads. With the second, in which many tell what is so at the moment, `fact` keeps less of
people's lives."""
REAL: Mapping[HeadName, int] = {"personal": 4, "fact": 3}
"""How often it reads a real message, of which there are few, and one of these tables."""
SAID = 6
"""How often a request to forget is read that somebody wrote as a whole; each template is read with twelve matters."""
AT_ONCE = 256
MATTERS = 6
"""Things that are put into each template of what is to be forgotten."""
FILLED = 4
"""The plainest requests, and the plainest messages with their verbs, are filled with one of so many matters and facts:
with each of them, the network took every clause behind a verb for a request."""
COMPOSED = 1_250
"""Messages of each language that are composed."""
TABLES = ("dev", "held", "later", "third", "fourth", "fifth", "fresh")
WISHES = ("dev", "held", "third", "fourth", "fifth", "fresh", "own", "wide")

DECIDES: Mapping[HeadName, str] = {
    "personal": "whether only this user can have told what is asked",
    "fact": "whether the user states a lasting fact about themselves, their people or their things",
    "handed": "whether words announce a text that is handed over to be worked on, or that somebody else said",
}
POSITIVE: Mapping[HeadName, frozenset[str]] = {
    "personal": frozenset({"personal"}),
    "fact": frozenset({"statement"}),
    "handed": frozenset[str](),
}
NEITHER: Mapping[HeadName, frozenset[str]] = {
    "personal": frozenset[str](),
    "fact": frozenset({"preference", "personal", "correction", "shaped"}),
    "handed": frozenset[str](),
}
"""Kinds that a head learns nothing from: they may hold what it decides, and are not labelled for it."""
POINTS: Mapping[HeadName, Mapping[str, float]] = {
    "personal": {"sure": 0.005, "untold": 0.002},
    "fact": {"store": 0.06, "others": 0.04, "sure": 0.01, "answer": 0.65},
    "handed": {"cut": 0.03, "announce": 0.006},
}
"""For each action, the share of ordinary real messages that it may take by mistake; of `handed`, which no real message
is labelled for, the share of what leads to words of the user's own. A sentence that says neither "I" nor "my" is stored
as a fact from `others` on, one of a word or two from `sure` on; what is as sure stays one where the user's own model
finds none."""


CHAT = "xpersona"
"""Conversations of two people."""
TRAVELLERS = "crosswoz"
"""Conversations of travellers who look for restaurants and hotels."""
NEEDLESS = 100
"""Real messages of each language that need nothing, and are lived to fit what lets lines in."""
READS_SPELLING: frozenset[HeadName] = frozenset({"personal", "handed"})
"""Heads that weigh how a sentence is spelled beside its vector; `fact` gains nothing by it."""
READS_WHOLES: frozenset[HeadName] = frozenset({"personal"})
"""Heads that read messages as one text beside their pieces; `fact` gains nothing by it."""
EVEN = np.array([0.6, 0.4, 0.0])
"""What vector and spelling count for until their weights are fitted."""
LATER = ("predicted", "changes")
"""Cards that are fitted with these heads, and after them."""
LET_IN: Mapping[str, float] = {"real": 0.012, "world": 0.02}
"""The share of them, and of questions of the world that say "I" or "my", that may be shown a line by mistake."""


LARGEST = 127
"""That a byte holds."""
WIDE = 2 * DIMENSIONS
"""Rows from which on weights are stored in a byte each."""
APART = 7
"""Rows between two matters that are joined into one message."""


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
    wholes: tuple[str, ...] = ()
    """The message as one text, where a head reads that, too."""
    times: int = 1
    """How often it is read in each round."""


def run(write: bool, json: bool) -> int:
    """Fit all heads; where asked to, write them into the package."""
    answer = fit_projections()
    fitted = {f"answer_{part}": getattr(answer, part) for part in Projections._fields}
    cards: dict[str, Any] = {}
    vectors = Vectors()
    learned: dict[HeadName, Learned] = {}
    for head in DECIDES:
        learned[head] = one = _learn(head, vectors)
        cards[head] = card(head, one.messages, one.chances)
        fitted |= {f"{head}_hidden": one.fitted.network.hidden, f"{head}_out": one.fitted.network.out}
        if one.fitted.spelled is not None:
            fitted[f"{head}_spelled"] = one.fitted.spelled
            named = zip(("meant", "spelled", "intercept"), one.fitted.weighs, strict=True)
            cards[head]["weighs"] = {name: round(float(weight), 4) for name, weight in named}
    real = {lang: _real(learned["personal"].messages, lang) for lang in LANGUAGES}
    limits, cards["limits"] = fit_limits(real)
    if write:  # the lives below are lived with what is written here
        save: Any = np.savez_compressed  # typed as if no array could be called anything
        save(PACKAGE / "heads.npz", **pack_weights(fitted | limits))
        known = jsonlib.loads((PACKAGE / "heads.json").read_text("utf-8"))
        later = {name: known[name] for name in ("answer", *LATER)}
        _write({name: known.get(name, {}) | card for name, card in cards.items()} | later)
    weighed, cards["answer"] = _fit_scores(learned["personal"], real, vectors)
    cards["personal"] = _card_of_messages(learned["personal"], weighed)
    if write:
        _write(cards | {name: load_cards()[name] for name in LATER})
    print(jsonlib.dumps(cards, indent=1, ensure_ascii=False) if json else _table(cards))
    return 0


def pack_weights(fitted: Mapping[str, Array]) -> dict[str, Array]:
    """Weights as they are stored: the larger ones in a byte each, the others in two."""
    packed: dict[str, Array] = {}
    for name, weights in fitted.items():
        if weights.ndim > 1 and len(weights) > WIDE:
            step = (np.abs(weights).max(axis=0) / LARGEST).astype(np.float32)
            packed |= {name: np.rint(weights / step).astype(np.int8), f"{name}_step": step}
        else:
            packed[name] = weights.astype(np.float16)
    return packed


class Learned(NamedTuple):
    """A head, and what it says of each message that it learned from, where its group was left out."""

    messages: list[Message]
    chances: Array
    """That of the likeliest piece."""
    wholes: Array
    """That of the message read as one text."""
    fitted: "Fitted"


def _learn(head: HeadName, vectors: "Vectors") -> Learned:
    messages = list(learned_from(head))
    if head in READS_WHOLES:
        messages = [one._replace(wholes=(one.text[:MEANT_CHARS].strip(),)) for one in messages]
    vectors.add(piece for one in messages for piece in (*one.pieces, *one.wholes))
    chances, wholes, weighs = left_out(head, messages, vectors)
    fitted = fit_messages(head, messages, vectors)._replace(weighs=weighs)
    return Learned(messages, chances, wholes, fitted)


def _card_of_messages(learned: Learned, weighed: Mapping[str, Any]) -> dict[str, Any]:
    """The card of `personal`: what is acted on is the chance of the message, by its pieces and as a whole."""
    message = weighed["message"]
    rows = np.column_stack([*map(_log_odds, (learned.chances, learned.wholes)), np.ones(len(learned.chances))])
    weights = np.array([message[name] for name in gate.MESSAGE])
    chances = 1 / (1 + np.exp(-rows @ weights))
    found = card("personal", learned.messages, chances, least=weighed["sure"])
    named = zip(("meant", "spelled", "intercept"), learned.fitted.weighs, strict=True)
    weighs = {name: round(float(weight), 4) for name, weight in named}
    return found | {"weighs": weighs, "message": message, "lines": weighed["lines"]}


def _log_odds(chances: Array) -> Array:
    return np.array([log_odds(float(one)) for one in chances])


def _write(cards: Mapping[str, Any]) -> None:
    (PACKAGE / "heads.json").write_text(jsonlib.dumps(cards, indent=1, ensure_ascii=False) + "\n", "utf-8")


class Vectors:
    """The vectors and the n-grams of texts, each made once."""

    def __init__(self) -> None:
        self._known: dict[str, npt.NDArray[np.float32]] = {}
        self._places: dict[str, npt.NDArray[np.float16]] = {}
        self._spelled: dict[str, Spelled] = {}

    def add(self, texts: Iterator[str]) -> None:
        """Make those that are not there yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            for text, read in zip(some, load_encoder().read_texts(some), strict=True):
                self._known[text] = read.vector
                self._places[text] = read.places.astype(np.float16)

    def rows(self, texts: Sequence[str]) -> Array:
        """The vector of each text, as a head reads it."""
        return (SCALE * np.array([self._known[text] for text in texts])).astype(np.float32)

    def wide_rows(self, texts: Sequence[str]) -> Array:
        """The same with what the encoder saw at its places."""
        rows = np.empty((len(texts), DIMENSIONS + FEATURES), np.float16)
        for row, text in zip(rows, texts, strict=True):
            row[:DIMENSIONS], row[DIMENSIONS:] = SCALE * self._known[text], SCALE * self._places[text]
        return rows

    def spelled(self, text: str) -> Spelled:
        """The n-grams of a text."""
        if text not in self._spelled:
            self._spelled[text] = hash_ngrams(text)
        return self._spelled[text]


class Fitted(NamedTuple):
    """A head: its network, the weights of n-grams where it reads spelling, and what both count for."""

    network: Head
    spelled: Array | None = None
    weighs: Array = EVEN

    def rows(self, pieces: Sequence[str], vectors: Vectors) -> Array:
        """The log-odds of each piece by what it means and by its spelling, and a one."""
        is_wide = len(self.network.hidden) > DIMENSIONS + 1
        meant = self.network.odds(vectors.wide_rows(pieces) if is_wide else vectors.rows(pieces))
        if self.spelled is None:
            return meant[:, None]
        read = [vectors.spelled(one).log_odds(self.spelled) + self.spelled[-1] for one in pieces]
        return np.column_stack([meant, read, np.ones(len(pieces))])

    def odds(self, pieces: Sequence[str], vectors: Vectors) -> Array:
        """The log-odds of each piece."""
        return _weighed(self.rows(pieces, vectors), self.weighs)


def _weighed(rows: Array, weighs: Array) -> Array:
    return rows[:, 0] if rows.shape[1] == 1 else rows @ weighs


def fit_messages(head: HeadName, messages: Sequence[Message], vectors: Vectors) -> Fitted:
    """A head; of a message that means it, it learns from the piece that says so most, of the others from each piece."""
    read = [one for one in messages for _ in range(one.times)]
    known = [(piece, one.label) for one in read for piece in one.pieces if not one.label or len(one.pieces) == 1]
    first = Fitted(network.fit(vectors.rows([piece for piece, _ in known]), _labels(known), FIRST))
    likeliest = {
        one: one.pieces[int(np.argmax(first.odds(one.pieces, vectors)))]
        for one in messages
        if one.label and len(one.pieces) > 1
    }
    known += [(likeliest[one], True) for one in read if one in likeliest]
    known += [(whole, one.label) for one in read for whole in one.wholes if whole not in one.pieces]
    texts, labels = [piece for piece, _ in known], _labels(known)
    spelled = spelling.fit([vectors.spelled(text) for text in texts], labels) if head in READS_SPELLING else None
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    rows = (vectors.wide_rows if head in READS_PLACES else vectors.rows)([*place])
    which = np.array([place[text] for text in texts])
    return Fitted(network.fit(rows, labels, EPOCHS[head], HIDDEN[head], which), spelled)


def _labels(known: Iterable[tuple[str, bool]]) -> npt.NDArray[np.bool_]:
    return np.array([label for _, label in known])


def left_out(head: HeadName, messages: Sequence[Message], vectors: Vectors) -> tuple[Array, Array, Array]:
    """The chances of each message by a head fitted without its group, and what vector and spelling count for.

    The first chance is that of its likeliest piece, the second that of the message as one text, where that is read.
    """
    fold = np.array([fold_of(one.group) for one in messages])
    rows: dict[int, Array] = {}
    wholes: dict[int, Array] = {}
    for number in range(FOLDS):
        others = [one for one, at in zip(messages, fold, strict=True) if at != number]
        fitted = fit_messages(head, others, vectors)
        for at in map(int, np.flatnonzero(fold == number)):
            rows[at] = fitted.rows(messages[at].pieces, vectors)
            wholes[at] = fitted.rows(messages[at].wholes or messages[at].pieces, vectors)
    weighs = EVEN
    if head in READS_SPELLING:
        best = np.array([one[np.argmax(one @ EVEN)] for _, one in sorted(rows.items())])
        weighs = gate.logistic(best, np.array([one.label for one in messages]))
    return _chances(rows, weighs), _chances(wholes, weighs), weighs


def _chances(rows: Mapping[int, Array], weighs: Array) -> Array:
    return np.array([network.chance(_weighed(one, weighs).max()) for _, one in sorted(rows.items())])


def fold_of(group: str, folds: int = FOLDS) -> int:
    """The fold of a group; templates and questions of one number are left out together: they may be translations."""
    number = re.sub(r"_[A-Z]{2}$", "", group.split("-", 1)[-1])
    return blake2b(number.encode(), digest_size=4).digest()[0] % folds


def _fit_scores(
    learned: Learned, real: Mapping[str, Sequence[str]], vectors: Vectors
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The scores that build on the heads: see `gate`. What a head learned from counts as where it was left out."""
    lived = gate.live(real)
    both = zip(learned.chances, learned.wholes, strict=True)
    known = dict(zip((one.text for one in learned.messages), both, strict=True))
    personal: list[tuple[float, float]] = []
    for one in lived:
        pieces, whole = pieces_of(one.text, one.language), one.text[:MEANT_CHARS].strip()
        vectors.add(iter((*pieces, whole)))
        odds = learned.fitted.odds(pieces, vectors).max(), learned.fitted.odds([whole], vectors)[0]
        chances = known.get(one.text, tuple(map(network.chance, odds)))
        personal.append((float(chances[0]), float(chances[1])))
    return gate.fit(lived, personal, LET_IN)


def _real(messages: Sequence[Message], language: str) -> Sequence[str]:
    """Real messages that need nothing; what travellers ask for is limited by what they told."""
    texts = [
        one.text
        for one in messages
        if one.language == language and one.is_real and not one.group.startswith(TRAVELLERS)
    ]
    return texts[:: max(len(texts) // NEEDLESS, 1)][:NEEDLESS]


def card(head: HeadName, messages: Sequence[Message], chances: Array, least: float = 0.0) -> dict[str, Any]:
    """What is known of a head; see the module. No point is below the least chance."""
    labels = np.array([one.label for one in messages])
    real = np.array([one.is_real for one in messages])
    ordinary = chances[real & ~labels] if real.any() else chances[~labels]
    points = {name: max(_point(ordinary, share), least) for name, share in POINTS[head].items()}
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
    if head == "handed":
        yield from _handed()
        return
    for one in compose(count=COMPOSED):
        if one.kind in NEITHER[head]:
            continue
        label = one.kind in POSITIVE[head] or (head == "fact" and bool(one.spans))
        yield Message(one.text, pieces_of(one.text, one.language), one.language, label, one.group)
    yield from everyday(head)
    yield from ordinary(head)
    if head == "personal":
        yield from _near()
        yield from _framed()
        yield from _asked()
    else:
        yield from _told()
    yield from _lived(head)
    yield from _plain(head)


def pieces_of(text: str, language: str) -> tuple[str, ...]:
    """The pieces of a message that a head reads."""
    return split_units(analyse_text(text, default=language)) or (text[:300],)


def everyday(head: HeadName | None = None) -> Iterator[Message]:
    """Real conversations."""
    for line in _lines("everyday.jsonl"):
        if head == "fact" and line["id"].startswith(CHAT):
            continue  # they play a person, and state what is theirs
        states, in_passing = line.get("states", ()), line.get("in_passing", ())
        unlabelled = {"fact": in_passing, "personal": line.get("personal", ())}.get(head or "", ())
        for number, text in enumerate(line["messages"]):
            if number not in unlabelled:
                label = head == "fact" and number in states
                language = line["language"]
                is_real = not line["id"].startswith(CHAT)  # there two people ask each other about themselves
                times = REAL.get(head, 1) if head and is_real else 1
                yield Message(text, pieces_of(text, language), language, label, line["id"], is_real, times=times)


def ordinary(head: HeadName | None = None) -> Iterator[Message]:
    """What people write on ordinary days, by other authors: mostly what asks nothing that they told."""
    for file in sorted((files("insula_bench") / "ordinary").iterdir(), key=lambda one: one.name):
        language = file.name[:2]
        for line in file.read_text("utf-8").splitlines():
            row = jsonlib.loads(line)
            if head == "fact" and row["kind"] in {"personal", "both"}:
                continue
            label = head is not None and row["kind"] in _LABELLED[head]
            yield Message(row["text"], pieces_of(row["text"], language), language, label, f"ordinary {row['group']}")


_LABELLED: Mapping[HeadName, frozenset[str]] = {
    "personal": frozenset({"personal", "both"}),
    "fact": frozenset({"statement"}),
    "handed": frozenset[str](),
}
"""Kinds of ordinary messages that mean what a head decides."""


def _near() -> Iterator[Message]:
    """Questions that only the user can have told the answer to, and others that share their words; and both in one."""
    for file in sorted((files("insula_bench") / "near").iterdir(), key=lambda one: one.name):
        language = file.name[:2]
        rows = [jsonlib.loads(line) for line in file.read_text("utf-8").splitlines()]
        for number, row in enumerate(rows):
            group = f"near {row['matter']}"
            for kind in ("personal", "world"):
                for text in row[kind]:
                    yield Message(text, pieces_of(text, language), language, kind == "personal", group)
            beside = _pick(rows[(number + APART) % len(rows)]["world"], number)
            for kind in ("personal", "world"):
                both = [_pick(row[kind], number), beside]
                text = _join(both if number % 2 else both[::-1], language)
                yield Message(text, pieces_of(text, language), language, kind == "personal", group)


def _pick(texts: Sequence[str], number: int) -> str:
    return texts[number % len(texts)]


def _join(texts: Sequence[str], language: str) -> str:
    """Some texts as one message."""
    end, between = ("。", "") if language in UNSPACED else (".", " ")
    return between.join(text if text[-1:] in ".!?。！？…" else text + end for text in texts)


def _framed() -> Iterator[Message]:
    """Questions about people and things: the user's own (`$ own`, `p`, `a`, `P`), and known or
    any ones (`$ known`, `w`, `c`, `W`).

    The same words (`x`) ask for the one or the other, by whom they name.
    """
    for file in sorted((files("insula_bench") / "frames").iterdir(), key=lambda one: one.name):
        language, words, numbers = file.name[:2], dict[str, list[str]](), Counter[str]()
        for line in file.read_text("utf-8").splitlines():
            kind, text = line.split(" ", 1)
            if kind == "$":
                name, _, listed = text.partition(": ")
                words[name] = listed.split(" | ")
                continue
            numbers[kind] += 1
            for slot, label in _FRAMES[kind]:
                listed = words.get(slot, [""])
                some = (listed[(5 * numbers[kind] + 3 * each) % len(listed)] for each in range(MATTERS))
                for made in dict.fromkeys(SLOT.sub(one, text) for one in some):
                    group = f"{language}-framed {kind} {numbers[kind]}"
                    yield Message(made, pieces_of(made, language), language, label, group)


SLOT = re.compile(r"{\w+}")
_FRAMES: Mapping[str, Sequence[tuple[str, bool]]] = {
    "x": (("own", True), ("known", False)),
    "p": (("thing", True),),
    "w": (("thing", False),),
    "a": (("act", True),),
    "c": (("act", False),),
    "P": (("", True),),
    "W": (("", False),),
}
"""What is put into a frame, and whether the user alone can have told then what it asks."""


def _asked() -> Iterator[Message]:
    yield from _sides()
    for author, row in authored():
        language = author[:2]
        for label, texts in ((True, row["asks"]), (False, row.get("world", ()))):
            for text in texts:
                yield Message(text, pieces_of(text, language), language, label, f"asked {row['matter']}")
    for table in TABLES:
        for one in conversation_table(str(files("insula_bench") / f"conversations_{table}.jsonl"), held=False):
            yield Message(one["ask"], (one["ask"],), one.get("ask_lang") or one["lang"], True, f"asked {table}")


def _sides() -> Iterator[Message]:
    """What is asked about what was told, of it or of another side, and what was told; whose it is; and requests."""
    for file, number, row in rows_in("sides"):
        language, ask = file[:2], _pick([*row["asks"], *row["unanswered"]], number)
        yield Message(ask, pieces_of(ask, language), language, True, f"sides {row['text']}")
        if not ASKS.search(row["text"]):
            yield Message(row["text"], pieces_of(row["text"], language), language, False, f"sides {row['text']}")
    for file, _, row in rows_in("owners"):
        for text, label in (*((ask, True) for ask in row["asks"]), *((said, False) for said in row["states"])):
            yield Message(text, pieces_of(text, file[:2]), file[:2], label, f"owners {row['matter']}")
    for file, number, row in rows_in("shapes"):
        for text in (_pick(row["shapes"], number), _pick(row["near"], number)):
            yield Message(text, pieces_of(text, file[:2]), file[:2], False, f"shapes {row['text']}")


def _lived(head: HeadName) -> Iterator[Message]:
    """What people told and asked on their own days; a told answer beside its question is a fact, too.

    A line of a whole life is read once in each round: read thrice, they outweighed what needs nothing.
    """
    for table in (*LIVES, "fifth", *life.FURTHER):
        for language in life.languages():
            group = f"life {table} {language}"
            for row in life.read(table, language):
                label = _label(head, row["kind"])
                if label is not None:
                    yield Message(
                        row["text"], _read_by(head, row["text"], language), language, label, group, times=LIVED[head]
                    )
                elif head == "fact" and row["kind"] == "personal" and row["told"]:
                    answered = f"{row['text']} {row['value'][0]}"
                    yield Message(answered, (answered,), language, True, group)
    for table in ("lives", *WHOLE_LIVES):
        for language in life.languages():
            for number, row in enumerate(life.read(table, language)):
                group = f"life {table} {number}"
                told = pieces_of(row["text"], language), language, head == "fact", group
                yield Message(row["text"], *told)
                if head == "personal":
                    for ask in row["asks"]:
                        yield Message(ask, pieces_of(ask, language), language, True, group)


def _plain(head: HeadName) -> Iterator[Message]:
    """What is told and asked in the plainest words, and what people type to an assistant."""
    for file, number, row in rows_in("plain"):
        label = _label(head, row["kind"])
        is_typed = file.endswith(TYPED)
        if label is not None and (not is_typed or file.endswith(READS_TYPED[head])):
            pieces = _read_by(head, row["text"], file[:2])
            times = REAL[head] if is_typed else PLAIN[head][not label]
            yield Message(row["text"], pieces, file[:2], label, f"plain {number}", times=times)


def _label(head: HeadName, kind: str) -> bool | None:
    """Whether a message of people's own days means what a head decides; None where it is not labelled for that."""
    if kind in MEANT_IN_LIFE[head]:
        return True
    return None if head == "fact" and kind in UNLABELLED_FACTS else False


def _read_by(head: HeadName, text: str, language: str) -> tuple[str, ...]:
    """The pieces of a message that a head reads; what somebody else said is no fact, and is not read."""
    told = told_words(text).replace(QUOTED, ELLIPSIS) if head == "fact" else ""
    return pieces_of(told or text, language)


def rows_in(folder: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The rows of a folder, each with its file and its number in it."""
    for file in sorted((files("insula_bench") / folder).iterdir(), key=lambda one: one.name):
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            yield file.name, number, jsonlib.loads(line)


ASKS = re.compile("[?？]")
MEANT_IN_LIFE: Mapping[HeadName, frozenset[str]] = {
    "personal": frozenset({"personal", "both"}),
    "fact": frozenset({"told", "statement"}),
}
"""Kinds of messages of `life/` and `plain/` that mean what a head decides."""
UNLABELLED_FACTS = frozenset({"personal", "both", "shaped", "preference", "standing"})
"""Kinds of them that may tell a fact, and are not labelled for it."""


def _told() -> Iterator[Message]:
    yield from _written()
    for author, row in authored():
        yield Message(row["text"], pieces_of(row["text"], author[:2]), author[:2], True, f"told {row['matter']}")
    for table in TABLES:
        for one in conversation_table(str(files("insula_bench") / f"conversations_{table}.jsonl"), held=False):
            for line in one["told"]:
                if line["who"] == "user" and one["known"] and line["text"] == one["line"]:
                    pieces = pieces_of(line["text"], one["lang"])
                    yield Message(line["text"], pieces, one["lang"], True, f"told {table}")


def _preferred() -> Iterator[Message]:
    """What people say of how they want answers for good."""
    for file in sorted((files("insula_bench") / "prefs").iterdir(), key=lambda one: one.name):
        language = file.name[:2]
        for line in file.read_text("utf-8").splitlines():
            row = jsonlib.loads(line)
            for text in row.get("standing", ()):
                yield Message(text, pieces_of(text, language), language, True, f"prefs {row['topic']}")
    yield from (one for one in preferred_frames() if one.label)
    for table in WISHES:
        for row in _lines(f"wishes_{table}.jsonl"):
            if row["standing"]:
                yield Message(row["text"], pieces_of(row["text"], row["lang"]), row["lang"], True, f"wishes {table}")


def preferred_frames() -> Iterator[Message]:
    """The same biddings for good, for once, and said by or to somebody else; and sentences of either kind."""
    for file in sorted((files("insula_bench") / "standing").iterdir(), key=lambda one: one.name):
        language, table = file.name[:2], jsonlib.loads(file.read_text("utf-8"))
        bids = table["bids"]
        for kind, label in (("standing", True), ("others", False)):
            for number, frame in enumerate(table[kind]):
                some = [bids[(3 * number + each) % len(bids)] for each in range(MATTERS)]
                for bid in some:
                    text = frame.format(x=bid, X=bid[:1].upper() + bid[1:])
                    yield Message(text, pieces_of(text, language), language, label, f"{language}-{kind} {number}")
            for number, text in enumerate(table["said"][kind]):
                yield Message(text, pieces_of(text, language), language, label, f"{language}-said {number}")


def forgetting() -> Iterator[tuple[Message, Meaning]]:
    """Requests to forget or not to store something, and what is said with the same words and asks no such thing."""
    kinds: Mapping[str, Meaning] = {"asks": "named", "before": "before", "all": "all", "others": "none"}
    for file in sorted((files("insula_bench") / "forgetting").iterdir(), key=lambda one: one.name):
        language, table = file.name[:2], jsonlib.loads(file.read_text("utf-8"))
        matters = table["matters"]
        for kind, meaning in kinds.items():
            for number, template in enumerate(table[kind]):
                some = (matters[(5 * number + each) % len(matters)] for each in range(2 * MATTERS))
                filled = dict.fromkeys(template.format(m=matter) for matter in some)
                for text in (*filled, *(one.lower().rstrip(".!?。") for one in filled)):
                    label = meaning != "none"
                    yield Message(text, (text,), language, label, f"{language}-{kind} {number}"), meaning
        plainest: Mapping[str, tuple[str, Meaning]] = {"plain": ("asks", "named"), "plain_others": ("others", "none")}
        for kind, (group, meaning) in plainest.items():
            for number, template in enumerate(table[kind]):
                for place, matter in enumerate([*matters, *table["facts"]][number % FILLED :: FILLED]):
                    is_dass = language == "de" and matter.startswith("dass ")
                    text = (template.replace(" {m}", ", {m}") if is_dass else template).format(m=matter)
                    text = text.lower().rstrip(".!?。") if place % 2 else text
                    yield (
                        Message(text, (text,), language, meaning != "none", f"{language}-{group} plain {number}"),
                        meaning,
                    )
        for number, template in enumerate(table["deletes"]):
            for thing in table["objects"]:
                text = template.format(o=thing)
                yield Message(text, (text,), language, False, f"{language}-others deletes {number}"), "none"
        choices = table["choices"]
        for number, template in enumerate(table["instead"]):
            for left, taken in zip(choices, (*choices[1:], choices[0]), strict=True):
                text = template.format(a=left, b=taken)
                group = f"{language}-others instead {number}"
                yield Message(text, pieces_of(text, language), language, False, group), "none"
    for file, number, row in rows_in("forgetting_said"):
        kind = "others" if row["meaning"] == "none" else "asks"
        label, group = row["meaning"] != "none", f"{file[:2]}-{kind} said {number}"
        yield Message(row["text"], (row["text"],), file[:2], label, group, times=SAID), row["meaning"]


def _handed() -> Iterator[Message]:
    """What leads to a text to be worked on or to others' words, and what leads to words of the user's own."""
    for file in sorted((files("insula_bench") / "handed").iterdir(), key=lambda one: one.name):
        language, table = file.name[:2], jsonlib.loads(file.read_text("utf-8"))
        texts = table["texts"]
        for number, frame in enumerate(table["hands"]):
            some = (texts[(5 * number + each) % len(texts)] for each in range(MATTERS))
            for text in dict.fromkeys(frame.format(t=each) for each in some):
                yield Message(text, (text,), language, True, f"{language}-hands {number}")
        for kind, label in (("said", True), ("own", False)):
            for number, text in enumerate(table[kind]):
                yield Message(text, (text,), language, label, f"{language}-{kind} {number}")
    others = [one for one in _preferred() if len(one.pieces) == 1]
    for one in (*others, *_near()):
        yield Message(one.text, one.pieces, one.language, False, one.group)
    for author, row in authored():
        yield Message(row["text"], (row["text"],), author[:2], False, f"told {row['matter']}")


def authored() -> Iterator[tuple[str, dict[str, Any]]]:
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
            lines.append(f"{name}: {one.get('left_out', one.get('at_points'))}")
            continue
        lines.append(f"{name}: AUROC {one['auroc']}, {one['fitted_on']}")
        for action, point in one["points"].items():
            at = one["at_points"][action]
            lines.append(f"  {action} from {point}: " + ", ".join(f"{what} {share}" for what, share in at.items()))
    return "\n".join(lines)
