"""What is kept of a text beside its words: who claims what about whom.

The answer to "Where does Ana live?" is a sentence about Ana, not one that merely shares words with the question. So a
text is encoded sentence by sentence as claims: the people that it is about, and the terms said of them.
"""

from collections.abc import Iterable
from typing import NamedTuple

from insula.language.owner import short_name
from insula.text.analysis import Analysis, Sentence, words_of
from insula.text.questions import find_assertions
from insula.types import MemoryKind


class EncodedClaim(NamedTuple):
    """The terms of one sentence and the people it is about, lower-case."""

    owners: frozenset[str]
    terms: tuple[str, ...]


class Encoding(NamedTuple):
    """A text as it is stored: its claims, the names in it, and whether it asserts anything."""

    claims: tuple[EncodedClaim, ...]
    names: frozenset[str]
    kind: MemoryKind
    """`semantic` where a sentence asserts something, else `episodic` (a question, a greeting)."""

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(term for claim in self.claims for term in claim.terms)

    def dump_claims(self) -> str:
        """One line per claim: owners, a tab, terms."""
        return "\n".join(f"{' '.join(sorted(claim.owners))}\t{' '.join(claim.terms)}" for claim in self.claims)


def load_terms(dumped: str) -> list[str]:
    """The terms of the claims that `Encoding.dump_claims` wrote, in order and with repeats."""
    return [term for line in dumped.split("\n") if line for term in line.partition("\t")[2].split(" ")]


def encode_claims(analysis: Analysis, speaker: str, listener: str) -> Encoding:
    """Encode what `speaker` said to `listener`."""
    claims = (
        attribute_sentence(sentence, analysis.language, speaker, listener)
        for sentence in analysis.sentences
        if sentence.terms
    )
    kind: MemoryKind = "semantic" if find_assertions(analysis) else "episodic"
    names = frozenset[str]().union(*(named_in(sentence) for sentence in analysis.sentences))
    return Encoding(tuple(claims), names, kind)


def attribute_sentence(sentence: Sentence, language: str, speaker: str, listener: str) -> EncodedClaim:
    """Whom one sentence is about.

    "I" is the speaker and "you" the listener; names are themselves, but where a sentence says "I" or "you" the name of
    the listener only calls them ("Ana, I moved."). A sentence without either is the speaker's own ("Moved to Lisbon
    last week.").
    """
    spoken = {short_name(person) for person in list_persons(sentence, language, speaker, listener)}
    addressed = {short_name(speaker), short_name(listener)} if spoken else set[str]()
    named = named_in(sentence) - addressed
    return EncodedClaim(frozenset(spoken | named or {short_name(speaker)}), sentence.terms)


def named_in(sentence: Sentence) -> set[str]:
    """The names in a sentence as they are written, lower-case: a stem ("carolin") is nobody's name."""
    return {word.text.lower() for word in sentence.words if word.capital and word.term in sentence.names}


def list_persons(sentence: Sentence, language: str, speaker: str, listener: str) -> Iterable[str]:
    """`speaker` where the first person is used, `listener` where the second is."""
    spoken = {word.text.lower() for word in sentence.words}
    if spoken & words_of("first", language) or _holds_pronoun(sentence.text, "first", language):
        yield speaker
    if spoken & words_of("second", language) or _holds_pronoun(sentence.text, "second", language):
        yield listener


def _holds_pronoun(text: str, person: str, language: str) -> bool:
    """Chinese and Japanese write no spaces, so their pronouns are looked for in the text."""
    return language in {"zh", "ja"} and any(pronoun in text for pronoun in words_of(person, language))
