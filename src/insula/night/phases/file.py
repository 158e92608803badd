"""The phase that lays SOUL.md down in its file."""

from typing import TypedDict

from insula.night.cycle import Night, Result
from insula.night.guidelines import PAST, SUBJECT, put_down
from insula.night.names import PhaseName


class Report(TypedDict):
    """What became of the file."""

    written: bool


async def lay_down(night: Night) -> Result:
    """The phase: the document as it now stands, into its file.

    It is a phase of its own, so that a night that is stopped between the two still writes the file.
    """
    if PhaseName.SOUL not in await night.store.nights.journal(night.user_id, night.date):
        return Result(Report(written=False), skipped="The document is not distilled yet.", waits=True)
    past = await night.store.guidance.revisions(night.user_id, SUBJECT, PAST)
    if night.soul is None or not past:
        return Result(Report(written=False), skipped="There is no file, or nothing to write into it.")
    written, why = put_down(night.soul, past)
    return Result(Report(written=written), skipped=why)
