"""The user's own model reads what was said since it last did: at night, and when a session rests.

One call for some lines of one or more sessions. What of its answer the user's own words bear out is written together
with the note that these lines were read; so a process may be killed anywhere, and two may be at one user: lines are
read once, and at most the call in flight is repeated. Nothing that a model said waits on the disk.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from insula.errors import BudgetExceeded, ModelError, ModelMalformed, ModelRefused, ModelUnavailable
from insula.language.extract.answer import Answer
from insula.language.extract.check import FEW, Checked, check_answer
from insula.language.extract.request import ExtractionLine, ExtractionRequest, Known, build_request
from insula.language.facts import find_fact_candidates, is_surely_fact
from insula.language.handed import Hands, UsersWords, users_lines
from insula.language.heads import Vector, predict_chance
from insula.language.owner import ASSISTANT, USER
from insula.language.preferences import LONGEST, meaning_of, part_of
from insula.language.preferences import Preference as Wanted
from insula.language.statements import PredictedQuery, Statement, Utterance
from insula.llm.budget import Account, bound_tokens
from insula.llm.client import Prompt, generate_reply
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.relevance import is_needed_for
from insula.memory.retrieval import extraction
from insula.memory.retrieval.embedding import (
    embed_all,
    embed_each,
    embed_text,
    hands_of,
    predict_personal,
    read_requests,
)
from insula.memory.retrieval.extraction import LineContent
from insula.memory.retrieval.query import build_cue
from insula.memory.storage import unread
from insula.memory.storage.nights import REST
from insula.memory.storage.rows import Place, StoredGuidance
from insula.memory.storage.store import Store
from insula.memory.storage.understood import ExtractedLines, LineRead, Wished, keep_extracted
from insula.memory.storage.unread import TOKENS_A_DAY, KnownMemory, Unread
from insula.memory.storage.vectors import Embed
from insula.memory.wishes import is_all, is_told, is_wish, learnable_preferences, preference_words
from insula.night.cycle import Night, Result
from insula.night.prompts import total_usage, usage_since
from insula.text.analysis import analyse_text
from insula.text.wording import join_parts
from insula.types import Usage

if TYPE_CHECKING:
    from insula.llm.model import Model

LINES = 24
"""Lines of one call, those of the assistant among them: what is read in them, with what may be asked of it later, fits
into an answer of `MAX_TOKENS`."""
KNOWN_EACH, MOST_KNOWN, MOST_WISHES = 3, 24, 24
"""Facts that are shown for each line, and for all of them; and preferences that stand."""
MAX_TOKENS = 4_500
TEMPERATURE = 0.0
TIMEOUT = 90.0
"""Seconds that a model may take; nobody waits for it."""
TELLS = 0.5
"""Chance from which words rather tell a fact; below that a model that reads a preference in them is believed."""
PURPOSE = "statements"
CALLS = 8
"""Calls of one night; what is left over is for the next."""
NOBODY = "No model is there to read what was said."
NOTHING = "All that was said was read before."
SPENT = "What may be spent on understanding in a day is spent; the rest waits."


class UnderstandingReport(TypedDict):
    """What became of some lines; without a word of anybody's."""

    lines: int
    understood: list[int]
    """The memories of which the model said what they state."""
    dropped: list[int]
    """The memories that had been taken for facts, in which the model found none."""
    ended: list[list[int]]
    """Memories that are over, each with the one that ended it."""
    wishes: int
    refused: dict[str, int]
    usage: dict[str, int]
    read: int
    """Id of the last message that was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads the lines of a user, and within which bounds."""

    store: Store
    user: str
    user_id: int
    model: "Model"
    account: Account
    embed: Embed | None = None
    tokens: int = TOKENS_A_DAY
    """Of a day, at night and at rest together."""


class Batch(NamedTuple):
    """What one call is about."""

    after: int
    """Id of the last message that was read before."""
    lines: Sequence[Unread]
    facts: Mapping[str, KnownMemory]
    """What is remembered, by the names under which it is shown."""
    wishes: Mapping[str, StoredGuidance]
    """Preferences that stand, likewise."""
    own: Mapping[int, UsersWords]
    """What of each line the user said themselves, by its message."""
    said: Sequence[ExtractionLine]
    known: Sequence[Known]
    asked: ExtractionRequest


async def read_lines(reader: Reader) -> UnderstandingReport | None:
    """Read the next lines of a user; None where there are none, or somebody else has read them.

    Raises:
        BudgetExceeded: what may be spent in a day is spent.
        ModelError: the model was not reached, or not in time: the lines are read another time. What it says that is no
            answer is none: the lines count as read, and keep what was understood of them when they were said.
        StoreError: the store cannot be used, or a line changed meanwhile: nothing is written.
    """
    store = reader.store
    after, lines = await store.read(unread.next_lines, reader.user_id, store.now(), LINES)
    if not any(line.is_new for line in lines):
        return None
    batch = await _make_batch(reader, after, lines)
    before = reader.account.by_purpose.get(PURPOSE, Usage())
    extracted, refused = ExtractedLines(), Counter[str]()
    if batch.asked.lines:
        try:
            checked = await _ask_extraction(reader, batch)
            extracted, refused = await _collect_lines(reader, batch, checked), Counter(checked.refused)
        except (ModelMalformed, ModelRefused) as error:
            refused[type(error).__name__] += 1
    report: UnderstandingReport = {
        "lines": len(batch.asked.lines),
        "understood": sorted(line.memory for line in extracted.lines),
        "dropped": sorted(extracted.dropped),
        "ended": sorted([old, new] for old, new in extracted.ends),
        "wishes": len(extracted.wishes) + len(extracted.lifted),
        "refused": dict(refused),
        "usage": usage_since(reader.account, PURPOSE, before),
        "read": max(line.message for line in lines),
    }
    shown = {line.memory: line.content for line in (*lines, *batch.facts.values()) if line.content}
    name = f"{REST}{after}"
    is_ours = await store.run(keep_extracted, reader.user_id, name, report, extracted, shown, store.now())
    return report if is_ours else None


async def _make_batch(reader: Reader, after: int, lines: Sequence[Unread]) -> Batch:
    """What one call is about: the lines, and what is known that they could concern."""
    here = {line.memory for line in lines}
    new = [line for line in lines if line.is_new and line.provenance == USER and line.content]
    near = [number for line in new for number in await _find_near(reader, line) if number not in here]
    rows = await reader.store.read(unread.read_known_facts, reader.user_id, list(dict.fromkeys(near))[:MOST_KNOWN])
    stand = [
        guidance
        for guidance in await reader.store.guidance.list_lessons(reader.user_id)
        if is_wish(guidance) and is_told(guidance)
    ]
    facts = {f"f{number}": memory for number, memory in enumerate((memory for memory in rows if memory.line), 1)}
    wishes = {f"p{number}": guidance for number, guidance in enumerate(stand[-MOST_WISHES:], 1)}
    known = [
        *(Known(name, memory.line, _format_day(memory.said_at), _is_plan(memory)) for name, memory in facts.items()),
        *(Known(name, preference_words(guidance)) for name, guidance in wishes.items()),
    ]
    own = await asyncio.to_thread(_own_words, lines, hands_of(reader.embed))
    said = [
        _extraction_line(line, own[line.message].text if line.provenance == USER else line.content) for line in lines
    ]
    return Batch(after, lines, facts, wishes, own, said, known, build_request(said, known))


def _is_plan(memory: KnownMemory) -> bool:
    return any(statement.modality == "plan" for statement in memory.statements)


def _own_words(lines: Sequence[Unread], hands: Hands) -> dict[int, UsersWords]:
    """What of some lines the user said themselves."""
    own: dict[int, UsersWords] = {}
    for session in dict.fromkeys(line.session for line in lines):
        here = [line for line in lines if line.session == session]
        own |= {line.message: said for line, said in zip(here, users_lines(here, hands), strict=True)}
    return own


def _extraction_line(line: Unread, content: str) -> ExtractionLine:
    return ExtractionLine(line.message, line.session, line.provenance, content, _format_day(line.said_at), line.is_new)


async def _find_near(reader: Reader, line: Unread) -> list[int]:
    """The memories that a line could concern."""
    analysis = analyse_text(line.content, default=line.language or "en")
    vectors = dict(zip([line.content], await _embed_texts(reader, [line.content]), strict=False))
    place = Place(reader.user_id, line.session, reader.user, "")
    asked = build_cue(analysis, USER, ASSISTANT, frozenset())
    recollection = await reader.store.memories.recall_memories(
        place, asked, LINES, sought=[*read_requests(reader.embed, [line.content], vectors).values()]
    )
    told = [memory.memory.id for memory in recollection.recalled if memory.memory.provenance == USER]
    return [number for number in told if number != line.memory][:KNOWN_EACH]


def _format_day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


async def _ask_extraction(reader: Reader, batch: Batch) -> Checked:
    """What of the model's answer the user's own words bear out."""
    instructions, prompt, numbered = batch.asked
    spent = await reader.store.read(unread.tokens_spent, reader.user_id, reader.store.now())
    if spent + bound_tokens(instructions) + bound_tokens(prompt) + MAX_TOKENS > reader.tokens:
        raise BudgetExceeded(SPENT)
    answer = await generate_reply(
        reader.model,
        Prompt(instructions=instructions, prompt=prompt),
        purpose=PURPOSE,
        account=reader.account,
        max_tokens=MAX_TOKENS,
        temperature=TEMPERATURE,
        schema=Answer,
        timeout=TIMEOUT,
    )
    return await asyncio.to_thread(check_answer, answer.value, numbered, batch.said, batch.known)


async def _collect_lines(reader: Reader, batch: Batch, checked: Checked) -> ExtractedLines:
    """What is to be written of an answer."""
    lines = {line.message: line for line in batch.lines}
    made: list[LineRead] = []
    for line in (lines[message] for message in dict.fromkeys(fact.line for fact in checked.facts)):
        facts, before = [fact for fact in checked.facts if fact.line == line.message], _list_before(line, batch)
        content = await asyncio.to_thread(extraction.read_line, line.content, line.language, facts, before)
        made.append(await _read_meanings(reader, line.memory, content))
    stored = await reader.store.read(unread.read_known_facts, reader.user_id, [line.memory for line in batch.lines])
    stated = {memory.memory: memory.statements for memory in stored} | {line.memory: line.statements for line in made}
    ends, lifted = await _find_ended(reader, batch, checked, stated)
    wishes, alone = await _collect_wishes(reader, batch, checked)
    told = [line for line in made if line.statements]
    wished_only = alone - {line.memory for line in told}  # no fact: it is told from the ledger
    told += [LineRead(memory, "", ()) for memory in sorted(wished_only)]
    dropped = await _find_dropped(reader, batch, checked, {known.memory for known in stored if known.line})
    return ExtractedLines(told, dropped, ends, wishes, lifted)


async def _find_ended(
    reader: Reader, batch: Batch, checked: Checked, stated: Mapping[int, Sequence[Statement]]
) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """The memories that are over, each with the one that ended it, and the preferences that a line takes back.

    Args:
        stated: what the memories of the lines state.
    """
    lines = {line.message: line for line in batch.lines}
    ends, lifted = list[tuple[int, int]](), list[tuple[str, int]]()
    for end in checked.ends:
        line = lines[end.line]
        if end.known in batch.wishes:
            lifted.append((batch.wishes[end.known].key, end.line))
            continue
        old = batch.facts.get(end.known)
        number = old.memory if old else lines[end.earlier].memory
        says = old.statements if old else stated.get(number, ())
        near = await _nearness_to(reader, end.words, says)
        if extraction.is_over(end, line.language, says, stated.get(line.memory, ()), near):
            ends.append((number, line.memory))
    return ends, lifted


async def _collect_wishes(reader: Reader, batch: Batch, checked: Checked) -> tuple[list[Wished], set[int]]:
    """The preferences that the lines state, and the memories of the lines that are one and nothing else."""
    lines = {line.message: line for line in batch.lines}
    vectors = await _embed_texts(reader, [preference.span for preference in checked.preferences])
    wishes, alone = list[Wished](), set[int]()
    for preference, vector in zip(checked.preferences, vectors or [None] * len(checked.preferences), strict=True):
        if _is_fact(preference.span, vector):
            continue
        line = lines[preference.line]
        wish = Wanted(preference.span[:LONGEST], "standing", part_of(vector), preference.scope)
        if is_all([wish], line.content):
            alone.add(line.memory)
        for each in learnable_preferences([wish], batch.own[line.message], ()):
            tasks = await _embed_tasks(reader, preference.queries)
            wishes.append(Wished(line.session, line.turn, line.message, each, line.memory, tasks))
    return wishes, alone


async def _find_dropped(reader: Reader, batch: Batch, checked: Checked, told: Collection[int]) -> list[int]:
    """The memories that are told as facts, in whose lines the model found nothing, unless they surely tell one.

    Args:
        told: the memories of the lines that are told as facts.
    """
    silent = [line for line in batch.lines if line.message in checked.silent and line.memory in told]
    if len(checked.silent) == len(batch.asked.lines) and len(silent) > FEW:
        return []  # nothing in all of them: it has understood nothing
    return [line.memory for line in silent if not await asyncio.to_thread(_is_surely_fact, reader, line, batch)]


def _list_before(line: Unread, batch: Batch) -> list[Utterance]:
    """What was said before a line in its session."""
    before = [each for each in batch.lines if each.session == line.session and each.message < line.message]
    return [Utterance(each.content, each.provenance == USER) for each in before if each.content]


def _is_surely_fact(reader: Reader, line: Unread, batch: Batch) -> bool:
    """Whether a line in which the model found nothing surely tells a fact all the same: a reader overlooks things."""
    own = analyse_text(batch.own[line.message].text, default=line.language or "en")
    candidates = find_fact_candidates(own, _list_before(line, batch))
    texts = [text for candidate in candidates for text in candidate.weighed]
    vectors = embed_all(embed_text, texts) if reader.embed is embed_text and texts else {}
    return any(is_surely_fact(candidate, vectors) for candidate in candidates)


async def _read_meanings(reader: Reader, memory: int, read: LineContent) -> LineRead:
    """What a line holds, with what it means; the queries that its statements are not likely needed for are left out."""
    vectors = await _embed_texts(reader, list(read.meanings))
    if not vectors:
        return LineRead(memory, read.line, read.statements)
    kept: list[PredictedQuery] = []
    for vector, queries in zip(vectors, read.queries, strict=True):
        meant = await _embed_texts(reader, [query.text for query in queries])
        embedded = [query._replace(vector=made) for query, made in zip(queries, meant, strict=True)]
        kept += [query for query in embedded if _is_needed(reader, query, vector)]
    statements = [each._replace(vector=vector) for each, vector in zip(read.statements, vectors, strict=True)]
    return LineRead(memory, read.line, tuple(statements), tuple(kept))


async def _embed_tasks(reader: Reader, queries: Sequence[PredictedQuery]) -> tuple[PredictedQuery, ...]:
    """The tasks to which a preference is limited, with what they mean; of the shipped embedding alone."""
    meant = await _embed_texts(reader, [query.text for query in queries]) if reader.embed is embed_text else ()
    return tuple(query._replace(vector=vector) for query, vector in zip(queries, meant, strict=False))


def _is_needed(reader: Reader, query: PredictedQuery, statement: Vector) -> bool:
    """Whether a predicted query likely needs a statement; of another embedding than the shipped one nobody can tell."""
    meant = {} if query.vector is None else {query.text: query.vector}
    personal = predict_personal(reader.embed, query.text, meant)
    return personal is not None and is_needed_for(query, personal, statement)


async def _nearness_to(reader: Reader, words: str, says: Sequence[Statement]) -> float:
    """How near some words are to the nearest of some statements, as a cosine; 0 without vectors."""
    vectors = await _embed_texts(reader, [words, *(statement.text for statement in says)])
    return max((float(vectors[0] @ other) for other in vectors[1:]), default=0.0)


async def _embed_texts(reader: Reader, texts: Sequence[str]) -> list[Vector]:
    """The vectors of some texts; none without an embedding."""
    return await asyncio.to_thread(embed_each, reader.embed, texts) if reader.embed and texts else []


def _is_fact(words: str, vector: Vector | None) -> bool:
    """Whether some words tell a fact of somebody, and do not ask something of answers as surely."""
    meant = vector is not None and meaning_of(words, vector, vector)
    return bool(meant) and (predict_chance("fact", words, vector) or 0.0) > max(TELLS, meant["standing"])


REST_SECONDS = 60.0
"""How long nothing was said before a user rests."""


async def read_next_lines(
    store: Store,
    user: str,
    model: "Model",
    *,
    account: Account | None = None,
    embed: Embed | None = None,
    tokens: int = TOKENS_A_DAY,
) -> UnderstandingReport | None:
    """Let a model read the next lines of a user; None where there are none, or somebody else is at them.

    Args:
        account: caps on what it may spend.
        tokens: that reading this user's lines may take in a day.

    Raises:
        BudgetExceeded: what may be spent is spent.
        ModelError: the model was not reached, or not in time.
        StoreError: the store cannot be used, or a line changed meanwhile; the next rest reads it.
    """
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        return None
    async with store.hold_night(user_id) as alone:
        if not alone:
            return None
        with on_behalf_of(user):
            reader = Reader(
                store=store,
                user=user,
                user_id=user_id,
                model=model,
                account=account or Account(),
                embed=embed,
                tokens=tokens,
            )
            return await read_lines(reader)


async def understand_lines(night: Night, tokens: int = TOKENS_A_DAY) -> Result:
    """The phase: what the model reads in the lines that no rest has read, as far as the user's words bear it out.

    Raises:
        ModelUnavailable: the model is away: what it has read stands, and the next start goes on.
    """
    if night.model is None:
        return Result({"read": await night.store.read(unread.last_read, night.user_id)}, skipped=NOBODY)
    reader = Reader(
        store=night.store,
        user=night.user,
        user_id=night.user_id,
        model=night.model,
        account=night.account,
        embed=night.embed,
        tokens=tokens,
    )
    reports, why = list[UnderstandingReport](), ""
    try:
        while len(reports) < CALLS and (report := await read_lines(reader)) is not None:
            reports.append(report)
    except ModelUnavailable:
        raise
    except (ModelError, BudgetExceeded) as error:
        why = str(error)
    read = await night.store.read(unread.last_read, night.user_id)
    if not reports:
        return Result({"read": read}, skipped=why or NOTHING)
    understood = [number for report in reports for number in report["understood"]]
    dropped = [number for report in reports for number in report["dropped"]]
    ended = [pair for report in reports for pair in report["ended"]]
    wishes = sum(report["wishes"] for report in reports)
    refused = sum((Counter(report["refused"]) for report in reports), Counter[str]())
    report = {
        "lines": sum(report["lines"] for report in reports),
        "understood": understood,
        "dropped": dropped,
        "ended": ended,
        "wishes": wishes,
        "refused": dict(refused),
        "spent": total_usage(report["usage"] for report in reports),
        "read": read,
    }
    over = [f"memory {old} is over, by memory {new}" for old, new in ended]
    facts = f"noted the facts of {_name_memories(understood)}" if understood else ""
    none = f"found no fact in {_name_memories(dropped)}" if dropped else ""
    said = join_parts((facts, none, *over))
    return Result(report, says=[said] if said else ())


def _name_memories(numbers: Sequence[int]) -> str:
    return f"{'memory' if len(numbers) == 1 else 'memories'} {', '.join(map(str, numbers))}"
