"""Whatever a provider can throw, told as one of Insula's own errors in a sentence that says what to do."""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from insula.errors import InsulaError, ModelError, ModelMalformed, ModelRefused, ModelTimeout, ModelUnavailable

if TYPE_CHECKING:
    from pydantic_ai.models import Model

QUOTED = 200
"""Characters of a provider's own words that a message repeats at most."""

MASK = "[hidden]"
_KEY_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET)$")
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|xai|gsk|AIza|hf|key)[-_]?[A-Za-z0-9*_-]{8,}|(?i:bearer)\s+\S+")
_SHORTEST_KEY = 8


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


def translate_error(error: Exception, model: "Model", timeout: float) -> ModelError:
    """The `ModelError` that says what `error` means."""
    import httpx2
    from pydantic_ai import exceptions as its

    who = f"The model '{model.model_name}'"
    match error:
        case its.ModelRequestTimeout() | its.ModelTimeoutError() | httpx2.TimeoutException() | TimeoutError():
            return ModelTimeout(
                f"{who} did not answer within {timeout:.3g} seconds; allow it more time, or use a smaller model."
            )
        case its.ModelConnectionError(phase="read" | "write") | httpx2.ReadError() | httpx2.RemoteProtocolError():
            return ModelUnavailable(f"{who} broke the connection off before its answer was complete; try again.")
        case its.ModelConnectionError() | httpx2.TransportError() | OSError():
            return ModelUnavailable(
                f"{who} cannot be reached{_describe_address(model)}; "
                "check that its server runs, its address and your network."
            )
        case its.ContentFilterError():
            return ModelRefused(f"{who} declined to answer (content filter); put the question differently.")
        case its.ModelAPIError():
            return _of_provider(error, who)
        case its.UserError():
            return ModelUnavailable(f"{who} cannot be used like this: {quote_provider(error)}; use another model.")
        case _:
            kind = type(error).__name__
            return ModelMalformed(f"{who} sent something that is no answer by its protocol ({kind}); try again.")


def quote_provider(words: object) -> str:
    """A provider's words, fit to be repeated: one line, at most `QUOTED` characters, nothing that looks like a key."""
    text = _without_keys(" ".join(str(words).split())).rstrip(".; ")
    return text if len(text) <= QUOTED else text[:QUOTED].rstrip() + "…"


def _of_provider(error: Exception, who: str) -> ModelError:
    from pydantic_ai import exceptions as its

    match error:
        case its.ModelAuthenticationError():
            # The body is not repeated: providers quote the key they were sent.
            return ModelUnavailable(
                f"{who} refused the key it was given; set the right API key for it, then try again."
            )
        case its.ModelNotFoundError():
            return ModelUnavailable(
                f"{who} is not known there: {quote_provider(_provider_message(error))}; check its name and address."
            )
        case its.ModelQuotaExceededError():
            return ModelUnavailable(f"{who} has no quota left for this key; top the account up, or use another model.")
        case its.ModelRateLimitError(retry_after=wait):
            when = f"in {wait:.0f} seconds" if wait else "in a moment"
            return ModelUnavailable(f"{who} takes no more requests for now (rate limit); try again {when}.")
        case its.ModelUnavailableError() | its.ModelServerError():
            return ModelUnavailable(
                f"{who} failed on the provider's side: {quote_provider(_provider_message(error))}; try again later."
            )
        case its.ModelContextWindowExceededError() | its.ModelAPIError(provider_error_type="exceed_context_size_error"):
            return ModelRefused(f"{who} cannot read a prompt this long; shorten the message or the conversation.")
        case its.ModelRequestRejectedError():
            return ModelRefused(
                f"{who} declined the request: {quote_provider(_provider_message(error))}; "
                "change it, or use another model."
            )
        case _:
            return ModelMalformed(
                f"{who} sent something that cannot be read: {quote_provider(_provider_message(error))}; try again."
            )


def _describe_address(model: "Model") -> str:
    return f" at {model.base_url.rstrip('/')}" if model.base_url else ""


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
