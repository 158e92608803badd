"""Unmet: the agent stops as if it were done, and something that the user demanded has not happened.

Felt where the host hears what is answered to the end of a turn, of all that is missing at once, since a host hears no
second word at the same end, and once for each demand; what the agent says itself that
it left out is not named, and neither is anything at an end that asks a question.
"""

from insula.coding.step.instructions.instruction import ASKED, screen_words
from insula.coding.step.state import Reading, State
from insula.coding.step.wording import join_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.coding.step.instructions.demands import Demand

NAME = "unmet"
LABEL = "what you asked for was not done"


def feel_end(state: State, said: str) -> Reading | None:
    """Whether something that was demanded is missing.

    Args:
        state: when the agent stops; it holds what was done, where a hook has read it.
        said: its last words.
    """
    if state.done is None or not said or not any(instruction.kind == ASKED for instruction in state.words):
        return None
    from insula.coding.step.instructions.demands import ends_with_question, list_unmet

    if ends_with_question(said):
        return None
    unmet = map(_read_unmet, list_unmet(state.words, state.done, said, state.carry.user_at))
    first, *more = [each for each in unmet if each.said and each.key not in state.keys] or [None]
    if first is None:
        return None
    together = first.replace(more=tuple(filter(None, more)))
    while together.more and len(fact(together)) > ROOM:
        together = together.replace(more=together.more[:-1])
    return together


ROOM = 320
"""Characters of the fact, so that what is to be done about it still stands behind it."""


def _read_unmet(demand: "Demand") -> Reading:
    return Reading(
        sense=NAME,
        count=1,
        key=f"unmet {demand.instruction.id} {demand.target}",
        form=demand.why,
        label=demand.missing,
        said=screen_words(demand.instruction.said),
        kind=demand.form,
    )


_NEVER = {
    "command": "`{0}` was not run",
    "check": "no {0} was run",
    "act": "there was no {0}",
}
_FILES = {"changelog": "the changelog", "readme": "the README"}


def fact(reading: Reading) -> str:
    """What the user asked for, and what is missing of it."""
    readings = (reading, *reading.more)
    said = " ".join(f'"{words}"' for words in dict.fromkeys(each.said for each in readings))
    return f"The user asked: {said} Since then {join_names(tuple(map(name_missing, readings)))}."


def name_missing(reading: Reading) -> str:
    """What is missing, as a sentence that goes on."""
    name = "pull request" if reading.label == "pr" else reading.label
    if reading.form == "red":
        return f"`{name}` failed when it was last run"
    if reading.form == "stale":
        return f"code was changed after {'`' + name + '`' if reading.kind == 'command' else 'the last ' + name} was run"
    if reading.kind == "test":
        return "no test was written"
    if reading.kind == "file":
        return f"nothing touched {_FILES.get(name, '`' + name + '`')}"
    return _NEVER[reading.kind].format(name)


ADVICE = {0: ("Do it now, or tell them plainly that it is open.",)}
