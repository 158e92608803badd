import asyncio
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from insula.errors import InputError, StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreNewer
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_questions, extract_statements
from insula.memory.item import NewItem, new_item
from insula.memory.retrieval import index
from insula.memory.retrieval.encoding import encode_claims
from insula.memory.retrieval.query import build_cue
from insula.memory.storage import facts, sqlite, statements
from insula.memory.storage.beginning import read_beginning
from insula.memory.storage.store import Store
from insula.testing import memory_store
from insula.text.analysis import analyse_text
from insula.types import IMPASSE, TURN, Controls, Recalled, Signal

pytestmark = pytest.mark.anyio
KEEP_ALL = Controls(consolidation_threshold=0.0)
STATED = extract_statements(analyse_text("My sister Ana keeps bees."), USER, ASSISTANT)
ASKED = extract_questions(analyse_text("What does my sister keep?"), USER, ASSISTANT)


def remembered(text: str, speaker: str = USER) -> NewItem:
    analysis = analyse_text(text)
    encoding = encode_claims(analysis, speaker, ASSISTANT if speaker == USER else USER)
    return new_item(analysis, encoding, "user" if speaker == USER else "assistant", speaker, (), ())


async def tell(store: Store, user: str, session: str, text: str, controls: Controls = KEEP_ALL) -> int:
    place = await store.resolve_place(user, session)
    _, memory = await store.sessions.write_message(place, remembered(text))
    await store.sessions.promote_items(place, controls)
    return memory


async def ask(store: Store, user: str, session: str, text: str) -> tuple[Recalled, ...]:
    found = await store.memories.recall_memories(
        await store.resolve_place(user, session), build_cue(analyse_text(text), USER, ASSISTANT), 5
    )
    return found.recalled


async def test_what_was_said_in_one_session_is_recalled_in_the_next(store: Store) -> None:
    await tell(store, "me", "monday", "My sister Ana moved to Lisbon in May.")
    found = await ask(store, "me", "tuesday", "Where does Ana live?")
    assert [one.memory.content for one in found] == ["My sister Ana moved to Lisbon in May."]


async def test_memory_survives_a_restart(tmp_path: Path) -> None:
    for text in ("Ana lives in Lisbon.", "Tom plays the cello."):
        async with await Store.open(tmp_path / "memory.db") as store:
            await tell(store, "me", "monday", text)
    async with await Store.open(tmp_path / "memory.db") as store:
        assert "cello" in (await ask(store, "me", "x", "What does Tom play?"))[0].memory.content


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["Ana lives in Lisbon.", "I work in a bakery.", "Tom has a cat."]), max_size=4))
def test_no_question_reaches_the_memory_of_another_user(texts: list[str]) -> None:
    async def run() -> None:
        async with memory_store() as store:
            for i, text in enumerate(texts):
                await tell(store, f"user {i % 2}", "s", text)
            await tell(store, "user 2", "s", "Nothing to see.")
            for question in ("Where does Ana live?", "Where do I work?", "Has Tom a cat?"):
                assert await ask(store, "stranger", "s", question) == ()
                for one in await ask(store, "user 0", "s", question):
                    assert one.memory.content in texts[::2]

    asyncio.run(run())


async def test_a_user_named_like_a_term_of_another_finds_nothing_of_theirs(store: Store) -> None:
    await tell(store, "1", "s", "Lisbon is lovely.")
    await tell(store, "11", "s", "Porto is lovely.")
    assert [one.memory.content for one in await ask(store, "11", "s", "Is Lisbon or Porto lovely?")] == [
        "Porto is lovely."
    ]


async def test_working_memory_is_recalled_in_its_own_session_alone(store: Store) -> None:
    await tell(store, "me", "here", "Ana lives in Lisbon.", Controls(consolidation_threshold=1.0))
    assert len(await ask(store, "me", "here", "Where does Ana live?")) == 1
    assert await ask(store, "me", "elsewhere", "Where does Ana live?") == ()


async def test_people_with_one_family_name_are_told_apart(store: Store) -> None:
    place = await store.resolve_place("me", "monday")
    said = {"Dr. Bea Ray": "I moved to Lisbon in spring.", "Tom Ray": "I moved to Porto in spring."}
    for (speaker, text), listener in zip(said.items(), reversed(said), strict=True):
        analysis = analyse_text(text)
        await store.sessions.write_message(
            place, new_item(analysis, encode_claims(analysis, speaker, listener), "user", speaker, (), ())
        )
        await store.sessions.promote_items(place, KEEP_ALL)
    for name, where in (("Bea", "Lisbon"), ("Bea Ray", "Lisbon"), ("Tom", "Porto"), ("Tom Ray", "Porto")):
        best, other = await ask(store, "me", "tuesday", f"Where did {name} move to?")
        assert where in best.memory.content
        assert (best.parts["speaker"], other.parts["speaker"]) == (1.0, 0.0)


async def test_a_higher_threshold_promotes_less(store: Store) -> None:
    texts = ["Ok.", "My sister Ana moved to Lisbon in May.", "I think so.", "Remember: Tom is allergic to nuts."]
    promoted: list[int] = []
    for threshold in (0.0, 0.55, 0.75, 1.0):
        user = f"user {threshold}"
        place = await store.resolve_place(user, "s")
        for text in texts:
            await store.sessions.write_message(place, remembered(text))
        kept = await store.sessions.promote_items(place, Controls(consolidation_threshold=threshold))
        promoted.append(len(kept.ages))
    assert promoted[0] == 4
    assert promoted[-1] == 0
    assert promoted == sorted(promoted, reverse=True)
    assert len(set(promoted)) >= 3


async def test_a_full_working_memory_lets_the_least_salient_go(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    for text in ("Ok.", "My sister Ana moved to Lisbon in May.", "Well."):
        await store.sessions.write_message(place, remembered(text))
    await store.sessions.promote_items(place, Controls(consolidation_threshold=1.0, stm_capacity=1))
    assert (await store.sessions.count_rows(place))["working"] == 1
    assert [memory.content for memory, _ in await store.memories.list_latest_memories("me", 9)] == [
        "My sister Ana moved to Lisbon in May."
    ]
    assert len(await store.sessions.read_lines(place, 9)) == 3


async def test_what_keeps_being_used_is_promoted(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    _, memory = await store.sessions.write_message(place, remembered("Tom likes jazz."))
    controls = Controls(consolidation_threshold=0.9)
    for _ in range(10):
        kept = await store.sessions.finish_turn(place, 1, None, (), [memory], controls)
        if kept is None or kept.ages:
            break
    else:
        pytest.fail("it was not promoted")
    assert kept is not None
    assert (await store.sessions.count_rows(place))["long_term"] == 1


async def test_what_describes_the_agent_itself_is_never_recalled(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    await store.sessions.write_message(
        place, remembered("Latency of Ana rose to nine seconds.")._replace(kind="meta_reflection")
    )
    await store.sessions.promote_items(place, KEEP_ALL)
    assert await ask(store, "me", "s", "How is the latency of Ana?") == ()


async def test_one_failing_statement_leaves_nothing_of_a_turn(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    await store.sessions.write_message(place, remembered("Ana lives in Lisbon."))
    without_claims = remembered("Lisbon.", ASSISTANT)._replace(claims=cast(str, None))
    before = await store.sessions.count_rows(place)
    with pytest.raises(StoreError, match=r"(?i)not.null"):
        await store.sessions.finish_turn(place, 1, without_claims, (), (), KEEP_ALL)
    assert await store.sessions.count_rows(place) == before


@pytest.mark.parametrize("name", ["es-p12", "Mathe", "room 4471", "thread_17"])
async def test_an_id_by_itself_is_a_name_and_no_secret(store: Store, name: str) -> None:
    assert (await store.resolve_place(name, name)).session == name


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "ghp_" + "a1B2" * 9])
async def test_a_name_that_cannot_be_used_is_refused_in_a_sentence(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        await store.resolve_place(name, "s")


async def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"this is a letter, not a database" * 100)
    with pytest.raises(StoreCorrupt, match=r"memory\.db.*move it aside"):
        await Store.open(path)
    assert path.read_bytes().startswith(b"this is a letter")


async def test_a_newer_schema_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with await Store.open(path):
        pass
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(StoreNewer, match="upgrade Insula where you have it from"):
        await Store.open(path)


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFull, match="INSULA_HOME"):
        await Store.open(tmp_path / "file" / "deeper" / "memory.db")


async def test_a_locked_database_is_said_to_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MS", 50)
    path = tmp_path / "memory.db"
    async with await Store.open(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLocked, match="locked by another process"):
            await store.resolve_place("me", "s")
        other.execute("ROLLBACK")
        other.close()
        await tell(store, "me", "s", "Ana lives in Lisbon.")


async def test_a_full_disk_is_said_to_be_full_and_nothing_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with await Store.open(path) as store:
        await tell(store, "me", "s", "Ana lives in Lisbon.")
        await store.run(lambda connection: connection.execute(sa.text("PRAGMA max_page_count = 1")))
        place = await store.resolve_place("me", "s")
        with pytest.raises(StoreFull, match="disk"):
            await store.sessions.write_message(place, remembered("x" * 500_000))
        assert len(await store.sessions.read_lines(place, 9)) == 1
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()


async def test_no_more_is_read_of_a_long_memory_than_of_a_short_one() -> None:
    async def steps(size: int) -> int:
        def work(connection: sa.Connection) -> int:
            taken = [0]
            raw: Any = connection.connection.dbapi_connection
            raw.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 10)
            index.long_term(connection, place.user_id, range(1, 9))
            facts.statements_of(
                connection,
                place.user_id,
                index.list_candidates(connection, place.user_id, place.session_id, range(1, 9)),
            )
            raw.set_progress_handler(None, 0)
            return taken[0]

        async with await Store.open(":memory:") as store:
            place = await store.resolve_place("me", "monday")
            item = remembered("My sister Ana keeps bees.")._replace(statements=STATED)
            await store.sessions.add_lines(place, [(item, float(at)) for at in range(size)], KEEP_ALL)
            place = await store.resolve_place("me", "tuesday")
            return await store.run(work)

    short, long = await steps(200), await steps(800)
    assert long < 1.2 * short


async def test_no_more_is_read_of_a_long_ledger_than_of_a_short_one() -> None:
    """What a turn asks of it: how the last one went, and what was left open, in whatever session."""

    async def steps(size: int) -> int:
        def work(connection: sa.Connection) -> int:
            taken = [0]
            raw: Any = connection.connection.dbapi_connection
            raw.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 10)
            stands = read_beginning(connection, new, 5, 0)
            raw.set_progress_handler(None, 0)
            assert stands.impasse
            assert stands.impasse.turn == size
            return taken[0]

        async with await Store.open(":memory:") as store:
            place, new = await store.resolve_place("me", "monday"), await store.resolve_place("me", "tuesday")
            at = datetime.fromtimestamp(0, UTC)
            noted = [
                Signal(kind=kind, user="me", session="monday", turn=number + 1, reason="so", at=at, data={})
                for number in range(size)
                for kind in (TURN, IMPASSE)
            ]
            await store.run(statements.append_signals, place, noted)
            return await store.run(work)

    short, long = await steps(100), await steps(400)
    assert long < 1.2 * short
