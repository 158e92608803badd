"""What the doctor says of hooks that are not Insula's: they are named, and never run."""

from collections.abc import Iterator
from pathlib import Path

from insula.coding.hosts import present
from insula.coding.hosts.consent import Check
from insula.coding.hosts.places import Host
from insula.coding.hosts.present import Present
from insula.redaction import redact

MOST = 3
"""Hooks of one file that are named."""
QUOTED = 160
"""Characters of their command lines that are shown."""


def checks(host: Host, found: Present) -> Iterator[Check]:
    """Each hook that Insula did not install, and each file that nobody can read."""
    for why in found.unread.values():
        yield Check(host.id, "settings", "broken", why.removesuffix("."))
    for file, lines in found.strange.items():
        yield from _in_file(host, file, lines)


def _in_file(host: Host, file: Path, lines: tuple[str, ...]) -> Iterator[Check]:
    first = sorted(lines, key=present.passes_for_ours, reverse=True)
    for line in first[:MOST]:
        yield _foreign(host, f"{file} names a hook", f": {_quoted(line)}", present.passes_for_ours(line))
    if more := first[MOST:]:
        many = f"{len(more)} more hooks" if len(more) > 1 else "one more hook"
        yield _foreign(host, f"{file} names {many}", "", any(map(present.passes_for_ours, more)))
    if not lines:
        yield _foreign(host, f"{file} is a hook", "", True)


def _foreign(host: Host, what: str, line: str, passes: bool) -> Check:
    says = f"{what} that Insula did not install and does not run{line}"
    if not passes:
        return Check(host.id, "foreign", "note", says)
    remedy = f"take it out unless you know it; insula install {host.id} puts in Insula's own"
    return Check(host.id, "foreign", "warn", says, remedy)


def _quoted(line: str) -> str:
    """A command line of anybody's, as it may be shown: cut, without secrets, and with nothing that deceives the eye."""
    shown = repr(redact(line[: 10 * QUOTED])[:QUOTED])
    return f"{shown}…" if len(line) > QUOTED else shown
