"""The register of claims: all that Insula states of its user, memory, a reply, a call or guidance (law 3).

An entry says what is asserted, where it stands, whose words those are, and what was measured of it on ordinary life.
What leaves towards a model or a person is a `Claimed`, which names the entries that it rests on: without one there is
none, and the words come from where the entry points. A claim is made by default where it is right in 95 of 100 cases
and wrong in one of 1,000 ordinary messages at most, or where its entry says why it is made all the same; else it is
off until a person names it in the setting `claims`. Labels, numbers and errors are none.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from insula.coding.step.senses import EVERY, load_sense, register
from insula.errors import InputError

Place = Literal["request", "reply", "why", "night", "call"]
"""Before a model; under or within a reply; where a person asks why, at the terminal or on the page; what a night says;
beside a call of a coding agent."""

PRECISION = 0.95
MOST_WRONG = 1.0
"""Wrong claims per 1,000 ordinary messages up to which one is made by default."""
FEWEST = 20
"""Judged cases below which nothing is concluded, as for the senses."""
SENSE = "sense."
PER = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimMeasurement:
    """What was measured of a claim on ordinary life, and how."""

    per_1000: float | None = None
    """How often it is made in 1,000 ordinary messages or calls."""
    wrong_per_1000: float | None = None
    """How often wrongly, in the same."""
    right: int = 0
    of: int = 0
    """Cases in which it was made and could be judged, needed or not."""
    command: str = ""
    day: str = ""

    @property
    def earned(self) -> bool:
        """Whether the figures alone let it be made."""
        enough = self.of >= FEWEST and self.right >= PRECISION * self.of
        return enough and self.wrong_per_1000 is not None and self.wrong_per_1000 <= MOST_WRONG


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One kind of statement."""

    id: str
    asserts: str
    """What it says, in a plain sentence."""
    place: Place
    words: str
    """The file that its words stand in, within the package, and of a data file their keys, by language."""
    kept: str = ""
    """Why it is made though its figures are missing, or below the bar."""
    measured: ClaimMeasurement | None = None
    counted: bool = True
    """Whether the record of a turn names it."""

    @property
    def on(self) -> bool:
        """Whether it is made by default."""
        return bool(self.kept) or (self.measured is not None and self.measured.earned)

    @property
    def file(self) -> str:
        """Where its words stand."""
        return self.words.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A text for a model or a person, and the claims that it makes; made by `say_claim` and `quote_claim`."""

    text: str
    claims: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.claims or not REGISTER.keys() >= set(self.claims):
            raise LookupError(
                f"The text {self.text!r} makes no claim of the register; give it an entry in claims.json."
            )


def say_claim(claim: str, key: str = "", language: str = "en", /, **values: object) -> Claimed:
    """A claim in its own words, in a language or else in English.

    Args:
        language: an ISO 639-1 code.

    Raises:
        LookupError: there is no such claim, or it has no such words.
    """
    return Claimed(claim_template(claim, key, language).format(**values), (claim,))


def quote_claim(claim: str, text: str) -> Claimed:
    """A claim in the words of the user, of the host, or of what was learned."""
    return Claimed(text, (claim,))


def claim_template(claim: str, key: str = "", language: str = "en") -> str:
    """The words of a claim, with the places for what they name.

    Raises:
        LookupError: there is no such claim, or it has no such words.
    """
    known = claim_keys(claim)
    if (wanted := key or next(iter(known), "")) not in known:
        raise LookupError(f"The claim {claim!r} has no words {key!r}; it has {', '.join(known) or 'none in data'}.")
    data = _load_words(REGISTER[claim].file)
    return data.get(language, data["en"]).get(wanted) or data["en"][wanted]


@cache
def claim_keys(claim: str) -> tuple[str, ...]:
    """The keys of a claim's words in its data file; none where its words stand in code."""
    entry = REGISTER[claim]
    _, *named = entry.words.split(" ")
    return tuple(key for name in named for key in _load_words(entry.file)["en"] if fnmatchcase(key, name))


def switch_claims(by_hand: Iterable[str]) -> frozenset[str]:
    """The claims that are made where a person has named some beside those that are made by default.

    Raises:
        InputError: there is no such claim, or it is a sense, which has a switch of its own.
    """
    named = frozenset(by_hand)
    for name in sorted(named):
        if name.startswith(SENSE) and name in REGISTER:
            raise InputError(f"The claim {name!r} is a sense of coding agents: insula on {name.removeprefix(SENSE)}.")
        if name not in REGISTER:
            raise InputError(f"There is no claim {str(name)[:40]!r}; insula status lists them.")
    return DEFAULT | named


@cache
def _load_words(file: str) -> dict[str, dict[str, str]]:
    return json.loads((files("insula") / file).read_text("utf-8"))


# --- the register, whose entries stand in claims.json beside their figures ---


def _of_senses() -> Iterable[Claim]:
    """The senses of coding agents, as their own register has them (P12)."""
    rows = {row.sense: row for row in register.MEASURED}
    for name in sorted(EVERY):
        row, label = rows.get(name), str(load_sense(name).LABEL)
        judged = row is not None and row.texts > 0
        yield Claim(
            id=f"{SENSE}{name}",
            place="call",
            words=f"coding/step/senses/{name}.py",
            asserts=f"{label[:1].upper()}{label[1:]}.",
            kept=(row.kept or "right often enough (P12)") if row is not None and row.speaks_by_default else "",
            measured=_of_row(row) if row is not None and judged else None,
        )


def _of_row(row: register.SenseMeasurement) -> ClaimMeasurement:
    per = PER / register.CALLS
    made, wrong = round(per * row.texts, 2), round(per * row.false, 2)
    return ClaimMeasurement(
        per_1000=made, wrong_per_1000=wrong, right=row.useful, of=row.texts, command=register.COMMAND
    )


def _build_register() -> dict[str, Claim]:
    rows: dict[str, dict[str, Any]] = json.loads((files("insula") / "claims.json").read_text("utf-8"))
    figures = {name: ClaimMeasurement(**row.pop("measured")) for name, row in rows.items() if "measured" in row}
    made = [Claim(id=name, measured=figures.get(name), **row) for name, row in rows.items()]
    return {claim.id: claim for claim in (*made, *_of_senses())}


REGISTER: Mapping[str, Claim] = _build_register()
"""By id."""
DEFAULT = frozenset(each.id for each in REGISTER.values() if each.on)
"""The claims that are made where nobody has switched any."""
