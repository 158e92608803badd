"""Tokens are kept as digests, end when they should, and are no door that can be tried for ever."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest
from api_service import TOKENS, Client, MakeService, Serve, say

from insula.errors import InputError, SettingsError
from insula.memory.privacy import audit
from insula.server import tokens
from insula.server.door.attempts import ADDRESSES, FREE, MOST_FAILURES, MOST_SECONDS, Attempts, delay_seconds
from insula.server.tokens import FILE, Holder, Keys

pytestmark = pytest.mark.anyio

DAY = 86_400.0


@pytest.fixture(autouse=True)
def somebody_waits(nobody_waits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insula.server.door.attempts.FIRST_SECONDS", 1.0)


ANA = {"Authorization": f"Bearer {TOKENS['ana']}"}


def kept(path: Path, *users: str, days: float = 1.0, now: float = 0.0) -> list[str]:
    """New tokens of users, put into the file."""
    made: list[str] = []
    for user in users:
        text, every = tokens.add_token(tokens.read_tokens(path), user, "", now, days)
        tokens.write_tokens(path, every)
        made.append(text)
    return made


def test_what_is_kept_opens_nothing(tmp_path: Path) -> None:
    (text,) = kept(tmp_path / FILE, "ana")
    raw = (tmp_path / FILE).read_text()
    assert text not in raw
    keys = Keys({}, tmp_path / FILE, lambda: 0.0)
    assert keys.find_holder(text) == Holder("ana", "ana-1")
    assert keys.find_holder(json.loads(raw)[0]["digest"]) is None


def test_a_token_ends_on_its_day(tmp_path: Path) -> None:
    clock = [0.0]
    day, ever = *kept(tmp_path / FILE, "ana"), *kept(tmp_path / FILE, "ben", days=0)
    keys = Keys({}, tmp_path / FILE, lambda: clock[0])
    clock[0] = DAY - 1
    assert keys.find_holder(day)
    clock[0] = DAY
    assert keys.find_holder(day) is None
    assert keys.find_holder(ever) == Holder("ben", "ben-1")
    assert keys, "that it is over opens no door"


def test_names_are_told_apart(tmp_path: Path) -> None:
    kept(tmp_path / FILE, "ana", "ana")
    known = tokens.read_tokens(tmp_path / FILE)
    assert [one.name for one in known] == ["ana-1", "ana-2"]
    with pytest.raises(InputError, match="There is a token 'ana-2' already"):
        tokens.add_token(known, "ben", "ana-2", 0.0, 1)
    with pytest.raises(InputError, match="can be seen"):
        tokens.add_token(known, "ben", "a\x1b[2Jb", 0.0, 1)
    with pytest.raises(InputError, match="no token 'x'"):
        tokens.remove_token(known, "x")
    assert tokens.revoke_user(tmp_path / FILE, "ana") == 2
    assert tokens.read_tokens(tmp_path / FILE) == ()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"name": 1}]', "[" * 10_000])
def test_a_file_that_holds_no_tokens_is_said_and_opens_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(SettingsError, match="are no tokens; take the file away"):
        tokens.read_tokens(tmp_path / FILE)
    keys = Keys({}, tmp_path / FILE)
    assert keys
    assert keys.find_holder(text) is None


def test_a_file_that_others_may_read_opens_nothing(tmp_path: Path) -> None:
    (text,) = kept(tmp_path / FILE, "ana", days=0)
    keys = Keys({}, tmp_path / FILE)
    assert keys.find_holder(text)
    (tmp_path / FILE).chmod(0o640)
    assert keys.find_holder(text) is None
    (tmp_path / FILE).chmod(0o600)
    assert keys.find_holder(text)


def test_who_tries_again_and_again_waits_longer_and_is_refused_in_the_end(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    waited = [attempts.note_failure("192.0.2.1") for _ in range(MOST_FAILURES + 1)]
    assert waited[:FREE] == [delay_seconds(1)] * FREE
    assert waited[:-1] == sorted(one for one in waited if one is not None)
    assert waited[-2:] == [MOST_SECONDS, None]
    assert attempts.note_failure("192.0.2.2") == delay_seconds(1), "others are not made to wait for it"
    clock[0] += 601
    assert attempts.note_failure("192.0.2.1") == delay_seconds(1)
    for number in range(2 * ADDRESSES):
        attempts.note_failure(str(number))
    assert len(attempts._failures) == ADDRESSES  # pyright: ignore[reportPrivateUsage]
    assert "a token from 192.0.2.1 is nobody's; 51 in ten minutes" in caplog.text


async def test_wrong_tokens_are_slowed_and_right_ones_are_not(
    make_service: MakeService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("insula.server.users.asyncio.sleep", wait)
    here = client(make_service(tokens=TOKENS))
    statuses = {
        (await here.get("/ready", headers={"Authorization": f"Bearer wrong{number}"})).status_code
        for number in range(MOST_FAILURES)
    }
    assert statuses == {401}
    assert waited == sorted(waited) and waited[-1] == MOST_SECONDS
    refused = await here.post("/sign-in", data={"token": "wrong-token"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "600")
    assert (await here.get("/ready", headers=ANA)).status_code == 200


@pytest.mark.parametrize("by", ["revoking it", "erasing its user"])
async def test_a_stream_ends_with_the_token_that_opened_it(
    make_service: MakeService, served: Serve, tmp_path: Path, by: str
) -> None:
    texts = kept(tmp_path / FILE, "ana", "ben", days=0)
    mine, other = ({"Authorization": f"Bearer {text}"} for text in texts)
    async with served(make_service()) as url, httpx2.AsyncClient(base_url=url, timeout=30) as browser:
        said = {"session": "monday", "message": "I live in Lisbon."}
        assert (await browser.post("/agent/chat", json=said, headers=mine)).status_code == 200
        async with (
            browser.stream("GET", "/signals", headers=mine) as ending,
            browser.stream("GET", "/signals", headers=other) as going_on,
        ):
            lines, others = ending.aiter_lines(), going_on.aiter_lines()
            assert (await anext(lines)).startswith("id:")
            assert (await anext(others)).startswith("id:")
            if by == "revoking it":
                tokens.revoke_user(tmp_path / FILE, "ana")
            else:
                assert (await browser.post("/agent/data/erase", json={"name": "ana"}, headers=mine)).status_code == 200
            assert "data" not in "".join([line async for line in lines])  # it ends
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    while True:
                        await anext(others)
        assert (await browser.get("/agent/sessions", headers=mine)).status_code == 401
        again = await browser.get("/signals", headers=mine)
        assert (again.status_code, "token" in again.json()["detail"].lower()) == (401, True)


async def test_what_was_done_is_written_down_without_a_word_of_it(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here = client(make_service(tokens=TOKENS))
    await here.post("/agent/chat", json={"session": "monday", "message": "I live in Lisbon."}, headers=ANA)
    assert (await here.delete("/agent/memories/1", headers=ANA)).status_code < 400
    assert (await here.delete("/agent/memories/999", headers=ANA)).status_code == 404
    assert (await here.delete("/agent/memories/1")).status_code == 401
    (line,) = audit.read_log(tmp_path)
    assert line.pop("at")
    assert line == {
        "who": "ana", "by": "token of the settings", "did": "DELETE /agent/memories/{number}", "of": "ana", "what": "1"
    }  # fmt: skip
    assert (tmp_path / audit.FILE).stat().st_mode & 0o777 == 0o600
    audit.log_access(tmp_path, who="ben", by="terminal", did="user backup", of="ben")
    audit.forget_user(tmp_path, "ana")
    assert [each["who"] for each in audit.read_log(tmp_path)] == ["ben"]


async def test_without_tokens_what_was_done_is_written_down_too(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")
    await here.delete("/agent/memories/1?user=ana")
    assert [(each["who"], each["of"]) for each in audit.read_log(tmp_path)] == [("ana", "ana")]
