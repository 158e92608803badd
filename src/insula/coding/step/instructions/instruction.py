"""An instruction of the user's, and what it names; the file of those that stand.

The file lies beside the trace of the session, where each hook can read it, those of subagents too. What stands in it is
told again after a compaction.

    ~/.insula/sessions/<session>/words.json   {"v": 1, "words": […]}; there from the first word on
"""

import os

from insula.coding.step.trace import VERSION, replace_file
from insula.value import Value, dump_json, is_list, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from insula.coding.step.trace import Record

BAN, ONLY, HOW, LIFT, ASKED, MOMENT, NEXT = "ban", "only", "how", "lift", "request", "moment", "next"
SPARED = "spared"
"""Said of what was asked for: it may be left out."""
STANDING = (BAN, ONLY, HOW)
"""What is told again."""
SESSION, TASK, HERE, RULE = "session", "task", "here", "rule"
"""How long an instruction holds: till the end, till another task begins, till the next message, as a rule of theirs."""


class Instruction(Value):
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
    orders: bool = False
    """Whether it orders something in so many words, so that an end may be held against it."""
    closes: bool = False
    """Of the first instruction of a message: whether it begins with thanks, or says that the last task is done."""
    likes: str = ""
    """The program that is wanted instead."""

    @property
    def clause(self) -> str:
        """The clause that means it."""
        return self.text or self.said

    @property
    def guards_files(self) -> bool:
        """Whether it names files that are not to be changed."""
        return bool(self.paths) and (self.edits or self.deletes)

    @property
    def id(self) -> str:
        """What it is known by: equal for the same clause of the same sentence, which may rule out two things."""
        from insula.coding.step.digests import hash_text

        return hash_text(f"{self.said}\n{self.text}", 8)


def dump_instructions(instructions: "Iterable[Instruction]") -> "list[Record]":
    """The ledger as JSON holds it."""
    return [instruction.as_dict() for instruction in instructions]


def load_instructions(kept: object) -> "tuple[Instruction, ...]":
    """The ledger that was dumped; what is no instruction is left out."""
    instructions: list[Instruction] = []
    for fields in kept if is_list(kept) else ():
        try:
            instructions.append(Instruction.of(fields))
        except (TypeError, KeyError, AttributeError):
            continue
    return tuple(instructions)


FILE = "words.json"


def write_ledger(folder: str, instructions: "Sequence[Instruction]") -> None:
    """Put the ledger in place of the one before; nothing where there never was an instruction.

    Raises:
        OSError: it cannot be written.
    """
    path = f"{folder}/{FILE}"
    if not instructions and not os.path.exists(path):
        return
    data = {"v": VERSION, "words": [instruction.as_dict() for instruction in instructions]}
    replace_file(path, dump_json(data).encode())


def has_ledger(folder: str) -> bool:
    """Whether the user of a session has given an instruction."""
    return os.path.exists(f"{folder}/{FILE}")


def read_ledger(folder: str) -> "tuple[Instruction, ...]":
    """The ledger of a session; empty where there is none."""
    try:
        with open(f"{folder}/{FILE}", "rb") as file:
            kept = load_json(file.read())
        return load_instructions(kept["words"]) if kept["v"] == VERSION else ()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()


TOLD_AGAIN = "told_again"
"""The sense that the text is of."""

LONGEST = 600
"""Characters of all that is told (P2)."""
SHORT = 90
"""Characters of an instruction where not all would fit otherwise."""
AGAIN = "[insula] Your user said earlier in this session, and it still stands:"
TO_OTHERS = "[insula] The user said in this session, and it holds for you, too:"


def list_standing(instructions: "Sequence[Instruction]", opening: str = AGAIN) -> str:
    """What stands, as a list of at most `LONGEST` characters, the newest where not all fits; empty for nothing."""
    said = list(
        dict.fromkeys(screen_words(instruction.said) for instruction in instructions if is_standing(instruction))
    )
    said = [text for text in said if text]
    lines = [f'- "{text}"' for text in said]
    if len("\n".join((opening, *lines))) > LONGEST:
        lines = [f'- "{cut_text(text, SHORT)}"' for text in said]
    while len("\n".join((opening, *lines))) > LONGEST:
        del lines[0]
    return "\n".join((opening, *lines)) if lines else ""


def is_standing(instruction: Instruction) -> bool:
    """Whether it is one that is told again: what a rule says is told with the rules, what was of a moment never."""
    return instruction.kind in STANDING and instruction.holds != RULE


def screen_words(words: str, most: int = 2 * SHORT) -> str:
    """The words as one safe line of at most so many characters; nothing where they must not reach an agent."""
    from insula.screening import screen_text

    safe = screen_text(words, most)
    return "" if safe.reasons or not safe.text.isprintable() else safe.text


def cut_text(text: str, most: int) -> str:
    """A text of at most so many characters, cut between words."""
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"
