"""How the nights of all users go, in the words of their page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from insula.coding.replay import figures
from insula.coding.replay.visible import show_safely
from insula.memory.storage.progress import MOST_WAITING, Date, Failure, Standing
from insula.memory.storage.spending import Sum
from insula.night.telling import TITLES

NAMES = 40
"""Characters of a user's name."""
ERRORS: Mapping[str, str] = {
    "ModelUnavailable": "the model was not to be reached",
    "ModelTimeout": "the model took too long",
    "ModelRefused": "the model declined",
    "ModelMalformed": "the model's answer was of no use",
    "BudgetExceeded": "its budget was spent",
    "StoreError": "the memory could not be used",
    "StoreFull": "the memory had no room, or may not be written",
    "StoreLocked": "another program held the memory",
    "StoreCorrupt": "the memory is damaged",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One date."""

    date: str
    done: str
    open: str
    failed: str
    again: str
    calls: str
    tokens: str
    cost: str
    pace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One night that failed."""

    user: str
    night: str
    why: str
    tries: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllNights:
    """The page."""

    now: str
    """How they stand, in a few sentences."""
    who_runs: str
    goes_on: bool
    """Whether it is worth looking again soon."""
    dates: Sequence[Row]
    reasons: Sequence[str]
    failures: Sequence[Failed]


def told(found: Standing, *, nightly: bool = False) -> AllNights:
    """How all nights stand; `nightly` where this server runs them itself."""
    latest = found.dates[0] if found.dates else None
    return AllNights(
        now=" ".join([*([_latest(latest)] if latest else ["No night has begun yet."]), _waiting(found.waiting)]),
        who_runs=_who_runs(found.workers, nightly=nightly),
        goes_on=bool(latest and latest.under_way) or bool(found.waiting and found.workers),
        dates=[_row(one) for one in found.dates],
        reasons=_reasons(found.failures),
        failures=[_failed(one) for one in found.failures],
    )


def _latest(one: Date) -> str:
    parts = [
        f"{figures.format_number(one.done)} of {figures.format_count(one.begun, 'night')} of {one.date} are done",
        f"{figures.format_number(one.under_way)} under way" if one.under_way else "",
        f"{figures.format_number(one.stopped)} stopped" if one.stopped else "",
        f"{figures.format_number(one.failed)} failed" if one.failed else "",
        f"{figures.format_number(one.capped)} left because of the cap" if one.capped else "",
    ]
    return f"{', '.join(part for part in parts if part)}."


def _waiting(waiting: int) -> str:
    if not waiting:
        return "Nobody else has anything new to sleep on."
    more = "or more " if waiting >= MOST_WAITING else ""
    return (
        f"{figures.format_count(waiting, 'user')} {more}{'has' if waiting == 1 else 'have'} something new to sleep on."
    )


def _who_runs(workers: Sequence[str] | None, *, nightly: bool) -> str:
    if workers:
        names = ", ".join(show_safely(name, NAMES) for name in workers)
        return f"{figures.format_count(len(workers), 'worker')} at it: {names}."
    if workers is not None:
        return "No worker is there, so nobody runs them: start one with “insula worker”."
    if nightly:
        return "This server runs them, between two and five at night where each user is."
    return "Nobody runs them by itself here: run them with “insula sleep --all”."


def _row(one: Date) -> Row:
    capped = f", {figures.format_number(one.capped)} left for the cap" if one.capped else ""
    stopped = f", {figures.format_number(one.stopped)} stopped" if one.stopped else ""
    return Row(
        date=one.date,
        done=f"{figures.format_number(one.done)} of {figures.format_number(one.begun)}",
        open=f"{figures.format_number(one.under_way)}{stopped}{capped}",
        failed=figures.format_number(one.failed),
        again=figures.format_number(one.again),
        calls=_spent(one.spent.calls, one.cap.calls),
        tokens=_spent(one.spent.tokens, one.cap.tokens),
        cost=_money(one.spent, one.cap),
        pace=f"{one.a_minute:,.1f}" if one.ended else "",
    )


def _spent(spent: float | None, cap: float | None) -> str:
    used = figures.format_tokens(round(spent or 0))
    return used if cap is None else f"{used} of {figures.format_tokens(round(cap))}"


def _money(spent: Sum, cap: Sum) -> str:
    if not spent.cost and cap.cost is None:
        return "not priced"
    return f"{spent.cost or 0:.2f}" if cap.cost is None else f"{spent.cost or 0:.2f} of {cap.cost:.2f}"


def _reasons(failures: Iterable[Failure]) -> list[str]:
    """Why nights failed, the most frequent first."""
    counted = Counter(_why(each) for one in failures for each in one.why.split(", "))
    return [f"{why}: {figures.format_count(number, 'night')}" for why, number in counted.most_common()]


def _failed(one: Failure) -> Failed:
    return Failed(
        user=show_safely(one.user, NAMES),
        night=one.night,
        why="; ".join(_why(each) for each in one.why.split(", ")),
        tries=figures.format_number(one.tries),
        when=figures.format_time(one.at),
    )


def _why(one: str) -> str:
    """A step and its error, in words."""
    phase, _, error = one.partition(": ")
    title = {str(name): title for name, title in TITLES.items()}.get(phase, phase)
    return f"{title}: {ERRORS.get(error, f'it failed ({error}); the log says more')}"
