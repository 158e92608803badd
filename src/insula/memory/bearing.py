"""What each memory has to do with what is asked: it answers, bears on it, is history, or is another matter.

A statement answers where it is about the one asked about, meant as a fact, near in matter, and holds a value of the
kind asked for. What the user's own newer words end (`ending`) is history, with its dates. Where something newer on the
same matter may have changed what answers, it is told beside it, and the model reads both.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from insula.memory.about import aliases, is_about, is_beside, is_doubtful, is_such, meant, of_owner, speaks_of
from insula.memory.assertion import Question, Statement
from insula.memory.certainty import contradict, is_sure
from insula.memory.encoding import USER
from insula.memory.ending import over
from insula.memory.leaning import is_likely, leaning, least_cosine
from insula.memory.matter import beyond_chance
from insula.memory.modality import UPDATES, says
from insula.memory.near import Near, alike, nearnesses
from insula.memory.slots import filled
from insula.memory.subject import NOBODY
from insula.types import Bearing, Reason

NEAR, FAR = 0.2, -0.05
"""Nearness from which a statement is on the matter asked for, and below which it is on another."""
MAYBE = 0.22
"""Cosine of two statements from which the newer, if it tells of a change, may have changed the older."""
FOLLOWS = 0.08
"""Nearness of a newer statement to an older one from which it may take its place."""
SUPPOSED = frozenset({"hypothetical", "wish", "plan", "fiction", "joke"})
CHANGING, LATER = -1.5, -1.0
"""Log-odds that a newer line bears on a question, from which it may have changed what answers: one that tells of a
change, and one that does not say so."""
UNREAL = SUPPOSED - {"plan"}
"""What is not meant as a fact of what is or will be."""
SAME = 0.3
"""Chance of a matter in common from which a statement may tell of whom its subject has ("my boss")."""
MARKED = 0.1
"""The share of lines that tell of a change, a correction or an end."""


class Told(NamedTuple):
    """A statement as it is stored: of which memory, and when it was said."""

    memory: int
    said_at: float
    statement: Statement
    by_tool: bool = False
    """Whether a tool said it: then it answers what the user asks of their own things alone ("my parcel")."""


class Judged(NamedTuple):
    """What a memory has to do with what is asked."""

    bearing: Bearing
    fit: float = 0.0
    """The nearness of its best statement."""
    reason: Reason = ""
    """Why it does not answer."""
    since: float | None = None
    until: float | None = None
    """When the user said that it is over."""
    taken_by: tuple[int, ...] = ()
    """The newer memories that ended it, or that may have changed it."""
    took: tuple[int, ...] = ()
    """Those that it ended, the latest first."""


class _Match(NamedTuple):
    told: Told
    bearing: Bearing
    fit: float
    reason: Reason
    common: float = 0.0
    """The chance of a matter in common."""

    @property
    def order(self) -> tuple[int, bool, float]:
        """The better match of a memory comes first."""
        return ORDER[self.bearing], self.reason == "unsure", -self.fit


ORDER: Mapping[Bearing, int] = {"answers": 0, "history": 1, "bears": 2, "other": 3}


def judged(asked: Sequence[Question], told: Sequence[Told], memories: int = 0) -> dict[int, Judged]:
    """What each memory has to do with any of what is asked; empty where nothing is asked.

    Args:
        asked: the questions.
        told: the statements of the candidates.
        memories: how many there are in all: the more, the likelier one is near by chance.
    """
    best: dict[int, Judged] = {}
    named = aliases(one.statement.subjects for one in told)
    each = [(question, _of(question, told, named, memories)) for question in asked]
    for question, found in each:
        part = [other for one, other in each if question.part_of and one.part_of == question.part_of]
        whole = all(any(one.bearing == "answers" for one in other.values()) for other in part)
        for memory, one in found.items():
            lacking = one.bearing == "answers" and not whole  # another of the things asked for is not told
            new = one._replace(bearing="bears") if lacking else one
            known = best.get(memory)
            if known is None or (ORDER[new.bearing], -new.fit) < (ORDER[known.bearing], -known.fit):
                best[memory] = new
    return best


def _of(
    question: Question, told: Sequence[Told], named: Mapping[str, frozenset[str]], memories: int
) -> dict[int, Judged]:
    about = meant(question.subjects, named)
    asked = question._replace(subjects=about)
    near = nearnesses(asked, [one.statement for one in told])
    asked = asked._replace(vector=None)  # from here on it is a key, too
    matches = [_match(asked, one, how) for one, how in zip(told, near, strict=True)]
    best: dict[int, _Match] = {}
    for match in matches:
        known = best.get(match.told.memory)
        if known is None or match.order < known.order:
            best[match.told.memory] = match
    split = _contradicted(asked, matches)
    for one in matches:
        match = best[one.told.memory]
        if match.reason == "detail" and _completes(asked, match, one):
            best[one.told.memory] = match._replace(bearing="bears", reason="")
    found = _leaning(asked, matches, near, _succeeded(asked, best, matches, memories), memories)
    return {
        memory: one._replace(reason="contradicts") if one.bearing == "answers" and memory in split else one
        for memory, one in found.items()
    }


def _leaning(
    question: Question, matches: Sequence[_Match], near: Sequence[Near], found: Mapping[int, Judged], memories: int
) -> dict[int, Judged]:
    """The same, with what seems of another matter, or to lack the value, and is likely to bear on the question.

    Where such a line is newer than one that answers, it may have changed it in other words: both are told.
    """
    out = dict(found)
    later: dict[int, float] = {}
    cosine = least_cosine(memories)  # most are farther
    for one, how in ((one, how) for one, how in zip(matches, near, strict=True) if how.cosine >= cosine):
        known = out[one.told.memory]
        odds = _odds(question, one, how, memories) if known.bearing != "answers" else None
        if odds is None:
            continue
        if known.bearing == "other" or known.reason == "detail":
            out[one.told.memory] = known._replace(bearing="bears", fit=max(known.fit, 0.0), reason="")
        least = LATER if UPDATES.isdisjoint(one.told.statement.marks) else CHANGING
        if odds >= least and _stands_for_itself(one) and "before" not in question.marks:
            later[one.told.memory] = one.told.said_at
    return _perhaps_changed(out, later) if later else out


def _perhaps_changed(found: Mapping[int, Judged], later: Mapping[int, float]) -> dict[int, Judged]:
    """The same, with what answers and may be out of date where something later bears on the question."""
    out = dict(found)
    for memory, one in found.items():
        since = [new for new, said_at in later.items() if new > memory and said_at >= (one.since or 0.0)]
        if one.bearing == "answers" and not one.took and since:
            out[memory] = one._replace(bearing="bears", reason="changed", taken_by=(max(since),))
    return out


def _odds(question: Question, match: _Match, near: Near, memories: int) -> float | None:
    """The log-odds that a statement bears on a question; None where that is unlikely, or may be luck."""
    odds = leaning(question, match.told.statement, near, lacks=False)
    if not is_likely(odds, memories) or not may_lean(question, match.told):  # what costs least is asked first
        return None
    if filled(question, match.told.statement) is not False:
        return odds
    odds = leaning(question, match.told.statement, near, lacks=True)
    return odds if question.ask.kind != "name" and is_likely(odds, memories) else None  # a name is told, or is not


def may_lean(question: Question, told: Told) -> bool:
    """Whether a statement, meant in earnest, is about those asked about or speaks of them.

    A question about nobody is one about the world, unless it shares a word with what was told.
    """
    statement = told.statement
    if not question.subjects - {NOBODY} and question.terms.isdisjoint(statement.terms):
        return False
    if (
        told.by_tool
        or statement.vector is None
        or (statement.modality in UNREAL and not _is_meant(question, statement))
    ):
        return False
    return is_about(question, statement.subjects) or speaks_of(question, statement) or is_doubtful(statement)


def _contradicted(question: Question, matches: Sequence[_Match]) -> frozenset[int]:
    """The memories that tell what is asked in two ways."""
    answering = [one.told for one in matches if one.bearing == "answers"]
    return frozenset(
        one.memory
        for one, other in pairwise(answering)
        if one.memory == other.memory and contradict(question, one.statement, other.statement)
    )


def _completes(question: Question, match: _Match, other: _Match) -> bool:
    """Whether another statement of the same memory may hold the detail: "when I have a migraine, I take Naramig"."""
    if other is match or other.reason in {"subject", "supposed", "detail"}:
        return False
    held = filled(question, other.told.statement) if question.ask.kind != "why" else None
    return held is True or (held is None and match.fit >= NEAR and bool(other.told.statement.terms - question.terms))


def _match(question: Question, told: Told, near: Near) -> _Match:
    statement, fit = told.statement, near.fit
    if fit < FAR:
        return _Match(told, "other", fit, "")
    if not is_about(question, statement.subjects) and not (near.common >= SAME and of_owner(question, statement)):
        of_it = is_beside(question, statement) or is_such(question, statement)
        beside = fit >= FOLLOWS and statement.modality == "fact" and of_it
        return _Match(told, "bears", fit, "") if beside else _Match(told, "other", fit, "subject")
    if statement.modality in SUPPOSED and not _is_meant(question, statement):
        return _Match(told, "other", fit, "supposed")
    if told.by_tool and (not question.subjects or fit < FOLLOWS):  # it must be asked for
        return _Match(told, "other", fit, "")
    if filled(question, statement) is False:
        return _Match(told, "bears" if fit >= NEAR else "other", fit, "detail")
    if fit < NEAR or near.apart or not near.whole:
        return _Match(told, "bears", fit, "detail" if near.apart else "", near.common)
    return _Match(told, "answers", fit, _certain(question, statement, near.common), near.common)


def _certain(question: Question, statement: Statement, common: float) -> Reason:
    """Why what answers may not: nothing, where that is sure."""
    return "" if is_sure(question, statement, common) else "unsure"


def _is_meant(question: Question, statement: Statement) -> bool:
    """Whether a question asks for what is planned, wished or played, too."""
    how = statement.modality
    if how == question.modality or (how == "plan" and question.ask.kind == "time"):  # "when is my check-up?"
        return True
    if question.modality in {"wish", "plan"}:
        return how in {"wish", "plan", "hypothetical"}
    staged = says("staged", question.text, question.language)
    return how == "fiction" and staged and question.terms <= statement.terms  # "whom do I play in the play?"


def _succeeded(
    question: Question, best: Mapping[int, _Match], matches: Sequence[_Match], memories: int
) -> dict[int, Judged]:
    """The memories, those that the user's own newer words ended as history, or as what is asked for."""
    holds = [one for one in best.values() if one.bearing in {"answers", "bears"} and one.reason != "detail"]
    top = max((one.fit for one in holds), default=0.0)
    least = FOLLOWS if "before" in question.marks else NEAR
    near = {one.told.memory for one in holds if one.fit >= least or one.fit == top}
    ended = {old: new for old, new in over(one.told for one in matches).items() if old in near}
    took: dict[int, list[int]] = {}
    for old, new in sorted(ended.items(), reverse=True):
        took.setdefault(new, []).append(old)
    found = {
        memory: _standing(question, one, best[ended[memory]].told if memory in ended else None, took.get(memory, ()))
        for memory, one in best.items()
    }
    return found if "before" in question.marks else _unsettled(question, best, matches, found, memories)


def _unsettled(
    question: Question,
    best: Mapping[int, _Match],
    matches: Sequence[_Match],
    found: Mapping[int, Judged],
    memories: int,
) -> dict[int, Judged]:
    """The same, with what answers and may be out of date: something newer speaks of it, and both are told."""
    out = dict(found)
    answering = [old for memory, old in best.items() if found[memory].bearing == "answers" and not found[memory].took]
    if not answering:
        return out
    least = beyond_chance(memories)
    near = (one for one in matches if one.fit >= least or not UPDATES.isdisjoint(one.told.statement.marks))
    newer = (_Later(question, one, memories) for one in near if _stands_for_itself(one))
    later = [one for one in newer if one.updates or one.tells]
    for old in answering:
        since = [one.told.memory for one in later if one.may_change(old)]
        if not since:
            continue
        memory = old.told.memory
        if answers := [new for new in since if found[new].bearing == "answers"]:  # the newest of them stands first
            out[memory] = out[memory]._replace(taken_by=(max(answers),))
            continue
        out[memory] = found[memory]._replace(bearing="bears", reason="changed", taken_by=(max(since),))
        for new in since:
            out[new] = Judged("bears", max(found[new].fit, FOLLOWS), "", best[new].told.said_at)
    return out


def _stands_for_itself(one: _Match) -> bool:
    """Whether a statement may change others at all."""
    said = one.told.statement
    return not one.told.by_tool and said.modality == "fact" and "still" not in said.marks


class _Later:
    """A statement that may have changed older ones; what it is compared by is worked out once, where it is needed."""

    def __init__(self, question: Question, match: _Match, memories: int) -> None:
        self.told = match.told
        self._question, self._match, self._memories = question, match, memories
        self._said = match.told.statement
        self._others = self._said.subjects - {USER, NOBODY}
        self.updates = not UPDATES.isdisjoint(self._said.marks)

    def may_change(self, old: _Match) -> bool:
        """Whether it may have changed an older one, by what the two have in common."""
        before, after = old.told.statement, self._said
        if self.told.memory <= old.told.memory:
            return False
        if self.told.said_at < old.told.said_at and not self.updates:  # told later of a time before: neither is sure
            return False
        named = not (after.terms.isdisjoint(before.terms) and self._others.isdisjoint(before.mentions))
        if not self.updates:
            return named and self.tells
        near = max(self._match.fit, alike(before, after))
        if near < beyond_chance(self._memories * MARKED):
            return False
        return named or (self._is_about_asked and (near >= FOLLOWS or _cosine(before, after) >= MAYBE))

    @cached_property
    def _is_about_asked(self) -> bool:
        return self._match.reason != "subject" and is_about(self._question, self._said.subjects)

    @cached_property
    def tells(self) -> bool:
        """Whether it may be what is asked for."""
        near = self._match.fit >= beyond_chance(self._memories)
        return (
            near and is_about(self._question, self._said.subjects) and filled(self._question, self._said) is not False
        )


def _cosine(one: Statement, other: Statement) -> float:
    if one.vector is None or other.vector is None or one.vector.shape != other.vector.shape:
        return 0.0
    return float(one.vector @ other.vector)


def _standing(question: Question, match: _Match, after: Told | None, took: Sequence[int]) -> Judged:
    """How a memory stands: `after` is what ended it, `took` are those that it ended."""
    if match.bearing != "answers" and after is None and not took:
        return Judged(match.bearing, match.fit, match.reason, match.told.said_at)
    bearing, reason = match.bearing, match.reason
    wants_past = "before" in question.marks
    if after is not None:
        bearing = "answers" if wants_past else "history"
    elif took:
        bearing, reason = "bears" if wants_past else "answers", ""
    elif wants_past and bearing == "answers" and "ended" not in match.told.statement.marks:
        bearing, reason = "bears", "present"
    if bearing == "answers":
        reason = _certain(question, match.told.statement, match.common)
    since = match.told.said_at
    if after is None:
        return Judged(bearing, match.fit, reason, since, took=tuple(took))
    return Judged(bearing, match.fit, reason, since, after.said_at, (after.memory,), tuple(took))
