"""One picture for each concept of the docs, drawn from the words below into docs/images: `python tools/pictures.py`."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

IMAGES = Path(__file__).parent.parent / "docs" / "images"
BOX, GAP, HEIGHT, MARGIN, COLUMNS = 196, 28, 118, 20, 24
STYLE = """\
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#4a5264}
.h{font-size:15px;font-weight:600;fill:#1f2430}
.b{font-size:12px;fill:#6b5bb5}
rect.s{fill:#fff;stroke:#8a94a6;stroke-width:1.5}path{stroke:#6b5bb5;stroke-width:1.6;fill:none}"""


class Step(NamedTuple):
    """A box: what happens there."""

    title: str
    text: str


class Flow(NamedTuple):
    """What follows what, and what leads back to the first."""

    steps: tuple[Step, ...]
    back: str


FLOWS = {
    "flow-message": Flow(
        (
            Step("a message", "“Where does my sister live?” Only this user can have told it."),
            Step("memory", "“My sister Mia lives in Lisbon.” answers it, with a chance of 0.97"),
            Step("the model reads", "the message, and that line with its date; for most messages, nothing more"),
            Step("the reply is checked", "each question answered? right language? what memory says? No second model."),
        ),
        "message, reply and facts are stored; at night, lessons are learned from them",
    ),
    "flow-call": Flow(
        (
            Step("a tool call", "the agent runs pytest; it fails for the third time"),
            Step("trace", "the hook writes one redacted line: kind, target, template of the error"),
            Step("senses", "the same failure in three turns? a circle? against your words?"),
            Step("ladder", "mostly silence; else one sentence, plainer each time"),
        ),
        "the sentence stands beside the result that the model reads",
    ),
    "concept-session": Flow(
        (
            Step("a turn", "its model's pace and working memory are written down"),
            Step("conditions", "slow for this model? working memory full? each begins and ends at its own threshold"),
            Step("controls", "computed anew: fewer memories, a higher bar for keeping, a snapshot sooner"),
        ),
        "the next turn begins from the settings again: nothing was changed",
    ),
    "concept-night": Flow(
        (
            Step("by day", "messages, corrections, thanks, preferences"),
            Step("read", "sessions are summed up; memories that say the same are merged"),
            Step("learn", "a lesson from a second session, or from your own plain words"),
            Step("SOUL.md", "600 words at most, each with its source; what you wrote stays"),
        ),
        "it counts from the next day; a lesson is left out of 1 session in 10 to see whether it helps",
    ),
    "concept-rules": Flow(
        (
            Step("you correct", "in a message, by stopping it, by turning a call down"),
            Step("again", "the second time makes a rule, in your own words, for this project"),
            Step("told", "when a session starts, but for 1 in 10, drawn by lot"),
            Step("measured", "kept or broken, with it and without it"),
        ),
        "a rule that does not help is given up; one that works stays, though nothing fails any more",
    ),
    "concept-replay": Flow(
        (
            Step("transcripts", "what your coding agents have written anyway"),
            Step("the same senses", "each call is folded as the hook folds it"),
            Step("moments", "where it was stuck, what it would have read"),
            Step("rules", "with --learn: what you corrected then is used from now on"),
        ),
        "",
    ),
    "concept-solve": Flow(
        (
            Step("monitor", "how hard is it, which strategy, how many tokens"),
            Step("generate", "a chain of thought, or a program that is run"),
            Step("verify", "equations recomputed, votes and likelihood weighed"),
            Step("answer", "with its confidence, or none and the reason"),
        ),
        "not sure enough: another attempt, by another strategy where one failed",
    ),
}
"""Name of the file -> what is in it."""


def picture(flow: Flow) -> str:
    """The whole file."""
    width = 2 * MARGIN + len(flow.steps) * BOX + (len(flow.steps) - 1) * GAP
    height = 2 * MARGIN + HEIGHT + (30 if flow.back else 0)
    said = "; then ".join(f"{step.title}: {step.text}" for step in flow.steps)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="d">\n'
        f'<desc id="d">{escape(said)}. {escape(flow.back)}</desc>\n<style>{STYLE}</style>\n'
        '<defs><marker id="m" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L10 5L0 10z" style="fill:#6b5bb5;stroke:none"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#f7f6fc"/>\n{"".join(_drawn(flow, width))}</svg>\n'
    )


def _drawn(flow: Flow, width: int) -> Iterator[str]:
    middle, below = MARGIN + HEIGHT // 2, MARGIN + HEIGHT
    for place, step in enumerate(flow.steps):
        x = MARGIN + place * (BOX + GAP)
        yield f'<rect class="s" x="{x}" y="{MARGIN}" width="{BOX}" height="{HEIGHT}" rx="8"/>\n'
        yield f'<text class="h" x="{x + 12}" y="{MARGIN + 26}">{escape(step.title)}</text>\n'
        for row, line in enumerate(textwrap.wrap(step.text, COLUMNS)):
            yield f'<text x="{x + 12}" y="{MARGIN + 48 + 17 * row}">{escape(line)}</text>\n'
        if place:
            yield f'<path d="M{x - GAP + 3} {middle}H{x - 3}" marker-end="url(#m)"/>\n'
    if flow.back:
        first, last = MARGIN + BOX // 2, width - MARGIN - BOX // 2
        yield f'<path d="M{last} {below}V{below + 16}H{first}V{below + 3}" marker-end="url(#m)"/>\n'
        yield f'<text class="b" x="{width // 2}" y="{below + 34}" text-anchor="middle">{escape(flow.back)}</text>\n'


if __name__ == "__main__":
    for name, flow in FLOWS.items():
        (IMAGES / f"{name}.svg").write_text(picture(flow), "utf-8")
