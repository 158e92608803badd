"""The register of claims: its figures into the package, its table into docs/claims.md.

    insula bench life --claims --half held --data FOLDER > FIGURES.json
    python tools/claims.py FIGURES.json "insula bench life --claims --half held --data …"
    python tools/claims.py [--check]

What was measured is written into `src/insula/claims.json`; without a file the page alone is written anew.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE, FIGURES = ROOT / "docs" / "claims.md", ROOT / "src" / "insula" / "claims.json"
HEAD = """# What Insula says

Every statement that Insula makes about its user, memory, a reply, a call or guidance stands in one register,
`src/insula/claims.py`; one that has no entry can reach neither a model nor a person. Made by `python tools/claims.py`.

A claim is made by default where, of at least 20 judged cases, 95 % are right, and at most one of 1,000 ordinary
messages hears it wrongly (senses of coding agents: [70 % useful, 10 % false](coding-agents.md)). One that is below
that, or not measured, is off, unless the last column says why it is made all the same. `claims` in `insula.toml`
switches some on (`claims = ["doubt.missing"]`, or `INSULA_CLAIMS=doubt.missing`), `Metacognition(store, claims=…)` in a
library, and `insula on SENSE` a sense. `insula status` and the page *What it says* show the same beside how often each
was said to you, and how often you called the answer, or the note, wrong. That is counted from the ledger, without a
word of yours.

**Measured** is how often a claim is made per 1,000 ordinary messages, and how often wrongly; **right** of how many
cases, with the 95 % interval. All claims were switched on, on the half of [ordinary life](benchmarks/life.md) that no
fit read, two weeks of six people, and 377 labelled messages of real conversations, each after none, 13 and 60 facts.
The real conversations are of many people and say nothing of *wish*. Lines before a model count as right where one of
them is what the message asks for. Of senses it is the texts that a reader found useful.

What these figures do not tell was read by hand on the real conversations, each case once, and without answers that the
data lacks: *doubt* was right in none of 4, *doubt.missing* in 1 of 4, *doubt.told* in none of 2, *mend.incomplete* in 1
of 3, *mend.memory* in none of 1, *mend.wrong_language* in 9 of 9. So the first five are off.
"""


def page() -> str:
    """The whole page, by the figures as they stand now."""
    from insula.claims import REGISTER
    from insula.replay.claims import Entry
    from insula.server.page.views.says import grouped

    def rows() -> Iterator[str]:
        yield HEAD
        for group in grouped([Entry(claim=one, on=one.on, yours=None) for one in REGISTER.values()]):
            yield f"## {group.title}\n"
            yield "| claim | what it says | words | measured | right | made | why |\n|---|---|---|---|---|---|---|"
            for row in group.rows:
                made = "yes" if row.on else "**off**"
                words = f"`{REGISTER[row.id].file}`"
                cells = (f"`{row.id}`", row.asserts, words, row.measured, row.right, made, row.why)
                yield f"| {' | '.join(cells)} |"
            yield ""

    return "\n".join(rows()).rstrip() + "\n"


def record(path: Path, command: str) -> None:
    """Take what was measured into the package."""
    day = datetime.now(UTC).date().isoformat()
    found = json.JSONDecoder().raw_decode(path.read_text("utf-8"))[0]
    told = {name: {**one, "command": command, "day": day} for name, one in found.items()}
    FIGURES.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def main(arguments: list[str]) -> int:
    """Write what is asked for; returns 1 where the page is not what it should be."""
    if arguments == ["--check"]:
        return int(PAGE.read_text("utf-8") != page())
    if arguments:
        record(Path(arguments[0]), arguments[1])
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
