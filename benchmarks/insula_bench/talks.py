"""Talks of our own, written for fitting: two people, and a user with an assistant. They are nobody's data."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from insula.language.owner import ASSISTANT, USER
from insula_bench.locomo import ADVERSARIAL, Conversation, Line, Question

ANSWERED, DETAIL, UNTOLD = 1, 7, 8
"""Categories beside LoCoMo's: a question on a detail that was left out, and one on what nobody ever spoke of."""
_CATEGORIES = {"answerable": ANSWERED, "another": ADVERSARIAL, "detail": DETAIL, "untold": UNTOLD}


def of_two() -> list[Conversation]:
    """The talks of two people."""
    return [talk for talk in _all() if talk.speakers != (USER, ASSISTANT)]


def with_assistant() -> list[Conversation]:
    """The talks of a user with an assistant; the questions are the user's, in the first person."""
    return [talk for talk in _all() if talk.speakers == (USER, ASSISTANT)]


def _all() -> Iterator[Conversation]:
    folder = files("insula_bench") / "talks"
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith(".json"):
            yield _conversation(json.loads(entry.read_text("utf-8")))


def _conversation(raw: dict[str, Any]) -> Conversation:
    return Conversation(
        name=raw["name"],
        speakers=(raw["speakers"][0], raw["speakers"][1]),
        lines=tuple(Line(one["id"], one["session"], one["speaker"], one["text"], _at(one)) for one in raw["lines"]),
        questions=tuple(
            Question(one["text"], _CATEGORIES[one["kind"]], frozenset(one["evidence"])) for one in raw["questions"]
        ),
    )


def _at(line: dict[str, Any]) -> float:
    return datetime.fromisoformat(line["at"]).replace(tzinfo=UTC).timestamp()
