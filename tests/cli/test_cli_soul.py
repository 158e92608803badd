"""`insula guidance soul`: SOUL.md is seen, edited, undone, accepted and rejected by a person."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from insula.cli.common import soul_of
from insula.cli.main import main
from insula.cli.soul import EMPTY
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import sleep_cycle
from insula.night.guidelines import PROPOSAL
from insula.night.phases import PHASES

LEARNED = "Please don't give sizes in feet, use metres."
Insula = Callable[..., tuple[int, str, str]]
"""Runs `insula guidance soul` with some words; returns the exit code, standard output and standard error."""


@pytest.fixture
def insula(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Insula:
    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["insula", "soul", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    return run


def with_store(home: Path, work: Callable[[Store], Awaitable[None]]) -> None:
    async def run() -> None:
        async with await Store.open(home / "insula.db") as store:
            await work(store)

    asyncio.run(run())


async def sleep(store: Store) -> None:
    await sleep_cycle(store, "me", PHASES, soul=soul_of("me"), force=True)


@pytest.fixture
def slept(home: Path) -> Path:
    """A home in which a night has learned one guideline."""

    async def live(store: Store) -> None:
        metacognition = Metacognition(store)
        for session in ("monday", "tuesday"):
            for line in ("Does NASA use wind tunnels?", "Please don't give sizes in feet, use metres."):
                async with metacognition.turn("me", session, line) as turn:
                    turn.finish("Yes, one of 9 by 15 feet.")
        await sleep(store)

    with_store(home, live)
    return home


def told(home: Path) -> str:
    """What the next message brings before the model."""
    instructions: list[str] = []

    async def ask(store: Store) -> None:
        async with Metacognition(store).turn("me", "later", "How tall is it?") as turn:
            instructions.append(f"{turn.instructions}\n{turn.reminder}")

    with_store(home, ask)
    return instructions[0]


def take_out(home: Path, insula: Insula) -> None:
    path = soul_of("me")
    kept = [line for line in path.read_text().splitlines(keepends=True) if LEARNED not in line]
    path.write_text("".join(kept))
    assert insula()[0] == 0


def test_before_the_first_night_there_is_nothing_and_that_is_said(insula: Insula) -> None:
    assert insula() == insula("show") == insula("history") == (0, f"{EMPTY}\n", "")
    assert insula("diff")[1] == "Nothing changed.\n"
    assert insula("propose")[1] == "No change waits.\n"
    assert json.loads(insula("show", "--json")[1])["text"] == ""
    for words, reason in (
        (("undo",), "no earlier state"),
        (("accept",), "No change waits"),
        (("reject",), "No change"),
    ):
        code, _, err = insula(*words)
        assert (code, reason in err) == (1, True)
        assert ("`insula guidance soul history`" in err, "/agent/" in err) == (True, False)


def test_undo_goes_back_and_is_itself_undone(slept: Path, insula: Insula) -> None:
    take_out(slept, insula)
    assert insula("undo")[0] == 0
    assert LEARNED in soul_of("me").read_text()
    assert LEARNED in told(slept)
    assert insula("undo")[0] == 0
    assert LEARNED not in soul_of("me").read_text()
    first = json.loads(insula("history", "--json")[1])[-1]["id"]
    assert insula("undo", str(first))[0] == 0
    assert LEARNED in insula()[1]
    with_store(slept, sleep)
    assert LEARNED in insula()[1]  # what was brought back is no longer kept out


def test_a_revision_that_is_not_there_is_said(slept: Path, insula: Insula) -> None:
    for command in ("undo", "diff"):
        code, _, err = insula(command, "99")
        assert (code, "There is no revision 99" in err) == (1, True)


@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_a_change_that_waits_is_shown_and_decided(slept: Path, insula: Insula, verdict: str) -> None:
    text = soul_of("me").read_text().replace(LEARNED, "Use metres.")

    async def wait(store: Store) -> None:
        user = await store.nights.find_user_id("me")
        assert user is not None
        await store.guidance.add_revision(
            user, RevisionChange(PROPOSAL, "night", text, {"reasons": ["it is much at once."]})
        )

    with_store(slept, wait)
    assert "A change waits for you" in insula()[2]
    _, out, err = insula("propose")
    assert "+- Use metres." in out
    assert "It waits because it is much at once." in err
    assert insula(verdict)[0] == 0
    assert insula("propose")[1] == "No change waits.\n"
    assert ("Use metres." in soul_of("me").read_text()) is (verdict == "accept")
    assert ("Use metres." in told(slept)) is (verdict == "accept")
    assert insula(verdict)[0] == 1
