"""Users of the load test who have talked for years, and ask with words that stand in most of what they said."""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_statements
from insula.memory.item import NewItem, new_item
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import encode_claims
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Vector, embed_normalised
from insula.text.analysis import analyse_text
from insula.types import Controls
from insula_bench.load_sessions import COMMON, SEED, Session, drawn

USERS, LINES = 3, 4_000
"""Of whom, and how many each has said: two thirds of these are more than recall reads of one word."""
SHARE = 2 / 3
"""Of the lines, those that hold each of the common words."""
SESSIONS = 60
DAY = 86_400.0
_ALL = Controls(consolidation_threshold=0.0, stm_capacity=LINES)


async def talked(path: str | Path) -> None:
    """Write what they said into a store."""
    async with await Store.open(path) as store:
        for number in range(USERS):
            chance = random.Random(f"{SEED} years {number}")
            place = await store.resolve_place(_name(number), "years")
            since = store.now() - LINES * DAY / 10
            await store.sessions.add_lines(place, ((item, since + at * DAY / 10) for at, item in _lines(chance)), _ALL)


def people(port: int) -> list[Session]:
    """Their sessions of today."""
    found = [Session(port, _name(number % USERS), number) for number in range(SESSIONS)]
    for one in found:
        one.settled = True
    return found


def _name(number: int) -> str:
    return f"years{number}"


def _lines(chance: random.Random) -> Iterator[tuple[int, NewItem]]:
    meaning = cache(_meaning)
    for number in range(LINES):
        shape, text = drawn(chance, settled=True)
        said = " ".join(f"There was the {word}." for word in COMMON if chance.random() < SHARE)
        analysis = analyse_text(f"{text} {said}")
        stated = [told._replace(vector=meaning(shape)) for told in extract_statements(analysis, USER, ASSISTANT)]
        item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), (), stated)
        yield number, item._replace(vector=meaning(shape))


def _meaning(shape: str) -> Vector:
    return embed_normalised(embed_text, shape)
