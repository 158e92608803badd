"""What the agent is told: awareness, not commands; short; no word of a file's, a tool's or the user's (law 10)."""

from insula.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.step.senses import CHRONOS, NOCICEPTION, O2, SPATIAL, Reading

SIGN = "[insula] "
"""Begins every text of ours, so that a reader knows whose it is."""
LONGEST = 400
"""Characters of a text (P2)."""

_ERRORS = {
    AWARENESS: "What they have in common may say more than the next variation will.",
    SOCRATIC: "State the assumption you are working on. What would falsify it? Check that before the next try.",
    DIRECTIVE: "The premise that these tries share is still untested. Step back, and settle it with one small check "
    "before you try again; then take a different way.",
    FLAG: "The user may know what is missing: tell them what you tried, what is settled, and what is open.",
}
_ROUNDS = {
    AWARENESS: "Another round will hardly tell anything new.",
    SOCRATIC: "State what you expected to change between them. If nothing was, the answer is already in your context.",
    DIRECTIVE: "What is missing is probably not in these calls. Name the open question, and what else could answer it.",
    FLAG: _ERRORS[FLAG],
}
_FEELING = {
    "": "{count} similar errors in a row.",
    "again": "The same error {count} times now; the steps between have not touched its cause.",
    "mixed": "The last {count} calls failed, each in another way.",
    "same": "The last {count} calls were the same and gave the same result.",
    "result": "The last {count} calls, though worded differently, gave the same result.",
    "reread": "You have read the same unchanged file {count} times.",
}


def text(reading: Reading, rung: int = 0) -> str:
    """What to say of a reading, from a rung of the ladder where it climbs."""
    return (SIGN + _said(reading, rung))[:LONGEST]


def _said(reading: Reading, rung: int) -> str:
    if reading.sense == O2:
        full = f"; the context is {reading.full:.0%} full" if reading.full else ""
        return (
            f"Your last calls brought about {reading.count / 1000:.0f}k tokens each{full}. "
            "Narrower reads and shorter outputs leave more of the context for the work."
        )
    if reading.sense == CHRONOS:
        minutes = f" and {reading.minutes} minutes" if reading.minutes else ""
        return (
            f"{reading.count} calls{minutes} since the user's last message. "
            "Does what you are doing now still serve it, and what of it is left?"
        )
    if reading.sense == SPATIAL:
        return (
            f"{reading.count} other files import the one that you have just changed. "
            "Their tests show whether they still agree with it."
        )
    if reading.form == "mixed":
        return f"{_felt(reading)} The last thing that worked may be a better place to go on from."
    return f"{_felt(reading)} {(_ERRORS if reading.sense == NOCICEPTION else _ROUNDS)[rung or AWARENESS]}"


def _felt(reading: Reading) -> str:
    if reading.form.startswith("cycle"):
        return f"The last calls are a {reading.form}, gone round {reading.count} times with the same results."
    return _FEELING[reading.form].format(count=reading.count)
