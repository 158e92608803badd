"""A person's own word on an answer, "that was right" or "that was wrong": it counts for how sure to be, at once."""

from dataclasses import replace
from datetime import UTC, datetime

from insula.calibration import OWN, Outcome, refit, settle, written
from insula.errors import InputError
from insula.memory.storage import statements, views
from insula.memory.storage.changes import Revision
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Store
from insula.night.outcomes import KEPT, level, own, score_of
from insula.types import JUDGED, TURN, Calibration, JudgedRecord, Signal

NIGHT = "night"
COUNTED = "It counts for how sure to be with you."
NOT_COUNTED = "It is kept; what you asked was nothing that memory had to answer, so it says nothing of how sure to be."


async def judge(store: Store, user: str, session: str, turn: int, right: bool, base: Calibration) -> str:
    """Take a person's word on the answer of a turn; returns what comes of it, in a sentence.

    Args:
        store: where the turn stands.
        user: who says so.
        session: of the turn.
        turn: its number.
        right: whether the answer was right.
        base: the calibration that everybody begins with.

    Raises:
        InputError: there is no such turn, or it was judged before.
    """
    found = await store.read(views.talk, user, session, turn + 1, 1)
    noticed = [one for one in found.noticed if one.turn == turn] if found else []
    over = next((one for one in noticed if one.kind == TURN), None)
    if over is None:
        raise InputError(f"There is no turn {turn} with an answer in this conversation; look at it again.")
    if any(one.kind == JUDGED for one in noticed):
        raise InputError("This answer was judged before; one word on each counts.")
    place = await store.place(user, session)
    score = await score_of(store, user, over.data)
    said = Signal(
        kind=JUDGED,
        user=user,
        session=session,
        turn=turn,
        reason="the user says that it was right" if right else "the user says that it was wrong",
        at=datetime.fromtimestamp(store.now(), UTC),
        data=JudgedRecord(right=right),
    )
    await store.run(statements.append, place, [said])
    if score is None:
        return NOT_COUNTED
    await _count(store, place, Outcome(score, right, level(over.data) == "high"), base)
    return COUNTED


async def _count(store: Store, place: Place, outcome: Outcome, base: Calibration) -> None:
    before = await own(store, place.user_id, base)
    known = (*before.outcomes, outcome)[-KEPT:]
    after = replace(refit(base, known), high=settle(before.calibration, [outcome]).high)
    evidence = {"outcomes": [[one.score, one.held] for one in known]}
    await store.guidance.revise(place.user_id, Revision(OWN, NIGHT, written(after), evidence))
