"""How one asks in each language: patterns compiled from `questions.json` and `requests.json`.

In both files a kind maps to alternatives of a regular expression, the specific before the general: the first that
matches at a place decides. They are searched in lower or upper case, with plain apostrophes.
"""

import re
from functools import cache
from typing import NamedTuple

from insula.text.tables import load_table

UNSPACED = frozenset({"zh", "ja"})
"""Languages written without spaces: there an interrogative stands anywhere and a word has no edges."""

_NEVER = re.compile(r"(?!)")


class Grammar(NamedTuple):
    """The devices of one language; one that a language lacks never matches."""

    question: re.Pattern[str]
    """Interrogatives, a named group per kind."""
    request: re.Pattern[str]
    """Imperatives, with "could you" before them, a named group per kind."""
    opener: re.Pattern[str]
    """Greetings and courtesies before what is asked."""
    tell: re.Pattern[str]
    """What makes an indirect question of what follows: "can you tell me"."""
    inverted: re.Pattern[str]
    """A verb before its subject, which makes a yes/no question."""
    no_question: re.Pattern[str]
    """What opens like a question but asks nothing unless it is marked: "what a day", "when I was"."""
    rhetorical: re.Pattern[str]
    """What opens a question that tells: "did you know"."""
    unmarked: re.Pattern[str]
    """Unspaced languages: what asks although there is no question mark."""
    joint: re.Pattern[str]
    """Where one sentence may join two asks: "…, and how many…"; group `verb` where the second is a request, `relative`
    where its interrogative may as well be a relative pronoun."""
    choice: re.Pattern[str]
    announces: re.Pattern[str]
    """What a sentence speaks of that announces questions ("Answer these questions:")."""
    backchannel: frozenset[str]
    """Words of small talk that assert nothing."""
    artifacts: frozenset[str]
    """Words for the form of what is wanted ("essay", "words", "bullet"), which the answer itself does not say."""
    particles: frozenset[str]
    """Unspaced languages: characters that make a pair of characters no word."""

    @property
    def inverts(self) -> bool:
        """Whether the language marks a yes/no question by its word order."""
        return self.inverted is not _NEVER


@cache
def load_grammar(language: str) -> Grammar:
    """The grammar of asking in one of the known languages."""
    questions, requests = load_table("questions.json")[language], load_table("requests.json")[language]
    own = (_unspaced_devices if language in UNSPACED else _spaced_devices)(questions, requests)
    compiled = re.compile if language in UNSPACED else _word_pattern
    return Grammar(
        **own,
        tell=compiled(requests["tell"]),
        no_question=compiled(requests["no_question"]),
        rhetorical=compiled(requests["rhetorical"]),
        choice=compiled(requests["or"]),
        announces=compiled(requests["announces"]),
        backchannel=frozenset(requests["backchannel"].split()),
        artifacts=frozenset(requests["artifacts"].split()),
        particles=frozenset(requests.get("particles", "").split()),
    )


def _spaced_devices(questions: dict[str, str], requests: dict[str, str]) -> dict[str, re.Pattern[str]]:
    imperatives = _group_kinds(_imperative_patterns(requests))
    return {
        "question": _word_pattern(_group_kinds(questions)),
        "request": _word_pattern(rf"(?:(?:{requests['may']})\s+)?(?:{imperatives})"),
        "opener": re.compile(rf"[\s¿¡]*(?:{requests['polite']})(?!\w)[\s,.:;!¿¡-]*", re.IGNORECASE),
        "inverted": _word_pattern(requests["aux"]) if "aux" in requests else _NEVER,
        "unmarked": _NEVER,
        "joint": _joint_pattern(questions, requests),
    }


def _unspaced_devices(questions: dict[str, str], requests: dict[str, str]) -> dict[str, re.Pattern[str]]:
    imperatives = _group_kinds(_imperative_patterns(requests))
    head = rf"^[\s，,。]*(?:{requests['may']})?[\s，,]*" if "may" in requests else ""
    return {
        "question": re.compile(_group_kinds(questions)),
        "request": re.compile(rf"{head}(?:{imperatives})"),
        "opener": re.compile(requests.get("may", "(?!)")),
        "inverted": _NEVER,
        "unmarked": re.compile(requests["unmarked"]),
        "joint": re.compile("[，,、；;]"),
    }


def _imperative_patterns(requests: dict[str, str]) -> dict[str, str]:
    return {kind: requests[kind] for kind in ("code", "how_to", "why", "list", "request") if kind in requests}


def _joint_pattern(questions: dict[str, str], requests: dict[str, str]) -> re.Pattern[str]:
    asking = "|".join((*questions.values(), *([requests["aux"]] if "aux" in requests else ())))
    verbs = "|".join(requests[kind] for kind in ("list", "request"))
    word = rf"[\s,;]+(?:{requests['conjunction']})[,\s]+¿?"
    joints = (
        rf"{word}(?=(?:{requests['indirect']})(?!\w))|(?P<relative>{word}(?=(?:{asking})(?!\w)))"
        rf"|(?P<verb>{word}(?=(?:{verbs})(?!\w)))"
    )
    if "comma" in requests:
        joints += rf"|[,;]\s*¿?(?=(?:{requests['comma']})(?!\w))"
    return re.compile(joints, re.IGNORECASE)


def _group_kinds(kinds: dict[str, str]) -> str:
    return "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())


def compile_words(pattern: str, language: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """What a table of a language says as an expression: of whole words, where a language has spaces between them."""
    return re.compile(pattern if language in UNSPACED else rf"(?<!\w)(?:{pattern})(?!\w)", flags)


def _word_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)[¿¡]?(?:{pattern})(?!\w)", re.IGNORECASE)
