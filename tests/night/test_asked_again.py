"""What a user asks of answers in two sessions is a preference from then on; what they only say twice is none (R3a)."""

from collections.abc import AsyncIterator, Sequence

import pytest

from insula import Metacognition
from insula.testing import FrozenClock, memory_store

pytestmark = pytest.mark.anyio
DAY = 86_400.0


class Person:
    """Somebody who talks by day and lets a night pass."""

    def __init__(self, mind: Metacognition, clock: FrozenClock) -> None:
        self.mind, self.clock, self.days = mind, clock, 0

    async def live(self, *turns: tuple[str, str]) -> list[str]:
        """A day of one session, and its night without a model; what then stands beside a message of a new session."""
        self.days += 1
        for message, reply in turns:
            self.clock.advance(60)
            async with self.mind.turn("ada", f"day {self.days}", message) as turn:
                turn.finish(reply)
        self.clock.advance(DAY / 2)
        report = await self.mind.sleep("ada", force=True)
        assert not report.failed
        self.clock.advance(DAY / 2)
        turn = await self.mind.begin("ada", f"morning {self.days}", "Hello.")
        return [line[2:] for line in turn.prompt.splitlines() if line.startswith("- ")]


@pytest.fixture
async def ada() -> AsyncIterator[Person]:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        yield Person(Metacognition(store, holdout=0.0), clock)


ASKS = "What did you do this weekend? And where? With whom?"


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("Trop long, deux phrases s'il te plaît.", "Encore trop long, deux phrases s'il te plaît.", "deux phrases"),
        ("One question, then wait for my answer please", "Only one question at a time", "question"),
    ],
)
async def test_what_was_asked_of_answers_in_two_sessions_is_a_preference(
    ada: Person, first: str, second: str, kept: str
) -> None:
    assert not await ada.live(("I practise small talk.", ASKS), (first, "What did you do?"))
    wanted = await ada.live(("Let us practise again.", ASKS), (second, "What did you do?"))
    assert len(wanted) == 1
    assert kept in wanted[0]


@pytest.mark.parametrize(
    "said",
    [
        ("please convert 12 stone to kg", "please convert 12 stone to kg"),
        ("fale apenas em inglês", "fale em português"),
        ("Riscrivi la tua risposta precedente.", "Modifica la risposta precedente."),
        ("Vuelva a escribir su respuesta anterior.", "Reformule su respuesta anterior."),
        ("Good, thank you very much.", "Very good, many thanks to you."),
        ("What is the phone number of Madison?", "What's the phone number of Madison, did you find it?"),
        ("My sister Pauline swears by margarine.", "Pauline, my sister, swears by margarine."),
        ("Email to Mrs Lane that her chain is in.", "Write an email to Mrs Lane that her brakes are done."),
    ],
)
async def test_what_is_said_twice_and_asks_nothing_of_answers_is_no_preference(
    ada: Person, said: Sequence[str]
) -> None:
    wanted = list[str]()
    for message in said:
        wanted += await ada.live(("I have a question about the shop.", "Yes?"), (message, "Certainly, here you are."))
    assert wanted == []


async def test_of_many_sources_the_night_names_the_latest(ada: Person) -> None:
    for number in range(4):
        session = f"session {number}"
        for message in ("Let us practise.", "Please make it two lines.", "I was at home."):
            ada.clock.advance(60)
            async with ada.mind.turn("ada", session, message) as turn:
                turn.finish(ASKS)
        for _ in range(3):
            async with ada.mind.turn("ada", session, "Please make it two lines.") as turn:
                turn.finish(ASKS)
    report = await ada.mind.sleep("ada", force=True)
    said = [line for one in report.phases for line in one.found.get("says", ()) if "(from" in line]
    assert len(said) == 1
    assert said[0].startswith("You want: Please make it two lines")
    assert said[0].count(",") <= 1 + 6
    assert "more)" in said[0]


async def test_a_preference_that_was_taken_back_is_not_brought_back_by_that(ada: Person) -> None:
    short = "Super. Toujours des phrases courtes s'il te plaît quand tu m'écris."
    assert await ada.live(("Explique-moi les marées.", "La lune attire la mer."), (short, "D'accord."))
    longer = "Tu peux me faire des phrases un peu plus longues maintenant, les courtes ça fait sec"
    assert not await ada.live(("Explique-moi la pluie.", "L'eau monte et retombe."), (longer, "D'accord."))
