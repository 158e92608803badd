"""The text that metacognition puts before the model, stable parts first so that a provider can cache them (K4)."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from insula.types import Confidence, Identity, Level, Recalled

MEMORIES_CHARS = 4_000
"""Characters of all memories together: about 1,000 tokens."""

WORTH_SHOWING = 0.2
"""Score from which a memory is worth the model's attention."""

MEMORIES = "Facts about the user:"
"""The heading that the embedded model answered best with, of ten that were tried."""

CONFIDENCE: dict[Level, str] = {
    "high": "Your confidence from memory is high: these facts bear directly on this; answer with them.",
    "medium": "Your confidence from memory is medium: these facts bear on part of this; answer with what they hold.",
    "low": "Your confidence from memory is low: little of what is stored bears on this; use general knowledge "
    "and say so.",
}
"""One sentence at every level, about memory and not about the world."""
NOTHING = "Your confidence from memory is low: nothing stored bears on this; use general knowledge and say so."
"""The sentence where no memory can be shown, whatever was found."""

VOICES = {
    "plain": "",
    "formal": " You write formally, without slang or emoji.",
    "warm": " You write warmly and personally.",
}


def compose(
    identity: Identity,
    confidence: Confidence,
    recalled: Sequence[Recalled],
    *,
    guidelines: str = "",
    guidance: Iterable[str] = (),
    lessons: Iterable[str] = (),
    advisories: Iterable[str] = (),
) -> str:
    """The instructions of one turn, in K4's order.

    Args:
        identity: who the agent is.
        confidence: what memory is believed to hold.
        recalled: memories, best first; each is screened and stands on one quoted line.
        guidelines: the text of SOUL.md.
        guidance: what the identity says on the topics of the message.
        lessons: advice whose trigger the message holds.
        advisories: notes on the session's load.
    """
    shown = [line for _, line in memories(recalled)]
    parts = [
        persona(identity),
        _section("## Behavioral Guidelines", [guidelines] if guidelines else []),
        _section("On this topic:", [f"- {text}" for text in guidance]),
        _section("Lessons:", [f"- {text}" for text in lessons]),
        _section(MEMORIES, shown),
        sentence(confidence, shown),
        "\n".join(advisories),
    ]
    return "\n\n".join(part for part in parts if part)


def persona(identity: Identity) -> str:
    """The one or two sentences that say who the agent is."""
    return f"You are {identity.name}, {identity.about.rstrip('.')}.{VOICES[identity.voice]}"


def memories(recalled: Sequence[Recalled]) -> list[tuple[int, str]]:
    """The id and the line of each memory that asserts something and may stand in a prompt, within `MEMORIES_CHARS`."""
    lines: list[tuple[int, str]] = []
    room = MEMORIES_CHARS
    for one in recalled:
        if not bears(one):
            continue
        line = rendered(one)
        if len(line) <= room:
            lines.append((one.memory.id, line))
            room -= len(line)
    return lines


def rendered(one: Recalled) -> str:
    """The line of a memory with its dates: since when it holds and what held until then, or until when it held."""
    said = _day(one.memory.said_at)
    if one.until is not None:
        return f"- {who(one)}{one.memory.line} ({said}; no longer since {_day(one.until)})"
    if one.before:
        return f"- {who(one)}{one.memory.line} (since {said}; until then: {one.before.rstrip('.')})"
    return f"- {who(one)}{one.memory.line} ({said})"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def bears(one: Recalled) -> bool:
    """Whether a memory may be shown and is worth the model's attention.

    It asserts something, it was not withheld, and where the assistant or a tool said it, it is asked for: what a model
    once made up, or a page once claimed, would otherwise come back as a fact about the user.
    """
    memory = one.memory
    if memory.withheld or not memory.line or memory.kind == "episodic" or one.score < WORTH_SHOWING:
        return False
    if one.bearing == "other" and one.reason:  # said of somebody else, or never meant as a fact
        return False
    nameless = memory.provenance == "tool" and memory.speaker in ("", "user")  # then nobody asked for it
    return memory.provenance == "user" or (one.parts.get("speaker", 0.0) > 0 and not nameless)


def who(one: Recalled) -> str:
    """Who said a memory, before its text; nothing for the user, whose facts these are."""
    match one.memory.provenance, one.memory.speaker:
        case "user", "user":
            return ""
        case "assistant", _:
            return "You said: "
        case _, speaker:
            return f"{speaker} said: "


def sentence(confidence: Confidence, shown: Sequence[str]) -> str:
    """The confidence sentence."""
    return CONFIDENCE[confidence.level] if shown else NOTHING


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *lines]) if lines else ""
