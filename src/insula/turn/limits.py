"""What limits an answer, whether or not anybody asks for it: an allergy where a dinner is asked for, a day taken.

A head tells from the meanings of both whether what the user told limits what they ask for (`limit_odds` in
`insula.language.heads`); `make heads` fits it, and docs/explanation/heads.md says how well it does.
"""

from collections.abc import Sequence

from insula.types import Recalled


def choose_limits(limits: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Those of some memories that may stand before the model as limits: the user's own lines that still hold."""
    return tuple(limit for limit in limits if _may_stand(limit))


def _may_stand(recalled: Recalled) -> bool:
    memory = recalled.memory
    told = memory.provenance == "user" and memory.kind != "episodic" and not memory.withheld and bool(memory.line)
    return told and recalled.until is None
