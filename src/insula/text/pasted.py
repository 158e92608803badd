"""What of a message is the user's own: a text that was pasted into it was said by somebody else."""

import re
from functools import cache, lru_cache

from insula.caches import clear_on_erasure
from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

PLAIN_CHARS = 400
"""A longer message may hold something pasted."""
QUOTED_WORDS = 2
"""A quotation or a piece of code of so many words is a name; a longer one was said by somebody else."""
QUOTED_CHARS = 8
"""The same of languages that write no spaces, in characters."""
ELLIPSIS = "…"
QUOTED = "\ue000"
"""Stands for a quotation that was taken out, so that nothing in it is read as what its writer says."""

_BLOCK = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)|<(\w+)[^>\n]*>.*?(?:</\1>|\Z)", re.DOTALL)
_CITED = re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE)
_QUOTED = re.compile(
    r"\"[^\"\n]*\"?|“[^”\n]*”?|„[^“”\n]*[“”]?|»[^«»\n]*«|«[^»\n]*»?|「[^」\n]*」?|『[^』\n]*』?|`[^`\n]*`?"
    r"|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^’\n]*’(?!\w)"
)
_OPENED = re.compile(r"\s*(?::(?=[\s\"'“„«»]|$)|：|\n)")
_SALUTED = re.compile(r"(?<=[.?!])\s+(?=((?:[^\W\d_][\w.'’-]*\s){1,3}[^\W\d_][\w'’-]*)[,!]\s(?!\w+,))")
"""A sentence's end before two to four words and a comma, as a letter begins; "My son Owen, ill, …" does not."""
_WORD = re.compile(r"[\w'’-]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def own_words(message: str) -> str:
    """The plain words of the user's own in a message: without code and quotations.

    Nothing where more than one line, or `PLAIN_CHARS`, are left: then somebody else's words may be among them, and
    nobody can tell which. Nor where it speaks of the user as a third person ("if the user asks about …") or to
    assistants in general, as nobody does who speaks to one. What was handed over is taken out before
    (`insula.language.handed`).
    """
    return _plain_words(_replace_quotations(message, " "))


@clear_on_erasure
@lru_cache(maxsize=512)
def told_words(message: str) -> str:
    """What of a message may be told to be what the user said; nothing where nobody can tell.

    As `own_words`, with an ellipsis for code, and `QUOTED` for each quotation (`find_quotations`).
    """
    return _plain_words(_replace_quotations(message, ELLIPSIS, QUOTED))


@clear_on_erasure
@lru_cache(maxsize=512)
def lead_of(message: str) -> str:
    """What stands before a colon, a salutation, or alone on the first line, where a text follows; else nothing."""
    opened = _OPENED.search(message)
    if opened is None or not any(map(str.isalnum, message[opened.end() :])):
        opened = None
    saluted = next((match for match in _SALUTED.finditer(message) if _is_addressed(match[1])), None)
    starts = [match.start() for match in (opened, saluted) if match]
    return message[: min(starts, default=0)].strip()


def _is_addressed(words: str) -> bool:
    """Whether words may greet somebody by name: the first has a capital, and the last."""
    return words[0].isupper() and words.rsplit(maxsplit=1)[-1][0].isupper()


def behind_quotation(body: str) -> str:
    """What stands behind a body that is a long quotation and no more: that is the user's own again."""
    match = _QUOTED.match(body.lstrip(" \t:："))
    if match is None or not _is_long(match[0]) or match[0][-1] not in "\"”“»«」』`'’":
        return ""
    return body.lstrip(" \t:：")[match.end() :].strip()


@clear_on_erasure
@lru_cache(maxsize=512)
def has_body(message: str) -> bool:
    """Whether a message holds more than may be said of a text: code, a quotation, or something behind a lead."""
    return bool(lead_of(message)) or _replace_quotations(message, ELLIPSIS, QUOTED) != message


def find_quotations(message: str) -> tuple[str, ...]:
    """The quotations that `told_words` takes out of a message, in order."""
    left = _CITED.sub("", _BLOCK.sub(ELLIPSIS, message.replace("\r", "\n")))
    return tuple(match[0] for match in _QUOTED.finditer(left) if _is_long(match[0]))


def _replace_quotations(message: str, instead: str, quoted: str | None = None) -> str:
    left = _CITED.sub("", _BLOCK.sub(instead, message.replace("\r", "\n")))
    return _QUOTED.sub(lambda match: (quoted or instead) if _is_long(match[0]) else match[0], left)


def _is_long(quotation: str) -> bool:
    """Whether a quotation is more than a name."""
    return len(_WORD.findall(quotation)) > QUOTED_WORDS or len(_WIDE.findall(quotation)) > QUOTED_CHARS


def _plain_words(left: str) -> str:
    left = left.strip()
    plain = len(left) <= PLAIN_CHARS and "\n" not in left
    return left if plain and not _outsider_pattern().search(left) else ""


@cache
def _outsider_pattern() -> re.Pattern[str]:
    """How outsiders speak to an assistant, in all languages."""
    data: dict[str, str] = load_table("pasted.json")["outsiders"]
    spaced = "|".join(words for language, words in data.items() if language not in UNSPACED)
    unspaced = "|".join(words for language, words in data.items() if language in UNSPACED)
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{unspaced}", re.IGNORECASE)


def own_speech(message: str) -> str:
    """What of a message its writer says: quotations and code are others' words.

    Unlike `told_words` it lets a long message or several lines pass: what they state is weighed clause by clause.
    Where a quotation was, `QUOTED` stands.
    """
    return _replace_quotations(message, ELLIPSIS, QUOTED)
