"""`insula worth`, and `insula status` in a home of hooks alone: what was said, what became of it, what was wrong."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sessions import Session, edits, fails, pytest_fails, runs

from insula.cli.main import main
from insula.cli.worth import shorten_names, summarize_worth
from insula.coding.replay.worth import SHARE, TURNS, HookWorth, format_effect, format_verdict, make_row, measure_worth
from insula.coding.step import digest
from insula.worth import compare_outcomes as worth_of
from insula.worth import make_amounts, make_rate

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
    told = insula("worth", "--all")
    assert "1 session, 7 calls, 1 note on 1 trouble" in told
    assert "`pytest` has failed in 3 turns" in told
    assert "over after 2 turns, 2 min" in told
    assert "not enough evidence" in told


def test_it_is_told_in_five_lines_and_that_evidence_is_missing_once(home: Path, insula: Told) -> None:
    trouble(home).act(runs("pytest -q", "5 passed in 0.1s"))
    told = insula("worth")
    assert 0 < len(told.splitlines()) <= 5
    assert "1 session, 7 calls, 1 note on 1 trouble" in told
    assert told.count("Too few sessions to tell") == 1, told
    assert "insula worth --all" in told


def test_how_many_sessions_are_missing_is_told() -> None:
    known = make_row("notes", TURNS, worth_of(make_amounts([2.0] * 400, 25), make_amounts([9.0] * 400, 25)), 7.0)
    row = make_row("rules", SHARE, worth_of(make_rate(2, 10), make_rate(3, 9)), 7.0)
    lines = list(summarize_worth(HookWorth(days=7, sessions=1, calls=1, effects=[known, row])))
    assert lines[-2].startswith("Do they help? notes: ")
    assert lines[-1].endswith(
        ": it takes about 30 with and 30 without. So far, rules: 10 with, 9 without "
        "(an effect under 65 points of 100 would not show yet)."
    )


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
    assert "1 note on 1 trouble" in told
    assert "talk first" not in told
    assert not (home / "insula.db").exists()  # to look makes no memory


def test_what_was_learned_in_these_days_is_told_before_it_is_ever_used(home: Path, insula: Told) -> None:
    for name in ("one", "two"):
        session = trouble(home, name)
        session.prompt("no, never use floats for money, use decimal")
        session.tell({"hook_event_name": "SessionEnd"}, 5)
        Session(home, f"after {name}").tell({"hook_event_name": "SessionStart", "source": "startup"})
        assert ("never use floats for money" in insula("worth", "--all")) == (name == "two")


def test_a_share_of_troubles_is_withheld_whole_and_compared(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "0.5")
    sessions = [trouble(home, f"s{number}", rounds=5) for number in range(24)]
    for session in sessions:
        session.act(runs("pytest -q", "5 passed in 0.1s"))
    found = measure_worth(str(home), 7, time.time())
    spoken = {len(session.said) for session in sessions}
    assert spoken == {0, 2}
    assert sum(one.withheld for one in found.troubles) == sum(not session.said for session in sessions)
    assert len(found.troubles) == 24
    assert all(one.turns is not None for one in found.troubles)


def test_an_effect_is_claimed_only_where_there_is_evidence(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "0.5")
    for number in range(30):
        session = trouble(home, f"s{number}", rounds=4)
        session.act(runs("pytest -q", "5 passed in 0.1s"))
    notes, rules = measure_worth(str(home), 7, time.time()).effects
    assert notes.told + notes.withheld == 30
    assert notes.low <= 0 <= notes.high  # told or not, these troubles end alike
    assert notes.verdict != "works"
    assert (rules.told, rules.verdict, rules.days) == (0, "not enough evidence", None)


def test_what_is_compared_is_all_that_is_kept_and_not_the_last_days(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "0.5")
    for number in range(12):
        trouble(home, f"s{number}", rounds=4).act(runs("pytest -q", "5 passed in 0.1s"))
    later = time.time() + 30 * 86_400
    notes, _ = measure_worth(str(home), 7, later).effects
    assert measure_worth(str(home), 7, later).sessions == 0
    assert notes.told + notes.withheld == 12
    assert notes.missing == measure_worth(str(home), 400, later).effects[0].missing


@pytest.mark.parametrize(("told", "held", "said"), [(2.0, 15.0, "works"), (15.0, 2.0, "hurts"), (6.0, 6.0, "")])
def test_turns_until_it_is_over_are_compared(told: float, held: float, said: str) -> None:
    row = make_row("notes", TURNS, worth_of(make_amounts([told] * 40, 25), make_amounts([held] * 40, 25)), 7.0)
    assert row.verdict == said if said else row.verdict not in {"works", "hurts"}
    assert format_effect(row)[0] == f"{held - told:+.1f} turns sooner"


def test_until_something_can_be_said_it_is_told_how_long_that_takes() -> None:
    row = make_row("rules", SHARE, worth_of(make_rate(2, 10), make_rate(3, 9)), 7.0)
    assert row.missing > 0
    assert row.days is not None
    assert format_verdict(row) == f"not enough evidence; about {row.days:,.0f} more days at this rate"
    soon = make_row("rules", SHARE, worth_of(make_rate(2, 10), make_rate(3, 9)), 0.01)
    assert format_verdict(soon) == "not enough evidence", "a forecast of days tells nothing"
    nothing = make_row("rules", SHARE, worth_of(make_rate(0, 0), make_rate(0, 0)), 7.0)
    assert format_verdict(nothing) == "not enough evidence; none yet"
    assert format_effect(nothing) == ("–", "–")


def test_one_table_tells_of_all_that_is_withheld_by_lot(home: Path, insula: Told) -> None:
    trouble(home).act(runs("pytest -q", "5 passed in 0.1s"))
    table = insula("worth", "--all").split("Do they help?")[1].split("What it said")[0]
    assert [line.split()[0] for line in table.splitlines()[2:4]] == ["notes", "rules"]
    assert table.count("not enough evidence") == 2


def test_the_holdout_is_the_one_that_is_disclosed() -> None:
    assert digest.HOLDOUT == 0.1


def test_names_of_sessions_are_cut_so_that_they_can_be_told_apart() -> None:
    assert [*shorten_names(["0193a2b4-1111-7222", "monday"]).values()] == ["0193a2b4", "monday"]
    assert {*shorten_names(["0193a2b4-1111-7222", "0193a2b4-1111-7333"]).values()} == {"0193a2b4…7222", "0193a2b4…7333"}
    alike = ["0193a2b4-1-7222", "0193a2b4-2-7222"]
    assert [*shorten_names(alike).values()] == alike
