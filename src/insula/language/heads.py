"""Small trained heads: what a sentence means, told from its vector, with a calibrated chance and an operating point.

Each head is a network of one hidden layer on the shipped sentence embedding; most of them also weigh how a sentence
is spelled. `make heads` fits them all, the same bytes each time on one machine, from messages that are composed by
program, from ordinary conversations and from people's own days; the card of each (`heads.json`, and
docs/explanation/heads.md) says what it decides, on what it was fitted and how well it does where it was not. Of any
other embedding a head can tell nothing.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from insula.language.spelling import hash_ngrams
from insula.text.tables import load_table

Vector = npt.NDArray[np.float32]
Weights = npt.NDArray[np.float32]

HeadName = Literal["personal", "fact", "handed"]
"""What a head decides: `personal`, whether only this user can have told what is asked; `fact`, whether the user states
a lasting fact of themselves, their people or their things; `handed`, whether words announce a text that is handed over
to be worked on, or that somebody else said. What they say of how they want answers, `insula.language.preferences`
tells; what they want forgotten, `insula.language.forget`."""

DIMENSIONS = 512
"""Of the embedding that the heads are fitted on."""
REQUEST = DIMENSIONS + 1280
"""Numbers that are read of what asks for something: see `read_request`."""
SCALE = 8.0
"""What its vectors, of unit length, are multiplied by, so that the same steps fit all heads."""
SHARED = 2**17
"""Steps of a product of matrices up to which no library shares it among threads."""
LOWEST = -30.0
"""Log-odds of what cannot be told."""
_LEAST = 1e-4


class HeadCard(TypedDict):
    """What is known of a head."""

    decides: str
    points: Mapping[str, float]
    """Chances from which it is acted on, by what is done."""
    weighs: NotRequired[Mapping[str, float]]
    """What the log-odds of the network (`meant`) and of the spelling (`spelled`) count for, where it reads both."""


class PersonalCard(HeadCard):
    """The card of `personal`, with the weights of the score that builds on it."""

    message: Mapping[str, float]
    """What the likeliest sentence and the message as a whole count for; see `insula.turn.gate`."""
    lines: Mapping[str, float]
    """What lets remembered lines in; see there, too."""


class AnswerCard(TypedDict):
    """The card of the head that tells how often people ask so for what is told so, with the score built on it."""

    decides: str
    meant: Mapping[str, float]
    """The weights of what is known of a line; see `insula.memory.relevance`."""
    worded: Mapping[str, float]
    """The same where there are no vectors."""
    held: Mapping[str, float]
    """The chance that any line answers, of the likeliest one."""


class LimitsCard(TypedDict):
    """The card of the head that tells whether what was told limits the answer to a request."""

    decides: str
    cosine: float
    """What the cosine of the two counts for, beside the product of their projections."""
    intercept: float
    points: Mapping[str, float]


class PredictedCard(TypedDict):
    """The scores of lines for which the user's own model predicted queries; see `insula_bench.predicted`."""

    line: Mapping[str, float]
    """How likely a line answers, of the log-odds without them and of the nearest query (`expected`)."""
    limit: Mapping[str, float]
    """The same of how likely it limits the answer, at the point of `limits`."""
    held: Mapping[str, float]
    """The chance that any line answers, of the likeliest one."""
    lines: Mapping[str, float]
    """What lets remembered lines in; see `insula.turn.gate`."""
    least: Mapping[str, float]
    """From which score on a predicted query is kept, by its kind."""
    task: Mapping[str, float]
    """From which cosine on a message is of the tasks to which a preference is limited (`least`)."""


class ScoreCard(TypedDict):
    """A score that is built on heads: whether a later line changes the matter of an older one
    (`insula.memory.relevance`), or a message answers the user's own question (`insula.language.follow_up`)."""

    decides: str
    weights: Mapping[str, float]
    """What each thing that is known counts for."""
    points: Mapping[str, float]
    """The log-odds from which it is acted on, by what is done."""


class Cards(TypedDict):
    """The cards of all heads."""

    personal: PersonalCard
    fact: HeadCard
    handed: HeadCard
    answer: AnswerCard
    limits: LimitsCard
    predicted: PredictedCard
    changes: ScoreCard


class Head(NamedTuple):
    """The weights of a head; the last row of each layer of its network is the bias."""

    hidden: Weights
    out: Weights
    spelled: Weights | None = None
    """Of n-grams (`insula.language.spelling`), the bias last."""


class Projections(NamedTuple):
    """What makes what is asked and what was told comparable; the last row of each but `out` is the bias."""

    asked: Weights
    told: Weights
    hidden: Weights = np.zeros((0, 0), np.float32)
    """Of a hidden layer on what is read of a question, where there is one."""
    out: Weights = np.zeros((0, 0), np.float32)


def predict_chance(head: HeadName, text: str, vector: Vector | None) -> float | None:
    """The chance that a sentence means what a head decides, in [0, 1].

    Args:
        head: which.
        text: the sentence.
        vector: of the sentence, at unit length.

    Returns:
        None where there is no vector, or one that is not of the shipped embedding.
    """
    if vector is None or vector.size != DIMENSIONS:
        return None
    weights = _load_head(head)
    felt = SCALE * vector @ weights.hidden[:DIMENSIONS] + weights.hidden[-1]
    if len(weights.hidden) > DIMENSIONS + 1:
        felt += SCALE * read_places(text) @ weights.hidden[DIMENSIONS:-1]
    odds = float(np.maximum(felt, 0.0) @ weights.out[:-1] + weights.out[-1])
    if weights.spelled is not None:
        share = load_cards()[head].get("weighs", {})
        spelling = hash_ngrams(text).log_odds(weights.spelled) + float(weights.spelled[-1])
        odds = share["meant"] * odds + share["spelled"] * spelling + share["intercept"]
    return float(1 / (1 + np.exp(-odds)))


def weigh_message(piece: float, whole: float) -> float:
    """The chance that only the user can have told what a message asks.

    Args:
        piece: that of its likeliest sentence or clause.
        whole: that of the message read as one text.
    """
    weights = load_cards()["personal"]["message"]
    odds = weights["piece"] * log_odds(piece) + weights["whole"] * log_odds(whole) + weights["intercept"]
    return 1 / (1 + math.exp(-odds))


def log_odds(chance: float) -> float:
    """The log-odds of a chance, as far as a head can tell."""
    likely = min(max(chance, _LEAST), 1 - _LEAST)
    return math.log(likely / (1 - likely))


def answer_affinities(questions: Weights, lines: Weights) -> Weights:
    """How often people ask so for what is told so, beyond what the cosine of the two says.

    Args:
        questions: what `read_request` gives of each question, a row each.
        lines: vectors at unit length, a row for each line that was told.

    Returns:
        A row for each question, a column for each line, about -1 to 1; zeros for what is not of the shipped embedding.
    """
    if questions.shape[1] != REQUEST or lines.shape[1] != DIMENSIONS:
        return np.zeros((len(questions), len(lines)), np.float32)
    told, sought = _load_projections("answer").told, _seek_answers(questions)
    return row_products(row_products(sought, told[:-1]), lines) + row_products(sought, told[-1:])


def _seek_answers(questions: Weights) -> Weights:
    """What each question seeks: a part that its vector tells, and a hidden layer on all that is read of it."""
    asked, _, hidden, out = _load_projections("answer")
    felt = np.maximum(row_products(questions, hidden[:-1].T) + hidden[-1], 0.0)
    return row_products(questions[:, :DIMENSIONS], asked[:-1].T) + asked[-1] + row_products(felt, out.T)


def asked_direction(line: Vector) -> Vector:
    """The direction, at unit length, in which lie the questions that a line answers, by their vectors alone."""
    if line.size != DIMENSIONS:
        return line
    asked, told, _, _ = _load_projections("answer")
    return _at_unit_length(line + asked[:-1] @ (line @ told[:-1] + told[-1]))


def change_odds(line: Vector) -> float:
    """The log-odds that a line tells of something that is otherwise now, whatever that is; 0 of another embedding."""
    if line.size != DIMENSIONS:
        return 0.0
    weights = read_weights("changes.npz")["change"]  # the bias last
    return float(SCALE * line @ weights[:-1] + weights[-1])


def answering_direction(question: Vector) -> Vector:
    """The direction, at unit length, in which lie the lines that answer a question; see `read_request`."""
    if question.size != REQUEST:
        return question
    told = _load_projections("answer").told
    return _at_unit_length(question[:DIMENSIONS] + told[:-1] @ _seek_answers(question[None, :])[0])


def limit_odds(requests: Weights, facts: Weights) -> Weights:
    """The log-odds that what was told limits the answer to what is asked for: a nut allergy, a dinner.

    Args:
        requests: what `read_request` gives of each sentence of a message, a row each.
        facts: vectors at unit length, a row for each fact that was told.

    Returns:
        A row for each sentence, a column for each fact; of what is not of the shipped embedding very low.
    """
    asked, told, _, _ = _load_projections("limits")
    if requests.shape[1] != REQUEST or facts.shape[1] != DIMENSIONS:
        return np.full((len(requests), len(facts)), LOWEST, np.float32)
    card = load_cards()["limits"]
    meant = requests @ asked[:-1] + asked[-1]
    sought = card["cosine"] * requests[:, :DIMENSIONS] + meant @ told[:-1].T
    return row_products(sought, facts) + (meant @ told[-1] + card["intercept"])[:, None].astype(np.float32)


def read_request(text: str, vector: Vector) -> Vector:
    """What is read of what asks for something: its vector, and beside it what the encoder saw at its places.

    Of any other embedding the vector alone.
    """
    return np.concatenate([vector, read_places(text)]) if vector.size == DIMENSIONS else vector


def vector_of(request: Vector) -> Vector:
    """The vector in what `read_request` gives."""
    return request[:DIMENSIONS] if request.size == REQUEST else request


def read_places(text: str) -> Vector:
    """What the shipped encoder saw at the places of a text; see `insula.language.encoder`."""
    from insula.language import encoder  # it loads the embedding, which not everybody has

    return encoder.read_places(text)


def row_products(first: Weights, second: Weights) -> Weights:
    """The product of each row of one matrix with each of another.

    One row after the other, and in parts: OpenBLAS shares a product of more than 2^18 steps among threads, which spin
    as they wait (15 ms of CPU for 3 rows with 400, instead of 0.1).
    """
    at_once = max(1, SHARED // max(1, second.shape[1]))
    parts = [second[at : at + at_once] for at in range(0, len(second), at_once)]
    products = [np.concatenate([part @ row for part in parts]) for row in first] if parts else []
    return np.array(products, np.float32).reshape(len(first), len(second))


def limit_direction(request: Vector) -> Vector:
    """The direction, at unit length, in which lie the facts that limit the answer to a request; see `read_request`."""
    if request.size != REQUEST:
        return request
    asked, told, _, _ = _load_projections("limits")
    sought = load_cards()["limits"]["cosine"] * request[:DIMENSIONS]
    return _at_unit_length(sought + told[:-1] @ (request @ asked[:-1] + asked[-1]))


def _at_unit_length(sought: Vector) -> Vector:
    return (sought / np.linalg.norm(sought)).astype(np.float32)


def operating_point(head: HeadName, action: str) -> float:
    """The operating point of a head: the chance from which an action is taken."""
    return load_cards()[head]["points"][action]


def load_cards() -> Cards:
    """The cards of all heads."""
    return load_table("heads.json", __package__)


@cache
def _load_head(name: HeadName) -> Head:
    return Head(**_weights_of(name))


@cache
def _load_projections(name: Literal["answer", "limits"]) -> Projections:
    return Projections(**_weights_of(name))


def _weights_of(head: str) -> Mapping[str, Weights]:
    """The weights of a head, by the name of their part."""
    return {
        name.removeprefix(f"{head}_"): weights
        for name, weights in read_weights("heads.npz").items()
        if name.startswith(f"{head}_")
    }


@cache
def read_weights(file_name: str) -> Mapping[str, Weights]:
    """The weights in a file of this package, by name; of the widest a byte each is stored, and beside them what each
    column is multiplied by."""
    with (files("insula.language") / file_name).open("rb") as file:
        raw = np.load(file, allow_pickle=False)
        weights = {name: raw[name].astype(np.float32) for name in raw.files}
    return {name: each * weights.get(f"{name}_step", 1) for name, each in weights.items() if not name.endswith("_step")}
