"""What a person is told of a turn: where the answer comes from, what it contradicts, what was saved; mostly nothing.

What memory had to do with an answer beyond that has a kind, for those who ask why.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from insula.claims import DEFAULT, Claimed, claim_template, say_claim
from insula.text.analysis import LANGUAGES
from insula.text.relative_times import format_day
from insula.text.wording import shorten_line
from insula.turn.source import AnswerSource
from insula.types import Assessment, Confidence, Flag, Memory

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

Tone = Literal["sure", "good", "doubt", "poor"]
NAMED_CHARS = 80


class Verdict(NamedTuple):
    """What a turn came to."""

    kind: Kind
    """What memory had to do with the answer, for the ledger and for who asks why."""
    said: tuple[Claimed, ...]
    """What stands under the answer, a line for each thing; mostly nothing."""
    tone: Tone
    line: str = ""
    """The remembered line that it quotes."""
    source: Memory | None = None
    """The memory that the answer surely says, where the line quoted is its source."""

    @property
    def text(self) -> str:
        """What stands under the answer."""
        return "\n".join(claimed.text for claimed in self.said)


def make_verdict(
    confidence: Confidence,
    assessment: Assessment | None,
    source: AnswerSource | None = None,
    *,
    changes: Sequence[Claimed] = (),
    asked: bool,
    personal: bool = True,
    quotes: bool = False,
    claims: frozenset[str] = DEFAULT,
) -> Verdict:
    """The verdict of a turn.

    Args:
        assessment: what was made of the response; None where it was not checked.
        source: the remembered line that the response surely says, or surely contradicts.
        changes: what the message changed: preferences, and what was forgotten.
        asked: whether the message asks anything.
        personal: whether it asks for what only its user can have told.
        quotes: whether the response says a remembered line word for word.
        claims: those that may be made.
    """
    kind = _verdict_kind(confidence, assessment, source, asked=asked, personal=personal, quotes=quotes)
    told = source if source is not None and _source_claim(source) in claims else None
    said = [_quote_source(told)] if told else []
    said += [claimed for claimed in changes if claims.issuperset(claimed.claims)]
    tone: Tone = "sure" if told is None else "good" if told.holds else "doubt"
    holds = told.memory.memory if told is not None and told.holds else None
    return Verdict(kind, tuple(said), tone, told.memory.told if told else "", holds)


def describe_preferences(saved: Sequence[str], ended: Sequence[str], language: str) -> list[Claimed]:
    """What a message wants of all answers to come, and what of that it took back, in the words in which it stands."""
    return [
        *(say_claim("saved", "", language, words=shorten_line(words, NAMED_CHARS)) for words in saved),
        *(say_claim("ended", "", language, words=shorten_line(words, NAMED_CHARS)) for words in ended),
    ]


def is_saved(line: str) -> bool:
    """Whether a line under an answer says that something was saved, in any language."""
    templates = (claim_template("saved", "", language) for language in LANGUAGES)
    return line.startswith(tuple(template.partition("{")[0] for template in templates))


def explain_source(kind: Kind) -> Claimed:
    """What memory had to do with an answer, for who asks why."""
    return say_claim("why.memory", f"kind.{kind}")


def _source_claim(source: AnswerSource) -> str:
    return "source" if source.holds else "otherwise"


def _quote_source(source: AnswerSource) -> Claimed:
    memory = source.memory.memory
    return say_claim(
        _source_claim(source), day=format_day(memory.said_at), line=shorten_line(source.memory.told, NAMED_CHARS)
    )


_NO_ANSWER: frozenset[Flag] = frozenset({"empty", "declined", "echo"})
"""What a response is that answers nothing, and so uses nothing."""


def _verdict_kind(
    confidence: Confidence,
    assessment: Assessment | None,
    source: AnswerSource | None,
    *,
    asked: bool,
    personal: bool,
    quotes: bool,
) -> Kind:
    if assessment is None:
        return "unchecked"
    if source is not None:
        return "used" if source.holds else "unused"
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
    if quotes:
        return "used"
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
