"""The self-monitor: what a response is worth as an answer to its message and to what memory held, without a model.

Precision first: below `HEDGE_THRESHOLD` only what is certain brings a response (the wrong language, noise, an echo, a
leak, a demand that was counted and is not kept, memory passed over). That it shares no word with its message is never
more than "could not tell" (`Assessment.unclear`). What is finer fails nothing: among the responses that pass it only
tells the better from the duller (`turn.substance`). Outside the languages of `text.analysis.LANGUAGES` it judges
language, forbidden patterns, length and repetition, and is neutral on the rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from insula.memory.storage.vectors import Embed, embedded
from insula.text.analysis import analyse
from insula.text.artefacts import repeats_within
from insula.text.code_language import asked_in, in_wrong_code
from insula.text.compliance import broken
from insula.text.manner import declines, is_courtesy
from insula.text.questions import AskKind, is_small_talk
from insula.text.similarity import specificity
from insula.turn import known
from insula.turn.exchange import MAX_MESSAGE, MAX_RESPONSE, NEUTRAL, REFUSAL_CHARS, Asked, Exchange, ends
from insula.turn.form import formal
from insula.turn.substance import substance
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment, Fault, Flag, Identity, Level, Parts, Recalled

RECENT = 5
"""So many of the last responses are looked through for a repetition (seed 000: "last N")."""

OFF_TOPIC = 0.5
"""Below this a response shares too little with what was asked."""

FOREIGN, RELATED = 0.04, 0.15
"""Cosines of the shipped embedding: below the first a response that shares no word is about something else, from the
second on it is about what was asked, however it begins (chosen on `bench/triples_dev.jsonl` and our own table)."""
MEANT_CHARS = 400
"""So much of a text is embedded."""

DECLINED = 0.75
"""What a declared "I do not know" or a question back is worth: it addresses the message and leaves it unanswered."""

COURTESY = 0.3
"""What "You're welcome! Anything else?" is worth as an answer."""

REACTION = 0.8
"""The least that a response to a mere statement is worth: conversation may turn."""

PLEASANTRY, REFUSAL = 0.95, 0.2
"""What any response to "thanks!" is worth, and what the refusal of nothing is."""

CIRCLING = 0.35
VAGUE = 0.06
"""What full self-repetition, and the vaguest words, take from responsiveness."""

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

NOISE = 0.1
"""What noise is worth."""

CAPS: Mapping[Flag, float] = {
    "echo": 0.1,
    "leak": 0.25,
    "ignored_memory": 0.3,
    "declined": 0.35,
    "other_person": 0.3,
    "constraint": 0.45,
}
"""The most that a response with such a fault scores where the fault is certain."""

DOUBTED = 0.6
"""The most that it scores where the fault is not."""

UNCLEAR = 0.69
"""The most that a response scores of which only its distance from the message's words is known."""

_COURTESY_TERMS = 10
_MADE: frozenset[AskKind] = frozenset({"request", "code"})
"""What is made need not mean what it was asked for with."""
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
    asked = Asked(analyse(ends(message, MAX_MESSAGE)))
    if not response.strip():
        unanswered = tuple(ask.text for ask in asked.asks)
        return Assessment(
            score=0.0, flags=("empty",), parts=_NOTHING, unanswered=unanswered, faults=(Fault(flag="empty"),)
        )
    turn = Exchange(asked, ends(response, MAX_RESPONSE), list(recent_responses)[-RECENT:], identity)
    use = _use(turn, memory, level or ("high" if memory else None))
    faults = tuple(fault for fault in _found(turn, response, use) if not (use.used and _is_due(fault, turn)))
    unanswered = () if use.used and len(asked.asks) == 1 else turn.unanswered
    if not unanswered and not (turn.cut_off or turn.yes_alone):
        faults = tuple(fault for fault in faults if fault.flag != "incomplete" or fault.about)
    lost: set[Flag] = {fault.flag for fault in faults}
    near = None if lost or use.used else _nearness(turn, embed)
    far = not use.used and not lost and _is_far(turn, near)
    addressed = _responsiveness(turn)
    parts = Parts(
        responsiveness=addressed if lost or far else _graded(turn, max(addressed, ENOUGH)),
        completeness=1.0 if far or not unanswered else _completeness(turn),
        consistency=_consistency(lost),
        length_ok=not lost & {"too_short", "too_long"},
        repetition="repetition" in lost,
    )
    flags = _ordered({*lost, "off_topic"} if far else lost)
    return Assessment(
        score=_bounded(score(parts), faults, far=far),
        flags=flags,
        parts=parts,
        unanswered=unanswered,
        faults=faults,
        unclear=far and not faults and not (turn.far and near is not None and near < FOREIGN),
        used=use.used,
        modest=turn.declined,
    )


def _use(turn: Exchange, memory: Sequence[Recalled | str], level: Level | None) -> known.Use:
    if level is None:
        return known.Use()
    return known.use(turn.asked.asks, turn.asked.analysis.text, turn.reply, memory, level)


def _bounded(value: float, faults: Sequence[Fault], *, far: bool) -> float:
    """The score within what the faults allow: below `HEDGE_THRESHOLD` only where one of them is certain."""
    if not any(fault.certain for fault in faults):
        value = max(value, HEDGE_THRESHOLD)
    for fault in faults:
        value = min(value, CAPS.get(fault.flag, 1.0) if fault.certain else DOUBTED)
    if far and not faults:
        value = min(value, UNCLEAR)
    return round(value, 4)


def score(parts: Parts) -> float:
    """The score in [0, 1] that the parts make: each fault leaves a share of it, so it never falls as a part rises."""
    value = FLOOR + (1 - FLOOR) * parts.responsiveness
    if parts.completeness < 1:
        value *= INCOMPLETE + (NEARLY_COMPLETE - INCOMPLETE) * parts.completeness
    value *= WRONG + (1 - WRONG) * parts.consistency
    value *= REPEATED if parts.repetition else 1.0
    value *= 1.0 if parts.length_ok else MISSIZED
    return round(value, 4)


def _ordered(faults: set[Flag]) -> tuple[Flag, ...]:
    order: list[Flag] = list(get_args(Flag))
    return tuple(sorted(faults, key=order.index))


def _responsiveness(turn: Exchange) -> float:
    """Whether the response addresses this message, in [0, 1]; a little less where it circles or stays vague."""
    if turn.noise:
        return NOISE
    value = _addressed(turn) * (1 - CIRCLING * turn.circling)
    return value * (1 - VAGUE * (1 - specificity(turn.response)))


def _graded(turn: Exchange, addressed: float) -> float:
    """The responsiveness of a faultless response: from `ENOUGH` up, by its substance and by what it addresses."""
    found = substance(turn.response, turn.language, turn.shared)
    over = (addressed - ENOUGH) / (1 - ENOUGH)
    return ENOUGH + (1 - ENOUGH) * ((1 - SUBSTANCE) * over + SUBSTANCE * found.worth)


def _addressed(turn: Exchange) -> float:
    if not turn.covers:
        return _reaction(turn)
    topics = [each.topic for each in turn.covers]
    value = 0.6 * max(topics) + 0.4 * sum(topics) / len(topics)
    if _only_courtesy(turn):
        return min(value, COURTESY)
    return max(value, DECLINED) if value < DECLINED and turn.declined else value


def _only_courtesy(turn: Exchange) -> bool:
    """Whether a question is met with "You're welcome! Anything else?" alone."""
    few = turn.reply.size <= _COURTESY_TERMS
    return (
        few
        and bool(turn.asked.asks)
        and turn.comparable
        and is_courtesy(turn.response, turn.language)
        and not any(turn.reply.mentions(ask.terms) for ask in turn.asked.asks)
    )


def _reaction(turn: Exchange) -> float:
    """What a response is worth to a message that asks nothing."""
    if turn.asked.small_talk:
        return REFUSAL if is_small_talk(turn.asked.analysis) and _refuses(turn) else PLEASANTRY
    if not turn.comparable:
        return NEUTRAL
    taken_up = 1.0 if turn.reply.mentions(turn.asked.statements) else 0.0
    return REACTION + (1 - REACTION) * min(1.0, 0.5 * taken_up + 0.25 * turn.hints)


def _refuses(turn: Exchange) -> bool:
    return declines(turn.response, turn.language) and len(turn.response) < REFUSAL_CHARS


def _completeness(turn: Exchange) -> float:
    """The share of asks that were answered; 1 where nothing was asked."""
    total = len(turn.asked.asks)
    return 1 - len(turn.unanswered) / total if total else 1.0


def _consistency(faults: set[Flag]) -> float:
    if faults & {"wrong_language", "forbidden_pattern"}:
        return 0.0
    return OFF_TONE if "off_tone" in faults else 1.0


def _found(turn: Exchange, response: str, use: known.Use) -> Iterator[Fault]:
    """The faults of a response, each once."""
    yield from (Fault(flag=flag, certain=flag in CERTAIN or turn.noise) for flag in dict.fromkeys(_topical(turn)))
    yield from (Fault(flag=flag, certain=flag in CERTAIN) for flag in dict.fromkeys(formal(turn, response)))
    yield from _demanded(turn)
    if use.fault is not None:
        yield use.fault
    elif turn.refused:
        yield Fault(flag="declined", certain=False)


CERTAIN: frozenset[Flag] = frozenset({"wrong_language", "forbidden_pattern", "repetition", "echo", "leak"})
"""Faults of form that leave no doubt; noise besides. What an answer that is given twice scores is graded."""


def _topical(turn: Exchange) -> Iterator[Flag]:
    if turn.echo:
        yield "echo"
    if _is_beside(turn):
        yield "off_topic"
    if turn.unanswered or turn.cut_off or turn.yes_alone:
        yield "incomplete"


def _is_due(fault: Fault, turn: Exchange) -> bool:
    """Whether a response that says what memory held is not to blame: it may be short, and the same as before."""
    return fault.flag == "too_short" or (fault.flag == "repetition" and not repeats_within(turn.response))


def _demanded(turn: Exchange) -> Iterator[Fault]:
    """What was demanded of the form of the answer and is not kept; who declines or asks back need not keep it."""
    if turn.declined or turn.echo:
        return
    for one in turn.asked.demands:
        told_apart = one.kind == "questions" and len(turn.asked.asks) >= one.least
        if not told_apart and broken(one, turn.response):
            parts = one.kind in {"steps", "questions"}
            yield Fault(flag="incomplete" if parts else "constraint", about=one.text, certain=not parts)
    if turn.unlabelled:
        yield Fault(flag="incomplete", about=turn.unlabelled, certain=False)
    if in_wrong_code(turn.asked.analysis.text, turn.response):
        yield Fault(flag="constraint", about=", ".join(sorted(asked_in(turn.asked.analysis.text))))


def _is_beside(turn: Exchange) -> bool:
    """Whether a response plainly is no answer: noise, a courtesy, the refusal of nothing."""
    if turn.noise or (not turn.covers and _reaction(turn) < OFF_TOPIC):
        return True
    return bool(turn.covers) and _only_courtesy(turn)


def _is_far(turn: Exchange, near: float | None) -> bool:
    """Whether a response seems to be about something else: by its words, and by its meaning where that is known."""
    if near is None:
        return turn.far
    made = any(ask.kind in _MADE for ask in turn.asked.topics)
    return turn.apart and (near < FOREIGN and not made if not turn.far else near < RELATED)


def _nearness(turn: Exchange, embed: Embed | None) -> float | None:
    """How near response and message are in meaning, from -1 to 1; asked only where their words tell nothing."""
    if embed is None or not turn.apart:
        return None
    asked, said = (embedded(embed, text[:MEANT_CHARS]) for text in (turn.asked.analysis.text, turn.response))
    return float(asked @ said) if asked.shape == said.shape else 0.0
