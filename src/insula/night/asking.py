"""A question to the model at night: asked once, whatever is killed when, and journalled with what it cost."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel

from insula.errors import InsulaError
from insula.llm.budget import Account
from insula.llm.client import Prompt, generate_reply
from insula.night.cycle import Night
from insula.redaction import redact
from insula.types import Usage

if TYPE_CHECKING:
    from insula.llm.model import Model

Json = dict[str, Any]
T = TypeVar("T")


async def ask_model(
    night: Night,
    model: "Model",
    name: str,
    prompt: Prompt,
    schema: type[BaseModel],
    *,
    purpose: str,
    max_tokens: int,
    temperature: float,
    final: tuple[type[InsulaError], ...] = (),
) -> Json:
    """The model's answer as `{"value": …, "failed": "", "usage": …}`, from the journal where it was given before.

    Args:
        schema: what the answer must be.
        purpose: what the call is for, as it stands in the account.
        max_tokens: the most it may generate.
        temperature: as `generate` takes it.
        final: errors that asking again would not mend: they are journalled by their name in `failed`. Others are
            raised, and the question is asked anew at the next start.
    """

    async def request_answer() -> Json:
        before = night.account.by_purpose.get(purpose, Usage())
        value, failed = cast("Json | None", None), ""
        try:
            answer = await generate_reply(
                model,
                prompt,
                purpose=purpose,
                account=night.account,
                max_tokens=max_tokens,
                temperature=temperature,
                schema=schema,
            )
            value = cast(Json, redact_json(answer.value.model_dump(mode="json")))
        except final as error:
            failed = type(error).__name__
        return {"value": value, "failed": failed, "usage": usage_since(night.account, purpose, before)}

    return await night.once(name, request_answer)


def usage_since(account: Account, purpose: str, before: Usage) -> dict[str, int]:
    """What was spent on a purpose since a moment."""
    now = account.by_purpose.get(purpose, Usage())
    return {
        "calls": now.calls - before.calls,
        "input_tokens": now.input_tokens - before.input_tokens,
        "output_tokens": now.output_tokens - before.output_tokens,
    }


def total_usage(usages: Iterable[dict[str, int]]) -> dict[str, int]:
    """Some usages together."""
    every = list(usages)
    return {key: sum(usage[key] for usage in every) for key in ("calls", "input_tokens", "output_tokens")}


def redact_json(value: object) -> object:
    """A value of JSON with every secret in it replaced: an answer is journalled, and the disk holds no secret."""
    match value:
        case str():
            return redact(value)
        case list():
            return [redact_json(item) for item in cast(list[object], value)]
        case dict():
            return {key: redact_json(item) for key, item in cast("dict[str, object]", value).items()}
        case _:
            return value
