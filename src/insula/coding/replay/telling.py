"""What the page says of an action, a bar and a moment, in a few words of the project's vocabulary."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from insula.coding.replay import figures
from insula.coding.replay.model import Moment, Point
from insula.coding.replay.timeline import Bar
from insula.coding.replay.visible import visible
from insula.coding.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.coding.step.senses import EVERY, load_sense
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


def felt(sense: str) -> str:
    """What a sense feels."""
    return FELT.get(sense, visible(sense))


def rung(number: int) -> str:
    """The name of a rung."""
    return RUNGS.get(number, f"rung {number}")


def said(text: str) -> str:
    """A text of ours without the sign that tells whose it is."""
    return visible(text.removeprefix(SIGN), LONGEST)


def counted(moment: Moment) -> str:
    """What a sense felt in a moment, and how often."""
    count = figures.tokens(moment.count) if moment.sense == "o2" else figures.number(moment.count)
    if moment.sense in _COUNTED:
        return _COUNTED[moment.sense].format(count)
    return FELT.get(moment.sense) or f"{visible(moment.sense)}: {count}"


@dataclass(slots=True)
class _Texts:
    """Each text once, by number."""

    numbers: dict[str, int] = field(default_factory=lambda: {"": 0})

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def told(row: Sequence[Bar]) -> str:
    """What the page says of each bar, as JSON that cannot end the element it stands in."""
    texts = _Texts()
    facts = [_facts(bar, texts) for bar in row]
    plain = json.dumps({"texts": list(texts.numbers), "bars": facts}, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        plain = plain.replace(char, f"\\u{ord(char):04x}")
    return plain


def _facts(bar: Bar, text: _Texts) -> list[int | str]:
    """First and last step, headline, whether all went well, and by number: action, error, what was felt, said."""
    face = bar.face
    return [
        bar.points[0].step,
        bar.points[-1].step,
        _headline(bar),
        int(not bar.failed),
        text(visible(face.tool, 40)),
        text(visible(face.target)),
        text(visible(face.error, 120)),
        text(_felt(face)),
        text(said(face.said)),
    ]


def _headline(bar: Bar) -> str:
    face, parts = bar.face, [f"{figures.tokens(bar.tokens)} tokens"]
    if face.at:
        parts.insert(0, figures.clock(face.at))
    if len(bar.points) > 1:
        failed = sum(not point.ok for point in bar.points)
        parts += [figures.many(failed, "error")] * bool(failed) + [f"shown: step {face.step}"]
    if face.agent:
        parts.append("by a subagent")
    return " · ".join(parts)


def _felt(point: Point) -> str:
    parts: list[str] = []
    if point.sense:
        parts.append(felt(point.sense))
    if point.said:
        parts.append(rung(point.rung))
    if point.waste:
        parts.append(f"{visible(point.waste)}: {figures.tokens(point.wasted)} tokens in vain")
    return " · ".join(parts)
