"""Told again: after a compaction, and to a subagent, what the user has said in this session and not taken back.

The text is made by `instructions`; here stands what every sense has, so that it can be switched and called wrong.
"""

from insula.coding.step.instructions.instruction import TOLD_AGAIN as NAME
from insula.coding.step.state import Reading

__all__ = ["ADVICE", "LABEL", "NAME", "fact"]

LABEL = "what you said before still counts"
ADVICE: "dict[int, tuple[str, ...]]" = {}


def fact(reading: Reading) -> str:
    """That something stands; the text itself is made where the ledger is."""
    return f"What the user said in this session still stands ({reading.form})."
