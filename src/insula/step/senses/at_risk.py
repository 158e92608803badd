"""Work at risk: what no commit has may be lost by a stash, reset, checkout, clean, drop, force-push or deletion.

What the tree holds is known by the agent's own edits since the last commit, and by what version control itself says: a
stash that saved something, paths that were updated. It is told once for each kind, with how to get the work back.
"""

from insula.step.action import Action
from insula.step.command import CLEANS, DELETES, DISCARDS, DROPS, FORCES, RESETS, STASHES, UNSTASHES
from insula.step.senses.oscillation import standing
from insula.step.state import Edit, Reading, State

NAME = "at_risk"
LABEL = "uncommitted work at risk"
CLIMBS = False

UNDO = "undo"
"""The user asked for something to be taken back."""
_PASSING = frozenset(
    "node_modules dist build target out coverage tmp temp .cache __pycache__ .pytest_cache .mypy_cache .ruff_cache "
    ".next venv .venv bin obj .turbo .gradle htmlcov .tox site logs".split()
)
"""Folders that are made again."""
_EVERYTHING = frozenset((".", "*", "./", "..", "/", "~", "./*", ".git"))


def feel(state: State, action: Action) -> Reading | None:
    """Whether the last call may have lost work."""
    acts = set(action.acts)
    if not acts or not action.ok or not action.ran or UNSTASHES in acts or UNDO in state.asked:
        return None
    acts -= set(state.asked)
    act = next((act for act in _TOLD if act in acts and _endangers(act, state, action)), None)
    return Reading(sense=NAME, count=1, key=f"risk {act}", form=act, label=action.label) if act else None


def foresee(state: State, action: Action) -> Reading | None:
    """Whether the call may lose work that is known to be there."""
    reading = feel(state, action)
    return reading if reading is not None and (reading.form != STASHES or state.carry.dirty) else None


def _endangers(act: str, state: State, action: Action) -> bool:
    if act in {STASHES, DROPS, FORCES}:
        return True
    edits = [one for one in standing(state.edits, action.nth) if one.turn > state.carry.committed]
    unsaved = [one.target for one in edits]
    if act in {DELETES, DISCARDS} and action.touches and _is_a_slip(edits, state, action):
        return False
    if act == DELETES:
        return any(_loses(path, unsaved) for path in action.touches)
    if act == DISCARDS and action.touches:
        return any(
            target.endswith(path.removeprefix("./")) or f"/{path.strip('./')}/" in target
            for path in action.touches
            for target in unsaved
        )
    return state.carry.dirty > 0


def _is_a_slip(edits: list[Edit], state: State, action: Action) -> bool:
    """Whether the agent takes back one fresh change of its own to one file, or a folder with one new one."""
    paths = [path.removeprefix("./").rstrip("/") for path in action.touches]
    own = [one for one in edits if any(one.target.endswith(path) or _is_new_in(one, path) for path in paths)]
    return len(own) == 1 and own[0].turn > state.carry.user_turn and len(action.touches) == 1


def _is_new_in(one: Edit, folder: str) -> bool:
    return not one.before and f"/{folder}/" in one.target


def _loses(path: str, unsaved: list[str]) -> bool:
    bare = path.rstrip("/")
    if path in _EVERYTHING or bare.endswith("/.git"):
        return True
    if bare.rsplit("/", 1)[-1] in _PASSING or bare.startswith(("/tmp/", "/var/folders/")):  # noqa: S108
        return False
    inside = bare.removeprefix("./")
    return any(target.endswith(f"/{inside}") or f"/{inside}/" in f"/{target}" for target in unsaved)


def fact(reading: Reading) -> str:
    """What was done, and how to get back what may be lost."""
    told, back = (_AHEAD, _FIRST) if reading.ahead else (_TOLD, _BACK)
    return f"{told[reading.form]} {back[reading.form]}"


_AHEAD = {
    FORCES: "This push is forced: commits that only the remote has will be gone from its branch.",
    DROPS: "This drops a stash, with the uncommitted work that it holds.",
    RESETS: "The tree holds changes that no commit has, and this reset takes them away.",
    CLEANS: "This deletes files that version control does not know, with uncommitted work in the tree.",
    DISCARDS: "This throws away changes that no commit has.",
    DELETES: "What this deletes holds changes that no commit has.",
    STASHES: "This takes the uncommitted work out of the tree, the user's own included.",
}
_FIRST = {
    FORCES: "`git fetch` first, and look at what it has; `--force-with-lease` minds what others have pushed.",
    DROPS: "Note what `git stash list --format=%H` shows: `git stash apply` takes that id even when it is dropped.",
    RESETS: "A commit or `git stash` keeps them; afterwards only what was staged can be found again.",
    CLEANS: "`git clean -n` shows which; Git cannot bring them back.",
    DISCARDS: "`git stash push -- PATH` keeps them; afterwards only what was staged can be found again.",
    DELETES: "Commit or copy it first: `git checkout -- PATH` brings back only what was committed.",
    STASHES: "`git stash pop` brings it back; do that before anything else changes these files.",
}
_TOLD = {
    FORCES: "The push was forced: commits that only the remote had are no longer on its branch.",
    DROPS: "A stash was dropped, with the uncommitted work that it held.",
    RESETS: "The tree was reset while it held changes that no commit has.",
    CLEANS: "Files that version control does not know were deleted while uncommitted work was in the tree.",
    DISCARDS: "Changes that no commit has were thrown away by that checkout.",
    DELETES: "What was deleted held changes that no commit has.",
    STASHES: "The uncommitted work in the tree, the user's own included, is now in the stash.",
}
_BACK = {
    FORCES: "`git reflog` still names the former tip of the local branch; the user may have to restore the remote one.",
    DROPS: "`git fsck --no-reflogs --unreachable` still lists its commit, and `git stash apply` takes that id.",
    RESETS: "What was once staged can be found with `git fsck --lost-found`; tell the user what is gone.",
    CLEANS: "Git cannot bring them back: tell the user which files they were.",
    DISCARDS: "What was once staged can be found with `git fsck --lost-found`; the rest must be written again.",
    DELETES: "`git checkout -- PATH` brings back only what was committed; the rest must be written again.",
    STASHES: "`git stash pop` brings it back; do that before anything else changes these files.",
}
ADVICE: "dict[int, tuple[str, ...]]" = {}
