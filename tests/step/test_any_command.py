"""No command line can make the senses fail: an agent may send anything, and a hook that raises is deaf to that call."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula.coding.step.action import Action
from insula.coding.step.fingerprint import make_action
from insula.coding.step.patterns import judge_patterns
from insula.coding.step.programs import PROGRAMS, SCRIPTS, SUBCOMMANDS, WRAPPERS
from insula.coding.step.proprioception import foresee_action, hear_user, sense_action, sense_end
from insula.coding.step.senses import EVERY
from insula.coding.step.state import State
from insula.hosts.hook import respond

BANNED = "don't commit, don't push, don't touch src/old/ and use pnpm, not npm"
OPERATORS = [
    "&&",
    "||",
    ";",
    "|",
    "&",
    "\n",
    "(",
    ")",
    "{",
    "}",
    ">",
    ">>",
    "2>&1",
    "<",
    "<<",
    "<<<",
    "<<'E'",
    "$(",
    "`",
]
PIECES = [
    *(
        '""',
        "''",
        '"',
        "'",
        "\\",
        "$",
        "$ =",
        "$x = 1",
        "A=",
        "=",
        "-",
        "--",
        "/",
        "#",
        "!",
        "*",
        "~",
        "é",
        "日本",
        "\0",
    ),
    *(
        "-c",
        "-m",
        "-f",
        "--",
        "--no-verify",
        "-rf",
        "--force",
        "HEAD",
        ".",
        "a/b.py",
        "src/old/x",
        "main",
        "run",
        "test",
    ),
    *("{a,b}", "$((1", "${x:-", "\ud800", "\u202e", "\t", "\r", "\x1b[0m", "=~", "+x", "0", "2", "~/x", "@", "%", "^"),
]
words = st.one_of(
    st.sampled_from(sorted({*PROGRAMS, *SUBCOMMANDS, *SCRIPTS, *WRAPPERS, "bash", "sh", "timeout", "python", "git"})),
    st.sampled_from(sorted({word for known in SUBCOMMANDS.values() for word in known})),
    st.sampled_from(PIECES),
    st.text(max_size=8),
    st.text(max_size=8).map(lambda text: f'"{text}"'),
)
shell = st.lists(st.tuples(words, st.sampled_from([" ", " ", "", *OPERATORS])), max_size=14).map(
    lambda parts: "".join(f"{word}{after}" for word, after in parts)
)
lines = st.one_of(
    shell, st.text(), st.tuples(shell, st.sampled_from(["bash -c", "sh -lc"])).map(lambda p: f"{p[1]} '{p[0]}'")
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(lines, st.sampled_from(["", "Exit code 1\nboom", "4 passed"]), st.booleans()), max_size=5))
def test_no_command_line_makes_any_sense_fail(calls: list[tuple[str, str, bool]]) -> None:
    state, actions = hear_user(State(), 1.0, BANNED), list[Action]()
    for number, (line, output, ok) in enumerate(calls * 3):
        done = make_action(tool="Bash", input={"command": line}, output=output, at=60.0 * number, ok=ok, id=f"{number}")
        state = foresee_action(state, done.replace(id=f"before {number}"), EVERY).state
        state = sense_action(state, done, EVERY).state
        actions.append(done)
    judge_patterns([actions])
    assert sense_end(state, "Probably a stale cache.", EVERY).state.carry.calls == 3 * len(calls)


ODD = [
    '"" x',
    "'' ''",
    '""',
    'A= "" x',
    'sudo "" x',
    'bash -c ""',
    "bash -c \"'' x\"",
    'tail "" x',
    'rm "" x',
    'git clean "" -f',
    'git checkout "" a.py',
    'git stash ""',
    'git "" commit',
    'timeout "" x',
    'python "" -m',
    'find "" -delete',
    'curl ""',
    'npm run ""',
    'docker compose ""',
    '"" | "" && "" || "" ; "" &',
    "$",
    "$ = 1",
    "\\",
    "'" * 9,
    "((((",
    "x" * 100_000,
    '"" ' * 50_000,
    "'\"" * 50_000,
    "(" * 100_000,
    "a && " * 20_000,
    "<<E\n" * 25_000,
    "日本 " * 30_000,
    "\ud800",
]


def payloads(line: str) -> Iterator[dict[str, Any]]:
    call = {"tool_name": "Bash", "tool_input": {"command": line}}
    yield {"hook_event_name": "PreToolUse", **call}
    yield {"hook_event_name": "PostToolUseFailure", **call, "error": "Exit code 127\n: command not found"}
    yield {"hook_event_name": "PostToolUse", **call, "tool_response": {"stdout": "", "stderr": ""}}
    yield {"hook_event_name": "Stop", "last_assistant_message": "Done."}


@pytest.mark.parametrize("line", ODD, ids=lambda line: ascii(line[:16]))
def test_the_hook_takes_in_any_command_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "hook.json").write_text(json.dumps({"senses": dict.fromkeys(EVERY, True)}))
    base = {"session_id": "s", "cwd": "/home/dev/project", "transcript_path": ""}
    respond(str(tmp_path), "claude-code", base | {"hook_event_name": "UserPromptSubmit", "prompt": BANNED}, 1e9)
    for turn in range(2):
        for number, payload in enumerate(payloads(line)):
            named = payload if "Stop" in payload.values() else payload | {"tool_use_id": f"toolu_{turn}_{number}"}
            respond(str(tmp_path), "claude-code", base | named, 1e9 + 60 * turn + number)
