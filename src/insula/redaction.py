"""Secrets out of a text before it is stored, shown or sent: each becomes `[REDACTED:kind]`.

Three tables: tokens with a shape of their own, values that a place gives away (a URL, a header), and values that a
name gives away (`password = …`, "my password is …"). The hook of a coding agent pays for every import and every
compiled pattern, so a pattern is compiled when one of its literal marks first stands in a text. All of it is linear:
what repeats is bounded or possessive, or ends where the next match could begin.
"""

import re
from functools import cache

from insula.secret_shapes import KINDS, NAMES, PARTS, PLACES, STATES, TOKENS

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Rule = tuple[str, str, str, Callable[[str], bool] | None]  # kind, marks, pattern, test of the value

Match = re.Match[str]
Span = tuple[int, int, int, str]
"""Start, end, rank and kind of a secret; of two that overlap the lower rank names it."""

_MARKER = r"\[REDACTED:([a-z_]+)\]"
_SHORT = 4_000
"""Characters up to which it is quicker to look for each mark than to leave out the short words first."""
_LONG = r"\S{16,}"
_ROUNDS = 4
"""A replacement may lay bare the edge of another secret; no text is known that needs more than two rounds."""


def redact(text: str) -> str:
    """`text` with every secret replaced by `[REDACTED:kind]`, and all else as it was."""
    return take_secrets(text)[0]


def take_secrets(text: str) -> "tuple[str, dict[str, str]]":
    """`text` as `redact` leaves it, and the secrets that were taken out of it, each with its kind."""
    taken: dict[str, str] = {}
    for _ in range(_ROUNDS):
        spans = _merged(_found(_compiled(_MARKER).sub(_wall, text) if "[REDACTED:" in text else text))
        if not spans:
            break
        taken.update((text[start:end], kind) for start, end, _, kind in spans)
        text = _replaced(text, spans)
    return text, taken


def without_markers(text: str) -> str:
    """`text` without the markers that `redact` left: they are no words of the speaker's."""
    return re.sub(r"\[REDACTED:[^\]]{1,40}\]", " ", text)


def is_redacted(text: str) -> bool:
    """Whether `redact` took something out of `text`."""
    return without_markers(text) != text


def kinds(text: str) -> tuple[str, ...]:
    """The kinds of secret in `text` (those already redacted among them), each once, in order of appearance."""
    return tuple(dict.fromkeys(_compiled(_MARKER).findall(redact(text))))


def _wall(marker: Match) -> str:
    return '"' * len(marker[0])  # no value reaches across so many quotes


def _found(text: str) -> "Iterator[Span]":
    lower = text.lower()
    if len(lower) != len(text):  # one letter, İ, would become two
        lower = text.replace("İ", "i").lower()
    dense = text if len(text) < _SHORT else " ".join(_compiled(_LONG).findall(text))  # no token is a short word
    ranks = {rank for mark, rank in _TOKEN_MARKS if mark in dense} | {rank for mark, rank in _KEY_MARKS if mark in text}
    for rank in sorted(ranks):
        yield from _shaped(text, text, rank)
    places = {rank for mark, rank in _PLACE_MARKS if mark in lower}
    if sum(map(lower.count, "0123456789")) >= _CARD_DIGITS:
        places.add(_CARD_RANK)
    for rank in sorted(places):
        yield from _shaped(text, lower, rank)
    for marks, names in NAMES:
        if any(mark in lower for mark in marks):
            yield from _named(text, lower, names)


def _shaped(text: str, haystack: str, rank: int) -> "Iterator[Span]":
    kind, marks, pattern, test = _RULES[rank]
    compiled = _compiled(pattern, marks)
    group = compiled.groupindex.get("s", 0)
    for match in compiled.finditer(haystack):
        start, end = match.span(group)
        if test is None or test(text[start:end]):
            yield start, end, rank, kind


def _named(text: str, lower: str, names: str) -> "Iterator[Span]":
    done = 0
    for name in _compiled(names).finditer(lower):
        if name.start() < done:
            continue
        for form, after, test in _FORMS:
            if lower[name.end() : name.end() + 1] in after and (match := _compiled(form).match(lower, name.end())):
                start, end = match.span("s")
                if found := test(text, name, match):
                    yield start, end, len(_RULES), _kind(name)
                if found or end - start > 64:  # a shorter one may hold a name with a value of its own
                    done = end
                break


def _merged(spans: "Iterator[Span]") -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            start, end, rank, kind = merged[-1]
            merged[-1] = (start, max(end, span[1]), *min((rank, kind), span[2:]))
        else:
            merged.append(span)
    return merged


def _replaced(text: str, spans: list[Span]) -> str:
    out: list[str] = []
    last = 0
    for start, end, _, kind in spans:
        out += text[last:start], "[REDACTED:", kind, "]"
        last = end
    return "".join(out) + text[last:]


@cache
def _compiled(pattern: str, marks: str = "") -> "re.Pattern[str]":
    if pattern[0] == "^":
        begins = (_BEGINS.replace("MARK", re.escape(mark)) for mark in marks.split(","))
        pattern = f"(?:{'|'.join(begins)}){pattern[1:]}"
    return re.compile(re.sub(r"\{([A-Z]+)\}", lambda part: PARTS[part[1]], pattern), re.ASCII)


# --- what a value must look like ---------------------------------------------------------------------------------

_REFERENCE = (  # a variable, a path, a sequence, the name of an algorithm: nothing is hidden in it
    r"[<{(\[|:]|\.[*+]|(?:file|env|fd|arn|op|vault):|\$[a-z_{(]|\$\d$|%[a-z({]|[@!][a-z_]+$|#\{|\*\*|\d?1234567\d*$|abcdef\w*$"
    r"|(?:[a-z]:|~|\.{0,2})[/\\][\w.@~+-]+(?:[/\\.]|$)"
    r"|(?:sha|md|utf|base|[rhep]s|oauth|argon|aes|rsa|bcrypt|ipv|v|gpt)[-_]?\d+[a-z-]{0,9}$"
)
_PLACEHOLDER = r"example|your|placeholder|change[_-]?me|dummy|sample|redacted|replace|xxx|\*\*\*|\.\.\.|…|•|://"
_EMPTY_WORDS = (
    " pass password passwd passwort kennwort contraseña senha secret token key string text none null undefined true"
    " false required optional default value test hidden plaintext hashed bearer basic "
)
_WORDY = r"[A-Za-z]+\d?$|{PIECE}(?:[-_./:@ ]+{PIECE})+$"  # `linux-build-v2`
_MIXED = r"(?=[^A-Za-z]*[A-Za-z])(?=[^\d!@#$%^&*+=?~]*[\d!@#$%^&*+=?~])|\d{6,}$"  # `hunter2`, `p@ss`, `123456`
_CODED = r"\d|[a-z][A-Z]"
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$"
_HEX = r"(?i)[0-9a-f-]+$|.*[0-9a-f]{32}"
_CARD = r"4(?:.{12}|.{15}|.{18})$|(?:5[1-5]|2[2-7]|6[0245]|35).{14}$|62.{14,17}$|3[47].{13}$|3[068].{12}$"
_DOUBLED = str.maketrans("0123456789", "0246813579")


def _trivial(value: str) -> bool:
    start = value[:200].lower()
    if len(set(start)) < 4 or f" {start.rstrip('0123456789')} " in _EMPTY_WORDS:
        return True
    return (_compiled(_REFERENCE).match(start) or _compiled(_PLACEHOLDER).search(start)) is not None


def _solid(value: str) -> bool:
    return not _trivial(value)


def _mixed(value: str) -> bool:
    return _compiled(_MIXED).match(value.rstrip("!?.,:;")) is not None and not _trivial(value)


def _coded(value: str) -> bool:
    """Whether a value is no plain word: it has a digit, or capitals among small letters."""
    return _compiled(_CODED).search(value) is not None and not _trivial(value)


def _token(value: str) -> bool:
    """Whether a value is long and no phrase."""
    if len(value) < 8 or " " in value or _compiled(_WORDY).match(value) or _trivial(value):
        return False
    digits = any(digit in value for digit in "0123456789")
    return value.lower() != value.upper() and (digits or (len(value) >= 20 and _coded(value)))


def _key(value: str) -> bool:
    """`key` alone names many things: only a long, dense value that is no hash or identifier counts."""
    return len(value) >= 16 and len(set(value)) >= 10 and _token(value) and not _compiled(_HEX).match(value)


def _lone(value: str) -> bool:
    """Whether a value is a token, or words with a number that stand where only a secret does."""
    return _token(value) or (len(value) >= 12 and " " not in value and _digit(value) and not _trivial(value))


def _quoted(value: str) -> bool:
    return len(value) >= 6 and " " not in value and not _trivial(value)


def _in_url(value: str) -> bool:
    return value[0] not in "$<{*%(["


def _tail(value: str) -> bool:
    return re.search(r"[A-Za-z0-9+/=]{20}", value) is not None


def _worded(value: str) -> bool:
    """Whether a value has a letter: after `-p` a number is a port."""
    return not value.isdigit() and not _trivial(value)


def _path(value: str) -> bool:
    """Whether the path of a webhook holds what nobody would guess."""
    parts = [part for part in re.split("[/@]", value) if part]
    dense = [part for part in parts if len(part) >= 6 and any(char.isdigit() for char in part)]
    return any(_token(part) or _compiled(_HEX).match(part) for part in dense if len(part) >= 16) or len(dense) > 1


def _digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _base32(value: str) -> bool:
    return _digit(value) and value == value.upper()


def _pin(value: str) -> bool:
    """A year is none."""
    return not (len(value) == 4 and value[:2] in ("19", "20"))


def _phrase(value: str) -> bool:
    """Whether words are a phrase to get in by, and not what is said of one."""
    words = value.lower().replace("-", " ").split()
    return len(words) > 1 and f" {words[0]} " not in STATES and not _trivial(value)


def _luhn(value: str) -> bool:
    digits = value.replace(" ", "").replace("-", "")
    if not _compiled(_CARD).match(digits) or len(set(digits)) < 2:
        return False
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


# --- what a name gives away --------------------------------------------------------------------------------------

_STRONG_KEY = (
    r"(?:api|access|secret|private|signing|encryption|auth|account|master|service|app|shared|client|session|jwt|deploy"
    r"|licen[cs]e|webhook|admin|storage|subscription|ssh|db)[ _.-]?$"
)
_CODE = (  # `settings.db.password`, `user_password2`
    r"(?i)[a-z_$][\w$]*(?:(?:\??\.|::|->)[a-z_$][\w$]*)+$"
    r"|(?=[a-z_]+$|[a-z]\w*_\w*$).*?(?:pass|pwd|token|key|secret|cred|auth|user|value|var|param|arg|conf|env|input|hash)"
)
_OWNER = r"\b(?:my|our|mi|nuestra|mon|notre|meine?|unser|minha|nossa|mia)\s+(?:[^\s.,;:!?]{1,20}\s+){0,3}$"
_PLAIN = r"[^\s,:\"'\\]+$"  # no end of one string of JSON and begin of the next
_LAST = r"[ \t]*(?:$|[|;&>]|(?<=[ \t])-)"
"""What follows the value of an option, and no word of a sentence."""
_ENDED = r"\s*(?:$|[.!,;\n]|(?:and|y|et|und|e)\b)"
_TESTS = {"key": _key, "password": _mixed}
_VALUES = {
    "base32": _base32,
    "coded": _coded,
    "digit": _digit,
    "in_url": _in_url,
    "luhn": _luhn,
    "mixed": _mixed,
    "path": _path,
    "phrase": _phrase,
    "pin": _pin,
    "solid": _solid,
    "tail": _tail,
    "token": _token,
    "worded": _worded,
}
"""The tests that the registry names."""


def _kind(name: Match) -> str:
    if name[0] == "key":
        before = name.string[max(0, name.start() - 16) : name.start()]
        return "api_key" if _compiled(_STRONG_KEY).search(before) else "key"
    return KINDS.get(name[0], "password")


def _flag(text: str, name: Match) -> bool:
    """Whether the name is that of a command's option: `--db-password`."""
    before = text[max(0, name.start() - 32) : name.start()]
    blank = max(before.rfind(" "), before.rfind("\n"), before.rfind("\t"))
    return before.startswith("-", blank + 1)


def _literal(text: str, name: Match, match: Match) -> bool:
    """Whether the form admits no variable: `NAME=value` of an environment file, `--name=value` of a command."""
    if match["sep"] not in ("=", ":") or text[match.start("sep") - 1] in " \t":
        return False
    return text[name.start() : name.end()].isupper() or _flag(text, name)


def _assigned(text: str, name: Match, match: Match) -> bool:
    start, end = match.span("s")
    if end - start < (8 if name[0] == "key" or name[0] in KINDS else 4):
        return False
    value, kind = text[start:end], _kind(name)
    literal = _literal(text, name, match)
    if match["q"]:
        spaced = literal and _digit(value)  # `PASSPHRASE='three words 9'`
        password = _solid if spaced else _quoted
        test = password if kind == "password" else _lone if kind == "secret" else _TESTS.get(kind, _token)
        return test(value)
    if '"' in text[name.end() : start] and _compiled(_NUMBER).match(value):  # JSON takes no marker for a number
        return False
    test = _solid if kind == "password" and literal else _lone if literal else _TESTS.get(kind, _token)
    return test(value) and text[end : end + 1] not in tuple("([{") and (literal or not _compiled(_CODE).match(value))


def _spoken(text: str, name: Match, match: Match) -> bool:
    start, end = match.span("s")
    value = text[start:end]
    if _kind(name) == "key" or f" {value.lower()} " in STATES or _trivial(value):
        return False
    if _mixed(value) or (match["q"] and not _compiled(_CODE).match(value)):
        return True
    mine = _compiled(_OWNER).search(name.string[max(0, name.start() - 64) : name.start()])
    return mine is not None and _compiled(_ENDED).match(text[end : end + 8]) is not None


def _beside(text: str, name: Match, match: Match) -> bool:
    """A value right behind its name: an option's, or one that ends the clause and is no word."""
    start, end = match.span("s")
    kind, value = _kind(name), text[start:end]
    if _flag(text, name) and text[name.start() - 1] != "=":
        last = kind == "password" and _compiled(_LAST).match(text[end + (match["q"] is not None) : end + 8])
        return (_solid if last else _TESTS.get(kind, _token))(value)
    ended = _compiled(_ENDED).match(text[end + (match["q"] is not None) : end + 8])
    if not (ended or len(value) >= 24) or _compiled(_CODE).match(value) or not _compiled(_PLAIN).match(value):
        return False
    if kind == "password":
        return len(value) >= 6 and _digit(value) and _mixed(value)
    strong = kind == "api_key" or _compiled(_STRONG_KEY).search(name.string[max(0, name.start() - 16) : name.start()])
    return len(value) >= 20 and (_token if strong else _key)(value)


# --- the tables --------------------------------------------------------------------------------------------------

_BEGINS = r"MARK(?:(?<![\w-]MARK)|(?<=\\[nrt]MARK)|(?<=%[0-9A-Fa-f]{2}MARK))"
# What follows a name: pattern, the characters it can begin with, test.
_FORMS = (
    (  # `=`, `:`, `=>`, `: str =`, `>`, or the `value:` that follows a `name:`
        r"""(?:[_-]?\d{1,2}|_(?:base|value|prod|dev|test|live))?\\{0,3}["'`]?\]?[ \t]{0,3}"""
        r"""(?P<sep>:[ \t]?[a-z][\w.\[\]| ]{0,30}?[ \t]=(?!=)|[:!=]?=>?|:|>"""
        r"""|["'\\]{0,2},?\s{1,20}["'\\]{0,4}value["'\\]{0,4}:)[ \t]{0,8}{VALUE}""",
        "_-1234567890\\\"'`] \t\n:=!>,",
        _assigned,
    ),
    (  # "is", perhaps after "for the router"
        r"(?:\s+(?:nueva|nuevo|nova|novo|nouveau|neue|neues|nuova|actual|current))?"
        r"(?:\s+(?:for|to|of|on|en|del?|do|da|du|para|pour|für|per|von|di|api)(?:\s+[^\s.,;:!?\"'\\]{1,20}){0,4}?)?"
        r"(?:(?:\s+(?:is|was|es|est|c'est|ist|lautet|war|sera|será|é|è|är|er|on|to|és|je|là|это)|'s)"
        r"(?:\s+(?:now|still|actually|set to))?\s*:?\s+|\s+(?:set\s+)?(?:to|a|à|auf|para)\s+"
        r"|\s?:\s+|\s*(?:是|为|為|は|：|는|은)\s*)"
        r"""(?P<q>["'`“‘«「])?(?P<s>[!#-&(-\[\]-_a-~à-ɏ]{4,128}(?<![.,;:)\]]))""",
        " '是为為は：는은",
        _spoken,
    ),
    (r"[ \t]+{VALUE}", " \t", _beside),
)

_SHAPES = [line.split(None, 3) for line in TOKENS.strip().splitlines()]
_RULES: "tuple[Rule, ...]" = (
    *((kind, marks, pattern, None) for kind, marks, _, pattern in _SHAPES),
    *((kind, marks, pattern, _VALUES.get(test)) for kind, marks, _, pattern, test in PLACES),
)
_MARKS = [(mark, rank) for rank, rule in enumerate(_RULES) for mark in rule[1].split(",")]
_KEY_MARKS = [(mark, rank) for mark, rank in _MARKS if mark == "PRIVATE"]  # it stands between blanks
_TOKEN_MARKS = [(mark, rank) for mark, rank in _MARKS if rank < len(_SHAPES) and mark != "PRIVATE"]
_PLACE_MARKS = [(mark, rank) for mark, rank in _MARKS if rank >= len(_SHAPES) and mark != "CARD"]
_CARD_RANK, _CARD_DIGITS = len(_RULES) - 1, 13
"""A card has no mark but its digits, of which the shortest has so many."""
