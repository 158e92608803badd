"""Which remembered line an answer is taken from, or contradicts: told to a person only where both are sure.

The form is strict; `insula.turn.values` states it. Everything else is left unsaid.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from insula.language.owner import USER
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.answers import NAMED, SAID, AskKind, declines_answer, says_untold
from insula.text.questions import find_asks
from insula.turn.remembered import wants_advice
from insula.turn.values import ComparedText, ReplyBesideLine
from insula.types import Flag, Recalled

_VALUED: frozenset[AskKind] = SAID | frozenset[AskKind]({"request", "list"})
"""What may be answered out of a remembered line."""
_AGAINST: frozenset[Flag] = frozenset({"ignored_memory", "other_person", "unsupported"})
"""What the monitor says of an answer that holds something else."""


class AnswerSource(NamedTuple):
    """A remembered line with what an answer has to do with it."""

    memory: Recalled
    holds: bool
    """Whether the answer is taken from it; else it says another value."""


def find_source(
    message: str,
    response: str,
    recalled: Sequence[Recalled],
    shown: Collection[int],
    flags: Sequence[Flag],
    default: str,
) -> AnswerSource | None:
    """The line that a response is taken from, or says another value than; None where that is not sure.

    Args:
        response: the answer, as the model gave it.
        recalled: what was recalled, best first.
        flags: what the monitor says of the response.
        default: the language of a message too short to tell.
    """
    analysis = analyse_text(message, default=default)
    asks, language = find_asks(analysis), analysis.language
    if language not in LANGUAGES or not asks or any(ask.kind not in _VALUED for ask in asks):
        return None
    if any(wants_advice(ask, language) for ask in asks) or _is_no_answer(response, language):
        return None
    own = [hit for hit in recalled if hit.memory.id in shown and _is_own(hit)]
    question = ComparedText(message, language)
    beside = [ReplyBesideLine(question, hit.memory.line or hit.told, response) for hit in own]
    most = max((each.shared for each in beside), default=0)
    nearest = [(hit, each) for hit, each in zip(own, beside, strict=True) if each.shared == most]
    wants_name = any(ask.kind in NAMED for ask in asks)
    for hit, each in nearest if _AGAINST.isdisjoint(flags) else ():
        if each.is_taken and not (wants_name and each.says_new_name):
            return AnswerSource(hit, holds=True)
    if len(asks) == 1 and nearest:
        others = [hit.memory.line for hit in recalled if hit is not nearest[0][0]]
        if nearest[0][1].says_another(asks[0].kind, others):
            return AnswerSource(nearest[0][0], holds=False)
    return None


def _is_own(recalled: Recalled) -> bool:
    """Whether a memory is the user's own word and likely answers."""
    memory = recalled.memory
    return (
        recalled.bearing == "answers"
        and memory.provenance == "user"
        and memory.speaker == USER
        and recalled.until is None
    )


def _is_no_answer(response: str, language: str) -> bool:
    return declines_answer(response, language) or says_untold(response, language)
