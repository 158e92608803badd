"""`insula bench help step`: a run parts where the senses first speak, and commands stay in their folder."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from insula.errors import InputError, ModelRefused, ModelUnavailable
from insula.testing import Reply, ScriptedModel
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


def runs(root: Path, replies: Sequence[Reply], turns: int = 12) -> tuple[list[step.Run], ScriptedModel]:
    model = ScriptedModel(list(replies))
    return asyncio.run(step.play(model, TASK, 0, fresh(root), turns)), model


def test_a_run_without_a_note_has_one_branch(tmp_path: Path) -> None:
    found, _ = runs(tmp_path, [FAILS, '<edit path="answer.txt">right</edit>'])
    assert [(run.branch, run.closed) for run in found] == [("shared", 2)]


def test_where_the_senses_speak_the_run_parts_and_one_branch_alone_is_told_the_note(tmp_path: Path) -> None:
    fix = '<edit path="answer.txt">\nright\n</edit>'
    found, model = runs(tmp_path, [FAILS, FAILS, FAILS, fix, "<read>answer.txt</read>", "<done/>"], turns=6)
    told, silent, placebo = found
    assert (told.branch, silent.branch, placebo.branch) == ("told", "silent", "placebo")
    said, turn = str(told.notes[0]["text"]), int(str(told.notes[0]["turn"]))
    assert told.acts[:turn] == silent.acts[:turn]
    assert any(said in request.text for request in model.requests)
    assert not any(said in text for run in (silent, placebo) for _, text in run.history)
    neutral = str(placebo.notes[0]["text"])
    assert any(neutral in text for _, text in placebo.history)
    assert abs(len(neutral) - len(said)) < 12
    assert told.closed
    assert not silent.closed


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        ModelRefused("It declined."),
        "<read>answer.txt</read>",  # and again, and again
    ],
)
def test_a_model_that_refuses_loops_or_says_nothing_to_do_ends_unsolved(reply: Reply, tmp_path: Path) -> None:
    found, _ = runs(tmp_path, [reply] * 12, turns=5)
    assert {run.branch for run in found} in ({"shared"}, {"told", "silent", "placebo"})
    assert all((len(run.acts), run.closed, run.ended) == (5, 0, True) for run in found)


def test_a_run_whose_model_dies_is_run_again_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix, died = '<edit path="answer.txt">right</edit>', ModelUnavailable("It is gone.")
    script: list[Reply] = [fix, FAILS, died]

    @asynccontextmanager
    async def resolve(name: str, folder: Path | None = None) -> AsyncGenerator[ScriptedModel]:
        yield ScriptedModel(script)

    monkeypatch.setattr(step, "resolve_model", resolve)

    def tasks(half: str, limit: int | None = None) -> list[step.Task]:
        return [TASK, TASK._replace(id="u", goal="Mend answer.txt.")]

    monkeypatch.setattr(step, "tasks", tasks)
    terms = step.Terms(model="scripted", out=tmp_path / "out", seeds=1)
    assert [record["task"] for record in step.measure(terms)] == ["t"]
    assert [record["task"] for record in step.measure(replace(terms, limit=0))] == ["t"], "it only reports"
    script[:] = [fix]
    assert [(record["task"], record["solved"]) for record in step.measure(terms)] == [("t", True), ("u", True)]


@pytest.mark.parametrize(
    "command",
    ['rm -rf "$PWD"', "kill -9 -1; kill -9 0", "chmod -R 000 .", ":(){ :|:& };:"],
)
def test_a_run_goes_on_whatever_its_command_did_to_the_folder(command: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    found, _ = runs(tmp_path, [f"<shell>{command}</shell>", "<read>answer.txt</read>", "<done/>"] * 2, turns=3)
    assert all((run.closed, run.ended) == (0, True) for run in found)
    assert (tmp_path / "mine").read_text() == "kept"


@pytest.mark.parametrize(
    ("name", "script", "answer"),
    [
        ("circular", "main.py", "invoice 42"),
        ("override", "server.py", "port 8080"),
    ],
)
def test_to_print_what_is_looked_for_is_no_repair(name: str, script: str, answer: str, tmp_path: Path) -> None:
    task = next(one for one in step.tasks("held") if one.id == name)
    model = ScriptedModel([f'<edit path="{script}">print("{answer}")</edit>', "<done/>", "<done/>"])
    assert not any(run.closed for run in asyncio.run(step.play(model, task, 0, fresh(tmp_path), 3)))


@pytest.mark.parametrize(
    "cheat",
    [
        '<edit path="test.sh">true</edit>',
        "<shell>rm test.sh; ln -s /bin/true test.sh</shell>",
    ],
)
def test_no_way_to_change_the_test_is_a_repair(cheat: str, tmp_path: Path) -> None:
    task = TASK._replace(check="sh test.sh", files={"answer.txt": "wrong\n", "test.sh": f"{CHECK}\n"})
    model = ScriptedModel([cheat, "<shell>sh test.sh</shell>", "<done/>", "<done/>"])
    found = asyncio.run(step.play(model, task, 0, fresh(tmp_path), 4))
    assert not any(run.closed for run in found)


@pytest.mark.parametrize(
    ("command", "outside"),
    [
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
        ('<edit>a.py">x = 1</edit>', Act("edit", "a.py", "x = 1\n")),
    ],
)
def test_the_first_action_of_a_reply_is_read(reply: str, act: Act) -> None:
    assert repair.parse(reply) == act


def test_the_figures_compare_the_branches_of_the_same_moment() -> None:
    common = {"key": "k", "task": "t", "kind": "x", "seed": 0, "tokens": 10, "notes": [{"turn": 1, "text": "n"}]}
    acts = [{"act": "shell", "target": "a"}, {"act": "shell", "target": "b"}]
    told = {**common, "branch": "told", "solved": True, "turns": 2, "acts": acts}
    silent = {**common, "branch": "silent", "solved": False, "turns": 5, "acts": [acts[0], acts[0]]}
    alone = {**common, "key": "other", "branch": "shared", "solved": False, "turns": 5, "acts": acts}
    placebo = {**told, "branch": "placebo", "turns": 4}
    found = step.figures([told, silent, placebo, alone])
    assert found["runs"] == 2
    noted = found["with_a_note"]
    assert (noted["better"], noted["worse"], noted["pairs"]) == (1, 0, 1)
    assert noted["heeded"]["share"] == 1.0
    assert noted["another_way_without"]["share"] == 0.0
    assert noted["turns"]["difference"] == -3.0
    assert found["with_a_placebo"]["turns"]["difference"] == -2.0
