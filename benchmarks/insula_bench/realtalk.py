"""REALTALK's chats (Lee et al. 2025, no licence stated: for measuring, never shipped or fitted on)."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from insula.errors import InputError
from insula_bench.locomo import Conversation, Line, Question

_DATE = "%d.%m.%Y, %H:%M:%S"


def read(folder: str | Path) -> list[Conversation]:
    """The chats of a folder, one a file.

    Raises:
        InputError: a file is of another form, or there is none.
    """
    paths = sorted(Path(folder).glob("Chat_*.json"))
    if not paths:
        raise InputError(f"{str(folder)!r} holds no REALTALK chat; give the folder with the Chat_*.json files.")
    return [_chat(path) for path in paths]


def _chat(path: Path) -> Conversation:
    try:
        raw = json.loads(path.read_text("utf-8"))
        return Conversation(
            name=path.stem,
            speakers=(raw["name"]["speaker_1"], raw["name"]["speaker_2"]),
            lines=tuple(_lines(raw)),
            questions=tuple(
                Question(one["question"], one["category"], frozenset(one["evidence"])) for one in raw["qa"]
            ),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(path)!r} is not a REALTALK chat ({error}); give the folder as it came.") from error


def _lines(raw: dict[str, Any]) -> Iterator[Line]:
    number = 1
    while (name := f"session_{number}") in raw:
        for turn in raw[name]:
            if text := turn.get("clean_text", "").strip():
                at = datetime.strptime(turn["date_time"], _DATE).replace(tzinfo=UTC).timestamp()
                yield Line(turn["dia_id"], name, turn["speaker"], text, at)
        number += 1
