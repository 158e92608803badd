"""What a look back at a session tells: counts, where it was stuck, what would have been said."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelinePoint:
    """One action of a session on its timeline."""

    step: int
    """Number of the action in the session, from 1; unique over all its agents."""
    at: float
    """Seconds since the epoch; 0 where the transcript tells no time."""
    tool: str
    target: str
    """Path or command: redacted, cut to 120 characters, otherwise as an untrusted file says it."""
    ok: bool
    tokens: int
    """About how many tokens it brought into the context."""
    agent: str = ""
    """The subagent that did it."""
    sense: str = ""
    """The sense that felt something here, and from which rung it would have spoken; 0 for no text."""
    rung: int = 0
    said: str = ""
    """What would have been said after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A stretch of a session that went wrong: from its first reading to the next progress."""

    session: str
    first: int
    last: int
    """Steps of its first and last action."""
    at: float
    seconds: float
    tokens: int
    """Spent from the first to the last."""
    sense: str
    count: int
    """Of errors, repeats, rounds, as the sense counts."""
    said: str
    """The strongest text that would have been said in it."""
    rung: int
    what: str
    """The action with which the row began that the sense counts: tool and target, redacted."""
    project: str = ""
    host: str = ""
    open: bool = False
    """Whether the session ended before any progress."""


@dataclass(slots=True, kw_only=True)
class GivenWord:
    """Something that the user ruled out or asked for, and what became of it."""

    words: str
    """Redacted and screened."""
    kind: str
    """`ban`, `only`, `how` or `request`."""
    at: float
    step: int
    """The action before which it was said."""
    broken: list[int] = field(default_factory=list[int])
    """The actions that went against it; none where nothing shows that any did."""
    by: str = ""
    """The first of them: tool and target, redacted."""
    unmet: str = ""
    """What was missing when the agent stopped; empty for nothing."""
    project: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether nothing shows that it was broken or left out."""
        return not (self.broken or self.unmet)


@dataclass(slots=True, kw_only=True)
class ReplayCounts:
    """What is counted of a session, and of all of them together."""

    tool_uses: int = 0
    errors: int = 0
    prompts: int = 0
    interrupts: int = 0
    rejections: int = 0
    """Calls that the user turned down."""
    corrections: int = 0
    """Messages of the user's that correct the agent."""
    given: int = 0
    """What the user ruled out or asked for in so many words, ..."""
    broken: int = 0
    """... of that, what calls went against, ..."""
    unmet: int = 0
    """... and what was missing when the agent stopped."""
    tokens: int = 0
    times_stuck: int = 0
    stuck_tokens: int = 0
    """Spent from the first sign of trouble to the next progress; moments of several agents may overlap."""
    stuck_seconds: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    """First and last time; 0 where none is told."""
    skipped: Counter[str] = field(default_factory=Counter[str])
    """Events that were not understood or not needed, by a name that says why."""
    readings: Counter[str] = field(default_factory=Counter[str])
    """By sense."""
    rungs: Counter[int] = field(default_factory=Counter[int])
    """Texts by rung; 0 for texts that are no part of the ladder."""

    def add_numbers(self, other: "ReplayCounts") -> None:
        """Count what another has counted: calls, errors, tokens, and what the user did."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_NUMBERS = (
    *("tool_uses", "errors", "prompts", "interrupts", "rejections", "corrections", "given", "broken", "unmet"),
    *("tokens", "times_stuck", "stuck_tokens", "stuck_seconds"),
)


@dataclass(slots=True, kw_only=True)
class Replayed(ReplayCounts):
    """One session, looked back at."""

    id: str
    host: str
    """A name of `find.FORMATS`."""
    path: str
    project: str = ""
    """Last part of the folder it worked in."""
    words: list[GivenWord] = field(default_factory=list[GivenWord])
    """The first of what the user ruled out or asked for."""
    patterns: dict[str, bool] = field(default_factory=dict[str, bool])
    """Failure patterns that had their opportunity, and whether they happened."""
    moments: list[Moment] = field(default_factory=list[Moment])
    """Worst first, by tokens."""
    points: list[TimelinePoint] = field(default_factory=list[TimelinePoint])
    """The timeline; empty where it was left out to bound memory."""
    user_steps: list[int] = field(default_factory=list[int])
    """Steps before which the user spoke."""

    @property
    def is_session(self) -> bool:
        """Whether anything happened in it: a file of leftovers, such as titles, is no session."""
        return bool(self.tool_uses or self.prompts or self.points)


@dataclass(slots=True, kw_only=True)
class Totals(ReplayCounts):
    """All sessions together; kept while each is read, so it holds even where their timelines had to go."""

    sessions: int = 0
    hosts: Counter[str] = field(default_factory=Counter[str])
    """Sessions by host."""
    files: int = 0
    """Files that were read."""
    passed_over: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> why nothing was read from it."""
    incomplete: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> what of it could not be read."""
    bytes: int = 0
    seconds: float = 0.0
    """What the look itself took."""
    words: list[GivenWord] = field(default_factory=list[GivenWord])
    """The latest of what was said and not kept."""
    worst: list[Moment] = field(default_factory=list[Moment])
    """The worst moments of all, at most ten, worst first."""
