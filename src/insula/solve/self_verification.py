"""Self-Verification (Weng et al. 2022): the answer from which the conditions of the problem can be found again.

Five chains at temperature 0.3; where they differ, each answer becomes a statement, each number of the problem is masked
in turn, and ten tries at 0.2 look for it from the statement; the answer with most recoveries wins. What differs: chains
may be as long as those of the other methods, since theirs, of 168 tokens, were few-shot.
"""

import re
from collections import Counter
from collections.abc import Mapping

from insula.solve import prompts
from insula.solve.amounts import normalised
from insula.solve.answers import extract
from insula.solve.baselines import majority
from insula.solve.method import Method, method
from insula.solve.run import CHAIN_TOKENS, Run
from insula.solve.solution import End, Verdict

CHAINS = 5
CHAIN_TEMPERATURE = 0.3
RECOVERIES = 10
RECOVERY_TEMPERATURE = 0.2
RECOVERY_TOKENS = 300
STATEMENT_TOKENS = 100
MASKS = 8
"""Numbers of a problem that are masked at most; theirs had six or fewer."""

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
_QUESTION = re.compile(r"(?:^|(?<=[.?!]))[^.?!]*\?")


def recovered(run: Run) -> Verdict:
    """The answer with the greatest share of recoveries; where none was tried, that of most chains."""
    voted = majority(run)
    if not run.scores or voted.answer is None:
        return voted
    best = max(run.scores, key=lambda answer: run.scores[answer])
    first = next(attempt for attempt in run.attempts if attempt.value == best)
    confidences = {**voted.confidences, "recovered": run.scores[best]}
    return Verdict(answer=best, confidence=run.scores[best], confidences=confidences, chosen=first.number)


def verified(recoveries: int = RECOVERIES) -> Method:
    """The method with so many tries for each number."""

    @method(recovered)
    async def self_verification(run: Run) -> End:
        """Chains, and where they differ the answer that explains the problem best."""
        for index in range(CHAINS):
            made = await run.ask(
                "chain",
                prompts.chain(run.problem),
                max_tokens=CHAIN_TOKENS,
                temperature=CHAIN_TEMPERATURE,
                index=index,
            )
            if made is not None:
                run.attempted("chain", made)
        candidates = list(dict.fromkeys(attempt.value for attempt in run.attempts if attempt.value is not None))
        if len(candidates) < 2:
            return End("agreed", "all chains agree") if candidates else End("done", "no chain has an answer")
        statements = [await _statement(run, candidate, at) for at, candidate in enumerate(candidates)]
        await _compare(run, dict(zip(candidates, statements, strict=True)), recoveries)
        return End("done", f"{len(candidates)} answers were compared by what can be recovered from them")

    return self_verification


self_verification = verified()


def masked(problem: str) -> tuple[tuple[str, str], ...]:
    """The conditions of a problem with one number each written as X, and that number as answers are compared."""
    conditions = _QUESTION.sub("", problem).strip() or problem
    found = list(_NUMBER.finditer(conditions))[:MASKS]
    return tuple((conditions[: one.start()] + "X" + conditions[one.end() :], normalised(one[0])) for one in found)


async def _statement(run: Run, answer: str, index: int) -> str:
    """An answer as a statement, in the model's words where it finds them."""
    asked = " ".join(_QUESTION.findall(run.problem)).strip() or run.problem
    made = await run.ask(
        "state",
        prompts.state(asked, answer),
        model=run.verifier,
        max_tokens=STATEMENT_TOKENS,
        temperature=0.0,
        index=index,
    )
    return made.text if made is not None else f"{asked} The answer is {answer}."


async def _compare(run: Run, statements: Mapping[str, str], recoveries: int) -> None:
    """Tries to recover each masked number from each answer, in turns: a budget that ends treats all alike."""
    found, asked = Counter[str](), Counter[str]()
    for at, (condition, number) in enumerate(masked(run.problem)):
        for attempt in range(recoveries):
            for answer, statement in statements.items():
                made = await run.ask(
                    "recover",
                    prompts.recover(condition, statement),
                    model=run.verifier,
                    max_tokens=RECOVERY_TOKENS,
                    temperature=RECOVERY_TEMPERATURE,
                    index=at * recoveries + attempt,
                )
                value = extract(made.text, truncated=made.truncated) if made is not None else None
                asked[answer] += 1
                found[answer] += value is not None and value.value == number
                run.scores = {each: found[each] / asked[each] for each in statements if asked[each]}
    for answer, share in run.scores.items():
        run.say("verify", f"From the answer {answer}, {share:.0%} of the conditions were found again.")
