"""What the fake model has a real coding agent do, beside running a command."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from insula.llm.fake_agents import ShellStep


@dataclass(frozen=True, slots=True)
class ReadStep:
    """Read a file, by the shell where there is no tool for it."""

    path: str

    names = ("Read", "read", "read_file", "view", *ShellStep.names)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By all the names that clients have for them."""
        return {**ShellStep(f"cat '{self.path}'").arguments, **_path_arguments(self.path)}


@dataclass(frozen=True, slots=True)
class EditStep:
    """Replace a line of a file by another."""

    path: str
    old: str
    new: str

    names = ("Edit", "edit", "replace", "editor", "apply_patch")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By all the names that clients have for them."""
        change = f"*** Update File: {self.path}\n@@\n-{self.old}\n+{self.new}\n"
        return {
            **_path_arguments(self.path),
            **dict.fromkeys(("old_string", "oldString", "old_str", "old_text"), self.old),
            **dict.fromkeys(("new_string", "newString", "new_str", "new_text"), self.new),
            "instruction": "A step of a script.",
            "input": f"*** Begin Patch\n{change}*** End Patch\n",
        }


def _path_arguments(path: str) -> Mapping[str, Any]:
    return dict.fromkeys(("file_path", "absolute_path", "filePath", "path"), path)
