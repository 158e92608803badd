"""What of a request is kept for its owner's eyes holds no secret."""

from pathlib import Path

from insula.agent.requests import KeptRequests, split_request
from insula.llm.wire import Prompt, Role


def test_neither_an_answer_that_is_a_secret_nor_its_echo_is_kept_with_a_request(tmp_path: Path) -> None:
    asked = "What is the password for the router?"
    history: list[tuple[Role, str]] = [
        ("user", "The pin of my card is 4921."),
        ("assistant", "Noted, 4921."),
        ("assistant", asked),
    ]
    parts = split_request(Prompt(prompt="Marsh-Mallow-7", history=history), "Marsh-Mallow-7")
    kept = KeptRequests(lambda _: tmp_path / "requests")
    kept.keep_request("ana", "s", 3, parts)
    held = (tmp_path / "requests").read_text("utf-8")
    assert asked in held
    assert "4921" not in held
    assert "Mallow" not in held
