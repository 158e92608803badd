"""The reference agent: a conversation with a model, every turn of it watched and steered by metacognition.

Beside that stand in a request the agent's own brief, and as much of the session as fits.

How a very small model is led to replies that make sense: it can repeat and acknowledge, and knows nothing.

A statement is acknowledged with what was understood. What memory holds is quoted; what was never told is said to be so;
a guess about the world is called one beforehand. A request is declined: such a model promises what nobody keeps ("I'll
be there tomorrow at 9"), and is sorry for a loss where somebody says "lol". A greeting, who the agent is, and what it
knows of the user are answered without the model: the sentence that is nearest to the message in meaning decides
(`guided_asked.json`).
"""

import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from insula.agent.identity import OWN
from insula.agent.requests import KeptRequests, split_request
from insula.claims import claim_template
from insula.errors import BudgetExceeded, InputError, ModelError, ModelSilent
from insula.language.owner import USER
from insula.llm.budget import Account
from insula.llm.client import Generation, Prompt, generate_reply
from insula.llm.wire import Role
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.memory.storage.rows import TranscriptLine
from insula.memory.storage.vectors import Array
from insula.metacognition import RECENT_RESPONSES, Metacognition, Turn, TurnResult, record_recalled
from insula.operations.facts import list_facts
from insula.redaction import redact
from insula.screening import screen_text
from insula.session.snapshot import Advisory, Saved, Snapshot, Stage
from insula.text.analysis import LANGUAGES, analyse_text, clean_text
from insula.text.answers import AskKind
from insula.text.questions import find_asks, find_assertions, is_small_talk
from insula.turn.guidance import UsedGuidance
from insula.turn.remembered import is_about_user
from insula.turn.verdict import Verdict
from insula.types import Assessment, Confidence, Controls, Identity, Recalled, Signal, Usage

if TYPE_CHECKING:
    from insula.llm.model import Model


WHAT_CHARS = 160
"""Characters of what is said back."""
LISTED = 8
"""Facts that are listed at most."""
Asked = Literal["known", "self", "hello"]
NEAR: Mapping[Asked, float] = {"known": 0.7, "self": 0.7, "hello": 0.75}
"""Cosine from which a message asks what a sentence asks: of 6,527 messages of ordinary life that ask no such thing one
came so near to what is known, two or three to who the agent is and none to a greeting (`everyday.jsonl`, `ordinary/`;
a sentence was added since)."""
_MADE: frozenset[AskKind] = frozenset({"request", "code"})
_MONTHS = re.compile(r"\s*\([^()]*\d{4}\)$")


class ReplyGuide(NamedTuple):
    """How a reply is made: as a text, or by the model within a frame."""

    text: str = ""
    frame: str = "{what}"
    """What stands around the model's words."""


async def guide_reply(turn: Turn) -> ReplyGuide:
    """How the reply to a turn is made."""
    message = analyse_text(turn.message)
    language = message.language if message.language in LANGUAGES else "en"
    asked = find_asks(message)
    if turn.forgetting:  # what is found or erased stands under the reply
        return ReplyGuide(text="OK.")
    if meant := _find_meant(turn):
        return ReplyGuide(text=await _answer_question(turn, meant, language))
    if not asked:
        told = " ".join(sentence.text for sentence in find_assertions(message))
        if not told or is_small_talk(message):
            return ReplyGuide(text=claim_template("guided.fine", "", language))
        noted = _acknowledge("noted", told, language) if turn.told or turn.heard else ""  # else it was not kept
        left_out = claim_template("guided.unkept", "", language) if redact(told) != told else ""
        said = " ".join(filter(None, (noted, left_out)))
        return ReplyGuide(text=said or claim_template("guided.fine", "", language))
    if all(ask.kind in _MADE for ask in asked) and not turn.personal:
        return ReplyGuide(text=claim_template("guided.declined", "", language))
    shown = [recalled for recalled in turn.recalled if recalled.memory.id in turn.shown]
    line = next(
        (
            recalled.told
            for recalled in shown
            if recalled.memory.provenance == "user" and recalled.memory.speaker == USER
        ),
        "",
    )
    of_user = turn.personal or any(is_about_user(ask, language) for ask in asked)
    if line and (of_user or turn.confidence.level == "high"):
        which = "nearest" if turn.confidence.level == "low" else "told"
        return ReplyGuide(text=_acknowledge(which, _MONTHS.sub("", line), language))
    if turn.personal:
        return ReplyGuide(text=claim_template("guided.untold", "", language))
    return ReplyGuide(frame=f"{claim_template('guided.uncertain', '', language)} {{what}}")


async def _answer_question(turn: Turn, meant: Asked, language: str) -> str:
    if meant == "hello":
        return claim_template("guided.hello", "", language)
    if meant == "self":
        return claim_template("guided.self", "", language).format(name=turn.engine.identity.name or OWN.name)
    facts = (await list_facts(turn.engine.store, turn.user, limit=LISTED)).facts
    screened = [screen_text(redact(fact.text), WHAT_CHARS) for fact in facts if not fact.over]
    lines = [f"- {quoted.text}" for quoted in screened if quoted.text and not quoted.reasons]
    if not lines:
        return claim_template("guided.unknown", "", language)
    return claim_template("guided.known", "", language).format(what="\n".join(lines))


def _find_meant(turn: Turn) -> Asked | None:
    """What a message as a whole asks the agent itself; None where it asks no such thing, or without vectors."""
    if turn.engine.embed is not embed_text:
        return None
    (vector,) = embed_each(embed_text, [turn.message])
    near = {meant: float((rows @ vector).max()) for meant, rows in _embed_examples().items()}
    nearest = max(near, key=lambda meant: near[meant])
    return next((meant for meant, least in NEAR.items() if meant == nearest and near[meant] >= least), None)


@cache
def _embed_examples() -> Mapping[str, Array]:
    """The vectors of the sentences that stand for each meaning."""
    told: dict[str, list[str]] = json.loads((files("insula.agent") / "guided_asked.json").read_text("utf-8"))
    return {meant: np.stack(embed_each(embed_text, texts)) for meant, texts in told.items()}


def _acknowledge(which: str, matter: str, language: str) -> str:
    """What was told, said back; nothing where it reads like an order."""
    screened = screen_text(redact(matter), WHAT_CHARS)
    if screened.reasons or not screened.text:
        return ""
    return claim_template(f"guided.{which}", "", language).format(what=screened.text)


MESSAGE_CHARS = 200_000
"""The longest message that is taken."""
HISTORY_CHARS = 6_000
"""Characters of the session that are sent along: about 1,500 tokens."""

Assessor = Callable[[str, str, Sequence[str], Identity], Awaitable[Assessment]]
"""A model's judgement of a response, in place of the self-monitor's (K10)."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One exchange, as it ended."""

    turn: int
    session: str
    message: str
    response: str
    confidence: Confidence
    assessment: Assessment | None
    hedged: bool
    signals: tuple[Signal, ...]
    recalled: tuple[Recalled, ...]
    usage: Usage
    model_ms: float
    added_ms: float
    error: str | None = None
    """Why there is no response, or none with words, in a sentence; the message is kept all the same."""
    failure: ModelError | BudgetExceeded | None = None
    """What that sentence is the message of: a server answers each kind with another status."""
    lessons: tuple[UsedGuidance, ...] = ()
    """What was learned for such a message, each with whether the model was told of it."""
    shown: frozenset[int] = frozenset()
    """Ids of the memories that stood before the model."""
    controls: Controls = field(default_factory=Controls)
    """What the turn was allowed to use."""
    skipped: tuple[Stage, ...] = ()
    """Stages that it went without."""
    metacog: Snapshot | None = None
    """The snapshot of the service, where one was due (S1)."""
    advisories: tuple[Advisory, ...] = ()
    """What the turn went without because its model is slow or working memory full (S3); mostly nothing."""
    troubles: tuple[str, ...] = ()
    """What failed in Insula itself, without harm to the response."""
    verdict: Verdict | None = None
    """What a person is told of the turn, mostly nothing; None where there is no response."""
    saved: tuple[str, ...] = ()
    """What of the message was learned, in the user's words."""

    def record(self) -> dict[str, Any]:
        """The reply as `insula chat --json` prints it."""
        assessment = self.assessment
        return {
            "turn": self.turn,
            "session": self.session,
            "message": self.message,
            "response": self.response,
            "confidence": {
                "level": self.confidence.level,
                "score": round(self.confidence.score, 4),
                "reasons": list(self.confidence.reasons),
            },
            "assessment": None
            if assessment is None
            else {
                "score": round(assessment.score, 4),
                "flags": list(assessment.flags),
                "passed": assessment.passed,
                "parts": asdict(assessment.parts),
                "unanswered": list(assessment.unanswered),
                "outcome": assessment.outcome,
                "faults": [{"flag": fault.flag, "about": fault.about} for fault in assessment.faults if fault.about],
            },
            "hedged": self.hedged,
            "verdict": None
            if self.verdict is None
            else {"kind": self.verdict.kind, "text": self.verdict.text, "tone": self.verdict.tone},
            "signals": [{"kind": signal.kind, "reason": signal.reason} for signal in self.signals],
            "recalled": record_recalled(self.recalled, self.shown),
            "lessons": [{"id": lesson.id, "arm": lesson.arm} for lesson in self.lessons],
            "tokens": {"input": self.usage.input_tokens, "output": self.usage.output_tokens},
            "ms": {"model": round(self.model_ms, 2), "added": round(self.added_ms, 2)},
            "controls": {**asdict(self.controls), "skipped": list(self.skipped)},
            "error": self.error,
            "troubles": list(self.troubles),
            **({"metacog": self.metacog.model_dump(mode="json")} if self.metacog else {}),
            **(
                {"advisories": [advisory.model_dump(mode="json") for advisory in self.advisories]}
                if self.advisories
                else {}
            ),
        }


def new_session() -> str:
    """The name of a new session: the time at which it began, and something to tell two of one second apart."""
    return f"{time.strftime('%Y-%m-%d-%H%M%S')}-{secrets.token_hex(2)}"


class Chat:
    """An agent of a few lines over `Metacognition` and a model.

    Args:
        metacognition: what watches and steers it.
        model: any model of pydantic-ai.
        base: what stands before all other instructions: the agent's own brief, the same in every turn.
        history_chars: characters of the session that are sent along.
        account: caps on what may be spent, and the record of what was.
        max_tokens: tokens of one response.
        temperature: by default the model's own.
        timeout: seconds that one response may take.
        assessor: replaces the self-monitor; costs a call per turn, and there is none by default (K10).
        guided: whether the model is so small that it is led to replies that make sense (`guide_reply`).
        requests: where the exact request of each turn is kept for its user to see; nowhere by default.
    """

    def __init__(  # noqa: PLR0913 a keyword for each thing that a host may choose
        self,
        metacognition: Metacognition,
        model: "Model",
        *,
        base: str = "",
        history_chars: int = HISTORY_CHARS,
        account: Account | None = None,
        max_tokens: int = 1_000,
        temperature: float | None = None,
        timeout: float = 120.0,
        assessor: Assessor | None = None,
        guided: bool = False,
        requests: KeptRequests | None = None,
    ) -> None:
        self.metacognition = metacognition
        self.model = model
        self.base = base
        self.history_chars = history_chars
        self.account = account or Account()
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.timeout = timeout
        self.assessor = assessor
        self.guided = guided
        self.requests = requests
        self._refused: set[str] = set()

    async def reply(
        self,
        user: str,
        session: str,
        message: str,
        *,
        text: str = "",
        on_delta: Callable[[str], None] | None = None,
        on_kept: Callable[[], None] | None = None,
    ) -> Reply:
        """Answer a message.

        Args:
            user: whose memory is used.
            session: the conversation.
            message: what the user says.
            text: what the message is about, from a file say: the model reads it, and nothing is learned from it.
            on_delta: called with pieces of the response as they come; they are provisional, and the reply's own
                text replaces them (K2).
            on_kept: called where the message was written down, before this returns or raises; so who cancels a turn
                knows whether its message is kept.

        Raises:
            InputError: the message is empty or too long.
        """
        _check_length(message, text)
        usage = Usage()
        failure: ModelError | BudgetExceeded | None = None
        silence = ""
        turn = self.metacognition.turn(user, session, message, model=self.model.model_name)
        try:
            async with turn:
                try:
                    usage = await self._answer_turn(turn, text, on_delta)
                except ModelSilent as error:
                    turn.finish("")
                    silence = str(error)
                except (ModelError, BudgetExceeded) as error:
                    failure = error
                    log.warning("A turn failed: %s of the model %s.", type(error).__name__, self.model.model_name)
        finally:
            if turn.number and on_kept:
                on_kept()
        return _make_reply(turn, usage, failure, silence)

    async def _answer_turn(self, turn: Turn, text: str, on_delta: Callable[[str], None] | None) -> Usage:
        led = await guide_reply(turn) if self.guided and not text else ReplyGuide()
        if led.text:
            turn.leave_out_guidance()  # no model reads it
            self._keep_request(turn)
            turn.finish(led.text)
            return Usage()
        sent = make_prompt(turn, self.base, self.history_chars, text)
        if self.guided and not text:  # it is asked what needs no memory, and repeats notes instead of heeding them
            turn.leave_out_guidance(behind=True)
            sent = replace(sent, prompt=turn.message)
        self._keep_request(turn, sent)
        first = await self._ask_model(sent, on_delta)
        timed = replace(first.usage, seconds_to_first_token=first.first_token_seconds)
        first = replace(first, text=led.frame.replace("{what}", first.text))
        result = await self._finish_turn(turn, first, timed)
        if "retry" in turn.saved:
            turn.note_saved("retry", Saved(output_tokens=self.max_tokens))
        if not result.again:
            return timed
        # Asked once more at once (`retry`): the better of the two responses stands.
        second = await self._ask_model(retry_prompt(sent, first.text, result.again), None)
        spent = timed + second.usage
        once_more = await self._finish_turn(turn, second, spent)
        if _score_of(once_more) < _score_of(result):
            await self._finish_turn(turn, first, spent)
        return spent

    def _keep_request(self, turn: Turn, sent: Prompt | None = None) -> None:
        """Keep what the model is sent for the user to see, or that it is sent nothing."""
        if self.requests is not None and turn.number:
            with turn.kept_from_host("requests"):
                parts = split_request(sent, turn.message) if sent else []
                self.requests.keep_request(turn.user, turn.session, turn.number, parts, turn.words.memories)

    async def _finish_turn(self, turn: Turn, generation: Generation, usage: Usage) -> TurnResult:
        assessor = None if "assessor_model" in turn.skipped else self.assessor
        if assessor is not self.assessor:
            turn.note_saved("skipped_stages", Saved(calls=1))
        assessment = await self._ask_assessor(assessor, turn, generation.text) if assessor else None
        return turn.finish(generation.text, assessment=assessment, usage=usage, logprobs=generation.logprobs)

    async def _ask_model(self, prompt: Prompt, on_delta: Callable[[str], None] | None) -> Generation:
        """Ask the model, with log-probabilities unless it refuses them; that is asked once."""
        return await generate_reply(
            self.model,
            prompt,
            purpose="answer",
            account=self.account,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            logprobs=True,
            timeout=self.timeout,
            on_delta=on_delta,
            refused=self._refused,
        )

    async def _ask_assessor(self, assessor: Assessor, turn: Turn, response: str) -> Assessment | None:
        """The assessor's judgement, or None where it fails: then the self-monitor's stands."""
        recent = [line.content for line in turn.history if line.provenance == "assistant"]
        with turn.kept_from_host("assess"):
            return await assessor(turn.message, response, recent[-RECENT_RESPONSES:], self.metacognition.identity)
        return None


def _score_of(result: TurnResult) -> float:
    return result.assessment.score if result.assessment else 0.0


def _check_length(message: str, text: str) -> None:
    if not clean_text(message).strip():
        raise InputError("The message is empty; write something.")
    if (size := len(message) + len(text)) > MESSAGE_CHARS:
        raise InputError(
            f"The message has {size:,} characters and at most {MESSAGE_CHARS:,} are taken; send it in parts."
        )


def _make_reply(turn: Turn, usage: Usage, failure: ModelError | BudgetExceeded | None, silence: str) -> Reply:
    result = turn.result
    return Reply(
        turn=turn.number,
        session=turn.session,
        message=turn.message,
        response=result.response if result else "",
        confidence=turn.confidence,
        assessment=result.assessment if result else None,
        hedged=bool(result and result.hedged),
        signals=turn.signals,
        recalled=turn.recalled,
        usage=usage,
        model_ms=usage.seconds * 1000,
        added_ms=turn.added * 1000,
        error=str(failure) if failure else silence or None,
        failure=failure,
        lessons=turn.lessons,
        shown=turn.shown,
        controls=turn.controls,
        skipped=turn.skipped,
        metacog=turn.snapshot,
        advisories=turn.advisories,
        troubles=tuple(turn.troubles),
        verdict=result.verdict if result else None,
        saved=result.saved if result else (),
    )


def make_prompt(turn: Turn, base: str = "", history_chars: int = HISTORY_CHARS, text: str = "") -> Prompt:
    """The request of one turn: base, what metacognition says, the session, the message, and what to keep to in it.

    Of the session a slow model is sent less, which the turn is told. A text that the message is about stands before it.
    """
    instructions = "\n\n".join(part for part in (base, turn.instructions) if part)
    said = find_answerable(turn.history, turn.message)
    sent = recent_history(said, int(history_chars * turn.controls.history_share))
    usual = recent_history(said, int(history_chars * turn.engine.controls.history_share))
    unsent = _count_chars(usual) - _count_chars(sent)
    turn.note_saved("history_share", Saved(history_chars=unsent or None))
    about = f"{text.strip()}\n\n---\n\n" if text.strip() else ""
    return Prompt(instructions=instructions, history=sent, prompt=f"{about}{turn.prompt}")


def retry_prompt(asked: Prompt, response: str, sentence: str) -> Prompt:
    """The request that asks once more, at once: the same, with the response and what it lacks behind it."""
    said: list[tuple[Role, str]] = [*asked.history, ("user", asked.prompt), ("assistant", response)]
    return Prompt(instructions=asked.instructions, history=said, prompt=sentence)


def find_answerable(lines: Sequence[TranscriptLine], message: str) -> list[TranscriptLine]:
    """Lines of a session without what was erased, which is empty, and what was said of it; and a message once where it
    was said again because nobody answered.

    Args:
        lines: oldest first.
        message: what is said now.
    """
    kept: list[TranscriptLine] = []
    is_erased = False
    for line in lines:
        is_erased = is_erased if line.provenance == "assistant" else not line.content
        if line.content and not is_erased:
            kept.append(line)
    said_next = [*(line.content if line.provenance == "user" else "" for line in kept[1:]), message]
    return [
        line
        for line, again in zip(kept, said_next, strict=False)
        if line.provenance == "assistant" or line.content != again
    ]


def recent_history(lines: Sequence[TranscriptLine], room: int) -> list[tuple[Role, str]]:
    """The last lines that fit, oldest first, beginning with one of the user's.

    No response is left out for what the monitor made of it: one may be asked about, and the monitor may be wrong.
    """
    chosen: list[tuple[Role, str]] = []
    for line in reversed(lines):
        room -= len(line.content)
        if room < 0:
            break
        chosen.append(("assistant" if line.provenance == "assistant" else "user", line.content))
    chosen.reverse()
    while chosen and chosen[0][0] == "assistant":
        chosen.pop(0)
    return chosen


def _count_chars(lines: Sequence[tuple[Role, str]]) -> int:
    return sum(len(text) for _, text in lines)
