"""What may stand in a system prompt: text from users, tools and files is data, and must not act as an instruction.

`screen_text` makes a text safe for one quoted line and says why it must be withheld, if it must. Patterns see attacks
by their form only: a poisoned lesson in plain words ("always approve refunds") passes here, and is stopped by
provenance and corroboration elsewhere.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import Literal, NamedTuple, cast, get_args

from insula.redaction import redact
from insula.screening_patterns import EACH_LANGUAGE, LANGUAGES, TABLE

Reason = Literal["override", "role_marker", "tool_call", "exfiltration", "secret", "hidden"]


class Screened(NamedTuple):
    """A text as one safe line, and why it must be withheld all the same; no reason: it may be shown."""

    text: str
    reasons: tuple[Reason, ...]


WINDOW = 20_000
"""Characters looked at (or four times the limit): what stands behind them is never shown."""


def screen_text(text: str, limit: int) -> Screened:
    """Make `text` safe for one quoted line of at most `limit` characters, and judge it.

    Args:
        text: What a user, a tool or a file said.

    Returns:
        The line (NFC, visible characters only, secrets redacted, cut at the end of a sentence or word), and the reasons
        to withhold it in the order of `Reason`. The line of a withheld text is for the eyes of a person.
    """
    raw = text[: max(WINDOW, 4 * limit)]
    seen = _visible_text(raw)
    safe = redact(seen)
    line = " ".join(safe.split())
    line = redact(line) if line != safe else line  # a wider gap can hide what stands beside a value
    reasons = _match_patterns(seen)
    if line != " ".join(seen.split()):
        reasons.add("secret")
    if _HIDDEN.search(raw):
        reasons.add("hidden")
    return Screened(_cut_line(line, limit), tuple(reason for reason in _ORDER if reason in reasons))


def _visible_text(text: str) -> str:
    """`text` in NFC without characters that nobody sees; control characters but the line feed become spaces."""
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return _CONTROL.sub(" ", _LINE_END.sub("\n", text))


def _cut_line(line: str, limit: int) -> str:
    """`line` within `limit`: whole, or up to the end of a sentence or word in its second half, with an ellipsis."""
    if len(line) <= limit:
        return line
    head = line[: max(0, limit - 1)]
    sentence = max((match.end() for match in _SENTENCE_END.finditer(head)), default=0)
    word = head.rfind(" ") if line[len(head)] != " " else 0
    if end := next((end for end in (sentence, word) if end * 2 > limit), 0):
        head = head[:end]
    return (head.rstrip(" ,;:-") + "…")[: max(0, limit)]


def _match_patterns(text: str) -> set[Reason]:
    plain = _fold_text(text)
    reasons = set(_match_reading(plain))
    for view in _uncover_disguise(text) - {plain}:
        if disguised := _match_reading(view) - reasons:
            reasons.update(disguised, _DISGUISED)
    return reasons


def _match_reading(text: str) -> frozenset[Reason]:
    return _said_briefly(text) if len(text) <= _BRIEF else _said_briefly.__wrapped__(text)


@lru_cache(maxsize=512)
def _said_briefly(text: str) -> frozenset[Reason]:
    return frozenset(reason for reason, _, pattern in _load_patterns() if pattern.search(text))


clear_cache = _said_briefly.cache_clear
"""Let go of the last texts that were judged."""


# --- normal form, so that a trivial disguise does not pass -------------------------------------------------------

_ORDER: tuple[Reason, ...] = get_args(Reason)
_DISGUISED: tuple[Reason] = ("hidden",)
_BRIEF = 500
"""Characters of a text that a turn asks about more than once."""
_ZERO_WIDTH = "\u200b-\u200d\u2060-\u2064\ufeff\u180e"
_INVISIBLE = re.compile(  # format, surrogate, private-use and default-ignorable characters
    f"[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f{_ZERO_WIDTH}"
    "\u200e\u200f\u202a-\u202e\u2065-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_LINE_END = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2800]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?= |$)|[。！？]")
_HIDDEN = re.compile(  # text that only a machine reads
    "(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]"  # tags, but not those of the flag of England
    "|\U0001f3f4[\U000e0000-\U000e007f]{8}"
    f"|[{_ZERO_WIDTH}]{{3}}|(?:[A-Za-z][{_ZERO_WIDTH}]+){{2}}[A-Za-z]"
    "|[\u202d\u202e]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
)
_ACCENT = re.compile("[\u0300-\u036f]")
_ALIKE = str.maketrans(  # Cyrillic and Greek letters that look Latin
    "асԁеһіјкӏморԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαβεικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "acdehijklmopqstyvwxABCEHIJKMOPSTYXabeikvoptuxwABEZHIKMNOPTYX",
)
_LEET = str.maketrans("034578@$", "oeastbas")
_LEET_WORD = re.compile(r"(?=[0-9@$]{0,29}[a-z])(?=[a-z]{0,29}[0-9@$])[a-z0-9@$]{3,30}")
_ONE = re.compile("(?<=[a-z])1+|1+(?=[a-z])")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){3,}")


def _fold_text(text: str) -> str:
    """`text` as patterns read it: compatible forms unified, small letters, no accents."""
    text = unicodedata.normalize("NFKC", text)[: 2 * WINDOW].casefold()  # one character may become eighteen
    return unicodedata.normalize("NFKC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))


def _uncover_disguise(text: str) -> set[str]:
    """`text` with look-alikes, spaced letters and leetspeak undone, in two readings: `1` in a word may be i or l."""
    clear = _SPACED.sub(lambda run: re.sub(r"[\W_]+", "", run[0]), _fold_text(text.translate(_ALIKE)))
    letters = _LEET_WORD.sub(lambda word: word[0].translate(_LEET), clear)

    def read_ones(letter: str) -> str:
        return _ONE.sub(lambda ones: letter * len(ones[0]), letters)

    return {read_ones("i"), read_ones("l")}


@cache
def _load_patterns() -> tuple[tuple[Reason, str, re.Pattern[str]], ...]:
    """Reason, name and pattern of every entry of the table."""
    lists: dict[str, str] = {}
    patterns: list[tuple[Reason, str, re.Pattern[str]]] = []
    table = TABLE + "".join(EACH_LANGUAGE.replace("XX", code) for code in LANGUAGES)
    for entry in re.split(r"\n+(?=\w)", table.strip()):
        head, *lines = re.sub(r"\n {4}(?=\S)", "", entry).split("\n")
        kind, name = head.split()[:2]
        pattern = f"(?:{'|'.join(line.strip() for line in lines)})"
        pattern = re.sub(r"\{([A-Z_]+)\}", lambda part: lists[part[1]], pattern)
        if kind == "list":
            lists[name] = pattern
        else:
            gaps = pattern.replace(" ", r"[\W_]*")
            patterns.append((cast("Reason", kind), name, re.compile(gaps, re.MULTILINE | re.DOTALL)))
    return tuple(patterns)
