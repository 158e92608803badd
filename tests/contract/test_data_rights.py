"""Export, erase, backup and what is redacted: down to the bytes on the disk."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import ClaudeCode, agent, run_insula, serving

WORD = "Xylokastron"
"""A word that no file holds but for what was told."""
KEY = "ghp_" + "a1B2" * 9
"""A secret of the shape of GitHub's tokens."""


def _told(user: str = "me", *lines: str) -> None:
    said = "".join(f"{line}\n" for line in lines or (f"I live in {WORD}.",))
    assert run_insula("chat", "--model", "test", "--user", user, stdin=said).status == 0


def _files_with(folder: Path, word: str) -> list[str]:
    """The files below a folder that hold a word, in their bytes or compressed."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and _holds(path, word))


def _holds(path: Path, word: str) -> bool:
    data = path.read_bytes()
    return any(form in data or form in _inflated(data) for form in (word.encode(), word.lower().encode()))


def _inflated(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""


def _contents(user: str = "me") -> Iterator[str]:
    return (memory["content"] for memory in run_insula("memory", "--transcript", "--user", user, "--json").json)


def test_an_erased_user_leaves_no_byte_in_any_file(home: Path) -> None:
    _told()
    _told("ben", "I live in Heraklion.")
    run_insula("sleep", "--force")
    run_insula("user", "backup", "me")
    assert _files_with(home, WORD)
    assert run_insula("user", "erase", "me", "--yes", "--json").status == 0
    assert _files_with(home, WORD) == []
    assert run_insula("user", "list", "--json").json == ["ben"]
    assert "I live in Heraklion." in _contents("ben")


def test_an_erased_memory_leaves_no_byte_in_the_store(home: Path) -> None:
    _told("me", f"I live in {WORD}.", "I play chess.")
    (number,) = (
        memory["id"] for memory in run_insula("memory", "--transcript", "--json").json if WORD in memory["content"]
    )
    assert any(name.startswith("insula.db") for name in _files_with(home, WORD))
    assert run_insula("memory", "erase", str(number), "--yes").status == 0
    assert [name for name in _files_with(home, WORD) if name.startswith("insula.db")] == []
    assert "I play chess." in _contents()


def test_an_archive_brings_everything_along_under_another_name(home: Path, tmp_path: Path) -> None:
    _told("me", "My sister lives in Lisbon.")
    archive = tmp_path / "me.jsonl"
    assert run_insula("user", "export", "me", str(archive), "--json").status == 0
    assert archive.stat().st_mode & 0o077 == 0
    assert run_insula("user", "import", "copy", str(archive), "--json").status == 0
    assert list(_contents("copy")) == list(_contents("me"))
    asked = run_insula("chat", "--model", "test", "--user", "copy", "--json", stdin="Where does my sister live?\n")
    assert asked.lines[0]["confidence"]["level"] == "high"


@pytest.mark.parametrize("harm", ["cut", "changed"])
def test_an_archive_that_is_not_whole_is_refused(home: Path, tmp_path: Path, harm: str) -> None:
    _told("me", "My sister lives in Lisbon.")
    archive = tmp_path / "me.jsonl"
    run_insula("user", "export", "me", str(archive))
    text = archive.read_text()
    archive.write_text(text[: len(text) // 2] if harm == "cut" else text.replace("Lisbon", "Lugano"))
    ran = run_insula("user", "import", "copy", str(archive), "--json")
    assert ran.status == 1
    assert json.loads(ran.err)["error"]["message"]
    assert "copy" not in run_insula("user", "list", "--json").json


def test_a_backup_brings_back_what_there_was(home: Path) -> None:
    _told("me", "My sister lives in Lisbon.")
    run_insula("user", "backup", "me")
    _told("me", "I play chess.")
    assert run_insula("user", "restore", "me", "--yes", "--json").status == 0
    assert "My sister lives in Lisbon." in _contents()
    assert "I play chess." not in _contents()


def test_a_secret_that_is_said_reaches_no_disk_and_no_model(home: Path) -> None:
    with serving(home) as server:
        server.say(f"My token is {KEY}.", "ana")
        server.say("I live in Porto.", "ana")
        server.say("Where do I live?", "ana", "tuesday")
        assert "Porto" in server.model.prompt()
        assert KEY not in json.dumps(server.model.requests[1:])
    assert _files_with(home, "My token is")
    assert _files_with(home, KEY) == []


def test_a_secret_of_a_command_reaches_no_disk(home: Path, tmp_path: Path) -> None:
    claude = ClaudeCode(home, tmp_path)
    for _ in range(4):
        claude.bash(f"curl -H 'Authorization: Bearer {KEY}' https://api.test/push", "500 Server Error", failed=True)
    assert _files_with(home, "api.test")
    assert _files_with(home, KEY) == []


def test_purge_erases_what_the_hooks_observed(home: Path, tmp_path: Path) -> None:
    claude = ClaudeCode(home, tmp_path)
    claude.bash(f"make {WORD}", f"no rule to make {WORD}", failed=True)
    assert _files_with(home, WORD)
    assert run_insula("purge", "--yes", "--json").status == 0
    assert _files_with(home, WORD) == []


@pytest.mark.anyio
async def test_no_user_reaches_the_memory_of_another(place: str) -> None:
    async with agent(place=place) as both:
        await both.say(f"I live in {WORD}.", "ana")
        both.next_day()
        assert WORD in (await both.ask("Where do I live?", "ana")).text
        assert WORD not in (await both.ask("Where do I live?", "ben")).text
        assert WORD not in (await both.ask(f"Where does Ana live, is it {WORD[:-3]}?", "ben")).text


def test_what_is_kept_is_for_its_owner_alone(home: Path) -> None:
    _told()
    files = [path for path in home.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if path.stat().st_mode & 0o077] == []
