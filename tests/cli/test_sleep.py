"""`insula sleep`: the night on demand, what it says of itself, and how it fails."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from insula.cli import sleep
from insula.cli.main import main
from insula.errors import InputError
from insula.memory.store import Store
from insula.metacognition import Metacognition
from insula.sleep.cycle import Night, Phase, PhaseReport, Result
from insula.sleep.names import PhaseName
from insula.sleep.phases import PHASES
from insula.sleep.telling import told

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


def test_each_phase_says_what_it_found_and_the_lesson_names_its_messages(home: Path, insula: Insula) -> None:
    talk(home, "me")
    code, out, err = insula()
    assert (code, err) == (0, "")
    assert [line.split()[1] for line in out.splitlines() if not line.startswith(" ")] == [name for name, _ in PHASES]
    assert "✓  summaries      2 conversations in short, 2 from their own lines." in out
    assert "use metres. (from memories 3, 7)" in out
    assert "Added: Please don't give sizes in feet, use metres." in out


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
    assert out.count("✓  soul") == 2


def test_json_is_all_that_is_printed(home: Path, insula: Insula) -> None:
    talk(home, "me")
    (report,) = json.loads(insula("--json")[1])
    assert (report["user"], report["skipped"]) == ("me", "")
    assert [phase["name"] for phase in report["phases"]] == [name for name, _ in PHASES]


def test_a_phase_that_fails_is_said_and_the_next_start_goes_on_from_there(
    home: Path, insula: Insula, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(home, "me")
    broken = tuple((name, breaks(InputError("It is stuck.")) if name == "soul" else phase) for name, phase in PHASES)
    monkeypatch.setattr(sleep, "PHASES", broken)
    code, out, err = insula()
    assert code == 1
    assert "✗  soul           It is stuck." in out
    assert err == "insula: soul failed; `insula sleep --user me` goes on from there.\n"
    monkeypatch.setattr(sleep, "PHASES", PHASES)
    code, out, _ = insula()
    assert code == 0
    assert out.count("done before, in this same night") == len(PHASES) - 2  # SOUL.md is written after it
    assert "✓  soul           1 change" in out


def test_an_effect_is_told_in_words() -> None:
    effect = {"verdict": "helps", "estimate": 0.4, "low": 0.1, "high": 0.6}
    found: dict[str, object] = {
        "counted": {},
        "lessons": [{"key": "fact/d930986b4", "state": "active", "effect": effect}],
    }
    one = told(PhaseReport(name=PhaseName.LESSONS, state="done", found=found))
    assert one.said == "1 lesson (1 told). No conversation had a say."
    assert [each.said() for each in one.measured] == [
        "lesson fd930986b4: helps, +40 points, between +10 and +60 (95 %)"
    ]


@pytest.mark.parametrize(
    ("verdict", "month", "interval", "said", "drawn"),
    [
        ("rising", 0.03, [0.01, 0.05], "Better: +3 points of 100 in 30 days, over 40 answers.", True),
        ("rising", 410.924, [12.1, 900.0], "Better over 40 answers, in a time too short to say", False),
        ("no trend that can be told from chance", 410.9, [None, None], "Neither better nor worse", False),
    ],
)
def test_a_trend_is_told_on_the_scale_that_scores_have(
    verdict: str, month: float, interval: list[float | None], said: str, drawn: bool
) -> None:
    found: dict[str, object] = {"assessments": 40, "per_30_days": month, "interval": interval, "verdict": verdict}
    one = told(PhaseReport(name=PhaseName.TRENDS, state="done", found=found))
    assert said in one.said
    assert bool(one.measured) is drawn
