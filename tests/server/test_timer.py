"""The server's own nights and rests: in quiet hours, when nobody talks, and how those of all users go."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from api_service import Client, MakeService, say

from insula import Chat, Metacognition, Usage
from insula.errors import ModelTimeout, ModelUnavailable, StoreLocked
from insula.memory.storage import spending, unread
from insula.memory.storage.spending import Spent
from insula.memory.storage.store import Store
from insula.night.cycle import END, Night, Phase, PhaseName, PhaseReport, Result, SleepReport, sleep_cycle
from insula.server import timer
from insula.server.service import Service
from insula.server.timer import SPREAD, NightTimer, Rests, night_delay, run_rests, run_timer, run_user_night
from insula.testing import FrozenClock, ScriptedModel
from patience import DEADLOCK_SECONDS, until

pytestmark = pytest.mark.anyio

BERLIN, TOKYO, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")
ZONES = {"ana": BERLIN, "ken": TOKYO, "ned": NEW_YORK}
DAY = date(2026, 1, 6)
HOUR = 3_600.0


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody's moment is the beginning of quiet hours, where a test does not say otherwise."""
    monkeypatch.setattr(timer, "SPREAD", timedelta(0))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(datetime(2026, 1, 5, 12, tzinfo=UTC))


@pytest.fixture
async def store(anyio_backend: str, clock: FrozenClock, tmp_path: Path) -> AsyncGenerator[Store]:
    async with await Store.open(tmp_path / "insula.db", lambda: clock().timestamp()) as opened:
        yield opened


@pytest.fixture
def service(store: Store) -> Service:
    chat = Chat(Metacognition(store), ScriptedModel(lambda _: "Yes."))
    return Service(chat=chat, model="test", soul_of=lambda _: None, zone_of=ZONES.get, nightly=True)


ASKED = ("Does NASA use wind tunnels?", "Please use metres.")


async def talk(store: Store, *users: str, session: str = "monday", lines: Sequence[str] = ASKED) -> None:
    """Let each user say some lines."""
    mind = Metacognition(store, embed=None)
    for user in users:
        for line in lines:
            async with mind.turn(user, session, line) as turn:
                turn.finish("Yes, one of 9 by 15 feet.")


async def nights(store: Store, user: str) -> str | None:
    """The name of the last night of a user."""
    user_id = await store.nights.find_user_id(user)
    last = await store.nights.last_night(user_id, END) if user_id else None
    return last[0] if last else None


def go_to(clock: FrozenClock, zone: ZoneInfo, *when: int) -> None:
    clock.advance((datetime(*when, tzinfo=zone) - clock()).total_seconds())  # pyright: ignore[reportArgumentType]


def berlin(_: str) -> ZoneInfo:
    """The zone of any user."""
    return BERLIN


def failures(service: Service, where: str) -> float:
    registry = service.chat.metacognition.engine.telemetry.registry
    return registry.get_sample_value("insula_failures_total", {"where": where}) or 0.0


async def test_each_user_sleeps_in_the_quiet_hours_of_their_own_zone(
    store: Store, clock: FrozenClock, service: Service
) -> None:
    await talk(store, "ana", "ken", "ned")
    found: dict[str, str] = {}
    looker = NightTimer(service)
    for _ in range(24 * 2):
        clock.advance(HOUR / 2)
        await looker.serve_waiting()
        for user, zone in ZONES.items():
            if user not in found and (name := await nights(store, user)):
                found[user] = f"{clock().astimezone(zone):%Y-%m-%d %H:%M}"
                assert found[user].startswith(name)
    assert found == {"ana": "2026-01-06 02:00", "ken": "2026-01-06 02:00", "ned": "2026-01-06 02:00"}


@pytest.mark.parametrize(
    ("hour", "minute", "sleeps"), [(1, 59, False), (2, 0, True), (4, 59, True), (5, 0, False), (14, 0, False)]
)
async def test_quiet_hours_bind_it(
    store: Store, clock: FrozenClock, service: Service, hour: int, minute: int, sleeps: bool
) -> None:
    await talk(store, "ana")
    go_to(clock, BERLIN, 2026, 1, 6, hour, minute)
    await NightTimer(service).serve_waiting()
    assert await nights(store, "ana") == ("2026-01-06" if sleeps else None)


async def test_a_restart_within_the_quiet_hours_repeats_no_night(
    store: Store, clock: FrozenClock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, "ana")
    go_to(clock, BERLIN, 2026, 1, 6, 2, 30)
    await NightTimer(service).serve_waiting()
    await talk(store, "ana", session="tuesday")
    monkeypatch.setattr(timer, "run_user_night", never)
    clock.advance(HOUR)
    await NightTimer(service).serve_waiting()  # another process: it knows nothing but what stands in the store
    assert await nights(store, "ana") == "2026-01-06"


async def never(service: Service, user: str) -> SleepReport:
    raise AssertionError(f"{user} slept twice")


@pytest.mark.parametrize(
    ("when", "opens", "name"),
    [
        ((2026, 3, 29), "2026-03-29 03:00", "2026-03-29"),  # 02:00 does not exist that night
        ((2026, 10, 25), "2026-10-25 02:00", "2026-10-25"),  # and exists twice that one
    ],
)
async def test_when_clocks_change_there_is_one_night_all_the_same(
    store: Store,
    clock: FrozenClock,
    service: Service,
    when: tuple[int, int, int],
    opens: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_to(clock, BERLIN, *when[:2], when[2] - 1, 12, 0)
    await talk(store, "ana")
    ran: list[str] = []

    async def counted(service: Service, user: str) -> SleepReport:
        ran.append(f"{clock().astimezone(BERLIN):%Y-%m-%d %H:%M}")
        return await run_user_night(service, user)

    monkeypatch.setattr(timer, "run_user_night", counted)
    looker = NightTimer(service)
    for _ in range(24 * 6):
        clock.advance(600)
        await looker.serve_waiting()
    assert ran == [opens]
    assert await nights(store, "ana") == name


@pytest.mark.parametrize("back", [HOUR, 3 * HOUR, 24 * HOUR, 24 * 400 * HOUR])
async def test_a_clock_that_is_put_back_brings_no_second_night(
    store: Store, clock: FrozenClock, service: Service, back: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, "ana")
    go_to(clock, BERLIN, 2026, 1, 6, 3, 30)
    looker = NightTimer(service)
    await looker.serve_waiting()
    assert await nights(store, "ana") == "2026-01-06"
    monkeypatch.setattr(timer, "run_user_night", never)
    clock.advance(-back)
    await looker.serve_waiting()
    await NightTimer(service).serve_waiting()


def test_moments_lie_within_the_first_hours_spread_and_drawn_anew_each_night(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "SPREAD", SPREAD)
    moments = [night_delay(f"user {number}", DAY) for number in range(1_000)]
    assert all(timedelta(0) <= one < SPREAD for one in moments)
    halves = Counter(one < SPREAD / 2 for one in moments)
    assert min(halves.values()) > 400
    assert night_delay("ana", DAY) == night_delay("ana", DAY)
    assert len({night_delay("ana", DAY + timedelta(days=day)) for day in range(30)}) == 30


async def test_a_failed_night_is_counted_and_tried_again_in_half_an_hour_while_others_sleep(
    store: Store, clock: FrozenClock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, "ana", "ben")
    tries = Counter[str]()

    async def fails_for_ana(service: Service, user: str) -> SleepReport:
        tries[user] += 1
        if user == "ana" and tries[user] == 1:
            raise ModelTimeout("The model took longer than 1 second.")
        if user == "ana" and tries[user] == 2:
            failed = PhaseReport(name=PhaseName.SUMMARIES, state="failed", why="broken")
            return SleepReport(user=user, date="2026-01-06", phases=(failed,))
        return await run_user_night(service, user)

    monkeypatch.setattr(timer, "run_user_night", fails_for_ana)
    service = replace(service, zone_of=berlin)
    go_to(clock, BERLIN, 2026, 1, 6, 2, 0)
    looker, begun = NightTimer(service), clock()
    seen: list[tuple[int, int]] = []
    while clock() < begun + timedelta(minutes=120):
        before = tries["ana"]
        await looker.serve_waiting()
        if tries["ana"] > before:
            seen.append(((clock() - begun).seconds // 60, int(failures(service, "night"))))
        clock.advance(60)
    assert seen == [(0, 1), (30, 2), (60, 2)]
    assert tries["ben"] == 1
    assert (await nights(store, "ana"), await nights(store, "ben")) == ("2026-01-06", "2026-01-06")


async def test_two_servers_on_one_store_never_run_one_night_twice(
    store: Store, clock: FrozenClock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, "ana")
    go_to(clock, BERLIN, 2026, 1, 6, 3, 0)
    ran: list[str] = []
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def slow(night: Night) -> Result:
        ran.append(night.date)
        inside.set()
        await go_on.wait()
        return Result({})

    monkeypatch.setattr("insula.night.phases.PHASES", ((PhaseName.TRENDS, slow),))
    async with await Store.open(store.path, store.now) as second_store:
        second = NightTimer(replace(service, chat=Chat(Metacognition(second_store), service.chat.model)))
        first = asyncio.create_task(NightTimer(service).serve_waiting())
        await inside.wait()
        await second.serve_waiting()
        go_on.set()
        await first
        clock.advance(HOUR)
        await second.serve_waiting()
    assert ran == ["2026-01-06"]
    assert failures(service, "night") == 0


async def test_no_more_than_a_few_sleep_at_once_and_none_begins_when_quiet_hours_are_over(
    store: Store, clock: FrozenClock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, *(f"user {number}" for number in range(6)))
    inside, most, slept = 0, 0, 0

    async def long(service: Service, user: str) -> SleepReport:
        nonlocal inside, most, slept
        inside, slept = inside + 1, slept + 1
        most = max(most, inside)
        await until(lambda: most == timer.AT_ONCE)
        clock.advance(HOUR)
        inside -= 1
        return SleepReport(user=user, date="2026-01-06", phases=())

    monkeypatch.setattr(timer, "run_user_night", long)
    go_to(clock, BERLIN, 2026, 1, 6, 2, 30)
    await NightTimer(replace(service, zone_of=berlin)).serve_waiting()
    assert (most, inside) == (timer.AT_ONCE, 0)
    assert slept < 6


async def test_it_runs_with_the_block_survives_a_store_that_is_away_and_stops_with_it(
    store: Store, clock: FrozenClock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, "ana")
    go_to(clock, BERLIN, 2026, 1, 6, 3, 0)
    monkeypatch.setattr(NightTimer, "look_seconds", 0.01)
    users, away = store.nights.list_users, 3

    async def sometimes() -> list[str]:
        nonlocal away
        away -= 1
        if away >= 0:
            raise StoreLocked("Another process holds the store; end it.")
        return await users()

    monkeypatch.setattr(store.nights, "list_users", sometimes)
    before = asyncio.all_tasks()
    async with run_timer(service):
        async with asyncio.timeout(DEADLOCK_SECONDS):
            while await nights(store, "ana") is None:
                await asyncio.sleep(0.01)
    assert asyncio.all_tasks() <= before
    assert failures(service, "timer") == 3


async def test_a_night_that_is_stopped_with_the_server_goes_on_at_the_next_start(
    store: Store, clock: FrozenClock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, "ana")
    go_to(clock, BERLIN, 2026, 1, 6, 4, 55)
    inside, ran = asyncio.Event(), Counter[str]()

    async def quick(_: Night) -> Result:
        ran["quick"] += 1
        return Result({})

    async def endless(_: Night) -> Result:
        ran["endless"] += 1
        inside.set()
        if ran["endless"] == 1:
            await asyncio.Event().wait()
        return Result({})

    monkeypatch.setattr(
        "insula.night.phases.PHASES", ((PhaseName.SUMMARIES, quick), (PhaseName.CONSOLIDATION, endless))
    )
    async with run_timer(service):
        await inside.wait()
    assert await nights(store, "ana") is None
    async with run_timer(service), asyncio.timeout(DEADLOCK_SECONDS):
        while await nights(store, "ana") is None:
            await asyncio.sleep(0.01)
    assert ran == {"quick": 1, "endless": 2}
    assert await nights(store, "ana") == "2026-01-06"


# The server lets a user's own model read their lines once nothing was said for a minute, and says what it took


SISTER = "Any tips for a present for my sister?"
EMPTY: dict[str, list[object]] = {"statements": [], "ended": [], "preferences": []}


async def tell(store: Store, *lines: str) -> int:
    """Say some lines in a session; returns the user's id."""
    await talk(store, "ana", lines=lines)
    found = await store.nights.find_user_id("ana")
    assert found is not None
    return found


def service_of(store: Store, model: ScriptedModel, tokens: int = 50_000) -> Service:
    return Service(
        chat=Chat(Metacognition(store, holdout=0.0, embed=None), model),
        model="m",
        soul_of=lambda _: None,
        understands=True,
        understanding="idle",
        understanding_tokens=tokens,
    )


async def test_lines_are_read_once_nothing_was_said_for_a_minute(store: Store, clock: FrozenClock) -> None:
    model = ScriptedModel(lambda _: EMPTY)
    rests = Rests(service_of(store, model))
    await tell(store, SISTER)
    clock.advance(30)
    await rests.serve_waiting()
    assert not model.requests
    clock.advance(31)
    await rests.serve_waiting()
    await rests.serve_waiting()
    assert len(model.requests) == 1
    user = await tell(store, "Thanks.")
    clock.advance(61)
    await rests.serve_waiting()
    assert len(model.requests) == 2
    assert await store.run(unread.tokens_spent, user, store.now()) > 0
    clock.advance(2 * 86_400)
    assert await store.run(unread.tokens_spent, user, store.now()) == 0


@pytest.mark.parametrize(
    ("seconds", "tokens", "read"),
    [(8 * 86_400, 50_000, 0), (-3 * 86_400, 50_000, 1), (61, 1_000, 0)],
    ids=["said more than a week ago", "the clock goes back", "the tokens of the day are spent"],
)
async def test_what_is_old_or_too_dear_is_not_read_and_a_clock_that_goes_back_keeps_no_line_from_it(
    store: Store, clock: FrozenClock, seconds: float, tokens: int, read: int
) -> None:
    model = ScriptedModel(lambda _: EMPTY)
    await tell(store, SISTER)
    clock.advance(seconds)
    await Rests(service_of(store, model, tokens)).serve_waiting()
    assert len(model.requests) == read


async def test_a_user_whose_lines_cannot_be_read_holds_up_nobody(store: Store, clock: FrozenClock) -> None:
    model = ScriptedModel([ModelUnavailable("Nobody answers."), EMPTY])
    rests = Rests(service_of(store, model))
    await tell(store, SISTER)
    clock.advance(61)
    await rests.serve_waiting()
    await rests.serve_waiting()
    assert len(model.requests) == 1
    clock.advance(301)
    await rests.serve_waiting()
    assert len(model.requests) == 2


@pytest.mark.parametrize("understanding", ["off", "night"])
async def test_between_turns_nothing_is_read_unless_it_is_wanted(store: Store, understanding: str) -> None:
    model = ScriptedModel(lambda _: EMPTY)
    await tell(store, SISTER)
    async with run_rests(replace(service_of(store, model), understanding=understanding)):
        pass
    assert not model.requests


async def test_the_page_of_the_nights_says_when_the_model_reads_and_what_that_took(
    make_service: MakeService, client: Client
) -> None:
    service = replace(make_service(), understands=True, understanding="idle", understanding_tokens=9_000)
    page = (await client(service).get("/nights")).text
    assert "once you have said nothing for a minute" in page
    assert "of at most" not in page, "where nothing was read, nothing was spent"
    assert "No model reads what you said" in (await client(replace(service, understands=False)).get("/nights")).text


# How the nights of all users go: counted, told in words, and shown to nobody but who looks after the server


SECRET = "My sister Ana lives in Lisbon."
LINES = (SECRET, "I never eat nuts, I am allergic.", "We leave for Porto on Friday.")


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
    await talk(store, "ana", "ben", "cleo", "dora", lines=LINES)
    await sleep_cycle(store, "ana", phase(), date="2026-01-06")
    for _ in range(2):
        assert (await sleep_cycle(store, "ben", phase(fails=["ben"]), date="2026-01-06")).failed
    with pytest.raises(KeyboardInterrupt):
        await sleep_cycle(store, "cleo", phase(dies=["cleo"]), date="2026-01-06")
    now = store.now()
    found = await store.run(spending.read_progress, now, shared=store.is_shared)
    (one,) = found.dates
    assert (one.begun, one.done, one.failed, one.under_way, one.stopped, one.again) == (3, 1, 1, 1, 0, 1)
    assert one.spent == Spent(3, 300)
    assert [(each.user, each.why, each.tries) for each in found.failures] == [("ben", "reflection: ModelTimeout", 2)]
    assert found.waiting == 3
    later = await store.run(spending.read_progress, now + spending.SILENT + 1, shared=False)
    assert (later.dates[0].under_way, later.dates[0].stopped) == (0, 1)
    assert SECRET not in str(found)


async def test_two_weeks_are_kept_and_an_erased_user_leaves_nothing(store: Store) -> None:
    for day in range(1, 21):
        await store.run(spending.begin_night, f"2026-01-{day:02}", 1, 1.0)
    await store.run(spending.drop_older_dates)
    found = await store.run(spending.read_progress, store.now(), shared=False)
    assert [one.date for one in found.dates] == [f"2026-01-{day:02}" for day in range(20, 6, -1)]


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
