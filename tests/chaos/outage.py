"""Users talk while the server of PostgreSQL crashes, is away for a minute, and comes back.

    python tests/chaos/outage.py [--users 4] [--seconds 60]

It must show: no turn fails, no acknowledged one is lost, none is written twice.
"""

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import postgres
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition

BEFORE, AFTER = 5.0, 15.0
"""Seconds of talk around the outage."""


async def talk(store: Store, user: str, until: float) -> tuple[list[str], list[float], list[str]]:
    """Say something each second; returns what was acknowledged, how long each turn took, and what was in the way."""
    acknowledged: list[str] = []
    waited: list[float] = []
    troubles: list[str] = []
    mind = Metacognition(store, embed=None)
    while time.monotonic() < until:
        began, message = time.monotonic(), f"My aunt number {len(waited)} lives in Lisbon."
        async with mind.turn(user, "talk", message) as turn:
            turn.finish(f"That makes {len(waited)}.")
        waited.append(time.monotonic() - began)
        troubles += turn.troubles
        acknowledged += [] if turn.troubles else [message]
        await asyncio.sleep(1)
    return acknowledged, waited, troubles


async def away(seconds: float) -> None:
    await asyncio.sleep(BEFORE)
    await asyncio.to_thread(postgres.stop, "immediate")
    await asyncio.sleep(seconds)
    await asyncio.to_thread(postgres.start)


async def measured(url: str, users: int, seconds: float) -> dict[str, object]:
    """What became of the talk."""
    until = time.monotonic() + BEFORE + seconds + AFTER
    lost = twice = 0
    async with await Store.open(url) as store:
        names = [f"u{number}" for number in range(users)]
        outage = asyncio.create_task(away(seconds))
        talks = await asyncio.gather(*(talk(store, name, until) for name in names))
        await outage
        for name, (acknowledged, _, _) in zip(names, talks, strict=True):
            lines = await store.sessions.read_lines(await store.resolve_place(name, "talk"), 10_000)
            said = [line.content for line in lines]
            lost += sum(message not in said for message in acknowledged)
            twice += len(said) - len(set(said))
    return {
        "away_seconds": seconds,
        "turns": sum(len(waited) for _, waited, _ in talks),
        "failed": sum(len(troubles) for *_, troubles in talks),
        "lost": lost,
        "twice": twice,
        "longest_wait_seconds": round(max(max(waited) for _, waited, _ in talks), 1),
    }


def main(users: int, seconds: float) -> int:
    """Run it; returns 0 where everything held."""
    if not postgres.start():
        print(f"insula: {postgres.AWAY}", file=sys.stderr)
        return 1
    with postgres.database(postgres.server()) as url:
        found = asyncio.run(measured(url, users, seconds))
    print(json.dumps(found, indent=2))
    return int(any(found[name] for name in ("failed", "lost", "twice")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    sys.exit(main(given.users, given.seconds))
