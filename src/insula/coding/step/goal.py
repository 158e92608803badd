"""Open failures: what is being run, how it fails, since when, and what was changed for it.

A failure stays open across edits, reads, other commands, the user's messages, a compaction and a resume. It closes when
what failed succeeds, and begins anew when it fails in another way, for that is progress.
"""

from insula.coding.step.action import EDIT, Action, Failing
from insula.coding.step.command import name_check
from insula.coding.step.programs import INTERPRETERS

MOST = 12
"""Failures that are kept open; the one that was met longest ago goes first."""
FILES = 3
"""Changed files that are named."""
STALE = 400
"""Turns after which a failure that nobody met again is forgotten."""
_TESTS = "test "
_WHOLE = ("test", "type check", "linter", "build", "install")
"""What may be run as a whole or in part."""
_GIVEN = frozenset(f"run {name}" for name in INTERPRETERS)
"""Where no file is named, the program stands in the line itself."""
WHOLE = frozenset((".", "./...", "...", "tests", "test", "src"))
"""Selectors that select all."""


class Goal(Failing):
    """One open failure."""

    id: str
    """Of this stretch of it: another after it has begun anew."""
    family: str
    selectors: tuple[str, ...] = ()
    workspace: str = ""
    label: str = ""
    error: str = ""
    """Template of the failure."""
    named: str = ""
    denied: bool = False
    proves: bool = False
    first: int = 0
    """Turn in which it failed first, ..."""
    last: int = 0
    """... and last."""
    at: float = 0.0
    """When it failed first."""
    turns: int = 1
    """Turns in which it failed in this way."""
    same_words: bool = True
    """Whether it failed each time with the same words, but for numbers, names and paths."""
    same_run: bool = True
    """Whether the very same call was made each time, and had the very same output."""
    fixes: int = 0
    """How often it failed in this way though something had been changed since the time before."""
    changed: int = 0
    """Changes since it failed last, ..."""
    edits: int = 0
    """... and since it failed first."""
    files: tuple[str, ...] = ()
    """What was changed, as it may be named."""
    unnamed: bool = False
    """Whether something else was changed, too."""
    edit: str = ""
    """The last change, as what it took out and put in: the same again, elsewhere, is one change (a rename)."""
    call: str = ""
    """Digest of the last call of it."""
    result: str = ""

    @property
    def is_command(self) -> bool:
        """Whether it is a command, to which a change of files may matter."""
        return not self.family.startswith(("read ", "edit ", "search ", "other "))


Goals = tuple[Goal, ...]


def update_goals(goals: Goals, action: Action, turn: int) -> tuple[Goals, Goals]:
    """The open failures after an action, and those that it closed."""
    if action.failed:
        return _take_failure(goals, action, turn)
    shut = tuple(goal for goal in goals if _closes_goal(action, goal))
    kept = tuple(goal for goal in goals if goal not in shut and turn - goal.last <= STALE)
    if action.unsure:  # it was run; how, is not known
        kept = tuple(goal.replace(changed=0) if _covers_all(action, goal) else goal for goal in kept)
    return (tuple(_note_change(goal, action) for goal in kept) if action.is_progress else kept), shut


def _take_failure(goals: Goals, action: Action, turn: int) -> tuple[Goals, Goals]:
    before = next((goal for goal in reversed(goals) if _is_of_goal(action, goal)), None)
    others = tuple(goal for goal in goals if goal is not before)
    if before is not None and _fails_alike(before, action):
        return (*others, _repeat_goal(before, action, turn)), ()
    return (*others, _open_goal(action, turn))[-MOST:], (before,) if before is not None else ()


_COPIED = ("family", "selectors", "workspace", "label", "error", "failure", "named", "call", "result")
"""What a goal has of the call that failed last."""


def _open_goal(action: Action, turn: int) -> Goal:
    from insula.coding.step.digests import hash_text

    return Goal(
        id=hash_text(f"{action.family} {action.selectors} {turn} {action.at}", 8),
        denied=action.denied,
        proves=action.proves,
        first=turn,
        last=turn,
        at=action.at,
        **{name: getattr(action, name) for name in _COPIED},
    )


def _repeat_goal(goal: Goal, action: Action, turn: int) -> Goal:
    if goal.last == turn:
        return goal
    new = {name: getattr(action, name) for name in _COPIED}
    new |= {name: getattr(goal, name) for name in ("workspace", "label", "error") if not new[name]}
    if not action.failure.names:
        new["failure"] = goal.failure
    if action.named != goal.named:
        new["named"] = ""
    new["same_words"] = goal.same_words and new["error"] == (goal.error or new["error"])
    new["same_run"] = goal.same_run and (action.call, action.result) == (goal.call, goal.result)
    return goal.replace(**new, last=turn, turns=goal.turns + 1, fixes=goal.fixes + (goal.changed > 0), changed=0)


def _note_change(goal: Goal, action: Action) -> Goal:
    name = action.label if action.kind == EDIT else ""
    known = name and (name in goal.files or len(goal.files) < FILES)
    edit = f"{action.before} {action.after}" if action.before else ""
    more = not edit or edit != goal.edit
    return goal.replace(
        changed=goal.changed + more,
        edits=goal.edits + more,
        edit=edit,
        files=(*goal.files, name) if known and name not in goal.files else goal.files,
        unnamed=goal.unnamed or not known,
    )


def _is_of_goal(action: Action, goal: Goal) -> bool:
    """Whether an action is of the goal: the same family, and the same part of it, or a part, or the same names fail."""
    if action.denied != goal.denied:
        return False
    if action.family != goal.family:  # `make test` and `pytest tests/a.py` are one where the same tests fail
        tests = action.family.startswith(_TESTS) and goal.family.startswith(_TESTS)
        return tests and bool(set(action.failure.names) & set(goal.failure.names))
    if not is_same_place(action.workspace, goal.workspace):
        return False
    if set(action.failure.names) & set(goal.failure.names):
        return True
    if not action.selectors and action.family in _GIVEN and action.call != goal.call:
        return bool(set(action.failure.thrown) & set(goal.failure.thrown))  # `python -c "…"` of something else
    if action.selectors == goal.selectors:
        return True
    return _covers_goal(action.selectors, goal) or _covers_goal(goal.selectors, goal, action.selectors)


def _closes_goal(action: Action, goal: Goal) -> bool:
    """Whether an action that went well shows that the goal is reached."""
    if not action.ok or not action.ran:
        return False
    return name_check(goal.family, goal.selectors, goal.workspace) in action.also or (
        not action.unsure and _covers_all(action, goal)
    )


def _covers_all(action: Action, goal: Goal) -> bool:
    """Whether an action runs all that the goal is about."""
    if not is_same_place(action.workspace, goal.workspace):
        return False
    if action.family != goal.family:  # all tests are well, by whatever name they were run
        both = action.proves and action.family.startswith(_TESTS) and goal.family.startswith(_TESTS)
        return both and not action.selectors
    return action.selectors == goal.selectors or _covers_goal(action.selectors, goal)


def _covers_goal(selectors: tuple[str, ...], goal: Goal, inner: tuple[str, ...] | None = None) -> bool:
    """Whether what is selected holds the goal's part: all of it, or a folder above."""
    if not goal.family.startswith(_WHOLE):
        return False
    parts = goal.selectors if inner is None else inner
    whole = not selectors or set(selectors) <= WHOLE
    return whole or (bool(parts) and all(any(_is_under(part, above) for above in selectors) for part in parts))


def _is_under(part: str, above: str) -> bool:
    bare = above.removesuffix("...").rstrip("/")
    return part == above or part.startswith((f"{bare}/", f"{bare}::"))


def is_same_place(first: str, other: str) -> bool:
    """Whether two commands may run in the same part of a project: one of them does not say where, or they agree."""
    return not first or not other or f"/{first}".endswith(f"/{other}") or f"/{other}".endswith(f"/{first}")


def _fails_alike(goal: Goal, action: Action) -> bool:
    if action.denied:  # and so is the goal: of another it would not be
        return True
    if not (goal.error or action.error or goal.failure.names or action.failure.names):
        return action.call == goal.call  # what says nothing fails like itself alone
    from insula.coding.step.failure import is_same_failure

    return is_same_failure(goal.failure, action.failure, goal.error, action.error)
