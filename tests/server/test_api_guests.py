"""Agents that run elsewhere: a turn over HTTP, and the senses."""

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
