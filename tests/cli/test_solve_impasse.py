"""An impasse of the solver goes on the ledger of whoever solves at the terminal (K5)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from insula.agent.chat import Chat
from insula.cli import solve
from insula.cli.common import DATABASE
from insula.cli.main import main
from insula.memory.store import Store
from insula.metacognition import Metacognition
from insula.metacognition.facade import note_impasse
from insula.solve.methods import named
from insula.solve.run import Models
from insula.testing import ScriptedModel


@pytest.mark.anyio
@pytest.mark.parametrize(("reply", "kinds"), [("I cannot.", ["meta:impasse"]), ("<answer>30</answer>", [])])
async def test_a_problem_without_an_answer_is_noted_and_a_solved_one_is_not(
    tmp_path: Path, reply: str, kinds: list[str]
) -> None:
    solution = await named("direct")("What is 12 % of 250?", Models(generator=ScriptedModel(lambda _: reply)))
    async with await Store.open(tmp_path / "insula.db") as store:
        await note_impasse(store, "me", "solve", solution)
        noted = await store.sessions.ledger(await store.place("me", "solve"))
    assert [signal.kind for signal in noted] == kinds


def test_after_the_command_the_next_request_of_the_chat_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def resolve(name: str, folder: Path | None) -> AsyncGenerator[ScriptedModel]:
        yield ScriptedModel(lambda _: "I do not know.", name=name)

    monkeypatch.setattr(solve, "resolve", resolve)
    monkeypatch.setattr("sys.argv", ["insula", "solve", "How many primes lie below 90?", "--method", "direct"])
    with pytest.raises(SystemExit):
        main()
    assert "came to no answer: How many primes lie below 90?" in asyncio.run(_next_request(home / DATABASE))


async def _next_request(database: Path) -> str:
    model = ScriptedModel(["Hello!"])
    async with await Store.open(database) as store:
        await Chat(Metacognition(store, holdout=0.0, embed=None), model).reply("me", "morning", "Hello")
    return model.requests[0].prompt
