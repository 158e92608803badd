"""Questions that a small model gets right and wrong: of the world, of what it was told, of what it was not told.

All are our own: nothing of them is anybody's data. Half of them are for fitting and half for measuring; no person and
no fact is in both.
"""

import json
import random
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Literal, NamedTuple, cast

Kind = Literal["world", "told", "untold"]

SEED = 8
PER_KIND = 50
"""Questions of each half on facts told, and on facts not told; on the world there are twice as many."""

_TOLD = 3
_RELATIONS = ("sister", "brother", "aunt", "uncle", "cousin", "neighbor", "boss", "friend", "colleague", "teacher")
_PEOPLE = (
    "Ana Boris Chen Dalia Emil Fatima Gustav Hana Igor Julia Kofi Lena Marco Nadia Oscar Petra Quentin Rosa Samir "
    "Tanja",
    "Umar Vera Wanda Xenia Yusuf Zoe Arno Bianca Cyril Doris Elias Flora Greta Hugo Irma Jonas Karin Ludo Mira Nils",
)
"""Of the half for fitting, and of the other."""

_FACTS = {
    "home": (
        "{who} lives in {what}.",
        "Where does {who} live?",
        "Lisbon Porto Krakow Turin Bergen Ghent Malmo Seville Leipzig Nantes",
    ),
    "job": (
        "{who} works as a {what}.",
        "What does {who} do for a living?",
        "baker nurse plumber pilot lawyer farmer dentist welder librarian translator",
    ),
    "pet": (
        "{who} has a parrot called {what}.",
        "What is {who}'s parrot called?",
        "Kiko Bruno Pepper Mango Rocky Luna Coco Ziggy Olive Nemo",
    ),
    "instrument": (
        "{who} plays the {what}.",
        "Which instrument does {who} play?",
        "cello trumpet oboe harp banjo flute accordion viola clarinet drums",
    ),
    "allergy": (
        "{who} is allergic to {what}.",
        "What is {who} allergic to?",
        "peanuts shrimp strawberries pollen eggs walnuts wheat sesame celery cats",
    ),
    "car": (
        "{who} drives a red {what}.",
        "Which car does {who} drive?",
        "Volvo Fiat Toyota Skoda Renault Mazda Honda Peugeot Seat Opel",
    ),
    "birthday": (
        "{who}'s birthday is in {what}.",
        "In which month is {who}'s birthday?",
        "January February March April June July August September October November",
    ),
    "sport": (
        "{who} goes {what} on Sundays.",
        "What does {who} do on Sundays?",
        "climbing sailing fencing cycling rowing skating surfing hiking kayaking bowling",
    ),
}
_SHORT = 5


class Question(NamedTuple):
    """A question, what was told before it, and its answers; none where the right answer is not to know."""

    kind: Kind
    fitting: bool
    told: tuple[str, ...]
    text: str
    answers: tuple[str, ...]

    def is_right(self, response: str) -> bool:
        """Whether a response holds one of the answers as a word; symbols as they are written."""
        return any(self._holds(response, answer) for answer in self.answers)

    def _holds(self, response: str, answer: str) -> bool:
        bounded = rf"(?<!\w){re.escape(answer)}(?!\w)" if len(answer) < _SHORT else re.escape(answer)
        return re.search(bounded, response, re.IGNORECASE if len(answer) > 2 else 0) is not None


def questions() -> tuple[Question, ...]:
    """All 400, half of them for fitting; the same every time."""
    draw = random.Random(SEED)
    return (*_of_the_world(draw), *_of_people(draw))


def _of_the_world(draw: random.Random) -> Iterator[Question]:
    facts = cast(list[list[str]], json.loads((files("insula_bench") / "world_facts.json").read_text("utf-8")))
    draw.shuffle(facts)
    for number, (text, answers) in enumerate(facts):
        yield Question("world", 2 * number < len(facts), (), text, tuple(answers.split("|")))


def _of_people(draw: random.Random) -> Iterator[Question]:
    for fitting, people in zip((True, False), _PEOPLE, strict=True):
        names = people.split()
        for kind in ("told", "untold"):
            for number in range(PER_KIND):
                who = names[number % len(names)]
                yield _of_a_person(draw, kind, fitting, who, _RELATIONS[number % len(_RELATIONS)])


def _of_a_person(draw: random.Random, kind: Kind, fitting: bool, who: str, relation: str) -> Question:
    """A question on one of three facts that were told of a person, or on a fourth that was not."""
    chosen = draw.sample(list(_FACTS), _TOLD + 1)
    values = {name: draw.choice(_FACTS[name][2].split()) for name in chosen}
    said = [f"My {relation} {who}", *[who] * (_TOLD - 1)]
    facts = zip(said, chosen[:_TOLD], strict=True)
    told = tuple(_FACTS[name][0].format(who=as_said, what=values[name]) for as_said, name in facts)
    asked = draw.choice(chosen[:_TOLD]) if kind == "told" else chosen[_TOLD]
    answers = (values[asked],) if kind == "told" else ()
    return Question(kind, fitting, told, _FACTS[asked][1].format(who=who), answers)
