"""What the agent is told: awareness, not commands; short; no word of a file's or a tool's (law 10).

A text is a fact and, where there is one left, a word on what to make of it. No sentence is said twice in a session.
"""

from insula.coding.step.digests import hash_text
from insula.coding.step.ladder import AHEAD
from insula.coding.step.senses import load_sense
from insula.coding.step.state import SENTENCES, Reading, State

_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def write_number(count: int) -> str:
    """A number as it is written in a sentence."""
    return _SMALL[count] if 0 <= count < len(_SMALL) else str(count)


def join_names(names: "tuple[str, ...]") -> str:
    """Names in a row: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


SIGN = "[insula] "
"""Begins every text of ours, so that a reader knows whose it is."""
LONGEST = 400
"""Characters of a text (P2)."""
_SIZE = 8


def write_text(state: State, reading: Reading, rung: int = 0) -> "tuple[str, tuple[str, ...]]":
    """What to say of a reading, from a rung of the ladder where it climbs; empty where it has all been said.

    With it the sentences that were said in the session, those of the text among them.
    """
    sense = load_sense(reading.sense)
    fact = sense.fact(reading)
    if hash_text(fact, _SIZE) in state.said:
        return "", state.said
    advices = sense.ADVICE.get(AHEAD if reading.ahead else rung, ())
    advice = next((each for each in advices if hash_text(each, _SIZE) not in state.said), "")
    text = f"{SIGN}{fact} {advice}".rstrip()[:LONGEST]
    said = [fact, *(each for each in advices if each in text)]
    return text, (*state.said, *(hash_text(each, _SIZE) for each in said))[-SENTENCES:]


def write_question(reading: Reading) -> str:
    """What the host asks the user before a call that their own words rule out."""
    return f"{SIGN}{load_sense(reading.sense).fact(reading)}"[:LONGEST]
