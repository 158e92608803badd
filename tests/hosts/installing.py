"""Hooks as a person installs them and asks after them: by the command alone."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness import run_insula

GUARD_SECONDS = 600.0
"""A bound for processes at once on a busy machine, that a test which hangs may end."""
SETTINGS = {
    "claude-code": ".claude/settings.json",
    "cline": ".cline/hooks/PostToolUse",
    "codex": ".codex/hooks.json",
    "copilot": ".copilot/hooks/insula.json",
    "cursor": ".cursor/hooks.json",
    "droid": ".factory/settings.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/plugins/insula.js",
    "qwen": ".qwen/settings.json",
}
"""The file that each host reads, below a person's home."""
VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "QWEN_HOME", "XDG_CONFIG_HOME"),
    *("OPENCODE_CONFIG_DIR", "CLINE_DIR", "CURSOR_CONFIG_DIR"),
)


def settings_of(host: str, folder: Path | None = None) -> Path:
    """The settings file of a host: a person's own, or the one of a project."""
    below = ".claude/settings.local.json" if folder and host == "claude-code" else SETTINGS[host]
    return (folder or Path.home()) / below


def insula(*words: str, stdin: str = "") -> tuple[int, str]:
    """Run the command: its exit status, and all that it said."""
    ran = run_insula(*words, stdin=stdin)
    return ran.status, ran.out + ran.err


def install(host: str, *words: str) -> None:
    """Install the hooks of a host; it fails where the command does."""
    ran = run_insula("install", host, *words)
    assert ran.status == 0, ran.err


def examine(*words: str) -> list[Any]:
    """What the doctor finds, each with its `host`, `name`, `state`, `says` and `remedy`."""
    return [SimpleNamespace(**check) for check in run_insula("doctor", *words, "--json").json["checks"]]


def found(name: str, checks: list[Any]) -> list[Any]:
    """The checks of one name."""
    return [check for check in checks if check.name == name]


def troubles(checks: list[Any]) -> dict[str, str]:
    """What is not well, by name."""
    return {check.name: check.says for check in checks if check.state != "ok"}
