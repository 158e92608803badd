"""A backup of the server: made by its own programs while all runs, restored whole and guarded into a new database."""

import os
import subprocess
from pathlib import Path

import pytest

import postgres as server_of_tests
from insula import Metacognition

pytestmark = [pytest.mark.anyio, pytest.mark.at_length]


def program(name: str) -> Path:
    """A program of the server's, of the newest version that is here."""
    folder = server_of_tests.programs()
    if folder is None or not (folder / name).exists():
        pytest.skip(f"{name} is not here; it comes with PostgreSQL's client programs")
    return folder / name


def run(*command: str | Path) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    assert not done.returncode, done.stderr


async def told(mind: Metacognition, user: str) -> list[str]:
    turn = await mind.begin(user, "later", "Where does my sister live?")
    return [one.memory.content for one in turn.recalled]


async def test_what_the_store_s_own_user_dumps_is_restored_whole_and_guarded(
    server: str, database: str, tmp_path: Path
) -> None:
    dump, restore, file = program("pg_dump"), program("pg_restore"), tmp_path / "insula.dump"
    async with await Metacognition.open(database, embed=None) as mind:
        for user, city in (("ana", "Lisbon"), ("eva", "Porto")):
            async with mind.turn(user, "first", f"My sister lives in {city}.") as turn:
                turn.finish("Noted.")
        expected = await told(mind, "ana")
        assert expected
        run(dump, "--format=custom", "--enable-row-security", f"--file={file}", database)
    with server_of_tests.database(server) as url:
        run(restore, "--no-owner", f"--dbname={url}", file)
        async with await Metacognition.open(url, embed=None) as mind:
            assert await told(mind, "ana") == expected
            assert [len((await mind.list(user)).memories) for user in ("ana", "eva", "new")] == [3, 2, 0]
            assert await told(mind, "new") == []
