"""What of a message is the user's own: a text that was pasted into it was said by somebody else."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Literal

from insula.text.grammar import UNSPACED

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
_OPENED = re.compile(r":(?=\s|$)|：")
_WORD = re.compile(r"[\w'’-]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def own_words(message: str) -> str:
    """The plain words of the user's own in a message: without code and quotations.

    What follows a colon is lost only where something is named before it that one pastes ("Here is the mail: …"): "I
    changed my mind: …" is the user's own. Nothing where more than one line, or `PLAIN_CHARS`, are left: then somebody
    else's words may be among them, and nobody can tell which. Nor where it speaks of the user as a third person ("if
    the user asks about …") or to assistants in general, as nobody does who speaks to one.
    """
    return _plain(_before_pasted(_unquoted(message, " ")))


def told_words(message: str) -> str:
    """What of a message may be told to be what the user said; nothing where nobody can tell.

    As `own_words`, with an ellipsis for code, and `QUOTED` for each quotation (`quotations`).
    """
    return _plain(_before_pasted(_unquoted(message, ELLIPSIS, QUOTED)))


def quotations(message: str) -> tuple[str, ...]:
    """The quotations that `told_words` takes out of a message, in order."""
    left = _CITED.sub("", _BLOCK.sub(ELLIPSIS, message.replace("\r", "\n")))
    return tuple(found[0] for found in _QUOTED.finditer(left) if _is_long(found[0]))


def _before_pasted(left: str) -> str:
    """What stands before the colon behind which something pasted follows."""
    opened = _OPENED.search(left)
    pasted = opened and _pattern("carriers").search(left, 0, opened.start())
    return left[: opened.start()] if opened and pasted else left


def _unquoted(message: str, instead: str, quoted: str | None = None) -> str:
    left = _CITED.sub("", _BLOCK.sub(instead, message.replace("\r", "\n")))
    return _QUOTED.sub(lambda found: (quoted or instead) if _is_long(found[0]) else found[0], left)


def _is_long(quotation: str) -> bool:
    """Whether a quotation is more than a name."""
    return len(_WORD.findall(quotation)) > QUOTED_WORDS or len(_WIDE.findall(quotation)) > QUOTED_CHARS


def _plain(left: str) -> str:
    left = left.strip()
    plain = len(left) <= PLAIN_CHARS and "\n" not in left
    return left if plain and not _pattern("outsiders").search(left) else ""


@cache
def _pattern(name: Literal["carriers", "outsiders", "errands"]) -> re.Pattern[str]:
    """In all languages: what one pastes, or says of what somebody else said; how outsiders speak to an assistant."""
    data: dict[str, str] = json.loads((files("insula.text") / "pasted.json").read_text("utf-8"))[name]
    spaced = "|".join(words for language, words in data.items() if language not in UNSPACED)
    unspaced = "|".join(words for language, words in data.items() if language in UNSPACED)
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{unspaced}", re.IGNORECASE)


def spoken(message: str) -> str:
    """What of a message its writer says: quotations, code and what follows "Translate this:" are others' words.

    Unlike `told_words` it lets a long message or several lines pass: what they state is weighed clause by clause.
    Where a quotation was, `QUOTED` stands.
    """
    left = _unquoted(message, ELLIPSIS, QUOTED)
    opened = _OPENED.search(left)
    if opened and _pattern("errands").search(left, 0, opened.start()):
        return left[: opened.start()]
    return left
