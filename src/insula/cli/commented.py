"""A file of settings in which each stands with a comment, and none is set yet."""

import json
import re
from typing import Any

from pydantic.fields import FieldInfo

from insula.settings import Settings

HEAD = "# Insula's settings. Take the mark from a line to set it; each is also read from INSULA_NAME.\n"
APART = frozenset(("users",))
"""Set in tables of their own."""


def commented() -> str:
    """The text of the file."""
    return "\n".join(
        [HEAD, *(_line(name, field) for name, field in Settings.model_fields.items() if name not in APART)]
    )


def line(name: str, value: Any) -> str:
    """A setting as the file has it; one that is not set, as a comment."""
    return f"#{name} =" if value is None else f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}"


def _line(name: str, field: FieldInfo) -> str:
    about = [f"# {each}" for each in re.split(r"\n\s*", field.description or "") if each]
    value = field.get_default(call_default_factory=True)
    return "\n".join([*about, "#" + line(name, value).removeprefix("#"), ""])
