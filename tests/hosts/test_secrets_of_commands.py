"""What people type with a secret in it, from a host's payload to the disk and to the text that the model reads."""

from pathlib import Path

import pytest
from coding_agents import recorded
from payloads import Payload, again, call, failing

from insula.hosts.hook import respond
from insula_bench.secret_lines import Case, cases

MISSED = 0.02
RUNS = 3
"""Failures after which the agent is told of them."""
SHOWN = 8
"""Characters of a secret in a row that give it away."""
COMMANDS = cases("commands")
TOKEN = "ghp_" + "aB3d" * 9


@pytest.fixture(autouse=True)
def _told_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


def keeps(text: str, secret: str) -> bool:
    """Whether a part of a secret stands in a text, in letters of either size."""
    low, length = secret.lower(), min(len(secret), SHOWN)
    plain = text.lower().replace("\\\\", "\\").replace('\\"', '"')
    return any(low[start : start + length] in plain for start in range(len(low) - length + 1))


def disk(home: Path) -> str:
    return "".join(path.read_text("utf-8") for path in sorted(home.rglob("*")) if path.suffix in {".json", ".jsonl"})


def failed(home: Path, case: Case, runs: int = RUNS) -> str:
    """What the model is told while a command fails so many times, and shows itself in its error."""
    answers: list[str] = []
    for number in range(runs):
        base: Payload = {"session_id": "s", "cwd": str(home), "tool_name": "Bash", "tool_use_id": f"t{number}"}
        base["tool_input"] = {"command": case.text, "description": "try it"}
        error = f"Exit code 1\n+ {case.text}\nError: connection refused by the server for {case.text}"
        events = [{"hook_event_name": "PostToolUseFailure", "error": error}]
        if not number and runs > 1:
            events.insert(0, {"hook_event_name": "PreToolUse"})
        answers += [respond(str(home), "claude-code", base | event, 1.7e9 + 30 * number) for event in events]
    return "".join(answers)


def test_no_secret_of_a_command_reaches_the_disk_or_the_model(tmp_path: Path) -> None:
    assert len(COMMANDS) > 300
    leaked: list[str] = []
    for number, case in enumerate(COMMANDS):
        home = tmp_path / str(number)
        home.mkdir()
        kept = failed(home, case, 1 if number % 3 else RUNS) + disk(home)  # what is kept of one call is kept of each
        assert kept
        around = case.text
        for secret in case.secrets:
            around = around.replace(secret, " ")
        if any(keeps(kept, secret) for secret in case.secrets if not keeps(around, secret)):
            leaked.append(case.line)
    assert len(leaked) <= len(COMMANDS) * MISSED, "\n".join(leaked)


def test_a_failing_command_with_a_secret_is_still_told_of(tmp_path: Path) -> None:
    text = failed(tmp_path, Case(f"curl -H 'Authorization: Bearer {TOKEN}' https://api.example.org/me", (TOKEN,), ""))
    assert "curl" in text
    assert "api.example.org" in text
    assert "failed" in text
    assert "Bearer" not in text


def test_no_secret_of_a_patch_or_a_rejected_command_reaches_the_disk(tmp_path: Path) -> None:
    patch = f"*** Begin Patch\n*** Update File: conf/{TOKEN}.env\n+DB_PASSWORD=Kw83mdPq\n*** End Patch"
    base: Payload = {"session_id": "s", "cwd": "/p", "tool_use_id": "t1", "tool_input": {"command": patch}}
    call(
        tmp_path, "codex", base | {"hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_response": "ok"}
    )
    refused: Payload = {
        "tool_name": "Bash",
        "tool_use_id": "t2",
        "tool_input": {"command": f"mysql -u root \\\n --password Kw83mdPq -e '{TOKEN}'"},
        "tool_response": "The user doesn't want to proceed with this tool use. the user said: not with Kw83mdPq",
    }
    batch: Payload = {"hook_event_name": "PostToolBatch", "session_id": "s", "cwd": "/p", "tool_calls": [refused]}
    call(tmp_path, "claude-code", batch)
    kept = disk(tmp_path)
    assert "conf/" in kept
    assert '"kind":"rejection"' in kept
    assert not keeps(kept, TOKEN)
    assert "--password Kw83mdPq" not in kept


def test_a_field_of_another_name_is_not_cut_through_a_secret(tmp_path: Path) -> None:
    payload = failing(recorded("claude-code"))
    for place in range(150, 240, 3):
        output = {"isError": True, "odd_field": "x" * (place - 1) + f" {TOKEN} and more " + "y" * 300}
        response = payload | {"hook_event_name": "PostToolUse", "tool_response": output, "tool_name": "mcp__a__b"}
        call(tmp_path, "claude-code", again(response | {"error": ""}, place))
    assert not keeps(disk(tmp_path), TOKEN)
