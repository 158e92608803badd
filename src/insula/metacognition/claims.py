"""How often each claim of the register was made to a user, as the ledger has it; no text is read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from insula.claims import REGISTER
from insula.memory.storage.rows import StoredSignal
from insula.types import JUDGED, TURN
from insula.value import is_list


class ClaimCount(NamedTuple):
    """How often a claim was made."""

    made: int
    of: int
    """Messages or calls in which it could have been."""
    wrong: int
    """Of those, how many the user called wrong: the answer that it stood beside, or the note itself."""


KINDS = (TURN, JUDGED)
"""The signals that are counted."""
OF_TURNS = tuple(name for name, claim in REGISTER.items() if claim.counted and claim.place in {"request", "reply"})
"""The claims that a turn makes by itself; all others are made to who asks."""


def count_claims(noticed: Sequence[StoredSignal]) -> Mapping[str, ClaimCount]:
    """How often each claim of a turn was made, of the turns whose record says so; empty where none does.

    Args:
        noticed: the signals of `KINDS`.
    """
    wrong_turns = {
        (signal.session_id, signal.turn)
        for signal in noticed
        if signal.kind == JUDGED and signal.data.get("right") is False
    }
    turns = [
        (signal, named) for signal in noticed if signal.kind == TURN and is_list(named := signal.data.get("claims"))
    ]
    made = Counter(name for _, named in turns for name in named)
    wrong = Counter(
        name for signal, named in turns if (signal.session_id, signal.turn) in wrong_turns for name in named
    )
    return {name: ClaimCount(made[name], len(turns), wrong[name]) for name in OF_TURNS} if turns else {}
