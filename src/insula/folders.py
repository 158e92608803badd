"""Where Insula's own folder is; known without the packages that settings need."""

import os
from collections.abc import Callable
from pathlib import Path

import platformdirs

from insula.errors import SettingsError


def home() -> Path:
    """The folder that holds Insula's data: `INSULA_HOME`, else the platform's own."""
    return folder(lambda: Path(platformdirs.user_data_dir("insula")))


def folder(usual: Callable[[], Path]) -> Path:
    """A folder of Insula's: `INSULA_HOME`, else the usual one; the same from wherever it is asked.

    Raises:
        SettingsError: it is a relative path, which would be another folder in each repository, brought by it.
    """
    named = os.environ.get("INSULA_HOME")
    try:
        found = Path(named).expanduser() if named else usual()
    except RuntimeError as error:
        raise SettingsError(
            f"The folder {named!r} cannot be found ({error}); point INSULA_HOME at a folder."
        ) from error
    if not found.is_absolute():
        raise SettingsError(
            f"Insula's folder would be {str(found)!r}, another one wherever you work, and a repository could bring its "
            "own; point INSULA_HOME at an absolute path."
        )
    return found
