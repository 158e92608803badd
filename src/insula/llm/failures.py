"""Whatever a provider can throw, told as one of Insula's own errors in a sentence that says what to do."""

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from insula.errors import InsulaError, ModelError, ModelMalformed, ModelRefused, ModelTimeout, ModelUnavailable

if TYPE_CHECKING:
    from insula.llm.model import Model

QUOTED = 200
"""Characters of a provider's own words that a message repeats at most."""

UNNAMED = "default"
"""What a model at an address is called where the address names none."""
MASK = "[hidden]"
_KEY_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET)$")
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|xai|gsk|AIza|hf|key)[-_]?[A-Za-z0-9*_-]{8,}|(?i:bearer)\s+\S+")
_SHORTEST_KEY = 8

Trouble = Literal["key", "unknown", "quota", "rate", "server", "context", "rejected", "unreadable"]
"""What a provider may say of a request."""
PAYMENT, NOT_FOUND, TOO_MANY, SERVER_ERRORS = 402, 404, 429, 500
"""Statuses of HTTP; the last is the first of a server's own failures."""
QUOTA = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
    }
)
"""OpenAI's codes for an account that has nothing left; they come with the status of a rate limit."""
TOO_OFTEN = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"})
TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""OpenAI's code for a prompt that is too long, and llama.cpp's."""
TOO_LONG_WORDS = ("maximum context length", "reduce the length of the messages")
"""How servers without a code say the same (vLLM, Groq, OpenRouter)."""


@contextmanager
def translate_errors(model: "Model", timeout: float) -> Generator[None]:
    """Turns what a provider throws inside the block into a `ModelError`.

    Insula's own errors, cancellation and keyboard interrupts pass through.

    Args:
        timeout: Seconds that it was given.

    Raises:
        ModelUnavailable: Not reachable, no access, unknown, overloaded, out of quota.
        ModelTimeout: Too slow.
        ModelRefused: The provider declined.
        ModelMalformed: Not what the protocol promises.
    """
    try:
        yield
    except InsulaError:
        raise
    except Exception as error:
        raise translate_error(error, model, timeout) from error


def describe_model(model: "Model") -> str:
    """A model as a sentence begins with it: by its name, or by its address where nobody gave it another name."""
    address = model.base_url if model.model_name == UNNAMED else None
    return f"The model at {_without_keys(address.rstrip('/'))}" if address else f"The model '{model.model_name}'"


def translate_error(error: Exception, model: "Model", timeout: float) -> ModelError:
    """The `ModelError` that says what `error` means."""
    import httpx2

    who = describe_model(model)
    match error:
        case httpx2.TimeoutException() | TimeoutError():
            return _describe_timeout(who, timeout)
        case httpx2.ReadError() | httpx2.RemoteProtocolError():
            return _describe_break(who)
        case httpx2.TransportError() | OSError():
            return _describe_unreachable(who, model)
        case _ if "pydantic_ai" in sys.modules:
            return _of_framework(error, model, who, timeout)
        case _:
            return _describe_misfit(error, who)


def _of_framework(error: Exception, model: "Model", who: str, timeout: float) -> ModelError:
    """What an error of Pydantic AI means."""
    from pydantic_ai import exceptions as its

    match error:
        case its.ModelRequestTimeout() | its.ModelTimeoutError():
            return _describe_timeout(who, timeout)
        case its.ModelConnectionError(phase="read" | "write"):
            return _describe_break(who)
        case its.ModelConnectionError():
            return _describe_unreachable(who, model)
        case its.ContentFilterError():
            return ModelRefused(f"{who} declined to answer (content filter); put the question differently.")
        case its.ModelAPIError():
            wait = error.retry_after if isinstance(error, its.ModelRateLimitError) else None
            return make_error(_trouble_in(error), who, _provider_message(error), wait)
        case its.UserError():
            return ModelUnavailable(f"{who} cannot be used like this: {quote_provider(error)}; use another model.")
        case _:
            return _describe_misfit(error, who)


def _describe_timeout(who: str, timeout: float) -> ModelTimeout:
    return ModelTimeout(
        f"{who} did not answer within {timeout:.3g} seconds; allow it more time, or use a smaller model."
    )


def _describe_break(who: str) -> ModelUnavailable:
    return ModelUnavailable(f"{who} broke the connection off before its answer was complete; try again.")


def _describe_unreachable(who: str, model: "Model") -> ModelUnavailable:
    at = f" at {model.base_url.rstrip('/')}" if model.base_url and model.model_name != UNNAMED else ""
    return ModelUnavailable(f"{who} cannot be reached{at}; check that its server runs, its address and your network.")


def _describe_misfit(error: Exception, who: str) -> ModelMalformed:
    kind = type(error).__name__
    return ModelMalformed(f"{who} sent something that is no answer by its protocol ({kind}); try again.")


def quote_provider(words: object) -> str:
    """A provider's words, fit to be repeated: one line, at most `QUOTED` characters, nothing that looks like a key."""
    text = _without_keys(" ".join(str(words).split())).rstrip(".; ")
    return text if len(text) <= QUOTED else text[:QUOTED].rstrip() + "…"


def make_error(trouble: Trouble, who: str, said: object, wait: float | None = None) -> ModelError:
    """What a provider said of a request, as one of our errors.

    Args:
        trouble: what it is about.
        who: the model, as `describe_model` calls it.
        said: the provider's words.
        wait: the seconds that it asks to wait.
    """
    words = quote_provider(said)
    match trouble:
        case "key":  # its words are not repeated: providers quote the key they were sent
            return ModelUnavailable(
                f"{who} refused the key it was given; set the right API key for it, then try again."
            )
        case "unknown":
            return ModelUnavailable(f"{who} is not known there: {words}; check its name and address.")
        case "quota":
            return ModelUnavailable(f"{who} has no quota left for this key; top the account up, or use another model.")
        case "rate":
            when = f"in {wait:.0f} seconds" if wait else "in a moment"
            return ModelUnavailable(f"{who} takes no more requests for now (rate limit); try again {when}.")
        case "server":
            return ModelUnavailable(f"{who} failed on the provider's side: {words}; try again later.")
        case "context":
            return ModelRefused(f"{who} cannot read a prompt this long; shorten the message or the conversation.")
        case "rejected":
            return ModelRefused(f"{who} declined the request: {words}; change it, or use another model.")
        case "unreadable":
            return ModelMalformed(f"{who} sent something that cannot be read: {words}; try again.")


def trouble_of(status: int | None, code: object, kind: object, said: object) -> Trouble:
    """What an error of a server that speaks OpenAI's protocol is about.

    Args:
        status: of HTTP; None within a stream, where the code may be one.
        code: by the error's own word, as its `kind`.
        said: in the provider's words.
    """
    named, words = {str(code), str(kind)}, str(said).lower()
    if named & QUOTA:
        return "quota"
    if named & TOO_LONG or any(phrase in words for phrase in TOO_LONG_WORDS):
        return "context"
    status = status or (int(str(code)) if str(code).isdigit() else None)
    if status in {401, 403} or "invalid_api_key" in named:
        return "key"
    if status == NOT_FOUND or "model_not_found" in named:
        return "unknown"
    if status == PAYMENT:
        return "quota"
    if status == TOO_MANY or named & TOO_OFTEN:
        return "rate"
    return "rejected" if status is not None and status < SERVER_ERRORS else "server"


def _trouble_in(error: Exception) -> Trouble:
    """What an error of a provider's is about, by Pydantic AI's reading of it."""
    from pydantic_ai import exceptions as its

    if getattr(error, "provider_error_type", None) in TOO_LONG:
        return "context"
    troubles: dict[type[Exception], Trouble] = {
        its.ModelAuthenticationError: "key",
        its.ModelNotFoundError: "unknown",
        its.ModelQuotaExceededError: "quota",
        its.ModelRateLimitError: "rate",
        its.ModelUnavailableError: "server",
        its.ModelServerError: "server",
        its.ModelContextWindowExceededError: "context",
        its.ModelRequestRejectedError: "rejected",
    }
    for kind, trouble in troubles.items():
        if isinstance(error, kind):
            return trouble
    return "unreadable"


def _provider_message(error: Exception) -> object:
    """What the provider said: the message inside its body, where there is one, else the body, else the exception."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return inner.get("message", inner) if isinstance(inner, dict) else inner  # pyright: ignore
    return body or error


def _without_keys(text: str) -> str:
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_KEY and _KEY_VARIABLE.search(name):
            text = text.replace(value, MASK)
    return _KEY_SHAPE.sub(MASK, text)
