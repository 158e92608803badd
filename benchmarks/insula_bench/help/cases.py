"""Memories to fill and questions to ask of them: small conversations, our own talks, LoCoMo and REALTALK."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from insula.errors import InputError
from insula.language.owner import ASSISTANT, USER
from insula_bench import locomo, realtalk
from insula_bench import talks as own
from insula_bench.help.abstention import abstains, asserted, contradicts, passes_by
from insula_bench.help.verdict import holds, matches

BEGAN = datetime(2026, 5, 2, 9, tzinfo=UTC)
"""When the small conversations took place; what counts is that they lie some days apart."""
HALVES = ("dev", "held", "third")
"""Tables of the same kinds: `dev` for building, `held` that was unseen until it was counted, and a later one."""


Became = Literal["right", "refused", "made_up", "other"]


class Told(NamedTuple):
    """One line of a memory."""

    session: str
    speaker: str
    listener: str
    text: str
    at: datetime


class Case(NamedTuple):
    """A question to a memory."""

    id: str
    source: str
    kind: str
    language: str
    ask: str
    known: bool
    right: Sequence[Sequence[str]]
    """Groups of alternatives, each of which a right reply holds one of."""
    answer: str = ""
    """Where the answer is a phrase instead."""

    told: Sequence[str] = ()
    """What was told, line by line."""

    def became(self, reply: str) -> Became:
        """What a reply to it is: a value that memory holds, an abstention, an invention, or none of them.

        An invention is only what is asserted where memory knows nothing; a wrong value where it does is "other".
        """
        if self.known and self._holds(asserted(reply)) and not contradicts(reply, [o for g in self.right for o in g]):
            return "right"
        if abstains(reply):
            return "refused"
        return "other" if self.known or passes_by(reply, self.told) else "made_up"

    def _holds(self, said: str) -> bool:
        return matches(said, self.answer) if self.answer else holds(said, self.right)


class World(NamedTuple):
    """A memory, and the questions that are asked of it."""

    name: str
    lines: tuple[Told, ...]
    cases: tuple[Case, ...]


def small(half: str) -> list[World]:
    """The small conversations of a half: told in a session or two, asked in the next, each with a memory of its own.

    Raises:
        InputError: there is no such half.
    """
    if half not in HALVES:
        raise InputError(f"The small conversations have no half {half!r}; name one of {', '.join(HALVES)}.")
    text = (files("insula_bench") / f"conversations_{half}.jsonl").read_text("utf-8")
    return [_small(json.loads(line)) for line in text.splitlines() if line.strip()]


def _small(raw: dict[str, Any]) -> World:
    lines: list[Told] = []
    for number, one in enumerate(raw["told"]):
        speaker = {"user": USER, "assistant": ASSISTANT, "tool": "tool"}[one["who"]]
        at = BEGAN + timedelta(days=one.get("day", 0), minutes=number)
        lines.append(
            Told(f"session {one['session']}", speaker, USER if speaker == ASSISTANT else ASSISTANT, one["text"], at)
        )
    told = tuple(line.text for line in lines)
    case = Case(raw["id"], "small", raw["kind"], raw["ask_lang"], raw["ask"], raw["known"], raw["right"], told=told)
    return World(raw["id"], tuple(lines), (case,))


def talks(questions: int) -> list[World]:
    """Our own talks, of two people and of a user with an assistant, each with so many questions of each kind.

    An answer is known by hand for four questions of each; as many are asked that nobody answered: another person's, a
    detail that was left out, and what nobody spoke of.
    """
    right = json.loads((files("insula_bench") / "talk_answers.json").read_text("utf-8"))
    return [_talk(one, right, questions) for one in (*own.of_two(), *own.with_assistant())]


def _talk(talk: locomo.Conversation, right: dict[str, list[list[str]]], questions: int) -> World:
    lines = _lines(talk)
    told = tuple(line.text for line in lines)
    held = [one for one in talk.questions if one.text in right][:questions]
    kinds = (locomo.ADVERSARIAL, own.UNTOLD, own.DETAIL, own.UNTOLD)
    lacking = [
        [one for one in talk.questions if one.category == kind][number] for number, kind in enumerate(kinds[:questions])
    ]
    cases = [
        Case(
            f"talks {talk.name} {number}", "talks", f"category {one.category}", "en", one.text,
            one.text in right, right.get(one.text, ()), told=told,
        )
        for number, one in enumerate((*held, *lacking))
    ]  # fmt: skip
    return World(f"talks {talk.name}", lines, tuple(cases))


def long(data: Path, name: str, conversations: int, questions: int) -> list[World]:
    """Conversations of LoCoMo or REALTALK in a folder, each with so many questions of each kind.

    Raises:
        InputError: the folder does not hold them.
    """
    talks = locomo.read(data / "locomo" / "locomo.json") if name == "locomo" else realtalk.read(data / "realtalk")
    answers = _answers(data, name)
    return [_long(talk, name, answers[number], questions) for number, talk in enumerate(talks[:conversations])]


def _answers(data: Path, name: str) -> list[dict[str, str]]:
    """Question -> gold answer, of each conversation."""
    if name == "locomo":
        raw = json.loads((data / "locomo" / "locomo.json").read_text("utf-8"))
    else:
        raw = [json.loads(path.read_text("utf-8")) for path in sorted((data / "realtalk").glob("Chat_*.json"))]
    return [{one["question"]: str(one.get("answer", "")) for one in entry["qa"]} for entry in raw]


def _long(talk: locomo.Conversation, name: str, answers: dict[str, str], questions: int) -> World:
    return World(f"{name} {talk.name}", _lines(talk), tuple(_asked(talk, name, answers, questions)))


def _lines(talk: locomo.Conversation) -> tuple[Told, ...]:
    one, other = talk.speakers
    return tuple(
        Told(
            line.session,
            line.speaker,
            other if line.speaker == one else one,
            line.text,
            datetime.fromtimestamp(line.at, UTC),
        )
        for line in talk.lines
    )


def _asked(talk: locomo.Conversation, name: str, answers: dict[str, str], questions: int) -> Iterator[Case]:
    """As many questions with an answer as without one, spread over the conversation; open-domain ones are left out."""
    told = tuple(line.text for line in talk.lines)
    held = [one for one in talk.questions if one.category not in (3, locomo.ADVERSARIAL) and answers.get(one.text)]
    lacking = [one for one in talk.questions if one.category == locomo.ADVERSARIAL]
    for known, found in ((True, held), (False, lacking)):
        step = max(1, len(found) // questions)
        for number, one in enumerate(found[::step][:questions]):
            yield Case(
                f"{name} {talk.name} {'known' if known else 'unknown'} {number}",
                name,
                f"category {one.category}",
                "en",
                one.text,
                known,
                (),
                answers[one.text] if known else "",
                told,
            )
