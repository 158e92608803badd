"""What recall brought: the memories, best first, each with what it has to do with what is asked."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from insula.language.heads import load_cards, vector_of
from insula.language.owner import ASSISTANT, NOBODY, SOMEBODY, USER, find_owners
from insula.language.statements import MessageQuestion, Statement
from insula.memory.item import LINE_CHARS
from insula.memory.relevance import (
    ANSWERS,
    UNREAL,
    Relevance,
    describe_expected,
    find_expected,
    find_limits,
    find_nearness,
    find_tasks,
    judge_relevance,
    weigh_expected,
)
from insula.memory.retrieval.matching import holds_answer, is_about
from insula.memory.retrieval.query import Cue, Statistics, content_weights, load_terms
from insula.memory.retrieval.scoring import (
    NO_MATCH,
    Item,
    ScoredItem,
    SubjectSides,
    find_subjects,
    match_claims,
    score_items,
)
from insula.memory.storage import statements
from insula.memory.storage.queries import StoredQuery
from insula.memory.storage.rows import CandidateMemory, Place, StoredStatement, TranscriptLine
from insula.memory.storage.vectors import Vector, cosine_nearness, cosines_with, unpack_vectors
from insula.text.answers import AskKind
from insula.types import Recalled

MOST_LIMITS = 3
"""Memories that are said to limit one answer at most."""


class Recollection(NamedTuple):
    """What recall brought."""

    recalled: tuple[Recalled, ...]
    """Memories, best first."""
    statistics: Statistics
    """What they were scored with."""
    standing: SubjectSides
    """Whom the candidates are about."""
    said: tuple[TranscriptLine, ...] = ()
    """Lines of the session's transcript, oldest first."""
    unscored: int = 0
    """Memories that share words with it and were not looked at, since fewer candidates were wished."""
    limits: tuple[Recalled, ...] = ()
    """What the user told that limits the answer, the likeliest first."""
    tasks: frozenset[str] = frozenset()
    """The keys of the preferences that are limited to such tasks as are asked for."""


class RetrievedRows(NamedTuple):
    """What was read for a cue."""

    statistics: Statistics
    rows: Sequence[CandidateMemory]
    """The candidates and the turns around them."""
    told: Sequence[StoredStatement]
    """Their statements."""
    said: tuple[TranscriptLine, ...]
    unscored: int = 0
    predicted: Sequence[StoredQuery] = ()
    """The queries that were predicted for them."""


def rank_memories(
    place: Place,
    cue: Cue,
    retrieved: RetrievedRows,
    asked: Sequence[MessageQuestion],
    sought: Sequence[Vector],
    requests: Sequence[Vector],
    now: float,
    limit: int,
) -> Recollection:
    """The best `limit` of what was found.

    Args:
        found: what was read for it.
        sought: what is read of the message, the whole of it first; see `insula.language.heads.read_request`.
        requests: what is read of the message and all its sentences, where what limits its answer is sought.
        limit: how many memories at most.
    """
    content = content_weights(cue, retrieved.statistics)
    items = _match_rows(place, retrieved.rows, cue, content, vector_of(sought[0]) if sought else None)
    scored = score_items(cue, items, retrieved.statistics, now)
    held = _collect_vectors(retrieved)
    near = find_nearness(sought, held) if asked else {}
    expected = describe_expected(sought, retrieved.predicted) if asked else {}
    lines: dict[int, Mapping[str, float]] = {
        item.row.id: {
            **(scored[item.row.id].parts if item.row.id in scored else {}),
            **near.get(item.row.id, {}),
            **expected.get(item.row.id, {}),
        }
        for item in items
        if _is_judged(item, asked)
    }
    relevance = judge_relevance(
        asked, lines, [stored for stored in retrieved.told if stored.memory in lines], is_meant=bool(sought)
    )
    for item in items:
        bearing = relevance.get(item.row.id)
        if bearing is not None and (item.row.id in scored or "about" in bearing.parts or bearing.ended):
            scored[item.row.id] = ScoredItem(item, bearing.chance, bearing.parts)
    by_id, items_by_id = {row.id: row for row in retrieved.rows}, {item.row.id: item for item in items}
    recalled = tuple(
        _make_recalled(scored[number], by_id, relevance.get(number), retrieved.told)
        for number in _choose_best(_order_memories(scored, relevance), relevance, limit)
    )
    about = find_subjects(cue, items, content)
    limits = tuple(  # whole lines: what of them answers is no excerpt of what limits
        _make_recalled(scored.get(number) or ScoredItem(items_by_id[number], 0.0, {}), by_id, relevance.get(number), ())
        for number in _find_limiting(requests, retrieved, held, items_by_id)
    )
    tasks = find_tasks(requests, retrieved.predicted)
    return Recollection(recalled, retrieved.statistics, about, retrieved.said, retrieved.unscored, limits, tasks)


def _collect_vectors(retrieved: RetrievedRows) -> list[tuple[int, Vector]]:
    """Of each memory the vector of its line, where it has one, and those of its statements."""
    whole = zip((row.id for row in retrieved.rows), unpack_vectors([row.vector for row in retrieved.rows]), strict=True)
    stated = ((stored.memory, stored.statement.vector) for stored in retrieved.told)
    return [(memory, vector) for memory, vector in (*whole, *stated) if vector is not None]


def _find_limiting(
    requests: Sequence[Vector],
    retrieved: RetrievedRows,
    held: Sequence[tuple[int, Vector]],
    items: Mapping[int, Item],
) -> list[int]:
    """The user's own memories that likely limit the answer, the likeliest first: what they stated, and meant."""
    if not requests:
        return []
    meant = {stored.memory for stored in retrieved.told if stored.statement.modality not in UNREAL}
    meant -= {stored.memory for stored in retrieved.told if stored.by_tool}
    own = [
        (memory, vector)
        for memory, vector in held
        if memory in meant and memory in items and items[memory].row.speaker == USER
    ]
    odds = find_limits(requests, own)
    odds |= {
        memory: weigh_expected("limit", odds[memory], cosine)
        for memory, cosine in find_expected("request", requests, retrieved.predicted).items()
        if memory in odds
    }
    least = load_cards()["limits"]["points"]["show"]
    likely = (number for number in odds if odds[number] >= least)
    return sorted(likely, key=lambda number: (-odds[number], -number))[:MOST_LIMITS]


_OF_THINGS: frozenset[AskKind] = frozenset({"time", "place", "number"})
"""What may be asked of a thing of the user's, and a tool may have told: "When does my parcel come?", not "my name"."""


def _is_judged(item: Item, asked: Sequence[MessageQuestion]) -> bool:
    """Whether it is judged how likely a memory answers: the user's own, and a short one of a tool on somebody.

    Of talk between others it is not: there nearness says less than who said it when (LoCoMo). Nor of a page, which
    states many things, and whose words say more than any of them (MTRAG). Nor of a tool's where the message asks about
    the user: what it brought may come from anybody, and is never the user's statement of themselves.
    """
    if item.row.provenance == "tool":
        on_somebody = any(question.subjects for question in asked) and not any(map(_asks_about_user, asked))
        return len(item.row.content) <= LINE_CHARS and on_somebody
    return item.row.speaker == USER


def _asks_about_user(question: MessageQuestion) -> bool:
    """Whether a question asks about the user; of what is theirs, whether more than when, where and how much."""
    about = find_owners(question.text, question.language, USER, ASSISTANT)
    theirs = any(path == USER or path.startswith(f"{USER}/") for path in about.mentions)
    return USER in about.pronouns or (theirs and question.ask.kind not in _OF_THINGS)


def _order_memories(scored: Mapping[int, ScoredItem], relevance: Mapping[int, Relevance]) -> list[int]:
    """The memories, best first; the newer one that ended another stands before it."""
    worth = {memory: item.score for memory, item in scored.items()}
    for old, bearing in sorted(relevance.items()):
        if old in worth and bearing.ended_by in worth:
            worth[bearing.ended_by] = max(worth[bearing.ended_by], worth[old] + (bearing.ended_by - old) * 1e-9)
    return sorted(worth, key=lambda memory: (-worth[memory], -memory))


def _choose_best(ordered: Sequence[int], relevance: Mapping[int, Relevance], limit: int) -> list[int]:
    """The first memories, in their order; the replies to a question asked again drive out no line that answers."""
    answering = {memory for memory in ordered if memory in relevance and relevance[memory].odds >= ANSWERS}
    kept = frozenset(sorted(ordered, key=lambda memory: memory not in answering)[:limit])
    return [memory for memory in ordered if memory in kept]


def _match_rows(
    place: Place, rows: Sequence[CandidateMemory], cue: Cue, content: Mapping[str, float], vector: Vector | None
) -> list[Item]:
    """The rows that may be recalled, each matched against the cue together with the turns around it."""
    matches = {row.id: match_claims(cue, content, row.claims) for row in rows}
    near = [0.0] * len(rows) if vector is None else cosines_with(vector, [row.vector for row in rows])
    following = {row.after_id: row.id for row in rows if row.after_id}
    return [
        Item(
            row,
            matches[row.id],
            before=matches.get(row.after_id or 0, NO_MATCH),
            after=matches.get(following.get(row.id, 0), NO_MATCH),
            cosine=cosine_nearness(how_near),
        )
        for row, how_near in zip(rows, near, strict=True)
        if row.retired_at is None
        and row.kind != "meta_reflection"
        and row.provenance != "derived"
        and not row.withheld
        and (row.promoted_at is not None or row.session_id == place.session_id)
    ]


def _make_recalled(
    scored: ScoredItem, rows: Mapping[int, CandidateMemory], bearing: Relevance | None, told: Sequence[StoredStatement]
) -> Recalled:
    row = scored.item.row
    memory, terms = statements.read_memory(row), frozenset(load_terms(row.claims))
    if bearing is None:
        return Recalled(memory=memory, score=scored.score, parts=scored.parts, terms=terms)
    return Recalled(
        memory=memory,
        score=scored.score,
        parts=scored.parts,
        terms=terms,
        bearing=bearing.bearing,
        odds=bearing.odds,
        until=None if bearing.until is None else statements.utc_moment(bearing.until),
        before=next((rows[memory].line for memory in bearing.ended), ""),
        excerpt=_excerpt_row(row, bearing, told),
    )


def _excerpt_row(row: CandidateMemory, bearing: Relevance, told: Sequence[StoredStatement]) -> str:
    """What of a line is told; "" where it is the whole of it."""
    if bearing.asked is None or bearing.answer is None or not row.line:
        return ""
    stated = [each.statement for each in told if each.memory == row.id]
    said = excerpt_line(row.line, bearing.asked, bearing.answer, stated) if len(stated) > 1 else row.line
    return said if said != row.line else ""


BETWEEN = " … "
"""What stands for the clauses that were left out between two others."""
SCRAP = 1
"""A clause of fewer content words says nothing without the one before it."""
_END = ".!?。！？"


def excerpt_line(line: str, asked: MessageQuestion, answer: Statement, stated: Sequence[Statement]) -> str:
    """What of a line is told.

    Args:
        line: what may be shown of the memory, in the user's words.
        answer: the statement of the line that likeliest answers it.

    Returns:
        Its clauses but for those that are surely about others, in the words and the order of the line; the line where
        there are none such, where it is not sure whom the answer is about, where people are asked for, or where what is
        left would be a scrap ("not me.").
    """
    if (
        asked.ask.kind == "person"
        or not asked.subjects
        or not is_about(asked, answer.subjects)
        or answer.text not in line
    ):
        return line
    placed = [(at, each) for each in stated if (at := line.find(each.text)) >= 0]
    is_other = [each.text not in answer.text and _is_of_others(asked, each) for _, each in placed]
    holds = {other for (_, each), other in zip(placed, is_other, strict=True) if holds_answer(asked, each)}
    is_scrap = any(not other and len(each.terms) < SCRAP for (_, each), other in zip(placed, is_other, strict=True))
    if not any(is_other) or holds == {True} or is_scrap:
        return line
    spans = sorted((at, at + len(each.text), other) for (at, each), other in zip(placed, is_other, strict=True))
    own = [(at, end) for at, end, other in spans if not other]
    kept: list[tuple[int, int]] = []
    goes_on = False
    for at, end, other in spans:
        if other:
            goes_on = goes_on and any(at < last and first < end for first, last in own)
            continue
        begin, last = kept.pop() if goes_on else (at, end)
        kept.append((begin, max(last, end)))
        goes_on = True
    return BETWEEN.join(_end_sentence(line, *span) for span in kept)


def _is_of_others(asked: MessageQuestion, statement: Statement) -> bool:
    """Whether a statement is surely about others than those asked about, and does not even name them."""
    is_name = len(statement.terms) < 2  # "my daughter, Lison, loves …"
    unsure = is_name or {NOBODY, SOMEBODY, ""} & statement.subjects or not statement.subjects
    return not unsure and not is_about(asked, statement.subjects) and asked.subjects.isdisjoint(statement.mentions)


def _end_sentence(line: str, begin: int, end: int) -> str:
    """A stretch of a line, with the mark that ends its sentence."""
    return line[begin : end + (line[end : end + 1] in _END)].strip(" ,;，、；")
