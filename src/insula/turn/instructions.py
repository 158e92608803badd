"""The text that metacognition puts before the model, stable parts first so that a provider can cache them (K4)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from insula.text import relative_times
from insula.text.relative_times import day
from insula.types import Identity, Recalled

MEMORIES_CHARS = 4_000
"""Characters of all memories together: about 1,000 tokens."""

BEARING_LINES = 5
"""Lines of others' talk, of which no statement is read that could answer: what memory systems show (`plain` in
docs/benchmarks/help.md). Sixteen cost twice the tokens, and tempt: on LoCoMo right 47 % for 53 %."""

WORTH_SHOWING = 0.2
"""Score from which a memory is worth the model's attention."""

VOICES = {
    "plain": "",
    "formal": "You write formally, without slang or emoji.",
    "warm": "You write warmly and personally.",
}


class Words(NamedTuple):
    """What stands before the model in one turn."""

    stable: str
    """What stays as it is from turn to turn, for the system prompt: who the agent is, and SOUL.md."""
    now: str
    """What belongs to this message: guidance, lessons, memories."""
    reminder: str
    """What a model keeps to best beside the message itself; empty in most turns. It goes behind the message, within the
    same user message, so that a provider's cache of what stands before is not touched."""
    shown: frozenset[int]
    """Ids of the memories that stand in the instructions."""
    untold: bool = False
    """Whether it is said that the user has not told this."""

    @property
    def instructions(self) -> str:
        """Both parts for the system prompt, the stable one first."""
        return "\n\n".join(filter(None, (self.stable, self.now)))

    @property
    def behind(self) -> str:
        """What belongs to this message, all of it, to be put behind it: nothing before it changes."""
        return "\n\n".join(filter(None, (self.now, f"({self.reminder})" if self.reminder else "")))


def compose(  # noqa: PLR0913 one prompt, with a keyword for each thing that may stand in it
    identity: Identity,
    recalled: Sequence[Recalled],
    *,
    limits: Sequence[Recalled] = (),
    untold: bool = False,
    language: str = "en",
    guidelines: str = "",
    guidance: Iterable[str] = (),
    lessons: Iterable[str] = (),
    wishes: Sequence[str] = (),
    mend: str = "",
) -> Words:
    """What one turn is told, in K4's order; each sentence stands in `words.json` and was chosen by its effect.

    Args:
        identity: who the agent is.
        recalled: memories that may stand before the model, best first; each is screened and stands on one line.
        limits: memories that limit the answer whatever is asked; they stand first.
        untold: whether it is said that the user has not told this, where no line stands before the model.
        language: that of the message; the sentences are told in it.
        guidelines: the text of SOUL.md.
        guidance: what the identity says on the topics of the message.
        lessons: advice whose trigger the message holds.
        wishes: what the user wants of every answer, in their own words.
        mend: what fell short in the turn before, in one sentence.
    """
    known = memories(recalled, language)
    first = [(one.memory.id, dated(one, language)) for one in limits]
    known = [*first, *(line for line in known if line not in first)]
    own = _sentences().get(language, _sentences()["en"])
    not_told = own["untold"] if untold and len(known) == len(first) else ""
    stable = [persona(identity), _section("## Behavioral Guidelines", [guidelines] if guidelines else [])]
    now = [
        _section("On this topic:", [f"- {text}" for text in guidance]),
        _section("Lessons:", [f"- {text}" for text in lessons]),
        _section(own["memories"], [line for _, line in known]),
    ]
    reminder = "\n".join(filter(None, [not_told, mend, _wished(wishes, own)]))
    shown = frozenset(number for number, _ in known)
    return Words("\n\n".join(filter(None, stable)), "\n\n".join(filter(None, now)), reminder, shown, bool(not_told))


def _wished(wishes: Sequence[str], own: Mapping[str, str]) -> str:
    return "\n".join([own["wishes"], *(f"- {wish}" for wish in wishes)]) if wishes else ""


def persona(identity: Identity) -> str:
    """The one or two sentences that say who the agent is; nothing where nobody has said it."""
    who = ", ".join(filter(None, (identity.name.strip(), identity.about.strip().rstrip("."))))
    return " ".join(filter(None, (f"You are {who}." if who else "", VOICES[identity.voice])))


def memories(recalled: Sequence[Recalled], language: str = "en") -> list[tuple[int, str]]:
    """The id and the line of each memory that asserts something and may stand in a prompt, within `MEMORIES_CHARS`."""
    lines: list[tuple[int, str]] = []
    room = MEMORIES_CHARS
    telling = [one for one in recalled if one.bearing in {"answers", "history"} or one.memory.provenance != "user"]
    answered = any(one.bearing == "answers" for one in telling)
    unread = all(one.fit is None for one in recalled)
    for one in telling if answered else recalled:
        if not bears(one):
            continue
        if unread and len(lines) == BEARING_LINES:
            break
        line = dated(one, language)
        if len(line) <= room:
            lines.append((one.memory.id, line))
            room -= len(line)
    return lines


def dated(one: Recalled, language: str = "en") -> str:
    """The line of a memory: who said it, where it was not the user, what, and its dates.

    What it calls "last week" is counted from the day on which it was said, where it is in the language of the message.
    Where the user's own words ended another line it says since when, and what held until then; where they ended this
    one, since when it holds no longer (`memory/ending.py`).
    """
    said = day(one.memory.said_at)
    if one.until is not None:
        said = f"{said}; no longer since {day(one.until)}"
    elif one.before:
        said = f"since {said}; until then: {one.before.rstrip('.')}"
    if (meant := relative_times.dated(one.memory.line, one.memory.said_at.date(), language)) is not None:
        said = f"{said}; {meant.said}: {meant.when}"
    return f"- {who(one)}{one.memory.line} ({said})"


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
    if memory.provenance == "tool" and one.fit is not None and one.bearing == "answers":
        return True
    return memory.provenance == "user" or asked_for(one)


def surely_answers(one: Recalled) -> bool:
    """Whether a memory answers what is asked, and nothing speaks against it."""
    return one.bearing == "answers" and not one.reason and one.fit is not None


def asked_for(one: Recalled) -> bool:
    """Whether the message asks what the assistant or a tool said, and this is what it said."""
    memory = one.memory
    nameless = memory.provenance == "tool" and memory.speaker in ("", "user")  # then nobody asked for it
    return memory.provenance != "user" and one.parts.get("speaker", 0.0) > 0 and not nameless


def who(one: Recalled) -> str:
    """Who said a memory, before its text; nothing for the user, whose facts these are."""
    match one.memory.provenance, one.memory.speaker:
        case "user", "user":
            return ""
        case "assistant", _:
            return "You said: "
        case _, speaker:
            return f"{speaker} said: "


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *lines]) if lines else ""


@cache
def _sentences() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.turn") / "words.json").read_text("utf-8"))
