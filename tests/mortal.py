"""Processes that are killed: forked from one that has imported what they need, which is most of what they cost."""

import importlib.metadata
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "pytest",
        "insula.cli.chat",
        "insula.cli.main",
        "insula.cli.user",
        "insula.coding.hosts.install",
        "insula.metacognition",
        "insula.night.phases",
        "insula.testing",
    ]
)


def begun(work: Callable[..., None], *words: object) -> ForkServerProcess:
    """A process that does some work; it, and its words, must be such as can be pickled."""
    process = _FORKS.Process(target=work, args=words)
    process.start()
    return process


def ended(work: Callable[..., None], *words: object) -> int | None:
    """How a process ended that did some work: a negative signal, or its exit status."""
    process = begun(work, *words)
    process.join()
    code = process.exitcode
    process.close()
    return code


def command(words: Sequence[str], streams: Sequence[str]) -> ForkServerProcess:
    """The command `insula`, in this folder and environment.

    Args:
        words: of the command.
        streams: the files that are its input, output and error; where the first is a terminal, it is the command's own.
    """
    return begun(_command, words, streams, str(Path.cwd()), dict(os.environ))


def _command(words: Sequence[str], streams: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    os.setsid()
    for number, name in enumerate(streams):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
    sys.argv = ["insula", *words]
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="insula")
    entry.load()()
