import json
from pathlib import Path

import pytest
from transcripts import RECORDED, Row, Session, look, stamp, write

from insula.coding.replay.find import find_transcripts, list_foreign


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable, name in (("CLAUDE_CONFIG_DIR", "claude"), ("CODEX_HOME", "codex"), ("GEMINI_CLI_HOME", "gemini")):
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path


def put(host: str, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes((RECORDED / f"{host}.jsonl").read_bytes())


def test_transcripts_are_found_where_the_hosts_keep_them(homes: Path) -> None:
    put("claude-code", homes / "claude/projects/-home-dev-project/a.jsonl")
    put("codex", homes / "codex/sessions/2026/11/20/rollout-a.jsonl")
    put("gemini", homes / "gemini/.gemini/tmp/project/chats/session-a.jsonl")
    write(homes / "gemini/.gemini/tmp/project/logs.jsonl", {"other": 1})
    found = find_transcripts(())
    assert sorted(sources[0].form for sources in found.sessions) == ["claude-code", "codex", "gemini"]
    assert not found.passed_over


def test_without_any_there_is_nothing(homes: Path) -> None:
    assert find_transcripts(()) == ([], {})


def test_a_host_is_known_by_the_first_lines_and_not_by_the_name(tmp_path: Path) -> None:
    put("codex", tmp_path / "claude/projects/x.jsonl")
    ((source,),) = find_transcripts([tmp_path]).sessions
    assert (source.form, source.agent) == ("codex", "")


def test_a_session_goes_by_the_name_of_its_file_as_the_hook_is_told(tmp_path: Path) -> None:
    rows = [*Session("old").says("Go.").rows, *Session("new").says("Go on.").rows]
    ((source,),) = find_transcripts([write(tmp_path / "new.jsonl", *rows)]).sessions
    assert source.session == "new"


def test_files_of_one_session_are_together_and_others_apart(tmp_path: Path) -> None:
    Session().says("Go.").written(tmp_path)
    write(tmp_path / "s/subagents/agent-a.jsonl", *Session(agent="a").works(1).rows)
    write(tmp_path / "agent-b.jsonl", *Session(agent="b").works(1).rows)
    Session("t").says("Go.").written(tmp_path)
    groups = find_transcripts([tmp_path]).sessions
    assert sorted([source.agent for source in group] for group in groups) == [[""], ["", "a", "b"]]


def test_a_file_by_two_names_is_one(tmp_path: Path) -> None:
    path = Session().says("Go.").works(2).written(tmp_path)
    (tmp_path / "again.jsonl").symlink_to(path)
    (tmp_path / "hard.jsonl").hardlink_to(path)
    assert [len(sources) for sources in find_transcripts([tmp_path, path]).sessions] == [1]


def test_a_copy_of_any_transcript_counts_once(tmp_path: Path) -> None:
    for host in ("claude-code", "codex", "gemini"):
        put(host, tmp_path / f"{host}/chats/session-a.jsonl")
        put(host, tmp_path / f"{host}/copy/chats/session-b.jsonl")
    totals = look(tmp_path).totals
    assert (totals.tool_uses, totals.errors, totals.prompts, totals.tokens) == (3 * 17, 3 * 8, 3, 3 * 1870)


def chat(session: str, kind: str = "main") -> list[Row]:
    """A session of Gemini CLI that runs one command."""
    ran = {"functionResponse": {"response": {"output": "Output: all is well"}}}
    call = {"id": f"{session}-1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
    return [
        {"sessionId": session, "projectHash": "x", "startTime": stamp(1_770_000_000), "kind": kind},
        {"id": f"{session}-m0", "timestamp": stamp(1_770_000_001), "type": "user", "content": [{"text": "Go."}]},
        {
            "id": f"{session}-m1",
            "timestamp": stamp(1_770_000_002),
            "type": "gemini",
            "tokens": {"total": 100},
            "toolCalls": [{**call, "result": [ran]}],
        },
    ]


def test_subagents_of_gemini_belong_to_the_session_that_sent_them(homes: Path) -> None:
    chats = homes / "gemini/.gemini/tmp/project/chats"
    write(chats / "session-2026-02-02-parent.jsonl", *chat("parent"))
    write(chats / "parent/child.jsonl", *chat("child", "subagent"))
    write(chats / "parent/other.jsonl", *chat("other", "subagent"))
    (chats.parent / ".project_root").write_text("/home/dev/project\n")
    (group,) = find_transcripts(()).sessions
    assert [(source.session, source.agent) for source in group] == [
        ("parent", ""),
        ("parent", "child"),
        ("parent", "other"),
    ]
    (session,) = look(chats).sessions
    assert (session.tool_uses, session.prompts, session.tokens, session.project) == (3, 1, 300, "project")
    assert {point.agent for point in session.points} == {"", "child", "other"}


def test_a_document_of_gemini_that_was_written_anew_as_lines_counts_once(tmp_path: Path) -> None:
    first, *messages = chat("one")
    chats = tmp_path / "chats"
    chats.mkdir()
    (chats / "session-x.json").write_text(json.dumps({**first, "messages": messages}))
    later = {"id": "one-m2", "timestamp": stamp(1_770_000_009), "type": "user", "content": [{"text": "Go on."}]}
    write(chats / "session-x.jsonl", first, *messages, later)
    totals = look(tmp_path).totals
    assert (totals.sessions, totals.tool_uses, totals.prompts, totals.tokens) == (1, 1, 2, 100)


def test_a_fork_of_codex_counts_what_it_copied_once(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (RECORDED / "codex.jsonl").read_text("utf-8").splitlines()]
    write(tmp_path / "rollout-a.jsonl", *rows)
    meta = {**rows[0], "payload": {**rows[0]["payload"], "id": "fork", "session_id": "fork"}}
    new = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": "call_0"}
    write(tmp_path / "rollout-b.jsonl", meta, *rows, {"type": "response_item", "timestamp": stamp(2e9), "payload": new})
    totals = look(tmp_path).totals
    assert (totals.tool_uses, totals.errors, totals.prompts, totals.tokens) == (18, 8, 1, 1870)


def test_what_is_not_in_a_folder_of_an_agent_is_foreign(homes: Path) -> None:
    own = homes / "claude/projects/p"
    Session("own").says("Go.").written(own)
    brought = Session("brought").says("Go.").written(homes / "claude-of-another/projects")
    (own / "link.jsonl").symlink_to(brought)
    assert list_foreign(find_transcripts([own / "own.jsonl"])) == []
    assert list_foreign(find_transcripts([own])) == [own / "link.jsonl"]
    assert list_foreign(find_transcripts([brought])) == [brought]
