"""Numbers that a request may hold: those that the database can."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

LARGEST = 2**63 - 1
"""SQLite's largest integer."""
PAGE = 50
"""Things on a page, where the request does not say."""

Id = Annotated[int, Field(ge=0, le=LARGEST)]
"""What numbers a row."""
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Before = Annotated[Id | None, Query(description="Go on where a page ended: its `next`.")]
