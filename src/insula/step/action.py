"""What a coding agent does, as the senses see it: secrets removed, and of the user's words only their own."""

from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.step.person import Remark

WINDOW = 20
"""Actions that the senses look back on (seed 002)."""

READ = "read"
EDIT = "edit"
EXECUTE = "execute"
SEARCH = "search"
OTHER = "other"

TARGET = 120
"""Characters of a command that are kept."""
PATH = 400
"""Characters of a path that are kept."""
BRIEF = "~"
"""Begins the digest of an output such as "ok"."""


class Action(Value):
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
    id: str = ""
    """The host's id of the call: what comes twice is counted once."""
    context: int = 0
    """Tokens in the context when it ended, as the host counts them; 0 unknown."""
    context_window: int = 0
    """Tokens that there is room for; 0 unknown."""
    importers: int = 0
    """Of a changed file: how many other files import it, where that is news."""


class Event(Value):
    """One call of the hook."""

    kind: str
    """`start`, `prompt`, `action`, `stop` or `end`."""
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
    drops_output: bool = False
    """Whether the host drops what is answered to this event."""
