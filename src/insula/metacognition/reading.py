"""How a turn reads what was said: its terms, what recall brought, and what of that was used."""

from collections.abc import Iterable, Sequence

from insula.memory.encoding import ASSISTANT, USER, called
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.storage.rows import Said
from insula.metacognition.meaning import remembered
from insula.redaction import without_markers
from insula.text.analysis import Analysis, analyse
from insula.turn.instructions import may_show
from insula.types import Recalled

RECENT_RESPONSES = 5
"""Responses of the session that a new one is compared with (DESIGN K1)."""
USED_TERMS = 2
"""Terms that a memory must share with what drew on it to count as used."""


def analysed(content: str, default: str = "en") -> Analysis:
    """The analysis of a redacted text: of its beginning, and without the markers of what was taken out."""
    return analyse(without_markers(content[:REMEMBERED_CHARS]), default=default)


def memorable(content: str, analysis: Analysis) -> Analysis:
    """The analysis of what of a redacted text is remembered: not the sentences that a secret was taken out of.

    "My key is" with a hole answers nothing; recalled, it would make the agent sure that it knows the key.

    Args:
        content: the text.
        analysis: `analysed` of it, which is returned as it is where nothing was taken out.
    """
    text = remembered(content)
    return analysis if text == content[:REMEMBERED_CHARS] else analyse(text, default=analysis.language)


def chosen(recalled: Sequence[Recalled], room: int) -> tuple[Recalled, ...]:
    """What a turn keeps of what came up, best first: before all else what may stand before the model.

    A question that is asked again and again brings up itself and its answers, and would drive out the facts.
    """
    telling = sorted(recalled, key=lambda one: not may_show(one))[:room]
    kept = {one.memory.id for one in telling}
    return tuple(one for one in recalled if one.memory.id in kept)


def brought(recalled: Sequence[Recalled], shown: frozenset[int]) -> list[dict[str, object]]:
    """What recall brought, as a record holds it."""
    return [{"id": one.memory.id, "score": round(one.score, 4), "shown": one.memory.id in shown} for one in recalled]


def is_used(one: Recalled, said: frozenset[str], heard: frozenset[str]) -> bool:
    """Whether a turn made use of a memory: the response drew on what the user or a tool had said, or the user came
    back to what the assistant had said. That the assistant repeats itself makes nothing of it worth keeping.
    """
    terms = heard if one.memory.provenance == "assistant" else said
    return len(terms & one.terms) >= USED_TERMS


def terms_of(history: Sequence[Said]) -> frozenset[str]:
    """The content words of what the user said last in the session."""
    said = [line.content for line in history if line.provenance == "user"][-RECENT_RESPONSES:]
    return frozenset(term for text in said for term in analyse(text[:REMEMBERED_CHARS]).terms)


def named_talkers(asked: Analysis, speakers: Iterable[str]) -> frozenset[str]:
    """Those who talk in what is remembered and whom a message names, lower-case; the user is none.

    Args:
        asked: the message.
        speakers: who talks in what is remembered.
    """
    talkers = frozenset(map(called, speakers)) - {USER, ASSISTANT}
    words = (word for sentence in asked.sentences for word in sentence.words)
    return frozenset(
        low
        for word in words
        if (low := word.text.lower()) in talkers and (word.text != low or low == low.upper())  # of Will, not of "will"
    )
