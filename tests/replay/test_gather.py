"""All sessions together, and what it takes."""

import json
import tracemalloc
from pathlib import Path

import pytest
from transcripts import RECORDED, Session, look

from growth import LINEAR, growth
from insula.coding.replay import gather as gathering
from insula.coding.replay import readers
from insula.coding.replay.find import find_transcripts
from insula.coding.replay.readers import Seen

MEGABYTE = 1 << 20


def test_totals_are_the_sums_and_the_worst_come_first(tmp_path: Path) -> None:
    Session("calm").says("Go.").works(5).written(tmp_path)
    Session("bad").says("Go.").fails(9).written(tmp_path)
    Session("better").says("Go.").fails(4).works(3).written(tmp_path)
    gathered = look(tmp_path)
    totals = gathered.totals
    assert [session.id for session in gathered.sessions] == ["bad", "better", "calm"]
    assert [moment.session for moment in totals.worst] == ["bad", "better"]
    assert (totals.sessions, totals.tool_uses, totals.errors, totals.prompts) == (3, 21, 13, 3)


def test_only_the_worst_keep_their_timelines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "KEPT", 3)
    monkeypatch.setattr(gathering, "ROOM", 20)
    for number in range(6):
        Session(f"s{number}").says("Go.").fails(3 + number).written(tmp_path)
    gathered = look(tmp_path)
    assert [session.id for session in gathered.sessions] == ["s5", "s4"]  # 8 and 7 actions; 6 more are too many
    assert gathered.totals.sessions == 6


def test_a_failure_in_two_sessions_of_a_project_founds_its_rule(tmp_path: Path) -> None:
    Session("one").says("Go.").fails(5).written(tmp_path)
    (failure,) = [one for one in look(tmp_path).totals.failures if one.pattern == "error-loop"]
    assert (failure.happened, failure.projects, failure.state) == (1, 1, "proposed")
    Session("two").says("Go.").fails(5).written(tmp_path)
    Session("calm").says("Go.").works(8).written(tmp_path)
    totals = look(tmp_path).totals
    failure = totals.failures[0]
    assert (failure.pattern, failure.sessions, failure.happened) == ("error-loop", 2, 2)
    assert failure.state == "active"


def test_what_has_no_folder_is_of_no_project_and_founds_no_rule(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        Session(name, cwd="").says("Go.").fails(5).written(tmp_path)
    (failure,) = [one for one in look(tmp_path).totals.failures if one.pattern == "error-loop"]
    assert (failure.happened, failure.projects, failure.state) == (3, 0, "proposed")


def test_a_file_of_titles_is_no_session(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"type":"summary","summary":"A title","leafUuid":"x"}\n')
    totals = look(tmp_path).totals
    assert (totals.sessions, totals.skipped) == (0, {"summary": 1})


def test_lines_long_past_are_forgotten_and_the_last_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "GENERATION", 10)
    known = Seen()
    assert all(known.add_id(str(number)) for number in range(100))
    assert not any(known.add_id(str(number)) for number in range(95, 100))
    assert known.add_id("0")


def large(folder: Path, size: int) -> Path:
    """One session of so many bytes in the form of a real one, each line of it new."""
    lines, path, number = (RECORDED / "claude-code.jsonl").read_text("utf-8").splitlines(), folder / f"s{size}.jsonl", 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            number += 1
            for place, line in enumerate(lines):
                row = json.loads(line)
                if "uuid" in row:
                    row["uuid"] = f"{number} {place}"
                file.write(json.dumps(row).replace('"call_', f'"call_{number}_') + "\n")
    return path


def test_less_is_held_than_is_read(tmp_path: Path) -> None:
    found = find_transcripts([large(tmp_path, 4 * MEGABYTE)])
    tracemalloc.start()
    gathered = gathering.gather_sessions(found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gathered.totals.tool_uses > 1_000
    assert peak < 5 * MEGABYTE, f"{peak / MEGABYTE:.1f} MB"


def test_reading_takes_no_longer_than_there_is_to_read(tmp_path: Path) -> None:
    assert (
        growth(gathering.gather_sessions, lambda size: find_transcripts([large(tmp_path, size)]), 2 * MEGABYTE)
        <= LINEAR
    )
