"""Past sessions found, put together and looked at: files of one session, moments, totals, and what founds a rule."""

import json
import tracemalloc
from pathlib import Path

import pytest
from looking import look
from transcripts import RECORDED, Row, Session, stamp, write

from growth import LINEAR, growth
from insula.coding.replay import gather as gathering
from insula.coding.replay import readers
from insula.coding.replay.find import LEADS_OUT, find_transcripts, list_foreign
from insula.coding.replay.model import Replayed
from insula.coding.replay.readers import Seen


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
    assert sorted(sources[0].host for sources in found.sessions) == ["claude-code", "codex", "gemini"]
    assert not found.passed_over


def test_a_host_is_known_by_the_first_lines_and_not_by_the_name(tmp_path: Path) -> None:
    put("codex", tmp_path / "claude/projects/x.jsonl")
    ((source,),) = find_transcripts([tmp_path]).sessions
    assert (source.host, source.agent) == ("codex", "")


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


def test_a_link_out_of_a_folder_that_is_no_agents_is_not_read(tmp_path: Path) -> None:
    Session("in").says("Go.").works(2).written(tmp_path / "given")
    out = Session("out").says("Go.").works(2).written(tmp_path / "elsewhere")
    (tmp_path / "given" / "link.jsonl").symlink_to(out)
    found = find_transcripts([tmp_path / "given"])
    assert [[source.session for source in group] for group in found.sessions] == [["in"]]
    assert found.passed_over == {str(tmp_path / "given" / "link.jsonl"): LEADS_OUT}
    assert [len(group) for group in find_transcripts([tmp_path / "given" / "link.jsonl"]).sessions] == [1]  # as named


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


# All sessions together, and what it takes.


MEGABYTE = 1 << 20


def test_totals_are_the_sums_and_the_worst_come_first(tmp_path: Path) -> None:
    Session("calm").says("Go.").works(5).written(tmp_path)
    Session("bad").says("Go.").fails(9).written(tmp_path)
    Session("better").says("Go.").fails(4).works(3).written(tmp_path)
    gathered = look(tmp_path)
    totals = gathered.totals
    assert [session.id for session in gathered.sessions] == ["bad", "better", "calm"]
    assert [moment.session for moment in totals.worst] == ["bad", "better"]
    assert (totals.sessions, totals.tool_uses, totals.errors, totals.prompts) == (3, 21, 13, 3)


def test_lines_long_past_are_forgotten_and_the_last_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "GENERATION", 10)
    known = Seen()
    assert all(known.add_id(str(number)) for number in range(100))
    assert not any(known.add_id(str(number)) for number in range(95, 100))
    assert known.add_id("0")


def large(folder: Path, size: int) -> Path:
    """One session of so many bytes in the form of a real one, each line of it new."""
    lines, path, number = (RECORDED / "claude-code.jsonl").read_text("utf-8").splitlines(), folder / f"s{size}.jsonl", 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            number += 1
            for place, line in enumerate(lines):
                row = json.loads(line)
                if "uuid" in row:
                    row["uuid"] = f"{number} {place}"
                file.write(json.dumps(row).replace('"call_', f'"call_{number}_') + "\n")
    return path


def test_less_is_held_than_is_read(tmp_path: Path) -> None:
    gathering.gather_sessions(find_transcripts([large(tmp_path, 1)]))  # what is held for good is held by now
    size = 2 * MEGABYTE
    found = find_transcripts([large(tmp_path, size)])
    tracemalloc.start()
    gathered = gathering.gather_sessions(found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gathered.totals.tool_uses > 500
    assert peak < 1.25 * size, f"{peak / MEGABYTE:.1f} MB"


def test_reading_takes_no_longer_than_there_is_to_read(tmp_path: Path) -> None:
    assert growth(gathering.gather_sessions, lambda size: find_transcripts([large(tmp_path, size)]), MEGABYTE) <= LINEAR


# A session looked back at: what went wrong, what would have been said, what it cost.


def replayed(session: Session, folder: Path) -> Replayed:
    (found,) = look(session.written(folder)).sessions
    return found


def test_a_moment_lasts_from_the_first_call_of_the_row_that_is_felt_to_the_next_progress(tmp_path: Path) -> None:
    session = replayed(Session().says("Go.").works(4).fails(6).works(5), tmp_path)
    (moment,) = session.moments
    assert (moment.first, moment.last) == (5, 10)  # the third is felt, and counts the two before it
    assert (moment.count, moment.rung, moment.open) == (6, 2, False)
    assert moment.seconds == 10.0
    assert moment.tokens == sum(point.tokens for point in session.points[4:10])
    assert moment.what == "Bash cat missing-0.txt"
    assert (moment.session, moment.project, moment.host) == ("s", "project", "claude-code")


def test_a_word_of_the_users_ends_a_moment(tmp_path: Path) -> None:
    session = replayed(Session().says("Go.").fails(4).says("Use the other file.").fails(3), tmp_path)
    assert len(session.moments) == 2
    assert session.user_steps == [1, 5]


def test_texts_and_readings_stand_at_the_actions_they_come_after(tmp_path: Path) -> None:
    session = replayed(Session().says("Go.").fails(5), tmp_path)
    assert [(point.step, point.sense, point.rung) for point in session.points if point.sense] == [
        (3, "nociception", 1),
        (4, "nociception", 0),
        (5, "nociception", 2),
    ]
    assert session.points[2].said.startswith("[insula] 3 turns in a row ended in similar errors.")
    assert (session.readings, session.rungs) == ({"nociception": 3}, {1: 1, 2: 1})


def test_tokens_are_those_that_the_host_counts(tmp_path: Path) -> None:
    session = Session().says("Go.")
    for number in range(3):
        session.works(1)
        usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 5_000}
        session.rows[-2]["message"] |= {"id": f"m{number}", "usage": usage}
    assert replayed(session, tmp_path).tokens == 360


def test_what_the_user_refused_is_no_failure_of_the_agents(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    session = Session().says("Go.")
    for _ in range(5):
        session.calls("Bash", refusal, error=True, command="rm -r build")
    found = replayed(session, tmp_path)
    assert (found.errors, found.moments) == (5, [])


def test_secrets_and_home_made_names_stay_out(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    session = Session().says("Go.")
    for _ in range(3):
        session.calls("Bash", f"Exit code 1\nbad token {secret}", error=True, command=f"push --token {secret}")
    found = replayed(session, tmp_path)
    assert secret not in repr(found)


@pytest.mark.parametrize("place", ["/home/dev/shop", "/tmp/shop", "/home/dev/.trees/shop"])
def test_a_project_is_felt_alike_wherever_it_stands(tmp_path: Path, place: str) -> None:
    session = Session(cwd=place).says("Mend it.")
    red = "E   assert 1 == 2\nFAILED tests/a.py::test_a - assert 1 == 2\n1 failed in 0.1s"
    for number in range(3):
        session.calls("Edit", "done", file_path=f"{place}/a.py", old_string=f"a{number}", new_string=f"b{number}")
        session.calls("Bash", f"Exit code 1\n{red}", error=True, command="pytest -q")
    (told,) = look(session.written(tmp_path)).sessions
    assert ["the two changes since were all to a.py" in moment.said for moment in told.moments] == [True]
