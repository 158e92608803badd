"""Statements: what a text asserts, clause by clause, and what a message asks, each with whom it is about.

A clause states something of its owner, in some modality; the text it came from stays beside it. What is left out is
taken from what was said before: "Lisbon." after "Where do you live?" says where I live.

A clause is meant as a fact, a plan, a wish, a supposition or fiction, and may say that something changed; the words of
eight languages stand in `modality.json`.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from insula.language.heads import Vector
from insula.language.owner import (
    ASSISTANT,
    NOBODY,
    SOMEBODY,
    USER,
    Owners,
    find_owners,
    load_lexicon,
    short_name,
    split_words,
)
from insula.text.analysis import LANGUAGES, Analysis, analyse_sentence, analyse_text, fold_accents
from insula.text.grammar import UNSPACED
from insula.text.pasted import ELLIPSIS, QUOTED, own_speech
from insula.text.questions import Ask, asks_in
from insula.text.tables import load_table

Modality = Literal["fact", "plan", "wish", "hypothetical", "fiction", "joke", "question"]
"""Jokes stand in older stores alone."""
Mark = Literal["negated", "ended", "corrects", "changes", "before"]
"""What a clause says beside its matter: that it is not so, no longer so, wrong before, new; or, as its reader
says, of the past."""
UPDATES: frozenset[Mark] = frozenset({"negated", "ended", "corrects", "changes"})
"""Marks of what may take the place of an older statement."""
CONDITIONS = frozenset(
    {"if", "unless", "in case", "falls", "au cas où", "en caso de", "caso", "nel caso"}
    | {"imagine", "imagina", "immagina", "imaginons", "imagínate", "stell dir vor"}
)
"""Words of a condition, and calls to imagine something, that may follow a fact."""
MARKS: tuple[Mark, ...] = ("negated", "ended", "corrects", "changes")
QueryKind = Literal["question", "request", "task"]


class PredictedQuery(NamedTuple):
    """A message that the user may send later, for which what they said is needed, as their own model predicts it.

    It brings to mind what shares no word with what is asked: documents are found by the queries that a
    model predicts for them (Nogueira et al. 2019, "Document Expansion by Query Prediction").
    """

    kind: QueryKind
    """A `question` is answered by a statement; the answer to a `request` has to take one into account; a `task` is of
    those to which a preference is limited."""
    text: str
    vector: Vector | None = None
    """What it means, once that is told."""


def classify_modality(clause: str, language: str) -> Modality:
    """How a clause is meant, told from its own words."""
    if only_supposes(clause, language):
        return "hypothetical"
    if uses_device("wish", clause, language):
        return "wish"
    return "plan" if uses_device("plan", clause, language) else "fact"


def only_supposes(clause: str, language: str) -> bool:
    """Whether a clause only supposes something; what stands before a condition is said all the same.

    "My reference is QX-7719, ring if late" states a reference.
    """
    match = _compile_device("hypothetical", language if language in LANGUAGES else "en").search(
        clause.replace("’", "'")
    )
    return match is not None and not (match.group().lower() in CONDITIONS and "," in clause[: match.start()])


def find_marks(clause: str, language: str) -> frozenset[Mark]:
    """What a clause says beside its matter."""
    return frozenset(mark for mark in MARKS if uses_device(mark, clause, language))


def uses_device(device: str, text: str, language: str) -> bool:
    """Whether a text uses a device of `modality.json`."""
    return bool(_compile_device(device, language if language in LANGUAGES else "en").search(text.replace("’", "'")))


@cache
def _compile_device(device: str, language: str) -> re.Pattern[str]:
    words: str = load_table("modality.json", __package__)[language].get(device, "(?!)")
    if device == "fiction":  # looked for in the words of all languages at once
        words = load_table("modality.json", __package__)[device]
        unspaced = "|".join(word for word in words.split("|") if re.search("[\u3040-\u9fff]", word))
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)|{unspaced}", re.IGNORECASE | re.MULTILINE)
    if language in UNSPACED:
        return re.compile(words, re.IGNORECASE | re.MULTILINE)
    apart = [rf"{word}(?!\w)" for word in words.split("|") if word.startswith("n't")]
    return re.compile("|".join([rf"(?<!\w)(?:{words})(?!\w)", *apart]), re.IGNORECASE | re.MULTILINE)


BRIEF = 10
"""A clause of so many words may leave out what it is about."""
BRIEF_SIGNS = 14
"""The same of languages that write no spaces, in characters."""
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
_MARKS_UNSPACED = re.compile("[，、；。！？，;…]+")


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


class Aside(NamedTuple):
    """What a sentence says."""

    text: str
    lead: str = ""
    """The words of the sentence that it hangs on: "Suppose" or "I am to write", but not what is asked."""


class MessageQuestion(NamedTuple):
    """What a message asks."""

    text: str
    language: str
    subjects: frozenset[str]
    modality: Modality
    terms: frozenset[str]
    ask: Ask
    request: Vector | None = None
    """What is read of it; see `insula.language.heads.read_request`."""


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
    """Extract what a text asserts.

    Args:
        before: what was said before, the last line last.
        only: the sentences, and what requests say beside what they ask for, that are taken for statements; by default
            all. The others still say what those leave out.
    """
    return _extract_statements(
        analysis, speaker, listener, _read_context(before, analysis.language, speaker, listener), only
    )


def _extract_statements(
    analysis: Analysis, speaker: str, listener: str, context: _Context, only: Collection[str] | None = None
) -> tuple[Statement, ...]:
    language, own = analysis.language, own_speech(analysis.text)
    played = uses_device("fiction", own, language)
    extracted: list[Statement] = []
    for piece in analyse_text(own, default=language).sentences if own != analysis.text else analysis.sentences:
        if any(asks_in(piece, language)):
            asides = (aside.text for aside in find_asides(piece.text, language) if only is None or aside.text in only)
            extracted += (_make_statement(part, part, language, speaker, listener, context) for part in asides)
            continue
        for clause in _split_clauses(piece.text, language, speaker, listener):
            made = _make_statement(clause, piece.text, language, speaker, listener, context)
            extracted += [made] if only is None or piece.text in only else []
            context = context._replace(said=made)
    plain = (
        statement._replace(text=statement.text.replace(QUOTED, ELLIPSIS)) for statement in extracted[:MAX_STATEMENTS]
    )
    return tuple(statement._replace(modality="fiction") if played else statement for statement in plain)


def find_asides(text: str, language: str) -> Iterator[Aside]:
    """What a question or request says beside what it asks for: "…, since we are back from Guiana it doesn't fit"."""
    parts = [part.strip() for part in _joint_pattern(language, asking=True).split(text) if part.strip()]
    since = end = 0
    for part in parts if len(parts) > 1 else ():
        start = text.index(part, end)
        end = start + len(part)
        known = analyse_sentence(part, language)
        if any(asks_in(known, language)):
            since = end
        elif len(known.terms) > 1:
            lead = text[since:start].lstrip(" ,;:.!?，、；：。")
            yield Aside(part, lead)


def _read_context(before: Sequence[Utterance], language: str, speaker: str, listener: str) -> _Context:
    """What the lines before say or ask, as what an elliptical clause leaves out."""
    context = _Context()
    for line in before[-CONTEXT_LINES:]:
        analysis = analyse_text(line.text[-CONTEXT_CHARS:], default=language)
        if line.own:
            said = _extract_statements(analysis, speaker, listener, context)
            context = _Context(said[-1] if said else None)
        else:
            context = context._replace(asked=_read_asked(analysis, speaker, listener, context.said))
    return context


def _read_asked(analysis: Analysis, speaker: str, listener: str, said: Statement | None) -> Statement | None:
    """The question with which a line ends, and which an answer of a few words leaves out; None where it ends otherwise.

    It asks something of the other, and nothing of who asks ("how can I help you?").
    """
    last = analysis.sentences[-1:]
    if not last or last[0].text.rstrip()[-1:] not in QUESTION_MARKS or len(last[0].text) > QUESTION_CHARS:
        return None
    asked = extract_questions(Analysis(last[0].text, analysis.language, last), listener, speaker)
    if not asked or asked[-1].ask.kind in _UNCOMPLETED:
        return None
    if listener == ASSISTANT and ASSISTANT in find_owners(last[0].text, analysis.language, listener, speaker).mentions:
        return None
    question = asked[-1]
    # Asked by the assistant, "su hija" and "お子さん" are the user's.
    theirs = rf"^(?:{re.escape(SOMEBODY)}|{ASSISTANT})(?=/)"
    about = frozenset(re.sub(theirs, short_name(speaker), path) for path in question.subjects)
    about = about or (said.subjects if said else frozenset[str]())
    return Statement(question.text, question.language, about, about, "question", frozenset(), question.terms)


def state_answer(question: str, words: str, language: str) -> Statement:
    """What a user states with words that answer their own question: about whom it asks, and with it.

    Without the question "It's Wednesdays now." is of nothing that anybody could ask for.
    """
    about = find_owners(question, language, USER, ASSISTANT).mentions - {ASSISTANT} or frozenset({USER})
    terms = (term for text in (question, words) for term in analyse_sentence(text, language).terms)
    return Statement(
        f"{question} {words}", language, about, about, "fact", find_marks(words, language), frozenset(terms)
    )


def find_answered_question(text: str, language: str, before: Sequence[Utterance]) -> str:
    """The assistant's question that a few words of the user's answer; empty where they stand for themselves."""
    if not before or before[-1].own or not _is_brief(text, language):
        return ""
    asked = _read_context(before[-1:], language, USER, ASSISTANT).asked
    return asked.text if asked is not None and _is_bare(find_owners(text, language, USER, ASSISTANT)) else ""


def _make_statement(
    clause: str, whole: str, language: str, speaker: str, listener: str, context: _Context
) -> Statement:
    """A clause of a sentence as a statement, with the question before it where it only answers that."""
    said, asked = context
    clause = _lead_pattern(language).sub("", clause)
    about = find_owners(clause, language, speaker, listener, sorted(said.subjects) if said else ())
    text, subjects, terms = clause, about.subjects, frozenset(analyse_sentence(clause, language).terms)
    answers = asked is not None and _is_brief(clause, language) and _is_bare(about)
    if asked is not None and answers:
        text, subjects, terms = f"{asked.text} {clause}", asked.subjects, terms | asked.terms
    how = classify_modality(clause, language)
    if how == "fact" and only_supposes(whole[: whole.find(clause) + len(clause)], language):
        how = "hypothetical"
    return Statement(text, language, subjects, about.mentions | subjects, how, find_marks(clause, language), terms)


def _is_bare(about: Owners) -> bool:
    """Whether a clause has no subject but a name at most, as an answer has."""
    return all("/" not in path and path not in {USER, ASSISTANT, SOMEBODY} for path in about.mentions)


def _is_brief(clause: str, language: str) -> bool:
    return len(clause) <= BRIEF_SIGNS if language in UNSPACED else len(clause.split()) <= BRIEF


def _split_clauses(text: str, language: str, speaker: str, listener: str) -> Iterator[str]:
    """The clauses of a sentence: it is parted where somebody is the subject of what follows."""
    start = 0
    for joint in _joint_pattern(language).finditer(text):
        rest = _lead_pattern(language).sub("", text[joint.end() :].strip())
        head = _joint_pattern(language).split(rest, maxsplit=1)[0]  # "since January, but Tom": of January alone
        head = head if language in UNSPACED else " ".join(head.split()[:4])
        about = find_owners(head, language, speaker, listener)
        parted = joint.group().strip() == ";" or (about.mentions and about.subjects != _OF_NOBODY)
        left = text[start : joint.start()].strip()
        joined = not joint.group().strip() and len(left.split()) <= NAME_WORDS  # "Raj and I broke up"
        parted = parted and not joined and not _is_list(rest, language) and not _is_named(left, head, language)
        if parted and analyse_sentence(left, language).terms:
            yield left
            start = joint.end()
    if rest := text[start:].strip():
        yield rest


def _is_list(rest: str, language: str) -> bool:
    """Whether what follows is nothing but names, which say who is meant: "I have two boys, Ben and Max"."""
    words = [word for word in re.findall(r"[\w'-]+", rest) if not _lead_pattern(language).match(f"{word} ")]
    return language not in UNSPACED and len(words) <= NAMES and all(word[:1].isupper() for word in words)


def _is_named(text: str, after: str, language: str) -> bool:
    """Whether a piece is a being alone, of whom the rest says something: "Pablo, my boss, is left-handed"."""
    known = load_lexicon(language)
    if language in UNSPACED:
        return known.find_being(text.rstrip(TOPIC)) != ""  # "友人が、猫をもらった"
    words = text.split()
    if not words or len(words) > NAME_WORDS:
        return False
    names = all(word[:1].isupper() for word in words)
    named = names and after.split(" ", maxsplit=1)[0].lower() in known.words["first_own"]
    return named or known.find_being(fold_accents(words[-1].lower())) != ""  # "Mi abuelo, en cambio, era de Soria"


@cache
def _joint_pattern(language: str, *, asking: bool = False) -> re.Pattern[str]:
    """Where a sentence may come apart: at marks, and before what joins clauses."""
    if language in UNSPACED:
        return _MARKS_UNSPACED
    marked = rf"{_MARKS.pattern}|[?!]\s+" if asking else _MARKS.pattern
    return re.compile(rf"{marked}|\s+(?=(?:{_joining_words(language)})\s)", re.IGNORECASE)


@cache
def _lead_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{_joining_words(language) or '(?!)'})\s+", re.IGNORECASE)


def _joining_words(language: str) -> str:
    words = sorted(load_lexicon(language).words.get("joints", ()))
    return "|".join(re.escape(word).replace("_", " ") for word in words)


def extract_questions(analysis: Analysis, speaker: str, listener: str) -> tuple[MessageQuestion, ...]:
    """Extract what a message asks, each with whom it asks about."""
    questions: list[MessageQuestion] = []
    for piece in analysis.sentences:
        asked = tuple(asks_in(piece, analysis.language))
        alone = len(asked) == 1  # then what stands before the ask may say whom it is about
        for ask in asked:
            text = piece.text if alone else ask.text
            questions.append(_make_question(ask, text, piece.text, analysis.language, speaker, listener))
    return tuple(questions[:MAX_STATEMENTS])


def extract_question(text: str, language: str, speaker: str, listener: str) -> tuple[MessageQuestion, ...]:
    """Extract what a sentence asks, whether or not it is put as a question ("my dentist's name")."""
    analysis = Analysis(text, language, (analyse_sentence(text, language),))
    if questions := extract_questions(analysis, speaker, listener):
        return questions
    ask = Ask(text, "open", tuple(analyse_sentence(text, language).terms))
    return (_make_question(ask, text, text, language, speaker, listener),)


def _make_question(ask: Ask, text: str, whole: str, language: str, speaker: str, listener: str) -> MessageQuestion:
    subjects = _asked_about(find_owners(text, language, speaker, listener), ask, language)
    terms = frozenset(analyse_sentence(text, language).terms)
    return MessageQuestion(text, language, subjects, classify_modality(whole, language), terms, ask)


def _asked_about(about: Owners, ask: Ask, language: str) -> frozenset[str]:
    """Whom a question asks about: of "do you remember my car" it is not who is asked to remember."""
    away = {NOBODY, SOMEBODY, ASSISTANT}
    if ask.kind == "person" and language not in UNSPACED:
        words, known = split_words(ask.text), load_lexicon(language).words
        if words and words[0] in _WHO and (known["first"] | known["first_own"]).isdisjoint(words):
            return about.mentions - away - {USER}  # "chi cerca lavoro" is not "I work"
    if not about.mentions and (ask.kind == "person" or language not in DROP_PRONOUNS):
        return frozenset()
    if about.mentions and about.mentions.isdisjoint(about.subjects):
        return about.mentions - away
    return about.subjects - away or about.mentions - away
