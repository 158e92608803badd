"""How the service stands: status, performance, metrics, health; and that none of them holds a user's words."""

import pytest
from api_service import Client, MakeService, say

pytestmark = pytest.mark.anyio


async def test_the_last_snapshot_is_shown_with_those_before_and_what_was_adapted(
    make_service: MakeService, client: Client
) -> None:
    here = client(make_service())
    answers = [(await say(here, f"My locker number is {number}.")).json() for number in range(11)]
    status = (await here.get("/agent/chat/metacog/status")).json()
    assert status == {"available": True, "snapshot": answers[-1]["metacog"]}
    told = (await here.get("/agent/chat/metacog/status?history=9")).json()
    assert [one["turn_counter"] for one in told["history"]] == [5, 11]
    intervals = [one for one in told["adaptations"] if one["lever"] == "snapshot_interval"]
    changes = [(one["before"], one["after"], one["reason"]) for one in intervals]
    assert changes == [(5, 6, "stable"), (6, 5, "stm_high_utilization")]
    short = (await here.get("/agent/chat/metacog/status?history=1")).json()
    assert [one["turn_counter"] for one in short["history"]] == [11]
    assert (await here.get("/agent/chat/metacog/status?history=0")).json()["history"] == []


async def test_performance_says_when_the_next_snapshot_is_due(make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    for number in range(5):
        await say(here, f"I like the number {number}.")
    found = (await here.get("/agent/chat/performance")).json()
    assert found["metacog"] == {"interval": 6, "next_due_turn": 11}
    assert (found["turns"], found["degraded"]) == (5, False)
    assert not {"latency_p95_ms", "slowdown"} & set(found)  # unknown is absent
    assert found["counters"] == {
        "metacog_snapshots_total": 1,
        "metacog_advisory_items_total": 0,
        "metacog_stm_high_util_events_total": 0,
        "metacog_performance_degraded_events_total": 0,
        "adaptive_retrieval_applied_total": 0,
    }


@pytest.mark.parametrize("history", ["-1", "x", "1001", "1.5", str(2**70)])
async def test_a_history_of_no_length_is_refused(history: str, make_service: MakeService, client: Client) -> None:
    found = await client(make_service()).get("/agent/chat/metacog/status", params={"history": history})
    assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json")
