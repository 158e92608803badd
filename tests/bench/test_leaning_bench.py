"""The fit of the head that tells whether a line bears on a question, on pairs made up for it."""

from insula.memory.leaning import NAMES
from insula_bench.leaning import Pair, fit


def pair(number: int, cosine: float, memory: int = 1, *, answers: bool, lacks: float = 0.0) -> Pair:
    values = tuple(cosine if name == "cosine" else lacks if name == "lacks" else 0.0 for name in NAMES)
    return Pair("dev", number, memory, values, answers, unrelated=False)


def test_what_answering_lines_have_is_weighed_for_and_what_they_lack_against() -> None:
    pairs = [pair(number, 0.5 + number % 3 / 10, answers=True) for number in range(30)]
    pairs += [pair(number, 0.1 + number % 3 / 10, 2, answers=False, lacks=number % 2) for number in range(30)]
    head = dict(zip((*NAMES, "intercept"), fit(pairs).tolist(), strict=True))
    assert head["cosine"] > 0 > head["lacks"]


def test_of_a_line_of_several_statements_only_the_likeliest_counts_as_the_answer() -> None:
    pairs = [pair(number, 0.6, answers=True) for number in range(30)]
    pairs += [pair(number, 0.1, 2, answers=False) for number in range(30)]
    alone = fit(pairs)
    beside = [pair(number, 0.05, answers=True) for number in range(30)]
    assert abs(fit([*pairs, *beside])[0] - alone[0]) < abs(alone[0]) / 10
