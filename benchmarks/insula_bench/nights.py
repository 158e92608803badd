"""`insula bench nights`: whether anything rots while a user lives on, and which reflections are kept (R7, R7a).

One person tells sixty facts and twenty preferences before the first night, changes their mind on five, and then lives
forty ordinary days, with feedback on how the assistant works on some of them and poison on five. After nights 1, 5, 10,
20 and 40 a copy of the memory is asked: which facts are shown, which preferences stand before the model, what the
guidance says, how large a request is. Three models reflect at night: none, a good one, and one that hallucinates; what
they say was written by hand with the feedback that it is about. Six people's fortnights are lived, too, with no model
and with one that reads at night what was written by hand.
"""

import asyncio
import json as jsonlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import PhaseName, SleepReport, sleep_cycle
from insula.night.phases.reflection import reflect_on_days
from insula.night.phases.summaries import summarise_sessions
from insula.testing import FrozenClock, Reply, Request, ScriptedModel, answer_second_look, memory_store
from insula_bench.life import Lived, live_fortnight, read_fortnights
from insula_bench.progress import steps

Model = Literal["none", "good", "hallucinating"]
Row = dict[str, Any]

BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
USER = "user"
REPLY = "All right, here is what I think about that."
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MEASURED = (1, 5, 10, 20, 40)
FACTS, ORDINARY = 60, 10
"""Facts that are told, and messages of an ordinary day."""
POISONED = "acmepills"
KINDS = ("told", "never told", "shaped", "ordinary")
"""Of the messages of day 15."""
SETS = ("dev", "fresh", "last", "held")
REFLECTION = ((PhaseName.SUMMARIES, summarise_sessions), (PhaseName.REFLECTION, reflect_on_days))
AT_ONCE = 8
"""Reflections in one answer of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How everything stands after a night."""

    model: Model
    night: int
    facts: int
    """Of those told, those that are shown where they are asked for."""
    told: int
    preferences: int
    """Of those that stand, those that stand before the model."""
    standing: int
    stale: int
    """Of those that were taken back, those that stand there all the same."""
    good: int
    """Guidelines and insights that were written as good ones, ..."""
    hallucinated: int
    """... as invented ones, ..."""
    other: tuple[str, ...]
    """... and lessons, insights and guidelines that nobody wrote."""
    poisoned: bool
    words: int
    """Of SOUL.md as the model reads it."""
    request: int
    """Characters of the same request."""
    seconds: float
    """Of all nights since the last measure, each."""
    tokens: int


@dataclass(slots=True)
class Person:
    """Somebody with an assistant that remembers."""

    mind: Metacognition
    clock: FrozenClock
    path: Path
    model: Model
    pool: Sequence[Row] = ()
    spent: list[float] = field(default_factory=list[float])
    tokens: int = 0

    async def say(self, session: str, *messages: str, replies: Sequence[str] = ()) -> None:
        """Say something in a session."""
        for number, message in enumerate(messages):
            self.clock.advance(MINUTE)
            async with self.mind.turn(USER, session, message) as turn:
                turn.finish(replies[number] if number < len(replies) else REPLY)
        self.clock.advance(HOUR)

    async def sleep(self) -> SleepReport:
        """Sleep until the next morning."""
        scripted = None if self.model == "none" else ScriptedModel(lambda asked: _answer(asked, self.pool))
        began = time.perf_counter()
        report = await self.mind.sleep(USER, model=scripted, force=True)
        self.spent.append(time.perf_counter() - began)
        self.tokens += sum(len(one.text) // 4 for one in scripted.requests) if scripted else 0
        self.clock.advance(DAY / 2)
        return report


def run(days: int, models: Sequence[Model], json: bool) -> int:
    """Live, measure and print; the exit status is 1 where poison came through."""
    found = asyncio.run(_all(days, models or get_args(Model)))
    if json:
        print(jsonlib.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
        return int(any(one.poisoned for one in found))
    head = ("model", "night", "facts", "preferences", "stale", "good", "invented", "other", "words", "request", "s")
    print("  ".join(f"{name:>11}" for name in head))
    for one in found:
        cells = (
            *(one.model, one.night, f"{one.facts}/{one.told}", f"{one.preferences}/{one.standing}", one.stale),
            *(one.good, one.hallucinated, len(one.other), one.words, one.request, round(one.seconds, 2)),
        )
        print("  ".join(f"{cell!s:>11}" for cell in cells) + ("  POISONED" if one.poisoned else ""))
    for text in sorted({text for one in found for text in one.other}):
        print(f"  nobody wrote: {text}")
    return int(any(one.poisoned for one in found))


async def _all(days: int, models: Sequence[Model]) -> list[Measured]:
    return [measured for model in models for measured in await live(model, days)]


async def live(model: Model, days: int) -> list[Measured]:
    """So many days of the person, with the nights of a model."""
    person = jsonlib.loads((files("insula_bench") / "nights" / "person.json").read_text("utf-8"))
    facts = _facts()
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder) / "memory.db", FrozenClock(BEGIN)
        async with await Store.open(path, lambda: clock().timestamp()) as store:
            mind = Metacognition(store, holdout=0.0, embed=embed_text)
            cases = [case for case in cases_of("dev") if case["language"] == "en"]
            key = "good" if model == "good" else "bad"
            pool = [{**one, "said": case["sessions"]} for case in cases for one in case[key]]
            one = Person(mind, clock, path, model, pool)
            await _tell(one, person, facts)
            for day in steps(range(1, days + 1), f"days with {model}"):
                await _live_through(one, day, person, cases)
                await one.sleep()
                if day in MEASURED or day == days:
                    measured.append(await _measure(one, day, person, facts, Path(folder) / f"copy{day}.db"))
    return measured


async def _tell(one: Person, person: Row, facts: Sequence[Row]) -> None:
    for start in range(0, len(facts), 5):
        await one.say(f"told {start}", *(fact["text"] for fact in facts[start : start + 5]))
    for number, wanted in enumerate(person["preferences"]):
        await one.say(f"wanted {number}", wanted)
    for number, changed in enumerate(person["changes"]):
        await one.say(f"changed {number}", changed)


async def _live_through(one: Person, day: int, person: Row, cases: Sequence[Row]) -> None:
    """A day: ordinary messages, on every third one feedback on how the assistant works, on five of forty poison."""
    ordinary = [row["text"] for row in read_rows("ordinary/en.jsonl") if row["kind"] == "world"]
    begin = day * ORDINARY % len(ordinary)
    said = (ordinary + ordinary)[begin : begin + ORDINARY]
    await one.say(f"day {day} morning", *said[: ORDINARY // 2])
    await one.say(f"day {day} evening", *said[ORDINARY // 2 :])
    if day % 3 == 1:
        for number, session in enumerate(cases[day // 3 % len(cases)]["sessions"]):
            await one.say(f"day {day} {number}", *session[::2], replies=session[1::2])
    if day % 8 == 2:
        await one.say(f"day {day} noon", person["poison"][day // 8 % len(person["poison"])], "Thanks.", "Bye.")


async def _measure(one: Person, day: int, person: Row, facts: Sequence[Row], copy: Path) -> Measured:
    """How a copy of the memory answers."""
    shutil.copy(one.path, copy)
    for beside in one.path.parent.glob(f"{one.path.name}-*"):
        shutil.copy(beside, copy.with_name(beside.name.replace(one.path.name, copy.name)))
    standing = [text for text in person["preferences"] if text not in person["changes"].values()]
    standing += [text for text in person["changes"] if not text.startswith("You can stop")]
    async with await Store.open(copy, lambda: one.clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        right = 0
        for number, fact in enumerate(facts):
            async with mind.turn(USER, f"ask {number}", fact["asks"][0]) as turn:
                shown = [each.memory.content for each in turn.recalled if each.memory.id in turn.shown]
                right += any(value.casefold() in line.casefold() for line in shown for value in fact["value"])
        async with mind.turn(USER, "plain", person["request"]) as turn:
            request = f"{turn.instructions}\n{turn.reminder}"
        learned = await mind.engine.read_learned(await store.resolve_place(USER, "plain"))
        told = [each.text for each in learned.wishes]
        lines = [line[2:] for line in learned.guidelines.text.splitlines() if line.startswith("- ")]
        texts = [*lines, *(each.text for each in learned.insights), *(each.text for each in learned.advice)]
    good = {each["text"] for case in cases_of("dev") for each in case["good"]}
    bad = {each["text"] for case in cases_of("dev") for each in case["bad"]}
    spent, one.spent = one.spent, []
    return Measured(
        model=one.model,
        night=day,
        facts=right,
        told=len(facts),
        preferences=sum(any(text in each or each in text for each in told) for text in standing),
        standing=len(standing),
        stale=sum(text in told for text in person["changes"].values()),
        good=sum(text in good for text in texts),
        hallucinated=sum(text in bad for text in texts),
        other=tuple(text for text in texts if text not in good | bad),
        poisoned=POISONED in " ".join((*texts, *told, request)).casefold(),
        words=sum(len(line.split()) for line in lines),
        request=len(request),
        seconds=round(sum(spent) / max(1, len(spent)), 3),
        tokens=one.tokens,
    )


# Day 15


def run_fortnights(json: bool) -> int:
    """Ask six people's messages of day 15 after nights without a model, and with one that reads well; print counts."""
    found = {name: asyncio.run(live_fortnights(reads)) for name, reads in (("none", False), ("good", True))}
    counts = {name: count_day(lived) for name, lived in found.items()}
    if json:
        print(jsonlib.dumps(counts, indent=2))
        return 0
    for name, row in counts.items():
        print(f"{name:<5}" + "".join(f"  {what} {count}" for what, count in row.items()))
    return 0


async def live_fortnights(reads: bool) -> list[Lived]:
    """What each message of day 15 came to; where `reads`, a model at night says what was written by hand."""
    read = list(read_rows("nights/readings.jsonl"))
    lived: list[Lived] = []
    for fortnight in read_fortnights():
        rows = [row for row in read if row["id"] == fortnight["id"]]
        lived += await live_fortnight(fortnight, make_model=partial(_reader, rows) if reads else None)
    return lived


def count_day(lived: Sequence[Lived]) -> dict[str, int]:
    """How many messages are right, of each kind; what is wrong with the others; the remembered lines, and how many of
    them the message does not need."""
    kinds = {kind: sum(one.is_right for one in lived if one.kind == kind) for kind in KINDS}
    told = [(one, line) for one in lived for line in one.lines]
    wrong = [one for one in lived if not one.is_right]
    return {
        "messages": len(lived),
        "right": len(lived) - len(wrong),
        **kinds,
        "stale": sum(one.is_stale for one in wrong),
        "of these as over": sum(one.is_stale_as_over and not one.lacks for one in wrong),
        "lacking": sum(one.lacks for one in wrong),
        "lines": len(told),
        "needless": sum(not one.allows(line) for one, line in told),
    }


def _reader(rows: Sequence[Row]) -> ScriptedModel:
    return ScriptedModel(lambda asked: _read_prompt(asked, rows))


def _read_prompt(asked: Request, rows: Sequence[Row]) -> Reply:
    """What the model reads in the lines of a prompt; it reflects on nothing."""
    if "statements" not in _fields(asked):
        return _reflection([]) if "principles" in _fields(asked) else _answer_with(asked, {})
    answer: dict[str, list[Row]] = {"statements": [], "ended": [], "preferences": []}
    for line in _json(asked.prompt):
        for row in rows:
            if "line" in line and str(row["said"]).startswith(line["user"]):
                for name, found in answer.items():
                    found += [{"line": line["line"], **each} for each in row[name]]
    return answer


# The reflections


class Reflected(NamedTuple):
    """What became of one reflection that was written by hand."""

    set: str
    language: str
    kind: str
    """`good`, or what is wrong with it."""
    text: str
    dropped: str
    """Why it was not kept; empty where it was."""


def run_reflections(json: bool, *, quoted: bool = True) -> int:
    """Let a model say what was written by hand, and count what is kept of it."""
    found = [one for name in SETS for one in asyncio.run(reflected(name, quoted=quoted))]
    if json:
        print(jsonlib.dumps([one._asdict() for one in found], indent=2, ensure_ascii=False))
        return 0
    for name in SETS:
        for kind in sorted({one.kind for one in found if one.set == name}, key=lambda kind: (kind != "good", kind)):
            these = [one for one in found if (one.set, one.kind) == (name, kind)]
            kept, said = sum(not one.dropped for one in these), sum("own words" in one.dropped for one in these)
            own = f", {said} left to the user's own words" if said else ""
            print(f"{name:<6} {kind:<22} kept {kept} of {len(these)}{own}")
    return 0


async def reflected(name: str, *, quoted: bool = True) -> list[Reflected]:
    """What becomes of the reflections of a set; without their quotations where not `quoted`."""
    found: list[Reflected] = []
    for case in cases_of(name):
        written = [(one, "good") for one in case["good"]] + [(one, one["why"]) for one in case["bad"]]
        for start in range(0, len(written), AT_ONCE):
            some = written[start : start + AT_ONCE]
            dropped = await _dropped(case, [one for one, _ in some], quoted=quoted)
            found += [Reflected(name, case["language"], kind, one["text"], dropped[one["text"]]) for one, kind in some]
    return found


async def _dropped(case: Row, written: Sequence[Row], *, quoted: bool) -> dict[str, str]:
    """Why each of some reflections on the sessions of a case is not kept; nothing where it is."""
    clock = FrozenClock(BEGIN)
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        for number, session in enumerate(case["sessions"]):
            for message, reply in zip(session[::2], [*session[1::2], REPLY], strict=False):
                clock.advance(MINUTE)
                async with mind.turn(USER, f"session {number}", message) as turn:
                    turn.finish(reply)
        answer = _reflection([_principle(one, one["sessions"], quoted=quoted) for one in written])
        model = ScriptedModel(lambda asked: _answer_with(asked, answer))
        report = await sleep_cycle(store, USER, REFLECTION, date="night", model=model, embed=embed_text, force=True)
    found = report.phases[-1].found
    kept = {one["advice"] for one in found["candidates"]}
    why = {one["text"]: one["reason"] for one in found["quarantined"]}
    return {one["text"]: "" if one["text"] in kept else why.get(one["text"][:160], "merged") for one in written}


def cases_of(name: str) -> list[Row]:
    """The cases of a set: sessions, and what a good and a hallucinating model say of them."""
    return list(read_rows(f"nights/reflections_{name}.jsonl"))


def _principle(one: Row, sessions: Sequence[int], *, quoted: bool = True) -> Row:
    quotes = [one["quote"]] if quoted and one["quote"] else []
    return {"text": one["text"], "section": one["section"], "sessions": list(sessions), "quotes": quotes}


def _reflection(principles: Sequence[Row]) -> Row:
    return {"explanation": [], "procedures": [], "advice": [], "operations": [], "principles": list(principles)}


def _answer_with(asked: Request, reflection: Row) -> Reply:
    if looked := answer_second_look(asked):
        return looked
    if "summary" in _fields(asked):
        return {"summary": "They talked.", "topics": ["talk"]}
    return reflection if "principles" in _fields(asked) else ""


def _answer(asked: Request, pool: Sequence[Row]) -> Reply:
    """What the model says of the sessions in a prompt: the reflections that were written on those of them it shows.

    Read again, it stands by all of them.
    """
    if "principles" not in _fields(asked):
        return _answer_with(asked, {})
    shown = [line for line in _json(asked.prompt) if "turns" in line]
    found: list[Row] = []
    for one in pool:
        said = {message for number in one["sessions"] for message in one["said"][number - 1][::2]}
        sessions = [line["session"] for line in shown if said & {turn.get("user") for turn in line["turns"]}]
        if sessions:
            found.append(_principle(one, sessions))
    return _reflection(found[:AT_ONCE])


def _fields(asked: Request) -> Mapping[str, Any]:
    return (asked.schema or {}).get("properties", {})


def _json(prompt: str) -> Iterator[Row]:
    for line in prompt.splitlines():
        if line.startswith("{"):
            yield jsonlib.loads(line)


def _facts() -> list[Row]:
    rows = list(read_rows("life/lives/en.jsonl"))
    return rows[:: max(1, len(rows) // FACTS)][:FACTS]


def read_rows(name: str) -> Iterator[Row]:
    """The rows of a file of the benchmarks' data."""
    text = (files("insula_bench") / name).read_text("utf-8")
    return (jsonlib.loads(line) for line in text.splitlines() if line.strip())
