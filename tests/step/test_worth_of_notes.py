"""`insula worth`, and `insula status` in a home of hooks alone: what was said, what became of it, what was wrong."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sessions import Session, edits, fails, pytest_fails, runs

from insula.cli.main import main
from insula.replay.worth import Trouble, worth
from insula.replay.worth import _effect as effect  # pyright: ignore[reportPrivateUsage]
from insula.step import digest

Told = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("INSULA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "insula"))
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "insula"


@pytest.fixture
def insula(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["insula", *words])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    return run


def trouble(home: Path, name: str = "s", rounds: int = 3) -> Session:
    session = Session(home, name)
    session.at = time.time() - 3_600
    session.tell({"hook_event_name": "SessionStart", "source": "startup"})
    for number in range(rounds):
        session.act(fails("pytest -q", pytest_fails(number)))
        session.act(edits(new=f"{name}{number}"))
    return session


def test_what_was_said_and_what_followed_is_told(home: Path, insula: Told) -> None:
    trouble(home).act(runs("pytest -q", "5 passed in 0.1s"))
    told = insula("worth")
    assert "1 session, 7 calls, 1 text on 1 trouble" in told
    assert "`pytest` has failed in 3 turns" in told
    assert "over after 2 turns, 2 min" in told
    assert "not enough evidence" in told


def test_a_false_alarm_makes_its_kind_quiet_in_that_project(home: Path, insula: Told) -> None:
    trouble(home)
    (one,) = worth(str(home), 7, time.time()).troubles
    assert "Noted as a false alarm" in insula("worth", "wrong", one.id)
    assert trouble(home, "t").said == []


def test_an_id_that_nothing_was_said_under_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trouble(home)
    sys.argv = ["insula", "worth", "wrong", "nothing"]
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code
    assert "insula worth" in capsys.readouterr().err


def test_a_home_of_hooks_alone_has_a_status(home: Path, insula: Told) -> None:
    trouble(home)
    told = insula("status")
    assert "1 text on 1 trouble" in told
    assert "talk first" not in told


def test_a_share_of_troubles_is_withheld_whole_and_compared(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "0.5")
    sessions = [trouble(home, f"s{number}", rounds=5) for number in range(24)]
    for session in sessions:
        session.act(runs("pytest -q", "5 passed in 0.1s"))
    found = worth(str(home), 7, time.time())
    spoken = {len(session.said) for session in sessions}
    assert spoken == {0, 2}
    assert sum(one.withheld for one in found.troubles) == sum(not session.said for session in sessions)
    assert len(found.troubles) == 24
    assert all(one.turns is not None for one in found.troubles)


def test_an_effect_is_claimed_only_where_there_is_evidence() -> None:
    def ended(turns: int, withheld: bool) -> Trouble:
        return Trouble(
            id="", session="", project="", at=0.0, sense="nociception", family="", text="", rung=1,
            withheld=withheld, turns=turns,
        )  # fmt: skip

    few = effect([ended(2, False), ended(9, True)])
    many = effect([ended(2 + n % 3, n % 2 == 0) if n % 2 else ended(9 + n % 3, True) for n in range(60)])
    assert few.difference is None
    assert many.difference is not None
    assert many.interval is not None
    assert many.interval[0] > 0


def test_the_holdout_is_the_one_that_is_disclosed() -> None:
    assert digest.HOLDOUT == 0.1
