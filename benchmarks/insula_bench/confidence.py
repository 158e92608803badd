"""`insula bench confidence`: does it know what it knows? Each kind of not-knowing by itself, on three sets."""

import asyncio
import json as jsonlib
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from insula.calibration import load_shipped
from insula.errors import InputError
from insula.memory.retrieval import embedding
from insula.metacognition import warm_up
from insula.types import Calibration
from insula_bench import confidence_figures as figures
from insula_bench import locomo, mtrag, plots, realtalk
from insula_bench import talks as own
from insula_bench.confidence_ask import Answer, Embedding, ask
from insula_bench.confidence_fit import Case, fit_calibration
from insula_bench.confidence_probes import (
    ANOTHER,
    AROUND_ERASED,
    ERASED,
    FOREIGN,
    NEVER_TOLD,
    SWAPPED,
    UNANSWERABLE,
    WRONG_DETAIL,
    World,
    chats,
    collections,
    talks,
)
from insula_bench.progress import progress

MADE = (SWAPPED, FOREIGN, AROUND_ERASED)
"""Negatives that are made from anyone's own data, without a label."""
WRITTEN = (ANOTHER, WRONG_DETAIL, NEVER_TOLD, FOREIGN, AROUND_ERASED)
"""Those of the talks of our own, with the labels that they were written with."""
FREE = {"talks": (*WRITTEN, SWAPPED), "assistant": WRITTEN, "mtrag": (UNANSWERABLE, FOREIGN)}
"""What may be fitted on for shipping: our own talks for people, and a set under Apache-2.0 for documents."""
BY_HAND = ("setting", "guidance")
"""Features that would only tell the sets apart: our own questions have no talk around them, none has a SOUL.md."""
TALKS_ALONE = ("agreement", "familiarity", "guidance")
"""Of these MTRAG says nothing: each of its passages is a session of its own, and its pools hold hundreds on a topic."""
FITTED_ON = (
    "{}; 'setting' and 'guidance' are set by hand. docs/benchmarks/confidence.md shows what they reach elsewhere."
)
PEOPLE, PAGES = "our own talks (benchmarks/insula_bench/talks, MIT)", "MTRAG (Apache-2.0)"


class Suite(NamedTuple):
    """One set: its memories, what is fitted on, and what the mixture is made of."""

    name: str
    worlds: tuple[World, ...]
    made: tuple[str, ...]
    kinds: tuple[str, ...]
    fold: figures.Of
    fewer: str | None = None
    """Why some questions are left out, or why none is."""


def run(data: str, plot: str | None, fitted: str | None, json: bool, embed: str = embedding.USE) -> int:
    """Measure what is there, print it, draw the plot, write a calibration where one is asked for."""
    of = embedding.embedding_by_name(embed)
    found = Embedding(embed, of) if of else None
    suites = list(_suites(Path(data)))
    if not suites:
        raise InputError(f"{data!r} has none of locomo/, mtrag/ and realtalk/; give the folder that holds them.")
    if fitted:
        suites = [*_free(suites), *suites]
    warm_up()
    answers = asyncio.run(_asked(suites, found))
    report: dict[str, Any] = {suite.name: measure(suite, answers[suite.name]) for suite in suites}
    _fold_in_chat(report)
    if found:
        report["embedding"] = found.report()
    if plot:
        report["plot"] = _drawn(plot, suites, answers)
    if fitted:
        report["fit"] = _write(fitted, answers)
    print(jsonlib.dumps(report, indent=2)) if json else _show(report)
    return 0


def _suites(data: Path) -> Iterable[Suite]:
    if (data / "locomo").is_dir():
        conversations = locomo.read(data / "locomo" / "locomo.json")
        wrong, why = known_wrong(data / "locomo" / "locomo_audit_errors.json")
        kinds = (ANOTHER, FOREIGN, AROUND_ERASED)
        yield Suite("locomo", tuple(talks(conversations, wrong)), MADE, kinds, figures.world, why)
        yield Suite("chat", tuple(chats(conversations, wrong)), (ANOTHER,), (ANOTHER,), figures.world, why)
    if (data / "mtrag").is_dir():
        kinds = (UNANSWERABLE, FOREIGN)
        yield Suite("mtrag", tuple(collections(mtrag.read(data / "mtrag"))), kinds, kinds, figures.task)
    if (data / "realtalk").is_dir():
        yield Suite("realtalk", tuple(talks(realtalk.read(data / "realtalk"))), MADE, MADE, figures.world)


def _free(suites: Sequence[Suite]) -> Iterable[Suite]:
    """The talks of our own, which together with MTRAG are fitted on."""
    if "mtrag" not in {suite.name for suite in suites}:
        raise InputError("There is no mtrag/ to fit on; without it, what is fitted would know nothing of documents.")
    kinds = (ANOTHER, NEVER_TOLD, FOREIGN, AROUND_ERASED)
    yield Suite("talks", tuple(talks(own.of_two())), FREE["talks"], kinds, figures.world)
    yield Suite("assistant", tuple(talks(own.with_assistant())), FREE["assistant"], kinds, figures.world)


def known_wrong(path: Path) -> tuple[frozenset[str], str]:
    """The questions whose label an audit found wrong, and a word on them."""
    if not path.exists():
        return frozenset(), f"{path.name} is not there: questions with wrong labels are in"
    try:
        wrong = frozenset(one["question"] for one in jsonlib.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(path)!r} is not the audit's file ({error}); take it away or put it back.") from error
    return wrong, f"{len(wrong)} questions of the audit are left out"


async def _asked(suites: Sequence[Suite], embed: Embedding | None) -> dict[str, list[Answer]]:
    total = sum(len(world.probes) for suite in suites for world in suite.worlds)
    found: dict[str, list[Answer]] = {}
    with progress(total, "asking") as step, tempfile.TemporaryDirectory() as folder:
        for suite in suites:
            place = Path(folder) / suite.name
            place.mkdir()
            found[suite.name] = [one for world in suite.worlds for one in await ask(world, place, step, embed)]
    return found


def measure(suite: Suite, answers: Sequence[Answer]) -> dict[str, Any]:
    """The figures of one set."""
    start = taught(suite.name)
    scores = figures.left_out(answers, start, suite.made, suite.fold)
    as_shipped = [one.shipped for one in answers]
    whole = figures.joined(answers)
    report = figures.told_apart(whole, scores, suite.kinds, suite.fold)
    for kind in (ERASED, SWAPPED, "partial", "underspecified"):
        more = figures.told_apart(whole, scores, [kind], suite.fold)
        report["kinds"] |= more.get("kinds", {})
    report["kinds"] |= figures.told_apart(answers, scores, [WRONG_DETAIL], suite.fold).get("kinds", {})
    return report | {
        **figures.evidence(answers, scores, start, suite.fold),
        "by_overlap": figures.by_overlap(answers, scores) if ANOTHER in suite.kinds else {},
        "when_high": figures.when_high(whole, scores, suite.kinds, load_shipped()),
        "baselines": figures.baselines(whole, suite.kinds, suite.fold),
        "shipped": figures.told_apart(whole, as_shipped, suite.kinds, suite.fold)
        | ({"fitted_on_these": True} if suite.name in FREE else {}),
        "ms_per_query": figures.cost(answers),
        "excluded": suite.fewer,
    }


def _fold_in_chat(report: dict[str, Any]) -> None:
    if chat := report.pop("chat", None):
        report["locomo"]["user_and_assistant"] = chat


def _drawn(path: str, suites: Sequence[Suite], answers: dict[str, list[Answer]]) -> str:
    if why := plots.missing():
        return why
    lines: dict[str, Any] = {}
    for suite in suites:
        whole = figures.joined(answers[suite.name])
        start = taught(suite.name)
        scores = figures.left_out(answers[suite.name], start, suite.made, suite.fold)
        told = figures.told_apart(whole, scores, suite.kinds, suite.fold)
        rows = figures.reliability(whole, scores, suite.kinds)
        lines[suite.name] = told | {"reliability": [(100 * mass, mean, share) for mass, mean, share in rows]}
    Path(path).write_bytes(plots.reliability("Left-out conversations", lines))
    return path


def _write(path: str, answers: dict[str, list[Answer]]) -> str:
    Path(path).write_text(jsonlib.dumps(asdict(refitted(answers)), indent=2) + "\n", "utf-8")
    return path


def refitted(answers: dict[str, list[Answer]]) -> Calibration:
    """The calibration to ship, fitted on what is free, for people and for documents; `BY_HAND` stays as it is.

    Two sets, since what tells a person's fact from another's is noise where a page is asked, and the other way round:
    fitted together, people blur.
    """
    start = load_shipped()
    talked = [case for name in ("talks", "assistant") for case in figures.cases(answers[name], FREE[name])]
    pages = figures.cases(answers["mtrag"], FREE["mtrag"])
    return replace(_fitted(start, talked, PEOPLE), documents=_fitted(taught("mtrag"), pages, PAGES))


def _fitted(start: Calibration, cases: Sequence[Case], on: str) -> Calibration:
    found = fit_calibration(cases, _without(start, BY_HAND))
    by_hand = {name: load_shipped().weights[name] for name in BY_HAND}
    return replace(
        start,
        intercept=round(found.intercept, 3),
        weights={name: round(weight, 3) for name, weight in found.weights.items()} | by_hand,
        whose_intercept=round(found.whose_intercept, 3),
        whose_weights={name: round(weight, 3) for name, weight in found.whose_weights.items()},
        fitted_on=FITTED_ON.format(on),
    )


def taught(suite: str) -> Calibration:
    """The form of what is fitted on one set alone: the shipped calibration without what the set cannot teach."""
    if suite == "mtrag":
        return replace(_without(load_shipped(), TALKS_ALONE), whose_intercept=0.0, whose_weights={}, documents=None)
    return load_shipped()


def _without(calibration: Calibration, names: Sequence[str]) -> Calibration:
    weights = {name: weight for name, weight in calibration.weights.items() if name not in names}
    return replace(calibration, weights=weights)


def _show(report: dict[str, Any]) -> None:
    table = Table("set", "kind", "AUROC", "95 %", "n", box=None, header_style="dim")
    sets = {name: report[name] for name in ("talks", "assistant", "locomo", "mtrag", "realtalk") if name in report}
    for name, part in sets.items():
        for kind in ("all", *part["kinds"]):
            area = part if kind == "all" else part["kinds"][kind]
            low, high = area["interval"]
            table.add_row(name, kind.replace("_", " "), f"{area['auroc']:.3f}", f"{low:.3f}–{high:.3f}", str(area["n"]))
    console = Console()
    console.print(table)
    for name, part in sets.items():
        console.print(
            f"{name}: ECE {part['ece']:.3f}, Brier skill {part['brier_skill']:.3f}, evidence among the first five "
            f"{part['recall_at_5']:.3f} (BM25 {part['bm25_recall_at_5']:.3f}), with the shipped coefficients AUROC "
            f"{part['shipped']['auroc']:.3f}, confidence {part['ms_per_query']['confidence']:.2f} ms"
        )
    if found := report.get("embedding"):
        console.print(f"embedding: {found['name']}, {found['ms']} ms")
    for name in ("plot", "fit"):
        if name in report:
            console.print(f"{name}: {report[name]}")
