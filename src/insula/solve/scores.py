"""What a model writes about a solution in numbers, on whatever scale: four scores, and a difficulty (M1, M3)."""

import re

from insula.solve.solution import Scores

_PARTS = ("coherence", "plausibility", "consistency", "goal.conduciveness")
_NUMBER = r"(?<![-−\d.,])(\d+(?:[.,]\d+)?|[.,]\d+)(?!\w|[.,]\d)"
_SCALE = r"\s*(?:(%)|(?:/|out\s+of|of)\s*(\d+)(?:[.,]0+)?(?!\w|[.,]\d))?"
_RANGE = r"(?:[(\[]\s*0(?:[.,]0)?\s*(?:[-–—]|to)\s*(\d+)(?:[.,]0)?[^)\]\n]*[)\]][^\n\w]*?)?"
_SCORE = r"{part}[^\n\w]*?" + _RANGE + r"(?:score[^\n\w]*?)?" + _NUMBER + _SCALE
_SAID = re.compile(_NUMBER + _SCALE)
_EVALUATION = re.compile(r"evaluation[\s*_]*[:\-][\s*_\[]*(.+?)(?:</?\s*evaluate|\Z)", re.S | re.I)


def read_scores(text: str) -> tuple[Scores, str] | None:
    """The four scores and the evaluation in a reply; None unless all four are there and lie on a scale.

    A number says its scale (`8/10`, `80%`, `(0-10): 8`), is a part of one (`0.8`), or has the scale of the others:
    where one of them is above 1, that is ten, and where one is above 10, a hundred. So `1.0` beside `8.5` is 0.1.
    """
    found = [match for part in _PARTS if (match := _last(part, text))]
    if len(found) < len(_PARTS):
        return None
    common = _common([_number(number) for scale, number, percent, of in found if not (scale or percent or of)])
    values = [_share(number, _top(scale or of, percent), common) for scale, number, percent, of in found]
    if any(value > 1 for value in values):
        return None
    coherence, plausibility, consistency, goal = values
    said = _EVALUATION.search(text)
    scores = Scores(coherence=coherence, plausibility=plausibility, consistency=consistency, goal_conduciveness=goal)
    return scores, " ".join(said[1].split()).strip("[] *") if said else ""


def of_hundred(said: object) -> object:
    """A difficulty as a whole number of 100, however it was written: 70, `0.7`, `"0,7"`, `"70 %"` or `"7/10"`.

    What is none stays as it is.
    """
    if isinstance(said, float):
        return round(said * 100) if 0 <= said <= 1 else round(said) if abs(said) < 1_000 else said
    if not isinstance(said, str) or not (match := _SAID.search(said)):
        return said
    number, percent, of = match.groups()
    if any(character.isdigit() for character in said[: match.start()] + said[match.end() :]):
        return said  # two numbers say nothing
    is_share = any(mark in number for mark in ".,") and _number(number) <= 1
    return min(100, round(100 * _share(number, _top(of, percent), 1.0 if is_share else 100.0)))


def _last(part: str, text: str) -> tuple[str, str, str, str] | None:
    """What was last written of a part: the top of a stated range, the number, a sign of percent, and of how many."""
    found = re.findall(_SCORE.format(part=part), text, re.I)
    return found[-1] if found else None


def _common(numbers: list[float]) -> float:
    """The scale of numbers that do not say theirs."""
    greatest = max(numbers, default=0.0)
    return 1.0 if greatest <= 1 else 10.0 if greatest <= 10 else 100.0


def _top(of: str, percent: str) -> float:
    """The top of the scale that a number says; 0 where it says none."""
    return 100.0 if percent else float(of or 0)


def _share(number: str, top: float, common: float) -> float:
    """A number as a part of one, on its own scale or else on the common one; what is below 1 is one already."""
    value = _number(number)
    return value / (top or (1.0 if value < 1 else common))


def _number(written: str) -> float:
    return float(written.replace(",", "."))
