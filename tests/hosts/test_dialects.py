"""What is peculiar to a host; and that all that knows hosts knows the same ones."""

import inspect
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from coding_agents import recorded
from payloads import acted, again, call, failing, told

from insula.coding.hosts import dialects, live, records, runtime, trials
from insula.coding.hosts.dialects import copilot, load_dialect, read_tail
from insula.coding.hosts.places import HOSTS
from insula.hosts.hook import respond

# What is peculiar to a host: what comes twice, what is no message, what another host sends.


ALIKE = "3 turns in a row ended in similar errors."
MISSING = "cat: missing.txt: No such file or directory"


def did(event: Any) -> Any:
    """The one action of an event."""
    assert event is not None
    (action,) = event.actions
    return action


# Copilot CLI.


def test_copilot_gives_calls_no_id_so_one_that_comes_twice_is_known_by_its_time(tmp_path: Path) -> None:
    """Two hooks get the same time for one call (seen with 1.0.102), and two equal calls never."""
    payload = failing(recorded("copilot"))
    answers = [call(tmp_path, "copilot", again(payload, number // 2)) for number in range(8)]
    assert ["has failed in 3 turns" in told(answer) for answer in answers] == [False] * 4 + [True] + [False] * 3
    assert len({record["id"] for record in acted(tmp_path)}) == 4


@pytest.mark.parametrize(
    ("output", "code", "said"),
    [
        ("one\n<shellId: 1 completed with exit code 0>", 0, "one\n"),
        ("one\n<shellId: 1 completed with exit code -9>\n", -9, "one\n"),
        ("one\n<shellId: 1 is still running>", None, "one\n<shellId: 1 is still running>"),
        ("one\n<shellId: 1 completed with exit code x>", None, "one\n<shellId: 1 completed with exit code x>"),
        ("", None, ""),
    ],
)
def test_copilot_tells_the_exit_code_in_the_last_line(output: str, code: int | None, said: str) -> None:
    assert copilot.split_exit_code(output) == (said, code)


def test_a_tool_that_copilot_s_user_refused_did_not_run_and_one_that_asks_how_it_goes_waits() -> None:
    payload = failing(recorded("copilot"))
    refused = payload | {"toolResult": {"resultType": "denied", "textResultForLlm": "The user denied it."}}
    assert did(load_dialect("copilot").read_event(refused, 1.0)).ran is False
    assert did(load_dialect("copilot").read_event(payload | {"toolName": "read_bash"}, 1.0)).waits is True


def test_what_copilot_sends_to_the_hooks_of_claude_code_is_left_to_its_own(tmp_path: Path) -> None:
    payloads = recorded("copilot-claude-style")
    assert [call(tmp_path, "claude-code", payload) for payload in payloads] == [None] * len(payloads)
    assert not (tmp_path / "sessions").exists() and not (tmp_path / "failures.jsonl").exists()


def test_what_cursor_sends_to_the_hooks_of_claude_code_is_left_to_its_own(tmp_path: Path) -> None:
    for payload in recorded("claude-code"):
        assert respond(str(tmp_path), "claude-code", payload | {"cursor_version": "3.12"}, 1.0) == ""
    assert not (tmp_path / "sessions").exists()


# Qwen Code.


def test_a_round_of_tools_is_no_message_of_qwen_s_user() -> None:
    prompt = next(p for p in recorded("qwen") if p["hook_event_name"] == "UserPromptSubmit")
    after_tools = {name: value for name, value in prompt.items() if name != "submitted_prompt"} | {"prompt": ""}
    assert load_dialect("qwen").read_event(prompt, 1.0) is not None
    assert load_dialect("qwen").read_event(after_tools, 1.0) is None


def test_the_frame_that_qwen_puts_round_an_output_is_no_part_of_an_error() -> None:
    action = did(load_dialect("qwen").read_event(failing(recorded("qwen")), 1.0))
    assert action.error == "cat: <quoted>: no such file or directory"
    found = "Command: grep x a\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)"
    call = failing(recorded("qwen")) | {"tool_input": {"command": "grep x a"}, "error": found}
    assert did(load_dialect("qwen").read_event(call, 1.0)).ok is True, "grep found nothing"


# OpenCode.


def test_the_exit_code_of_opencode_s_shell_decides() -> None:
    payload = failing(recorded("opencode"))
    fine = payload | {"output": {"output": MISSING, "metadata": {"exit": 0}}}
    assert [did(load_dialect("opencode").read_event(each, 1.0)).ok for each in (payload, fine)] == [False, True]


def test_a_tool_of_opencode_s_that_threw_failed() -> None:
    call = {"tool": "read", "callID": "call_1", "args": {"filePath": "/a"}}
    threw = failing(recorded("opencode")) | {"event": "tool.error", "input": call, "output": {"error": "Not found"}}
    action = did(load_dialect("opencode").read_event(threw, 1.0))
    assert (action.ok, action.target, action.error) == (False, "/a", "not found")


# Cline, Cursor and Factory droid: experimental.


def test_cline_tells_several_commands_in_one_call_and_a_failure_within_the_result() -> None:
    action = did(load_dialect("cline").read_event(failing(recorded("cline")), 1.0))
    assert (action.target, action.ok) == ("cat /nonexistent-dir", False)
    assert action.error == "cat: <quoted>: no such file or directory"


def test_a_subagent_of_cline_s_is_one_of_the_session_that_started_it() -> None:
    payload = failing(recorded("cline"))
    event = load_dialect("cline").read_event(
        payload | {"taskId": "other", "parent_agent_id": "agent_1", "agent_id": "agent_2"}, 1.0
    )
    assert event is not None
    assert (event.session, event.agent) == (payload["sessionContext"]["rootSessionId"], "agent_2")


# What stands in a transcript.


def test_the_host_s_own_count_of_tokens_is_read_from_a_line_of_its_transcript() -> None:
    codex_line = (
        '{"payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":9},'
        '"last_token_usage":{"input_tokens":40,"total_tokens":50},"model_context_window":272000}}}'
    )
    codex, gemini = map(load_dialect, ("codex", "gemini"))
    assert codex.read_context(codex_line) == (50, 272_000)
    assert gemini.read_context('{"tokens":{"input":10,"output":2,"cached":0,"total":12}}') == (12, 0)


def test_the_end_of_a_transcript_is_that_of_a_plain_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text('{"a": 1}')
    (tmp_path / "link").symlink_to("plain")
    (tmp_path / "zero").symlink_to("/dev/zero")
    names = ("plain", "link", "zero", "", "nowhere", "a\0b")
    assert [read_tail(str(tmp_path / name)) for name in names] == ['{"a":1}', '{"a":1}', *[""] * 4]


# A host's name stands in one place, and everything that knows hosts knows the same ones.


def test_places_and_trials_know_the_hosts_of_the_table() -> None:
    assert tuple(HOSTS) == dialects.NAMES
    assert tuple(json.loads(trials.FORMS.read_text("utf-8"))) == dialects.NAMES


def test_one_place_starts_a_process_for_a_hook_and_takes_what_the_record_has_alone() -> None:
    """A new place that starts one has to be looked at: who names the program, and from which folder?"""
    package = Path(runtime.PACKAGE)
    starting = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(
            r"\bsubprocess\b|\bos\.(system|popen|exec|spawn|posix_spawn|startfile|fork)|\bpty\b",
            path.read_text("utf-8"),
        )
    }
    known = {"coding/hosts/runtime.py", "coding/hosts/live.py", "llm/local.py", "coding/step/blast.py"}
    assert starting == known | {"coding/hosts/trials.py"}
    for starts in (trials.try_command, trials.read_version):
        assert inspect.signature(starts).parameters["command"].annotation is records.Installed
    made = [path.name for path in package.rglob("*.py") if "Installed(" in path.read_text("utf-8")]
    assert made == ["records.py"]


def test_what_can_be_proven_has_a_client() -> None:
    assert frozenset(live.CLIENTS) == dialects.PROVEN


def test_the_linter_watches_the_hook_and_its_dialects() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))
    contracts = {one["name"]: one for one in project["tool"]["importlinter"]["contracts"]}
    watched = contracts["the hook stands on the senses and on nothing above them"]["source_modules"]
    assert {"insula.coding.hosts.hook", dialects.__name__} <= set(watched)


@pytest.mark.parametrize("name", dialects.NAMES)
def test_each_dialect_has_what_the_hook_asks_of_it(name: str) -> None:
    dialect = dialects.load_dialect(name)
    assert dialect.read_event({}, 1.0) is None
    assert "TOLD" in str(dialect.write_answer("PostToolUse", "TOLD"))
    assert dialect.read_context("") == (0, 0)
    assert dialect.read_turn("", "call") == ""
    assert dialect.read_remarks("") == ()


def test_a_host_that_there_is_not_is_no_module() -> None:
    with pytest.raises(LookupError):
        dialects.load_dialect("../../evil")


def test_the_copy_of_the_hook_holds_the_tables_that_its_modules_read() -> None:
    assert "insula/coding/step/instructions/words.json" in runtime.collect_modules()
