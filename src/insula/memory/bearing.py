"""What each memory has to do with what is asked: it answers, bears on it, is history, or is another matter.

A statement answers where it is about the one asked about, meant as a fact, near in matter, and holds a value of the
kind asked for. A newer statement on the same matter, of the same one, that says that something changed, ended or was
wrong, stands in the place of the older, which is history with its dates.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from insula.memory.assertion import Question, Statement
from insula.memory.certainty import is_sure
from insula.memory.encoding import USER
from insula.memory.matter import by_chance, common, nearness
from insula.memory.modality import UPDATES
from insula.memory.near import Near, nearnesses, who_terms
from insula.memory.slots import counts, filled
from insula.memory.subject import NOBODY, fits, names_of, people, same
from insula.text.analysis import fold
from insula.text.grammar import UNSPACED
from insula.types import Bearing, Reason

NEAR, FAR = 0.2, -0.05
"""Nearness from which a statement is on the matter asked for, and below which it is on another."""
MAYBE = 0.22
"""Cosine of two statements from which the newer, if it tells of a change, may have changed the older."""
FOLLOWS = 0.08
"""Nearness of a newer statement to an older one from which it may take its place."""
SUPPOSED = frozenset({"hypothetical", "wish", "plan", "fiction", "joke"})
SAME = 0.3
"""Chance of a matter in common from which a statement may tell of whom its subject has ("my boss")."""
MARKED = 0.1
"""The share of lines that tell of a change, a correction or an end."""
MOST = 0.5
"""The share of a question's words above which a statement tells what it asks."""
LIKELY = 0.5
"""Lines as near by chance from which nearness alone tells no succession."""


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
    """Until when it held, where a newer one took its place."""
    taken_by: tuple[int, ...] = ()
    """The memories that took its place."""
    took: tuple[int, ...] = ()
    """Those whose place it took, the latest first."""


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


def aliases(told: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """Who else a name or a path may mean, by the subjects of statements: "my sister Ana" makes them one."""
    found: dict[str, set[str]] = {}
    for subjects in {one for one in told if len(one) > 1}:
        names = {path for path in subjects if path and "/" not in path}
        paths = {path for path in subjects if "/" in path}
        if len(names) == 1 and len(paths) == 1 and "user" not in names:
            for path in (*names, *paths):
                found.setdefault(path, set()).update(names | paths)
    return {path: frozenset(others) for path, others in found.items()}


def _of(
    question: Question, told: Sequence[Told], named: Mapping[str, frozenset[str]], memories: int
) -> dict[int, Judged]:
    about = _meant(question.subjects, named)
    asked = question._replace(subjects=about)
    near = nearnesses(asked, [one.statement for one in told])
    asked = asked._replace(vector=None)  # from here on it is a key, too
    matches = [_match(asked, one, how) for one, how in zip(told, near, strict=True)]
    best: dict[int, _Match] = {}
    for match in matches:
        known = best.get(match.told.memory)
        if known is None or match.order < known.order:
            best[match.told.memory] = match
    for one in matches:
        match = best[one.told.memory]
        if match.reason == "detail" and _completes(asked, match, one):
            best[one.told.memory] = match._replace(bearing="bears", reason="")
    return _succeeded(asked, best, matches, memories)


def _completes(question: Question, match: _Match, other: _Match) -> bool:
    """Whether another statement of the same memory may hold the detail: "when I have a migraine, I take Naramig"."""
    if other is match or other.reason in {"subject", "supposed", "detail"}:
        return False
    held = filled(question, other.told.statement) if question.ask.kind != "why" else None
    return held is True or (held is None and match.fit >= NEAR and bool(other.told.statement.terms - question.terms))


def _meant(subjects: frozenset[str], named: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Those asked about under all their names; who is asked about by name is nobody of another name."""
    others = frozenset[str]().union(*(named.get(path, frozenset()) for path in subjects))
    if not names_of(subjects):
        return subjects | others
    known = any("/" in path for path in subjects)  # "my son Pablo" is not my boss Pablo
    return subjects if known else subjects | frozenset(path for path in others if "/" in path)


def _match(question: Question, told: Told, near: Near) -> _Match:
    statement, fit = told.statement, near.fit
    if fit < FAR:
        return _Match(told, "other", fit, "")
    if not _is_about(question, statement.subjects) and not (near.common >= SAME and _of_owner(question, statement)):
        of_it = _is_beside(question, statement) or _is_such(question, statement)
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
    asked_all = len(question.terms) > 1 and question.terms <= statement.terms
    return how == "fiction" and asked_all  # "whom do I play in the play?"


def _of_owner(question: Question, statement: Statement) -> bool:
    """Whether a statement is about whom those asked about belong to: "I report to Dr Galli now" tells my boss."""
    owners = frozenset(path.rpartition("/")[0] for path in question.subjects if "/" in path)
    return question.ask.kind in {"person", "name"} and bool(owners & statement.subjects)


def _is_beside(question: Question, statement: Statement) -> bool:
    """Whether a statement of the user's own speaks of the one asked about: "my godchild's christening …"."""
    asked = question.subjects - {USER, NOBODY}
    reported = people(statement.language).words["say"].intersection(re.findall(r"\w+", fold(statement.text.lower())))
    return statement.subjects <= {USER} and bool(asked & statement.mentions) and not reported


def _is_such(question: Question, statement: Statement) -> bool:
    """Whether a question asks of some being without saying whose, and a statement tells most of it of one such.

    "Whose cat had kittens?" and "which dog bit the postman?" ask of any cat and dog; "my son" is my own.
    """
    if question.ask.kind != "person" and _says_own(question):
        return False
    asked = question.terms - who_terms(question)
    kinds = {path.rpartition("/")[2] for path in question.subjects if "/" in path}
    of_kind = kinds & {path.rpartition("/")[2] for path in statement.subjects if "/" in path}
    return bool(of_kind) and len(asked & statement.terms) > MOST * len(asked)


def _says_own(question: Question) -> bool:
    """Whether a question says "my"."""
    words = people(question.language).words
    if question.language in UNSPACED:
        return any(word in question.text for word in words["first"])
    return not words["first_own"].isdisjoint(fold(word) for word in re.findall(r"\w+", question.text.lower()))


def _of_theirs(question: Question, subjects: frozenset[str]) -> bool:
    """Whether a statement is about one of theirs, and a question asks who of them: "who of us keeps bees?"."""
    return question.ask.kind == "person" and any(
        path.startswith(f"{one}/") for path in subjects for one in question.subjects
    )


@lru_cache(maxsize=4_096)
def _is_about(question: Question, subjects: frozenset[str]) -> bool:
    """Whether a statement about some may be about whom the question asks about: few are spoken of in hundreds."""
    said = subjects - {""}
    if fits(question.subjects, said) or _of_theirs(question, subjects):
        return True
    if question.subjects == frozenset({USER}) and _of_kind_asked(question, subjects):
        return True
    things = {path for path in question.subjects if "/" in path}  # "how many cats do I have" asks about me
    owner = frozenset(path.rpartition("/")[0] for path in things)
    counted = question.ask.kind == "list" or (question.ask.kind == "number" and counts(question))
    return bool(things) and counted and fits(owner, said)


@lru_cache(maxsize=64)  # it is asked of each statement
def _kinds_named(text: str, language: str) -> frozenset[str]:
    """The kinds of the user's people that a question names."""
    known = people(language)
    words = re.findall(r"\w+", fold(text.lower()))
    return frozenset(f"{USER}/{being}" for word in words if (being := known.being(word)))


def _of_kind_asked(question: Question, subjects: frozenset[str]) -> bool:
    """Whether a statement is about one of the user's of whom the question names the kind: "which brother of mine"."""
    kinds = _kinds_named(question.text, question.language)
    return bool(kinds) and any(same(kind, path) for kind in kinds for path in subjects)


def _succeeded(
    question: Question, best: Mapping[int, _Match], matches: Sequence[_Match], memories: int
) -> dict[int, Judged]:
    """The memories with those that a newer one took the place of as history, or as what is asked for."""
    holds = [one for one in best.values() if one.bearing in {"answers", "bears"} and one.reason != "detail"]
    top = max((one.fit for one in holds), default=0.0)
    least = FOLLOWS if "before" in question.marks else NEAR
    old_ones = [one for one in holds if one.fit >= least or one.fit == top]
    updates = [one for one in matches if _is_update(question, one)]
    newer = {old.told.memory: [new for new in updates if _replaces(new, old, memories)] for old in old_ones}
    took: dict[int, set[int]] = {}
    for memory, after in newer.items():
        for new in after:
            took.setdefault(new.told.memory, set()).add(memory)
    found = {
        memory: _standing(question, one, newer.get(memory, []), sorted(took.get(memory, ()), reverse=True))
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
    later = [_Later(question, one, memories) for one in matches if _stands_for_itself(one)]
    for memory, old in best.items():
        since = [one.told.memory for one in later if one.may_change(old)] if found[memory].bearing == "answers" else []
        if not since or any(found[new].bearing == "answers" for new in since):
            continue
        out[memory] = found[memory]._replace(bearing="bears", reason="changed", taken_by=(since[-1],))
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
        self._updates = not UPDATES.isdisjoint(self._said.marks)

    def may_change(self, old: _Match) -> bool:
        """Whether it may have changed an older one, by what the two have in common."""
        before, after = old.told.statement, self._said
        if self.told.memory <= old.told.memory or self.told.said_at < old.told.said_at:
            return False
        named = not (after.terms.isdisjoint(before.terms) and self._others.isdisjoint(before.mentions))
        if not self._updates:
            return named and self._tells
        meant = named or (_is_about(self._question, after.subjects) and _cosine(before, after) >= MAYBE)
        return meant and _is_near(old, self._match, self._memories)

    @cached_property
    def _tells(self) -> bool:
        """Whether it may be what is asked for."""
        near = by_chance(self._match.fit, self._memories) <= LIKELY
        return (
            near and _is_about(self._question, self._said.subjects) and filled(self._question, self._said) is not False
        )


def _cosine(one: Statement, other: Statement) -> float:
    if one.vector is None or other.vector is None or one.vector.shape != other.vector.shape:
        return 0.0
    return float(one.vector @ other.vector)


def _standing(question: Question, match: _Match, after: Sequence[_Match], took: Sequence[int]) -> Judged:
    bearing, reason = match.bearing, match.reason
    wants_past = "before" in question.marks
    until = min((one.told.said_at for one in after), default=None)
    if after:
        bearing = "answers" if wants_past else "history"
    elif took:
        bearing, reason = "bears" if wants_past else "answers", ""
    elif wants_past and bearing == "answers" and "ended" not in match.told.statement.marks:
        bearing, reason = "bears", "present"
    if bearing == "answers":
        reason = _certain(question, match.told.statement, match.common)
    taken_by = tuple(sorted({one.told.memory for one in after}))
    return Judged(bearing, match.fit, reason, match.told.said_at, until, taken_by, tuple(took))


def _is_update(question: Question, new: _Match) -> bool:
    """Whether a statement may take the place of any older one."""
    said = new.told.statement
    return (
        not UPDATES.isdisjoint(said.marks)
        and not ("still" in said.marks and "corrects" not in said.marks)
        and said.modality == "fact"
        and new.reason != "subject"
        and _is_about(question, said.subjects)
    )


def _replaces(new: _Match, old: _Match, memories: int) -> bool:
    """Whether a statement takes the place of an older one."""
    return (
        new.told.said_at >= old.told.said_at
        and new.told.memory > old.told.memory
        and (new.fit >= FOLLOWS or _alike(old.told.statement, new.told.statement) >= FOLLOWS)
        and _is_near(old, new, memories)
    )


def _is_near(old: _Match, new: _Match, memories: int) -> bool:
    """Whether a newer line that tells of a change is near to what is asked, or to the older, and not by chance."""
    changing = memories * MARKED
    return (
        by_chance(new.fit, changing) <= LIKELY
        or by_chance(_alike(old.told.statement, new.told.statement), changing) <= LIKELY
    )


def _alike(old: Statement, new: Statement) -> float:
    """How near two statements are in matter."""
    if old.vector is None or new.vector is None or old.vector.shape != new.vector.shape:
        both = old.terms | new.terms
        return len(old.terms & new.terms) / len(both) if both else 0.0
    return nearness(float(old.vector @ new.vector), common(old.vector, new.vector), 0.0)
