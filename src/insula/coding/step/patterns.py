"""What goes wrong again and again in the work of coding agents, and what we say about it in the next session.

A pattern looks at the whole session of one agent. It counts only where it had its *opportunity*, and here lies a trap:
a rule that works changes the session. If its success also removed the opportunity (a file read once instead of three
times leaves one read, not three), the sessions that it mended would drop out of the comparison, and it could never be
seen to work. So an opportunity is counted in what the rule leaves alone: *different* files, *different* calls, commands
that *succeeded*, the *first* error. `tests/step/test_patterns.py` removes each failure and asks whether the opportunity
is still there.

The advice is ours alone: nothing from a tool, a repository or a user stands in it (law 10).
"""

from insula.coding.step.action import EDIT, EXECUTE, READ, WINDOW, Action
from insula.coding.step.failure import fail_alike
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Actions = Sequence[Action]

ERRORS = 4
"""Similar errors in a row that make a loop (seed 002)."""
CALM = 3
"""Successes that end a row of errors, as they calm the ladder (P3)."""
REPEATS = 3
"""The same call with the same result, the same unchanged file: as the vestibular sense counts (P1)."""
FAILURES = 2
"""Failed edits, missing paths, unknown commands: one is a slip."""
BLIND = 6
"""Successful edits in a row that nothing was run between. By themselves they are how good agents work as well (seven in
ten sessions of Claude Code have them); what fails is the command after them."""
VARIETY = 6
"""Different calls, or commands and reads that went well, of a session that was long enough to fail; the code of seed
002 asks for more than five calls."""
FILES = 3
"""Different files read, for a file to be read again."""
_LOST = ("no such file", "does not exist", "not found", "cannot find")
_LOST_BY_COMMAND = ("no such file", "can't open file", "cannot find the path")
"""In the output of a command "not found" may be said of anything: a table, a fixture, a page."""
_OF_THE_HOST = "spawn"
"""A tool that the host itself could not start is no path of the agent's."""
_UNKNOWN_COMMAND = ("command not found", "is not recognized as", ": not found")
_PROSE = (".md", ".markdown", ".txt", ".rst", ".adoc", ".tex")
"""There is nothing to run after these."""


class Pattern(Value):
    """A failure that can be seen in the actions of a session, and advice against it."""

    id: str
    advice: str
    happened: "Callable[[Actions], bool]"
    opportunity: "Callable[[Actions], bool]"


# What happened.


def _has_error_loop(actions: "Actions") -> bool:
    row: list[Action] = []
    fine = 0
    for action in actions:
        if action.ok:
            fine += 1
            continue
        row = [*row, action] if row and fine < CALM and fail_alike(row[-1], action) else [action]
        fine = 0
        if len(row) == ERRORS:
            return True
    return False


def _has_repeated_action(actions: "Actions") -> bool:
    """An edit that went well is progress, a call that waits may be repeated, and reading has a pattern of its own."""
    seen: dict[tuple[str, str, str], list[int]] = {}
    for place, action in enumerate(actions):
        if action.kind == EDIT and action.ok:
            seen = {}
        elif _is_act(action) and action.result and not action.waits and _is_third_time(seen, action, place):
            return True
    return False


def _has_reread(actions: "Actions") -> bool:
    seen: dict[tuple[str, str, str], list[int]] = {}
    for place, action in enumerate(actions):
        if action.kind == EDIT and action.ok:
            seen = {read: places for read, places in seen.items() if read[0] != action.target}
        elif _is_read(action) and action.result and _is_third_time(seen, action, place):
            return True
    return False


def _is_third_time(seen: "dict[tuple[str, str, str], list[int]]", action: Action, place: int) -> bool:
    """Whether call and result are there for the third time within the window of the senses."""
    places = seen.setdefault((action.target, action.call, action.result), [])
    places.append(place)
    return len(places) >= REPEATS and place - places[-REPEATS] < WINDOW


def _is_lost(action: Action) -> bool:
    if action.ok or action.kind not in (READ, EXECUTE) or _is_unknown(action) or _OF_THE_HOST in action.error:
        return False
    return any(mark in action.error for mark in (_LOST if action.kind == READ else _LOST_BY_COMMAND))


def _is_unknown(action: Action) -> bool:
    return action.kind == EXECUTE and not action.ok and any(mark in action.error for mark in _UNKNOWN_COMMAND)


def _has_blind_edits(actions: "Actions") -> bool:
    row = 0
    for action in actions:
        if action.kind == EXECUTE:
            if row >= BLIND and not action.ok:
                return True
            row = 0
        else:
            row += _is_change(action)
    return False


def _is_act(action: Action) -> bool:
    return action.kind not in (READ, EDIT)


def _is_read(action: Action) -> bool:
    return action.kind == READ and action.ok and action.target != ""


def _is_change(action: Action) -> bool:
    return action.kind == EDIT and action.ok and not action.target.lower().endswith(_PROSE)


def is_work(actions: "Actions") -> bool:
    """Whether a session was long enough for its user to be content or not."""
    return len({action.call for action in actions}) >= VARIETY


def _are(least: int, fits: "Callable[[Action], bool]") -> "Callable[[Actions], bool]":
    """Whether at least so many actions are of a kind."""
    return lambda actions: sum(map(fits, actions)) >= least


PATTERNS = (
    Pattern(
        id="error-loop",
        advice="When the same kind of error comes a second time, find its cause before you try again.",
        happened=_has_error_loop,
        opportunity=_are(1, lambda action: not action.ok),  # the first comes before the rule has anything to say
    ),
    Pattern(
        id="repeated-action",
        advice="A call that is repeated unchanged gives the same result: work with the first one, or change something.",
        happened=_has_repeated_action,
        opportunity=lambda actions: len({action.call for action in actions if _is_act(action)}) >= VARIETY,
    ),
    Pattern(
        id="reread",
        advice="What was read and did not change is still in your context; read again only lines that you will edit.",
        happened=_has_reread,
        opportunity=lambda actions: len({action.target for action in actions if _is_read(action)}) >= FILES,
    ),
    Pattern(
        id="stale-edit",
        advice="Read the passage again right before editing it, and copy the old text exactly.",
        happened=_are(FAILURES, lambda action: action.kind == EDIT and not action.ok),
        opportunity=_are(1, lambda action: action.kind == EDIT),  # failed or not: one that now succeeds is still one
    ),
    Pattern(
        id="missing-path",
        advice="Look a path up, by listing the folder or searching for the name, before you use it.",
        happened=_are(FAILURES, _is_lost),
        opportunity=_are(VARIETY, lambda action: action.ok and action.kind in (READ, EXECUTE)),
    ),
    Pattern(
        id="blind-edits",
        advice="After a few edits, run the tests or the program before you go on editing.",
        happened=_has_blind_edits,
        opportunity=_are(BLIND, _is_change),  # in a row or not: what is run between them takes none away
    ),
    Pattern(
        id="wrong-command",
        advice="Check which commands and package managers this machine has before you rely on one.",
        happened=_are(FAILURES, _is_unknown),
        opportunity=_are(FILES, lambda action: action.ok and action.kind == EXECUTE),
    ),
)
BY_ID = {pattern.id: pattern for pattern in PATTERNS}


def judge_patterns(agents: "Sequence[Actions]") -> dict[str, bool]:
    """For each pattern that had its opportunity in a session, whether it happened.

    Args:
        agents: the actions of the main agent and of each subagent; one that had the opportunity is enough, and only
            what happened to such a one counts.
    """
    judged: dict[str, bool] = {}
    for pattern in PATTERNS:
        could = [actions for actions in agents if pattern.opportunity(actions)]
        if could:
            judged[pattern.id] = any(map(pattern.happened, could))
    return judged
