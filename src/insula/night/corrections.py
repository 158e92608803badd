"""What the user corrected, in their own plain words, and what they corrected again in another session (K6).

That something was wrong is told by a head on the sentence vectors; that a request is the last one in other words, by
its letters, behind a response that apologises; that two say the same, as for coding agents
(`insula.coding.step.corrections`). Nothing is concluded from what a monitor of ours thought of an answer: only the user
says that one was wrong. What may be pasted is not the user's own, and a question corrects nothing. Who somebody is and
where they live is remembered, and how to answer is a preference: both have a place of their own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from insula.coding.step.corrections import measure_likeness
from insula.language.forget import find_request
from insula.language.guiding import CORRECTS, FEEDBACK, THANKS, guiding_chance
from insula.language.handed import Hands, Waits, may_wait, users_lines
from insula.memory.retrieval.embedding import embed_each
from insula.memory.storage.changes import LessonChange
from insula.memory.storage.rows import StoredGuidance, StoredSignal, TranscriptLine
from insula.memory.storage.vectors import Embed
from insula.redaction import without_markers
from insula.screening import screen_text
from insula.text import triggers
from insula.text.analysis import Analysis, Sentence, analyse_text, detect_language, split_words, words_of
from insula.text.answers import AskKind, apologises
from insula.text.grammar import UNSPACED
from insula.text.pasted import PLAIN_CHARS, own_words, split_units
from insula.text.questions import asks_in
from insula.text.wording import flatten_words

AGAIN = 0.6
"""From this likeness of their words on, two corrections say the same."""
WORDS_CHARS = 160
"""Characters of the user's words that are kept."""
TRIGGER_TERMS = 8
FEWEST_TERMS = 2
"""Content words of a correction, unless it names a number."""
ECHO_WORDS = 4
"""So many words that a tool said before are the tool's, whoever repeats them."""
Kind = Literal["corrected", "stuck"]
"""What was put right, and what no answer was found to: the first part of the key of a lesson that is made of it."""
ADVICE: Mapping[Kind, str] = {
    "corrected": "When this comes up, keep to what they corrected: “{wanted}”.",
    "stuck": "Twice no answer was found to this: “{wanted}”. Do not try the same again; ask what is missing.",
}
"""The sentences of such lessons: the user's words in ours."""

READ = 2_000
"""Characters of a message and of a response: who corrects says so early, and what follows may be pasted."""
_ASKS_WITHIN, _APOLOGY_WITHIN = 100, 100
"""A response asks something in its last characters, and apologises in its first: a mail that is read out may, too."""
_COMPARED = 400
"""Characters of two messages that are compared."""
_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？、]\s*")
_EDGE = " \t\n,;:.!?…，、；：。！？–—-"

_NAMELESS = frozenset({"", "user"})
_REQUESTS: frozenset[AskKind] = frozenset({"request", "list", "code"})
"""What asks the assistant to do something, and is no question."""


class Corrected(NamedTuple):
    """One thing that the user put right, or asked and no answer was found to."""

    session_id: int
    wanted: str
    """In their own words."""
    about: tuple[str, ...]
    """Terms of the message that was answered wrongly, or of the correction where none came before it."""
    citations: tuple[int, ...]
    """Ids of the user's messages."""
    refused: str = ""
    """Why nothing may be learned from it."""
    kind: Kind = "corrected"


def is_users(line: TranscriptLine) -> bool:
    """Whether the user said a line to the agent; what others say to each other is no wish."""
    return line.provenance == "user" and line.speaker in _NAMELESS


# What the user said.


def own_lines(lines: Sequence[TranscriptLine], hands: Hands, waits: Waits = may_wait) -> list[TranscriptLine]:
    """The lines of a session, those of the user's without what they handed over."""
    said = zip(lines, users_lines(lines, hands, waits), strict=True)
    return [line._replace(content=own.text) if line.provenance == "user" else line for line, own in said]


class Reaction(NamedTuple):
    """What a message says of the response before it."""

    score: float
    """How likely it says that something was wrong, or asks the same anew, in [0, 1]."""
    kind: Literal["", "correction", "repair"]
    """Which of the two; empty where it does neither."""
    wanted: str = ""
    """Of a correction the sentence that makes it and what follows, verbatim."""


def judge_reaction(message: str, previous: str, response: str, embed: Embed | None) -> Reaction:
    """Judge whether a message corrects the assistant.

    Args:
        previous: the user's message before it; empty in the first turn.
        response: what the assistant said between the two; where it asks something, the message may just answer.
        embed: makes vectors; without one no correction is known.
    """
    message, previous, response = (text[:READ] for text in (message, previous, response))
    if not response.strip():
        return Reaction(0.0, "")
    said = analyse_text(message)
    pieces = () if _asks_user(response) or not embed else split_units(said)
    vectors = embed_each(embed, pieces) if embed and pieces else []
    asks = find_request(dict(zip(pieces, vectors, strict=True)), said)
    forgets = asks is not None and asks.is_sure  # "No, forget that." says nothing of whether it was right
    chances = [0.0 if forgets else guiding_chance("corrects", vector) or 0.0 for vector in vectors]
    best = max(chances, default=0.0)
    if best >= CORRECTS:
        first = min((message.find(piece) for piece, chance in zip(pieces, chances, strict=True) if chance >= CORRECTS))
        return Reaction(best, "correction", _trim_start(message[max(0, first) :]))
    anew = _repair_chance(message, previous, response)
    return Reaction(max(best, anew), "repair" if anew >= CORRECTS else "")


def _asks_user(response: str) -> bool:
    return any(mark in response[-_ASKS_WITHIN:] for mark in "?？")


def _trim_start(said: str) -> str:
    """A text without the clauses before its first content word ("No, ")."""
    while (end := _CLAUSE_END.search(said)) and said[end.end() :] and not analyse_text(said[: end.end()]).terms:
        said = said[end.end() :]
    return said.strip(_EDGE)


def _repair_chance(message: str, previous: str, response: str) -> float:
    """How alike a message is to the one before it, behind a response that apologises; 0 behind any other."""
    language = detect_language(previous, detect_language(response, "en"))
    if not previous or not apologises(response[:_APOLOGY_WITHIN], language):
        return 0.0
    return fuzz.token_set_ratio(message[:_COMPARED].lower(), previous[:_COMPARED].lower()) / 100


def only_thanks(message: str, embed: Embed | None) -> bool:
    """Whether each sentence of a message thanks, or says that something was right; no question does."""
    said = [sentence.text for sentence in analyse_text(message).sentences]
    if not embed or not said or len(message) > PLAIN_CHARS or any(mark in message for mark in "?？"):
        return False
    return all((guiding_chance("thanks", vector) or 0.0) >= THANKS for vector in embed_each(embed, said))


class CorrectiveMessage(NamedTuple):
    """A message that corrects or speaks of how the assistant works, with what came before it."""

    line: TranscriptLine
    asked: TranscriptLine | None
    """The last message before it that corrected nothing."""
    previous: str
    own: str
    """The user's own plain words in it, without its questions."""
    judged: Reaction
    """What those words are."""
    tools: str
    """All that tools had said by then, in small letters."""

    def explain_refusal(self, wanted: str) -> str:
        """Why nothing may be learned from it, however harmless the clause that says what is wanted; empty: it may."""
        if reasons := screen_text(self.line.content, WORDS_CHARS).reasons:
            return ", ".join(reasons)
        if without_markers(wanted) != wanted:
            return "secret"
        if len(wanted.split()) >= ECHO_WORDS and flatten_words(wanted) in self.tools:
            return "it repeats what a tool said"
        return ""


def find_corrections(lines: Iterable[TranscriptLine], embed: Embed | None) -> Iterator[CorrectiveMessage]:
    """The corrections in one session, and what speaks of how the assistant works, oldest first."""
    asked: TranscriptLine | None = None
    previous, response, tools = "", "", ""
    for line in lines:
        if line.provenance == "assistant":
            response = line.content
        elif line.provenance == "tool":
            tools += "\n" + flatten_words(line.content)
        elif is_users(line):
            own = _without_questions(own_words(line.content), previous)
            judged = judge_reaction(own, previous, response, embed)
            if judged.kind or _is_feedback(own, embed):
                yield CorrectiveMessage(line, asked, previous, own, judged, tools)
            if asked is None or judged.kind != "correction":
                asked = line
            previous, response = line.content, ""


def _is_feedback(own: str, embed: Embed | None) -> bool:
    """Whether a text speaks of how the assistant works, or should."""
    pieces = split_units(analyse_text(own)) if embed else ()
    vectors = embed_each(embed, pieces) if embed and pieces else []
    return any((guiding_chance("feedback", vector) or 0.0) >= FEEDBACK for vector in vectors)


def _without_questions(own: str, previous: str) -> str:
    """The sentences of a text that ask nothing; "could you …?" asks for something to be done, and stays."""
    analysis = analyse_text(own, default=detect_language(previous, "en"))
    kept = [sentence.text for sentence in analysis.sentences if not is_question(sentence, analysis.language)]
    return own if len(kept) == len(analysis.sentences) else " ".join(kept)


def is_question(sentence: Sentence, language: str) -> bool:
    """Whether a sentence asks for an answer, and for nothing to be done."""
    return any(ask.kind not in _REQUESTS for ask in asks_in(sentence, language))


# What they corrected.


def corrected_in(session_id: int, messages: Iterable[CorrectiveMessage]) -> tuple[Corrected, ...]:
    """What the user put right in a session, oldest first."""
    corrections = (_make_correction(session_id, message) for message in messages)
    return tuple(correction for correction in corrections if correction is not None)


def asked_in(messages: Iterable[CorrectiveMessage]) -> tuple[str, ...]:
    """What the user asked for or put right in a session, in their own words."""
    return tuple(message.own for message in messages if message.own and not message.explain_refusal(message.own))


def refused_in(messages: Iterable[CorrectiveMessage]) -> tuple[tuple[int, str], ...]:
    """The messages of a session that ask for or correct something and from which nothing is learned, each with why."""
    return tuple((message.line.id, why) for message in messages if (why := message.explain_refusal(message.own)))


def _make_correction(session_id: int, message: CorrectiveMessage) -> Corrected | None:
    wanted = message.judged.wanted[:WORDS_CHARS]
    if not wanted:
        return None
    own = analyse_text(message.own, default=detect_language(message.previous, "en"))
    if _tells_of_user(wanted, own.language) or not _says_what(analyse_text(wanted, default=own.language)):
        return None
    asked = analyse_text(own_words(message.asked.content), default=own.language).terms if message.asked else ()
    about = tuple(dict.fromkeys(asked or analyse_text(wanted, default=own.language).terms))[:TRIGGER_TERMS]
    cited = (message.line.id,) if message.asked is None else (message.asked.id, message.line.id)
    return Corrected(session_id, wanted, about, cited, message.explain_refusal(wanted))


def _says_what(wanted: Analysis) -> bool:
    """Whether the words of a correction say by themselves what is right: "the second one" does not."""
    terms = set(wanted.terms)
    return len(terms) >= FEWEST_TERMS or any(any(map(str.isdigit, term)) for term in terms)


def _tells_of_user(wanted: str, language: str) -> bool:
    """Whether a correction speaks of the user or of what is theirs, by a word of the first person."""
    first = words_of("first", language)
    if language in UNSPACED:
        return any(word in wanted for word in first)
    return not first.isdisjoint(word.text.lower() for word in split_words(wanted, language))


def stuck_in(
    session_id: int, lines: Sequence[TranscriptLine], impasses: Iterable[StoredSignal]
) -> tuple[Corrected, ...]:
    """What the user asked in a session and no answer was found to, as the signals of its impasses say (K5)."""
    turns = {signal.turn for signal in impasses if signal.session_id == session_id}
    asked = (line for line in lines if is_users(line) and line.turn in turns)
    return tuple(_make_stuck(session_id, line, own) for line in asked if (own := own_words(line.content)))


def _make_stuck(session_id: int, line: TranscriptLine, own: str) -> Corrected:
    about = tuple(dict.fromkeys(analyse_text(own).terms))[:TRIGGER_TERMS]
    why = ", ".join(screen_text(line.content, WORDS_CHARS).reasons)
    return Corrected(session_id, own[:WORDS_CHARS], about, (line.id,), why, "stuck")


def is_again(correction: Corrected, wanted: str, trigger: Sequence[str]) -> bool:
    """Whether a correction says what another one said, of the same matter."""
    return (
        measure_likeness(correction.wanted, wanted) >= AGAIN
        and triggers.trigger_overlap(correction.about, trigger) >= triggers.SAME
    )


# What was corrected again.


def is_again_lesson(kept: StoredGuidance) -> bool:
    """Whether a lesson was made of what came up in a second session."""
    return not kept.section and bool(quote_user(kept))


def quote_user(kept: StoredGuidance) -> str:
    """The user's words in a lesson that was made of what came up again; empty in any other."""
    for kind, advice in ADVICE.items():
        before, _, after = advice.partition("{wanted}")
        if kept.key.startswith(f"{kind}/") and kept.advice.startswith(before):
            return kept.advice.removeprefix(before).removesuffix(after)
    return ""


def lessons_of(
    new: Sequence[Corrected], before: Sequence[Corrected], kept: Iterable[StoredGuidance]
) -> Iterator[LessonChange]:
    """The lessons that some sessions make or bear out: of what was corrected, or came to nothing, in a second one, too.

    Args:
        new: those since the last night.
    """
    known = [guidance for guidance in kept if is_again_lesson(guidance)]
    done: list[Corrected] = []
    for correction in (each for each in new if not each.refused):
        if any(correction.kind == other.kind and is_again(correction, other.wanted, other.about) for other in done):
            continue
        done.append(correction)
        like = [each for each in (*before, *new) if each.kind == correction.kind and not each.refused]
        alike_ones = [each for each in like if is_again(each, correction.wanted, correction.about)]
        cited = tuple(sorted({message for each in alike_ones for message in each.citations}))
        mine = (each for each in known if each.key.startswith(f"{correction.kind}/"))
        lesson = next((each for each in mine if is_again(correction, quote_user(each), each.trigger)), None)
        if lesson is not None:
            yield LessonChange(lesson.key, lesson.advice, lesson.trigger, "", lesson.author, cited)
        elif len({each.session_id for each in alike_ones}) > 1 and (trigger := _shared_terms(alike_ones)):
            wanted = max((each.wanted for each in alike_ones), key=len).strip(" .。")  # the fullest of their wordings
            key = sha256(f"{' '.join(sorted(trigger))}|{flatten_words(correction.wanted)}".encode()).hexdigest()[:16]
            advice = ADVICE[correction.kind].format(wanted=wanted)
            if not screen_text(advice, len(advice)).reasons:
                yield LessonChange(f"{correction.kind}/again/{key}", advice, trigger, "", "derived", cited)


def _shared_terms(several: Sequence[Corrected]) -> tuple[str, ...]:
    """The terms that all of them are about, where these say what that is."""
    shared = tuple(term for term in several[0].about if all(term in each.about for each in several))
    return shared if triggers.is_telling(shared) else ()


def terms_of(line: TranscriptLine) -> frozenset[str]:
    """The terms of a line, as the day analyses it."""
    return frozenset(analyse_text(without_markers(line.content[: 10 * PLAIN_CHARS])).terms)
