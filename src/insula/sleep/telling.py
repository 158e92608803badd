"""A night in words: one renderer for the terminal and the page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from insula.sleep.cycle import END, Json, PhaseReport, State
from insula.sleep.names import PhaseName
from insula.sleep.phases import (
    calibration,
    consolidation,
    file,
    lessons,
    mistakes,
    reflection,
    soul,
    statements,
    summaries,
    trends,
)

TITLES: Mapping[PhaseName, str] = {
    PhaseName.SUMMARIES: "Summed up",
    PhaseName.CONSOLIDATION: "Tidied memory",
    PhaseName.STATEMENTS: "Completed facts",
    PhaseName.MISTAKES: "Looked at mistakes",
    PhaseName.REFLECTION: "Reflected",
    PhaseName.LESSONS: "Weighed lessons",
    PhaseName.SOUL: "Wrote guidelines",
    PhaseName.FILE: "Saved SOUL.md",
    PhaseName.CALIBRATION: "Checked how sure to be",
    PhaseName.TRENDS: "Is quality rising?",
    PhaseName.END: "Ended",
}
ELSEWHERE = "A phase of another version of Insula."
BEFORE = "done before, in this same night"
DONE = "done"


class Told(NamedTuple):
    """One phase of a night, as a person reads it."""

    name: str
    title: str
    state: State
    said: str
    found: tuple[str, ...] = ()
    """What was learned or changed, each in a line."""

    @property
    def failed(self) -> bool:
        """Whether it has to be done again."""
        return self.state == "failed"


def told(phase: PhaseReport) -> Told:
    """How a phase went; of a report that another version wrote, as much as is understood."""
    why = BEFORE if phase.state == "before" else phase.why
    try:
        said, *more = [why] if why or not phase.found else list(_TOLD[phase.name](phase.found))
    except (KeyError, TypeError, ValueError, AttributeError):
        said, more = DONE, []
    return Told(phase.name, TITLES[phase.name], phase.state, said or DONE, tuple(more))


def journalled(name: str, found: Json) -> Told:
    """A phase as the journal holds it; one that this version does not have is named, and said to be another's."""
    if name not in TITLES:
        return Told(name, name, "done", ELSEWHERE)
    return told(PhaseReport(name=PhaseName(name), state="done", found=found))


def ordered(phases: Iterable[Told]) -> list[Told]:
    """Phases in the order of a night, those of another version last; its end is none."""
    order = list(TITLES)
    shown = (one for one in phases if one.name != END)
    return sorted(shown, key=lambda one: order.index(PhaseName(one.name)) if one.name in TITLES else len(order))


def _summaries(found: Json) -> Iterator[str]:
    report = cast(summaries.Report, found)
    made = report["summarised"]
    how = ", ".join(f"{number} {by}" for by, number in made.items() if number)
    yield f"{_many(sum(made.values()), 'conversation')}: {how or 'none'}"


def _consolidation(found: Json) -> Iterator[str]:
    report = cast(consolidation.Report, found)
    yield f"{len(report['merged'])} merged, {len(report['forgotten'])} forgotten, of {report['looked_at']}"


def _statements(found: Json) -> Iterator[str]:
    report = cast(statements.Report, found)
    refused = sum(report["refused"].values())
    yield f"{_many(len(report['completed']), 'line')} of {report['lines']} completed, {refused} refused"


def _mistakes(found: Json) -> Iterator[str]:
    report = cast(mistakes.Report, found)
    kinds = ", ".join(f"{count} {kind}" for kind, count in report["mistakes"].items())
    yield f"{_many(report['sessions'], 'conversation')}: {kinds or 'none'}; {report['quarantined']} refused"
    for one in (*report["lessons"], *report.get("wishes", ())):
        yield f"{one['advice']} (from memories {_list(one.get('memories', ()))})"


def _reflection(found: Json) -> Iterator[str]:
    report = cast(reflection.Report, found)
    how = "by a model" if report["by"] == "model" else report["by"]
    revised = len(report.get("operations", ()))
    more = f", {revised} revised" if revised else ""
    yield f"{_many(report['insights'], 'insight')}, {_many(len(report['candidates']), 'principle')}{more}, {how}"
    yield from (f"{one['advice']} (sessions {_list(one['sessions'])})" for one in report["candidates"])


def _lessons(found: Json) -> Iterator[str]:
    report = cast(lessons.Report, found)
    kinds = ", ".join(_many(count, kind) for kind, count in report.get("counted", {}).items())
    standing = report.get("lessons", [])
    yield f"{_many(len(standing), 'lesson')}: {kinds or 'nothing new'}"
    yield from (f"lesson {one['id']}: {one['state']}, {_effect(one['effect'])}" for one in standing)
    yield from (f"insight {one['id']}: {one['verdict']}" for one in report.get("insights", ()))


def _effect(effect: lessons.Effect | str) -> str:
    """What a lesson is known to do: the verdict, with the difference and its interval where they are known."""
    if isinstance(effect, str):
        return effect
    return f"{effect['verdict']}: {effect['estimate']:+.2f} [{effect['low']:+.2f}, {effect['high']:+.2f}]"


def _soul(found: Json) -> Iterator[str]:
    report = cast(soul.Report, found)
    waits = "; one waits for your word" if report["waiting"] else ""
    yield _many(len(report["changes"]), "change") + waits
    yield from (f"{change['kind']}: {change['text'] or change['before']}" for change in report["changes"])


def _file(found: Json) -> Iterator[str]:
    report = cast(file.Report, found)
    yield "SOUL.md is written" if report["written"] else "the file holds everything already"


def _calibration(found: Json) -> Iterator[str]:
    report = cast(calibration.Report, found)
    sure = f"; confidence is high from {report['high']:.2f} on" if "high" in report else ""
    yield f"{_many(report['right'], 'answer')} held, {report['wrong']} did not{sure}"


def _trends(found: Json) -> Iterator[str]:
    report = cast(trends.Report, found)
    low, high = report["interval"]
    yield f"{report['verdict']}: {report['per_30_days']:+.3f} in 30 days [{low}, {high}]"


_TOLD: Mapping[PhaseName, Callable[[Any], Iterator[str]]] = {
    PhaseName.SUMMARIES: _summaries,
    PhaseName.CONSOLIDATION: _consolidation,
    PhaseName.STATEMENTS: _statements,
    PhaseName.MISTAKES: _mistakes,
    PhaseName.REFLECTION: _reflection,
    PhaseName.LESSONS: _lessons,
    PhaseName.SOUL: _soul,
    PhaseName.FILE: _file,
    PhaseName.CALIBRATION: _calibration,
    PhaseName.TRENDS: _trends,
}


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _list(numbers: Sequence[object]) -> str:
    return ", ".join(map(str, numbers))
