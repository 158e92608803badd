"""`insula bench changes`: what it counts of a change, and of what changes nothing."""

from typing import Any

from insula_bench.changes import NEW, OLD, Judged, judge_row

ROW: dict[str, Any] = {
    "old": "Our rent is 900 euros a month.",
    "new": "Rent's 950 from May.",
    "asks": ["How much is our rent?"],
    "apart": [
        "My sister moved to Turin.",
        "I don't drink coffee any more.",
        "The kitchen is tiny.",
        "A coat was 900 euros.",
    ],
}


def test_a_row_is_told_in_turn_and_both_lines_of_the_change_stand_before_the_others() -> None:
    (judged,) = judge_row(ROW, "en")
    assert judged.odds.keys() == set(range(OLD, OLD + 6))
    assert list(judged.order[:2]) == [NEW, OLD]


def test_lines_stand_in_order_the_newer_of_two_alike_first_and_far_ones_not_at_all() -> None:
    judged = Judged({OLD: 1.0, NEW: 1.0, 3: 0.5, 4: -4.0}, {})
    assert list(judged.order) == [NEW, OLD, 3]
