"""The form in which a model says what a user's lines state, end and prefer."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from insula.value import is_list

SPAN_CHARS, NAME_CHARS = 400, 120
MOST_STATED, MOST_ENDED, MOST_PREFERRED = 96, 24, 24
EVERY_ANSWER = frozenset(
    {
        *("", "every answer", "all answers", "cada respuesta", "todas las respuestas", "chaque réponse"),
        *("toutes les réponses", "jede antwort", "alle antworten", "cada resposta", "todas as respostas"),
        *("ogni risposta", "tutte le risposte", "每个回答", "所有回答", "每次回答", "すべての回答", "全ての回答"),
    }
)
"""The scope of a preference that has no limit, in case its reader puts that in the user's language."""
SPEAKER = "speaker"

Meant = Literal["holds", "planned", "unsure", "wished", "past"]
"""How a statement is meant: as what holds, is planned, may be, is wished for, or held once."""
Span = Annotated[str, Field(max_length=SPAN_CHARS)]
Name = Annotated[str, Field(max_length=NAME_CHARS)]


def _keep_texts(value: object) -> list[str]:
    """The texts among what was given for predictions, which may be left out: no misfit of theirs spoils an answer."""
    return [text for text in value if isinstance(text, str)] if is_list(value) else []


Predicted = Annotated[list[str], BeforeValidator(_keep_texts)]


class Stated(BaseModel):
    """A fact that a line states."""

    line: int
    span: Span
    """The words of the line that state it, as they stand there."""
    owner: Name = SPEAKER
    """Whose fact it is: `speaker`, or the name or relation as it is written."""
    matter: Name = ""
    value: Name = ""
    modality: Meant = "holds"
    since: Name | None = None
    questions: Predicted = []
    """Messages of later that it answers, in other words."""
    requests: Predicted = []
    """Messages of later whose answer it limits."""


class Ended(BaseModel):
    """That an earlier fact, or preference, is over."""

    line: int
    words: Span
    """The words of the line that end it, as they stand there."""
    statement: Span
    """The words of the earlier line that are over, or the id of the fact or preference."""


class Preferred(BaseModel):
    """What a line asks of answers to come."""

    line: int
    span: Span
    scope: Name = "every answer"
    """`every answer`, or the topic or task that it is limited to, as it is written."""
    words: Span = ""
    requests: Predicted = []
    """Messages of later to which it applies, where it is limited."""


class Answer(BaseModel):
    """What a model understood of some lines."""

    statements: Annotated[list[Stated], Field(max_length=MOST_STATED)]
    ended: Annotated[list[Ended], Field(max_length=MOST_ENDED)]
    preferences: Annotated[list[Preferred], Field(max_length=MOST_PREFERRED)]
