"""Where hooks of ours are: for the user, in a project, and in projects that are not at hand."""

from dataclasses import dataclass
from pathlib import Path

from insula.hosts import files, places, projects, records
from insula.hosts.places import Host


@dataclass(frozen=True, slots=True)
class Present:
    """The settings files of a host that speak of our hooks."""

    here: dict[Path, bytes]
    """Those that hold in a folder: the user's own, and those of the projects that it lies in."""
    elsewhere: tuple[Path, ...]
    """Those of other projects, on record."""


def find(host: Host, folder: Path) -> Present:
    """Where our hooks of a host are, as seen from a folder.

    Raises:
        SettingsError: a settings file cannot be read.
    """
    known = [Path(path) for path, one in records.read(places.home()).items() if one.get("host") == host.id]
    near = [host.settings(), host.settings(projects.root(folder)), *(one for one in known if _holds(host, one, folder))]
    here: dict[Path, bytes] = {}
    for file in dict.fromkeys(near):
        data = read(host, file)
        if data is not None and (file in known or f"/{places.SHIM}".encode() in data):
            here[file] = data
    return Present(here, tuple(file for file in known if file not in near and file.exists()))


def read(host: Host, file: Path) -> bytes | None:
    """The bytes of a settings file of a host; None where there is none. What a project brought is read with care.

    Raises:
        SettingsError: it cannot be read.
    """
    return files.read(file, project_of(host, file))


def project_of(host: Host, file: Path) -> Path | None:
    """The folder of the project that a settings file is for; None for the user's own."""
    if file == host.settings():
        return None
    depth = len(host.settings(Path()).parts)
    folder = file.parents[depth - 1] if len(file.parents) >= depth else None
    return folder if folder and host.settings(folder) == file else None


def _holds(host: Host, file: Path, folder: Path) -> bool:
    root = project_of(host, file)
    return root is not None and folder.resolve().is_relative_to(root.resolve())
