"""`insula bench help step`: a run parts where the senses first speak, and commands stay in their folder."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from insula.errors import InputError
from insula.testing import ScriptedModel
from insula_bench.help import repair, sandbox, step
from insula_bench.help.repair import Act

CHECK = "grep -q right answer.txt"
TASK = step.Task(
    "t", "failing", "Make answer.txt right.", {"answer.txt": "wrong\n", "test.sh": CHECK}, CHECK, ["test.sh"]
)
FAILS = "I run it.\n<shell>sh test.sh</shell>"


@pytest.fixture(autouse=True)
def _kept_in(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("INSULA_HOLDOUT", "0")
    try:
        sandbox.require()
    except InputError as error:
        pytest.skip(str(error))


def fresh(root: Path) -> Path:
    (root / "run").mkdir()
    return root / "run"


def runs(root: Path, replies: Sequence[str], turns: int = 12) -> tuple[list[step.Run], ScriptedModel]:
    model = ScriptedModel(list(replies))
    return asyncio.run(step.play(model, TASK, 0, fresh(root), turns)), model


def test_a_run_without_a_note_has_one_branch(tmp_path: Path) -> None:
    found, _ = runs(tmp_path, [FAILS, '<edit path="answer.txt">right</edit>'])
    assert [(run.branch, run.closed) for run in found] == [("shared", 2)]


def test_where_the_senses_speak_the_run_parts_and_one_branch_alone_is_told(tmp_path: Path) -> None:
    fix = '<edit path="answer.txt">\nright\n</edit>'
    found, model = runs(tmp_path, [FAILS, FAILS, FAILS, fix, "<read>answer.txt</read>", "<done/>"], turns=6)
    told, silent = found
    assert (told.branch, silent.branch) == ("told", "silent")
    said, turn = str(told.notes[0]["text"]), int(str(told.notes[0]["turn"]))
    assert told.acts[:turn] == silent.acts[:turn]
    assert any(said in request.text for request in model.requests)
    assert not any(said in text for _, text in silent.history)
    assert told.closed
    assert not silent.closed


def test_a_test_that_was_changed_instead_of_the_code_is_not_solved(tmp_path: Path) -> None:
    task = TASK._replace(check="sh test.sh", files={"answer.txt": "wrong\n", "test.sh": f"{CHECK}\n"})
    model = ScriptedModel(['<edit path="test.sh">true</edit>', "<shell>sh test.sh</shell>", "<done/>"])
    (run,) = asyncio.run(step.play(model, task, 0, fresh(tmp_path), 5))
    assert not run.closed


@pytest.mark.parametrize(
    ("command", "outside"),
    [
        ("touch ../outside", "outside"),
        ("rm -rf ..", ""),
        ("cd / && touch outside; touch $OLDPWD/../outside", "outside"),
    ],
)
def test_a_command_cannot_leave_its_folder(command: str, outside: str, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "mine").write_text("kept")
    sandbox.run(folder, command)
    assert (tmp_path / "mine").read_text() == "kept"
    assert not outside or not (tmp_path / outside).exists()


def test_a_command_has_no_network_and_an_end(tmp_path: Path) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 80), 1)"
    assert "Error" in sandbox.run(tmp_path, f'python3 -c "{code}"').output
    assert sandbox.run(tmp_path, "sleep 60", 0.5).code == 124


def test_a_file_outside_the_folder_is_neither_read_nor_written(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / "secret")
    for name in ("../secret", "link", str(tmp_path / "secret")):
        assert not repair.do(folder, Act(repair.READ, name)).ok
        assert not repair.do(folder, Act(repair.EDIT, name, "y")).ok
    assert (tmp_path / "secret").read_text() == "x"


@pytest.mark.parametrize(
    ("reply", "act"),
    [
        ("Look.\n<shell>ls -l</shell>", Act("shell", "ls -l")),
        ("<read> a.py </read> then <shell>ls</shell>", Act("read", "a.py", others=True)),
        ('<edit path="a.py">\n```python\nx = 1\n```\n</edit>', Act("edit", "a.py", "x = 1\n")),
        ("```bash\npython3 x.py\n```", Act("shell", "python3 x.py")),
        ("It works now. <done/>", Act("done")),
        ("I cannot help with that.", Act("")),
        ('<edit path="a.py">x = 1', Act("edit", "a.py", "x = 1\n")),
        ("<edit a.py>x = 1</edit>", Act("edit", "a.py", "x = 1\n")),
        ('<edit>a.py">x = 1</edit>', Act("edit", "a.py", "x = 1\n")),
        ("<edit>a.py</edit>\n<done/>", Act("")),
        ("<read>a.py</read>\n<read>b.py</read>", Act("read", "a.py", others=True)),
    ],
)
def test_the_first_action_of_a_reply_is_read(reply: str, act: Act) -> None:
    assert repair.parse(reply) == act


def test_the_model_is_told_that_only_its_first_action_was_carried_out(tmp_path: Path) -> None:
    (run,), model = runs(tmp_path, [f"{FAILS}\n<done/>", "<done/>"])
    assert repair.ONLY_FIRST in model.requests[1].text
    assert [act["act"] for act in run.acts] == ["shell", "done"]


def test_the_figures_compare_the_branches_of_the_same_moment() -> None:
    common = {"key": "k", "task": "t", "kind": "x", "seed": 0, "tokens": 10, "notes": [{"turn": 1, "text": "n"}]}
    acts = [{"act": "shell", "target": "a"}, {"act": "shell", "target": "b"}]
    told = {**common, "branch": "told", "solved": True, "turns": 2, "acts": acts}
    silent = {**common, "branch": "silent", "solved": False, "turns": 5, "acts": [acts[0], acts[0]]}
    alone = {**common, "key": "other", "branch": "shared", "solved": False, "turns": 5, "acts": acts}
    found = step.figures([told, silent, alone])
    assert found["runs"] == 2
    noted = found["with_a_note"]
    assert (noted["better"], noted["worse"], noted["pairs"]) == (1, 0, 1)
    assert noted["heeded"]["share"] == 1.0
    assert noted["another_way_without"]["share"] == 0.0
    assert noted["turns"]["difference"] == -3.0
