"""Recorded sessions and labelled moments: read with their places, and measured against what the fold says."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from insula.coding.replay.readers import TranscriptCall
from insula.errors import InputError
from insula_bench import moments, moments_figures
from insula_bench.moments import lived
from insula_bench.trajectories import SPACING, Run, Source, sources

# Labelled moments: read with the places of their session, and measured against what the fold says.


Row = dict[str, Any]
FILE = "sessions.jsonl"


def rows(*events: tuple[str, Any]) -> list[Row]:
    """A session: ("ask", words), ("run", (command, output, ok)), ("refuse", (command, reason)), ("stop", "")."""
    told: list[Row] = []
    for number, (kind, what) in enumerate(events):
        at, use = f"2026-02-01T10:{number // 60:02}:{number % 60:02}Z", f"toolu_{number}"
        user: Row = {"type": "user", "uuid": f"u{number}", "timestamp": at, "sessionId": "s"}
        if kind == "ask":
            told.append(user | {"message": {"role": "user", "content": what}})
            continue
        if kind == "stop":
            text = [{"type": "text", "text": "[Request interrupted by user]"}]
            told.append(user | {"message": {"role": "user", "content": text}})
            continue
        command, output, ok = what if kind == "run" else (what[0], _refusal(what[1]), False)
        block = {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": use, "content": output, "is_error": not ok}
        message: Row = {"id": f"msg_{number}", "content": [block]}
        told.append({"type": "assistant", "uuid": f"a{number}", "timestamp": at, "sessionId": "s", "message": message})
        told.append(user | {"message": {"role": "user", "content": [result]}})
    return told


def _refusal(reason: str) -> str:
    said = f"To tell you how to proceed, the user said:\n{reason}" if reason else "STOP what you are doing"
    return f"The user doesn't want to proceed with this tool use. The tool use was rejected. {said}"


def fails(number: int) -> list[tuple[str, Any]]:
    return [("run", ("go build ./checkpoint", "import cycle not allowed: checkpoint -> store", False))] * number


def fine(number: int) -> list[tuple[str, Any]]:
    return [("run", (f"git log -{i}", f"commit {i} of a long and quiet history", True)) for i in range(number)]


def files(tmp_path: Path, session: list[Row], *labelled: Row) -> tuple[str, list[str]]:
    (tmp_path / "data").mkdir(exist_ok=True)
    line = {"session_id": "s", "events": session}
    (tmp_path / "data" / FILE).write_text(json.dumps(line) + "\n")
    common = {"file": FILE, "session": "s", "ended_by": "user"}
    (tmp_path / "moments.jsonl").write_text("".join(json.dumps(common | one) + "\n" for one in labelled))
    return str(tmp_path / "moments.jsonl"), [str(tmp_path / "data")]


def test_places_count_the_tool_uses_whatever_lies_between() -> None:
    one = lived(rows(("ask", "build it"), *fine(2), ("refuse", ("git push", "don't push")), ("ask", "go on"), *fine(1)))
    assert one.uses == 4
    assert [(heard.kind, heard.place, heard.words) for heard in one.heard] == [
        ("prompt", 0, "build it"),
        ("rejection", 2, "don't push"),
        ("prompt", 3, "go on"),
    ]
    assert [(asked.at, asked.words, asked.about) for asked in one.asked] == [(2.0, "don't push", "git push")]


def test_a_text_in_a_true_moment_is_right_and_one_in_a_healthy_stretch_is_not(tmp_path: Path) -> None:
    session = rows(("ask", "build it"), *fails(8), ("ask", "no, don't touch the parser"), *fine(6), *fails(8))
    labelled = [
        {"kind": "repeated_failure", "stuck": True, "first": 0, "last": 7, "knowable_at": 2, "ended_at": 8},
        {"kind": "healthy", "stuck": False, "first": 8, "last": 21},
        {"kind": "wrong_direction", "stuck": None, "first": 0, "last": 7},
    ]
    file, data = files(tmp_path, session, *labelled)
    figures = moments_figures.measure(file, data)
    told = lived(session).told
    right, wrong = (sum(low <= one.place <= high for one in told) for low, high in ((0, 7), (8, 21)))
    assert right > 0
    assert wrong > 0
    assert figures["texts"] == right + wrong
    assert figures["precision_per_text"] == round(right / (right + wrong), 4)
    assert figures["recall"] == 1.0
    assert figures["median_lead_calls"] == 7 - told[0].place
    assert figures["per_1000_healthy"] == round(1_000 * wrong / 14, 2)
    assert figures["by_kind"]["repeated_failure"] == {"moments": 1, "true": 1, "recall": 1.0, "with_text": 1}
    assert figures["counts"]["unclear"] == 1
    assert figures["person"]["events"] == 1


def test_what_is_said_by_default_is_counted_apart_from_what_all_senses_say(tmp_path: Path) -> None:
    session = rows(("ask", "build it"), *fine(2), ("run", ("git commit -m x --no-verify", "[main 1] x", True)))
    file, data = files(tmp_path, session, {"kind": "wrong_direction", "stuck": True, "first": 1, "last": 2})
    figures = moments_figures.measure(file, data)
    assert figures["by_sense"] == {"bypass": {"texts": 1, "right": 1}} and figures["recall"] == 1.0
    assert figures["by_default"]["texts"] == 1 and figures["by_default"]["recall"] == 1.0


def test_a_moment_teaches_where_its_end_founds_a_rule_in_the_users_words(tmp_path: Path) -> None:
    session = rows(
        ("ask", "build it"), *fine(3), ("refuse", ("mise run test:ci", "too slow.")), ("ask", "hm"), *fine(3)
    )
    common = {"kind": "wrong_direction", "stuck": True}
    labelled = [
        common | {"first": 3, "last": 3, "ended_at": 3, "teaches": "don't run CI"},
        common | {"first": 5, "last": 6, "ended_at": 6, "teaches": "no fallback agent"},
    ]
    file, data = files(tmp_path, session, *labelled)
    figures = moments_figures.measure(file, data)
    assert figures["taught"] == 0.5
    assert [(pair["rule"], pair["about"]) for pair in figures["taught_pairs"]] == [
        ("too slow.", "mise run test:ci"),
        ("", ""),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        json.dumps({"file": FILE, "session": "s", "kind": "healthy", "stuck": False, "first": 3, "last": 1}),
    ],
)
def test_a_line_that_is_no_moment_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "moments.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(InputError, match=r"Line 2 of .*moments\.jsonl"):
        moments.read(str(path))


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


def test_a_session_tells_what_a_hook_would_be_told(tmp_path: Path) -> None:
    (run,) = runs(write(tmp_path / "a.jsonl", {"session_id": "s", "events": SESSION}))
    kinds = [event.tool if isinstance(event, TranscriptCall) else "prompt" for event in run.events]
    assert kinds == ["prompt", "Bash", "Edit", "prompt", "Read"]  # by the clock; neither the host nor a refusal counts
    failed, edited, missing = run.calls
    assert (failed.ok, failed.thought, failed.refused) == (False, "I run it.", False)
    assert (edited.ok, edited.output) == (True, "updated")
    assert missing.refused
    assert edited.at - failed.at == 3.0


@pytest.mark.parametrize("content", ["", "[1]\n", '{"other": 1}\n', "no json\n"])
def test_a_file_of_another_form_gives_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.jsonl").write_text(content, "utf-8")
    (sentence,) = sources([tmp_path])
    assert isinstance(sentence, str)
    assert "a.jsonl' is passed over: " in sentence
    assert sentence.endswith(".")
