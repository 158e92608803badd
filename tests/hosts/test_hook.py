"""The hook from a host's payload to the text that its model reads; in processes where it may be killed or hang."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from coding_agents import recorded
from payloads import PYTHON, Payload, acted, again, call, failing, shim, spawn, told, traced

from insula.hosts.hook import respond

RECORDED = {"sdk": "claude-code", "codex-patch": "codex"}
"""The hook that a recording was made for, where it is not called as that."""


@pytest.mark.parametrize(
    ("name", "kinds", "oks"),
    [
        ("claude-code", ["execute", "read", "edit", "execute", "read"], [True, True, True, False, False]),
        ("codex", ["execute", "execute"], [True, False]),
        ("codex-patch", ["execute", "edit", "execute"], [True, True, False]),
        ("gemini", ["execute", "read", "edit", "execute", "read"], [True, True, True, False, False]),
        ("sdk", ["execute", "execute"], [True, False]),
        ("copilot", ["execute", "read", "edit", "execute", "read"], [True, True, True, False, False]),
        ("qwen", ["execute", "read", "edit", "execute", "read"], [True, True, True, False, False]),
        ("opencode", ["execute", "read", "edit", "execute"], [True, True, True, False]),
        ("cline", ["execute", "execute", "edit", "execute", "execute"], [True, True, True, False, False]),
    ],
)
def test_success_and_failure_are_told_as_each_host_shows_them(
    tmp_path: Path, name: str, kinds: list[str], oks: list[bool]
) -> None:
    for payload in recorded(name):
        call(tmp_path, RECORDED.get(name, name), payload)
    actions = acted(tmp_path)
    assert [action["kind"] for action in actions] == kinds
    assert [action.get("ok", True) for action in actions] == oks


def test_gemini_drops_what_is_answered_to_a_failing_tool_so_it_is_held_for_the_next(tmp_path: Path) -> None:
    payloads = recorded("gemini")
    missing = next(p for p in payloads if p["hook_event_name"] == "AfterTool" and "error" in p["tool_response"])
    fine = next(p for p in payloads if p["hook_event_name"] == "AfterTool" and p["tool_name"] == "read_file")
    assert [call(tmp_path, "gemini", again(missing, number)) for number in range(4)] == [None] * 4
    assert "has failed in 3 turns" in told(call(tmp_path, "gemini", again(fine, 9)))
    assert call(tmp_path, "gemini", again(fine, 10)) is None


def test_what_is_held_can_wait_for_the_user(tmp_path: Path) -> None:
    payloads = recorded("gemini")
    missing = next(p for p in payloads if p["hook_event_name"] == "AfterTool" and "error" in p["tool_response"])
    for number in range(3):
        call(tmp_path, "gemini", again(missing, number))
    prompt = next(p for p in payloads if p["hook_event_name"] == "BeforeAgent")
    assert "has failed in 3 turns" in told(call(tmp_path, "gemini", prompt))


def test_a_hook_installed_twice_counts_and_speaks_once(tmp_path: Path) -> None:
    payload = failing(recorded("claude-code"))
    answers = [call(tmp_path, "claude-code", again(payload, number // 2)) for number in range(8)]
    assert [bool(answer) for answer in answers] == [False, False, False, False, True, False, False, False]


def test_chronos_counts_from_the_user_s_last_message_and_not_without_one_at_the_keyboard(tmp_path: Path) -> None:
    payloads = recorded("claude-code")
    prompt = next(p for p in payloads if p["hook_event_name"] == "UserPromptSubmit")
    read = next(p for p in payloads if p.get("tool_name") == "Read" and "tool_response" in p)

    def texts(home: Path, env: dict[str, str]) -> list[str]:
        home.mkdir()
        (home / "hook.json").write_text('{"senses": {"chronos": true}}')
        call(home, "claude-code", prompt, env | {"NOW": "1000"})
        reads = [again(read | {"tool_input": {"file_path": f"/f{n}"}}, n) for n in range(32)]
        times = (env | {"NOW": str(1_031 + 31 * n)} for n in range(32))
        return [told(call(home, "claude-code", each, at)) for each, at in zip(reads, times, strict=True)]

    assert [bool(text) for text in texts(tmp_path / "a", {})] == [False] * 29 + [True, False, False]
    assert not any(texts(tmp_path / "b", {"CLAUDE_CODE_SESSION_ATTENDED": "0"}))


def test_the_host_s_own_count_of_tokens_is_read_from_its_transcript(tmp_path: Path) -> None:
    usage = '{"message":{"usage":{"input_tokens": 5,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":7}}}'
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(f"{'x' * 100_000}\n{usage}\n")
    call(tmp_path, "claude-code", failing(recorded("claude-code")) | {"transcript_path": str(transcript)})
    assert [record["context"] for record in traced(tmp_path) if record["e"] == "more"] == [2112]


def test_a_hook_that_is_killed_loses_nothing_that_was_written(tmp_path: Path) -> None:
    payload = failing(recorded("claude-code"))
    script = shim(tmp_path)
    for number in range(12):
        with subprocess.Popen([PYTHON, "-I", "-S", str(script), "claude-code"], stdin=subprocess.PIPE) as hook:
            assert hook.stdin is not None
            hook.stdin.write(json.dumps(again(payload, number)).encode())
            hook.stdin.close()
            time.sleep(0.004 * number)
            os.kill(hook.pid, signal.SIGKILL)
    answer = spawn(tmp_path, "claude-code", again(payload, 99))
    actions = acted(tmp_path)
    assert len({action["id"] for action in actions}) == len(actions) >= 1
    assert answer is not None or len(actions) not in {3, 5, 8, 11}


def test_hooks_at_once_lose_no_action_and_are_one_turn_which_is_no_loop(tmp_path: Path) -> None:
    payload, script = failing(recorded("claude-code")) | {"duration_ms": 120_000}, shim(tmp_path)  # they overlap
    hooks = [
        subprocess.Popen(
            [PYTHON, "-I", "-S", str(script), "claude-code"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(16)
    ]
    outputs = [hook.communicate(json.dumps(again(payload, number)).encode())[0] for number, hook in enumerate(hooks)]
    assert len(acted(tmp_path)) == 16
    assert not any(outputs)


def test_an_edit_that_claude_code_turns_down_is_told_by_its_batch_alone(tmp_path: Path) -> None:
    """It fires neither event of a tool (recorded with 2.1.328)."""
    base = failing(recorded("claude-code"))
    edit = {"file_path": "/a.py", "old_string": "x", "new_string": "y"}
    error = "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>"

    def batch(number: int) -> Payload:
        turned_down = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": f"e{number}", "tool_response": error}
        failed = {"tool_name": "Bash", "tool_input": base["tool_input"], "tool_use_id": f"b{number}"}
        told_already = failed | {"tool_response": "Exit code 1"}
        return base | {"hook_event_name": "PostToolBatch", "tool_calls": [turned_down, told_already]}

    answers = [call(tmp_path, "claude-code", batch(number)) for number in range(4)]
    assert [bool(answer) for answer in answers] == [False, False, True, False]
    assert "has failed in 3 turns" in told(answers[2])
    assert [action["target"] for action in acted(tmp_path)] == ["/a.py"] * 4


def test_a_program_s_own_words_are_not_the_host_s_frame(tmp_path: Path) -> None:
    payload = next(p for p in recorded("gemini") if p.get("tool_name") == "run_shell_command" and "tool_response" in p)
    for said in (
        "wlan0\nSignal: -50 dBm",
        "the log says\nexit status 1 handled",
        "done\nError: none of ours, a quote\nend",
    ):
        framed = f"<untrusted_context>\nOutput: {said}\nProcess Group PGID: 7\n</untrusted_context>"
        call(tmp_path, "gemini", again(payload | {"tool_response": {"llmContent": framed}}, len(said)))
    assert all(action.get("ok", True) for action in acted(tmp_path))


def test_a_held_text_does_not_outlive_its_context(tmp_path: Path) -> None:
    payloads = recorded("gemini")
    missing = next(p for p in payloads if p["hook_event_name"] == "AfterTool" and "error" in p["tool_response"])
    for number in range(4):
        call(tmp_path, "gemini", again(missing, number))
    call(tmp_path, "gemini", payloads[0] | {"source": "clear"})
    assert call(tmp_path, "gemini", next(p for p in payloads if p["hook_event_name"] == "BeforeAgent")) is None


def test_an_old_text_is_not_told_again_when_the_checkpoint_is_lost(tmp_path: Path) -> None:
    payloads = recorded("claude-code")
    fine = next(p for p in payloads if p.get("tool_name") == "Bash" and "tool_response" in p)
    for number in range(5):
        call(tmp_path, "claude-code", again(failing(payloads), number))
    for number in range(5, 9):
        call(tmp_path, "claude-code", again(fine | {"tool_input": {"command": f"echo {number}"}}, number))
    next((tmp_path / "sessions").iterdir()).joinpath("checkpoint.json").unlink()
    assert call(tmp_path, "claude-code", again(fine | {"tool_input": {"command": "echo 9"}}, 9)) is None


def test_the_clock_going_back_keeps_no_session_from_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[float] = []

    def open_session(home: str, session: str, project: str, now: float, share: float, *, goes_on: bool) -> str:
        started.append(now)
        return ""

    monkeypatch.setattr("insula.coding.step.digest.open_session", open_session)
    for now, pid in ((10_000.0, 1), (6_400.0, 2), (6_400.5, 3)):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        respond(str(tmp_path), "claude-code", recorded("claude-code")[0], now)
    assert started == [10_000.0, 6_400.0]


def test_a_hook_that_takes_too_long_ends_and_is_counted(tmp_path: Path) -> None:
    script = shim(tmp_path)
    hook = script.read_text().replace("main(", "import insula.coding.hosts.hook as h; h.PATIENCE = 0.2; main(", 1)
    script.write_text(
        hook.replace(
            "from insula.coding.hosts.hook import main\nimport", "from insula.coding.hosts.hook import main; import"
        )
    )
    with subprocess.Popen([PYTHON, "-I", "-S", str(script), "claude-code"], stdin=subprocess.PIPE) as hung:
        assert hung.wait(10) == 0  # its input never ends
    assert json.loads((tmp_path / "failures.jsonl").read_text())["kind"] == "TimeoutError"


def test_the_list_of_failures_is_renewed_when_it_is_full(tmp_path: Path) -> None:
    (tmp_path / "failures.jsonl").write_text("x" * 300_000)
    for _ in range(2):
        spawn(tmp_path, "other", b"{}")
    assert (tmp_path / "failures.1.jsonl").exists()
    assert json.loads((tmp_path / "failures.jsonl").read_text())["kind"] == "LookupError"
