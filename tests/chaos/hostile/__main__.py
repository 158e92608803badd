"""`make hostile`: play everything that means harm, and count what got through.

    python -m hostile [--each N] [--short] [--json]

Exit status 1 where anything is not zero.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hostile.play import PLAYS, Played, every
from hostile.trial import KINDS, Site


def main() -> int:
    """Play; returns the exit status."""
    parser = argparse.ArgumentParser(prog="hostile", description="Play everything that means harm, and count.")
    parser.add_argument(
        "--each", type=int, default=0, help="commands or events that each thing meets; by default 8 and all"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--out", type=Path, help="also write the object to a file")
    parser.add_argument("--only", action="append", choices=list(PLAYS), help="play these alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="insula-hostile-", ignore_cleanup_errors=True) as folder:
        played: list[Played] = []
        for one in every(Site(Path(folder).resolve()).make(), given.each, given.only or ()):
            played.append(one)
            _say(played)
        sys.stderr.write("\n")
    report = counted(played)
    if given.out:
        given.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    sys.stdout.write((json.dumps(report) if given.json else table(report)) + "\n")
    return int(bool(report["troubles"]))


def _say(played: list[Played]) -> None:
    """How far it is, and what is wrong as soon as it is, on standard error."""
    if len(played) % 20 == 0 or played[-1].troubles:
        bad = sum(bool(one.troubles) for one in played)
        sys.stderr.write(f"\r{len(played):6,} tries · {bad} with trouble · {played[-1].play}        ")
        sys.stderr.writelines(f"\n{one}\n" for one in played[-1].troubles)
        sys.stderr.flush()


def counted(played: list[Played]) -> dict[str, object]:
    """What a run came to: for each play how much was tried and how much of each kind was found."""
    rows = {
        play: {
            "things": len({one.thing for one in played if one.play == play}),
            "tries": sum(one.play == play for one in played),
            **{
                kind: sum(any(t.kind == kind for t in one.troubles) for one in played if one.play == play)
                for kind in KINDS
            },
        }
        for play in dict.fromkeys(one.play for one in played)
    }
    found = Counter(trouble for one in played for trouble in one.troubles)
    return {"plays": rows, "troubles": [{**trouble._asdict(), "times": times} for trouble, times in found.items()]}


def table(report: dict[str, object]) -> str:
    """The report for a person."""
    rows: dict[str, dict[str, int]] = report["plays"]  # pyright: ignore[reportAssignmentType]
    names = ("things", "tries", *KINDS)
    lines = [f"{'':14}" + "".join(f"{name:>10}" for name in names)]
    lines += [f"{play:14}" + "".join(f"{row[name]:>10,}" for name in names) for play, row in rows.items()]
    troubles: list[dict[str, object]] = report["troubles"]  # pyright: ignore[reportAssignmentType]
    lines += [f"{one['kind']}: {one['thing']!r} against {one['against']}: {one['what']!r}" for one in troubles]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
