"""What a clause means: a linear head on the n-grams of its characters, in pure Python, for the hook.

What a clause names (a path, a program, a piece of code, a number) is masked first, so that the head sees how it is said
and not of what. The weights stand in a file of bytes that `insula bench word --fit` writes.
"""

import os
import re
import zlib
from functools import cache

from insula.coding.step import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PROMPT = ("ban", "only", "how", "lift", "request", "moment", "cite", "none")
"""What a clause of a user's may be: it rules something out; allows one thing only; says how things are done; takes a
ban back; asks for something; holds for this moment; announces the words of others; none of these."""
REPORT = ("did", "not", "other")
"""What a clause of an agent's last words may be: something was done or is so, it was not, or neither is said."""
DEMAND = ("run", "write", "test", "act", "other")
"""What a request may demand: a check or command to run; a file or the docs to bring up to date; a test; a commit, push
or pull request; anything else, which nothing but reading can judge."""
BUCKETS = {"prompt": 1 << 16, "report": 1 << 14, "demand": 1 << 14}
CLASSES = {"prompt": PROMPT, "report": REPORT, "demand": DEMAND}
SCALE = 1 / 8
"""A weight of 1 in the file counts so much."""
_SIZES = (3, 4)
LONGEST = 160
"""Characters of a clause that are read."""

PATH = (
    r"(?:[A-Za-z]:)?[\w.@~+*-]*(?:[/\\][\w.@+*()\[\]-]+)+[/\\]?|[\w.@+*-]+/(?![\w/])"
    r"|(?<![\w.])[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{2,10}|[a-z]\d?|h|c|R)(?![\w(])|(?<![\w.])\.[a-z][\w.-]+"
    r"|(?<!\w)(?:CHANGELOG|README|LICENSE|Makefile|Dockerfile|Jenkinsfile|Gemfile|Procfile|AGENTS|CLAUDE)(?!\w)"
)
"""A path or the name of a file, as it stands in a sentence."""
COMMON = frozenset(
    "make go node next just task time call then do if else env command which where test type file find watch "
    "wait ping top ps dir ls tail head cat less more cut sort tr jobs hash id stat tree host exists doas nice "
    "exec ts ag ss t rake vet flow lock ty cc bin http ava bats karma behave stack rails conda swift dart "
    "black service python python3 ruby java git bash sh sleep ! { && [ [[ curl cmake ninja meson x i".split()
)
"""Programs whose names are words: they are told from those by what stands around them alone."""
KNOWN = frozenset(
    (*programs.PROGRAMS, *programs.SUBCOMMANDS, *programs.SCRIPTS, *programs.RUNNERS, "pip3", "npx", "sed")
)
PLAIN = KNOWN - COMMON
"""Programs that a sentence names and means."""


SCRIPT = (
    r"(?:tests?|lint|check|build|format|fmt|typecheck|types|ci|all|verify|validate|e2e|specs?|docs|run)"
    r"(?:[:_-][\w:-]+)?"
)
SCRIPT_CALL = rf"(?<![\w./])\./[\w./-]+ {SCRIPT}(?![\w/.])"
"""A script of the project and what it shall do: `./gradlew check`."""
_POLITE = (
    r"(?i)\b(?:please|pls|plz|kindly|bitte|s['’]il (?:te|vous) pla[iî]t|stp|svp|por favor|per favore|per piacere)\b"
    r"|请|麻烦你?"
)
"""Words that ask for everything alike, and so tell nothing of what is asked."""


def mask_text(text: str) -> str:
    """A clause in small letters, with a mark for each path, program, piece of code and number in it."""
    text = re.sub(r"`([^`\n]*)`?", _mask_code, text)
    text = re.sub(SCRIPT_CALL, " ¶k ", text, flags=re.ASCII)
    text = re.sub(PATH, " ¶p ", text, flags=re.ASCII)
    text = re.sub(_POLITE, " ", text)
    text = re.sub(r"(?<![\w.¶-])[a-z][\w+-]*(?![\w-])", _mask_program, text.lower(), flags=re.ASCII)
    text = re.sub(r"\d+", lambda match: "0" if int(match[0]) == 0 else "9", text.replace("’", "'"))
    return " ".join(text.split())[:LONGEST]


def _mask_code(match: "re.Match[str]") -> str:
    inner = match[1].strip()
    first = inner.split(" ", 1)[0].lower()
    if first in KNOWN:
        return "¶k" if " " in inner else "¶t"
    return "¶p" if re.fullmatch(PATH, inner, flags=re.ASCII) else "¶c"


def _mask_program(match: "re.Match[str]") -> str:
    return "¶t" if match[0] in PLAIN else match[0]


_SPACED, WIDE = r"[^\W_\u3040-\u30ff\u3400-\u9fff]+", r"[\u3040-\u30ff\u3400-\u9fff]"
_PIECES = rf"¶\w|{_SPACED}(?:['-]{_SPACED})*|{WIDE}|[?!:;,.]"
WORDS = 1 << 16
"""Bits of the set of words that say how something is said."""


def split_tokens(masked: str, form: "bytes | bytearray") -> "list[str]":
    """The words of a masked clause; what is said of, and not how it is said, is one mark however many words it has.

    Args:
        form: a bit for each word that says how something is said.
    """
    tokens = ["^"]
    for piece in re.findall(_PIECES, masked):
        bit = zlib.crc32(piece.encode()) & (WORDS - 1)
        known = len(piece) == 1 or piece[0] == "¶" or form[bit >> 3] >> (bit & 7) & 1
        word = piece if known else "¶w"
        if word != "¶w" or tokens[-1] != "¶w":
            tokens.append(word)
    return [*tokens, "$"]


def list_features(masked: str, words: "Sequence[str]", buckets: int) -> "list[int]":
    """The buckets that the n-grams of a clause fall into: of its characters, and of its words of form."""
    crc, size = zlib.crc32, len(words)
    data = f"^{masked}$".encode("utf-16-le", "surrogatepass")
    features = {crc(data[at : at + 2 * n]) for n in _SIZES for at in range(0, len(data) - 2 * n + 1, 2)}
    for count in (1, 2, 3, 4):
        for at in range(size - count + 1):
            features.add(crc(" ".join(words[at : at + count]).encode()))
    for at in range(size - 2):
        features.add(crc(f"{words[at]} * {words[at + 2]}".encode()))
    for at in range(size - 3):
        features.add(crc(f"{words[at]} ** {words[at + 3]}".encode()))
    mask = buckets - 1
    return list({feature & mask for feature in features})


def score_clause(name: str, text: str) -> "dict[str, float]":
    """The probability of each meaning of a clause.

    Args:
        name: `prompt` for a user's, `demand` for a request of theirs, `report` for an agent's last words.
    """
    classes = CLASSES[name]
    form, rows = _read_head(name)
    width = len(classes)
    masked = mask_text(text)
    features = list_features(masked, split_tokens(masked, form), BUCKETS[name])
    sums = [0] * width
    for bucket in features:
        start = bucket * width
        row = rows[start : start + width]
        for place in range(width):
            sums[place] += row[place]
    return dict(zip(classes, _to_chances(sums, SCALE / max(1, len(features)) ** 0.5), strict=True))


def is_form_word(word: str) -> bool:
    """Whether a word says how something is said and not of what: it stands outside the slots of the templates."""
    bit = zlib.crc32(word.lower().encode()) & (WORDS - 1)
    return bool(_read_head("prompt")[0][bit >> 3] >> (bit & 7) & 1)


def _to_chances(sums: "Sequence[int]", scale: float) -> "list[float]":
    top = max(sums)
    powers = [2.718281828459045 ** ((score - top) * scale) for score in sums]
    total = sum(powers)
    return [power / total for power in powers]


@cache
def _read_head(name: str) -> "tuple[bytes, memoryview]":
    """The words of form and the weights of a head; read once in a process."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.bin"), "rb") as file:
        data = zlib.decompress(file.read())
    return data[: WORDS >> 3], memoryview(data[WORDS >> 3 :]).cast("b")
