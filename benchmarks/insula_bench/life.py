"""`insula bench life`: what Insula does to ordinary life, and what it finds where it is needed, in eight languages.

One person a language tells a few facts. Days later they write what people write: questions of the world that say "I"
and "my", requests, statements, and questions that only they can have told the answer to. Silence is counted first:
whatever stands before the model, in the store or under the reply and need not. Beside it stands what that silence
costs. Real conversations are lived too, each as a session of its own, where a folder of them is named.
"""

import asyncio
import json as jsonlib
import lzma
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from insula.claims import REGISTER, SENSE
from insula.memory.retrieval.embedding import embed_text
from insula.metacognition import Metacognition
from insula.metacognition.turn import Turn
from insula.stats import wilson
from insula.testing import FrozenClock, ScriptedModel, memory_store
from insula.types import TURN
from insula_bench import readings

BEGIN = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
USER = "user"
REPLY = "All right, here is what I think about that."
"""The reply to a message that no real one is known of."""
REPLY_CHARS = 16_000
TOLD_BEFORE = (0, 13, 60)
"""Facts that were told before a real conversation, as many as there are lives for."""
READ_EVERY = 20
"""Facts of a life that are read at once, as a user's own model reads a day."""
PER = 1_000
OVER = "; no longer since "
"""What a line says that is told as over, in every language."""

Row = dict[str, Any]


LATER = (
    *("later", "third", "fourth", "fifth", "sixth", "fifteenth"),
    *("sixteenth", "seventeenth", "twenty_second", "twenty_third", "thirty_second", "thirty_third"),
)
"""Tables of questions by other authors that can be lived; no fit reads the last six, but that of `predicted`, which
reads three of them and counts for what was read alone."""
FURTHER = (
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"),
    *("sixth", "fifteenth", "eighteenth", "nineteenth", "twentieth", "twenty_first"),
    *("twenty_fourth", "twenty_fifth", "twenty_sixth", "twenty_seventh", "twenty_eighth"),
    *("twenty_ninth", "thirtieth", "thirty_first"),
)
"""Tables by more authors, which the heads learn from."""
HELD_LIVES = ("held_lives", "held_lives_2")
"""Whole lives that no fit reads."""


class Lived(NamedTuple):
    """What one message came to."""

    table: str
    language: str
    kind: str
    text: str
    expected: Row
    """The row of the table; see docs/benchmarks/life.md."""
    put: str
    """What stood before the model for this message, beside it."""
    stable: str
    """What stood there for all messages: SOUL.md."""
    lines: tuple[str, ...]
    """The remembered lines in it, in order."""
    over: bool
    """Whether one of them was said to hold no longer."""
    doubtful: bool
    """Whether the model was told that the lines may not answer."""
    untold: bool
    """Whether the model was told that the user has not said this."""
    preferences: tuple[str, ...]
    heard: tuple[str, ...]
    """What the message was taken to want of all answers."""
    stored: str
    """What was kept of it as facts."""
    hedged: bool
    verdict: str
    level: str
    reply: str = ""
    claims: frozenset[str] = frozenset()
    """What was claimed before the model and under the reply, by the ids of the register."""

    @property
    def shown(self) -> bool:
        """Whether a line holds the value that is asked for."""
        return any(self._holds(line) for line in self.lines)

    @property
    def is_right(self) -> bool:
        """Of a fortnight: whether all that must stand before the model does, and nothing that must not."""
        return not (self.lacks or self.is_stale)

    @property
    def lacks(self) -> bool:
        """Of a fortnight: whether anything is missing that must stand before the model."""
        text = f"{self.stable}\n{self.put}".casefold()
        return not all(any(each.casefold() in text for each in group) for group in self.expected["must"])

    @property
    def is_stale(self) -> bool:
        """Of a fortnight: whether anything stands before the model that must not."""
        return self._names_stale(f"{self.stable}\n{self.put}")

    @property
    def is_stale_as_over(self) -> bool:
        """Of a fortnight: whether it does, and each line of it says that it holds no longer."""
        lines = f"{self.stable}\n{self.put}".splitlines()
        return self.is_stale and not self._names_stale("\n".join(line for line in lines if OVER not in line))

    def _names_stale(self, text: str) -> bool:
        return any(each.casefold() in text.casefold() for each in self.expected["must_not"])

    def allows(self, line: str) -> bool:
        """Of a fortnight: whether a line holds what must or may stand before the model."""
        wanted = [*(each for group in self.expected["must"] for each in group), *self.expected["may"]]
        return any(each.casefold() in line.casefold() for each in wanted)

    @property
    def first(self) -> bool:
        """Whether the first line does."""
        return bool(self.lines) and self._holds(self.lines[0])

    def _holds(self, line: str) -> bool:
        return any(value.casefold() in line.casefold() for value in self.expected.get("value", ()))


class Measure(NamedTuple):
    """One row of the report: a share, and whether it should be large."""

    name: str
    found: tuple[Lived, ...]
    """The cases that count."""
    all: int
    wanted: bool

    @property
    def figures(self) -> Row:
        """How many, of how many, per thousand, with the 95 % interval."""
        low, high = wilson(len(self.found), self.all)
        return {
            "found": len(self.found),
            "of": self.all,
            "per_1000": round(PER * len(self.found) / self.all, 1) if self.all else None,
            "interval": [round(PER * low), round(PER * high)],
            "languages": {lang: sum(one.language == lang for one in self.found) for lang in languages()},
        }


def run(
    data: str | None, language: str, half: str, show: str, short: bool, claims: bool, is_read: bool, json: bool
) -> int:
    """Live all that is asked for, and print the tables; of `claims` what each is worth, with all switched on."""
    chosen = [one for one in languages() if language in ("", one)]
    on = [name for name in REGISTER if claims and not name.startswith(SENSE)]
    folder = Path(data) if data else None
    lived = asyncio.run(live(chosen, half, folder, short=short, claims=on, is_read=is_read))
    if claims:
        print(jsonlib.dumps(of_claims(lived), indent=2))
        return _show_claims(show, lived)
    found = [*silence(lived), *recall(lived)]
    if json:
        print(jsonlib.dumps({one.name: one.figures for one in found}, indent=2, ensure_ascii=False))
        return 0
    _print(Console(), found)
    for one in found:
        if show and show in one.name:
            _show(one, lived)
    return 0


def languages() -> tuple[str, ...]:
    """The languages that there are tables of."""
    return tuple(sorted(one.name[:2] for one in _folder("questions").iterdir() if one.name.endswith(".jsonl")))


async def live(
    chosen: Sequence[str],
    half: str,
    data: Path | None,
    *,
    short: bool = False,
    claims: Sequence[str] = (),
    is_read: bool = False,
) -> list[Lived]:
    """What each message of the tables came to; of lives and real conversations where not `short`.

    Args:
        is_read: whether a good reader reads what is told, where `readings` has one: in the place of the user's model.
    """
    lived: list[Lived] = []
    for language in chosen:
        lived += await ask_questions(language, half, claims, is_read=is_read)
        if not (short or claims):
            for nights in (0, 3):
                for table in HELD_LIVES:
                    lived += await live_life(table, language, nights, claims, is_read=is_read)
    if not (short or is_read):
        for fortnight in read_fortnights():
            if fortnight["languages"][0] in chosen:
                lived += await live_fortnight(fortnight, claims)
    if data is not None:
        for language in chosen:
            for told in TOLD_BEFORE:
                lived += await live_conversations(data, language, told, claims, is_read=is_read)
    return lived


async def ask_questions(language: str, half: str, claims: Sequence[str] = (), *, is_read: bool = False) -> list[Lived]:
    """The messages of a language's table.

    Questions and requests come in sessions of their own, after its person told their facts; statements and preferences
    each in a life of its own, so that what one leaves behind changes nothing for the next.
    """
    rows = read(half if half in LATER else "questions", language)
    facts = [row["text"] for row in rows if row["kind"] == "told"]
    wanted = [row for row in rows if row["kind"] != "told" and (half in ("", *LATER) or half == row["half"])]
    async with person(facts, claims) as (mind, clock):
        if is_read:
            await readings.read_told(mind, half, language, rows)
        asks = [row for row in wanted if row["kind"] in {"world", "personal", "both", "shaped"}]
        lived = [await _say(mind, clock, row["id"], row, "questions", language, is_read=is_read) for row in asks]
    for row in wanted:
        if row not in asks:
            async with person((), claims) as (mind, clock):
                lived.append(await _say(mind, clock, row["id"], row, "questions", language, is_read=is_read))
    return lived


async def live_life(
    life: str, language: str, nights: int, claims: Sequence[str] = (), *, is_read: bool = False
) -> list[Lived]:
    """A person's life of two hundred facts, in which nothing ends, and each of them asked for in two wordings."""
    rows = read(life, language)
    lived: list[Lived] = []
    async with person((), claims) as (mind, clock):
        for told, row in enumerate(rows, 1):
            clock.advance(HOUR)
            async with mind.turn(USER, f"told {row['session']}", row["text"]) as turn:
                turn.finish(REPLY)
            if is_read and told % READ_EVERY == 0:
                await readings.read_told(mind, life, language, rows[:told])
        for _ in range(nights):
            clock.advance(DAY)
            await mind.sleep(USER)
        for row in rows:
            for number, ask in enumerate(row["asks"]):
                asked = {**row, "text": ask, "kind": "first wording" if number == 0 else "second wording"}
                table = f"life after {nights} nights" if nights else "life"
                lived.append(await _say(mind, clock, f"{row['id']} {number}", asked, table, language))
    return lived


async def live_fortnight(
    fortnight: Row, claims: Sequence[str] = (), make_model: Callable[[], ScriptedModel] | None = None
) -> list[Lived]:
    """Two weeks of somebody's talk, a night after each day, and what stands before the model on the day after.

    Args:
        make_model: the model of a night; None for nights without one.
    """
    language = fortnight["languages"][0]
    async with person((), claims) as (mind, clock):
        for day in fortnight["days"]:
            for number, session in enumerate(day["sessions"]):
                for said in session["messages"]:
                    clock.advance(MINUTE)
                    async with mind.turn(USER, f"day {day['day']} {number}", said["text"]) as turn:
                        turn.finish(said["reply"])
                clock.advance(HOUR)
            clock.advance(DAY - len(day["sessions"]) * HOUR)
            await mind.sleep(USER, model=make_model() if make_model else None)
        asks = enumerate(fortnight["asks"])
        return [await _say(mind, clock, f"day 15 {number}", row, "fortnight", language) for number, row in asks]


def read_fortnights() -> list[Row]:
    """Six fortnights, written by somebody who knew no code."""
    text = (files("insula_bench") / "life" / "fortnights.jsonl").read_text("utf-8")
    return [jsonlib.loads(line) for line in text.splitlines()]


async def live_conversations(
    folder: Path, language: str, told: int, claims: Sequence[str] = (), *, is_read: bool = False
) -> list[Lived]:
    """The labelled conversations of a language, each a session, after so many facts of a life were told."""
    rows = read("lives", language)[:told]
    lived: list[Lived] = []
    async with person([row["text"] for row in rows], claims) as (mind, clock):
        if is_read:
            await readings.read_told(mind, "lives", language, rows)
        for conversation, labels in _labelled(folder, language):
            turns = conversation["turns"]
            for place, said in enumerate(turns):
                if said["role"] != "user":
                    continue
                reply = turns[place + 1]["text"] if place + 1 < len(turns) else REPLY
                label = labels.get(place)
                row = {"text": said["text"], "kind": "ordinary", "label": label}
                one = await _say(mind, clock, conversation["id"], row, f"real, {told} told", language, reply)
                if label is not None and not label.get("doubtful"):
                    lived.append(one)
    return lived


ORDINARY = frozenset({"world", "statement", "no_statement", "preference", "no_preference", "ordinary"})
"""Kinds of messages that make up a day: nine in ten need nothing."""


def of_claims(lived: Sequence[Lived]) -> Row:
    """What was measured of each claim that was made: how often on ordinary messages, and how often it was right.

    Real conversations are of many people, and what one of them wishes stands before the others: they do not count for
    that.
    """
    made = sorted(frozenset[str]().union(*(one.claims for one in lived)))
    own = [one for one in lived if not one.table.startswith("real")]
    return {name: _of_claim(name, own if name == "wish" else lived) for name in made}


def _of_claim(name: str, lived: Sequence[Lived]) -> Row:
    ordinary = [one for one in lived if one.kind in ORDINARY]
    common = [one for one in ordinary if name in one.claims]
    figures: Row = {"per_1000": _per(len(common), ordinary), "wrong_per_1000": None, "right": 0, "of": 0}
    if (is_right := RIGHT.get(name)) is not None:
        cases = [one for one in lived if name in one.claims]
        right = sum(map(is_right, cases))
        wrong = sum(not is_right(one) for one in common)
        figures |= {"wrong_per_1000": _per(wrong, ordinary), "right": right, "of": len(cases)}
    return figures


def _per(count: int, among: Sequence[Lived]) -> float | None:
    return round(PER * count / len(among), 1) if among else None


def _is_needed(one: Lived) -> bool:
    """Whether a line that stands before the model is what the message asks for, or what its answer must keep to."""
    if one.table == "fortnight":
        return one.kind != "ordinary" and one.is_right
    return one.shown or bool(_needed(one) & set(one.lines))


def _is_said(one: Lived) -> bool:
    return one.untold or one.doubtful


def _is_untold(one: Lived) -> bool:
    never = one.table == "fortnight" and one.kind == "never told"
    return never or (one.kind in {"personal", "both"} and not one.expected["told"])


def _show_claims(show: str, lived: Sequence[Lived]) -> int:
    for one in lived:
        if named := sorted(name for name in one.claims if show and show in name):
            print(f"--- {', '.join(named)} · {one.table} · {one.kind} · {one.language} · {one.text!r}")
            print(f"    {one.put!r}\n    {one.reply!r}")
    return 0


def silence(lived: Sequence[Lived]) -> Iterator[Measure]:
    """What is said, stored or shown where it need not be."""
    for table in sorted({one.table for one in lived if one.table.startswith("real")}):
        yield from _ordinary(table, [one for one in lived if one.table == table])
    world = [one for one in lived if one.kind == "world"]
    yield from _ordinary("world questions", world)
    nothing = [one for one in lived if one.kind == "no_statement"]
    yield _unwanted("no statement: stored as a fact", nothing, lambda one: bool(one.stored))
    none = [one for one in lived if one.kind == "no_preference"]
    yield _unwanted("no preference: heard as one", none, lambda one: bool(one.heard))
    for table in sorted({one.table for one in lived if one.table.startswith("life")}):
        asked = [one for one in lived if one.table == table]
        yield _unwanted(f"{table}: said to be over", asked, lambda one: one.over)
    days = [one for one in lived if one.table == "fortnight"]
    yield _unwanted("fortnight: what is stale or another's", days, lambda one: one.is_stale)
    ordinary = [one for one in days if one.kind == "ordinary"]
    yield _unwanted("fortnight, ordinary: anything put before the model", ordinary, _is_needless)


def _ordinary(name: str, lived: Sequence[Lived]) -> Iterator[Measure]:
    yield _unwanted(f"{name}: anything put before the model", lived, lambda one: bool(one.put) and not _limits(one))
    yield _unwanted(f"{name}: said that nothing was told", lived, lambda one: one.untold)
    yield _unwanted(f"{name}: a line shown", lived, lambda one: bool(one.lines) and not _limits(one))
    yield _unwanted(f"{name}: a preference told", lived, lambda one: bool(one.preferences))
    yield _unwanted(f"{name}: heard as a preference", lived, lambda one: bool(one.heard) and not _states(one, "wish"))
    yield _unwanted(f"{name}: stored as a fact", lived, lambda one: bool(one.stored) and not _states(one, "fact"))
    yield _unwanted(f"{name}: said to be over", lived, lambda one: one.over)
    yield _unwanted(f"{name}: hedged", lived, lambda one: one.hedged)
    yield _unwanted(f"{name}: a verdict under the reply", lived, lambda one: bool(one.verdict) and not one.heard)


def _is_needless(one: Lived) -> bool:
    """Whether something stands before the model that may not: a preference that applies may."""
    return bool(one.put) and not any(each.casefold() in one.put.casefold() for each in one.expected["may"])


def _limits(one: Lived) -> bool:
    """Whether the row says that a told fact limits its answer: then that may be shown."""
    return bool(one.expected.get("needs"))


def _states(one: Lived, what: str) -> bool:
    label = _label(one)
    if what == "wish":
        return bool(label.get("standing_wish"))
    return bool(label.get("states_fact") or label.get("in_passing"))


RIGHT: Mapping[str, Callable[[Lived], bool]] = {
    "memory": _is_needed,
    "limit": _limits,
    "untold": _is_untold,
    "wish": lambda one: one.table == "fortnight" and one.is_right,
    "saved": lambda one: one.kind == "preference" or _states(one, "wish"),
}
"""Whether a claim is right of a message; of one that is not here the tables do not tell."""


def _unwanted(name: str, among: Sequence[Lived], counts: Callable[[Lived], bool]) -> Measure:
    return Measure(name, tuple(one for one in among if counts(one)), len(among), wanted=False)


def _wanted(name: str, among: Sequence[Lived], counts: Callable[[Lived], bool]) -> Measure:
    return Measure(name, tuple(one for one in among if counts(one)), len(among), wanted=True)


def _label(one: Lived) -> Row:
    found: Row | None = one.expected.get("label")
    return found or {}


def recall(lived: Sequence[Lived]) -> Iterator[Measure]:
    """What is found, said, stored and heard where it should be."""
    for kind in ("personal", "both"):
        known = [one for one in lived if one.kind == kind and one.expected["told"]]
        unknown = [one for one in lived if one.kind == kind and not one.expected["told"]]
        yield _wanted(f"{kind}, told: shown", known, lambda one: one.shown)
        yield _wanted(f"{kind}, told: shown first", known, lambda one: one.first)
        yield _unwanted(f"{kind}, told: said to be untold", known, lambda one: one.untold)
        yield _unwanted(f"{kind}, told: said that the lines may not answer", known, lambda one: one.doubtful)
        yield _wanted(f"{kind}, not told: said so", unknown, lambda one: one.untold)
        yield _wanted(f"{kind}, not told: said so, or that the lines may not", unknown, _is_said)
        yield _unwanted(f"{kind}, not told: a line shown", unknown, lambda one: bool(one.lines))
        yield _unwanted(f"{kind}, not told: high", unknown, lambda one: one.level == "high")
    shaped = [one for one in lived if one.kind == "shaped"]
    yield _wanted("shaped by a fact: shown", shaped, lambda one: _needed(one) <= set(one.lines) and bool(one.lines))
    yield _wanted("statement: stored", [one for one in lived if one.kind == "statement"], _is_stored)
    heard = [one for one in lived if one.kind == "preference"]
    yield _wanted("preference: heard", heard, lambda one: bool(one.heard))
    for table in sorted({one.table for one in lived if one.table.startswith("life")}):
        asked = [one for one in lived if one.table == table]
        yield _wanted(f"{table}: shown", asked, lambda one: one.shown)
        yield _wanted(f"{table}: shown first", asked, lambda one: one.first)
        yield _unwanted(f"{table}: said to be untold", asked, lambda one: one.untold)
    days = [one for one in lived if one.table == "fortnight"]
    for kind in ("told", "shaped"):
        asked = [one for one in days if one.kind == kind]
        yield _wanted(f"fortnight, {kind}: right", asked, lambda one: one.is_right)
    never = [one for one in days if one.kind == "never told"]
    yield _wanted("fortnight, never told: said so", never, lambda one: one.untold)
    facts = [one for one in lived if _label(one).get("states_fact")]
    yield _wanted("real: a stated fact stored", facts, lambda one: bool(one.stored))
    wishes = [one for one in lived if _label(one).get("standing_wish")]
    yield _wanted("real: a preference heard", wishes, lambda one: bool(one.heard))


def _needed(one: Lived) -> set[str]:
    """One of the lines that a request needs suffices: the strictest limit, which its table names first."""
    tables = (row for table in ("questions", *LATER) for row in read(table, one.language))
    rows = {row["id"]: row["text"] for row in tables if row["kind"] == "told"}
    return {rows[one.expected["needs"][0]]} if one.expected.get("needs") else set()


def _is_stored(one: Lived) -> bool:
    return all(_flat(fact["span"]) in _flat(one.stored) for fact in one.expected["facts"])


def _flat(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


@asynccontextmanager
async def person(facts: Sequence[str], claims: Sequence[str] = ()) -> AsyncGenerator[tuple[Metacognition, FrozenClock]]:
    """Somebody who told some facts, an hour apart, and comes back on another day."""
    clock = FrozenClock(BEGIN)
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text, claims=claims)
        for fact in facts:
            clock.advance(HOUR)
            async with mind.turn(USER, "before", fact) as turn:
                turn.finish(REPLY)
        clock.advance(timedelta(days=2).total_seconds())
        yield mind, clock


async def _say(
    mind: Metacognition,
    clock: FrozenClock,
    session: str,
    row: Row,
    table: str,
    language: str,
    reply: str = REPLY,
    *,
    is_read: bool = False,
) -> Lived:
    clock.advance(HOUR)
    async with mind.turn(USER, session, row["text"]) as turn:
        done = turn.finish(reply[:REPLY_CHARS])
    if is_read and row["kind"] in readings.FACTS_KNOWN:
        await readings.read_said(mind, row)
    told = done.verdict.text if done.verdict else ""
    kept = await _kept(mind, turn)
    return Lived(
        table=table,
        language=language,
        kind=row["kind"],
        text=row["text"],
        expected=row,
        put=f"{turn.words.now}\n{turn.reminder}".strip(),
        stable=turn.words.stable,
        lines=tuple(one.memory.content for one in turn.recalled if one.memory.id in turn.shown),
        over=any(one.until is not None for one in turn.recalled if one.memory.id in turn.shown),
        doubtful="memory.doubtful" in turn.words.claims,
        untold=turn.words.untold,
        preferences=tuple(one.text for one in turn.wishes),
        heard=tuple(one.words for one in turn.heard),
        stored=kept,
        hedged=done.hedged,
        verdict=told,
        level=turn.confidence.level,
        reply=done.response,
        claims=_claims(turn),
    )


def _claims(turn: Turn) -> frozenset[str]:
    """What the ledger says was claimed in a turn."""
    records: list[Row] = [{**one.data} for one in turn.signals if one.kind == TURN]
    return frozenset(name for record in records for name in record.get("claims", ()))


async def _kept(mind: Metacognition, turn: Turn) -> str:
    """What of the message of a turn was kept as facts; empty where nothing was."""
    latest = await mind.store.memories.list_memories(USER, limit=2)
    return next((one.line for one in latest if one.provenance == "user" and one.content == turn.message), "")


def read(table: str, language: str) -> list[Row]:
    """The rows of one of our tables."""
    text = (_folder(table) / f"{language}.jsonl").read_text("utf-8")
    return [jsonlib.loads(line) for line in text.splitlines() if line.strip()]


def _folder(table: str) -> Any:
    return files("insula_bench") / "life" / table


def _labelled(folder: Path, language: str) -> Iterator[tuple[Row, dict[int, Row]]]:
    """The conversations of a language that hold a labelled message, with the labels by their turn."""
    labels: dict[str, dict[int, Row]] = {}
    for line in (folder / "labels.jsonl").read_text("utf-8").splitlines():
        row = jsonlib.loads(line)
        labels.setdefault(row["id"], {})[row["turn"]] = row
    with lzma.open(folder / "conversations.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            conversation = jsonlib.loads(line)
            if conversation["language"] == language and conversation["id"] in labels:
                yield conversation, labels[conversation["id"]]


def _print(console: Console, found: Sequence[Measure]) -> None:
    for wanted in (False, True):
        table = Table("what should be" if wanted else "what should not be", "found", "of", "per 1,000", *languages())
        for one in found:
            if one.wanted == wanted and one.all:
                row = one.figures
                span = f"{row['per_1000']:g} [{row['interval'][0]}, {row['interval'][1]}]"
                by = (str(row["languages"][lang] or "") for lang in languages())
                table.add_row(one.name, str(row["found"]), str(row["of"]), span, *by)
        console.print(table)


def _show(measure: Measure, lived: Sequence[Lived]) -> None:
    """The cases of a measure, or, where it should be large, those that it lacks."""
    cases = measure.found
    if measure.wanted:
        of = {(one.table, one.kind) for one in measure.found}
        cases = tuple(one for one in lived if (one.table, one.kind) in of and one not in measure.found)
    for one in cases:
        print(f"--- {measure.name} · {one.language} · {one.level}\n    {one.text!r}")
        for what, text in (("before the model", one.put), ("heard", one.heard), ("stored", one.stored)):
            if text:
                print(f"    {what}: {text!r}")
