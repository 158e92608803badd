"""What each session was about, in two or three sentences (R0): reflection reads these, not single messages.

A summary is made from what was said and from nothing else, by a model where there is one. What a model wrote is kept
only where its words stand in the session; else central sentences of the session itself take its place.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

from pydantic import BaseModel, Field

from insula.errors import BudgetExceeded, ModelError, ModelMalformed, ModelRefused, ModelUnavailable
from insula.memory.storage.changes import Summary
from insula.memory.storage.nights import MIN_MESSAGES
from insula.memory.storage.rows import Session
from insula.night import prompts, transcript
from insula.night.asking import ask, total
from insula.night.cycle import Night, Result
from insula.night.extractive import FEWEST_TOPICS, SENTENCES, TOPICS, Extract, extract
from insula.night.grounding import Evidence, evidence, harm, share
from insula.night.transcript import Transcript
from insula.screening import screen
from insula.text.analysis import analyse

SESSIONS = 50
"""Sessions that are summarised in one night, the newest first."""
SUMMARY_CHARS = 700
TOPIC_CHARS = 40
FOUND = 0.3
"""Share of the content words of a model's summary that the session must hold. A summary puts things in words of its
own, more so than advice that cites it; one with fewer is about something else."""
MAX_TOKENS = 400
TEMPERATURE = 0.1
"""The original's."""
IN_A_ROW = 3
"""After so many failures one after another the model is not asked again in this night."""
PURPOSE = "summary"


class Line(TypedDict):
    """What became of one session."""

    session: str
    messages: int
    by: str
    failed: str


class Report(TypedDict):
    """What became of all sessions."""

    sessions: int
    summarised: dict[str, int]
    """Who wrote how many: `model`, `extractive`."""
    failed: dict[str, int]
    withheld_messages: int
    summaries: list[Line]
    skipped: dict[str, int]
    left_for_next_night: list[str]
    usage: dict[str, int]


class SessionSummary(BaseModel):
    """A conversation in short."""

    summary: Annotated[str, Field(min_length=1, max_length=1_000)]
    topics: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=TOPICS)]


class Made(NamedTuple):
    """What became of one session."""

    session: Session
    by: str
    """`model` or `extractive`; empty where nothing could be read."""
    extract: Extract | None
    failed: str = ""
    """Why it is not the model's: the name of an error, or what is wrong with what it wrote."""
    withheld: int = 0
    """Messages that were not quoted."""


class Author:
    """Writes one summary after another, and stops asking a model that does not answer.

    Attributes:
        usages: what was spent on each.
        given_up: why the model is not asked any more.
    """

    def __init__(self, night: Night) -> None:
        self._night = night
        self._failures = 0
        self.usages: list[dict[str, int]] = []
        self.given_up = ""

    async def write(self, session: Session) -> Made:
        """The summary of one session."""
        said = await transcript.read(self._night, session.id, session.messages)
        drawn = extract(said.lines)
        withheld = sum(said.withheld.values())
        if drawn is None:
            return Made(session, "", None, withheld=withheld)
        written, failed = await self._asked(session, said, drawn)
        return Made(session, "model" if written else "extractive", written or drawn, failed, withheld)

    async def _asked(self, session: Session, said: Transcript, drawn: Extract) -> tuple[Extract | None, str]:
        """The model's summary, or why there is none of use; both empty without a model."""
        if self._night.model is None:
            return None, ""
        if self.given_up:
            return None, self.given_up
        try:
            answer = await self._answer(session, said)
        except (ModelError, BudgetExceeded) as error:
            self._count(type(error).__name__, at_once=isinstance(error, ModelUnavailable | BudgetExceeded))
            return None, type(error).__name__
        self.usages.append(answer["usage"])
        if answer["failed"]:
            self._count(answer["failed"])
            return None, answer["failed"]
        self._failures = 0
        return judged(SessionSummary.model_validate(answer["value"]), said, drawn)

    async def _answer(self, session: Session, said: Transcript) -> dict[str, Any]:
        assert self._night.model is not None  # noqa: S101 `_asked` sees to it
        return await ask(
            self._night,
            self._night.model,
            f"summary:{session.id}:{session.last}",
            prompts.summary(transcript.quoted(said)),
            SessionSummary,
            purpose=PURPOSE,
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            final=(ModelMalformed, ModelRefused),
        )

    def _count(self, error: str, *, at_once: bool = False) -> None:
        self._failures += 1
        if at_once or self._failures >= IN_A_ROW:
            self.given_up = f"not asked after {error}"


def judged(written: SessionSummary, said: Transcript, drawn: Extract) -> tuple[Extract | None, str]:
    """What a model wrote as it may be kept; None, and why, where it may not."""
    text = " ".join(part.text for part in analyse(written.summary).sentences[:SENTENCES])
    if unsafe := harm(text):
        return None, unsafe
    held = evidence(line.text for line in said.lines)
    if share(text, held) < FOUND:
        return None, "ungrounded"
    return Extract(screen(text, SUMMARY_CHARS).text, topics_of(written.topics, held, drawn)), ""


def topics_of(written: Sequence[str], held: Evidence, drawn: Extract) -> tuple[str, ...]:
    """The model's topics as far as the session holds them, and the session's own where these are too few."""
    found: dict[str, str] = {}
    for topic in (" ".join(topic.split())[:TOPIC_CHARS] for topic in written):
        if topic and not harm(topic) and share(topic, held) > 0:
            found.setdefault(topic.casefold(), topic)
    for topic in drawn.topics:
        if len(found) < FEWEST_TOPICS:
            found.setdefault(topic.casefold(), topic)
    return tuple(found.values())[:TOPICS]


async def summarise(night: Night) -> Result:
    """The phase: a summary for each session of three messages or more that has none of its last message."""
    sessions = await night.sessions()
    worth = [session for session in sessions if session.messages >= MIN_MESSAGES]
    due = [session for session in worth[::-1] if session.last > session.summarised]
    author = Author(night)
    made = [await author.write(session) for session in due[:SESSIONS]]
    by = Counter(one.by for one in made)
    report: Report = {
        "sessions": len(sessions),
        "summarised": {"model": by["model"], "extractive": by["extractive"]},
        "failed": dict(Counter(one.failed for one in made if one.failed)),
        "withheld_messages": sum(one.withheld for one in made),
        "summaries": [_line(one) for one in made],
        "skipped": {
            "short": len(sessions) - len(worth),
            "unchanged": len(worth) - len(due),
            "unreadable": sum(one.extract is None for one in made),
        },
        "left_for_next_night": [session.name for session in due[SESSIONS:]],
        "usage": total(author.usages),
    }
    changes = [_summary(one.session, one.extract) for one in made if one.extract is not None]
    return Result(report, changes, "" if changes else _why_none(len(worth), len(due)))


def _summary(session: Session, found: Extract) -> Summary:
    return Summary(session.id, found.summary, found.topics, session.messages, session.last)


def _line(one: Made) -> Line:
    return {"session": one.session.name, "messages": one.session.messages, "by": one.by, "failed": one.failed}


def _why_none(worth: int, due: int) -> str:
    if not worth:
        return f"No session has {MIN_MESSAGES} messages or more."
    if not due:
        return "Every session has a summary of all that was said."
    return "Nothing that was said since can be read."
