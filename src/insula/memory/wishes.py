"""Preferences: what a message says of them, and one ledger of those that stand. The newest word wins at once.

Heads on the sentence vectors hear them (`insula.language.preferences`); without vectors none is heard. The ledger is
pure: preferences that stand and the new one go in, what is written comes out. One that another took the place of, or
that was taken back, is retired with the reason, and can be brought back. A request of the moment is written down, too,
and is told once it was made in another session; until then it takes the place of no preference.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, NewType

from insula.language.handed import SpokenLine, UsersWords
from insula.language.heads import Vector, operating_point, predict_chance
from insula.language.preferences import MESSAGE, MOSTLY, Preference, find_preferences, is_of_one_part
from insula.memory.retrieval.embedding import embed_each
from insula.memory.storage.changes import Change, LessonChange, Retired, RevisionChange
from insula.memory.storage.rows import StoredGuidance
from insula.memory.storage.vectors import Embed
from insula.redaction import without_markers
from insula.screening import screen_text
from insula.text import triggers
from insula.text.analysis import LANGUAGES, Analysis, analyse_sentence, analyse_text
from insula.text.grammar import UNSPACED
from insula.text.pasted import is_payload, split_units
from insula.text.wording import flatten_words

WISH = "wish"
"""The first part of a preference's key; the second says for how long, the third of what of an answer it is."""
ASKED = "asked"
"""The second part where it was a request of the moment: it stands when it was made in two sessions."""
TWICE = 2
MOST = 200
"""Preferences that stand; of more the oldest is retired."""
TOPIC_TERMS = 8
POINTING, POINTING_UNSPACED = 2, 4
"""Terms, or pairs of characters, of what takes something back that names nothing by itself."""
USER = "user"
SCREENED = 2_000
"""Characters of a message that are looked at; a longer one is not the user's own plain words."""
ECHO_WORDS = 4
"""So many words that a tool said before are the tool's, whoever repeats them."""
ALIKE, TAKEN_BACK = 0.6, 0.25
"""Share of the content words of the shorter of two preferences that the other must hold to be about the same thing,
where several things may be wanted at once; and to take it back."""
_FRAMED = re.compile(r"\AThe user always wants this: \"(.*)\"\Z", re.DOTALL)
Relation = Literal["same", "replaces", "lifts", "unrelated"]
WHY: Mapping[Relation, str] = {
    "same": "the user said it again in other words",
    "replaces": "the user wants it otherwise",
    "lifts": "the user took it back",
}

CROWDED = "there were too many"

OwnWish = NewType("OwnWish", Preference)
"""A preference in the user's own words, of which guidance may be made; only `learnable_preferences` makes it."""


class PreferenceChanges(NamedTuple):
    """What the preferences of a message change, and the ledger then."""

    changes: tuple[Change, ...]
    kept: tuple[StoredGuidance, ...]
    stood: tuple[OwnWish, ...]
    """Those of the message that stand from now on, and did not before."""
    ended: tuple[str, ...] = ()
    """Those that it took back, in the words in which they were told."""


# What a message says.


def texts_of(own: Analysis) -> tuple[str, ...]:
    """The texts whose vectors tell what preferences a message states: its pieces, and it as a whole, the last."""
    return (*split_units(own), own.text[:MESSAGE])


def wishes_of(
    said: UsersWords, own: Analysis, vectors: Mapping[str, Vector], history: Sequence[SpokenLine]
) -> tuple[OwnWish, ...]:
    """The preferences that a message states: none where any part of it reads like an attack, wants an answer for a
    program, or hands something over, and none that holds a secret or repeats what a tool said.

    Args:
        said: what of the message the user said themselves, redacted.
        vectors: of its texts (`texts_of`).
        history: the session so far, oldest first.
    """
    *pieces, message = texts_of(own)
    if is_payload(said.text) or message not in vectors or without_markers(said.text) != said.text:
        return ()
    read = {text: vectors[text] for text in pieces if text in vectors}
    preferences = find_preferences(read, vectors[message], own.language, len(said.text))
    if any(preference.force == "standing" for preference in preferences) and _hands_over(read, preferences):
        return ()
    whole = _make_up(preferences, said.text)
    alone = whole and _is_for_answers(history)
    preferences = tuple(
        preference._replace(alone=alone and preference.alone, is_whole=whole) for preference in preferences
    )
    return learnable_preferences(preferences, said, [line.content for line in history if line.provenance == "tool"])


def heard_in(
    said: UsersWords, history: Sequence[SpokenLine], language: str, embed: Embed | None
) -> tuple[OwnWish, ...]:
    """The preferences that a message states which no turn has heard."""
    own = analyse_text(said.text, default=language)
    if embed is None or not said.text.strip():
        return ()
    texts = list(dict.fromkeys(texts_of(own)))
    return wishes_of(said, own, dict(zip(texts, embed_each(embed, texts), strict=True)), history)


def learnable_preferences(
    preferences: Sequence[Preference], said: UsersWords, tools: Iterable[str]
) -> tuple[OwnWish, ...]:
    """Of the preferences that what a user said may hold those that may be learned from."""
    if not preferences or screen_text(said.text[:SCREENED], SCREENED).reasons:
        return ()
    echoes = [flatten_words(text) for text in tools]
    return tuple(OwnWish(preference) for preference in preferences if _is_plain(preference.words, echoes))


def is_all(heard: Sequence[Preference], message: str) -> bool:
    """Whether a message is nothing but what it wants of answers, and so tells nothing of the user."""
    return _make_up(
        [preference for preference in heard if preference.force == "standing" or preference.for_now], message
    )


def _make_up(preferences: Sequence[Preference], message: str) -> bool:
    """Whether a message is hardly anything but some preferences."""
    return sum(len(preference.words) for preference in preferences) >= MOSTLY * len(message.strip()) > 0


def _is_for_answers(history: Sequence[SpokenLine]) -> bool:
    """Whether a bare request is about answers, and not about a text that was ordered: it opens the session, or follows
    a question."""
    before = next((line.content for line in reversed(history) if line.provenance == "user"), "?")
    return before.rstrip().endswith(("?", "？"))


def _hands_over(pieces: Mapping[str, Vector], preferences: Sequence[Preference]) -> bool:
    """Whether a message hands something over beside what it wants: nobody can tell then whose the preference is."""
    others = (
        text
        for text in pieces
        if not any(text in preference.words or preference.words in text for preference in preferences)
    )
    return any(
        (predict_chance("handed", text, pieces[text]) or 0.0) >= operating_point("handed", "cut") for text in others
    )


def _is_plain(said: str, echoes: Sequence[str]) -> bool:
    repeats = len(said.split()) >= ECHO_WORDS and any(flatten_words(said) in echo for echo in echoes)
    return without_markers(said) == said and not repeats


# The ledger.


def is_wish(kept: StoredGuidance) -> bool:
    """Whether a piece of guidance is a preference on how to answer."""
    return not kept.section and kept.key.partition("/")[0] == WISH


def is_told(kept: StoredGuidance) -> bool:
    """Whether a preference is told: a request only where it was made in two sessions, or a person accepted it."""
    for_now = kept.key.split("/")[1:2] == [ASKED]
    return is_wish(kept) and (not for_now or len(kept.citations) >= TWICE or bool(kept.mode) or kept.author == "person")


def preference_words(kept: StoredGuidance) -> str:
    """A preference in the words that the user used."""
    return unframe_advice(kept.advice)


def unframe_advice(advice: str) -> str:
    """The advice of a piece of guidance without what older versions put around a preference."""
    framed = _FRAMED.match(advice)
    return framed[1] if framed else advice


def part_told(key: str) -> str:
    """What of an answer a preference is about, by its key, such as "length.short"; empty where that is not known."""
    _, _, part, *name = (*key.split("/"), "", "")
    return part if any(name) else ""


def relate_preferences(new: Preference, part: str, standing: str) -> Relation:
    """What a new preference makes of one for the same topic.

    Args:
        part: what of an answer the older one is about.
    """
    if is_of_one_part(new.part, part):
        return "lifts" if new.lifts else "same" if new.part == part else "replaces"
    shared = _word_overlap(new.words, standing)
    if new.lifts:
        return "lifts" if shared >= TAKEN_BACK else "unrelated"
    if new.part and part and new.part != part:
        return "unrelated"
    if new.words.casefold() == standing.casefold():
        return "same"
    return "replaces" if shared >= ALIKE else "unrelated"


def _word_overlap(new: str, standing: str) -> float:
    """The share of the shorter of two preferences that the other holds, in words read in the older one's language."""
    older = analyse_text(standing)
    known = older.language in LANGUAGES
    terms = analyse_sentence(new, older.language).terms if known else analyse_text(new).terms
    return triggers.trigger_overlap(terms, older.terms)


def is_of_one_topic(wish: Preference, trigger: Collection[str]) -> bool:
    """Whether both hold for the same: what is wanted for one topic leaves what is wanted in general alone."""
    about = _topic_terms(wish.about)
    if not about or not trigger:
        return (not about and not trigger) or (wish.lifts and not about)
    return triggers.trigger_overlap(about, trigger) >= triggers.SAME


def apply_preferences(
    kept: Iterable[StoredGuidance],
    heard: Sequence[OwnWish],
    message: int,
    now: float,
    pointed: Sequence[int] = (),
    session: Collection[int] = (),
) -> PreferenceChanges:
    """What the preferences of one message change: nothing of what was said later about the same.

    Args:
        pointed: ids of what was told, or said, just before: what "stop doing that" takes back, where it is one.
        session: ids of the messages of its session: a request that one of them made is not made again.
    """
    everything = list(kept)
    ledger = [preference for preference in everything if is_wish(preference)]
    changes, stood, ended = list[Change](), list[OwnWish](), list[str]()
    for wish in heard:
        if any(message in preference.citations and preference_words(preference) == wish.words for preference in ledger):
            continue
        before = {preference.key for preference in ledger if is_told(preference)}
        related: dict[str, Relation] = {
            preference.key: relation
            for preference in ledger
            if is_of_one_topic(wish, preference.trigger)
            and (relation := relate_preferences(wish, part_told(preference.key), preference_words(preference)))
            != "unrelated"
        }
        if any(message < max(preference.citations, default=0) for preference in ledger if preference.key in related):
            continue
        changes_one = wish.force == "unsure" and any(
            is_told(preference) and preference.key in related for preference in ledger
        )
        for_now = wish.for_now and not changes_one
        if wish.force in ("once", "unsure") and not (for_now or changes_one):
            continue
        if wish.lifts:
            meant = [preference for preference in everything if preference.id in pointed]
            out = [
                *(preference for preference in ledger if preference.key in related),
                *(meant if not (related or wish.part) and len(meant) == 1 and _points_back(wish.words) else []),
            ]
            changes += [Retired(preference.key, USER, WHY["lifts"], "", message) for preference in out]
            ended += [preference_words(preference) for preference in out]
            ledger = [preference for preference in ledger if preference not in out]
        else:
            made, ledger = _replace_related(
                ledger, related, new_preference(wish, message, now, for_now=for_now), session
            )
            changes += made
            stood += (
                [wish] if any(is_told(preference) and preference.key not in before for preference in ledger) else []
            )
    return PreferenceChanges(tuple(changes), tuple(ledger), tuple(stood), tuple(ended))


def _replace_related(
    ledger: list[StoredGuidance],
    related: Mapping[str, Relation],
    new: StoredGuidance,
    session: Collection[int],
) -> tuple[list[Change], list[StoredGuidance]]:
    """The ledger with a preference in the place of what it says again or otherwise, and without the oldest where there
    are too many; what only asked for now ends no preference until it was asked for in another session."""
    same = [preference for preference in ledger if related.get(preference.key) == "same"]
    if not is_told(new) and any(
        is_told(preference) or not set(session).isdisjoint(preference.citations) for preference in same
    ):
        return [], ledger
    (message,) = new.citations
    cited = {message, *(each for preference in same for each in preference.citations)}
    new = new._replace(citations=tuple(sorted(cited)))
    out = [
        preference
        for preference in ledger
        if preference.key in related and preference.key != new.key and (is_told(new) or not is_told(preference))
    ]
    left = [preference for preference in ledger if preference not in out and preference.key != new.key]
    crowd = sorted(left, key=lambda preference: preference.created_at)[: max(0, len(left) - MOST + 1)]
    why = {"why": "said again" if same else "said", "message": message}
    changes: list[Change] = [
        *(Retired(preference.key, USER, WHY[related[preference.key]], new.key, message) for preference in out),
        *(Retired(preference.key, "night", CROWDED) for preference in crowd),
        LessonChange(new.key, new.advice, new.trigger, "", new.author, new.citations),
        RevisionChange(f"lesson:{new.key}", USER, new.advice, why),
    ]
    return changes, [*(preference for preference in left if preference not in crowd), new]


def _points_back(words: str) -> bool:
    """Whether what takes something back names nothing by itself ("stop doing that")."""
    said = analyse_text(words)
    return len(said.terms) <= (POINTING_UNSPACED if said.language in UNSPACED else POINTING)


def _topic_terms(about: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(analyse_text(about).terms))[:TOPIC_TERMS] if about else ()


def new_preference(wish: Preference, message: int, now: float, *, for_now: bool = False) -> StoredGuidance:
    """A preference as it is written down."""
    name = sha256(flatten_words(wish.words).encode()).hexdigest()[:16]
    how = ASKED if for_now else "standing"
    return StoredGuidance(
        id=0,
        key="/".join(filter(None, (WISH, how, wish.part, name))),
        advice=wish.words,
        trigger=_topic_terms(wish.about),
        section="",
        author="derived",
        mode="",
        citations=(message,),
        created_at=now,
        evidence=(),
    )
