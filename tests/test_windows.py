"""Where there is no `flock`, as on Windows, one process at a time holds a lock all the same."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from insula import locks
from insula.coding.hosts import files
from insula.errors import ModelUnavailable
from insula.llm import local
from insula.llm.local import SMOLLM2

filelock = pytest.importorskip("filelock")


@pytest.fixture(autouse=True)
def without_flock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "fcntl", None)


def elsewhere(held: Callable[[], AbstractContextManager[object]]) -> object:
    """What another thread gets, to which a lock of this one is somebody else's."""

    def taken() -> object:
        with held() as found:
            return found

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(taken).result(timeout=60)


def test_a_night_is_held_by_one_and_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "night.lock"
    with locks.hold_lock(path) as is_ours:
        assert is_ours
        assert elsewhere(lambda: locks.hold_lock(path)) is False
    assert elsewhere(lambda: locks.hold_lock(path)) is True


def test_two_installations_of_weights_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def filling(*_: object) -> None:
        asked.append(True)
        with ThreadPoolExecutor(1) as thread, pytest.raises(ModelUnavailable, match="Another process is installing"):
            thread.submit(local.install_weights, SMOLLM2, tmp_path).result(timeout=60)
        raise OSError(28, "full")

    monkeypatch.setattr(local, "_append_parts", filling)
    with pytest.raises(ModelUnavailable, match="cannot be written"):
        local.install_weights(SMOLLM2, tmp_path)
    assert asked == [True]


def test_two_commands_that_change_settings_wait_for_each_other(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with files.lock_folder(tmp_path):
            order.append("second")

    with ThreadPoolExecutor(1) as thread:
        with files.lock_folder(tmp_path):
            waiting = thread.submit(second)
            order.append("first")
        waiting.result(timeout=60)
    assert order == ["first", "second"]
