"""Whether a user corrects the assistant."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula.text.analysis import warm_up
from insula.text.corrections import MAX_WANTED, THRESHOLD, MessageCorrection, correction_likeness, judge_correction

CASES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("corrections.json").read_text("utf-8"))
"""Per language: what corrects and what does not after the response `stated`, and what answers the question `asked`."""

STATED: dict[str, str] = {language: cases["stated"] for language, cases in CASES.items()}

LEAST_PRECISION, LEAST_RECALL, LEAST_RECALL_OF_HARDER = 0.9, 0.88, 0.8


@pytest.mark.parametrize("language", CASES)
def test_corrections_are_told_from_other_messages_in_eight_languages(language: str) -> None:
    cases = CASES[language]
    positive: list[str] = cases["corrections"]
    negative = [(line, cases["stated"]) for line in cases["others"]]
    negative += [(line, cases["asked"]) for line in cases["answers"]]
    missed = [line for line in positive if not judge_correction(line, "", cases["stated"]).kind]
    false = [line for line, response in negative if judge_correction(line, "", response).kind]
    hits = len(positive) - len(missed)
    assert min(len(positive), len(negative)) >= 15
    assert hits / len(positive) >= LEAST_RECALL, missed
    assert hits / (hits + len(false)) >= LEAST_PRECISION, false


def test_most_of_a_second_set_of_rarer_phrases_is_told_as_well() -> None:
    counts = {"hits": 0, "corrections": 0, "false": 0}
    for cases in CASES.values():
        for name, line in ((name, line) for name, lines in cases["harder"].items() for line in lines):
            spoke = bool(judge_correction(line, "", cases["stated"]).kind)
            counts["corrections"] += name == "corrections"
            counts["hits" if name == "corrections" else "false"] += spoke
    assert counts["hits"] / counts["corrections"] >= LEAST_RECALL_OF_HARDER
    assert counts["hits"] / (counts["hits"] + counts["false"]) >= LEAST_PRECISION


@pytest.mark.parametrize(
    ("message", "kind", "wanted"),
    [
        ("No, it was 1969.", "correction", "it was 1969"),
        ("No. Use tabs.", "correction", "Use tabs"),
        ("You misunderstood me. I want the opening hours.", "correction", "I want the opening hours"),
        ("I meant the museum in Berlin", "correction", "the museum in Berlin"),
        ('Use "colour" instead of "color", please.', "correction", 'Use "colour" instead of "color", please'),
        ("That's not what I asked for.", "rejection", ""),
        ("Why did you use feet?", "rejection", ""),
        ("From now on, please answer in Spanish.", "instruction", "answer in Spanish"),
        ("Thanks, but please don't use emojis.", "instruction", "don't use emojis"),
        ("I'd prefer short answers", "instruction", "I'd prefer short answers"),
        ("メートルでと言いました。", "correction", "メートルで"),
        ("以后请用米回答。", "instruction", "用米回答"),
    ],
)
def test_it_says_of_which_kind_a_correction_is_and_what_is_wanted_verbatim(
    message: str, kind: str, wanted: str
) -> None:
    found = judge_correction(message, "", STATED["en"])
    assert (found.kind, found.wanted) == (kind, wanted)
    assert found.wanted in message


def test_the_same_request_in_other_words_after_an_apology_is_a_repair() -> None:
    found = judge_correction(
        "set the subject to hello there", "set the subjects to hello there", "Sorry, I don't know."
    )
    assert found.kind == "repair"
    assert found.cues == ("failed", "similar", "retried")
    assert not found.wanted


def test_the_next_question_of_the_same_form_is_no_repair() -> None:
    assert not judge_correction("What is the capital of Spain?", "What is the capital of France?", "It is Paris.").kind
    assert not judge_correction("next email", "next email", "Here is the next email.").kind


def test_an_apology_alone_corrects_nothing() -> None:
    assert not judge_correction("Write a poem about rain.", "Book a table", "Sorry, I can't book tables.").kind


def test_what_answers_the_assistants_own_question_corrects_nothing() -> None:
    assert not judge_correction("No, coffee.", "", "Do you want tea?").kind
    assert judge_correction("No, coffee.", "", "Here is a cup of tea.").kind
    assert judge_correction("That's wrong, I asked for coffee.", "", "Here is your tea. Do you want milk?").kind


@pytest.mark.parametrize(
    "message",
    [
        "The doctor told me that it is not good to smoke",
        "Translate this: `that's wrong`",
        "> That's not what I asked for.\nHow would you answer this mail?",
        "```\n# that's wrong, don't use this\n```",
        "I asked my mother and she said no.",
        "When I said goodbye she cried.",
        "Do you remember what I said about Rome?",
        "You didn't need to do that, thank you!",
        "No, thanks.",
        "Don't you think it's nice?",
    ],
)
def test_news_quotations_and_courtesies_correct_nothing(message: str) -> None:
    assert not judge_correction(message, "", STATED["en"]).kind


def test_before_the_assistant_said_anything_only_a_standing_wish_counts() -> None:
    assert not judge_correction("No, that's wrong. I meant the other one.", "", "").kind
    assert judge_correction("From now on answer in Spanish.", "", "").kind == "instruction"


def test_a_message_too_short_to_tell_its_language_is_read_in_that_of_the_conversation() -> None:
    assert judge_correction("Falsch!", "", STATED["de"]).kind == "rejection"
    assert judge_correction("No, rojo", "", STATED["es"]).wanted == "rojo"


def test_the_assistants_words_are_no_evidence_of_what_is_wanted() -> None:
    found = judge_correction("no", "", "From now on I will use metric units. That's wrong.")
    assert found.kind == "rejection"
    assert not found.wanted


TEXTS = st.text(max_size=300) | st.sampled_from([line for cases in CASES.values() for line in cases["corrections"]])


@given(TEXTS, TEXTS, TEXTS)
def test_a_score_is_a_share_and_everything_else_follows_from_it(message: str, previous: str, response: str) -> None:
    found = judge_correction(message, previous, response)
    assert 0 <= found.score <= 1
    assert bool(found.kind) == (found.score >= THRESHOLD)
    assert found.wanted in message
    assert len(found.wanted) <= MAX_WANTED


@given(TEXTS, TEXTS)
def test_alike_is_symmetric_and_a_share(one: str, other: str) -> None:
    assert correction_likeness(one, other) == pytest.approx(correction_likeness(other, one))
    assert 0 <= correction_likeness(one, other) <= 1


def test_nothing_said_corrects_nothing() -> None:
    assert judge_correction("", "", "") == MessageCorrection(0.0, "", "", ())


@pytest.mark.parametrize(
    "piece",
    ["that's wrong, ", "no no no ", "`", '"', "a", "not a b,", "不", "ではなく", "i ", "ok, ", "\n", "> ", "ich "],
)
def test_long_messages_are_read_in_bounded_time(piece: str) -> None:
    def read(text: str) -> None:
        judge_correction(text, text, text)
        correction_likeness(text, text)

    warm_up()
    for stated in STATED.values():
        judge_correction("No.", "", stated)
    assert growth(read, lambda size: piece * (size // len(piece)), 200_000) <= LINEAR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use metric units", "Use metric units, not imperial ones"),
        ("don't use emojis", "no emojis, please"),
        ("stop using emojis", "without emojis"),
        ("always answer in Spanish", "reply in Spanish from now on"),
        ("keine Emojis", "Emojis bitte nicht verwenden"),
        ("no uses emojis", "sin emojis, por favor"),
        ("不要用表情", "别用表情符号"),
        ("絵文字を使わないで", "絵文字は使わないでください"),
    ],
)
def test_the_same_wish_in_other_words_is_alike(one: str, other: str) -> None:
    assert correction_likeness(one, other) >= 0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use emojis", "don't use emojis"),
        ("more detail", "less detail"),
        ("with sugar", "without sugar"),
        ("answer in Spanish", "answer in French"),
        ("verwende Emojis", "verwende keine Emojis"),
        ("用表情", "不要用表情"),
        ("絵文字を使って", "絵文字を使わないで"),
        ("use tabs", ""),
    ],
)
def test_opposite_or_other_wishes_are_not_alike(one: str, other: str) -> None:
    assert correction_likeness(one, other) <= 0.3


def test_two_corrections_are_compared_by_what_they_want() -> None:
    first = judge_correction("No, use metric units.", "", STATED["en"])
    again = judge_correction("From now on, please use metric units!", "", STATED["en"])
    rejection = judge_correction("That's wrong.", "", STATED["en"])
    assert correction_likeness(first, again) == pytest.approx(1.0)
    assert correction_likeness(rejection, first) == 0


# What counts as the assistant's failure, behind which a message said anew is a repair


ASKED, ANEW = "send an email to John", "send a new email to John"


def test_an_apology_that_opens_the_response_makes_what_is_said_anew_a_repair() -> None:
    assert judge_correction(ANEW, ASKED, "Sorry, but I don't understand.").kind == "repair"
    assert "failed" in judge_correction("forget it all", "forget that", "There is nothing that I can cancel.").cues


def test_an_apology_further_on_is_somebody_elses() -> None:
    mail = "Recipient list: Dana, Oscar, Petra. Sender: Bob. Subject: Hello from Lisbon. Body: Hi, how are you today? "
    found = judge_correction("read the next email", "read the email", f"{mail}Sorry I missed you on Friday.")
    assert "failed" not in found.cues
