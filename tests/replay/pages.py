"""Made-up sessions that look like real ones, to be shown on a page."""

import random
from collections import Counter
from collections.abc import Sequence

from insula.coding.replay.model import Moment, Replayed, TimelinePoint, Totals
from insula.coding.step.patterns import PATTERNS
from insula.coding.step.senses import chronos, nociception, vestibular
from insula.coding.step.state import Reading, State
from insula.coding.step.wording import write_text

BEGAN = 1_763_110_800.0
"""14 November 2025."""
DAY = 86_400.0
PROJECTS = ("spotter", "atlas-web", "ledger", "notes", "insula")
WORK = (
    ("Read", "read", "src/{project}/pipeline/loader.py"),
    ("Read", "read", "src/{project}/api/routes.py"),
    ("Grep", "read", "def load_ in src/{project}"),
    ("Edit", "edit", "src/{project}/pipeline/loader.py"),
    ("Edit", "edit", "tests/test_loader.py"),
    ("Bash", "execute", "python -m pytest tests/test_loader.py -x -q"),
    ("Bash", "execute", "git diff --stat"),
    ("Bash", "execute", "npm run build -- --mode production"),
    ("WebFetch", "other", "https://docs.example.org/guides/streaming"),
)


def session(seed: int, steps: int = 240, *, stuck: int = 2, points: bool = True) -> Replayed:
    """One session: mostly work that goes well, and so many moments in which it does not."""
    chance = random.Random(seed)
    project = PROJECTS[seed % len(PROJECTS)]
    rows = [_point(chance, step, project, BEGAN + seed % 13 * DAY + step * 21.0) for step in range(1, steps + 1)]
    made = Replayed(
        id=f"{chance.getrandbits(64):016x}",
        host=("claude-code", "claude-code", "codex", "gemini")[seed % 4],
        path=f"~/.claude/projects/{project}/{seed:04d}.jsonl",
        project=project,
        began=rows[0].at,
        ended=rows[-1].at,
        prompts=max(1, steps // 40),
        interrupts=stuck // 2,
        user_steps=[1, *range(37, steps, 41)],
        skipped=Counter({"summary": 3, "unknown event": seed % 3}),
    )
    for _ in range(stuck):
        _get_stuck(chance, made, rows)
    made.readings[chronos.NAME] += 1
    return _counted(made, rows, keep=points)


def totals(sessions: Sequence[Replayed]) -> Totals:
    """As the look counts them."""
    made = Totals(sessions=len(sessions), files=len(sessions) + 1, bytes=1_000_000, seconds=1.5)
    for one in sessions:
        made.hosts[one.host] += 1
        made.began = min(made.began or one.began, one.began)
        made.ended = max(made.ended, one.ended)
        made.add_numbers(one)
        for name in ("skipped", "readings", "rungs"):
            getattr(made, name).update(getattr(one, name))
    every = [moment for one in sessions for moment in one.moments]
    made.worst = sorted(every, key=lambda moment: moment.tokens, reverse=True)[:10]
    return made


def week(count: int = 50, steps: int = 240) -> list[Replayed]:
    """So many sessions, most of them healthy, a few of them bad."""
    return [
        session(seed, steps + (seed * 37) % 160, stuck=(0, 0, 1, 0, 3, 0, 2)[seed % 7], points=seed % 17 != 11)
        for seed in range(count)
    ]


def _point(chance: random.Random, step: int, project: str, at: float) -> TimelinePoint:
    tool, kind, target = chance.choice(WORK)
    ok = chance.random() > 0.06
    spent = int(min(60_000, chance.lognormvariate(6.6 if kind == "edit" else 7.3, 1.1)))
    return TimelinePoint(
        step=step,
        at=at,
        tool=tool,
        target=target.format(project=project),
        ok=ok,
        tokens=spent,
    )


def _get_stuck(chance: random.Random, made: Replayed, rows: list[TimelinePoint]) -> None:
    """Errors in a row, or circles: each louder than the one before."""
    length = chance.randint(5, 24)
    start = chance.randint(0, max(0, len(rows) - length - 1))
    sense = nociception.NAME if chance.random() < 0.6 else vestibular.NAME
    first, said, rung = rows[start], "", 0
    for count, place in enumerate(range(start, min(start + length, len(rows))), 1):
        rung = min(4, 1 + count // 5) if count > 1 else 0
        reading = Reading(sense=sense, count=count, key="k", form="alike" if sense == nociception.NAME else "same")
        speaks = count in {2, 5, 10, 15}
        said = write_text(State(), reading, rung)[0] if speaks else said
        rows[place] = _failing(rows[place], first, sense, rung if speaks else 0, said if speaks else "")
        made.readings[sense] += 1
        made.rungs.update([rung] * speaks)
    last = rows[min(start + length, len(rows)) - 1]
    made.moments.append(
        Moment(
            session=made.id,
            first=first.step,
            last=last.step,
            at=first.at,
            seconds=last.at - first.at,
            tokens=sum(point.tokens for point in rows[start : start + length]),
            sense=sense,
            count=length,
            said=said,
            rung=rung,
            what=f"{first.tool} {first.target}",
            project=made.project,
            host=made.host,
            open=last.step == len(rows),
        )
    )


def _failing(point: TimelinePoint, first: TimelinePoint, sense: str, rung: int, said: str) -> TimelinePoint:
    return TimelinePoint(
        step=point.step,
        at=point.at,
        tool=first.tool,
        target=first.target,
        ok=sense != nociception.NAME,
        tokens=point.tokens,
        sense=sense,
        rung=rung,
        said=said,
    )


def _counted(made: Replayed, rows: list[TimelinePoint], *, keep: bool) -> Replayed:
    made.tool_uses, made.tokens = len(rows), sum(point.tokens for point in rows)
    made.errors = sum(not point.ok for point in rows)
    made.moments.sort(key=lambda moment: moment.tokens, reverse=True)
    made.times_stuck, made.stuck_seconds = len(made.moments), sum(moment.seconds for moment in made.moments)
    made.stuck_tokens = min(sum(moment.tokens for moment in made.moments), made.tokens)
    made.patterns = {
        pattern.id: bool(made.moments) and (made.errors + place) % 3 == 0 for place, pattern in enumerate(PATTERNS[:6])
    }
    made.points = rows if keep else []
    return made
