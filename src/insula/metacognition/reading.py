"""How a turn reads what was said: its terms, its text in the space of meanings, and what of memory was used.

A memory stands where its turn does together with the end of the turn before: an answer ("In May, with Ana.") means
little without what it answers. A question that names somebody who talks here is put as they would put it, since what
they say of themselves says "I".
"""

from collections.abc import Iterable, Sequence, Set

from insula.language.owner import ASSISTANT, USER, short_name
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.storage.rows import TranscriptLine
from insula.redaction import is_redacted, without_markers
from insula.text.analysis import Analysis, Sentence, analyse_text
from insula.turn.instructions import may_show
from insula.types import Recalled

RECENT_RESPONSES = 5
"""Responses of the session that a new one is compared with (DESIGN K1)."""
USED_TERMS = 2
"""Terms that a memory must share with what drew on it to count as used."""
BEFORE_CHARS = 200
"""Of the turn before (best of those tried on conversations, see docs/benchmarks/confidence.md)."""
MEANT_CHARS = 1_000
"""Of the turn itself: a text that is longer means no one thing, and costs a millisecond for each hundred characters."""
REPLY_CHARS = 300
"""Of a reply, which is told only to who asks for it, and is found as well by its beginning: see
docs/benchmarks/speed.md."""
FIRST_PERSON = "I"
"""In any language: the encoder puts all into one space."""


def drop_secret_sentences(content: str) -> str:
    """What of a redacted text is remembered: not the sentences that a secret was taken out of."""
    text = content[:REMEMBERED_CHARS]
    if not is_redacted(text):
        return text
    return "\n".join(sentence.text for sentence in analyse_text(text).sentences if not is_redacted(sentence.text))


def memory_text(before: str, content: str, provenance: str = "user") -> str:
    """The text whose vector is a memory's; empty where nothing of it is remembered.

    Args:
        before: what was said just before it in the session.
        provenance: whose words it is.
    """
    own = drop_secret_sentences(content)[: REPLY_CHARS if provenance == "assistant" else MEANT_CHARS].strip()
    return f"{drop_secret_sentences(before)[-BEFORE_CHARS:]} {own}".strip() if own else ""


def question_text(asked: Analysis, speakers: Iterable[str]) -> str:
    """The text whose vector is a question's: the names of those who talk here are "I"."""
    names = {short_name(speaker) for speaker in speakers} - {USER, ASSISTANT}
    text = " ".join(_put_names(sentence, names) for sentence in asked.sentences) if names else asked.text
    return text[:MEANT_CHARS].strip()


def _put_names(sentence: Sentence, names: Set[str]) -> str:
    text = sentence.text
    for word in reversed(sentence.words):
        if word.text.lower() in names:
            text = text[: word.start] + FIRST_PERSON + text[word.start + len(word.text) :]
    return text


def analyse_redacted(content: str, default: str = "en") -> Analysis:
    """The analysis of a redacted text: of its beginning, and without the markers of what was taken out."""
    return analyse_text(without_markers(content[:REMEMBERED_CHARS]), default=default)


def analyse_memorable(content: str, analysis: Analysis) -> Analysis:
    """The analysis of what of a redacted text is remembered: not the sentences that a secret was taken out of.

    "My key is" with a hole answers nothing; recalled, it would make the agent sure that it knows the key.

    Args:
        analysis: `analyse_redacted` of it, which is returned as it is where nothing was taken out.
    """
    text = drop_secret_sentences(content)
    return analysis if text == content[:REMEMBERED_CHARS] else analyse_text(text, default=analysis.language)


def choose_recalled(recalled: Sequence[Recalled], room: int) -> tuple[Recalled, ...]:
    """What a turn keeps of what came up, best first: before all else what may stand before the model.

    A question that is asked again and again brings up itself and its answers, and would drive out the facts.
    """
    telling = sorted(recalled, key=lambda hit: not may_show(hit))[:room]
    kept = {hit.memory.id for hit in telling}
    return tuple(hit for hit in recalled if hit.memory.id in kept)


def record_recalled(recalled: Sequence[Recalled], shown: frozenset[int]) -> list[dict[str, object]]:
    """What recall brought, as a record holds it."""
    return [{"id": hit.memory.id, "score": round(hit.score, 4), "shown": hit.memory.id in shown} for hit in recalled]


def is_used(recalled: Recalled, said: frozenset[str], heard: frozenset[str]) -> bool:
    """Whether a turn made use of a memory: the response drew on what the user or a tool had said, or the user came
    back to what the assistant had said. That the assistant repeats itself makes nothing of it worth keeping.
    """
    terms = heard if recalled.memory.provenance == "assistant" else said
    return len(terms & recalled.terms) >= USED_TERMS


def terms_of(history: Sequence[TranscriptLine]) -> frozenset[str]:
    """The content words of what the user said last in the session."""
    said = [line.content for line in history if line.provenance == "user"][-RECENT_RESPONSES:]
    return frozenset(term for text in said for term in analyse_text(text[:REMEMBERED_CHARS]).terms)


def named_talkers(asked: Analysis, speakers: Iterable[str]) -> frozenset[str]:
    """Those who talk in what is remembered and whom a message names, lower-case; the user is none."""
    talkers = frozenset(map(short_name, speakers)) - {USER, ASSISTANT}
    words = (word for sentence in asked.sentences for word in sentence.words)
    return frozenset(
        low
        for word in words
        if (low := word.text.lower()) in talkers and (word.text != low or low == low.upper())  # of Will, not of "will"
    )
