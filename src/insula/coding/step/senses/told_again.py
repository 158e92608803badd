"""Told again: after a compaction, and to a subagent, what the user has said in this session and not taken back.

The text is `word/word.py`'s; here stands what every sense has, so that it can be switched and called wrong.
"""

from insula.coding.step.state import Reading
from insula.coding.step.word.word import TOLD_AGAIN as NAME

__all__ = ["ADVICE", "CLIMBS", "LABEL", "NAME", "fact"]

LABEL = "what you said before still counts"
CLIMBS = False
ADVICE: "dict[int, tuple[str, ...]]" = {}


def fact(reading: Reading) -> str:
    """That something stands; the text itself is made where the ledger is."""
    return f"What the user said in this session still stands ({reading.form})."
