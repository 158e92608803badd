"""What a user says of how they want answers: from now on, for now, or no longer, and what of an answer that is about.

Two small networks decide (`preferences.npz`; `insula bench preferences --write` fits them, the same bytes each time on
one machine; their card is `preferences.json`). The first reads a sentence with the whole message, since "Always answer
in rhyme" asks nothing of who only hands out a role, and weighs how the sentence is spelled. The second reads what of an
answer it is about: its length, its language, emojis, units. Which topic it is limited to is told by a form alone ("when
I ask about …", "for money things, …"; `scope.json`). Of any other embedding than the shipped one they can tell nothing.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple, TypedDict, get_args

import numpy as np

from insula.language.guiding import guiding_chance
from insula.language.heads import DIMENSIONS, Vector, predict_chance, read_weights
from insula.language.meanings import Meanings, Network, softmax
from insula.text.grammar import UNSPACED, compile_words
from insula.text.tables import load_table

Force = Literal["standing", "unsure", "once", "lifts"]
"""For all answers from now on; likely so, which counts only where it is about what stands already; for now; what stood
holds no longer."""
Meaning = Literal["none", "standing", "once", "lifts"]
"""What a sentence may say of how answers are to be, as the first network tells it."""
MEANINGS: tuple[Meaning, ...] = get_args(Meaning)
SEVERAL = frozenset({"", "code", "food", "markup", "numbers", "omit", "wording"})
"""Parts of an answer of which several things may be wanted at once; of all others the newest word counts."""
NO_PART = frozenset({"none", "other"})
"""What the second network says of what is about no answer, and of what is about something else of one."""
CONTENT = frozenset({"clock", "currency", "dates", "language", "spelling", "temperature", "units"})
"""Parts that change what an answer says; all others change its form, and would break what a program reads."""
FOR_GOOD = frozenset({"formality", "name"})
"""Parts of which nobody asks for one answer alone: how its writer is to be called and spoken to."""
TASKS = frozenset({"language"})
"""Parts that a task names for itself ("Write the letter in German"), which is no request about answers."""
LONGEST = 160
"""Characters of a preference."""
MOSTLY = 0.75
"""Share of a message that its preferences must make up for it to be nothing else."""
OF_ANSWERS = 1.0
"""Chances to ask for something, for good or for now, and to be feedback, together, from which what is asked for now is
of answers, and may stand once it is asked again: "make it shorter" may, "convert 12 stone to kg" is an order."""
ASKS = 0.5
"""Chance that only the user can have told what a sentence asks, from which it asks, and states no preference."""
FEWEST_WORDS = 2
"""Words that take something back: "Fine." does not."""
MESSAGE = 300
"""Characters of a message that are read as a whole."""


class PreferenceCard(TypedDict):
    """What is known of the networks."""

    points: Mapping[str, float]
    """Chances from which they are acted on, by what is done."""
    weighs: Mapping[str, float]
    """What the log-odds of the network (`meant`) and of the spelling (`spelled`) count for."""
    parts: list[str]
    """What of an answer the second network tells apart: "none", "length.short", "length.long", …"""


class Preference(NamedTuple):
    """What a person says of how they want answers."""

    words: str
    """As they said it."""
    force: Force
    part: str = ""
    """What of an answer it is about, and which way, such as "length.short"; empty where that cannot be told."""
    about: str = ""
    """The topic that it holds for; empty: for everything."""
    alone: bool = False
    """Whether it may be made to hold by asking again: its message asks nothing else, and speaks of no text to make."""
    is_whole: bool = False
    """Whether its message says nothing else, so that it holds for the rest of its session if for no longer."""

    @property
    def for_now(self) -> bool:
        """Whether it holds for now, and for good once it is asked again."""
        return self.alone and self.force in ("once", "unsure")

    @property
    def for_session(self) -> bool:
        """Whether it holds for the rest of its session alone, or until it is asked again."""
        return self.for_now or (self.is_whole and self.force in ("once", "unsure"))

    @property
    def lifts(self) -> bool:
        """Whether it takes back what was wanted before."""
        return self.force == "lifts"


class _Networks(NamedTuple):
    meaning: Meanings
    part: Network


def find_preferences(
    pieces: Mapping[str, Vector], whole: Vector | None, language: str, characters: int = 0
) -> tuple[Preference, ...]:
    """What the sentences and clauses of a message say of how answers are to be; of those that overlap, the
    longest that is surely one.

    Args:
        language: of the message; in another than the eight no topic is read.
        characters: of the message; amid other things a preference must be surer.
    """
    amid = MOSTLY * characters
    read = (_read_preference(text, pieces, whole, language, is_amid=len(text) < amid) for text in pieces)
    said = sorted(
        filter(None, read),
        key=lambda preference: (preference.force not in ("standing", "lifts"), -len(preference.words)),
    )
    preferences: list[Preference] = []
    for preference in said:
        if not any(preference.words in other.words or other.words in preference.words for other in preferences):
            preferences.append(preference)
    order = list(pieces)
    stated = (one for one in preferences if one.force == "lifts" or not _asks(one.words, pieces[one.words]))
    return tuple(sorted(stated, key=lambda preference: order.index(preference.words)))


def _asks(text: str, vector: Vector) -> bool:
    """Whether a sentence asks for what only the user can have told, as "Los, sag mir meinen Spitznamen" does."""
    return (predict_chance("personal", text, vector) or 0.0) >= ASKS


def _read_preference(
    text: str, pieces: Mapping[str, Vector], whole: Vector | None, language: str, *, is_amid: bool
) -> Preference | None:
    chances = meaning_of(text, pieces[text], whole)
    if chances is None or len(text) > LONGEST:
        return None
    at, force = load_card()["points"], _force_of(chances, is_amid=is_amid)
    if force == "lifts" and language not in UNSPACED and len(text.split()) < FEWEST_WORDS:
        return None
    whole_part = part_of(pieces[text])
    within = (part_of(pieces[piece]) for piece in pieces if piece in text)
    part = whole_part or next(filter(None, within), "")
    if force == "once" and chances["none"] >= at["none"]:
        part = ""
    name, is_for_good = part.partition(".")[0], whole_part.partition(".")[0] in FOR_GOOD
    if force in ("once", "unsure") and is_for_good and not is_amid and chances["standing"] >= at["for_good"]:
        force = "standing"
    if force in ("once", "unsure") and not part:
        return None
    if force == "standing" and not part and chances["standing"] < at["amid"]:
        return None  # of no known part of an answer: as sure as amid other text, or silence
    again = chances["standing"] >= at["asked"] and name not in SEVERAL.union(TASKS)
    asks = chances["standing"] + chances["once"]
    again = again and asks + (guiding_chance("feedback", pieces[text]) or 0.0) >= OF_ANSWERS
    return Preference(text, force, part, scope_of(text, language), alone=again)


def _force_of(chances: Mapping[Meaning, float], *, is_amid: bool) -> Force:
    at = load_card()["points"]
    if chances["lifts"] >= max(at["lifts"], chances["standing"] / 2):
        return "lifts"
    if chances["standing"] >= at["amid" if is_amid else "standing"]:
        return "standing"
    if chances["standing"] + chances["lifts"] >= at["standing"]:  # "No, back to English from now on."
        return "unsure"
    return "unsure" if chances["standing"] >= max(at["unsure"], chances["once"]) else "once"


def meaning_of(text: str, vector: Vector, whole: Vector | None) -> Mapping[Meaning, float] | None:
    """The chance of each thing that a sentence may say of how answers are to be; None without the vectors it needs."""
    if whole is None or vector.size != DIMENSIONS or whole.size != DIMENSIONS:
        return None
    chances = _load_networks().meaning.meaning_chances(text, np.concatenate([vector, whole]), load_card()["weighs"])
    return dict(zip(MEANINGS, map(float, chances), strict=True))


def part_of(vector: Vector | None, least: float = 0.0) -> str:
    """What of an answer a sentence is about, and which way, such as "length.short"; empty where that cannot be told.

    Args:
        least: the chance from which it is told, where more is asked for than of a sentence that speaks of answers.
    """
    if vector is None or vector.size != DIMENSIONS:
        return ""
    parts, chances = load_card()["parts"], softmax(_load_networks().part.log_odds(vector))
    best = int(np.argmax(chances))
    return (
        parts[best] if parts[best] not in NO_PART and chances[best] >= max(least, load_card()["points"]["part"]) else ""
    )


def is_of_one_part(part: str, other: str) -> bool:
    """Whether two preferences are about the same part of an answer, of which only one thing can be wanted."""
    name = part.partition(".")[0]
    return name not in SEVERAL and name == other.partition(".")[0]


def scope_of(text: str, language: str) -> str:
    """The topic that a sentence says it holds for; empty where it says none."""
    pattern = _scope_patterns().get(language)
    match = pattern.search(text.replace("’", "'")) if pattern else None
    return next((word for word in match.groups() if word), "").strip() if match else ""


def load_card() -> PreferenceCard:
    """The card of the networks."""
    return load_table("preferences.json", __package__)


@cache
def _scope_patterns() -> Mapping[str, re.Pattern[str]]:
    forms: dict[str, str] = load_table("scope.json", __package__)
    return {language: compile_words(form, language, re.IGNORECASE) for language, form in forms.items()}


@cache
def _load_networks() -> _Networks:
    read = read_weights("preferences.npz")
    meaning = Meanings(Network(read["meaning_hidden"], read["meaning_out"]), read["spelled"])
    return _Networks(meaning, Network(read["part_hidden"], read["part_out"]))
