"""Untrue: the last words claim what the record of this session contradicts.

A check that was never run or came out red, a commit or a push that nobody made, other files, other counts. Hedged,
planned and past claims are none; where something may have happened out of sight, nothing is said.
"""

from insula.step.state import Reading, State

NAME = "untrue"
LABEL = "claims what did not happen"
CLIMBS = False


def feel_end(state: State, said: str) -> Reading | None:
    """Whether the last words claim what did not happen.

    Args:
        state: when the agent stops; it holds what was done, where a hook has read it.
        said: its last words.
    """
    if state.done is None or not said:
        return None
    from insula.step.naming import label
    from insula.step.word import last_words
    from insula.step.word.claims import untrue
    from insula.step.word.telling import screened

    found = untrue(last_words.told(said), state.done, state.cwd, state.carry.user_at)
    if found is None:
        return None
    what, claim = label(tuple(found.what.split())) or "it", screened(found.said)
    if not claim:
        return None
    return Reading(
        sense=NAME,
        count=1,
        key=f"untrue {found.why} {what}",
        form=found.why,
        label=what,
        said=claim,
        kind=label(tuple(found.real.split())),
    )


_ACTS = {"commit": "no commit was made", "push": "nothing was pushed", "pr": "no pull request was opened"}
_CHECKS = {
    "test": "no test was run",
    "linter": "no linter was run",
    "type check": "no type check was run",
    "build": "no build was run",
}


def fact(reading: Reading) -> str:
    """What the last message says, and what the record has."""
    return f'The last message says: "{reading.said}" In this session {_real(reading)}.'


def _real(reading: Reading) -> str:
    what = reading.label
    if reading.form == "never":
        known = _ACTS.get(what) or _CHECKS.get(what)
        return known or (f"nothing changed `{what}`" if "." in what or what.isupper() else f"`{what}` was not run")
    if reading.form == "red":
        return f"the last {what} failed" if what in _CHECKS else f"`{what}` failed when it was last run"
    if reading.form == "count":
        return f"{reading.kind} tests passed in the last run, not {what}"
    if reading.form == "files":
        return f"{reading.kind} files were changed, not {what}"
    return f"`{reading.kind}` was changed, too"


ADVICE = {0: ("Correct it, or do it now.",)}
