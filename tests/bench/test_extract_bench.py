"""The bench of what a model reads: it counts what a conversation is worth before and after, and what was refused."""

import json
from pathlib import Path

from harness import run_insula

CONVERSATION = {
    "id": "one",
    "language": "en",
    "lines": [
        {"n": 1, "who": "user", "text": "Make a list without milk, since Theo can't drink milk."},
        {"n": 2, "who": "assistant", "text": "Here it is."},
        {"n": 3, "who": "user", "text": "Thanks, and bullet points from you for all lists pls."},
    ],
    "questions": [
        {"ask": "What can't Theo drink?", "answer": "milk", "kind": "known"},
        {"ask": "What is my sister called?", "answer": None, "kind": "unknown"},
    ],
    "preferences": [{"ask": "A list of rivers?", "must": "bullet points", "or": "nothing"}],
}
ANSWER = {
    "statements": [
        {"line": 1, "span": "Theo can't drink milk", "owner": "Theo", "matter": "what he can't drink"},
        {"line": 1, "span": "Theo can't drink wine", "owner": "Theo"},
    ],
    "ended": [],
    "preferences": [{"line": 3, "span": "bullet points from you for all lists pls", "scope": "every answer"}],
}


def test_what_was_read_is_counted_beside_what_was_not(tmp_path: Path) -> None:
    data, answers = tmp_path / "data.jsonl", tmp_path / "answers.jsonl"
    data.write_text(json.dumps(CONVERSATION))
    answers.write_text(json.dumps({"id": "one", "answer": ANSWER}))
    found = run_insula("bench", "extract", "--data", data, "--answers", answers, "--json").json
    assert [found[arm]["all"]["right"] for arm in ("neither", "extraction", "both")] == [0, 1, 1]
    assert found["both"]["all"]["told"] == 1
    assert found["check"]["both"]["refused"] == {"not the user's words": 1}
    assert found["check"]["hostile"]["invented"] == 0
