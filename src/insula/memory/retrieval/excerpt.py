"""What of a line is told where it speaks of several people: the clauses about those asked about.

"My sister lives in Lisbon. I live in Porto." tells "I live in Porto." to who asks where they live, since a model that
is shown both takes one for the other. A clause is left out only where it is surely about others. The line is told whole
where the clause that answers is not surely about those asked about, or lacks the kind of value asked for while one that
would be left out holds it ("It's for my daughter, Lison": her name).
"""

from collections.abc import Sequence
from itertools import groupby

from insula.language.owner import NOBODY, SOMEBODY
from insula.language.statements import Question, Statement
from insula.memory.retrieval.answer_kind import filled
from insula.memory.retrieval.entity_match import is_about, is_doubtful

BETWEEN = " … "
"""What stands for the clauses that were left out between two others."""
_END = ".!?。！？"


def excerpt(line: str, asked: Question, answer: Statement, stated: Sequence[Statement]) -> str:
    """What of a line is told.

    Args:
        line: what may be shown of the memory, in the user's words.
        asked: the question.
        answer: the statement of the line that likeliest answers it.
        stated: all of its statements.

    Returns:
        Its clauses but for those that are surely about others, in the words and the order of the line; the line where
        there are none such, or where it is not sure whom the answer is about.
    """
    if not asked.subjects or not is_about(asked, answer.subjects) or is_doubtful(answer):
        return line
    found = sorted(((at, one) for one in stated if (at := line.find(one.text)) >= 0), key=lambda one: one[0])
    marked = [(at, at + len(one.text), one.text not in answer.text and _is_of_others(asked, one)) for at, one in found]
    if answer.text not in line or not any(is_other for *_, is_other in marked):
        return line
    in_own = [filled(asked, one) for (_, one), mark in zip(found, marked, strict=True) if not mark[2]]
    in_others = [filled(asked, one) for (_, one), mark in zip(found, marked, strict=True) if mark[2]]
    if any(in_others) and not any(in_own):
        return line
    own = [(at, end) for at, end, is_other in marked if not is_other]
    others = [(at, end) for at, end, is_other in marked if is_other and not any(_meet(at, end, *one) for one in own)]
    runs = groupby(sorted([(*one, False) for one in own] + [(*one, True) for one in others]), key=lambda one: one[2])
    kept = [[(at, end) for at, end, _ in run] for is_other, run in runs if not is_other]
    return BETWEEN.join(_ended(line, run[0][0], max(end for _, end in run)) for run in kept) if others else line


def _is_of_others(asked: Question, one: Statement) -> bool:
    """Whether a statement is surely about others than those asked about, and does not even name them."""
    is_name = len(one.terms) < 2  # "my daughter, Lison, loves …"
    unsure = is_name or {NOBODY, SOMEBODY, ""} & one.subjects or not one.subjects or is_doubtful(one)
    return not unsure and not is_about(asked, one.subjects) and asked.subjects.isdisjoint(one.mentions)


def _meet(begin: int, end: int, other: int, last: int) -> bool:
    return begin < last and other < end


def _ended(line: str, begin: int, end: int) -> str:
    """A stretch of a line, with the mark that ends its sentence."""
    return line[begin : end + (line[end : end + 1] in _END)].strip(" ,;，、；")
