"""`insula bench gsm8k`: methods side by side on the same problems, at equal budgets, from one pool of replies.

The rule of equal budgets: for each problem, every method has the same cap on tokens, input and output together, and
what it takes from the pool is charged as if it had asked for it.
"""

import asyncio
import hashlib
import json as jsonlib
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from insula import settings
from insula.errors import InputError
from insula.llm.models import resolve_model
from insula_bench.arms import VERSION, Arm, Problem, Record, arms, key, latest, solved
from insula_bench.gsm8k_figures import figures
from insula_bench.lines import FilePool, Lines, kept
from insula_solve.amounts import normalise_answer
from insula_solve.baselines import WAVES
from insula_solve.run import CHAIN_TOKENS, Models

PROMPT_TOKENS = 200
"""Tokens of the prompt of a chain: those of GSM8K have 90 to 200 with a small model's tokenizer."""
TOKENS = WAVES[-1] * (CHAIN_TOKENS + PROMPT_TOKENS)
"""What a method may spend on a problem: as much as adaptive self-consistency at its greatest."""
REPLY_SECONDS = 3_600.0
"""A reply is bounded by its tokens; time is that of a machine that may have other things to do."""
RESULTS, REPLIES, RUN = "results.jsonl", "replies.jsonl", "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be measured."""

    data: Path
    arms: list[Arm]
    model: str
    problems: list[Problem]
    seed: int
    out: Path
    tokens: int
    parallel: int


def run(  # noqa: PLR0913, PLR0917 one for each option
    data: str | None,
    methods: str,
    model: str | None,
    limit: int | None,
    offset: int,
    seed: int,
    out: str,
    tokens: int,
    json: bool,
    parallel: int = 1,
) -> int:
    """Measure what is not measured yet, write the report, print it, and return the exit code: 1 where a line failed.

    With a limit of 0 it only reports, and needs no data.

    Raises:
        InputError: the data, the methods or the folder cannot be used.
    """
    if limit == 0:
        return _report(Path(out), json)
    if data is None:
        raise InputError("No problems are named; give --data FILE, or --limit 0 to report what was measured before.")
    plan = Plan(
        data=Path(data),
        arms=arms(methods),
        model=model or settings.load_settings().model,
        problems=problems(Path(data), offset, limit),
        seed=seed,
        out=Path(out),
        tokens=tokens,
        parallel=parallel,
    )
    _same(plan)
    with closing(Lines(plan.out / RESULTS)) as results:
        if results.torn:
            print(f"insula: {results.torn} line(s) of {RESULTS} were cut off and are measured again", file=sys.stderr)
        if waiting := _waiting(plan, results.records):
            asyncio.run(_measure(plan, waiting, results))
    return _report(plan.out, json)


def _report(out: Path, json: bool) -> int:
    """Write and print the report of a folder, from its lines alone; 1 where one of them failed."""
    from insula_bench import gsm8k_report

    records, _ = kept(out / RESULTS)
    terms = _terms(out)
    measured = figures(latest(records), model=terms["model"], tokens=terms["tokens"])
    gsm8k_report.write(measured, out)
    print(jsonlib.dumps(measured, indent=2)) if json else gsm8k_report.show(measured, out)
    return int(any(one["failed"] for one in measured["arms"].values()))


def _terms(out: Path) -> Record:
    """On what terms the results of a folder were measured."""
    try:
        return jsonlib.loads((out / RUN).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"The folder {str(out)!r} does not say how it was measured ({error}); name another."
        ) from error


def problems(path: Path, offset: int, limit: int | None) -> list[Problem]:
    """Problems of a file in GSM8K's form: JSON lines with `question` and `answer`.

    Raises:
        InputError: it cannot be read, has another form, or has no problem there.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
        every = [_problem(number, line) for number, line in enumerate(lines) if line.strip()]
    except OSError as error:
        raise InputError(f"The problems {str(path)!r} cannot be read ({error.strerror}); check the path.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{str(path)!r} has not the form of GSM8K: JSON lines with a text `question` and a text `answer`; mend it."
        ) from error
    chosen = every[offset : None if limit is None else offset + limit]
    if not chosen:
        raise InputError(f"{str(path)!r} has {len(every)} problems, so none from {offset} on; give a smaller --offset.")
    return chosen


def _problem(number: int, line: str) -> Problem:
    record = jsonlib.loads(line)
    question, answer = record["question"], record["answer"]
    if not isinstance(question, str) or not isinstance(answer, str):
        raise TypeError
    return Problem(number, question, normalise_answer(answer.rpartition("####")[2]))


def _same(plan: Plan) -> None:
    """See that the folder holds nothing that was measured on other terms."""
    terms = {
        "v": VERSION,
        "model": plan.model,
        "data": hashlib.sha256(plan.data.read_bytes()).hexdigest(),
        "tokens": plan.tokens,
    }
    path = plan.out / RUN
    try:
        if path.exists():
            before = _terms(plan.out)
            if changed := [name for name in terms if before.get(name) != terms[name]]:
                raise InputError(
                    f"{str(plan.out)!r} holds results with another {', '.join(changed)}, which do not compare; "
                    "name another --out, or measure on the same terms."
                )
            return
        plan.out.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(".tmp")
        begun.write_text(jsonlib.dumps(terms, indent=2) + "\n", "utf-8")
        begun.replace(path)
    except (OSError, ValueError) as error:
        raise InputError(f"The folder {str(plan.out)!r} cannot be used ({error}); name another --out.") from error


def _waiting(plan: Plan, records: Iterable[Record]) -> list[tuple[Problem, list[Arm]]]:
    """Of each problem the methods without a line yet, or with one that says it failed."""
    done = {key(one) for one in latest(list(records)) if not one["failed"]}
    left = [
        (problem, [arm for arm in plan.arms if (arm.name, problem.number, plan.seed) not in done])
        for problem in plan.problems
    ]
    return [(problem, missing) for problem, missing in left if missing]


async def _measure(plan: Plan, waiting: list[tuple[Problem, list[Arm]]], results: Lines) -> None:
    """Solve some problems at once, each by its methods in turn: they share its replies, and whatever is, is paired."""
    left = iter(waiting)

    async def work(models: Models, said: _Progress) -> None:
        for problem, missing in left:
            for arm in missing:
                record = await solved(arm, problem, models, tokens=plan.tokens, seed=plan.seed)
                results.add(record)
                said.over(record)

    with ExitStack() as stack:
        pool = stack.enter_context(closing(FilePool(plan.out / REPLIES)))
        said = stack.enter_context(_Progress(sum(len(missing) for _, missing in waiting)))
        async with resolve_model(plan.model, settings.load_settings().weights) as model, asyncio.TaskGroup() as group:
            models = Models(generator=model, pool=pool, timeout=REPLY_SECONDS)
            for _ in range(min(plan.parallel, len(waiting))):
                group.create_task(work(models, said))


class _Progress:
    """A bar for a person, and a line each for a log."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._began = total, 0, time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=not _is_watched())
        self._task = self._bar.add_task("solving", total=total)

    def __enter__(self) -> "_Progress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def over(self, record: Record) -> None:
        """One more line is written."""
        self._done += 1
        what = "failed" if record["failed"] else "right" if record["correct"] else "wrong"
        text = f"problem {record['problem']}, {record['arm']}: {what}"
        self._bar.update(self._task, completed=self._done, description=text)
        if not _is_watched():
            left = (time.monotonic() - self._began) / self._done * (self._total - self._done)
            print(f"{self._done}/{self._total}  {text}  ({left / 60:.0f} min left)", file=sys.stderr, flush=True)


def _is_watched() -> bool:
    return sys.stderr.isatty()
