"""What a night may spend of the cap for all nights of its date."""

from dataclasses import replace

from insula.llm.budget import Account, Budget
from insula.memory.storage.spending import Sum
from insula.types import Usage

FRESH_TOKENS, FRESH_CALLS = 60_000, 40
"""What one night may spend of a common cap where a user has none of their own."""


def grant(account: Account) -> Sum:
    """What a night asks for of a common cap: the user's own caps, or what a night seldom needs."""
    budget = account.budget
    tokens = float(FRESH_TOKENS if budget.tokens is None else budget.tokens)
    cost = budget.cost
    if cost is None and account.prices is not None:
        cost = tokens * max(account.prices.input_per_million, account.prices.output_per_million) / 1e6
    return Sum(float(FRESH_CALLS if budget.calls is None else budget.calls), tokens, cost)


def within(account: Account, given: Sum) -> Account:
    """An account with its own caps within a grant; as it is where nothing is capped."""
    return account if given.is_endless else replace(account, budget=_budget(account.budget, given))


def _budget(own: Budget, given: Sum) -> Budget:
    calls, tokens = (None if one is None else int(one) for one in given[:2])
    return replace(own, calls=calls or own.calls, tokens=tokens or own.tokens, cost=given.cost or own.cost)


def spent_of(account: Account, before: Usage) -> Sum:
    """What an account has spent since a moment."""
    now = account.spent
    tokens = now.input_tokens + now.output_tokens - before.input_tokens - before.output_tokens
    return Sum(now.calls - before.calls, tokens, now.cost - before.cost)
