"""The project that a folder belongs to, as the hook sees it: the nearest folder above with a `.git`, else itself."""

from pathlib import Path

from insula.coding.hosts.places import Host
from insula.errors import InputError


def root(folder: Path | None = None) -> Path:
    """The folder of the project that a folder is in; the present one by default."""
    start = folder or Path.cwd()
    return next((one for one in (start, *start.parents) if (one / ".git").exists()), start)


def project_of(host: Host, file: Path) -> Path | None:
    """The folder of the project that a settings file is for; None for the user's own."""
    if file == host.settings():
        return None
    depth = len(host.settings(Path()).parts)
    folder = file.parents[depth - 1] if len(file.parents) >= depth else None
    return folder if folder and host.settings(folder) == file else None


def described(folder: Path) -> str:
    """Its path, with what should give pause about it."""
    name = str(folder) if str(folder).isprintable() else repr(str(folder))
    if no_project := _no_project(folder):
        return f"{name}, {no_project}"
    return name if (folder / ".git").exists() else f"{name}, which is no git repository: this folder alone"


def checked(folder: Path) -> Path:
    """The folder, after a look whether it can be a project.

    Raises:
        InputError: it is the home folder, or the root of all.
    """
    if no_project := _no_project(folder):
        raise InputError(
            f"The project here would be {str(folder)!r}, {no_project}; go into the folder of a project (`git init` "
            "makes one), or leave --project out to install for all of them."
        )
    return folder


def _no_project(folder: Path) -> str:
    if folder.resolve() == Path.home().resolve():
        return "which is your home folder"
    return "which is the root of all folders" if folder == folder.parent else ""
