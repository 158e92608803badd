"""The phase that fits a user's own calibration to the outcomes of all nights (K3, law 7)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from insula.calibration import OWN, AnswerOutcome, dump_own, load_shipped, move_threshold, refit_user
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.nights import UP_TO
from insula.memory.storage.rows import Revised, StoredSignal, TranscriptLine
from insula.memory.storage.views import find_memories
from insula.night.cycle import Night, Result
from insula.night.outcomes import KEPT, PERSON, find_outcomes, latest_calibration, shown_memories
from insula.night.wording import count_noun
from insula.types import TURN

SESSIONS, LINES = 500, 1_000
"""Sessions that one night looks at, the oldest first, and the last lines of each."""
NIGHT = "night"


async def calibrate_confidence(night: Night) -> Result:
    """The phase: a user's own calibration from the outcomes of all nights, with the threshold of "high" moved on."""
    past = await night.store.guidance.list_revisions(night.user_id, OWN, 1)
    outcomes, last = await _outcomes_since(night, past)
    right = sum(outcome.held for outcome in outcomes)
    report: dict[str, float] = {UP_TO: last, "right": right, "wrong": len(outcomes) - right}
    if not outcomes:
        return Result(report, skipped="Nobody thanked, corrected or asked again where memory had something to say.")
    base = night.calibration or load_shipped()
    before = latest_calibration(past, base)
    known = (*before.outcomes, *outcomes)[-KEPT:]
    after = replace(refit_user(base, known), high=move_threshold(before.calibration, outcomes).high)
    evidence = {"outcomes": [[outcome.score, outcome.held] for outcome in known]}
    made_from = past[0].id if past else 0  # whoever begins anew while the night is at work has the last word
    fitted = {name: round(getattr(after, name), 4) for name in ("shift", "slope", "high")}
    report |= fitted | {"outcomes": len(known), "held": sum(outcome.held for outcome in known)}
    said = f"What memory said held for {count_noun(right, 'answer')}, and did not for {len(outcomes) - right}."
    return Result(
        report,
        [RevisionChange(OWN, NIGHT, dump_own(after), evidence, made_from)],
        says=[f"{said} From {100 * after.high:.0f} % on it is now sure."],
    )


async def _outcomes_since(night: Night, past: Sequence[Revised]) -> tuple[list[AnswerOutcome], int]:
    """The outcomes since the last night, oldest first, and the last message that was looked at."""
    since = past[0].at if past and past[0].author == PERSON else 0.0  # a person began anew
    sessions = [session for session in await night.list_sessions() if session.last > night.last_seen]
    within = [session.id for session in sessions[:SESSIONS]]
    lines = await night.lines_of(within, LINES)
    turns = await night.store.nights.list_session_signals(night.user_id, [TURN], within)
    evidence = await _asserted_memories(night, [line for said in lines.values() for line in said], turns)
    outcomes: list[AnswerOutcome] = []
    for session in sessions[:SESSIONS]:
        # What is said while the night looks on is of the next one.
        new = [line for line in lines[session.id] if line.id <= session.last and line.at >= since]
        mine = [turn for turn in turns if turn.session_id == session.id]
        outcomes.extend(find_outcomes(new, mine, evidence, name=night.identity.name, after=night.last_seen))
    return outcomes, max((session.last for session in sessions[:SESSIONS]), default=night.last_seen)


async def _asserted_memories(
    night: Night, lines: Iterable[TranscriptLine], turns: Iterable[StoredSignal]
) -> frozenset[int]:
    """Of what the turns of some lines showed, the memories that a user or a tool asserted (law 2)."""
    ids = frozenset[int]().union(*(shown_memories(turn.data) for turn in turns))
    held = await night.store.run(find_memories, night.user, sorted(ids))
    asserted = (
        memory for memory in held.values() if memory.provenance in {"user", "tool"} and memory.kind == "semantic"
    )
    return frozenset(memory.id for memory in asserted)
