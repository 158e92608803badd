"""How a method is called, and how it ends: always with a Solution, whatever happens."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from insula.errors import BudgetExceeded, InsulaError, ModelRefused
from insula.llm.budget import Account
from insula.text.analysis import clean_text
from insula.types import Usage
from insula_solve.answers import ONCE, form_of
from insula_solve.knowledge import Knowledge
from insula_solve.run import Limits, Models, OnStep, SolveRun
from insula_solve.solution import MethodEnd, MethodVerdict, Solution
from insula_solve.verification import answer_once, conclude_once, fall_back

log = logging.getLogger(__name__)

NUMERIC = frozenset({"self_refine", "self_verification"})
"""Methods whose papers compute numbers alone."""
PROBLEM_CHARS = 20_000
"""Characters of a problem; the longest of GSM8K has 985."""


Work = Callable[[SolveRun], Awaitable[MethodEnd]]
Conclude = Callable[[SolveRun], MethodVerdict]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to solve a problem. What fails on the way is why it ended; it never spends more than the account allows.

    What cannot be voted on (code, prose, lists) is answered once, whatever the method.
    """

    name: str
    work: Work
    """Makes attempts, and says why it ended."""
    conclude: Conclude
    """Makes a verdict of the attempts, also of those that there are when a cap or a failure ends the work."""
    abstain_below: float = 0.0
    """Confidence below which no answer is given."""

    async def __call__(
        self,
        problem: str,
        models: Models,
        account: Account | None = None,
        *,
        seed: int = 0,
        knowledge: Knowledge | None = None,
        on_step: OnStep | None = None,
        limits: Limits | None = None,
    ) -> Solution:
        """Solve a problem.

        Args:
            models: who monitors, generates and verifies.
            account: the caps; what is spent is charged there.
            seed: of this run; the same seed asks for the same replies.
            on_step: called with each line of the trace as it is written.
            limits: tokens, temperature and attempts.
        """
        account = account or Account()
        before = account.by_purpose
        text = clean_text(problem).strip()
        run = SolveRun(text, models, account, seed, knowledge or Knowledge(), on_step, limits or Limits())
        run.form = form_of(text)
        if run.form not in ONCE and self.name in NUMERIC:
            run.form = "number"
        end = await _run_work(run, answer_once if run.form in ONCE else self.work)
        fall_back(run)
        verdict = conclude_once(run) if run.form in ONCE else self.conclude(run)
        abstains = verdict.answer is not None and (verdict.confidence or 1.0) < self.abstain_below
        said = {"ending": end.ending, "answer": verdict.answer, "confidence": verdict.confidence}
        run.add_step("stop", f"Stopped: {end.why}.", **said)
        return Solution(
            method=self.name,
            problem=run.problem,
            answer=None if abstains else verdict.answer,
            confidence=verdict.confidence,
            confidences=verdict.confidences,
            attempts=tuple(run.attempts),
            chosen=verdict.chosen,
            trace=tuple(run.trace),
            usage=_usage_since(before, account.by_purpose),
            end=end,
            form=run.form,
            abstained=abstains,
            unparsed=run.unparsed,
        )


def make_method(conclude: Conclude, *, abstain_below: float = 0.0) -> Callable[[Work], Method]:
    """Makes a method of the function that does its work, by whose name it goes."""
    return lambda work: Method(work.__name__, work, conclude, abstain_below)


async def _run_work(run: SolveRun, work: Work) -> MethodEnd:
    """Does the work, and says why it ended."""
    if not run.problem:
        return MethodEnd("input", "the problem is empty")
    if not any(map(str.isalnum, run.problem)):
        return MethodEnd("input", "the problem holds no word and no number")
    if (length := len(run.problem)) > PROBLEM_CHARS:
        return MethodEnd("input", f"the problem has {length:,} characters and at most {PROBLEM_CHARS:,} are taken")
    try:
        return await work(run)
    except BudgetExceeded as error:
        return MethodEnd("budget", f"the budget is spent ({str(error).rstrip('.')})")
    except InsulaError as error:
        return MethodEnd("refused" if isinstance(error, ModelRefused) else "failed", str(error).rstrip("."))
    except Exception as error:  # the edge of law 4: one reply that we cannot read must not end a batch of hours
        log.exception("The method failed on a problem.")
        return MethodEnd("failed", f"Insula failed on it ({type(error).__name__}); the log says more")


def _usage_since(before: Mapping[str, Usage], after: Mapping[str, Usage]) -> dict[str, Usage]:
    """What was spent in between, by stage."""
    spent = ("calls", "input_tokens", "output_tokens", "seconds")
    return {
        stage: Usage(**{name: getattr(usage, name) - getattr(before.get(stage, Usage()), name) for name in spent})
        for stage, usage in after.items()
        if usage != before.get(stage, Usage())
    }
