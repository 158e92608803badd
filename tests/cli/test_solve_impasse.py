"""An impasse of the solver goes on the ledger of whoever solves at the terminal (K5)."""

from pathlib import Path

import pytest

from insula.memory.storage.store import Store
from insula.metacognition.facade import note_impasse
from insula.testing import ScriptedModel
from insula_solve import Models, find_method


@pytest.mark.anyio
@pytest.mark.parametrize(("reply", "kinds"), [("I cannot.", ["meta:impasse"]), ("<answer>30</answer>", [])])
async def test_a_problem_without_an_answer_is_noted_and_a_solved_one_is_not(
    tmp_path: Path, reply: str, kinds: list[str]
) -> None:
    solution = await find_method("direct")("What is 12 % of 250?", Models(generator=ScriptedModel(lambda _: reply)))
    async with await Store.open(tmp_path / "insula.db") as store:
        await note_impasse(store, "me", "solve", solution)
        noted = await store.sessions.read_ledger(await store.resolve_place("me", "solve"))
    assert [signal.kind for signal in noted] == kinds
