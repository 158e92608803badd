"""What `insula rules` shows: the rules as they stand, in lines that fit."""

import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from insula import guidance
from insula.cli.lines import fold, percent, width
from insula.errors import InsulaError
from insula.guidance import (
    ACTIVE,
    CORROBORATED,
    EVERYWHERE,
    HEARD,
    MINIMUM,
    MUTED,
    PINNED,
    PROPOSED,
    RETIRED,
    UNKNOWN,
    USELESS,
)
from insula.hosts.places import home
from insula.step import digest, evidence, trace
from insula.step.asked import Asked
from insula.step.digest import PROJECT, Rule
from insula.step.evidence import Marker
from insula.worth import Worth, of_tally

_TOGETHER = "\N{NO-BREAK SPACE}"
"""A blank at which no line is broken."""


def rules() -> list[Rule]:
    """All rules as they stand in the project of the working folder."""
    return digest.compile_rules(str(home()), project(), time.time())


def project() -> str:
    """What stands for the project of the working folder; empty where that is gone."""
    try:
        return trace.project(os.getcwd())  # noqa: PTH109 the hook asks the same way
    except OSError:
        return ""


def exported(rule: Rule) -> dict[str, Any]:
    """What may be shared of a rule: no session, project, path or time."""
    tally = rule.life.tally
    return {
        "id": rule.id,
        "pattern": rule.pattern,
        "advice": rule.advice,
        "state": rule.life.state,
        "sessions": tally.records,
        "detections": tally.detections,
        "suppressions": tally.suppressions,
        "breaches": tally.breaches,
    }


def as_json(everything: bool) -> dict[str, Any]:
    """Every figure."""
    share, newest = digest.holdout(str(home())), _newest()
    return {
        "v": 1,
        "project": project(),
        "holdout": {"share": share, "withheld_in_newest_session": list(newest.withheld)},
        "rules": [_row(rule) for rule in rules() if everything or _worth_a_row(rule)],
        **({"history": _history()} if everything else {}),
    }


def one(name: str) -> dict[str, Any]:
    """Every figure of one rule."""
    return {"v": 1, **next(_row(rule) for rule in rules() if rule.id == name)}


def _row(rule: Rule) -> dict[str, Any]:
    tally, effect = rule.life.tally, _effect(rule)
    return {
        **exported(rule),
        "scope": _scope(rule),
        "source": rule.source,
        "confidence": round(rule.life.confidence, 3),
        "shown": {"sessions": tally.shown, "failed": tally.breaches},
        "withheld": {"sessions": tally.withheld, "failed": tally.withheld_failed},
        "effect": {name: round(getattr(effect, name), 4) for name in _FIGURES} if effect else None,
        "verdict": _verdict(rule, effect) if effect else UNKNOWN,
        "last_seen": _day(tally.last) or None,
        "reason": rule.life.reason,
        **({"said": [_said(one) for one in rule.wish.times]} if rule.wish else {}),
    }


def _said(one: Asked) -> dict[str, Any]:
    """Where a rule in the user's words comes from."""
    return {"at": _day(one.at), "session": one.session, "how": one.how, "words": one.words, "about": one.about}


def _worth_a_row(rule: Rule) -> bool:
    return (
        rule.life.tally.detections + rule.life.tally.shown > 0
        or (rule.wish is not None and rule.life.state != HEARD)
        or rule.source != ""
        or _is_decided(rule)
    )


def _is_decided(rule: Rule) -> bool:
    return rule.life.state in {PINNED, MUTED}


def _scope(rule: Rule) -> str:
    """Where its state holds: of what a person decided, as they decided; else that of its evidence."""
    if _is_decided(rule):
        here = [word for word in evidence.decisions(str(home())).get(rule.id, []) if word.scope == project()]
        return PROJECT if guidance.mode(here, project()) == rule.life.state else EVERYWHERE
    return rule.scope if rule.life.tally.records or rule.wish else EVERYWHERE


def _history() -> list[dict[str, Any]]:
    words = [word for words in evidence.decisions(str(home())).values() for word in words]
    return [word.as_dict() for word in sorted(words, key=lambda word: word.at)]


def _newest() -> Marker:
    """The marker of the session that was begun last."""
    markers = (home() / "sessions").glob(f"*/{evidence.MARKER}")
    last = max(markers, key=lambda path: path.stat().st_mtime, default=None)
    return (evidence.marker(str(last.parent)) if last else None) or Marker()


# --- in lines ----------------------------------------------------------------------------------------------------


def print_all(everything: bool) -> None:
    """Print them, with what is withheld, and with what was decided where all is asked for."""
    shown = [rule for rule in rules() if everything or _worth_a_row(rule)]
    for rule in shown:
        _print(*_record(rule), "")
    if not shown:
        _print("Nothing has been learned yet: what you say to agents in two sessions becomes a rule.")
    _print(*_disclosure())
    if everything:
        _print(*(f"{_day(word['at'])}  {word['do']} {word['rule']} {_where(word['scope'])}" for word in _history()))


def print_one(name: str) -> None:
    """Print one rule."""
    _print(*next(_record(rule) for rule in rules() if rule.id == name))


def _print(*texts: str) -> None:
    """Each text in lines that fit, the further ones as indented as the first."""
    columns = width("COLUMNS")
    for text in texts:
        indent = " " * (len(text) - len(text.lstrip()))
        print("\n".join(fold(text.strip(), columns, indent, indent or "  ")).replace(_TOGETHER, " "))


def _record(rule: Rule) -> list[str]:
    """A rule in a few lines: where it stands; what is told, and where it comes from; its counts."""
    effect = _effect(rule)
    verdict = _verdict(rule, effect) if effect else f"{UNKNOWN} ({rule.life.tally.compared} of {MINIMUM} per arm)"
    more = f" (about {effect.missing:,} more sessions)" if effect and verdict == UNKNOWN else ""
    why = rule.life.reason or _waits_for(rule)
    return [
        f"{rule.id}: {rule.life.state}, {_where(_scope(rule))}; {verdict}{more}",
        *(wish_lines(rule) if rule.wish else [f"  {rule.advice}"]),
        *([f"  {why}"] if why else []),
        f"  {_counts(rule)}",
    ]


def wish_lines(rule: Rule) -> list[str]:
    """What a user asked for in their own words, and when they said it."""
    if rule.wish is None:
        return [f"  {rule.advice}"]
    times = rule.wish.times
    said = [f'  {_day(one.at)}, {_HOW[one.how]}: "{one.words}"' for one in times[1:_TIMES]]
    more = [f"  and {len(times) - _TIMES} times more"] if len(times) > _TIMES else []
    about = f" ({rule.wish.about})" if rule.wish.about else ""
    return [f'  "{rule.wish.words}"', f"  said on {_day(times[0].at)}, {_HOW[times[0].how]}{about}", *said, *more]


_TIMES = 3
"""Times that something was said that are shown."""
_HOW = {"prompt": "in a message", "interrupt": "after an interrupt", "rejection": "turning a call down"}


_FIGURES = ("estimate", "low", "high")


def _effect(rule: Rule) -> Worth | None:
    """What the rule was worth, by an interval that holds however often somebody looks; None for too few sessions."""
    return of_tally(rule.life.tally) if rule.life.tally.compared >= MINIMUM else None


def _verdict(rule: Rule, effect: Worth) -> str:
    """What may be claimed; that a rule is given up as useless is no claim but a decision (`guidance`)."""
    if rule.life.state == RETIRED and (measured := rule.life.effect) is not None and measured.verdict == USELESS:
        return USELESS
    return effect.verdict


def _counts(rule: Rule) -> str:
    tally, effect = rule.life.tally, _effect(rule)
    if not tally.records:
        return "no session has had the opportunity to fail at it"
    measured = f" effect {effect.estimate:+.2f} [{effect.low:+.2f},{_TOGETHER}{effect.high:+.2f}];" if effect else ""
    return (
        f"seen {tally.detections}, kept {tally.suppressions}, broken {tally.breaches}; "
        f"failed {tally.breaches} of {tally.shown} told, {tally.withheld_failed} of {tally.withheld} withheld;"
        f"{measured} confidence {rule.life.confidence:.2f}; last seen {_day(tally.last) or 'never'}"
    )


def _waits_for(rule: Rule) -> str:
    """Why a rule is only proposed, however often it may have been seen."""
    tally = rule.life.tally
    if rule.life.state == HEARD:
        return f"told once you say it again, or now: insula rules accept {rule.id}"
    if rule.life.state != PROPOSED:
        return _on_trial(rule)
    if not tally.detections:
        return "not seen here yet" if rule.source or tally.records else ""
    if rule.scope == PROJECT:
        return f"seen in {_number(tally.detections, 'session')} here; told once it was seen in {CORROBORATED}"
    return f"seen in {_number(tally.places, 'project')}; told elsewhere once it was seen in {CORROBORATED}"


def _on_trial(rule: Rule) -> str:
    if rule.is_maxim and rule.life.state == ACTIVE and not rule.is_shown_to_work:
        return "told only in the sessions that find out whether it helps; pin it to have it told always"
    return ""


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _where(scope: str) -> str:
    if scope == EVERYWHERE:
        return "in all projects"
    return "in this project" if scope in (PROJECT, project()) else "in another project"


def _disclosure() -> list[str]:
    from insula import settings  # half of what `insula --help` would take

    share, newest = digest.holdout(str(home())), _newest()
    change = f"`holdout` in {settings.home() / settings.FILE}, or INSULA_HOLDOUT; then run `{_install()}` again."
    if not share:
        return [f"Holdout is off: no rule is withheld, and none can be shown to work. To change it: set {change}"]
    return [
        f"Holdout: in {percent(share)} of sessions a rule is withheld by lot, to see whether it works. In the newest "
        f"session: {', '.join(newest.withheld) or 'none'}.",
        f"To change it, or switch it off: set {change}",
    ]


def _install() -> str:
    """The command that hands the holdout to the hooks."""
    from insula.hosts import doctor, places

    with suppress(InsulaError, OSError):  # the folder is gone, or a host's settings cannot be read: it names any host
        return doctor.again(Path.cwd())
    return f"insula install {next(iter(places.HOSTS))}"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") if at else ""
