"""The tables of words that stand beside the code."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load_table(name: str, package: str = "insula.text") -> Any:
    """What a file of JSON in a package holds; it is read once."""
    return json.loads((files(package) / name).read_text("utf-8"))
