"""Which remembered lines may stand before the model, of those that were recalled (K4)."""

from collections.abc import Sequence

from insula.memory.relevance import ANSWERS, BEARS, BESIDE
from insula.turn.instructions import asked_for, may_show
from insula.types import Recalled

DOUBTFUL = 3
"""Lines that stand before the model where none likely answers: of 107 that answered all the same 101 were among the
first three, where up to ten stood."""
NONE = -9.0
"""What counts as the log-odds of the best line where there is none."""


def is_own_line(recalled: Recalled) -> bool:
    """Whether a memory is a line of the user's own that may stand before the model."""
    return recalled.memory.provenance == "user" and recalled.odds is not None and may_show(recalled)


def best_odds(recalled: Sequence[Recalled], *, by_tools: bool) -> float:
    """The log-odds that the likeliest line answers; `NONE` where there is none.

    Args:
        by_tools: whether what tools brought counts, too. It may come from anybody: it must not open the gate to a
            question of the world ("Which hotel is good?").
    """
    lines = (hit for hit in recalled if may_show(hit) and (by_tools or hit.memory.provenance == "user"))
    return max((hit.odds for hit in lines if hit.odds is not None), default=NONE)


def largest_overlap(recalled: Sequence[Recalled]) -> float:
    """The largest share of what is asked that stands in one of the user's lines, in [0, 1]."""
    return max((hit.parts.get("overlap", 0.0) for hit in recalled if is_own_line(hit)), default=0.0)


def choose_lines(recalled: Sequence[Recalled], most: int) -> tuple[Recalled, ...]:
    """The lines that likely answer, the likeliest first: the user's own, then what others said.

    Args:
        most: how many of the user's own may stand before the model, where one likely answers.

    What a newer line ended may be less likely, and stands beside that line, called so.
    """
    own = [(hit.odds, hit) for hit in recalled if hit.odds is not None and is_own_line(hit)]
    best = max((odds for odds, _ in own), default=NONE)
    least, most = max(best - BESIDE, BEARS), most if best >= ANSWERS else min(most, DOUBTFUL)
    near = [(odds, hit) for odds, hit in own if odds >= least - (0.0 if hit.until is None else BESIDE)]
    near.sort(key=lambda pair: (-pair[0], -pair[1].memory.id))
    others = (hit for hit in recalled if hit.memory.provenance != "user" and may_show(hit))
    return (*(hit for _, hit in near[:most]), *others)


def choose_sure_lines(recalled: Sequence[Recalled], most: int) -> tuple[Recalled, ...]:
    """Those of them that are likelier to answer than not."""
    return tuple(
        line for line in choose_lines(recalled, most) if line.bearing in {"answers", "history"} or asked_for(line)
    )


def choose_limits(limits: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Those of some memories that may stand before the model as limits: the user's own lines that still hold.

    A limit bears on an answer though nobody asks for it: an allergy where a dinner is asked for, a day taken. A head
    tells it from the meanings of both (`limit_odds` in `insula.language.heads`; docs/explanation/heads.md).
    """
    return tuple(limit for limit in limits if _may_limit(limit))


def _may_limit(recalled: Recalled) -> bool:
    memory = recalled.memory
    told = memory.provenance == "user" and memory.kind != "episodic" and not memory.withheld and bool(memory.line)
    return told and recalled.until is None
