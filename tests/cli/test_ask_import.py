"""`insula ask` and `insula memory import`, as their users meet them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula as insula

from insula.testing import FakeServer


def test_one_question_gets_one_answer_with_what_it_rests_on() -> None:
    assert insula("ask", "My sister Ana lives in Lisbon.")[0] == 0
    code, out, _ = insula("ask", "Where does Ana live?")
    assert (code, "Lisbon" in out, len(out.splitlines())) == (0, True, 1)
    answer = json.loads(insula("ask", "--json", stdin="Where does Ana live?")[1])
    assert answer["sources"] == ["My sister Ana lives in Lisbon."]
    assert (answer["confidence"]["level"], answer["saved"]) == ("high", [])


def test_nothing_is_learned_of_a_text_that_is_asked_about() -> None:
    with FakeServer(answer="A letter.") as model:
        asked = insula("ask", "What is this?", "--model", f"{model.url}#fake", stdin="I live in Braga.\nYours, Ben")
    assert asked[:2] == (0, "A letter.\n")
    assert "Braga" in str(model.requests[-1])
    assert [one["content"] for one in json.loads(insula("memory", "--transcript", "--json")[1])] == [
        "A letter.",
        "What is this?",
    ]


def chatgpt(*said: tuple[str, str]) -> list[dict[str, Any]]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    parent = "root"
    for number, (role, text) in enumerate(said):
        message = {
            "id": f"m{number}",
            "author": {"role": role},
            "create_time": 1_767_614_400.0 + number,
            "content": {"content_type": "text", "parts": [text]},
        }
        nodes[f"n{number}"] = {"id": f"n{number}", "message": message, "parent": parent}
        parent = f"n{number}"
    return [{"title": "Talk", "conversation_id": "c1", "mapping": nodes, "current_node": parent}]


TALK = (("system", "Be nice."), ("user", "Hello."), ("assistant", "Where do you live?"), ("user", "In Porto."))
EXPORTS: dict[str, Any] = {
    "ChatGPT": chatgpt(*TALK),
    "Claude": [
        {
            "uuid": "c1",
            "chat_messages": [
                {"uuid": str(number), "sender": {"user": "human"}.get(role, role), "text": text}
                for number, (role, text) in enumerate(TALK[1:])
            ],
        }
    ],
    "mem0": {"results": [{"id": "1", "memory": "Hello."}, {"id": "2", "memory": "In Porto."}]},
    "messages": [{"role": role, "content": text} for role, text in TALK[1:]],
}


@pytest.mark.parametrize("program", EXPORTS)
def test_what_was_said_to_another_program_is_taken_in_once(program: str, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    value = EXPORTS[program]
    file.write_text("\n".join(map(json.dumps, value)) if program == "messages" else json.dumps(value))
    dry = json.loads(insula("memory", "import", str(file), "--dry-run", "--json")[1])
    assert dry == {"program": program, "conversations": 1, "messages": 2}
    assert json.loads(insula("memory", "--transcript", "--json")[1]) == []
    assert json.loads(insula("memory", "import", str(file), "--json")[1])["added"] == 2
    assert json.loads(insula("memory", "import", str(file), "--json")[1])["added"] == 0
    kept = json.loads(insula("memory", "--transcript", "--json")[1])
    assert [one["content"] for one in kept] == ["In Porto.", "Hello."]


def test_a_zip_as_it_was_downloaded_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
        packed.writestr("conversations.json", json.dumps(EXPORTS["ChatGPT"]))
        packed.writestr("chat.html", "<html>")
    assert "2 added" in insula("memory", "import", str(tmp_path / "export.zip"))[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"chats": []}]', "no version that is known here (its first entry holds: chats)"),
        ('[{"mapping": {}}]', "holds no message"),
        ('[{"mapping": ', "damaged or no export"),
        ("", "damaged or no export"),
        ("[]", "holds no message"),
    ],
)
def test_an_export_that_is_not_known_says_what_is(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(text)
    code, _, err = insula("memory", "import", str(tmp_path / "export.json"))
    assert (code, why in err, "give ChatGPT's or Claude's" in err) == (1, True, True)


def test_a_link_that_leads_out_of_its_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "secret.jsonl").write_text('{"role": "user", "content": "My pin is 4711."}\n')
    (tmp_path / "repository" / "talk.jsonl").symlink_to(tmp_path / "secret.jsonl")
    code, out, err = insula("memory", "import", str(tmp_path / "repository" / "talk.jsonl"))
    assert (code, out) == (1, "")
    assert "a link that leads out of its folder" in " ".join(err.split())
