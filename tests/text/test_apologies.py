"""What counts as the assistant's failure, behind which a message said anew is a repair."""

from insula.text.corrections import judge_correction

ASKED, ANEW = "send an email to John", "send a new email to John"


def test_an_apology_that_opens_the_response_makes_what_is_said_anew_a_repair() -> None:
    assert judge_correction(ANEW, ASKED, "Sorry, but I don't understand.").kind == "repair"
    assert "failed" in judge_correction("forget it all", "forget that", "There is nothing that I can cancel.").cues


def test_an_apology_further_on_is_somebody_elses() -> None:
    mail = "Recipient list: Dana, Oscar, Petra. Sender: Bob. Subject: Hello from Lisbon. Body: Hi, how are you today? "
    found = judge_correction("read the next email", "read the email", f"{mail}Sorry I missed you on Friday.")
    assert "failed" not in found.cues
