"""What a hook is tried with: payloads in the form that each host sends them, recorded from the real ones.

A prompt and a success, to which a healthy hook says nothing; then similar errors, five at most, to one of which it must
answer.

This is the one place that starts a process for a host's hook, and it takes no line but one from Insula's own record
(`records.installed`): what a settings file says is compared with that, and never run.
"""

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any, cast

from insula.coding.hosts import places, runtime
from insula.coding.hosts.places import Host
from insula.coding.hosts.records import Installed
from insula.coding.step.digest import VARIABLE

ERRORS = 5
PAUSE = 0.3
"""Seconds between two errors: what comes faster is of one turn of the model, and counts once."""
PATIENCE = 10.0
"""Seconds for one call; a host gives it half."""

Payload = dict[str, Any]

_CLAUDE: Payload = {"session_id": "$session", "transcript_path": "$cwd/no-transcript.jsonl", "cwd": "$cwd"}

_FORMS: Mapping[str, Mapping[str, Payload]] = {
    "claude-code": {
        "all": {**_CLAUDE, "permission_mode": "acceptEdits", "prompt_id": "03530768-37eb-40d7-9c18-ce8f997868d7"},
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
            "tool_input": {"command": "cat /nonexistent-$n", "description": "Show it"},
            "tool_use_id": "toolu_doctor_$n",
            "error": "Exit code 2\ncat: /nonexistent-$n: No such file or directory",
            "is_interrupt": False,
            "duration_ms": 27,
        },
    },
    "codex": {
        "all": {
            **_CLAUDE,
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
            "tool_input": {"command": "cat /nonexistent-$n"},
            "tool_response": "cat: /nonexistent-$n: No such file or directory\n",
            "tool_use_id": "call_doctor_$n",
        },
    },
    "gemini": {
        "all": {**_CLAUDE, "timestamp": "2026-11-20T03:42:53.025Z"},
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
            "tool_input": {"command": "cat /nonexistent-$n", "description": "Show it", "is_background": False},
            "tool_response": {
                "llmContent": "<untrusted_context>\nOutput: cat: /nonexistent-$n: No such file or "
                "directory\nExit Code: 2\nProcess Group PGID: 3144$n\n</untrusted_context>",
                "returnDisplay": "cat: /nonexistent-$n: No such file or directory",
            },
        },
    },
    "copilot": {
        "all": {"sessionId": "$session", "timestamp": 1795146247561, "cwd": "$cwd"},
        "prompt": {"prompt": "Please look at the files."},
        "healthy": {
            "toolName": "bash",
            "toolArgs": {"command": "echo hello-from-tool", "description": "Say hello"},
            "toolResult": {
                "resultType": "success",
                "textResultForLlm": "hello-from-tool\n<shellId: 0 completed with exit code 0>",
            },
        },
        "failing": {
            "toolName": "bash",
            "toolArgs": {"command": "cat /nonexistent-$n", "description": "Show it"},
            "toolResult": {
                "resultType": "success",
                "textResultForLlm": "cat: /nonexistent-$n: No such file or directory\n"
                "<shellId: $n completed with exit code 2>",
            },
        },
    },
    "qwen": {
        "all": {**_CLAUDE, "timestamp": "2026-11-20T03:46:04.050Z", "permission_mode": "yolo"},
        "prompt": {
            "hook_event_name": "UserPromptSubmit",
            "prompt": "Please look at the files.",
            "submitted_prompt": "Please look at the files.",
        },
        "healthy": {
            "hook_event_name": "PostToolUse",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "echo hello-from-tool", "is_background": False},
            "tool_response": {
                "llmContent": "Command: echo hello-from-tool\nDirectory: (root)\nOutput: hello-from-tool\n"
                "Error: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)",
                "returnDisplay": "hello-from-tool",
            },
            "tool_use_id": "toolu_doctor_healthy",
        },
        "failing": {
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "cat /nonexistent-$n", "is_background": False},
            "tool_use_id": "toolu_doctor_$n",
            "error": "Command: cat /nonexistent-$n\nDirectory: (root)\nOutput: cat: /nonexistent-$n: "
            "No such file or directory\nError: (none)\nExit Code: 2\nSignal: (none)\nProcess Group PGID: (none)",
            "is_interrupt": False,
        },
    },
    "opencode": {
        "all": {"session": "$session", "agent": "", "cwd": "$cwd"},
        "prompt": {"event": "chat.message"},
        "healthy": {
            "event": "tool.execute.after",
            "input": {"tool": "bash", "callID": "call_healthy", "args": {"command": "echo hello-from-tool"}},
            "output": {"output": "hello-from-tool\n", "metadata": {"exit": 0}},
        },
        "failing": {
            "event": "tool.execute.after",
            "input": {"tool": "bash", "callID": "call_$n", "args": {"command": "cat /nonexistent-$n"}},
            "output": {
                "output": "cat: /nonexistent-$n: No such file or directory\n",
                "metadata": {"exit": 2},
            },
        },
    },
    "cline": {
        "all": {"taskId": "$session", "workspaceRoots": ["$cwd"], "agent_id": "agent_1", "parent_agent_id": None},
        "prompt": {"hookName": "prompt_submit", "userPromptSubmit": {"prompt": "Please look at the files."}},
        "healthy": {
            "hookName": "tool_result",
            "tool_result": {
                "id": "call_healthy",
                "name": "run_commands",
                "input": {"commands": ["echo hello-from-tool"]},
                "output": [{"query": "echo hello-from-tool", "result": "hello-from-tool\n", "success": True}],
            },
            "postToolUse": {"toolName": "run_commands", "success": True},
        },
        "failing": {
            "hookName": "tool_result",
            "tool_result": {
                "id": "call_$n",
                "name": "run_commands",
                "input": {"commands": ["cat /nonexistent-$n"]},
                "output": [
                    {
                        "query": "cat /nonexistent-$n",
                        "result": "[Command exited with code 2]\n\n[stderr]\n"
                        "cat: /nonexistent-$n: No such file or directory\n",
                        "error": "Command exited with code 2",
                        "success": False,
                    }
                ],
            },
            "postToolUse": {"toolName": "run_commands", "success": True},
        },
    },
    "cursor": {
        "all": {"conversation_id": "$session", "workspace_roots": ["$cwd"], "cursor_version": "3.12"},
        "prompt": {"hook_event_name": "beforeSubmitPrompt", "prompt": "Please look at the files."},
        "healthy": {
            "hook_event_name": "postToolUse",
            "tool_name": "Shell",
            "tool_input": {"command": "echo hello-from-tool"},
            "tool_output": '{"exitCode": 0, "stdout": "hello-from-tool"}',
            "tool_use_id": "call_healthy",
        },
        "failing": {
            "hook_event_name": "postToolUse",
            "tool_name": "Shell",
            "tool_input": {"command": "cat /nonexistent-$n"},
            "tool_output": '{"exitCode": 2, "stdout": "cat: /nonexistent-$n: No such file or directory"}',
            "tool_use_id": "call_$n",
        },
    },
    "droid": {
        "all": {**_CLAUDE, "permission_mode": "auto-high"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "Please look at the files."},
        "healthy": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Execute",
            "tool_input": {"command": "echo hello-from-tool"},
            "tool_response": "hello-from-tool",
        },
        "failing": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Execute",
            "tool_input": {"command": "cat /nonexistent-$n"},
            "tool_response": "cat: /nonexistent-$n: No such file or directory",
        },
    },
}

_PLACES = {
    "copilot": ("additionalContext",),
    "opencode": ("text",),
    "cline": ("contextModification",),
    "cursor": ("additional_context",),
}
"""Where a host reads the text for its model, unless it reads it as Claude Code does."""
_BESIDE = {"cline": {"cancel": False}}
"""What an answer holds beside it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of the hook came to."""

    event: str
    code: int
    output: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """The calls of a trial: those of a healthy session, and the errors up to the first that was answered."""

    healthy: Sequence[Answer]
    failing: Sequence[Answer]

    @property
    def milliseconds(self) -> float:
        """The middle one of all calls."""
        return median(answer.seconds for answer in (*self.healthy, *self.failing)) * 1000


def payloads(host: Host, session: str, cwd: str) -> tuple[list[Payload], list[Payload]]:
    """What the host would send: the healthy part, and the errors."""
    form = _FORMS[host.id]
    healthy = [_filled({**form["all"], **form[part]}, session, cwd) for part in ("prompt", "healthy")]
    failing = {**form["all"], **form["failing"]}
    return healthy, [_filled(failing, session, cwd, str(number)) for number in range(1, ERRORS + 1)]


def _filled(form: Payload, session: str, cwd: str, number: str = "") -> Payload:
    text = json.dumps(form).replace("$session", session).replace("$cwd", json.dumps(cwd)[1:-1]).replace("$n", number)
    return cast(Payload, json.loads(text))


def event(host: Host, payload: Payload) -> str:
    """The host's name of the event that a payload tells."""
    found = import_module(host.dialect).event(payload, 0.0)
    return str(found.name) if found else ""


def version(command: Installed) -> tuple[int, ...]:
    """The version of the interpreter that an installed command line names; empty where it does not run."""
    parts = places.read_command(command)
    return runtime.version(parts.python) if parts else ()


def attempt(command: Installed, host: Host, session: str, cwd: str, env: Mapping[str, str]) -> Trial:
    """Run an installed command line on the sequence, as the host does: by a shell, one call per event.

    The errors go on until it answers one.
    """
    parts = payloads(host, session, cwd)
    told = {**env, VARIABLE: "off"}  # a trial is not to be withheld by lot
    healthy = [_call(command, event(host, one), one, cwd, told) for one in parts[0]]
    failing: list[Answer] = []
    for one in parts[1]:
        time.sleep(PAUSE)
        failing.append(_call(command, event(host, one), one, cwd, told))
        if failing[-1].output:
            break
    return Trial(healthy, failing)


def _call(command: Installed, event: str, payload: Payload, cwd: str, env: Mapping[str, str]) -> Answer:
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
        return Answer(event, -1, b"", time.perf_counter() - began)
    return Answer(event, done.returncode, done.stdout, time.perf_counter() - began)


def text(host: Host, answer: Answer) -> str:
    """The text that the host would hand to its model; empty where the answer has not the form that it takes.

    Codex drops an answer with a field that it does not know, and says nothing; so none may be there.
    """
    nested = host.id not in _PLACES
    place = ("hookSpecificOutput", "additionalContext") if nested else _PLACES[host.id]
    try:
        value = said = json.loads(answer.output)
        for name in place:
            said = said[name]
    except (ValueError, TypeError, KeyError):
        return ""
    inner = {"hookEventName": answer.event, "additionalContext": said}
    form: Payload = {"hookSpecificOutput": inner} if nested else {place[0]: said, **_BESIDE.get(host.id, {})}
    return said if isinstance(said, str) and value == form else ""
