"""Agents that run elsewhere: a turn over HTTP, and the senses."""

import json
from typing import Any

import pytest
from api_service import Client, MakeService

pytestmark = pytest.mark.anyio
FAILED = {"isError": True, "content": [{"type": "text", "text": "relation users does not exist"}]}


async def test_a_turn_is_begun_and_finished_once_by_whatever_worker(make_service: MakeService, client: Client) -> None:
    one, other = client(make_service()), client(make_service())
    told = {"user": "ana", "session": "before", "message": "My sister lives in Lisbon."}
    first = (await one.post("/v1/turns", json=told)).json()
    await one.post("/v1/turns/finish", json={"state": first["state"], "response": "Good to know."})
    asked = {"user": "ana", "session": "s", "message": "Where does my sister live?"}
    begun = (await one.post("/v1/turns", json=asked)).json()
    assert begun["confidence"]["level"] == "high"
    assert "My sister lives in Lisbon." in begun["instructions_now"]
    answered = {"state": begun["state"], "response": "In Lisbon."}
    finished = (await other.post("/v1/turns/finish", json=answered)).json()
    again = (await one.post("/v1/turns/finish", json=answered)).json()
    assert (finished["response"], finished["hedged"], finished["troubles"]) == ("In Lisbon.", False, [])
    assert finished["verdict"]["kind"] == "used"
    assert again["troubles"] == ["Turn 1 of session 's' was finished before; nothing was written a second time."]


async def test_two_poor_answers_are_an_impasse_that_the_next_request_is_told_of(
    make_service: MakeService, client: Client
) -> None:
    serving = make_service()
    service, store = client(serving), serving.chat.metacognition.store
    for message in ("Why is the sky blue on a clear day?", "Why is the sky so blue on a clear day?"):
        told = {"user": "ana", "session": "s", "message": message}
        begun = (await service.post("/v1/turns", json=told)).json()
        poor = "El cielo es azul porque la luz se dispersa en la atmósfera de la Tierra."
        await service.post("/v1/turns/finish", json={"state": begun["state"], "response": poor})
    then = await service.post("/v1/turns", json={"user": "ana", "session": "s", "message": "And at night?"})
    assert "not in the user's language" in then.json()["instructions_now"]
    ledger = await store.sessions.ledger(await store.place("ana", "s"))
    assert [one.kind for one in ledger].count("meta:impasse") == 1


async def test_nobody_finishes_a_turn_of_another_s(make_service: MakeService, client: Client) -> None:
    service = client(make_service(tokens={"ana": "a" * 32, "ben": "b" * 32}))
    ana, ben = ({"Authorization": f"Bearer {letter * 32}"} for letter in "ab")
    begun = await service.post("/v1/turns", json={"session": "s", "message": "Hello"}, headers=ana)
    answered = {"state": begun.json()["state"], "response": "Hello!"}
    assert (await service.post("/v1/turns/finish", json=answered, headers=ben)).status_code == 403
    assert (await service.post("/v1/turns/finish", json=answered)).status_code == 401
    assert (await service.post("/v1/turns/finish", json=answered, headers=ana)).status_code == 200


async def test_the_same_error_inside_successful_results_brings_a_note(
    make_service: MakeService, client: Client
) -> None:
    service, state, notes = client(make_service()), None, list[Any]()
    for number in range(8):
        acted = {"state": state, "tool": "query", "input": {"sql": f"select {number}"}, "output": FAILED}
        felt = (await service.post("/v1/actions", json=acted)).json()
        state, notes = felt["state"], [*notes, *([felt["note"]] if felt["note"] else [])]
    assert [note["rung"] for note in notes] == [1, 2, 3]
    assert notes[0]["text"].startswith("[insula] The tool `query` has failed in 3 turns")


@pytest.mark.parametrize("state", ["{}", "[]", "5 ", '{"window": 3}', "no JSON", json.dumps({"v": 1})])
@pytest.mark.parametrize("path", ["/v1/actions", "/v1/turns/finish"])
async def test_a_state_that_is_none_is_refused_in_a_sentence(
    make_service: MakeService, client: Client, path: str, state: str
) -> None:
    body = {"state": state, **({"tool": "query"} if path == "/v1/actions" else {"response": "Hi"})}
    answer = await client(make_service()).post(path, json=body)
    assert (answer.status_code, answer.json()["detail"].count("give")) == (422, 1)
