"""Which senses speak until a person switches them, by what was judged of their texts; and what notes were worth."""

import pytest
from sessions import EVERY

from insula.cli.worth import summarize_worth
from insula.coding.replay.worth import SHARE, TURNS, EffectRow, HookWorth, make_row
from insula.coding.step.senses.register import DEFAULT, FEWEST, MEASURED, SenseMeasurement, list_reasons
from insula.worth import compare_outcomes, make_amounts, make_rate


def test_every_sense_stands_in_the_table_once() -> None:
    assert sorted(row.sense for row in MEASURED) == sorted(EVERY)
    assert sorted(DEFAULT) == ["against_words", "bypass", "nociception", "told_again", "unmet", "vestibular"]


@pytest.mark.parametrize(
    ("useful", "useless", "false", "kinds", "speaks"),
    [
        *((14, 4, 2, 5, True), (14, 3, 3, 5, False), (13, 7, 0, 5, False), (19, 0, 0, 5, False), (0, 0, 0, 0, False)),
        *((140, 40, 20, 9, True), (140, 40, 20, 4, False)),
    ],
)
def test_a_sense_speaks_by_the_texts_that_were_judged(
    useful: int, useless: int, false: int, kinds: int, speaks: bool
) -> None:
    measured = SenseMeasurement(sense="x", useful=useful, useless=useless, false=false, kinds=kinds)
    assert measured.speaks_by_default is speaks


def test_a_sense_that_is_kept_says_that_it_is_below_the_bar() -> None:
    kept = SenseMeasurement(sense="x", useful=FEWEST - 3, false=3, kinds=5, kept="you count on it")
    assert kept.speaks_by_default
    assert kept.explain_default(True) == "17 of 20 notes useful, 3 false; below the bar; on: you count on it"
    few = SenseMeasurement(sense="x", useful=2, kinds=1)
    assert few.explain_default(False) == "2 of 2 notes useful, 0 false; too few to decide"


def test_a_person_is_told_why_a_sense_speaks_or_does_not() -> None:
    told = list_reasons(DEFAULT | {"o2"}, True)
    assert "nociception (" in told and "o2 (" in told and "switched by you" in told
    assert "chronos (" in list_reasons(DEFAULT, False) and "chronos (" not in told


def rules(told: tuple[int, int], held: tuple[int, int]) -> EffectRow:
    """The row of rules, from how many of how many sessions went wrong with and without."""
    return make_row("rules", SHARE, compare_outcomes(make_rate(*told), make_rate(*held)))


def notes(told: float, held: float) -> EffectRow:
    """The row of notes, from the turns that each trouble took with and without."""
    outcomes = (make_amounts([turns] * 40, 25) for turns in (told, held))
    return make_row("notes", TURNS, compare_outcomes(*outcomes))


@pytest.mark.parametrize(("told", "held", "said"), [(2.0, 15.0, "works"), (15.0, 2.0, "hurts"), (6.0, 6.0, "")])
def test_turns_until_it_is_over_are_compared(told: float, held: float, said: str) -> None:
    row = notes(told, held)
    assert row.verdict == said if said else row.verdict not in {"works", "hurts"}
    assert row.conclusion.startswith(
        f"troubles ended {abs(held - told):.1f} turns {'later' if told > held else 'sooner'}"
    )


def test_nothing_is_claimed_where_nothing_was_compared() -> None:
    lines = list(summarize_worth(HookWorth(days=7, effects=[rules((2, 10), (0, 0))])))
    assert lines[-1] == "Too few sessions to tell whether they help: it takes about 30 with and 30 without."


@pytest.mark.parametrize(
    ("less", "low", "high", "said"),
    [
        (-0.5, -0.93, 0.54, "failures rose by 50 points (between -54 and +93: "),
        (0.12, -0.32, 0.88, "failures fell by 12 points (between -32 and +88: "),
        (-0.5, -0.93, 0.0, "failures rose by 50 points (between +0 and +93: "),
    ],
)
def test_an_interval_has_the_sign_of_what_is_said_before_it(less: float, low: float, high: float, said: str) -> None:
    row = EffectRow(
        what="rules", unit="share", told=9, withheld=9, less=less, low=low, high=high, verdict="works", least=0.6
    )
    assert row.conclusion.startswith(said)
