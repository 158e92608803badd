"""The self-monitor: what a response is worth as an answer to its message and to what memory held, without a model.

It runs one check after another (`turn/checks/`) and makes a score of what they found. Precision first: below
`HEDGE_THRESHOLD` only what is certain brings a response (the wrong language, an echo, a leak, a demand that was counted
and is not kept, memory passed over). That it shares no word with its message is never more than "could not tell"
(`Assessment.unclear`). What is finer fails nothing: among the responses that pass it only tells the better from the
duller (`turn.substance`). Outside the languages of `text.analysis.LANGUAGES` it judges language, forbidden patterns,
sums, length and repetition, and is neutral on the rest.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

from insula.memory.storage.vectors import Embed
from insula.text.analysis import analyse_text
from insula.turn.checks.arithmetic import check_sums
from insula.turn.checks.artefacts import check_artefacts
from insula.turn.checks.completeness import check_completeness
from insula.turn.checks.constraints import check_code_language, check_constraints
from insula.turn.checks.form import check_identity, check_language, check_length
from insula.turn.checks.memory import compare_with_memory
from insula.turn.checks.repetition import check_repetition, repeats_within
from insula.turn.checks.responsiveness import FOREIGN, check_refusal, is_far, measure_nearness, score_responsiveness
from insula.turn.exchange import MAX_MESSAGE, AskedMessage, Exchange, FaultCheck, cut_middle
from insula.turn.substance import measure_substance
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment, Fault, Flag, Identity, Level, Parts, Recalled

CHECKS: tuple[FaultCheck, ...] = (
    check_artefacts,
    check_language,
    check_identity,
    check_length,
    check_repetition,
    check_refusal,
    check_completeness,
    check_constraints,
    check_code_language,
    check_sums,
)
"""What a response is checked for, beside what memory held."""

RECENT = 5
"""So many of the last responses are looked through for a repetition (seed 000: "last N")."""

WRONG = 0.45
"""What remains of the score of a response in the wrong language or with a forbidden pattern: it must not pass."""
INCOMPLETE = 0.56
NEARLY_COMPLETE = 0.69
"""What remains when nothing, and when nearly everything asked was answered: an omission never passes."""
REPEATED = 0.55
MISSIZED = 0.75
OFF_TONE = 0.75
FLOOR = 0.25
"""What remains of the score of a response that addresses nothing, were it faultless otherwise."""
ENOUGH = (PASS_THRESHOLD - FLOOR) / (1 - FLOOR)
"""The responsiveness from which a faultless response passes; from here up it is graded, so that grading never fails
one."""
SUBSTANCE = 0.8
"""How much of the grade of a response that passes is its substance: four signs of five, the fifth being how well it
addresses the message. All weigh the same."""

CAPS: Mapping[Flag, float] = {
    "echo": 0.1,
    "off_topic": 0.1,
    "leak": 0.25,
    "ignored_memory": 0.3,
    "declined": 0.35,
    "other_person": 0.3,
    "constraint": 0.45,
    "incorrect": 0.45,
}
"""The most that a response with such a fault scores where the fault is certain."""
DOUBTED = 0.6
"""Score ceiling for an uncertain fault."""
UNCLEAR = 0.69
"""The most that a response scores of which only its distance from the message's words is known."""

_NOTHING = Parts(responsiveness=0.0, completeness=0.0, consistency=0.0, length_ok=False, repetition=False)


def assess(
    message: str,
    response: str,
    recent_responses: Sequence[str] = (),
    identity: Identity = Identity(),  # noqa: B008 - frozen
    *,
    memory: Sequence[Recalled | str] = (),
    level: Level | None = None,
    embed: Embed | None = None,
) -> Assessment:
    """Assess a response as an answer to a message, and to what memory held for it.

    Args:
        message: what the user said.
        response: what is about to be sent.
        recent_responses: earlier responses of the session, oldest first; the last `RECENT` count.
        identity: whose languages, voice and forbidden patterns to hold the response to.
        memory: the lines that stood before the model, best first, as recalled or as plain text.
        level: how likely memory held what the message needs (`Confidence.level`). `None`: memory was not asked, unless
            there are lines; then it counts as "high".
        embed: makes the vector of a text; asked only where message and response share no word. Without one nothing is
            said of what they mean.

    Returns:
        A score in [0, 1] (below 0.7 it does not pass, below 0.5 something certain speaks against it), the faults found
        with what shows them, the parts that made the score, and the questions and requests left unanswered, verbatim.
        An empty response scores 0.
    """
    asked = AskedMessage(analyse_text(cut_middle(message, MAX_MESSAGE)))
    if not response.strip():
        unanswered = tuple(ask.text for ask in asked.asks)
        return Assessment(
            score=0.0, flags=("empty",), parts=_NOTHING, unanswered=unanswered, faults=(Fault(flag="empty"),)
        )
    lines = [line if isinstance(line, str) else line.memory.line or line.memory.content for line in memory]
    level = level or ("high" if lines else None)
    turn = Exchange(asked, response, list(recent_responses)[-RECENT:], identity, lines, level)
    use = compare_with_memory(turn)
    faults = _find_faults(turn, use.used) + ((use.fault,) if use.fault else ())
    near = None if faults or use.used else measure_nearness(turn, embed)
    far = not (faults or use.used) and is_far(turn, near)
    flags: set[Flag] = {fault.flag for fault in faults}
    if far:
        flags.add("off_topic")
    texts = {ask.text for ask in asked.asks}
    unanswered = tuple(fault.about for fault in faults if fault.flag == "incomplete" and fault.about in texts)
    parts = Parts(
        responsiveness=_grade_response(turn) if not flags else score_responsiveness(turn),
        completeness=1 - len(unanswered) / len(asked.asks) if unanswered else 1.0,
        consistency=_score_consistency(flags),
        length_ok=not flags & {"too_short", "too_long"},
        repetition="repetition" in flags,
    )
    value = _bound_score(score_parts(parts), faults)
    return Assessment(
        score=min(value, UNCLEAR) if far else value,
        flags=tuple(flag for flag in get_args(Flag) if flag in flags),
        parts=parts,
        unanswered=unanswered,
        faults=faults,
        unclear=far and (near is None or near >= FOREIGN),
        used=use.used,
        modest=turn.declined,
    )


def _find_faults(turn: Exchange, used: bool) -> tuple[Fault, ...]:
    """The faults of a response, each flag with the same evidence once.

    One that says what memory held is not to blame for being short, the same as before, or all that a lone question got.
    """
    faults = dict.fromkeys(fault for check in CHECKS for fault in check(turn))
    if used:
        due: tuple[Flag, ...] = ("too_short",) if repeats_within(turn.response) else ("too_short", "repetition")
        lone = len(turn.asked.asks) == 1
        asked = {ask.text for ask in turn.asked.asks} if lone else set[str]()
        return tuple(fault for fault in faults if fault.flag not in due and fault.about not in asked)
    return tuple(faults)


def _bound_score(value: float, faults: Sequence[Fault]) -> float:
    """The score within what the faults allow: below `HEDGE_THRESHOLD` only where one of them is certain."""
    if not any(fault.certain for fault in faults):
        value = max(value, HEDGE_THRESHOLD)
    for fault in faults:
        value = min(value, CAPS.get(fault.flag, 1.0) if fault.certain else DOUBTED)
    return round(value, 4)


def score_parts(parts: Parts) -> float:
    """The score in [0, 1] that the parts make: each fault leaves a share of it, so it never falls as a part rises."""
    value = FLOOR + (1 - FLOOR) * parts.responsiveness
    if parts.completeness < 1:
        value *= INCOMPLETE + (NEARLY_COMPLETE - INCOMPLETE) * parts.completeness
    value *= WRONG + (1 - WRONG) * parts.consistency
    value *= REPEATED if parts.repetition else 1.0
    value *= 1.0 if parts.length_ok else MISSIZED
    return round(value, 4)


def _grade_response(turn: Exchange) -> float:
    """The responsiveness of a faultless response: from `ENOUGH` up, by its substance and by what it addresses."""
    substance = measure_substance(turn.response, turn.language, turn.shared)
    over = max(0.0, (score_responsiveness(turn) - ENOUGH) / (1 - ENOUGH))
    return ENOUGH + (1 - ENOUGH) * ((1 - SUBSTANCE) * over + SUBSTANCE * substance.worth)


def _score_consistency(flags: set[Flag]) -> float:
    if flags & {"wrong_language", "forbidden_pattern"}:
        return 0.0
    return OFF_TONE if "off_tone" in flags else 1.0
