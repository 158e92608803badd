"""What recall brought: the memories, best first, each with what it has to do with what is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from insula.memory import statements
from insula.memory.assertion import Question
from insula.memory.bearing import Judged, Told, judged
from insula.memory.cue import Cue, Statistics, content_weights
from insula.memory.encoding import USER, load, terms_of
from insula.memory.item import LINE_CHARS
from insula.memory.matter import beyond_chance
from insula.memory.recall import NO_MATCH, Item, Scored, Standing, match, rank, standing
from insula.memory.rows import Place, Proposed, Said
from insula.memory.vectors import Vector, cosines, nearness
from insula.types import Recalled

FIT: Mapping[str, float] = {"answers": 0.8, "history": 0.8, "bears": 0.3}
"""What its nearness to the question adds to the rank of a memory, by what it has to do with it."""
ANSWERS, BEARS = 0.5, 0.2
"""The least score of a memory that answers, and of one that bears on what is asked."""


class Recollection(NamedTuple):
    """What recall brought."""

    recalled: tuple[Recalled, ...]
    """Memories, best first."""
    statistics: Statistics
    """What they were scored with."""
    standing: Standing
    """Whom the candidates are about."""
    said: tuple[Said, ...] = ()
    """Lines of the session's transcript, oldest first."""
    asked: tuple[Question, ...] = ()
    """What was asked."""
    unscored: int = 0
    """Memories that share words with it and were not looked at, since fewer candidates were wished."""


class Found(NamedTuple):
    """What was read for a cue."""

    statistics: Statistics
    rows: Sequence[Proposed]
    """The candidates and the turns around them."""
    told: Sequence[Told]
    """Their statements."""
    said: tuple[Said, ...]
    unscored: int = 0


def recollected(
    place: Place,
    cue: Cue,
    found: Found,
    asked: Sequence[Question],
    vector: Vector | None,
    now: float,
    limit: int,
) -> Recollection:
    """The best `limit` of what was found."""
    content = content_weights(cue, found.statistics)
    items = _items(place, found.rows, cue, content, vector)
    held = {item.id: item for item in items}
    memories = found.statistics.memories
    weighed = {item.id for item in items if _is_judged(item, asked)}
    told = [one for one in found.told if one.memory in weighed]
    fits = judged(asked, told, memories)
    scored = {one.item.id: one for one in rank(cue, items, found.statistics, now, len(items))}
    for memory, one in fits.items():
        if memory not in scored and one.bearing != "other":
            scored[memory] = Scored(held[memory], 0.0, {})
    by_id = {row.id: row for row in found.rows}
    lines = {memory: by_id[memory].line for memory in fits}
    order = _order(scored, fits)
    recalled = tuple(
        _recalled(scored[memory], by_id[memory], fits.get(memory), lines, memories) for memory in order[:limit]
    )
    about = standing(cue, items, content)
    return Recollection(recalled, found.statistics, about, found.said, tuple(asked), found.unscored)


def _is_judged(item: Item, asked: Sequence[Question]) -> bool:
    """Whether the statements of a memory are weighed: those of the user, and of tools what concerns somebody.

    Of talk between others they are not: there nearness in matter says less than who said it when (LoCoMo). Nor of a
    page, which states many things, and whose words say more than any of them (MTRAG).
    """
    if item.provenance == "tool":
        return len(item.content) <= LINE_CHARS and any(one.subjects for one in asked)
    return item.speaker == USER


def _order(scored: Mapping[int, Scored], fits: Mapping[int, Judged]) -> list[int]:
    """The memories, best first; the newer one that ended another, or may have changed it, stands before it."""
    worth = {memory: one.score + _worth(fits.get(memory)) for memory, one in scored.items()}
    for old, one in sorted(fits.items()):
        new = one.taken_by[-1] if one.taken_by else 0
        if old in worth and new in worth:
            worth[new] = max(worth[new], worth[old] + (new - old) * 1e-9)
    return sorted(worth, key=lambda memory: (-worth[memory], -memory))


def _worth(one: Judged | None) -> float:
    return FIT.get(one.bearing, 0.0) * max(one.fit, 0.0) if one is not None else 0.0


def _items(
    place: Place, rows: Sequence[Proposed], cue: Cue, content: Mapping[str, float], vector: Vector | None
) -> list[Item]:
    """The rows that may be recalled, each matched against the cue together with the turns around it."""
    matches = {row.id: match(cue, content, row.claims) for row in rows}
    near = [0.0] * len(rows) if vector is None else cosines(vector, [row.vector for row in rows])
    following = {row.after_id: row.id for row in rows if row.after_id}
    return [
        Item(
            id=row.id,
            provenance=row.provenance,
            kind=row.kind,
            speaker=row.speaker,
            language=row.language,
            content=row.content,
            match=matches[row.id],
            before=matches.get(row.after_id or 0, NO_MATCH),
            after=matches.get(following.get(row.id, 0), NO_MATCH),
            said_at=row.said_at,
            uses=row.uses,
            used_at=row.used_at,
            cosine=nearness(one),
            session=row.session_id,
        )
        for row, one in zip(rows, near, strict=True)
        if row.retired_at is None
        and row.kind != "meta_reflection"
        and row.provenance != "derived"
        and not row.withheld
        and (row.promoted_at is not None or row.session_id == place.session_id)
    ]


def _recalled(scored: Scored, row: Proposed, one: Judged | None, lines: Mapping[int, str], memories: int) -> Recalled:
    terms = frozenset(terms_of(load(row.claims)))
    plain = Recalled(memory=statements.memory(row), score=scored.score, parts=scored.parts, terms=terms)
    if one is None:
        return plain
    least = {"answers": min(ANSWERS + max(one.fit, 0.0) / 2, 0.95), "history": ANSWERS, "bears": BEARS}
    return replace(
        plain,
        score=max(scored.score, least.get(one.bearing, 0.0)) if one.fit >= beyond_chance(memories) else scored.score,
        bearing=one.bearing,
        reason=one.reason,
        fit=one.fit,
        until=None if one.until is None else statements.moment(one.until),
        before=next((lines[memory] for memory in one.took), ""),
    )
