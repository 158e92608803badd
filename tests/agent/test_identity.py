from pathlib import Path

import pytest

from insula.agent.identity import OWN, load_identity
from insula.errors import SettingsError
from insula.types import Identity

FULL = """
name = "Mira"
about = "a travel guide who answers in a few sentences"
voice = "warm"
languages = ["es", "en"]
forbidden = ["(?i)as an ai"]

[guidance]
travel = "Name prices in euro."
"""


def test_an_identity_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "identity.toml").write_text(FULL)
    assert load_identity(tmp_path / "identity.toml") == Identity(
        name="Mira",
        about="a travel guide who answers in a few sentences",
        voice="warm",
        languages=("es", "en"),
        forbidden=("(?i)as an ai",),
        guidance={"travel": "Name prices in euro."},
    )


def test_without_a_file_the_reference_agent_is_itself(tmp_path: Path) -> None:
    assert load_identity(tmp_path / "identity.toml") == OWN


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
def test_a_bad_identity_is_refused_in_a_sentence_that_names_the_file(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "identity.toml").write_text(text)
    with pytest.raises(SettingsError, match=said) as caught:
        load_identity(tmp_path / "identity.toml")
    assert "identity.toml" in str(caught.value)


def test_a_file_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="There is no identity file"):
        load_identity(tmp_path / "identity.toml", required=True)
