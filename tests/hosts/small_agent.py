"""A coding agent in sixty lines that treats hooks and its model as Claude Code does, for tests without the real one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

Json = dict[str, Any]

TOOL: Json = {"name": "Bash", "input_schema": {"properties": {"command": {"type": "string"}}}}


def ask(messages: list[Json]) -> list[Json]:
    """What the model says."""
    body = json.dumps({"messages": messages, "tools": [TOOL]}).encode()
    request = Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body)
    with urlopen(request, timeout=60) as response:
        return json.loads(response.read())["content"]


def run(command: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, shell=True, input=said, capture_output=True, text=True, check=False)


def call_hooks(event: str, **payload: object) -> list[Json]:
    """What the hooks add to the conversation."""
    settings: Json = json.loads(Path("~/.claude/settings.json").expanduser().read_text())
    added: list[Json] = []
    for hook in (hook for group in settings.get("hooks", {}).get(event, []) for hook in group["hooks"]):
        told = {"session_id": "small", "cwd": str(Path.cwd()), "hook_event_name": event, **payload}
        done = run(hook["command"], json.dumps(told))
        if done.stdout:
            context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
            added.append({"type": "text", "text": f"{event}:Bash hook additional context: {context}"})
    return added


def act(call: Json) -> list[Json]:
    """The result of a tool, and what the hooks add to it."""
    done = run(call["input"]["command"])
    result: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": done.stdout + done.stderr}
    tool = {"tool_name": "Bash", "tool_input": call["input"], "tool_use_id": call["id"]}
    if done.returncode:
        error = f"Exit code {done.returncode}\n{done.stderr}"
        return [result, *call_hooks("PostToolUseFailure", **tool, error=error)]
    return [result, *call_hooks("PostToolUse", **tool, tool_response={"stdout": done.stdout})]


def main() -> None:
    messages: list[Json] = [{"role": "user", "content": call_hooks("SessionStart", source="startup")}]
    said = ask(messages)
    while said[0]["type"] == "tool_use":
        results = [block for call in said for block in act(call)]
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": results}]
        said = ask(messages)
    sys.stdout.write(said[0]["text"])


if __name__ == "__main__":
    main()
