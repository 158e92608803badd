"""What any method has to beat: one chain, a vote of chains, and a vote that ends when the chains agree (M5).

All take their chains from one series: the first is greedy and the others are sampled, asked one after the other, so
that a budget ends them where it should. A vote is weighed by nothing.
"""

from insula.solve.method import Method, method
from insula.solve.run import Run
from insula.solve.solution import Attempt, End, Verdict, grouped

CHAINS = 5
"""Chains of `self_consistency` (GSM8K gains most up to 5: Wang et al. 2022, figure 2)."""
WAVES = (2, 4, 8)
"""Chains after which `adaptive_self_consistency` looks whether they agree (its-hub 1.2)."""
AGREED = 0.75
"""Share of the chains that has to agree (its-hub 1.2)."""


def majority(run: Run) -> Verdict:
    """The answer of most attempts, the earliest of several; confidence is their share of all attempts."""
    votes = max(grouped(run.attempts), key=len, default=None)
    if votes is None:
        return Verdict(answer=None)
    agreement = len(votes) / len(run.attempts)
    confidences = {"agreement": agreement, **_likelihood(votes[0])}
    return Verdict(answer=votes[0].shown, confidence=agreement, confidences=confidences, chosen=votes[0].number)


def only(run: Run) -> Verdict:
    """The answer of the one attempt; confidence is its likelihood, where the model returns one."""
    attempt = next((attempt for attempt in run.attempts if attempt.value is not None), None)
    if attempt is None:
        return Verdict(answer=None)
    confidences = _likelihood(attempt)
    return Verdict(
        answer=attempt.shown,
        confidence=confidences.get("likelihood"),
        confidences=confidences,
        chosen=attempt.number,
    )


@method(only)
async def direct(run: Run) -> End:
    """One greedy chain of thought (Wei et al. 2022)."""
    await run.chain(0)
    return End("done", "one chain was asked for")


def consistent(chains: int) -> Method:
    """Self-consistency with so many chains (Wang et al. 2022)."""

    @method(majority)
    async def self_consistency(run: Run) -> End:
        """Some chains of thought, and the answer of most."""
        for index in range(chains):
            await run.chain(index)
        return End("done", f"{chains} chains were asked for")

    return self_consistency


self_consistency = consistent(CHAINS)


@method(majority)
async def adaptive_self_consistency(run: Run) -> End:
    """Two chains, then four, then eight: until three quarters agree (Aggarwal et al. 2023; its-hub 1.2)."""
    asked = 0
    for wave in WAVES:
        for index in range(asked, wave):
            await run.chain(index)
        asked = wave
        if (share := _share(run)) >= AGREED:
            return End("agreed", f"{share:.0%} of {wave} chains agree")
    return End("done", f"{asked} chains do not agree", stuck=True)


def _share(run: Run) -> float:
    return majority(run).confidence or 0.0


def _likelihood(attempt: Attempt) -> dict[str, float]:
    return {} if attempt.likelihood is None else {"likelihood": attempt.likelihood.confidence}
