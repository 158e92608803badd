"""How the nights of all users go: counted, told in words, and shown to nobody but who looks after the server."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import httpx2
import pytest
from api_service import Client, MakeService, say

from insula.errors import ModelTimeout
from insula.memory.storage import progress, spending
from insula.memory.storage.spending import Sum
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import Night, Phase, PhaseName, Result, sleep_cycle
from insula.server import tokens
from insula.server.tokens import FILE, Keys
from insula.types import Usage

pytestmark = pytest.mark.anyio
SECRET = "My sister Ana lives in Lisbon."
LINES = (SECRET, "I never eat nuts, I am allergic.", "We leave for Porto on Friday.")


async def talk(store: Store, *users: str) -> None:
    metacognition = Metacognition(store, embed=None)
    for user in users:
        for line in LINES:
            async with metacognition.turn(user, "monday", line) as turn:
                turn.finish("Noted.")


def phase(*, fails: Sequence[str] = (), dies: Sequence[str] = ()) -> tuple[tuple[PhaseName, Phase], ...]:
    """A phase that asks a model once; it fails for some users, and for some the process ends."""

    async def run(night: Night) -> Result:
        night.account.charge_usage(
            night.account.reserve_call("night", 10), Usage(calls=1, input_tokens=90, output_tokens=10)
        )
        if night.user in fails:
            raise ModelTimeout(f"Too slow to read {SECRET!r}.")
        if night.user in dies:
            raise KeyboardInterrupt
        return Result({})

    return ((PhaseName.REFLECTION, run),)


async def test_nights_are_counted_by_how_they_ended_and_what_they_took(store: Store) -> None:
    await talk(store, "ana", "ben", "cleo", "dora")
    await sleep_cycle(store, "ana", phase(), date="2026-01-06")
    for _ in range(2):
        assert (await sleep_cycle(store, "ben", phase(fails=["ben"]), date="2026-01-06")).failed
    with pytest.raises(KeyboardInterrupt):
        await sleep_cycle(store, "cleo", phase(dies=["cleo"]), date="2026-01-06")
    now = store.now()
    found = await store.run(progress.read_progress, now, shared=store.is_shared)
    (one,) = found.dates
    assert (one.begun, one.done, one.failed, one.under_way, one.stopped, one.again) == (3, 1, 1, 1, 0, 1)
    assert one.spent == Sum(3, 300, 0)
    assert [(each.user, each.why, each.tries) for each in found.failures] == [("ben", "reflection: ModelTimeout", 2)]
    assert found.waiting == 3
    later = await store.run(progress.read_progress, now + progress.SILENT + 1, shared=False)
    assert (later.dates[0].under_way, later.dates[0].stopped) == (0, 1)
    assert SECRET not in str(found)


async def test_a_night_that_is_not_begun_for_the_cap_is_counted_and_the_cap_is_told(store: Store) -> None:
    await talk(store, "ana", "ben")
    for user in ("ana", "ben"):
        await sleep_cycle(store, user, phase(), date="2026-01-06", cap=Sum(calls=1))
    (one,) = (await store.run(progress.read_progress, store.now(), shared=False)).dates
    assert (one.begun, one.done, one.capped, one.cap) == (1, 1, 1, Sum(calls=1))


async def test_two_weeks_are_kept_and_an_erased_user_leaves_nothing(store: Store) -> None:
    for day in range(1, 21):
        await store.run(spending.take_grant, f"2026-01-{day:02}", 1, Sum(), Sum(), 1.0)
    await store.run(progress.drop_older_dates)
    found = await store.run(progress.read_progress, store.now(), shared=False)
    assert [one.date for one in found.dates] == [f"2026-01-{day:02}" for day in range(20, 6, -1)]


@pytest.fixture
def headers(make_service: MakeService) -> Mapping[str, Mapping[str, str]]:
    """Of a user, and of who looks after the server."""
    home = make_service().home
    assert home is not None
    made: dict[str, Mapping[str, str]] = {}
    for name in ("ana", "boss"):
        text, every = tokens.add_token(tokens.read_tokens(home / FILE), name, "", 0.0, 0, operator=name == "boss")
        tokens.write_tokens(home / FILE, every)
        made[name] = {"Authorization": f"Bearer {text}"}
    return made


async def test_all_nights_are_for_an_operators_token_alone(
    make_service: MakeService, client: Client, headers: Mapping[str, Mapping[str, str]]
) -> None:
    service = make_service()
    assert service.home is not None
    here = client(replace(service, keys=Keys({"dora": "a-token-of-the-settings"}, service.home / FILE)))

    async def ask(path: str, who: Mapping[str, str], **more: str) -> httpx2.Response:
        return await here.get(path, headers={**who, **more})

    settings = {"Authorization": "Bearer a-token-of-the-settings"}
    for who, status in ((headers["boss"], 200), (headers["ana"], 403), (settings, 403), ({}, 401)):
        assert (await ask("/agent/sleep/all", who)).status_code == status
    assert (await ask("/agent/memories?user=ana", headers["boss"])).status_code == 403  # no other user's words


async def test_without_tokens_who_sits_at_the_machine_sees_them_and_no_word_of_anybody(
    make_service: MakeService, client: Client
) -> None:
    service = make_service()
    here = client(service)
    for line in LINES:
        await say(here, line)
    report = await sleep_cycle(service.chat.metacognition.store, "ana", phase(fails=["ana"]), date="2026-01-06")
    assert report.failed

    answer = (await here.get("/agent/sleep/all")).json()
    assert answer["workers"] is None
    assert [(one["date"], one["failed"], one["spent"]["calls"]) for one in answer["dates"]] == [("2026-01-06", 1, 1.0)]
    assert "Lisbon" not in str(answer)
