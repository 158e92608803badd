"""Numbers that a request may hold, those that the database can; and moments as answers tell them."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, PlainSerializer

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
