"""A change of SOUL.md that waits for a person is shown, and accepted or rejected."""

import asyncio
from pathlib import Path

import pytest
from harness import run_insula

from insula import Metacognition
from insula.memory.storage.changes import RevisionChange
from insula.night.guidelines import PROPOSAL
from insula.testing import FakeServer

LEARNED = "From now on, use metres and never feet."


async def _let_wait(home: Path, text: str) -> None:
    async with await Metacognition.open(home / "insula.db") as mind:
        user = await mind.store.nights.find_user_id("me")
        assert user is not None
        change = RevisionChange(PROPOSAL, "night", text, {"reasons": ["it is much at once."]})
        await mind.store.guidance.add_revision(user, change)


@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_a_change_that_waits_is_shown_and_decided(home: Path, verdict: str) -> None:
    file = home / "users" / "me" / "SOUL.md"
    run_insula("chat", "--model", "test", stdin=f"{LEARNED}\nHello.\nThanks.\n")
    run_insula("sleep")
    asyncio.run(_let_wait(home, file.read_text().replace(LEARNED, "Use metres.")))
    assert "A change waits for you" in run_insula("soul").err
    shown = run_insula("soul", "propose")
    assert "+- Use metres." in shown.out
    assert "It waits because it is much at once." in shown.err
    assert run_insula("soul", verdict).status == 0
    assert run_insula("soul", "propose").out == "No change waits.\n"
    assert ("Use metres." in file.read_text()) is (verdict == "accept")
    with FakeServer(answer="Tall.") as model:
        run_insula("chat", "--model", f"{model.url}#fake", stdin="How tall is it?\n")
        assert ("Use metres." in model.prompt()) is (verdict == "accept")
    assert run_insula("soul", verdict).status == 1
