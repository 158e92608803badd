"""What coding agents are told at the start of a session: list the rules, decide about them, share them.

Each verb is one function of the folder where hooks keep their state, which terminal and page show.
"""

import json
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from insula import guidance
from insula.coding.step import corrections, digest, evidence
from insula.coding.step.corrections import UserCorrection
from insula.coding.step.digest import PROJECT, ProjectRule
from insula.coding.step.digests import hash_text as fingerprint
from insula.coding.step.evidence import ADVICE_LIMIT, DECISIONS, Marker
from insula.coding.step.patterns import BY_ID
from insula.errors import InputError, StoreFull
from insula.guidance import ACCEPTED, EVERYWHERE, HEARD, MUTED, PINNED, GuidanceDecision
from insula.screening import screen_text
from insula.text.wording import day_of
from insula.value import is_list, is_object

STATES = {"accept": ACCEPTED, "mute": MUTED, "unmute": MUTED, "pin": PINNED, "unpin": PINNED}
"""What each decision sets, or takes back."""
ENTRIES = 100
"""Rules of a file that are taken over at most."""
KIND = "insula rules"
"""What a file of rules says that it is."""
FIGURES = ("estimate", "low", "high")


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """The rules as they stand in a project.

    Attributes:
        home: the folder where hooks keep their state.
        project: what stands for the project; empty for none.
    """

    home: str
    project: str = ""

    def compile_rules(self) -> list[ProjectRule]:
        """All rules as they stand, those without evidence among them."""
        return digest.compile_rules(self.home, self.project, time.time())

    def list_rules(self, everything: bool = False) -> "Sequence[ProjectRule]":
        """The rules that there is anything to say of; or all."""
        return [rule for rule in self.compile_rules() if everything or is_shown(rule)]

    def has_rule(self, name: str) -> bool:
        """Whether there is a rule of this id."""
        return any(rule.id == name for rule in self.compile_rules())

    def get_rule(self, name: str) -> ProjectRule:
        """The rule of an id.

        Raises:
            InputError: there is none; the sentence names those that there are.
        """
        rules = {rule.id: rule for rule in self.compile_rules()}
        if name not in rules:
            raise InputError(f"There is no rule {name!r}; the rules are {', '.join(rules)}.")
        return rules[name]

    def scope_of(self, rule: ProjectRule) -> str:
        """Where its state holds: of what a person decided, as they decided; else that of its evidence."""
        if is_decided(rule):
            here = [word for word in evidence.read_decisions(self.home).get(rule.id, []) if word.scope == self.project]
            return PROJECT if guidance.find_mode(here, self.project) == rule.life.state else EVERYWHERE
        return rule.scope if rule.life.tally.records or rule.wish else EVERYWHERE

    def decide_rule(self, name: str, do: str, *, here: bool = False) -> bool:
        """Accept, mute or pin a rule, or undo that; False where it is so already. What was asked for is one project's.

        Raises:
            InputError: there is no such rule, or it is nothing that the user asked for.
            StoreFull: the decision cannot be written.
        """
        wish = self.get_rule(name).wish
        if do == "accept" and wish is None:
            raise InputError(f"{name!r} is nothing that you asked for in this project; to tell a rule always, pin it.")
        scope = self._decision_scope(here or wish is not None)
        mode = guidance.find_mode(evidence.read_decisions(self.home).get(name, []), scope)
        if (mode == STATES[do]) != do.startswith("un"):
            return False
        self.write_decision(GuidanceDecision(do=do, rule=name, scope=scope, at=time.time()))
        return True

    def forget_rule(self, name: str, *, here: bool = False) -> None:
        """Begin anew with a rule: what was seen of it no longer counts; the words of the user's own are erased.

        Raises:
            InputError: there is no such rule.
            StoreFull: it cannot be written.
        """
        wish = self.get_rule(name).wish
        scope = self._decision_scope(here or wish is not None)
        self.write_decision(GuidanceDecision(do="forget", rule=name, scope=scope, at=time.time()))
        with _guard_writing(self.home):
            if wish is not None:
                corrections.erase_wish(self.home, self.project, wish)
            elif not here:
                evidence.erase_advice(self.home, name)

    def list_decisions(self) -> "Sequence[GuidanceDecision]":
        """What was decided about any rule, oldest first."""
        words = [word for words in evidence.read_decisions(self.home).values() for word in words]
        return sorted(words, key=lambda word: word.at)

    def catch_up(self) -> None:
        """Take in what the sessions that have ended say: else it would wait for the next one to start."""
        with suppress(OSError):
            if Path(self.home, "sessions").is_dir():
                evidence.score_ended(self.home, "", time.time())

    def newest_marker(self) -> Marker:
        """What was told and withheld in the session that was begun last."""
        markers = Path(self.home, "sessions").glob(f"*/{evidence.MARKER}")
        last = max(markers, key=lambda path: path.stat().st_mtime, default=None)
        return (evidence.read_marker(str(last.parent)) if last else None) or Marker()

    def describe_rule(self, rule: ProjectRule) -> dict[str, Any]:
        """Every figure of a rule, for a program."""
        tally, effect = rule.life.tally, rule.life.effect
        return {
            **export_rule(rule),
            "scope": self.scope_of(rule),
            "source": rule.source,
            "confidence": round(rule.life.confidence, 3),
            "shown": {"sessions": tally.shown_count, "failed": tally.breaches},
            "withheld": {"sessions": tally.withheld, "failed": tally.withheld_failed},
            "effect": {name: round(getattr(effect, name), 4) for name in FIGURES} if effect else None,
            "verdict": rule.life.verdict,
            "last_seen": day_of(tally.last) or None,
            "reason": rule.life.reason,
            **({"said": [_describe_words(correction) for correction in rule.wish.times]} if rule.wish else {}),
        }

    def describe_all(self, everything: bool = False) -> dict[str, Any]:
        """Every figure of all rules, for a program."""
        history = {"history": [word.as_dict() for word in self.list_decisions()]} if everything else {}
        return {
            "v": 1,
            "project": self.project,
            "holdout": {
                "share": digest.read_holdout(self.home),
                "withheld_in_newest_session": list(self.newest_marker().withheld),
            },
            "rules": [self.describe_rule(rule) for rule in self.list_rules(everything)],
            **history,
        }

    def export_rules(self) -> dict[str, Any]:
        """The rules and their counts, to be shared: no session, project, path or time, and none of the user's words."""
        shared = [
            project_rule
            for project_rule in self.compile_rules()
            if project_rule.wish is None and (project_rule.life.tally.records or project_rule.source)
        ]
        return {"v": 1, "kind": KIND, "rules": [export_rule(rule) for rule in shared]}

    def import_one(self, entry: object, source: str) -> "ImportedRule":
        """Take over a rule of a file; it waits for evidence here.

        Raises:
            InputError: it cannot be taken over.
        """
        pattern, advice = _check_entry(entry)
        there = next((rule for rule in self.compile_rules() if (rule.pattern, rule.advice) == (pattern, advice)), None)
        if there is not None:
            return ImportedRule(there.id, advice, is_new=False)
        name = f"{pattern}-{fingerprint(advice, 6)}"
        word = GuidanceDecision(
            do="import", rule=name, scope=EVERYWHERE, at=time.time(), advice=advice, pattern=pattern
        )
        self.write_decision(word.replace(source=screen_text(source, 60).text))
        return ImportedRule(name, advice, is_new=True)

    def write_decision(self, decision: GuidanceDecision) -> None:
        """Write a decision down.

        Raises:
            StoreFull: it cannot be written.
        """
        with _guard_writing(self.home):
            evidence.write_decision(self.home, decision)

    def _decision_scope(self, here: bool) -> str:
        return self.project if here else EVERYWHERE


class ImportedRule(NamedTuple):
    """A rule of a file, taken over or here already."""

    id: str
    advice: str
    is_new: bool


@contextmanager
def _guard_writing(home: str) -> Generator[None]:
    """A block in which what cannot be written is said in a sentence."""
    try:
        yield
    except OSError as error:
        path, why = str(Path(home, DECISIONS)), error.strerror or error
        raise StoreFull(f"{path!r} cannot be written ({why}); make room, or allow writing there.") from error


def find_everywhere(home: str) -> "Sequence[tuple[ProjectRule, str]]":
    """The rules for all projects, and what was asked for in each, with the project where it is one's alone."""
    rules = [(rule, "") for rule in ProjectRules(home).list_rules()]
    return rules + [
        (rule, project)
        for project in corrections.list_projects(home)
        for rule in ProjectRules(home, project).list_rules()
        if rule.wish is not None
    ]


def decide_everywhere(home: str, name: str, do: str) -> None:
    """Accept, mute, pin or forget a rule of any project, or undo that.

    Raises:
        InputError: there is no such rule, or that cannot be done with it.
        StoreFull: the decision cannot be written.
    """
    project = next((project for rule, project in find_everywhere(home) if rule.id == name), None)
    if project is None or do not in (*STATES, "forget"):
        raise InputError("The form names no rule that is there, or nothing that can be done; go back and choose anew.")
    known = ProjectRules(home, project)
    if do == "forget":
        known.forget_rule(name, here=bool(project))
    else:
        known.decide_rule(name, do, here=bool(project))


def is_shown(rule: ProjectRule) -> bool:
    """Whether there is anything to say of a rule; what was said once is none yet."""
    if rule.life.state == HEARD:
        return False
    tally = rule.life.tally
    known = rule.wish is not None or rule.source != "" or is_decided(rule)
    return known or tally.detections + tally.shown_count > 0


def is_decided(rule: ProjectRule) -> bool:
    """Whether a person pinned or muted it."""
    return rule.life.state in {PINNED, MUTED}


def export_rule(rule: ProjectRule) -> dict[str, Any]:
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


def _describe_words(correction: UserCorrection) -> dict[str, Any]:
    """Where a rule in the user's words comes from."""
    return {
        "at": day_of(correction.at),
        "session": correction.session,
        "how": correction.how,
        "words": correction.words,
        "about": correction.about,
    }


def read_entries(text: str, name: str) -> "Sequence[object]":
    """The rules in a file's text.

    Raises:
        InputError: it is no file of rules.
    """
    try:
        record: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name!r} is no JSON ({error}); give a file that `insula guidance rules export` wrote."
        ) from error
    entries = record.get("rules") if is_object(record) else None
    if not is_list(entries):
        raise InputError(f'{name!r} holds no list of "rules"; give a file that `insula guidance rules export` wrote.')
    if len(entries) > ENTRIES:
        raise InputError(f"{name!r} holds more than {ENTRIES} rules; split it.")
    return entries


def _check_entry(entry: object) -> tuple[str, str]:
    """Pattern and safe advice of an entry.

    Raises:
        InputError: it cannot be taken over.
    """
    pattern, advice = (entry.get("pattern"), entry.get("advice")) if is_object(entry) else (None, None)
    if not isinstance(pattern, str) or not isinstance(advice, str) or not advice.strip():
        raise InputError('it has no "pattern" and "advice" that are texts; mend the file.')
    if pattern not in BY_ID:
        raise InputError(f"nothing here sees the pattern {pattern[:40]!r}; use one of {', '.join(BY_ID)}.")
    if len(advice) > ADVICE_LIMIT:
        raise InputError(f"its advice has {len(advice)} characters; cut it to {ADVICE_LIMIT}.")
    safe = screen_text(advice, ADVICE_LIMIT)
    if safe.reasons or not safe.text.isprintable():
        why = ", ".join(safe.reasons) or "unprintable characters"
        raise InputError(f"its advice must not reach an agent ({why}); reword it.")
    return pattern, safe.text
