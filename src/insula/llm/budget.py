"""Hard caps on calls, tokens, seconds and money, and the ledger of what was spent on what."""

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from insula.errors import BudgetExceeded, InputError
from insula.types import Usage

FEWEST_TOKENS = 16
"""A call that may answer with fewer tokens than this (and than it asked for) is not made: it could only be cut off."""

_PLAIN = re.compile(r"[A-Za-z ]")
_PLAIN_PER_TOKEN = 3.0
"""Letters and blanks per token: English has 4 to 5 on every tokenizer we measured, code and names down to 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What may be spent at most; None is no cap."""

    calls: int | None = None
    """Model calls. A provider's own repetition of a request that failed on the way is not another call."""
    tokens: int | None = None
    """Input and output together."""
    seconds: float | None = None
    """Wall time since the account was opened."""
    cost: float | None = None
    """In the currency of the prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a model costs, in any currency."""

    input_per_million: float
    output_per_million: float

    def cost_of(self, usage: Usage) -> float:
        """The cost of `usage`."""
        return (usage.input_tokens * self.input_per_million + usage.output_tokens * self.output_per_million) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grant:
    """Leave for one call, held in reserve until it is charged."""

    purpose: str
    input_tokens: int
    output_tokens: int
    """The most that the call may generate."""
    seconds: float | None
    """The most that it may take."""


@dataclass(slots=True, kw_only=True)
class Account:
    """What one run has spent, against its caps. Calls may run side by side: each is reserved before it starts.

    Attributes:
        budget: The caps.
        prices: What the model costs; needed where money is capped.
        clock: Seconds that only grow; also what the client times its calls by.

    Raises:
        InputError: If money is capped and no prices are given.
    """

    budget: Budget = field(default_factory=Budget)
    prices: Prices | None = None
    clock: Callable[[], float] = time.monotonic
    _opened: float = field(init=False)
    _ledger: dict[str, Usage] = field(default_factory=dict[str, Usage], init=False)
    _reserved: set[Grant] = field(default_factory=set[Grant], init=False)

    def __post_init__(self) -> None:
        if self.budget.cost is not None and self.prices is None:
            raise InputError("A cap on cost needs the prices of the model; give input_per_million, output_per_million.")
        self._opened = self.clock()

    @property
    def spent(self) -> Usage:
        """Everything spent so far. Its seconds are those of the calls, side by side or not."""
        return sum(self._ledger.values(), Usage())

    @property
    def by_purpose(self) -> Mapping[str, Usage]:
        """What was spent, by what it was spent on."""
        return dict(self._ledger)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the cap on time is reached; None without such a cap."""
        if self.budget.seconds is None:
            return None
        return self.budget.seconds - (self.clock() - self._opened)

    def reserve_call(self, purpose: str, ask_tokens: int, input_tokens: int = 0) -> Grant:
        """Reserves one call.

        Args:
            purpose: What the call is for, as it will stand in `by_purpose`.
            ask_tokens: How many tokens the call would like to generate.
            input_tokens: The most that its prompt can come to; see `bound_tokens`.

        Returns:
            The grant: as many output tokens as asked for, or fewer where a cap is near.

        Raises:
            BudgetExceeded: If a cap is reached, or too little is left to answer at all.
        """
        seconds = self.seconds_left
        if seconds is not None and seconds <= 0:
            raise self._budget_error("seconds", purpose, self.clock() - self._opened)
        spent = self._sum_commitments()
        if self.budget.calls is not None and spent.calls >= self.budget.calls:
            raise self._budget_error("calls", purpose, spent.calls)
        tokens = ask_tokens
        for cap, left in self._tokens_left(spent, input_tokens).items():
            if left < min(ask_tokens, FEWEST_TOKENS):
                used = spent.cost if cap == "cost" else spent.input_tokens + spent.output_tokens
                raise self._budget_error(cap, purpose, used)
            tokens = min(tokens, math.floor(left)) if math.isfinite(left) else tokens
        grant = Grant(purpose=purpose, input_tokens=input_tokens, output_tokens=tokens, seconds=seconds)
        self._reserved.add(grant)
        return grant

    def charge_usage(self, grant: Grant, usage: Usage) -> Usage:
        """Enters what the granted call really used, and frees what it held in reserve.

        Returns:
            The usage as entered, with its cost where prices are known.
        """
        self._reserved.discard(grant)
        if self.prices is not None and not usage.cost:
            usage = replace(usage, cost=self.prices.cost_of(usage))
        self._ledger[grant.purpose] = self._ledger.get(grant.purpose, Usage()) + usage
        return usage

    def _sum_commitments(self) -> Usage:
        """What is spent, and what the calls under way may still spend."""
        held = [Usage(calls=1, input_tokens=g.input_tokens, output_tokens=g.output_tokens) for g in self._reserved]
        return sum((replace(u, cost=self.prices.cost_of(u)) if self.prices else u for u in held), self.spent)

    def _tokens_left(self, spent: Usage, input_tokens: int) -> dict[str, float]:
        """The output tokens that each cap leaves for a call with this prompt."""
        left: dict[str, float] = {}
        if self.budget.tokens is not None:
            left["tokens"] = self.budget.tokens - spent.input_tokens - spent.output_tokens - input_tokens
        if self.budget.cost is not None and self.prices is not None:
            money = self.budget.cost - spent.cost - self.prices.cost_of(Usage(input_tokens=input_tokens))
            price = self.prices.output_per_million / 1e6
            left["cost"] = money / price if price else math.inf if money >= 0 else -1.0
        return left

    def _budget_error(self, cap: str, purpose: str, used: float) -> BudgetExceeded:
        limit = _format_figure(getattr(self.budget, cap))
        unit = "units of money" if cap == "cost" else cap
        return BudgetExceeded(
            f"The call for {purpose} is not made: of {limit} {unit} allowed, {_format_figure(used)} are spent "
            f"or reserved; raise the cap on {cap}, or ask for less."
        )


def _format_figure(number: float) -> str:
    return f"{number:,.4f}".rstrip("0").rstrip(".")


def bound_tokens(text: str) -> int:
    """The most tokens that `text` is likely to come to on any tokenizer.

    Letters and blanks count a third each, and everything else (digits, punctuation, other scripts) one per byte.
    """
    plain = len(_PLAIN.findall(text))
    rest = len(text.encode("utf-8", "replace")) - plain
    return math.ceil(plain / _PLAIN_PER_TOKEN) + rest
