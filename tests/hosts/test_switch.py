"""A person can switch the hooks off, here or everywhere, and erase what they wrote down."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from harness import run_insula, spawn_insula
from installing import GUARD_SECONDS, insula, settings_of
from payloads import spawn

PROMPT = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}


@pytest.fixture(autouse=True)
def inner(user: Path) -> None:
    """The project is a repository with a folder."""
    (user / "project/.git").mkdir()
    (user / "project/inner").mkdir()


def is_off(home: Path, folder: Path) -> bool:
    """Whether a hook, in a process of its own, writes nothing down there."""
    name = f"session-{len(list(home.glob('sessions/*')))}"
    spawn(home, "claude-code", PROMPT | {"session_id": name, "cwd": str(folder)})
    return not (home / "sessions" / name).exists()


def senses_on(home: Path) -> set[str]:
    """The senses that speak, as the doctor tells."""
    checks = run_insula("doctor", "codex", "--json").json["checks"]
    return {check["name"] for check in checks if check["says"].startswith("on: ")}


def test_a_project_is_switched_off_with_all_its_folders(home: Path, user: Path) -> None:
    insula("off", "--project")
    assert is_off(home, user / "project/inner")
    assert not is_off(home, user)
    assert str(user / "project") in insula("off", "--project")[1]
    assert len(json.loads((home / "hook.json").read_text())["projects_off"]) == 1
    insula("on", "--project")
    assert not is_off(home, user / "project")


def test_a_sense_is_switched_alone_and_its_switch_outlives_the_others(home: Path) -> None:
    insula("install", "codex")
    assert "o2" not in senses_on(home)
    said = insula("on", "o2")[1]
    assert said.startswith("o2 is on;") and "against_words, bypass, nociception, o2, told_again" in said
    insula("off", "bypass")
    insula("off")
    insula("on")
    insula("install", "codex")
    assert senses_on(home) == {"nociception", "vestibular", "against_words", "told_again", "unmet", "o2"}
    insula("off", "o2")
    insula("on", "bypass")
    assert json.loads((home / "hook.json").read_text())["senses"] == {"o2": False, "bypass": True}


def test_what_is_no_sense_and_a_sense_of_one_project_are_refused(home: Path) -> None:
    assert "'smell' is no sense; the senses are against_words, bypass," in insula("on", "smell")[1]
    assert "leave out --project" in insula("off", "o2", "--project")[1]
    assert not (home / "hook.json").exists()


def test_an_installation_keeps_the_switches_and_takes_the_holdout_of_the_settings(home: Path) -> None:
    insula("off")
    (home / "insula.toml").write_text("holdout = 0.25")
    insula("install", "codex")
    assert json.loads((home / "hook.json").read_text()) == {"v": 1, "off": True, "projects_off": [], "holdout": 0.25}


def test_the_settings_have_the_only_word_on_the_holdout(home: Path) -> None:
    def share() -> float:
        assert insula("install", "codex")[0] == 0
        return json.loads((home / "hook.json").read_text())["holdout"]

    (home / "insula.toml").write_text('holdout = "off"')
    assert share() == 0
    (home / "hook.json").write_text('{"holdout": 0.5}')
    assert share() == 0
    (home / "insula.toml").unlink()
    assert share() == 0.1


@pytest.mark.parametrize("damage", ["", "[]", "{" * 5000])
def test_a_damaged_file_may_have_said_off_and_is_written_anew(damage: str, home: Path, user: Path) -> None:
    (home / "hook.json").write_text(damage)
    assert is_off(home, user)
    assert "switched off at present: insula on" in insula("install", "codex")[1]
    insula("on")
    assert not is_off(home, user)


def test_off_works_where_the_settings_do_not(home: Path, user: Path) -> None:
    (home / "insula.toml").write_text("nonsense")
    assert insula("config", "show")[0]
    assert insula("off")[0] == 0
    assert is_off(home, user)


def test_the_share_of_a_holdout_is_at_most_half(home: Path) -> None:
    (home / "insula.toml").write_text("holdout = 0.6")
    code, said = insula("install", "codex")
    assert code and "holdout" in said


def learned(home: Path) -> None:
    (home / "sessions/s").mkdir(parents=True)
    (home / "sessions/s/trace.jsonl").write_text("{}")
    (home / "asked").mkdir()
    (home / "asked/p.jsonl").write_text("{}")
    (home / "rules.jsonl").write_text("{}")
    (home / "failures.1.jsonl").write_text("{}")
    (home / "insula.toml").write_text("")
    (home / "memory.db").write_text("not ours to erase")


def test_purge_erases_what_was_observed_and_nothing_else(home: Path) -> None:
    insula("install", "codex")
    learned(home)
    code, output = insula("purge", "--yes")
    assert code == 0 and "sessions, asked, rules.jsonl, failures.1.jsonl" in output and "stay installed" in output
    there = {path.name for path in home.iterdir()} - {"lock"}
    assert there == {"hook", "hook.json", "installed.json", "insula.toml", "memory.db"}
    assert "nothing to erase" in insula("purge", "--yes")[1]
    assert "backups" in insula("purge", "--help")[1]


def test_purge_names_what_it_leaves_where_no_hook_is_installed(home: Path) -> None:
    learned(home)
    assert insula("purge", "--yes")[1].endswith("What is none of that is left there: insula.toml, memory.db.\n")


def test_hooks_are_taken_out_to_the_byte_after_a_purge() -> None:
    file = settings_of("codex")
    file.parent.mkdir()
    file.write_text("{ // mine\n}")
    insula("install", "codex")
    insula("purge", "--yes")
    insula("uninstall", "codex")
    assert file.read_text() == "{ // mine\n}"


def test_nothing_is_left_of_us_after_all_was_taken_out_and_erased(home: Path, user: Path) -> None:
    insula("install", "codex")
    (home / "rules.jsonl").write_text("{}")
    assert "still in" in insula("uninstall", "--all")[1]
    assert insula("purge", "--yes")[0] == 0
    assert not home.exists() and [path for path in user.rglob("*") if path.is_file()] == []
    insula("purge", "--yes")
    assert not home.exists()


def test_a_lock_that_was_tidied_away_holds_nobody(home: Path) -> None:
    with contextlib.ExitStack() as stack:
        both = (("off",), ("purge", "--yes")) * 2
        running = [stack.enter_context(spawn_insula(*words)) for words in both]
        assert [process.wait(GUARD_SECONDS) for process in running] == [0] * len(running)


@pytest.mark.parametrize(("word", "erased"), [(b"\n", False), (b"y\n", True)])
def test_purge_asks_on_a_terminal_and_takes_no_for_an_answer(home: Path, word: bytes, erased: bool) -> None:
    learned(home)
    ours, theirs = pty.openpty()
    program = Path(sys.executable).with_name("insula")
    with subprocess.Popen([program, "purge"], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.write(ours, word)
        assert process.wait(GUARD_SECONDS) == (0 if erased else 1)
    os.close(ours)
    os.close(theirs)
    assert (home / "rules.jsonl").exists() is not erased


def test_purge_erases_nothing_when_nobody_can_be_asked(home: Path) -> None:
    learned(home)
    code, output = insula("purge")
    assert code == 1 and "--yes" in output
    assert (home / "rules.jsonl").exists()


def test_a_link_in_the_place_of_a_folder_is_erased_and_not_followed(home: Path, user: Path) -> None:
    (user / "precious").mkdir()
    (user / "precious/file").write_text("x")
    (home / "evidence").symlink_to(user / "precious")
    insula("purge", "--yes")
    assert not (home / "evidence").exists() and (user / "precious/file").exists()
