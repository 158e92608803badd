"""Whatever stands in a file: what can be read is read, what cannot is said."""

import io
import json
import lzma
import os
import time
from pathlib import Path

import pytest
from transcripts import RECORDED, Session, look, write

from insula.coding.replay import lines, readers
from insula.coding.replay import look as looking
from insula.coding.replay.find import find_transcripts
from insula.coding.replay.lines import open_transcript
from insula.coding.replay.readers import NO_TIME, Row, Skipped
from insula.coding.replay.session import STILL_WRITTEN
from insula.errors import InputError
from insula.foreign import NOT_PLAIN

OLD = 1_700_000_000


def aged(path: Path) -> Path:
    os.utime(path, (OLD, OLD))
    return path


def read(data: bytes) -> list[Row | Skipped]:
    return list(lines.read_rows(io.BytesIO(data)))


def test_lines_that_are_no_objects_are_named() -> None:
    found = read(b'\xef\xbb\xbf{"a":1}\n\n[1]\nno json\n' + b"[" * 100_000 + b"\n" + b'{"b":')
    assert found == [
        {"a": 1},
        Skipped(lines.NO_OBJECT, broken=True),
        Skipped(lines.NO_JSON, broken=True),
        Skipped(lines.NO_JSON, broken=True),
        Skipped(lines.CUT, broken=True),
    ]


def test_characters_that_are_no_utf_8_are_replaced() -> None:
    assert read(b'{"a":"caf\xe9"}\n') == [{"a": "caf\ufffd"}]


def test_a_huge_line_is_passed_over_and_the_next_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 100)
    found = read(b'{"a":"' + b"x" * 1_000 + b'"}\n{"b":2}\n')
    assert found == [Skipped(lines.TOO_LONG, broken=True), {"b": 2}]


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_a_transcript_cut_anywhere_is_read_up_to_there(tmp_path: Path, host: str) -> None:
    data = (RECORDED / f"{host}.jsonl").read_bytes()
    for share in (0.3, 0.5, 0.9, 0.999):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(data[: int(len(data) * share)])
        totals = look(aged(path)).totals
        assert totals.sessions == 1
        assert totals.incomplete == {str(path): f"it has a {lines.CUT}"}


def test_a_line_that_is_still_being_written_is_no_trouble(tmp_path: Path) -> None:
    path = Session().says("Go.").works(2).written(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    os.utime(path, (time.time(), time.time()))
    totals = look(path).totals
    assert not totals.incomplete
    assert totals.skipped[STILL_WRITTEN] == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        ('{"type":"user"}\n'.encode("utf-16"), "UTF-16"),
        (b"\x00\x01\x02 no text\n", "no line at its beginning is a JSON object"),
        (b'{"name":"a data set","rows":3}\n', "it holds no session"),
        (b'{"history":[],"mistake_step":"1"}\n', "insula bench stuck"),
    ],
)
def test_a_foreign_file_is_passed_over_with_its_reason(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    Session().says("Go.").written(tmp_path)
    totals = look(tmp_path).totals
    assert totals.sessions == 1
    assert why in totals.passed_over[str(path)]


def test_fields_of_wrong_types_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    session = Session().says("Go.").fails(2)
    values: tuple[object, ...] = (None, 7, "text", [], [None, 7], {"a": {}})
    for value in values:
        for name in ("message", "timestamp", "uuid", "type", "cwd", "sessionId"):
            session.rows.append({**session.rows[1], "uuid": f"{value} {name}", name: value})
        session.rows.append({**session.rows[1], "uuid": f"c {value}", "message": {"content": value, "usage": value}})
    assert look(session.written(tmp_path)).totals.errors == 2


def test_names_without_number_are_not_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "REASONS", 10)
    session = Session().says("Go.")
    session.rows += [{"type": f"kind-{number}", "uuid": str(number)} for number in range(100)]
    skipped = look(session.written(tmp_path)).totals.skipped
    assert skipped.total() == 100
    assert skipped[looking.OTHERS] == 90


def test_times_beyond_all_bounds_do_no_harm(tmp_path: Path) -> None:
    session = Session().says("Go.").fails(3)
    for row, at in zip(session.rows, ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "then"), strict=False):
        row["timestamp"] = at
    totals = look(session.written(tmp_path)).totals
    assert totals.errors == 3
    assert totals.skipped[NO_TIME] == 2
    assert time.time() - totals.began < 2 * 86_400
    assert totals.ended <= time.time()


@pytest.mark.parametrize("at", ["1970-01-01T00:00:01Z", "2014-12-31T00:00:00Z", "0001-01-01T00:00:00", "9999-12-31"])
def test_a_time_that_cannot_be_is_none(at: str) -> None:
    assert (readers.parse_time(at), readers.is_impossible(at)) == (0.0, True)
    assert readers.parse_time("2015-01-02T00:00:00Z") > 0
    assert not readers.is_impossible("no time")


def test_what_is_no_plain_file_is_passed_over_and_nothing_waits_for_it(tmp_path: Path) -> None:
    Session().says("Go.").written(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    totals = look(tmp_path).totals
    assert totals.sessions == 1
    assert set(totals.passed_over.values()) == {NOT_PLAIN}
    with pytest.raises(OSError, match="no plain file"):
        open_transcript(tmp_path / "pipe.jsonl")


def test_a_file_is_read_up_to_the_size_that_it_had(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    with open_transcript(path) as stream, path.open("ab") as more:
        more.write(b"two\n" * 1_000)
        more.flush()
        assert stream.read() == b"one\n"


def test_what_unpacks_without_end_is_read_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_UNPACKED", 1 << 16)
    path = tmp_path / "s.jsonl.xz"
    rows = "".join(json.dumps(row) + "\n" for row in Session().says("Go.").works(3).rows)
    path.write_bytes(lzma.compress(rows.encode() + b"\n" * (8 << 20)))
    totals = look(path).totals
    assert totals.tool_uses == 3
    assert lines.BOMB in totals.incomplete[str(path)]


def test_what_a_file_is_costs_no_more_than_its_beginning(tmp_path: Path) -> None:
    rows = Session().says("Go.").works(2).rows
    whole = {"session_id": "s", "events": rows, "more": "x" * (2 * lines.HEAD)}
    assert [lines.read_head(write(tmp_path / "long.jsonl", whole, *rows), 9)] == [[whole]]
    late = write(tmp_path / "late.jsonl", rows[0], {"more": "x" * (2 * lines.HEAD)}, rows[1])
    assert lines.read_head(late, 9) == [rows[0]]


def test_a_packed_file_that_is_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    text = "".join(json.dumps(row) + "\n" for row in Session().says("Go.").works(3_000).rows)
    path = tmp_path / "s.jsonl.xz"
    whole = lzma.compress(text.encode())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    totals = look(path).totals
    assert 0 < totals.tool_uses < 3_000
    assert "cannot be read to its end" in totals.incomplete[str(path)]


def test_a_file_that_vanishes_is_said(tmp_path: Path) -> None:
    from insula.coding.replay.gather import gather_sessions

    path = Session().says("Go.").written(tmp_path)
    found = find_transcripts([tmp_path])
    path.unlink()
    totals = gather_sessions(found).totals
    assert totals.sessions == 0
    assert "No such file" in totals.incomplete[str(path)]


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; give"):
        find_transcripts([tmp_path / "none"])


def test_links_that_lead_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    Session().says("Go.").written(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert look(tmp_path).totals.files == 1


def test_a_document_that_is_none_is_said(tmp_path: Path) -> None:
    path = tmp_path / "chats/session-1.json"
    write(path, {"other": 1})
    assert "no JSON document" in look(tmp_path).totals.incomplete[str(path)]
