"""What the agent is told: awareness, not commands; short; no word of a file's, a tool's or the user's (law 10)."""

from insula.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.step.senses import CHRONOS, NOCICEPTION, O2, SPATIAL, Reading

SIGN = "[insula] "
"""Begins every text of ours, so that a reader knows whose it is."""
LONGEST = 400
"""Characters of a text (P2)."""

_RUNGS = {
    SOCRATIC: "State the assumption you are working on. What would falsify it? Check that before the next try.",
    DIRECTIVE: "This approach is not working. Step back: read the whole of the last result, test one assumption on its "
    "own, and take a different way.",
    FLAG: "Please stop here and tell the user what you tried, what you know by now, and what you need from them.",
}
_FEELING = {
    "same": "The last {count} calls were the same and gave the same result.",
    "result": "The last {count} calls, though worded differently, gave the same result.",
    "reread": "You have read the same unchanged file {count} times.",
}


def text(reading: Reading, rung: int = 0) -> str:
    """What to say of a reading, from a rung of the ladder where it climbs."""
    return (SIGN + _said(reading, rung))[:LONGEST]


def _said(reading: Reading, rung: int) -> str:
    if reading.sense == O2:
        return (
            f"Your last calls took {reading.ratio:.0f} times the tokens of your first ones, "
            f"about {_thousands(reading.count)} each{_full(reading)}. Narrower reads and "
            "shorter outputs leave more of the context for the work."
        )
    if reading.sense == CHRONOS:
        return (
            f"{reading.count} calls and {reading.minutes} minutes since the user's last message. "
            "If the goal has shifted or grown since, this is a good moment to say so."
        )
    if reading.sense == SPATIAL:
        return (
            f"The file you have just changed is imported by {reading.count} other files. "
            "Their callers and tests show whether the change holds for them."
        )
    return f"{_felt(reading)} {_RUNGS[rung]}" if rung > AWARENESS else f"{_felt(reading)} {_aware(reading)}"


def _felt(reading: Reading) -> str:
    if reading.form == "mixed":
        return f"The last {reading.count} calls failed, each in another way."
    if reading.sense == NOCICEPTION:
        return f"{reading.count} similar errors in a row."
    if reading.form.startswith("cycle"):
        return f"The last calls are a {reading.form}, gone round {reading.count} times with the same results."
    return _FEELING[reading.form].format(count=reading.count)


def _aware(reading: Reading) -> str:
    if reading.form == "mixed":
        return "The last thing that worked may be a better place to go on from."
    if reading.sense == NOCICEPTION:
        return "What they have in common may say more than the next variation will."
    return "Another round will hardly tell anything new."


def _full(reading: Reading) -> str:
    return f"; the context is {reading.full:.0%} full" if reading.full else ""


def _thousands(tokens: int) -> str:
    return f"{tokens / 1000:.0f}k" if tokens >= 1000 else str(tokens)
