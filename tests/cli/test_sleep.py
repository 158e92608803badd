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
from insula.night.cycle import Night, Phase, PhaseReport, Result
from insula.night.names import PhaseName
from insula.night.phases import PHASES
from insula.night.telling import told

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
    assert line.startswith(f"• You wish: {WISH} (from memories 3, 7) (take it back: insula guidance forget w")


def test_a_wish_is_announced_in_the_night_after_it_was_first_said(home: Path, insula: Insula) -> None:
    talk(home, "me")
    assert "You wish: " in insula()[1]
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
    assert out.count("• You wish: ") == 2


def test_a_phase_that_fails_is_said_and_the_next_start_goes_on_from_there(
    home: Path, insula: Insula, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(home, "me")
    broken = tuple((name, breaks(InputError("It is stuck.")) if name == "soul" else phase) for name, phase in PHASES)
    monkeypatch.setattr(sleep, "PHASES", broken)
    code, out, err = insula()
    assert code == 1
    assert "✗ Wrote guidelines: It is stuck." in out
    assert err == "insula: soul failed; `insula sleep --user me` goes on from there.\n"
    monkeypatch.setattr(sleep, "PHASES", PHASES)
    code, out, _ = insula()
    assert code == 0
    assert out.startswith("• Added: ")


def test_an_effect_is_told_in_words() -> None:
    effect = {"verdict": "helps", "estimate": 0.4, "low": 0.1, "high": 0.6}
    found: dict[str, object] = {
        "counted": {},
        "lessons": [{"key": "fact/d930986b4", "state": "active", "effect": effect}],
    }
    one = told(PhaseReport(name=PhaseName.LESSONS, state="done", found=found))
    assert [each.said() for each in one.measured] == [
        "lesson fd930986b4: helps, +40 points, between +10 and +60 (95 %)"
    ]


UNKNOWN = {"verdict": "not enough evidence", "estimate": 0.0, "low": -0.5, "high": 0.5}


@pytest.mark.parametrize("effect", ["not enough evidence", UNKNOWN])
@pytest.mark.parametrize("more", [{}, {"news": list[str]()}])
def test_what_is_not_known_of_an_effect_is_not_told(effect: object, more: dict[str, object]) -> None:
    insight = {"id": 23, "told": 1, "withheld": 0, **UNKNOWN}
    lesson = {"key": "fact/d930986b4", "state": "active", "effect": effect}
    found: dict[str, object] = {"counted": {}, "lessons": [lesson], "insights": [insight], **more}
    assert told(PhaseReport(name=PhaseName.LESSONS, state="done", found=found)).is_quiet


def test_an_effect_is_told_once() -> None:
    insight = {"id": 23, "told": 40, "withheld": 40, "verdict": "works", "estimate": 0.3, "low": 0.1, "high": 0.5}
    found: dict[str, object] = {"lessons": [], "insights": [insight]}
    new, old = (
        told(PhaseReport(name=PhaseName.LESSONS, state="done", found=found | {"news": news}))
        for news in (["insight 23"], list[str]())
    )
    assert [one.what for one in new.measured] == ["insight 23"]
    assert old.is_quiet


@pytest.mark.parametrize(
    ("verdict", "month", "interval", "news", "said", "drawn"),
    [
        (
            "rising",
            0.03,
            [0.01, 0.05],
            True,
            "Answers get better: of the latest 20, 1 fell short, and 9 of the 20",
            True,
        ),
        ("falling", -0.07, [-0.1, -0.04], True, "Answers get worse: of the latest 20, 1 fell short", True),
        ("rising", 410.924, [12.1, 900.0], True, "Answers get better", False),
        ("falling", -0.07, [-0.1, -0.04], False, "done", False),
        ("no trend that can be told from chance", 410.9, [None, None], False, "done", False),
    ],
)
def test_a_trend_is_told_where_it_is_news_on_the_scale_that_scores_have(
    verdict: str, month: float, interval: list[float | None], news: bool, said: str, drawn: bool
) -> None:
    halves = {"earlier": {"answers": 20, "short": 9}, "later": {"answers": 20, "short": 1}}
    found: dict[str, object] = {"assessments": 40, "per_30_days": month, "interval": interval, "verdict": verdict}
    one = told(PhaseReport(name=PhaseName.TRENDS, state="done", found=found | halves | {"news": news}))
    assert said in one.said
    assert bool(one.measured) is drawn
    assert one.is_quiet is not news
