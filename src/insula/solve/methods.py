"""The methods by name."""

from collections.abc import Mapping

from insula.errors import InputError
from insula.solve.baselines import adaptive_self_consistency, direct, self_consistency
from insula.solve.insula import insula
from insula.solve.method import Method
from insula.solve.mgv import mgv
from insula.solve.self_refine import self_refine
from insula.solve.self_verification import self_verification

DEFAULT = "insula"

METHODS: Mapping[str, Method] = {
    "insula": insula,
    "mgv": mgv,
    "direct": direct,
    "self_consistency": self_consistency,
    "adaptive_self_consistency": adaptive_self_consistency,
    "self_refine": self_refine,
    "self_verification": self_verification,
}


def named(name: str) -> Method:
    """The method of a name; `-` and `_` are one.

    Raises:
        InputError: there is none of that name.
    """
    if (found := METHODS.get(name.replace("-", "_"))) is None:
        raise InputError(f"There is no method called {name[:40]!r}; name one of {', '.join(METHODS)}.")
    return found
