"""Transcripts of real clients are understood, and whatever else stands in a file is passed over with its reason."""

import io
import json
import os
import time
from pathlib import Path

import pytest
from looking import look
from transcripts import RECORDED, Row, Session, stamp, write

from insula.coding.replay import lines
from insula.coding.replay.find import find_transcripts
from insula.coding.replay.lines import open_transcript
from insula.coding.replay.readers import (
    NO_CALL,
    NO_RESULT,
    REPEATED,
    Compacted,
    Interrupt,
    Seen,
    Skipped,
    TokenUsage,
    TranscriptCall,
    TranscriptEvent,
    UserPrompt,
    WorkingFolder,
    claude_code,
    codex,
    gemini,
    read_action,
)
from insula.coding.replay.session import STILL_WRITTEN
from insula.errors import InputError
from insula.foreign import NOT_PLAIN

# What the transcripts of each host tell.


HOSTS = ("claude-code", "codex", "gemini")


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (RECORDED / name).read_text("utf-8").splitlines()]


def told(kind: type[TranscriptEvent], events: list[TranscriptEvent]) -> int:
    return sum(isinstance(event, kind) for event in events)


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_real_client_wrote_is_understood(host: str) -> None:
    gathered = look(RECORDED / f"{host}.jsonl")
    totals, (session,) = gathered.totals, gathered.sessions
    assert (totals.hosts, totals.tool_uses, totals.errors, totals.prompts) == ({host: 1}, 17, 8, 1)
    assert not totals.incomplete
    assert not [name for name in totals.skipped if name.startswith("unknown")]
    assert [point.ok for point in session.points].count(False) == 8
    assert session.tokens == 1870
    (moment,) = session.moments
    assert " turns in a row ended in similar errors." in moment.said
    assert {"stale-edit", "missing-path", "error-loop"} <= {name for name, yes in session.patterns.items() if yes}


@pytest.mark.parametrize("host", HOSTS)
def test_every_line_is_an_event_or_named_as_skipped(host: str) -> None:
    for row in rows(f"{host}.jsonl"):
        told = {
            "claude-code": claude_code.ClaudeCodeReader(Seen()).read_events([row]),
            "codex": codex.CodexReader(Seen()).read_events([row]),
            "gemini": gemini.GeminiReader(Seen()).read_events([row]),
        }
        events = list(told[host])
        silent = row.get("type") == "assistant" and not events  # words of the agent, whose cost was told before
        assert events or silent, row


def test_subagents_belong_to_their_session_and_have_senses_of_their_own() -> None:
    gathered = look(RECORDED / "subagents")
    totals, (session,) = gathered.totals, gathered.sessions
    assert (totals.files, totals.tool_uses, totals.errors, totals.prompts, totals.interrupts) == (4, 16, 5, 1, 0)
    assert {point.agent for point in session.points} == {
        "",
        "a0a6e547a96472c83",
        "a15c10ed9426ca042",
        "a5504cbda66c78f99",
    }
    assert [point.step for point in session.points] == list(range(1, len(session.points) + 1))
    assert [point.at for point in session.points] == sorted(point.at for point in session.points)
    assert not session.readings  # four agents run into the same error, each once


def test_a_sidechain_in_the_same_file_is_an_agent_of_its_own(tmp_path: Path) -> None:
    main, side = Session().says("Go.").fails(1), Session(name="side").fails(2)
    aside = [{**row, "isSidechain": True, "sessionId": "s"} for row in side.rows]
    (session,) = look(write(tmp_path / "s.jsonl", *main.rows, *aside)).sessions
    assert {point.agent for point in session.points} == {"", "sidechain"}


def test_a_resumed_session_counts_only_what_is_new(tmp_path: Path) -> None:
    first = Session().says("Go.").works(3)
    first.written(tmp_path)
    again = [{**row, "sessionId": "t"} for row in first.rows]
    write(tmp_path / "t.jsonl", *again, *Session("t").works(1).rows)
    totals = look(tmp_path).totals
    assert (totals.sessions, totals.tool_uses, totals.prompts) == (2, 4, 1)
    assert totals.skipped[REPEATED] == len(first.rows)


def test_claude_tells_prompts_interrupts_and_compactions() -> None:
    session = Session().says("Go.").says("<command-name>/clear</command-name>").says("[Request interrupted by user]")
    session.add("user", [{"type": "text", "text": "Go on."}], isMeta=True).works(1)
    boundary: Row = {"type": "system", "subtype": "compact_boundary", "timestamp": stamp(session.at), "uuid": "c"}
    events = list(claude_code.ClaudeCodeReader(Seen()).read_events([*session.rows, boundary, {"type": "hologram"}]))
    assert [told(kind, events) for kind in (UserPrompt, Interrupt, Compacted, TranscriptCall, WorkingFolder)] == [
        1,
        1,
        1,
        1,
        1,
    ]
    assert Skipped("unknown: hologram") in events


def test_a_call_without_a_result_and_a_result_without_a_call_are_named() -> None:
    session = Session().works(2)
    events = list(claude_code.ClaudeCodeReader(Seen()).read_events([session.rows[0], session.rows[3]]))
    assert [event.reason for event in events if isinstance(event, Skipped)] == [
        NO_CALL,
        NO_RESULT,
    ]


def test_of_requests_that_take_turns_each_is_paid_what_it_came_to() -> None:
    session = Session()
    for name, written in (("a", 2), ("b", 5), ("a", 2), ("b", 9), ("a", 30), ("b", 9)):
        session.add("assistant", [{"type": "text", "text": "I look."}])
        usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": written}
        session.rows[-1]["message"] |= {"id": name, "usage": usage}
    paid = [
        event
        for event in claude_code.ClaudeCodeReader(Seen()).read_events(session.rows)
        if isinstance(event, TokenUsage)
    ]
    assert [(spent.fresh, spent.context) for spent in paid] == [(12, 112), (15, 115), (4, 119), (28, 140)]


def codex_call(payload: Row, output: object) -> TranscriptCall:
    given = {"type": "response_item", "timestamp": stamp(1), "payload": {"call_id": "c", **payload}}
    came = {"type": f"{payload['type']}_output", "call_id": "c", "output": output}
    if payload["type"] == "local_shell_call":
        came["type"] = "function_call_output"
    back = {"type": "response_item", "timestamp": stamp(2), "payload": came}
    (call,) = [
        event for event in codex.CodexReader(Seen()).read_events([given, back]) if isinstance(event, TranscriptCall)
    ]
    return call


@pytest.mark.parametrize(
    ("payload", "output", "command", "said", "ok"),
    [
        (
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}'},
            "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 1\nOutput:\nno\n",
            *("ls", "no\n", False),
        ),
        (
            {"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "ls -l"]}'},
            '{"output": "a.py", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}',
            *("ls -l", "a.py", True),
        ),
        (
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["git", "status"]}},
            "Exit code: 128\nWall time: 0 seconds\nOutput:\nfatal: not a git repository",
            *("git status", "fatal: not a git repository", False),
        ),
        (
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "sleep 99"}'},
            "Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n",
            *("sleep 99", "", None),
        ),
        (
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "go test"}'},
            "Command: sh -c 'go\ntest'\nChunk ID: a\nWall time: 1 seconds\nProcess exited with code 1\nOutput:\nFAIL",
            *("go test", "FAIL", False),
        ),
        (
            {
                "type": "custom_tool_call",
                "name": "exec",
                "input": 'text(await tools.exec_command({cmd:"echo \\"a\\""}));',
            },
            [{"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"}, {"text": '"a"'}],
            *('echo "a"', '"a"', None),
        ),
        (
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "false"'},
            {"content": "failed to parse function arguments", "success": False},
            *("", "failed to parse function arguments", False),
        ),
    ],
)
def test_codex_calls_of_all_ages(payload: Row, output: object, command: str, said: str, ok: bool | None) -> None:
    call = codex_call(payload, output)
    assert (call.output, call.ok) == (said, ok)
    if command:
        assert (call.tool, call.input) == ("Bash", {"command": command})


def test_a_patch_of_codex_goes_by_the_file_that_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch\n"
    given: Row = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
    call = codex_call(given, "apply_patch verification failed: Failed to find expected lines in src/a.py:\nx")
    assert (call.input, call.ok) == ({"path": "src/a.py", "command": patch}, False)


def test_a_script_of_codex_is_the_one_tool_that_it_calls() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"
    script = f"const patch = {json.dumps(patch)};\ntext(await tools.apply_patch(patch));"
    call = codex_call({"type": "custom_tool_call", "name": "exec", "input": script}, "done")
    assert (call.tool, call.input) == ("apply_patch", {"path": "src/a.py", "command": patch})
    poll = 'const r = await tools.write_stdin({session_id:7,chars:""}); text(r.output);'
    assert codex_call({"type": "custom_tool_call", "name": "exec", "input": poll}, "").tool == "write_stdin"
    both = 'await tools.exec_command({cmd:"ls"}); await tools.exec_command({cmd:"pwd"});'
    assert codex_call({"type": "custom_tool_call", "name": "exec", "input": both}, "").tool == "exec"


def test_codex_prompts_count_once_however_often_they_are_told() -> None:
    prompt = {"type": "user_message", "message": "Go."}
    item = {"type": "item_completed", "item": {"type": "UserMessage", "content": [{"type": "text", "text": "Go."}]}}
    lines = [{"type": "event_msg", "timestamp": stamp(5), "payload": one} for one in (prompt, item)]
    aborted = {"type": "event_msg", "timestamp": stamp(6), "payload": {"type": "turn_aborted"}}
    events = list(codex.CodexReader(Seen()).read_events([*lines, aborted]))
    assert (told(UserPrompt, events), told(Interrupt, events)) == (1, 1)


def test_a_subagent_of_codex_belongs_to_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "root"}}}
    for name, meta in {"root": {"id": "root"}, "child": {"id": "child", "source": source}}.items():
        write(
            tmp_path / f"{name}.jsonl",
            {"type": "session_meta", "timestamp": stamp(1), "payload": meta},
            {"type": "event_msg", "timestamp": stamp(2), "payload": {"type": "user_message", "message": "Go."}},
        )
    gathered = look(tmp_path)
    assert (gathered.totals.sessions, gathered.totals.prompts) == (1, 1)


def test_gemini_documents_of_early_versions_are_read(tmp_path: Path) -> None:
    messages = [row for row in rows("gemini.jsonl") if "type" in row]
    whole = {"sessionId": "old", "projectHash": "x", "startTime": stamp(1), "messages": messages}
    path = tmp_path / "tmp/hash/chats/session-1.json"
    write(path, whole)
    (tmp_path / "tmp/hash/.project_root").write_text("/home/dev/project\n")
    (session,) = look(tmp_path).sessions
    assert (session.id, session.project, session.tool_uses, session.errors) == ("old", "project", 17, 8)


def test_a_call_of_gemini_that_was_cancelled_never_ran() -> None:
    call: Row = {"id": "c", "name": "run_shell_command", "args": {"command": "rm x"}, "status": "cancelled"}
    call["result"] = [{"functionResponse": {"response": {"error": "[Operation Cancelled] Reason: User cancelled."}}}]
    note = {"id": "n", "type": "info", "timestamp": stamp(3), "content": "Request cancelled."}
    row = {"id": "m", "type": "gemini", "timestamp": stamp(2), "toolCalls": [call]}
    events = list(gemini.GeminiReader(Seen()).read_events([row, note]))
    assert told(Interrupt, events) == 1
    assert [read_action(event).ran for event in events if isinstance(event, TranscriptCall)] == [False]


def test_results_written_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    session = Session().says("Go.").works(3)
    use, result = session.rows[1], session.rows[2]
    shuffled = [session.rows[0], use, *session.rows[3:], result]
    (found,) = look(write(tmp_path / "s.jsonl", *shuffled)).sessions
    assert [point.target for point in found.points] == ["make step-0", "make step-1", "make step-2"]


# Whatever stands in a file: what can be read is read, what cannot is said.


OLD = 1_700_000_000


def aged(path: Path) -> Path:
    os.utime(path, (OLD, OLD))
    return path


def read(data: bytes) -> list[Row | Skipped]:
    return list(lines.read_rows(io.BytesIO(data)))


def test_lines_that_are_no_objects_are_named() -> None:
    found = read(b'\xef\xbb\xbf{"a":1}\n\n[1]\nno json\n' + b"[" * 100_000 + b"\n" + b'{"b":')
    assert found == [
        {"a": 1},
        Skipped(lines.NO_OBJECT, broken=True),
        Skipped(lines.NO_JSON, broken=True),
        Skipped(lines.NO_JSON, broken=True),
        Skipped(lines.CUT, broken=True),
    ]


def test_a_huge_line_is_passed_over_and_the_next_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 100)
    found = read(b'{"a":"' + b"x" * 1_000 + b'"}\n{"b":2}\n')
    assert found == [Skipped(lines.TOO_LONG, broken=True), {"b": 2}]


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_a_transcript_cut_anywhere_is_read_up_to_there(tmp_path: Path, host: str) -> None:
    data = (RECORDED / f"{host}.jsonl").read_bytes()
    for share in (0.3, 0.5, 0.9, 0.999):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(data[: int(len(data) * share)])
        totals = look(aged(path)).totals
        assert totals.sessions == 1
        assert totals.incomplete == {str(path): f"it has a {lines.CUT}"}


def test_a_line_that_is_still_being_written_is_no_trouble(tmp_path: Path) -> None:
    path = Session().says("Go.").works(2).written(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    os.utime(path, (time.time(), time.time()))
    totals = look(path).totals
    assert not totals.incomplete
    assert totals.skipped[STILL_WRITTEN] == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        ('{"type":"user"}\n'.encode("utf-16"), "UTF-16"),
        (b"\x00\x01\x02 no text\n", "no line at its beginning is a JSON object"),
        (b'{"name":"a data set","rows":3}\n', "it holds no session"),
    ],
)
def test_a_foreign_file_is_passed_over_with_its_reason(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    Session().says("Go.").written(tmp_path)
    totals = look(tmp_path).totals
    assert totals.sessions == 1
    assert why in totals.passed_over[str(path)]


def test_fields_of_wrong_types_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    session = Session().says("Go.").fails(2)
    values: tuple[object, ...] = (None, 7, "text", [], [None, 7], {"a": {}})
    for value in values:
        for name in ("message", "timestamp", "uuid", "type", "cwd", "sessionId"):
            session.rows.append({**session.rows[1], "uuid": f"{value} {name}", name: value})
        session.rows.append({**session.rows[1], "uuid": f"c {value}", "message": {"content": value, "usage": value}})
    assert look(session.written(tmp_path)).totals.errors == 2


def test_times_beyond_all_bounds_do_no_harm(tmp_path: Path) -> None:
    session = Session().says("Go.").fails(3)
    for row, at in zip(session.rows, ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "then"), strict=False):
        row["timestamp"] = at
    totals = look(session.written(tmp_path)).totals
    assert totals.errors == 3
    assert time.time() - totals.began < 2 * 86_400
    assert totals.ended <= time.time()


def test_what_is_no_plain_file_is_passed_over_and_nothing_waits_for_it(tmp_path: Path) -> None:
    Session().says("Go.").written(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    totals = look(tmp_path).totals
    assert totals.sessions == 1
    assert set(totals.passed_over.values()) == {NOT_PLAIN}
    with pytest.raises(OSError, match="no plain file"):
        open_transcript(tmp_path / "pipe.jsonl")


def test_a_file_that_vanishes_is_said(tmp_path: Path) -> None:
    from insula.coding.replay.gather import gather_sessions

    path = Session().says("Go.").written(tmp_path)
    found = find_transcripts([tmp_path])
    path.unlink()
    totals = gather_sessions(found).totals
    assert totals.sessions == 0
    assert "No such file" in totals.incomplete[str(path)]


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; give"):
        find_transcripts([tmp_path / "none"])


def test_links_that_lead_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    Session().says("Go.").written(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert look(tmp_path).totals.files == 1
