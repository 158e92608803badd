"""Whether a user is displeased."""

import pytest

from insula.text.displeasure import displeasure

ASKED, FAILED = "I need a hotel in the north.", "I am sorry, there are no hotels in the north."
DONE = "The Ashley is a fine hotel in the north."


@pytest.mark.parametrize(
    ("displeased", "pleased"),
    [
        (("No, that is not what I asked for.", ASKED, DONE), ("Great, thank you!", ASKED, DONE)),
        (("Are there really none? Try another one.", ASKED, FAILED), ("Book it for two, please.", ASKED, DONE)),
        (("I don't care for that one.", ASKED, DONE), ("I don't care for noise.", "", "")),
        (("Nein, das ist nicht richtig.", "Wo ist das Hotel?", "Im Norden."), ("Super, danke!", "Wo?", "Im Norden.")),
    ],
    ids=["rejection", "failure", "later than the first message", "German"],
)
def test_the_displeased_score_higher(displeased: tuple[str, str, str], pleased: tuple[str, str, str]) -> None:
    assert displeasure(*displeased) > displeasure(*pleased)


@pytest.mark.parametrize("message", ["", "!", "?" * 5_000, "不" * 3_000])
def test_any_message_gets_a_probability(message: str) -> None:
    assert 0.0 <= displeasure(message, "", "") <= 1.0
