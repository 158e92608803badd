"""What a coding agent is told of its trouble, from the payloads of its hook: when, how often, and in which words."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import EVERY, Payload, Session, edits, failed, fails, pytest_fails, reads, runs, went

from insula import senses

SIGN, LONGEST = "[insula] ", 400
MISSING = "File does not exist. Note: your current working directory is /home/dev/project."
DEPLOY = fails("deploy now", "deploy: *** no rule to make target 'all'")


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, on=EVERY)


@pytest.fixture(params=[True, False], ids=["batches", "no batches"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    """Of a host that tells where a turn ends, and of one that does not."""
    return Session(tmp_path, batches=request.param, on=EVERY)


def turns(session: Session) -> list[int]:
    return [turn for turn, _ in session.texts]


def misses(number: int) -> Payload:
    return failed("Read", {"file_path": f"/home/dev/project/{number}.py"}, MISSING, 0.003)


# The ladder.

COMMANDS = [
    "pytest tests/test_price.py",
    "pytest tests/test_price.py -x -q",
    "cd /home/dev/project && python -m pytest tests/test_price.py 2>&1 | tail -20",
    "uv run pytest -vv ./tests/test_price.py | grep -E 'FAIL|passed'",
    "timeout 60 pytest tests/test_price.py --tb=short; echo done",
    "PYTHONPATH=. .venv/bin/pytest tests/test_price.py --maxfail 1",
    "bash -c 'pytest tests/test_price.py'",
]


def test_a_test_that_fails_alike_is_one_goal_whatever_varies(session: Session) -> None:
    for number, command in enumerate(COMMANDS):
        session.act(fails(command, pytest_fails(number)))
        session.act(edits(new=f"b{number}"))
    assert turns(session) == [5, 9]
    assert session.said[0].startswith(
        "[insula] `pytest tests/test_price.py` has failed in 3 turns with the same failures; "
        "the two changes since were all to price.py."
    )


def test_a_test_that_stays_red_in_the_same_words_is_told_up_the_ladder_whatever_was_changed(session: Session) -> None:
    for number in range(11):
        session.act(edits(new=f"b{number}"), edits("/home/dev/project/money.py", new=f"c{number}"))
        session.act(fails("pytest -q", pytest_fails(number)))
    assert turns(session) == [6, 10, 16, 22]
    assert "the four changes since were to price.py and money.py." in session.said[0]


@pytest.mark.parametrize(
    "outputs",
    [
        ["ValueError: no rate", "KeyError: 'vat' is unknown", "TypeError: rate", "ValueError: no rate"],
        ["the rate was missing", "the total was negative", "the rate was missing", "the total was negative"],
    ],
)
def test_what_moves_on_under_the_same_name_behind_many_changes_is_met_with_silence(
    session: Session, outputs: list[str]
) -> None:
    for number, what in enumerate(outputs * 2):
        session.act(edits(new=f"b{number}"), edits("/home/dev/project/money.py", new=f"c{number}"))
        session.act(fails("pytest -q", f"E   {what}\nFAILED tests/a.py::test_rate - {what}\n1 failed in 0.{number}s"))
    assert session.said == []


def _go_fails(what: str) -> str:
    place = f"    sync_test.go:21{len(what) % 9}: {what}"
    return f"=== RUN   TestSync\n{place}\n--- FAIL: TestSync (0.1s)\nFAIL\nFAIL\tex/sync\t0.4s\nFAIL"


def _lint_fails(problems: int) -> str:
    return (
        f"a.test.ts\n  2:30  error  Prefer `node:fs` over `fs`\n\n✖ {problems} problems ({problems} errors, 0 warnings)"
    )


def _tries(session: Session, command: str, outputs: list[str]) -> list[str]:
    for number, output in enumerate(outputs):
        session.act(fails(command, output))
        session.act(edits("/home/dev/project/sync.go", new=f"b{number}"))
    return session.said


def test_a_test_that_says_something_else_when_it_fails_has_got_on(session: Session) -> None:
    """The same test by its name, with another error at the place where it fails."""
    errors = ["push refs: http status code: 500", "push refs: http status code: 500", "unpack error: empty packfile"]
    assert _tries(session, "go test ./sync", [_go_fails(what) for what in errors]) == []


def test_a_test_that_says_the_same_of_other_values_is_stuck(session: Session) -> None:
    errors = [f'want "{number}" of {number} refs, got none in 0.{number}s' for number in range(3)]
    assert (
        "has failed in 3 turns with the same failures"
        in _tries(session, "go test ./sync", [_go_fails(what) for what in errors])[0]
    )


def test_a_command_that_names_nothing_and_says_something_else_each_time_has_got_on(session: Session) -> None:
    stages = ("build", "publish", "verify", "build")
    outputs = [f"the stage {stage} could not be reached by the runner of this group" for stage in stages]
    session.follow([fails("deploy now", output) for output in outputs])
    assert session.said == []
    session.follow([fails("release now", outputs[0])] * 3)
    assert len(session.said) == 1


def _minitest_fails(test: str, what: str) -> str:
    place = f"PagesTest#test_{test} [test/pages_test.rb:5{len(what) % 9}]"
    return f"Failure:\n{place}:\n{what}\n\n4 runs, 9 assertions, 1 failures"


@pytest.mark.parametrize(
    "told",
    [
        [
            ("missing", "RecordNotFound expected but nothing was raised."),
            *[("missing", 'Expected page to not include "x".')] * 2,
        ],
        [
            ("sums_up", "Expected: 3 Actual: 4"),
            ("sums_up", "Expected: 3 Actual: 4"),
            ("parses", "Expected: 3 Actual: 4"),
        ],
    ],
    ids=["another assertion", "another test"],
)
def test_a_test_of_minitest_is_known_by_its_name_and_by_what_it_says(
    session: Session, told: list[tuple[str, str]]
) -> None:
    assert _tries(session, "bin/rails test", [_minitest_fails(*each) for each in told]) == []


def test_a_check_whose_words_two_changes_left_as_they_were_is_told_a_turn_before_one_that_only_fails_alike(
    session: Session,
) -> None:
    told = ["error: the order of the fields in the record is wrong"] * 3
    assert len(_tries(session, "make lint", told)) == 1
    alike = [f"error: the order of the fields in the {name} is wrong" for name in ("table", "header", "footer")]
    assert len(_tries(session, "make lint-docs", alike)) == 1


def test_a_row_of_refusals_finds_out_what_may_be_done(session: Session) -> None:
    denied = [
        failed("Bash", {"command": line}, f"Permission to use Bash with command {line} has been denied.")
        for line in ("git push", "gh pr create", "npm publish", "docker login", "ssh box", "scp a b:")
    ]
    assert session.follow(denied) == []
    session.follow(denied[:1] * 3)
    assert "`git push` was denied in 4 turns" in session.said[0]


def test_a_test_of_minitest_that_says_the_same_is_stuck(session: Session) -> None:
    told = [_minitest_fails("sums_up", f"Expected: 3 Actual: {number}") for number in range(3)]
    assert "has failed in 3 turns with the same failures" in _tries(session, "bin/rails test", told)[0]


def test_commands_of_one_program_that_fail_without_a_word_are_not_one_failure(session: Session) -> None:
    lines = (
        "ssh box 'netstat | grep 5335'",
        "ssh box 'blocky &' && sleep 3 && ssh box 'netstat | grep 5335'",
        "ssh box 'killall blocky; blocky &' && sleep 2 && ssh box 'netstat | grep 5335'",
    )
    assert session.follow([fails(line, "") for line in lines]) == []


def test_a_file_of_which_a_shell_shows_a_part_has_not_failed_whatever_stands_in_it(tmp_path: Path) -> None:
    session = Session(tmp_path, host="codex")
    for part in ("1,9p", "9,20p", "20,30p", "30,40p"):
        line = f"zsh -lc 'source ~/.zshrc && sed -n {part} test/runs.yml'"
        session.act(went("Bash", {"command": line}, f"failed:\n  status: failed\n  error: blocked {part}\n"))
    assert session.said == []


def test_a_file_that_an_edit_missed_may_be_read_again(session: Session) -> None:
    shown = reads("/home/dev/project/price.py", "price = 1")
    missed = failed(
        "Edit",
        {"file_path": "/home/dev/project/price.py", "old_string": "x", "new_string": "y"},
        "File has been unexpectedly modified. Read it again before attempting to write it.",
    )
    assert session.follow([shown, missed, shown, runs("python -V"), missed, shown]) == []


def test_fewer_problems_of_a_linter_are_progress_whatever_places_it_shows(session: Session) -> None:
    assert _tries(session, "bun run lint | tail -20", [_lint_fails(count) for count in (12, 7, 6)]) == []


def test_a_command_whose_failure_its_line_forgives_is_a_question(session: Session) -> None:
    line = "f=$(mktemp); git credential fill < $f || true; rm -f $f"
    refused = "fatal: could not read Username for 'https://example.com'"
    assert session.follow([fails(line.replace("$f", f"$f{number}"), refused) for number in range(4)]) == []


@pytest.mark.parametrize("tool", ["AskUserQuestion", "mcp__chat__ask_user", "request_user_input", "ExitPlanMode"])
@pytest.mark.parametrize(
    "error", ["Tool permission stream closed", "Permission to use AskUserQuestion has been denied."]
)
def test_a_question_that_nobody_could_answer_is_no_failure_of_the_agent_s(
    session: Session, tool: str, error: str
) -> None:
    assert session.follow([failed(tool, {"questions": ["Which one?"]}, error) for _ in range(6)]) == []
    assert session.follow([failed("mcp__wiki__ask_question", {"question": "Why?"}, "no such page") for _ in range(6)])


def test_programs_that_stand_in_the_line_itself_are_one_only_where_they_are_the_same(session: Session) -> None:
    banner = "shell: detected a possible configuration issue."
    for number in range(5):
        session.act(fails(f"python - <<'E'\nimport m{number}\nE", banner))
        session.act(edits(f"/home/dev/project/m{number}.py"))
    assert session.said == []
    for number in range(3):
        session.act(fails("python - <<'E'\nimport price\nE", banner))
        session.act(edits(new=str(number)))
    assert session.said[0].startswith("[insula] `python` has failed in 3 turns")


def test_of_permissions_that_are_missing_for_different_calls_nothing_is_told(session: Session) -> None:
    for command in ("npm test 2>&1 | tail", "npm test", "npx jest", "make check"):
        session.act(fails(command, "This command requires approval"))
    assert session.said == []


def test_the_ladder_is_climbed_rung_by_rung_and_then_ends(session: Session) -> None:
    session.follow([DEPLOY] * 24)
    assert session.texts == [
        (3, "[insula] `deploy now` has failed in 3 turns with the same error. What the attempts have in common may say more than the next variation will."),  # noqa: E501
        (5, "[insula] `deploy now` has failed in 5 turns with the same error. State the assumption you are working on. What would falsify it? Check that before the next try."),  # noqa: E501
        (8, "[insula] `deploy now` has failed in 8 turns with the same error. The premise that these tries share is still untested. Step back, and settle it with one small check before you try again; then take a different way."),  # noqa: E501
        (11, "[insula] `deploy now` has failed in 11 turns with the same error. The user may know what is missing: tell them what you tried, what is settled, and what is open."),  # noqa: E501
    ]  # fmt: skip


def test_no_sentence_is_said_twice_in_a_session_and_none_may_be_ignored(session: Session) -> None:
    for name in "abcde":
        session.follow([fails(f"deploy {name}", f"{name}: this went wrong in a way of its own")] * 20)
        session.follow([runs(f"echo {name}{number}", f"a result of its own, {number}") for number in range(4)])
    sentences = [sentence for text in session.said for sentence in text.removeprefix(SIGN).split(". ")]
    assert len(sentences) > 20
    assert len(sentences) == len(set(sentences))
    assert all(text.startswith(SIGN) and len(text) < LONGEST and "ignore" not in text for text in session.said)


def test_a_trouble_has_a_ladder_of_its_own(session: Session) -> None:
    session.follow([*[DEPLOY] * 8, *looks(3), *[fails("publish now", "publish: it is not the same at all")] * 3])
    assert turns(session) == [3, 5, 8, 14]
    assert "`publish now` has failed in 3 turns" in session.said[3]


def test_a_message_of_the_user_s_closes_nothing(session: Session) -> None:
    session.follow([DEPLOY] * 4)
    session.prompt("still broken, try again")
    session.follow([DEPLOY] * 16)
    assert turns(session) == [3, 5, 8, 11]


@pytest.mark.parametrize("heeded", [True, False])
def test_whether_a_text_was_heeded_and_what_became_of_its_trouble_is_known(home: Path, heeded: bool) -> None:
    session = Session(home)
    session.follow([*[DEPLOY] * (3 if heeded else 4), *(reads(f"/home/dev/project/{n}.py", f"{n}") for n in range(6))])
    session.act(runs("deploy now", "deployed to all of them"))
    (trouble,) = run_insula("worth", "--days", "400", "--json").json["troubles"]
    assert (trouble["heeded"], trouble["turns"]) == (heeded, 7 if heeded else 8)


def test_a_text_after_which_the_same_failed_again_was_not_heeded_though_nothing_more_is_said_of_it(home: Path) -> None:
    session = Session(home)
    for number, what in enumerate(("the rate was missing",) * 3 + ("the total was negative",)):
        session.act(edits(new=f"b{number}"))
        session.act(fails("pytest -q", f"E   {what}\nFAILED tests/a.py::test_rate - {what}\n1 failed in 0.{number}s"))
    session.follow(reads(f"/home/dev/project/{n}.py", f"{n}") for n in range(4))
    (trouble,) = run_insula("worth", "--days", "400", "--json").json["troubles"]
    assert (len(session.said), trouble["again"], trouble["heeded"]) == (1, True, False)


def test_a_file_that_is_read_again_and_again_is_not_called_a_call(session: Session) -> None:
    session.follow([reads("/home/dev/project/deploy.yml", "on: push\n" * 9)] * 3)
    assert "The last 3 turns made the same call, reading `deploy.yml`, and got the same result." in session.said[0]


# The unit is the model's turn: calls at once are one thing that happened, however the host tells of it.


def test_what_fails_at_once_and_the_next_turn_corrects_is_not_told(either: Session) -> None:
    either.act(*(misses(number) for number in range(10)))
    either.act(runs("find . -name '*.py'", "a.py\nb.py"))
    either.act(*(reads(f"/home/dev/project/{name}.py") for name in "abcd"))
    assert either.said == []


def test_turns_that_all_fail_alike_are_told_once_each_and_begin_at_the_first_rung(either: Session) -> None:
    either.follow([tuple(misses(10 * turn + number) for number in range(5)) for turn in range(4)])
    assert turns(either) == [3]
    assert "3 turns in a row ended in similar errors" in either.said[0]


def test_a_batch_of_four_refused_edits_says_nothing_and_three_of_them_begin_at_the_first_rung(session: Session) -> None:
    error = "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>"

    def batch(turn: int) -> Payload:
        calls = [
            {"tool_name": "Edit", "tool_use_id": f"{turn}-{n}", "tool_response": error}
            | {"tool_input": {"file_path": f"/home/dev/{n}.py", "old_string": f"x{turn}", "new_string": "y"}}
            for n in range(4)
        ]
        return {"hook_event_name": "PostToolBatch", "tool_calls": calls}

    texts = [session.tell(batch(turn), 20) for turn in range(3)]
    assert [bool(text) for text in texts] == [False, False, True]
    assert "State the assumption" not in texts[2]


def test_a_batch_that_comes_twice_or_before_its_calls_changes_nothing(session: Session) -> None:
    for turn in range(2):
        calls = [misses(10 * turn + number) | {"tool_use_id": f"t{turn}-{number}"} for number in range(4)]
        told = [call | {"tool_response": MISSING} for call in calls]
        batch: Payload = {"hook_event_name": "PostToolBatch", "tool_calls": told}
        assert [session.tell(event, 0.5) for event in (calls[0], batch, *calls[1:], batch)] == [""] * 6


def test_slow_calls_at_once_are_one_turn_without_a_batch(tmp_path: Path) -> None:
    session = Session(tmp_path, batches=False, on=EVERY)
    for number in range(6):  # all of them began together, and each took ten seconds longer than the one before
        slow = fails(f"./slow {number}", "no such host", seconds=10.0 * (number + 1))
        assert not session.tell(slow | {"tool_use_id": f"t{number}"}, 10)


def test_the_transcript_s_message_tells_a_turn(tmp_path: Path) -> None:
    session, transcript = Session(tmp_path, batches=False, on=EVERY), tmp_path / "t.jsonl"
    row = '{"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","id":"%s"}]}}\n'
    transcript.write_text("".join(row % f"toolu_{number}" for number in range(8)))
    about = {"transcript_path": str(transcript)}
    assert not any(session.tell(misses(n) | {"tool_use_id": f"toolu_{n}"} | about, 9) for n in range(8))


@pytest.mark.parametrize("content", ["", "{", "\x00" * 4_000, '{"type":"assistant","message":{"id":7}}\n' * 50])
def test_a_transcript_that_tells_nothing_is_no_harm(tmp_path: Path, content: str) -> None:
    session, transcript = Session(tmp_path, batches=False, on=EVERY), tmp_path / "t.jsonl"
    transcript.write_text(content)
    for number in range(7):
        session.tell(fails("deploy") | {"tool_use_id": f"t{number}", "transcript_path": str(transcript)}, 30)
    assert len(session.said) == 2


def test_a_clock_that_jumps_splits_and_joins_no_more_than_one_turn(tmp_path: Path) -> None:
    session = Session(tmp_path, batches=False, on=EVERY)
    for number, jump in enumerate((30, -7_200, 30, 86_400, -86_400, 30)):
        session.tell(fails("deploy", "it went wrong") | {"tool_use_id": f"t{number}"}, jump)
    assert [text.count("failed in") for text in session.said] == [1, 1]


def test_one_turn_has_one_text_whatever_is_felt(session: Session) -> None:
    session.prompt("fix it, but don't commit")
    deploy = fails("deploy")
    session.follow([edits(), deploy] * 2)
    stash, commit = runs("git stash", "Saved working directory"), runs("git commit -am x", "[main]")
    assert len(session.act(deploy, stash, commit)) == 1


def test_codex_tells_turns_by_their_times(tmp_path: Path) -> None:
    session = Session(tmp_path, host="codex", batches=False, on=EVERY)

    def did(number: int) -> Payload:
        missing = "cat: f: No such file or directory\n"
        return went("Bash", {"command": "cat f"}, missing) | {"tool_use_id": f"c{number}", "turn_id": "one"}

    assert not any(session.tell(did(number), 0.02) for number in range(10))
    assert [bool(session.tell(did(20 + number), 5)) for number in range(2)] == [False, True]


# How fast the context fills, and how long an agent works alone.


@pytest.mark.parametrize(
    ("brought", "each", "told"),
    [
        ([4_000] * 11 + [15_000] * 9, 1, True),
        ([4_000] * 11 + [9_000] * 9, 6, False),
        ([15_000] * 9, 1, False),
        ([500] * 11 + [5_000] * 9, 1, False),
        ([4_000] * 11 + [-40_000] + [12_000] * 2, 1, False),
    ],
    ids=["three times as much", "calls at once share it", "no baseline", "few tokens", "a compaction"],
)
def test_turns_that_take_three_times_the_baseline_are_told_once(
    session: Session, tmp_path: Path, brought: list[int], each: int, told: bool
) -> None:
    context, transcript = 5_000, tmp_path / "t.jsonl"
    for number, tokens in enumerate(brought):
        row = {"message": {"role": "assistant", "usage": {"input_tokens": context, "output_tokens": 0}}}
        with transcript.open("a") as file:
            file.write(json.dumps(row | {"type": "assistant"}, separators=(",", ":")) + "\n")
        calls = [reads(f"/home/dev/project/{number}{call}.py", f"x = {number}{call}\n") for call in range(each)]
        session.act(*(call | {"transcript_path": str(transcript)} for call in calls))
        context += tokens
    assert len(session.said) == told
    assert not told or "about 15k tokens" in session.said[0]


def test_without_the_host_s_own_count_no_velocity_is_felt(session: Session) -> None:
    session.follow(reads(f"/home/dev/project/{n}.py", f"{n}" * (400 if n < 11 else 90_000)) for n in range(20))
    assert session.said == []


def looks(count: int, name: str = "") -> list[Payload]:
    return [runs(f"look {name}{number}", f"a line that tells something of {name}{number}") for number in range(count)]


@pytest.mark.parametrize(("seconds", "due"), [(31, [30, 60, 120]), (1, [])])
def test_an_agent_alone_is_told_after_thirty_turns_and_fifteen_minutes_and_at_the_double(
    session: Session, seconds: float, due: list[int]
) -> None:
    session.prompt("find out why it is slow")
    session.follow(looks(125), seconds)
    assert turns(session) == due
    assert all("since the user's last message" in text for text in session.said)


def an_hour_without_a_user(session: Session) -> None:
    session.follow(looks(65))


def the_user_came_back(session: Session) -> None:
    for name in "ab":
        session.prompt("and now?")
        session.follow(looks(25, name))


def the_work_shows(session: Session) -> None:
    session.prompt("find out why it is slow")
    session.follow([*looks(20), edits(), *looks(20, "b")])


def one_slow_build(session: Session) -> None:
    session.prompt("build it")
    session.act(runs("make", "built the whole thing", 1_200.0), seconds=1_200)


@pytest.mark.parametrize("life", [an_hour_without_a_user, the_user_came_back, the_work_shows, one_slow_build])
def test_otherwise_the_time_is_not_spoken_of(session: Session, life: Callable[[Session], None]) -> None:
    life(session)
    assert session.said == []


def test_a_file_that_few_import_is_changed_without_a_word(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)
    for name, content in {"hub": "", **{f"user_{number}": "from hub import x\n" for number in range(3)}}.items():
        (tmp_path / "project" / f"{name}.py").write_text(content)
    session = Session(tmp_path, on=EVERY, cwd=str(tmp_path / "project"))
    assert session.act(edits(str(tmp_path / "project" / "hub.py"))) == []


# Told before the call, where the host says what is about to be done; and once.


def before(command: str) -> Payload:
    return {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("git commit -am x --no-verify", "git commit --no-verify"),
        ("git add -A && git commit -n -am 'a b'", "git commit -n"),
        ("git commit -anm x", "git commit -anm"),
        ("SKIP=mypy git commit -m x", "SKIP=mypy git commit"),
        ("HUSKY=0 git push", "HUSKY=0 git push"),
        ("git -c core.hooksPath=/dev/null commit -m x", "git commit core.hooksPath=/dev/null"),
    ],
)
def test_going_round_a_check_is_told_by_what_does_it_before_the_call_and_not_again_after_it(
    session: Session, command: str, shown: str
) -> None:
    session.act(edits())
    assert f"`{shown}` goes round a check" in session.tell(before(command), 5)
    assert session.act(runs(command, "done as asked")) == []


@pytest.mark.parametrize("command", ["git commit -m -f", "git commit -mn", "git push -n", "SKIP=1 make test"])
def test_an_option_that_only_looks_like_it_goes_round_nothing(session: Session, command: str) -> None:
    assert not session.tell(before(command), 5)


def test_before_a_call_that_goes_against_nothing_not_even_a_line_is_written(tmp_path: Path, session: Session) -> None:
    session.act(runs("ls", "a"))
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for command in ("git status", "pytest -q", "git push --dry-run", "git stash list", "git add -A", "git stash"):
        assert session.tell(before(command), 5) == ""
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == kept


def test_codex_is_told_before_the_call_as_well(tmp_path: Path) -> None:
    told = Session(tmp_path, host="codex").tell(before("git commit --no-verify -m x") | {"tool_use_id": "r"})
    assert "goes round a check" in told


# What a person has switched.


def noted() -> list[str]:
    return [trouble["sense"] for trouble in run_insula("worth", "--days", "400", "--json").json["troubles"]]


def works_alone(session: Session, count: int) -> None:
    session.prompt("find out why it is slow")
    session.follow(looks(count))


def test_a_sense_that_is_switched_on_in_a_session_knows_what_went_before(home: Path) -> None:
    session = Session(home)
    works_alone(session, 40)
    run_insula("on", "chronos")
    session.act(reads("/home/dev/project/last.py", "the end\n"))
    assert "since the user's last message" in session.said[0]


@pytest.mark.parametrize("odd", [3, "chronos", {"chronos": "yes"}, None])
def test_what_is_no_switch_changes_nothing_and_a_sense_that_is_off_keeps_none_from_speaking(
    home: Path, odd: object
) -> None:
    (home / "hook.json").write_text(json.dumps({"senses": odd}))
    session = Session(home)
    works_alone(session, 31)
    session.follow([DEPLOY] * 3)
    assert noted() == ["nociception"]


# Whatever is sent: a hook that raises is deaf to that call.

BANNED = "don't commit, don't push, don't touch src/old/ and use pnpm, not npm"
OPERATORS = "&& || ; | & ( ) { } > >> 2>&1 < << <<< <<'E' $( `"
PIECES = """
"" '' " ' \\ $ $x=1 A= = - -- / # ! * ~ é 日本 -c -m -f --no-verify -rf --force HEAD . a/b.py src/old/x main run test
{a,b} $((1 ${x:- =~ +x 0 2 ~/x @ % ^ bash sh timeout python git npm npx pnpm docker compose sudo env xargs find rm
tail sed curl cargo go make pytest commit push stash checkout reset clean add install
"""
words = (
    st.sampled_from([*PIECES.split(), "\0", "\ud800", "\u202e", "\x1b[0m"])
    | st.text(max_size=8)
    | st.text(max_size=8).map(lambda text: f'"{text}"')
)
shell = st.lists(st.tuples(words, st.sampled_from([" ", "", "\n", "\t", *OPERATORS.split()])), max_size=14).map(
    lambda parts: "".join(f"{word}{after}" for word, after in parts)
)
lines = shell | st.text() | shell.map(lambda line: f"bash -c '{line}'")
ODD = [
    *(
        '"" x',
        'A= "" x',
        "bash -c \"'' x\"",
        'rm "" x',
        'git checkout "" a.py',
        'git stash ""',
        'timeout "" x',
        'python "" -m',
    ),
    *('npm run ""', 'docker compose ""', '"" | "" && "" || "" ; "" &', "$ = 1", "\\", "'" * 9, "((((", "\ud800"),
    *("x" * 100_000, '"" ' * 50_000, "'\"" * 50_000, "(" * 100_000, "a && " * 20_000, "<<E\n" * 25_000),
    "cat > a.py <<'EOF'\n" + "y = 1\n" * 10_000 + "EOF\npython a.py",
]


@pytest.mark.parametrize("line", ODD, ids=lambda line: ascii(line[:16]))
def test_the_hook_takes_in_any_command_line(session: Session, line: str) -> None:
    session.prompt(BANNED)
    for _ in range(2):
        session.tell(before(line), 5)
        session.follow([fails(line, ": command not found", 127), runs(line)])
        session.stop()
    assert all(len(text) <= LONGEST for text in session.said)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(lines, st.sampled_from(["", "Exit code 1\nboom", "4 passed"]), st.booleans()), max_size=5))
def test_no_command_line_makes_any_sense_fail(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, str, bool]]
) -> None:
    session = Session(tmp_path_factory.mktemp("any"), on=EVERY)
    session.prompt(BANNED)
    for line, output, fine in calls * 2:
        session.tell(before(line), 1)
        session.act(runs(line, output) if fine else fails(line, output))
    session.stop("Probably a stale cache.")


actions = st.builds(
    senses.Action,
    tool=st.sampled_from(["Bash", "Read", "Edit"]),
    kind=st.sampled_from(["execute", "read", "edit", "other"]),
    call=st.sampled_from("abcd"),
    ok=st.booleans(),
    error=st.sampled_from(["boom one", "boom two", "else"]),
    result=st.sampled_from(["", "r1", "r2"]),
    at=st.floats(0, 1e6),
    id=st.text(max_size=2),
    chars=st.integers(0, 50_000),
)


@given(st.lists(actions, max_size=40), st.integers(0, 40))
def test_whatever_happens_a_state_is_small_and_the_same_when_it_was_put_aside(
    done: list[senses.Action], cut: int
) -> None:
    def follow(state: senses.State, some: list[senses.Action]) -> tuple[senses.State, list[Any]]:
        notes: list[Any] = []
        for action in some:
            state, note = senses.feel(state, action)
            notes += [note.text] if note else []
        return state, notes

    whole, told = follow(senses.State(), done)
    half, first = follow(senses.State(), done[:cut])
    aside = json.dumps(senses.dump(half))
    rest, second = follow(senses.load(json.loads(aside)), done[cut:])
    assert (rest, first + second) == (whole, told)
    assert len(aside) < 40_000
    assert all(text.startswith(SIGN) and len(text) < LONGEST for text in told)
