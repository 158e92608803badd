"""Evidence: each session is written once, at the right place, whatever happens to the machine meanwhile."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from insula.coding.step import evidence, trace
from insula.coding.step.action import EDIT, EXECUTE, Action
from insula.coding.step.evidence import HOUR, score_ended
from insula.guidance import GuidanceDecision, tally_evidence

NOW = 1_800_000_000.0
A, B = "a" * 16, "b" * 16


def session(
    home: Path,
    name: str,
    *,
    project: str = A,
    failed: bool = True,
    marker: dict[str, list[str]] | str | None = None,
    ago: float = 3 * HOUR,
    agent: str = "",
) -> Path:
    """A session with edits, two of which failed or none."""
    folder = Path(trace.get_folder(str(home), name))
    records: list[dict[str, Any]] = [{"e": "start", "project": project, "at": NOW - ago - 60}] if not agent else []
    for i in range(3):
        ok = not failed or i == 0
        action = Action(
            tool="Edit", kind=EDIT, at=NOW - ago - 50 + i, call=f"{i}", ok=ok, error="" if ok else "no match"
        )
        records.append({"e": "action", **action.as_dict()})
    trace.append_records(trace.get_folder(str(home), name, agent), *records, {"e": "stop", "at": NOW - ago})
    for path in folder.rglob(trace.FILE):
        os.utime(path, (NOW - ago, NOW - ago))
    if marker is not None:
        (folder / evidence.MARKER).write_text(marker if isinstance(marker, str) else json.dumps({"v": 1, **marker}))
        os.utime(folder / evidence.MARKER, (NOW - ago, NOW - ago))
    return folder


def lines(home: Path, project: str = A) -> list[dict[str, Any]]:
    path = Path(evidence.get_log(str(home), project))
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def score(home: Path) -> int:
    return score_ended(str(home), "now", NOW)


# What is written.


def test_an_ended_session_is_written_once_with_its_arm_and_outcome(home: Path) -> None:
    session(home, "one", marker={"shown": ["stale-edit"], "withheld": []})
    assert score(home) == 1
    found = {record["pattern"]: record for record in lines(home)}
    assert found["stale-edit"] == {
        "v": 1,
        "session": "one",
        "pattern": "stale-edit",
        "arm": "shown",
        "happened": True,
        "t": NOW - 3 * HOUR - 48,
        "project": A,
    }
    assert found["error-loop"]["arm"] == "none"
    assert "reread" not in found
    before = lines(home)
    assert score(home) == 0
    assert lines(home) == before


@pytest.mark.parametrize(
    ("arm", "failed", "kind"),
    [
        ("shown", False, "suppression"),
        ("shown", True, "breach"),
        ("withheld", True, "detection"),
        ("withheld", False, "absence"),
        ("none", True, "detection"),
    ],
)
def test_the_kind_follows_from_arm_and_outcome(home: Path, arm: str, failed: bool, kind: str) -> None:
    marker: dict[str, list[str]] = {"shown": [], "withheld": [], "none": []}
    marker[arm].append("stale-edit")
    session(home, "one", failed=failed, marker=marker)
    score(home)
    assert [item.kind for item in evidence.read_evidence(str(home), A)["stale-edit"]] == [kind]


def test_a_session_outside_any_project_goes_to_the_global_log(home: Path) -> None:
    session(home, "one", project="")
    score(home)
    assert lines(home, "")
    assert {item.project for item in evidence.read_evidence(str(home))["stale-edit"]} == {""}


@pytest.mark.parametrize("name", ["../../etc", "global", "A/B", "x" * 200, "ü"])
def test_a_name_that_is_no_hash_of_a_project_names_no_file(home: Path, name: str) -> None:
    session(home, "one", project=name)
    score(home)
    assert {path.name for path in (home / "evidence").iterdir()} == {"global.jsonl", "lock"}


def test_a_subagent_is_told_no_rules_so_what_it_did_is_no_evidence(home: Path) -> None:
    session(home, "one", failed=False)
    session(home, "one", agent="helper")
    score(home)
    assert [item.happened for item in evidence.read_evidence(str(home), A)["stale-edit"]] == [False]


def test_logs_and_marks_are_for_the_owner_alone(home: Path) -> None:
    folder = session(home, "one")
    score(home)
    for path in (Path(evidence.get_log(str(home), A)), folder / "scored", home / "evidence" / "lock"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_imported_rule_has_evidence_of_its_own(home: Path) -> None:
    word = GuidanceDecision(
        do="import", rule="stale-edit-1", scope="global", at=1.0, advice="Look twice.", pattern="stale-edit"
    )
    evidence.write_decision(str(home), word)
    session(home, "one", marker={"shown": ["stale-edit-1"], "withheld": ["stale-edit"]})
    score(home)
    found = evidence.read_evidence(str(home), A)
    assert [item.kind for item in found["stale-edit-1"]] == ["breach"]
    assert [item.kind for item in found["stale-edit"]] == ["detection"]


# When.


def test_a_subagent_that_still_works_keeps_its_session_open(home: Path) -> None:
    folder = session(home, "one")
    session(home, "one", agent="busy")
    os.utime(folder / "agents" / "busy" / trace.FILE, (NOW, NOW))
    assert score(home) == 0


def test_a_session_that_is_resumed_after_scoring_is_not_scored_again(home: Path) -> None:
    session(home, "one")
    score(home)
    session(home, "one")
    assert score(home) == 0
    assert len(evidence.read_evidence(str(home), A)["stale-edit"]) == 1


# Never twice.


def test_a_kill_between_line_and_mark_counts_the_session_once(home: Path) -> None:
    folder = session(home, "one")
    score(home)
    (folder / "scored").unlink()
    assert score(home) == 1
    assert len(evidence.read_evidence(str(home), A)["stale-edit"]) == 2
    assert tally_evidence(evidence.read_evidence(str(home), A)["stale-edit"]).detections == 1


def test_a_session_counts_once_for_its_project_and_once_for_all(home: Path) -> None:
    session(home, "one")
    session(home, "two", project=B)
    score(home)
    found = evidence.read_evidence(str(home), A)["stale-edit"]
    assert sorted((item.session, item.project) for item in found) == [("one", A), ("two", B)]


def test_of_many_starts_at_once_each_session_is_written_by_one(home: Path) -> None:
    for number in range(6):
        session(home, f"s{number}", ago=(3 + number) * HOUR)
    code = (
        "import sys; from insula.coding.step.evidence import score_ended; sys.stdin.read(1);"
        f"print(score_ended(sys.argv[1], 'now', {NOW}))"
    )
    given = [sys.executable, "-c", code, str(home)]
    starts = [subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    scored = sum(int(start.communicate("x")[0]) for start in starts)
    assert scored == 6
    assert len([record for record in lines(home) if record["pattern"] == "stale-edit"]) == 6


def test_a_scorer_that_is_killed_holds_up_nobody(home: Path) -> None:
    session(home, "one")
    code = (
        "import fcntl, os, sys; os.makedirs(sys.argv[1] + '/evidence', exist_ok=True);"
        "fcntl.flock(os.open(sys.argv[1] + '/evidence/lock', os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX);"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        assert score(home) == 0
        other.kill()
    assert score(home) == 1


# Damage.


@pytest.mark.parametrize("broken", ["", "{", "[]", "null", '{"v":2}', '{"v":1,"shown":3,"withheld":[]}', "\xff"])
def test_nobody_knows_what_a_session_with_a_broken_marker_was_told(home: Path, broken: str) -> None:
    session(home, "one", marker=broken)
    assert score(home) == 1
    assert not lines(home)


def test_broken_lines_are_passed_over(home: Path) -> None:
    session(home, "one")
    score(home)
    path = Path(evidence.get_log(str(home), A))
    good = path.read_text()
    odd = ['{"v":1}', "[]", "nonsense", '{"v":1,"session":1,"pattern":"stale-edit","arm":"none","happened":true,"t":1}']
    odd.append('{"v":1,"session":"x","pattern":"stale-edit","arm":"none","happened":true,"t":NaN}')
    odd.append('{"v":1,"session":"x","pattern":"stale-edit","arm":"other","happened":true,"t":1}')
    odd.append('{"v":1,"session":"x","pattern":["stale-edit"],"arm":"none","happened":true,"t":1}')
    path.write_text("\n".join([*odd, "[" * 5_000, good]) + '{"v":1,"sess')
    assert len(evidence.read_evidence(str(home), A)["stale-edit"]) == 1
    session(home, "two")
    score(home)
    assert len(evidence.read_evidence(str(home), A)["stale-edit"]) == 2


def test_broken_records_of_a_trace_are_passed_over(home: Path) -> None:
    folder = session(home, "one")
    with (folder / trace.FILE).open("ab") as file:
        file.write(
            b'{"v":1,"e":"action","tool":5}\n{"v":1,"e":"action"}\n[1]\nnull\n\xff\xfe\n{"v":1,"e":["x"]}\n{"v":1'
        )
    os.utime(folder / trace.FILE, (NOW - 3 * HOUR, NOW - 3 * HOUR))
    assert score(home) == 1
    assert len(evidence.read_evidence(str(home), A)["stale-edit"]) == 1


def test_a_call_that_two_hooks_wrote_counts_once_and_one_that_never_ran_not_at_all(home: Path) -> None:
    folder = trace.get_folder(str(home), "one")
    failed = Action(tool="Edit", kind=EDIT, at=NOW - 9 * HOUR, call="c", ok=False, error="no match", id="call_1")
    refused = failed.replace(id="call_2", ran=False)
    trace.append_records(
        folder, *({"e": "action", **action.as_dict()} for action in (failed, failed, refused)), {"e": "end"}
    )
    score(home)
    assert [item.happened for item in evidence.read_evidence(str(home))["stale-edit"]] == [False]


def test_a_folder_that_cannot_be_marked_is_not_written_again_and_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: str, mode: int) -> bool:
        return False

    session(home, "one")
    monkeypatch.setattr(os, "access", forbidden)  # root, as whom tests may run, may write everywhere
    assert score(home) == 0
    assert not lines(home)


def test_a_session_that_is_a_link_is_left_alone(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    session(elsewhere, "one")
    (home / "sessions").mkdir()
    (home / "sessions" / "link").symlink_to(elsewhere / "sessions" / "one")
    assert score(home) == 0


# Bounds.


def test_traces_are_deleted_after_thirty_days_and_only_when_scored(home: Path) -> None:
    old, recent = session(home, "old", ago=31 * 24 * HOUR), session(home, "recent", ago=29 * 24 * HOUR)
    session(home, "old", agent="helper", ago=31 * 24 * HOUR)
    assert score(home) == 2
    assert old.exists()
    for folder in (old, recent):
        os.utime(folder / "scored", (NOW - 31 * 24 * HOUR, NOW - 31 * 24 * HOUR))
    score(home)
    assert not old.exists()
    assert recent.exists()
    assert len(evidence.read_evidence(str(home), A)["stale-edit"]) == 2


def test_only_the_newest_megabyte_of_evidence_is_read(home: Path) -> None:
    path = Path(evidence.get_log(str(home), A))
    path.parent.mkdir(parents=True)
    record = '{{"v":1,"session":"{}","pattern":"stale-edit","arm":"none","happened":true,"t":1,"project":"a"}}\n'
    path.write_text("".join(record.format(number) for number in range(20_000)))
    found = evidence.read_evidence(str(home), A)["stale-edit"]
    assert 10_000 < len(found) < 14_000
    assert found[-1].session == "19999"


def test_an_endless_trace_is_read_in_bounds(home: Path) -> None:
    folder = Path(trace.get_folder(str(home), "one"))
    line = {"e": "action", **Action(tool="Bash", kind=EXECUTE, at=NOW - 9 * HOUR, call="c", target="x" * 100).as_dict()}
    for _ in range(12):
        trace.append_records(str(folder), *[line] * 4_000)
    os.utime(folder / trace.FILE, (NOW - 9 * HOUR, NOW - 9 * HOUR))
    session(home, "two", ago=8 * HOUR)
    assert score(home) == 1  # the other waits for the next start
    assert score(home) == 1
