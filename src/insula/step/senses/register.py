"""Which senses speak by default, and what was measured of each: the one place where that stands.

A sense speaks by default where, of at least 20 texts on projects that it was not tuned on, at least 70 % were useful
and at most 10 % were false. One that no row names is off. A person switches any of them (`insula on delivery`).

The figures: the hook of commit 7bab2a7 over sessions of five projects, 13,533 calls, each text judged by one reader.
"""

from insula.value import Value, is_object

FEWEST = 20
"""Texts below which nothing is claimed of a sense."""
USEFUL, FALSE = 0.7, 0.1
"""Shares of useful texts from which, and of false ones up to which, a sense speaks."""
CALLS = 13_533
"""Those of the sessions that the figures are from, ..."""
COMMAND = "docs/coding-agents.md"
"""... and where it stands how they were found."""


class Measured(Value):
    """What was measured of a sense, or of several that said too little to be counted apart."""

    senses: tuple[str, ...]
    useful: int = 0
    """Texts that were true, and that a person who watched would have said."""
    useless: int = 0
    """Texts that were true, and that nobody needed."""
    false: int = 0
    kept: str = ""
    """Why it speaks though the texts are too few to decide."""

    @property
    def texts(self) -> int:
        """How many were judged."""
        return self.useful + self.useless + self.false

    @property
    def earned(self) -> bool:
        """Whether the texts alone let it speak."""
        return self.texts >= FEWEST and self.useful >= USEFUL * self.texts and self.false <= FALSE * self.texts

    @property
    def speaks(self) -> bool:
        """Whether it speaks by default."""
        return self.earned or (self.texts < FEWEST and bool(self.kept))


MEASURED = (
    Measured(
        senses=("nociception", "vestibular", "bypass"),
        useful=8,
        useless=2,
        false=1,
        kept="too few to decide, most useful",
    ),
    Measured(senses=("against_words",), kept="no text judged; it repeats what you said"),
    Measured(senses=("spatial",), kept="no text judged"),
    Measured(senses=("delivery",), useful=3, useless=5, false=14),
    Measured(senses=("unproven",), useful=0, useless=7, false=20),
    Measured(senses=("o2",), useful=0, useless=6, false=19),
    Measured(senses=("guessed",), useful=1, useless=2, false=8),
    Measured(senses=("at_risk",), useful=1, useless=10, false=1),
    Measured(senses=("absent",), useful=1, useless=3, false=4),
    Measured(senses=("chronos", "oscillation", "vanished"), useful=1, useless=3, false=3),
)
DEFAULT = frozenset(name for row in MEASURED if row.speaks for name in row.senses)
"""The senses that speak where nobody has switched any."""


def switched(by_hand: object) -> "frozenset[str]":
    """The senses that speak where a person has switched some.

    Args:
        by_hand: name of a sense -> whether it is on, as JSON held it; what is none of that changes nothing.
    """
    if not is_object(by_hand) or not by_hand:
        return DEFAULT
    on = frozenset(name for name, yes in by_hand.items() if yes is True)
    return (DEFAULT | on) - frozenset(name for name, yes in by_hand.items() if yes is False)
