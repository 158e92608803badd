"""Rules founded on sessions of the past: what they say is written down as if the hook had watched them.

A session that the hook knows is left to it: it knows what the session was told. And since a transcript may name itself
after any session, its evidence goes by a name of its own, and takes the place of none that the hook writes.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from insula.coding.replay.gather import Score
from insula.coding.step import corrections, digest, evidence, trace
from insula.coding.step.corrections import UserCorrection
from insula.coding.step.digest import ProjectRule
from insula.coding.step.evidence import DECISIONS, FOLDER, IDLE
from insula.coding.step.trace import append_lines
from insula.errors import StoreError, StoreFull
from insula.guidance import NONE

ORIGIN = "replay"
_PREFIX = f"{ORIGIN}-"

Record = dict[str, Any]


class Plan(NamedTuple):
    """What `write` would write, and what it would change."""

    records: dict[str, list[Record]]
    """Project -> lines of evidence."""
    sessions: int
    """Sessions that they are of."""
    known: int
    """Sessions that were counted before, or that the hook watches."""
    running: int
    """Sessions that may not have ended yet."""
    told: list[ProjectRule]
    """Rules that would be told in some project from now on, and are not yet."""
    asked: dict[str, list[UserCorrection]]
    """Project -> what users asked for in these sessions."""


def plan_learning(home: str, scores: Iterable[Score], now: float) -> Plan:
    """What these sessions add to what is known.

    Raises:
        StoreError: what is known cannot be read.
    """
    try:
        return _make_plan(home, scores, now)
    except OSError as error:
        raise StoreError(f"{home!r} cannot be read ({error.strerror or error}); allow reading it.") from error


def _make_plan(home: str, scores: Iterable[Score], now: float) -> Plan:
    before, records, wanted = list_known(home), dict[str, list[Record]](), dict[str, list[UserCorrection]]()
    rules = evidence.map_patterns(home)
    new = old = running = 0
    for score in scores:
        key = trace.make_key(score.session) if score.session else ""
        lines = _make_lines(_PREFIX + key, score, rules)
        if not lines and not score.asked:
            continue  # too short for any failure to have had its opportunity
        if not key or before & {key, _PREFIX + key}:
            old += 1
        elif now - score.at < IDLE:
            running += 1
        else:
            before.add(key)
            new += 1
            records.setdefault(score.project, []).extend(lines)
            if score.project and score.asked:
                wanted.setdefault(score.project, []).extend(
                    correction.replace(session=_PREFIX + key, origin=ORIGIN) for correction in score.asked
                )
    return Plan(records, new, old, running, _list_told(home, records, wanted, now), wanted)


def write_evidence(home: str, planned: Plan) -> None:
    """Write the evidence down.

    Raises:
        StoreFull: the folder of hook state cannot be written.
    """
    try:
        _append_all(home, planned.records, planned.asked)
    except OSError as error:
        raise StoreFull(
            f"{evidence.get_log(home, '')!r} and its neighbours cannot be written ({error.strerror or error}); "
            "make room, or allow writing there."
        ) from error


def list_known(home: str) -> set[str]:
    """The sessions that the logs of evidence tell of, and those that the hook has a trace of."""
    folder = Path(home, "sessions")
    watched = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set[str]()
    return watched | {name for path in sorted(Path(home, FOLDER).glob("*.jsonl")) for name in _list_sessions(path)}


def _list_sessions(path: Path) -> Iterator[str]:
    """All of a log, not only its newest part: what is no longer read is still not to be written again."""
    with path.open("rb") as log:
        for line in log:
            try:
                session = json.loads(line)["session"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if isinstance(session, str):
                yield session


def _make_lines(key: str, score: Score, rules: dict[str, str]) -> list[Record]:
    return [
        {
            "session": key,
            "pattern": rule,
            "arm": NONE,
            "happened": score.patterns[pattern],
            "t": score.at,
            "project": score.project,
            "origin": ORIGIN,
        }
        for rule, pattern in rules.items()
        if pattern in score.patterns
    ]


def _append_all(home: str, records: dict[str, list[Record]], wanted: dict[str, list[UserCorrection]]) -> None:
    for project, lines in records.items():
        if lines:
            append_lines(evidence.get_log(home, project), lines)
    for project, said in wanted.items():
        corrections.write_corrections(home, project, said)


def _list_told(
    home: str, records: dict[str, list[Record]], wanted: dict[str, list[UserCorrection]], now: float
) -> list[ProjectRule]:
    """What would be told that is not told now: the evidence is added to a copy, and the rules are compiled there."""
    with tempfile.TemporaryDirectory(prefix="insula-learn-") as copy:
        for folder in (FOLDER, corrections.FOLDER):
            if os.path.isdir(f"{home}/{folder}"):  # noqa: PTH112 paths of the hook are texts
                shutil.copytree(f"{home}/{folder}", f"{copy}/{folder}")
        if os.path.isfile(f"{home}/{DECISIONS}"):  # noqa: PTH113
            shutil.copy(f"{home}/{DECISIONS}", f"{copy}/{DECISIONS}")
        _append_all(copy, records, wanted)
        added: dict[str, ProjectRule] = {}
        for project in records:
            now_told = {rule.id for rule in digest.compile_rules(home, project, now) if rule.life.is_told}
            then = digest.compile_rules(copy, project, now)
            new = [rule for rule in then if rule.life.is_told and rule.id not in now_told]
            added |= {rule.id: rule for rule in new if project or rule.scope != "project"}
    return sorted(added.values(), key=lambda rule: rule.order)
