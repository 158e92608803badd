"""What lines leave open, completed by a model: who "she" is, what "it" was; the line's own provenance stays (law 2).

A model proposes a sentence for words that it quotes. It is kept as a statement of the very line where every word of it
stands there or in the line before, and it is meant as the quoted words are: no less supposed, no less denied.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

from pydantic import BaseModel, Field

from insula.errors import BudgetExceeded, ModelError, ModelMalformed, ModelRefused, ModelUnavailable
from insula.memory import facts
from insula.memory.assertion import Said, Statement, statements
from insula.memory.changes import Completed
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.rows import Unstated
from insula.memory.subject import NOBODY, SOMEBODY
from insula.memory.vectors import Embed, embedded
from insula.screening import screen
from insula.sleep import prompts
from insula.sleep.asking import ask, total
from insula.sleep.cycle import Night, Result
from insula.sleep.grounding import evidence, harm, share
from insula.text.analysis import analyse

CALLS = 4
"""Calls of one night; what is left over is for the next."""
BATCH = 15
"""Lines of one call."""
LINE_CHARS = 300
"""Of a line, and of the one before it; a longer one is pasted and passed over."""
CLAUSE_CHARS = 200
CARRIED = 0.5
"""Share of the content words of what is quoted that its sentence must hold: else it says something else."""
MAX_TOKENS = 900
TEMPERATURE = 0.1
PURPOSE = "statements"
LAST = "memory"
"""Where the report holds the last memory that was looked at."""
DENIED = frozenset({"negated", "ended"})
"""Marks that a sentence must share with what it is drawn from."""


class Report(TypedDict):
    """What became of the lines that left something open."""

    lines: int
    completed: list[int]
    """The memories that gained a statement."""
    refused: dict[str, int]
    memory: int
    usage: dict[str, int]


class Nothing(TypedDict):
    """Nobody was asked."""

    memory: int


class Sentence(BaseModel):
    """What a line says, in one sentence that stands for itself."""

    line: int
    quote: Annotated[str, Field(max_length=LINE_CHARS)]
    sentence: Annotated[str, Field(max_length=LINE_CHARS)]


class Sentences(BaseModel):
    """What some lines say."""

    sentences: Annotated[list[Sentence], Field(max_length=4 * BATCH)]


class Asked(NamedTuple):
    """What a night's calls brought."""

    answers: list[tuple[Unstated, Sentence]]
    last: int
    """The last memory that was answered for."""
    usages: list[dict[str, int]]
    failed: Counter[str]


async def complete(night: Night) -> Result:
    """The phase: what the model says of lines that leave something open, as far as they bear it out."""
    last = night.last.get(LAST, 0)
    seen = last if isinstance(last, int) else 0
    if night.model is None:
        return Result(Nothing(memory=seen), skipped="No model is there to complete what lines leave open.")
    found = await night.store.run(facts.incomplete, night.user_id, seen, CALLS * BATCH)
    lines = [one for one in found if is_plain(one)]
    if not lines:
        reached = found[-1].id if found else seen
        return Result(Nothing(memory=reached), skipped="Every line says by itself whom it is about.")
    asked = await _asked(night, lines, seen)
    judged = [(line, *completed(one, line)) for line, one in asked.answers]
    made: dict[int, list[Statement]] = {}
    for line, statement, _ in judged:
        if statement is not None and statement not in made.get(line.id, []):
            made.setdefault(line.id, []).append(statement)
    report: Report = {
        "lines": len(lines),
        "completed": sorted(made),
        "refused": dict(asked.failed + Counter(why for _, _, why in judged if why)),
        "memory": asked.last,
        "usage": total(asked.usages),
    }
    changes = await asyncio.to_thread(_changes, made, night.embed)
    return Result(report, changes, "" if changes else "No line bears out more than it says.")


def is_plain(line: Unstated) -> bool:
    """Whether a line may be shown to the model: short, and nothing in it is an order or a secret."""
    return all(len(text) <= LINE_CHARS and not screen(text, LINE_CHARS).reasons for text in (line.content, line.before))


async def _asked(night: Night, lines: Sequence[Unstated], seen: int) -> Asked:
    """Ask a batch after the other, until the model does not answer."""
    asked = Asked([], seen, [], Counter())
    for at in range(0, len(lines), BATCH):
        batch = lines[at : at + BATCH]
        try:
            answer = await _answer(night, batch)
        except (ModelError, BudgetExceeded) as error:
            asked.failed[type(error).__name__] += 1
            if isinstance(error, ModelUnavailable | BudgetExceeded):
                break
            continue
        asked.usages.append(answer["usage"])
        asked = asked._replace(last=batch[-1].id)
        if answer["failed"]:
            asked.failed[answer["failed"]] += 1
            continue
        numbered = dict(enumerate(batch, 1))
        told = Sentences.model_validate(answer["value"]).sentences
        asked.answers.extend((numbered[one.line], one) for one in told if one.line in numbered)
        asked.failed["unknown line"] += sum(one.line not in numbered for one in told)
    return asked._replace(failed=+asked.failed)


async def _answer(night: Night, batch: Sequence[Unstated]) -> dict[str, Any]:
    assert night.model is not None  # noqa: S101 `complete` sees to it
    return await ask(
        night,
        night.model,
        f"statements:{batch[0].id}:{batch[-1].id}",
        prompts.completion(_quoted(number, one) for number, one in enumerate(batch, 1)),
        Sentences,
        purpose=PURPOSE,
        max_tokens=MAX_TOKENS,
        temperature=TEMPERATURE,
        final=(ModelMalformed, ModelRefused),
    )


def _quoted(number: int, line: Unstated) -> dict[str, object]:
    said = {"line": number, "user": line.content}
    who = "user" if line.before_speaker == line.speaker else "assistant"
    return {"line": number, f"before ({who})": line.before, "user": line.content} if line.before else said


def completed(one: Sentence, line: Unstated) -> tuple[Statement | None, str]:
    """The statement of a sentence that a model drew from a line, or why it may not be kept.

    Args:
        one: the sentence, and the words of the line that it says.
        line: the line, with what was said before it.
    """
    quote, sentence = " ".join(one.quote.split()), " ".join(one.sentence.split())
    if unsafe := harm(sentence):
        return None, unsafe
    if not quote or quote.casefold() not in " ".join(line.content.split()).casefold():
        return None, "quotes nothing"
    held = evidence([line.content, line.before])
    if len(sentence) > CLAUSE_CHARS or share(sentence, held) < 1.0 or share(quote, evidence([sentence])) < CARRIED:
        return None, "ungrounded"
    made = statements(analyse(sentence, default=analyse(line.content).language), USER, ASSISTANT)
    if len(made) != 1 or any(path == NOBODY or path.startswith(SOMEBODY) for path in made[0].subjects):
        return None, "of nobody in particular"
    source = _source(quote, line)
    if any(USER in made[0].subjects and path.startswith(SOMEBODY) for one in source for path in one.subjects):
        return None, "of somebody else"
    if any(one.marks & DENIED for one in source) != bool(made[0].marks & DENIED):
        return None, "says the opposite"
    supposed = next((each.modality for each in source if each.modality != "fact"), made[0].modality)
    return made[0]._replace(modality=supposed), ""


def _source(quote: str, line: Unstated) -> Sequence[Statement]:
    """What the line states, in the words that are quoted as far as that can be told, by itself."""
    before = [Said(line.before, line.before_speaker == line.speaker)] if line.before else []
    stated = statements(analyse(line.content), USER, ASSISTANT, before)
    within = [
        one for one in stated if quote.casefold() in one.text.casefold() or one.text.casefold() in quote.casefold()
    ]
    return within or stated


def _changes(made: dict[int, list[Statement]], embed: Embed | None) -> list[Completed]:
    return [Completed(memory, tuple(_meant(found, embed))) for memory, found in sorted(made.items())]


def _meant(found: Iterable[Statement], embed: Embed | None) -> Iterable[Statement]:
    return (one if embed is None else one._replace(vector=embedded(embed, one.text)) for one in found)
