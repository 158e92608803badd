"""The plays: each hostile thing against the commands and the hooks, and what each came to."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import NamedTuple

from hostile import commands, events, messages, repositories
from hostile.events import Payload, Spoil
from hostile.repositories import Make
from hostile.trial import KINDS, MOST_MEMORY, Kind, Outcome, Site, run
from insula.coding.hosts import hook
from insula.coding.hosts.places import HOSTS

HOOK_SECONDS = hook.CPU_SECONDS / 2
"""Of work, after which a hook is taken to be held up: it ends itself after twice that."""


class Trouble(NamedTuple):
    """Something that should not have happened."""

    kind: Kind
    thing: str
    """What was hostile."""
    against: str
    """What it was played against."""
    what: str


class Played(NamedTuple):
    """One try of a play."""

    play: str
    thing: str
    troubles: list[Trouble]


Plays = Iterator[Played]


def every(site: Site, each: int, plays: Sequence[str] = ()) -> Plays:
    """All plays.

    Args:
        site: an empty one.
        each: against how many commands, or events of hosts, each thing is played; 0: eight commands, and all events.
        plays: the names of those to be played; by default all.
    """
    for play in plays or PLAYS:
        yield from PLAYS[play](site, each)


def in_repositories(site: Site, each: int, chosen: Sequence[tuple[str, Make]] | None = None) -> Plays:
    """Each repository meets some of the commands in turn, and an edit and a commit by a coding agent; one meets all."""
    commands.warm()
    usual, turns, hosts = _Usual(site), count(), count()
    lines = list(commands.lines().items())
    made = list(chosen or repositories.repositories())
    for number, (thing, make) in enumerate(made):
        folder = repositories.clone(number, make, site)
        several = len(lines) if thing.startswith("everything") else each or 8
        for _ in range(several):
            name, line = lines[next(turns) % len(lines)]
            host = list(HOSTS)[next(hosts) % len(HOSTS)]
            yield Played(
                "repositories", thing, _typed(site, folder, thing, name, line.format(host=host, home=site.home), usual)
            )
        for host in list(HOSTS) if several > each else [list(HOSTS)[next(hosts) % len(HOSTS)]]:
            yield Played("repositories", thing, _edited(site, folder, thing, host))


class _Usual(dict[str, int]):
    """What each command takes of memory in an empty folder, after a person has said something."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._site, self._empty = site, site.root / "clones" / "empty"
        self._empty.mkdir()
        run(
            commands.typed("chat", "chat --model test"),
            site,
            self._empty,
            b"I live in Porto.\nFrom now on, be brief.\n",
        )

    def __missing__(self, name: str) -> int:
        line = commands.lines()[name].format(host="gemini", home=self._site.home)
        found = run(commands.typed(name, line), self._site, self._empty, commands.GIVEN.get(name, b"")).memory
        self[name] = found
        return found


def _typed(site: Site, folder: Path, thing: str, name: str, line: str, usual: dict[str, int]) -> list[Trouble]:
    site.canary.unlink(missing_ok=True)
    outcome = run(commands.typed(name, line), site, folder, commands.GIVEN.get(name, b""), hushed=True)
    if outcome.memory > usual[name] + MOST_MEMORY:
        outcome.note("failed", f"took {(outcome.memory - usual[name]) >> 20} MB more than in an empty folder")
    if commands.is_told(name, outcome.out):
        outcome.note("told", outcome.out[:300])
    return _troubles(outcome, thing, f"insula {line}")


def _edited(site: Site, folder: Path, thing: str, host: str) -> list[Trouble]:
    """A file is edited there, and a commit is made, and a session begins."""
    site.canary.unlink(missing_ok=True)
    asked: list[Payload] = [
        events.form("claude-code", "prompt", cwd=str(folder))
        | {"hook_event_name": "SessionStart", "source": "startup"},
        _call(folder, "Edit", {"file_path": str(folder / "src/a.py"), "old_string": "a", "new_string": "b"}),
        _call(folder, "Bash", {"command": "git commit -am x"}),
        events.form(host, "failing", cwd=str(folder)),
    ]
    names = ["claude-code"] * 3 + [host]

    def work() -> None:
        for number, (name, payload) in enumerate(zip(names, asked, strict=True)):
            sys.stdout.write(hook.respond(str(site.home), name, payload, 1e9 + number))

    outcome = run(work, site, folder)
    if events.is_told(host, outcome.out):
        outcome.note("told", outcome.out[:300])
    return _troubles(outcome, thing, f"the hook of {host}")


def _call(folder: Path, tool: str, given: Payload) -> Payload:
    common = events.form("claude-code", "healthy", cwd=str(folder))
    return common | {"tool_name": tool, "tool_input": given}


def with_payloads(site: Site, each: int, chosen: Sequence[tuple[str, Spoil]] | None = None) -> Plays:
    """Each payload is sent as some events of each host, in turn; none is sent twice that has come out the same."""
    events.make_ways(site)
    sent = [(host, payload) for host in HOSTS for payload in events.events(host)]
    turns, known = count(), set[tuple[str, bytes]]()
    for thing, spoil in chosen or events.payloads():
        many = thing in {"raw: 100 MB"}
        for _ in range(min(each or len(sent), 1 if many else len(sent))):
            host, payload = sent[next(turns) % len(sent)]
            given = spoil(payload, site)
            if (digest := (host, sha256(given).digest())) not in known:
                known.add(digest)
                yield Played("payloads", thing, _sent(site, thing, host, given))


def _sent(site: Site, thing: str, host: str, given: bytes) -> list[Trouble]:
    failures = site.home / hook.FAILURES
    failures.unlink(missing_ok=True)
    outcome = run(lambda: hook.main(str(site.home), [host]), site, site.user, given)
    if outcome.status or outcome.err:
        outcome.note("failed", f"status {outcome.status}, {outcome.err[-200:]!r}")
    outcome.forgive("followed", f"read {site.outside / 'sparse'}")  # a file that the host names as its record
    counted = [json.loads(line)["kind"] for line in failures.read_text().splitlines()] if failures.exists() else []
    if outcome.cpu > HOOK_SECONDS or "TimeoutError" in counted:
        outcome.note("hung", f"{outcome.cpu:.1f} s of work, {counted}")
    if events.is_told(host, outcome.out):
        outcome.note("told", outcome.out[:300])
    return _troubles(outcome, thing, f"the hook of {host}")


def with_messages(site: Site, each: int) -> Plays:
    """Each order in each carrier is said to the agent, and in one in turn typed in a terminal."""
    talks, several = list(messages.talks()), len(messages.CARRIERS) + 1
    in_turn = talks[::several]
    for thing, said, reply in in_turn if each == 1 else talks:
        yield Played(
            "messages", thing, _troubles(messages.held(site, said, reply), thing, "the agent, its pages and a night")
        )
    for thing, said, reply in in_turn:
        yield Played("messages", thing, _troubles(messages.typed(site, said, reply), thing, "insula chat"))


PLAYS: dict[str, Callable[[Site, int], Plays]] = {
    "repositories": in_repositories,
    "payloads": with_payloads,
    "messages": with_messages,
}


def _troubles(outcome: Outcome, thing: str, against: str) -> list[Trouble]:
    return [
        Trouble(kind, thing, against, what) for kind in KINDS for what in dict.fromkeys(outcome.troubles.get(kind, ()))
    ]
