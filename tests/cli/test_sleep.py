"""`insula sleep`: the night on demand, what it says of itself, and how it fails."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from insula.cli import sleep
from insula.cli.main import main
from insula.errors import InputError
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import Night, Phase, PhaseName, PhaseReport, Result
from insula.night.phases import PHASES
from insula.night.telling import describe_phase

WISH = "Please don't give sizes in feet, use metres."
Insula = Callable[..., tuple[int, str, str]]
"""Runs `insula sleep` with some words; returns the exit code, standard output and standard error."""


@pytest.fixture
def insula(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Insula:
    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["insula", "sleep", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    return run


def talk(home: Path, *users: str) -> None:
    """Two sessions in which each user asks for the same."""

    async def say() -> None:
        async with await Store.open(home / "insula.db") as store:
            metacognition = Metacognition(store)
            for user in users:
                for session in ("monday", "tuesday"):
                    for line in ("Does NASA use wind tunnels?", WISH):
                        async with metacognition.turn(user, session, line) as turn:
                            turn.finish("Yes, one of 9 by 15 feet.")

    asyncio.run(say())


def breaks(why: Exception) -> Phase:
    async def phase(_: Night) -> Result:
        raise why

    return phase


def test_a_night_says_what_it_learned_and_the_wish_names_its_messages(home: Path, insula: Insula) -> None:
    talk(home, "me")
    code, out, err = insula()
    assert (code, err) == (0, "")
    (line,) = out.splitlines()
    assert line.startswith(f"• You want: {WISH} (from memories 3, 7) (take it back: insula guidance forget w")


def test_a_wish_is_announced_in_the_night_after_it_was_first_said(home: Path, insula: Insula) -> None:
    talk(home, "me")
    assert "You want: " in insula()[1]
    talk(home, "me")
    assert insula("--force")[1] == "Nothing new was learned.\n"


def test_there_is_no_night_where_there_was_no_day(home: Path, insula: Insula) -> None:
    assert insula()[1] == "No night for me: Nothing is stored of 'me'.\n"
    assert insula("--all") == (0, "Nobody has said anything yet, so nobody sleeps; talk first: insula chat\n", "")
    talk(home, "me")
    insula()
    code, out, _ = insula()
    assert code == 0
    assert "less than 20 hours ago" in out
    assert "--force sleeps all the same" in out


def test_a_forced_night_on_the_same_day_is_a_night_of_its_own(home: Path, insula: Insula) -> None:
    talk(home, "me")
    (first,) = json.loads(insula("--json")[1])
    talk(home, "me")
    (second,) = json.loads(insula("--json", "--force")[1])
    assert second["date"] == f"{first['date']}-2"
    phases = {phase["name"]: phase for phase in second["phases"]}
    assert "before" not in {phase["state"] for phase in second["phases"]}
    assert phases["mistakes"]["found"]["sessions"] == 2


def test_all_users_sleep_each_under_their_name(home: Path, insula: Insula) -> None:
    talk(home, "ana", "ben")
    code, out, _ = insula("--all")
    assert code == 0
    assert [line for line in out.splitlines() if line in ("ana", "ben")] == ["ana", "ben"]
    assert out.count("• You want: ") == 2


def test_a_phase_that_fails_is_said_and_the_next_start_goes_on_from_there(
    home: Path, insula: Insula, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(home, "me")
    broken = tuple((name, breaks(InputError("It is stuck.")) if name == "soul" else phase) for name, phase in PHASES)
    monkeypatch.setattr(sleep, "PHASES", broken)
    code, out, err = insula()
    assert code == 1
    assert "✗ Chose what stands in SOUL.md: It is stuck." in out
    assert err == "insula: soul failed; `insula sleep --user me` goes on from there.\n"
    monkeypatch.setattr(sleep, "PHASES", PHASES)
    code, out, _ = insula()
    assert code == 0
    assert out.startswith("• Added: ")


def test_an_effect_is_told_in_words() -> None:
    effect = {"what": "Ask first.", "verdict": "helps", "estimate": 0.4, "low": 0.1, "high": 0.6}
    one = describe_phase(PhaseReport(name=PhaseName.LESSONS, state="done", found={"counted": {}, "effects": [effect]}))
    assert [each.format_line() for each in one.effects] == ["Ask first.: helps, +40 points, between +10 and +60 (95 %)"]
    assert not one.is_quiet


def test_a_phase_without_news_is_quiet() -> None:
    assert describe_phase(PhaseReport(name=PhaseName.LESSONS, state="done", found={"counted": {"absence": 3}})).is_quiet
