"""Made-up sessions, looked back at like real ones, to be shown on a page."""

import random
from collections.abc import Iterator, Sequence

from insula.coding.replay.gather import count_session
from insula.coding.replay.look import Look
from insula.coding.replay.model import Replayed, Totals
from insula.coding.replay.readers import TranscriptCall, UserPrompt, WorkingFolder, make_done
from insula.coding.replay.session import OrderedEvent, Stream

BEGAN = 1_763_110_800.0
"""14 November 2025."""
DAY = 86_400.0
PROJECTS = ("spotter", "atlas-web", "ledger", "notes", "insula")
WORK = (
    ("Read", {"file_path": "src/{project}/pipeline/loader.py"}),
    ("Grep", {"pattern": "def load_", "path": "src/{project}"}),
    ("Edit", {"file_path": "tests/test_loader.py", "old_string": "a", "new_string": "b"}),
    ("Bash", {"command": "git diff --stat"}),
    ("Bash", {"command": "npm run build -- --mode production"}),
    ("WebFetch", {"url": "https://docs.example.org/guides/streaming"}),
)


def session(seed: int, steps: int = 240, *, stuck: int = 2) -> Replayed:
    """One session: mostly work that goes well, and so many moments in which it does not."""
    project = PROJECTS[seed % len(PROJECTS)]
    host = ("claude-code", "claude-code", "codex", "gemini")[seed % 4]
    path = f"~/.claude/projects/{project}/{seed:04d}.jsonl"
    events = _live(random.Random(seed), project, BEGAN + seed % 13 * DAY, steps, stuck)
    return Look(Stream(f"{random.Random(seed).getrandbits(64):016x}", host, path, events)).replayed


def totals(sessions: Sequence[Replayed]) -> Totals:
    """What they add up to."""
    made = Totals(files=len(sessions) + 1, bytes=1_000_000, seconds=1.5)
    for one in sessions:
        count_session(made, one)
    return made


def week(count: int = 19, steps: int = 40) -> list[Replayed]:
    """So many sessions, most of them healthy, a few of them bad, and one without its timeline."""
    made = [session(seed, steps + (seed * 37) % 40, stuck=(0, 0, 1, 0, 3, 0, 2)[seed % 7]) for seed in range(count)]
    made[-1].points = []
    return made


def _live(
    chance: random.Random, project: str, at: float, steps: int, stuck: int
) -> Iterator[tuple[float, OrderedEvent]]:
    """What happens, 21 seconds from call to call; a moment is a row of failures, or of looks at the same file."""
    rows = {start: chance.random() < 0.6 for start in chance.sample(range(steps * 2 // 3), stuck)}
    yield at, WorkingFolder(f"/home/dev/{project}")
    failing, left = False, 0
    for step in range(steps):
        at, left = at + 21.0, left - 1
        if step in rows:
            failing, left = rows[step], chance.randint(5, 24)
        if step % 41 == 0:
            yield at, UserPrompt(at, words="Go on.")
        if left <= 0:
            tool, given = chance.choice(WORK)
            given = {name: value.format(project=project) for name, value in given.items()}
            said = "x" * int(chance.lognormvariate(6.0, 1.1))
            call = TranscriptCall(tool, given, said, at, ok=chance.random() > 0.06)
        elif failing:
            said = f"FAILED tests/test_loader.py::test_load - assert {step} == 3\n1 failed in 0.{step}s"
            call = TranscriptCall("Bash", {"command": "python -m pytest -x -q"}, said, at, ok=False, code=1)
        else:
            call = TranscriptCall("Read", {"file_path": f"src/{project}/api/routes.py"}, "routes = []", at, ok=True)
        yield at, make_done(call)
