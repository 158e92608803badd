"""What of a message is the user's own, in the pieces that the heads read; and what is for programs.

A text that was pasted into a message was said by somebody else. A question often stands behind something else ("Write
me an out-of-office note, and when is my flight?"), so each sentence and clause has a vector of its own.

Into a text that is data or code alone no prose may be put, and manners would break a message that wants its answer so.
The phrases of such messages stand in `payload.json`; a question about a format ("How do I parse JSON?") wants a
person's answer.
"""

import json
import re
from collections.abc import Iterator
from functools import cache, lru_cache

from insula.caches import clear_on_erasure
from insula.text.analysis import Analysis, analyse_text
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


MAX_LINES = 200
"""So many lines are looked at."""
_LINE = 400
"""Characters of a line that may be code."""

_CODE_SHARE = 0.6
"""From this share of lines that look like code on, a text is code."""

_FENCED = re.compile(r"\s*```[^\n]*\n.*?\n?```\s*\Z", re.DOTALL)
_INLINE = re.compile(r"\s*`[^`\n]+`\s*\Z")
_VALUE = re.compile(
    r"\s*[-+]?[$€£¥]?\d[\d.,:/ ]*\s?(?:%|‰|°C?|[A-Za-z€$£¥]{0,4})\s*\Z|\s*(?:true|false|null|none)\s*\Z", re.IGNORECASE
)
_MARKUP = re.compile(r"<[!?/A-Za-z]")
_LINK = re.compile(r"\s*\w+://\S+\s*\Z")
_YAML = re.compile(r"\s*(?:-\s+)?[\w.\"'/-]+:(?:\s+\S.*)?\Z|\s*-\s+\S+\Z|\s*#.*\Z|---\Z")
_PAIR = re.compile(r"\s*(?:-\s+)?[\w.\"'/-]+:(?:\s|\Z)")
_CODE = re.compile(
    r".*[;{}]\s*\Z|(?: {4}|\t)\s*\S.*"
    r"|\s*(?:def|class|import|if|for|while|else|elif|try|except|with|func|fn|function|public|private|async)\b.*[:;{(]\s*\Z"
    r"|\s*(?:import \w[\w.]*|from \w[\w.]* import .+)\Z"
    r"|\s*[\w.]+\([^()]*\)\s*\Z|\s*(?:(?:const|let|var) )?[\w.\[\]]+\s*(?:[-+*/|&]?=|:=|<-)\s*\S.*"
    r"|\s*(?:\$|>>>|#!|//|/\*|@\w)\s*\S.*|\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP) .+"
    r"|\s*(?:sudo )?(?:git|npm|pip|docker|cd|ls|curl|make|python3?|uv|cargo|kubectl|apt|brew)"
    r" (?!(?:is|are|was|has|can|and|or|does|will|would|it|sure|the|a|an|this|that|your|my|to)\b)[^\s,]+(?: \S+){0,6}\Z"
    r"|[a-z][\w-]*(?: \S+)* --?\w[\w-]*(?:[ =]\S+)*\Z"
)
_DELIMITERS = (",", ";", "\t", "|")


def is_structured(text: str) -> bool:
    """Whether a text is only data or code: JSON, XML, YAML, CSV, a table, a fenced block, a value, a link, code."""
    stripped = text.strip()
    if not stripped:
        return True
    alone = (_FENCED, _INLINE, _VALUE, _LINK)
    if any(pattern.match(stripped) for pattern in alone) and stripped.count("```") <= 2:
        return True
    if stripped[0] == "<":
        return bool(_MARKUP.match(stripped)) and stripped.endswith(">")
    if stripped[0] in "{[" and _is_json(stripped):
        return True
    lines = [line for line in stripped.splitlines()[:MAX_LINES] if line.strip()]
    return _is_yaml(lines) or _is_table(lines) or _is_code(lines)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_yaml(lines: list[str]) -> bool:
    """At least two lines of keys, and nothing else; a sentence after a key is prose ("Note: this is…")."""
    keys = sum(1 for line in lines if _PAIR.match(line))
    return keys >= 2 and all(_YAML.match(line) and not line.rstrip().endswith((".", "!", "?")) for line in lines)


def _is_table(lines: list[str]) -> bool:
    """At least two lines with the same number of the same delimiter, and no sentence among them."""
    if len(lines) < 2 or any(line.rstrip().endswith((".", "!", "?", ":")) for line in lines):
        return False
    spoken = len(lines) < 3 and any(", " in line for line in lines)
    return not spoken and any(
        lines[0].count(mark) and len({line.count(mark) for line in lines}) == 1 for mark in _DELIMITERS
    )


def _is_code(lines: list[str]) -> bool:
    looks = sum(1 for line in lines if len(line) < _LINE and _CODE.match(line))
    return looks >= max(1, _CODE_SHARE * len(lines))


def is_payload(text: str) -> bool:
    """Whether a message tells to answer in a format for programs, or in nothing else."""
    return any(pattern.search(text) for pattern in _load_patterns())


@cache
def _load_patterns() -> tuple[re.Pattern[str], ...]:
    raw = load_table("payload.json")
    named = rf"(?<![A-Za-z])(?:{raw['format']})(?![A-Za-z])"
    spaced = [language for language in raw["only"] if language not in UNSPACED]
    only, gives = ("|".join(raw[kind][language] for language in spaced) for kind in ("only", "gives"))
    bare, told = ("|".join(raw[kind][language] for language in sorted(UNSPACED)) for kind in ("only", "gives"))
    sentence = r"(?:^|(?<=[.!?:;,\n])\s*)(?:\W*(?:please|por favor|bitte|per favore|s'il (?:te|vous) pla[iî]t)\W+)?"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"{sentence}(?:{gives})\b[^.!?\n]{{0,80}}?{named}",
            rf"{sentence}(?:{only})\s(?:\w+\s){{0,2}}?{named}|{named}(?:\s\w+){{0,2}}?\s(?:{only})\b",
            rf"(?:{told}|{bare})[^。！？\n]{{0,20}}?{named}|{named}[^。！？\n]{{0,12}}?(?:{told}|{bare})",
        )
    )


MOST = 12
"""Pieces of one message: the first and the last sentences, where most of what is asked stands."""
LONG, LONG_UNSPACED = 40, 16
"""Characters from which a sentence is read clause by clause, too."""
_WORDS, _SIGNS = 4, 5
"""Words, or characters where words are not spaced, that a clause has at least."""
_BETWEEN = re.compile(r"(?<=[,;:—–，、；：])\s*")


def split_units(analysis: Analysis) -> tuple[str, ...]:
    """The pieces of a message, without what is pasted or quoted in it; at most `MOST`."""
    told = told_words(analysis.text)
    if not told:
        return ()
    own = analysis if told == analysis.text.strip() else analyse_text(told, default=analysis.language)
    said = [sentence.text for sentence in own.sentences if any(map(str.isalpha, sentence.text))]
    half = MOST // 2
    kept = said if len(said) <= MOST else [*said[:half], *said[-half:]]
    clauses = (clause for text in kept for clause in _split_clauses(text, own.language))
    return tuple(dict.fromkeys((*kept, *clauses)))[:MOST]


def _split_clauses(text: str, language: str) -> Iterator[str]:
    unspaced = language in UNSPACED
    if len(text) <= (LONG_UNSPACED if unspaced else LONG):
        return
    parts = [part.strip() for part in _BETWEEN.split(text)]
    long = [part for part in parts if (len(part) >= _SIGNS if unspaced else len(part.split()) >= _WORDS)]
    if len(parts) > 1:
        yield from long
