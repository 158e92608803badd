"""One verdict of a turn that a person understands, out of confidence before the response and assessment after it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from insula.types import HEDGE_THRESHOLD, Assessment, Confidence, Flag

Kind = Literal[
    "used",
    "unused",
    "mistaken",
    "partly",
    "held",
    "general",
    "world",
    "nothing",
    "modest",
    "claims",
    "beyond",
    "talk",
    "unchecked",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

WORDS: Mapping[Kind, str] = {
    "used": "remembered, and used",
    "unused": "remembered, but the answer does not use it",
    "mistaken": "remembered, but the answer takes somebody else's for it",
    "partly": "partly remembered",
    "held": "remembered; whether the answer uses it could not be told",
    "general": "nothing stored on this: answered from general knowledge",
    "world": "a question of the world, and not of what you told",
    "nothing": "nothing stored on this",
    "modest": "nothing stored on this, and the answer says so",
    "claims": "nothing stored on this, and the answer claims to know you",
    "beyond": "partly remembered, and the answer says what the stored line does not",
    "talk": "nothing was asked",
    "unchecked": "the answer was not checked",
}

FAULTS: Mapping[Flag, str] = {
    "empty": "it is empty",
    "off_topic": "whether it answers what was asked could not be told",
    "incomplete": "something is left unanswered",
    "constraint": "it does not keep to what was asked for",
    "declined": "it declines",
    "leak": "words of the prompt stand in it",
    "echo": "it only says the question again",
    "wrong_language": "it is in another language than it should be",
    "forbidden_pattern": "it says something that the agent's identity forbids",
    "off_tone": "its tone is not the agent's",
    "too_short": "it is too short for what was asked",
    "too_long": "it is longer than was asked for",
    "repetition": "it repeats itself or an earlier answer",
    "unsure": "the model itself was unsure of its words",
}
"""What is said of the answer beside what memory had to do with it."""

Tone = Literal["sure", "good", "doubt", "poor"]
NAMED_CHARS = 80


class Verdict(NamedTuple):
    """What a turn came to."""

    kind: Kind
    text: str
    """A sentence, in lower case and without a full stop."""
    tone: Tone
    line: str = ""
    """What the answer should have used."""


def verdict(confidence: Confidence, assessment: Assessment | None, *, asked: bool, personal: bool = True) -> Verdict:
    """The verdict of a turn.

    Args:
        confidence: how likely memory held what the message needs.
        assessment: what was made of the response; None where it was not checked.
        asked: whether the message asks anything.
        personal: whether it asks for a fact that memory might hold, and not of the world.
    """
    kind = _kind(confidence, assessment, asked=asked, personal=personal)
    if assessment is None:
        return Verdict(kind, WORDS[kind], "doubt")
    line = next((fault.about for fault in assessment.faults if fault.flag in _OF_MEMORY and fault.about), "")
    said = [WORDS[kind], *_beside(assessment, kind)]
    return Verdict(kind, "; ".join(said), _tone(assessment, kind), line)


_OF_MEMORY: frozenset[Flag] = frozenset({"ignored_memory", "declined", "other_person", "unsupported"})


_NO_ANSWER: frozenset[Flag] = frozenset({"empty", "declined", "echo"})
"""What a response is that answers nothing, and so uses nothing."""


def _kind(confidence: Confidence, assessment: Assessment | None, *, asked: bool, personal: bool) -> Kind:
    if assessment is None:
        return "unchecked"
    flags = set(assessment.flags)
    held = {fault.flag for fault in assessment.faults if fault.about}
    if "other_person" in flags:
        return "mistaken"
    if flags & {"ignored_memory"} or "declined" in held:
        return "unused"
    if "unsupported" in flags:
        return "beyond" if "unsupported" in held else "claims"
    if assessment.used:
        return "used"
    if not asked:
        return "talk"
    answered = not flags & _NO_ANSWER
    if confidence.level == "low":
        return "modest" if assessment.modest else "general" if answered else "nothing"
    if not personal:
        return "world"
    if confidence.level == "medium":
        return "partly"
    return "held" if answered else "unused"


def _beside(assessment: Assessment, kind: Kind) -> list[str]:
    """What else is to be said of the answer."""
    said: list[str] = []
    for flag in assessment.flags:
        about = next((fault.about for fault in assessment.faults if fault.flag == flag), "")
        if flag == "declined" and kind == "unused":
            continue
        if flag == "off_topic" and not assessment.unclear:
            said.append("it does not answer what was asked")
        elif flag == "incomplete" and assessment.unanswered:
            said.append(f"left unanswered: {_short(assessment.unanswered[0])}")
        elif flag == "constraint" and about:
            said.append(f"not as asked for: {_short(about)}")
        elif flag in FAULTS:
            said.append(FAULTS[flag])
    return said


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NAMED_CHARS else line[: NAMED_CHARS - 1] + "…"


def _tone(assessment: Assessment, kind: Kind) -> Tone:
    if assessment.score < HEDGE_THRESHOLD:
        return "poor"
    if assessment.outcome == "doubtful":
        return "doubt"
    return "good" if kind == "used" else "sure"
