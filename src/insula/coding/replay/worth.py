"""What the hook was worth: what it said in past sessions, whether it was heeded, what followed, and what it cost.

What followed is looked at near by, too, in the next `NEAR` calls: whether the same failure came again, whether the
user's words were kept, and whether the user's next message corrects the agent.

Read from the traces that the hook wrote. A text is worth what its sessions do better than those from which it was
withheld by lot; until there are enough of both, nothing is claimed. What is compared is all that is kept, not the last
days: an interval that holds however often somebody looks holds for one beginning, and a week that slides begins anew.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from insula.coding.replay.agent import CHARS_PER_TOKEN
from insula.coding.step import trace
from insula.coding.step.action import load_action
from insula.coding.step.corrections import find_corrections
from insula.coding.step.digest import compile_rules
from insula.coding.step.evidence import read_evidence
from insula.coding.step.person import INTERRUPT, REJECTION
from insula.coding.step.wording import SIGN
from insula.coding.step.worth import list_false_alarms, list_helped, write_verdict
from insula.errors import InputError, StoreFull
from insula.guidance import HEARD, SHOWN, WITHHELD
from insula.value import is_number
from insula.worth import UNKNOWN, Worth, compare_outcomes, make_amounts, make_rate

DAY = 86_400.0
LATELY = 30.0
_BYTES = 1 << 24
"""Of a trace that are read."""
TURNS, SHARE = "turns", "share"
NEAR = 10
"""Calls after a note in which it is looked at what followed."""
OF_WORDS = frozenset(("against_words", "told_again"))
"""Senses whose notes are of the user's words."""
NOTHING_YET = "nothing to compare yet"
_MOST_TURNS = 25.0
"""Turns from which on a trouble counts as never over: one case must not outweigh a hundred."""
_OVER = 6 * 3_600.0
"""Seconds after which a session is taken to be over."""
_ARMS = (SHOWN, WITHHELD)

Record = dict[str, Any]
Followed = Literal["heeded", "again", "kept", "corrected"]
"""What may follow a note near by."""


@dataclass(slots=True, kw_only=True)
class NotedTrouble:
    """Something that went wrong and was spoken of, or would have been."""

    id: str
    session: str
    project: str
    """The hash of it."""
    at: float
    sense: str
    family: str
    about: str
    """What it is about, as its reader may call it: what is silenced where they call it a false alarm."""
    text: str = ""
    """The last one."""
    rung: int = 0
    texts: int = 0
    chars: int = 0
    withheld: bool = False
    """By lot, so that it can be compared."""
    wrong: bool = False
    """Whether a person called it a false alarm."""
    helped: bool = False
    """Whether a person said so."""
    heeded: bool | None = None
    turns: int | None = None
    """From the first text to its end; None where it has not ended."""
    minutes: float = 0.0
    tokens: int = 0
    again: bool | None = None
    """Of a failure: whether it came again in the next `NEAR` calls; None where that cannot be told."""
    kept: bool | None = None
    """Of the user's words: whether the next `NEAR` calls kept them."""
    corrected: bool | None = None
    """Whether the user corrects the agent in their next message, or stops it before."""

    @property
    def said(self) -> str:
        """The last text without the sign that the host's model sees before it."""
        return self.text.removeprefix(SIGN)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """What one kind of text was worth: where it was told against where a lot withheld it."""

    what: str
    unit: str
    """`turns` until it was over, or the `share` of cases in which what nobody wants has happened."""
    told: int
    """Cases, one of a session."""
    withheld: int
    less: float
    """The mean withheld less the mean told, ..."""
    low: float
    """... and its interval, which holds however often somebody looks."""
    high: float
    verdict: str
    least: float
    """The smallest effect that would have been seen by now."""

    @property
    def is_compared(self) -> bool:
        """Whether there are cases of both kinds."""
        return bool(self.told and self.withheld)

    @property
    def conclusion(self) -> str:
        """What may be said, with its interval, and what could not have been seen by now."""
        if not self.is_compared:
            return NOTHING_YET
        sign = 1 if self.less >= 0 else -1  # the interval is of what is said before it: of the rise, where they rose
        low, high = sorted(sign * end + 0.0 for end in (self.low, self.high))
        if self.unit == TURNS:
            change = f"troubles ended {abs(self.less):.1f} turns {'sooner' if sign > 0 else 'later'}"
            between, least = f"{low:+.1f} and {high:+.1f}", f"{self.least:.1f} turns"
        else:
            change = f"failures {'fell' if sign > 0 else 'rose'} by {abs(100 * self.less):.0f} points"
            between, least = f"{100 * low:+.0f} and {100 * high:+.0f}", f"{100 * self.least:.0f} points"
        early = f"too early to say, {least} would have shown"
        return f"{change} (between {between}: {early if self.verdict == UNKNOWN else self.verdict})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What became of a rule that sessions were told, or that was learned in these days."""

    rule: str
    advice: str
    state: str
    kept: int
    """Sessions that were told it and kept it, ..."""
    broken: int
    """... and that broke it."""
    learned: float | None = None
    """When the user first asked for it, where that was in these days."""


@dataclass(slots=True, kw_only=True)
class HookWorth:
    """All of it."""

    days: float
    sessions: int = 0
    calls: int = 0
    troubles: list[NotedTrouble] = field(default_factory=list[NotedTrouble])
    """Latest first."""
    rules: list[RuleOutcome] = field(default_factory=list[RuleOutcome])
    effects: list[EffectRow] = field(default_factory=list[EffectRow])
    """Of all that is kept, whatever the days."""

    @property
    def told_troubles(self) -> list[NotedTrouble]:
        """Those that were spoken of."""
        return [trouble for trouble in self.troubles if not trouble.withheld]

    def count_followed(self, name: Followed) -> tuple[int, int]:
        """How often something followed a note near by, and after how many notes that can be told."""
        known = [trouble for trouble in self.told_troubles if getattr(trouble, name) is not None]
        return sum(getattr(trouble, name) for trouble in known), len(known)

    @property
    def false_alarms(self) -> int:
        """How many of the troubles that were spoken of a person has called a false alarm."""
        return sum(trouble.wrong for trouble in self.told_troubles)

    @property
    def notes(self) -> int:
        """How many texts were told."""
        return sum(trouble.texts for trouble in self.told_troubles)

    @property
    def cost(self) -> int:
        """About how many tokens the texts were."""
        return sum(trouble.chars for trouble in self.told_troubles) // CHARS_PER_TOKEN


def measure_worth(home: str, days: float, now: float) -> HookWorth:
    """What the hook was worth in the last days, and whether it helped in all that is kept."""
    worth, since = HookWorth(days=days), now - days * DAY
    every: list[NotedTrouble] = []
    for folder in _list_folders(Path(home, "sessions")):
        records, _ = trace.read_trace(str(folder), 0, _BYTES)
        every += _read_troubles(folder.name, records)
        if (folder / trace.FILE).stat().st_mtime >= since:
            calls = sum(record.get("e") == "action" for record in records)
            worth.sessions += "agents" not in folder.parts and calls > 0
            worth.calls += calls
    worth.troubles = [trouble for trouble in every if trouble.at >= since]
    worth.troubles.sort(key=lambda trouble: -trouble.at)
    wrong, right = list_false_alarms(home), list_helped(home)
    for trouble in worth.troubles:
        trouble.wrong = trouble.id in wrong.get((trouble.project, trouble.sense, trouble.about), ())
        trouble.helped = trouble.id in right
    worth.rules = _list_rules(home, since, now)
    worth.effects = [
        make_row("notes", TURNS, _compare_notes(every, now)),
        make_row("rules", SHARE, _compare_rules(home)),
    ]
    return worth


def measure_lately(home: str) -> HookWorth | None:
    """What the hook was worth in the last `LATELY` days; None where no hook has seen a call in them."""
    worth = measure_worth(home, LATELY, time.time()) if Path(home, "sessions").is_dir() else None
    return worth if worth and worth.calls else None


def find_trouble(home: str, name: str) -> NotedTrouble | None:
    """The trouble of that id, whenever it was; None where there is none."""
    for folder in _list_folders(Path(home, "sessions")):
        records, _ = trace.read_trace(str(folder), 0, _BYTES)
        for trouble in _read_troubles(folder.name, records):
            if trouble.id == name:
                return trouble
    return None


def note_verdict(home: str, name: str, *, right: bool, now: float) -> NotedTrouble:
    """Note a person's word on a text: that it helped, or that it was a false alarm, which ends what it is about there.

    Raises:
        InputError: nothing was said under that id.
        StoreFull: the word cannot be written.
    """
    trouble = find_trouble(home, name)
    if trouble is None:
        raise InputError(f"Nothing was said under the id {name[:20]!r}; `insula worth --all` shows the ids.")
    try:
        write_verdict(home, (trouble.project, trouble.sense, trouble.about), now, trouble.id, helped=right)
    except OSError as error:
        raise StoreFull(f"{home!r} cannot be written ({error.strerror or error}); make room there.") from error
    return trouble


def _list_folders(sessions: Path) -> Iterator[Path]:
    """The folders of agents."""
    for path in sorted((*sessions.glob(f"*/{trace.FILE}"), *sessions.glob(f"*/agents/*/{trace.FILE}"))):
        yield path.parent


def _read_troubles(session: str, records: list[Record]) -> list[NotedTrouble]:
    troubles: dict[str, NotedTrouble] = {}
    project = ""
    for place, record in enumerate(records):
        kind = record.get("e")
        if kind == "start":
            project = str(record.get("project", "")) or project
        elif kind == "text" and is_number(record.get("at")) and record.get("id"):
            here = str(record.get("project", "")) or project  # of a session whose start no hook saw, too
            if (name := str(record["id"])) not in troubles:
                troubles[name] = NotedTrouble(
                    id=name,
                    session=session,
                    project=here,
                    at=record["at"],
                    sense=str(record.get("sense", "")),
                    family=str(record.get("family", "")),
                    about=str(record.get("about") or record.get("family", "")),
                    withheld=record.get("withheld") is True,
                )
                _look_near(troubles[name], _list_following(records, place))
            _add_text(troubles[name], record)
        elif kind == "heeded" and (trouble := troubles.get(str(record.get("id", "")))) is not None:
            trouble.heeded = record.get("yes") is True
        elif kind == "ended":
            _end_trouble(troubles, record)
    return list(troubles.values())


def _list_following(records: list[Record], place: int) -> list[Record]:
    """The records behind that of a text, without the call that it was told before: what it did does not follow it."""
    calls = [record for record in records[:place] if record.get("e") in {"before", "action"}]
    noted = calls[-1].get("id") if calls and calls[-1]["e"] == "before" else None
    return [record for record in records[place + 1 :] if not noted or record.get("id") != noted]


def _look_near(trouble: NotedTrouble, after: list[Record]) -> None:
    """What followed its first text near by."""
    actions = [action for record in after if record.get("e") == "action" and (action := load_action(record))][:NEAR]
    if trouble.sense == "nociception":
        trouble.again = any(action.failed and action.family == trouble.family for action in actions)
    if actions and trouble.sense in OF_WORDS:
        trouble.kept = not any(action.breaks for action in actions)
    spoken = next((place for place, record in enumerate(after) if _is_spoken(record)), None)
    if spoken is not None:
        before = after[: spoken + 1]
        stopped = any(record.get("kind") in {INTERRUPT, REJECTION} for record in before if record.get("e") == "user")
        trouble.corrected = stopped or bool(find_corrections(trouble.session, before))


def _is_spoken(record: Record) -> bool:
    """Whether it is a message of the user's."""
    return record.get("e") == "user" and bool(record.get("words"))


def _add_text(trouble: NotedTrouble, record: Record) -> None:
    trouble.text, trouble.rung = str(record.get("text", "")), int(record.get("rung") or 0)
    trouble.texts += 1
    trouble.chars += len(trouble.text)


def _end_trouble(troubles: dict[str, NotedTrouble], record: Record) -> None:
    trouble = troubles.get(str(record.get("id", "")))
    if trouble is not None and trouble.turns is None:
        trouble.turns, trouble.tokens = int(record.get("turns", 0)), int(record.get("tokens", 0))
        trouble.minutes = float(record.get("seconds", 0.0)) / 60


def _list_rules(home: str, since: float, now: float) -> list[RuleOutcome]:
    evidence = read_evidence(home)
    projects = {item.project for items in evidence.values() for item in items}
    rules = {rule.id: rule for project in sorted(projects) for rule in compile_rules(home, project, now)}
    told: list[RuleOutcome] = []
    for name, rule in rules.items():
        shown = [item for item in evidence.get(name, []) if item.arm == SHOWN and item.at >= since]
        broken = sum(item.happened for item in shown)
        asked = rule.wish.times[0].at if rule.wish is not None else 0.0
        learned = asked if asked >= since else None
        if shown or rule.life.is_told or (learned is not None and rule.life.state != HEARD):
            kept = len(shown) - broken
            told.append(
                RuleOutcome(
                    rule=name, advice=rule.advice, state=rule.life.state, kept=kept, broken=broken, learned=learned
                )
            )
    return sorted(told, key=lambda rule: (-(rule.kept + rule.broken), rule.rule))


def make_row(what: str, unit: str, compared: Worth) -> EffectRow:
    """A line of the table.

    Args:
        what: what was told or withheld.
        unit: of the outcome, `TURNS` or `SHARE`.
    """
    return EffectRow(
        what=what,
        unit=unit,
        told=int(compared.told.cases),
        withheld=int(compared.withheld.cases),
        less=compared.estimate,
        low=compared.low,
        high=compared.high,
        verdict=compared.verdict,
        least=compared.least,
    )


def _compare_notes(troubles: list[NotedTrouble], now: float) -> Worth:
    """Turns until a trouble is over; one that was never over took the most. Of a session, the first one."""
    first: dict[str, NotedTrouble] = {}
    for trouble in sorted(troubles, key=lambda trouble: trouble.at):
        if trouble.rung and (trouble.turns is not None or trouble.at < now - _OVER):
            first.setdefault(trouble.session, trouble)
    arms = {False: list[float](), True: list[float]()}
    for trouble in first.values():
        arms[trouble.withheld].append(_MOST_TURNS if trouble.turns is None else trouble.turns)
    return compare_outcomes(make_amounts(arms[False], _MOST_TURNS), make_amounts(arms[True], _MOST_TURNS))


def _compare_rules(home: str) -> Worth:
    """How often a rule was broken; of a session, one rule."""
    evidence = sorted(
        (item for items in read_evidence(home).values() for item in items if item.arm in _ARMS),
        key=lambda item: (item.at, item.session, item.arm, item.happened),
    )
    first = {item.session: item for item in reversed(evidence)}
    told, held = ([item.happened for item in first.values() if item.arm == arm] for arm in _ARMS)
    return compare_outcomes(make_rate(sum(told), len(told)), make_rate(sum(held), len(held)))
