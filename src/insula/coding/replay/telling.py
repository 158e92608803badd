"""What the page says of an action, a bar and a moment, in a few words of the project's vocabulary."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from insula.coding.replay import figures
from insula.coding.replay.model import GivenWord, Moment, TimelinePoint
from insula.coding.replay.timeline import TimelineBar
from insula.coding.replay.visible import show_safely
from insula.coding.step.instructions.instruction import ASKED
from insula.coding.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.coding.step.senses import EVERY, load_sense, unmet
from insula.coding.step.wording import LONGEST, SIGN

FELT: dict[str, str] = {name: load_sense(name).LABEL for name in EVERY}
"""What each sense feels, in a word."""
RUNGS = {0: "information", AWARENESS: "awareness", SOCRATIC: "Socratic", DIRECTIVE: "directive", FLAG: "flag to user"}
_COUNTED = {
    "nociception": "failed in {} turns",
    "vestibular": "{} repeats",
    "o2": "{} tokens per call",
    "chronos": "{} turns without the user",
    "spatial": "{} importers",
}


def name_feeling(sense: str) -> str:
    """What a sense feels."""
    return FELT.get(sense, show_safely(sense))


def name_rung(number: int) -> str:
    """The name of a rung."""
    return RUNGS.get(number, f"rung {number}")


def show_text(text: str) -> str:
    """A text of ours without the sign that tells whose it is."""
    return show_safely(text.removeprefix(SIGN), LONGEST)


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


@dataclass(slots=True)
class _Texts:
    """Each text once, by number."""

    numbers: dict[str, int] = field(default_factory=lambda: {"": 0})

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def dump_bars(row: Sequence[TimelineBar]) -> str:
    """What the page says of each bar, as JSON that cannot end the element it stands in."""
    texts = _Texts()
    facts = [_list_facts(bar, texts) for bar in row]
    plain = json.dumps({"texts": list(texts.numbers), "bars": facts}, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        plain = plain.replace(char, f"\\u{ord(char):04x}")
    return plain


def _list_facts(bar: TimelineBar, text: _Texts) -> list[int | str]:
    """First and last step, headline, whether all went well, and by number: action, error, what was felt, said."""
    face = bar.face
    return [
        bar.points[0].step,
        bar.points[-1].step,
        _write_headline(bar),
        int(not bar.failed_share),
        text(show_safely(face.tool, 40)),
        text(show_safely(face.target)),
        text(show_safely(face.error, 120)),
        text(_describe_point(face)),
        text(show_text(face.said)),
    ]


def _write_headline(bar: TimelineBar) -> str:
    face, parts = bar.face, [f"{figures.format_tokens(bar.tokens)} tokens"]
    if face.at:
        parts.insert(0, figures.format_clock(face.at))
    if len(bar.points) > 1:
        failed = sum(not point.ok for point in bar.points)
        parts += [figures.format_count(failed, "error")] * bool(failed) + [f"shown: step {face.step}"]
    if face.agent:
        parts.append("by a subagent")
    return " · ".join(parts)


def _describe_point(point: TimelinePoint) -> str:
    parts: list[str] = []
    if point.sense:
        parts.append(name_feeling(point.sense))
    if point.said:
        parts.append(name_rung(point.rung))
    return " · ".join(parts)
