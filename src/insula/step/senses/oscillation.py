"""Oscillation: changes of a file that undo each other, whatever lies between, and edits that are taken back.

To break a thing on purpose and mend it again, once or with another change each time, is how tests are tested: only what
is done again after it was undone counts, or what was undone for the third time, or thrown away for the second.
"""

from insula.step.action import CODE, EDIT, Action
from insula.step.command import DISCARDS, RESETS, STASHES
from insula.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.step.state import EDITS, Edit, Reading, State

NAME = "oscillation"
LABEL = "undoes what it has done"
CLIMBS = True

THROWN = 2
"""Times that edits of the same file were thrown away."""
UNDONE = 3
"""Times that an edit was undone by another."""
_TAKE_BACK = frozenset((DISCARDS, RESETS, STASHES))


def follow(edits: tuple[Edit, ...], action: Action) -> tuple[Edit, ...]:
    """The edits that are looked back on, after an action."""
    if not action.ok or not action.ran:
        return edits
    if action.kind == EDIT and (action.before or action.after):
        undo = any(_undoes(action, one) for one in edits)
        done = Edit(
            target=action.target,
            before=action.before,
            after=action.after,
            turn=action.nth,
            undo=undo,
            label=action.label,
            code=action.role == CODE,
        )
        return (*edits, done)[-EDITS:]
    if not _TAKE_BACK & set(action.acts):
        return edits
    gone = [one for one in standing(edits) if _named(one.target, action.touches)]
    thrown = {one.target: Edit(target=one.target, turn=action.nth, undo=True, label=one.label) for one in gone}
    return (*edits, *thrown.values())[-EDITS:]


def _undoes(action: Action, one: Edit) -> bool:
    if one.target != action.target or not (one.before or one.after):
        return False
    if action.before or one.before:
        return (one.before, one.after) == (action.after, action.before)
    return False


def standing(edits: tuple[Edit, ...], turn: int = 0) -> list[Edit]:
    """The edits that were not thrown away, or not before a turn."""
    thrown = {one.target: one.turn for one in edits if _is_thrown(one) and (not turn or one.turn < turn)}
    return [one for one in edits if not _is_thrown(one) and one.turn > thrown.get(one.target, 0)]


def _is_thrown(one: Edit) -> bool:
    return one.undo and not one.before and not one.after


def _named(target: str, touches: tuple[str, ...]) -> bool:
    """Whether a path is among those that a command names; all are where it names none."""
    paths = [path.removeprefix("./").rstrip("/") for path in touches if not path.startswith("HEAD")]
    return not paths or any(target.endswith(path) or f"/{path}/" in f"/{target}" for path in paths)


def feel(state: State, action: Action) -> Reading | None:
    """Whether what was done is undone and done again."""
    if not state.edits or state.edits[-1].turn != action.nth or not (action.kind == EDIT or action.acts):
        return None
    last = state.edits[-1]
    own = _at_once([one for one in state.edits if one.target == last.target])
    if _is_thrown(last):
        count = sum(map(_is_thrown, own))
        return _reading("thrown", count, own) if count >= THROWN else None
    if not _back_and_forth(own):
        return None
    return _reading("undone", sum(one.undo for one in own), own)


def _at_once(own: list[Edit]) -> list[Edit]:
    """The changes of a file, of which those that make the same replacement one after the other are one: a rename."""
    return [
        one
        for before, one in zip([None, *own], own, strict=False)
        if before is None or _is_thrown(one) or (before.before, before.after) != (one.before, one.after)
    ]


def _back_and_forth(own: list[Edit]) -> bool:
    last = own[-1]
    again = [place for place, one in enumerate(own[:-1]) if (one.before, one.after) == (last.before, last.after)]
    redone = last.before != "" and bool(again) and any(one.undo for one in own[again[-1] + 1 : -1])
    rewritten = last.before == "" and bool(again) and len(own) - 1 - again[-1] > 1 and len(again) > 1
    return redone or rewritten or (last.undo and sum(one.undo for one in own) >= UNDONE)


def _reading(form: str, count: int, own: list[Edit]) -> Reading:
    last = own[-1]
    return Reading(sense=NAME, count=count, key=f"swing {last.target}", first=own[0].turn, form=form, label=last.label)


# What is said of it.


def fact(reading: Reading) -> str:
    """What is seen, in our words and in the agent's own paths."""
    what = f"`{reading.label}`" if reading.label else "the same file"
    if reading.form == "thrown":
        return f"Edits of {what} have now been thrown away {reading.count} times."
    return (
        f"The same change of {what} has been made, undone and made again."
        if reading.count < UNDONE
        else (f"Changes of {what} have undone each other {reading.count} times.")
    )


ADVICE = {
    AWARENESS: (
        "What speaks for each of the two versions, and what would decide between them?",
        "One observation that tells the versions apart would settle it.",
    ),
    SOCRATIC: (
        "Which requirement does each version break? If both break one, the place to change lies elsewhere.",
        "What did you learn from the version before that is not yet written down?",
    ),
    DIRECTIVE: (
        "Write down what each version does wrong before you change it again, and look for a third way.",
        "Leave the file as it is until one check has told which version is right.",
    ),
    FLAG: ("Both versions seem to have a cost that only the user can weigh: put the choice to them.",),
}
