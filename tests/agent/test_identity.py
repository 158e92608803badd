"""Who the agent is: read from a file of the user's, told to the model, and refused in a sentence."""

from pathlib import Path

import pytest
from harness import Ran, run_insula

from insula.testing import FakeServer

FULL = """
name = "Mira"
about = "a travel guide who answers in a few sentences"
voice = "warm"
languages = ["es", "en"]
forbidden = ["(?i)as an ai"]

[guidance]
travel = "Name prices in euro."
"""


def ask(message: str, answer: str = "Fine.") -> tuple[Ran, str]:
    """Say something to the agent; what came of it, and what its model was told."""
    with FakeServer(answer=answer) as model:
        ran = run_insula("chat", "--model", f"{model.url}#fake", "--json", stdin=f"{message}\n")
        return ran, str(model.requests[-1]) if model.requests else ""


def test_an_identity_is_read_whole(home: Path) -> None:
    (home / "identity.toml").write_text(FULL)
    _, told = ask("I want to travel to Rome.")
    for part in ("You are Mira, a travel guide who answers in a few sentences.", "warmly", "Name prices in euro."):
        assert part in told
    assert "Name prices in euro." not in ask("What is a good name for a cat?")[1]
    plain, odd = (ask("How tall is it?", answer)[0].lines[0] for answer in ("It is tall.", "As an AI, it is tall."))
    assert plain["assessment"]["score"] > odd["assessment"]["score"]


def test_without_a_file_the_reference_agent_is_itself() -> None:
    assert "You are Insula, a helpful assistant." in ask("Hello.")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = 3", "bad 'name'"),
        ('voice = "loud"', "bad 'voice'"),
        ('colour = "red"', "unknown 'colour'"),
        ('forbidden = ["("]', "no regular expression"),
        ("name = ", "cannot be read"),
    ],
)
def test_a_bad_identity_is_refused_in_a_sentence_that_names_the_file(home: Path, text: str, said: str) -> None:
    (home / "identity.toml").write_text(text)
    ran, _ = ask("Hello.")
    assert ran.status == 1
    assert said in " ".join(ran.err.split())
    assert "identity.toml" in ran.err


def test_a_file_that_was_asked_for_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_IDENTITY", str(tmp_path / "identity.toml"))
    assert "There is no identity file" in " ".join(ask("Hello.")[0].err.split())
