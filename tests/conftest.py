"""What every test shares: a home of its own, and asyncio."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from hypothesis import settings

from insula.memory.store import Store
from insula.testing import memory_store

settings.register_profile("insula", deadline=None, derandomize=True)  # the same on every machine, however slow
settings.load_profile("insula")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and working folder, and no setting from outside."""
    for name in tuple(os.environ):
        if name.startswith("INSULA_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("INSULA_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
async def store(anyio_backend: str) -> AsyncGenerator[Store]:
    async with memory_store() as opened:
        yield opened


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI a test that was skipped is a part of the product that nobody has seen work."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = 1
