"""The register of claims: all that Insula states of its user, memory, a reply, a call or guidance (law 3).

An entry says what is asserted, where it stands, whose words those are, and what was measured of it on ordinary life.
What leaves towards a model or a person is a `Claimed`, which names the entries that it rests on: without one there is
none, and the words come from where the entry points. A claim is made by default where it is right in 95 of 100 cases
and wrong in one of 1,000 ordinary messages at most, or where its entry says why it is made all the same; else it is
off until a person names it in the setting `claims`. Labels, numbers and errors are none.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
            raise LookupError(f"The text {self.text!r} makes no claim of the register; give it an entry in claims.py.")


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


# --- the register --------------------------------------------------------------------------------------------------

_BELOW = "below the bar: without it nothing is remembered; the line stands in the user's own words, with its date"
_BELOW_UNTOLD = "below the bar: nothing else tells a model that it was not told"
_BELOW_SAVED = "below the bar: without it a preference that was misheard would stand and not be seen"
_BELOW_LIMIT = "below the bar: missing an allergy costs more than naming it in vain"
_BELOW_WISH = "below the bar: it repeats what its user wrote; what is misheard is seen and undone"
_WORDS = "both sides stand in the user's own words"
_QUOTED = "it quotes the line, and who reads can check it"
_STRICT = "it quotes a demand that can be checked exactly"
_READ = "right in each of the nine real cases that were read"
_COMPARED = "sessions with it are compared with sessions without (insula worth)"
_GUIDED = "the only answers of a model that knows nothing of the world"
_ASKED = "said to who asks why alone"
_NEWS = "said of what a night itself did; what it learned can be undone"

_MADE = (
    # Before a model.
    Claim(id="memory", place="request", words="turn/words.json memories line",
          asserts="What the user once said has to do with this message.", kept=_BELOW),
    Claim(id="memory.doubtful", place="request", words="turn/words.json doubtful",
          asserts="The lines below it may not answer what is asked.", kept="it takes back, and asserts nothing"),
    Claim(id="memory.speaker", place="request", words="turn/words.json you speaker",
          asserts="Somebody else than the user said the line.", kept="it names who said it on record"),
    Claim(id="memory.over", place="request", words="turn/words.json over until",
          asserts="What a line says holds no longer, since the user said so.", kept=_WORDS),
    Claim(id="memory.when", place="request", words="turn/words.json when",
          asserts="Which day “last week” was, counted from the day it was said.", kept="it is arithmetic"),
    Claim(id="memory.none", place="request", words="turn/words.json nothing",
          asserts="Memory holds nothing on what a client looked up.", counted=False,
          kept="the answer to a search that found nothing"),
    Claim(id="limit", place="request", words="turn/words.json memories line",
          asserts="What was told limits the answer: an allergy, a diet, a day that is taken.", kept=_BELOW_LIMIT),
    Claim(id="untold", place="request", words="turn/words.json untold",
          asserts="The user has not told what the message asks for.", kept=_BELOW_UNTOLD),
    Claim(id="forget", place="request", words="turn/forgetting.json found none done all declined",
          asserts="The user asks to have something forgotten, and what became of that.",
          kept="unsaid, a model claims to have forgotten what stands; nothing is erased without a yes"),
    Claim(id="wish", place="request", words="turn/words.json wishes",
          asserts="The user wants this of every answer.", kept=_BELOW_WISH),
    Claim(id="lesson", place="request", words="turn/words.json lessons",
          asserts="What sessions taught applies to this message.", kept=_COMPARED),
    Claim(id="insight", place="request", words="turn/words.json insight",
          asserts="What a night understood applies to this message.", kept=_COMPARED),
    Claim(id="guideline", place="request", words="turn/words.json guidelines",
          asserts="SOUL.md: how the agent should be.", kept="each line can be undone"),
    Claim(id="identity", place="request", words="turn/words.json persona formal warm topic",
          asserts="Who the agent is, and what its host wrote on a topic.", kept="the host's own words"),
    *(
        Claim(id=f"mend.{key}", place="request", words=f"turn/mending.json {key}", asserts=f"The last answer {lack}.",
              kept=kept)
        for key, lack, kept in (
            ("memory", "passed over what it had been told", ""),
            ("constraint", "did not keep to what was asked for", _STRICT),
            ("incomplete", "left a question unanswered", ""),
            ("unsupported", "claimed something of the user that nobody told", _COMPARED),
            ("wrong_language", "was in the wrong language", _READ),
            ("impasse", "and the one before fell short on the same matter", _COMPARED),
            ("unsolved", "came to no solution", "a method said so itself"),
        )
    ),
    # Under and within a reply.
    Claim(id="source", place="reply", words="turn/verdict.json source",
          asserts="The answer says what this remembered line says.", kept=_QUOTED),
    Claim(id="otherwise", place="reply", words="turn/verdict.json otherwise",
          asserts="The answer says something else than this remembered line.",
          kept=_QUOTED),
    Claim(id="saved", place="reply", words="turn/verdict.json saved",
          asserts="The message states a preference for all answers, which was saved.", kept=_BELOW_SAVED),
    Claim(id="ended", place="reply", words="turn/verdict.json ended",
          asserts="The message takes back a preference, which counts no more.", kept=_BELOW_SAVED),
    Claim(id="forget.offer", place="reply", words="turn/forgetting.json offer nothing erased everything kept",
          asserts="The message asks to have something forgotten: what would be, or was, erased.",
          kept="it names what it found, and nothing is erased without a yes"),
    Claim(id="silent", place="reply", words="turn/words.json silent",
          asserts="The model answered without a word.", kept="that is so, and is checked", counted=False),
    Claim(id="doubt", place="reply", words="text/hedges.json plain formal warm",
          asserts="The answer as a whole is doubtful."),
    Claim(id="doubt.missing", place="reply", words="text/hedges.json missing",
          asserts="The answer leaves a question unanswered."),
    Claim(id="doubt.untold", place="reply", words="text/hedges.json untold",
          asserts="The answer claims something of the user that nobody told."),
    Claim(id="doubt.told", place="reply", words="text/hedges.json told",
          asserts="The answer does not use what the user once told."),
    *(
        Claim(id=f"guided.{key}", place="reply", words=f"agent/guided.json {key}", asserts=subject, kept=_GUIDED,
              counted=False)
        for key, subject in (
            ("noted", "The embedded model noted what was said."),
            ("unkept", "What was told holds a password or a code, which is not kept."),
            ("told", "The user told the embedded model this."),
            ("nearest", "Of what the user told the embedded model this is nearest to what they ask."),
            ("untold", "Nothing that the user told the embedded model answers what they ask."),
            ("uncertain", "The embedded model does not know for certain."),
            ("known", "The user told the embedded model these facts."),
            ("unknown", "The user has told the embedded model no fact."),
            ("self", "Who the agent is, and that the embedded model remembers and knows nothing of the world."),
            ("hello", "What the embedded model can be told and asked."),
            ("fine", "The embedded model heard what asks and tells nothing."),
            ("declined", "The embedded model can only remember and quote."),
        )
    ),
    # To who asks why.
    Claim(id="why.memory", place="why", words="turn/verdict.json kind.*",
          asserts="What memory had to do with an answer.", kept=_ASKED),
    Claim(id="why.fault", place="why", words="turn/verdict.json flag.*",
          asserts="What an answer lacks or does wrong.", kept=_ASKED),
    Claim(id="why.sure", place="why", words="turn/verdict.json reason.*",
          asserts="Why memory was that sure before the answer.", kept=_ASKED),
    Claim(id="why.noticed", place="why", words="turn/verdict.json noticed.*",
          asserts="That an answer scored low, or that the agent is stuck.", kept=_ASKED),
    Claim(id="why.guidance", place="why", words="guidance.py",
          asserts="Whether a lesson or rule helps, from sessions with it and sessions without.",
          kept="its interval holds however often somebody looks"),
    Claim(id="why.replay", place="why", words="coding/replay/telling.py",
          asserts="Where a coding agent was stuck in a past session, and what that cost.", kept=_ASKED),
    # What a night says.
    *(
        Claim(id=f"night.{phase}", place="night", words="night/telling.py", asserts=subject, kept=_NEWS)
        for phase, subject in (
            ("summaries", "What a conversation was about."),
            ("consolidation", "Which memories were let go."),
            ("statements", "Of which memories the model noted the facts, and which are over."),
            ("mistakes", "Which lessons and preferences were learned from what the user said."),
            ("reflection", "What was understood of past conversations."),
            ("lessons", "Which lesson is used no more."),
            ("soul", "What changed in SOUL.md."),
            ("file", "That SOUL.md is written."),
            ("calibration", "For how many answers what memory said held."),
            ("trends", "Answers get better, or worse."),
        )
    ),
    # Beside a call.
    Claim(id="rules", place="call", words="coding/step/digest.py",
          asserts="What earlier sessions taught, and what the user asked for again.",
          kept="the user's own words, and sessions with rules are compared with sessions without (insula worth)"),
    Claim(id="word.noted", place="call", words="coding/step/worth.py",
          asserts="What the user said to Insula of its last note is noted.", kept="an answer to the user's own word"),
)  # fmt: skip


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
    held: dict[str, dict[str, Any]] = json.loads((files("insula") / "claims.json").read_text("utf-8"))
    measurements = {name: ClaimMeasurement(**measurement) for name, measurement in held.items()}
    made = [replace(claim, measured=measurements.get(claim.id)) for claim in _MADE]
    return {claim.id: claim for claim in (*made, *_of_senses())}


REGISTER: Mapping[str, Claim] = _build_register()
"""By id."""
DEFAULT = frozenset(each.id for each in REGISTER.values() if each.on)
"""The claims that are made where nobody has switched any."""
