"""docs/images/moment.svg: the run of examples/moment.py as a moving picture, `python tools/moving.py`.

Every text in it is a line of the run. Where nothing moves (reduced motion, print), all lines are there.
"""

import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "moment.svg"
sys.path.append(str(ROOT / "examples"))

from moment import Line, coding, remembering  # noqa: E402 an example is no package

WIDTH, ROW, TOP, LEFT, MARGIN = 900, 20, 34, 96, 24
COLUMNS = 92
"""Characters of a row."""
SECONDS = {"user": 0.4, "model": 0.35, "tool": 0.12, "insula": 3.0}
"""How long each line is alone before the next: the first note stands there within three seconds."""
HOLD = 12.0
"""How long the whole stands before it begins anew."""
TITLES = ("a coding agent, stuck", "an answer that ignores memory")
FOOT = "scripted model; the commands, their results and Insula's lines are those of the run: python examples/moment.py"
STYLE = """\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
.who{fill:#6f7a8f}.title{fill:#8f9bb3;letter-spacing:.06em}.user{fill:#eef1f7}.model{fill:#c3cbd9}.tool{fill:#8f9bb3}
.wrong{fill:#f0907f}.right{fill:#8fd19e}.insula{fill:#c9b8ff}.foot{fill:#6f7a8f;font-size:12px}
"""


def picture(scenes: Sequence[Sequence[Line]]) -> str:
    """The whole file."""
    lines = [line for scene in scenes for line in scene]
    begins = list(accumulate((SECONDS[line.kind] for line in lines), initial=0.4))
    total = begins[-1] + HOLD
    moves = "".join(_move(place, 100 * begin / total) for place, begin in enumerate(begins[:-1]))
    still = "@media (prefers-reduced-motion:reduce),print{g{animation:none!important}}\n"
    drawn, bottom = _drawn(scenes, total)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 40}" role="img" '
        f'aria-labelledby="t d">\n<title id="t">{escape(" · ".join(TITLES))}</title>\n'
        f'<desc id="d">{escape(" / ".join(f"{line.kind}: {line.text}" for line in lines))}</desc>\n'
        f"<style>\n{STYLE}{moves}{still}</style>\n"
        f'<rect width="{WIDTH}" height="{bottom + 40}" rx="10" fill="#1d212b"/>\n{drawn}'
        f'<text class="foot" x="{MARGIN}" y="{bottom + 18}">{escape(FOOT)}</text>\n</svg>\n'
    )


def _move(place: int, percent: float) -> str:
    return f"@keyframes k{place}{{0%,{percent:.2f}%{{opacity:0}}{percent + 0.6:.2f}%,100%{{opacity:1}}}}\n"


def _drawn(scenes: Sequence[Sequence[Line]], total: float) -> tuple[str, int]:
    """The lines of all scenes, and where they end."""
    parts: list[str] = []
    y, place = TOP, 0
    for title, scene in zip(TITLES, scenes, strict=True):
        parts.append(f'<text class="title" x="{MARGIN}" y="{y}">{escape(title)}</text>\n')
        y += ROW + 6
        before = ""
        for line in scene:
            rows = list(_rows(line, y, "" if line.kind == before else line.kind))
            parts.append(f'<g style="animation:k{place} {total:.1f}s linear infinite">{"".join(rows)}</g>\n')
            y, place, before = y + ROW * (len(rows) - (line.kind != before)), place + 1, line.kind
        y += ROW
    return "".join(parts), y


def _rows(line: Line, y: int, who: str) -> Iterator[str]:
    if who:
        yield f'<text class="who" x="{MARGIN}" y="{y}">{who}</text>'
    for row, text in enumerate(textwrap.wrap(line.text, COLUMNS)):
        yield f'<text class="{_class(line)}" x="{LEFT}" y="{y + ROW * row}">{escape(text)}</text>'


def _class(line: Line) -> str:
    if line.text.startswith(("OK", "✓")):
        return "right"
    return "wrong" if line.kind == "tool" and "Error:" in line.text else line.kind


if __name__ == "__main__":
    PICTURE.write_text(picture((coding(), remembering())), "utf-8")
