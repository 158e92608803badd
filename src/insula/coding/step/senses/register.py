"""Which senses speak by default, and what was measured of each: the one place where that stands.

The bar: of at least 20 texts over at least five kinds of project that a sense was not tuned on, at least 70 % were
useful and at most 10 % were false. A sense that reaches it speaks by default; no sense does. Those that people rely on
speak all the same, and their rows say so. One that no row names is off. A person switches any of them
(`insula on chronos`).

The figures are counted from the verdicts in `benchmarks/insula_bench/verdicts.jsonl` on projects that were held out:
each text was judged by one reader; `insula bench hook --data` repeats what was said.
"""

from insula.value import Value, is_object

FEWEST, KINDS = 20, 5
"""Texts below which nothing is claimed of a sense, and kinds of project that they must come from."""
USEFUL, FALSE = 0.7, 0.1
"""Shares of useful texts from which, and of false ones up to which, a sense speaks."""
CALLS = 122_874
"""Those of the sessions that the figures are from, ..."""
COMMAND = "insula bench hook --data"
"""... and the command that repeats them."""


class SenseMeasurement(Value):
    """What was measured of a sense."""

    sense: str
    useful: int = 0
    """Texts that were true, and that a person who watched would have said."""
    useless: int = 0
    """Texts that were true, and that nobody needed."""
    false: int = 0
    kinds: int = 0
    """Kinds of project that the texts come from."""
    kept: str = ""
    """Why it speaks though it has not reached the bar."""

    @property
    def texts(self) -> int:
        """How many were judged."""
        return self.useful + self.useless + self.false

    @property
    def is_earned(self) -> bool:
        """Whether the texts alone let it speak."""
        enough = self.texts >= FEWEST and self.kinds >= KINDS
        return enough and self.useful >= USEFUL * self.texts and self.false <= FALSE * self.texts

    @property
    def speaks_by_default(self) -> bool:
        """Whether it speaks by default."""
        return self.is_earned or bool(self.kept)

    def explain_default(self, speaks: bool) -> str:
        """Why it speaks, or does not, in figures.

        Args:
            speaks: whether it does, be it by default or by a person's switch.
        """
        counted = f"{self.useful} of {self.texts} notes useful, {self.false} false" if self.texts else "no note judged"
        if speaks != self.speaks_by_default:
            return f"{counted}; switched by you"
        judged = "" if self.is_earned or not self.texts else f"; {self._explain_bar()}"
        return f"{counted}{judged}{'; on: ' + self.kept if self.kept else ''}"

    def _explain_bar(self) -> str:
        return "below the bar" if self.texts >= FEWEST and self.kinds >= KINDS else "too few to decide"


MEASURED = (
    SenseMeasurement(
        sense="nociception", useful=29, useless=28, false=9, kinds=5, kept="nothing else notices what fails for hours"
    ),
    SenseMeasurement(sense="vestibular", false=4, kinds=3, kept="right on labelled examples"),
    SenseMeasurement(sense="bypass", useful=5, kinds=3, kept="what was not checked is not told otherwise"),
    SenseMeasurement(sense="against_words", false=22, kinds=5, kept="you count on it where you rule something out"),
    SenseMeasurement(
        sense="told_again", useful=8, useless=15, false=21, kinds=5, kept="you count on it where you rule something out"
    ),
    SenseMeasurement(sense="unmet", useful=1, useless=1, false=1, kinds=2, kept="right on labelled examples"),
    SenseMeasurement(sense="spatial"),
    SenseMeasurement(sense="o2", useful=2, useless=12, kinds=5),
    SenseMeasurement(sense="chronos", useless=20, kinds=4),
)
DEFAULT = frozenset(row.sense for row in MEASURED if row.speaks_by_default)
"""The senses that speak where nobody has switched any."""


def list_reasons(on: "frozenset[str]", speaks: bool) -> str:
    """The senses that speak, or those that do not, each with why.

    Args:
        on: those that speak.
        speaks: whether to tell of these, or of the others.
    """
    rows = [row for row in MEASURED if (row.sense in on) == speaks]
    return "; ".join(f"{row.sense} ({row.explain_default(speaks)})" for row in rows) or "none"


def list_switched_on(by_hand: object) -> "frozenset[str]":
    """The senses that speak where a person has switched some.

    Args:
        by_hand: name of a sense -> whether it is on, as JSON held it; what is none of that changes nothing.
    """
    if not is_object(by_hand) or not by_hand:
        return DEFAULT
    on = frozenset(name for name, yes in by_hand.items() if yes is True)
    return (DEFAULT | on) - frozenset(name for name, yes in by_hand.items() if yes is False)
