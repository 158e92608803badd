"""How often the next request of a real conversation gets a sentence on what fell short, and what it costs.

People talk there, and answer one another well: nearly each sentence is a false alarm. Who speaks first is taken for the
user, the other for the model, and each reply is given as the response.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from insula.claims import REGISTER
from insula.metacognition import Metacognition
from insula.stats import wilson
from insula_bench.locomo import Conversation, read

Figures = dict[str, Any]

TURNS = 1_000
TALKS = 5
"""So many conversations share the turns."""
FILE = "locomo.json"
CHARS_OF_TOKEN = 4


def heard(folder: Path) -> Figures:
    """What the turns of the conversations in a folder would have been told."""
    path = folder / FILE if (folder / FILE).is_file() else next(iter(sorted(folder.glob("*.json"))))
    return {"heard": asyncio.run(replayed(read(path)[:TALKS], TURNS // TALKS))}


async def replayed(talks: list[Conversation], turns: int) -> Figures:
    """Replay the first turns of each conversation, all sentences on and none withheld."""
    told: list[str] = []
    prompts: list[int] = []
    outcomes: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    every = [name for name in REGISTER if name.startswith("mend.")]
    async with await Metacognition.open(":memory:", embed=None, claims=every) as metacognition:
        metacognition.engine.holdout = 0.0
        for talk in talks:
            for _, (session, message, reply) in zip(range(turns), exchanges(talk), strict=False):
                async with metacognition.turn(talk.name, session, message) as turn:
                    result = turn.finish(reply)
                prompts.append(len(turn.instructions) + len(turn.prompt))
                if turn.mend is not None and turn.mend.said is not None:
                    told.append(turn.mend.said.text)
                if (judged := result.assessment) is not None:
                    outcomes[judged.outcome] += 1
                    flags.update(judged.flags)
    low, high = wilson(len(told), len(prompts))
    return {
        "turns": len(prompts),
        "told": len(told),
        "share": round(len(told) / len(prompts), 4),
        "interval": [round(low, 4), round(high, 4)],
        "tokens_a_turn": round(sum(map(len, told)) / CHARS_OF_TOKEN / len(prompts), 2),
        "of_the_prompt": round(sum(map(len, told)) / sum(prompts), 5),
        "outcomes": dict(outcomes),
        "flags": dict(flags),
        "sentences": Counter(" ".join(text.split()[:8]) for text in told).most_common(),
    }


def exchanges(talk: Conversation) -> Iterator[tuple[str, str, str]]:
    """Session, message and reply, in order; what somebody says in several lines at once is one message."""
    for session, lines in groupby(talk.lines, key=lambda line: line.session):
        spoken = [
            (who, "\n".join(line.text for line in said)) for who, said in groupby(lines, key=lambda one: one.speaker)
        ]
        if spoken and spoken[0][0] != talk.speakers[0]:
            spoken = spoken[1:]
        for (_, message), (_, reply) in zip(spoken[::2], spoken[1::2], strict=False):
            yield session, message, reply
