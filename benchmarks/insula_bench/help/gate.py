"""`insula bench help gate`: a small fixed part on the embedded model, so that no sentence changes without its figures.

The figures stand in `gate.json` with a digest of all sentences, which a test compares with the sentences as they are.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from insula.agent.identity import OWN
from insula.claims import quote_claim
from insula.llm.local import EMBEDDED
from insula.text.analysis import LANGUAGES
from insula.turn.instructions import compose_instructions
from insula.types import Memory, Recalled
from insula_bench.help import memory, wishes
from insula_bench.help.asking import Terms, replies
from insula_bench.help.figures import Figures, Outcome, compared
from insula_bench.help.spread import spread

PART = "gate"
FILE = "gate.json"
CONVERSATIONS, WISHES = 40, 20
"""Sixty items: about five minutes on two cores."""
_SHARES = (("memory", "made_up"), ("memory", "right"), ("memory", "refused"), ("wishes", "followed"))


def digest() -> str:
    """A digest of every sentence that may stand before a model, in each language and at each level."""
    return hashlib.sha256("\n\n".join(_texts()).encode()).hexdigest()[:16]


def _texts() -> Iterator[str]:
    at = datetime(2026, 5, 2, tzinfo=UTC)
    line = Memory(
        id=1, kind="semantic", provenance="user", speaker="user", content="A line.", said_at=at, session="s",
        importance=1.0, confidence=1.0, line="A line.",
    )  # fmt: skip
    recalled = [Recalled(memory=line, score=1.0, parts={}, bearing="answers")]
    for language, untold in product(LANGUAGES, (True, False)):
        words = compose_instructions(
            OWN,
            () if untold else recalled,
            untold=untold,
            language=language,
            guidelines="guidelines",
            guidance=["guidance"],
            lessons=[quote_claim("lesson", "a lesson")],
            wishes=["a wish"],
            mend=quote_claim("mend.impasse", "a sentence on the last turn"),
        )
        yield f"{words.instructions}\n\n{words.reminder}"


def run(out: Path) -> int:
    """Measure the fixed part, print it beside the figures before, and write it down.

    Raises:
        ModelError: the embedded model cannot be used.
    """
    before: Figures = json.loads((out / FILE).read_text("utf-8")) if (out / FILE).exists() else {}
    with TemporaryDirectory() as folder:
        after: Figures = {"words": digest(), "model": EMBEDDED, **_measured(Terms(model=EMBEDDED, out=Path(folder)))}
    (out / FILE).write_text(json.dumps(after, indent=1) + "\n", "utf-8")
    for part, mark in _SHARES:
        was, now = before.get(part, {}).get(mark), after[part][mark]
        Console().print(f"{part}, {mark.replace('_', ' ')}: {'–' if was is None else f'{was:.1%}'} → {now:.1%}")
    return 0


def _measured(terms: Terms) -> Figures:
    worlds = spread(memory.worlds(None, ["small"], "dev", 1, 1), CONVERSATIONS)
    asked = wishes.asked(wishes.groups(spread(wishes.wishes("dev"), WISHES), 0), 1)
    held = replies([*memory.requests(worlds, [memory.OURS]), *wishes.requests(asked, [wishes.OURS])], terms)
    made = [*memory.outcomes(worlds, [memory.OURS], held), *wishes.outcomes(asked, [wishes.OURS], held)]
    return {"memory": _shares(made, "small", memory.MARKS), "wishes": _shares(made, "wishes", wishes.MARKS)}


def _shares(made: list[Outcome], source: str, marks: tuple[str, ...]) -> Figures:
    mine = [one for one in made if one.tags[0] == source]
    (alone,) = compared(mine, marks, base="insula")[source]["arms"].values()
    return {"n": alone["n"], "tokens": alone["tokens"], **{m: alone[m]["share"] for m in marks if alone[m]}}
