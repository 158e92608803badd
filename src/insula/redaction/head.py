"""Secrets that no rule names, told by a small fitted head: what a word looks like, and what stands around it.

A logistic regression on hashed features of a word and its neighbourhood, fitted on the lines of
`benchmarks/insula_bench/secret_lines` by `python -m insula_bench.secrets --fit`. Words count by themselves and by their
class, which is the same for `say` and `sag`: a table stands for the sentence encoder (`word_classes` makes it of it).
It reads words near the name of a secret in any of some forty languages; in a short message each word that is no plain
one, and all of them where the message as a whole is likely to tell a secret. Standard library only: the hook runs it.
"""

import re
from functools import cache
from itertools import groupby, pairwise

from insula.redaction.values import is_trivial

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Span = tuple[int, int, float]

BITS, WORD_BITS = 18, 17
SCALE = 16
"""Weights are kept as whole numbers of sixteenths, each in a byte."""
POINT, POINT_WRITTEN, POINT_LONG = 2.0, -0.35, 3.5
"""Log-odds from which a word is taken for a secret: in talk, in a short text with signs of a program, in long ones."""
PHRASE_POINT = 3.0
"""The same for several words: an answer of two is seldom a secret."""
SHORT = 400
"""Characters of a message, in which words far from any name are read, too."""
BEFORE, AFTER = 48, 120
"""How far from a name words are read."""
LEFT, RIGHT = 40, 16
"""Characters that are looked at around a word."""
AROUND = 64
"""Characters around the parts of a long text in which its words are read."""
WORDS_LEFT, WORDS_RIGHT = 8, 4
"""Words and signs that are looked at around a word."""
RUN_POINT, RUN_LEAST = 5.0, 2
"""Log-odds, together, of the words that are one secret, and how many there are."""
_APART_AT_MOST = 3
"""How many places on the next of them stands at most."""
GATE, GATE_SHARE, GATE_LEAST, GATE_MOST = 0.5, 0.5, -5.0, 6.0
"""Log-odds that a message tells a secret: from where on each of its words is read; the share of them, between two
bounds, that counts for each word."""
_LINE = 100
"""Characters before a value in which it is told to be public."""
PIECE = 5
"""Characters of the pieces of words that are looked at before a word."""
NAMES = (
    "passw passp passc pass: pass= _pass pwd pw psk token secret api key auth cred login"
    " pin puk otp 2fa mfa tan code user -p bearer cookie sess seed wifi wlan vpn kennw"
    " schlüssel zugang tresor alarm contrase clave senha chave chiave clé mdp mot+de+passe"
    " parola jeton codice código 密 口令 码 钥 令牌 パス 暗証 コード キー トークン 合言葉"
    " 비밀 비번 인증 암호 키 парол пин код ключ токен hasło kod klucz wachtw toegang"
    " sleutel lösen adgang passord nøgle salasan koodi şifre anahtar كلمة السر المرور رمز"
    " كود עבור מפתח סיסמ קוד पासवर्ड कोड รหัส mật+khẩu mã sandi kunci heslo kód jelsz κωδικ"
    " лозинк lozink geslo slaptažod parole parool pasahitz գաղտն პაროლ পাসওয়ার্ড கடவு"
    " گذرواژ عبور нууц құпия nenosiri wagwoord lykilor facal"
)
"""What names a secret: near it words are read. Which of them is one is not decided here."""
NAMES_BY_BEGINNING: "dict[str, list[str]]" = {}
"""The same by their first two characters."""
for _name in NAMES.split():
    NAMES_BY_BEGINNING.setdefault(_name[:2], []).append(_name.replace("+", " "))
_ASCII, _BEYOND = r"!#-&(-;=?-[\]-_a-{}~", r"\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u024f\u0370-\u058f"
"""Characters of words, and those beyond ASCII, of which an expression takes four times as long to compile."""
_WORD = r"[^\W\d_\u3041-\u9fff]+|[\u3041-\u9fff]+|\d+|[^\w\s]|\n"
_ASSIGNED = r"[A-Z][A-Z_]+=|[A-Z][A-Z\d]*(?:_[A-Z\d]+){2,}$"
"""What is assigned to, and the name of a constant."""
_ASSIGNED_NAME = r"""(?<![\w-])(\w{3,40})["']?\s?[:=]\s?["']?$"""
_NAME_OF_ID = r"(?:I|^i|_i)d(?:$|[A-Z_])"
"""A name that says of a value that it is an id, at its head or its end."""
_BARCODE = (12, 13, 14)
"""Digits of what stands on a product: no code has as many."""
_COUNTED, _DIGITS_IN_ORDER = 6, "01234567890"
"""Digits of a number that counts up, as examples have it."""
_CMDLET = r"[A-Z][a-z]+-[A-Z][A-Za-z]+"
"""A command of PowerShell, where a command begins."""
_NUMBER = r"(?<![A-Za-z0-9])\d{3,8}(?![A-Za-z0-9])"
_PHRASES = (
    (  # several words between a sign and the end of their line: what a passphrase is written as, among other things
        ":→：>=",
        r"""(?:[:→：]|->|=(?=[ \t]?["']))[ \t]{0,2}["'“„«「]?(?=[^\s"'“„«「])([^\W\d_]+(?:[ ,]{1,2}[\w'’-]+){1,8})"""
        r"""[.!]?["'”“»」]?(?=[ \t]*(?:\n|$))""",
    ),
    (  # several words in quotes, or a few letters in those of Japanese, wherever they stand
        '"“„«「',
        r"""(?:["“„]|«\s?)([^\W\d_][\w'’-]*(?:[ ,]{1,2}[\w'’-]+){1,8})[.!]?(?:\s?»|["“”])|「([^「」\s]{2,24})」""",
    ),
    (  # three or four small numbers with a few words between them: what a dial is turned to, among other things
        tuple(f"{digit}{sign}" for digit in range(10) for sign in " ,-"),
        r"(?<![\w.,:])\d{1,2}(?:[ ,-]{1,2}(?:[^\W\d_]{1,10}[ ,]{1,2}){0,3}\d{1,2}){2,3}(?![\w.:])",
    ),
    (  # digits one by one or in a few groups, as a dial or a box has them, among other things
        tuple(f"{digit}{sign}" for digit in range(10) for sign in " .-"),
        r"(?<![\w.,:+/-])(?:[A-Z][ -])?\d(?:[ .-]\d){2,9}(?:[ -][A-Z])?[#*]?(?![\w-])"
        r"|(?<![\w.:+/-])(?:\d{2,4}(?:[ -]\d{2,4}){1,3}|\d[A-Z]-\d{2}-\d)(?![\w-])",
    ),
)
"""What several words or numbers that are one secret are written as, and the signs of which each needs one."""
_YEAR = r"19\d\d|20[0-4]\d"
_CODE = rf"\W?(?!(?:{_YEAR})\b)\d{{4,8}}\W*|[0-9a-f]{{32,}}"
"""A number that is no year, or what has the length of a key: in a message, they are read wherever they stand."""
_BEGINNINGS = ("0", "1Z", "age1", "pk_")
_TELLING = (
    r"0x[0-9a-fA-F]{40}|0[0-7][0-9A-HJKMNP-TV-Z]{24}|1Z[0-9A-Z]{16}|age1[02-9ac-hj-np-z]{40,}|pk_(?:live|test)_\w+"
)
"""What tells what it is, and no secret, and how it begins."""
_ADDRESS = r"(?:https?://)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/[^?#@]*"
_IPV6 = r"(?=.*::|(?:.*:){7})[\da-fA-F:]{4,}(?:/\d{1,3}|%\w+)?"
_ODD = r"\d|[a-z][A-Z]|[^\W\d_][!@#$%^&*+=?~_][^\W\d_]"
_IDEOGRAMS = "\u3000"
"""Where letters begin of which a few are a word or several."""
_HEX = "0123456789abcdefABCDEF-"
"""What is a commit or an id as often as a secret: read near a name alone."""
_NAME_OF_JSON = r"(?:\":|[\[,])\s*-?(?:\d+[.eE+-]*)*$"
_PUBLIC = (
    r"(?i)(?:\b(?:blob|tree|commit|parent|object) |\"(?:x|y|n|x5t)\"\s?:\s?\"|\bserial(?: ?number)?\s?[=:]\s?|\bpeer: "
    r"|\b(?:sha\d{3}-|h1:)[\w+/=]*|\burn:btih:|\b(?:md5|sha-?\d{1,3})(?:sum)?[ :=]{1,3}"
    r"|\b(?:public[ _-]?key(?:[ _-]token)?|revision|commit|digest|etag|trace|span|err(?:or)?[ _-]?code"
    r"|(?:cache|foreign|idempotency|partition|primary|sort)[ _-]?key)[\"'\s:=]{1,4}|\bid(?: is)?[:=]?\s"
    r"|fingerprint[\"'\s:=]{1,4}|\bgpg2? --\w+-keys? (?:\S+ )*"
    r"|(?:^|\n)[-dl][r-][w-][xsS-][rwxsStT-]{6}[^\n]*)$"
)
"""What stands before a value that anybody may know: the hash of an object or a file, an id, a public key, a file in a
list."""
_DUMPED = (
    r"[0-9a-f]{32,128} [ *]\S|[0-9a-f]{8}:? (?:[0-9a-f]{2,4} ){4}|\S{0,40}EXAMPLE(?:KEY)?\b"
    r"|(?:[A-Z][a-z]+){2,}(?:Error|Exception)\b"
)
"""A checksum before its file, a row of bytes behind its address, what documents of a provider show, an exception."""
_OPENING, _CLOSING = "([{*_~$,;:.!?#=@-/", ")]}*_~,;:.?"
_SEPARATORS, _ENDS = "=:/@,;%&", "@,;&/"
_CUTS = 6
"""How many separators of a word are tried."""
_LEAST, _MOST = 4, 256
_PROGRAM, _TALK_BLANKS = frozenset("/|=&$<>{}\\_"), 3
"""Signs that programs are written with and talk is not, and how many blanks a message has."""
_NEVER = "\0"
"""Stands for what cannot be in a text."""
_NEAR, _NEAR_KIND = "01222222", "01233333"
"""How near a word is by its place: the farther are alike."""
_SPREAD, _ODDS = 0x9E3779B1, 0x85EBCA6B
"""Numbers that spread a hash over the table (Knuth 1973; MurmurHash3)."""
_MIXED_IN = frozenset("0123456789!@#$%&*+=?~_")
"""What no plain word has."""
_INSIDE, _KIND, _PAIR = 0x15A5A, 0x2C3D1, 0x35B00
"""What sets features apart: of words that may be one of several, of kinds of words in a message, of two in a row."""
_MASK, _WORD_MASK = (1 << BITS) - 1, (1 << WORD_BITS) - 1


def _widen_parts(parts: "list[tuple[int, int]]") -> "Iterator[tuple[int, int]]":
    """Parts of a text with what stands around them, of which none begins before the last has ended."""
    done = 0
    for start, end in parts:
        yield max(done, start - AROUND), end + AROUND
        done = end + AROUND


def _split_by_class(word: str) -> "Iterator[str]":
    """A word, or the words that no blank parts: each the longest that has a class."""
    while len(word) > 1 and word[0] > _IDEOGRAMS:
        size = next((size for size in (4, 3, 2) if _has_class(word[:size])), 1)
        yield word[:size]
        word = word[size:]
    if word:
        yield word


def _has_class(word: str) -> bool:
    table = read_classes()
    place, check = find_place(word)
    return table[place] == check and table[place + 1] > 0


class Around:
    """What stands around the words of a text, read once for all of them: its words, and what kind of word each is."""

    def __init__(self, lower: str, parts: "list[tuple[int, int]]", *, is_message: bool) -> None:
        self.lower = lower
        self.is_message = is_message
        self.words: list[str]
        self._starts: list[int] = []
        self._about: dict[str, set[int]] = {}
        expression = _pattern(_WORD, lower.isascii() and _NEVER not in lower)
        if is_message:
            self.words = expression.findall(lower)
            if max(lower, default="") > _IDEOGRAMS:
                self.words = [part for word in self.words for part in _split_by_class(word)]
        else:
            found = [match for part in _widen_parts(parts) for match in expression.finditer(lower, *part)]
            self.words = [match[0] for match in found]
            self._starts = [match.start() for match in found]
        from binascii import crc32  # most commands hold no word that may be a secret

        encoded = " ".join(self.words).encode("utf-8", "replace").split(b" ")
        self.numbers = [*map(crc32, encoded)]
        table = read_classes()
        self.classes = [
            table[place + 1] if table[place := (number & _WORD_MASK) << 1] == number >> 24 else 0
            for number in self.numbers
        ]

    def read_starts(self) -> "list[int]":
        """Where each word begins: of most messages nobody asks."""
        if not self._starts:
            at = 0
            for word in self.words:
                at = self.lower.index(word, at)
                self._starts.append(at)
                at += len(word)
        return self._starts

    def find_between(self, start: int, end: int) -> "tuple[int, int]":
        """How many words begin before a span, and how many before its end."""
        from bisect import bisect_left  # most commands hold nothing that may be a secret

        starts = self.read_starts()
        first = bisect_left(starts, start)
        return first, bisect_left(starts, end, first)

    def list_message_features(self) -> "set[int]":
        """What is known of a message as a whole."""
        kinds = [number for number in self.classes if number]
        found = {number & _MASK for number in self.numbers}
        found.update([number ^ _KIND for number in kinds])
        found.update([(first << 8 | second) ^ _PAIR for first, second in pairwise(kinds)])
        return found

    def list_topic_features(self, form: str) -> "set[int]":
        """What a message is about, for a word of a form."""
        if form not in self._about:
            from binascii import crc32

            key = crc32(form.encode()) * _SPREAD
            words = {number for number, word in zip(self.numbers, self.words, strict=True) if word.isalpha()}
            kinds = {number for number in self.classes if number}
            found = {(number + key) * _ODDS >> 9 & _MASK for number in words}
            key += _SPREAD
            found.update([(number + key) * _ODDS >> 9 & _MASK for number in kinds])
            self._about[form] = found
        return self._about[form]


def find_likely(
    text: str, lower: str, names: "list[tuple[int, int]] | None" = None, since: int = 0
) -> "Iterator[tuple[int, int]]":
    """Where words stand that are likely secrets; of two that overlap the likelier.

    Args:
        lower: the same in small letters, as long as it.
        names: the names of secrets in it, where they are known.
        since: from where on; what stands before is read for what it says of them alone.
    """
    names = find_names(lower) if names is None else names
    taken = bytearray(len(text))
    for start, end, _ in sorted(_judged(text, lower, names, since), key=lambda span: -span[2]):
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            yield start, end


def _judged(text: str, lower: str, names: "list[tuple[int, int]]", since: int) -> "Iterator[Span]":
    is_long = len(text) > SHORT
    is_talk = not is_long and _PROGRAM.isdisjoint(text)
    if not names and (is_long or not (_pattern(_ODD).search(text) or (is_talk and text.count(" ") >= _TALK_BLANKS))):
        return
    weights = read_weights()
    around = Around(lower, find_near(names) if is_long else [(0, len(text))], is_message=not is_long)
    told = _sum(weights, around.list_message_features()) if is_talk else 0.0
    tells = told > GATE
    told = GATE_SHARE * min(GATE_MOST, max(GATE_LEAST, told))
    point = POINT_LONG if is_long else POINT if is_talk else POINT_WRITTEN
    for start, end in candidates(text, [(0, len(text))] if tells else find_near(names), since):
        if is_long and text[start + 1 : end].islower() and text[start:end].isalpha():
            continue  # beyond a message, a plain word is one
        odds = told + _sum(weights, list_word_features(text, (start, end), names, around))
        least = PHRASE_POINT if not is_long and _group_of(lower[start:end]) == "s" else point
        if odds > least and not _is_no_value(text, start, end):
            yield start, end, odds
    if tells and since == 0:
        yield from _find_runs(text, around, names, weights)


def _find_runs(text: str, around: Around, names: "list[tuple[int, int]]", weights: bytes) -> "Iterator[Span]":
    """Where several words of a message stand, near each other, each of which is likely a part of one secret."""
    run: list[Span] = []
    last = -_APART_AT_MOST
    for number, (start, word) in enumerate(zip(around.read_starts(), around.words, strict=True)):
        odds = (
            _sum(weights, list_part_features(text, (start, start + len(word)), names, around)) if word != "\n" else 0.0
        )
        if odds <= 0:
            continue
        if run and number - last > _APART_AT_MOST:
            yield from _join_run(run)
            run.clear()
        run.append((start, start + len(word), odds))
        last = number
    yield from _join_run(run)


def _join_run(run: "list[Span]") -> "Iterator[Span]":
    odds = sum(part for _, _, part in run)
    if len(run) >= RUN_LEAST and odds > RUN_POINT:
        yield run[0][0], run[-1][1], odds


def _sum(weights: bytes, found: "set[int]") -> float:
    return (sum(map(weights.__getitem__, found)) - 128 * len(found)) / SCALE


@cache
def _pattern(expression: str, is_ascii: bool = False) -> "re.Pattern[str]":
    """An expression, compiled; for texts in ASCII without what is beyond it, which takes a third of the time."""
    return re.compile("".join(char if char.isascii() else _NEVER for char in expression) if is_ascii else expression)


@cache
def read_weights() -> bytes:
    """The weight of each feature, 128 more than it is."""
    with open(__file__.replace("head.py", "head.bin"), "rb") as file:  # noqa: PTH123 `pathlib` costs the hook
        return file.read()


@cache
def read_classes() -> bytes:
    """Of each place of words a check and the class; see `benchmarks/insula_bench/word_classes.py`."""
    with open(__file__.replace("head.py", "words.bin"), "rb") as file:  # noqa: PTH123 `pathlib` costs the hook
        return file.read()


def find_place(word: str) -> "tuple[int, int]":
    """Where the class of a word stands, and the check that stands before it."""
    from binascii import crc32

    number = crc32(word.encode("utf-8", "replace"))
    return (number & _WORD_MASK) << 1, number >> 24


def find_names(lower: str, beginnings: "Iterable[str] | None" = None) -> "list[tuple[int, int]]":
    """Where the names of secrets stand in a text, in the order of their ends.

    Args:
        beginnings: the beginnings of names that stand in it, where they are known.
    """
    names: list[tuple[int, int]] = []
    for beginning in NAMES_BY_BEGINNING if beginnings is None else beginnings:
        for name in NAMES_BY_BEGINNING.get(beginning, ()):
            at = lower.find(name)
            while at >= 0:
                names.append((at + len(name), at))
                at = lower.find(name, at + 1)
    return sorted(names)


def find_near(names: "list[tuple[int, int]]") -> "list[tuple[int, int]]":
    """The parts of a text that stand near a name."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((begin - BEFORE, begin + AFTER) for _, begin in names):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def candidates(text: str, near: "list[tuple[int, int]]", since: int = 0) -> "Iterator[tuple[int, int]]":
    """The words of a text that may be secrets: whole, and what stands in them behind a sign that may be a separator.

    Args:
        near: the parts of the text in which plain words are read, too.
        since: where the first of them may begin.
    """
    seen: set[tuple[int, int]] = set()
    parts = iter(near)
    part = next(parts, None)
    is_talk = len(text) <= SHORT and (len(text.split(None, 2)) > 1 or not text.isascii())
    for chunk in _pattern(f"[{_ASCII}{'' if text.isascii() else _BEYOND}]+").finditer(text, since):
        start, end = chunk.span()
        while part and part[1] <= start:
            part = next(parts, None)
        if text[start - 1 : start] == "\\" or (":" in chunk[0] and _pattern(_IPV6).fullmatch(chunk[0])):
            continue  # the rest of an escape; an address
        if (part is None or part[0] >= end) and not (is_talk and _is_odd(chunk[0])):
            continue
        for piece in _pieces(text, start, end):
            first, last = _trimmed(text, *piece)
            if (first, last) not in seen and _may_be_secret(text[first:last]):
                seen.add((first, last))
                yield first, last
    if len(text) <= SHORT:
        for phrase in _phrases(text):  # the sign may stand before
            if phrase[0] >= since and phrase not in seen:
                seen.add(phrase)
                yield phrase


def _phrases(text: str) -> "Iterator[tuple[int, int]]":
    """Several words or numbers of a message that may be one secret."""
    within = text.isascii() and _NEVER not in text
    for signs, expression in _PHRASES:
        if any(map(text.__contains__, signs)):
            for phrase in _pattern(expression, within).finditer(text):
                yield phrase.span(phrase.lastindex or 0)


_BELOW_ROOT = r"(?:^|[\s\"'=:(`])/(?:etc|home|mnt|opt|private|root|srv|tmp|usr|Users|var)/(?:[\w.@+-]{1,64}/){0,12}$"
"""The way to a file below a folder that every system has."""


def _is_no_value(text: str, start: int, end: int) -> bool:
    """Whether it is a year, a variable, a placeholder, public, of a path or a certificate, or a number in JSON."""
    before = max(0, start - _LINE)
    if _pattern(_PUBLIC).search(text, before, start) or _pattern(_DUMPED).match(text, start):
        return True
    value = text[start:end]
    first, slash, _ = value.partition("/")
    way = text[before:start] + (first + slash if slash else "")
    if text[start - 1 : start] == "/" and _pattern(_BELOW_ROOT).search(way):
        return True  # `/tmp/tmpw1cx2zoq/a.ts`
    if text[start - 1 : start] == "/" and not value.strip(_HEX):
        return True  # `GET /api/orders/9f86d081884c7d65`
    if _tells_what_it_is(value):
        return True
    name = _pattern(_ASSIGNED_NAME).search(text, max(0, start - _LINE), start)
    if name and f"_{name[1].lower()}" in value.lower() and value.replace("_", "").isalpha():
        return True  # `PASSWORD=your_password`
    if name and _pattern(_NAME_OF_ID).search(name[1]) and not value.strip(_HEX) and not find_names(name[1].lower()):
        return True  # `traceId=9f86…`
    if _pattern(_CMDLET).fullmatch(value) and text[:start].endswith(("; ", "| ", "& ")):
        return True
    if _pattern(_YEAR).fullmatch(value) or (value.isdigit() and len(value) in _BARCODE):
        return True
    if len(value) >= _COUNTED and value in _DIGITS_IN_ORDER:
        return True
    if not value.strip("0123456789.eE+-"):
        if "e+" in value or "e-" in value:
            return True  # `6.7e+208`
        return _pattern(_NAME_OF_JSON).search(text[max(0, start - 24) : start]) is not None
    block = text.rfind("-----BEGIN ", 0, start)
    return (
        is_trivial(value)
        or _pattern(_ASSIGNED).match(value) is not None
        or (block >= 0 and text.find("-----END ", block, start) < 0)
    )


def _is_odd(word: str) -> bool:
    return (
        _pattern(_ODD).search(word) is not None
        and (word.removeprefix("0x").strip(_HEX) != "" or _pattern(_CODE).fullmatch(word) is not None)
        and not _tells_what_it_is(word.strip(_OPENING + _CLOSING))
    )


def _tells_what_it_is(word: str) -> bool:
    """Whether a word is no secret by its form: a ULID, a parcel, a public key, an address of a chain or of the web."""
    host, slash, _ = word.partition("/")
    may_be_address = slash and ("." in host or host[-1:] == ":")
    return bool(
        (may_be_address and _pattern(_ADDRESS).fullmatch(word))
        or (word.startswith(_BEGINNINGS) and _pattern(_TELLING).fullmatch(word))
    )


def _may_be_secret(value: str) -> bool:
    return _LEAST <= len(value) <= _MOST or (len(value) == _LEAST - 1 and value.isdigit())


def _pieces(text: str, start: int, end: int) -> "Iterator[tuple[int, int]]":
    yield start, end
    if end - start > _LEAST:
        for at in [at for at in range(start, end) if text[at] in _SEPARATORS][:_CUTS]:
            yield at + 1, end
            if closing := next((later for later in range(at + 1, end) if text[later] in _ENDS), None):
                yield at + 1, closing
    for number in _pattern(_NUMBER).finditer(text, start, end):
        yield number.span()


def _trimmed(text: str, start: int, end: int) -> "tuple[int, int]":
    while start < end and text[start] in _OPENING:
        start += 1
    while start < end and text[end - 1] in _CLOSING:
        end -= 1
    return start, end


def list_word_features(
    text: str, span: "tuple[int, int]", names: "list[tuple[int, int]]", around: Around
) -> "set[int]":
    """What is known of a word, each feature as the number of its weight.

    Args:
        span: where the word begins, and where it has ended.
    """
    from binascii import crc32  # most commands hold no word that may be a secret

    start, end = span
    lower = around.lower
    form, found = _look(text[start:end], lower[start:end])
    group = _group_of(lower[start:end])
    before, behind = around.find_between(start, end)
    found += _before(around, start, before, form, group)
    found += _behind(around, end, behind, form, group)
    found += _named(lower, span, names, form)
    found += [f"L{group}{lower[at : at + PIECE]}" for at in range(max(0, start - LEFT), start - PIECE + 1)]
    numbers = {number & _MASK for number in map(crc32, "\0".join(found).encode("utf-8", "replace").split(b"\0"))}
    if around.is_message:
        numbers |= around.list_topic_features(form[:2])
    return numbers


def list_part_features(
    text: str, span: "tuple[int, int]", names: "list[tuple[int, int]]", around: Around
) -> "set[int]":
    """What is known of a word that may be one of several which are one secret."""
    return {number ^ _INSIDE for number in list_word_features(text, span, names, around)}


def _named(lower: str, span: "tuple[int, int]", names: "list[tuple[int, int]]", form: str) -> list[str]:
    """How far before a word, or behind it, a name stands, whatever its language, and what stands between."""
    if not names:
        return ["N-"]
    from bisect import bisect_right  # most commands hold no name

    last = bisect_right(names, (span[0], span[0])) - 1
    end = names[last][0] if last >= 0 else -1
    distance = span[0] - end
    if end < 0 or distance > AFTER:
        found = ["N-"]
    else:
        between = lower[end : span[0]]
        signs = "".join(sorted(char for char in {*between} if not char.isalnum() and not char.isspace()))[:3]
        step = min(6, distance.bit_length())
        count = min(4, len(between.split()))
        found = [f"N{step}", f"N{step}{form}", f"Nc{count}{form}", f"Ns{signs}", f"Ns{signs}{form}"]
        name = lower[names[last][1] : end]
        found += (f"Nn{name}{signs}", f"Nn{name}{step}", f"Nn{name}{form}", f"Nn{name}{signs}{form}")
    if last + 1 < len(names) and names[last + 1][1] - span[1] < RIGHT and names[last + 1][1] >= span[1]:
        found += ("Nr", f"Nr{form}")
    return found


def _group_of(plain: str) -> str:
    """What kind of word it is: what stands around numbers says little of plain words, which are a hundred to one."""
    if not plain.strip("0123456789 .#*-"):
        return "9"
    if " " in plain or plain[-1] > _IDEOGRAMS:
        return "s"
    return "a" if _MIXED_IN.isdisjoint(plain) else "o"


def _look(value: str, plain: str) -> "tuple[str, list[str]]":
    """The form of a word, which other features are joined with, and the features of the word alone."""
    length, shape = len(value), _shape(value)
    size = str(length) if length < 10 else f"{length // 4 * 4}-" if length < 44 else "L"
    kinds = "".join(sorted(set(shape)))
    form = kinds + ("s" if length < 8 else "m" if length < 16 else "l" if length < 28 else "x")
    found = ["b", f"s:{shape[:10]}", f"c:{form}", f"n:{size}", f"cn:{kinds}{size}", f"k:{len(shape)}"]
    found += (f"u:{min(9, len(set(plain)))}", f"v^{plain[:3]}", f"v${plain[-3:]}")
    if not plain.strip("0123456789abcdef-"):
        found.append(f"hex{size}")
    found += [f"v{plain[at : at + 3]}" for at in range(min(length, 24) - 2)]
    return form, found


def _before(around: Around, start: int, at: int, form: str, group: str) -> list[str]:
    """Words and pieces of words before it, near and farther, alone and with its form."""
    left = around.lower[max(0, start - 12) : start]
    found = [f"l3{left[-3:]}", f"ls{left[-1:]}{form}"]
    first = max(0, at - WORDS_LEFT)
    words, classes = around.words[first:at][::-1], around.classes[first:at][::-1]
    for place, whole in enumerate(words):
        word, near = whole[:12], _NEAR[place]
        found += (f"w{near}{group}{word}", f"W{group}{word}")
        if place < 4:
            found.append(f"x{form}{word}")
        if len(word) > 5:
            found += (f"p{group}{word[:5]}", f"q{group}{word[-5:]}")
        if kind := classes[place]:
            found += (f"c{_NEAR_KIND[place]}{group}{kind}", f"C{group}{kind}")
    if len(words) > 1:
        found += (f"ww{group}{words[0]}_{words[1]}", f"cc{group}{classes[0]}_{classes[1]}")
    if len(words) > 2:
        found += (f"www{words[0]}_{words[1]}_{words[2][:8]}", f"ccc{group}{classes[0]}_{classes[1]}_{classes[2]}")
    if not left.isascii():  # where no blanks part words
        sizes = ((at, at + size) for size in (2, 3, 4) for at in range(len(left) - size + 1))
        found += [f"l{group}{left[at:end]}" for at, end in sizes]
    return found


def _behind(around: Around, end: int, at: int, form: str, group: str) -> list[str]:
    right = around.lower[end : end + RIGHT]
    found = [f"r3{right[:3]}", f"rs{right[:1]}{form}"]
    words = around.words[at : at + WORDS_RIGHT]
    for place, word in enumerate(words):
        near = _NEAR[place]
        found += (f"R{near}{group}{word[:10]}", f"RR{group}{word[:6]}", *([] if place else [f"xr{form}{word[:8]}"]))
        if kind := around.classes[at + place]:
            found += (f"d{near}{group}{kind}", f"D{group}{kind}")
    if len(words) > 1:
        found.append(f"dd{group}{around.classes[at]}_{around.classes[at + 1]}")
    return found


def _shape(value: str) -> str:
    """The kinds of characters in a row, each once: `Aa9!` for `Hunter22!`."""
    return "".join(kind for kind, _ in groupby(map(_kind, value[:64])))


@cache
def _kind(char: str) -> str:
    if char.isalnum():
        return "9" if char.isdigit() else "A" if char.isupper() else "a"
    return "-" if char in "-_" else char if char in "./:@" else "!"
