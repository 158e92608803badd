"""Against the user's words: a call that does what the user has ruled out in this session, or in a rule of theirs.

What they rule out stands in the ledger of the session (`instructions/`). A hook judges a call with its arguments,
and notes what it breaks; where only the action is at hand, its path, its programs and its acts are judged.
"""

from insula.coding.step.action import EDIT, EXECUTE, Action
from insula.coding.step.instructions.instruction import RULE
from insula.coding.step.ladder import AHEAD
from insula.coding.step.state import Reading, State

NAME = "against_words"
LABEL = "against your words"


def feel(state: State, action: Action) -> Reading | None:
    """Whether the user has ruled this out."""
    if not (action.ok or action.failed):
        return None
    breaks = action.breaks or _find_breach(state, action)
    if not breaks:
        return None
    word, said, how, target = breaks
    kind = RULE if any(each.id == word and each.holds == RULE for each in state.words) else ""
    return Reading(sense=NAME, count=1, key=make_key(state, word), form=how, label=target, said=said, kind=kind)


foresee = feel


def make_key(state: State, word: str) -> str:
    """What a breach of an instruction is known by: once after each message of the user's is enough."""
    return f"word {word} {state.carry.user_turn}"


def name_allowed(state: State, breaks: "tuple[str, ...]") -> str:
    """What a breach that the user has let pass is known by: this file, or this act, and not all that is ruled out."""
    word, _, how, target = breaks
    program, *rest = target.split()
    is_act = how == "runs" and rest and not rest[0].startswith("-")
    return f"allowed {make_key(state, word)} {f'{program} {rest[0]}' if is_act else target}"


def _find_breach(state: State, action: Action) -> tuple[str, ...]:
    if not state.words or action.kind not in {EDIT, EXECUTE}:
        return ()
    from insula.coding.step.instructions.breach import find_breach, read_action

    return find_breach(state.words, read_action(action.kind, action.target), "")


_DOES = {
    "edits": ("This call changes", "This call has changed"),
    "deletes": ("This call deletes", "This call has deleted"),
    "runs": ("This call runs", "This call has run"),
    "writes": ("This call writes", "This call has written"),
}


def fact(reading: Reading) -> str:
    """What the user has said, and what is done against it."""
    does = _DOES[reading.form][0 if reading.ahead else 1]
    when = "said in an earlier session" if reading.kind == RULE else "said"
    return f'The user {when}: "{reading.said}" {does} `{reading.label}`.'


ADVICE = {
    AHEAD: ("If it was made without their word, undo it where that loses nothing, and tell them.",),
    0: (
        "Undo it where that loses nothing, and tell them what happened.",
        "Say so plainly, and ask before you go on with it.",
    ),
}
