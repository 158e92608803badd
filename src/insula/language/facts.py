"""Which sentences of a message tell a fact of the user's life: they alone are kept as facts, and shown as such.

A sentence tells one where it stands in plain words of the user's own, asks nothing, and a small head on its meaning
takes it for a fact (`insula.language.heads`), and not for something else: a request, a trouble of the moment, a part in
a game, a word about the world or an answer. The head need be less sure where the sentence answers the question that the
assistant asked just before, or sets right or goes on with what the user said last. Without vectors a sentence tells a
fact that says "I" or "my", neither to "you" nor as a wish.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from insula.language.heads import Vector, operating_point, predict_chance, weigh_message
from insula.language.owner import ASSISTANT, SOMEBODY, USER, find_owners
from insula.language.statements import (
    Aside,
    Utterance,
    classify_modality,
    find_answered_question,
    find_asides,
    find_marks,
)
from insula.text.analysis import Analysis, analyse_text
from insula.text.grammar import UNSPACED
from insula.text.pasted import ELLIPSIS, QUOTED, find_quotations, told_words
from insula.text.questions import asks_in, find_assertions

WORDS, SIGNS = 3, 5
"""Words, or characters where words are not spaced, below which the head must be surer ("Thanks, bye", "Soy zurda")."""
MOST = 24
"""Sentences of one message that are weighed."""
EXCHANGE = 2
"""Lines of the exchange before."""
REPEATED = re.compile(r"\b([^\W\d]+)(?:[\s,]+\1\b){2,}")
"""A word said three times or more, as in "far far far away": the rest of the sentence would fade beside it."""


class FactCandidate(NamedTuple):
    """A sentence, or what a request says beside what it asks for."""

    text: str
    """As the statements are made of it: with a mark for each quotation."""
    shown: str
    """In the user's own words, quotations and all."""
    meant: str
    """The text whose meaning is weighed: a word said many times over stands in it once."""
    own: bool
    """Whether it says "I" or "my"; see `speaks_of_user`."""
    asked: str = ""
    """The assistant's question that it answers."""
    follows: bool = False
    """Whether it sets right what the user said just before, or goes on about somebody of theirs in it."""
    hung: str = ""
    """It with the words that it hangs on: "Suppose I earn 5,000", of which only "I earn 5,000" is said beside."""
    own_question: str = ""
    """The user's own question that it answers."""
    corrects: bool = False
    """Whether it sets right what the assistant answered to that."""

    @property
    def weighed(self) -> tuple[str, ...]:
        """The texts whose meanings are weighed: each must be one of a fact."""
        return (self.meant, self.hung) if self.hung else (self.meant,)


def find_fact_candidates(analysis: Analysis, before: Sequence[Utterance] = ()) -> tuple[FactCandidate, ...]:
    """The sentences of a user's message that may tell a fact.

    Args:
        before: what was said before it, the last line last.
    """
    told = told_words(analysis.text)
    if not told:
        return ()
    own = analysis if told == analysis.text.strip() else analyse_text(told, default=analysis.language)
    return tuple(_list_units(own, find_quotations(analysis.text), before))[:MOST]


def _list_units(own: Analysis, quoted: Sequence[str], before: Sequence[Utterance]) -> Iterator[FactCandidate]:
    stating = {sentence.text for sentence in find_assertions(own)}
    for sentence in own.sentences:
        texts: Iterable[Aside] = (Aside(sentence.text),) if sentence.text in stating else ()
        if not texts and any(asks_in(sentence, own.language)):
            texts = find_asides(sentence.text, own.language)
        for text, lead in texts:
            if not asks_of_assistant(text, own.language):
                yield _make_unit(text, lead, own, quoted, before)


def _make_unit(
    text: str, lead: str, whole: Analysis, quoted: Sequence[str], before: Sequence[Utterance]
) -> FactCandidate:
    plain = text.replace(QUOTED, ELLIPSIS)
    own = speaks_of_user(plain, whole.language)
    asked = find_answered_question(plain, whole.language, before)
    first = whole.text.count(QUOTED, 0, max(whole.text.find(text), 0))
    shown, follows = _restore_quotations(text, quoted[first:]), _follows_on(plain, whole.language, before)
    hung = f"{lead}{text}".replace(QUOTED, ELLIPSIS) if lead and not asked else ""
    meant = REPEATED.sub(r"\1", f"{asked} {plain}".strip())
    return FactCandidate(text, shown, meant, own, asked, follows, hung)


def _follows_on(text: str, language: str, before: Sequence[Utterance]) -> bool:
    said = next((utterance.text for utterance in reversed(before[-EXCHANGE:]) if utterance.own), "")
    if not said:
        return False
    if "corrects" in find_marks(text, language):
        return True
    subjects = find_owners(text, language, USER, ASSISTANT).subjects
    mentions = find_owners(said, analyse_text(said, default=language).language, USER, ASSISTANT).mentions
    theirs = any(path.startswith(f"{USER}/") for path in mentions)
    return theirs and bool(subjects) and all(path.startswith(SOMEBODY) for path in subjects)


def asks_of_assistant(text: str, language: str) -> bool:
    """Whether a sentence says what "you" are wished to do: "I want you to act as a guide"."""
    mentions = find_owners(text, language, USER, ASSISTANT).mentions
    return ASSISTANT in mentions and classify_modality(text, language) == "wish"


def speaks_of_user(text: str, language: str) -> bool:
    """Whether a sentence says "I" or "my", neither to "you" ("I want you to act as a guide") nor as a wish."""
    mentions = find_owners(text, language, USER, ASSISTANT).mentions
    said = ASSISTANT not in mentions and any(path.split("/")[0] == USER for path in mentions)
    return said and classify_modality(text, language) != "wish"


def _restore_quotations(text: str, quoted: Sequence[str]) -> str:
    """A text with the quotations that were taken out of it."""
    parts = text.split(QUOTED)
    return "".join(chain.from_iterable(zip_longest(parts, quoted[: len(parts) - 1], fillvalue="")))


def select_facts(candidates: Iterable[FactCandidate], vectors: Mapping[str, Vector]) -> tuple[FactCandidate, ...]:
    """Those of some sentences that tell a fact, by the vectors of what they mean as far as there are any."""
    return tuple(
        candidate
        for candidate in candidates
        if all(_is_fact(candidate._replace(meant=text), vectors.get(text)) for text in candidate.weighed)
    )


def is_surely_fact(candidate: FactCandidate, vectors: Mapping[str, Vector]) -> bool:
    """Whether a sentence surely tells a fact, so that a reader who finds none in it has overlooked it.

    Where there are no vectors, whatever may tell a fact does.
    """
    chances = [predict_chance("fact", text, vectors.get(text)) for text in candidate.weighed]
    answers = bool(candidate.asked or candidate.follows)
    return answers or all(chance is None or chance >= operating_point("fact", "sure") for chance in chances)


def _is_fact(candidate: FactCandidate, vector: Vector | None) -> bool:
    likely = predict_chance("fact", candidate.meant, vector)
    if likely is None:
        return candidate.own
    if candidate.asked or candidate.follows:
        return likely >= operating_point("fact", "answer")
    action = ("store" if candidate.own else "others") if _is_clause(candidate.text) else "sure"
    return likely >= operating_point("fact", action) and not _asks_rather(candidate, vector, likely)


def _asks_rather(candidate: FactCandidate, vector: Vector | None, likely: float) -> bool:
    """Whether a sentence asks for what only the user can have told ("The vet wants to know which tablets"), surely and
    more likely than it tells a fact."""
    asks = predict_chance("personal", candidate.meant, vector)
    return asks is not None and weigh_message(asks, asks) >= max(operating_point("personal", "sure"), likely)


def _is_clause(text: str) -> bool:
    wide = any(char >= "\u3040" for char in text)
    return len(text) >= SIGNS if wide else len(text.split()) >= WORDS


def join_facts(candidates: Sequence[FactCandidate], language: str) -> str:
    """What may be shown of some sentences: the user's words, and the question that they answer, called so."""
    between = "" if language in UNSPACED else " "
    return between.join(map(_show_fact, candidates))


def _show_fact(candidate: FactCandidate) -> str:
    if candidate.own_question:
        leads = "corrects the answer to" if candidate.corrects else "to the question"
        return f'{candidate.shown} ({leads}: "{candidate.own_question}")'
    return f'{candidate.shown} (asked by the assistant: "{candidate.asked}")' if candidate.asked else candidate.shown


def answer_own_question(
    text: str, candidates: Sequence[FactCandidate], facts: Sequence[FactCandidate], question: str, *, corrects: bool
) -> list[FactCandidate]:
    """What answers the user's own question: the facts of a message, or all that it says; the last names the question.

    Args:
        text: the message.
        candidates: its sentences that may tell a fact.
        facts: those that do.
        question: what the user had asked.
        corrects: whether the assistant had answered it, wrongly.
    """
    *before, last = facts or candidates or (FactCandidate(text, text, text, own=False),)
    return [*before, last._replace(own_question=question, corrects=corrects)]
