"""Sessions under load, from the figures to the text in the request that reaches the model, and back (law 1; S1–S11)."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import chain, count
from pathlib import Path

import pytest
import sqlalchemy as sa
from inline_snapshot import snapshot

from insula import Assessment, Chat, Controls, Metacognition, Usage
from insula.agent.chat import Reply
from insula.llm.budget import Account
from insula.memory.retrieval.embedding import resolve_embedding
from insula.memory.storage.schema import snapshots
from insula.memory.storage.store import Store
from insula.metacognition import Regulator
from insula.session.conditions import ANSWER, DWELL_SECONDS, LEAST_USUAL, MINIMUM, WINDOW_SECONDS, Observation
from insula.session.regulator import MODELS, SESSIONS, EndedTurn
from insula.session.snapshot import Lever, Saved
from insula.telemetry import Telemetry
from insula.testing import FrozenClock, ScriptedModel, memory_store
from insula.types import Parts
from insula_bench import talks
from insula_bench.session import exchanges
from insula_bench.slowness import Answered, Lived

pytestmark = pytest.mark.anyio

USUAL = 2.0
"""Seconds that the model takes for an answer of a hundred tokens."""
FACTS = [f"My {thing} is called {name}." for thing, name in zip(
    ("cat", "dog", "boat", "house", "sister", "street", "bicycle", "school", "tortoise", "violin",
     "village", "bakery", "horse", "piano", "lake", "tower", "garden", "doctor", "tailor", "bridge"),
    ("Tom", "Rex", "Aurora", "Elm", "Ana", "Rua", "Blitz", "Stein", "Zen", "Nina",
     "Alba", "Pane", "Fury", "Ivory", "Como", "Giotto", "Eden", "Weiss", "Moss", "Ponte"),
    strict=True,
)]  # fmt: skip


class Clock:
    """Seconds since the epoch, as a test wants them."""

    def __init__(self) -> None:
        self.at = time.time()

    def __call__(self) -> float:
        return self.at


@asynccontextmanager
async def talking(
    controls: Controls | None = None, embed: object = None
) -> AsyncGenerator[tuple[Chat, ScriptedModel, Clock]]:
    clock, model = Clock(), ScriptedModel(lambda _: "Noted.")
    async with memory_store(clock) as store:
        mind = Metacognition(store, regulator=Regulator(controls), telemetry=Telemetry())
        yield Chat(mind, model, account=Account(clock=clock)), model, clock  # its own answers take no time at all


def ended(at: float, seconds: float, *, answered: bool = True, stored: bool = True) -> EndedTurn:
    """A turn whose answer of a hundred tokens took so long."""
    seen = Observation(at, ANSWER, seconds, 100) if answered else None
    return EndedTurn(at=at, ms=1_000 * seconds, answered=answered, stored=stored, observation=seen)


def answers(chat: Chat, clock: Clock, seconds: float, number: int = MINIMUM) -> None:
    """Turns of another session on the same model."""
    for _ in range(number):
        chat.metacognition.engine.regulator.end_turn(
            ("somebody", "else"), chat.model.model_name, ended(clock(), seconds)
        )


def slow(chat: Chat, clock: Clock, times: float = 3.0) -> None:
    """A model that was as usual, and then became slow."""
    answers(chat, clock, USUAL, LEAST_USUAL)
    clock.at += WINDOW_SECONDS
    answers(chat, clock, times * USUAL)


def calm(chat: Chat, clock: Clock) -> None:
    clock.at += WINDOW_SECONDS + DWELL_SECONDS
    answers(chat, clock, USUAL)


async def filled(chat: Chat, session: str, saliences: int = 30) -> None:
    """A working memory in which much waits just below the threshold."""
    place = await chat.metacognition.store.resolve_place("ana", session)
    await chat.metacognition.engine.resume_session(place)
    chat.metacognition.engine.regulator.resume_session(("ana", session), [0.5] * saliences)


async def told(chat: Chat) -> None:
    for fact in FACTS:
        await chat.reply("ana", "before", fact)


async def test_two_conditions_take_sixteen_to_nine_and_end_one_by_one() -> None:
    async with talking() as (chat, model, clock):
        seen = list[tuple[int, float]]()

        async def turn() -> None:
            await filled(chat, "now", 30 if full else 0)
            reply = await chat.reply("ana", "now", "And what about that?")
            seen.append((reply.controls.max_context_items, reply.controls.consolidation_threshold))
            clock.at += DWELL_SECONDS

        full = False
        await turn()
        slow(chat, clock)
        await turn()
        full = True
        await turn()
        both = model.requests[-1].instructions
        calm(chat, clock)
        await turn()
        full = False
        await turn()
    assert seen == [(16, 0.55), (12, 0.60), (9, 0.65), (12, 0.60), (16, 0.55)]
    assert not both


async def test_each_change_stands_on_the_ring_and_on_the_ledger_with_its_reason() -> None:
    async with talking() as (chat, _, clock):
        await chat.reply("ana", "now", "Hello there, my friend.")
        slow(chat, clock)
        await chat.reply("ana", "now", "How are you doing?")
        calm(chat, clock)
        last = await chat.reply("ana", "now", "Are you any better?")
        ring = chat.metacognition.engine.regulator.ring
        place = await chat.metacognition.store.resolve_place("ana", "now")
        ledger = await chat.metacognition.store.sessions.read_ledger(place, "session:adaptation")
    changes = [
        (one.lever, one.before, one.after, one.reason)
        for one in ring.adaptations
        if one.lever in {"max_context_items", "consolidation_threshold"}
    ]
    assert changes == snapshot(
        [
            ("max_context_items", 16, 12, "performance_degraded"),
            ("consolidation_threshold", 0.55, 0.6, "performance_degraded"),
            ("max_context_items", 12, 16, "stable"),
            ("consolidation_threshold", 0.6, 0.55, "stable"),
        ]
    )
    assert [(one.turn, one.reason) for one in ledger] == snapshot(
        [
            (3, "history_share from 0.75 to 1.0: stable"),
            (3, "consolidation_threshold from 0.6 to 0.55: stable"),
            (3, "max_context_items from 12 to 16: stable"),
            (2, "history_share from 1.0 to 0.75: performance_degraded"),
            (2, "consolidation_threshold from 0.55 to 0.6: performance_degraded"),
            (2, "max_context_items from 16 to 12: performance_degraded"),
        ]
    )
    assert [signal.reason for signal in last.signals if signal.kind == "session:adaptation"] == [
        "max_context_items from 12 to 16: stable",
        "consolidation_threshold from 0.6 to 0.55: stable",
        "history_share from 0.75 to 1.0: stable",
    ]


async def test_a_turn_that_raises_leaves_the_settings_as_they_were() -> None:
    async with talking() as (chat, _, clock):
        slow(chat, clock)
        with pytest.raises(RuntimeError):
            async with chat.metacognition.turn("ana", "now", "Hello there.", model=chat.model.model_name) as turn:
                assert turn.controls.max_context_items == 12
                raise RuntimeError
        assert chat.metacognition.controls == Controls()
        calm(chat, clock)
        assert (await chat.reply("ana", "now", "And now?")).controls == Controls()


async def test_the_raised_threshold_changes_what_is_promoted() -> None:
    """What lies between 0.55 and 0.60 goes to long-term memory in calm sessions, and not in a degraded one."""
    long_term = list[int]()
    for degraded in (False, True):
        async with talking() as (chat, _, clock):
            if degraded:
                slow(chat, clock)
            place = await chat.metacognition.store.resolve_place("ana", "now")
            async with chat.metacognition.turn("ana", "now", "Mine.", model=chat.model.model_name) as turn:
                await set_salience(chat.metacognition.store, 0.57)
                turn.finish("Yes.")
            long_term.append((await chat.metacognition.store.sessions.count_rows(place))["long_term"])
    assert long_term == [1, 0]


async def set_salience(store: Store, salience: float) -> None:
    await store.run(lambda connection: connection.execute(sa.text(f"UPDATE memories SET salience = {salience}")))


async def test_where_the_model_is_far_too_slow_nobody_waits_for_a_second_model_or_the_meaning_of_a_response() -> None:
    calls = list[str]()

    async def assess(*_: object) -> Assessment:
        calls.append("assessor")
        parts = Parts(responsiveness=1, completeness=1, consistency=1, length_ok=True, repetition=False)
        return Assessment(score=1.0, flags=(), parts=parts)

    def embed(text: str) -> list[float]:
        calls.append(text)
        return [1.0, 0.0]

    async with talking() as (chat, _, clock):
        chat.assessor, mind = assess, chat.metacognition
        mind.engine.embed = resolve_embedding(embed)
        await chat.reply("ana", "now", "Hello there, my friend.")
        at_first = list(calls)
        await asyncio.gather(*mind.engine.backlog.tasks)
        slow(chat, clock, 5.0)
        calls.clear()
        reply = await chat.reply("ana", "now", "And how are you?")
        in_turn = list(calls)
        await asyncio.gather(*mind.engine.backlog.tasks)
        afterwards = calls[len(in_turn) :]
    assert {"assessor", "Hello there, my friend. Noted."} <= set(at_first)
    assert reply.skipped == ("embedding", "assessor_model")
    assert reply.assessment is not None
    assert any("And how are you?" in one for one in in_turn)  # memory is asked by meaning all the same
    assert not {"assessor", "And how are you? Noted."} & set(in_turn)
    assert "And how are you? Noted." in afterwards
    saved = {one.lever: one.saved.model_dump() for one in reply.advisories}
    assert saved["skipped_stages"] == {"vectors": 1, "calls": 1}


async def stable(chat: Chat, turns: int) -> list[Reply]:
    return [await chat.reply("ana", "now", f"Well, so much for {turn}, hm.") for turn in range(turns)]


async def test_the_ring_the_interval_and_what_is_usual_survive_a_restart(tmp_path: Path) -> None:
    path, clock = tmp_path / "insula.db", Clock()

    def slowly(_: object) -> str:
        clock.at += USUAL
        return "Noted."

    for part in (12, 8):
        async with Metacognition(await Store.open(path, clock)) as metacognition:
            chat = Chat(metacognition, ScriptedModel(slowly), account=Account(clock=clock))
            replies = await stable(chat, part)
            ring, usual = metacognition.engine.regulator.ring, metacognition.engine.regulator.dump_state()["usual"]
    assert [one.turn_counter for one in ring.snapshots] == [5, 11, 18]
    assert [reply.turn for reply in replies if reply.metacog] == [18]  # the turn of the session, as it happens
    assert ring.schedule.interval == 8
    assert len(usual["scripted"]["answer"]) == LEAST_USUAL  # twelve of which were before the restart
    async with Metacognition(await Store.open(path)) as metacognition:
        await metacognition.engine.restore_state()
        assert metacognition.engine.regulator.ring == ring
        assert metacognition.engine.regulator.turns == 20
        rows = await metacognition.store.run(lambda connection: connection.execute(sa.select(snapshots.c.data)).all())
    assert [row.data["type"] for row in rows] == ["meta_reflection"] * 3


def test_that_it_fails_makes_no_model_fast_and_none_slow() -> None:
    for seconds in (0.001, 120.0):
        regulator = Regulator()
        for number in range(200):
            fails = number >= LEAST_USUAL
            regulator.end_turn("a", "tiny", ended(float(number), seconds if fails else USUAL, answered=not fails))
        found = regulator.measure_performance("tiny", 199.0)
        assert (found.latency_p95_ms, found.slowdown, found.degraded) == (1_000 * USUAL, None, False)


def test_what_is_kept_in_mind_of_models_and_sessions_is_bounded() -> None:
    regulator = Regulator()
    for number in range(SESSIONS + 1):
        regulator.resume_session(number, [])
    for number in range(MODELS + 1):
        regulator.end_turn("a", f"model {number}", EndedTurn(at=1.0, ms=1.0, answered=True, stored=True))
    assert not regulator.knows_session(0)
    assert regulator.knows_session(SESSIONS)
    assert len(regulator.dump_state()["usual"]) == MODELS


async def test_a_working_memory_that_was_full_before_a_restart_is_full_after_it() -> None:
    async with talking() as (chat, model, _):
        await chat.reply("ana", "now", "Hello there, my friend.")
        store = chat.metacognition.store
        for number in range(Controls().stm_capacity // 2 - 1):
            await chat.reply("ana", "now", f"And what about river {number}?")
        await set_salience(store, 0.5)
        again = Chat(Metacognition(store), model)
        reply = await again.reply("ana", "now", "And what about that?")
    assert reply.controls.max_context_items == 12


async def test_a_state_that_cannot_be_read_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "insula.db"
    async with Metacognition(await Store.open(path)) as metacognition:
        await stable(Chat(metacognition, ScriptedModel(lambda _: "Noted.")), 6)
        torn = sa.text("""UPDATE services SET data = '{"ring": [1, 2], "turns": "x", "usual": 7}'""")
        await metacognition.store.run(lambda connection: connection.execute(torn))
    async with Metacognition(await Store.open(path)) as metacognition:
        replies = await stable(Chat(metacognition, ScriptedModel(lambda _: "Noted.")), 5)
    assert replies[-1].metacog is not None
    assert not replies[-1].troubles


async def test_the_counters_have_the_names_that_seed_003_promises() -> None:
    async with talking() as (chat, _, clock):
        await filled(chat, "now")
        slow(chat, clock, 5.0)
        await chat.reply("ana", "now", "Hello there, my friend.")
        value = chat.metacognition.engine.telemetry.registry.get_sample_value
    names = (
        "metacog_snapshots_total",
        "metacog_advisory_items_total",
        "metacog_stm_high_util_events_total",
        "metacog_performance_degraded_events_total",
        "adaptive_retrieval_applied_total",
    )
    assert {name: value(name) for name in names} == snapshot(
        {
            "metacog_snapshots_total": 0.0,
            "metacog_advisory_items_total": 1.0,
            "metacog_stm_high_util_events_total": 1.0,
            "metacog_performance_degraded_events_total": 1.0,
            "adaptive_retrieval_applied_total": 1.0,
        }
    )


def failing(*_: object) -> object:
    raise ZeroDivisionError


async def test_a_regulator_that_fails_leaves_the_turn_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking() as (chat, _, _clock):
        for name in ("begin_turn", "end_turn"):
            monkeypatch.setattr(chat.metacognition.engine.regulator, name, failing)
        reply = await chat.reply("ana", "now", "Hello there, my friend.")
    assert (reply.response, reply.controls, reply.turn) == ("Noted.", Controls(), 1)
    assert len(reply.troubles) == 2


# A real long conversation with a model that slows down: each lever acts, and says what it saved (S3, S5, S6, S11)


CALM, STRETCH, OVER = 26, 12, 8
"""Turns as usual, at each slowness, and as usual again."""


def talk() -> list[tuple[str, str]]:
    """Talks of a user with an assistant, one after the other, from the second on: much is told and asked there."""
    said = list(chain.from_iterable(map(exchanges, talks.with_assistant()[1:])))
    return said[: CALM + 2 * STRETCH + OVER]


def of(found: Lived, *levers: Lever) -> dict[Lever, Saved]:
    """What the records of changes say was saved, by lever."""
    made = dict[Lever, Saved]()
    for one in found.adaptations:
        if one.lever in levers and one.saved:
            made[one.lever] = made.get(one.lever, Saved()) + one.saved
    return made


def late_turns(turns: Sequence[Answered], slower: float) -> Sequence[Answered]:
    """The last turns of a stretch, when it has long been noticed."""
    return [one for one in turns if one.slower == slower][-3:]


async def test_a_second_answer_that_a_slow_model_is_spared_is_counted_with_what_it_would_have_asked_for() -> None:
    clock = FrozenClock()
    model = ScriptedModel(lambda _: "The capital of Kenya is Nairobi.")
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, regulator=Regulator(Controls(retry=1)))
        chat = Chat(mind, model, max_tokens=700)
        question = "What is the capital of Kenya, and how many people live there?"
        await chat.reply("ana", "now", question)
        asked_twice = len(model.requests)
        await spent(mind, clock, "scripted", [2.0] * 20 + [6.0] * 12)
        reply = await chat.reply("ana", "then", question)
        asked = len(model.requests) - asked_twice
    assert (asked_twice, asked) == (2, 1)
    assert {one.lever: one.saved.model_dump() for one in reply.advisories}["retry"] == {
        "calls": 1,
        "output_tokens": 700,
    }
    assert reply.record()["advisories"][0]["source_system"] == "metacog"


async def spent(mind: Metacognition, clock: FrozenClock, model: str, seconds: Sequence[float]) -> Controls:
    """Turns of some host that says how long its model took for a hundred tokens; returns what the last might use."""
    used = mind.controls
    for number, one in enumerate(seconds):
        clock.advance(60.0)
        async with mind.turn("bo", "talk", f"I saw fox number {number} today.", model=model) as turn:
            used = turn.controls
            turn.finish("Nice.", usage=Usage(calls=1, output_tokens=100, seconds=one))
    return used


async def test_insula_s_own_time_is_none_of_the_model_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk, or a machine, that becomes late_turns makes each turn long; the model answers as fast as ever."""
    clock, ticks = FrozenClock(), count(0.0, 9.0)
    monkeypatch.setattr("insula.metacognition.turn.time.perf_counter", lambda: next(ticks))
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store)
        used = await spent(mind, clock, "tiny", [2.0] * 60)
        found = mind.engine.regulator.measure_performance("tiny", clock().timestamp())
    assert used == Controls()
    assert found.slowdown == 1.0
    assert found.latency_p95_ms is not None
    assert found.latency_p95_ms > 9_000.0
