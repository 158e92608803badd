"""Whether memory has a say in a message at all, decided before what it says (K4): nine messages in ten need nothing.

A head tells from the meaning of each sentence, and of the message as a whole, the chance that only this user can have
told what it asks. Where it is sure, it may be said that they have not. A score weighs that chance together with what
memory has for it, and lets lines stand before the model. Where there are no vectors, only a line that surely answers is
shown, and never is it said that nothing was told. `make heads` fits them; their cards stand in
docs/explanation/heads.md.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from insula.language.heads import load_cards, log_odds, operating_point, weigh_message
from insula.memory.relevance import BEARS
from insula.text.analysis import LANGUAGES, Analysis
from insula.text.answers import AskKind
from insula.text.questions import find_asks

PIECES = 2
"""Sentences of a message that memory is asked for, beside the whole of it."""
_MADE: frozenset[AskKind] = frozenset({"how_to", "code", "request"})
"""Asks for what is to be made or done, which no memory answers."""


class MemoryGate(NamedTuple):
    """What a message lets memory say."""

    personal: float | None
    """The chance that only this user can have told what it asks; None where there was no vector to tell it from."""
    talkers: frozenset[str] = frozenset()
    """Those whom it names and whose talk is remembered."""
    asks: bool = True
    """Whether it asks anything but for something to be made: of a talker that is what they said."""
    language: str = "en"

    def lets_in(self, best: float, overlap: float, expected: float | None = None) -> bool:
        """Whether lines may stand before the model.

        Args:
            best: the log-odds that the likeliest line answers.
            overlap: the largest share of what is asked that stands in one line, in [0, 1].
            expected: of a line for which queries were predicted, the cosine of the nearest of them.
        """
        if self.talkers:
            return True
        if self.personal is None:
            return False
        if best < BEARS:
            return False
        weights = load_cards()["personal" if expected is None else "predicted"]["lines"]
        known = {**dict(zip(NAMES, features(self.personal, best, overlap), strict=True)), "expected": expected or 0.0}
        return sum(weights.get(name, 0.0) * value for name, value in known.items()) >= 0

    @property
    def is_certain(self) -> bool:
        """Whether surely only the user can have told it: where no line stands, it may be said that they have not."""
        if self.language not in LANGUAGES:
            return False
        surely = self.personal is not None and self.personal >= operating_point("personal", "untold")
        return surely or bool(self.talkers and self.asks)


def decide_gate(
    message: Analysis, chances: Sequence[float | None], whole: float | None, talkers: Collection[str] = ()
) -> MemoryGate:
    """What a message lets memory say.

    Args:
        message: the message.
        chances: of each of its sentences and clauses, that only the user can have told what it asks.
        whole: the same of the message as a whole.
        talkers: those whom it names and whose talk is remembered.
    """
    asking = any(ask.kind not in _MADE for ask in find_asks(message))
    likeliest = max((chance for chance in chances if chance is not None), default=None)
    personal = None if likeliest is None or whole is None else weigh_message(likeliest, whole)
    return MemoryGate(personal, frozenset(talkers), asking, message.language)


def most_personal(pieces: Sequence[str], chances: Sequence[float | None]) -> list[str]:
    """The few sentences that most likely ask what only the user can have told.

    Args:
        pieces: the sentences and clauses of a message.
        chances: of each, that it does.
    """
    order = sorted(zip(pieces, chances, strict=True), key=lambda pair: -(pair[1] or 0.0))
    return [text for text, _ in order[:PIECES]]


def features(personal: float, best: float, overlap: float) -> tuple[float, ...]:
    """What is weighed, in the order of `NAMES`."""
    return log_odds(personal), best, overlap, 1.0


NAMES = ("personal", "best", "overlap", "intercept")
