"""Whether two of a user's words to an agent ask for the same."""

import pytest

from insula.coding.step.corrections import SAME, measure_likeness


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
    assert measure_likeness(one, other) >= SAME
    assert measure_likeness(one, other) == pytest.approx(measure_likeness(other, one))


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
    assert measure_likeness(one, other) < SAME


def test_what_was_turned_down_tells_what_few_words_are_about() -> None:
    assert measure_likeness("too slow.", "too slow.", "mise run test:ci", "npm run build") < SAME
    slow = "don't run CI or integration tests, too slow."
    assert measure_likeness(slow, "too slow.", "mise run test:ci", "mise run test:integration") >= SAME
