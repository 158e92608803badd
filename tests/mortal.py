"""Processes that are killed: forked from one that has imported what they need, which is most of what they cost."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "pytest",
        "insula.cli.main",
        "insula.cli.user",
        "insula.hosts.install",
        "insula.metacognition",
        "insula.sleep.phases",
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
