"""Whether a session kept a rule of the user's: judged by the acts that the rule names, as a call is before it is made.

A rule that names nothing which a call shows (no path, program or act) cannot be told, and what cannot be told is no
evidence. What the user says again in the session, in whatever words, is a breach; what they take back ends it there.
"""

import re

from insula.step.word.breach import can_be_judged, judge, read_call
from insula.step.word.ledger import BRIEF, hear, merge, shares
from insula.step.word.said import RULE, SESSION, STANDING, Word, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Record = dict[str, Any]

TOOLS = {"execute": ("bash", "command"), "edit": ("edit", "file_path")}
"""Kind of action -> a tool of that kind, and its argument that holds what is kept of the call."""


def kept(rule: str, records: "Sequence[Record]") -> bool | None:
    """Whether a session kept a rule; None where nobody could tell.

    Args:
        rule: its words, as the user said them.
        records: of the main agent's trace, in order.
    """
    own = tuple(word.replace(holds=SESSION, at=-1.0) for word in hear(rule) if can_be_judged(word))
    if not own:
        return None
    words, names = own, {word.id for word in own}
    for record in records:
        if record.get("e") == "user":
            heard = load(record.get("heard", ()))
            if any(_calls_for(record.get("words"), word) for word in own):
                return False
            if any(_says_again(one, word) for one in heard for word in own):
                return False
            words = merge(words, heard, float(record.get("at", 0.0)))
        elif record.get("e") == "action" and record.get("ran") is not False and _breaks(words, names, record):
            return False
    return True


def _says_again(heard: Word, word: Word) -> bool:
    return heard.kind in STANDING and heard.holds != RULE and shares(heard, word)


def _calls_for(said: object, word: Word) -> bool:
    """Whether a message says no more than the name of what a rule wants: "pnpm!"."""
    names = re.findall(r"[\w.+-]+", said.lower()) if isinstance(said, str) else []
    return bool(word.likes) and word.likes in names and len(names) <= BRIEF


def _breaks(words: "tuple[Word, ...]", names: "set[str]", record: "Record") -> bool:
    """Whether an action breaks one of the words that are a rule's."""
    noted = record.get("breaks")
    if noted and str(noted[0]) in names:
        return True
    tool, argument = TOOLS.get(str(record.get("kind", "")), ("", ""))
    target = record.get("target")
    if not tool or not isinstance(target, str):
        return False
    rule = [word for word in words if word.at < 0 and word.id in names]
    asked = [word for word in words if word.at >= 0]
    found = judge([*rule, *asked], read_call(tool, {argument: target}), "", lambda: ())
    return found is not None and found.word.at < 0
