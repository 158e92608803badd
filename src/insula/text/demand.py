"""One demand on the form of an answer, and what its number allows."""

from typing import Literal, NamedTuple

Unit = Literal["words", "sentences", "paragraphs", "lines", "characters", "items"]
Form = Literal["table", "json", "bullets", "numbered", "upper", "lower"]
Sole = Literal["number", "name", "code", "yes_no"]
Absent = Literal["emoji", "lists", "tables", "digits", "headings", "codes", "exclamations", "commas", "punctuation"]
Kind = Literal[
    Unit,
    Form,
    Sole,
    Absent,
    "opens_yes_no",
    "word",
    "thing",
    "letter",
    "letters",
    "haiku",
    "begin",
    "end",
    "end_question",
    "steps",
    "questions",
]

EXACT = 12
"""Up to this number "in three sentences" means three; "in 100 words" means about so many."""
TOLERANCE, WIDE_TOLERANCE = 0.2, 0.5
"""How far one may be from such a number, and from one that is called rough."""


class Constraint(NamedTuple):
    """One demand on the form of an answer."""

    kind: Kind
    text: str
    """As it stands in the message."""
    least: int = 0
    most: int = 0
    """0: no upper bound."""
    what: str = ""
    """The word, letter or phrase that is demanded or unwanted."""
    language: str = "en"


def range_of(number: int, upto: int, bound: str) -> tuple[int, int]:
    """The least and the most that a number with its bound allows."""
    match bound:
        case "most":
            return 0, upto or number
        case "below":
            return 0, number - 1
        case "least":
            return number, 0
        case "exactly":
            return number, upto or number
        case "about":
            return int(number * (1 - WIDE_TOLERANCE)), int((upto or number) * (1 + WIDE_TOLERANCE)) + 1
        case _ if number <= EXACT:
            return number, max(upto, number)
        case _:
            return int(number * (1 - TOLERANCE)), int((upto or number) * (1 + TOLERANCE)) + 1
