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
MOST = 6
"""Wishes of a user that are asked of one reply at most."""
BASE = "You are a helpful assistant."
NOTED = {
    "en": "All right.", "es": "De acuerdo.", "fr": "D'accord.", "de": "In Ordnung.", "pt": "Está bem.",
    "it": "Va bene.", "zh": "好的。", "ja": "わかりました。",
}  # fmt: skip
"""What the assistant replied to the wish: an answer that followed it would show the model how."""
_ABOUT = {"celsius": "temperature", "metric": "measure", "clock24": "clock", "code": "code"}
"""Rules that only a question of some kind can show."""
_APART = ("emoji", "contains", "begins", "ends_question", "lower", "bullets", "max_words", "absent_word", "formal")
"""Rules of which one reply can keep one of each at a time."""


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
    """One question of the next day, as each arm asks it, and whether Insula's request holds the wishes."""

    wishes: tuple[Wish, ...]
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


def groups(found: Sequence[Wish], together: int) -> list[tuple[Wish, ...]]:
    """The wishes that are told to one user: each alone, or so many that one reply can keep all of.

    The same wishes are grouped whatever the number: those of a language that fill the largest group (`MOST`), so that
    how well they are followed alone and together can be compared.
    """
    if not together:
        return [(wish,) for wish in found]
    made: list[tuple[Wish, ...]] = []
    for language in dict.fromkeys(wish.language for wish in found):
        apart = {
            rule: wish
            for rule in _APART
            for wish in found
            if wish.standing and wish.language == language and set(wish.rule) == {rule} and not wish.before
        }
        whole = list(apart.values())[:MOST]
        if len(whole) == MOST:
            made += [tuple(whole[at : at + together]) for at in range(0, MOST, together)]
    return made


def name(group: Sequence[Wish]) -> str:
    """What a group of wishes is called, as a user and as an item."""
    return "+".join(wish.id for wish in group)


def asked(found: Sequence[Sequence[Wish]], questions: int) -> list[Asked]:
    """The day, the night, and the questions of the next day, through the facade; each group is one user's."""
    return asyncio.run(_asked(found, questions))


async def _asked(found: Sequence[Sequence[Wish]], questions: int) -> list[Asked]:
    made: list[Asked] = []
    async with await Metacognition.open(":memory:", identity=OWN) as metacognition:
        for group in found:
            user = name(group)
            day = await _day(metacognition, user, group)
            await metacognition.sleep(user, force=True)
            for number, question in enumerate(_questions(group[0])[:questions]):
                async with metacognition.turn(user, f"next day {number}", question) as turn:
                    prompts = {arm: build(turn, group, day) for arm, build in ARMS.items()}
                    made.append(Asked(tuple(group), f"{user} {number}", prompts, _tells(turn)))
    return made


async def _day(metacognition: Metacognition, user: str, group: Sequence[Wish]) -> list[tuple[Role, str]]:
    """The day on which the wishes were said, between two other turns; returns it as history."""
    around, noted = _next_day()[group[0].language], NOTED[group[0].language]
    told = [exchange for wish in group for exchange in (wish.before, (wish.text, noted)) if exchange]
    exchanges = [(around["measure"][1], around["replied"][0]), *told, (around["any"][0], around["replied"][1])]
    lines: list[tuple[Role, str]] = []
    for said, reply in exchanges:
        async with metacognition.turn(user, "the day", said) as turn:
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


def _system(turn: Turn, group: Sequence[Wish], day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=f"{BASE}\n\n{_said(group)}", prompt=turn.message)


def _beside(turn: Turn, group: Sequence[Wish], day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=BASE, prompt=f"{turn.message}\n\n{_said(group)}")


def _said(group: Sequence[Wish]) -> str:
    return "\n".join(wish.text for wish in group)


def _bare(turn: Turn, group: Sequence[Wish], day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=BASE, prompt=turn.message)


def _history(turn: Turn, group: Sequence[Wish], day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=BASE, history=day, prompt=turn.message)


def _insula(turn: Turn, group: Sequence[Wish], day: Sequence[tuple[Role, str]]) -> Prompt:
    return Prompt(instructions=turn.instructions, prompt=turn.prompt)


ARMS: Mapping[str, Callable[[Turn, Sequence[Wish], Sequence[tuple[Role, str]]], Prompt]] = {
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
        Outcome(one.item, arm, ("wishes", wish.kind, wish.language), _marks(one, wish, arm, reply), reply)
        for one in found
        for wish in one.wishes
        for arm in arms
        if (reply := replies.get((PART, one.item, arm, 0)))
    ]


def _marks(one: Asked, wish: Wish, arm: str, reply: Reply) -> dict[str, bool]:
    """What holds of a reply; "All right." to a question answers nothing, and so follows no wish."""
    if not wish.standing:
        return {"told_one_off": one.told} if arm == OURS else {}
    answered = reply["text"].strip() not in NOTED.values()
    followed = {"followed": answered and follows(reply["text"], wish.rule)}
    return followed | ({"told": one.told} if arm == OURS else {})
