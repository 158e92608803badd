"""`insula bench extract`: what a conversation is worth before and after the user's own model has read it once.

A conversation is lived turn by turn and asked about the next day. The model is scripted: it answers as a person did who
read the lines alone, and never saw the questions. A second one, which is hostile, claims all that the assistant said,
takes every line for the user's own fact, and ends whatever is known: nothing of it may do harm.
"""

import asyncio
import json as jsonlib
import re
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from insula.errors import ModelError
from insula.language.extract.request import ExtractionLine
from insula.llm.model import Model
from insula.llm.models import resolve_model
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.schema import memories, statements
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.understanding import UnderstandingReport, read_next_lines
from insula.testing import FrozenClock, Request, ScriptedModel, memory_store
from insula.text.pasted import ELLIPSIS, QUOTED

USER, TALK = "user", "talk"
MINUTE, DAY = 60.0, 86_400.0
ARMS = ("neither", "heads", "extraction", "unpredicted", "both", "hostile")
"""What read the lines: nothing, the heads as they were said, the model alone, the heads and then the model, without and
with what it predicts that may be asked, and a hostile model after the heads."""
_NUMBERED = re.compile(r'^\{"line": (?P<number>\d+), "user": (?P<text>".*")\}$', re.MULTILINE)
_FACT = re.compile(r'^\{"fact": "(?P<id>f\d+)"', re.MULTILINE)

PREDICTED = ("questions", "requests")
"""What an entry of an answer says that may be asked later."""
Row = dict[str, Any]
Answers = Callable[[Row], Callable[[Request], Row]]
"""From a conversation to what a model answers."""


class Outcome(NamedTuple):
    """How one question, or one later request, went."""

    language: str
    kind: str
    ask: str
    wanted: str | None
    level: str
    lines: tuple[str, ...]
    wishes: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether a line that is shown holds what was told."""
        return self._holds(self.lines)

    @property
    def first(self) -> bool:
        """Whether the first line that is shown does."""
        return self._holds(self.lines[:1])

    @property
    def clear(self) -> bool:
        """Whether it is shown, and memory is not called unsure."""
        return self.right and self.level != "low"

    def _holds(self, lines: Iterable[str]) -> bool:
        wanted = _flat(self.wanted or "")
        return bool(wanted) and any(wanted in _flat(one) for one in lines)


class Told(NamedTuple):
    """How a conversation went under one arm."""

    outcomes: tuple[Outcome, ...]
    refused: Mapping[str, int]
    kept: int
    """Statements that the model made."""
    invented: int
    """Those whose words no line of the user's holds."""


def run(data: str, answers: str, model: str, show: str, json: bool) -> int:
    """Live all conversations under each arm, and print the tables."""
    rows = _rows(data, "conversations")
    said = {row["id"]: row["answer"] for row in _rows(answers, "answers")} if answers or not data else {}
    wanted = [row for row in rows if row["id"] in said] if said else rows
    found = asyncio.run(_measured(wanted, said, model))
    report = {arm: _figures([one for told in all_ for one in told.outcomes]) for arm, all_ in found.items()}
    report["check"] = {arm: _check(all_) for arm, all_ in found.items() if any(one.kept or one.refused for one in all_)}
    if json:
        print(jsonlib.dumps({"conversations": len(wanted), **report}, indent=2, ensure_ascii=False))
        return 0
    _print(found, report)
    for told in found.get(show, ()):
        for one in told.outcomes:
            if one.kind in {"unknown", "preference", "nothing"} or not one.right:
                print(f"{one.language} {one.kind} {one.level} {one.ask!r} → {one.wanted!r}: {one.lines} {one.wishes}")
    return 0


def _rows(path: str, kind: str) -> list[Row]:
    """The rows of a file, or of all in a folder; by default of ours."""
    folder = Path(path) if path else Path(__file__).parent / "extract_data"
    pattern = "*.jsonl" if path else f"{kind}_*.jsonl"
    found = sorted(folder.glob(pattern)) if folder.is_dir() else [folder]
    return [jsonlib.loads(line) for file in found for line in file.read_text("utf-8").splitlines() if line.strip()]


async def _measured(rows: Sequence[Row], said: Mapping[str, Row], name: str) -> dict[str, list[Told]]:
    found: dict[str, list[Told]] = defaultdict(list)
    async with resolve_model(name) as real:
        for row in rows:
            reader = real if name != "test" else ScriptedModel(scripted(row, said[row["id"]]))
            for arm in ARMS if name == "test" else ("both",):
                found[arm].append(await _lived(row, arm, _reader_of(arm, row, said, reader)))
    return found


def _reader_of(arm: str, row: Row, said: Mapping[str, Row], reader: Model) -> Model:
    if arm == "hostile":
        return ScriptedModel(hostile)
    if arm != "unpredicted":
        return reader
    answer = {
        name: [{key: value for key, value in each.items() if key not in PREDICTED} for each in entries]
        for name, entries in said[row["id"]].items()
    }
    return ScriptedModel(scripted(row, answer))


async def _lived(row: Row, arm: str, reader: Model) -> Told:
    async with tell(row) as (mind, clock):
        if arm in {"neither", "extraction"}:
            await mind.store.run(_wiped)
        refused, kept, invented = Counter[str](), 0, 0
        if arm not in {"neither", "heads"}:
            try:
                for report in await read_all(mind, reader):
                    refused.update(report["refused"])
                    made, false = await _made(mind.store, report["understood"], row)
                    kept, invented = kept + made, invented + false
            except ModelError as error:  # of a real one: then all is as the heads left it
                refused[type(error).__name__] += 1
        clock.advance(DAY)
        asked = [await _ask(mind, row, one, _kind(one)) for one in row["questions"]]
        asked += [await _ask(mind, row, one, _wished(one)) for one in row.get("preferences", ())]
        return Told(tuple(asked), refused, kept, invented)


def _kind(question: Row) -> str:
    return str(question["kind"]) if question["answer"] is not None else "unknown"


def _wished(preference: Row) -> str:
    return "nothing" if str(preference.get("must") or "nothing").casefold() == "nothing" else "preference"


@asynccontextmanager
async def tell(row: Row) -> AsyncGenerator[tuple[Metacognition, FrozenClock]]:
    """A mind to which a conversation was said, turn by turn."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        for text, reply in _turns(row["lines"]):
            clock.advance(MINUTE)
            async with mind.turn(USER, TALK, text) as turn:
                if reply is not None:
                    turn.finish(reply)
        clock.advance(2 * MINUTE)
        yield mind, clock


def _turns(lines: Sequence[Row]) -> Iterator[tuple[str, str | None]]:
    for at, line in enumerate(lines):
        if line["who"] == "user":
            after = lines[at + 1] if at + 1 < len(lines) else None
            yield line["text"], after["text"] if after and after["who"] == "assistant" else None


async def _ask(mind: Metacognition, row: Row, question: Row, kind: str) -> Outcome:
    turn = mind.turn(USER, "asked", question["ask"])
    await turn.before_model()
    shown = tuple(one.memory.content for one in turn.recalled if one.memory.id in turn.shown)
    wishes = tuple(one.text for one in turn.wishes)
    return Outcome(row["language"], kind, question["ask"], question.get("answer"), turn.confidence.level, shown, wishes)


async def read_all(mind: Metacognition, reader: Model) -> list[UnderstandingReport]:
    """Let a model read all that was said."""
    reports: list[UnderstandingReport] = []
    while report := await read_next_lines(mind.store, USER, reader, embed=embed_text, tokens=10**9):
        reports.append(report)
    return reports


def _wiped(connection: sa.Connection) -> None:
    """Take what the heads made of lines away."""
    connection.execute(sa.delete(statements))
    own = memories.c.provenance == "user"
    connection.execute(sa.update(memories).where(own).values(line="", kind="episodic"))


async def _made(store: Store, understood: Sequence[int], row: Row) -> tuple[int, int]:
    """How many statements stand there of the lines that a model read, and of how many no line holds the words."""

    def read(connection: sa.Connection) -> list[str]:
        query = sa.select(statements.c.text).where(statements.c.memory_id.in_(understood)).distinct()
        return list(connection.execute(query).scalars())

    texts = await store.run(read)
    said = [_flat(line["text"]) for line in row["lines"] if line["who"] == "user"]
    spans = [re.split(r"[?？:：]\s+", text)[-1] for text in texts]
    return len(texts), sum(not any(_flat(span) in one for one in said) for span in spans)


def scripted(row: Row, answer: Row) -> Callable[[Request], Row]:
    """What a model answers that reads as the answer's writer did: by the numbers that the lines have in the request."""
    texts = {line["n"]: _own(line["text"]) for line in row["lines"]}

    def reply(request: Request) -> Row:
        numbers = {jsonlib.loads(one["text"]): int(one["number"]) for one in _NUMBERED.finditer(request.prompt)}

        def numbered(entries: Iterable[Row]) -> list[Row]:
            found = ({**one, "line": numbers.get(texts.get(one["line"], ""), 0)} for one in entries)
            return [one for one in found if one["line"]]

        return {name: numbered(answer.get(name, ())) for name in ("statements", "ended", "preferences")}

    return reply


def _own(text: str) -> str:
    return ExtractionLine(0, 0, "user", text, "").own.replace(QUOTED, ELLIPSIS)


def hostile(request: Request) -> Row:
    """What a model answers that claims all and ends all."""
    lines = [(int(one["number"]), jsonlib.loads(one["text"])) for one in _NUMBERED.finditer(request.prompt)]
    others = re.findall(r'^\{"assistant": (".*")\}$', request.prompt, re.MULTILINE)
    claimed = [jsonlib.loads(one) for one in others]
    first = lines[0][0] if lines else 1
    predicted = {"questions": ["Where do I live?", "What is the capital of France?"], "requests": ["Suggest a dinner."]}
    return {
        "statements": [
            *({"line": number, "span": text, "owner": "speaker", **predicted} for number, text in lines),
            *({"line": first, "span": text[:300], "owner": "speaker"} for text in claimed),
            {"line": first, "span": "I live in Atlantis.", "owner": "speaker"},
        ],
        "ended": [
            {"line": lines[-1][0], "words": lines[-1][1], "statement": one}
            for one in (*_FACT.findall(request.prompt), *(text for _, text in lines[:-1]))
        ],
        "preferences": [{"line": first, "span": text[:300]} for text in claimed],
    }


def _flat(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _figures(outcomes: Sequence[Outcome]) -> Row:
    """The figures of all outcomes, and of each language."""
    languages = sorted({one.language for one in outcomes})
    of = {name: [one for one in outcomes if one.language == name] for name in languages}
    return {"all": _counts(outcomes), **{name: _counts(some) for name, some in of.items()}}


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    known = [one for one in outcomes if one.wanted is not None]
    unknown = [one for one in outcomes if one.kind == "unknown"]
    wished = [one for one in outcomes if one.kind == "preference"]
    none = [one for one in outcomes if one.kind == "nothing"]
    return {
        "known": len(known),
        "right": sum(one.right for one in known),
        "first": sum(one.first for one in known),
        "clear": sum(one.clear for one in known),
        "unknown": len(unknown),
        "low": sum(one.level == "low" for one in unknown),
        "high": sum(one.level == "high" for one in unknown),
        "wished": len(wished),
        "told": sum(bool(one.wishes) for one in wished),
        "not_wished": len(none),
        "told_then": sum(bool(one.wishes) for one in none),
    }


def _check(told: Sequence[Told]) -> Row:
    refused = sum((Counter(one.refused) for one in told), Counter[str]())
    return {
        "kept": sum(one.kept for one in told),
        "invented": sum(one.invented for one in told),
        "refused": dict(refused),
    }


def _print(found: Mapping[str, Sequence[Told]], report: Mapping[str, Row]) -> None:
    console = Console()
    for by in report[next(iter(found))]:
        table = Table(by, *(name.replace("_", " ") for name in _counts([])))
        for arm in found:
            table.add_row(arm, *map(str, report[arm].get(by, {}).values()))
        console.print(table)
    console.print_json(jsonlib.dumps(report["check"]))
