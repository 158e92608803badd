"""Preferences that a night finds: those that no turn heard, and what the user asked of answers in two sessions (R3a).

Nobody says "from now on" each time. Who says "one question at a time, please" on Monday and "only one question, then
wait" on Friday wants it of all answers; a head tells what speaks of how the assistant works, and nearness in meaning
that it is the same. Both must sound like what one wants of all answers: "Rewrite your previous answer" is said by many
twice, and each time of that answer alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from insula.language.guiding import guiding_chance
from insula.language.handed import UsersWords, users_lines
from insula.language.heads import Vector
from insula.language.preferences import LONGEST, Meaning, Preference, is_of_one_part, meaning_of, part_of
from insula.memory.retrieval.embedding import embed_each, hands_of
from insula.memory.storage.changes import Change, LessonChange, Retired
from insula.memory.storage.rows import StoredGuidance, StoredSignal, TranscriptLine
from insula.memory.storage.vectors import Embed
from insula.memory.wishes import (
    WHY,
    OwnWish,
    apply_preferences,
    heard_in,
    is_told,
    is_wish,
    learnable_preferences,
    preference_words,
)
from insula.night.corrections import is_question, is_users
from insula.night.cycle import Night
from insula.night.sessions import LINES, LearningSession
from insula.text.analysis import analyse_text, detect_language
from insula.text.pasted import PLAIN_CHARS, own_words
from insula.types import TURN

FEEDBACK = 0.4
"""Chance from which one of two requests speaks of how the assistant works."""
NEAR, NEARER = 0.4, 0.6
"""Nearness in meaning from which two requests are one: where both want the same of one part of answers, and where that
cannot be told."""
AT_LEAST, AGAIN = 0.75, 0.9
"""What nearness must come to with the mean of their chances to be feedback, halved; and from where on two of one part
are meant for all answers, since it was asked again."""
FOR_GOOD, OF_WORK, TAKES_BACK = 0.45, 0.9, 0.65
"""What else tells that they are: the mean of their chances to stand, or of those to be feedback. The last: the chance
from which one takes something back, and asks for nothing.

Chosen on 522 pairs of preferences by hand, of which 35 of the 98 that are the same are taken for one, 11 of 83 that
refine, 9 of 140 that contradict, 7 of 93 that take back and none of 108 others (*development*)."""
ASKS = 0.5
"""Chance from which one of the two asks something of answers."""
KNOWN = 0.6
"""Nearness from which a preference says it already."""
DOUBTFUL = 0.4
"""Nearness from which it is asked whether two that both stand both hold. Of the pairs by hand that the ledger leaves
standing, it asks of 27 of 31 that take back, 8 of 52 that contradict, 43 of 69 that are the same or refine, and 20 of
87 of which one is mostly no preference."""
FEWEST_TERMS = 2
"""Content words of a request: "Good." asks nothing."""
NIGHT = "night"
PLACES = "asked"
"""Under which the report of a night holds where they stand."""
LATEST, WORTH = 200, 0.2
"""Messages of earlier nights that a new one is compared with, and the chance of feedback from which one is kept."""
Place = list[int]
"""Where a message stands, as a report holds it: its session, and its own number."""


class PreferenceRequest(NamedTuple):
    """Something that the user may have asked of answers, said of one they had got."""

    session_id: int
    message: int
    said: UsersWords
    text: str
    vector: Vector
    feedback: float
    """The chance that it speaks of how the assistant works."""
    meant: Mapping[Meaning, float]
    """The chance of each thing that it may say of answers."""
    part: str
    """What of an answer it is about; empty where that cannot be told."""

    @property
    def asks(self) -> float:
        """The chance that it asks something of answers."""
        return 1 - self.meant["none"]

    def repeats_request(self, other: "PreferenceRequest") -> bool:
        """Whether it asks what another one asked, in a session of its own."""
        return (
            self.session_id != other.session_id
            and max(self.feedback, other.feedback) >= FEEDBACK
            and max(self.asks, other.asks) >= ASKS
            and max(self.meant["lifts"], other.meant["lifts"]) < TAKES_BACK
            and self._is_one_with(other)
        )

    def _is_one_with(self, other: "PreferenceRequest") -> bool:
        """Whether both want the same, as far as it can be told, and of all answers."""
        near, feedback = float(np.dot(self.vector, other.vector)), (self.feedback + other.feedback) / 2
        for_good = (self.meant["standing"] + other.meant["standing"]) / 2
        is_of_part = "." in self.part and self.part == other.part
        is_otherwise = self.part != other.part and bool(self.part) and is_of_one_part(self.part, other.part)
        surely = near + feedback / 2
        is_meant = for_good >= FOR_GOOD or feedback >= OF_WORK or (is_of_part and surely >= AGAIN)
        is_near = near >= (NEAR if is_of_part else NEARER) and surely >= AT_LEAST
        return is_near and is_meant and not is_otherwise


def find_unheard(
    kept: Sequence[StoredGuidance],
    sessions: Iterable[LearningSession],
    signals: Iterable[StoredSignal],
    now: float,
    embed: Embed | None = None,
) -> list[Change]:
    """What the preferences change that were said where no turn listened.

    Args:
        sessions: those since the last night.
        signals: of those sessions; a turn that was over has heard its message.
        embed: makes vectors; without one nothing is heard.
    """
    turns = {(signal.session_id, signal.turn) for signal in signals if signal.kind == TURN}
    said = sorted(
        (each for session in sessions for each in _session_preferences(session, turns, embed)), key=lambda each: each[0]
    )
    standing, changes = tuple(kept), list[Change]()
    for message, wishes, talk in said:
        made = apply_preferences(standing, wishes, message, now, session=talk)
        standing, changes = made.kept, changes + list(made.changes)
    return changes


def _session_preferences(
    session: LearningSession, turns: set[tuple[int, int]], embed: Embed | None
) -> Iterator[tuple[int, tuple[OwnWish, ...], frozenset[int]]]:
    """The preferences of a session, each with the id of its message and those of the session."""
    talk = frozenset(line.id for line in session.lines)
    for place, line in enumerate(session.lines):
        if is_users(line) and (session.session.id, line.turn) not in turns:
            before = session.lines[:place]
            previous = next((each.content for each in reversed(before) if each.provenance == "user"), "")
            if preferences := heard_in(session.said[line.id], before, detect_language(previous, "en"), embed):
                yield line.id, preferences, talk


# What was asked in two sessions.


def requests_in(
    session_id: int,
    lines: Sequence[TranscriptLine],
    said: Mapping[int, UsersWords],
    embed: Embed,
    messages: Collection[int] | None = None,
) -> list[PreferenceRequest]:
    """What the user may have asked of answers in a session: nothing that stands before the first answer is of one.

    Args:
        said: what of each line the user said themselves, by its id.
        messages: those that are read; None: all.
    """
    first = next((place for place, line in enumerate(lines) if line.provenance == "assistant"), len(lines))
    read = (line for line in lines[first:] if is_users(line) and (messages is None or line.id in messages))
    texts = [(line.id, text) for line in read for text in _split_texts(said[line.id].text)]
    vectors = embed_each(embed, [text for _, text in texts]) if texts else []
    requests: list[PreferenceRequest] = []
    for (message, text), vector in zip(texts, vectors, strict=True):
        feedback, meant = guiding_chance("feedback", vector), meaning_of(text, vector, vector)
        if feedback is not None and meant is not None:
            requests.append(
                PreferenceRequest(session_id, message, said[message], text, vector, feedback, meant, part_of(vector))
            )
    return requests


def _split_texts(said: str) -> Iterator[str]:
    """The sentences of a message that ask no question and say something by themselves; and all of it, if these are."""
    own = own_words(said)
    analysis = analyse_text(own[:PLAIN_CHARS])
    tell = [sentence for sentence in analysis.sentences if not is_question(sentence, analysis.language)]
    yield from (
        sentence.text for sentence in tell if len({*sentence.terms}) >= FEWEST_TERMS and len(sentence.text) <= LONGEST
    )
    if 1 < len(tell) == len(analysis.sentences) and len(own) <= LONGEST:
        yield own


async def requests_since(
    night: Night, heard: Sequence[LearningSession]
) -> tuple[list[PreferenceRequest], list[PreferenceRequest], list[Place]]:
    """What was asked of answers since the last night, what was before, and where the next night finds both."""
    if night.embed is None:
        return [], [], []
    new = [
        each
        for session in heard
        for each in requests_in(session.session.id, session.lines, session.said, night.embed)
        if each.message > night.last_seen
    ]
    known: list[Place] = night.last.get(PLACES, [])
    lines = await night.lines_of(list(dict.fromkeys(session for session, _ in known)), LINES) if new else {}
    messages, before = {message for _, message in known}, list[PreferenceRequest]()
    for session, said in lines.items():
        own = dict(zip([line.id for line in said], users_lines(said, hands_of(night.embed)), strict=True))
        before += requests_in(session, said, own, night.embed, messages)
    places = [[request.session_id, request.message] for request in new if request.feedback >= WORTH]
    return new, before, [*known, *(place for place in places if place not in known)][-LATEST:]


def asked_again(
    new: Sequence[PreferenceRequest],
    before: Sequence[PreferenceRequest],
    kept: Sequence[StoredGuidance],
    now: float,
    embed: Embed | None,
) -> list[Change]:
    """What the preferences change by what was asked of answers in a second session.

    Args:
        new: requests since the last night.
    """
    standing, changes = tuple(kept), list[Change]()
    for request in new:
        like = [other for other in (*before, *new) if request.repeats_request(other)]
        like = [other for other in like if not _takes_back(other, embed)]
        best = max((request, *like), key=lambda each: (round(each.asks, 1), len(each.text)))
        if not like or _is_known(best, standing, embed) or _takes_back(request, embed):
            continue
        wish = Preference(best.text, "standing", best.part)
        if learnable := learnable_preferences([wish], best.said, ()):
            made = apply_preferences(standing, learnable, best.message, now)
            cited = tuple(sorted({each.message for each in (request, *like)}))
            parts = [
                each
                for each in made.kept
                if is_wish(each) and preference_words(each) in best.text and preference_words(each) != best.text
            ]
            changes += [Retired(each.key, NIGHT, WHY["same"], "", best.message) for each in parts]
            standing = tuple(
                each._replace(citations=cited) if each.advice == best.text else each
                for each in made.kept
                if each not in parts
            )
            changes += [_add_citations(change, best.text, cited) for change in made.changes]
    return changes


def _takes_back(request: PreferenceRequest, embed: Embed | None) -> bool:
    """Whether a message took something back when it was said, and so asked for no such thing again."""
    heard = heard_in(request.said, (), detect_language(request.said.text, "en"), embed)
    return any(wish.lifts for wish in heard)


def _add_citations(change: Change, advice: str, cited: tuple[int, ...]) -> Change:
    return change._replace(citations=cited) if isinstance(change, LessonChange) and change.advice == advice else change


def _is_known(asked: PreferenceRequest, kept: Sequence[StoredGuidance], embed: Embed | None) -> bool:
    """Whether a preference says it already; not one that is a part of it, which takes its place."""
    wishes = [preference_words(preference) for preference in kept if is_wish(preference) and is_told(preference)]
    others = [said for said in wishes if said == asked.text or said not in asked.text]
    vectors = embed_each(embed, others) if embed and others else []
    return any(float(np.dot(asked.vector, vector)) >= KNOWN for vector in vectors)


# What may not hold any more.


def find_doubtful(
    new: Sequence[StoredGuidance], kept: Sequence[StoredGuidance], embed: Embed | None
) -> tuple[StoredGuidance, StoredGuidance] | None:
    """Of the preferences of one topic that both stand the two nearest, one of which is new: the older, and the newer.

    A preference is new for one night, so each pair is asked about once.

    Args:
        new: preferences since the last night.
        embed: makes vectors; without one nothing is doubtful.
    """
    older = [preference for preference in kept if is_wish(preference) and is_told(preference) and preference not in new]
    pairs = [(old, preference) for preference in new for old in older if bool(preference.trigger) == bool(old.trigger)]
    if embed is None or not pairs:
        return None
    texts = list(dict.fromkeys(preference_words(preference) for pair in pairs for preference in pair))
    vectors = dict(zip(texts, embed_each(embed, texts), strict=True))
    near = [
        (float(np.dot(vectors[preference_words(old)], vectors[preference_words(preference)])), old, preference)
        for old, preference in pairs
    ]
    most, *pair = max(near, key=lambda each: each[0])
    return (pair[0], pair[1]) if most >= DOUBTFUL else None
