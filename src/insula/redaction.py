"""Secrets out of a text before it is stored, shown or sent: each becomes `[REDACTED:kind]`.

Three tables: tokens with a shape of their own, values that a place gives away (a URL, a header), and values that a
name gives away (`password = …`, "my password is …"). The hook of a coding agent pays for every import and every
compiled pattern, so a pattern is compiled when one of its literal marks first stands in a text. All of it is linear:
what repeats is bounded or possessive, or ends where the next match could begin.
"""

import re

from insula.secret_shapes import KINDS, NAMES, PLACES, STATES, TOKENS
from insula.secret_values import (
    VALUES,
    compiled,
    decoded,
    has_digit,
    is_dense,
    is_key,
    is_lone,
    is_mixed,
    is_number,
    is_opaque,
    is_pin,
    is_quoted,
    is_solid,
    is_token,
    is_trivial,
    is_whole,
    is_words,
)

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
        spans = _merged(_found_in_readings(compiled(_MARKER).sub(_wall, text) if "[REDACTED:" in text else text))
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
    return tuple(dict.fromkeys(compiled(_MARKER).findall(redact(text))))


def _wall(marker: Match) -> str:
    return '"' * len(marker[0])  # no value reaches across so many quotes


def _found_in_readings(text: str) -> "Iterable[Span]":
    """What is found in a text as it is shown: without colours, and with tokens that a line's end cuts in two."""
    shown, at = _without(_COLOUR, text) if "[" in text or "\x1b" in text else (text, None)
    spans = [*_found(shown)]
    if "\n" in shown:
        joined, seams = _without(_SEAM, shown)
        spans += _stood(_found_tokens(joined), seams) if seams is not None else ()
        spans += _continued(shown, spans)
    return spans if at is None else _stood(spans, at)


def _continued(text: str, spans: "list[Span]") -> "Iterator[Span]":
    """The dense words, each alone on its line, that a long secret at the end of its line goes on with."""
    for _, last, rank, kind in _merged(spans):
        end = last
        while (goes_on := compiled(_GOES_ON).match(text, end)) and not compiled(_VERSIONED).match(goes_on["s"]):
            start, end = goes_on.span("s")
            yield start, end, rank, kind


def _stood(spans: "Iterable[Span]", at: list[int]) -> "Iterator[Span]":
    """Some spans, counted in the text as it was written."""
    for start, end, rank, kind in spans:
        yield at[start], at[end - 1] + 1, rank, kind


def _without(pattern: str, text: str) -> "tuple[str, list[int] | None]":
    """A text without what a pattern matches, and where each character of it stood; None where it matches nothing."""
    kept, at, last = list[str](), list[int](), 0
    for match in compiled(pattern).finditer(text):
        kept.append(text[last : match.start()])
        at += range(last, match.start())
        last = match.end()
    return ("".join((*kept, text[last:])), [*at, *range(last, len(text))]) if last else (text, None)


def _found_tokens(text: str) -> "Iterator[Span]":
    dense = text if len(text) < _SHORT else " ".join(compiled(_LONG).findall(text))  # no token is a short word
    ranks = {rank for mark, rank in _TOKEN_MARKS if mark in dense} | {rank for mark, rank in _KEY_MARKS if mark in text}
    for rank in sorted(ranks):
        yield from _shaped(text, text, rank)
    if max(map(len, dense.split()), default=0) >= _ENCODED:
        for match in compiled(_BASE64).finditer(text):
            if _encoded(match[0]):
                yield *match.span(), len(_RULES), "encoded"


def _found(text: str) -> "Iterator[Span]":
    lower = text.lower()
    if len(lower) != len(text):  # one letter, İ, would become two
        lower = text.replace("İ", "i").lower()
    yield from _found_tokens(text)
    places = {rank for mark, rank in _PLACE_MARKS if mark in lower}
    if sum(map(lower.count, "0123456789")) >= _CARD_DIGITS:
        places.add(_CARD_RANK)
    for rank in sorted(places):
        yield from _shaped(text, lower, rank)
    for marks, names in NAMES:
        if any(mark in lower for mark in marks):
            yield from _named(text, lower, names)
            yield from _tabled(text, lower, names)


def _shaped(text: str, haystack: str, rank: int) -> "Iterator[Span]":
    kind, marks, pattern, test = _RULES[rank]
    rule = compiled(pattern, marks)
    group = rule.groupindex.get("s", 0)
    for match in rule.finditer(haystack):
        start, end = match.span(group)
        if test is None or test(text[start:end]):
            yield start, end, rank, kind


def _named(text: str, lower: str, names: str) -> "Iterator[Span]":
    done, is_foreign = 0, names != NAMES[0][1]
    for name in compiled(names).finditer(lower):
        if name.start() < done:
            continue
        for form, after, test in _FORMS:
            begins = lower[name.end() : name.end() + 1] in after if after else is_foreign or form is not _FIRST_DENSE
            if begins and (match := compiled(form).match(lower, name.end())):
                start, end = match.span("s")
                if found := test(text, name, match):
                    yield start, end, len(_RULES), _kind(name)
                if found or end - start > 64:  # a shorter one may hold a name with a value of its own
                    done = end
                if found:
                    break


def _tabled(text: str, lower: str, names: str) -> "Iterator[Span]":
    """The cells below a head that is a name, in a table or CSV, up to the next blank line; and the cell beside one."""
    heads, width, delimiter, has_users = list[tuple[int, str]](), 0, "", False
    for line in compiled(r"[^\n]+|\n(?=[ \t]*\n)").finditer(lower):
        if not line[0].strip():
            heads = []
        elif compiled(_HEADS.replace("NAMES", names)).search(line[0]) and (found := _headed(line, names))[0]:
            heads, width, delimiter = found
            has_users = compiled(_USERS).search(line[0]) is not None
            cells = _cells(line, delimiter)
            beside = [(*cells[column + 1], kind) for column, kind in heads if column + 1 < len(cells)]
            yield from _in_cells(text, beside if delimiter != "," or len(cells) == len("ab") else (), has_users=False)
        elif heads and (len(cells := _cells(line, delimiter)) == width or '"' in line[0]):
            yield from _in_cells(
                text, [(*cells[column], kind) for column, kind in heads if column < len(cells)], has_users=has_users
            )


def _in_cells(text: str, cells: "Iterable[tuple[int, int, str]]", *, has_users: bool) -> "Iterator[Span]":
    for start, end, kind in cells:
        value = text[start:end]
        if end - start < _LEAST or compiled(r'["\\(]').search(value):
            continue
        test = is_whole if kind == "password" else _TESTS.get(kind, is_token)
        if " " in value:
            found = kind == "password" and has_users and value.count(" ") > 1 and is_words(value)
        else:
            found = test(value) or (
                kind == "password" and has_users and is_solid(value) and f" {value.lower()} " not in STATES
            )
        if found:
            yield start, end, len(_RULES), kind


def _headed(line: Match, names: str) -> "tuple[list[tuple[int, str]], int, str]":
    """The columns of a line whose heads are names, each with its kind; how many columns it has, and what parts them."""
    delimiter = next((mark for mark in _DELIMITERS if mark in line[0].strip()), "")
    cells = (
        _cells(line, delimiter) if delimiter and (delimiter in "|│" or not compiled(r"[(=]").search(line[0])) else []
    )
    heads: list[tuple[int, str]] = []
    for column, (start, end) in enumerate(cells):
        found = compiled(_HEADS.replace("NAMES", names)).finditer(line.string, start, end)
        ends = [name for name in found if compiled(_TAIL).match(line.string[name.end() : end])]
        heads += [(column, _kind(name)) for name in ends if compiled(_HEAD).match(line.string[start : name.start()])]
    return heads, len(cells), delimiter


def _cells(line: Match, delimiter: str) -> "list[tuple[int, int]]":
    """Where the cells of a line stand, without blanks and quotes around them."""
    cells: list[tuple[int, int]] = []
    start = line.start()
    for cell in line[0].split(delimiter):
        if cell or delimiter != "  ":
            lead = len(cell) - len(cell.lstrip(_AROUND))
            cells.append((start + lead, start + max(lead, len(cell.rstrip(_AROUND)))))
        start += len(cell) + len(delimiter)
    return cells


def _merged(spans: "Iterable[Span]") -> list[Span]:
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


# --- what is passed over ------------------------------------------------------------------------------------------

_COLOUR = (
    r"(?:\x1b(?:[()][A-Z0-9]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[78=>M])"
    r"|(?:\x1b|\^\[|\\(?:[xX]1[bB]|033|e|u001[bB]))\[[?\d;:]{0,40}[A-Za-z]|\[\d{1,3}(?:;\d{1,3}){0,4}m)"
)
"""As a terminal gets it, as a program writes it down, and as it stands where the escape character was taken out."""
_SEAM = (
    r"""(?:(?<=[\w+/=.-]{8})|(?<=_|-))["']?[ \t]*[+\\=^`⏎↵↩…|]?[ \t]*\r?\n[ \t>|+#]*["']?"""
    r"""(?=[\w+/=.-]{8})(?=[\w+/=.-]*\d|[a-z]*[A-Z]+[a-z]+[A-Z])"""
)
"""The end of a line between two pieces that may be one token: the next has a digit, or capitals in its midst."""
_LEAST = 4
"""Characters of a value; what is shorter may be a mark before it."""
_GOES_ON = (
    r"""(?<=[\w+/=.~\\^`-]{10})["']?[ \t]*[+\\=^`⏎↵↩…|]?[ \t]*\r?\n[ \t>|+#]*["']?"""
    r"""(?P<s>(?=[\w+/.~-]*(?:\d|=|[a-z][A-Z]))[\w+/.~-]{2,}={0,2})["']?[;,]?[ \t]*[+\\=^`⏎↵↩…|]?[ \t]*(?=\r?\n|\Z)"""
)
_DELIMITERS = ("|", "│", "\t", ";", ",", "  ")
_AROUND = " \t\r\"'`*"
_TAIL = r"(?:[s*:]|\d|[ _]?\([^)]{0,20}\)|[ _-](?:neu|new|temp|temporary|old|value|actual|current|initial))?$"
_USERS = (
    r"\b(?:users?|user_?name|log-?in|e-?mail|account|benutzer|nutzer|usuario|utente|usuário|identifiant|utilisateur)\b"
    r"|用户|ユーザー"
)
"""What is in a table of passwords beside them; there a plain word is one, too."""
_HEADS = r"NAMES|\b(?:pass|pw|pin|puk)\b"
_HEAD = r"[^\W\d_]?[\w -]{0,23}$|[^ -~]{1,8}$"
"""What may stand before the name in the head of a column."""
_ENCODED = 40
"""Characters from which base64 is read."""
_BASE64 = r"(?<![\w+/=-])[A-Za-z0-9+/]{40,}={0,2}"


def _encoded(value: str) -> bool:
    """Whether base64 holds a private key, or a text in which there is a secret."""
    raw = decoded(value)
    if raw[:1] == b"0" and (raw[4:7] == b"\2\1\0" or raw[2:5] in (b"\2\1\0", b"\2\1\1") or raw[3:6] == b"\2\1\0"):
        return True  # a DER sequence that begins with a version; a public key and a certificate begin with a sequence
    if b"PRIVATE KEY" in raw[:64] or raw[:14] == b"openssh-key-v1":
        return True
    return raw.isascii() and redact(shown := raw.decode("ascii")) != shown


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
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$"
_ENDED = r"\s*(?:$|[.!,;\n]|(?:and|y|et|und|e)\b)"
_VERSIONED = r"[A-Z]?[a-z]+\d{1,3}$|[A-Z]{1,5}-?\d+$"  # `Windows11`, `TS2345`
_NAMED = rf"{_VERSIONED}|v?\d+(?:\.\d+)+|.*[,/\\]|.*\.\w{{2,4}}$"
"""What stands alone on a line and is no password: also a version, a path, the name of a file."""
_TOKEN = 16
"""Characters of a token or key that stands on a line of its own."""
_NEAR = 3
"""Words between a name and a number that is its value."""
_TESTS = {"key": is_key, "password": is_mixed, "pin": is_number}


def _kind(name: Match) -> str:
    if name[0] == "key":
        before = name.string[max(0, name.start() - 16) : name.start()]
        return "api_key" if compiled(_STRONG_KEY).search(before) else "key"
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
        spaced = literal and has_digit(value)  # `PASSPHRASE='three words 9'`
        password = is_solid if spaced else is_quoted
        test = password if kind == "password" else is_lone if kind == "secret" else _TESTS.get(kind, is_token)
        return test(value)
    if '"' in text[name.end() : start] and compiled(_NUMBER).match(value):  # JSON takes no marker for a number
        return False
    test = is_solid if kind == "password" and literal else is_lone if literal else _TESTS.get(kind, is_token)
    return test(value) and text[end : end + 1] not in tuple("([{") and (literal or not compiled(_CODE).match(value))


def _spoken(text: str, name: Match, match: Match) -> bool:
    start, end = match.span("s")
    value = text[start:end]
    if _kind(name) == "key" or f" {value.lower()} " in STATES or is_trivial(value):
        return False
    if is_mixed(value) or (match["q"] and not compiled(_CODE).match(value)):
        return True
    mine = compiled(_OWNER).search(name.string[max(0, name.start() - 64) : name.start()])
    return mine is not None and compiled(_ENDED).match(text[end : end + 8]) is not None


def _beside(text: str, name: Match, match: Match) -> bool:
    """A value right behind its name: an option's, or one that ends the clause and is no word."""
    start, end = match.span("s")
    kind, value = _kind(name), text[start:end]
    if _flag(text, name) and text[name.start() - 1] != "=":
        last = kind == "password" and compiled(_LAST).match(text[end + (match["q"] is not None) : end + 8])
        return (is_solid if last else _TESTS.get(kind, is_token))(value)
    ended = compiled(_ENDED).match(text[end + (match["q"] is not None) : end + 8])
    if not (ended or len(value) >= 24) or compiled(_CODE).match(value) or not compiled(_PLAIN).match(value):
        return False
    if kind == "password":
        return len(value) >= 6 and has_digit(value) and is_mixed(value)
    if kind == "secret" and is_dense(value):
        return True
    strong = kind == "api_key" or compiled(_STRONG_KEY).search(name.string[max(0, name.start() - 16) : name.start()])
    return len(value) >= 20 and (is_token if strong else is_key)(value)


def _below(text: str, name: Match, match: Match) -> bool:
    """A value below its name; where no colon leads to it, one that could be nothing else."""
    start, end = match.span("s")
    kind, between, value = _kind(name), match["sep"].strip(" \t\r*_`"), text[start:end]
    if kind != "password" and end - start < _TOKEN:
        return False
    led = between.endswith((":", "：", "|", ">-", ">")) or not (
        between + text[text.rfind("\n", 0, name.start()) + 1 : name.start()].strip(" \t*_`>#|")
    )
    if led:
        return _TESTS.get(kind, is_token)(value) and not compiled(_CODE).match(value)
    return kind == "password" and is_mixed(value) and not compiled(_NAMED).match(value)


def _foreign(text: str, name: Match, match: Match) -> bool:
    """The first dense word after a name that is not English; a number only right behind it."""
    start, end = match.span("s")
    value = text[start:end]
    if value.isdigit():
        return is_pin(value) and len(match["gap"].split()) <= _NEAR and _kind(name) == "password"
    versioned = ":" not in match["gap"] and compiled(_VERSIONED).match(value)
    return not versioned and (is_opaque if _kind(name) == "password" else is_token)(value)


# --- the tables --------------------------------------------------------------------------------------------------

_FIRST_DENSE = (
    r"""(?P<gap>[^\n"]{0,32}?)(?<![!-~])["'`(]?(?P<s>(?=[!-~]*[A-Za-z])(?=[!-~]*\d)[!#-\[\]-~]{6,64}?|\d{4,8})"""
    r"""(?=["'`).,!?]?(?![!-~]))"""
)
"""The first word of letters and digits after a name: how other languages say "is" is not asked."""
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
    (  # alone on the next line that is not blank, or behind a speaker's mark or "it is" there
        r"""(?P<sep>(?![\w-])[^\n]{0,160})(?:\r?\n[ \t]*){1,3}"""
        r"""(?:[\w \[\]:.,()@-]{0,30}[:>)\]-][ \t]+|(?:it'?s|it is|es|c'est|è|é|das ist|es ist)[ \t]+|[>*|+ -]{1,4})?"""
        r"""(?P<q>[`"'*]{1,2})?(?P<s>(?![\w.-]+[:=])[!#-\[\]-~]{6,200}?)(?(q)(?P=q))[.!]?[ \t]*(?=\r?\n|\Z)""",
        "",
        _below,
    ),
    (_FIRST_DENSE, "", _foreign),
)

_SHAPES = [line.split(None, 3) for line in TOKENS.strip().splitlines()]
_RULES: "tuple[Rule, ...]" = (
    *((kind, marks, pattern, None) for kind, marks, _, pattern in _SHAPES),
    *((kind, marks, pattern, VALUES.get(test)) for kind, marks, _, pattern, test in PLACES),
)
_MARKS = [(mark, rank) for rank, rule in enumerate(_RULES) for mark in rule[1].split(",")]
_KEY_MARKS = [(mark, rank) for mark, rank in _MARKS if mark == "PRIVATE"]  # it stands between blanks
_TOKEN_MARKS = [(mark, rank) for mark, rank in _MARKS if rank < len(_SHAPES) and mark != "PRIVATE"]
_PLACE_MARKS = [(mark, rank) for mark, rank in _MARKS if rank >= len(_SHAPES) and mark != "CARD"]
_CARD_RANK, _CARD_DIGITS = len(_RULES) - 1, 13
"""A card has no mark but its digits, of which the shortest has so many."""
