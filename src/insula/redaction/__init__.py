"""Secrets out of a text before it is stored, shown or sent: each becomes `[REDACTED:kind]`.

Tokens of providers have a shape of their own (gitleaks' rules), a place gives a value away (a URL, a header, a column),
and what no rule names a small fitted head judges by its look and by what stands around it. The hook of a coding agent
pays for every import and every compiled pattern, so a pattern is compiled when one of its literal marks first stands
in a text. All of it is linear: what repeats is bounded or possessive, or ends where the next match could begin.
"""

import re
from operator import add

from insula.redaction.head import NAMES_BY_BEGINNING, find_likely, find_names
from insula.redaction.shapes import PLACES, TOKENS
from insula.redaction.values import (
    VALUES,
    compiled,
    decoded,
    is_coined,
    is_dense_in,
    is_filler,
    is_seed_of_any,
    is_token,
    seed_words,
)

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Rule = Sequence[str]  # kind, marks, test of the value or the bits of entropy that it must have, pattern
    Index = dict[str, list[tuple[str, int]]]

Match = re.Match[str]
Span = tuple[int, int, int, str]
"""Start, end, rank and kind of a secret; of two that overlap the lower rank names it."""

_MARKER = r"\[REDACTED:([a-z_]+)\]"
_SHORT = 4_000
"""Characters up to which it is quicker to look for each mark than to leave out the short words first."""
_LONG = r"\S{16,}"
_ANSWER, _ANSWER_WORDS = 400, 6
"""Characters and words of a message that may be an answer and little else."""
_BEFORE, _LINES = 80, 2
"""Characters of a line before an answer, and how many lines, that are read with it."""
_TOLD = 6
"""Characters of a secret that is looked for elsewhere: a shorter one may stand in any word."""
_LONG_VALUE = 16
"""Characters from which what the head finds is called a token, and no password."""
_ROUNDS = 4
"""A replacement may lay bare the edge of another secret; no text is known that needs more than two rounds."""


_clean: "dict[str, None]" = {}
"""The last texts in which there was no secret: a turn asks of each several times. None with one is held."""
_CLEAN_TEXTS, _CLEAN_CHARS = 512, 2_000
"""How many are held, and of which length at most."""


def redact(text: str) -> str:
    """`text` with every secret replaced by `[REDACTED:kind]`, and all else as it was."""
    return take_secrets(text)[0]


def take_secrets(text: str) -> "tuple[str, dict[str, str]]":
    """`text` as `redact` leaves it, and the secrets that were taken out of it, each with its kind."""
    taken: dict[str, str] = {}
    if text in _clean:
        return text, taken
    whole = text
    for _ in range(_ROUNDS):
        seen = compiled(_MARKER).sub(_wall, text) if "[REDACTED:" in text else text
        spans = [*_within_strings(text, _merged(_found_in_readings(seen)))]
        if not spans:
            break
        taken.update((text[start:end], kind) for start, end, _, kind in spans)
        text = _replaced(text, spans)
    if text == whole and len(text) <= _CLEAN_CHARS:
        if len(_clean) >= _CLEAN_TEXTS:
            _clean.clear()
        _clean[text] = None
    return text, taken


def holds_token(text: str) -> bool:
    """Whether a name or an id is a provider's token or a key: all that a word by itself can be told to be."""
    return next(_found_tokens(text, _find_beginnings(lower := text.lower()), lower), None) is not None


def may_answer(text: str) -> bool:
    """Whether a message is as short as an answer that is a secret and little else."""
    return len(text) <= _ANSWER and len(text.split()) <= _ANSWER_WORDS


def take_answer(text: str, before: "Iterable[tuple[bool, str]]") -> "tuple[str, dict[str, str]]":
    """A message without its secrets, those among them that a line before it asks for or announces; and the secrets.

    Args:
        before: the lines said before it, oldest first, each with whether the user said it.
    """
    said = [f"{'user' if own else 'assistant'}: {' '.join(line[-_BEFORE:].split())}\n" for own, line in before]
    talk = "".join((*said[-_LINES:], "user: ", text.replace("\n", " ")))
    start = len(talk) - len(text)
    spans = _merged(_found_in_readings(talk, start)) if said else []
    answers = {talk[begin:end]: kind for begin, end, _, kind in spans if begin >= start}
    for answer, kind in answers.items():
        text = text.replace(answer, f"[REDACTED:{kind}]")
    clean, taken = take_secrets(text)
    return clean, answers | taken


def take_out(text: str, secrets: "dict[str, str]") -> str:
    """A text without what was found to be a secret elsewhere; plain words and numbers may stand in it by chance."""
    for secret, kind in secrets.items():
        mixed = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
        if len(secret) >= _TOLD and (mixed or is_coined(secret)):
            text = text.replace(secret, f"[REDACTED:{kind}]")
    return text


def take_echoes(reply: str, secrets: "dict[str, str]") -> str:
    """A reply without the secrets of the message that it answers: there a plain word or a number is no chance."""
    kinds = {secret.lower(): kind for secret, kind in secrets.items()}
    words = (f"(?<![a-z0-9_]){re.escape(secret)}(?![a-z0-9_])" for secret in sorted(kinds, key=len, reverse=True))
    pattern = re.compile("|".join(words), re.IGNORECASE)
    return pattern.sub(lambda echo: f"[REDACTED:{kinds.get(echo[0].lower(), 'secret')}]", reply) if kinds else reply


def take_from_line(
    text: str, before: "Sequence[tuple[bool, str]]", told: "dict[str, str]"
) -> "tuple[str, dict[str, str]]":
    """A line of a talk without its secrets, those that answer the lines before it among them; and the secrets.

    Args:
        before: as `take_answer` reads them; none for a line of anybody but the user.
        told: the secrets of the last line, which this one may repeat.
    """
    text = take_echoes(text, told)
    return take_answer(text, before if may_answer(text) else ())


def clear_cache() -> None:
    """Let go of the last texts in which there was no secret."""
    _clean.clear()


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


def _found_in_readings(text: str, since: int = 0) -> "Iterable[Span]":
    """What is found in a text as it is shown: without what is not seen, and with tokens that a line's end cuts in two.

    Args:
        since: from where on it is asked for words that are likely secrets.
    """
    hides = any(map(text.__contains__, _UNSEEN_SIGNS))
    unseen = _UNSEEN if hides else _COLOUR if "[" in text or "\x1b" in text else ""
    shown, at = _without(unseen, text) if unseen else (text, None)
    spans = [*_found(shown, since if at is None else 0)]
    if "\n" in shown:
        joined, seams = _without(_SEAM, shown)
        if seams is not None:
            spans += _stood(_found_tokens(joined, _find_beginnings(lower := joined.lower()), lower), seams)
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


def _found_tokens(text: str, beginnings: "set[str]", lower: str) -> "Iterator[Span]":
    dense = text if len(text) < _SHORT else " ".join(compiled(_LONG).findall(text))  # no token is a short word
    ranks = _present(_TOKEN_MARKS, beginnings, dense) | _present(_PROVIDER_MARKS, beginnings, lower)
    if _KEY in text:
        ranks |= _KEY_RANKS
    for rank in sorted(ranks):
        yield from _shaped(text, text, rank)
    if max(map(len, dense.split()), default=0) >= _ENCODED:
        for match in compiled(_BASE64).finditer(text):
            if _encoded(match[0]):
                yield *match.span(), len(_RULES), "encoded"


def _found(text: str, since: int) -> "Iterator[Span]":
    lower = text.lower()
    if len(lower) != len(text):  # one letter, İ, would become two
        lower = text.replace("İ", "i").lower()
    beginnings = _find_beginnings(lower)
    yield from _found_tokens(text, beginnings, lower)
    places = _present(_PLACE_MARKS, beginnings, lower)
    if sum(map(lower.count, "0123456789")) >= _CARD_DIGITS:
        places.add(_CARD_RANK)
    for rank in sorted(places):
        yield from _shaped(text, lower, rank)
    for start, end in _found_seeds(lower):
        yield start, end, len(_RULES), "seed"

    names = find_names(lower, beginnings)
    for start, end in (*_found_in_tables(text, lower, names), *find_likely(text, lower, names, since)):
        yield start, end, len(_RULES) + 1, _kind_of(text[start:end])


def _found_in_tables(text: str, lower: str, names: "list[tuple[int, int]]") -> "Iterable[tuple[int, int]]":
    if not names or "\n" not in text:
        return ()
    from insula.redaction.tables import find_below_labels, find_in_tables

    return (*find_in_tables(text, lower, names), *find_below_labels(text, lower, names))


def _kind_of(value: str) -> str:
    return "code" if value.isdigit() else "token" if len(value) >= _LONG_VALUE and is_token(value) else "password"


def _found_seeds(lower: str) -> "Iterator[tuple[int, int]]":
    """Where twelve words in a row, or more, may be those of a wallet.

    They all stand in the list of BIP 39, in lists and with numbers too; or they stand apart, as many and as long as
    those of a wallet in any language.
    """
    if lower.count(" ") + lower.count("\n") + lower.count(",") < _SEED - 1:
        return
    for run in compiled(_WORDS).finditer(lower):
        row: list[Match] = []
        for word in (*compiled(_ONE_WORD).finditer(lower, *run.span()), None):
            if word is not None and word[0] in seed_words():
                row.append(word)
            else:
                if len(row) >= _SEED and len({word[0] for word in row}) >= _DISTINCT:
                    yield row[0].start(), row[-1].end()
                row = []
        if is_seed_of_any(run[0]) and _stands_apart(lower, *run.span()):
            yield run.span()


def _stands_apart(lower: str, start: int, end: int) -> bool:
    """Whether words end their line, behind a sign or a word of one or two letters."""
    before = compiled(_BEFORE_WALLET).search(lower, max(0, start - _NEAR_WALLET), start)
    return before is not None and compiled(_BEHIND_WALLET).match(lower, end) is not None


def _shaped(text: str, haystack: str, rank: int) -> "Iterator[Span]":
    kind, marks, test, pattern = _RULES[rank]
    rule = compiled(pattern, marks)
    for match in rule.finditer(haystack):
        start, end = match.span("s" if "s" in rule.groupindex and match["s"] else 0)
        if _passes(test, text[start:end]) and (kind == "private_key" or not is_filler(text[start:end])):
            yield start, end, rank, kind


def _passes(test: str, value: str) -> bool:
    if test[:1].isdigit():
        return test == "0" or is_dense_in(float(test), value)
    return not test or VALUES[test](value)


def _merged(spans: "Iterable[Span]") -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            start, end, rank, kind = merged[-1]
            merged[-1] = (start, max(end, span[1]), *min((rank, kind), span[2:]))
        else:
            merged.append(span)
    return merged


def _within_strings(text: str, spans: "Iterable[Span]") -> "Iterator[Span]":
    """Some spans so that what is JSON stays it: none goes over the end of a string, nor cuts an escape in two."""
    for first, last, rank, kind in spans:
        for piece in compiled(_STRING_PART).finditer(text, first, last) if '"' in text[first:last] else (None,):
            start, end = piece.span() if piece else (first, last)
            if escape := compiled(_HALF_ESCAPE).search(text, max(0, start - _ESCAPED), start):
                start = escape.start("s")
            if escape := compiled(_HALF_ESCAPE).search(text, max(start, end - _ESCAPED), end):
                end = escape.start("s") if escape["s"] == "\\" else end
            if start < end:
                yield start, end, rank, kind


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
    r"|(?:\x1b|\^\[|\\(?:[xX]1[bB]|033|e|u001[bB]))\[[?\d;:]{0,40}[A-Za-z]|\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m(?!\])|\[K(?!\]))"
)
"""As a terminal gets it, as a program writes it down, and as it stands where the escape character was taken out."""
_UNSEEN_SIGNS = (*"\u00ad\u200b\u200c\u2060\ufeff", "\\_")
_UNSEEN = _COLOUR + r"|[\u00ad\u200b\u200c\u2060\ufeff]|\\(?=_\w)"
"""Colours, signs without a width, as chats put them into long words, and the backslash of Markdown before a sign."""
_SEAM = (
    r"""(?:(?<=[\w+/=.-]{8})|(?<=_|-))["']?[ \t]*[+\\=^`⏎↵↩…|]?[ \t]*\r?\n[ \t>|+#]*["']?"""
    r"""(?=[\w+/=.-]{8})(?=[\w+/=.-]*\d|[a-z]*[A-Z]+[a-z]+[A-Z])"""
)
"""The end of a line between two pieces that may be one token: the next has a digit, or capitals in its midst."""
_GOES_ON = (
    r"""(?<=[\w+/=.~\\^`-]{10})["']?[ \t]*[+\\=^`⏎↵↩…|]?[ \t]*\r?\n[ \t>|+#]*["']?"""
    r"""(?P<s>(?=[\w+/.~-]*(?:\d|=|[a-z][A-Z]))[\w+/.~-]{2,}={0,2})["']?[;,]?[ \t]*[+\\=^`⏎↵↩…|]?[ \t]*(?=\r?\n|\Z)"""
)
_STRING_PART = r'[^"]*\w[^"]*'
"""What of a row of quoted values is one of them."""
_HALF_ESCAPE = r"(?<!\\)(?:\\\\)*(?P<s>\\(?:u[\da-fA-F]{0,3})?)\Z"
"""An escape of JSON that what follows goes on with."""
_ESCAPED = 40
"""Characters before a place in which it is sought."""
_VERSIONED = r"[A-Z]?[a-z]+\d{1,3}$|[A-Z]{1,5}-?\d+$"  # `Windows11`, `TS2345`
_SEED = 12
"""Words of the shortest phrase of a wallet."""
_DISTINCT = 8
"""How many of them are different; chance repeats few."""
_LETTER = r"[a-zß-ÿœ\u0300-\u036f]"
_ONE_WORD = rf"{_LETTER}{{3,10}}"
_WORDS = (
    rf"(?<!{_LETTER}){_ONE_WORD}"
    rf"(?:[\s,;|\"'\[\]·/-]{{1,12}}(?:\d\d?[.):]?\s{{0,4}})?{_ONE_WORD}(?!{_LETTER})){{11,}}"
)
"""Twelve short words or more in a row, with numbers before them where it is a list."""
_BEFORE_WALLET = r"(?:[:=→>]\s*|(?<![^\W_])[^\W_]{1,2}[ ])[\"'“«]?\Z"
_BEHIND_WALLET = r"[\"'”»]?[ \t]*(?:\n|\Z)"
_NEAR_WALLET = 8
"""Characters that are looked at before the words of a wallet."""
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


def _index_marks(rules: "Sequence[Rule]", first: int) -> "Index":
    """The marks of rules and their ranks, by the first two characters: a text without these need not be searched.

    Both are in small letters, so that a text is read for these once.
    """
    index: Index = {}
    for rank, rule in enumerate(rules, first):
        for mark in rule[1].split(","):
            index.setdefault(mark[:2].lower(), []).append((mark, rank))
    return index


def _present(marks: "Index", beginnings: "set[str]", text: str) -> set[int]:
    """The ranks of the rules of which a mark stands in a text."""
    return {rank for beginning in beginnings for mark, rank in marks.get(beginning, ()) if mark in text}


def _find_beginnings(lower: str) -> "set[str]":
    """The beginnings of marks and of names that stand in a text."""
    return {*_BEGINNINGS.intersection(lower), *_BEGINNINGS.intersection(map(add, lower, lower[1:]))}


def _read_providers() -> "list[Rule]":
    """The rules of gitleaks: tokens of some two hundred providers, each with the bits of entropy that it asks for."""
    with open(__file__.replace("__init__.py", "providers.tsv"), encoding="utf-8") as file:  # noqa: PTH123
        return [line.split("\t") for line in file.read().splitlines()]


_SHAPES = [line.split(None, 3) for line in TOKENS.strip().splitlines()]
_OWN: "tuple[Rule, ...]" = (
    *((kind, marks, "", pattern) for kind, marks, _, pattern in _SHAPES),
    *((kind, marks, test, pattern) for kind, marks, _, pattern, test in PLACES),
)
_RULES = (*_OWN, *_read_providers())
_TOKEN_MARKS = _index_marks(_OWN[: len(_SHAPES)], 0)
_PLACE_MARKS = _index_marks(_OWN[len(_SHAPES) :], len(_SHAPES))
_PROVIDER_MARKS = _index_marks(_RULES[len(_OWN) :], len(_OWN))
_BEGINNINGS = frozenset((*_TOKEN_MARKS, *_PLACE_MARKS, *_PROVIDER_MARKS, *NAMES_BY_BEGINNING))
_KEY, _KEY_RANKS = "PRIVATE", {rank for rank, rule in enumerate(_OWN) if rule[1] == "PRIVATE"}
"""The mark of a key stands between blanks."""
_CARD_RANK, _CARD_DIGITS = len(_OWN) - 1, 13
"""A card has no mark but its digits, of which the shortest has so many."""
