"""Unmet: the agent stops as if it were done, and something that the user demanded has not happened.

Felt where the host hears what is answered to the end of a turn, once for each demand; what the agent says itself that
it left out is not named, and neither is anything at an end that asks a question.
"""

from insula.coding.step.instructions.instruction import ASKED, screen_words
from insula.coding.step.state import Reading, State

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
    from insula.coding.step.instructions.demands import ends_with_question, find_unmet

    if ends_with_question(said):
        return None
    unmet = find_unmet(state.words, state.done, said, state.carry.user_at)
    words = screen_words(unmet.demand.instruction.said) if unmet else ""
    if unmet is None or not words:
        return None
    demand = unmet.demand
    return Reading(
        sense=NAME,
        count=1,
        key=f"unmet {demand.instruction.id} {demand.target}",
        form=unmet.why,
        label=unmet.missing,
        said=words,
        kind=demand.form,
    )


_NEVER = {
    "command": "`{0}` was not run",
    "check": "no {0} was run",
    "act": "there was no {0}",
}
_ACTS = {"commit": "commit", "push": "push", "pr": "pull request"}
_FILES = {"changelog": "the changelog", "readme": "the README", "test": "no test"}


def fact(reading: Reading) -> str:
    """What the user asked for, and what is missing."""
    return f'The user asked: "{reading.said}" Since then {name_missing(reading)}.'


def name_missing(reading: Reading) -> str:
    """What is missing, as a sentence that goes on."""
    name = _ACTS.get(reading.label, reading.label)
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
