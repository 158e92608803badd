"""A session of Claude Code as its hook meets it, turn by turn; every text that the model would see is kept."""

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from insula.hosts.hook import respond

Payload = dict[str, Any]
ASKED = "permissionDecisionReason"
SAID = "additionalContext"
PROJECT = "/home/dev/project/"
EVERY = (*("against_words", "bypass", "chronos", "nociception", "o2", "spatial", "told_again", "unmet", "vestibular"),)
"""The senses, by the names that a person switches them by."""


class Session:
    """A session that goes on, a minute from turn to turn.

    Args:
        home: where the hook keeps its state.
        name: of the session.
        host: whose payloads these are.
        batches: whether the host tells where a turn ends.
        on: senses that a person has switched on; those that are on by default are.

    Attributes:
        texts: what the model was told, with the number of the turn.
    """

    def __init__(
        self,
        home: Path,
        name: str = "s",
        host: str = "claude-code",
        batches: bool = True,
        on: Iterable[str] = (),
        cwd: str = "/home/dev/project",
    ) -> None:
        self.texts: list[tuple[int, str]] = []
        self.turn = 0
        self.at = 1_800_000_000.0
        self._home, self._host, self._batches = str(home), host, batches
        self._base: Payload = {"session_id": name, "cwd": cwd, "transcript_path": ""}
        self._ids = count()
        if senses := dict.fromkeys(on, True):
            (home / "hook.json").write_text(json.dumps({"senses": senses}))

    def tell(self, payload: Payload, after: float = 0.0) -> str:
        """One event; the text that is answered."""
        self.at += after
        answer = respond(self._home, self._host, self._base | payload, self.at)
        given: dict[str, str] = json.loads(answer)["hookSpecificOutput"] if answer else {}
        text = given.get(SAID, "") or given.get(ASKED, "")
        if text:
            self.texts.append((self.turn, text))
        return text

    def act(self, *calls: Payload, seconds: float = 60.0) -> list[str]:
        """A turn of the model: its calls at once, and the batch that ends it; what was answered."""
        self.turn += 1
        self.at += seconds
        before, ids = len(self.texts), [f"toolu_{next(self._ids)}" for _ in calls]
        for call, name in zip(calls, ids, strict=True):
            self.tell(call | {"tool_use_id": name}, 0.01)
        if self._batches:
            told = [call | {"tool_use_id": name, "tool_response": ""} for call, name in zip(calls, ids, strict=True)]
            self.tell({"hook_event_name": "PostToolBatch", "tool_calls": told}, 0.01)
        return [text for _, text in self.texts[before:]]

    def prompt(self, words: str) -> str:
        """The user speaks."""
        return self.tell({"hook_event_name": "UserPromptSubmit", "prompt": words}, 30)

    def stop(self, words: str = "Done.") -> str:
        """The agent stops."""
        return self.tell({"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": words}, 5)

    def follow(self, turns: Iterable[Payload | tuple[Payload, ...]], seconds: float = 60.0) -> list[tuple[int, str]]:
        """Several turns, each a call or several at once; every text so far."""
        for turn in turns:
            calls: tuple[Payload, ...] = turn if isinstance(turn, tuple) else (turn,)
            self.act(*calls, seconds=seconds)
        return self.texts

    @property
    def said(self) -> list[str]:
        """The texts alone."""
        return [text for _, text in self.texts]


def failed(tool: str, given: Payload, error: str, seconds: float = 0.03) -> Payload:
    """A call that failed."""
    return {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": tool,
        "tool_input": given,
        "error": error,
        "is_interrupt": False,
        "duration_ms": seconds * 1_000,
    }


def went(tool: str, given: Payload, response: object = "", seconds: float = 0.03) -> Payload:
    """A call that went well."""
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_response": response,
        "duration_ms": seconds * 1_000,
    }


def fails(command: str, output: str = "it went wrong", code: int = 1, seconds: float = 0.03) -> Payload:
    """A command that failed."""
    return failed("Bash", {"command": command}, f"Exit code {code}\n{output}", seconds)


def runs(command: str, output: str = "", seconds: float = 0.03) -> Payload:
    """A command that went well."""
    return went("Bash", {"command": command}, {"stdout": output, "stderr": "", "interrupted": False}, seconds)


def edits(path: str = "/home/dev/project/price.py", old: str = "a", new: str = "b") -> Payload:
    """A file that is changed."""
    given = {"file_path": path, "old_string": old, "new_string": new}
    response: Payload = {"filePath": path, "structuredPatch": [{}]}
    return went("Edit", given, response)


def reads(path: str = "/home/dev/project/price.py", content: str = "x = 1\n") -> Payload:
    """A file that is read."""
    return went("Read", {"file_path": path}, {"type": "text", "file": {"filePath": path, "content": content}})


def pytest_fails(number: int) -> str:
    """What pytest says, with all that varies from one run to the next."""
    lines = [f"/tmp/pytest-of-dev/pytest-{12 + number}/", "=== FAILURES ===", "___ test_total ___"]
    lines += [f"E       assert {number} == 3", f"tests/test_price.py:{10 + number}: AssertionError"]
    lines += [f"FAILED tests/test_price.py::test_total - assert {number} == 3"]
    return "\n".join([*lines, f"1 failed, 4 passed in 0.{number + 1}s"])
