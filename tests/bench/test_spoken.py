"""The hook driven over recorded sessions: the same texts as from the client itself, and the verdicts on them."""

import json
from pathlib import Path
from typing import Any

from insula_bench.sessions import Recording, drive, events, recordings
from insula_bench.spoken import FALSE, USEFUL, USELESS, measure, verdicts

WORK = "/home/dev/project"


def claude_code(*steps: tuple[str, str, str, bool]) -> list[dict[str, Any]]:
    """Lines of a transcript of newer clients, each a call of a message of its own: tool, input, output, failed."""
    rows: list[dict[str, Any]] = [
        {
            "type": "user",
            "cwd": WORK,
            "timestamp": "2026-01-05T10:00:00Z",
            "message": {"content": "mend it"},
            "uuid": "u",
        }
    ]
    for number, (tool, given, output, failed) in enumerate(steps):
        at = f"2026-01-05T10:{number:02}"
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": json.loads(given)}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": output, "is_error": failed}
        message = {"id": f"msg_{number}", "role": "assistant", "content": [use]}
        rows.append({"message": message, "uuid": f"a{number}", "timestamp": f"{at}:10Z", "type": "assistant"})
        given_back = {"role": "user", "content": [result]}
        rows.append({"type": "user", "uuid": f"b{number}", "timestamp": f"{at}:20Z", "message": given_back})
    said = {"id": "msg_end", "role": "assistant", "content": [{"type": "text", "text": "It still fails."}]}
    rows.append({"message": said, "uuid": "end", "timestamp": "2026-01-05T11:00:00Z", "type": "assistant"})
    return rows


FAILS = ("Bash", '{"command": "npm run build"}', "Exit code 1\nError: cannot find module 'left-pad'", True)
EDIT = ("Edit", f'{{"file_path": "{WORK}/src/a.ts", "old_string": "a", "new_string": "b"}}', "updated", False)
EDITS = [(EDIT[0], EDIT[1].replace('"b"', f'"b{number}"'), *EDIT[2:]) for number in range(4)]


def test_a_recording_is_told_to_the_hook_as_its_client_told_it() -> None:
    names = [event.name for event in events(Recording("p", "s", "claude-code", claude_code(FAILS, EDIT)))]
    assert names == [
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure", "PostToolBatch"),
        *("PreToolUse", "PostToolUse", "PostToolBatch", "Stop"),
    ]


def test_what_the_hook_says_in_a_recording_is_found_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "acme+shop"
    folder.mkdir()
    rows = claude_code(*(step for edit in EDITS for step in (FAILS, edit)))
    (folder / "0123abcd.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (recording,) = recordings(str(tmp_path))
    driven = drive(recording)
    assert driven.calls == 8
    assert [(one.sense, one.call, one.host) for one in driven.said] == [("nociception", 5, "claude-code")]
    assert measure([str(tmp_path)])["senses"]["nociception"] == {
        "texts": 1,
        USEFUL: 0,
        USELESS: 0,
        FALSE: 0,
        "not judged": 1,
    }


def test_the_table_holds_no_word_of_others() -> None:
    for verdict in verdicts():
        assert verdict.verdict in {USEFUL, USELESS, FALSE} and verdict.why
        assert verdict.text.replace("`…`", "").count("`") in {0, 2, 4}, verdict.text
