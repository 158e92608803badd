"""Whether a line bears on a question that it does not plainly answer: by odds, and less the more there is."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from insula.memory.assertion import questions, statements
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.leaning import LEAST, is_likely, leaning, least_cosine
from insula.memory.matter import LIKELY, beyond_chance, by_chance
from insula.memory.near import Near
from insula.text.analysis import analyse

QUESTION = questions(analyse("What kind of home do I have?"), USER, ASSISTANT)[0]
STATEMENT = statements(analyse("We bought an old watermill by the sea."), USER, ASSISTANT)[0]


def test_what_lacks_the_value_or_is_only_planned_bears_less() -> None:
    near = Near(0.1, common=0.1, cosine=0.3)
    plain = leaning(QUESTION, STATEMENT, near, lacks=False)
    assert leaning(QUESTION, STATEMENT, near, lacks=True) < plain
    assert leaning(QUESTION, STATEMENT._replace(modality="plan"), near, lacks=False) < plain
    assert leaning(QUESTION, STATEMENT, Near(0.1, common=0.1, cosine=0.1), lacks=False) < plain


def test_the_more_is_remembered_the_more_must_speak_for_a_line() -> None:
    assert is_likely(LEAST, 1)
    assert not is_likely(LEAST, 100)
    assert is_likely(LEAST + 5, 100)
    assert not is_likely(LEAST - 0.1, 1)


@pytest.mark.parametrize("memories", [1, 100, 100_000])
def test_below_the_least_cosine_nothing_makes_a_line_likely_and_above_it_all_does(memories: int) -> None:
    telling = STATEMENT._replace(terms=frozenset(map(str, range(20))))
    least = least_cosine(memories)
    for cosine, likely in ((least - 0.01, False), (least + 0.01, True)):
        odds = leaning(QUESTION, telling, Near(1.0, common=1.0, cosine=cosine), lacks=False)
        assert is_likely(odds, memories) == likely


@given(st.floats(-0.3, 1), st.integers(0, 10**6))
def test_what_is_near_beyond_chance_is_so_by_the_count_of_those_as_near(fit: float, memories: int) -> None:
    assume(abs(fit - beyond_chance(memories)) > 1e-9)
    assert (fit >= beyond_chance(memories)) == (by_chance(fit, memories) <= LIKELY)
