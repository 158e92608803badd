"""Many turns in one process, each session new after two: does memory stay flat?

    PYTHONPATH=tests/chaos python -m long_run [--turns 20000] [--users 1]

Prints resident memory and the time of a turn as it goes on, and the slope of the second half.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from insula import Metacognition

WORDS = ("harbour", "lantern", "orchid", "violin", "canyon", "meadow", "copper", "saddle", "pepper", "basil", "comet")
TURNS_A_SESSION = 2
SAMPLES = 40
TEMPLATES = (
    "My {0} lives in {1}{2} and keeps {2} {3}s.",
    "Where does my {0} live?",
    "From now on, call the {0} project {1}{2}.",
    "Please write two lines about a {0} and a {1}.",
    "I bought {2} {0}s near the {1} on Monday.",
    "What did I buy near the {1}?",
)


class Sample(NamedTuple):
    """How it stands after some turns."""

    turns: int
    megabytes: float
    milliseconds: float
    """Of a turn since the sample before."""
    failed: int
    """Turns so far in which something of Insula failed."""


def resident() -> float:
    """Resident memory of this process, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


async def talk(turns: int, users: int) -> list[Sample]:
    """Talk for some turns; returns how it stood meanwhile."""
    chance, found, failed = random.Random(7), list[Sample](), 0
    step = max(1, turns // SAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        async with await Metacognition.open(Path(folder, "insula.db")) as metacognition:
            began = time.perf_counter()
            for number in range(1, turns + 1):
                words = (chance.choice(WORDS), chance.choice(WORDS), number % 997, chance.choice(WORDS))
                message = TEMPLATES[number % len(TEMPLATES)].format(*words)
                session = f"s{number // TURNS_A_SESSION}"
                async with metacognition.turn(f"u{number // TURNS_A_SESSION % users}", session, message) as turn:
                    turn.finish(f"Noted, {words[0]}.")
                failed += bool(turn.troubles)
                if number % step == 0:
                    found.append(Sample(number, resident(), (time.perf_counter() - began) * 1000 / step, failed))
                    sys.stdout.write("{:7,} turns  {:7.1f} MB  {:6.1f} ms a turn  {} failed\n".format(*found[-1]))
                    sys.stdout.flush()
                    began = time.perf_counter()
    return found


def main() -> None:
    """Talk, and print the slope."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--users", type=int, default=1)
    given = parser.parse_args()
    rows = np.array(asyncio.run(talk(given.turns, given.users)))
    half = rows[len(rows) // 2 :]
    slope = np.polyfit(half[:, 0], half[:, 1], 1)[0] * 1000
    sys.stdout.write(f"slope of the second half: {slope:.3f} MB per 1,000 turns\n")


if __name__ == "__main__":
    main()
