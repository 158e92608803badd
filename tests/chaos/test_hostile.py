"""The short form of `make hostile`, and that each kind of harm would be counted."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile import commands, events, messages, play, repositories
from hostile.trial import TOKEN, Kind, Outcome, Site, run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
EACH = 19
"""Of the repositories and payloads, one in so many meets the short form; the long one has them all."""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site").make()


def troubles(played: Iterator[play.Played]) -> list[play.Trouble]:
    tries = list(played)
    assert tries
    return [trouble for tried in tries for trouble in tried.troubles]


def test_there_is_much_that_means_harm_and_every_command_meets_it() -> None:
    things = [*repositories.repositories(), *events.payloads(), *messages.talks()]
    assert len({thing[0] for thing in things}) >= 150
    assert {line.split()[0] for line in commands.lines().values()} >= {"chat", "doctor", "replay", "serve", "mcp"}
    assert {"memory erase", "guidance rules import", "guidance soul", "token new", "user restore"} <= {
        *commands.lines()
    }


def test_a_repository_gets_nothing_of_a_command_or_a_hook(site: Site) -> None:
    assert not troubles(play.in_repositories(site, 1, list(repositories.repositories())[:-1:EACH]))


def test_a_payload_gets_nothing_of_a_hook(site: Site) -> None:
    sent = [each for each in events.payloads() if "100 MB" not in each[0]]
    must = [each for each in sent if each[0] in {"transcript: pipe", "transcript: device", "cwd: deep"}]
    assert len(must) == 3
    assert not troubles(play.with_payloads(site, 1, [*sent[::4], *must]))


def test_a_message_gets_nothing_of_an_agent_its_pages_or_a_night(site: Site) -> None:
    for name, said, reply in list(messages.talks())[::97]:
        assert not {kind: found for kind, found in messages.held(site, said, reply).troubles.items() if found}, name


def harm(kind: Kind, site: Site) -> Callable[[], object]:
    """Work that does what is to be counted."""

    def work() -> object:
        match kind:
            case "hung":
                return time.sleep(1 << 20)
            case "executed":
                return subprocess.run([str(site.root / "clones/evil")], check=False)
            case "followed":
                return (site.outside / "secret.txt").read_text()
            case "written":
                return (site.user / "new").write_text(TOKEN)
            case _:
                raise RuntimeError(TOKEN)

    return work


@pytest.mark.parametrize("kind", ["hung", "executed", "followed", "written", "failed"])
def test_harm_that_is_done_is_counted(kind: Kind, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hostile.trial.BLOCKED_SECONDS", 1)
    evil = site.root / "clones/evil"
    evil.write_text(f"#!/bin/sh\necho x >{site.canary}\n")
    evil.chmod(0o755)
    assert run(harm(kind, site), site, site.user).troubles.get(kind)
    assert not run(lambda: None, site, site.user).troubles


def test_their_word_in_what_a_hook_says_is_counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play.hook, "respond", lambda *_: repositories.ORDER)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    found = troubles(play.in_repositories(site, 1, [("a README", lambda folder, _: (folder / "README.md").touch())]))
    assert "told" in {trouble.kind for trouble in found}


def test_an_escape_that_reaches_a_terminal_is_counted(site: Site) -> None:
    outcome: Outcome = run(lambda: sys.stdout.write("\x1b]0;owned\x07"), site, site.user, hushed=True)
    assert outcome.troubles.get("executed")
