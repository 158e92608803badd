"""A night in words: one renderer for the terminal and the page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from insula.claims import quote
from insula.guidance import UNKNOWN
from insula.memory.storage.rows import name_of
from insula.night.cycle import END, Json, PhaseReport, State
from insula.night.effects import Weighed
from insula.night.names import PhaseName
from insula.night.phases import (
    calibration,
    consolidation,
    file,
    lessons,
    mistakes,
    reflection,
    soul,
    statements,
    trends,
)

TITLES: Mapping[PhaseName, str] = {
    PhaseName.SUMMARIES: "Summed up",
    PhaseName.CONSOLIDATION: "Tidied memory",
    PhaseName.STATEMENTS: "Read what you said",
    PhaseName.MISTAKES: "Looked for mistakes",
    PhaseName.WISHES: "Compared wishes",
    PhaseName.REFLECTION: "Reflected",
    PhaseName.LESSONS: "Weighed what it learned",
    PhaseName.SOUL: "Wrote guidelines",
    PhaseName.FILE: "Saved SOUL.md",
    PhaseName.CALIBRATION: "Checked how sure to be",
    PhaseName.TRENDS: "Asked whether answers get better",
    PhaseName.END: "Ended",
}
ELSEWHERE = "A phase of another version of Insula."
BEFORE = "done before, in this same night"
DONE = "done"
NOTHING = "Nothing new was learned."
"""What a night says that has nothing to say."""
STATES = {
    "proposed": "noticed, not told yet",
    "active": "told",
    "accepted": "told",
    "retired": "told no more, since it does not help",
    "pinned": "pinned by you",
    "muted": "muted by you",
    "pruned": "told no more: forgotten",
    "your wish": "of your own wishes",
}
"""How a lesson stands, as a person reads it; the same on every page."""
MONTH_SCALE = 1.0
"""Scores lie between 0 and 1: where the line of a few days leads beyond that in a month, no month is spoken of."""


class Measured(NamedTuple):
    """An effect with the interval that holds it with 95 % probability: what it changes of a share, from -1 to 1."""

    what: str
    verdict: str
    estimate: float
    low: float
    high: float

    def figures(self) -> str:
        """The effect and its interval, in points of a hundred."""
        return f"{100 * self.estimate:+.0f} points, between {100 * self.low:+.0f} and {100 * self.high:+.0f} (95 %)"

    def said(self) -> str:
        """All of it, in a line."""
        return f"{self.what}: {self.verdict}, {self.figures()}"


class Told(NamedTuple):
    """One phase of a night, as a person reads it; what it says is the claim `night.NAME` of the register."""

    name: str
    title: str
    state: State
    said: str
    found: tuple[str, ...] = ()
    """What was learned or changed, each in a line."""
    measured: tuple[Measured, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it has to be done again."""
        return self.state == "failed"

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing that a person should hear of it."""
        skipped = self.state in ("skipped", "before") and self.name != PhaseName.SOUL
        return not self.failed and (skipped or (self.said == DONE and not (self.found or self.measured)))


Names = Mapping[str, str]
"""What is meant by `lesson 3` and `insight 7`, in its own words, where they are known."""


def told(phase: PhaseReport, names: Names | None = None) -> Told:
    """How a phase went; of a report that another version wrote, as much as is understood."""
    why = BEFORE if phase.state == "before" else phase.why
    measured: tuple[Measured, ...] = ()
    try:
        said, *more = [why] if why or not phase.found else _lines(phase.name, phase.found)
        measured = tuple(_measured(phase, names or {})) if phase.found and not why else ()
    except (KeyError, TypeError, ValueError, AttributeError):
        said, more = DONE, []
    return Told(phase.name, TITLES[phase.name], phase.state, said or DONE, tuple(more), measured)


def _lines(name: PhaseName, found: Json) -> list[str]:
    """What a phase says, each line a claim of the register."""
    return [quote(f"night.{name}", line).text for line in _TOLD[name](found)]


def journalled(name: str, found: Json, names: Names | None = None) -> Told:
    """A phase as the journal holds it; one that this version does not have is named, and said to be another's."""
    if name not in TITLES:
        return Told(name, name, "done", ELSEWHERE)
    return told(PhaseReport(name=PhaseName(name), state="done", found=found), names)


def ordered(phases: Iterable[Told]) -> list[Told]:
    """Phases in the order of a night, those of another version last; its end is none."""
    order = list(TITLES)
    shown = (one for one in phases if one.name != END)
    return sorted(shown, key=lambda one: order.index(PhaseName(one.name)) if one.name in TITLES else len(order))


def _summaries(_: Json) -> Iterator[str]:
    """What was talked about is in short now; nobody needs to hear of it."""
    yield ""


def _consolidation(found: Json) -> Iterator[str]:
    """What was let go; that the same was said twice is no news."""
    gone = len(cast(consolidation.Report, found)["forgotten"])
    said = f"{_many(gone, 'memory')}, old and never used again, {'was' if gone == 1 else 'were'} let go"
    yield _sentence([said]) if gone else ""


def _statements(found: Json) -> Iterator[str]:
    report = cast(statements.Done, found)
    understood, refused = report.get("understood", []), sum(report.get("refused", {}).values())
    ended, wishes = len(report.get("ended", [])), report.get("wishes", 0)
    parts = [
        f"in {_many(len(understood), 'line')} of yours the model found facts" if understood else "",
        f"{_many(ended, 'fact')} {'is' if ended == 1 else 'are'} over" if ended else "",
        f"{_many(wishes, 'preference')} of yours changed" if wishes else "",
        f"{_many(refused, 'claim')} of the model refused" if refused else "",
    ]
    yield _sentence(parts)


def _mistakes(found: Json) -> Iterator[str]:
    report = cast(mistakes.Report, found)
    told = [one for one in report["lessons"] if one.get("told", True)]
    wishes, refused = report.get("wishes", []), report["quarantined"]
    parts = [
        f"{_many(len(told), 'lesson')} from now on" if told else "",
        f"{len(wishes)} new wish{'' if len(wishes) == 1 else 'es'} of yours" if wishes else "",
        f"from {_many(refused, 'text')} nothing is learned, since they give orders" if refused else "",
    ]
    yield _sentence(parts)
    yield from (f"From now on: {one['advice']}{_from(one)}" for one in told)
    yield from (f"You wish: {one['advice']}{_from(one)}" for one in wishes)


def _sentence(parts: Iterable[str]) -> str:
    said = "; ".join(part for part in parts if part)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _from(one: mistakes.Learned | mistakes.Wished) -> str:
    """The memories that somebody who wants it gone would erase."""
    numbers = one.get("memories", ())
    return f" (from {'memory' if len(numbers) == 1 else 'memories'} {', '.join(map(str, numbers))})" if numbers else ""


def _reflection(found: Json) -> Iterator[str]:
    report = cast(reflection.Report, found)
    revised = len(report.get("operations", ()))
    parts = [
        f"understood {_many(report['insights'], 'new thing')}" if report["insights"] else "",
        f"has {_many(len(report['candidates']), 'principle')} to propose" if report["candidates"] else "",
        f"put {_many(revised, 'guideline')} in other words, or out" if revised else "",
    ]
    said = _sentence(parts)
    yield f"{said[:-1]}, with the model." if said and report["by"] == "model" else said
    yield from report.get("understood", ())
    yield from (f"{one['advice']} (from {_many(len(one['sessions']), 'conversation')})" for one in report["candidates"])


def _lessons(found: Json) -> Iterator[str]:
    ended = cast(lessons.Report, found).get("ended", [])
    yield f"{_many(len(ended), 'lesson')} {'is' if len(ended) == 1 else 'are'} told no more." if ended else ""
    yield from (f"{STATES[one['state']].capitalize()}: {one['advice']}" for one in ended)


def _measured(phase: PhaseReport, names: Names) -> Iterator[Measured]:
    """The effects that a phase found, with their intervals."""
    if phase.name == PhaseName.LESSONS:
        report = cast(lessons.Report, phase.found)
        news = report.get("news")
        for lesson in report.get("lessons", ()):
            name, effect = name_of(lesson["key"], ""), lesson["effect"]
            if not isinstance(effect, str) and _is_news(name, effect, news):
                yield _effect(names.get(name, f"lesson {name}"), effect)
        for insight in report.get("insights", ()):
            name = f"insight {insight['id']}"
            if _is_news(name, insight, news):
                yield _effect(names.get(name, name), insight)
    if phase.name == PhaseName.TRENDS:
        yield from _trend(cast(trends.Report, phase.found))


def _is_news(name: str, effect: lessons.Effect | Weighed, news: Sequence[str] | None) -> bool:
    """Whether an effect is told: it is known, and was not before; of a report without that, whether it is known."""
    return effect["verdict"] != UNKNOWN if news is None else name in news


def _effect(what: str, one: lessons.Effect | Weighed) -> Measured:
    return Measured(what, one["verdict"], one["estimate"], one["low"], one["high"])


def _trend(report: trends.Report) -> Iterator[Measured]:
    low, high = report["interval"]
    is_near = low is not None and high is not None and low >= -MONTH_SCALE and high <= MONTH_SCALE
    if report.get("news") and is_near and low is not None and high is not None:
        yield Measured("how good answers are, in 30 days", report["verdict"], report["per_30_days"], low, high)


def _soul(found: Json) -> Iterator[str]:
    report = cast(soul.Report, found)
    waits = " One waits for your word." if report["waiting"] else ""
    changes = len(report["changes"])
    yield f"{_many(changes, 'change')}.{waits}" if changes or waits else ""
    yield from (f"{change['kind'].capitalize()}: {change['text'] or change['before']}" for change in report["changes"])


def _file(found: Json) -> Iterator[str]:
    report = cast(file.Report, found)
    yield "SOUL.md is written." if report["written"] else ""


def _calibration(found: Json) -> Iterator[str]:
    report = cast(calibration.Report, found)
    if not (report["right"] or report["wrong"]):
        yield ""
        return
    said = f"What memory said held for {_many(report['right'], 'answer')}, and did not for {report['wrong']}."
    yield f"{said} From {100 * report['high']:.0f} % on it is now sure." if "high" in report else said


def _trends(found: Json) -> Iterator[str]:
    report = cast(trends.Report, found)
    if not report.get("news"):
        return
    earlier, later = report["earlier"], report["later"]
    yield (
        f"Answers get {'better' if report['verdict'] == 'rising' else 'worse'}: of the latest {later['answers']}, "
        f"{later['short']} fell short, and {earlier['short']} of the {earlier['answers']} before."
    )


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


NEWS = 3
"""Lines that the next talk begins with, at most."""


def news(reports: Iterable[tuple[str, Json]]) -> tuple[str, ...]:
    """What the last night changed, each in a line with what takes it back; nothing where it changed nothing.

    Args:
        reports: the phases of the night by name, with what they reported.
    """
    try:
        lines = [quote(f"night.{name}", line).text for name, found in reports for line in _changed(name, found)]
    except (KeyError, TypeError, AttributeError):
        return ()  # of another version
    more = len(lines) - NEWS + 1
    return tuple(lines) if len(lines) <= NEWS else (*lines[: NEWS - 1], f"… and {more} more: insula guidance soul diff")


def _changed(name: str, found: Json) -> Iterator[str]:
    """What a phase changed of what the model is told, or of what is remembered."""
    if name == PhaseName.MISTAKES:
        new = [one for one in found.get("lessons", ()) if one.get("new")]
        yield from (
            f"From now on: {one['advice']} {_undone('guidance forget', name_of(one['key'], ''))}" for one in new
        )
    if name == PhaseName.SOUL:
        for one in cast("Sequence[soul.Changed]", found.get("changes", ())):
            undo = "guidance forget" if one["kind"] == "added" else "guidance undo"
            yield f"{one['kind'].capitalize()}: {one['text'] or one['before']} {_undone(undo, one['id'])}"
        if found.get("waiting"):
            yield "A change of SOUL.md waits for your word: insula guidance soul propose"
    if name == PhaseName.CONSOLIDATION and found.get("forgotten"):
        gone = _many(len(found["forgotten"]), "memory")
        yield f"{gone}, old and never used again, let go {_undone('memory undo', str(found['forgotten'][0]))}"


def _undone(command: str, name: str) -> str:
    return f"(take it back: insula {command} {name})"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else f'{noun[:-1]}ies' if noun.endswith('y') else f'{noun}s'}"
