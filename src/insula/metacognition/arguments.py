"""What the public verbs may be given: a wrong type is a mistake in the host's code, and raises at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from insula.errors import InputError, StoreError
from insula.memory.storage.store import CLOSED

LARGEST = 2**63 - 1
"""The largest id that the databases can hold."""


def check_message(message: object) -> None:
    """Whether something can be a message at all: not where it is nothing, a number, a truth value, or a function.

    Raises:
        InputError: it cannot.
    """
    if message is None or isinstance(message, int | float) or callable(message):
        shown = str(message)[:40]
        raise InputError(f"The message {shown} is no text; give a text, content parts, or a message of a library.")


def check_number(**numbers: object) -> None:
    """Whether some numbers can be those of a memory.

    Raises:
        InputError: one of them is none.
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= LARGEST:
            raise InputError(f"{name}={number!r} is no number of a memory; give its `id`, a whole number.")


def check_path(path: object) -> None:
    """Whether something names a file.

    Raises:
        InputError: it does not.
    """
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InputError(f"{path!r} names no file; give a path, such as 'insula.db'.")


def check_model(model: object) -> None:
    """Whether something may be a model, which a name is not.

    Raises:
        InputError: it is a name, or nothing that answers.
    """
    if model is None or isinstance(model, str | int | float):
        shown = str(model)[:40]
        raise InputError(
            f"{shown!r} is no model; give one of Pydantic AI's: insula.llm.models.resolve_model makes it of a name."
        )


def check_options(*wanted: tuple[str, object, type[Any] | Callable[[object], bool], str]) -> None:
    """Whether some options are what they must be, where they are given.

    Args:
        wanted: of each its name, its value, the type or the test that it must pass, and what to give.

    Raises:
        InputError: one of them is not.
    """
    for name, value, fits, remedy in wanted:
        passes = value is None or (isinstance(value, fits) if isinstance(fits, type) else fits(value))
        if not passes:
            raise InputError(f"{name}={str(value)[:40]!r} cannot be used; give {remedy}.")


def check_open(store: Any) -> None:
    """Whether a store is one, and open.

    Raises:
        InputError: it is none.
        StoreError: it is closed.
    """
    if not hasattr(store, "closed"):
        raise InputError(
            f"{store!r} is no store; write `await Metacognition.open(path)`, or `Metacognition.sync(path)`."
        )
    if store.closed:
        raise StoreError(CLOSED)
