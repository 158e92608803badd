"""The digest: what a session is told when it starts, through real files, and what a year of it does to rules."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from counting import calls
from insula import guidance
from insula.coding.step import digest, evidence, trace
from insula.coding.step.action import EDIT, EXECUTE, READ, Action
from insula.coding.step.digest import OPENING, compile_rules, open_session
from insula.coding.step.patterns import BY_ID, PATTERNS
from insula.coding.step.trace import append_lines
from insula.guidance import GuidanceDecision

A, B = "a" * 16, "b" * 16
NOW = time.time()


MINE = {f"my-{name}": f"Mind this: {pattern.advice}" for name, pattern in BY_ID.items()}
"""Rules that somebody imported: they are told once their failure was seen twice."""


@pytest.fixture(autouse=True)
def imported(home: Path) -> None:
    for name, advice in MINE.items():
        decide(home, "import", name, advice=advice, pattern=name.removeprefix("my-"))


def known(
    home: Path, *rules: str, project: str = A, sessions: int = 2, arm: str = "none", happened: bool = True
) -> None:
    """Evidence of `sessions` past sessions on each of the rules."""
    for rule in rules:
        records = [
            {
                "session": f"{rule}-{project[:1]}-{arm}-{i}",
                "pattern": rule,
                "arm": arm,
                "happened": happened,
                "t": NOW - 60 - i,
            }
            for i in range(sessions)
        ]
        append_lines(evidence.get_log(str(home), project), records)


def start(home: Path, name: str = "now", project: str = A, share: float = 0.0) -> str:
    return open_session(str(home), name, project, NOW, share)


def marker(home: Path, name: str = "now") -> dict[str, list[str]]:
    return json.loads((home / "sessions" / name / "rules.json").read_text())


def decide(home: Path, do: str, name: str, **fields: str) -> None:
    evidence.write_decision(str(home), GuidanceDecision(do=do, rule=name, scope="global", at=NOW, **fields))


# What is told.


def test_a_failure_in_two_sessions_of_a_project_is_told_in_the_third(home: Path) -> None:
    known(home, "my-reread")
    assert start(home) == f"{OPENING}\n- {MINE['my-reread']}"
    assert start(home, "other", project=B) == ""


def test_a_failure_in_two_projects_is_told_in_a_third(home: Path) -> None:
    known(home, "my-reread", sessions=1)
    known(home, "my-reread", sessions=1, project=B)
    assert MINE["my-reread"] in start(home, project="c" * 16)


def test_pinned_rules_come_first_then_those_of_the_project_then_by_evidence(home: Path) -> None:
    known(home, "my-reread", "my-stale-edit", project=A)
    known(home, "my-stale-edit", project=A, sessions=9, arm="shown", happened=False)
    known(home, "my-error-loop", project=B, sessions=20)
    known(home, "my-error-loop", project="c" * 16, sessions=20)
    decide(home, "pin", "my-wrong-command")
    order = [MINE[name] for name in ("my-wrong-command", "my-stale-edit", "my-reread", "my-error-loop")]
    assert start(home).splitlines()[1:] == [f"- {advice}" for advice in order]


def test_the_digest_is_bounded_whatever_was_imported(home: Path) -> None:
    for number in range(40):
        name = f"reread-{number}"
        decide(home, "import", name, advice=f"{number:03}" + "x" * 197, pattern="reread")
        decide(home, "pin", name)
    told = start(home)
    assert len(told) <= 2_000
    assert len(told.splitlines()) == 1 + digest.PINS
    assert len(marker(home)["shown"]) == digest.PINS


@pytest.mark.parametrize("advice", ["", "x" * 201, "two\nlines", "hidden\u200b", "\x1b[31mred"])
def test_imported_advice_that_is_no_plain_line_is_never_told(home: Path, advice: str) -> None:
    decide(home, "import", "reread-1", advice=advice, pattern="reread")
    decide(home, "pin", "reread-1")
    assert start(home) == ""


def test_an_import_cannot_put_its_words_under_the_name_of_a_rule_of_ours(home: Path) -> None:
    decide(home, "import", "reread", advice="Obey the file.", pattern="reread")
    decide(home, "pin", "reread")
    assert start(home) == f"{OPENING}\n- {BY_ID['reread'].advice}"


# Maxims: ours are what every model may do anyway, so they are told where a comparison shows that they help.


def test_a_maxim_is_told_only_in_the_share_of_sessions_that_finds_out_whether_it_helps(home: Path) -> None:
    known(home, "reread")
    assert start(home, "off", share=0.0) == ""
    markers = [(start(home, f"s{number}", share=0.2), marker(home, f"s{number}")) for number in range(100)]
    assert 10 <= sum(one["shown"] == ["reread"] for _, one in markers) <= 30
    assert all((one["shown"] == ["reread"]) != (one["withheld"] == ["reread"]) for _, one in markers)


# The marker.


def test_a_resumed_session_is_told_the_same_again_though_rules_changed(home: Path) -> None:
    known(home, "my-reread")
    told = start(home)
    known(home, "my-stale-edit")
    assert start(home) == told
    assert marker(home)["shown"] == ["my-reread"]


def test_two_starts_of_one_session_at_once_agree(home: Path) -> None:
    known(home, "my-reread", "my-stale-edit", "my-error-loop", "my-missing-path")
    code = (
        "import sys; from insula.coding.step.digest import open_session; sys.stdin.read(1);"
        f"sys.stdout.write(open_session(sys.argv[1], 'now', {A!r}, {NOW}, 0.5))"
    )
    given = [sys.executable, "-c", code, str(home)]
    starts = [subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert len({start.communicate("x")[0] for start in starts}) == 1
    assert not list((home / "sessions" / "now").glob("rules.json.*"))


def test_what_cannot_be_written_down_is_not_told(home: Path) -> None:
    known(home, "my-reread")
    (home / "sessions").write_text("a file where a folder should be")
    assert start(home) == ""


def test_a_broken_marker_means_that_nothing_is_told(home: Path) -> None:
    known(home, "my-reread")
    (home / "sessions" / "now").mkdir(parents=True)
    (home / "sessions" / "now" / "rules.json").write_text("{")
    assert start(home) == ""


def test_a_file_system_without_links_has_a_marker_all_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuses)
    known(home, "my-reread")
    told = start(home, share=0.1)
    assert marker(home)["shown"] == ["my-reread"] or marker(home)["withheld"] == ["my-reread"]
    assert start(home) == told


@pytest.mark.parametrize("name", ["evidence", "rules.jsonl", "salt", "sessions", "hook.json"])
@pytest.mark.parametrize("broken", ["folder", "file"])
def test_no_damage_to_our_folder_is_an_error(home: Path, name: str, broken: str) -> None:
    known(home, "reread")
    path = home / name
    if path.exists():
        path.rename(home / "away")
    path.mkdir() if broken == "folder" else path.write_bytes(b"\xff\x00{nonsense")
    start(home, share=0.1)
    digest.read_holdout(str(home))


# The holdout.


def test_a_rule_is_withheld_in_the_share_that_is_disclosed(home: Path) -> None:
    known(home, "my-reread", "my-stale-edit")
    for number in range(100):
        start(home, f"s{number}", share=0.2)
    withheld = [set(marker(home, f"s{number}")["withheld"]) for number in range(100)]
    assert 6 <= sum("my-reread" in names for names in withheld) <= 36
    assert 6 <= sum("my-stale-edit" in names for names in withheld) <= 36
    assert sum(len(names) == 2 for names in withheld) <= 10  # each rule has a draw of its own


def test_nothing_is_withheld_where_the_holdout_is_off_or_the_rule_pinned(home: Path) -> None:
    known(home, "my-reread", "my-stale-edit")
    decide(home, "pin", "my-stale-edit")
    for number in range(60):
        start(home, f"off{number}", share=0.0)
        start(home, f"on{number}", share=0.5)
    assert not any(marker(home, f"off{number}")["withheld"] for number in range(60))
    assert {name for number in range(60) for name in marker(home, f"on{number}")["withheld"]} == {"my-reread"}


@pytest.mark.parametrize(
    ("variable", "file", "share"),
    [
        (None, None, 0.1),
        (None, '{"holdout": 0.2}', 0.2),
        (None, '{"holdout": 0}', 0.0),
        (None, '{"holdout": false}', 0.0),
        ("0", '{"holdout": 0.2}', 0.0),
        ("off", None, 0.0),
        ("0.3", '{"holdout": 0.2}', 0.3),
        ("1", None, 0.5),
        ("nonsense", '{"holdout": 0.2}', 0.2),
        ("nan", None, 0.1),
        (None, '{"holdout": "nonsense"}', 0.1),
        (None, '{"holdout": -1}', 0.1),
        (None, '{"holdout": true}', 0.1),
        (None, "[]", 0.1),
        (None, "{", 0.1),
    ],
)
def test_the_share_is_set_by_variable_or_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None, file: str | None, share: float
) -> None:
    if variable is not None:
        monkeypatch.setenv("INSULA_HOLDOUT", variable)
    if file is not None:
        (home / "hook.json").write_text(file)
    assert digest.read_holdout(str(home)) == share


# Scopes.


def test_a_comparison_over_all_projects_retires_a_rule_where_the_project_has_too_few_sessions(home: Path) -> None:
    for project in (A, B):
        known(home, "reread", project=project)
        known(home, "reread", project=project, sessions=80, arm="withheld", happened=False)
        known(home, "reread", project=project, sessions=300, arm="shown", happened=False)
    known(home, "reread", project="c" * 16)
    (found,) = [rule for rule in compile_rules(str(home), "c" * 16, NOW) if rule.id == "reread"]
    assert found.life.state == guidance.RETIRED
    assert start(home, project="c" * 16) == ""


# The cost.


def test_what_a_start_costs_grows_no_faster_than_the_evidence_and_the_sessions_to_score(tmp_path: Path) -> None:
    costs: list[int] = []
    for size in (1, 4):
        home = tmp_path / str(size)
        home.mkdir()
        _full(home, size)
        costs.append(calls(partial(open_session, str(home), "now", A, NOW, 0.1)))
        assert len(list((home / "sessions").glob("*/scored"))) == 2 * size
    assert costs[1] <= 5 * costs[0]


def _full(home: Path, size: int) -> None:
    """A home with evidence of many sessions, and some that are still to be scored."""
    for number in range(50 * size):
        for arm, happened in (("shown", False), ("withheld", number % 3 == 0)):
            known_as = [
                {"session": f"{arm}{number}", "pattern": pattern.id, "arm": arm, "happened": happened, "t": NOW}
                for pattern in PATTERNS
            ]
            append_lines(evidence.get_log(str(home), A if number % 2 else B), known_as)
    for number in range(2 * size):
        actions = [act(call, kind, error) for call, (kind, error) in enumerate(DONE * 10)]
        records = [{"e": "action", **action.as_dict()} for action in actions]
        trace.append_records(trace.get_folder(str(home), f"old{number}"), *records, {"e": "end"})


LOST, DIFFERS = "file does not exist: <path>", "line of <path> differs"
DONE = [
    *[(READ, "")] * 6,
    *[(READ, LOST)] * 2,
    *[(EDIT, DIFFERS)] * 2,
    (EDIT, ""),
    (EXECUTE, "no rule to make <quoted>"),
]
"""What an agent did in a session in which paths were missing, edits failed and a target was not there."""


def act(number: int, kind: str, error: str) -> Action:
    call = str(number)
    return Action(tool=kind, kind=kind, at=NOW, call=call, ok=not error, error=error, target=call, result=call)
