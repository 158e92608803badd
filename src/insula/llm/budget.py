"""Hard caps on calls, tokens and seconds, and the ledger of what was spent on what."""

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from insula.errors import BudgetExceeded
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
        clock: Seconds that only grow; also what the client times its calls by.
    """

    budget: Budget = field(default_factory=Budget)
    clock: Callable[[], float] = time.monotonic
    _opened: float = field(init=False)
    _ledger: dict[str, Usage] = field(default_factory=dict[str, Usage], init=False)
    _reserved: set[Grant] = field(default_factory=set[Grant], init=False)

    def __post_init__(self) -> None:
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
        if self.budget.tokens is not None:
            used = spent.input_tokens + spent.output_tokens
            left = self.budget.tokens - used - input_tokens
            if left < min(ask_tokens, FEWEST_TOKENS):
                raise self._budget_error("tokens", purpose, used)
            tokens = min(tokens, left)
        grant = Grant(purpose=purpose, input_tokens=input_tokens, output_tokens=tokens, seconds=seconds)
        self._reserved.add(grant)
        return grant

    def charge_usage(self, grant: Grant, usage: Usage) -> None:
        """Enters what the granted call really used, and frees what it held in reserve."""
        self._reserved.discard(grant)
        self._ledger[grant.purpose] = self._ledger.get(grant.purpose, Usage()) + usage

    def _sum_commitments(self) -> Usage:
        """What is spent, and what the calls under way may still spend."""
        held = (Usage(calls=1, input_tokens=g.input_tokens, output_tokens=g.output_tokens) for g in self._reserved)
        return sum(held, self.spent)

    def _budget_error(self, cap: str, purpose: str, used: float) -> BudgetExceeded:
        limit = _format_figure(getattr(self.budget, cap))
        return BudgetExceeded(
            f"The call for {purpose} is not made: of {limit} {cap} allowed, {_format_figure(used)} are spent "
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
