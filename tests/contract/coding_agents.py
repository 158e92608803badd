"""Coding agents as their hooks hear of them: each host's payloads in the form that its real client sends them."""

import itertools
import json
import time
from pathlib import Path
from typing import Any

from insula.hosts.hook import respond

Json = dict[str, Any]
RECORDED = Path(__file__).parents[1] / "fixtures" / "payloads"
"""What the real clients sent."""


def recorded(name: str) -> list[Json]:
    """The payloads of a healthy session of a real client, in order; of OpenCode, as the plugin hands them on."""
    records = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text("utf-8").splitlines()]
    if name != "opencode":
        return [record["stdin"] for record in records]
    return [_handed_on(record["event"], record["stdin"]) for record in records]


def _handed_on(event: str, told: Json) -> Json:
    session = told["input"].get("sessionID", "")
    return {"event": event.removeprefix("event:"), "session": session, "agent": "", "cwd": "/home/dev/project", **told}


class CodingAgent:
    """A session of any host, a minute from step to step; each step returns what the model would read, "" for silence.

    Args:
        host: its name.
        home: the folder of the hook's state.
        project: the working folder.
        session: its name.
        now: when it begins.
    """

    def __init__(
        self, host: str, home: Path, project: Path, session: str = "session-1", now: float | None = None
    ) -> None:
        self.host, self.home, self.project, self.session = host, home, project, session
        self._form = FORMS[host]
        self._numbers = itertools.count(1)
        self._now = time.time() if now is None else now

    def prompt(self, words: str) -> str:
        """The user says something."""
        return self.send(self.said(words))

    def bash(self, command: str, output: str, code: int = 0) -> str:
        """A command that ended."""
        return self.send(self.ran(command, output, code))

    def said(self, words: str) -> Json:
        """The payload of what the user says."""
        return self._about() | self._form.prompt(words)

    def ran(self, command: str, output: str, code: int = 0) -> Json:
        """The payload of a command that ended."""
        return self._about() | self._form.ended(command, output, code, f"call-{next(self._numbers)}")

    def send(self, payload: Json) -> str:
        """Send an event; it fails where the answer has another form than the host reads."""
        self._now += 60.0
        answer = respond(str(self.home), self.host, payload, self._now)
        if not answer:
            return ""
        given = json.loads(answer)
        text = _longest(given)
        assert given == self._form.read(payload, text), "the host reads this form alone"
        return text

    def _about(self) -> Json:
        return self._form.about(self.session, str(self.project))


def _longest(value: Any) -> str:
    """The text for the model: the longest one in the answer."""
    if isinstance(value, dict):
        return max(map(_longest, value.values()), key=len, default="")  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value if isinstance(value, str) else ""


class Form:
    """How one host tells its hook what happens, and where it reads the answer."""

    def about(self, session: str, folder: str) -> Json:
        """What stands in each payload."""
        return {"session_id": session, "transcript_path": "", "cwd": folder}

    def prompt(self, words: str) -> Json:
        """What the user says."""
        return {"hook_event_name": "UserPromptSubmit", "prompt": words}

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        """A command that ended."""
        raise NotImplementedError

    def read(self, payload: Json, text: str) -> Json:
        """The answer as the host reads it."""
        return {"hookSpecificOutput": {"hookEventName": payload["hook_event_name"], "additionalContext": text}}


class _ClaudeCode(Form):
    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        made: Json = {"tool_name": "Bash", "tool_input": {"command": command, "description": "a step"}}
        made |= {"tool_use_id": call, "duration_ms": 27}
        if code:
            failed: Json = {"hook_event_name": "PostToolUseFailure", "error": f"Exit code {code}\n{output}"}
            return made | failed | {"is_interrupt": False}
        shown: Json = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return made | {"hook_event_name": "PostToolUse", "tool_response": shown}


class _Codex(Form):
    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        made: Json = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}
        return made | {"hook_event_name": "PostToolUse", "tool_response": f"{output}\n"}


class _Gemini(Form):
    def prompt(self, words: str) -> Json:
        return {"hook_event_name": "BeforeAgent", "prompt": words}

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        status = f"Exit Code: {code}\n" if code else ""
        framed = f"<untrusted_context>\nOutput: {output}\n{status}Process Group PGID: 31392\n</untrusted_context>"
        return {
            "hook_event_name": "AfterTool",
            "timestamp": f"2026-11-20T03:42:{call}",
            "tool_name": "run_shell_command",
            "tool_input": {"command": command, "description": "a step", "is_background": False},
            "tool_response": {"llmContent": framed, "returnDisplay": output},
        }


class _Copilot(Form):
    def about(self, session: str, folder: str) -> Json:
        return {"sessionId": session, "timestamp": 1795146247561, "cwd": folder}

    def prompt(self, words: str) -> Json:
        return {"prompt": words}

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        shown = f"{output}\n<shellId: {call} completed with exit code {code}>"
        return {
            "timestamp": f"{call}",
            "toolName": "bash",
            "toolArgs": {"command": command, "description": "a step"},
            "toolResult": {"resultType": "success", "textResultForLlm": shown},
        }

    def read(self, payload: Json, text: str) -> Json:
        return {"additionalContext": text}


class _Qwen(Form):
    def prompt(self, words: str) -> Json:
        return {"hook_event_name": "UserPromptSubmit", "prompt": words, "submitted_prompt": words}

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        framed = f"Command: {command}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: {code}"
        framed += "\nSignal: (none)\nProcess Group PGID: (none)"
        made: Json = {"tool_name": "run_shell_command", "tool_use_id": call}
        made["tool_input"] = {"command": command, "description": "a step", "is_background": False}
        if code:
            return made | {"hook_event_name": "PostToolUseFailure", "error": framed, "is_interrupt": False}
        return made | {"hook_event_name": "PostToolUse", "tool_response": {"llmContent": framed}}


class _OpenCode(Form):
    def about(self, session: str, folder: str) -> Json:
        return {"session": session, "agent": "", "cwd": folder}

    def prompt(self, words: str) -> Json:
        return {"event": "chat.message"}  # the user's own words are not handed over

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        shown: Json = {"output": f"{output}\n", "exit": code, "truncated": False}
        return {
            "event": "tool.execute.after",
            "input": {"tool": "bash", "callID": call, "args": {"command": command}},
            "output": {"title": command, "metadata": shown, "output": f"{output}\n"},
        }

    def read(self, payload: Json, text: str) -> Json:
        return {"text": text}


class _Cline(Form):
    def about(self, session: str, folder: str) -> Json:
        about: Json = {"taskId": session, "sessionContext": {"rootSessionId": session}, "workspaceRoots": [folder]}
        return about | {"agent_id": "agent_1", "parent_agent_id": None}

    def prompt(self, words: str) -> Json:
        return {"hookName": "prompt_submit", "userPromptSubmit": {"prompt": words}}

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        shown: Json = {"query": command, "result": f"{output}\n", "success": not code}
        if code:
            failed = f"Command exited with code {code}"
            shown |= {"result": f"[{failed}]\n\n[stderr]\n{output}\n", "error": failed}
        given: Json = {"id": call, "name": "run_commands", "input": {"commands": [command]}, "output": [shown]}
        return {"hookName": "tool_result", "tool_result": given, "postToolUse": {"toolName": "run_commands"}}

    def read(self, payload: Json, text: str) -> Json:
        return {"cancel": False, "contextModification": text}


class _Cursor(Form):
    def about(self, session: str, folder: str) -> Json:
        return {"conversation_id": session, "workspace_roots": [folder]}

    def prompt(self, words: str) -> Json:
        return {"hook_event_name": "beforeSubmitPrompt", "prompt": words}

    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        made: Json = {"tool_name": "Shell", "tool_input": {"command": command}, "tool_use_id": call}
        if code:
            return made | {"hook_event_name": "postToolUseFailure", "error_message": output}
        shown = json.dumps({"output": output, "exitCode": 0})
        return made | {"hook_event_name": "postToolUse", "tool_output": shown}

    def read(self, payload: Json, text: str) -> Json:
        return {"additional_context": text}


class _Droid(Form):
    def ended(self, command: str, output: str, code: int, call: str) -> Json:
        made: Json = {"tool_name": "Execute", "tool_input": {"command": command}, "tool_use_id": call}
        shown = f"Exit code {code}\n{output}" if code else output
        return made | {"hook_event_name": "PostToolUse", "tool_response": shown}


FORMS: dict[str, Form] = {
    "claude-code": _ClaudeCode(),
    "codex": _Codex(),
    "gemini": _Gemini(),
    "copilot": _Copilot(),
    "qwen": _Qwen(),
    "opencode": _OpenCode(),
    "cline": _Cline(),
    "cursor": _Cursor(),
    "droid": _Droid(),
}
HOSTS = tuple(FORMS)
