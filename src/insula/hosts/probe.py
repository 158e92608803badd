"""What a hook is tried with: payloads in the form that each host sends them, recorded from the real ones.

A prompt and a success, to which a healthy hook says nothing; then five similar errors, to one of which it must answer.
"""

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from insula.hosts.places import Host

ERRORS = 5
PATIENCE = 10.0
"""Seconds for one call; a host gives it half."""

Payload = dict[str, Any]

_FORMS: Mapping[str, Mapping[str, Payload]] = {
    "claude-code": {
        "all": {"permission_mode": "acceptEdits", "prompt_id": "03530768-37eb-40d7-9c18-ce8f997868d7"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "Please look at the files."},
        "healthy": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "echo hello-from-tool", "description": "Say hello"},
            "tool_response": {
                "stdout": "hello-from-tool",
                "stderr": "",
                "interrupted": False,
                "isImage": False,
                "noOutputExpected": False,
            },
            "tool_use_id": "toolu_doctor_healthy",
            "duration_ms": 23,
        },
        "failing": {
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": "ls /nonexistent-$n", "description": "List"},
            "tool_use_id": "toolu_doctor_$n",
            "error": "Exit code 2\nls: cannot access '/nonexistent-$n': No such file or directory",
            "is_interrupt": False,
            "duration_ms": 27,
        },
    },
    "codex": {
        "all": {
            "turn_id": "01a1f70b-fc5e-73b1-970d-cd5b131bdb06",
            "model": "gpt-5.2-codex",
            "permission_mode": "bypassPermissions",
        },
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "Please look at the files."},
        "healthy": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "echo hello-from-tool"},
            "tool_response": "hello-from-tool\n",
            "tool_use_id": "call_doctor_healthy",
        },
        "failing": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "ls /nonexistent-$n"},
            "tool_response": "ls: cannot access '/nonexistent-$n': No such file or directory\n",
            "tool_use_id": "call_doctor_$n",
        },
    },
    "gemini": {
        "all": {"timestamp": "2026-11-20T03:42:53.025Z"},
        "prompt": {"hook_event_name": "BeforeAgent", "prompt": "Please look at the files."},
        "healthy": {
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "echo hello-from-tool", "description": "Say hello", "is_background": False},
            "tool_response": {
                "llmContent": "<untrusted_context>\nOutput: hello-from-tool\nProcess Group PGID: 31392\n"
                "</untrusted_context>",
                "returnDisplay": "hello-from-tool",
            },
        },
        "failing": {
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "ls /nonexistent-$n", "description": "List", "is_background": False},
            "tool_response": {
                "llmContent": "<untrusted_context>\nOutput: ls: cannot access '/nonexistent-$n': No such file or "
                "directory\nExit Code: 2\nProcess Group PGID: 3144$n\n</untrusted_context>",
                "returnDisplay": "ls: cannot access '/nonexistent-$n': No such file or directory",
            },
        },
    },
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of the hook came to."""

    event: str
    code: int
    output: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """The calls of a trial: those of a healthy session, and the errors."""

    healthy: Sequence[Answer]
    failing: Sequence[Answer]

    @property
    def milliseconds(self) -> float:
        """The middle one of all calls."""
        return sorted(answer.seconds for answer in (*self.healthy, *self.failing))[ERRORS // 2 + 1] * 1000


def payloads(host: Host, session: str, cwd: str) -> tuple[list[Payload], list[Payload]]:
    """What the host would send: the healthy part, and the errors."""
    form = _FORMS[host.id]
    common = {"session_id": session, "transcript_path": f"{cwd}/no-transcript.jsonl", "cwd": cwd, **form["all"]}
    failing = [
        cast(Payload, json.loads(json.dumps(form["failing"]).replace("$n", str(n)))) for n in range(1, ERRORS + 1)
    ]
    return [{**common, **form[part]} for part in ("prompt", "healthy")], [{**common, **one} for one in failing]


def attempt(command: str, host: Host, session: str, cwd: str, env: Mapping[str, str]) -> Trial:
    """Run an installed command line on the whole sequence, as the host does: by a shell, one call per event."""
    healthy, failing = payloads(host, session, cwd)
    return Trial([_call(command, one, cwd, env) for one in healthy], [_call(command, one, cwd, env) for one in failing])


def _call(command: str, payload: Payload, cwd: str, env: Mapping[str, str]) -> Answer:
    began = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S602 the point is to run what is installed, as it is run
            command,
            shell=True,
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=cwd,
            env=dict(env),
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Answer(payload["hook_event_name"], -1, b"", time.perf_counter() - began)
    return Answer(payload["hook_event_name"], done.returncode, done.stdout, time.perf_counter() - began)


def text(answer: Answer) -> str:
    """The text that the host would hand to its model; empty where the answer has not the form that it takes.

    Codex drops an answer with a field that it does not know, and says nothing; so none may be there.
    """
    try:
        value = cast(Payload, json.loads(answer.output))
        inner = cast(Payload, value["hookSpecificOutput"])
        said: object = inner["additionalContext"]
    except (ValueError, TypeError, KeyError):
        return ""
    fits = set(value) == {"hookSpecificOutput"} and set(inner) == {"hookEventName", "additionalContext"}
    return said if fits and inner["hookEventName"] == answer.event and isinstance(said, str) else ""
