"""The processes of the load test: `insula serve`, a model behind HTTP that takes 50 ms, and a bare FastAPI route.

Each says its address in its first line and runs until it is ended. The last two are this file, run as a module.
"""

import json as jsonlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from insula.errors import InputError, InsulaError
from insula.llm.loopback import Loopback, LoopbackHandler

MODEL_SECONDS = 0.050
"""What the model takes for each answer."""
END_SECONDS = 30.0
"""How long a process may take to end."""
HERE = "insula_bench.load_processes"
FOLDER = Path(__file__).parents[1]
"""Where another process finds it."""
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")

_CPU_FIELDS = slice(11, 13)
"""User and system time in `/proc/PID/stat`, counted from what follows the name of the program."""


class Cost(NamedTuple):
    """What a process has used so far."""

    cpu: float
    """Seconds, of all its threads."""
    waited: float
    """Seconds in which one of them could have run and other programs had the processors."""
    resident: float
    """Megabytes of memory that it holds now."""


class Running:
    """A process that serves.

    Attributes:
        port: where it listens.
        pid: its number.
    """

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.port, self.pid = port, process.pid

    def cost(self) -> Cost:
        """What it has used so far.

        Raises:
            InputError: this system does not say.
        """
        here = Path(f"/proc/{self.pid}")
        try:
            fields = (here / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
            pages = int((here / "statm").read_text("ascii").split()[1])
            threads = [path.read_text("ascii").split() for path in here.glob("task/*/schedstat")]
        except OSError as error:
            raise InputError(
                f"What process {self.pid} costs cannot be read from /proc ({error.strerror}); run this on Linux."
            ) from error
        return Cost(
            cpu=sum(int(field) for field in fields[_CPU_FIELDS]) / os.sysconf("SC_CLK_TCK"),
            waited=sum(int(thread[1]) for thread in threads) / 1e9,
            resident=pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        )


@contextmanager
def serving(home: Path, model_port: int, store: str = "") -> Generator[Running]:
    """`insula serve` with the model at a port, and all that it keeps in `home`, or in a `store` on PostgreSQL."""
    noon = f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"  # where it is noon, nobody's night begins meanwhile
    settings = {"INSULA_HOME": str(home), "INSULA_TIME_ZONE": noon} | ({"INSULA_STORE": store} if store else {})
    address = f"http://127.0.0.1:{model_port}/v1#fake"
    with running(["insula.cli", "serve", "--port", "0", "--model", address], home, settings) as server:
        yield server


@contextmanager
def running(arguments: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None) -> Generator[Running]:
    """A module of ours as a process of its own, for as long as the block lasts.

    Args:
        folder: where it runs; what it has to complain about is written there.

    Raises:
        InsulaError: it ends without having said where it listens.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INSULA_")}
    complaints = folder / f"{arguments[-1].rpartition('/')[2]}.err"
    with complaints.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            env={**environment, "PYTHONPATH": str(FOLDER), **(settings or {})},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            if not (found := _ADDRESS.search(cast("Any", process.stdout).readline())):
                why = complaints.read_text("utf-8").strip()[-500:]
                raise InsulaError(f"The process {' '.join(arguments)!r} did not start; it said: {why}")
            yield Running(process, int(found[1]))
        finally:
            _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


class _Model(LoopbackHandler):
    """Repeats what it is told, in other words, after 50 ms; connections are kept open, as providers keep them."""

    disable_nagle_algorithm = True

    def do_POST(self) -> None:  # noqa: N802 the name is the base class's
        """Answer one request."""
        body = self.receive_json()
        began = time.monotonic()
        said = str(body["messages"][-1]["content"])
        answer = f"You said that {said[:1].lower()}{said[1:]}"
        choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        head = {"id": "fake-1", "object": "chat.completion", "created": 1, "model": body.get("model")}
        time.sleep(MODEL_SECONDS - (time.monotonic() - began))
        self.send_text(jsonlib.dumps({**head, "choices": [choice], "usage": usage}))


def _model() -> None:
    with Loopback(_Model) as model:
        print(model.origin, flush=True)
        signal.pause()


def _bare() -> None:
    """The least that FastAPI can do for an answer, behind the same server as ours."""
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()

    @app.get("/bare")
    async def _() -> dict[str, bool]:
        return {"available": True}

    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as `insula serve` does
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, http="h11", ws="none", log_config=None, access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    {"model": _model, "bare": _bare}[sys.argv[1]]()
