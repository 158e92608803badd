"""`insula bench help memory`: is less made up, and more right, with what Insula says of memory?"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from insula.agent.identity import OWN
from insula.errors import InputError
from insula.language.owner import USER
from insula.llm.client import Prompt
from insula.metacognition import Metacognition, Turn
from insula.turn.instructions import compose_instructions
from insula.types import Controls, Level, Memory, Recalled
from insula_bench.help import share
from insula_bench.help.asking import Key, Reply, Request
from insula_bench.help.cases import Case, Told, World, long, small, talks
from insula_bench.help.figures import Figures, Outcome

PART = "memory"
MARKS = ("made_up", "right", "refused")
OURS = "insula"
RETRY = "retry"
"""Insula's request, and once more where `TurnResult.again` says with what."""
BASE = "You are a helpful assistant."
PLAIN = "Memories of earlier conversations with the user:"
ONLY = "If the memories do not contain the answer, say that you don't know; do not guess."
FIVE = 5
"""Lines of the plain arms: the best that recall has, whatever confidence thinks of them."""
FIRST: Mapping[Level, str] = {
    "high": "Your confidence from memory is high: these facts bear directly on this; answer with them.",
    "medium": "Your confidence from memory is medium: these facts bear on part of this; answer with what they hold.",
    "low": "Your confidence from memory is low: little of what is stored bears on this; use general knowledge "
    "and say so.",
}
"""The sentences that Insula used at first, kept to compare with."""
STRICT = (
    "Your memory holds nothing that answers this. Do not guess: reply that you don't know it because you have not been "
    "told, and ask."
)
NOTED = "I will remember that."

Arm = Callable[[Turn, Case], Prompt]


def worlds(data: Path | None, sources: Sequence[str], half: str, conversations: int, questions: int) -> list[World]:
    """The memories of some sources.

    Raises:
        InputError: a source is none, or its data is not there.
    """
    found: list[World] = []
    for source in sources:
        if source == "small":
            found += small(half)
        elif source == "talks":
            found += talks(questions)
        elif source in ("locomo", "realtalk"):
            if data is None:
                raise InputError(f"{source} is not shipped; name the folder that holds {source}/ with --data.")
            found += long(data, source, conversations, questions)
        else:
            raise InputError(f"There is no source {source!r}; name small, talks, locomo or realtalk.")
    return found


def requests(found: Sequence[World], arms: Sequence[str]) -> list[Request]:
    """What a model is asked: each question in each arm, composed as a host of the facade composes it.

    Raises:
        InputError: there is no such arm.
    """
    if unknown := [arm for arm in arms if arm not in (*ARMS, RETRY)]:
        raise InputError(f"There is no arm {unknown[0]!r}; name some of {', '.join((*ARMS, RETRY))}.")
    if RETRY in arms and OURS not in arms:
        raise InputError(f"The arm {RETRY!r} goes on from {OURS!r}; name both.")
    return asyncio.run(_requests(found, [arm for arm in arms if arm != RETRY]))


def again(found: Sequence[World], replies: Mapping[Key, Reply]) -> list[Request]:
    """What a host that asks once more asks: each question whose reply to Insula's request fell short of memory."""
    return asyncio.run(_again(found, replies))


async def _again(found: Sequence[World], replies: Mapping[Key, Reply]) -> list[Request]:
    made: list[Request] = []
    once_more = Controls(retry=1)
    async with await Metacognition.open(":memory:", identity=OWN, controls=once_more, holdout=0.0) as metacognition:
        for world in found:
            await _fill(metacognition, world)
            for number, case in enumerate(world.cases):
                if (reply := replies.get((PART, case.id, OURS, 0))) is None:
                    continue
                async with metacognition.turn(world.name, f"asked {number}", case.ask) as turn:
                    if prompt := turn.finish(reply["text"]).again:
                        told = Prompt(instructions=turn.instructions, prompt=prompt)
                        made.append(Request(PART, case.id, RETRY, told))
    return made


def shared(found: Sequence[World], replies: Mapping[Key, Reply]) -> Figures:
    """What the likelihood adds to the verdict on the replies to Insula's requests.

    Of a reply the log-probability of its least likely token is kept, and stands for that of its least likely claim.
    """
    return share.figures(asyncio.run(_shared(found, replies)))


async def _shared(found: Sequence[World], replies: Mapping[Key, Reply]) -> list[share.Pair]:
    pairs: list[share.Pair] = []
    async with await Metacognition.open(":memory:", identity=OWN, holdout=0.0) as metacognition:
        for world in found:
            await _fill(metacognition, world)
            for number, case in enumerate(world.cases):
                reply = replies.get((PART, case.id, OURS, 0))
                if reply is None or reply["error"] or reply["least"] is None:
                    continue
                async with metacognition.turn(world.name, f"shared {number}", case.ask) as turn:
                    text = reply["text"]
                    without = turn.finish(text).assessment
                    weighed = turn.finish(text, logprobs=reply["logprobs"] or [(text, reply["least"])]).assessment
                if without is not None and weighed is not None:
                    right = case.became(text) == "right" if case.known else case.became(text) != "made_up"
                    pairs.append(share.Pair(right, without, weighed))
    return pairs


async def _requests(found: Sequence[World], arms: Sequence[str]) -> list[Request]:
    made: list[Request] = []
    async with await Metacognition.open(":memory:", identity=OWN) as metacognition:
        for world in found:
            await _fill(metacognition, world)
            for number, case in enumerate(world.cases):
                async with metacognition.turn(world.name, f"asked {number}", case.ask) as turn:
                    made += [Request(PART, case.id, arm, ARMS[arm](turn, case)) for arm in arms]
    return made


async def _fill(metacognition: Metacognition, world: World) -> None:
    for line in world.lines:
        await _tell(metacognition, world.name, line)


async def _tell(metacognition: Metacognition, user: str, line: Told) -> None:
    provenance = "tool" if line.speaker == "tool" else "assistant" if line.speaker == "assistant" else "user"
    await metacognition.observe(
        user, line.session, line.text, speaker=line.speaker, listener=line.listener, provenance=provenance, at=line.at
    )


def _insula(turn: Turn, case: Case) -> Prompt:
    return Prompt(instructions=turn.instructions, prompt=turn.prompt)


def _true_level(turn: Turn, case: Case) -> Prompt:
    lines = turn.recalled if case.known else ()
    words = compose_instructions(turn.identity, lines, untold=not case.known, language=turn.language)
    asked = f"{turn.message}\n\n({words.reminder})" if words.reminder else turn.message
    return Prompt(instructions=words.instructions, prompt=asked)


def _bare(turn: Turn, case: Case) -> Prompt:
    return Prompt(instructions=BASE, prompt=turn.message)


def _plain(turn: Turn, case: Case) -> Prompt:
    return Prompt(instructions=f"{BASE}\n\n{PLAIN}\n{_lines(turn.recalled)}", prompt=turn.message)


def _plain_only(turn: Turn, case: Case) -> Prompt:
    return Prompt(instructions=f"{BASE}\n\n{PLAIN}\n{_lines(turn.recalled)}\n{ONLY}", prompt=turn.message)


def _first(turn: Turn, case: Case) -> Prompt:
    return _former(turn, FIRST[turn.confidence.level], _lines(turn.recalled, 16))


def _first_strict(turn: Turn, case: Case) -> Prompt:
    level = turn.confidence.level
    return _former(
        turn, STRICT if level == "low" else FIRST[level], _lines(turn.recalled, 16) if level != "low" else ""
    )


def _former(turn: Turn, sentence: str, lines: str) -> Prompt:
    facts = f"Facts about the user:\n{lines}" if lines else ""
    parts = ["You are Insula, a helpful assistant.", facts, sentence]
    return Prompt(instructions="\n\n".join(filter(None, parts)), prompt=turn.message)


def _lines(recalled: Sequence[Recalled], most: int = FIVE) -> str:
    told = [one for one in recalled if one.memory.provenance != "assistant" and one.memory.kind != "episodic"]
    return "\n".join(_plainly(one.memory) for one in told[:most])


def _plainly(memory: Memory) -> str:
    """A line with its date, and nothing of what Insula knows beside it."""
    said = "" if memory.speaker == USER else f"{memory.speaker} said: "
    return f"- {said}{memory.line} ({memory.said_at.day} {memory.said_at:%B %Y})"


ARMS: Mapping[str, Arm] = {
    "bare": _bare,
    "plain": _plain,
    "plain_only": _plain_only,
    "first": _first,
    "first_strict": _first_strict,
    "insula": _insula,
    "true_level": _true_level,
}
"""What stands before the model: nothing; the five best lines; the same and not to guess; Insula's first words; those
with a strict sentence and no lines at low; Insula; Insula's words with the level that is true."""


def outcomes(found: Sequence[World], arms: Sequence[str], replies: Mapping[Key, Reply]) -> list[Outcome]:
    """What became of each question in each arm."""
    return [
        _outcome(case, arm, reply)
        for world in found
        for case in world.cases
        for arm in arms
        if (reply := _reply(case, arm, replies))
    ]


def _reply(case: Case, arm: str, replies: Mapping[Key, Reply]) -> Reply | None:
    """What came back; where nothing spoke against the first reply, that is what a host that asks once more shows."""
    reply = replies.get((PART, case.id, arm, 0))
    return replies.get((PART, case.id, OURS, 0)) if reply is None and arm == RETRY else reply


def _outcome(case: Case, arm: str, reply: Reply) -> Outcome:
    became = case.became(reply["text"])
    held = ("right", "refused") if case.known else ("made_up",)
    return Outcome(
        case.id, arm, (case.source, case.kind, case.language), {mark: became == mark for mark in held}, reply
    )
