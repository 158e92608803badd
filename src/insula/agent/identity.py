"""Reads `identity.toml`: who the agent is. Nothing ever writes it."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from insula.errors import SettingsError
from insula.types import Identity

FILE = "identity.toml"
OWN = Identity(name="Insula", about="a helpful assistant")
"""Who the reference agent is where nobody says otherwise."""


def load_identity(path: Path, *, required: bool = False) -> Identity:
    """The identity in a file, or the default one where there is no file.

    Args:
        required: whether a missing file is an error.

    Raises:
        SettingsError: the file cannot be read, or something in it cannot be used.
    """
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if not required:
            return OWN
        raise SettingsError(f"There is no identity file {str(path)!r}; write one, or leave the option out.") from None
    except (OSError, ValueError) as error:
        raise SettingsError(f"The identity file {str(path)!r} cannot be read ({error}); mend it.") from error
    try:
        if unknown := sorted(values.keys() - {field.name for field in fields(Identity)}):
            raise SettingsError(f"The identity file {str(path)!r} has an unknown {unknown[0]!r}; take it out.")
        identity = TypeAdapter(Identity).validate_python({"name": OWN.name, "about": OWN.about} | values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"The identity file {str(path)!r} has a bad {where!r}: {first['msg']}.") from error
    _check_patterns(identity, path)
    return identity


def _check_patterns(identity: Identity, path: Path) -> None:
    for pattern in identity.forbidden:
        try:
            re.compile(pattern)
        except re.error as error:
            raise SettingsError(
                f"The identity file {str(path)!r} forbids {pattern!r}, which is no regular expression ({error})."
            ) from error
