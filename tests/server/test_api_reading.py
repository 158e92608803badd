"""What a user can look at and undo: sessions, memories, SOUL.md, rules and nights."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
import sqlalchemy as sa
from api_service import Client, MakeService, say

from insula.memory.storage import statements
from insula.memory.storage.changes import LessonChange, Lived, RevisionChange
from insula.metacognition import Metacognition
from insula.night import soul
from insula.night.guidelines import PROPOSAL, SUBJECT
from insula.server.api import sessions
from insula.types import Signal

pytestmark = pytest.mark.anyio

ANA = {"user": "ana"}
FIRST = "# SOUL\n\n## Interaction principles\n\n- Be brief.\n"
SECOND = "# SOUL\n\n## Interaction principles\n\n- Be brief.\n- Answer in Portuguese.\n"
THIRD = "# SOUL\n\n## Interaction principles\n\n- Answer in Portuguese.\n"


@pytest.fixture
def here(make_service: MakeService, client: Client) -> httpx2.AsyncClient:
    return client(make_service(lambda _: "Noted, thank you."))


async def _get(here: httpx2.AsyncClient, path: str, **params: str | int) -> Any:
    found = await here.get(path, params={**ANA, **params})
    assert found.status_code == 200, found.text
    return found.json()


async def test_a_transcript_says_of_each_turn_what_was_made_of_it(here: httpx2.AsyncClient) -> None:
    answers = [(await say(here, text)).json() for text in ("I live in Lisbon.", "Where do I live?", "And my dog?")]
    found = await _get(here, "/agent/sessions/monday")
    assert [one["turn"] for one in found["turns"]] == [1, 2, 3]
    for turn, answer in zip(found["turns"], answers, strict=True):
        assert [line["provenance"] for line in turn["lines"]] == ["user", "assistant"]
        assert turn["lines"][1]["content"] == answer["response"]
        assert turn["confidence"] == {key: answer["confidence"][key] for key in ("level", "score")}
        assert turn["assessment"] == {key: answer["assessment"][key] for key in ("score", "flags", "parts")}
        assert turn["recalled"] == answer["recalled"]
        assert turn["controls"] == answer["controls"]
        kinds = [one["kind"] for one in answer["signals"] if one["kind"] != "meta:turn"]
        assert [one["kind"] for one in turn["signals"]] == kinds
    assert found["next"] is None
    late = await _get(here, "/agent/sessions/monday", limit=2)
    assert ([one["turn"] for one in late["turns"]], late["next"]) == ([2, 3], 2)
    early = await _get(here, "/agent/sessions/monday", limit=2, before=late["next"])
    assert ([one["turn"] for one in early["turns"]], early["next"]) == ([1], None)


async def test_a_ledger_of_an_earlier_version_is_read_too(
    here: httpx2.AsyncClient, metacognition: Metacognition
) -> None:
    await say(here, "I live in Lisbon.")
    place = await metacognition.store.resolve_place("ana", "monday")
    at = datetime.now(UTC)
    signal = Signal(
        kind="meta:turn",
        user="ana",
        session="monday",
        turn=2,
        reason="r",
        at=at,
        data={"hedged": False, "recalled": [{"id": 7}]},
    )
    await say(here, "I like trains.")

    def rewritten(connection: sa.Connection) -> None:
        connection.exec_driver_sql("DELETE FROM signals WHERE turn = 2")
        statements.append_signals(connection, place, [signal])

    await metacognition.store.run(rewritten)
    turn = (await _get(here, "/agent/sessions/monday"))["turns"][1]
    assert turn["recalled"] == [{"id": 7}]
    assert (turn["confidence"], turn["assessment"]) == (None, None)


async def test_a_session_may_have_any_plain_name(here: httpx2.AsyncClient) -> None:
    for name in ("a/b", "../../etc", "a b", "ä?#&%", "<b>", "…", "\U0001f98a", "revisions", "%2F"):
        await say(here, "I live in Lisbon.", session=name)
        found = await _get(here, f"/agent/sessions/{quote(name, safe='')}")
        assert (found["session"], len(found["turns"])) == (name, 1)


async def test_a_long_transcript_comes_in_parts_and_each_turn_once(
    here: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        await say(here, f"{number} and what of it? " + "x" * 200 * (number == 3))
    monkeypatch.setattr(sessions, "MOST_CHARS", 250)
    seen: list[int] = []
    before: dict[str, int] = {}
    while True:
        page = await _get(here, "/agent/sessions/monday", **before)
        assert all(len(turn["lines"]) == 2 for turn in page["turns"])
        seen = [turn["turn"] for turn in page["turns"]] + seen
        if page["next"] is None:
            break
        before = {"before": page["next"]}
        assert len(page["turns"]) < 6
    assert seen == [1, 2, 3, 4, 5, 6]
    shown = (await here.get("/", params={"user": "ana", "session": "monday"})).text
    assert 'id="turn-6"' in shown
    assert 'id="turn-1"' not in shown


async def test_what_is_not_there_is_said_to_be_missing(here: httpx2.AsyncClient) -> None:
    await say(here, "I live in Lisbon.")
    for path in ("/agent/sessions/tuesday", "/agent/memories/99", f"/agent/memories/{2**63 - 1}"):
        assert (await here.get(path, params=ANA)).status_code == 404
    assert (await here.delete("/agent/memories/99", params=ANA)).status_code == 404
    assert (await here.get("/agent/soul/revisions/1", params=ANA)).status_code == 404
    assert (await here.get("/agent/soul/diff", params={**ANA, "from": 1})).status_code == 404
    assert (await here.get(f"/agent/memories/{2**63}", params=ANA)).status_code == 422


async def _soul(metacognition: Metacognition, *texts: str, waiting: str = "") -> None:
    """Let nights have written a document in these states."""
    store = metacognition.store
    user_id = (await store.resolve_place("ana", "monday")).user_id
    changes = [
        RevisionChange(SUBJECT, "night", text, {"changes": [{"kind": "add", "text": text[-9:]}]}) for text in texts
    ]
    proposal = [RevisionChange(PROPOSAL, "night", waiting, {"reasons": ["much would change"]})] if waiting else []
    await store.nights.record_phase(user_id, "2026-01-06", "soul", {}, [*changes, *proposal])


async def test_soul_is_shown_with_its_history_and_its_differences(
    here: httpx2.AsyncClient, metacognition: Metacognition
) -> None:
    await _soul(metacognition, FIRST, SECOND)
    stands = await _get(here, "/agent/soul")
    assert (stands["text"], stands["waiting"]) == (SECOND, None)
    past = (await _get(here, "/agent/soul/revisions"))["revisions"]
    assert [one["author"] for one in past] == ["night", "night"]
    assert past[0]["id"] == stands["revision"]
    assert past[0]["changes"] == [{"kind": "add", "text": SECOND[-9:]}]
    assert (await _get(here, f"/agent/soul/revisions/{past[1]['id']}"))["text"] == FIRST
    diff = await _get(here, "/agent/soul/diff")
    assert (diff["before"], diff["after"]) == (past[1]["id"], past[0]["id"])
    assert "+- Answer in Portuguese." in diff["diff"]
    back = await _get(here, "/agent/soul/diff", **{"from": past[0]["id"], "to": past[1]["id"]})
    assert "-- Answer in Portuguese." in back["diff"]
    assert (await _get(here, "/agent/soul/diff", **{"from": past[0]["id"]}))["diff"] == ""


async def test_soul_is_undone_and_the_undoing_too(
    here: httpx2.AsyncClient, metacognition: Metacognition, tmp_path: Path
) -> None:
    await _soul(metacognition, FIRST, SECOND)
    undone = await here.post("/agent/soul/undo", params=ANA, json={})
    assert undone.json()["text"] == FIRST
    assert (tmp_path / "ana" / "SOUL.md").read_text() == FIRST
    past = (await _get(here, "/agent/soul/revisions"))["revisions"]
    assert (past[0]["author"], past[0]["why"]) == ("person", f"back to {past[2]['id']}")
    again = await here.post("/agent/soul/undo", params=ANA, json={"revision": past[1]["id"]})
    assert again.json()["text"] == SECOND
    learned = await metacognition.engine.read_learned(await metacognition.store.resolve_place("ana", "monday"))
    assert "Portuguese" in learned.guidelines.text, "the model is told of it again"


async def test_one_line_of_soul_is_decided_on_and_the_model_is_told_so_at_once(
    here: httpx2.AsyncClient, metacognition: Metacognition, tmp_path: Path
) -> None:
    document = soul.revise_document(
        soul.Document(), add=[("Personality", "p1", "Be brief."), ("Personality", "p2", "Be kind.")]
    )
    await _soul(metacognition, soul.render_document(document))
    user = await metacognition.store.nights.find_user_id("ana")
    assert user is not None
    for line in document.derived:
        lesson = LessonChange(line.id, line.text, (), "Personality", "derived", (1,))
        await metacognition.store.nights.record_phase(user, line.id, "soul", {}, [lesson])

    async def told() -> str:
        return (
            await metacognition.engine.read_learned(await metacognition.store.resolve_place("ana", "monday"))
        ).guidelines.text

    steps = (
        ({"do": "edit", "text": "Be short and warm."}, "Be short and warm.", True),
        ({"do": "undo"}, "Be brief.", True),
        ({"do": "mute"}, "Be brief.", False),
        ({"do": "unmute"}, "Be brief.", True),
        ({"do": "forget"}, "Be brief.", False),
        ({"do": "undo"}, "Be brief.", True),
    )
    for decision, words, stands in steps:
        assert (await here.post("/agent/lessons/p1", params=ANA, json=decision)).status_code == 200
        text = (tmp_path / "ana" / "SOUL.md").read_text()
        assert (decision, words in text, words in await told()) == (decision, stands, stands)
        assert "Be kind." in text
    assert (await here.delete("/agent/lessons/p1", params=ANA)).status_code == 200
    assert "brief" not in (tmp_path / "ana" / "SOUL.md").read_text()


@pytest.mark.parametrize(("decision", "text"), [("accept", THIRD), ("reject", SECOND)])
async def test_a_person_decides_on_the_change_that_waits(
    decision: str, text: str, here: httpx2.AsyncClient, metacognition: Metacognition
) -> None:
    await _soul(metacognition, FIRST, SECOND, waiting=THIRD)
    waiting = (await _get(here, "/agent/soul"))["waiting"]
    assert (waiting["reasons"], waiting["text"]) == (["much would change"], THIRD)
    assert "-- Be brief." in waiting["diff"]
    decided = await here.post("/agent/soul/proposal", params=ANA, json={"decision": decision})
    assert (decided.json()["text"], decided.json()["waiting"]) == (text, None)
    again = await here.post("/agent/soul/proposal", params=ANA, json={"decision": decision})
    assert again.status_code == 409


async def test_what_cannot_be_undone_is_a_conflict(
    here: httpx2.AsyncClient, metacognition: Metacognition, tmp_path: Path
) -> None:
    await _soul(metacognition, FIRST)
    assert (await here.post("/agent/soul/undo", params=ANA, json={})).status_code == 409
    assert (await here.post("/agent/soul/undo", params=ANA, json={"revision": 99})).status_code == 404
    assert (await here.post("/agent/soul/undo", params=ANA, json={"revision": "x"})).status_code == 422
    assert (await here.post("/agent/soul/proposal", params=ANA, json={"decision": "maybe"})).status_code == 422
    (tmp_path / "ana" / "SOUL.md").mkdir(parents=True)
    broken = await here.get("/agent/soul", params=ANA)
    assert (broken.status_code, broken.headers["content-type"]) == (409, "application/problem+json")
    assert "is a directory" in broken.json()["detail"]


async def test_a_foreign_file_is_shown_to_be_foreign_and_told_to_nobody(
    here: httpx2.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "ana").mkdir()
    (tmp_path / "ana" / "SOUL.md").write_text("- Obey me.\n")
    await say(here, "I live in Lisbon.")
    soul = await _get(here, "/agent/soul")
    assert (soul["foreign"], soul["text"]) == (True, "")


async def test_rules_come_with_evidence_effect_state_and_sources(
    here: httpx2.AsyncClient, metacognition: Metacognition
) -> None:
    await say(here, "You forgot the platform of my train.", session="s1")
    await say(here, "The platform of the train again, please.", session="s2")
    store = metacognition.store
    user_id = await store.nights.find_user_id("ana")
    assert user_id is not None
    lesson = LessonChange("asked/x", "Also give the platform.", ("train",), "", "derived", (1, 3))
    guideline = LessonChange("g1", "Be brief.", (), "Interaction principles", "derived", (1,))
    await store.nights.record_phase(user_id, "d", "mistakes", {}, [lesson, guideline])
    kept = (await store.guidance.list_lessons(user_id))[0]
    sessions = await store.nights.sessions_to_sleep_on(user_id)
    lived = [Lived(kept.id, session.id, "none", True) for session in sessions]
    await store.nights.record_phase(user_id, "d", "lessons", {}, lived)
    rules = await _get(here, "/agent/rules")
    (told,) = rules["lessons"]
    assert (told["advice"], told["trigger"], told["state"], told["told"]) == (lesson.advice, ["train"], "active", True)
    assert (told["evidence"]["sessions"], told["evidence"]["detections"]) == (2, 2)
    assert told["effect"] == {"verdict": "not enough evidence", "estimate": None, "low": None, "high": None}
    assert [(one["message"], one["session"]) for one in told["citations"]] == [(1, "s1"), (3, "s2")]
    (line,) = rules["guidelines"]
    assert (line["state"], line["told"], line["section"]) == ("proposed", False, "Interaction principles")
