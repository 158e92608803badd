"""What any method has to beat, each to its paper (M5): chains and their votes, Self-Refine and Self-Verification.

The methods of chains take them from one series: the first is greedy and the others are sampled, asked one after the
other, so that a budget ends them where it should. A vote is weighed by nothing.

Self-Refine (Madaan et al. 2023) is as their repository runs it on GSM8K. Solutions are programs: the first greedy,
within 300 tokens. Then one reply at temperature 0.7, within 600 tokens, both criticises and rewrites, with all that was
written before in the prompt; it ends when the criticism says that the program is correct, after four programs at most.
What differs: a program is computed by our own evaluator, not executed, and one that cannot be computed is an attempt
without an answer; theirs left such problems out. The first program is asked for as `insula` asks for its own, since
models that chat write prose after "def solution():".

Self-Verification (Weng et al. 2022) takes the answer from which the conditions of the problem can be found again. Five
chains at temperature 0.3; where they differ, each answer becomes a statement, each number of the problem is masked in
turn, and ten tries at 0.2 look for it from the statement; the answer with most recoveries wins. What differs: chains
may be as long as those of the other methods, since theirs, of 168 tokens, were few-shot.
"""

import re
from collections import Counter
from collections.abc import Mapping

from insula_solve.amounts import normalise_answer
from insula_solve.answers import compute_program, find_answer
from insula_solve.method import Method, make_method
from insula_solve.programs import find_program
from insula_solve.prompts import make_prompt
from insula_solve.run import SolveRun
from insula_solve.solution import MethodEnd, MethodVerdict, conclude_with, group_attempts

CHAINS = 5
"""Chains of self-consistency (GSM8K gains most up to 5: Wang et al. 2022, figure 2), and of Self-Verification."""
WAVES = (2, 4, 8)
"""Chains after which `adaptive_self_consistency` looks whether they agree (its-hub 1.2)."""
AGREED = 0.75
"""Share of the chains that has to agree (its-hub 1.2)."""
PROGRAMS = 4
"""Programs of Self-Refine."""
FIRST_TOKENS, REFINE_TOKENS, REFINE_TEMPERATURE = 300, 600, 0.7
CORRECT = re.compile(r"it is correct\W*$", re.IGNORECASE | re.MULTILINE)
"""At the end of a line: a small model also repeats the request, which names these words."""
VERIFIED_TEMPERATURE = 0.3
"""Of the chains of Self-Verification."""
RECOVERIES, RECOVERY_TOKENS, RECOVERY_TEMPERATURE = 10, 300, 0.2
STATEMENT_TOKENS = 100
MASKS = 8
"""Numbers of a problem that are masked at most; theirs had six or fewer."""

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
_QUESTION = re.compile(r"(?:^|(?<=[.?!]))[^.?!]*\?")


# Chains and their votes


def conclude_by_majority(run: SolveRun) -> MethodVerdict:
    """The answer of most attempts, the earliest of several; confidence is their share of all attempts."""
    votes = max(group_attempts(run.attempts), key=len, default=None)
    if votes is None:
        return conclude_with(None)
    agreement = len(votes) / len(run.attempts)
    return conclude_with(votes[0], agreement, agreement=agreement)


def conclude_by_only(run: SolveRun) -> MethodVerdict:
    """The answer of the one attempt; confidence is its likelihood, where the model returns one."""
    attempt = next((attempt for attempt in run.attempts if attempt.value is not None), None)
    return conclude_with(attempt, attempt.confidences.get("likelihood") if attempt else None)


@make_method(conclude_by_only)
async def direct(run: SolveRun) -> MethodEnd:
    """One greedy chain of thought (Wei et al. 2022)."""
    await run.attempt_chain(0)
    return MethodEnd("done", "one chain was asked for")


def build_self_consistency(chains: int) -> Method:
    """Self-consistency with so many chains (Wang et al. 2022)."""

    @make_method(conclude_by_majority)
    async def self_consistency(run: SolveRun) -> MethodEnd:
        """Some chains of thought, and the answer of most."""
        most = run.limits.attempts or chains
        for index in range(most):
            await run.attempt_chain(index)
        return MethodEnd("done", f"{most} chains were asked for")

    return self_consistency


self_consistency = build_self_consistency(CHAINS)


@make_method(conclude_by_majority)
async def adaptive_self_consistency(run: SolveRun) -> MethodEnd:
    """Two chains, then four, then eight: until three quarters agree (Aggarwal et al. 2023; its-hub 1.2)."""
    asked = 0
    most = run.limits.attempts or WAVES[-1]
    for wave in (*(wave for wave in WAVES if wave < most), most):
        for index in range(asked, wave):
            await run.attempt_chain(index)
        asked = wave
        if (share := (conclude_by_majority(run).confidence or 0.0)) >= AGREED:
            return MethodEnd("agreed", f"{share:.0%} of {wave} chains agree")
    return MethodEnd("done", f"{asked} chains do not agree", stuck=True)


# Self-Refine


def conclude_by_last(run: SolveRun) -> MethodVerdict:
    """The last program that could be computed; the method has no confidence of its own."""
    return conclude_with(next((attempt for attempt in reversed(run.attempts) if attempt.value is not None), None))


def fence_program(program: str) -> str:
    """A program as the prompt shows one."""
    return f"```python\n{program}\n```"


@make_method(conclude_by_last)
async def self_refine(run: SolveRun) -> MethodEnd:
    """A program, criticised and rewritten until the critic is content."""
    made = await run.ask_model(
        "program", make_prompt("program", problem=run.problem), max_tokens=FIRST_TOKENS, temperature=0.0
    )
    program = find_program(made.text) if made else ""
    run.note_attempt("program", made, compute_program(program), reasoning=program)
    history = [fence_program(program)]
    most = run.limits.attempts or PROGRAMS
    for index in range(1, most):
        made = await run.ask_model(
            "refine",
            make_prompt("refine", problem=run.problem, history="\n\n".join(history)),
            max_tokens=REFINE_TOKENS,
            temperature=REFINE_TEMPERATURE if run.limits.temperature is None else run.limits.temperature,
            index=index,
        )
        if made is None:
            continue
        if CORRECT.search(made.text):
            run.add_step("verify", f"The critic holds attempt {len(run.attempts)} to be correct.")
            return MethodEnd("accepted", "the critic found nothing wrong")
        run.add_step("verify", f"The critic rewrote attempt {len(run.attempts)}.")
        if program := find_program(made.text):
            run.note_attempt("program", made, compute_program(program), reasoning=program)
        history.append(made.text)
    return MethodEnd("done", f"{most} programs did not content the critic", stuck=True)


# Self-Verification


def conclude_by_recoveries(run: SolveRun) -> MethodVerdict:
    """The answer with the greatest share of recoveries; where none was tried, that of most chains."""
    voted = conclude_by_majority(run)
    if not run.scores or voted.answer is None:
        return voted
    best = max(run.scores, key=lambda answer: run.scores[answer])
    first = next(attempt for attempt in run.attempts if attempt.value == best)
    confidences = {**voted.confidences, "recovered": run.scores[best]}
    return MethodVerdict(answer=best, confidence=run.scores[best], confidences=confidences, chosen=first.number)


@make_method(conclude_by_recoveries)
async def self_verification(run: SolveRun) -> MethodEnd:
    """Chains, and where they differ the answer that explains the problem best."""
    told = run.limits.temperature
    for index in range(run.limits.attempts or CHAINS):
        await run.attempt_chain(index, VERIFIED_TEMPERATURE if told is None else told)
    candidates = list(dict.fromkeys(attempt.value for attempt in run.attempts if attempt.value is not None))
    if len(candidates) < 2:
        return MethodEnd("agreed", "all chains agree") if candidates else MethodEnd("done", "no chain has an answer")
    statements = [await _make_statement(run, candidate, at) for at, candidate in enumerate(candidates)]
    await _compare_statements(run, dict(zip(candidates, statements, strict=True)))
    return MethodEnd("done", f"{len(candidates)} answers were compared by what can be recovered from them")


def mask_numbers(problem: str) -> tuple[tuple[str, str], ...]:
    """The conditions of a problem with one number each written as X, and that number as answers are compared."""
    conditions = _QUESTION.sub("", problem).strip() or problem
    numbers = list(_NUMBER.finditer(conditions))[:MASKS]
    return tuple(
        (conditions[: number.start()] + "X" + conditions[number.end() :], normalise_answer(number[0]))
        for number in numbers
    )


async def _make_statement(run: SolveRun, answer: str, index: int) -> str:
    """An answer as a statement, in the model's words where it finds them."""
    asked = " ".join(_QUESTION.findall(run.problem)).strip() or run.problem
    made = await run.ask_model(
        "state",
        make_prompt("state", question=asked, answer=answer),
        model=run.verifier,
        max_tokens=STATEMENT_TOKENS,
        temperature=0.0,
        index=index,
    )
    return made.text if made is not None else f"{asked} The answer is {answer}."


async def _compare_statements(run: SolveRun, statements: Mapping[str, str]) -> None:
    """Tries to recover each masked number from each answer, in turns: a budget that ends treats all alike."""
    recovered, asked = Counter[str](), Counter[str]()
    for at, (condition, number) in enumerate(mask_numbers(run.problem)):
        for attempt in range(RECOVERIES):
            for answer, statement in statements.items():
                made = await run.ask_model(
                    "recover",
                    make_prompt("recover", masked=condition, statement=statement),
                    model=run.verifier,
                    max_tokens=RECOVERY_TOKENS,
                    temperature=RECOVERY_TEMPERATURE,
                    index=at * RECOVERIES + attempt,
                )
                value = find_answer(made.text, truncated=made.truncated) if made is not None else None
                asked[answer] += 1
                recovered[answer] += value is not None and value.value == number
                run.scores = {each: recovered[each] / asked[each] for each in statements if asked[each]}
    for answer, share in run.scores.items():
        run.add_step("verify", f"From the answer {answer}, {share:.0%} of the conditions were found again.")
