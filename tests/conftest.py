"""What every test shares: a home of its own, and asyncio.

What stands at the top is public: `tests/contract` rests on this file, and on no other name of the package.
"""

import gc
import os
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import settings

import postgres
from insula import Metacognition
from insula.testing import memory_store

settings.register_profile("insula", deadline=None, derandomize=True)  # the same on every machine, however slow
settings.load_profile("insula")

gc.disable()  # what is collected stays: looking through it for garbage was a fifth of the time that collecting takes
TESTS = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Each of several workers loads a share of the files first: pytest rewrites what they assert once, not in each."""
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    first, workers = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in sorted(TESTS.glob("**/test_*.py"))[first::workers]:
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        with suppress(Exception, pytest.skip.Exception):  # it is said when the file is collected
            import_module(path.stem)


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


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


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Generator[None]:
    """Each of the many stores would compile the same statements anew: all of SQLite share what was compiled."""
    create, statements = sa.create_engine, dict[Any, Any]()
    known = create("sqlite+pysqlite://", execution_options={"compiled_cache": statements})
    known.connect().close()

    def created(url: sa.URL | str, **options: Any) -> sa.Engine:
        if sa.make_url(url).get_backend_name() != "sqlite":
            return create(url, **options)
        engine = create(url, **options, execution_options={"compiled_cache": statements})
        engine.dialect = known.dialect
        return engine

    create_all = sa.MetaData.create_all

    @cache
    def texts_of(tables: sa.MetaData) -> list[str]:
        texts: list[str] = []

        def keep_text(made: Any, *_: Any, **__: Any) -> None:
            texts.append(str(made.compile(dialect=known.dialect)))

        create_all(tables, sa.create_mock_engine("sqlite://", keep_text), checkfirst=False)
        return texts

    def make_all(tables: sa.MetaData, bind: Any, **options: Any) -> None:
        if bind.dialect.name != "sqlite" or options.get("checkfirst", True):
            create_all(tables, bind, **options)
            return
        for text in texts_of(tables):
            bind.exec_driver_sql(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sa, "create_engine", created)
        patch.setattr(sa.MetaData, "create_all", make_all)
        yield


ON_BOTH = {"memory": (), "night": (pytest.mark.at_length,)}
"""Folders of tests whose store is tried on each database, and how those on PostgreSQL are marked."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder = metafunc.definition.path.parent.name
    if "store" in metafunc.fixturenames and folder in ON_BOTH:
        both = ["sqlite", pytest.param("postgres", marks=ON_BOTH[folder])]
        metafunc.parametrize("store", both, indirect=True)


@pytest.fixture
async def store(anyio_backend: str, request: pytest.FixtureRequest) -> AsyncGenerator[Any]:
    if getattr(request, "param", "sqlite") == "sqlite":
        async with memory_store() as opened:
            yield opened
    else:
        async with await Metacognition.open(request.getfixturevalue("database")) as mind:
            yield mind.store


@pytest.fixture(scope="session")
def server() -> str:
    """The URL of a server of PostgreSQL."""
    return postgres.server() or pytest.skip(postgres.AWAY)


@pytest.fixture(scope="session")
def template(server: str) -> Generator[str]:
    """The name of a database that holds the empty tables of a store."""
    with postgres.database(server) as url:
        Metacognition.sync(url).close()
        yield url.rpartition("/")[2]


@pytest.fixture
def database(server: str, template: str) -> Generator[str]:
    """The URL of a database with the empty tables of a store."""
    with postgres.database(server, template, "") as url:
        yield url


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI a test that was skipped is a part of the product that nobody has seen work."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and (skipped := reporter.stats.get("skipped")) and exitstatus == 0:
        for report in skipped:
            reporter.write_line(f"skipped, which CI does not pass: {report.nodeid} {report.longrepr[-1]}")
        session.exitstatus = 1
