"""What speaks for and against an attempt that cannot be voted on: free checks, and the scores of a verifier (M3).

Checked first, for nothing: whether the reply was cut off, whether its code can be read and passes the tests that it or
the problem brings, and what the self-monitor finds (K1). A model is asked to judge only where one was named for it, or
where those checks found something.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, replace

from insula.turn.monitor import assess
from insula_solve.amounts import AMOUNT
from insula_solve.answers import ONCE
from insula_solve.features import read_features
from insula_solve.programs import TestsOutcome, check_tests, is_readable
from insula_solve.prompts import make_prompt
from insula_solve.run import SolveRun, as_it_stands
from insula_solve.solution import Attempt, MethodEnd, MethodVerdict, Scores, conclude_with

VERIFY_TOKENS = 300
"""Four numbers and two to three sentences come to 150 tokens."""
CODE_ATTEMPTS = 3
"""Attempts at code whose tests fail."""
SURE = 0.98
"""Confidence where what was computed says that an answer holds."""

_PARTS = ("coherence", "plausibility", "consistency", "goal.conduciveness")
_NUMBER = r"(?<![-−\d.,])(\d+(?:[.,]\d+)?|[.,]\d+)(?!\w|[.,]\d)"
_SCALE = r"\s*(?:(%)|(?:/|out\s+of|of)\s*(\d+)(?:[.,]0+)?(?!\w|[.,]\d))?"
_RANGE = r"(?:[(\[]\s*0(?:[.,]0)?\s*(?:[-–—]|to)\s*(\d+)(?:[.,]0)?[^)\]\n]*[)\]][^\n\w]*?)?"
_SCORE = r"{part}[^\n\w]*?" + _RANGE + r"(?:score[^\n\w]*?)?" + _NUMBER + _SCALE
_SAID = re.compile(_NUMBER + _SCALE)
_EVALUATION = re.compile(r"evaluation[\s*_]*[:\-][\s*_\[]*(.+?)(?:</?\s*evaluate|\Z)", re.S | re.I)


# What cannot be voted on


async def answer_once(run: SolveRun) -> MethodEnd:
    """Answer what cannot be voted on once, plainly, and check it; code whose tests fail is written again."""
    most = min(run.limits.attempts or CODE_ATTEMPTS, CODE_ATTEMPTS)
    for index in range(most):
        attempt = run.attempts[0] if index == 0 and run.attempts else await run.attempt_plain(index)
        if attempt is None:
            return MethodEnd("done", "no reply came", stuck=True)
        attempt = check_attempt(run, attempt)
        if run.models.verifier is not None or (attempt.doubts and attempt.tests is None):
            await verify_attempt(run, attempt, index)
        if attempt.tests is None or not attempt.tests.failed:
            is_proven = attempt.tests is not None and attempt.tests.passed and not attempt.tests.unknown
            if is_proven:
                return MethodEnd("accepted", "the tests of its code hold")
            return MethodEnd("done", "what it wants cannot be voted on, and is answered once")
    return MethodEnd("done", f"the tests of its code do not hold after {most} attempts", stuck=True)


def fall_back(run: SolveRun) -> None:
    """Where no attempt has an answer of the kind that is wanted, the first reply is one as it stands.

    Not where the answer was to be computed, nor for a number where the reply holds none.
    """
    computes = run.form in ("number", "expression") and read_features(run.problem).is_computable
    said = [attempt for attempt in run.attempts if attempt.kind != "program" and attempt.reasoning]
    says_one = said and (run.form != "number" or AMOUNT.search(said[0].reasoning))
    if says_one and not computes and all(attempt.answer is None for attempt in run.attempts):
        run.form = "text"
        run.change_attempt(replace(said[0], answer=as_it_stands(said[0].reasoning, "text")))


def conclude_once(run: SolveRun) -> MethodVerdict:
    """The attempt with the fewest failed tests: as sure as its tests, else as its verifier; else nobody knows."""
    answered = [attempt for attempt in run.attempts if attempt.answer is not None]
    best = min(answered, key=lambda attempt: len(attempt.tests.failed) if attempt.tests else 0, default=None)
    if best is not None and best.tests is not None and (asked := best.tests.passed + len(best.tests.failed)):
        share = min(SURE, best.tests.passed / asked)
        return conclude_with(best, share, tests=share)
    return conclude_with(best, best.confidences.get("prompted") if best else None)


def check_attempt(run: SolveRun, attempt: Attempt) -> Attempt:
    """Look for what speaks against an attempt, without a model."""
    text = attempt.answer.raw if attempt.answer else ""
    outcome = check_tests(text, run.problem) if run.form == "code" else TestsOutcome()
    tests = outcome if outcome != TestsOutcome() else None
    doubts = tuple(_find_doubts(run.problem, text, attempt, tests))
    if tests is not None:
        run.add_step(
            "verify",
            f"Its tests: {tests.passed} hold, {len(tests.failed)} do not, {tests.unknown} are not computed here.",
        )
    for doubt in doubts:
        run.add_step("verify", f"Attempt {attempt.number}: {doubt}")
    return run.change_attempt(replace(attempt, tests=tests, doubts=doubts))


def _find_doubts(problem: str, text: str, attempt: Attempt, tests: TestsOutcome | None) -> Iterator[str]:
    if attempt.truncated:
        yield "It was cut off."
    if not is_readable(text):
        yield "Its code cannot be parsed."
    for test in tests.failed if tests else ():
        yield f"A test of it does not hold: {test}"
    for fault in assess(problem, text).faults:
        if fault.certain:
            yield f"The self-monitor finds {fault.flag.replace('_', ' ')}{f': {fault.about}' if fault.about else ''}."


# Scores


async def verify_attempt(run: SolveRun, attempt: Attempt, index: int) -> Attempt:
    """An attempt with the four scores of the verifier, where they could be read."""
    answer = f"\n\nAnswer: {attempt.answer.raw if attempt.answer else 'none'}" if run.form not in ONCE else ""
    read, _ = await run.ask_readable(
        "verify",
        make_prompt("verify", problem=run.problem, solution=attempt.reasoning + answer),
        lambda made: read_scores(made.text),
        model=run.verifier,
        max_tokens=VERIFY_TOKENS,
        temperature=0.0,
        index=index,
        form="one of the four scores from 0 to 1",
    )
    if read is None:
        return attempt
    scores, evaluation = read
    parts = ", ".join(f"{name.replace('_', '-')} {value:.2f}" for name, value in asdict(scores).items())
    run.add_step("verify", f"Attempt {attempt.number} scores {scores.mean:.2f}: {parts}. {evaluation}".strip())
    return run.change_attempt(replace(attempt, scores=scores, evaluation=evaluation))


def read_scores(text: str) -> tuple[Scores, str] | None:
    """The four scores and the evaluation in a reply; None unless all four are there and lie on a scale.

    A number says its scale (`8/10`, `80%`, `(0-10): 8`), is a part of one (`0.8`), or has the scale of the others:
    where one of them is above 1, that is ten, and where one is above 10, a hundred. So `1.0` beside `8.5` is 0.1.
    """
    rated = [match for part in _PARTS if (match := _last_written(part, text))]
    if len(rated) < len(_PARTS):
        return None
    common = _common_scale(
        [_parse_number(number) for scale, number, percent, of in rated if not (scale or percent or of)]
    )
    values = [_scale_share(number, _scale_top(scale or of, percent), common) for scale, number, percent, of in rated]
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
    is_share = any(mark in number for mark in ".,") and _parse_number(number) <= 1
    return min(100, round(100 * _scale_share(number, _scale_top(of, percent), 1.0 if is_share else 100.0)))


def _last_written(part: str, text: str) -> tuple[str, str, str, str] | None:
    """What was last written of a part: the top of a stated range, the number, a sign of percent, and of how many."""
    matches = re.findall(_SCORE.format(part=part), text, re.I)
    return matches[-1] if matches else None


def _common_scale(numbers: list[float]) -> float:
    """The scale of numbers that do not say theirs."""
    greatest = max(numbers, default=0.0)
    return 1.0 if greatest <= 1 else 10.0 if greatest <= 10 else 100.0


def _scale_top(of: str, percent: str) -> float:
    """The top of the scale that a number says; 0 where it says none."""
    return 100.0 if percent else float(of or 0)


def _scale_share(number: str, top: float, common: float) -> float:
    """A number as a part of one, on its own scale or else on the common one; what is below 1 is one already."""
    value = _parse_number(number)
    return value / (top or (1.0 if value < 1 else common))


def _parse_number(written: str) -> float:
    return float(written.replace(",", "."))
