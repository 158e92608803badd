"""`insula bench help`: ask what is missing, and print the figures."""

import json as jsonlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rich.console import Console

from insula import settings
from insula.errors import InputError
from insula_bench.help import answer, gate, memory, ruled, share, step, untold, wishes
from insula_bench.help.asking import TOKENS, Key, Reply, Request, Terms, kept, replies
from insula_bench.help.figures import Figures, Outcome, compared, show
from insula_bench.help.spread import spread

T = TypeVar("T")
FIGURES = "figures-{part}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says."""

    part: str
    out: str
    model: str | None
    arms: str | None
    sources: str
    data: str | None
    half: str
    conversations: int
    questions: int
    together: int
    limit: int | None
    parallel: int
    seeds: int
    turns: int
    show: int
    json: bool


Judge = Callable[[Mapping[Key, Reply]], list[Outcome]]
"""From the replies of a part to what became of each item."""


class Experiment(NamedTuple):
    """One part, ready to be asked and judged."""

    name: str
    arms: Sequence[str]
    marks: Sequence[str]
    base: str
    requests: Sequence[Request]
    judge: Judge
    again: Callable[[Mapping[Key, Reply]], Sequence[Request]] | None = None
    """What is asked once the replies are there."""
    share: Callable[[Mapping[Key, Reply]], Figures] | None = None
    """What the likelihood adds to the verdict."""
    tokens: int = TOKENS
    """Tokens of a reply."""


def run(options: Options) -> int:
    """Ask what is not answered yet, print the figures, and return the exit code: 1 where a reply failed.

    Raises:
        InputError: an option names what there is not.
        ModelError: the model cannot be used.
    """
    if options.part not in PARTS:
        raise InputError(f"There is no part {options.part!r}; name one of {', '.join(PARTS)}.")
    out, model = Path(options.out), options.model or settings.load_settings().model
    if options.part == gate.PART:
        return gate.run(out)
    if options.part == answer.PART:
        return _answer(options, out, model)
    if options.part == step.PART:
        return _step(options, out, model)
    part = EXPERIMENTS[options.part](options)
    terms = Terms(model=model, out=out, parallel=options.parallel, tokens=part.tokens)
    held = kept(out) if options.limit == 0 else _asked(part, terms)
    outcomes = part.judge(held)
    measured = compared(outcomes, part.marks, base=part.base)
    figures: Figures = {"part": part.name, "model": model, "half": options.half, "sources": measured}
    figures |= {"likelihood": part.share(held)} if part.share else {}
    _write(figures, out)
    if options.json:
        print(jsonlib.dumps(figures, indent=1))
    else:
        show(measured, part.marks, part.base)
        if part.share:
            share.show("the verdict on replies told of memory", figures["likelihood"])
        _side_by_side(part, outcomes, options.show)
    return int(any(one.reply["error"] for one in outcomes))


def _asked(part: Experiment, terms: Terms) -> dict[Key, Reply]:
    held = replies(part.requests, terms)
    return held | replies(part.again(held), terms) if part.again else held


def _answer(options: Options, out: Path, model: str) -> int:
    """The part that has no arms: what is told of one reply, beside what costs more calls."""
    if options.limit == 0:
        measured = answer.figures(answer.kept(answer.items(options.half), kept(out)))
        return _told(measured, out, model, options)
    found = spread(answer.items(options.half), options.limit)
    terms = Terms(model=model, out=out, parallel=options.parallel, tokens=answer.TOKENS, keep_logprobs=True)
    return _told(answer.figures(answer.measure(found, terms)), out, model, options)


def _told(measured: Figures, out: Path, model: str, options: Options) -> int:
    figures: Figures = {"part": answer.PART, "model": model, "half": options.half, "kinds": measured}
    _write(figures, out)
    print(jsonlib.dumps(figures, indent=1)) if options.json else answer.show(measured)
    return 0


def _step(options: Options, out: Path, model: str) -> int:
    """The part whose items are whole runs of an agent."""
    terms = step.Terms(
        model=model, out=out, half=options.half, seeds=options.seeds, turns=options.turns, limit=options.limit,
        parallel=options.parallel,
    )  # fmt: skip
    records = step.measure(terms)
    measured = step.figures(records)
    _write({"part": step.PART, "model": model, "half": options.half, **measured}, out)
    print(jsonlib.dumps(measured, indent=1)) if options.json else step.show(measured, records, options.show)
    return 0


def _write(figures: Figures, out: Path) -> None:
    (out / FIGURES.format(part=figures["part"])).write_text(jsonlib.dumps(figures, indent=1) + "\n", "utf-8")


def _memory(options: Options) -> Experiment:
    arms = options.arms.split(",") if options.arms else list(memory.ARMS)
    data = Path(options.data) if options.data else None
    worlds = memory.worlds(data, options.sources.split(","), options.half, options.conversations, options.questions)
    worlds = _wanted(worlds, options, lambda world: {case.id for case in world.cases})
    return Experiment(
        memory.PART,
        arms,
        memory.MARKS,
        memory.OURS,
        memory.requests(worlds, arms),
        partial(memory.outcomes, worlds, arms),
        partial(memory.again, worlds) if memory.RETRY in arms else None,
        partial(memory.shared, worlds) if memory.OURS in arms else None,
    )


def _wishes(options: Options) -> Experiment:
    arms = options.arms.split(",") if options.arms else list(wishes.ARMS)
    groups = wishes.groups(wishes.wishes(options.half), options.together)
    told = _wanted(groups, options, lambda group: {f"{wishes.name(group)} {n}" for n in range(options.questions)})
    return _make_experiment(wishes, wishes.asked(told, options.questions), arms, TOKENS)


def _untold(options: Options) -> Experiment:
    arms = options.arms.split(",") if options.arms else untold.arms()
    found = _wanted(untold.items(), options, lambda item: {item.id})
    return _make_experiment(untold, found, arms, untold.TOKENS)


def _ruled(options: Options) -> Experiment:
    arms = options.arms.split(",") if options.arms else list(ruled.ARMS)
    found = _wanted(ruled.dialogues(), options, lambda one: {one.id})
    return _make_experiment(ruled, found, arms, ruled.TOKENS)


def _make_experiment(part: Any, items: Sequence[object], arms: Sequence[str], tokens: int) -> Experiment:
    """The experiment of a module whose items are each asked once."""
    requests, judge = part.requests(items, arms), partial(part.outcomes, items, arms)
    return Experiment(part.PART, arms, part.MARKS, part.OURS, requests, judge, tokens=tokens)


def _wanted(found: Sequence[T], options: Options, items: Callable[[T], set[str]]) -> list[T]:
    """What is to be asked; where nothing is, what has a reply, for there is no use in composing the rest."""
    if options.limit != 0:
        return spread(found, options.limit)
    answered = {item for _, item, _, _ in kept(Path(options.out))}
    return [one for one in found if items(one) & answered]


EXPERIMENTS: Mapping[str, Callable[[Options], Experiment]] = {
    memory.PART: _memory,
    wishes.PART: _wishes,
    untold.PART: _untold,
    ruled.PART: _ruled,
}
PARTS = (*EXPERIMENTS, answer.PART, step.PART, gate.PART)


def _side_by_side(part: Experiment, outcomes: Sequence[Outcome], count: int) -> None:
    console = Console()
    asked = {(one.item, one.arm): one.prompt for one in part.requests}
    for item in list(dict.fromkeys(one.item for one in outcomes))[:count]:
        mine = [one for one in outcomes if one.item == item]
        console.print(f"\n[bold]{item}[/bold]  {asked[item, mine[0].arm].prompt}", highlight=False)
        for one in mine:
            marks = ", ".join(mark.replace("_", " ") for mark, held in one.marks.items() if held) or "–"
            console.print(f"  {one.arm:<12} [dim]{marks}[/dim]  {one.reply['text']!r}", highlight=False)
