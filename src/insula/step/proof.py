"""Proof: a check that passed after the last change of code and that covers what was changed.

A red check proves nothing, nor does one of another workspace, or of files that have nothing to do with the change.
Where it can't be told whether a check covers a change, it is taken to: what is said of unproven work has to be certain.
"""

from insula.step.action import CODE, EDIT, Action
from insula.step.command import COMMITS
from insula.step.goal import WHOLE, same_place
from insula.step.naming import named_check
from insula.step.programs import COMPILERS, LANGUAGES, PACKAGE_FOLDERS, TEST_FOLDERS
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

CHANGES = 30
"""Changed files that are kept; with more, the oldest go."""
CHECKS = 8
"""Checks of the session that are kept."""


class Change(Value):
    """A file of code that was changed, and that nothing has shown to work since."""

    path: str
    label: str = ""
    turn: int = 0
    packages: tuple[str, ...] = ()
    """The names of the package that it is of."""


class Check(Value):
    """A check of the session, as it came out last."""

    family: str
    selectors: tuple[str, ...] = ()
    workspace: str = ""
    label: str = ""
    turn: int = 0
    passed: bool = True
    changed: int = 0
    """Of a red one: the turn of the last change that it covers, whether that was before it or after; 0 for none."""


class Proof(Value):
    """What was changed and not shown to work, and what could show it."""

    changes: tuple[Change, ...] = ()
    checks: tuple[Check, ...] = ()

    def as_dict(self) -> "dict[str, Any]":
        """The value as JSON holds it."""
        return {
            "changes": [each.as_dict() for each in self.changes],
            "checks": [each.as_dict() for each in self.checks],
        }

    @classmethod
    def of(cls, fields: "dict[str, Any]") -> "Self":
        """The value that was written as JSON."""
        return cls(
            changes=tuple(Change.of(each) for each in fields["changes"]),
            checks=tuple(Check.of(each) for each in fields["checks"]),
        )


def after(proof: Proof, action: Action) -> Proof:
    """What is proven after an action."""
    if action.kind == EDIT:
        return _changed(proof, action) if action.ok and action.role == CODE else proof
    if action.guarded and COMMITS in action.acts and action.ok and action.ran:
        return proof.replace(changes=())  # the project's own hook has checked them
    could_run = action.ran and action.named not in _NOT_RUN
    known = action.ok or not action.also  # of several in a line, which one failed is not known
    return _checked(proof, action) if action.proves and could_run and known else proof


_NOT_RUN = frozenset(("missing command", "missing permission", "port already in use", "refused connection"))
"""Kinds of failures of what was not run at all."""


def _changed(proof: Proof, action: Action) -> Proof:
    paths = action.touches or (action.target,)
    new = [Change(path=path, label=action.label, turn=action.nth, packages=action.packages) for path in paths]
    kept = [change for change in proof.changes if change.path not in paths]
    checks = tuple(
        check.replace(changed=action.nth) if not check.passed and any(covers(check, one) for one in new) else check
        for check in proof.checks
    )
    return proof.replace(changes=(*kept, *new)[-CHANGES:], checks=checks)


def _checked(proof: Proof, action: Action) -> Proof:
    check = Check(
        family=action.family,
        selectors=action.selectors,
        workspace=action.workspace,
        label=action.label,
        turn=action.nth,
        passed=action.ok,
    )
    concerned = [change for change in proof.changes if covers(check, change)]
    before = [each for each in proof.checks if _is_same(each, check)]
    if not action.ok:
        turns = [*(change.turn for change in concerned), *(each.changed for each in before)]
        check = check.replace(changed=max(turns, default=0))
    others = [
        each for each in proof.checks if each not in before and not (action.ok and _settles(check, action.also, each))
    ]
    left = tuple(change for change in proof.changes if not (action.ok and change in concerned))
    return proof.replace(changes=left, checks=(*others, check)[-CHECKS:])


def _is_same(one: Check, other: Check) -> bool:
    return (one.family, one.selectors, one.workspace) == (other.family, other.selectors, other.workspace)


def _settles(passed: Check, also: tuple[str, ...], failed: Check) -> bool:
    """Whether a check that passed shows as well what another one was run for: it is of its kind, and of all of it."""
    if named_check(failed.family, failed.selectors, failed.workspace) in also:
        return True
    kinds = [check.family.split(" ", 1)[0] for check in (passed, failed)]
    compiled = kinds[0] == "test" and kinds[1] in {"build", "type"} and COMPILERS & set(passed.family.split(" "))
    if (kinds[0] != kinds[1] and not compiled) or not same_place(passed.workspace, failed.workspace):
        return False
    whole = not passed.selectors or set(passed.selectors) <= WHOLE
    return whole or (passed.family == failed.family and set(failed.selectors) <= set(passed.selectors))


def stale(proof: Proof, since: int = 0) -> "tuple[Check, Change] | None":
    """A check that passed before the last change of what it covers, and that change; None where nothing is stale.

    Args:
        proof: what is proven.
        since: the turn after which changes count.
    """
    for change in reversed(proof.changes):
        if change.turn > since:
            for check in reversed(proof.checks):
                if check.passed and check.turn < change.turn and covers(check, change):
                    return check, change
    return None


def red(proof: Proof, since: int = 0) -> "Check | None":
    """The check that was red when it was last run, though code that it covers was changed; else None.

    Args:
        proof: what is proven.
        since: the turn after which changes count.
    """
    return next((check for check in reversed(proof.checks) if not check.passed and check.changed > since), None)


def is_proven(proof: Proof, since: int = 0) -> bool:
    """Whether nothing is open of the changes after a turn."""
    return not any(change.turn > since for change in proof.changes)


def covers(check: Check, change: Change) -> bool:
    """Whether a check may have to do with a change: by its workspace, its selectors, its language."""
    return (
        _covers_place(check.workspace, change) and _covers_part(check.selectors, change) and _speaks(check, change.path)
    )


def _covers_place(workspace: str, change: Change) -> bool:
    return not workspace or any(_is_place(one.strip(), change) for one in workspace.split(","))


def _is_place(workspace: str, change: Change) -> bool:
    path = change.path.replace("\\", "/")
    if workspace.startswith("/") or workspace[1:3] == ":/":
        return path.startswith(workspace.rstrip("/") + "/") or not path.startswith(("/", workspace[:3]))
    if f"/{workspace}/" in f"/{path}":
        return True
    last = workspace.rsplit("/", 1)[-1]
    names = change.packages or tuple(_package_by(path.split("/")))
    if not names:
        return "/" not in workspace or workspace.startswith("@")  # the name of a package that may lie anywhere
    return any(same_place(workspace, name) or name.rsplit("/", 1)[-1] == last for name in names)


def _package_by(parts: "list[str]") -> "list[str]":
    """The package that a path is of by the usual folders of packages: `packages/api/src/a.ts`."""
    return [after for folder, after in zip(parts, parts[1:-1], strict=False) if folder in PACKAGE_FOLDERS][-1:]


def _covers_part(selectors: tuple[str, ...], change: Change) -> bool:
    return not selectors or any(_is_part(selector, change.path) for selector in selectors)


def _is_part(selector: str, path: str) -> bool:
    given = selector.split("::", 1)[0].replace("\\", "/").removeprefix("./")
    bare = given.removesuffix("...").rstrip("/")
    path = path.replace("\\", "/")
    name = bare.rsplit("/", 1)[-1]
    if bare in {"", "."} or ("/" not in given and "." not in bare):
        return True  # all, or the name of a test, of a package, of a target: that can't be told
    if f"/{bare}/" in f"/{path}/" or "*" in bare or name in path.split("/")[:-1]:
        return True
    if "." not in name:
        return bool(TEST_FOLDERS & set(bare.split("/")))
    one, other = _stem(name), _stem(path.rsplit("/", 1)[-1])
    return one in other or other in one


def _stem(name: str) -> str:
    """The name of a file without what says that it is a test."""
    stem = name.lower().split(".", 1)[0]
    for mark in ("test_", "tests_", "_test", "_tests", "_spec", "-test", "-spec", "test", "spec"):
        stem = stem.removeprefix(mark) if mark[-1] == "_" else stem.removesuffix(mark)
    return stem.strip("_-") or name


def _speaks(check: Check, path: str) -> bool:
    """Whether a linter, a type checker or a compiler reads files of the kind; a test may be of anything."""
    words = check.family.split(" ")
    known = next((LANGUAGES[word] for word in words if word in LANGUAGES), None)
    return known is None or words[0] == "test" or path.lower().endswith(known)
