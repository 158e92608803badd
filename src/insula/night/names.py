"""The phases of a night by name: journals, reports and whoever shows them know no other."""

from enum import StrEnum

from insula.errors import StoreError


class PhaseName(StrEnum):
    """A phase of a night; its value stands in the journal and on screens."""

    SUMMARIES = "summaries"
    CONSOLIDATION = "consolidation"
    STATEMENTS = "statements"
    MISTAKES = "mistakes"
    WISHES = "wishes"
    """Of earlier versions."""
    REFLECTION = "reflection"
    LESSONS = "lessons"
    SOUL = "soul"
    FILE = "file"
    CALIBRATION = "calibration"
    TRENDS = "trends"
    END = "end"
    """No phase of its own: what stands in the journal when all are done."""


def named(text: str) -> PhaseName:
    """The phase of a name in the journal.

    Raises:
        StoreError: there is none such: another version of Insula wrote it.
    """
    try:
        return PhaseName(text)
    except ValueError as error:
        raise StoreError(
            f"The journal of the nights names a phase {text!r}, which this version of Insula does not have; "
            "open it with the version that wrote it."
        ) from error
