"""What a user's words to an agent ask for, by a table made by hand, and whether two of them ask for the same."""

import json
from pathlib import Path

import pytest

from insula.step.correction import CORRECTION, INTERRUPT, LONGEST, PROMPT, REJECTION, RULE, read
from insula.step.meaning import SAME, alike

TABLE = [json.loads(line) for line in Path(__file__).with_name("corrections.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case['language']} {case['words'][:40]}")
def test_words_are_read_as_by_hand_in_eight_languages(case: dict[str, str]) -> None:
    assert read(case["words"], case["how"]).kind == case["kind"]


def test_the_words_of_a_rule_are_the_users_own() -> None:
    said = "hmm no. Don't run CI or integration tests, too slow. What did the linter say?"
    assert read(said).words == "Don't run CI or integration tests, too slow."


def test_a_long_rule_is_cut_between_words() -> None:
    words = read("never " + "touch the generated files " * 12, REJECTION).words
    assert len(words) <= LONGEST
    assert words.endswith("…")


@pytest.mark.parametrize("words", ["lint fail", "the tests are failing"])
def test_a_failing_check_is_a_report_only_after_the_agent_has_acted(words: str) -> None:
    assert read(words).kind == RULE
    assert read(words, acted=False).kind == ""


def test_the_first_words_of_a_session_found_a_rule_only_where_they_say_that_it_lasts() -> None:
    assert read("no, use the old parser", acted=False).kind == ""
    assert read("From now on use pnpm.", acted=False).kind == RULE


@pytest.mark.parametrize("words", ["", "…", "?", "🙂", "a" * 100_000, "no " * 5_000])
def test_anything_can_be_read(words: str) -> None:
    assert len(read(words).words) <= LONGEST
    read(words, INTERRUPT)


@pytest.mark.parametrize(
    ("words", "how"),
    [
        ("is 241 really still a problem?", REJECTION),
        ("I've done it - keep going", REJECTION),
        ("are you sure?", PROMPT),
    ],
)
def test_a_correction_without_a_rule_founds_none(words: str, how: str) -> None:
    assert read(words, how) == read("still broken")
    assert read(words, how).kind == CORRECTION


# Whether two ask for the same.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Don't commit unless I ask you to.", "no unasked commits please"),
        ("and remember to use pagination", "check with pagination"),
        ("run test:ci, not the unit tests alone", "no, I said run test:ci, not just the unit tests"),
        ("No hagas commit sin preguntarme.", "no vuelvas a hacer commits sin preguntar"),
        ("Ne commite jamais sans me demander.", "pas de commit sans demander"),
        ("Fass die generierten Dateien niemals an.", "generierte Dateien nicht anfassen"),
        ("Não faça commit sem me perguntar.", "não faça commits sem perguntar"),
        ("Non fare commit senza chiedermelo.", "mai fare commit senza chiedere"),
        ("不要提交代码", "别提交代码！"),
        ("許可なくコミットしないでください。", "勝手にコミットしないで"),
    ],
)
def test_the_same_wish_in_other_words_is_the_same(one: str, other: str) -> None:
    assert alike(one, other) >= SAME
    assert alike(one, other) == pytest.approx(alike(other, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("don't commit", "commit first"),
        ("don't run the integration tests", "run the integration tests"),
        ("don't commit unless I ask", "don't push to main"),
        ("use our logger, not print", "use vitest here, not jest"),
        ("don't touch the generated files", "don't touch the config files"),
        ("nicht committen", "zuerst committen"),
        ("不要提交代码", "提交代码"),
    ],
)
def test_another_wish_or_its_opposite_is_not_the_same(one: str, other: str) -> None:
    assert alike(one, other) < SAME


def test_what_was_turned_down_tells_what_few_words_are_about() -> None:
    assert alike("too slow.", "too slow.", "mise run test:ci", "npm run build") < SAME
    slow = "don't run CI or integration tests, too slow."
    assert alike(slow, "too slow.", "mise run test:ci", "mise run test:integration") >= SAME
