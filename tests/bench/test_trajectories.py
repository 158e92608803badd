import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from insula.coding.replay.readers import TranscriptCall
from insula.coding.replay.readers.trajectories import SPACING
from insula.errors import InputError
from insula_bench.trajectories import TRUTH, Run, Source, sources

STEP = {"thought": "Look.", "tool": "bash", "action": "ls", "obs": "a.py"}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".xz":
        with lzma.open(path, "wt", encoding="utf-8") as file:
            file.write(text)
    else:
        path.write_text(text, "utf-8")
    return path


def runs(*paths: Path) -> list[Run]:
    files = [source for source in sources(paths) if isinstance(source, Source)]
    return [run for source in files for record in source.records for run in source.convert(record)]


def row(*steps: dict[str, Any], name: str = "tbench_mini") -> dict[str, Any]:
    return {"id": "one", "set": name, "outcome": True, "steps": [{**STEP, **step} for step in steps]}


def user(uuid: str, at: int, content: object, **more: object) -> dict[str, Any]:
    return said("user", uuid, at, content) | more


def assistant(uuid: str, at: int, *blocks: dict[str, Any]) -> dict[str, Any]:
    return said("assistant", uuid, at, list(blocks))


def said(kind: str, uuid: str, at: int, content: object) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    return {"type": kind, "uuid": uuid, "timestamp": f"2026-02-11T15:00:{at:02}Z", "sessionId": "s", "message": message}


def use(call: str, name: str = "Bash", **arguments: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def result(call: str, content: object, **more: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


SESSION = [
    user("1", 0, "Mend the test."),
    assistant("2", 1, {"type": "text", "text": "I run it."}, use("a", command="pytest")),
    user("3", 4, [result("a", "Exit code 1\n1 failed", is_error=True)]),
    user("4", 5, "<local-command-stdout>bye</local-command-stdout>"),
    assistant("5", 6, use("b", "Edit", file_path="a.py"), use("c", "Read", file_path="b.py")),
    user("6", 8, [result("c", "<tool_use_error>File does not exist.</tool_use_error>", is_error=True)]),
    user("7", 7, [result("b", [{"type": "text", "text": "updated"}]), {"type": "text", "text": "Now run it."}]),
    assistant("8", 9, use("d", command="rm -r x")),
    user("9", 10, [result("d", "The user doesn't want to proceed with this tool use.", is_error=True)]),
    user("10", 11, "This session is being continued", isCompactSummary=True),
]


def test_a_step_becomes_a_call_on_a_clock_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl.xz", row({"rc": 0}, {"rc": 2, "obs": "no"}, {}))
    (run,) = runs(path)
    assert run.events == run.calls  # nobody was at the keyboard
    assert run.calls[0] == TranscriptCall("Bash", {"command": "ls"}, "a.py", SPACING, ok=True, thought="Look.")
    assert (run.calls[1].ok, run.calls[1].output) == (False, "Exit code 2\nno")
    assert run.calls[2].ok is None
    assert run.outcome is True


def test_rewards_are_kept_and_the_environments_own_verdict_is_not(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", row({"tool": "sql", "reward": 0.5, "valid": False}, {"reward": None}))
    (run,) = runs(path)
    assert [call.reward for call in run.calls] == [0.5, 0.0]
    assert run.calls[0].ok is None
    assert run.calls[0].input == {"query": "ls"}


def test_the_commands_of_swe_agent_are_tools(tmp_path: Path) -> None:
    steps = ({"tool": "shell", "action": "edit 1:1\nx = 1\nend_of_edit"}, {"tool": "shell", "action": "ls"})
    (run,) = runs(write(tmp_path / "a.jsonl", row(*steps, name="swelite_sweagent_gpt4")))
    assert [call.tool for call in run.calls] == ["edit", "Bash"]


def test_a_session_tells_what_a_hook_would_be_told(tmp_path: Path) -> None:
    (run,) = runs(write(tmp_path / "a.jsonl", {"session_id": "s", "events": SESSION}))
    kinds = [event.tool if isinstance(event, TranscriptCall) else "prompt" for event in run.events]
    assert kinds == ["prompt", "Bash", "Edit", "prompt", "Read"]  # by the clock; neither the host nor a refusal counts
    failed, edited, missing = run.calls
    assert (failed.ok, failed.thought, failed.refused) == (False, "I run it.", False)
    assert (edited.ok, edited.output) == (True, "updated")
    assert missing.refused
    assert edited.at - failed.at == 3.0


def test_a_resumed_session_does_not_repeat_its_past(tmp_path: Path) -> None:
    session = {"session_id": "s", "events": SESSION}
    again = {"session_id": "t", "events": [*SESSION, assistant("20", 20, use("z", command="ls"))]}
    first, second = runs(write(tmp_path / "a.jsonl", session, again))
    assert len(first.calls) == 3
    assert second.calls == ()


def test_a_subagent_is_an_agent_of_its_own(tmp_path: Path) -> None:
    side = [{**event, "uuid": f"side {i}", "isSidechain": True} for i, event in enumerate(SESSION[:3])]
    main, sub = runs(write(tmp_path / "a.jsonl", {"session_id": "s", "events": [*SESSION, *side]}))
    assert len(main.calls) == 3
    assert [type(event) for event in sub.events] == [
        TranscriptCall
    ]  # the task that it was given is no word of the user's


def test_a_whole_transcript_is_one_session(tmp_path: Path) -> None:
    (run,) = runs(write(tmp_path / "a.jsonl", {"type": "file-history-snapshot", "messageId": "m"}, *SESSION))
    assert (run.set, len(run.calls)) == ("claude_code_raw", 3)


def test_of_a_marked_chat_only_messages_with_an_output_are_calls(tmp_path: Path) -> None:
    history = [
        {"role": "assistant", "name": "Coder", "content": "Try\n```python\nprint(1)\n```"},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 1 (execution failed)\nCode output: no"},
        {"role": "assistant", "name": "Coder", "content": "I see."},
    ]
    row = {"_file": "1.json", "history": history, "mistake_step": "0", "mistake_agent": "Coder"}
    (run,) = runs(write(tmp_path / "a.jsonl", row))
    (call,) = run.calls
    assert (call.input, call.ok, call.place) == ({"command": "print(1)\n"}, False, 1)
    assert (run.labels, run.messages) == (frozenset((0,)), 3)


def test_marks_of_magentic_chats_are_counted_from_one(tmp_path: Path) -> None:
    data = [{"role": "human", "content": "Find it."}, {"role": "WebSurfer", "content": "I clicked 'A'.\nPage A"}]
    truth = [{"trajectory_id": "x", "failures": [{"step_number": 2}]}]
    (tmp_path / TRUTH).write_text(json.dumps(truth), "utf-8")
    rows = ({"_file": "data/x.json", "data": data}, {"_file": "data/unmarked.json", "data": data})
    (run,) = runs(write(tmp_path / "magentic.jsonl", *rows))
    assert run.labels == {1}
    assert run.calls[0].input == {"input": "I clicked 'A'."}
    assert run.calls[0].output == "Page A"


@pytest.mark.parametrize("content", ["", "[1]\n", '{"other": 1}\n', "no json\n"])
def test_a_file_of_another_form_gives_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.jsonl").write_text(content, "utf-8")
    (sentence,) = sources([tmp_path])
    assert isinstance(sentence, str)
    assert "a.jsonl' is passed over: " in sentence
    assert sentence.endswith(".")


def test_a_file_that_is_cut_short_gives_a_sentence(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.jsonl.xz", row({})).read_bytes()
    (tmp_path / "a.jsonl.xz").write_bytes(whole[: len(whole) // 2])
    (sentence,) = sources([tmp_path])
    assert isinstance(sentence, str)


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; give"):
        list(sources([tmp_path / "none"]))
