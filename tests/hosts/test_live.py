"""The proof on the user's machine says what it saw, and nothing of the user's takes part in it."""

import json
import sys
from pathlib import Path

import pytest
from installing import found, install, settings_of

from insula.coding.hosts import doctor, live, trials
from insula.coding.hosts.consent import HostCheck
from insula.coding.hosts.live import QUESTION, Proof, Stage, prove_hooks
from insula.coding.hosts.places import HOSTS
from insula.llm.fake_agents import FakeModel, ShellStep

AGENT = Path(__file__).with_name("small_agent.py")


def program(folder: Path, script: str) -> Path:
    """A client that does what a shell script says."""
    file = folder / "client"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return program(tmp_path, f'exec "{sys.executable}" "{AGENT}"')


def test_the_signal_is_seen_to_reach_the_model(agent: Path) -> None:
    proof = prove_hooks("claude-code", agent)
    assert proof.reached, proof.reason
    assert proof.reason == "The signal reached the model in request 4 of 6, after similar errors."
    assert f"PostToolUseFailure:Bash hook additional context: [insula] {QUESTION}" in proof.text


def test_a_client_that_skips_hooks_is_told_from_one_that_loses_their_answer(agent: Path, tmp_path: Path) -> None:
    skips = program(tmp_path, f'echo "{{}}" > ~/.claude/settings.json; exec "{sys.executable}" "{AGENT}"')
    assert "ran no hook of ours" in prove_hooks("claude-code", skips).reason
    mute = "sed -i.bak 's/|| true/| true/' ~/.claude/settings.json"
    loses = program(tmp_path, f'{mute}; exec "{sys.executable}" "{AGENT}"')
    assert "the hooks recorded 5 actions, but the signal is in no request" in prove_hooks("claude-code", loses).reason


def test_a_client_that_fails_is_quoted(tmp_path: Path) -> None:
    proof = prove_hooks("gemini", program(tmp_path, "echo first; echo 'Error: no such option' >&2; exit 42"))
    assert not proof.reached
    assert proof.reason == "Gemini CLI ended with status 42 before the signal was due: Error: no such option."


def test_a_client_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PATIENCE", 0.3)
    stage = Stage("codex", program(tmp_path, "sleep 60 & sleep 60"), tmp_path / "stage")
    with FakeModel([]) as model:
        run = stage.play_model(model)
    assert run.status < 0


def test_the_client_sees_nothing_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "INSULA_HOME"):
        monkeypatch.setenv(name, "the-users-own")
    stage = Stage("claude-code", program(tmp_path, "env; pwd"), tmp_path / "stage")
    with FakeModel([ShellStep("ls")]) as model:
        seen = stage.play_model(model).output
        assert f"ANTHROPIC_BASE_URL={model.url}\n" in seen
    assert "the-users-own" not in seen
    assert f"HOME={stage.home}\n" in seen
    assert "ANTHROPIC_API_KEY=dummy\n" in seen
    assert str(stage.project) in seen.splitlines()


# What the doctor makes of it.


def examine(prove: doctor.Prover) -> list[HostCheck]:
    return list(doctor.examine_host(None, prove))


def answer(text: str, event: str = "PostToolUse") -> trials.HookRun:
    value = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return trials.HookRun("PostToolUse", 0, json.dumps(value).encode(), 0.01)


QUIET = trials.HookRun("PostToolUse", 0, b"", 0.01)


@pytest.mark.parametrize(
    ("healthy", "failing", "said"),
    [
        ([QUIET], [QUIET, answer("a note")], ""),
        ([answer("a note")], [answer("a note")], "though nothing was wrong"),
        ([QUIET], [QUIET], "said nothing"),
        ([QUIET], [answer("")], "not the form"),
        ([QUIET], [answer("a note", "Stop")], "not the form"),
        ([QUIET], [trials.HookRun("PostToolUse", 0, b"a note", 0.01)], "not the form"),
        ([QUIET], [trials.HookRun("PostToolUse", 0, b'{"systemMessage": "a note"}', 0.01)], "not the form"),
        ([trials.HookRun("PostToolUse", 2, b"", 0.01)], [answer("a note")], "ended with 2"),
    ],
)
def test_an_answer_that_its_host_would_not_take_is_found(
    healthy: list[trials.HookRun], failing: list[trials.HookRun], said: str
) -> None:
    trial = trials.Trial(healthy, failing + [QUIET] * 4)
    check = doctor._judge_trial(HOSTS["codex"], trial)  # pyright: ignore[reportPrivateUsage]
    assert (check.state, said in check.says) == ("broken" if said else "ok", True)


def test_the_real_client_is_asked_only_where_there_is_one(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install("claude-code")
    monkeypatch.setenv("PATH", f"{user / 'bin'}:/usr/bin:/bin")
    asked: list[tuple[str, Path]] = []

    def prove(name: str, client: Path) -> Proof:
        asked.append((name, client))
        return Proof(reached=len(asked) == 1, reason="the reason")

    checks = examine(prove)
    assert "not on PATH" in found("live", checks)[0].says
    assert doctor.summarize_checks(checks) == 1  # a proof was asked for, and there is none
    (user / "bin").mkdir()
    (user / "bin/claude").write_text("#!/bin/sh\n")
    (user / "bin/claude").chmod(0o755)
    assert [found("live", examine(prove))[0].state for _ in range(2)] == ["ok", "broken"]
    assert asked[0] == ("claude-code", user / "bin/claude")
    asked.clear()
    settings = settings_of("claude-code")
    settings.write_text(settings.read_text().replace("{", '{"disableAllHooks": true,', 1))
    assert found("live", examine(prove))[0].says.startswith("in an empty home")


@pytest.mark.parametrize("path", [".", "", "bin/../."])
def test_a_client_that_the_working_folder_brought_is_not_run(
    path: str, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("claude-code")
    (user / "project/claude").write_text("#!/bin/sh\n")
    (user / "project/claude").chmod(0o755)
    (user / "project/bin").mkdir()
    monkeypatch.setenv("PATH", f"{path}:/usr/bin:/bin")

    def prove(name: str, client: Path) -> Proof:
        raise AssertionError((name, client))

    assert "not on PATH" in found("live", examine(prove))[0].says


def test_the_payloads_of_a_trial_are_those_of_each_host() -> None:
    for host in HOSTS.values():
        healthy, failing = trials.fill_payloads(host, "session", "/folder")
        events = {on.event for on in host.events}
        assert {trials.name_event(host, one) for one in (*healthy, *failing)} <= events
        assert len({json.dumps(one) for one in failing}) == trials.ERRORS
