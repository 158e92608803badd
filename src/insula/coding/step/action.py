"""What a coding agent does, as the senses see it: secrets removed, and of the user's words only their own."""

from insula.value import Value, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from insula.coding.step.person import Remark

WINDOW = 20
"""Actions that the senses look back on (seed 002)."""

READ = "read"
EDIT = "edit"
EXECUTE = "execute"
SEARCH = "search"
OTHER = "other"

TARGET = 500
"""Characters of a command that are kept."""
PATH = 400
"""Characters of a path that are kept."""
BRIEF = "~"
"""Begins the digest of an output such as "ok"."""


class CallFailure(Value):
    """How a call failed."""

    names: tuple[str, ...] = ()
    """Digests of the failing tests, or of the places that a compiler or linter complains about."""
    thrown: tuple[str, ...] = ()
    """Exceptions that are named, in small letters."""
    count: int = 0
    """How many failures a summary counts; 0 unknown."""
    message: str = ""
    """What the failing tests say at the places where they fail, as a template; empty where they name none."""


class Failing(Value):
    """What may fail: its failure is a value within it."""

    failure: CallFailure = CallFailure()
    """How it failed: which tests or places, with which exceptions, how many."""

    def as_dict(self) -> "dict[str, Any]":
        """Name and value of each field that is not at its default, to be written as JSON."""
        kept = super().as_dict()
        if "failure" in kept:
            kept["failure"] = self.failure.as_dict()
        return kept

    @classmethod
    def of(cls, fields: "dict[str, Any]") -> "Self":
        """The value that was written as JSON."""
        failure = fields.get("failure")
        return super().of({**fields, "failure": CallFailure.of(failure)} if is_object(failure) else fields)


class Action(Failing):
    """One tool call and what came of it."""

    tool: str
    kind: str
    """`read`, `edit`, `execute`, `search` or `other`."""
    at: float
    """Seconds since the epoch when it ended."""
    call: str
    """Digest of tool and input: equal for equal calls."""
    ok: bool = True
    ran: bool = True
    """False where it never ran: the user refused it, or a call beside it failed first."""
    target: str = ""
    """The path or the command, redacted and cut."""
    error: str = ""
    """Template of the error, redacted: what changes from one occurrence to the next is masked."""
    result: str = ""
    """Digest of the output without its clock times, marked where it is too brief to tell anything; empty for none."""
    chars: int = 0
    """Characters of input and output."""
    waits: bool = False
    """Whether the call waits for something or asks how it stands."""
    probes: bool = False
    """Whether it only asks: a "no" is an answer and no failure."""
    denied: bool = False
    """Whether a rule kept it from running, and no person."""
    turn: str = ""
    """The host's name of the model's turn that it is of; empty where it tells none."""
    nth: int = 0
    """The same as the senses count turns."""
    seconds: float = 0.0
    """What it took, as the host tells."""
    family: str = ""
    """What was run and for what: equal for calls whose failures belong together."""
    selectors: tuple[str, ...] = ()
    """Which part of it: files, packages, names."""
    workspace: str = ""
    """The folder or the package that a command runs in; empty where that is where its line runs."""
    label: str = ""
    """The same as the agent may be told it."""
    named: str = ""
    """Our own words for the kind of its failure."""
    proves: bool = False
    """Whether it is a test, a build, a type check or a linter."""
    also: tuple[str, ...] = ()
    """The other checks of the same line, which have gone well if it has."""
    unsure: bool = False
    """Whether it only seems to have gone well: its status was lost in a pipe, and its output does not say."""
    changes: bool = False
    """Whether it changed a file."""
    of_project: bool = False
    """Of an edit: whether the file is code of the project, or a setting of it: see `project`."""
    acts: tuple[str, ...] = ()
    """What it does to work that others rely on: `commit`, `stash`, `push`, …"""
    before: str = ""
    """Of an edit: digest of the text that it took out, and ..."""
    after: str = ""
    """... of the one that it put in."""
    id: str = ""
    """The host's id of the call: what comes twice is counted once."""
    context: int = 0
    """Tokens in the context when it ended, as the host counts them; 0 unknown."""
    context_window: int = 0
    """Tokens that there is room for; 0 unknown."""
    importers: int = 0
    """Of a changed file: how many other files import it, where that is news."""
    tests: bool = False
    """Of an edit: whether it wrote a test."""
    red: bool = False
    """Of a check: whether it surely failed: by its exit status, or by the failures that it counts."""
    breaks: tuple[str, ...] = ()
    """What it does against a word of the user's: the id of the word, the word, how, and what."""

    @property
    def failed(self) -> bool:
        """Whether it counts as a failure: a wait, a poll and a probe are none, whatever their exit status."""
        return self.denied or (not self.ok and self.ran and not self.waits and not self.probes)

    @property
    def is_progress(self) -> bool:
        """Whether it changed what may mend a failure: notes and scratch are none of that."""
        return self.changes and (self.of_project or self.kind != EDIT)


def load_action(record: "dict[str, Any]") -> Action | None:
    """The action that a record of a trace holds; None where it holds none."""
    try:
        return Action.of(record)
    except TypeError:
        return None


def load_done(record: "dict[str, Any]") -> Action | None:
    """What a record of a trace says was done; None for nothing, and for a call that never ran."""
    action = load_action(record) if record.get("e") == "action" else None
    return action if action is not None and action.ran else None


class HookEvent(Value):
    """One call of the hook."""

    kind: str
    """`start`, `prompt`, `before` (a call that is about to be made), `action`, `subagent`, `stop` or `end`."""
    name: str
    """The host's name of it, which its answer repeats."""
    session: str
    agent: str = ""
    """The subagent that acts; empty for the main one."""
    cwd: str = ""
    source: str = ""
    """Of a start: `startup`, `resume`, `clear`, `compact`."""
    transcript: str = ""
    """Path of the host's own record of the session."""
    actions: tuple[Action, ...] = ()
    prompt: str = ""
    """What the user typed, whole; of it only their own words go to the trace."""
    remarks: "tuple[Remark, ...]" = ()
    """What else the user did: rejections that stand in a batch."""
    batch: tuple[str, ...] | None = None
    """Ids of the calls of a turn of the model that has ended; None where the event ends none."""
    said: str = ""
    """Of a stop: the agent's last words."""
    drops_output: bool = False
    """Whether the host drops what is answered to this event."""
    mode: str = ""
    """How the host gives permission: `default`, `acceptEdits`, `bypassPermissions`, …; empty where it does not say."""
    pending: bool = False
    """Of a stop: whether work goes on in the background."""
