"""LoCoMo's conversations (Maharana et al. 2024, CC BY-NC 4.0: for measuring, never shipped or fitted on)."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from insula.errors import InputError

ADVERSARIAL = 5
"""The category whose questions have no answer in the conversation."""

_EVIDENCE = re.compile(r"D\d+:\d+")
_DATE = "%I:%M %p on %d %B, %Y"


class Line(NamedTuple):
    """One turn of a conversation; `text` holds the caption of a shared picture, too."""

    id: str
    session: str
    speaker: str
    text: str
    at: float


class Question(NamedTuple):
    """A question with the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


class Conversation(NamedTuple):
    """Two people over several sessions, and questions on what they said."""

    name: str
    speakers: tuple[str, str]
    lines: tuple[Line, ...]
    questions: tuple[Question, ...]


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a LoCoMo file.

    Raises:
        InputError: the file is missing or of another form.
    """
    try:
        raw = json.loads(Path(path).read_text("utf-8"))
        return [_conversation(entry, i) for i, entry in enumerate(raw)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(path)!r} is not a LoCoMo file ({error}); give the path of locomo.json.") from error


def _conversation(entry: dict[str, Any], number: int) -> Conversation:
    talk = entry["conversation"]
    return Conversation(
        name=str(entry.get("sample_id", number)),
        speakers=(talk["speaker_a"], talk["speaker_b"]),
        lines=tuple(_lines(talk)),
        questions=tuple(
            Question(one["question"], one["category"], _evidence(one.get("evidence") or [])) for one in entry["qa"]
        ),
    )


def _evidence(cited: list[str]) -> frozenset[str]:
    return frozenset(_EVIDENCE.findall(" ".join(cited)))


def _lines(talk: dict[str, Any]) -> Iterator[Line]:
    number = 1
    while f"session_{number}" in talk:
        began = datetime.strptime(talk[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC).timestamp()
        for i, turn in enumerate(talk[f"session_{number}"]):
            caption = turn.get("blip_caption")
            text = f"{turn['text']} [{caption}]" if caption else turn["text"]
            yield Line(turn["dia_id"], f"session {number}", turn["speaker"], text, began + 30 * i)
        number += 1
