"""Demands that stand by themselves beside what is asked: "ten words max: …", "bulleted, please", "…, no more".

A clause demands where nothing is left of it beside the demand but words that only carry one ("please", "in", "your
answer"): what is said of other texts leaves a subject or a verb.
"""

import re
from collections.abc import Iterator, Sequence
from typing import cast

from insula.text.analysis import words_of
from insula.text.constraint_phrases import ABSENT, ALONE, BOUNDS, UNITS, Table
from insula.text.demand import Constraint, Kind, Sole, Unit, range_of

SOLE: tuple[tuple[Sole, str], ...] = (("number", "sole"), ("name", "sole_name"), ("code", "sole_code"))
"""What may be all that is wanted, and the pattern that says so."""
_CLAUSE = re.compile(r"[,;:.!?，；：。！？、()（）\n]+|\s[-–—]+\s")
_COUNTED = 12
"""Up to so many things are counted where no unit is named."""
_LINES = 4
_REST = re.compile(r"[^\W_]")


def alone(text: str, table: Table) -> Iterator[Constraint]:
    """The demands of the clauses that hold nothing else."""
    clauses = _clauses(text)
    for clause in clauses:
        found = next(_demands(clause, clauses, table), None)
        if found is not None:
            yield found


def _clauses(text: str) -> list[str]:
    return [each.strip() for each in _CLAUSE.split(text) if each and _REST.search(each)]


def _demands(clause: str, clauses: Sequence[str], table: Table) -> Iterator[Constraint]:
    count = table.patterns["count"].search(clause)
    if count and not _is_each(count, table) and (bound := _bound(clause, count, table)) is not None:
        yield _counted(count, bound, clause, table)
    for form in ALONE:
        match = table.patterns[f"alone_{form}"].search(clause)
        if match and _is_bare(clause, match, table):
            yield Constraint(form, clause, language=table.language)
    for kind in ABSENT:
        match = table.patterns[kind].search(clause)
        if match and _is_bare(clause, match, table):
            yield Constraint(kind, clause, language=table.language)
    for kind, name in SOLE:
        match = table.patterns[name].search(clause)
        if match and _is_bare(clause, match, table):
            yield Constraint(kind, clause, language=table.language)
    match = table.patterns["yes_no_bare"].search(clause)
    if match and _is_bare(clause, match, table):
        strict = any(table.only.search(each) or table.patterns["only_alone"].search(each) for each in clauses)
        yield Constraint("yes_no" if strict else "opens_yes_no", clause, language=table.language)


def _is_each(count: re.Match[str], table: Table) -> bool:
    """Whether what is counted is told of each ("one per line")."""
    between = (count["between"] or "").lower()
    return between in words_of("function", table.language) and not table.number(between)


def _bound(clause: str, count: re.Match[str], table: Table) -> str | None:
    """How a number is bound in a clause that holds nothing else; None where it holds more."""
    beside = f"{clause[: count.start()]} {clause[count.end() :]}"
    if table.patterns["no_more"].search(beside):
        return "most" if _is_filler(table.patterns["no_more"].sub(" ", beside), table) else None
    for bound in ("below", "least", "most", "about", "exactly"):
        pattern = table.patterns[f"bound_{bound}"]
        if bound in BOUNDS and pattern.search(beside) and _is_filler(pattern.sub(" ", beside), table):
            return bound
    return "" if _is_filler(beside, table) else None


def _is_bare(clause: str, match: re.Match[str], table: Table) -> bool:
    return _is_filler(f"{clause[: match.start()]} {clause[match.end() :]}", table)


def _is_filler(rest: str, table: Table) -> bool:
    """Whether nothing is left but words that carry a demand."""
    return not _REST.search(table.patterns["filler"].sub(" ", table.only.sub(" ", rest)))


def _counted(count: re.Match[str], bound: str, text: str, table: Table) -> Constraint:
    number = table.number(count["n"])
    if count["letters"]:
        return Constraint("letters", text, number, number, language=table.language)
    unit = cast(Unit, next(unit for unit in UNITS if count[unit]))
    return Constraint(unit, text, *range_of(number, 0, bound), "", table.language)


def capped(text: str, table: Table) -> Iterator[Constraint]:
    """The number of things where it is said that no more are wanted ("Three castles on the Rhine, no more")."""
    clauses = _clauses(text)
    for i, clause in enumerate(clauses):
        cap = table.patterns["no_more"].search(clause)
        if cap is None or (i == 0 and table.spaced):
            continue
        whole = _is_bare(clause, cap, table)
        heads = clauses[:i] if whole else [clause] if cap.end() == len(clause) else []
        for head in heads:
            match = table.patterns["head"].match(head)
            number = table.number(match["n"]) if match else 0
            if match is None or not 1 < number <= _COUNTED:
                continue
            count = table.patterns["count"].match(head, match.start("n"))
            unit = cast(Unit, next((unit for unit in UNITS if count and count[unit]), "items"))
            least = number if any(table.patterns["no_less"].search(each) for each in clauses[i:]) else 0
            yield Constraint(unit, head, least, number, "", table.language)


def verses(text: str, table: Table) -> Iterator[Constraint]:
    """A poem of a form that can be told by its lines, where one is to be made."""
    if text.rstrip().endswith(("?", "？")):
        return
    if match := table.patterns["four_lines"].search(text):
        yield Constraint("lines", match.group().strip(), _LINES, _LINES, "", table.language)
    if match := table.patterns["haiku"].search(text):
        kind: Kind = "haiku"
        yield Constraint(kind, match.group().strip(), language=table.language)
