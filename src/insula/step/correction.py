"""What a user's words to a coding agent ask for beyond this once: read from the words alone, without a model.

It is read once a session has ended, at the start of the next, or by a command; never while an agent waits for a call.
Precision goes first: what is not plainly a correction is none, and of a correction only what says how things are done
here becomes the words of a rule.
"""

import re
from functools import cache

from insula.step.correction_patterns import PATTERNS
from insula.step.small_words import CJK, TELLING
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = "rule"
CORRECTION = "correction"

PROMPT, INTERRUPT, REJECTION = "prompt", "interrupt", "rejection"
"""How the words were said: alone, right after an interrupt, or as the reason of a rejection."""

LONGEST = 200
"""Characters of a rule: what is longer tells a story."""
SENTENCES = 6
"""Sentences of a message that are read: who corrects says so early."""
SHORT = 14
"""Words of a message that does nothing but report a failing check."""
PLAIN = 300
"""Characters of a prompt from which on it is a task, whatever it denies."""
WEAK = 160
"""The same of one that holds "always" or "never": programs do things always, too."""
LINE = 400
"""A longer sentence was hardly typed to an agent."""

_WIDE = "[\u3040-\u30ff\u3400-\u9fff]"
_SENTENCE = r"[^.?!…。！？\n]*(?:[.?!…](?=\S)[^.?!…。！？\n]*)*(?:[.?!…。！？]+|\n|$)"
_BRACKETS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})


class Reading(Value):
    """What some words of a user's are to an agent."""

    kind: str = ""
    """`rule` (says how things are done here), `correction` (says that something is wrong), or empty."""
    words: str = ""
    """Of a rule: what it says, verbatim."""


class _Sentence(Value):
    text: str
    tells: frozenset[str]

    @property
    def asks(self) -> bool:
        return self.text.rstrip().endswith(("?", "？", "吗", "か", "か。"))


def read(words: str, how: str = PROMPT, acted: bool = True) -> Reading:
    """What the words ask for.

    Args:
        words: the user's own words, without what was pasted or quoted.
        how: `prompt`, `interrupt` (the first words after one) or `rejection` (its reason).
        acted: whether the agent had done anything before; a session's first words are a task.
    """
    sentences = list(_sentences(words))
    corrects = how != PROMPT or any("deny" in one.tells for one in sentences[:2])
    long = len(words) > (LINE if how == REJECTION else PLAIN)
    taken = [one.text for one in sentences if _is_rule(one, how, corrects and not long, long, len(words) > WEAK)]
    if not taken and acted and _reports_failure(sentences, words):
        taken = [sentences[0].text]
    if taken and (acted or any("standing" in one.tells for one in sentences)):
        return Reading(kind=RULE, words=_joined(taken))
    return Reading(kind=CORRECTION if corrects and acted else "")


def _is_rule(one: _Sentence, how: str, corrects: bool, long: bool, weak: bool) -> bool:
    """Whether a sentence says how things are done here."""
    tells = one.tells
    if "standing" in tells and not one.asks:
        return True
    if "once" in tells or (long and not corrects):
        return False
    if one.asks:
        return corrects and ("hint" in tells or (how == REJECTION and not tells.isdisjoint(("ought", "order"))))
    if "hint" in tells and tells.isdisjoint(("ought", "always", "forbids")):
        return corrects
    if "report" in tells and not ("fact" in tells and "deny" in tells):
        return False
    if "always" in tells and (corrects or not weak):
        return True
    if not tells.isdisjoint(("ought", "own", "forbids")):
        return True
    return corrects and not tells.isdisjoint(("forbid", "order", "contrast", "fact"))


def _reports_failure(sentences: list[_Sentence], words: str) -> bool:
    """Whether the message does nothing but report that a check fails, which the agent could have run."""
    if not sentences or len(words.split()) > SHORT or len(words) > LONGEST:
        return False
    return "broken" in sentences[0].tells and not sentences[0].asks


def _joined(taken: list[str]) -> str:
    text = taken[0]
    for more in taken[1:]:
        if len(text) + 1 + len(more) <= LONGEST:
            text = f"{text} {more}"
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


def _sentences(words: str) -> "Iterator[_Sentence]":
    plain = words.translate(_BRACKETS)
    found = [match[0].strip() for match in re.finditer(_SENTENCE, plain[: LINE * SENTENCES])]
    for text in [one for one in found if any(map(str.isalnum, one))][:SENTENCES]:
        if len(text) <= LINE:
            yield _Sentence(text=text, tells=_tells(text, plain))


def _tells(sentence: str, message: str) -> frozenset[str]:
    told: set[str] = set()
    for language in languages(message):
        table = _compiled(language)
        said = _past(table["opener"], sentence)
        rest = _past(table["opener"], _past(table["no"], said))
        told |= {name for name in table.keys() - _LEADS if table[name].search(said) or table[name].search(rest)}
        if table["forbid"].match(said) or table["forbid"].match(rest):
            told.add("forbids")
    return frozenset(told)


_LEADS = {"opener", "no"}
"""What the rest of a sentence stands behind."""


def _past(lead: "re.Pattern[str]", sentence: str) -> str:
    start = 0
    while (found := lead.match(sentence, start)) is not None and found.end() > start:
        start = found.end()
    return sentence[start:]


def languages(message: str) -> tuple[str, ...]:
    """The languages that a message may be in: by its script, else by its small words; all where they do not tell."""
    if re.search(_WIDE, message):
        return ("ja",) if re.search("[\u3040-\u30ff]", message) else ("zh",)
    said = set(re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", message.lower()))
    counts = {language: len(said & words) for language, words in TELLING.items()}
    best = max(counts.values())
    likely = tuple(language for language, count in counts.items() if count == best)
    return ("en",) if best and "en" in likely else likely


@cache
def _compiled(language: str) -> "dict[str, re.Pattern[str]]":
    """The patterns of a language; "^" is the beginning of a sentence or clause, behind its courtesies."""
    raw = PATTERNS[language]
    wide = language in CJK
    fillers = rf"(?:(?:{raw['opener']})[\s，,、]*)*" if wide else rf"(?:(?:{raw['opener']})(?!\w)[\s,]*)*"
    begin = (
        rf"(?:\A|[，,、；;：:（(…]\s*{fillers})"
        if wide
        else rf"(?:\A|[,;:(–—…]\s*{fillers}|\.\.\s*{fillers}|\s-\s+{fillers})"
    )
    edge, gap = ("", r"[\s,.…，、。:：]*") if wide else (r"(?!\w)", r"[\s,.…:]*")
    compiled = {name: re.compile(rf"{gap}(?:{raw[name]}){edge}{gap}", re.IGNORECASE) for name in _LEADS}
    for name in raw.keys() - _LEADS:
        placed = re.sub(r"(?<!\[)\^", lambda _: begin, raw[name])
        compiled[name] = re.compile(placed, re.IGNORECASE)
    return compiled
