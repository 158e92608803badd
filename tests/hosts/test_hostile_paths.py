"""Paths that a payload or a project brings: pipes are not waited at, and no link is followed out of a project."""

import os
import time
from pathlib import Path

import pytest
from coding_agents import recorded

from insula.hosts.hook import respond

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "qwen"])
def test_a_pipe_as_transcript_holds_no_hook(host: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    given = {"transcript_path": str(tmp_path / "pipe"), "cwd": str(tmp_path)}
    for payload in recorded(host):
        respond(str(tmp_path / "home"), host, payload | given, time.time())


def test_a_folder_deeper_than_any_costs_no_work(tmp_path: Path) -> None:
    payload = next(each for each in recorded("claude-code") if each["hook_event_name"] == "SessionStart")
    before = time.process_time()
    for number in range(5):
        given = {"cwd": "/a" * 50_000, "session_id": f"s{number}"}
        respond(str(tmp_path / "home"), "claude-code", payload | given, time.time())
    assert time.process_time() - before < 1.5, "it took five times as long as one hook may work"
