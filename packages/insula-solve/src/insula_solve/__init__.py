"""Problems solved by monitoring, generating and verifying: the methods of `insula solve`, what they need and return.

solution = await METHODS["insula"]("What is 12 % of 250?", Models(generator=model))
"""

from collections.abc import Mapping

from insula.errors import BudgetExceeded, InputError
from insula.llm.budget import Account, Budget
from insula.memory.storage.rows import StrategyTally
from insula_solve.answers import is_correct
from insula_solve.baselines import (
    adaptive_self_consistency,
    direct,
    self_consistency,
    self_refine,
    self_verification,
)
from insula_solve.insula import insula
from insula_solve.knowledge import Knowledge, Records, read_repertoire
from insula_solve.method import Method
from insula_solve.mgv import mgv
from insula_solve.run import Limits, Models, Pool
from insula_solve.solution import Attempt, Solution, Step, pair_attempts

__all__ = [
    "METHODS",
    "Account",
    "Attempt",
    "Budget",
    "BudgetExceeded",
    "Knowledge",
    "Limits",
    "Method",
    "Models",
    "Pool",
    "Records",
    "Solution",
    "Step",
    "StrategyTally",
    "find_method",
    "is_correct",
    "pair_attempts",
    "read_repertoire",
]

_METHODS = (insula, mgv, direct, self_consistency, adaptive_self_consistency, self_refine, self_verification)
METHODS: Mapping[str, Method] = {method.name: method for method in _METHODS}
"""The methods by name."""


def find_method(name: str) -> Method:
    """The method of a name; `-` and `_` are one."""
    if (method := METHODS.get(name.replace("-", "_"))) is None:
        raise InputError(f"There is no method called {name[:40]!r}; name one of {', '.join(METHODS)}.")
    return method
