"""The packages that integrations need, named with their range where one is missing or of another version."""

from importlib import import_module
from typing import Any

INSTALL = "pip install {range!r}"


def import_extra(module: str, name: str, supported: str) -> Any:
    """A module of the package that an integration is for.

    Args:
        module: its name.
        name: the package, as people call it.
        supported: the range of versions that the integration is tested with, as pip takes it.

    Raises:
        ImportError: it is missing, or of a version that has no such module; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"Insula's integration needs {name} in the range {supported!r} ({error}); run: "
            f"{INSTALL.format(range=supported)}"
        ) from error
