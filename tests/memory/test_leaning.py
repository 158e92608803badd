"""Whether a line bears on a question that it does not plainly answer: by odds, and less the more there is."""

from insula.memory.assertion import questions, statements
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.leaning import LEAST, is_likely, leaning
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
