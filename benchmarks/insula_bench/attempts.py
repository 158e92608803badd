"""`insula bench attempts`: what tells right attempts from wrong ones, and how sure to be, from lines that are kept.

No model is asked. Signals are compared within problems, where some attempts are right and others wrong: there alone a
better choice could be made. Each is an AUROC of the pairs of a problem, averaged over the problems.
"""

import json as jsonlib
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula_bench.arms import Record, latest
from insula_bench.gsm8k import REPLIES, RESULTS
from insula_bench.gsm8k_figures import OURS, confidences, rounded
from insula_bench.gsm8k_report import WIDTH
from insula_bench.lines import kept
from insula_bench.replays import halves, program_of, replays, text_of, texts_of
from insula_bench.statistics import auroc, mean_interval
from insula_solve.answers import find_answer, is_correct
from insula_solve.baselines import AGREED

Figures = dict[str, Any]
Signal = Callable[[Record], float | None]

COOL, WARM = "self_verification", "self_consistency"
SHIFTS = (0.0, 0.25, 0.5, 0.75)
"""Added to the log-odds of the confidence that was recorded."""


def _likelihood(name: str) -> Signal:
    def told(attempt: Record) -> float | None:
        known: Record = attempt["likelihood"] or {}
        return known.get(name)

    return told


SIGNALS: Mapping[str, Signal] = {
    "likelihood, mean": _likelihood("mean"),
    "likelihood, lowest": _likelihood("lowest"),
    "likelihood of the answer": _likelihood("answer"),
    "equations that do not hold": lambda attempt: -attempt["wrong_equations"],
    "equations": lambda attempt: attempt["equations"],
}


def run(out: str, json: bool) -> int:
    """Print what the attempts of a folder of results say; returns the exit code."""
    records, _ = kept(Path(out) / RESULTS)
    lines = [one for one in latest(records) if one["attempts"]]
    if not any(one["arm"] == OURS for one in lines):
        raise InputError(f"There is no line of {OURS!r} in {out!r}; name a folder of `insula bench gsm8k`.")
    found = figures(lines, _replies(Path(out)))
    print(jsonlib.dumps(found, indent=2)) if json else _show(found)
    return 0


def _replies(out: Path) -> list[Record]:
    """What the model wrote, where that is kept."""
    is_there = any((out / name).exists() for name in (REPLIES, f"{REPLIES}.xz"))
    return kept(out / REPLIES)[0] if is_there else []


def figures(records: Sequence[Record], replies: Sequence[Record] = ()) -> Figures:
    """What can be told of the attempts, of the choice among them, and of the confidence in it."""
    ours = [one for one in records if one["arm"] == OURS]
    return {
        "choice": choice(ours),
        "kinds": kinds(ours),
        "signals": {kind: signals(records, kind) for kind in ("chain", "strategy")},
        "programs": programs(records, replies),
        "replays": replays(records, replies),
        "halves": halves(records, replies),
        "temperatures": temperatures(records),
        "shifts": {str(shift): _shifted(ours, shift) for shift in SHIFTS},
    }


def choice(ours: Sequence[Record]) -> Figures:
    """How often the right answer was given, how often it stood among the attempts, and what would have given it."""
    undecided = [one for one in ours if one["ending"] == "done"]
    lost = [one for one in ours if not one["correct"] and _is_among(one)]
    return {
        "n": len(ours),
        "right": sum(one["correct"] for one in ours),
        "majority": sum(_majority(one) for one in ours),
        "among_attempts": sum(_is_among(one) for one in ours),
        "lost": len(lost),
        "lost_by_kind": dict(Counter(each["kind"] for one in lost for each in one["attempts"] if each["correct"])),
        "undecided": {
            "n": len(undecided),
            "right": sum(one["correct"] for one in undecided),
            "among_attempts": sum(_is_among(one) for one in undecided),
        },
    }


def _is_among(record: Record) -> bool:
    """Whether one of the attempts is right."""
    return any(each["correct"] for each in record["attempts"])


def _majority(record: Record) -> bool:
    """Whether the answer of most attempts, the earliest of several, is right."""
    given = {each["answer"]: each["correct"] for each in record["attempts"] if each["answer"] is not None}
    votes = Counter(each["answer"] for each in record["attempts"] if each["answer"] is not None)
    return bool(votes) and given[votes.most_common(1)[0][0]]


def kinds(ours: Sequence[Record]) -> Figures:
    """How often each kind is right on the problems that took a strategy, where the first two attempts did not agree."""
    hard = [one for one in ours if any(each["kind"] == "strategy" for each in one["attempts"])]
    found: dict[str, list[bool]] = defaultdict(list)
    for one in hard:
        for number, each in enumerate(one["attempts"]):
            found["first chain" if number == 0 else each["kind"]].append(each["correct"])
    return {kind: {"n": len(right), "right": rounded(mean(right))} for kind, right in found.items()}


def temperatures(records: Sequence[Record]) -> Figures:
    """Five chains at 0.3 (of Self-Verification) and five of the common series, the first at 0 and four at 0.7.

    On the problems that have both: how many of the sampled ones are right, how many votes of two, four and five are and
    the chains that they take, and in how many problems a chain is right.
    """
    lines = {arm: {one["problem"]: one for one in records if one["arm"] == arm} for arm in (COOL, WARM)}
    problems = sorted(lines[COOL].keys() & lines[WARM].keys())
    found: Figures = {"problems": len(problems)}
    for arm, first in ((COOL, 0), (WARM, 1)):
        chains = [[each for each in lines[arm][one]["attempts"] if each["kind"] == "chain"] for one in problems]
        votes = [_vote(each) for each in chains]
        found[arm] = {
            "sampled": sum(len(each[first:]) for each in chains),
            "right": sum(one["correct"] for each in chains for one in each[first:]),
            "votes": sum(correct for correct, _ in votes),
            "chains": rounded(mean(asked for _, asked in votes), 2) if votes else None,
            "among": sum(any(one["correct"] for one in each) for each in chains),
        }
    return found


def _vote(chains: Sequence[Record]) -> tuple[bool, int]:
    """Whether the answer of most chains is right when three quarters agree, and how many that took."""
    asked, best = 0, ""
    for asked in (2, 4, len(chains)):
        votes = Counter(one["answer"] for one in chains[:asked] if one["answer"] is not None).most_common(1)
        best, most = votes[0] if votes else ("", 0)
        if most >= AGREED * asked:
            break
    return any(one["correct"] for one in chains if one["answer"] == best), asked


def programs(records: Sequence[Record], replies: Sequence[Record]) -> Figures:
    """Chains that hold a program and no equation: right as they state it, and as the program comes to.

    A reply that several methods share counts once. Where replies are not kept, there is none.
    """
    texts = texts_of(replies)
    found: dict[str, tuple[bool, bool]] = {}
    for record in records:
        for each in record["attempts"]:
            if (value := program_of(each, texts)) is not None:
                said = find_answer(text_of(each, texts))
                right = [is_correct(one.value if one else None, record["gold"]) for one in (said, value)]
                found[jsonlib.dumps(each["likelihood"])] = right[0], right[1]
    told = list(found.values())
    return {
        "n": len(told),
        "stated_right": sum(stated for stated, _ in told),
        "computed_right": sum(right for _, right in told),
        "only_stated": sum(stated and not right for stated, right in told),
        "only_computed": sum(right and not stated for stated, right in told),
    }


def signals(records: Sequence[Record], kind: str) -> Figures:
    """Each signal's AUROC within problems, over all methods; a reply that several methods share counts once."""
    attempts: dict[int, dict[str, Record]] = defaultdict(dict)
    for record in records:
        for each in record["attempts"]:
            if each["kind"] == kind and each["answer"] is not None:
                attempts[record["problem"]][jsonlib.dumps([each["answer"], each["likelihood"]])] = each
    return {name: told for name, of in SIGNALS.items() if (told := _within(list(attempts.values()), of))}


def _within(problems: Sequence[Mapping[str, Record]], of: Signal) -> Figures | None:
    areas: list[float] = []
    for problem in problems:
        told = [(value, each["correct"]) for each in problem.values() if (value := of(each)) is not None]
        right, wrong = ([value for value, correct in told if correct is which] for which in (True, False))
        if right and wrong:
            areas.append(auroc(right, wrong))
    if not areas:
        return None
    return {"problems": len(areas), "auroc": rounded(mean(areas)), "interval": [*map(rounded, mean_interval(areas))]}


def _shifted(ours: Sequence[Record], shift: float) -> Figures:
    """How well calibrated the recorded confidence is with something added to its log-odds."""

    def moved(one: Record) -> Record:
        sure = one["confidences"]["combined"]
        return {**one, "confidences": {"combined": sure / (sure + (1 - sure) * math.exp(-shift))}}

    told = confidences([moved(one) for one in ours if "combined" in one["confidences"]])["combined"]
    return {name: told[name] for name in ("n", "right", "auroc", "ece", "mean", "surer_half")}


def _show(found: Figures) -> None:
    console = Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False)
    chosen = found["choice"]
    console.print(
        f"Of {chosen['n']} problems {chosen['right']} are right, {chosen['majority']} by a plain majority of the same "
        f"attempts; the right answer is among the attempts in {chosen['among_attempts']}."
    )
    undecided = chosen["undecided"]
    console.print(
        f"In {undecided['n']} no two attempts settled it: {undecided['right']} are right, and a right attempt is "
        f"there in {undecided['among_attempts']}."
    )
    kinds_of = ", ".join(f"{count} by {kind}" for kind, count in chosen["lost_by_kind"].items())
    console.print(f"In {chosen['lost']} a right attempt was not followed ({kinds_of}).")
    console.print("\nWhere the first two did not agree")
    console.print(
        _table(
            ("kind", "attempts", "right"), [(k, str(v["n"]), f"{v['right']:.3f}") for k, v in found["kinds"].items()]
        )
    )
    console.print("\nRight against wrong attempts at one problem")
    rows = [
        (kind, name, str(one["problems"]), f"{one['auroc']:.3f} [{one['interval'][0]:.3f}, {one['interval'][1]:.3f}]")
        for kind, told in found["signals"].items()
        for name, one in told.items()
    ]
    console.print(_table(("kind", "signal", "problems", "AUROC, 95 %"), rows))
    if (held := found["programs"])["n"]:
        console.print(
            f"\nIn {held['n']} chains there is a program and no equation. By what they say that it prints "
            f"{held['stated_right']} are right, by what it comes to {held['computed_right']} "
            f"(only the one {held['only_stated']}, only the other {held['only_computed']})."
        )
    console.print("\nThe same attempts, decided by other rules")
    console.print(_table(_HEAD, [_row(one) for one in found["replays"]]))
    console.print("\nChosen on one half of the problems, counted on the other, beside adaptive self-consistency")
    console.print(
        _table(
            ("chosen on", "rule", "right", "its right", "tokens", "its tokens", "points", "tokens over it"),
            [_half(one) for one in found["halves"]],
        )
    )
    if (cool := found["temperatures"])["problems"]:
        console.print(f"\nFive chains each at {cool['problems']} problems, at 0.3 and at 0 and 0.7")
        console.print(
            _table(
                ("", "sampled", "right", "votes right", "of chains", "right among"),
                [(arm, *map(str, cool[arm].values())) for arm in (COOL, WARM)],
            )
        )
    console.print("\nThe confidence, with something added to its log-odds")
    shifts = [(k, f"{v['auroc']:.3f}", f"{v['ece']:.3f}", f"{v['mean']:.2f}") for k, v in found["shifts"].items()]
    console.print(_table(("added", "AUROC", "ECE", "mean"), shifts))


_HEAD = (
    *("rule", "right", "attempts", "tokens", "cut short", "only it", "only as was"),
    *("points over adaptive", "tokens over adaptive", "AUROC", "ECE", "surer half"),
)


def _row(one: Figures) -> tuple[str, ...]:
    beside = one["adaptive"]
    names = ("rule", "right", "attempts", "tokens", "cut_short", "only_it", "only_as_was")
    sure = (_cell(one[name], ".3f") for name in ("auroc", "ece", "surer_half"))
    points = _gap(beside["difference"], beside["interval"], 100, "+.1f")
    return (
        *(str(one[name]) for name in names),
        points,
        _gap(beside["tokens_difference"], beside["tokens_interval"], 1, "+.0f"),
        *sure,
    )


def _half(one: Figures) -> tuple[str, ...]:
    return (
        *(one["chosen_on"], one["rule"], f"{one['right']} of {one['n']}", str(one["adaptive_right"])),
        *(f"{tokens:.0f}" for tokens in one["tokens"]),
        _gap(one["difference"], one["interval"], 100, "+.1f"),
        _gap(one["tokens_difference"], one["tokens_interval"], 1, "+.0f"),
    )


def _gap(value: float | None, ends: Sequence[float] | None, times: int, form: str) -> str:
    if value is None or ends is None:
        return "–"
    low, high = (format(times * end, form) for end in ends)
    return f"{format(times * value, form)} [{low}, {high}]"


def _cell(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(*head, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table
