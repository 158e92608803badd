"""What was spent in vain: by the kind of a call, about how many tokens it brought into the context for nothing."""

import re

from insula.coding.replay.model import FAILURE, HUGE, REREAD, STALE_EDIT
from insula.coding.step.action import EDIT, EXECUTE, READ, Action
from insula.coding.step.failure import are_similar

CHARS_PER_TOKEN = 4
"""The usual estimate for English and code, where a transcript counts no tokens of single calls."""
HUGE_TOKENS = 10_000
"""Tokens of one output that are huge: from there on Claude Code warns of an MCP tool's output (its documentation,
"MCP output limits and warnings"). What lies above counts as waste."""
REMEMBERED = 2_000
"""Reads of an agent that are remembered."""
_SHOWS = re.compile(r"\s*(?:cat|head|tail|nl|sed -n)\s[^|;&<>]*")
"""Commands that show a file and do nothing else."""

Window = tuple[Action, ...]
Waste = tuple[str, int]
NONE: Waste = ("", 0)


def count_tokens(action: Action) -> int:
    """About how many tokens a call and its result are."""
    return action.chars // CHARS_PER_TOKEN


class Ledger:
    """What one agent has in its context, as far as it bears on waste."""

    def __init__(self) -> None:
        self._reads: dict[str, tuple[str, str]] = {}

    def judge(self, window: Window, output: int) -> Waste:
        """What the last action of the window was in vain.

        Args:
            window: the last actions.
            output: characters of the last one's output.
        """
        action = window[-1]
        if not action.ran:
            return NONE
        if not action.ok:
            return self._failed(window)
        if action.kind == EDIT:
            self._changed(action)
        elif _only_shows(action) and self._again(action):
            return REREAD, count_tokens(action)
        over = output // CHARS_PER_TOKEN - HUGE_TOKENS
        return (HUGE, over) if over > 0 else NONE

    def forget(self) -> None:
        """The context was compacted: what was read before may well be read again."""
        self._reads.clear()

    def _failed(self, window: Window) -> Waste:
        if window[-1].kind == EDIT:
            return STALE_EDIT, count_tokens(window[-1])
        last, before = window[-1], next((past for past in reversed(window[:-1]) if past.nth != window[-1].nth), None)
        if before is None or not last.failed or not before.failed:
            return NONE
        again = are_similar(last.error, before.error) if last.error and before.error else last.call == before.call
        return (FAILURE, count_tokens(last)) if again else NONE

    def _changed(self, action: Action) -> None:
        """Of a long result only the ends are compared, so an edit ends what was known of its file."""
        kept = {call: read for call, read in self._reads.items() if read[1] not in {"", action.target}}
        self._reads = kept

    def _again(self, action: Action) -> bool:
        before = self._reads.pop(action.call, ("", ""))
        self._reads[action.call] = (action.result, action.target if action.kind == READ else "")
        if len(self._reads) > REMEMBERED:
            del self._reads[next(iter(self._reads))]
        return before[0] == action.result != ""


def _only_shows(action: Action) -> bool:
    return action.kind == READ or (action.kind == EXECUTE and _SHOWS.fullmatch(action.target) is not None)
