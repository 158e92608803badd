"""The clauses of a message that are the person's own: nothing that was pasted, quoted, or written in their name.

What follows an announcement of the words of others ("the issue says:", a heading of a bug report) is theirs to the end.
"""

import os
import re
from functools import cache

from insula.coding.step.instructions import heads
from insula.coding.step.person import is_of_host, strip_pasted
from insula.redaction import redact
from insula.value import Value, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Table = dict[str, Any]

_WORDS = "words.json"


@cache
def load_table() -> "Table":
    """The table; read once in a process."""
    with open(os.path.join(os.path.dirname(__file__), _WORDS), encoding="utf-8") as file:
        return load_json(file.read())


def list_telling(words: "Iterable[str]") -> "set[str]":
    """The words of which not everything that is ruled out may be said, such as "file" or "touch"."""
    return set(words).difference(load_table()["generic"].split())


def says(low: str, *kinds: str) -> bool:
    """Whether a text, in small letters, has words of one of these kinds of the table in it."""
    return any(re.search(load_table()[kind], low) for kind in kinds)


def is_conditional(low: str) -> bool:
    """Whether it is ruled out under a condition alone, other than that the user agrees first."""
    return says(low, "conditions") and not says(low, "asking")


READ = 24_000
"""Characters of a message that are looked at, from its beginning and from its end."""
MOST = 240
"""Clauses of a message that are read, half of them its last: so they stay below what a prompt may cost."""
ANNOUNCED = 0.9
"""How probable it must be that a line announces the words of others."""
SENTENCE = 1_200
"""A longer sentence was hardly typed for an agent."""
_SENTENCE = rf"(?<=[.!?…])[\s\"')\]]+|(?<=[。！？])|(?<=[!?])(?={heads.WIDE})|\n+"
_BOLD = r"\s*(?:[-*•·]|\d+[.)])?\s*\*\*"
"""How a line begins that a program wrote: nobody types a heading in bold into a prompt."""
BULLET = r"^\s*(?:[-*•·]|\d+[.)]|\(?[a-z]\))\s+"
"""How a point of a list begins."""
_TAG_WORDS = 2
"""Words of a question behind a comma that asks for no more than a nod."""
_MATRIX_WORDS = 5
"""Words of what a "that …" hangs on: "it is important"."""
_THAT = (" that", " dass", " que", " che")
"""How a piece ends of which the next is what it says: "you said that | without a check we leave it"."""
_SAID_OF = r"(?:that|dass|que|che) |wie (?:sie|er|es) (?:ist|sind)\b"
"""How a piece begins that says what a few words before it are about."""
_QUOTATIVE = r"という|との(?=[一-鿿])"
"""The particle behind the words of others."""
_NAME_IN_BRACKETS = r"\s*[(（]([^\s()（）]+)[)）]\s*"
"""One word in brackets is the name of what stands before it."""
_ABBREVIATED = r"\b(?:e\.g|i\.e|z\.B|d\.h|p\.ej|p\.ex|vs|etc|bzw|ca|Nr|incl|approx)\.$"


class Clause(Value):
    """A clause of a person's own, and the sentence that it stands in."""

    text: str
    sentence: str
    joined: bool = False
    """Whether it hangs on the clause before it by an "and" or "or" without a comma."""
    asks: bool = False
    """Whether the sentence is a question."""

    @property
    def low(self) -> str:
        """The clause in small letters, as `lower_text` has them."""
        return lower_text(self.text)

    @property
    def ahead(self) -> str:
        """What of its sentence stands before the clause."""
        return self.sentence[: max(0, self.sentence.find(self.text))]

    def is_of_sentence(self, said: str) -> bool:
        """Whether it stands in the sentence that begins so."""
        return " ".join(self.sentence.split()).startswith(said)


def lower_text(text: str) -> str:
    """A text in small letters, with the words of other scripts parted from those that are written without spaces."""
    return text.lower() if text.isascii() else re.sub(_SCRIPTS, " ", text.lower())


_SCRIPTS = rf"(?<=[a-z0-9`./-])(?={heads.WIDE})|(?<={heads.WIDE})(?=[a-z0-9`./-])"


def split_clauses(message: str) -> "tuple[Clause, ...]":
    """The clauses of a person's own in a message, in order."""
    clauses = [clause for sentence in dict.fromkeys(split_sentences(message)) for clause in _cut_clauses(sentence)]
    return tuple(clauses if len(clauses) <= MOST else (*clauses[: MOST // 2], *clauses[-MOST // 2 :]))


def split_prose(text: str) -> "list[str]":
    """The clauses of a text, whoever's they are: what the heads are fitted on must not hang on the heads."""
    return [
        clause.text for line in text.split("\n") for sentence in _split_line(line) for clause in _cut_clauses(sentence)
    ]


def split_sentences(message: str) -> "list[str]":
    """The sentences of a person's own in a message, in order."""
    if is_of_host(message):
        return []
    text = redact(message if len(message) <= 2 * READ else f"{message[:READ]}\n\n{message[-READ:]}")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = strip_pasted(text)
    own: list[str] = []
    theirs = False
    for line in text.split("\n"):
        heading = re.match(r"#{1,6} |\*\*[^*]+\*\*:?$", line.strip())
        if heading is not None:
            theirs = _is_announcement(line.strip())
            continue
        if theirs or not line.strip() or re.match(_BOLD, line):
            continue
        for part in _split_line(line):
            before, colon, behind = _split_colon(part)
            if colon and (not behind.strip() or len(before.split()) > 1) and _is_announcement(f"{before}:"):
                theirs = not behind.strip()
                break
            own.append(part)
    return own


def _split_line(line: str) -> "list[str]":
    sentences: list[str] = []
    for part in map(str.strip, re.split(_SENTENCE, re.sub(BULLET, "", line))):
        if sentences and re.search(_ABBREVIATED, sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {part}"
        elif part and len(part) <= SENTENCE and _is_prose(part):
            sentences.append(part)
    return sentences


PROSE = 0.8
"""The share of letters and spaces in a sentence; code has less."""
_CODE = (
    r":=|=>|->\s*\w+\(|;\s*$|\{\s*$|\[\"|\\n|</|==|&&|\|\||^\s*(?:func|def|class|import|const|let|var|return|if \()\b"
)


def _is_prose(part: str) -> bool:
    """Whether a sentence is one, and no line of code or of a log."""
    bare = re.sub(r"`[^`]*`?", "", part)
    letters = sum(char.isalpha() or char in " '’,.!?、。！？，；;:-" for char in bare)
    return any(map(str.isalpha, bare)) and letters >= PROSE * len(bare) and re.search(_CODE, bare) is None


def _split_colon(sentence: str) -> "tuple[str, str, str]":
    match = re.search(r"：|:(?=\s|$)|\b(?:says?|said|wrote|schreibt|steht|dit|dice|diz) (?=…)", sentence)
    return (sentence[: match.start()], match[0], sentence[match.end() :]) if match else (sentence, "", "")


def _is_announcement(text: str) -> bool:
    """Whether a line announces the words of others."""
    if says(text.lower(), "next") or _orders_change(text):
        return False
    return heads.score_clause("prompt", text)["cite"] >= ANNOUNCED


def _orders_change(text: str) -> bool:
    """Whether what stands before a colon is an order to change a file, and no word besides: "now edit src/a.py:"."""
    ahead, path, _ = map(str.lower, (*re.split(rf"({heads.PATH})\s*:?$", text.strip(), flags=re.ASCII), "", "")[:3])
    verb = re.search(load_table()["touches"], ahead) if path else None
    return verb is not None and says(ahead[: verb.start()], "tail") and says(ahead[verb.end() :], "tail")


def _cut_clauses(sentence: str) -> "list[Clause]":
    asks = sentence.rstrip(" \"')").endswith(("?", "？", "吗", "か", "か。"))
    clauses: list[Clause] = []
    pieces = _join_subclauses(re.split(load_table()["clauses"], re.sub(_NAME_IN_BRACKETS, r" \1 ", sentence)))
    if asks and len(pieces) > 1 and len(pieces[-1].split()) <= _TAG_WORDS and not re.search(heads.WIDE, pieces[-1]):
        asks, sentence = False, sentence.rstrip("? \"')")  # "…, ok?" asks nothing
    for place, piece in enumerate(pieces, 1):
        text = piece.strip(" ,;:，、；：")
        if clauses and re.match(_QUOTATIVE, text):  # what stands before it was said by somebody else
            clauses.pop()
        if not any(map(str.isalnum, text)):
            continue
        joins = re.match(load_table()["joins"], text, re.IGNORECASE) or re.fullmatch(heads.PATH, text, re.ASCII)
        joined = bool(clauses) and joins is not None
        clauses.append(Clause(text=text, sentence=sentence, joined=joined, asks=asks and place == len(pieces)))
    return clauses


def _join_subclauses(pieces: "list[str]") -> "list[str]":
    """The pieces of a sentence, each "that …" with the few words that it hangs on."""
    joined: list[str] = []
    for piece in pieces:
        matrix = joined[-1].rstrip().lower() if joined else ""
        brief = len(matrix.split()) <= _MATRIX_WORDS
        says_what = re.match(_SAID_OF, piece) is not None or matrix.endswith("vergiss nicht")
        if matrix.endswith(_THAT) or (joined and brief and says_what):
            joined[-1] = f"{joined[-1]} {piece}"
        else:
            joined.append(piece)
    return joined
