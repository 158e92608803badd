"""The proof on the user's machine says what it saw, and nothing of the user's takes part in it."""

import sys
from pathlib import Path

import pytest

from insula.coding.hosts import live
from insula.coding.hosts.live import QUESTION, Stage, prove_hooks
from insula.errors import InputError
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


def test_a_client_that_does_nothing_proves_nothing(tmp_path: Path) -> None:
    assert "asked its model 0 times; the proof needs 6" in prove_hooks("codex", program(tmp_path, "true")).reason


def test_a_client_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PATIENCE", 0.3)
    stage = Stage("codex", program(tmp_path, "sleep 60 & sleep 60"), tmp_path / "stage")
    with FakeModel([]) as model:
        run = stage.play_model(model)
    assert run.status < 0


def test_a_client_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert str(tmp_path / "claude") in prove_hooks("claude-code", tmp_path / "claude").reason


def test_there_is_no_proof_for_a_host_without_a_headless_run(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="no automatic proof for 'cursor'; there is one for claude-code, codex, gemini"
    ):
        Stage("cursor", Path("/bin/true"), tmp_path)


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
