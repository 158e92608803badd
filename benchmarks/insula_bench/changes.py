"""`insula bench changes`: what changed is told beside the old line, or before it, and what did not change comes before
nothing.

The tables (`changes/`) are by two authors who saw neither code nor other tables: what somebody told, what they told
later that makes it out of date, two questions, and four later lines that change nothing of the answer (two tell a
change of another matter, one adds to the same, one shares words with it).

`lived` is by a third author: after a whole life (`held_lives_2`) twenty of its facts in each language change, and
beside each a line is told that is near it and changes nothing. Its questions go through a turn, and so do those on
what did not change.
"""

import asyncio
import json as jsonlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from insula.language.heads import read_request
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_question, extract_statements
from insula.memory.relevance import BESIDE, Relevance, answer_odds, find_nearness, judge_relevance
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.memory.storage.rows import StoredStatement
from insula.text.analysis import LANGUAGES, analyse_text
from insula_bench import life

TABLES = ("first", "second")
OLD, NEW = 1, 2
"""Numbers of the old line and of the one that makes it out of date; those that change nothing come after them."""
LIFE, EVERY = "held_lives_2", 3
"""The life in which facts change, and every so many-th of the others, which is asked for, too."""


class Judged(NamedTuple):
    """How likely each line answers a question, by its number."""

    odds: Mapping[int, float]
    alone: Mapping[int, float]
    """The same where no line is held against another."""
    found: Mapping[int, Relevance] = {}
    """What else is known of each."""

    @property
    def order(self) -> Sequence[int]:
        """The lines that stand before the model, the first of them first."""
        best = max(self.odds.values())
        return sorted((line for line in self.odds if self.odds[line] >= best - BESIDE), key=self._place)

    def _place(self, line: int) -> tuple[float, int]:
        return -self.odds[line], -line


def run(json: bool) -> int:
    """Measure both tables, and the life."""
    report = {table: measure(table) for table in TABLES} | {"lived": asyncio.run(measure_life())}
    for table, figures in report.items() if not json else ():
        print(f"{table:<8} " + "; ".join(f"{name}: {figure}" for name, figure in figures.items()))
    if json:
        print(jsonlib.dumps(report, indent=2))
    return 0


def measure(table: str) -> dict[str, str]:
    """How often each of the lines stands where."""
    count = Counter[str]()
    for language in LANGUAGES:
        for row in read_rows(table, language):
            for judged in judge_row(row, language):
                count.update(_places(judged))
    return {name: f"{count[name]} of {count['questions']}" for name in sorted(count) if name != "questions"}


async def measure_life() -> dict[str, str]:
    """How often the lines of a change stand before the model once a whole life was told, and those of no change."""
    count = Counter[str]()
    for language in LANGUAGES:
        facts, changes = life.read(LIFE, language), {row["id"]: row for row in read_rows("lived", language)}
        told = [fact["text"] for fact in facts]
        told += [row[name] for row in changes.values() for name in ("new", "same")]
        asked = [fact for at, fact in enumerate(facts) if fact["id"] in changes or at % EVERY == 0]
        async with life.person(told) as (mind, clock):
            for fact in asked:
                change = changes.get(fact["id"])
                for wording, ask in zip(("plainly", "in other words"), fact["asks"], strict=True):
                    clock.advance(life.HOUR)
                    turn = mind.turn(life.USER, ask, ask)
                    await turn.before_model()
                    lines = [one.memory.content for one in turn.recalled if one.memory.id in turn.shown]
                    name = f"{'changed' if change else 'unchanged'}, asked {wording}"
                    count.update(_tell_places(name, lines, fact["text"], change["new"] if change else ""))
    return {name: f"{count[name]} of {count[name.partition(':')[0]]}" for name in sorted(count) if ":" in name}


def _tell_places(name: str, lines: Sequence[str], old: str, new: str) -> Iterator[str]:
    places = {line: at for at, line in enumerate(lines)}
    yield name
    yield from [f"{name}: lines"] * len(lines)
    for place, holds in (
        {
            "new shown": new in places,
            "new before old": new in places and places[new] < places.get(old, len(lines)),
            "old alone": old in places and new not in places,
        }.items()
        if new
        else {"shown": old in places, "first": places.get(old) == 0}.items()
    ):
        if holds:
            yield f"{name}: {place}"


def _places(judged: Judged) -> Iterator[str]:
    order = judged.order
    yield "questions"
    for name, holds in {
        "new shown": NEW in order,
        "new before old": NEW in order and (OLD not in order or order.index(NEW) < order.index(OLD)),
        "new before old by itself": judged.alone[NEW] > judged.alone[OLD],
        "either first": order[0] in {OLD, NEW},
    }.items():
        if holds:
            yield name
    yield from ["others shown"] * sum(line > NEW for line in order)


def judge_row(row: Mapping[str, Any], language: str) -> Iterator[Judged]:
    """Each question of a row, with all its lines told in turn."""
    lines = dict(enumerate((row["old"], row["new"], *row["apart"]), OLD))
    return judge_lines(lines, row["asks"], language)


def judge_lines(lines: Mapping[int, str], asked_for: Sequence[str], language: str) -> Iterator[Judged]:
    """Each of some questions, with some lines told in the order of their numbers."""
    said = [
        (line, statement)
        for line, text in lines.items()
        for statement in extract_statements(analyse_text(text, default=language), USER, ASSISTANT)
    ]
    asks = {ask: extract_question(ask, language, USER, ASSISTANT) for ask in asked_for}
    texts = [*lines.values(), *(statement.text for _, statement in said), *asks]
    vectors = embed_all(embed_text, [*texts, *(question.text for asked in asks.values() for question in asked)])
    told = [
        StoredStatement(line, float(line), statement._replace(vector=vectors[statement.text]))
        for line, statement in said
    ]
    held = [(line, vectors[text]) for line, text in lines.items()]
    held += [(line, vectors[statement.text]) for line, statement in said]
    for ask, asked in asks.items():
        meant = [question._replace(request=read_request(question.text, vectors[question.text])) for question in asked]
        near = find_nearness([read_request(ask, vectors[ask])], held)
        found = judge_relevance(meant, near, told, is_meant=True)
        yield Judged(
            {line: relevance.odds for line, relevance in found.items()},
            {line: answer_odds(parts) for line, parts in near.items()},
            found,
        )


def read_rows(table: str, language: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a table."""
    path = files("insula_bench") / "changes" / table / f"{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]
