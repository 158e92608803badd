"""`insula guidance rules review` and `accept`, and what stands about a rule in the words of its user."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from insula.cli import lines
from insula.cli.main import app
from insula.coding.step import corrections, digest, trace
from insula.coding.step.corrections import UserCorrection
from insula.errors import InputError

NOW = time.time()
SLOW, JEST = "don't run CI or integration tests, too slow.", "use vitest here, not jest"


@pytest.fixture(autouse=True)
def endless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))


def call(*words: str, fails: type[Exception] | None = None) -> Result:
    result = CliRunner().invoke(app, ["rules", *words])
    if fails is None:
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    else:
        assert isinstance(result.exception, fails), result.output
    return result


def here() -> str:
    return trace.hash_project(str(Path.cwd()))


def said(home: Path, *words: str, session: str = "one", ago: float = 86_400, how: str = "rejection") -> None:
    written = [UserCorrection(session=session, at=NOW - ago + i, words=each, how=how) for i, each in enumerate(words)]
    corrections.write_corrections(str(home), here(), written)


def shown() -> dict[str, dict[str, Any]]:
    return {rule["id"]: rule for rule in json.loads(call("--all", "--json").stdout)["rules"]}


def name(words: str) -> str:
    return next(name for name, rule in shown().items() if words in rule["advice"])


def told(home: Path) -> str:
    return digest.open_session(str(home), f"s{time.monotonic_ns()}", here(), time.time(), 0.0)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys that a person will press, one at a time."""
    pressed: list[str] = []
    monkeypatch.setattr(lines, "is_asked", lambda: True)

    def key() -> Iterator[str]:
        while True:
            yield pressed.pop(0)

    source = key()
    monkeypatch.setattr("click.getchar", lambda: next(source))
    return pressed


def test_what_was_said_once_is_in_the_whole_list_alone_with_its_words_and_where_they_come_from(home: Path) -> None:
    said(home, SLOW)
    assert SLOW not in call().stdout
    out = call("--all").stdout
    assert f'"{SLOW}"' in out
    assert "turning a call down" in out
    assert f"insula guidance rules accept {name(SLOW)}" in out
    assert shown()[name(SLOW)]["said"][0]["session"] == "one"
    assert told(home) == ""


def test_each_time_is_shown_with_how_it_was_said(home: Path) -> None:
    said(home, SLOW, how="prompt")
    assert "said once, in this project" in call("--all").stdout
    said(home, SLOW + " Really.", session="two", how="interrupt")
    out = call().stdout
    assert "in a message" in out
    assert f'after an interrupt: "{SLOW} Really."' in out
    assert [one["how"] for one in shown()[name(SLOW)]["said"]] == ["prompt", "interrupt"]


def test_what_is_accepted_is_told_and_can_be_undone(home: Path) -> None:
    said(home, SLOW)
    out = call("accept", name(SLOW)).stdout
    assert f"To undo: insula guidance rules mute {name(SLOW)} --here" in out
    assert told(home) == f'{digest.OPENING}\n- Your user had to say: "{SLOW}"'
    assert "is already accepted" in call("accept", name(SLOW)).stdout
    call("mute", name(SLOW))
    assert told(home) == ""


def test_a_rule_that_nobody_asked_for_cannot_be_accepted(home: Path) -> None:
    call("accept", "reread", fails=InputError)
    call("accept", "said-000000", fails=InputError)


def test_a_review_goes_through_them_one_key_at_a_time(home: Path, keys: list[str]) -> None:
    said(home, SLOW, JEST, "prefer subagents to save on the main context")
    keys += ["x", "Y", "n", "l"]  # a key that means nothing is passed over
    out = call("review").stdout
    assert "1 of 3" in out
    assert "1 accepted, 1 muted" in out
    states = {rule["advice"]: rule["state"] for rule in shown().values()}
    assert states[corrections.phrase_wish(SLOW)] == "active"
    assert states[corrections.phrase_wish(JEST)] == "muted"
    assert list(states.values()).count("said once") == 1
    assert told(home).splitlines()[1:] == [f'- Your user had to say: "{SLOW}"']


@pytest.mark.parametrize("leaves", ["q", KeyboardInterrupt])
def test_a_review_can_be_left_and_what_was_said_until_then_stands(
    home: Path, monkeypatch: pytest.MonkeyPatch, leaves: str | type[BaseException]
) -> None:
    said(home, SLOW, JEST)
    pressed: list[Any] = ["n", leaves]

    def press() -> str:
        one = pressed.pop(0)
        if isinstance(one, str):
            return one
        raise one

    monkeypatch.setattr(lines, "is_asked", lambda: True)
    monkeypatch.setattr("click.getchar", press)
    assert "0 accepted, 1 muted" in call("review").stdout
    assert {rule["state"] for rule in shown().values() if "said" in rule} == {"muted", "said once"}


def test_a_review_without_anything_to_review_says_so_and_one_that_nobody_sees_asks_nothing(home: Path) -> None:
    assert "nothing to review" in call("review").stdout
    said(home, SLOW)
    call("review", fails=InputError)


def test_what_the_last_session_said_is_there_before_the_next_one_starts(home: Path) -> None:
    folder = trace.get_folder(str(home), "ended")
    acted = {"e": "action", "tool": "Bash", "kind": "execute", "call": "c", "at": NOW}
    spoken = {"e": "user", "at": NOW, "kind": "rejection", "words": SLOW}
    trace.append_records(folder, {"e": "start", "project": here(), "at": NOW}, acted, spoken, {"e": "end", "at": NOW})
    assert SLOW in call("--all").stdout


def test_forgetting_a_rule_of_ones_own_leaves_no_words(home: Path) -> None:
    said(home, SLOW, JEST)
    call("forget", name(SLOW), "--yes")
    assert SLOW not in call("--all").stdout
    assert JEST in call("--all").stdout
    assert SLOW not in Path(corrections.log_path(str(home), here())).read_text()


def test_what_a_user_said_is_not_exported(home: Path, tmp_path: Path) -> None:
    said(home, SLOW)
    call("accept", name(SLOW))
    call("export", str(tmp_path / "rules.json"))
    assert "slow" not in (tmp_path / "rules.json").read_text()
