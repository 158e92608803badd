from pathlib import Path

import pytest
from transcripts import RECORDED, Session, write

from insula.replay.find import find


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
    found = find(())
    assert sorted(sources[0].form for sources in found.sessions) == ["claude-code", "codex", "gemini"]
    assert not found.passed_over


def test_without_any_there_is_nothing(homes: Path) -> None:
    assert find(()) == ([], {})


def test_a_host_is_known_by_the_first_lines_and_not_by_the_name(tmp_path: Path) -> None:
    put("codex", tmp_path / "claude/projects/x.jsonl")
    ((source,),) = find([tmp_path]).sessions
    assert (source.form, source.agent) == ("codex", "")


def test_a_session_goes_by_the_name_of_its_file_as_the_hook_is_told(tmp_path: Path) -> None:
    rows = [*Session("old").says("Go.").rows, *Session("new").says("Go on.").rows]
    ((source,),) = find([write(tmp_path / "new.jsonl", *rows)]).sessions
    assert source.session == "new"


def test_files_of_one_session_are_together_and_others_apart(tmp_path: Path) -> None:
    Session().says("Go.").written(tmp_path)
    write(tmp_path / "s/subagents/agent-a.jsonl", *Session(agent="a").works(1).rows)
    write(tmp_path / "agent-b.jsonl", *Session(agent="b").works(1).rows)
    Session("t").says("Go.").written(tmp_path)
    groups = find([tmp_path]).sessions
    assert sorted([source.agent for source in group] for group in groups) == [[""], ["", "a", "b"]]
