"""What the bodies of requests and answers are made of: their base, their numbers and moments, and their examples."""

import json
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

LARGEST = 2**63 - 1
"""SQLite's largest integer."""
PAGE = 50
"""Things on a page, where the request does not say."""

Id = Annotated[int, Field(ge=0, le=LARGEST)]
"""What numbers a row."""
Limit = Annotated[int, Field(ge=1, le=200, description="How many at most.")]
Before = Annotated[Id | None, Field(description="Go on where a page ended: its `next`.")]


def _to_datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


Moment = Annotated[float, PlainSerializer(_to_datetime, return_type=datetime)]
"""Seconds since the epoch, told as a date with its time."""


@cache
def _load_examples() -> dict[str, Any]:
    return json.loads((files("insula.server.api") / "examples.json").read_text("utf-8"))


def _add_example(schema: dict[str, Any]) -> None:
    """Put the example of a model into its description; of one that is only part of another there is none."""
    if schema["title"] in _load_examples():
        schema["example"] = _load_examples()[schema["title"]]


class ApiModel(BaseModel):
    """What an answer holds, with its example from `examples.json`; made of any value with the same attributes."""

    model_config = ConfigDict(json_schema_extra=_add_example, from_attributes=True)


class RequestBody(ApiModel):
    """What a request holds, and nothing else."""

    model_config = ConfigDict(extra="forbid")
