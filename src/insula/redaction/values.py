"""What a value must look like to be a secret: tests that the registry of shapes names, each of a text alone."""

import re
from functools import cache

from insula.redaction.shapes import FORMS, PARTS, STATES

_BEGINS = r"MARK(?:(?<![\w-]MARK)|(?<=\\[nrt]MARK)|(?<=%[0-9A-Fa-f]{2}MARK)|(?<=_MARK)(?<![^\s*(]_MARK))"
_REFERENCE = (  # a variable, an element, a test, a path, a sequence, an algorithm's name: nothing is hidden in it
    r"[<{(\[|:]|[a-z_]\w*\[\d{1,3}\]?$|test_[a-z]\w*$|[a-z_]\w*\.[a-z_]\w*\(|aaaa[bce]3nza|ssh-(?:rsa|ed25519|dss)|\.[*+]|(?:file|env|fd|arn|op|vault):|\$[a-z_{(]|\$\d$|%[a-z({]|[@!][a-z_]+$|#\{|\*\*|\d?1234567\d*$|abcdef\w*$"
    r"|(?:[a-z]:|~|\.{0,2})[/\\][\w.@~+-]+(?:[/\\.]|$)"
    r"|(?:sha|md|utf|base|[rhep]s|oauth|argon|aes|rsa|bcrypt|ipv|v|gpt)[-_]?\d+[a-z-]{0,9}$"
)
_PLACEHOLDER = r"example|your|placeholder|change[_-]?me|dummy|sample|redacted|replace|xxx|\*\*\*|\.\.\.|…|•|://"
_STANDS_FOR_ANOTHER = r"(?i)example|placeholder|change[_-]?me|redacted|replace|your[a-z_-]|x{4}|(.)\1{7}"
"""What a token or a value of a place says where it is to be filled in: by chance one in 20,000 tokens does."""
_EMPTY_WORDS = (
    " pass password passwd passwort kennwort contraseña senha secret token key string text none null undefined true"
    " false required optional default value test hidden plaintext hashed bearer basic "
)
_WORDY = r"[A-Za-z]+\d?$|{PIECE}(?:[-_./:@ ]+{PIECE})+$"  # `linux-build-v2`
_MIXED = r"(?=[^A-Za-z\u00c0-\u04ff]*[A-Za-z\u00c0-\u04ff])(?=[^\d!@#$%^&*+=?~]*[\d!@#$%^&*+=?~])|\d{6,}$"
"""Letters with a digit or a sign, as in `hunter2` and `p@ss`, or a number as in `123456`."""
_COINED = (
    r"(?=.*[A-Z\u00c0-\u00de\u0410-\u042f]){WORD}(?:[-_.,]{WORD})+$|{WORD}(?:[-_](?!(?:to|of|by|and|on|in|per|the|a|or)[-_]){WORD}){2,}$"
    r"|[\dA-Za-z\u00c0-\u024f]*[a-z\u00df-\u024f][A-Z\u00c0-\u00de][\dA-Za-z\u00c0-\u024f]*$"
)
_IS_NAME = (
    r"[A-Z\d]+(?:_[A-Z\d]+)+$|[^@]*@\S+\.\w+$|.*\.[a-z]{2,4}$"
    r"|[a-z\d]+(?:_[a-z\d]+)+$(?=.*(?:pass|token|key|secret|user|name|id|file|db))"
)
"""What joins words and is no password: a variable of the environment, an address, the name of a file or a column."""
_WALLETS = (12, 15, 18, 21, 24)
"""How many words a wallet has (BIP 39)."""
_SHORT_WORD, _SHORT_SHARE = 3, 6
"""Letters of the shortest words of its lists, and of how many words at most one is as short."""
_GROUPS = 6
"""Groups of letters from which they may be a key without a digit."""
_CODED = r"\d|[a-z][A-Z]"
_HEX = r"(?i)[0-9a-f-]+$|.*[0-9a-f]{32}"
_CARD = r"4(?:.{12}|.{15}|.{18})$|(?:5[1-5]|2[2-7]|6[0245]|35).{14}$|62.{14,17}$|3[47].{13}$|3[068].{12}$"
_TEST_DIGITS = 5
"""How many different digits the cards have that are published for tests; of a thousand others four have so few."""
_DOUBLED = str.maketrans("0123456789", "0246813579")


@cache
def compiled(pattern: str, marks: str = "") -> "re.Pattern[str]":
    if pattern[0] == "^":
        begins = (_BEGINS.replace("MARK", re.escape(mark)) for mark in marks.split(","))
        pattern = f"(?:{'|'.join(begins)}){pattern[1:]}"
    for name, part in PARTS.items() if "{" in pattern else ():
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern, re.ASCII)


def is_trivial(value: str) -> bool:
    start = value[:200].lower()
    if len(set(start)) < 4 or f" {start.rstrip('0123456789')} " in _EMPTY_WORDS:
        return True
    return (compiled(_REFERENCE).match(start) or compiled(_PLACEHOLDER).search(start)) is not None


def is_filler(value: str) -> bool:
    """Whether a value says that another is to stand in its place, as `sk_live_xxxxxxxx` and `ghp_yourTokenHere`."""
    return compiled(_STANDS_FOR_ANOTHER).search(value) is not None


def is_solid(value: str) -> bool:
    return not is_trivial(value)


def is_mixed(value: str) -> bool:
    """Whether a value has letters with digits or signs, but for marks at its end."""
    value = value.rstrip("!?.,:;")
    return compiled(_MIXED).match(value) is not None and not is_trivial(value)


def is_coined(value: str) -> bool:
    """Whether a word is none of a sentence: joined of words with a capital, or with a capital in its midst."""
    value = value.rstrip("!?.,:;")
    if len(value) < 6 or is_trivial(value) or compiled(_IS_NAME).match(value):
        return False
    return compiled(_COINED).match(value) is not None


def is_opaque(value: str) -> bool:
    """Whether a value is mixed, and no name that is made of words and numbers."""
    return is_mixed(value) and not (compiled(r"[-_./:@]").search(value) and compiled(_WORDY).match(value))


def is_joined(value: str) -> bool:
    """Whether a value is words with a number or a sign between them, and speaks of no password."""
    return compiled(r"(?i)(?!.*(?:pass|pw|secret|token|contrase|senha))\w+[-_.\d!@#$%&*+]").match(
        value
    ) is not None and is_solid(value)


def is_credentials(value: str) -> bool:
    """Whether base64 holds a name, a colon and a password."""
    raw = decoded(value)
    name, colon, password = raw.decode("ascii").partition(":") if raw.isascii() else ("", "", "")
    return bool(name and colon) and raw.decode("ascii").isprintable() and is_filled_in(password or "$")


def is_authorization(value: str) -> bool:
    """Whether a value is coded, and no example of a name and a password in base64."""
    return is_coded(value) and (b":" not in (raw := decoded(value)) or not raw.isascii() or is_credentials(value))


def is_coded(value: str) -> bool:
    """Whether a value is no plain word: it has a digit, or capitals among small letters."""
    return compiled(_CODED).search(value) is not None and not is_trivial(value)


def is_token(value: str) -> bool:
    """Whether a value is long and no phrase."""
    if len(value) < 8 or " " in value or compiled(_WORDY).match(value) or is_trivial(value):
        return False
    digits = any(digit in value for digit in "0123456789")
    return value.lower() != value.upper() and (digits or (len(value) >= 20 and is_coded(value)))


def is_filled_in(value: str) -> bool:
    return value[0] not in "$<{*%([" and f" {value.lower()} " not in _EMPTY_WORDS


def is_tail(value: str) -> bool:
    return re.search(r"[A-Za-z0-9+/=]{20}", value) is not None


def is_guarded_path(value: str) -> bool:
    """Whether the path of a webhook holds what nobody would guess."""
    parts = [part for part in re.split("[/@]", value) if part]
    dense = [part for part in parts if len(part) >= 6 and has_digit(part) and not part.isdigit()]
    return any(is_token(part) or compiled(_HEX).match(part) for part in dense if len(part) >= 16) or len(dense) > 1


def has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def is_base32(value: str) -> bool:
    return (has_digit(value) and value == value.upper()) or (value.count(" ") >= _GROUPS - 1 and is_jumbled(value))


def is_jumbled(value: str) -> bool:
    """Whether groups of letters are no words: one of them has no vowel, or a `q` without a `u`."""
    return any(compiled(r"[^aeiou]+$|.*q(?!u)").match(group) for group in value.split())


def is_said(value: str) -> bool:
    """Whether words in quotes are what a form says of a passphrase: every other sentence may be one."""
    words = value.lower().replace("-", " ").split()
    return not any(f" {word} " in FORMS or f" {word} " in _EMPTY_WORDS for word in words)


def is_seed_of_any(value: str) -> bool:
    """Whether words may be those of a wallet in any language: so many, none twice, and hardly any as short as `the`."""
    words = value.split()
    short = sum(len(word) <= _SHORT_WORD for word in words)
    is_bare = compiled(r"[^\n\t,;|\"'\[\]·/-]+$").match(value) is not None
    return is_bare and len(words) in _WALLETS and len({*words}) == len(words) and short * _SHORT_SHARE <= len(words)


@cache
def seed_words() -> "frozenset[str]":
    """The words of BIP 39, in English."""
    from json import loads

    with open(__file__.replace("values.py", "bip39.json"), encoding="utf-8") as file:  # noqa: PTH123
        return frozenset(loads(file.read()).split())


def is_phrase(value: str) -> bool:
    """Whether words are a phrase to get in by, and not what is said of one."""
    words = value.lower().replace("-", " ").split()
    return len(words) > 1 and f" {words[0]} " not in STATES and is_said(value) and not is_trivial(value)


def is_varied(value: str) -> bool:
    """Whether a word has small letters, large ones and a number, and is neither an expression nor a sentence's end."""
    return (
        compiled(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d.*!|.*!.*\d\d)(?!.*!(?:[!=]|\$?[A-Z]{1,3}\$?\d))").match(value)
        is not None
    )


def is_dense(value: str) -> bool:
    """Whether a value is a token, or hex of the length of a key."""
    return is_token(value) or (
        len(value) >= 32 and not value.isdigit() and compiled(r"[0-9a-fA-F]+$").match(value) is not None
    )


def is_dense_in(bits: float, value: str) -> bool:
    """Whether a value has so many bits of entropy a character (Shannon 1948): a placeholder has few."""
    from math import log2

    if value.endswith("EXAMPLE"):  # as the documents of a provider have it
        return False

    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares) >= bits


def is_card(value: str) -> bool:
    digits = value.replace(" ", "").replace("-", "")
    if not compiled(_CARD).match(digits) or len({*digits}) <= _TEST_DIGITS:
        return False
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def is_check_number(value: str) -> bool:
    """Whether a number is one of a card, and not `123`, as tests have it."""
    return value not in ("123", "1234", "000", "0000")


def decoded(value: str) -> bytes:
    from binascii import a2b_base64  # most texts hold none

    try:
        return a2b_base64(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4))
    except ValueError:
        return b""


def is_password(value: str) -> bool:
    """Whether a word is mixed or coined, and no name made of words in small letters and numbers."""
    return is_opaque(value) or is_coined(value)


VALUES = {
    "coined": is_password,
    "varied": is_varied,
    "authorization": is_authorization,
    "base32": is_base32,
    "basic": is_credentials,
    "check": is_check_number,
    "coded": is_coded,
    "dense": is_dense,
    "digit": has_digit,
    "in_url": is_filled_in,
    "joined": is_joined,
    "jumbled": is_jumbled,
    "luhn": is_card,
    "mixed": is_opaque,
    "path": is_guarded_path,
    "phrase": is_phrase,
    "said": is_said,
    "solid": is_solid,
    "tail": is_tail,
    "token": is_token,
}
"""The tests that the registry names."""
