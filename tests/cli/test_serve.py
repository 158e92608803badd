"""`insula serve` as its user meets it: what it refuses, and what it writes down."""

import json
import logging
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from insula.cli import common, serve
from insula.cli.main import main
from insula.settings import load_settings


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command says that does not serve; in this process, which it does not outlive."""

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["insula", "serve", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (1, "")
        return said.err

    return run


def test_a_port_in_use_is_one_sentence_with_the_remedy(refused: Callable[..., str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert refused("--model", "test", "--port", port) == (
            f"insula: Port {port} of '127.0.0.1' is in use, perhaps by another `insula serve`; end that one, or give "
            "--port.\n"
        )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_others_reach_no_server_without_tokens(refused: Callable[..., str], host: str) -> None:
    if host == "::" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    said = refused("--model", "test", "--port", "0", "--host", host)
    assert f"At {host!r} others can reach the server" in said
    assert "insula token new NAME" in said


@pytest.mark.parametrize("words", [["--host", "no.such.host.invalid"], ["--host", "192.0.2.1"], ["--host", ""]])
def test_an_address_that_cannot_be_had_is_named(refused: Callable[..., str], words: list[str]) -> None:
    said = refused("--model", "test", "--port", "0", *words)
    assert said.startswith(f"insula: The server cannot listen on {words[1]!r}")
    assert said.endswith("; give another --host or --port.\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["tokens.json", "insula.toml"])
def test_a_file_of_tokens_that_others_may_read_is_refused(refused: Callable[..., str], home: Path, name: str) -> None:
    (home / name).write_text("[]" if name.endswith("json") else '[users.ana]\ntoken = "0123456789abcdef"\n')
    (home / name).chmod(0o644)
    said = refused("--model", "test", "--port", "0")
    assert "Others on this machine may read the tokens" in said
    assert f"chmod 600 {home / name}" in said


def test_a_server_at_every_address_says_that_its_names_are_missing(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "insula.toml").write_text('[users.ana]\ntoken = "0123456789abcdef"\n')
    (home / "insula.toml").chmod(0o600)
    monkeypatch.setattr("insula.cli.serve.asyncio.run", Coroutine[Any, Any, int].close)
    serve.serve(host="0.0.0.0", port=0, model="test", allow_host=None)
    assert "name what others reach this server by with --allow-host NAME" in capsys.readouterr().err
    serve.serve(host="0.0.0.0", port=0, model="test", allow_host=["box.example"])
    serve.serve(host="127.0.0.1", port=0, model="test", allow_host=None)
    assert capsys.readouterr().err == ""


def test_what_fails_is_one_line_of_json_each_without_secrets(home: Path) -> None:
    common.log_to(home / common.LOG_FILE)
    secret = "sk-ant-api03-" + "a1B2" * 20
    try:
        raise ValueError(f"it\nbroke with {secret}")
    except ValueError:
        logging.getLogger("insula.server").exception("A request failed\nfor %s.", secret)
    logging.getLogger("insula.server").info("Nothing to see.")
    lines = (home / common.LOG_FILE).read_text().splitlines()
    record = json.loads(lines[0])
    assert len(lines) == 1
    assert record["logger"] == "insula.server"
    assert record["level"] == "error"
    assert "ValueError" in record["error"]
    assert secret not in lines[0]


def test_where_no_log_can_be_written_nothing_else_fails(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / common.LOG_FILE).mkdir()
    common.log_to(home / common.LOG_FILE)
    logging.getLogger("insula.server").error("Lost.")
    if Path("/dev/full").exists():
        common.log_to(Path("/dev/full"))
        logging.getLogger("insula.server").error("Lost, too.")
        common.log_to(home / "another.log")  # which closes the one before
    assert capfd.readouterr() == ("", "")


def test_what_is_written_is_for_its_owners_eyes_alone(home: Path) -> None:
    (home / "users").mkdir(mode=0o755)
    (home / common.LOG_FILE).touch(mode=0o644)
    (home / common.LOG_FILE).chmod(0o644)
    common.log_to(home / common.LOG_FILE)
    logging.getLogger("insula").warning("The model could not be reached.")
    logging.shutdown()
    assert [(home / name).stat().st_mode & 0o777 for name in ("users", common.LOG_FILE)] == [0o700, 0o600]


def test_a_folder_into_which_others_may_write_is_said(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    load_settings()
    assert not caplog.records
    home.chmod(0o777)
    load_settings()
    assert f"Others on this machine may write into {str(home)!r}" in caplog.text
