"""What a reflection does with guidance that stands: keep, merge, reword, retire; each cites sessions, and is checked.

A model proposes, and may be wrong in any way: what is unknown, ungrounded, opposite, a person's own or too much for one
night is refused with its reason, and what is done can be undone.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from insula.memory.storage.changes import Change, Retired, Reworded
from insula.memory.storage.rows import StoredGuidance
from insula.memory.storage.vectors import Embed
from insula.night import distil, grounding
from insula.night.agreement import says_opposite
from insula.night.grounding import ABOUT_PEOPLE, CitedProposal, Ground, keeps_sense, read_text, speaks_against

MOST = 12
"""Operations that are read of one reflection."""
RETIRED = 0.3
"""Share of the guidance that one night may retire, as for the document; one piece always."""
TEXT = 300
"""Characters of a text, at most."""
MERGED, CITED = 8, 100
"""Pieces of one operation, and sessions that it cites, at most."""
NIGHT = "night"

Id = Annotated[str, Field(max_length=40)]


class Operation(BaseModel):
    """What becomes of some guidance."""

    do: Literal["keep", "merge", "reword", "retire"]
    ids: Annotated[list[Id], Field(max_length=MERGED)]
    text: Annotated[str, Field(max_length=TEXT)] = ""
    sessions: Annotated[list[int], Field(max_length=CITED)] = []


class Candidate(BaseModel):
    """A principle for SOUL.md that reflection found, with the sessions that bear it out."""

    section: Literal["interaction", "personality", "patterns", "growth"]
    advice: str
    sessions: list[int]
    messages: list[int] = []
    """The user's messages in them that do."""


class Handover(BaseModel):
    """What the report of a reflection hands to the phase that puts SOUL.md together."""

    candidates: list[Candidate] = []
    operations: list[Operation] = []


def retirement_limit(known: int) -> int:
    """How many of so many pieces one night may retire."""
    return max(1, int(RETIRED * known))


class JudgedOperations(NamedTuple):
    """The operations that may be done, and why the others may not."""

    fit: list[Operation]
    refused: list[dict[str, Any]]


def judge_operations(
    asked: Sequence[Operation],
    known: Sequence[StoredGuidance],
    ground: Mapping[int, Ground],
    embed: Embed | None = None,
) -> JudgedOperations:
    """Check what a model asked for.

    Args:
        embed: makes vectors; without one meaning is told by words alone.
    """
    of, left = {guidance.name: guidance for guidance in known}, retirement_limit(len(known))
    fit: list[Operation] = []
    refused: list[dict[str, Any]] = []
    touched: set[str] = set()
    for operation in asked[:MOST]:
        gone = len(operation.ids) if operation.do == "retire" else 0  # what is merged is not lost
        why = _find_flaw(operation, of, ground, embed) or ("touched already" if touched & {*operation.ids} else "")
        why = why or ("more than one night may retire" if gone > left else "")
        if why:
            refused.append({"do": operation.do, "why": why})
            continue
        touched |= {*operation.ids}
        left -= gone
        if operation.do != "keep":
            fit.append(operation)
    return JudgedOperations(fit, refused)


def _find_flaw(
    operation: Operation, of: Mapping[str, StoredGuidance], ground: Mapping[int, Ground], embed: Embed | None
) -> str:
    """Why an operation may not be done; empty where it may."""
    if not operation.ids or not of.keys() >= {*operation.ids}:
        return "unknown id"
    pieces = [of[name] for name in dict.fromkeys(operation.ids)]
    if any(piece.mode or piece.author == "person" for piece in pieces) and operation.do != "keep":
        return "a person's own"
    if operation.do == "keep":
        return ""
    if not operation.sessions or not ground.keys() >= {*operation.sessions}:
        return "unknown session" if operation.sessions else "cites nothing"
    if operation.do == "retire":
        said = [each for session in operation.sessions for each in ground[session].said]
        spoken = all(speaks_against(read_text(piece.advice, embed), said) for piece in pieces)
        return "" if spoken else "the user said nothing against it"
    if len(pieces) < 2 if operation.do == "merge" else len(pieces) != 1:
        return "changes nothing"
    if any(says_opposite(first.advice, second.advice) for first, second in combinations(pieces, 2)):
        return "merges opposites"
    if any(says_opposite(operation.text, piece.advice) for piece in pieces):
        return "says the opposite"
    if distil.find_flaw(operation.text) or grounding.find_flaw(
        CitedProposal(operation.text, tuple(operation.sessions)), ground
    ):
        return "unfit"
    wording = read_text(operation.text, embed)
    stated = [read_text(piece.advice, embed) for piece in pieces]
    if wording.is_about_people and not any(each.is_about_people for each in stated):
        return ABOUT_PEOPLE
    lost = next((each for each in stated if not keeps_sense(wording, each, embed)), None)
    return f"loses “{lost.text}”" if lost else ""


def apply_operations(
    operations: Sequence[Operation], known: Sequence[StoredGuidance]
) -> tuple[list[Change], list[StoredGuidance]]:
    """What some operations change, and the guidance that stands then; what stands no more by now is passed over."""
    standing = {guidance.name: guidance for guidance in known}
    changes: list[Change] = []
    for operation in operations:
        ids = [name for name in dict.fromkeys(operation.ids) if name in standing]
        if len(ids) < len(set(operation.ids)):
            continue
        why = f"a reflection: {operation.do}"
        first, gone = ("", ids) if operation.do == "retire" else (ids[0], ids[1:])
        by = standing[first].key if first else ""
        if first:
            changes.append(Reworded(by, operation.text, why))
            cited = {each for name in ids for each in standing[name].citations}
            standing[first] = standing[first]._replace(advice=operation.text, citations=tuple(sorted(cited)))
        changes += [Retired(standing.pop(name).key, NIGHT, why, by) for name in gone]
    return changes, list(standing.values())
