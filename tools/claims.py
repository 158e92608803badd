"""The register of claims: its figures into the package, its table into docs/reference/claims.md.

    insula bench life --claims --half held --data FOLDER > FIGURES.json
    python tools/claims.py FIGURES.json "insula bench life --claims --half held --data …"
    python tools/claims.py [--check]

What was measured is written into `src/insula/claims.json`, where the entries stand; without a file the page alone is
written anew.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE, FIGURES = ROOT / "docs" / "reference" / "claims.md", ROOT / "src" / "insula" / "claims.json"
HEAD = """# What Insula says

Every sentence that Insula says has an entry in one register, `src/insula/claims.json`: sentences about the user,
memory, a reply, a tool call or guidance. A sentence without an entry reaches neither a model nor a person.
`python tools/claims.py` writes this page.

A claim is on by default if it was right in 95 % of at least 20 judged cases, and wrong in at most 1 of 1,000 ordinary
messages. (A sense of coding agents has [a bar of its own](../how-to/coding-agents.md#the-senses).) A claim below the
bar is off, unless the last column says why it is on. Three ways to switch one on:

* `claims = ["doubt.missing"]` in `insula.toml`, or `INSULA_CLAIMS=doubt.missing`;
* `Metacognition(store, claims=…)` in Python;
* `insula on SENSE` for a sense.

`insula status` and the page *What it says* add two figures of your own: how often each was said to you, and how often
you called the answer or the note wrong.

**Measured**: how often the claim is made per 1,000 ordinary messages, and how often it is wrong. **Right**: the share
of judged cases that are right, with its 95 % interval. All claims were switched on for this. The data are the half of
[ordinary life](../benchmarks/life.md) that nothing was fitted on (two weeks of six people), and 377 labelled messages
of real conversations, each after 0, 13 and 60 stored facts. The real conversations are not used for *wish*, and
for *forget* they are development: four of its mistakes on them stand in its data. A line of
memory counts as right if one of the lines shown is what the message asks for. A text of a sense counts as right if a
reader found it useful.

Some cases were read by hand on the real conversations. Right were: *doubt* 0 of 4, *doubt.missing* 1 of 4,
*doubt.told* 0 of 2, *mend.incomplete* 1 of 3, *mend.memory* 0 of 1, *mend.wrong_language* 9 of 9. So the first five are
off.
"""


def page() -> str:
    """The whole page, by the figures as they stand now."""
    from insula.claims import REGISTER
    from insula.cli.status import PLACES, format_measured, format_right
    from insula.coding.replay.claims import ClaimEntry

    def rows() -> Iterator[str]:
        yield HEAD
        for place, title in PLACES.items():
            yield f"## {title}\n"
            yield "| claim | what it says | words | measured | right | made | why |\n|---|---|---|---|---|---|---|"
            for claim in REGISTER.values():
                if claim.place == place:
                    entry = ClaimEntry(claim=claim, on=claim.on, yours=None)
                    made = "yes" if claim.on else "**off**"
                    figures = (format_measured(entry), format_right(entry))
                    cells = (f"`{claim.id}`", claim.asserts, f"`{claim.file}`", *figures, made, claim.kept)
                    yield f"| {' | '.join(cells)} |"
            yield ""

    return "\n".join(rows()).rstrip() + "\n"


def record(path: Path, command: str) -> None:
    """Take what was measured into the package."""
    day = datetime.now(UTC).date().isoformat()
    found = json.JSONDecoder().raw_decode(path.read_text("utf-8"))[0]
    register: dict[str, dict[str, object]] = json.loads(FIGURES.read_text("utf-8"))
    for name, entry in register.items():
        entry.pop("measured", None)
        if name in found:
            entry["measured"] = {**found[name], "command": command, "day": day}
    FIGURES.write_text(json.dumps(register, indent=1, ensure_ascii=False) + "\n", "utf-8")


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
