"""The trace: nothing is lost by hooks at once, by a kill, by a full disk; a lost checkpoint is made again."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting import calls
from insula.coding.step import trace

Record = dict[str, Any]


def keep(value: Record) -> Record:
    return value


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    folder = str(tmp_path / "s")
    trace.append_records(folder, {"e": "a"}, {"e": "b"})
    assert [record["e"] for record in trace.read_trace(folder)[0]] == ["a", "b"]
    assert (tmp_path / "s" / trace.FILE).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700


def test_every_folder_that_it_makes_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    try:
        trace.append_records(trace.get_folder(str(tmp_path / "house"), "s", "a"), {"e": "a"})
        trace.append_records("beside/s", {"e": "a"})
    finally:
        os.umask(before)
    made = [path for top in ("house", "beside") for path in (tmp_path / top, *tmp_path.glob(f"{top}/**/*/"))]
    made = [path for path in made if path.is_dir()]
    assert len(made) == 7
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}


def test_where_no_folder_can_be_made_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        trace.append_records(str(tmp_path / "file" / "sessions" / "s"), {"e": "a"})


def test_a_line_that_was_cut_short_costs_itself_alone(tmp_path: Path) -> None:
    folder = str(tmp_path)
    trace.append_records(folder, {"e": "a"})
    with (tmp_path / trace.FILE).open("ab") as file:
        file.write(b'{"v":1,"e":"cut\n\x00\xff\n[1]\n"text"\n{"v":2,"e":"later"}\n')
    trace.append_records(folder, {"e": "b"})
    assert [record["e"] for record in trace.read_trace(folder)[0]] == ["a", "b"]


def test_a_checkpoint_gives_only_what_is_fresh(tmp_path: Path) -> None:
    folder = str(tmp_path)
    trace.append_records(folder, {"e": "a"})
    with trace.Checkpoint(folder, keep) as checkpoint:
        assert [record["e"] for record in checkpoint.fresh] == ["a"]
        checkpoint.keep_value({"n": 1})
    trace.append_records(folder, {"e": "b"})
    with trace.Checkpoint(folder, keep) as checkpoint:
        assert checkpoint.value == {"n": 1}
        assert [record["e"] for record in checkpoint.fresh] == ["b"]


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"v":1}', '{"v":9,"end":0,"value":{}}', '{"v":1,"end":1e9,"value":{}}']
)
def test_a_lost_checkpoint_is_made_again_from_the_trace(tmp_path: Path, damage: str) -> None:
    folder = str(tmp_path)
    trace.append_records(folder, {"e": "a"}, {"e": "b"})
    (tmp_path / trace.CHECKPOINT).write_text(damage)
    with trace.Checkpoint(folder, keep) as checkpoint:
        assert checkpoint.value is None
        assert [record["e"] for record in checkpoint.fresh] == ["a", "b"]


def test_a_hook_that_waits_in_vain_says_nothing(tmp_path: Path) -> None:
    folder = str(tmp_path)
    trace.append_records(folder, {"e": "a"})
    with trace.Checkpoint(folder, keep) as first, trace.Checkpoint(folder, keep) as second:
        assert first.held
        assert not second.held


def test_a_killed_writer_leaves_the_lock_free_and_the_trace_whole(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom insula.coding.step import trace\n"
        "f = sys.argv[1]; trace.append_records(f, {'e': 'a'}); c = trace.Checkpoint(f, dict).__enter__()\n"
        "print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as held:
        assert held.stdout is not None
        held.stdout.readline()
        os.kill(held.pid, signal.SIGKILL)
        held.wait()
    with trace.Checkpoint(str(tmp_path), keep) as checkpoint:
        assert checkpoint.held
        assert [record["e"] for record in checkpoint.fresh] == ["a"]


@given(st.text(max_size=80))
def test_whatever_a_session_is_called_its_folder_stays_inside(identifier: str) -> None:
    path = Path(trace.get_folder("/home", identifier, identifier))
    assert path.resolve().is_relative_to("/home/sessions")
    assert len(path.name) <= 64


def test_a_project_is_told_by_its_git_root(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "repo")
    one = trace.hash_project(str(tmp_path / "repo"))
    assert (
        trace.hash_project(str(tmp_path / "repo" / "src")) == one == trace.hash_project(str(tmp_path / "link" / "src"))
    )
    assert trace.hash_project(str(tmp_path)) != one
    assert len(one) == 16
    assert trace.hash_project("") == ""


def test_reading_on_costs_the_same_in_a_long_session(tmp_path: Path) -> None:
    def read_on(folder: str) -> None:
        with trace.Checkpoint(folder, keep) as checkpoint:
            assert len(checkpoint.fresh) == 1
            checkpoint.keep_value({})

    costs: list[int] = []
    for length in (20, 20_000):
        folder = str(tmp_path / str(length))
        trace.append_records(folder, *({"e": "action", "n": n} for n in range(length)))
        with trace.Checkpoint(folder, keep) as checkpoint:
            assert len(json.dumps(checkpoint.fresh)) < 2 * trace.TAIL
            checkpoint.keep_value({})
        trace.append_records(folder, {"e": "action", "n": 1})
        costs.append(calls(partial(read_on, folder)))
    assert costs[1] <= 2 * costs[0]
