"""What went wrong in a session, told by the user's own words and by the signals of the day (K5, K6).

Only what the user said is read for what they want; a response is the context of what was corrected, and nothing that
was derived is looked at (law 2). A message that may hold something pasted is not the user's own plain words, and
nothing is taken from it. A question corrects nothing. Who somebody is and where they live is remembered, and is no way
to answer: a correction that says such a thing founds no lesson.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from insula.memory.assertion import statements
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.rows import Line, Noticed
from insula.memory.subject import whose
from insula.memory.wishes import is_all, wished
from insula.redaction import without_markers
from insula.screening import screen
from insula.text.analysis import LANGUAGES, Analysis, Sentence, analyse, detect
from insula.text.corrections import Correction, correction
from insula.text.grammar import UNSPACED
from insula.text.pasted import PLAIN_CHARS, own_words
from insula.text.questions import AskKind, asks_in
from insula.text.wishing import Wish
from insula.types import CONFIDENCE_LOW, IMPASSE

Category = Literal["repetition", "missing", "unasked", "language", "length", "tone", "format", "misread", "fact"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
Origin = Literal["wish", "asked", "corrected", "flagged", "stuck"]
"""A standing wish ("always …"); a wish for now ("no emojis, please"); a correction; a response that the
monitor flagged; an impasse."""
MANNER: frozenset[str] = frozenset({"language", "length", "tone", "format"})
"""How one wants to be answered, which may be the same whatever it is about."""
OWN: frozenset[Origin] = frozenset({"wish", "asked"})
"""What is the user's own wish on how to be answered, and not a judgement of ours."""

TRIGGER_TERMS = 8
WORDS_CHARS = 160
"""Characters of the user's words that are kept."""
PASTED = "it may hold something pasted"
ECHO_WORDS = 4
"""So many words that a tool said before are the tool's, whoever repeats them."""

_FLAGGED: dict[str, Category] = {
    "wrong_language": "language",
    "too_long": "length",
    "too_short": "length",
    "repetition": "repetition",
    "off_tone": "tone",
    "forbidden_pattern": "tone",
    "incomplete": "missing",
    "empty": "missing",
    "off_topic": "misread",
}
_BY_KIND: dict[str, Category] = {"correction": "fact", "instruction": "format"}
_NAMELESS = frozenset({"", "user"})
_REQUESTS: frozenset[AskKind] = frozenset({"request", "list", "code"})
"""What asks the assistant to do something, and is no question."""
_OF_FACTS: frozenset[Category] = frozenset({"fact", "misread"})
"""What is not about how to answer."""


class Mistake(NamedTuple):
    """One thing that went wrong, or that the user wants."""

    origin: Origin
    category: Category
    trigger: tuple[str, ...]
    """Terms of the message that was answered badly, rarest first; empty where it is wanted always."""
    topic: Mapping[str, str]
    """The same terms as the user wrote them, in their order."""
    wanted: str
    """The user's own words; empty where a signal alone tells of it."""
    citations: tuple[int, ...]
    """Ids of the user's messages."""
    refused: str = ""
    """Why nothing may be learned from it."""
    manner: bool = False
    """Whether it is a preference, or would be one if the day had heard it so: those have a ledger of their own."""


def found(
    lines: Sequence[Line], signals: Iterable[Noticed], rarity: Mapping[str, int] | None = None
) -> tuple[Mistake, ...]:
    """What went wrong in one session.

    Args:
        lines: its transcript, oldest first.
        signals: what was noticed in it.
        rarity: term -> in how many of the user's messages it stands; without it, long words are taken for rare.
    """
    noticed = tuple(signals)
    flags = _flags(noticed)
    read = (_mistake(one, flags, rarity or {}) for one in heard(lines))
    said = tuple(one for one in read if not _tells_of_people(one))
    corrected = {mistake.citations[0] for mistake in said if mistake.origin == "corrected"}
    return said + tuple(one for one in _noticed(lines, noticed, rarity or {}) if one.citations[0] not in corrected)


def is_users(line: Line) -> bool:
    """Whether the user said a line to the agent; what others say to each other is no wish."""
    return line.provenance == "user" and line.speaker in _NAMELESS


# What the user said.


class Heard(NamedTuple):
    """A message that corrects or wishes, with what came before it."""

    line: Line
    asked: Line | None
    """The last message before it that corrected nothing."""
    previous: str
    own: str
    """The user's own plain words in it, without its questions."""
    judged: Correction
    """What those words alone are."""
    tools: str
    """All that tools had said by then, in small letters."""

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """What it wishes of the manner of answers: that has a ledger of its own."""
        language = detect(self.line.content, detect(self.previous, "en"))
        return wished(self.line.content, language, self.previous, "", [self.tools])

    def refused(self, wanted: str) -> str:
        """Why nothing may be learned from it, however harmless the clause that says what is wanted; empty: it may."""
        if not self.judged.kind:
            return PASTED
        if reasons := screen(self.line.content, WORDS_CHARS).reasons:
            return ", ".join(reasons)
        if without_markers(wanted) != wanted:
            return "secret"
        if len(wanted.split()) >= ECHO_WORDS and _flat(wanted) in self.tools:
            return "it repeats what a tool said"
        return ""


def heard(lines: Iterable[Line]) -> Iterator[Heard]:
    """The corrections and wishes in one session, oldest first."""
    asked: Line | None = None
    previous, response, tools = "", "", ""
    for line in lines:
        if line.provenance == "assistant":
            response = line.content
        elif line.provenance == "tool":
            tools += "\n" + _flat(line.content)
        elif is_users(line):
            kind = correction(line.content, previous, response).kind
            plain = own_words(line.content)
            own = _without_questions(plain, previous)
            judged = correction(own, previous, response)
            if own != plain:
                kind = judged.kind
            if kind:
                yield Heard(line, asked, previous, own, judged, tools)
            if asked is None or not kind or kind == "repair":
                asked = line
            previous, response = line.content, ""


def _without_questions(own: str, previous: str) -> str:
    """The sentences of a text that ask nothing; "could you …?" asks for something to be done, and stays."""
    analysis = analyse(own, default=detect(previous, "en"))
    kept = [one.text for one in analysis.sentences if not _is_question(one, analysis.language)]
    return own if len(kept) == len(analysis.sentences) else " ".join(kept)


def _is_question(sentence: Sentence, language: str) -> bool:
    return any(ask.kind not in _REQUESTS for ask in asks_in(sentence, language))


def _tells_of_people(mistake: Mistake) -> bool:
    """Whether a correction says something of the user, of their people or of somebody by name."""
    if mistake.origin != "corrected" or mistake.category not in _OF_FACTS:
        return False
    said = statements(analyse(mistake.wanted), USER, ASSISTANT)
    return any(one.subjects - {"", ASSISTANT} for one in said)


def _mistake(one: Heard, flags: Mapping[int, tuple[str, ...]], rarity: Mapping[str, int]) -> Mistake:
    """What one message of the user's says, read from their own plain words alone."""
    own, judged, asked = one.own, one.judged, one.asked
    analysis = analyse(own, default=detect(one.previous, "en"))
    category = _category(own, judged, analysis.language, flags.get(asked.turn, ()) if asked else ())
    wanted = _wanted(judged, category, analysis)
    origin = _origin(judged)
    about = _condition(wanted, analysis) if origin == "wish" else own_words(asked.content) if asked else ""
    topic = _topic(analyse(about, default=analysis.language), rarity)
    if origin == "wish":
        topic = {term: text for term, text in topic.items() if text.lower() not in _generic(analysis.language)}
    cited = (one.line.id,) if origin in OWN or asked is None else (asked.id, one.line.id)
    return Mistake(
        origin, category, tuple(topic), topic, wanted, cited, one.refused(wanted), bool(one.wishes) or origin == "wish"
    )


def _origin(judged: Correction) -> Origin:
    if judged.kind == "instruction":
        return "wish" if "standing" in judged.cues else "asked"
    return "corrected"


def _wanted(judged: Correction, category: Category, analysis: Analysis) -> str:
    """The clause that says it; where there is none, the complaint, if it says more than that something is wrong."""
    if judged.wanted or category in ("fact", "misread"):
        return judged.wanted[:WORDS_CHARS]
    language = analysis.language
    return next((one.text for one in analysis.sentences if _says(category, one.text, language)), "")[:WORDS_CHARS]


def _category(own: str, judged: Correction, language: str, flags: Sequence[str]) -> Category:
    """By the user's words, else by what the monitor saw, else by the kind of correction."""
    for text in (judged.wanted, own):
        for category in CATEGORIES:
            if text and category != "fact" and _says(category, text, language):
                return category
    return _seen(flags, _BY_KIND.get(judged.kind, "misread"))


def _seen(flags: Iterable[str], otherwise: Category) -> Category:
    """What the monitor's first flag says went wrong."""
    for flag in flags:
        if flag in _FLAGGED:
            return _FLAGGED[flag]
    return otherwise


def _condition(wanted: str, analysis: Analysis) -> str:
    """What follows "when" in the sentence of a wish: what it is about. Nothing where it holds always."""
    language = analysis.language
    for sentence in analysis.sentences:
        if wanted and wanted in sentence.text and (match := _pattern("when", _known(language)).search(sentence.text)):
            rest = sentence.text if language in UNSPACED else sentence.text[match.end() :]
            return re.split(r"[,;，、]", rest, maxsplit=1)[0]
    return ""


def _flat(text: str) -> str:
    return " ".join(text.lower().split())


def told_in(lines: Sequence[Line]) -> Iterator[frozenset[str]]:
    """The terms of each statement in which the user tells of themselves or others; wishes and corrections are none."""
    wanting = {one.line.id for one in heard(lines)}
    for line in lines:
        if is_users(line) and line.id not in wanting and (own := own_words(line.content)):
            for one in statements(analyse(own), USER, ASSISTANT):
                if whose(one.text, one.language, USER, ASSISTANT).mentions - {ASSISTANT}:
                    yield one.terms


# What was noticed.


def _flags(signals: Iterable[Noticed]) -> dict[int, tuple[str, ...]]:
    """Turn -> the flags of a response that was assessed as low."""
    return {one.turn: tuple(one.data.get("flags", ())) for one in signals if one.kind == CONFIDENCE_LOW}


def _noticed(lines: Sequence[Line], signals: Iterable[Noticed], rarity: Mapping[str, int]) -> Iterator[Mistake]:
    """The responses that the monitor flagged, and the impasses."""
    noticed = tuple(signals)
    asked = {line.turn: line for line in lines if is_users(line)}
    flags = _flags(noticed)
    for signal in noticed:
        line = asked.get(signal.turn)
        if line is None or signal.kind not in (CONFIDENCE_LOW, IMPASSE):
            continue
        own = own_words(line.content)
        if _is_only_a_wish(own):
            continue
        category = _seen(flags.get(signal.turn, ()), "misread")
        topic = _topic(analyse(own), rarity)
        origin: Origin = "stuck" if signal.kind == IMPASSE else "flagged"
        refused = "" if own else PASTED
        yield Mistake(origin, category, tuple(topic), topic, "", (line.id,), refused)


def _is_only_a_wish(own: str) -> bool:
    """Whether a message asks for nothing but to be answered otherwise: no answer to it is a mistake on a topic."""
    said = wished(own, detect(own, "en")) if own else ()
    return is_all(said, own) or any(one.force == "pointing" for one in said)


# Words.


def _topic(analysis: Analysis, rarity: Mapping[str, int]) -> dict[str, str]:
    """The rarest terms of a message, each as it was written; rarest first."""
    written: dict[str, str] = {}
    for sentence in analysis.sentences:
        for word in sentence.words:
            if word.term:
                written.setdefault(word.term, word.text)
    rare = sorted(written, key=lambda term: (rarity.get(term, 0), -len(term)))
    return {term: written[term] for term in rare[:TRIGGER_TERMS]}


def terms_of(line: Line) -> frozenset[str]:
    """The terms of a line, as the day analyses it."""
    return frozenset(analyse(without_markers(line.content[: 10 * PLAIN_CHARS])).terms)


def _known(language: str) -> str:
    return language if language in LANGUAGES else "en"


def _says(what: str, text: str, language: str) -> bool:
    return bool(_pattern(what, _known(language)).search(text.replace("’", "'")))


@cache
def _data() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.text") / "mistakes.json").read_text("utf-8"))


@cache
def _pattern(what: str, language: str) -> re.Pattern[str]:
    phrases = _data()[language][what]
    return re.compile(phrases if language in UNSPACED else rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)


@cache
def _generic(language: str) -> frozenset[str]:
    return frozenset(_data()[_known(language)]["generic"].split())
