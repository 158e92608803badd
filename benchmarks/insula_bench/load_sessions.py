"""The people of the load test: each session says something every few seconds, and remembers what it was answered."""

import asyncio
import json as jsonlib
import random
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from insula_bench.load_client import Connection, get, post

SESSIONS_OF_A_USER = 10
SPREAD = 0.2
"""How far from the mean a pause may be, as a share of it: of 10 s, 8 to 12."""
SEED = 7
PAGE = 100
"""Turns of a transcript that are read at once."""

KIN = ("sister", "brother", "aunt", "uncle", "cousin", "neighbour", "niece", "nephew", "teacher", "colleague")
NAMES = ("Nina", "Tomas", "Ines", "Pavel", "Greta", "Omar", "Yuki", "Carla", "Liam", "Aisha", "Bruno", "Hedda", "Ravi")
CITIES = ("Lisbon", "Porto", "Oslo", "Vienna", "Prague", "Kyoto", "Lima", "Accra", "Galway", "Turin", "Bergen", "Malmo")
TRADES = ("a nurse", "a baker", "an archivist", "a pilot", "a potter", "a vet", "a tailor", "a gardener", "a plumber")
SAID = (
    "My {kin} {name} moved to {city} in May and works as {trade} there.",
    "Please remember that {name}, my {kin}, is allergic to walnuts and lives in {city}.",
    "Where does my {kin} {name} live, and what does {name} do for a living?",
    "Which of my friends should I visit in {city}, if {name} is away this week?",
    "I met {name} in {city} last year; back then {name} was {trade}.",
    "What could I give {name} as a present, now that my {kin} is {trade} in {city}?",
)
"""What people say: facts to be kept, and questions that memory can help with or not."""

COMMON = ("breakfast", "garden")
"""Words that stand in most of what those who have talked for years said."""
ASKED = ("What about the {word}?", "Tell me about the {word}.", "Was the {word} nice?")


class Turn(NamedTuple):
    """A message, and what came of it."""

    message: str
    ms: float
    """From sending the request to having the whole answer."""
    at: float
    """When it was sent, by the monotonic clock."""
    failure: str = ""
    """Why it was not acknowledged; empty where it was."""
    number: int = 0
    response: str = ""
    added_ms: float = 0.0
    """What the server says that metacognition added."""
    model_ms: float = 0.0
    """What the server says that it waited for its model, the client of its model included."""
    snapshot: int | None = None
    """The turn of the service's snapshot that came with it."""


class Session:
    """One conversation over a connection of its own.

    Attributes:
        user: whose it is.
        name: of the session; it begins with the user's.
        turns: what was said, oldest first.
        common: the share of its messages that ask with common words alone.
        settled: whether each of its kin has one name.
    """

    def __init__(self, port: int, user: str, number: int) -> None:
        self.user, self.name = user, f"{user}.s{number}"
        self.turns: list[Turn] = []
        self.common, self.settled = 0.0, False
        self._chance = random.Random(f"{SEED} {self.name}")
        self._connection = Connection(port)

    async def talk(self, until: float, pause: float) -> None:
        """Say something every `pause` seconds or so, and never before the answer to what was said last."""
        due = time.monotonic() + self._chance.uniform(0, pause)
        while due < until:
            await asyncio.sleep(due - time.monotonic())
            await self.say()
            due = max(due + pause * self._chance.uniform(1 - SPREAD, 1 + SPREAD), time.monotonic())

    async def say(self, message: str = "") -> Turn:
        """Send a message, any by default, and wait for the answer; what came of it is kept in `turns`."""
        self.turns.append(await self._said(message or self._message()))
        return self.turns[-1]

    async def transcript(self) -> dict[int, list[tuple[str, str]]]:
        """Turn -> its lines as (provenance, content), as the server has them."""
        found: dict[int, list[tuple[str, str]]] = {}
        before: int | None = None
        while True:
            asked = {"user": self.user, "limit": PAGE} | ({} if before is None else {"before": before})
            answer = await self._connection.ask(get(f"/agent/sessions/{self.name}", asked))
            if answer.status != 200:
                return found
            page = jsonlib.loads(answer.body)
            for turn in page["turns"]:
                found[turn["turn"]] = [(line["provenance"], line["content"]) for line in turn["lines"]]
            if (before := page["next"]) is None:
                return found

    async def lost(self) -> int:
        """How many acknowledged turns the transcript does not have, or has otherwise."""
        kept = await self.transcript()
        told = [turn for turn in self.turns if not turn.failure]
        return sum(kept.get(turn.number) != [("user", turn.message), ("assistant", turn.response)] for turn in told) + (
            len(told) - len({turn.number for turn in told})
        )

    def move(self, port: int) -> None:
        """Go on at another port, where the server was started anew."""
        self.close()
        self._connection = Connection(port)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    async def _said(self, message: str) -> Turn:
        request = post("/agent/chat", {"user": self.user, "session": self.name, "message": message})
        at = time.monotonic()
        try:
            answer = await self._connection.ask(request)
        except (OSError, EOFError) as error:
            self._connection.close()
            return Turn(message, 1000 * (time.monotonic() - at), at, failure=f"{type(error).__name__}: {error}")
        return _turn(message, 1000 * (time.monotonic() - at), at, answer.status, answer.body)

    def _message(self) -> str:
        if self.common and self._chance.random() < self.common:
            return self._chance.choice(ASKED).format(word=self._chance.choice(COMMON))
        return drawn(self._chance, settled=self.settled)[1]


def drawn(chance: random.Random, *, settled: bool = False) -> tuple[str, str]:
    """Something that people say: its shape, and the words; `settled` people have one name for each of their kin."""
    shape, kin = chance.choice(SAID), chance.choice(KIN)
    name = NAMES[KIN.index(kin)] if settled else chance.choice(NAMES)
    return shape, shape.format(kin=kin, name=name, city=chance.choice(CITIES), trade=chance.choice(TRADES))


def people(port: int, sessions: int) -> list[Session]:
    """So many sessions, ten of each user."""
    return [Session(port, f"user{number // SESSIONS_OF_A_USER}", number) for number in range(sessions)]


async def talking(sessions: Sequence[Session], seconds: float, rate: float) -> list[Turn]:
    """Let all of them talk, at so many turns a second together; returns what was said."""
    before = [len(one.turns) for one in sessions]
    until, pause = time.monotonic() + seconds, len(sessions) / rate
    await asyncio.gather(*(one.talk(until, pause) for one in sessions))
    return [turn for one, known in zip(sessions, before, strict=True) for turn in one.turns[known:]]


def _turn(message: str, ms: float, at: float, status: int, body: bytes) -> Turn:
    answer: dict[str, Any] = jsonlib.loads(body)
    if status != 200 or not answer["turn"] or answer["troubles"]:
        return Turn(message, ms, at, failure=f"{status}: {answer.get('detail') or answer.get('troubles')}")
    took, snapshot = answer["ms"], answer.get("metacog", {}).get("turn_counter")
    return Turn(message, ms, at, "", answer["turn"], answer["response"], took["added"], took["model"], snapshot)
