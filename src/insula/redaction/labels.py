"""Secrets that a name gives away: `password = …`, "my password is …", a value below it, an answer to a question.

Each form is a pattern of what follows a name, and a test of the value: what form is sure of, the value need not be.
"""

import re

from insula.redaction.shapes import KINDS, NAMES, STATES
from insula.redaction.values import (
    compiled,
    has_digit,
    is_coined,
    is_dense,
    is_key,
    is_lone,
    is_mixed,
    is_number,
    is_quoted,
    is_solid,
    is_token,
    is_words,
)

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Iterator

    Found = tuple[int, int, str]  # start, end, kind

Match = re.Match[str]

_STRONG_KEY = (
    r"(?:api|access|secret|private|signing|encryption|auth|account|master|service|app|shared|client|session|jwt|deploy"
    r"|licen[cs]e|webhook|admin|storage|subscription|ssh|db|aes(?:-\d+)?|hmac|unseal|data|cipher|fernet)[ _.-]?$"
)
_CODE = (  # `settings.db.password`, `user_password2`
    r"(?i)[a-z_$][\w$]*(?:(?:\??\.|::|->)[a-z_$][\w$]*)+$"
    r"|(?=[a-z_]+$|[a-z]\w*_\w*$).*?(?:pass|pwd|token|key|secret|cred|auth|user|value|var|param|arg|conf|env|input|hash)"
)
_PATH = r"[a-z_$][A-Za-z_]*(?:\.[a-z_][A-Za-z_]*|\.[A-Z_]+)+$"  # `settings.db.password`, but not `clover.Leaf`
_TYPE = r"[A-Za-z]+[.-]?(?:[Ss]tring|STRING|[Tt]ext|TEXT|[Tt]ype|[Ff]ield|Str|Secret|Password|Token|Value|Hash)s?$"
_PLAIN = r"[^\s,:\"'\\]+$"  # no end of one string of JSON and begin of the next
_LAST = r"[ \t]*(?:$|[|;&>]|(?<=[ \t])-)"
"""What follows the value of an option, and no word of a sentence."""
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$"
_ENDED = r"\s*(?:$|[.!,;)\n]|(?:and|y|et|und|e)\b)"
VERSIONED = r"[A-Z]?[a-z]+\d{1,3}$|[A-Z]{1,5}-?\d+$"  # `Windows11`, `TS2345`
_THING = r"[A-Z]{1,5}-?\d+$|v?\d+(?:[.:/-]\d+)+(?:[T.-].*)?$|.*[,/\\]|[^@]+@\S+\.\w+$|.*\.[a-z]\w{1,3}$"
_TESTS = {"key": is_key, "password": is_mixed, "pin": is_number}


_COLONS = ("", ":：")
"""Behind a name that is English, a colon without a blank before it is one of code."""


def find_labelled(text: str, lower: str) -> "Iterator[Found]":
    """Where secrets stand that names give away.

    Args:
        text: the text.
        lower: the text in small letters.
    """
    for marks, names in NAMES:
        if any(mark in lower for mark in marks):
            yield from _find_named(text, lower, names)


def _find_named(text: str, lower: str, names: str) -> "Iterator[Found]":
    done, is_foreign = 0, names != NAMES[0][1]
    for name in compiled(names).finditer(lower):
        if name.start() < done:
            continue
        for form, after, test in _FORMS:
            following = lower[name.end() : name.end() + 1]
            begins = following in after + _COLONS[is_foreign] if after else is_foreign or form is not _FIRST_DENSE
            if begins and (match := compiled(form).match(lower, name.end())):
                start, end = match.span("s")
                if found := test(text, name, match):
                    yield start, end, kind_of(name)
                if found or end - start > 64:  # a shorter one may hold a name with a value of its own
                    done = end
                if found:
                    break


def kind_of(name: Match) -> str:
    """The kind of secret that a name names."""
    if name[0] == "key":
        before = name.string[max(0, name.start() - 16) : name.start()]
        return "api_key" if compiled(_STRONG_KEY).search(before) else "key"
    return KINDS.get(name[0], "password")


def _is_flag(text: str, name: Match) -> bool:
    """Whether the name is that of a command's option: `--db-password`."""
    before = text[max(0, name.start() - 32) : name.start()]
    blank = max(before.rfind(" "), before.rfind("\n"), before.rfind("\t"))
    return before.startswith("-", blank + 1)


def _is_literal(text: str, name: Match, match: Match) -> bool:
    """Whether the form admits no variable: `NAME=value` of an environment file, `--name=value` of a command."""
    if match["sep"] not in ("=", ":") or text[match.start("sep") - 1] in " \t":
        return False
    return text[name.start() : name.end()].isupper() or _is_flag(text, name)


def _is_assigned(text: str, name: Match, match: Match) -> bool:
    start, end = match.span("s")
    if end - start < (8 if name[0] == "key" or name[0] in KINDS else 4):
        return False
    value, kind = text[start:end], kind_of(name)
    literal = _is_literal(text, name, match)
    if match["q"]:
        spaced = literal and has_digit(value)  # `PASSPHRASE='three words 9'`
        password = is_solid if spaced else is_quoted
        test = password if kind == "password" else is_lone if kind == "secret" else _TESTS.get(kind, is_token)
        return test(value)
    if '"' in text[name.end() : start] and compiled(_NUMBER).match(value):  # JSON takes no marker for a number
        return False
    if text[end : end + 1] in tuple("([{"):
        return False
    if kind == "password" and _is_joined(value):
        return True
    test = is_solid if kind == "password" and literal else is_lone if literal else _TESTS.get(kind, is_token)
    return test(value) and (literal or not compiled(_CODE).match(value))


def _is_joined(value: str) -> bool:
    """Whether a value is coined by joining words, not by a capital in its midst as the names of code are."""
    return is_coined(value) and not compiled(r"[A-Za-z]*$").match(value) and not compiled(_TYPE).match(value)


def _is_beside(text: str, name: Match, match: Match) -> bool:
    """A value right behind its name: an option's, or one that ends the clause and is no word."""
    start, end = match.span("s")
    kind, value = kind_of(name), text[start:end]
    if _is_flag(text, name) and text[name.start() - 1] != "=":
        last = kind == "password" and compiled(_LAST).match(text[end + (match["q"] is not None) : end + 8])
        return (is_solid if last else _TESTS.get(kind, is_token))(value)
    ended = compiled(_ENDED).match(text[end + (match["q"] is not None) : end + 8])
    if not (ended or len(value) >= 24) or compiled(_CODE).match(value) or not compiled(_PLAIN).match(value):
        return False
    if kind == "password":
        return len(value) >= 6 and ((has_digit(value) and is_mixed(value)) or _is_joined(value))
    if kind == "secret" and is_dense(value):
        return True
    strong = kind == "api_key" or compiled(_STRONG_KEY).search(name.string[max(0, name.start() - 16) : name.start()])
    return len(value) >= 20 and (is_token if strong else is_key)(value)


_FIRST_DENSE = (
    r"""(?P<gap>[^\n"]{0,40}?)(?<![!-~])["'`(«“]?(?P<s>(?=[!-~\u00c0-\u04ff]*[A-Za-z\u00c0-\u04ff])(?=[!-~\u00c0-\u04ff]*[\dA-Z_&*+^~!#-])"""
    r"""[!#-\[\]-~\u00c0-\u04ff]{6,64}?|\d{4,8})(?=["'`).,!?»”」]?(?![!-~\u00c0-\u04ff]))"""
)
"""The first word of letters and digits after a name: how other languages say "is" is not asked."""
# What follows a name: pattern, the characters it can begin with, test.
_FORMS = (
    (  # `=`, `:`, `=>`, `: str =`, `>`, or the `value:` that follows a `name:`
        r"""(?:[_-]?\d{1,2}|_(?:base|value|prod|dev|test|live))?\\{0,3}["'`]?\]?[ \t]{0,3}"""
        r"""(?P<sep>:[ \t]?[a-z][\w.\[\]| ]{0,30}?[ \t]=(?!=)|[:!=]?=>?|:|>|\.{3,40}"""
        r"""|["'\\]{0,2},?\s{1,20}["'\\]{0,4}value["'\\]{0,4}:)[ \t]{0,8}{VALUE}""",
        "_-1234567890\\\"'`] \t\n:=!>,.",
        _is_assigned,
    ),
    (r"[ \t]+{VALUE}", " \t", _is_beside),
)

# --- an answer to who asked for a secret ----------------------------------------------------------------------------

_SAID = (
    r"(?m)^[ \t>]*(?:\[[\d:., -]{3,20}\][ \t]*|\d\d?:\d\d(?::\d\d)?[ \t]+)?"
    r"(?:<(?P<nick>[^>\n]{1,24})>|(?P<who>[^\s:<>\"'{},=-][^\n:<>\"'{},=/]{0,23}):)[ \t]+(?P<words>[^\n]*)"
)
_ROLES = r"(?i)(?:user|human|assistant|ai|bot|agent|system|customer|client|support|me|you|him|her|mum|mom|dad|[a-z])$"
_ASKING = (
    r"\b(?:pass|pw|pin|puk|log-?in|creds?|(?:digit|verification|security|sms|2fa|backup|sent|texted|door|gate|alarm)\b"
    r"[^\n]{0,24}\bcodes?|codes? (?:they|we|i|you|that|from|by|which|was|has)\b|authenticator|must stay private)\b"
    r"|[cñ]ódigo|código|bestätigungscode|验证码|認証コード"
)
_NUMBERED = r"pin|puk|code|digit|código|codice|码|コード|暗証|الرقم|κωδικ|код"
ANSWER_WORDS = 6
"""Words of an answer that is a secret and little else."""
_ASKED = 8
"""Characters of a line that may ask for a secret without a mark at its end."""
_WAIT = 3
"""How many lines of talk later the answer may come."""


def find_answers(text: str, lower: str) -> "Iterator[Found]":
    """Where, in a talk, somebody answers with a secret that a line before it asks for or announces.

    Args:
        text: lines of talk, each behind the name of who speaks.
        lower: the text in small letters.
    """
    lines = [*compiled(_SAID).finditer(text)]
    speakers = {line["nick"] or line["who"] for line in lines}
    if len(lines) < 2 or not all(line["nick"] or _is_speaker(line["who"], speakers) for line in lines):
        return
    asked, left = "", 0
    for line in lines:
        words = line["words"]
        if left and len(words.split()) <= ANSWER_WORDS and (found := [*_in_answer(line, asked)]):
            yield from found
            left = 0
        elif names := _asks(lower[slice(*line.span("words"))]):
            asked, left = names, _WAIT + 1
        left = max(0, left - 1)


def _is_speaker(who: str, speakers: "set[str]") -> bool:
    return compiled(_ROLES).match(who) is not None or (who[:1].isupper() and len(speakers) <= _WAIT and " " not in who)


def _asks(words: str) -> str:
    """The names of secrets in a line of talk of more than one word; empty for none."""
    if words.isascii() and len(words) < _ASKED and not words.rstrip().endswith((":", "?")):
        return ""
    found = [found[0] for _, names in NAMES for found in compiled(names).finditer(words)]
    return " ".join((*found, *(found[0] for found in compiled(_ASKING).finditer(words))))


def _in_answer(line: Match, asked: str) -> "Iterator[Found]":
    words, start = line["words"], line.start("words")
    if compiled(_NUMBERED).search(asked) and (
        number := compiled(r"(?<![\w.:/-])(?:\d{3}[ -]\d{3}|\d{4,8})(?![\w:/-]|\.\d)").search(words)
    ):
        yield start + number.start(), start + number.end(), "code"
        return
    if "phrase" in asked and words.count(" ") > 1 and is_words(words):
        yield start, line.end("words"), "password"
        return
    for word in compiled(r"[^\s\"'`“”«»]+").finditer(words):
        value = word[0].rstrip(".,;:!?)")
        if f" {value.lower()} " in STATES or compiled(_THING).match(value) or compiled(_PATH).match(value):
            continue
        if len(value) >= 6 and (is_mixed(value) or is_coined(value) or is_token(value)):
            yield start + word.start(), start + word.start() + len(value), "password"
