"""A second look at what a model proposed: it is asked which notes follow from the words that they quote (R7).

Heads on sentence vectors tell what a note is about, and not whether it says the opposite of it. A model can, if it can
tell that at all: among the pairs stand five whose answer is known. One that gets any of them wrong has its whole
reflection refused; the night does without.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from insula.errors import BudgetExceeded, ModelMalformed, ModelRefused
from insula.night import prompts
from insula.night.asking import ask
from insula.night.cycle import Night

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Says = Literal["follows", "opposite", "other"]
WHY: Mapping[Says, str] = {
    "follows": "",
    "opposite": "says the opposite of what it quotes",
    "other": "is not what the quoted words ask for",
}
"""Why a note may not be kept, by what it is; empty where it may."""
UNFIT = "the model does not tell a guideline from its opposite"
"""Why nothing of a model is kept that gets a known pair wrong."""
DOES_WITHOUT = "The model does not tell a guideline from its opposite, so nothing that it proposed was kept."
MOST = 40
"""Pairs of one question."""
WORDS = 300
"""Characters of the user's words in a pair."""
MAX_TOKENS = 1_000
TEMPERATURE = 0.0
PURPOSE = "second look"
ANSWER = "reflection:second look"


class Pair(NamedTuple):
    """The user's words, and a note that rests on them."""

    words: str
    note: str


KNOWN: Mapping[Pair, Says] = {
    Pair("that was far too long again", "Keep answers short."): "follows",
    Pair("please ask me before you change the text", "Change texts without asking first."): "opposite",
    Pair("I'm allergic to strawberries", "Suggest desserts with strawberries."): "opposite",
    Pair("my boss wants everything in capitals", "Write in capitals."): "other",
    Pair("I can't have milk", "Check recipes for milk."): "follows",
}
"""Pairs whose answer is known."""


class Verdict(BaseModel):
    """What a note is to the words that it rests on."""

    pair: int
    says: Says


class SecondLook(BaseModel):
    """What each note is."""

    verdicts: Annotated[list[Verdict], Field(max_length=MOST)]


class Looked(NamedTuple):
    """What a model says of notes when it reads them again."""

    why: list[str]
    """Why each may not be kept; empty where it may."""
    is_unfit: bool = False
    """Whether the model gets a known pair wrong."""


async def look_again(night: Night, model: "Model", pairs: Sequence[Pair]) -> Looked:
    """What a model says of notes beside the words that they rest on; all may be kept where it gives no answer that can
    be read, or may not be asked: the heads have let them pass."""
    mixed = _mixed(pairs[: MOST - len(KNOWN)])
    try:
        answer = await ask(
            night,
            model,
            ANSWER,
            prompts.second_look({"pair": at, "user": one.words, "note": one.note} for at, one in enumerate(mixed, 1)),
            SecondLook,
            purpose=PURPOSE,
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            final=(ModelMalformed, ModelRefused),
        )
    except BudgetExceeded:
        return Looked([""] * len(pairs))
    if answer["failed"]:
        return Looked([""] * len(pairs))
    read: dict[int, Says] = {one.pair: one.says for one in SecondLook.model_validate(answer["value"]).verdicts}
    says: dict[Pair, Says] = {one: read.get(at, "other") for at, one in enumerate(mixed, 1)}
    if any(says[one] != right for one, right in KNOWN.items()):
        return Looked([UNFIT] * len(pairs), is_unfit=True)
    return Looked([WHY[says.get(one, "other")] for one in pairs])


def _mixed(pairs: Sequence[Pair]) -> list[Pair]:
    """Some pairs with the known ones spread among them."""
    each = -(-len(pairs) // len(KNOWN))
    return [one for at, known in enumerate(KNOWN) for one in (known, *pairs[at * each : (at + 1) * each])]
