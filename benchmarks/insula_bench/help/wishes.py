"""`insula bench help wishes`: is a wish told one day followed the next, after a night, on other topics?"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from insula.agent.identity import OWN
from insula.errors import InputError
from insula.llm.client import Prompt
from insula.llm.wire import Role
from insula.metacognition import Metacognition, Turn
from insula_bench.help.asking import Key, Reply, Request
from insula_bench.help.cases import HALVES
from insula_bench.help.figures import Outcome
from insula_bench.help.verdict import follows

PART = "wishes"
MARKS = ("told", "followed", "told_one_off")
OURS = "insula"
BASE = "You are a helpful assistant."
NOTED = {
    "en": "All right.", "es": "De acuerdo.", "fr": "D'accord.", "de": "In Ordnung.", "pt": "Está bem.",
    "it": "Va bene.", "zh": "好的。", "ja": "わかりました。",
}  # fmt: skip
"""What the assistant replied to the wish: an answer that followed it would show the model how."""
_ABOUT = {"celsius": "temperature", "metric": "measure", "clock24": "clock", "code": "code"}
"""Rules that only a question of some kind can show."""


class Wish(NamedTuple):
    """What somebody said, once, and whether it is meant to last."""

    id: str
    language: str
    kind: str
    text: str
    before: tuple[str, str] | None
    """The user's turn before and the reply to it, where the wish refers to them."""
    standing: bool
    rule: Mapping[str, Any]


class Asked(NamedTuple):
    """One question of the next day, as each arm asks it, and whether Insula's request holds the wish."""

    wish: Wish
    item: str
    prompts: Mapping[str, Prompt]
    told: bool


def wishes(half: str) -> list[Wish]:
    """The wishes of a half that a rule can check.

    Raises:
        InputError: there is no such half.
    """
    if half not in HALVES:
        raise InputError(f"The wishes have no half {half!r}; name one of {', '.join(HALVES)}.")
    text = (files("insula_bench") / f"wishes_{half}.jsonl").read_text("utf-8")
    return [_wish(raw) for raw in map(json.loads, text.splitlines()) if raw.get("rule")]


def _wish(raw: Mapping[str, Any]) -> Wish:
    before = (raw["before"], raw.get("before_reply", "")) if raw.get("before") else None
    return Wish(raw["id"], raw["lang"], raw["kind"], raw["text"], before, raw["standing"], raw["rule"])


def asked(found: Sequence[Wish], questions: int) -> list[Asked]:
    """The day, the night, and the questions of the next day, through the facade."""
    return asyncio.run(_asked(found, questions))


async def _asked(found: Sequence[Wish], questions: int) -> list[Asked]:
    made: list[Asked] = []
    async with await Metacognition.open(":memory:", identity=OWN) as metacognition:
        for wish in found:
            day = await _day(metacognition, wish)
            await metacognition.sleep(wish.id, force=True)
            for number, question in enumerate(_questions(wish)[:questions]):
                async with metacognition.turn(wish.id, f"next day {number}", question) as turn:
                    prompts = {arm: build(turn, wish, day) for arm, build in ARMS.items()}
                    made.append(Asked(wish, f"{wish.id} {number}", prompts, _tells(turn)))
    return made


async def _day(metacognition: Metacognition, wish: Wish) -> list[tuple[Role, str]]:
    """The day on which the wish was said, between two other turns; returns it as history."""
    around = _next_day()[wish.language]
    noted = NOTED[wish.language]
    exchanges = [
        (around["measure"][1], around["replied"][0]),
        *([wish.before] if wish.before else []),
        (wish.text, noted),
        (around["any"][0], around["replied"][1]),
    ]
    lines: list[tuple[Role, str]] = []
    for said, reply in exchanges:
        async with metacognition.turn(wish.id, "the day", said) as turn:
            turn.finish(reply)
        lines.append(("user", said))
        lines.append(("assistant", reply))
    return lines


def _questions(wish: Wish) -> Sequence[str]:
    about = next((_ABOUT[name] for name in wish.rule if name in _ABOUT), "")
    table = _next_day()[wish.language]
    return table[about] if about else [table["any"][1], table["measure"][0]]


def _next_day() -> dict[str, dict[str, list[str]]]:
    return json.loads((files("insula_bench.help") / "next_day.json").read_text("utf-8"))


def _tells(turn: Turn) -> bool:
    """Whether anything beyond who the agent is stands before the model: nothing else was learned of this user."""
    return bool(turn.reminder) or "Lessons:" in turn.instructions or "## Behavioral" in turn.instructions


def _system(turn: Turn, wish: Wish, day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=f"{BASE}\n\n{wish.text}", prompt=turn.message)


def _beside(turn: Turn, wish: Wish, day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=BASE, prompt=f"{turn.message}\n\n{wish.text}")


def _bare(turn: Turn, wish: Wish, day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=BASE, prompt=turn.message)


def _history(turn: Turn, wish: Wish, day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=BASE, history=day, prompt=turn.message)


def _insula(turn: Turn, wish: Wish, day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=turn.instructions, prompt=turn.prompt)


ARMS: Mapping[str, Callable[[Turn, Wish, Sequence[tuple[Role, str]]], Prompt]] = {
    "bare": _bare,
    "history": _history,
    "insula": _insula,
    "system": _system,
    "beside": _beside,
}
"""What stands before the model: nothing; the whole day as history; Insula; the wish itself as the system prompt's
last line, or behind the message."""


def requests(found: Sequence[Asked], arms: Sequence[str]) -> list[Request]:
    """What a model is asked.

    Raises:
        InputError: there is no such arm.
    """
    if unknown := [arm for arm in arms if arm not in ARMS]:
        raise InputError(f"There is no arm {unknown[0]!r}; name some of {', '.join(ARMS)}.")
    return [Request(PART, one.item, arm, one.prompts[arm]) for one in found for arm in arms]


def outcomes(found: Sequence[Asked], arms: Sequence[str], replies: Mapping[Key, Reply]) -> list[Outcome]:
    """What became of each question in each arm: whether the wish stood before the model, and was followed."""
    return [
        Outcome(one.item, arm, ("wishes", one.wish.kind, one.wish.language), _marks(one, arm, reply), reply)
        for one in found
        for arm in arms
        if (reply := replies.get((PART, one.item, arm, 0)))
    ]


def _marks(one: Asked, arm: str, reply: Reply) -> dict[str, bool]:
    """What holds of a reply; "All right." to a question answers nothing, and so follows no wish."""
    if not one.wish.standing:
        return {"told_one_off": one.told} if arm == OURS else {}
    answered = reply["text"].strip() not in NOTED.values()
    followed = {"followed": answered and follows(reply["text"], one.wish.rule)}
    return followed | ({"told": one.told} if arm == OURS else {})
