"""The hooks that stand in a settings file, and which of them have the form of Insula's own.

The form is what `insula install` renews and `insula uninstall` takes out. It says nothing of who wrote a line, so none
is ever run for it: `records.installed` says which were installed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from insula.coding.hosts import places
from insula.coding.hosts.jsonc import Node
from insula.coding.hosts.places import Host

_KEYS = ("command", "bash", "powershell")
"""Under which a hook has its command line; Copilot has one for each shell."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A hook in a settings file: where it stands, and its command line."""

    event: str
    group: int
    index: int
    """Its place in the group; -1 where hooks have no groups."""
    command: str
    node: Node
    """The text of the command."""


def hooks_in(root: Node) -> Iterator[Handler]:
    """All hooks in a settings file that run a command, whoever put them there."""
    hooks = root.get("hooks")
    last = {member.key: member.node for member in hooks.members} if hooks else {}  # as readers of JSON have it
    for event, groups in last.items():
        for number, group in enumerate(groups.members):
            for index, entry in _entries(group.node):
                for node in map(entry.get, _KEYS):
                    if node and isinstance(node.value, str):
                        yield Handler(event, number, index, node.value, node)


def handlers(root: Node, host: Host, house: Path) -> Iterator[Handler]:
    """The hooks in a settings file that have the form of ours."""
    return (hook for hook in hooks_in(root) if _is_ours(hook.command, host, house))


def _is_ours(line: str, host: Host, house: Path) -> bool:
    command = places.read_command(line)
    return command is not None and places.is_ours(command, host.id, house)


def _entries(group: Node) -> Iterator[tuple[int, Node]]:
    """The hooks in a group with their places; a hook without a group is at -1."""
    inner = group.get("hooks")
    yield from enumerate(one.node for one in inner.members) if inner else ((-1, group),)
