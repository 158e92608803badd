"""What a night reads: once, until a model is asked, during whose time somebody may erase it."""

import pytest

from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import Night, PhaseName, Result, sleep_cycle

pytestmark = pytest.mark.anyio


async def test_lines_that_were_erased_while_a_model_was_asked_are_gone(store: Store) -> None:
    metacognition = Metacognition(store, embed=None)
    for line in ("My sister Ana lives in Lisbon.", "I never eat nuts.", "We leave on Friday."):
        async with metacognition.turn("eva", "monday", line) as turn:
            turn.finish("Noted.")
    seen: list[tuple[int, bool]] = []
    reads: list[str] = []
    transcripts = store.nights.lines_of

    async def counted(user_id: int, within: list[int], limit: int) -> object:
        reads.append("lines")
        return await transcripts(user_id, within, limit)

    store.nights.lines_of = counted  # type: ignore[method-assign]  # pyright: ignore[reportAttributeAccessIssue]

    async def look(night: Night) -> None:
        (session,) = await night.list_sessions()
        lines = (await night.lines_of([session.id], 10))[session.id]
        assert (await night.lines_of([session.id], 2))[session.id] == lines[-2:]
        seen.append((len(reads), any("Lisbon" in one.content for one in lines)))

    async def phase(night: Night) -> Result:
        await look(night)
        await look(night)

        async def asked() -> str:
            (memory, *_) = sorted(await store.memories.list_latest_memories("eva", 10), key=lambda one: one[0].id)
            await store.memories.erase_memories(night.user_id, memory[0].id)
            return "an answer"

        await night.once("think:call", asked)
        await look(night)
        return Result({})

    assert not (await sleep_cycle(store, "eva", [(PhaseName.SUMMARIES, phase)])).failed
    assert seen == [(1, True), (1, True), (2, False)]
