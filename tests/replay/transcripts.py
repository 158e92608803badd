"""Transcripts for tests: those that the real clients wrote, and small ones made by hand."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "fixtures/transcripts"
"""Written by the real clients while a model on loopback played a script; long texts cut, folders renamed."""
Row = dict[str, Any]


def write(path: Path, *rows: Row) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


class Session:
    """A session of Claude Code that grows line by line, a second each."""

    def __init__(self, name: str = "s", agent: str = "", cwd: str = "/home/dev/project") -> None:
        self.rows: list[Row] = []
        self.name = name
        self._agent = {"agentId": agent, "isSidechain": True} if agent else {"isSidechain": False}
        self._cwd = cwd
        self._calls = 0
        self.at = int(time.time()) - 86_400

    def add(self, kind: str, content: object, **more: object) -> "Session":
        self.at += 1
        message = {"role": kind, "content": content}
        row = {"type": kind, "uuid": f"{self.name} {len(self.rows)}", "sessionId": self.name, "cwd": self._cwd}
        self.rows.append({**row, **self._agent, "timestamp": stamp(self.at), "message": message, **more})
        return self

    def says(self, prompt: str) -> "Session":
        return self.add("user", prompt)

    def calls(self, tool: str, output: str, *, error: bool = False, **arguments: str) -> "Session":
        self._calls += 1
        name = f"{self.name}-call-{self._calls}"
        self.add("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": arguments}])
        result = {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": error}
        return self.add("user", [result])

    def fails(self, times: int) -> "Session":
        for number in range(times):
            said = f"cat: missing-{number}.txt: No such file or directory"
            self.calls("Bash", f"Exit code 1\n{said}", error=True, command=f"cat missing-{number}.txt")
        return self

    def works(self, times: int) -> "Session":
        for number in range(times):
            self.calls("Bash", f"all is well, round {self._calls} of many", command=f"make step-{number}")
        return self

    def written(self, folder: Path) -> Path:
        return write(folder / f"{self.name}.jsonl", *self.rows)


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
