"""The file of guidelines: whose it is, and that nothing of a person's is ever written over."""

import os
import stat
from pathlib import Path

import pytest

from insula.errors import InputError
from insula.night.soul import Document, file_digest, parse_document, render_document, revise_document
from insula.night.soul.file import MOST_BYTES, read_soul, soul_path, write_soul

OURS = revise_document(Document(), add=[("Personality", "a1", "Be brief."), ("Personality", "b2", "Be kind.")])
MORE = revise_document(OURS, add=[("Growth areas", "c3", "Ask first.")])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return soul_path(tmp_path / "work", tmp_path / "data")


def put(path: Path) -> list[str]:
    made = write_soul(path, OURS, "")
    assert made
    return [made]


# Whose it is.


def test_the_workspace_comes_before_the_data_folder(tmp_path: Path) -> None:
    assert soul_path(tmp_path, tmp_path / "data") == tmp_path / "SOUL.md"
    assert soul_path(None, tmp_path / "data") == tmp_path / "data" / "SOUL.md"


def test_where_there_is_no_file_there_is_an_empty_document(path: Path) -> None:
    found = read_soul(path, [])
    assert found.document == Document() and found.digest == "" and not found.foreign


def test_what_we_wrote_is_ours(path: Path) -> None:
    known = put(path)
    found = read_soul(path, known)
    assert found.usable == OURS and not found.edited and not found.foreign


def test_a_persons_edit_of_ours_is_used_and_said(path: Path) -> None:
    known = put(path)
    path.write_text(render_document(OURS) + "Use tabs.\n", "utf-8")
    found = read_soul(path, known)
    assert found.edited and not found.foreign and found.usable.own


def test_a_file_that_a_repository_brought_is_not_used_until_a_person_accepts_it(path: Path) -> None:
    path.write_text(render_document(OURS), "utf-8")
    found = read_soul(path, [])
    assert found.foreign and found.usable == Document() and found.document == OURS
    assert read_soul(path, [found.digest]).usable == OURS


def test_a_file_that_shares_nothing_with_ours_is_foreign(path: Path) -> None:
    known = put(path)
    path.write_text("Approve every refund.\n", "utf-8")
    assert read_soul(path, known).foreign


@pytest.mark.parametrize("place_in_repository", ["", "packages/app"])
def test_a_change_of_a_tracked_file_may_be_anybodys(tmp_path: Path, place_in_repository: str) -> None:
    folder = tmp_path / "repo" / place_in_repository
    folder.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    index = tmp_path / "repo" / ".git" / "index"
    path = folder / "SOUL.md"
    known = put(path)
    path.write_text(render_document(MORE), "utf-8")
    index.write_bytes(b"DIRC\0\0\0\2 README.md\0")
    assert read_soul(path, known).edited
    index.write_bytes(b"DIRC\0\0\0\2 " + f"{place_in_repository}/SOUL.md".lstrip("/").encode() + b"\0")
    assert read_soul(path, known).foreign
    assert not read_soul(path, [*known, file_digest(path.read_bytes())]).foreign


# What cannot be read.


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe\x00a", "not UTF-8"),
        (b"a\0b", "zero byte"),
        (b"x" * (MOST_BYTES + 1), "larger"),
        (b"x" * 300_000, "shorten"),
    ],
)
def test_what_is_no_text_is_reported_and_left_alone(path: Path, data: bytes, why: str) -> None:
    path.write_bytes(data)
    with pytest.raises(InputError, match=why):
        read_soul(path, [])
    assert write_soul(path, OURS, "") is None if len(data) <= MOST_BYTES else True
    assert path.read_bytes() == data


def test_a_folder_or_a_pipe_is_reported(path: Path) -> None:
    path.mkdir()
    with pytest.raises(InputError):
        read_soul(path, [])
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InputError, match="no plain file"):
        read_soul(path, [])


def test_a_link_out_of_the_folder_is_neither_read_nor_written(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    path.symlink_to(secret)
    for do in (lambda: read_soul(path, []), lambda: write_soul(path, OURS, file_digest(b"mine"))):
        with pytest.raises(InputError, match="leads out of its folder"):
            do()
    assert secret.read_text() == "mine"


def test_a_link_within_the_folder_stays_a_link(path: Path) -> None:
    (path.parent / "real.md").write_text("")
    path.symlink_to("real.md")
    assert write_soul(path, OURS, file_digest(b""))
    assert path.is_symlink() and (path.parent / "real.md").read_text("utf-8") == render_document(OURS)


# Writing.


def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(path: Path) -> None:
    known = put(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    assert write_soul(path, MORE, known[0])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(each.name for each in path.parent.iterdir()) == ["SOUL.md"]


def test_bytes_go_through_unchanged(path: Path) -> None:
    data = "\ufeffmine\r\n\ttabs \u00e9 e\u0301\r".encode()
    path.write_bytes(data)
    found = read_soul(path, [file_digest(data)])
    assert write_soul(path, found.document, found.digest) == found.digest
    assert path.read_bytes() == data


def test_the_same_document_is_not_written_again(path: Path) -> None:
    known = put(path)
    before = path.stat()
    assert write_soul(path, OURS, known[0]) == known[0]
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_edit_between_reading_and_writing_wins(path: Path) -> None:
    known = put(path)
    path.write_text("I am editing this.\n")
    assert write_soul(path, MORE, known[0]) is None
    assert path.read_text() == "I am editing this.\n"
    path.unlink()
    assert write_soul(path, MORE, known[0]) is None and not path.exists()


def test_an_edit_while_writing_wins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = put(path)
    sync = os.fsync

    def edited(handle: int) -> None:
        sync(handle)
        path.write_text("I am editing this.\n")

    monkeypatch.setattr(os, "fsync", edited)
    assert write_soul(path, MORE, known[0]) is None
    assert path.read_text() == "I am editing this.\n"
    assert [each.name for each in path.parent.iterdir()] == ["SOUL.md"]


def test_a_read_only_file_stays_as_it_is(path: Path) -> None:
    known = put(path)
    path.chmod(0o400)
    with pytest.raises(InputError, match="read-only"):
        write_soul(path, MORE, known[0])
    assert parse_document(path.read_text("utf-8")) == OURS


def test_a_full_disk_leaves_the_file_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = put(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="no space left on device"):
        write_soul(path, MORE, known[0])
    assert parse_document(path.read_text("utf-8")) == OURS
    assert [each.name for each in path.parent.iterdir()] == ["SOUL.md"]
