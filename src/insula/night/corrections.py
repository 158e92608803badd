"""What the user corrected, in their own plain words, and what they corrected again in another session (K6).

Nothing is concluded from what a monitor of ours thought of an answer: only the user says that one was wrong. A message
that may hold something pasted is not the user's own plain words, and a question corrects nothing. Who somebody is and
where they live is remembered, and how to answer is a preference: both have a place of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple

from insula.language.handed import Hands, Waits, may_wait, users_lines
from insula.memory.storage.changes import LessonChange
from insula.memory.storage.rows import StoredGuidance, StoredSignal, TranscriptLine
from insula.redaction import without_markers
from insula.screening import screen_text
from insula.text import triggers
from insula.text.analysis import Analysis, Sentence, analyse_text, detect_language, split_words, words_of
from insula.text.corrections import MessageCorrection, correction_likeness, judge_correction
from insula.text.grammar import UNSPACED
from insula.text.pasted import PLAIN_CHARS, own_words
from insula.text.questions import AskKind, asks_in

AGAIN = 0.6
"""From this likeness of their words on, two corrections say the same."""
WORDS_CHARS = 160
"""Characters of the user's words that are kept."""
TRIGGER_TERMS = 8
FEWEST_TERMS = 2
"""Content words of a correction, unless it names a number."""
PASTED = "it may hold something pasted"
ECHO_WORDS = 4
"""So many words that a tool said before are the tool's, whoever repeats them."""
Kind = Literal["corrected", "stuck"]
"""What was put right, and what no answer was found to: the first part of the key of a lesson that is made of it."""
ADVICE: Mapping[Kind, str] = {
    "corrected": "When this comes up, keep to what they corrected: “{wanted}”.",
    "stuck": "Twice no answer was found to this: “{wanted}”. Do not try the same again; ask what is missing.",
}
"""The sentences of such lessons: the user's words in ours."""

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


class CorrectiveMessage(NamedTuple):
    """A message that corrects or wishes, with what came before it."""

    line: TranscriptLine
    asked: TranscriptLine | None
    """The last message before it that corrected nothing."""
    previous: str
    own: str
    """The user's own plain words in it, without its questions."""
    judged: MessageCorrection
    """What those words alone are."""
    tools: str
    """All that tools had said by then, in small letters."""

    def explain_refusal(self, wanted: str) -> str:
        """Why nothing may be learned from it, however harmless the clause that says what is wanted; empty: it may."""
        if not self.judged.kind:
            return PASTED
        if reasons := screen_text(self.line.content, WORDS_CHARS).reasons:
            return ", ".join(reasons)
        if without_markers(wanted) != wanted:
            return "secret"
        if len(wanted.split()) >= ECHO_WORDS and _flatten_text(wanted) in self.tools:
            return "it repeats what a tool said"
        return ""


def find_corrections(lines: Iterable[TranscriptLine]) -> Iterator[CorrectiveMessage]:
    """The corrections and wishes in one session, oldest first."""
    asked: TranscriptLine | None = None
    previous, response, tools = "", "", ""
    for line in lines:
        if line.provenance == "assistant":
            response = line.content
        elif line.provenance == "tool":
            tools += "\n" + _flatten_text(line.content)
        elif is_users(line):
            kind = judge_correction(line.content, previous, response).kind
            plain = own_words(line.content)
            own = _without_questions(plain, previous)
            judged = judge_correction(own, previous, response)
            if own != plain:
                kind = judged.kind
            if kind:
                yield CorrectiveMessage(line, asked, previous, own, judged, tools)
            if asked is None or not kind or kind == "repair":
                asked = line
            previous, response = line.content, ""


def _without_questions(own: str, previous: str) -> str:
    """The sentences of a text that ask nothing; "could you …?" asks for something to be done, and stays."""
    analysis = analyse_text(own, default=detect_language(previous, "en"))
    kept = [sentence.text for sentence in analysis.sentences if not is_question(sentence, analysis.language)]
    return own if len(kept) == len(analysis.sentences) else " ".join(kept)


def is_question(sentence: Sentence, language: str) -> bool:
    """Whether a sentence asks for an answer, and for nothing to be done."""
    return any(ask.kind not in _REQUESTS for ask in asks_in(sentence, language))


# What they corrected.


def corrected_in(session_id: int, lines: Sequence[TranscriptLine]) -> tuple[Corrected, ...]:
    """What the user put right in a session, oldest first."""
    corrections = (_make_correction(session_id, message) for message in find_corrections(lines))
    return tuple(correction for correction in corrections if correction is not None)


def asked_in(lines: Sequence[TranscriptLine]) -> tuple[str, ...]:
    """What the user asked for or put right in a session, in their own words."""
    return tuple(
        wanted
        for message in find_corrections(lines)
        if (wanted := message.judged.wanted) and not message.explain_refusal(wanted)
    )


def refused_in(lines: Sequence[TranscriptLine]) -> tuple[tuple[int, str], ...]:
    """The messages of a session that ask for or correct something and from which nothing is learned, each with why."""
    return tuple(
        (message.line.id, why)
        for message in find_corrections(lines)
        if (why := message.explain_refusal(message.judged.wanted))
    )


def _make_correction(session_id: int, message: CorrectiveMessage) -> Corrected | None:
    wanted = message.judged.wanted[:WORDS_CHARS]
    if message.judged.kind == "instruction" or not wanted:
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
        correction_likeness(correction.wanted, wanted) >= AGAIN
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
        before: those of earlier sessions.
        kept: the user's guidance.
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
            key = sha256(f"{' '.join(sorted(trigger))}|{_flatten_text(correction.wanted)}".encode()).hexdigest()[:16]
            advice = ADVICE[correction.kind].format(wanted=wanted)
            if not screen_text(advice, len(advice)).reasons:
                yield LessonChange(f"{correction.kind}/again/{key}", advice, trigger, "", "derived", cited)


def _shared_terms(several: Sequence[Corrected]) -> tuple[str, ...]:
    """The terms that all of them are about, where these say what that is."""
    shared = tuple(term for term in several[0].about if all(term in each.about for each in several))
    return shared if triggers.is_telling(shared) else ()


def _flatten_text(text: str) -> str:
    return " ".join(text.lower().split())


def terms_of(line: TranscriptLine) -> frozenset[str]:
    """The terms of a line, as the day analyses it."""
    return frozenset(analyse_text(without_markers(line.content[: 10 * PLAIN_CHARS])).terms)
