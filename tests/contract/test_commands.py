"""From a command to its JSON and its exit status."""

import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula, spawn_insula

from insula.testing import FakeServer

Json = dict[str, Any]

DAY = "I live in Porto.\nMy sister lives in Lisbon.\n/session tuesday\nWhere does my sister live?\n"


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in a home in which somebody told two facts and asked for one."""
    folder = tmp_path_factory.mktemp("day") / "home"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSULA_HOME", str(folder))
        assert run_insula("chat", "--model", "test", stdin=DAY).status == 0
    return folder


@pytest.fixture
def talked(day: Path, home: Path) -> Path:
    """Such a home, of the test's own."""
    shutil.copytree(day, home, dirs_exist_ok=True)
    return home


# Talking


def test_chat_prints_one_record_a_turn_and_answers_from_what_was_told() -> None:
    ran = run_insula("chat", "--model", "test", "--json", stdin=DAY)
    first, second, third = ran.lines
    assert (ran.status, ran.err) == (0, "")
    assert [first["message"], second["message"]] == ["I live in Porto.", "My sister lives in Lisbon."]
    assert (third["session"], third["turn"], third["confidence"]["level"]) == ("tuesday", 1, "high")
    assert [memory["shown"] for memory in third["recalled"] if memory["shown"]] == [True]


def test_the_embedded_model_answers_from_memory() -> None:
    ran = run_insula("chat", stdin=DAY)
    assert ran.status == 0
    assert "Lisbon" in ran.out[ran.out.rindex("Where does my sister live?") :]


def test_chat_without_a_model_that_answers_says_what_to_do_and_keeps_the_message() -> None:
    with FakeServer("500") as broken:
        ran = run_insula("chat", "--model", f"{broken.url}#fake", "--json", stdin="I live in Porto.\n")
    assert ran.lines[0]["error"]
    assert "I live in Porto." in [memory["content"] for memory in run_insula("memory", "--transcript", "--json").json]


def test_chat_goes_on_with_the_session_before(talked: Path) -> None:
    ran = run_insula("chat", "--model", "test", "--resume", "--json", stdin="And I?\n")
    assert (ran.lines[0]["session"], ran.lines[0]["turn"]) == ("tuesday", 2)


def test_each_user_has_a_memory_of_their_own(talked: Path) -> None:
    ran = run_insula("chat", "--model", "test", "--user", "ben", "--json", stdin="Where do I live?\n")
    assert [ran.lines[0]["message"], ran.lines[0]["recalled"]] == ["Where do I live?", []]


# What it knows


def test_memory_lists_what_was_said_newest_first(talked: Path) -> None:
    listed = run_insula("memory", "--transcript", "--json").json
    own = [memory["content"] for memory in listed if memory["provenance"] == "user"]
    assert own == ["Where does my sister live?", "My sister lives in Lisbon.", "I live in Porto."]
    assert [memory["id"] for memory in listed] == sorted((memory["id"] for memory in listed), reverse=True)


def _number(content: str) -> int:
    (found,) = (
        memory["id"] for memory in run_insula("memory", "--transcript", "--json").json if memory["content"] == content
    )
    return found


def test_a_memory_is_edited_and_the_old_words_come_back(talked: Path) -> None:
    number = str(_number("I live in Porto."))
    assert run_insula("memory", "edit", number, "I live in Braga.", "--json").status == 0
    assert run_insula("memory", "show", number, "--json").json["content"] == "I live in Braga."
    asked = run_insula("chat", "--model", "test", "--json", stdin="Where do I live?\n").lines[0]
    assert int(number) in [memory["id"] for memory in asked["recalled"] if memory["shown"]]
    assert run_insula("memory", "undo", number, "--json").status == 0
    assert run_insula("memory", "show", number, "--json").json["content"] == "I live in Porto."


@pytest.mark.parametrize(("verb", "opposite"), [("pin", "unpin"), ("mute", "unmute")])
def test_a_memory_is_pinned_or_muted_and_that_is_undone(talked: Path, verb: str, opposite: str) -> None:
    number = str(_number("I live in Porto."))
    assert run_insula("memory", verb, number, "--json").status == 0
    assert verb in str(run_insula("memory", "show", number, "--json").json["history"])
    assert run_insula("memory", opposite, number, "--json").status == 0
    assert run_insula("memory", "show", number, "--json").json["mode"] == ""


def test_a_muted_memory_stands_before_no_model(talked: Path) -> None:
    number = _number("I live in Porto.")
    before = run_insula("chat", "--model", "test", "--json", stdin="Where do I live?\n").lines[0]
    run_insula("memory", "mute", str(number))
    after = run_insula("chat", "--model", "test", "--json", stdin="Where do I live?\n").lines[0]
    assert number in [memory["id"] for memory in before["recalled"] if memory["shown"]]
    assert number not in [memory["id"] for memory in after["recalled"] if memory["shown"]]


def test_an_erased_memory_is_gone_for_good(talked: Path) -> None:
    number = str(_number("I live in Porto."))
    unasked = run_insula("memory", "erase", number, "--json")
    assert (unasked.status, json.loads(unasked.err)["error"]["kind"]) == (1, "InputError")
    assert run_insula("memory", "erase", number, "--yes", "--json").status == 0
    assert run_insula("memory", "show", number, "--json").json["content"] == ""
    assert "I live in Porto." not in [
        memory["content"] for memory in run_insula("memory", "--transcript", "--json").json
    ]


def test_status_shows_the_register_of_claims_with_the_users_own_rates(talked: Path) -> None:
    claims = {one["id"]: one for one in run_insula("status", "--json").json["claims"]}
    shown = claims["memory"]
    assert (shown["on"], shown["yours"]) == (True, {"made": 1, "of": 3, "wrong": 0, "per_1000": 333.3})
    assert shown["asserts"] and shown["measured"]["command"] and 0 < shown["measured"]["precision"] < 1
    assert claims["doubt.missing"]["on"] is False
    assert claims["sense.o2"]["on"] is False


def test_a_claim_is_switched_on_by_its_name(talked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_CLAIMS", "doubt.missing")
    claims = {one["id"]: one for one in run_insula("status", "--json").json["claims"]}
    assert claims["doubt.missing"]["on"] is True
    monkeypatch.setenv("INSULA_CLAIMS", "mood")
    assert "mood" in run_insula("status", "--json").err


def test_status_says_what_is_held_of_the_user(talked: Path) -> None:
    status = run_insula("status", "--json").json
    assert status["turns"] == 3
    assert (status["user"]["name"], status["user"]["held"]["messages"]) == ("me", 6)
    assert status["user"]["held"]["night_due"] is True


def test_a_night_runs_once_and_says_what_each_phase_did(talked: Path) -> None:
    (night,) = run_insula("sleep", "--force", "--json").json
    assert night["user"] == "me"
    assert {phase["state"] for phase in night["phases"]} <= {"done", "skipped"}
    assert "summaries" in [phase["name"] for phase in night["phases"]]
    assert run_insula("status", "--json").json["user"]["held"]["night_due"] is False


def test_soul_has_a_history_once_something_was_learned(talked: Path) -> None:
    assert run_insula("soul", "show", "--json").json["text"] == ""
    assert run_insula("soul", "undo", "--json").status == 1
    for said in ("From now on always answer in one sentence.", "From now on always use metric units."):
        run_insula("chat", "--model", "test", stdin=f"{said}\n")
        assert run_insula("sleep", "--force").status == 0
    assert "metric units" in run_insula("soul", "show", "--json").json["text"]
    assert len(run_insula("soul", "history", "--json").json) == 2
    assert run_insula("soul", "undo", "--json").status == 0
    assert "metric units" not in run_insula("soul", "show", "--json").json["text"]
    assert "one sentence" in run_insula("soul", "show", "--json").json["text"]


# Settings, users, tokens


def test_the_settings_in_force_are_shown_and_their_file_is_begun(home: Path) -> None:
    assert run_insula("config", "show", "--json").json["model"] == "embedded"
    assert run_insula("config", "path", "--json").json["path"] == str(home / "insula.toml")
    assert run_insula("config", "init", "--json").status == 0
    (home / "insula.toml").write_text('model = "test"\n')
    assert run_insula("config", "show", "--json").json["model"] == "test"


def test_a_setting_that_there_is_not_is_named_with_its_neighbour(home: Path) -> None:
    (home / "insula.toml").write_text('modell = "test"\n')
    ran = run_insula("config", "show", "--json")
    failed = json.loads(ran.err)["error"]
    assert (ran.status, failed["kind"]) == (1, "SettingsError")
    assert "modell" in failed["message"]
    assert re.search(r"\bmodel\b", failed["message"])


def test_a_token_is_shown_once_and_revoked() -> None:
    made = run_insula("token", "new", "ana", "--name", "laptop", "--json").json
    assert made["token"].startswith("insula_")
    listed = run_insula("token", "list", "--json")
    assert [token["name"] for token in listed.json] == ["laptop"]
    assert made["token"] not in listed.out
    assert run_insula("token", "revoke", "laptop", "--json").status == 0
    assert run_insula("token", "list", "--json").json == []


# What cannot be done


@pytest.mark.parametrize(
    ("words", "status", "kind"),
    [
        (["nosuch"], 2, "UsageError"),
        (["memory", "show", "99"], 1, "NotFound"),
        (["lessons", "show", "99"], 1, "InputError"),
        (["rules", "show", "99"], 1, "InputError"),
        (["chat", "--model", "nosuch"], 1, "ModelUnavailable"),
        (["replay", "nosuch.jsonl"], 1, "InputError"),
        (["replay"], 1, "InputError"),
        (["install", "nosuch"], 1, "InputError"),
        (["purge"], 1, "InputError"),
        (["user", "erase", "nobody", "--yes"], 1, "NotFound"),
        (["serve", "--host", "0.0.0.0", "--port", "0"], 1, "SettingsError"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_a_status(words: list[str], status: int, kind: str) -> None:
    ran = run_insula(*words, *([] if words[0] == "serve" else ["--json"]))
    assert ran.status == status
    assert ran.out == ""
    if words[0] == "serve":
        assert ran.err.strip().endswith(".")
        return
    failed = json.loads(ran.err)["error"]
    assert failed["kind"] == kind
    assert len(failed["message"].split()) >= 3


def test_the_version_is_that_of_the_package() -> None:
    import insula

    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run_insula("--version").out)
    assert run_insula("--version").out.strip() == insula.__version__


def test_each_command_says_what_it_takes() -> None:
    told = run_insula("-h").out
    commands = re.findall(r"^│ (\w+) ", told, re.MULTILINE)
    assert {"chat", "install", "doctor", "replay", "sleep", "serve", "memory", "user"} <= set(commands)
    for command in commands:
        ran = run_insula(command, "-h")
        assert ran.status == 0
        assert f"insula {command}" in ran.out


def test_ctrl_c_ends_a_talk_with_130_and_loses_nothing(home: Path) -> None:
    with spawn_insula("chat", "--model", "test", "--json") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("I live in Porto.\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["message"] == "I live in Porto."
        process.send_signal(signal.SIGINT)
        process.wait()
        assert process.returncode == 130
    assert "I live in Porto." in [memory["content"] for memory in run_insula("memory", "--transcript", "--json").json]


def test_the_solver_answers_with_its_trace() -> None:
    said = "<think>2 + 2 = 4</think>\n<answer>4</answer>"
    with FakeServer(answer=said) as model:
        ran = run_insula("solve", "What is 2 + 2?", "--model", f"{model.url}#fake", "--method", "direct", "--json")
    assert ran.status == 0
    assert (ran.json["answer"], ran.json["spent"]["calls"]) == ("4", 1)


def test_a_problem_without_an_answer_ends_with_1() -> None:
    ran = run_insula("solve", "What is 2 + 2?", "--model", "test", "--json")
    assert (ran.status, ran.json["answer"]) == (1, None)
