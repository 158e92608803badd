"""How likely each remembered line answers what is asked, and which of them the user's own newer words ended (K3b, K4).

One score weighs what is known of a line: how near it, or a statement of it, is in meaning to the message or a sentence
of it, how often people ask so for what is told so (a head, `insula.language.heads`), and how many of the message's
words it holds. `make heads` fits it on lives that people who knew nothing of it wrote, and on small talks that set
traps; docs/explanation/heads.md says how well it does. Of whom its likeliest statement is, how that is meant, and
whether it lacks the kind of value asked for, stands beside the score: it bounds what the line may be taken for.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from insula.language.heads import (
    DIMENSIONS,
    Vector,
    answer_affinities,
    asked_direction,
    change_odds,
    limit_odds,
    load_cards,
    log_odds,
    read_request,
    row_products,
    vector_of,
)
from insula.language.owner import ASSISTANT, USER, find_owners, names_among
from insula.language.statements import MessageQuestion, Modality, PredictedQuery, QueryKind, Statement
from insula.memory.retrieval.matching import add_aliases, find_aliases, find_superseded, holds_answer, is_about
from insula.memory.storage.queries import StoredQuery
from insula.memory.storage.rows import StoredStatement
from insula.types import Bearing

ANSWERS, BEARS = -1.0, -3.5
"""Log-odds from which a line counts as one that answers, and as one that bears on what is asked: of 216 lived questions
for which the likeliest line stayed below the second, six were answered by it (`insula_bench.gate`)."""
BESIDE = 1.5
"""By how much the log-odds of a line may stay below the best one's, and it still stands beside it: of lives that others
wrote the line that answers is among them in 86 of 100 questions, with 2.2 lines on average (at 0.8: 82 and 1.6), before
what is asked for nearly alike stood there, too."""
LESS_NEAR, SAME_MATTER = 0.1, 0.54
"""By how much less near a newer line may come to what is asked than the one that answers, and it stands before it; and
the cosine of the questions that both answer from which it does: set by two changes that the tests hold."""
LIKELY_CHANGE = -0.75
"""The log-odds from which a newer line that may answer by itself is taken to change the one that answers, and stands
before it: of 160 changes told after a whole life 67 do, 55 by the two above alone; of 482 questions on what did not
change two fewer get their line first (at -1.5: 75, and six; `insula bench changes`, whose counts were seen)."""
NEVER = -9.0
"""Log-odds of a line that is surely of another, or no fact: said in a game, in jest, or supposed."""
PIECE = 0.2
"""How much less a sentence of a message counts for than the whole of it."""
SEVERAL = 2
"""Questions that were predicted for a line from which on it is less likely where none of them is near: a reader that
sees one alone has not looked at it from all sides."""
NEAREST = 24
"""Statements that are weighed for each question: those that are nearest by their vectors, or by their words."""
PLANNED: frozenset[Modality] = frozenset({"wish", "plan"})
UNREAL: frozenset[Modality] = frozenset({"hypothetical", "fiction", "joke"})
PLAIN = 3
"""Words of content that a plain question has at most: "Where does my uncle live?"."""
STATED = ("about", "theirs", "planned", "unreal", "lacks")
"""What is said of the likeliest statement: it is about those asked about, surely about another of the user's people,
planned, unreal, or lacks the kind of value asked for."""
NAMES = ("near", "near_affinity", "overlap", "intercept")
"""All that is weighed, in this order; without vectors, the words in common alone."""


class Relevance(NamedTuple):
    """What a line has to do with what is asked."""

    odds: float
    """The log-odds that it answers."""
    parts: Mapping[str, float]
    """What is known of it."""
    until: float | None = None
    """When the user said that it is over."""
    ended_by: int = 0
    """The newer memory that says so; 0 where none does."""
    ended: tuple[int, ...] = ()
    """Those that it ended, the latest first."""
    asked: MessageQuestion | None = None
    """What of the message it answers, if anything."""
    answer: Statement | None = None
    """The statement of it that likeliest does."""

    @property
    def chance(self) -> float:
        """How likely it answers, in [0, 1]."""
        return 1 / (1 + math.exp(-self.odds))

    @property
    def bearing(self) -> Bearing:
        """The same as a word."""
        if self.odds < BEARS:
            return "other"
        if self.until is not None:
            return "history"
        return "answers" if self.odds >= ANSWERS else "bears"


def judge_relevance(
    asked: Sequence[MessageQuestion],
    lines: Mapping[int, Mapping[str, float]],
    told: Sequence[StoredStatement],
    *,
    is_meant: bool,
) -> dict[int, Relevance]:
    """What each of some lines has to do with what is asked.

    Args:
        asked: what the message asks, each with its vector where there are vectors.
        lines: by its memory, what recall knows of each line, `overlap` and `cosine` among it, each in [0, 1].
        is_meant: whether the message has vectors; without, or where those of a line are still to come, the words in
            common alone tell.
    """
    best = best_statements(asked, told)
    ends = find_superseded(told)
    ended: dict[int, list[int]] = {}
    for old, new in sorted(ends.items(), reverse=True):
        ended.setdefault(new, []).append(old)
    said_at = {stored.ended_by: stored.ended_at for stored in told} | {stored.memory: stored.said_at for stored in told}
    read = {stored.memory for stored in told if stored.statement.vector is not None}
    relevance: dict[int, Relevance] = {}
    for memory, parts in lines.items():
        answer = best.get(memory)
        weighed = {**parts, **(answer.parts if answer else {})}
        ended_by = ends.get(memory, 0)
        until = said_at[ended_by] if ended_by else None
        has_vector = memory in read or weighed.get("cosine", 0.0) > 0
        is_another = bool(weighed.get("theirs") or weighed.get("unreal"))
        odds = NEVER if is_another else answer_odds(weighed, is_meant=is_meant and has_vector)
        relevance[memory] = Relevance(odds, weighed, until, ended_by, tuple(ended.get(memory, ())))
        if answer:
            relevance[memory] = relevance[memory]._replace(asked=answer.asked, answer=answer.statement)
    return _with_changes(_with_enders(relevance), told)


def find_limits(requests: Sequence[Vector], told: Sequence[tuple[int, Vector]]) -> dict[int, float]:
    """By their memory, the log-odds with which what was told limits the answer to any of some sentences.

    Args:
        requests: what is read of each sentence; see `insula.language.heads.read_request`.
        told: of each memory, the vector of the whole line and of each of its statements.
    """
    read = [(memory, vector) for memory, vector in told if vector.size == DIMENSIONS]
    if not (requests and read):
        return {}
    best = limit_odds(np.array(requests), np.array([vector for _, vector in read])).max(axis=0)
    by_memory: dict[int, float] = {}
    for (memory, _), odds in zip(read, map(float, best), strict=True):
        by_memory[memory] = max(odds, by_memory.get(memory, odds))
    return by_memory


def find_nearness(sought: Sequence[Vector], vectors: Sequence[tuple[int, Vector]]) -> dict[int, dict[str, float]]:
    """By its memory, how near it comes to a message: `near`, a cosine, and `near_affinity` beside it.

    Args:
        sought: what is read of the message, the whole of it first, and of its sentences; see
            `insula.language.heads.read_request`.
        vectors: of each memory, that of the whole line and of each of its statements.
    """
    asked = np.array([vector_of(request) for request in sought])
    read = [(memory, vector) for memory, vector in vectors if sought and vector.size == asked.shape[1]]
    if not read:
        return {}
    rows = np.array([vector for _, vector in read])
    cosines, affinity = row_products(asked, rows), answer_affinities(np.array(sought), rows)
    cosines[1:] -= PIECE
    nearest = (cosines + affinity).argmax(axis=0)
    nearness: dict[int, dict[str, float]] = {}
    for at, (memory, _) in enumerate(read):
        near, beside = float(cosines[nearest[at], at]), float(affinity[nearest[at], at])
        before = nearness.get(memory)
        if before is None or near + beside > before["near"] + before["near_affinity"]:
            nearness[memory] = {"near": near, "near_affinity": beside}
    return nearness


def find_expected(kind: QueryKind, sought: Sequence[Vector], predicted: Sequence[StoredQuery]) -> dict[int, float]:
    """By its memory, the cosine of a message and of the nearest query of a kind that was predicted for it.

    Args:
        sought: what is read of the message and of its sentences; see `insula.language.heads.read_request`.
        predicted: what the user's own model predicted for the memories; for those without, nothing is told.
    """
    asked = np.array([vector_of(request) for request in sought])
    read = [query for query in predicted if query.kind == kind and sought and query.vector.size == asked.shape[1]]
    if not read:
        return {}
    cosines = row_products(asked, np.array([query.vector for query in read])).max(axis=0)
    expected: dict[int, float] = {}
    for query, cosine in zip(read, map(float, cosines), strict=True):
        expected[query.memory] = max(cosine, expected.get(query.memory, cosine))
    return expected


def describe_expected(sought: Sequence[Vector], predicted: Sequence[StoredQuery]) -> dict[int, dict[str, float]]:
    """By its memory, the cosine of a message and of the nearest question that was predicted for it (`expected`), and
    how many were (`questions`)."""
    counts = Counter(query.memory for query in predicted if query.kind == "question")
    near = find_expected("question", sought, predicted)
    return {memory: {"expected": cosine, "questions": float(counts[memory])} for memory, cosine in near.items()}


def find_tasks(requests: Sequence[Vector], predicted: Sequence[StoredQuery]) -> frozenset[str]:
    """The keys of the preferences that are limited to such tasks as are asked for.

    Args:
        requests: what is read of the message and of its sentences.
        predicted: what the user's own model predicted for the memories.
    """
    limited = [query._replace(memory=number) for number, query in enumerate(predicted) if query.kind == "task"]
    least = load_cards()["predicted"]["task"]["least"]
    near = find_expected("task", requests, limited)
    return frozenset(query.preference for query in limited if near.get(query.memory, 0.0) >= least)


def is_needed_for(query: PredictedQuery, personal: float, statement: Vector) -> bool:
    """Whether a query that a model predicted may be kept for a statement: that is likely needed for it.

    Else a question of the world that is predicted for a fact would bring the fact up whenever somebody asks it. Of the
    questions that people wrote 95 in 100 are kept, of questions of the world set beside any statement some three
    (`insula_bench.predicted`).

    Args:
        query: with its vector.
        personal: the chance that only the user can have told what it asks.
        statement: what the statement means.
    """
    if query.vector is None or query.vector.size != DIMENSIONS or statement.size != DIMENSIONS:
        return False
    asked, facts = read_request(query.text, query.vector)[None, :], statement[None, :]
    least = load_cards()["predicted"]["least"][query.kind]
    if query.kind == "request":
        return float(limit_odds(asked, facts)[0, 0]) >= least
    parts = {"near": float(query.vector @ statement), "near_affinity": float(answer_affinities(asked, facts)[0, 0])}
    return answer_odds(parts) + min(log_odds(personal), 0.0) >= least


class LikeliestAnswer(NamedTuple):
    """The statement of a memory that likeliest answers any of what is asked."""

    worth: float
    parts: Mapping[str, float]
    """What is known of it."""
    asked: MessageQuestion
    statement: Statement


def best_statements(asked: Sequence[MessageQuestion], told: Sequence[StoredStatement]) -> dict[int, LikeliestAnswer]:
    """By its memory, the statement that likeliest answers any of what is asked."""
    named = find_aliases(stored.statement.subjects for stored in told)
    best: dict[int, LikeliestAnswer] = {}
    for question in asked:
        about = question._replace(subjects=add_aliases(question.subjects, named), request=None)
        for stored, nearness in _rank_nearest(question, told):
            parts: dict[str, float] = dict(zip(STATED, describe_statement(about, stored.statement), strict=True))
            worth = nearness + NEVER * (parts["theirs"] or parts["unreal"])
            if stored.memory not in best or worth > best[stored.memory].worth:
                best[stored.memory] = LikeliestAnswer(worth, parts, about, stored.statement)
    return best


def _rank_nearest(
    question: MessageQuestion, told: Sequence[StoredStatement]
) -> Iterator[tuple[StoredStatement, float]]:
    """The statements nearest to a question, each with how near it is."""
    if question.request is None:
        shared = sorted(told, key=lambda stored: -len(question.terms & stored.statement.terms))
        yield from ((stored, 0.0) for stored in shared[:NEAREST])
        return
    asked = vector_of(question.request)
    read = [
        (stored, vector)
        for stored in told
        if (vector := stored.statement.vector) is not None and vector.size == asked.size
    ]
    if not read:
        return
    rows = np.array([vector for _, vector in read])
    nearness = rows @ asked + answer_affinities(question.request[None, :], rows)[0]
    for at in map(int, np.argsort(-nearness, kind="stable")[:NEAREST]):
        yield read[at][0], float(nearness[at])


def describe_statement(question: MessageQuestion, statement: Statement) -> tuple[float, ...]:
    """What is said of a statement beside a question, in the order of `STATED`."""
    return (
        float(is_about(question, statement.subjects)),
        float(_is_theirs(question, statement)),
        float(statement.modality in PLANNED and not _is_meant(question, statement)),
        float(statement.modality in UNREAL and not _is_meant(question, statement)),
        float(holds_answer(question, statement) is False),
    )


def _is_theirs(question: MessageQuestion, statement: Statement) -> bool:
    """Whether a statement is surely of another than a plain question is about: of my sister, not of me or my uncle.

    The question names one being alone, the user or one of theirs, and the statement others of theirs alone.
    """
    if len(question.terms) > PLAIN or is_about(question, statement.subjects):
        return False
    mentions = find_owners(question.text, question.language, USER, ASSISTANT).mentions
    asked, named = question.subjects - names_among(question.subjects), names_among(statement.subjects)
    if len(asked) != 1 or mentions - names_among(mentions) != asked:
        return False  # of nobody, or of several
    if USER in asked and any(name in question.text.casefold() for name in named):
        return False  # "When does Sandro leave us?"
    return USER not in statement.mentions and any("/" in path for path in statement.subjects)


def _is_meant(question: MessageQuestion, statement: Statement) -> bool:
    """Whether a question asks for what is planned or wished, too."""
    how = statement.modality
    if how == question.modality or (how == "plan" and question.ask.kind == "time"):  # "when is my check-up?"
        return True
    return question.modality in {"wish", "plan"} and how in {"wish", "plan", "hypothetical"}


def list_features(parts: Mapping[str, float]) -> tuple[float, ...]:
    """What is weighed of a line, in the order of `NAMES`."""
    return tuple(1.0 if name == "intercept" else parts.get(name, 0.0) for name in NAMES)


def answer_odds(parts: Mapping[str, float], *, is_meant: bool = True) -> float:
    """The log-odds that a line answers.

    Args:
        is_meant: whether there are vectors; without, the words in common alone tell.
    """
    weights = load_cards()["answer"]["meant" if is_meant else "worded"]
    odds = sum(weight * parts.get(name, 0.0) for name, weight in weights.items()) + weights["intercept"]
    if not is_meant or "expected" not in parts:
        return odds
    weighed = weigh_expected("line", odds, parts["expected"])
    return weighed if parts.get("questions", 0.0) >= SEVERAL else max(odds, weighed)


def weigh_expected(what: Literal["line", "limit"], odds: float, expected: float) -> float:
    """The log-odds that a line answers, or limits the answer, where queries were predicted for it.

    Args:
        odds: those without the queries.
        expected: the cosine of what is asked and of the nearest query.
    """
    weights = load_cards()["predicted"][what]
    return weights["odds"] * odds + weights["expected"] * expected + weights["intercept"]


def holding_chance(best: float, *, is_predicted: bool = False) -> float:
    """The chance that memory holds what is asked.

    Args:
        best: the log-odds that the likeliest of the user's lines answers.
        is_predicted: whether queries were predicted for that line.
    """
    cards = load_cards()
    weights = cards["predicted"]["held"] if is_predicted else cards["answer"]["held"]
    return 1 / (1 + math.exp(-(weights["best"] * best + weights["intercept"])))


def _with_enders(relevance: dict[int, Relevance]) -> dict[int, Relevance]:
    """The same, with what ended a line as near to what is asked as that line: both are told."""
    for bearing in list(relevance.values()):
        newer = relevance.get(bearing.ended_by)
        if newer is not None and newer.odds < bearing.odds:
            relevance[bearing.ended_by] = newer._replace(odds=bearing.odds)
    return relevance


def _with_changes(relevance: dict[int, Relevance], told: Sequence[StoredStatement]) -> dict[int, Relevance]:
    """The same, with what the user said later of the matter of the line that answers as near as that line.

    What a newer line changes it seldom says in words that only a change has ("rent's 950 from May"); that both lines
    are of one matter, and that the newer may answer by itself, tells it better.
    """
    best = max(relevance, key=lambda memory: relevance[memory].odds, default=0)
    if not best or relevance[best].odds < ANSWERS:
        return relevance
    likeliest, point = relevance[best], load_cards()["changes"]["points"]["beside"]
    asked_for = read_direction(likeliest)
    for memory in {stored.memory for stored in told if not stored.by_tool}:
        newer = relevance[memory]
        if memory > best and NEVER < newer.odds <= likeliest.odds:
            parts = describe_change(newer, asked_for)
            if _is_of_same_matter(newer, likeliest, parts) or _is_likely_change(newer, parts):
                relevance[memory] = newer._replace(odds=likeliest.odds)
                relevance[best] = likeliest._replace(parts={**likeliest.parts, "changed": 1.0})
            elif parts and weigh_change(parts) >= point:
                relevance[memory] = newer._replace(odds=max(newer.odds, likeliest.odds - BESIDE))
    return relevance


def _is_of_same_matter(newer: Relevance, older: Relevance, parts: Mapping[str, float]) -> bool:
    """Whether people ask for two lines alike, and the newer comes about as near to what is asked.

    Without vectors, that they share a word decides.

    Args:
        parts: what is known of the two; see `describe_change`.
    """
    if newer.odds < BEARS or not parts:
        return newer.odds >= BEARS and _share_words(newer, older)
    return parts["alike"] >= SAME_MATTER and parts["near"] >= _nearness(older) - LESS_NEAR


def _is_likely_change(newer: Relevance, parts: Mapping[str, float]) -> bool:
    """Whether a line that may answer by itself likely changes an older one: "I changed doctors, it's Dr Lowe now."."""
    return bool(parts) and newer.odds >= ANSWERS and weigh_change(parts) >= LIKELY_CHANGE


def _nearness(relevance: Relevance) -> float:
    """How near a line comes to what is asked by its meaning; a change seldom repeats the words in common."""
    return relevance.parts.get("near", 0.0) + relevance.parts.get("near_affinity", 0.0)


def weigh_change(parts: Mapping[str, float]) -> float:
    """The log-odds that a line changes the matter of an older one that answers, of what `describe_change` knows."""
    weights = load_cards()["changes"]["weights"]
    return sum(weights[name] * value for name, value in parts.items()) + weights["intercept"]


def describe_change(newer: Relevance, asked_for: Vector | None) -> dict[str, float]:
    """What is known of a line beside an older one that answers, by the statements that likeliest do; empty without
    vectors.

    Args:
        asked_for: how people ask for the older one; None where that is not known.

    Returns:
        How alike people ask for the two (`alike`, -1 to 1), how likely the newer tells of a change at all (`change`,
        log-odds), and how near it comes to what is asked (`near`).
    """
    if asked_for is None or newer.answer is None or (said := newer.answer.vector) is None:
        return {}
    if said.size != asked_for.size:
        return {}
    alike = float(asked_direction(said) @ asked_for)
    return {"alike": alike, "change": change_odds(said), "near": _nearness(newer)}


def read_direction(answering: Relevance) -> Vector | None:
    """The direction in which lie the questions that are asked for a line, by the statement that likeliest answers."""
    said = answering.answer.vector if answering.answer else None
    return None if said is None else asked_direction(said)


def _share_words(newer: Relevance, older: Relevance) -> bool:
    if newer.answer is None or older.answer is None:
        return False
    return not newer.answer.terms.isdisjoint(older.answer.terms)
