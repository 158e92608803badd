"""Statements: what a text asserts, clause by clause, and what a message asks.

A clause states something of its subject, in some manner; the text it came from stays beside it. What is left out is
taken from what was said before: "Lisbon." after "Where do you live?" says where I live, "no, the 21st" which flight.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from insula.language import items
from insula.language.heads import Vector
from insula.language.modality import Mark, Modality, marks, modality, says, supposes
from insula.language.owner import ASSISTANT, NOBODY, SOMEBODY, USER, Whose, called, joints, people, whose
from insula.text.analysis import Analysis, analyse, fold, sentence
from insula.text.grammar import UNSPACED
from insula.text.pasted import ELLIPSIS, QUOTED, spoken
from insula.text.questions import Ask, asks_in

BRIEF = 10
"""A clause of so many words may leave out what it is about."""
BRIEF_SIGNS = 14
"""The same of languages that write no spaces, in characters."""
MOST_TERMS = 8
"""Content words of a sentence that only sets another right; one with more stands for itself."""
DROP_PRONOUNS = frozenset({"es", "pt", "it", "zh", "ja"})
"""Languages in which nobody named means the one who speaks."""
MAX_STATEMENTS = 24
"""Of one text; more is pasted."""
NAME_WORDS = 2
NAMES = 5
"""Names in a row that are a list, and no clauses."""
TOPIC = "がはも"
"""Japanese: what stands behind the one of whom the rest says something."""
CONTEXT_CHARS = 300
CONTEXT_LINES = 3
"""Lines that a clause may lean on."""
QUESTION_MARKS = "?？"
QUESTION_CHARS = 120
"""A longer question of the assistant's completes no answer."""
_UNCOMPLETED = frozenset({"request", "code"})
"""What an answer of a few words does not complete."""
_WHO = frozenset({"chi", "quien", "quienes", "quem", "qui", "who", "wer"})
_OF_NOBODY = frozenset({NOBODY})
_MARKS = re.compile(r"\s*[;:—–]\s+|\s*,\s+")
_MARKS_UNSPACED = re.compile("[，、；。！？,;…]+")


class Statement(NamedTuple):
    """What a clause asserts."""

    text: str
    """The clause, with what it leaves out before it."""
    language: str
    subjects: frozenset[str]
    mentions: frozenset[str]
    """All who stand in it."""
    modality: Modality
    marks: frozenset[Mark]
    terms: frozenset[str]
    vector: Vector | None = None


class Question(NamedTuple):
    """What a message asks."""

    text: str
    language: str
    subjects: frozenset[str]
    modality: Modality
    marks: frozenset[Mark]
    terms: frozenset[str]
    ask: Ask
    vector: Vector | None = None
    part_of: str = ""
    """The question that asks for this among other things."""


class Utterance(NamedTuple):
    """What was said just before, in the same session."""

    text: str = ""
    own: bool = False
    """Whether the same one said it."""


class _Context(NamedTuple):
    """What a clause may leave out."""

    said: Statement | None = None
    """What the same one stated last."""
    asked: Statement | None = None
    """What they were asked since."""


def extract_statements(
    analysis: Analysis,
    speaker: str,
    listener: str,
    before: Sequence[Utterance] = (),
    only: Collection[str] | None = None,
) -> tuple[Statement, ...]:
    """What a text asserts.

    Args:
        analysis: the text.
        speaker: who says it.
        listener: to whom.
        before: what was said before, the last line last.
        only: the sentences, and what requests say beside what they ask for, that are taken for statements; by default
            all. The others still say what those leave out, and how they are meant.
    """
    return _stated(analysis, speaker, listener, _context(before, analysis.language, speaker, listener), only)


def _stated(
    analysis: Analysis, speaker: str, listener: str, context: _Context, only: Collection[str] | None = None
) -> tuple[Statement, ...]:
    language = analysis.language
    own = spoken(analysis.text)
    whole: Modality | None = "fiction" if says("fiction", own, language) else None
    found: list[Statement] = []
    for piece in analyse(own, default=language).sentences if own != analysis.text else analysis.sentences:
        if whole and says("real", piece.text, language):
            whole = None
        if any(asks_in(piece, language)):
            parts = [part for part in find_asides(piece.text, language) if only is None or part in only]
            found += (_statement(part, part, language, speaker, listener, context, whole) for part in parts)
            continue
        is_told = only is None or piece.text in only
        corrected = _corrected(piece.text, language, context)
        if corrected is not None:
            found += [corrected] if is_told else []
            continue
        for clause in _clauses(piece.text, language, speaker, listener):
            made = _statement(clause, piece.text, language, speaker, listener, context, whole)
            found += [made, *_parts(made, clause)] if is_told else []
            context = context._replace(said=made)
    plain = [one._replace(text=one.text.replace(QUOTED, ELLIPSIS)) for one in found[:MAX_STATEMENTS]]
    return _setting_right(plain)


def _setting_right(found: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements of one text: what follows "I told you the wrong school" sets right, too."""
    first = next((at for at, one in enumerate(found) if "corrects" in one.marks), len(found))
    return tuple(one._replace(marks=one.marks | {"corrects"}) if at > first else one for at, one in enumerate(found))


def find_asides(text: str, language: str) -> Iterator[str]:
    """What a question or request says beside what it asks for: "…, since we are back from Guiana it doesn't fit"."""
    parts = [part.strip() for part in _aside(language).split(text) if part.strip()]
    for part in parts if len(parts) > 1 else ():
        known = sentence(part, language)
        if len(known.terms) > 1 and not any(asks_in(known, language)) and not text.startswith(part):
            yield part


def _parts(made: Statement, clause: str) -> Iterator[Statement]:
    """The parts of a long clause between its commas, each a statement of its own: a vector of all is near to none."""
    language = made.language
    parts = [part.strip() for part in re.split("[,，、]", clause)]
    if len(parts) < 2 or _brief(clause, language, 2):
        return
    for part in parts:
        terms = frozenset(sentence(part, language).terms)
        how = modality(part, language) if made.modality in {"wish", "plan"} else made.modality
        if len(terms) > 1:
            yield made._replace(text=part, terms=terms, modality=how, marks=marks(part, language))


def _context(before: Sequence[Utterance], language: str, speaker: str, listener: str) -> _Context:
    """What the lines before say or ask, as what an elliptical clause leaves out."""
    context = _Context()
    for line in before[-CONTEXT_LINES:]:
        analysis = analyse(line.text[-CONTEXT_CHARS:], default=language)
        if line.own:
            said = [one for one in _stated(analysis, speaker, listener, context) if one.modality != "question"]
            context = _Context(said[-1] if said else None)
        else:
            context = context._replace(asked=_asked(analysis, speaker, listener, context.said))
    return context


def _asked(analysis: Analysis, speaker: str, listener: str, said: Statement | None) -> Statement | None:
    """The question with which a line ends, and which an answer of a few words leaves out; None where it ends otherwise.

    It asks something of the other, and nothing of who asks.
    """
    last = analysis.sentences[-1:]
    if not last or last[0].text.rstrip()[-1:] not in QUESTION_MARKS or len(last[0].text) > QUESTION_CHARS:
        return None
    asked = extract_questions(Analysis(last[0].text, analysis.language, last), listener, speaker)
    if not asked or asked[-1].ask.kind in _UNCOMPLETED:
        return None
    if listener == ASSISTANT and ASSISTANT in whose(last[0].text, analysis.language, listener, speaker).mentions:
        return None  # "how can I help you?", "what am I?" in a riddle
    one = asked[-1]
    # Asked by the assistant, "su hija" and "お子さん" are the user's.
    theirs = rf"^(?:{re.escape(SOMEBODY)}|{ASSISTANT})(?=/)"
    about = frozenset(re.sub(theirs, called(speaker), path) for path in one.subjects)
    about = about or (said.subjects if said else frozenset[str]())
    return Statement(one.text, one.language, about, about, "question", frozenset(), one.terms)


def find_answered_question(text: str, language: str, before: Sequence[Utterance]) -> str:
    """The assistant's question that a few words of the user's answer; empty where they stand for themselves."""
    if not before or before[-1].own or says("declines", text, language) or not _brief(text, language):
        return ""
    asked = _context(before[-1:], language, USER, ASSISTANT).asked
    return asked.text if asked is not None and _is_bare(whose(text, language, USER, ASSISTANT)) else ""


def _statement(
    clause: str,
    whole: str,
    language: str,
    speaker: str,
    listener: str,
    context: _Context,
    given: Modality | None,
) -> Statement:
    said, asked = context
    clause = _leads(language).sub("", clause)
    about = whose(clause, language, speaker, listener, sorted(said.subjects) if said else ())
    text, subjects, terms = clause, about.subjects, frozenset(sentence(clause, language).terms)
    signs = marks(clause, language)
    if asked is not None and _brief(clause, language) and _is_bare(about) and not says("declines", clause, language):
        text, subjects, terms = f"{asked.text} {clause}", asked.subjects, terms | asked.terms
    how = given or modality(clause, language)
    if how == "fact" and whole != clause and says("joke", whole, language):
        how = "joke"
    if how == "fact" and supposes(whole[: whole.find(clause) + len(clause)], language):
        how = "hypothetical"
    return Statement(text, language, subjects, about.mentions | subjects, how, signs, terms)


def _is_bare(about: Whose) -> bool:
    """Whether a clause has no subject but a name at most, as an answer has."""
    return all("/" not in one and one not in {USER, ASSISTANT, SOMEBODY} for one in about.mentions)


def _corrected(text: str, language: str, context: _Context) -> Statement | None:
    """What a sentence that sets the last statement right ("no, the 21st") states; None where it does not."""
    said, signs = context.said, marks(text, language)
    terms = frozenset(sentence(text, language).terms)
    most = MOST_TERMS * (2 if language in UNSPACED else 1)
    if said is None or "corrects" not in signs or len(terms) > most:
        return None
    return Statement(f"{said.text} {text}", language, said.subjects, said.mentions, "fact", signs, terms | said.terms)


def _brief(clause: str, language: str, times: int = 1) -> bool:
    if language in UNSPACED:
        return len(clause) <= BRIEF_SIGNS * times
    return len(clause.split()) <= BRIEF * times


def _clauses(text: str, language: str, speaker: str, listener: str) -> Iterator[str]:
    """The clauses of a sentence: it is parted where somebody is the subject of what follows."""
    start = 0
    for joint in _apart(language).finditer(text):
        rest = _leads(language).sub("", text[joint.end() :].strip())
        head = _MARKS_UNSPACED.split(rest)[0] if language in UNSPACED else " ".join(rest.split()[:4])
        about = whose(head, language, speaker, listener)
        parted = joint.group().strip() == ";" or (about.mentions and about.subjects != _OF_NOBODY)
        left = text[start : joint.start()].strip()
        joined = not joint.group().strip() and len(left.split()) <= NAME_WORDS  # "Raj and I broke up"
        parted = parted and not joined and not _is_list(rest, language)
        if parted and not _is_named(left, head, language) and sentence(left, language).terms:
            yield left
            start = joint.end()
    if rest := text[start:].strip():
        yield rest


def _is_list(rest: str, language: str) -> bool:
    """Whether what follows is nothing but names, which say who is meant: "I have two boys, Ben and Max"."""
    words = [word for word in re.findall(r"[\w'-]+", rest) if not _leads(language).match(f"{word} ")]
    return language not in UNSPACED and len(words) <= NAMES and all(word[:1].isupper() for word in words)


def _is_named(text: str, after: str, language: str) -> bool:
    """Whether a piece is a being alone, of whom the rest says something: "Pablo, my boss, is left-handed"."""
    if language in UNSPACED:
        return people(language).being(text.rstrip(TOPIC)) != ""  # "友人が、猫をもらった"
    words, own = text.split(), people(language).words.get("first_own", frozenset())
    if words and len(words) <= NAME_WORDS and people(language).being(fold(words[-1].lower())):
        return True  # "Mi abuelo, en cambio, era de Soria"
    named = len(words) <= NAME_WORDS and all(word[:1].isupper() for word in words)
    return named and after.split(" ", maxsplit=1)[0].lower() in own


@cache
def _apart(language: str) -> re.Pattern[str]:
    """Where a sentence may come apart: at marks, and before what joins clauses."""
    if language in UNSPACED:
        return _MARKS_UNSPACED
    return re.compile(rf"{_MARKS.pattern}|\s+(?=(?:{joints(language)})\s)", re.IGNORECASE)


@cache
def _aside(language: str) -> re.Pattern[str]:
    """Where what a question says beside what it asks may begin: at marks, and before a reason."""
    if language in UNSPACED:
        return _MARKS_UNSPACED
    return re.compile(rf"\s*[,;:—–]\s+|[?!]\s+|\s+(?=(?:{joints(language)})\s)", re.IGNORECASE)


@cache
def _leads(language: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{joints(language) or '(?!)'})\s+", re.IGNORECASE)


def extract_questions(analysis: Analysis, speaker: str, listener: str) -> tuple[Question, ...]:
    """What a message asks, each with whom it asks about."""
    found: list[Question] = []
    for piece in analysis.sentences:
        asked = tuple(asks_in(piece, analysis.language))
        alone = len(asked) == 1  # then what stands before the ask may say whom it is about
        for ask in asked:
            text = piece.text if alone else ask.text
            several = items.each(text, analysis.language) if ask.kind != "choice" else (text,)
            found += (
                _question(ask, one, piece.text, analysis.language, speaker, listener)._replace(
                    part_of=text if len(several) > 1 else ""
                )
                for one in several
            )
    return tuple(found[:MAX_STATEMENTS])


def extract_question(text: str, language: str, speaker: str, listener: str) -> tuple[Question, ...]:
    """What a sentence asks, each thing by itself, whether or not it is put as a question ("my dentist's name")."""
    analysis = Analysis(text, language, (sentence(text, language),))
    if found := extract_questions(analysis, speaker, listener):
        return found
    ask = Ask(text, "open", tuple(sentence(text, language).terms))
    return (_question(ask, text, text, language, speaker, listener),)


def _question(ask: Ask, text: str, whole: str, language: str, speaker: str, listener: str) -> Question:
    subjects = _asked_about(whose(text, language, speaker, listener), ask, language)
    return Question(
        text,
        language,
        subjects,
        modality(whole, language),
        marks(whole, language),
        frozenset(sentence(text, language).terms),
        ask,
    )


def _asks_who(text: str, language: str) -> bool:
    """Whether who does something is asked, and not of whom the user speaks: "chi cerca lavoro" is not "I work"."""
    if language in UNSPACED:
        return False
    words = [fold(word) for word in re.findall(r"\w+", text.lower())]
    known = people(language).words
    own = known["first"] | known["first_own"]
    return bool(words) and words[0] in _WHO and own.isdisjoint(words)


def _asked_about(about: Whose, ask: Ask, language: str) -> frozenset[str]:
    """Whom a question asks about: of "do you remember my car" it is not who is asked to remember."""
    away = {NOBODY, SOMEBODY, ASSISTANT}
    if ask.kind == "person" and _asks_who(ask.text, language):
        return about.mentions - away - {USER}
    if ask.kind == "person" and not about.mentions and language in DROP_PRONOUNS and language not in UNSPACED:
        return frozenset() if fold(ask.text.split()[0].strip("¿").lower()) in _WHO else frozenset({USER})  # "per chi"
    if not about.mentions and (ask.kind == "person" or language not in DROP_PRONOUNS):
        return frozenset()
    if about.mentions and about.mentions.isdisjoint(about.subjects):
        return about.mentions - away
    return about.subjects - away or about.mentions - away
