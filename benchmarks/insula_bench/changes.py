"""`insula bench changes`: what changed is told beside the old line, or before it, and what did not change comes before
nothing.

The tables (`changes/`) are by two authors who saw neither code nor other tables: what somebody told, what they told
later that makes it out of date, two questions, and four later lines that change nothing of the answer (two tell a
change of another matter, one adds to the same, one shares words with it).
"""

import json as jsonlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from insula.language.heads import read_request
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_question, extract_statements
from insula.memory.relevance import BESIDE, answer_odds, find_nearness, judge_relevance
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.memory.storage.rows import StoredStatement
from insula.text.analysis import LANGUAGES, analyse_text

TABLES = ("first", "second")
OLD, NEW = 1, 2
"""Numbers of the old line and of the one that makes it out of date; those that change nothing come after them."""


class Judged(NamedTuple):
    """How likely each line answers a question, by its number."""

    odds: Mapping[int, float]
    alone: Mapping[int, float]
    """The same where no line is held against another."""

    @property
    def order(self) -> Sequence[int]:
        """The lines that stand before the model, the first of them first."""
        best = max(self.odds.values())
        return sorted((line for line in self.odds if self.odds[line] >= best - BESIDE), key=self._place)

    def _place(self, line: int) -> tuple[float, int]:
        return -self.odds[line], -line


def run(json: bool) -> int:
    """Measure both tables."""
    report = {table: measure(table) for table in TABLES}
    for table, figures in report.items() if not json else ():
        print(f"{table:<8} " + "; ".join(f"{name}: {figure}" for name, figure in figures.items()))
    if json:
        print(jsonlib.dumps(report, indent=2))
    return 0


def measure(table: str) -> dict[str, str]:
    """How often each of the lines stands where."""
    count = Counter[str]()
    for language in LANGUAGES:
        for row in _rows(table, language):
            for judged in judge_row(row, language):
                count.update(_places(judged))
    return {name: f"{count[name]} of {count['questions']}" for name in sorted(count) if name != "questions"}


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


def judge_row(row: Mapping[str, Any], language: str) -> Iterator[Judged]:
    """Each question of a row, with all its lines told in turn."""
    lines = dict(enumerate((row["old"], row["new"], *row["apart"]), OLD))
    said = [
        (line, statement)
        for line, text in lines.items()
        for statement in extract_statements(analyse_text(text, default=language), USER, ASSISTANT)
    ]
    asks = {ask: extract_question(ask, language, USER, ASSISTANT) for ask in row["asks"]}
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
        )


def _rows(table: str, language: str) -> Sequence[Mapping[str, Any]]:
    path = files("insula_bench") / "changes" / table / f"{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]
