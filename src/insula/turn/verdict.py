"""What a person is told of a turn: where the answer comes from, what it contradicts, what was saved; mostly nothing.

What memory had to do with an answer beyond that has a kind, for those who ask why.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from insula.text.relative_times import day
from insula.turn.source import Source
from insula.types import Assessment, Confidence, Flag

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
SOURCE = "From what you told me on {day}: “{line}”"
OTHERWISE = "You told me otherwise on {day}: “{line}”"
SAVED = "Saved: “{words}”"


class Verdict(NamedTuple):
    """What a turn came to."""

    kind: Kind
    """What memory had to do with the answer, for the ledger and for who asks why."""
    text: str
    """What stands under the answer, a line for each thing; mostly empty."""
    tone: Tone
    line: str = ""
    """The remembered line that it quotes."""


def verdict(
    confidence: Confidence,
    assessment: Assessment | None,
    source: Source | None = None,
    saved: Sequence[str] = (),
    *,
    asked: bool,
    personal: bool = True,
) -> Verdict:
    """The verdict of a turn.

    Args:
        confidence: how likely memory held what the message needs.
        assessment: what was made of the response; None where it was not checked.
        source: the remembered line that the response surely says, or surely contradicts.
        saved: what the message wants of all answers to come, in the user's words.
        asked: whether the message asks anything.
        personal: whether it asks for what only its user can have told.
    """
    kind = _kind(confidence, assessment, source, asked=asked, personal=personal)
    said = [_quoted(source)] if source else []
    said += [SAVED.format(words=_short(words)) for words in saved]
    tone: Tone = "sure" if source is None else "good" if source.holds else "doubt"
    return Verdict(kind, "\n".join(said), tone, source.memory.memory.line if source else "")


def _quoted(source: Source) -> str:
    memory = source.memory.memory
    words = SOURCE if source.holds else OTHERWISE
    return words.format(day=day(memory.said_at), line=_short(memory.line))


_NO_ANSWER: frozenset[Flag] = frozenset({"empty", "declined", "echo"})
"""What a response is that answers nothing, and so uses nothing."""


def _kind(
    confidence: Confidence, assessment: Assessment | None, source: Source | None, *, asked: bool, personal: bool
) -> Kind:
    if assessment is None:
        return "unchecked"
    if source is not None and source.holds:
        return "used"
    flags = set(assessment.flags)
    held = {fault.flag for fault in assessment.faults if fault.about}
    if "other_person" in flags:
        return "mistaken"
    if flags & {"ignored_memory"} or "declined" in held:
        return "unused"
    if "unsupported" in flags:
        return "beyond" if "unsupported" in held else "claims"
    if not asked:
        return "talk"
    if assessment.used:
        return "held"
    answered = not flags & _NO_ANSWER
    if confidence.level == "low":
        return "modest" if assessment.modest else "general" if answered else "nothing"
    if not personal:
        return "world"
    if confidence.level == "medium":
        return "partly"
    return "held" if answered else "unused"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NAMED_CHARS else line[: NAMED_CHARS - 1] + "…"
