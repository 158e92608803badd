"""How the service stands, in words."""

from collections.abc import Sequence

from insula.memory.storage.rows import LedgerEntry
from insula.operations.adaptations import CAUSES
from insula.server.page.views import words
from insula.session.adaptation import Cause
from insula.session.conditions import describe_slowdown
from insula.session.ring import Ring
from insula.session.snapshot import Performance
from insula.types import Controls
from insula.value import is_object


def describe_now(performance: Performance, ring: Ring, recent: Sequence[LedgerEntry], normal: Controls) -> str:
    """How the service stands, in two sentences.

    Args:
        recent: the records of the user's last turns, the latest first.
        normal: what a turn may use where nothing is amiss.
    """
    slow, used = performance.slowdown, ring.last.stm_utilization if ring.last else None
    parts = [
        describe_slowdown(slow) if slow is not None else "",
        f"working memory is {words.format_percent(used)} full" if used is not None else "",
    ]
    said = " and ".join(part for part in parts if part)
    state = f"{said[0].upper()}{said[1:]}." if said else "There is too little to say whether the model is slow."
    return f"{state} {_describe_limit(ring, recent, normal)}"


def _describe_limit(ring: Ring, recent: Sequence[LedgerEntry], normal: Controls) -> str:
    """What the user's last answer could use: other users' conversations may be under another load."""
    allowed = recent[0].data.get("controls") if recent else None
    limit = allowed.get("max_context_items") if is_object(allowed) else None
    if not isinstance(limit, int | float) or limit >= normal.max_context_items:
        return f"Up to {normal.max_context_items} memories go into an answer, as usual."
    moves: list[Cause] = [
        adaptation.reason
        for adaptation in ring.adaptations
        if adaptation.lever == "max_context_items" and adaptation.reason != "stable"
    ]
    why = f"Because {CAUSES.get(moves[-1], moves[-1])}, up" if moves else "Up"
    return f"{why} to {limit:.0f} memories went into your last answer instead of {normal.max_context_items}."
