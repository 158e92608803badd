"""Expressions with letters, and whether two are the same: whether they have the same values at a few points."""

import re
from fractions import Fraction

from insula.errors import InputError
from insula.solve.amounts import VULGAR, plain
from insula.solve.arithmetic import evaluate

POINTS = (Fraction(2), Fraction(5, 3), Fraction(-7, 2), Fraction(11))

"""At which expressions are compared."""


def expression_in(text: str) -> str:
    """An expression as our evaluator reads it; empty where it is none. Of `x = 5` it is the value."""
    text = re.sub(r"\s*(?:or|and|y|o|et|ou|und|oder|e|,)\s+(?=[a-z]\s*=)", ";", plain(text).strip(" .\n$`*"))
    sides = [
        part.rpartition("=")[2].strip() if re.match(r"\s*[a-zA-Z]\s*=", part) else part.strip()
        for part in text.split(";")
    ]
    found = [_computable(side) for side in sides]
    if not all(_values(side) for side in found):
        return ""
    return "; ".join(sorted(found))


def _computable(text: str) -> str:
    text = text.translate(VULGAR).replace("²", "**2").replace("³", "**3").replace("^", "**").replace("−", "-")
    text = (
        re.sub(r"\s*[×·⋅]\s*", "*", text).replace("÷", "/").replace("√(", "sqrt(").replace("{", "(").replace("}", ")")
    )
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text)
    return re.sub(
        r"(?<=[0-9)])(?=[A-Za-z(])|(?<=[a-z])(?=\()(?<!sqrt)|(?<![a-z])(?<=[a-z])(?=[a-z](?![a-z]))", "*", text
    )


def _values(expression: str) -> tuple[Fraction, ...]:
    """The values of an expression at a few points; none where it is none."""
    letters = sorted(set(re.findall(r"(?<![A-Za-z])[a-zA-Z](?![A-Za-z])", expression)))
    found: list[Fraction] = []
    for point in POINTS:
        try:
            found.append(evaluate(expression, {letter: point + 7 * at for at, letter in enumerate(letters)}))
        except InputError:
            continue
    return (*found, Fraction(len(letters))) if found else ()


def have_same_values(one: str, other: str) -> bool:
    parts = [sorted(_values(_computable(part)) for part in text.split("; ")) for text in (one, other)]
    return all(parts[0]) and parts[0] == parts[1]
