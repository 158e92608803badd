"""The examples for many machines: they can be read, and what they start is there under that name."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from harness import run_insula

EXAMPLES = Path(__file__).parents[2] / "examples" / "scale"
UNIT = EXAMPLES / "insula-worker@.service"


def compose() -> dict[str, Any]:
    return yaml.safe_load((EXAMPLES / "compose.yaml").read_text("utf-8"))


def started(command: str) -> list[str]:
    """The words behind `insula` in a command."""
    return command.replace('"', "").partition("exec ")[2].split()[1:] if "exec " in command else command.split()[1:]


def test_servers_and_workers_share_one_database_and_start_when_it_answers() -> None:
    services = compose()["services"]
    for name in ("server", "worker"):
        assert services[name]["environment"]["INSULA_STORE"].endswith("@database/insula")
        assert services[name]["depends_on"] == {"database": {"condition": "service_healthy"}}
        assert services[name]["deploy"]["replicas"] > 1


def test_what_they_start_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    commands = [compose()["services"][name]["command"] for name in ("server", "worker")]
    commands += [
        line.partition("=")[2] for line in UNIT.read_text("utf-8").splitlines() if line.startswith("ExecStart=")
    ]
    for command in commands:
        name, *options = started(command)
        told = run_insula(name, "--help")
        assert told.status == 0, name
        assert all(option in told.out for option in options if option.startswith("--"))


def test_the_role_of_the_compose_file_owns_its_database_and_is_held_by_row_security(server: str) -> None:
    script = compose()["configs"]["role"]["content"].replace("${POSTGRES_PASSWORD}", "word")
    script = script.replace("insula ", "insula_example ")
    with psycopg.connect(server, autocommit=True) as connection:
        try:
            for statement in script.split(";")[:-1]:
                connection.execute(statement)
            role = connection.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'insula_example'")
            assert role.fetchone() == (False, False)
        finally:
            connection.execute("DROP DATABASE IF EXISTS insula_example")
            connection.execute("DROP ROLE IF EXISTS insula_example")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze here")
def test_systemd_finds_nothing_to_say_about_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("/opt/insula/bin/insula", sys.executable))
    found = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert UNIT.name.partition("@")[0] not in found.stderr
