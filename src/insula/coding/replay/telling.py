"""What page and terminal say of a moment and of the user's words, in a few words of the project's vocabulary."""

from insula.coding.replay import figures
from insula.coding.replay.model import GivenWord, Moment
from insula.coding.replay.visible import show_safely
from insula.coding.step.instructions.instruction import ASKED
from insula.coding.step.senses import EVERY, load_sense, unmet

FELT: dict[str, str] = {name: load_sense(name).LABEL for name in EVERY}
"""What each sense feels, in a word."""
_COUNTED = {
    "nociception": "failed in {} turns",
    "vestibular": "{} repeats",
    "o2": "{} tokens per call",
    "chronos": "{} turns without the user",
    "spatial": "{} importers",
}


def describe_moment(moment: Moment) -> str:
    """What a sense felt in a moment, and how often."""
    count = figures.format_tokens(moment.count) if moment.sense == "o2" else figures.format_number(moment.count)
    if moment.sense in _COUNTED:
        return _COUNTED[moment.sense].format(count)
    return FELT.get(moment.sense) or f"{show_safely(moment.sense)}: {count}"


def introduce_moment(moment: Moment) -> str:
    """What a sense felt in a moment, up to where it is said what that began with."""
    return f"{describe_moment(moment)}, {'' if moment.sense == unmet.NAME else 'from '}"


def describe_fate(given: GivenWord) -> str:
    """What became of something that the user said, but for the call that went against it."""
    if given.broken:
        more = len(given.broken) - 1
        return f"broken at step {given.broken[0]}{f' and {figures.format_number(more)} more' if more else ''}"
    kept = "nothing shows that it was left out" if given.kind == ASKED else "nothing shows that it was broken"
    return show_safely(given.unmet) if given.unmet else kept
