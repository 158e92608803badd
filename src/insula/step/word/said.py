"""A word of the user's: something that they have said in a session, and what it names. A value that a hook can load."""

from insula.value import Value, is_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]

BAN, ONLY, HOW, LIFT, ASKED, MOMENT, NEXT = "ban", "only", "how", "lift", "request", "moment", "next"
SPARED = "spared"
"""Said of what was asked for: it may be left out."""
STANDING = (BAN, ONLY, HOW)
"""What is told again."""
SESSION, TASK, HERE, RULE = "session", "task", "here", "rule"
"""How long a word holds: till the end, till another task begins, for this message, or as a rule of theirs."""


class Word(Value):
    """Something that the user has said, and what it names."""

    kind: str
    said: str
    """Their own words, redacted."""
    text: str = ""
    """The clause of it that means it; empty where that is all."""
    at: float = 0.0
    holds: str = SESSION
    paths: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    """Of a ban and a way: those that are not to be run; of a request: those that are."""
    acts: tuple[str, ...] = ()
    """Acts that are ruled out as such, or asked for."""
    places: tuple[str, ...] = ()
    """Branches and remotes that an act is ruled out for; empty for all."""
    code: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    edits: bool = False
    """Whether it rules out that what it names is changed."""
    deletes: bool = False
    """... or that it is deleted."""
    sure: bool = True
    """Of what takes something back and of a request: whether it surely does, and is one."""
    closes: bool = False
    """Of the first word of a message: whether it begins with thanks, or says that the last task is done."""
    likes: str = ""
    """The program that is wanted instead."""

    @property
    def clause(self) -> str:
        """The clause that means it."""
        return self.text or self.said

    @property
    def id(self) -> str:
        """What it is known by: equal for the same words."""
        from insula.step.digests import digest

        return digest(self.said, 8)


def dump(words: "Iterable[Word]") -> "list[Record]":
    """The ledger as JSON holds it."""
    return [word.as_dict() for word in words]


def load(kept: object) -> "tuple[Word, ...]":
    """The ledger that was dumped; what is no word is left out."""
    found: list[Word] = []
    for fields in kept if is_list(kept) else ():
        try:
            found.append(Word.of(fields))
        except (TypeError, KeyError, AttributeError):
            continue
    return tuple(found)
