"""A model as the judge of responses, in place of the self-monitor (K10). Off by default: it costs a call per turn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from insula.agent.chat import Assessor
from insula.llm.budget import Account
from insula.llm.client import Prompt, generate_reply
from insula.text.analysis import analyse_text
from insula.text.questions import find_asks
from insula.types import Assessment, Flag, Identity, Parts

if TYPE_CHECKING:
    from insula.llm.model import Model

INSTRUCTIONS = """You judge the reply of an assistant to one message. You do not answer the message yourself.
Rate as whole numbers from 0 (not at all) to 100 (wholly):
responsiveness: the reply is about what the message asks;
completeness: every question and request of the message is answered;
consistency: the reply is in the language that is asked for and in keeping with who the assistant is.
Say whether the reply repeats one of the recent replies."""

PROMPT = """The assistant: {about}

<message>
{message}
</message>

<reply>
{response}
</reply>

<recent_replies>
{recent}
</recent_replies>"""

LOW = 0.5
"""A part below this raises its flag."""


class ModelJudgement(BaseModel):
    """What the judging model fills in: whole numbers, because a grammar does not keep fractions within bounds."""

    responsiveness: int = Field(ge=0, le=100)
    completeness: int = Field(ge=0, le=100)
    consistency: int = Field(ge=0, le=100)
    repetition: bool


def llm_assessor(model: "Model", account: Account | None = None) -> Assessor:
    """An assessor that asks `model`; pass it to `Chat(assessor=…)`."""

    async def ask_judge(message: str, response: str, recent: Sequence[str], identity: Identity) -> Assessment:
        text = PROMPT.format(
            about=", ".join(filter(None, (identity.name, identity.about))) or "an assistant",
            message=message,
            response=response,
            recent="\n---\n".join(recent),
        )
        prompt = Prompt(instructions=INSTRUCTIONS, prompt=text)
        judged = await generate_reply(
            model, prompt, purpose="assess", account=account, schema=ModelJudgement, max_tokens=100, temperature=0.0
        )
        return to_assessment(judged.value, message)

    return ask_judge


def to_assessment(judged: ModelJudgement, message: str) -> Assessment:
    """A judgement on our scale: the mean of the three parts, halved for a repetition."""
    parts = Parts(
        responsiveness=judged.responsiveness / 100,
        completeness=judged.completeness / 100,
        consistency=judged.consistency / 100,
        length_ok=True,
        repetition=judged.repetition,
    )
    score = (parts.responsiveness + parts.completeness + parts.consistency) / 3 * (0.5 if judged.repetition else 1)
    named: list[tuple[Flag, bool]] = [
        ("off_topic", parts.responsiveness < LOW),
        ("incomplete", parts.completeness < LOW),
        ("repetition", parts.repetition),
    ]
    unanswered = tuple(ask.text for ask in find_asks(analyse_text(message))) if parts.completeness < LOW else ()
    return Assessment(score=score, flags=tuple(flag for flag, on in named if on), parts=parts, unanswered=unanswered)
