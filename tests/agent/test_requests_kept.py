"""What of a request is kept for its owner's eyes holds no secret."""

from pathlib import Path

import pytest

from insula import Metacognition
from insula.agent.chat import Chat
from insula.agent.requests import KeptRequests, split_request
from insula.llm.wire import Prompt, Role
from insula.testing import ScriptedModel


def test_an_answer_that_is_a_secret_is_not_kept_with_a_request(tmp_path: Path) -> None:
    asked = "What is the password for the router?"
    history: list[tuple[Role, str]] = [("user", "The router is broken."), ("assistant", asked)]
    parts = split_request(Prompt(prompt="Marsh-Mallow-7", history=history), "Marsh-Mallow-7")
    kept = KeptRequests(lambda _: tmp_path / "requests")
    kept.keep_request("ana", "s", 3, parts)
    held = (tmp_path / "requests").read_text("utf-8")
    assert asked in held
    assert "Mallow" not in held


@pytest.mark.anyio
async def test_what_a_session_said_before_is_kept_without_its_secrets(tmp_path: Path) -> None:
    model = ScriptedModel(
        ["Noted, 4921.", "What is the password for the router?", "Thanks, Marsh-Mallow-7 it is.", "Fine."]
    )
    async with await Metacognition.open(tmp_path / "insula.db") as mind:
        chat = Chat(mind, model, requests=KeptRequests(lambda _: tmp_path / "requests"))
        for message in ("The pin of my card is 4921.", "The router is broken.", "Marsh-Mallow-7", "What did I say?"):
            reply = await chat.reply("ana", "s", message)
            assert not reply.troubles
    held = (tmp_path / "requests").read_text("utf-8")
    assert held.count("The router is broken.") == 3
    assert "4921" not in held
    assert "Mallow" not in held


def test_a_secret_beside_memories_is_taken_out_of_a_request_that_quotes_them(tmp_path: Path) -> None:
    memory, rule = "- My sister lives in Lisbon. (2 May 2025)", "Log in with sk-proj-Zr8T4kQm2Xv7Lw9Pn3Bc6Yd1Hf5Jg0Ke."
    kept = KeptRequests(lambda _: tmp_path / "requests")
    for turn, instructions in enumerate((f"Notes:\n{memory}", f"{rule}\n\nNotes:\n{memory}")):
        parts = split_request(Prompt(instructions=instructions, prompt="Where does she live?"), "Where does she live?")
        kept.keep_request("ana", "s", turn, parts, {memory})
    held = [kept.find_request("ana", "s", turn) or [] for turn in (0, 1)]
    assert [part.text.count(memory) for parts in held for part in parts] == [1, 0, 1, 0]
    assert "Zr8T4" not in held[1][0].text
