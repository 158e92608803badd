"""`insula serve` as its user meets it: what it refuses, and what it says."""

import socket
from pathlib import Path

import pytest
from harness import run_insula


def refused(*words: str) -> str:
    """What the command says that does not serve; in this process, which it does not outlive."""
    ran = run_insula("serve", "--model", "test", *words)
    assert (ran.status, ran.out) == (1, "")
    return ran.err


def test_a_port_in_use_is_one_sentence_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert refused("--port", port) == (
            f"insula: Port {port} of '127.0.0.1' is in use, perhaps by another `insula serve`; end that one, or give "
            "--port.\n"
        )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_others_reach_no_server_without_tokens(host: str) -> None:
    if host == "::" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    said = refused("--port", "0", "--host", host)
    assert f"At {host!r} others can reach the server" in said
    assert "insula token new NAME" in said


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", ""])
def test_an_address_that_cannot_be_had_is_named(host: str) -> None:
    said = refused("--port", "0", "--host", host)
    assert said.startswith(f"insula: The server cannot listen on {host!r}")
    assert said.endswith("; give another --host or --port.\n")
    assert said.count("\n") == 1


def test_a_file_of_tokens_that_others_may_read_is_refused(home: Path) -> None:
    file = home / "tokens.json"
    file.write_text("[]")
    file.chmod(0o644)
    said = refused("--port", "0")
    assert "Others on this machine may read the tokens" in said
    assert f"chmod 600 {file}" in said


def test_a_folder_into_which_others_may_write_is_said_and_what_is_written_is_for_its_owner(home: Path) -> None:
    assert run_insula("config", "show").err == ""
    (home / "users").mkdir(mode=0o755)
    home.chmod(0o777)
    ran = run_insula("chat", "--model", "test", stdin="Hello.\n")
    assert f"Others on this machine may write into {str(home)!r}" in ran.err
    assert [(home / name).stat().st_mode & 0o077 for name in ("users", "insula.db")] == [0, 0]


@pytest.mark.parametrize(("words", "is_said"), [((), True), (("--allow-host", "box.example"), False)])
def test_a_server_at_every_address_says_that_its_names_are_missing(
    home: Path, words: tuple[str, ...], is_said: bool
) -> None:
    """Before it wakes its model: here one that there is not, so that the command ends."""
    assert run_insula("token", "new", "ana").status == 0
    ran = run_insula("serve", "--model", "no such model", "--host", "0.0.0.0", "--port", "0", *words)
    assert (ran.status, "no such model" in ran.err) == (1, True)
    assert ("name what others reach this server by with --allow-host NAME" in ran.err) is is_said
