"""What was said elsewhere on its way into memory: lines that are remembered without being answered."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, cast, get_args

from insula.content import plain_text
from insula.errors import InputError
from insula.language.forget import find_request
from insula.language.handed import announcing_words, users_words
from insula.language.heads import Vector, predict_chance
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import CONTEXT_LINES, Utterance, extract_statements
from insula.memory.item import REMEMBERED_CHARS, NewItem, new_item
from insula.memory.privacy.amendment import Do
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.embedding import embed_all, embed_text, hands_of
from insula.memory.retrieval.query import build_cue, encode_claims
from insula.memory.storage import statements, views
from insula.memory.storage.filters import dump_metadata, read_moment
from insula.memory.storage.rows import Place, TranscriptLine
from insula.memory.storage.store import check_names
from insula.memory.storage.vectors import embed_normalised
from insula.memory.wishes import heard_in, is_all, texts_of, wishes_of
from insula.metacognition.engine import Engine, check_message
from insula.metacognition.hearing import HeardMessage, hear_message
from insula.metacognition.reading import (
    analyse_memorable,
    analyse_redacted,
    catch_up,
    drop_secret_sentences,
    embed_statements,
    memory_text,
)
from insula.operations.facts import FACTS, Fact, get_fact
from insula.operations.memories import change_memory
from insula.redaction import is_redacted, redact, take_from_line
from insula.screening import screen_text
from insula.text.analysis import Analysis, analyse_text, clean_text
from insula.text.pasted import split_units
from insula.text.questions import find_asks, find_assertions
from insula.text.wording import flatten_words
from insula.turn.forgetting import Remainder
from insula.types import Memory, Provenance
from insula.value import is_object

ADDED = "added"
"""The conversation of what is added without one."""
SPEAKER_CHARS = 40
SPEAKERS = {"user": USER, "assistant": ASSISTANT, "tool": "a tool"}
"""Who speaks, where nobody is named."""
ASSERTING = frozenset(get_args(Provenance)) - {"derived"}
SETTING_UP = ("system", "developer")
"""Roles that tell an agent what it is: nobody's memory."""

Message = str | Mapping[str, object]
"""A text of the user's, or a message with `role` and `content`, and if wished `name`, `at` and `id`."""


class ObservedLine(NamedTuple):
    """A line that somebody said."""

    text: object
    speaker: str
    listener: str
    provenance: Provenance
    at: float | None = None
    source_id: str | None = None
    is_fact: bool = False
    """Whether a person wrote it down as a fact: then all of it is taken for one."""


def read_line(
    text: object, provenance: str, *, speaker: str = "", listener: str = "", at: object = None, source: object = None
) -> ObservedLine:
    """A line that somebody said, checked.

    Args:
        speaker: who said it; by default as the provenance says.
        listener: who was spoken to; by default the other one of the user and the assistant.
        at: when; None for now.
        source: by what it is known where it comes from; None where nothing is known of that.

    Raises:
        InputError: the speaker is no name, or the provenance or the time is none.
    """
    if provenance == "derived":
        raise InputError("What was derived is no observation; give the provenance user, assistant or tool.")
    if provenance not in ASSERTING:
        raise InputError(f"{str(provenance)[:40]!r} is none who speaks; give user, assistant or tool.")
    named = screen_text(speaker or SPEAKERS[provenance], SPEAKER_CHARS)
    heard = screen_text(listener or (USER if provenance == "assistant" else ASSISTANT), SPEAKER_CHARS)
    if named.reasons or heard.reasons or not named.text or not heard.text:
        raise InputError(f"The speaker {named.text!r} or the listener {heard.text!r} cannot be used; give a name.")
    known = None if source is None else sha256(json.dumps(source, default=str).encode()).hexdigest()[:32]
    moment = None if at is None else read_moment(at)
    return ObservedLine(text, named.text, heard.text, cast(Provenance, provenance), moment, known)


def read_messages(given: Message | Sequence[Message], session: str) -> list[ObservedLine]:
    """The lines of some messages, less what set the agent up.

    Raises:
        InputError: one of them is no message, or cannot be used.
    """
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{str(given)[:40]!r} holds no messages; give a text, a message, or a list of them.")
    each = [given] if isinstance(given, str | Mapping) else given
    return [
        _read_message(message, session)
        for message in each
        if not (is_object(message) and message.get("role") in SETTING_UP)
    ]


def _read_message(given: object, session: str) -> ObservedLine:
    if isinstance(given, str):
        return read_line(given, "user")
    if not is_object(given) or "content" not in given:
        raise InputError(f"{str(given)[:40]!r} is no message; give a text, or a mapping with `role` and `content`.")
    if given["content"] is not None:  # as where a model only calls tools
        check_message(given["content"])
    role, number = str(given.get("role", "user")), given.get("id")
    return read_line(
        given["content"],
        role,
        speaker=str(given.get("name") or ""),
        at=given.get("at"),
        source=None if number is None else [session, number],
    )


async def remember_lines(
    engine: Engine,
    user: str,
    session: str,
    lines: Sequence[ObservedLine],
    metadata: str = "",
    *,
    looked_back: int = CONTEXT_LINES,
) -> list[int]:
    """Write lines down, all or none of them; returns the ids of their memories, less what was taken in before.

    Args:
        engine: what memory is held by.
        lines: what was said, oldest first.
        metadata: what the host says of them, as it is kept.
        looked_back: how many lines of the session are read before them; 0 where they were said before those.

    Raises:
        StoreError: the store cannot be used.
    """
    with on_behalf_of(user):
        place = await engine.store.resolve_place(user, session)
        items: list[tuple[NewItem, float]] = []
        before = [*await engine.store.read(statements.read_lines, place, looked_back)] if looked_back else []
        secrets: dict[str, str] = {}
        sources = [line.source_id for line in lines if line.source_id is not None]
        known = await engine.store.read(statements.taken_in, place.user_id, sources)
        for line in lines:
            said = [(one.provenance == "user", one.content) for one in before] if line.provenance == "user" else ()
            content, secrets = take_from_line(clean_text(plain_text(line.text)), said, secrets)
            context = tuple(before)
            before[:] = [*before, _make_line(engine, line, content)][-CONTEXT_LINES:]
            if line.source_id in known:
                continue
            item = await _make_item(engine, place, line, content, context)
            items.append((item._replace(metadata=metadata, source_id=line.source_id), line.at or engine.store.now()))
        numbers, kept = await engine.store.sessions.add_lines(place, items, engine.controls)
        threshold = engine.controls.consolidation_threshold
        engine.regulator.note_consolidation((user, session), len(numbers), kept.ages, kept.saliences, threshold)
        for item, _ in items:
            engine.note_voice(place, item.language, item.speaker)
        return numbers


async def _make_item(
    engine: Engine, place: Place, line: ObservedLine, content: str, said: Sequence[TranscriptLine]
) -> NewItem:
    """A line as it is remembered, by what it says without its secrets, after what was `said` before it."""
    analysis = analyse_memorable(content, analyse_redacted(content))
    encoding = encode_claims(analysis, line.speaker, line.listener)
    cue = build_cue(analysis, line.speaker, line.listener)
    recollection = await engine.store.memories.recall_memories(place, cue, 1)
    last = said[-1].content[:REMEMBERED_CHARS] if said else ""
    replies_to = find_asks(analyse_text(last)) if last else ()
    meaning = memory_text(last, content, line.provenance) if engine.embed else ""
    vector = await asyncio.to_thread(embed_normalised, engine.embed, meaning) if engine.embed and meaning else None
    making = (analysis, encoding, line.provenance, line.speaker, recollection.recalled, replies_to)
    if line.provenance == "user" and line.speaker == USER and not line.is_fact:
        heard = await _hear_line(engine, analysis, content, said)
        stated = await asyncio.to_thread(embed_statements, heard.statements, engine.embed)
        item = heard.set_kind(new_item(*making, stated, heard.show_facts(analysis.language)))
        return item._replace(content=content, vector=vector, preferences=heard.preferences)
    stated = ()
    if line.provenance in {"user", "tool"}:
        teller = line.speaker if line.provenance == "user" else ""  # a tool's "I" is nobody's
        context = [Utterance(turn_line.content, turn_line.speaker == teller) for turn_line in said]
        made = extract_statements(analysis, teller, line.listener, context)
        stated = await asyncio.to_thread(embed_statements, made, engine.embed)
    item = new_item(*making, stated, analysis.text if line.is_fact else None)
    return item._replace(content=content, vector=vector)


async def _hear_line(engine: Engine, analysis: Analysis, content: str, said: Sequence[TranscriptLine]) -> HeardMessage:
    """What is kept of a line of the user's own."""
    vectors = dict[str, Vector]()

    async def embed_texts(texts: Iterable[str]) -> Mapping[str, Vector]:
        new = [text for text in dict.fromkeys(texts) if text and text not in vectors]
        if engine.embed is not None and new:
            vectors.update(await asyncio.to_thread(embed_all, engine.embed, new))
        return vectors

    await embed_texts(announcing_words(content, said))
    words = users_words(content, "user", said, lambda lead: predict_chance("handed", lead, vectors.get(lead)))
    own = analysis
    if words.text != content:
        own = analyse_memorable(words.text, analyse_redacted(words.text, analysis.language))
    await embed_texts([*split_units(own), *texts_of(own)])
    preferences = wishes_of(words, own, vectors, said) if words.text.strip() else ()
    request = find_request({piece: vectors[piece] for piece in split_units(own) if piece in vectors}, own)
    asked = request.words if request and request.is_sure else ""
    has_heads = engine.embed is embed_text
    return await hear_message(own, content, said, preferences, asked, embed_texts, has_heads=has_heads)


def _make_line(engine: Engine, line: ObservedLine, content: str) -> TranscriptLine:
    """A line as those after it are read beside it."""
    return TranscriptLine(0, 0, line.provenance, content, engine.store.now(), speaker=line.speaker)


async def amend_fact(engine: Engine, user: str, number: int, do: Do, text: str = "") -> Memory:
    """Correct, pin or mute a memory, or undo that; whom its words are about is known again at once.

    Raises:
        NotFound: there is none such.
        InputError: that cannot be done with it, with the reason.
    """
    with on_behalf_of(user):
        changed = await change_memory(engine.store, user, number, do, text)
    if do in ("correct", "undo"):
        await catch_up(engine.store, user, engine.embed)
    engine.backlog.reopen_user(user)
    return changed


AdditionOutcome = Literal["added", "redacted", "secret", "known", "preference", "asked"]
"""What becomes of what a person adds: a fact; one but for a sentence that holds a secret, or nothing where there is no
other; one that stands already; how they want answers; or nothing, since it asks something."""


class FactAddition(NamedTuple):
    """What became of what a person added."""

    outcome: AdditionOutcome
    fact: Fact | None = None


async def add_fact(engine: Engine, user: str, text: str) -> FactAddition:
    """Remember a fact in a person's own words, all of them; what is no fact goes where it belongs.

    Raises:
        InputError: there are no words.
    """
    if not text.strip():
        raise InputError("There is nothing to remember; write a sentence, as in: My sister Ana lives in Lisbon.")
    check_names(user, ADDED)
    content = redact(clean_text(text).strip())
    if not drop_secret_sentences(content).strip():
        return FactAddition("secret")
    with on_behalf_of(user):
        if known := await _find_same(engine, user, content):
            return FactAddition("known", known)
    analysis = analyse_redacted(content)
    if await asyncio.to_thread(_states_preference, engine, content, analysis.language):
        await remember_lines(engine, user, ADDED, [read_line(content, "user")])
        engine.backlog.reopen_user(user)
        return FactAddition("preference")
    if any(ask.kind != "request" for ask in find_asks(analysis)) and not find_assertions(analysis):
        return FactAddition("asked")
    line = read_line(text.strip(), "user")._replace(is_fact=True)
    (number,) = await remember_lines(engine, user, ADDED, [line])
    engine.backlog.reopen_user(user)
    with on_behalf_of(user):
        fact = await get_fact(engine.store, user, number)
    return FactAddition("redacted" if is_redacted(content) and not is_redacted(text) else "added", fact)


async def _find_same(engine: Engine, user: str, content: str) -> Fact | None:
    """The latest fact of a user's that says the same, however it is spaced or written large."""
    holding = await engine.store.read(views.find_containing, user, " ".join(content.split()), FACTS, 1)
    found = await engine.store.read(views.find_memories, user, holding)
    same = (number for number, memory in found.items() if flatten_words(memory.content) == flatten_words(content))
    number = next(same, None)
    return None if number is None else await get_fact(engine.store, user, number)


def _states_preference(engine: Engine, content: str, language: str) -> bool:
    """Whether all that a person writes says how they want answers from now on."""
    said = users_words(content, "user", (), hands_of(engine.embed))
    heard = heard_in(said, (), language, engine.embed)
    standing = [wish for wish in heard if wish.force == "standing"]
    return bool(standing) and is_all(standing, content)


async def keep_remainders(engine: Engine, user: str, remainders: Iterable[Remainder]) -> None:
    """Remember what else some erased lines said, in the conversation and as of the time at which it was said.

    It comes after the erasure, which would take it for an echo of what is erased.
    """
    for text, memory in remainders:
        line = read_line(text, "user", speaker=memory.speaker, at=memory.said_at)
        line = line._replace(is_fact=memory.session == ADDED)
        await remember_lines(engine, user, memory.session, [line], dump_metadata(memory.metadata), looked_back=0)
