"""How the contract drives Insula: by public names, the command, its server and the hook that it installs."""

import contextlib
import importlib.metadata
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from insula import Chat, Metacognition
from insula.hosts.hook import respond
from insula.testing import Behaviour, FakeServer, FrozenClock, Reply, Request, ScriptedModel

Json = dict[str, Any]
DAY = 86_400.0
GUARD_SECONDS = 60.0
"""A bound for what never takes so long, that a test which hangs may end."""


# An agent of one's own


class Agent:
    """An agent with Insula around a scripted model, and a clock that stands still.

    Attributes:
        mind: Insula.
        model: the model, which keeps what reached it.
        clock: what both go by.
    """

    def __init__(self, mind: Metacognition, model: ScriptedModel, clock: FrozenClock) -> None:
        self.mind, self.model, self.clock = mind, model, clock
        self._chat = Chat(mind, model)
        self._days = 0

    async def say(self, message: str, user: str = "ana", session: str = "") -> str:
        """Say something; returns the text that the user gets, a minute later."""
        return (await self.reply(message, user, session)).response

    async def reply(self, message: str, user: str = "ana", session: str = "", **options: Any) -> Any:
        """Say something; returns all that came of it, a minute later."""
        self.clock.advance(60.0)
        return await self._chat.reply(user, session or f"day {self._days}", message, **options)

    async def ask(self, message: str, user: str = "ana", session: str = "") -> Request:
        """Say something; returns the request that reached the model."""
        await self.say(message, user, session)
        return self.model.requests[-1]

    def use(self, model: ScriptedModel) -> None:
        """Let another model answer from now on."""
        self.model, self._chat = model, Chat(self.mind, model)

    def next_day(self) -> None:
        """Let a day pass; what is said then is said in another session."""
        self._days += 1
        self.clock.advance(DAY)

    async def sleep(self, user: str = "ana", **options: Any) -> Any:
        """Run a night, and begin another day."""
        report = await self.mind.sleep(user, force=True, **options)
        self.next_day()
        return report


@asynccontextmanager
async def agent(
    replies: Sequence[Reply | Callable[[Request], Reply]] | Callable[[Request], Reply] = lambda _: "I see.",
    place: str | Path = ":memory:",
    **options: Any,
) -> AsyncGenerator[Agent]:
    """An agent over a store; by default one that is gone afterwards, and no lesson withheld by lot.

    Args:
        replies: what its model says, as for `ScriptedModel`.
        place: a file, or the URL of a database.
        options: the arguments of `Metacognition`.
    """
    clock = FrozenClock()
    given: Json = {"holdout": 0.0} | options
    async with await Metacognition.open(place, clock=lambda: clock().timestamp(), **given) as mind:
        yield Agent(mind, ScriptedModel(replies), clock)


# The command


class Ran(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Standard output as lines of JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


def run_insula(*words: str | Path, stdin: str = "") -> Ran:
    """Run the command `insula` in this process, by the entry point that pip installs."""
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="insula")
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["insula", *map(str, words)], given
    status = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            entry.load()()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv, sys.stdin = before
    return Ran(status, _written(out), _written(err))


def _written(file: io.TextIOWrapper) -> str:
    file.seek(0)
    return file.read()


@contextmanager
def spawn_insula(*words: str | Path, **variables: str) -> Generator[subprocess.Popen[str]]:
    """The command in a process of its own, which a test may kill, and which ends with the block.

    Args:
        words: of the command.
        variables: of its environment, beside this process's own.
    """
    program = Path(sys.executable).with_name("insula")
    environment = os.environ | {"PYTHONUNBUFFERED": "1"} | variables
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: a child would ignore it, too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    pipe = subprocess.PIPE
    process = subprocess.Popen([program, *words], text=True, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


# The server


class SteeredModel(FakeServer):
    """A model server whose answer, misbehaviour and pace a test may change at any time.

    Args:
        answer: what it says.

    Attributes:
        behaviour: what it does with each request.
        may_answer: while it is not set, requests wait.
    """

    def __init__(self, answer: str) -> None:
        super().__init__(answer=answer)
        self.behaviour: Behaviour = "ok"
        self.may_answer = threading.Event()
        self.may_answer.set()

    def keep(self, body: Json, key: str) -> Behaviour:
        """Keep a request; what is to be done with it, once it may be answered."""
        super().keep(body, key)
        self.may_answer.wait(GUARD_SECONDS)
        return self.behaviour

    @contextmanager
    def held(self) -> Generator[None]:
        """Within the block, whoever asks waits for the answer until its end."""
        self.received.clear()
        self.may_answer.clear()
        try:
            yield
        finally:
            self.may_answer.set()


class Served(NamedTuple):
    """A server of Insula's in a process of its own, over a model that keeps what reached it."""

    process: subprocess.Popen[str]
    client: httpx2.Client
    model: SteeredModel
    home: Path

    def say(self, message: str, user: str, session: str = "monday") -> Json:
        """Say something over HTTP; returns the answer."""
        answer = self.client.post("/agent/chat", json={"user": user, "session": session, "message": message})
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def serving(home: Path, *words: str, answer: str = "I see.", **settings: str) -> Generator[Served]:
    """`insula serve` on a free port, within the block.

    Args:
        home: its folder.
        words: more options of the command.
        answer: what its model says.
        settings: settings as variables, without `INSULA_`.
    """
    variables = {f"INSULA_{name.upper()}": value for name, value in settings.items()}
    with SteeredModel(answer) as model:
        asked = ["serve", "--port", "0", "--model", f"{model.url}#fake", *words]
        with (
            spawn_insula(*asked, INSULA_HOME=str(home), **variables) as process,
            httpx2.Client(base_url=address_of(process), timeout=GUARD_SECONDS) as client,
        ):
            yield Served(process, client, model, home)


def address_of(process: subprocess.Popen[str]) -> str:
    """Where a server that was spawned listens, once it does."""
    assert process.stdout
    for line in process.stdout:
        if (at := line.find("http://")) >= 0:
            return line[at:].split()[0]
    raise AssertionError(f"the server ended: {process.communicate()[1]}")


# The hook of a coding agent


class ClaudeCode:
    """A session of Claude Code, as its hook hears of it; each step returns what the model would read, "" for silence.

    Args:
        home: the folder of the hook's state.
        project: the working folder.
        session: its name.
        days: how many days from now it begins.
    """

    def __init__(self, home: Path, project: Path, session: str = "session-1", days: float = 0.0) -> None:
        self.home, self.project, self.session = home, project, session
        self._calls, self._now = 0, time.time() + days * DAY
        self._transcript = ""
        self.questions: list[str] = []
        """What the person was asked before a call."""

    def start(self, source: str = "startup") -> str:
        """The session starts, or goes on (`resume`, `compact`)."""
        return self.send({"hook_event_name": "SessionStart", "source": source})

    def spends(self, tokens: int) -> None:
        """From now on the client's own record says that there are so many tokens in the context."""
        usage = {"input_tokens": tokens, "output_tokens": 0}
        row = json.dumps({"message": {"role": "assistant", "usage": usage}, "type": "assistant"}, separators=(",", ":"))
        self._transcript = str(self.home / f"{self.session}.jsonl")
        Path(self._transcript).parent.mkdir(parents=True, exist_ok=True)
        with Path(self._transcript).open("a", encoding="utf-8") as file:
            file.write(f"{row}\n")

    def prompt(self, text: str) -> str:
        """The user says something."""
        return self.send({"hook_event_name": "UserPromptSubmit", "prompt": text})

    def bash(self, command: str, output: str = "", *, failed: bool = False) -> str:
        """A command before it runs and after; what either tells, one behind the other."""
        given: Json = {"command": command, "description": "a step"}
        shown: Json = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.call("Bash", given, {"error": f"Exit code 1\n{output}"} if failed else {"tool_response": shown})

    def edit(self, path: str, old: str = "a", new: str = "b") -> str:
        """An edit of a file of the project."""
        given: Json = {"file_path": str(self.project / path), "old_string": old, "new_string": new}
        return self.call("Edit", given, {"tool_response": {"filePath": str(self.project / path)}})

    def call(self, tool: str, given: Json, ended: Json) -> str:
        """A call of any tool before it runs and after."""
        self._calls += 1
        common: Json = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self._calls}"}
        before = self.send({"hook_event_name": "PreToolUse", **common})
        event = "PostToolUseFailure" if "error" in ended else "PostToolUse"
        return before + self.send({"hook_event_name": event, **common, **ended})

    def stop(self, message: str = "Done.") -> str:
        """The agent ends its turn."""
        told = {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": message}
        return self.send(told)

    def end(self) -> str:
        """The session ends."""
        return self.send({"hook_event_name": "SessionEnd", "reason": "other"})

    def send(self, event: Json) -> str:
        """Send an event, ten seconds after the one before; returns what the model reads, or the person is asked."""
        self._now += 10.0
        about = {"session_id": self.session, "transcript_path": self._transcript, "cwd": str(self.project)}
        answer = respond(str(self.home), "claude-code", {**about, **event}, self._now)
        told: Json = json.loads(answer)["hookSpecificOutput"] if answer else {}
        if told.get("permissionDecision") != "ask":
            return told.get("additionalContext", "")
        self.questions.append(told["permissionDecisionReason"])
        return self.questions[-1]


def run_installed_hook(settings: Path, event: Json) -> str:
    """Run the command that `insula install` wrote into a host's settings, as the host does; returns standard output.

    It fails where the exit status is not 0 or there is a word on standard error.
    """
    hooks = json.loads(settings.read_text())["hooks"][event["hook_event_name"]]
    command = hooks[0]["hooks"][0]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(event), capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout
