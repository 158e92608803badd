"""What each session was about, in two or three sentences (R0): what reflection reads of sessions it has no room for.

A model writes a summary from what was said and from nothing else; it is kept only where its words stand in the session.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from insula.errors import BudgetExceeded, ModelError, ModelMalformed, ModelRefused, ModelUnavailable
from insula.memory.storage.changes import Change, Summary
from insula.memory.storage.nights import MIN_MESSAGES, UP_TO
from insula.memory.storage.rows import StoredSession
from insula.night import prompts
from insula.night.cycle import Night, Result
from insula.night.grounding import find_harm
from insula.night.prompts import ask_model, total_usage
from insula.night.records import MESSAGES, list_texts, quote_session
from insula.screening import screen_text
from insula.text.analysis import analyse_text

if TYPE_CHECKING:
    from insula.llm.model import Model

SESSIONS = 50
"""Sessions that are summarised in one night, the oldest first."""
SENTENCES, TOPICS = 3, 7
SUMMARY_CHARS, TOPIC_CHARS = 700, 40
FOUND = 0.3
"""Share of the content words of a summary that the session must hold; one with fewer is about something else."""
MAX_TOKENS = 400
TEMPERATURE = 0.1
"""The original's."""
IN_A_ROW = 3
"""After so many failures one after another the model is not asked again in this night."""
PURPOSE = "summary"


class SessionSummary(BaseModel):
    """A conversation in short."""

    summary: Annotated[str, Field(min_length=1, max_length=1_000)]
    topics: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=TOPICS)]


async def summarise_sessions(night: Night) -> Result:
    """The phase: a summary for each session of three messages or more in which something was said since the last.

    Raises:
        ModelUnavailable: the model is away: nothing is stored, and the next start asks for what was not answered.
    """
    sessions = await night.list_sessions()
    new = [
        session
        for session in sessions
        if session.last > max(night.last_seen, session.summarised) and session.messages >= MIN_MESSAGES
    ]
    latest = max((session.last for session in sessions), default=night.last_seen)
    if night.model is None or not new:
        why = "Without a model, nothing is summed up." if new else "No session is new."
        return Result({"sessions": len(sessions), UP_TO: latest}, skipped=why)
    changes, failed, usages, asked = list[Change](), Counter[str](), list[dict[str, int]](), list[StoredSession]()
    in_a_row = 0
    for session in new[:SESSIONS]:
        written, why, usage = await _summarise_session(night, night.model, session)
        failed.update([why] if why else [])
        usages += [usage] if usage else []
        in_a_row = 0 if written else in_a_row + bool(why)
        if why == BudgetExceeded.__name__ or in_a_row >= IN_A_ROW:
            break  # the next night asks for what is left
        asked.append(session)
        changes += [written] if written else []
    report = {
        "sessions": len(sessions),
        "summarised": len(changes),
        "failed": dict(failed),
        "left_for_next_night": [session.name for session in new if session not in asked],
        "usage": total_usage(usages),
        UP_TO: latest if len(asked) == len(new) else max((session.last for session in asked), default=night.last_seen),
    }
    return Result(report, changes, "" if changes else "Nothing of use was written of what was said.")


async def _summarise_session(
    night: Night, model: "Model", session: StoredSession
) -> tuple[Summary | None, str, dict[str, int] | None]:
    """The summary of a session, why there is none, and what it took; no usage where the model did not answer."""
    quoted = quote_session((await night.lines_of([session.id], MESSAGES))[session.id], session.messages)
    if not (said := list_texts(quoted)):
        return None, "", None
    try:
        answer = await ask_model(
            night,
            model,
            f"summary:{session.id}:{session.last}",
            prompts.summary_prompt(quoted),
            SessionSummary,
            purpose=PURPOSE,
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            final=(ModelMalformed, ModelRefused),
        )
    except ModelUnavailable:
        raise  # when it is back the night goes on as if it had never been away
    except (ModelError, BudgetExceeded) as error:
        return None, type(error).__name__, None
    if answer["failed"]:
        return None, answer["failed"], answer["usage"]
    written = SessionSummary.model_validate(answer["value"])
    text = " ".join(part.text for part in analyse_text(written.summary).sentences[:SENTENCES])
    held = frozenset(term for line in said for term in analyse_text(line).terms)
    if why := find_harm(text) or ("" if _share_held(text, held) >= FOUND else "ungrounded"):
        return None, why, answer["usage"]
    topics = tuple(_held_topics(written.topics, held))
    content = screen_text(text, SUMMARY_CHARS).text
    return Summary(session.id, content, topics, session.messages, session.last), "", answer["usage"]


def _share_held(text: str, held: frozenset[str]) -> float:
    """The share of the content words of a text that a session holds; 0 where it has none."""
    terms = set(analyse_text(text).terms)
    return len(terms & held) / len(terms) if terms else 0.0


def _held_topics(written: Iterable[str], held: frozenset[str]) -> list[str]:
    """The model's topics as far as the session holds them."""
    named = (" ".join(topic.split())[:TOPIC_CHARS] for topic in written)
    fit = {topic.casefold(): topic for topic in named if topic and not find_harm(topic) and _share_held(topic, held)}
    return list(fit.values())[:TOPICS]
