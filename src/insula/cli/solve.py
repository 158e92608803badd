"""`insula solve`: a problem, or a file of them, solved by a method that watches itself, with the trace of how."""

import asyncio
import json as jsonlib
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple, cast

import typer
from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from insula import foreign
from insula import settings as settings_module
from insula.cli.common import LOG_FILE, account_of, log_to, memory_of
from insula.cli.lines import fold_text, print_warning, read_input, terminal_width
from insula.cli.options import Json
from insula.errors import InputError, StoreError
from insula.llm.budget import Account, Budget
from insula.llm.model import Model
from insula.llm.models import resolve_model
from insula.memory.storage.store import Store
from insula.memory.storage.strategies import StoredRecords
from insula.metacognition.facade import note_impasse
from insula.settings import Settings
from insula.text.wording import count_noun
from insula.types import Usage
from insula_solve import (
    Knowledge,
    Limits,
    Method,
    Models,
    Solution,
    Step,
    find_method,
    is_correct,
    pair_attempts,
    read_repertoire,
)

USER, USER_VARIABLE, SESSION = "me", "INSULA_USER", "solve"
"""Whose ledger an impasse goes on, as for `insula chat`, and of which session."""
KIND_COLUMNS = 12
SHOWN = 60
"""Characters of a problem in a list of them."""


class ProblemLine(NamedTuple):
    """A line of a file of problems."""

    text: str
    gold: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions:
    """What the command was told."""

    settings: Settings
    method: Method
    generator: str
    monitor: str | None
    verifier: str | None
    total: int | None
    """Tokens that a problem may cost."""
    limits: Limits
    json: bool
    export: Path | None


class _Solvers(NamedTuple):
    """What a problem is solved with."""

    models: Models
    knowledge: Knowledge
    store: Store | None


def solve(  # noqa: PLR0913, PLR0917 one for each option
    problem: Annotated[str | None, typer.Argument(help="What to solve; `-` or nothing reads standard input.")] = None,
    method: Annotated[
        str, typer.Option(help="insula, mgv, direct, self_consistency, adaptive_self_consistency, self_refine, …")
    ] = "insula",
    model: Annotated[str | None, typer.Option(help="The model for all of it.")] = None,
    monitor_model: Annotated[str | None, typer.Option(help="Another one to plan.")] = None,
    generator_model: Annotated[str | None, typer.Option(help="Another one to solve.")] = None,
    verifier_model: Annotated[str | None, typer.Option(help="Another one to verify.")] = None,
    max_tokens_total: Annotated[
        int | None, typer.Option(min=1, help="What a problem may cost, prompts and answers together.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=16, help="Tokens of a reply, at first; more where the model needs them.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Of sampled replies.")] = None,
    attempts: Annotated[int | None, typer.Option(min=1, max=100, help="Attempts at a problem, at most.")] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Problems: JSON Lines with `question`, or one a line.")
    ] = None,
    export_preferences: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what succeeded beside what failed, to train on.")
    ] = None,
    json: Json = False,
) -> int:
    """Solve a problem step by step, verified, and show how; exit status 1 where there is no answer."""
    settings = settings_module.load_settings()
    log_to(settings_module.home() / LOG_FILE)
    asked = SolveOptions(
        settings=settings,
        method=find_method(method),
        generator=generator_model or model or settings.model,
        monitor=monitor_model,
        verifier=verifier_model,
        total=max_tokens_total,
        limits=Limits(
            tokens=settings.solve_tokens if tokens is None else tokens,
            most_tokens=settings.solve_most_tokens,
            temperature=settings.solve_temperature if temperature is None else temperature,
            attempts=settings.solve_attempts if attempts is None else attempts,
        ),
        json=json,
        export=export_preferences,
    )
    if asked.export is not None:
        _check_export(asked.export)
    if file is not None:
        if problem is not None:
            raise InputError("A problem and a file of problems were given; give one of them.")
        return asyncio.run(_solve_many(asked, read_problems(file)))
    complaint = 'There is no problem to solve; write one: insula solve "What is 12 % of 250?"'
    text = read_input(complaint) if problem is None or problem == "-" else problem
    return asyncio.run(_solve_one(asked, ProblemLine(text)))


def _check_export(path: Path) -> None:
    """See that the preferences can be written before anything is asked."""
    if path.exists():
        raise InputError(f"The file {str(path)!r} is there already; name a new one for the preferences.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} for the preferences; make it, or name another file.")


def read_problems(path: Path) -> list[ProblemLine]:
    """The problems in a file: JSON Lines with `question` (or `problem`) and perhaps `answer`, or a problem a line."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8-sig").split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        why = foreign.why(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"The file {str(path)!r} cannot be read ({why}); name a text file in UTF-8.") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    if not numbered:
        raise InputError(f"The file {str(path)!r} holds no problem; write one in each line.")
    if not numbered[0][1].startswith("{"):
        return [ProblemLine(line) for _, line in numbered]
    return [_parse_problem(line, f"line {number} of {str(path)!r}") for number, line in numbered]


def _parse_problem(line: str, where: str) -> ProblemLine:
    try:
        values = jsonlib.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The JSON in {where} cannot be read ({error}); mend the line.") from error
    fields = cast("dict[str, object]", values) if isinstance(values, dict) else {}
    text = fields.get("question", fields.get("problem"))
    if not isinstance(text, str):
        raise InputError(f"The object in {where} has no 'question' and no 'problem'; add one.")
    gold = fields.get("answer")
    return ProblemLine(text, None if gold is None else str(gold))


async def _solve_one(asked: SolveOptions, problem: ProblemLine) -> int:
    columns = terminal_width()
    with _make_bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), transient=True) as waiting:
        waiting.add_task("waiting for the model")
        async with _open_solvers(asked) as solvers:
            on_step = None if asked.json else partial(_print_step, columns)
            solution = await _solve_problem(asked, solvers, problem, Usage(), 0.0, on_step)
    if asked.json:
        print(jsonlib.dumps(solution.as_dict(), ensure_ascii=False))
    else:
        print("\n".join(summarize_solution(solution)))
    _export_pairs(asked.export, [(problem, solution)])
    return int(solution.answer is None)


async def _solve_many(asked: SolveOptions, problems: Sequence[ProblemLine]) -> int:
    solved: list[tuple[ProblemLine, Solution]] = []
    spent, began = Usage(), time.monotonic()
    progress = _make_bar()
    async with _open_solvers(asked) as solvers:
        with progress:
            task = progress.add_task("solving", total=len(problems))
            try:
                for problem in problems:
                    solution = await _solve_problem(asked, solvers, problem, spent, time.monotonic() - began)
                    solved.append((problem, solution))
                    spent += solution.spent
                    _print_solution(asked.json, len(solved), problem, solution)
                    progress.advance(task)
            finally:
                _export_pairs(asked.export, solved)
                if not asked.json:
                    print("\n".join(_summarize_total(solved, spent)))
    return int(any(solution.answer is None for _, solution in solved))


async def _solve_problem(
    asked: SolveOptions,
    solvers: _Solvers,
    problem: ProblemLine,
    spent: Usage,
    seconds: float,
    on_step: Callable[[Step], None] | None = None,
) -> Solution:
    """A solution within what the command has left; the ledger of whoever solves here keeps an impasse (K5)."""
    account = _make_account(asked.settings, spent, seconds, asked.total)
    solution = await asked.method(
        problem.text, solvers.models, account, knowledge=solvers.knowledge, on_step=on_step, limits=asked.limits
    )
    if solvers.store is not None:
        await note_impasse(solvers.store, os.environ.get(USER_VARIABLE) or USER, SESSION, solution)
    return solution


@asynccontextmanager
async def _open_solvers(asked: SolveOptions) -> AsyncGenerator[_Solvers]:
    settings = asked.settings
    async with AsyncExitStack() as stack:
        opened: dict[str | None, Model] = {}
        for name in dict.fromkeys(name for name in (asked.generator, asked.monitor, asked.verifier) if name):
            opened[name] = await stack.enter_async_context(resolve_model(name, settings.weights))
        models = Models(
            generator=opened[asked.generator],
            monitor=opened.get(asked.monitor),
            verifier=opened.get(asked.verifier),
            timeout=settings.timeout,
        )
        yield _Solvers(models, *await _open_knowledge(stack))


async def _open_knowledge(stack: AsyncExitStack) -> tuple[Knowledge, Store | None]:
    """The repertoire with its records; without records where the store cannot be used, which is said."""
    home = settings_module.home()
    known = read_repertoire(home)
    try:
        store = await stack.enter_async_context(await Store.open(memory_of()))
    except StoreError as error:
        print_warning(f"{error} The strategies' records are not kept this time.")
        return Knowledge(repertoire=known), None
    return Knowledge(repertoire=known, records=StoredRecords(store)), store


def _make_account(settings: Settings, spent: Usage, seconds: float, tokens: int | None) -> Account:
    """What one problem may cost: what is left of the caps on the whole command, and the cap on a problem."""
    caps = account_of(settings).budget
    left = None if caps.tokens is None else max(0, caps.tokens - spent.input_tokens - spent.output_tokens)
    budget = Budget(
        calls=None if caps.calls is None else max(0, caps.calls - spent.calls),
        tokens=min((cap for cap in (left, tokens) if cap is not None), default=None),
        seconds=None if caps.seconds is None else caps.seconds - seconds,
    )
    return Account(budget=budget)


def _print_step(columns: int, step: Step) -> None:
    """A line of the trace, as it happens."""
    first = f"{step.kind:<{KIND_COLUMNS}}"
    print("\n".join(fold_text(step.text, columns, first, " " * KIND_COLUMNS)), flush=True)


def summarize_solution(solution: Solution) -> Iterator[str]:
    """The answer, how sure it is, and what each stage cost."""
    yield ""
    if solution.abstained:
        yield f"No answer: the best is too unsure ({_describe_confidence(solution)})."
    elif solution.answer is None:
        yield f"No answer: {solution.stopped}."
    elif solution.form in {"code", "text"}:
        known = f"  ({_describe_confidence(solution)})" if solution.confidences else ""
        yield f"Answer, which cannot be voted on{known}:\n{solution.answer}\n"
        yield from (f"Doubt: {doubt}" for doubt in solution.doubts)
        if not solution.doubts:
            yield "Nothing that is checked without a model speaks against it."
    else:
        yield f"Answer: {solution.answer}  ({_describe_confidence(solution)})"
    for stage, usage in solution.usage.items():
        yield f"{stage:<{KIND_COLUMNS}}{_describe_cost(usage)}"
    if len(solution.usage) > 1:
        yield f"{'together':<{KIND_COLUMNS}}{_describe_cost(solution.spent)}"


def _describe_confidence(solution: Solution) -> str:
    known = ", ".join(f"{kind} {value:.2f}" for kind, value in solution.confidences.items())
    return f"confidence {solution.confidence:.2f}; {known}" if solution.confidence is not None else known or "unknown"


def _describe_cost(usage: Usage) -> str:
    tokens = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    return f"{count_noun(usage.calls, 'call')}, {tokens}, {usage.seconds:.1f} s"


def _make_bar(*columns: ProgressColumn, transient: bool = False) -> Progress:
    """A bar, or what the columns make of it, on standard error, where somebody looks.

    What is printed stays on standard output, above the bar.
    """
    together = sys.stdout.isatty()
    console = Console(stderr=True)
    return Progress(
        *columns,
        console=console,
        disable=not sys.stderr.isatty(),
        redirect_stdout=together,
        redirect_stderr=False,
        transient=transient,
    )


def _print_solution(json: bool, number: int, problem: ProblemLine, solution: Solution) -> None:
    """One problem of many, as it is done."""
    if json:
        gold = {} if problem.gold is None else {"correct": is_correct(solution.answer, problem.gold)}
        print(jsonlib.dumps({**solution.as_dict(), **gold}, ensure_ascii=False), flush=True)
        return
    mark = "–" if solution.answer is None else _correctness_mark(problem, solution)
    text = " ".join(problem.text.split())
    said = solution.answer if solution.answer is not None else f"no answer: {solution.stopped}"
    spent = solution.spent
    cost = f"{count_noun(len(solution.attempts), 'attempt')}, {spent.input_tokens + spent.output_tokens:,} tokens"
    print(f"{mark} {number:>4}  {said}  ({cost})  {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}", flush=True)


def _correctness_mark(problem: ProblemLine, solution: Solution) -> str:
    if problem.gold is None:
        return "·"
    return "✓" if is_correct(solution.answer, problem.gold) else "✗"


def _summarize_total(solved: Sequence[tuple[ProblemLine, Solution]], spent: Usage) -> Iterator[str]:
    answered = sum(solution.answer is not None for _, solution in solved)
    known = [is_correct(solution.answer, problem.gold) for problem, solution in solved if problem.gold is not None]
    of_known = f", {sum(known)} of {len(known)} right" if known else ""
    yield f"{count_noun(len(solved), 'problem')}: {answered} answered{of_known}; {_describe_cost(spent)}"


def _export_pairs(path: Path | None, solved: Iterable[tuple[ProblemLine, Solution]]) -> None:
    """Write the preference pairs, where they are wanted."""
    if path is None:
        return
    lines = [
        jsonlib.dumps(pair, ensure_ascii=False)
        for problem, solution in solved
        for pair in pair_attempts(solution, problem.gold)
    ]
    try:
        with path.open("x", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InputError(f"The file {str(path)!r} cannot be written ({error.strerror}); name another.") from error
    print_warning(f"{count_noun(len(lines), 'preference pair')} in {path}")
