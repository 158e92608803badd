"""The real clients, run against a fake model where no network is: what their models receive of ours (laws 1, 3 and 4).

Not part of `make test`; `make test-hosts` installs the clients and runs it.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from agent_steps import EditStep, ReadStep
from insula.coding.hosts import places, plugins
from insula.coding.hosts.live import CLIENTS, QUESTION, Run, Stage, prove_hooks, script_errors
from insula.coding.step.wording import SIGN
from insula.llm.fake_agents import FakeModel, ShellStep

Json = dict[str, Any]
Staged = Callable[..., Stage]

CLIENTS_FOLDER = Path(os.environ.get("CLIENTS", Path(__file__).parents[2] / ".venv/clients"))
PROGRAMS = CLIENTS_FOLDER / "node_modules/.bin"
SDK = CLIENTS_FOLDER / "sdk"
HOSTS = tuple(CLIENTS)
LATER = "; seq 300000 | sort -r > /dev/null"
"""Behind a command: Qwen Code loses, now and then, the output of one that ends at once."""


@pytest.fixture(scope="session", autouse=True)
def alone() -> None:
    """No client gets to run where it could reach more than this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that nobody has; finds a route and sends nothing
        except OSError:
            return
    pytest.exit("A network can be reached from here; run the real clients with `make test-hosts`.", 1)


@pytest.fixture
def staged(tmp_path: Path) -> Staged:
    """Makes a stage for a host, with our hooks unless told otherwise."""

    def make(host: str, *, hooks: bool = True) -> Stage:
        folder = tmp_path / "stage"
        shutil.rmtree(folder, ignore_errors=True)
        stage = Stage(host, PROGRAMS / places.get_host(host).binary, folder)
        if hooks:
            installed = stage.run_insula("install", host)
            assert installed.status == 0, installed.errors
        return stage

    return make


def healthy(stage: Stage) -> list[Any]:
    """A script in which nothing goes wrong."""
    (stage.project / "a.txt").write_text("alpha\nbeta\n")
    file = str(stage.project / "a.txt")
    return [
        ShellStep("echo one" + LATER),
        ReadStep(file),
        EditStep(file, "beta", "gamma"),
        ShellStep("echo two" + LATER),
    ]


def finished(stage: Stage, model: FakeModel, run: Run) -> bool:
    """Whether the client played the script to its end."""
    assert run.status == 0, f"{stage.name}: {run.errors}\n{run.output}"
    assert not model.problems
    assert not stage.list_failures()
    return "All steps are done." in run.output


def went_on(model: FakeModel, run: Run) -> None:
    """The client played the script to its end, and the model heard nothing of us."""
    assert run.status == 0, run.errors
    assert "All steps are done." in run.output
    assert not any("insula" in text for text in model.request_texts())


def doctor(stage: Stage, host: str) -> dict[str, str]:
    """The state of each check."""
    checks: list[dict[str, str]] = json.loads(stage.run_insula("doctor", host, "--json").output)["checks"]
    return {check["name"]: check["state"] for check in checks}


def trust(stage: Stage) -> None:
    """Does what the user does with /hooks in Codex, as Codex does it: through its server for applications."""
    env = {"HOME": str(stage.home), "PATH": os.environ["PATH"], "FAKE_KEY": "dummy"}
    command = [PROGRAMS / "codex", "app-server"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=env, cwd=stage.project, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as server:

        def ask(method: str, **params: object) -> Json:
            assert server.stdin
            assert server.stdout
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            return next(answer["result"] for answer in answers if answer.get("id") == method)

        ask("initialize", clientInfo={"name": "insula-tests", "version": "0"})
        hooks: list[Json] = ask("hooks/list", cwds=[str(stage.project)])["data"][0]["hooks"]
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        ask("config/batchWrite", edits=[{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": trusted}])
        server.terminate()


@pytest.mark.parametrize("host", HOSTS)
def test_four_similar_errors_bring_the_question_to_the_model_once(host: str, staged: Staged) -> None:
    stage = staged(host)
    with FakeModel(script_errors(5)) as model:
        assert finished(stage, model, stage.play_model(model))
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 1, 1, 1]
    assert stage.count_actions() == 5


@pytest.mark.parametrize("host", HOSTS)
def test_errors_that_differ_bring_no_question(host: str, staged: Staged) -> None:
    stage = staged(host)
    wrong = ("cat missing.txt", "python3 -c 'import nowhere'", "expr 1 / 0", "kill x", "sort --no-such-option")
    with FakeModel([ShellStep(f"{command}; exit 1") for command in wrong]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert not any(SIGN in text for text in model.request_texts())
    assert stage.count_actions() == len(wrong)


UNSEEN = pytest.mark.xfail(strict=True, reason="Codex calls no hook after a patch that does not fit")


@pytest.mark.parametrize("host", ["claude-code", pytest.param("codex", marks=UNSEEN), *HOSTS[2:]])
def test_edits_that_do_not_fit_the_file_bring_the_question(host: str, staged: Staged) -> None:
    stage = staged(host)
    file = stage.project / "a.txt"
    file.write_text("alpha\n")
    wrong = [EditStep(str(file), f"absent {number}", "beta") for number in range(4)]
    with FakeModel([ReadStep(str(file)), *wrong, ShellStep("echo fine")]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert SIGN in model.request_texts()[-1]


@pytest.mark.parametrize("host", HOSTS)
def test_the_same_call_with_the_same_result_is_noticed_though_nothing_fails(host: str, staged: Staged) -> None:
    stage = staged(host)
    (stage.project / "a.txt").write_text("alpha and beta, gamma and delta\n")
    with FakeModel([ShellStep("cat a.txt" + LATER)] * 4) as model:
        assert finished(stage, model, stage.play_model(model))
    assert [text.count("and got the same result") > 0 for text in model.request_texts()][-1]


def test_claude_puts_it_behind_the_result(staged: Staged) -> None:
    stage = staged("claude-code")
    with FakeModel(script_errors(4)) as model:
        stage.play_model(model)
    result: Json = model.dialogue[3]["messages"][-1]["content"][0]
    assert "missing-3.txt: No such file or directory" in result["content"]
    told = re.search(r"<system-reminder>\n(PostToolUseFailure:[^<]*)\n</system-reminder>", result["content"])
    assert told
    assert told[1].startswith(f"PostToolUseFailure:Bash hook additional context: {SIGN}3 turns in a row ended")


def test_codex_puts_it_into_a_message_of_the_developer(staged: Staged) -> None:
    stage = staged("codex")
    with FakeModel(script_errors(4)) as model:
        stage.play_model(model)
    items: list[Json] = model.dialogue[4]["input"]
    told = [item for item in items if QUESTION in str(item)]
    assert [(item["type"], item["role"]) for item in told] == [("message", "developer")]
    assert told[0]["content"][0]["text"].startswith(f"{SIGN}3 turns in a row ended")


def test_gemini_puts_it_behind_the_output_of_the_tool(staged: Staged) -> None:
    stage = staged("gemini")
    with FakeModel(script_errors(4)) as model:
        stage.play_model(model)
    part: Json = model.dialogue[4]["contents"][-1]["parts"][0]
    output: str = part["functionResponse"]["response"]["output"]
    assert "missing-4.txt: No such file or directory" in output
    assert re.search(rf"<hook_context>{re.escape(SIGN)}3 turns in a row[^<]*</hook_context>$", output)


def behind(model: FakeModel) -> tuple[Json, Json]:
    """In Chat Completions: the message that brings the question, and the one before it."""
    messages: list[Json] = model.dialogue[4]["messages"]
    place = next(number for number, message in enumerate(messages) if QUESTION in str(message))
    return messages[place], messages[place - 1]


def test_copilot_puts_it_behind_the_result_of_the_tool(staged: Staged) -> None:
    stage = staged("copilot")
    with FakeModel(script_errors(4)) as model:
        stage.play_model(model)
    told, _ = behind(model)
    assert told["role"] == "tool"
    assert re.search(
        rf"missing-4.txt: No such file or directory\n.*guidance from postToolUse hooks:\n{re.escape(SIGN)}4 similar",
        told["content"],
        re.DOTALL,
    )


def test_qwen_and_opencode_put_it_behind_the_result_of_the_tool(staged: Staged) -> None:
    for host in ("qwen", "opencode"):
        stage = staged(host)
        with FakeModel(script_errors(4)) as model:
            stage.play_model(model)
        told, _ = behind(model)
        said = "\n".join(part["text"] for part in told["content"]) if host == "qwen" else told["content"]
        assert told["role"] == "tool"
        assert re.search(rf"missing-4.txt: No such file.*\n\n{re.escape(SIGN)}4 similar[^\n]*$", said, re.DOTALL)


def test_cline_puts_it_into_a_message_after_the_result_of_the_tool(staged: Staged) -> None:
    stage = staged("cline")
    with FakeModel(script_errors(4)) as model:
        stage.play_model(model)
    told, before = behind(model)
    assert (told["role"], before["role"]) == ("user", "tool")
    assert re.match(rf'<hook_context source="PostToolUse"[^>]*>\n{re.escape(SIGN)}4 similar', told["content"])


def test_copilot_with_two_hooks_is_told_once(staged: Staged) -> None:
    stage = staged("copilot")
    file = stage.home / ".copilot/hooks/insula.json"
    file.with_name("again.json").write_text(file.read_text().replace(" -I -S ", " -S -I "))
    assert stage.run_insula("install", "claude-code", "--project").status == 0
    with FakeModel(script_errors(5)) as model:
        assert finished(stage, model, stage.play_model(model))
    assert stage.count_actions() == 10, "each hook has told each call"
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("host", HOSTS)
def test_a_healthy_run_is_told_nothing(host: str, staged: Staged) -> None:
    said: list[list[str]] = []
    for hooks in (False, True):
        stage = staged(host, hooks=hooks)
        with FakeModel(healthy(stage)) as model:
            assert finished(stage, model, stage.play_model(model))
        assert "gamma" in (stage.project / "a.txt").read_text()
        assert stage.count_actions() == (4 if hooks else 0)
        said.append([_steady(text) for text in model.request_texts()])
    without, with_hooks = said
    assert not any(SIGN in text or "insula" in text.replace(str(stage.project), "") for text in with_hooks)
    assert with_hooks == without


@pytest.mark.parametrize("installed", [False, True], ids=["alone", "beside the hooks in the settings"])
def test_the_agent_sdk_brings_the_question_from_its_own_process(tmp_path: Path, installed: bool) -> None:
    program = tmp_path / "agent"
    agent = Path(__file__).with_name("sdk_agent.py")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{agent}" "{SDK}"\n')
    program.chmod(0o755)
    stage = Stage("claude-code", program, tmp_path / "stage")
    assert not installed or stage.run_insula("install", "claude-code").status == 0
    with FakeModel(script_errors(5)) as model:
        run = stage.play_model(model)
        assert finished(stage, model, run)
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 1, 1, 1]
    assert all(text.count("I live in Lisbon, near the river.") == 1 for text in model.request_texts()), (
        "the turn's memory"
    )
    assert "signal of turn 1: " in run.output, "the last words were assessed"
    assert "PostToolUseFailure:Bash hook additional context: [insula] 3 turns in a row" in model.request_texts()[4]
    assert stage.count_actions() == (10 if installed else 5), "each tells each call; it counts once"


@pytest.mark.parametrize("host", HOSTS)
def test_parallel_calls_lose_no_action(host: str, staged: Staged) -> None:
    stage = staged(host)
    files = [stage.project / f"{number}.txt" for number in range(8)]
    for file in files:
        file.write_text(file.name)
    wrong = [ShellStep("cat nothing"), ReadStep(str(stage.project / "nothing"))]
    with FakeModel([[ReadStep(str(file)) for file in files], wrong]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert stage.count_actions() == 10


def test_ten_errors_at_once_are_one_turn_and_three_such_turns_have_one_text(staged: Staged) -> None:
    stage = staged("claude-code")

    def missing(turn: int) -> list[ReadStep]:
        return [ReadStep(str(stage.project / f"{turn}-{number}.txt")) for number in range(10)]

    with FakeModel([missing(0)]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert not any(SIGN in text for text in model.request_texts())
    stage = staged("claude-code")
    with FakeModel([missing(turn) for turn in range(3)]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert [text.count(SIGN) for text in model.request_texts()] == [0, 0, 0, 1]
    assert QUESTION in model.request_texts()[-1]
    assert stage.count_actions() == 30


def test_tools_of_opencode_that_throw_bring_the_question_behind_their_error(staged: Staged) -> None:
    stage = staged("opencode")
    missing = [ReadStep(str(stage.project / f"missing-{number}.txt")) for number in range(5)]
    with FakeModel(missing) as model:
        assert finished(stage, model, stage.play_model(model))
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 1, 1, 1]
    assert stage.count_actions() == 5


def test_what_gemini_drops_with_the_error_of_a_tool_comes_with_the_next_result(staged: Staged) -> None:
    stage = staged("gemini")
    missing = [ReadStep(str(stage.project / f"missing-{number}.txt")) for number in range(4)]
    with FakeModel([*missing, ShellStep("echo fine")]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_without_their_library_are_silent_and_the_doctor_counts_them(host: str, staged: Staged) -> None:
    stage = staged(host)
    for library in (stage.home / ".insula/hook").glob("lib-*"):
        shutil.rmtree(library)
    with FakeModel(script_errors(5)) as model:
        run = stage.play_model(model)
    went_on(model, run)
    assert "hook" not in run.errors.lower(), "the user is told"
    assert stage.list_failures() == ["ModuleNotFoundError"]
    assert doctor(stage, host)["code"] == "broken"


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_whose_folder_is_gone_leave_the_run_alone(host: str, staged: Staged) -> None:
    stage = staged(host)
    shutil.rmtree(stage.home / ".insula")
    with FakeModel(script_errors(5)) as model:
        went_on(model, stage.play_model(model))


def test_codex_skips_hooks_that_nobody_trusts_and_the_doctor_says_so(staged: Staged) -> None:
    stage = staged("codex")
    with FakeModel(script_errors(5)) as model:
        went_on(model, stage.play_model(model, trusting=False))
    assert stage.count_actions() == 0
    assert doctor(stage, "codex")["trust"] == "idle"


def test_codex_runs_hooks_once_they_are_trusted_and_the_doctor_is_content(staged: Staged) -> None:
    stage = staged("codex")
    trust(stage)
    with FakeModel(script_errors(5)) as model:
        assert finished(stage, model, stage.play_model(model, trusting=False))
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 1, 1, 1]
    assert set(doctor(stage, "codex").values()) == {"ok"}


@pytest.mark.parametrize("host", HOSTS)
def test_the_proof_is_found_and_quotes_what_the_model_saw(host: str) -> None:
    proof = prove_hooks(host, PROGRAMS / places.get_host(host).binary)
    assert proof.reached, proof.reason
    assert f"{SIGN}{QUESTION}" in proof.text
    assert ("trust" in proof.reason) == (host == "codex")


def _steady(text: str) -> str:
    """A text without what differs from one run to the next: ids, times and, with codex, the order of its fields."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<id>", text)
    text = re.sub(r"\b[0-9a-f]{6,}\b|\d+(\.\d+)?", "<n>", text)
    return "\n".join(sorted(text.splitlines()))


VALIDATED = {
    "claude-code": (
        ("plugin", "validate", "$folder"),
        ("plugin", "marketplace", "add", "$folder"),
        ("plugin", "install", "insula@insula"),
    ),
    "gemini": (("extensions", "validate", "$folder"),),
}
"""By host: what its client does with a plugin without asking."""


@pytest.mark.parametrize("host", VALIDATED)
def test_the_client_itself_accepts_the_plugin(host: str, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    plugins.build_plugin(places.get_host(host), folder)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    for words in VALIDATED[host]:
        said = [word.replace("$folder", str(folder)) for word in words]
        program = [PROGRAMS / places.get_host(host).binary, *said]
        done = subprocess.run(program, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"(?i)passed|success", done.stdout + done.stderr)


# The user's word (P11)

BAN = "Don't touch vendor/."


class Agent:
    """Send a subagent."""

    names = ("Task", "Agent")
    arguments = MappingProxyType(
        {"description": "Look", "prompt": "Look at the files.", "subagent_type": "general-purpose"}
    )


def says(stage: Stage, words: str, *more: str) -> None:
    """What the user says in the next run."""
    argv = stage.client.argv
    place = argv.index("-p" if "-p" in argv else "Look at the files.")
    place += argv[place] == "-p"
    stage.client = replace(stage.client, argv=(*argv[:place], words, *argv[place + 1 :], *more))


def test_claude_that_nobody_attends_is_told_before_a_forbidden_edit_and_goes_on(staged: Staged) -> None:
    stage = staged("claude-code")
    (stage.project / "vendor").mkdir()
    file = stage.project / "vendor/a.txt"
    file.write_text("alpha\n")
    says(stage, f"Mend a.txt. {BAN}")
    with FakeModel([ReadStep(str(file)), EditStep(str(file), "alpha", "beta")]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert f'The user said: "{BAN}" This call changes `vendor/a.txt`.' in model.request_texts()[-1]
    assert file.read_text() == "beta\n", "a question that nobody can answer would have refused it"


def test_codex_is_told_of_a_forbidden_edit(staged: Staged) -> None:
    stage = staged("codex")
    (stage.project / "vendor").mkdir()
    file = stage.project / "vendor/a.txt"
    file.write_text("alpha\n")
    says(stage, f"Mend a.txt. {BAN}")
    with FakeModel([ReadStep(str(file)), EditStep(str(file), "alpha", "beta")]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert f'The user said: "{BAN}" This call changes `vendor/a.txt`.' in model.request_texts()[-1]


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_an_unmet_demand_has_the_client_go_on_once(host: str, staged: Staged) -> None:
    stage = staged(host)
    file = stage.project / "a.py"
    file.write_text("alpha = 1\n")
    says(stage, "Mend a.py and run the tests when you're done.")
    with FakeModel([ReadStep(str(file)), EditStep(str(file), "alpha = 1", "beta = 1")]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert [text.count("Since then no test was run.") for text in model.request_texts()] == [0, 0, 0, 1]


def test_claude_hands_what_the_user_ruled_out_to_a_subagent(staged: Staged) -> None:
    stage = staged("claude-code")
    says(stage, f"Send an agent to look. {BAN}")
    with FakeModel([Agent()]) as model:
        assert stage.play_model(model).status == 0
    told = [text for text in model.request_texts() if "it holds for you, too" in text]
    assert told
    assert BAN in told[0]


def test_claude_is_told_again_after_a_compaction(staged: Staged) -> None:
    stage = staged("claude-code")
    says(stage, f"Look at the files. {BAN}")
    with FakeModel([ShellStep("echo one" + LATER)]) as model:
        assert finished(stage, model, stage.play_model(model))
        says(stage, "/compact", "--continue")
        assert stage.play_model(model).status == 0
        says(stage, "Go on.")
        assert stage.play_model(model).status == 0
    assert "it still stands:" in model.request_texts()[-1]


def test_codex_is_told_again_after_a_compaction(staged: Staged) -> None:
    stage = staged("codex")
    argv = stage.client.argv
    says(stage, f"Look at the files. {BAN}")
    with FakeModel([ShellStep("echo one" + LATER)]) as model:
        assert finished(stage, model, stage.play_model(model))
    full = ("-c", "model_auto_compact_token_limit=100", "resume", "--last", "Go on.")
    stage.client = replace(stage.client, argv=(*argv[:-1], *full))
    with FakeModel([]) as model:
        assert finished(stage, model, stage.play_model(model))
    assert len(model.requests) == 2, "one to sum up, and one that goes on"
    assert "it still stands:" in model.request_texts()[-1]


class CodexAgent:
    """Send a subagent of Codex."""

    names = ("collaboration.spawn_agent",)
    arguments = MappingProxyType({"message": "Look at the files.", "task_name": "look", "agent_type": "default"})


class TwoAgents(FakeModel):
    """Plays its script once, whoever asks: a subagent, too, begins without a result."""

    def _turn_after(self, done: int) -> Any:
        return self._turns.pop(0) if self._turns else ()


def test_codex_hands_what_the_user_ruled_out_to_a_subagent(staged: Staged) -> None:
    stage = staged("codex")
    says(stage, f"Send an agent to look. {BAN}")
    argv = stage.client.argv
    stage.client = replace(stage.client, argv=(argv[0], "--enable", "multi_agent_v2", *argv[1:]))
    with TwoAgents([CodexAgent(), ShellStep("sleep 4")]) as model:
        assert finished(stage, model, stage.play_model(model))
    told = [text for text in model.request_texts() if "it holds for you, too" in text]
    assert told
    assert BAN in told[0]
