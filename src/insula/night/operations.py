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
TEXT, FEWEST = 300, 8
"""Characters of a text, at most and at least."""
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

    section: str
    advice: str
    sessions: list[int]


class Handover(BaseModel):
    """What the report of a reflection hands to the phase that puts SOUL.md together."""

    candidates: list[Candidate] = []
    operations: list[Operation] = []


def retirement_limit(known: int) -> int:
    """How many of so many pieces one night may retire."""
    return max(1, int(RETIRED * known))


def operation_forms(ids: Sequence[str], sessions: Sequence[int]) -> list[dict[str, Any]]:
    """Each kind of operation as a schema in JSON, with what it can be done with and may cite."""
    named, cited = {"type": "string", "enum": [*ids]}, {"type": "integer", "enum": [*sessions]}
    text = {"type": "string", "minLength": FEWEST, "maxLength": TEXT}
    return [
        _make_form("keep", named, (1, len(ids)), cited),
        _make_form("retire", named, (1, retirement_limit(len(ids))), cited),
        _make_form("reword", named, (1, 1), cited, text),
        *([_make_form("merge", named, (2, min(MERGED, len(ids))), cited, text)] if len(ids) > 1 else []),
    ]


def _make_form(
    do: str,
    named: Mapping[str, Any],
    some: tuple[int, int],
    cited: Mapping[str, Any],
    text: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    fields = {
        "do": {"const": do},
        "ids": {"type": "array", "items": named, "minItems": some[0], "maxItems": some[1]},
        **({"text": text} if text else {}),
        "sessions": {"type": "array", "items": cited, "minItems": 1, "maxItems": CITED},
    }
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


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
        asked: its operations.
        known: the guidance that stands.
        ground: what each session holds.
        embed: makes vectors; without one meaning is told by words alone.
    """
    of, left = {one.name: one for one in known}, retirement_limit(len(known))
    fit: list[Operation] = []
    refused: list[dict[str, Any]] = []
    touched: set[str] = set()
    for one in asked[:MOST]:
        gone = len(one.ids) if one.do == "retire" else len(one.ids) - 1 if one.do == "merge" else 0
        why = _find_flaw(one, of, ground, embed) or ("touched already" if touched & {*one.ids} else "")
        why = why or ("more than one night may retire" if gone > left else "")
        if why:
            refused.append({"do": one.do, "why": why})
            continue
        touched |= {*one.ids}
        left -= gone
        if one.do != "keep":
            fit.append(one)
    return JudgedOperations(fit, refused)


def _find_flaw(
    one: Operation, of: Mapping[str, StoredGuidance], ground: Mapping[int, Ground], embed: Embed | None
) -> str:
    """Why an operation may not be done; empty where it may."""
    if not one.ids or not of.keys() >= {*one.ids}:
        return "unknown id"
    pieces = [of[name] for name in dict.fromkeys(one.ids)]
    if any(piece.mode or piece.author == "person" for piece in pieces) and one.do != "keep":
        return "a person's own"
    if one.do == "keep":
        return ""
    if not one.sessions or not ground.keys() >= {*one.sessions}:
        return "unknown session" if one.sessions else "cites nothing"
    if one.do == "retire":
        said = [each for session in one.sessions for each in ground[session].said]
        spoken = all(speaks_against(read_text(piece.advice, embed), said) for piece in pieces)
        return "" if spoken else "the user said nothing against it"
    if len(pieces) < 2 if one.do == "merge" else len(pieces) != 1:
        return "changes nothing"
    if any(says_opposite(first.advice, second.advice) for first, second in combinations(pieces, 2)):
        return "merges opposites"
    if any(says_opposite(one.text, piece.advice) for piece in pieces):
        return "says the opposite"
    if distil.find_flaw(one.text) or grounding.find_flaw(CitedProposal(one.text, tuple(one.sessions)), ground):
        return "unfit"
    wording = read_text(one.text, embed)
    if wording.is_about_people:
        return ABOUT_PEOPLE
    lost = next((each for each in pieces if not keeps_sense(wording, read_text(each.advice, embed), embed)), None)
    return f"loses “{lost.advice}”" if lost else ""


def apply_operations(
    operations: Sequence[Operation], known: Sequence[StoredGuidance]
) -> tuple[list[Change], list[StoredGuidance]]:
    """What some operations change, and the guidance that stands then; what stands no more by now is passed over."""
    standing = {one.name: one for one in known}
    changes: list[Change] = []
    for one in operations:
        ids = [name for name in dict.fromkeys(one.ids) if name in standing]
        if len(ids) < len(set(one.ids)):
            continue
        why = f"a reflection: {one.do}"
        first, gone = ("", ids) if one.do == "retire" else (ids[0], ids[1:])
        by = standing[first].key if first else ""
        if first:
            changes.append(Reworded(by, one.text, why))
            cited = {each for name in ids for each in standing[name].citations}
            standing[first] = standing[first]._replace(advice=one.text, citations=tuple(sorted(cited)))
        changes += [Retired(standing.pop(name).key, NIGHT, why, by) for name in gone]
    return changes, list(standing.values())
