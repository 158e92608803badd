"""Secrets that no rule names, told by a small fitted head: what a word looks like, and what stands around it.

A logistic regression on hashed features of a word and its neighbourhood, fitted on the lines of
`benchmarks/insula_bench/secret_lines` by `python -m insula_bench.secrets --fit`. It reads words near the name of a
secret in any of some forty languages, and in a short message each word that is no plain one. Standard library only: the
hook runs it.
"""

import re
from functools import cache

from insula.redaction.values import is_trivial

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, float]

BITS = 18
SCALE = 16
"""Weights are kept as whole numbers of sixteenths, each in a byte."""
POINT, POINT_LONG = 0.0, 3.5
"""Log-odds from which a word is taken for a secret, in what is as short as a message, and in code and logs."""
PHRASE_POINT = 3.0
"""The same for several words: an answer of two is seldom a secret."""
SHORT = 400
"""Characters of a message, in which words far from any name are read, too."""
BEFORE, AFTER = 48, 120
"""How far from a name words are read."""
LEFT, RIGHT = 40, 16
"""Characters that are looked at around a word."""
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
_NAMES = tuple(name.replace("+", " ") for name in NAMES.split())
_ASCII, _BEYOND = r"!#-&(-;=?-[\]-_a-{}~", r"\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u024f\u0370-\u058f"
"""Characters of words, and those beyond ASCII, of which an expression takes four times as long to compile."""
_WORD = r"[^\W\d_]+|\d+|[^\w\s]|\n"
_ASSIGNED = r"[A-Z][A-Z_]+=|[A-Z][A-Z\d]*(?:_[A-Z\d]+){2,}$"
"""What is assigned to, and the name of a constant."""
_ASSIGNED_NAME = r"""(?<![\w-])(\w{3,40})["']?\s?[:=]\s?["']?$"""
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
)
"""What several words or numbers that are one secret are written as, and the signs of which each needs one."""
_YEAR = r"19\d\d|20[0-4]\d"
_CODE = rf"\W?(?!(?:{_YEAR})\b)\d{{4,8}}\W*|[0-9a-f]{{32,}}"
"""A number that is no year, or what has the length of a key: in a message, they are read wherever they stand."""
_BEGINNINGS = ("0", "1Z", "age1", "pk_")
_TELLING = r"0[0-7][0-9A-HJKMNP-TV-Z]{24}|1Z[0-9A-Z]{16}|age1[02-9ac-hj-np-z]{40,}|pk_(?:live|test)_\w+"
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
    r"|\bpublic[ _-]?key[\"'\s:=]{1,4}|fingerprint[\"'\s:=]{1,4}|(?:^|\n)[-dl][r-][w-][xsS-][rwxsStT-]{6}[^\n]*)$"
)
"""What stands before a value that anybody may know: the hash of an object or a file, a public key, a file in a list."""
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
_MASK = (1 << BITS) - 1
_NEVER = "\0"
"""Stands for what cannot be in a text."""


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
    point = POINT if len(text) <= SHORT else POINT_LONG
    if not names and (len(text) > SHORT or not _pattern(_ODD).search(text)):
        return
    weights = read_weights()
    pieces: dict[int, int] = {}
    is_long = len(text) > SHORT
    message = () if is_long else read_message(lower)
    for start, end in candidates(text, find_near(names), since):
        if is_long and text[start + 1 : end].islower() and text[start:end].isalpha():
            continue  # beyond a message, a plain word is one
        found = features(text, lower, (start, end), names, pieces, message)
        odds = (sum(map(weights.__getitem__, found)) - 128 * len(found)) / SCALE
        is_phrase = " " in text[start:end] or text[end - 1] > _IDEOGRAMS
        if odds > (PHRASE_POINT if is_phrase else point) and not _is_no_value(text, start, end):
            yield start, end, odds


@cache
def _pattern(expression: str, is_ascii: bool = False) -> "re.Pattern[str]":
    """An expression, compiled; for texts in ASCII without what is beyond it, which takes a third of the time."""
    return re.compile("".join(char if char.isascii() else _NEVER for char in expression) if is_ascii else expression)


@cache
def read_weights() -> bytes:
    """The weight of each feature, 128 more than it is."""
    with open(__file__.replace("head.py", "head.bin"), "rb") as file:  # noqa: PTH123 `pathlib` costs the hook
        return file.read()


def find_names(lower: str) -> "list[tuple[int, int]]":
    """Where the names of secrets stand in a text, in the order of their ends."""
    names: list[tuple[int, int]] = []
    for name in _NAMES:
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
    is_talk = len(text) <= SHORT and len(text.split(None, 2)) > 1
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


def read_message(lower: str) -> "tuple[str, ...]":
    """The words of a short message, each once: what it is about."""
    return tuple({word[:10] for word in _pattern(r"[^\W\d_]{3,}").findall(lower)})


def _is_no_value(text: str, start: int, end: int) -> bool:
    """Whether it is a year, a variable, a placeholder, public, a part of a certificate, or a number in JSON."""
    if _pattern(_PUBLIC).search(text, max(0, start - _LINE), start) or _pattern(_DUMPED).match(text, start):
        return True
    value = text[start:end]
    name = _pattern(_ASSIGNED_NAME).search(text, max(0, start - _LINE), start)
    if name and f"_{name[1].lower()}" in value.lower() and value.replace("_", "").isalpha():
        return True  # `PASSWORD=your_password`
    if _pattern(_CMDLET).fullmatch(value) and text[:start].endswith(("; ", "| ", "& ")):
        return True
    if _pattern(_YEAR).fullmatch(value):
        return True
    if not value.strip("0123456789.eE+-"):
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
    """Whether a word is no secret by its form: a ULID, a parcel, a public key of two makers, an address of the web."""
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


def features(
    text: str,
    lower: str,
    span: "tuple[int, int]",
    names: "list[tuple[int, int]]",
    pieces: "dict[int, int]",
    message: "tuple[str, ...]",
) -> "set[int]":
    """What is known of a word, each feature as the number of its weight.

    Args:
        span: where the word begins, and where it has ended.
        pieces: the features of the pieces of the text by where they begin; words that are near each other share them.
        message: the words of a short message, as `read_message` reads them.
    """
    from binascii import crc32  # most commands hold no word that may be a secret

    start, end = span
    left, right = lower[max(0, start - LEFT) : start], lower[end : end + RIGHT]
    form, found = _look(text[start:end], lower[start:end])
    found += _before(left, form)
    found += _behind(right, form)
    found += _named(lower, span, names, form)
    found += [f"m{form[:2]}{word}" for word in message]
    numbers = {crc32(feature.encode("utf-8", "replace")) & _MASK for feature in found}
    for at in range(max(0, start - LEFT), start - PIECE + 1):
        if at not in pieces:
            pieces[at] = crc32(f"L{lower[at : at + PIECE]}".encode("utf-8", "replace")) & _MASK
        numbers.add(pieces[at])
    return numbers


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
        signs = "".join(sorted({char for char in between if not char.isalnum() and not char.isspace()}))[:3]
        step = min(6, distance.bit_length())
        count = min(4, len(between.split()))
        found = [f"N{step}", f"N{step}{form}", f"Nc{count}{form}", f"Ns{signs}", f"Ns{signs}{form}"]
        name = lower[names[last][1] : end]
        found += (f"Nn{name}{signs}", f"Nn{name}{step}", f"Nn{name}{form}", f"Nn{name}{signs}{form}")
    if last + 1 < len(names) and names[last + 1][1] - span[1] < RIGHT and names[last + 1][1] >= span[1]:
        found += ("Nr", f"Nr{form}")
    return found


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


def _before(left: str, form: str) -> list[str]:
    """Words and pieces of words before it, near and farther, alone and with its form."""
    found = [f"l3{left[-3:]}", f"ls{left[-1:]}{form}"]
    words = [word[:12] for word in _pattern(_WORD).findall(left)[:-8:-1]]
    for place, word in enumerate(words):
        found += (f"w{min(place, 2)}{word}", f"W{word}")
        if place < 4:
            found.append(f"x{form}{word}")
        if len(word) > 5:
            found += (f"p{word[:5]}", f"q{word[-5:]}")
    if len(words) > 1:
        found.append(f"ww{words[0]}_{words[1]}")
    if len(words) > 2:
        found.append(f"www{words[0]}_{words[1]}_{words[2][:8]}")
    if not (last := left[-12:]).isascii():  # where no blanks part words
        found += [f"l{last[at : at + size]}" for size in (2, 3, 4) for at in range(len(last) - size + 1)]
    return found


def _behind(right: str, form: str) -> list[str]:
    found = [f"r3{right[:3]}", f"rs{right[:1]}{form}"]
    for place, word in enumerate(_pattern(_WORD).findall(right)[:2]):
        found += (f"R{place}{word[:10]}", f"RR{word[:6]}", *([] if place else [f"xr{form}{word[:8]}"]))
    return found


def _shape(value: str) -> str:
    """The kinds of characters in a row, each once: `Aa9!` for `Hunter22!`."""
    kinds = [_kind(char) for char in value[:64]]
    return "".join(kind for kind, before in zip(kinds, ["", *kinds[:-1]], strict=True) if kind != before)


def _kind(char: str) -> str:
    if char.isalnum():
        return "9" if char.isdigit() else "A" if char.isupper() else "a"
    return "-" if char in "-_" else char if char in "./:@" else "!"
