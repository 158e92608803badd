"""The phase that proposes lessons from what went wrong, and adds what sessions say to those that there are (K7, R9).

It goes before `lessons`, which then counts the very sessions that a lesson was learned from: a lesson of one session is
only proposed, and the second one makes it active. A user's own standing wish is told at once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from insula.guidance import CORROBORATED
from insula.memory.rows import Kept
from insula.memory.wishes import is_wish, stands
from insula.screening import screen
from insula.sleep.cycle import Night, Result
from insula.sleep.mistakes import Mistake
from insula.sleep.proposals import ADVICE_CHARS, Proposal, advice, changes, gathered, is_of
from insula.sleep.sessions import Heard, since_last_night
from insula.sleep.unheard import unheard

MOST = 20
"""Lessons that one night proposes or changes."""
SHOWN_REFUSALS = 50
"""Refusals that the report names; all are counted."""


class Learned(TypedDict):
    """A lesson that was proposed or changed."""

    key: str
    advice: str
    new: bool
    told: bool
    """Whether it is told from this night on: a second session bears it out, or the user said that it holds always."""
    citations: list[int]
    memories: NotRequired[list[int]]
    """What a person may look at and erase."""


class Wished(TypedDict):
    """A wish that stands since the last night."""

    id: str
    advice: str
    citations: list[int]
    memories: NotRequired[list[int]]


class Refused(TypedDict):
    """Where a text stands from which nothing is learned, and why: never the text."""

    why: str
    session: str
    message: int


class Report(TypedDict):
    """What went wrong how often, what is proposed, and what is refused."""

    sessions: int
    mistakes: dict[str, int]
    lessons: list[Learned]
    wishes: list[Wished]
    quarantined: int
    refused: list[Refused]
    up_to: int


class Nothing(TypedDict):
    """No session was new."""

    up_to: int


async def learn(night: Night) -> Result:
    """Propose lessons from the sessions since the last night, and add what they say to those that there are."""
    heard, signals = await since_last_night(night)
    if not heard:
        return Result(Nothing(up_to=night.seen), skipped="No session since the last night.")
    mistakes = [(one, mistake) for one in heard for mistake in one.mistakes]
    kept = await night.store.guidance.lessons(night.user_id)
    said = unheard(kept, heard, signals, night.now)
    refused: list[Refused] = [_refusal(one, mistake, [mistake.refused]) for one, mistake in mistakes if mistake.refused]
    told: list[tuple[Proposal, str]] = []
    for proposal in gathered(_lessons(kept), mistakes):
        text = screen(advice(proposal), ADVICE_CHARS)
        if text.reasons:
            refused += [_refusal(one, mistake, text.reasons) for one, mistake in mistakes if is_of(mistake, proposal)]
        else:
            told.append((proposal, text.text))
    changed = [*said, *(change for one in told[:MOST] for change in changes(*one))]
    skipped = "" if mistakes else "Nothing went wrong, and nobody wished for anything."
    wishes = _wished(kept, night.since)
    report = await _with_memories(night, _learned(heard, told[:MOST], wishes, refused))
    return Result(report, changed, "" if wishes else skipped)


def _wished(kept: Iterable[Kept], since: float) -> list[Wished]:
    """The wishes that stand since the last night: the day has heard them."""
    fresh = (one for one in kept if is_wish(one) and stands(one) and one.created_at > since)
    return [{"id": one.name, "advice": one.advice, "citations": list(one.citations)} for one in fresh]


async def _with_memories(night: Night, report: Report) -> Report:
    """The report with each message named by its memory, which a person may look at and erase."""
    named: list[Learned | Wished] = [*report["lessons"], *report["wishes"]]
    cited = await night.store.guidance.cited(night.user_id, [each for one in named for each in one["citations"]])
    of = {one.id: one.memory for one in cited}
    for one in named:
        one["memories"] = [of[each] for each in one["citations"] if each in of]
    return report


def _learned(
    heard: Sequence[Heard],
    told: Iterable[tuple[Proposal, str]],
    wishes: Iterable[Wished],
    refused: Sequence[Refused],
) -> Report:
    return {
        "sessions": len(heard),
        "mistakes": dict(Counter(mistake.category for one in heard for mistake in one.mistakes)),
        "lessons": [_proposed(*one) for one in told],
        "wishes": list(wishes),
        "quarantined": len(refused),
        "refused": list(refused[:SHOWN_REFUSALS]),
        "up_to": heard[-1].session.last,
    }


def _lessons(kept: Iterable[Kept]) -> list[Kept]:
    return [one for one in kept if not (one.section or is_wish(one))]


def _proposed(proposal: Proposal, advice: str) -> Learned:
    before = {session for session, *_ in proposal.kept.evidence} if proposal.kept else set[str]()
    always = proposal.kept is None and proposal.origin == "wish"
    return {
        "key": proposal.key,
        "advice": advice,
        "new": proposal.kept is None,
        "told": always or len(before) < CORROBORATED <= len(proposal.sessions),
        "citations": sorted(proposal.citations),
    }


def _refusal(one: Heard, mistake: Mistake, reasons: Iterable[str]) -> Refused:
    """Where the text stands and why nothing is learned from it: never the text."""
    return {"why": ", ".join(reasons), "session": one.session.name, "message": mistake.citations[-1]}
