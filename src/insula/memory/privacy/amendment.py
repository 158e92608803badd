"""A person's word on a memory: they correct, pin or mute it, and undo what was decided; what it was before is kept."""

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

import sqlalchemy as sa

from insula.errors import InputError
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import REMEMBERED_CHARS, new_item
from insula.memory.privacy.erasure import clear_following
from insula.memory.retrieval import index
from insula.memory.retrieval.query import encode_claims, load_terms
from insula.memory.storage import journal
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.nights import revisions_of, words_on
from insula.memory.storage.schema import memories
from insula.text.analysis import analyse_text
from insula.value import is_object

Do = Literal["correct", "pin", "unpin", "mute", "unmute", "undo"]
PINNED, MUTED = "pinned", "muted"
MODES: Mapping[Do, str] = {"pin": PINNED, "unpin": "", "mute": MUTED, "unmute": ""}
DONE: Mapping[Do, str] = {
    "correct": "corrected",
    "pin": "pinned",
    "unpin": "unpinned",
    "mute": "muted",
    "unmute": "unmuted",
    "undo": "undone",
}
DROPPED = "told as a fact no longer"
PAST = 50
"""Words on one memory that are looked back on."""
_GONE = "it was erased, and nothing brings it back."
_LET_GO = "a night let it go; undo that first, and it is back."
_DERIVED = "a night derived it from what was said; correct what was said, or erase it."
_WORDLESS = "there are no words to put in its place."


def amend_memory(connection: sa.Connection, user_id: int, number: int, do: Do, at: float, text: str = "") -> bool:
    """Do what a person wants with a memory; False where there is none such.

    Raises:
        InputError: that cannot be done with it, with the reason.
    """
    index.begin_write(connection, user_id)
    row = _find_memory(connection, user_id, number)
    if row is None:
        return False
    if why := _explain_refusal(row, do, text):
        raise InputError(f"Memory {number} stays as it is: {why}")
    if do == "undo":
        _undo_amendment(connection, user_id, row, at)
        return True
    mode = words_on(connection, user_id, [number]).get(number) or ""
    if do == "correct":
        told = text.strip()[:REMEMBERED_CHARS] if row.kind == "semantic" else None
        _reword_memory(connection, user_id, row, text, mode, told=told)
    else:
        _set_mode(connection, user_id, row, MODES[do], at)
    after = MODES.get(do, mode)
    _record_amendment(
        connection, user_id, row, {"why": DONE[do], "mode": after, "before": mode}, at, old=do == "correct"
    )
    return True


def _explain_refusal(row: sa.Row[Any], do: Do, text: str) -> str:
    """Why something cannot be done; empty where it can."""
    if not row.content:
        return _GONE
    if row.provenance == "derived":
        return _DERIVED
    if do != "undo" and row.retired_at is not None:
        return _LET_GO
    return _WORDLESS if do == "correct" and not text.strip() else ""


def _undo_amendment(connection: sa.Connection, user_id: int, row: sa.Row[Any], at: float) -> None:
    """Bring back what a night let go, or take back the last word that was not undone yet."""
    if row.retired_at is not None:
        journal.restore_memory(connection, user_id, row.id, at)
        return
    last = _find_last_amendment(connection, user_id, row.id)
    if last is None:
        raise InputError(f"Nothing was decided on memory {row.id} that could be undone.")
    before, corrected = str(last.evidence["before"]), bool(last.content)
    if corrected:
        old = _read_words(last.content)
        _reword_memory(connection, user_id, row, old["content"], before, told=old.get("line"), kind=old.get("kind"))
    else:
        _set_mode(connection, user_id, row, before, at)
    _record_amendment(connection, user_id, row, {"why": DONE["undo"], "mode": before}, at, old=corrected)


def _find_last_amendment(connection: sa.Connection, user_id: int, number: int) -> Any:
    """The last word on a memory that stands; each undoing took back the one before it."""
    undone = 0
    for revision in revisions_of(connection, user_id, f"memory:{number}", PAST):
        if revision.evidence.get("why") == DONE["undo"]:
            undone += 1
        elif "before" in revision.evidence:
            if not undone:
                return revision
            undone -= 1
    return None


def _find_memory(connection: sa.Connection, user_id: int, number: int) -> sa.Row[Any] | None:
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id == number)
    return connection.execute(sa.select(memories).where(mine)).one_or_none()


def _reword_memory(
    connection: sa.Connection,
    user_id: int,
    row: sa.Row[Any],
    text: str,
    mode: str,
    *,
    told: str | None,
    kind: str | None = None,
) -> None:
    """Let a memory say something else: in recall by words at once, by meaning once that is made anew.

    Who said it stays as it was, so that a correction makes nobody's words evidence that were none.

    Args:
        told: what of the text is a fact; what a person writes in the place of a fact is one, all of it.
        kind: what it was, where old words come back.
    """
    analysis = analyse_text(text.strip()[:REMEMBERED_CHARS], default=row.language or "en")
    encoding = encode_claims(analysis, row.speaker, ASSISTANT if row.speaker == USER else USER)
    item = new_item(analysis, encoding, row.provenance, row.speaker, (), (), told=told)
    kind = kind or ("semantic" if row.kind == "semantic" else item.kind)
    values: dict[str, Any] = {
        "content": item.content,
        "line": item.line,
        "claims": item.claims,
        "language": item.language,
        "kind": kind,
        "withheld": _withhold_reasons(" ".join(item.withheld), mode),
    }
    is_indexed = row.promoted_at is not None
    if is_indexed:
        index.remove_entries(connection, user_id, index.entries_of(row))
        index.add_entries(connection, user_id, [(row.id, load_terms(item.claims), kind == "semantic")])
        index.drop_unused_terms(connection)
    clear_following(connection, user_id, row.id)
    _update_memory(connection, row.id, values | {"vector": None, "stated": None})


def _write_words(row: sa.Row[Any]) -> str:
    """What a memory says, as its past keeps it: in one text, which goes when the memory is erased."""
    return json.dumps({"content": row.content, "line": row.line, "kind": row.kind}, ensure_ascii=False)


def _read_words(past: str) -> Mapping[str, str]:
    """What a memory said; older versions kept the words alone."""
    try:
        evidence: object = json.loads(past)
    except ValueError:
        evidence = None
    return cast("Mapping[str, str]", evidence) if is_object(evidence) and "content" in evidence else {"content": past}


def _set_mode(connection: sa.Connection, user_id: int, row: sa.Row[Any], mode: str, at: float) -> None:
    """Let a memory stand as a person wants: a pinned one in long-term memory, a muted one before no model."""
    values: dict[str, Any] = {"withheld": _withhold_reasons(row.withheld, mode)}
    if mode == PINNED and row.promoted_at is None:
        values["promoted_at"] = at
        index.add_entries(connection, user_id, index.entries_of(row))
    _update_memory(connection, row.id, values)


def _withhold_reasons(reasons: str, mode: str) -> str:
    kept = [reason for reason in reasons.split() if reason != MUTED]
    return " ".join([*kept, MUTED] if mode == MUTED else kept)


def _update_memory(connection: sa.Connection, number: int, values: Mapping[str, Any]) -> None:
    connection.execute(sa.update(memories).where(memories.c.id == number).values(**values))


def record_dropped(connection: sa.Connection, user_id: int, number: int, at: float) -> bool:
    """Write down what a memory said as a fact, which the user's own model finds none; undoing brings it back.

    Returns:
        False where a person has had a word on it: then it stays.
    """
    row = _find_memory(connection, user_id, number)
    if row is None or words_on(connection, user_id, [number]).get(number):
        return False
    evidence = {"why": DROPPED, "mode": "", "before": ""}
    journal.apply_change(
        RevisionChange(f"memory:{number}", "night", _write_words(row), evidence), connection, user_id, at
    )
    return True


def _record_amendment(
    connection: sa.Connection, user_id: int, row: sa.Row[Any], evidence: Mapping[str, str], at: float, *, old: bool
) -> None:
    """Write down what was decided, with the old words where they changed: they go when the memory is erased."""
    past = RevisionChange(f"memory:{row.id}", "person", _write_words(row) if old else "", evidence)
    journal.apply_change(past, connection, user_id, at)
