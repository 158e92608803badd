"""How a very small model is led to replies that make sense: it can repeat and acknowledge, and knows nothing.

A statement is acknowledged with what was understood. What memory holds is quoted; what was never told is said to be so;
a guess about the world is called one beforehand. A request is declined: such a model promises what nobody keeps ("I'll
be there tomorrow at 9"), and is sorry for a loss where somebody says "lol". A greeting, who the agent is, and what it
knows of the user are answered without the model: the sentence that is nearest to the message in meaning decides
(`guided_asked.json`).
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np

from insula.agent.identity import OWN
from insula.claims import claim_template
from insula.language.owner import USER
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.memory.storage.vectors import Array
from insula.metacognition import Turn
from insula.operations.facts import list_facts
from insula.redaction import redact
from insula.screening import screen_text
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.questions import AskKind, find_asks, find_assertions, is_small_talk
from insula.turn.remembered import is_about_user

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
        left_out = [claim_template("guided.unkept", "", language)] if redact(told) != told else []
        return ReplyGuide(text=" ".join([_acknowledge("noted", told, language), *left_out]).strip())
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
