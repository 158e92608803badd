"""Whether a question asks for what only its user can have told, by its words: for an answer that claims to know it.

What may stand before the model is decided by meaning (`gate.py`). An answer is judged without vectors, too.

The form is strict. It asks what was told before ("Do you remember where I live?"), or it asks for a name, an age, a
birthday, a home, a job or the like of the user or of somebody of theirs, and names nothing else ("How old is my
sister?"; not "How old should …", "How old is my sister in dog years?"). Advice, how and why are never of it.
"""

import re
from functools import cache

from insula.language.owner import ASSISTANT, USER, find_owners, load_lexicon
from insula.text.analysis import LANGUAGES, fold_accents, term_of
from insula.text.grammar import UNSPACED, compile_words
from insula.text.questions import Ask, AskKind
from insula.text.tables import load_table

_WORDS = "aim.json"
_VALUED: frozenset[AskKind] = frozenset({"name", "person", "place", "time", "number", "choice", "open"})
_WHO: frozenset[AskKind] = frozenset({"person", "name", "number"})
"""Of somebody alone these ask what one must have been told: "Who is my dentist?", "How many sisters do I have?"."""
_WORD = re.compile(r"\w+")
_NOBODY = f"{USER}/person"
"""Whom "the first woman in space" may be: nobody of the user's."""


def asks_only_user(ask: Ask, language: str) -> bool:
    """Whether a question asks for what only its user can have told; see the module."""
    if language not in LANGUAGES or wants_advice(ask, language):
        return False
    text = ask.text.replace("’", "'")
    if not _is_of_user(text, language):
        return False
    return _matches_phrase("remember", text, language) or (
        ask.kind in _VALUED and _names_slots_alone(ask, text, language)
    )


def wants_advice(ask: Ask, language: str) -> bool:
    """Whether a question asks for advice or help, which no memory holds."""
    return language in LANGUAGES and _matches_phrase("advice", ask.text.replace("’", "'"), language)


def _is_of_user(text: str, language: str) -> bool:
    """Whether a question speaks of the user, or of somebody who is called theirs: not of any dog, but of my dog."""
    of = find_owners(text, language, USER, ASSISTANT).mentions - {_NOBODY}
    if USER in of or language in UNSPACED:
        return any(path == USER or path.startswith(f"{USER}/") for path in of)
    own = load_lexicon(language).words["first_own"]
    return any(path.startswith(f"{USER}/") for path in of) and any(
        fold_accents(word) in own for word in _WORD.findall(text)
    )


def _names_slots_alone(ask: Ask, text: str, language: str) -> bool:
    """Whether a question names people, animals and slots, and nothing else."""
    known, beings = slot_words(language), _being_words(language)
    if language in UNSPACED:
        left = re.sub("|".join(map(re.escape, sorted(known | beings, key=len, reverse=True))), " ", text)
        other, held = [term for term in ask.terms if term in left], any(slot in text for slot in known)
    else:
        terms = frozenset(ask.terms)
        # Stems differ with and without accents ("cão"), and the table has none.
        named = {
            term_of(word, language)
            for word in _WORD.findall(text)
            if fold_accents(word.lower()) in load_lexicon(language).beings
        }
        other, held = terms - known - beings - named, not known.isdisjoint(terms)
    return not other and (held or ask.kind in _WHO)


@cache
def slot_words(language: str) -> frozenset[str]:
    """What a value of somebody's is called: a name, an age, a home; by its stem where words stand apart."""
    words = load_table(_WORDS, __package__)[language]["slots"].split()
    return frozenset(
        words if language in UNSPACED else (term_of(fold_accents(word), language) or word for word in words)
    )


@cache
def _being_words(language: str) -> frozenset[str]:
    words = load_lexicon(language).beings
    return frozenset(words if language in UNSPACED else (term_of(word, language) or word for word in words))


def _matches_phrase(phrases_name: str, text: str, language: str) -> bool:
    return bool(_compile_phrase(phrases_name, language).search(text))


@cache
def _compile_phrase(what: str, language: str) -> re.Pattern[str]:
    return compile_words(load_table(_WORDS, __package__)[language][what], language, re.IGNORECASE)
