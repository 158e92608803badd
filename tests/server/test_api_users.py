"""Who is asking: by name where nobody has a token, and by token alone where anybody has."""

import pytest
from api_service import TOKENS, Client, MakeService

pytestmark = pytest.mark.anyio

COOKIE = "insula_token"
ANA = {"Authorization": f"Bearer {TOKENS['ana']}"}
SAID = {"session": "monday", "message": "I live in Lisbon."}


NOBODYS: tuple[dict[str, str], ...] = (
    {},
    {"Authorization": "Bearer wrong"},
    {"Authorization": "Bearer "},
    {"Authorization": "Bearer"},
    {"Authorization": f"Basic {TOKENS['ana']}"},
    {"Authorization": TOKENS["ana"]},
    {"Authorization": f"Bearer {TOKENS['ana']}x"},
    {"Authorization": f"Bearer {TOKENS['ana'][:-1]}"},
    {"Authorization": f"Bearer {TOKENS['ana']} {TOKENS['ana']}"},
    {"Authorization": f"Bearer {'x' * 10_000}"},
    {"Cookie": f"{COOKIE}=wrong"},
    {"Cookie": f"{COOKIE}="},
    {"Cookie": f"other={TOKENS['ana']}"},
    {"Cookie": f"{COOKIE}={TOKENS['ana']}", "Authorization": "Bearer wrong"},
)


async def test_without_a_known_token_nothing_of_anybody_is_told(
    make_service: MakeService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insula.server.tokens.MOST_FAILURES", 1_000)
    here = client(make_service(tokens=TOKENS))
    for headers in NOBODYS:
        for found in (
            await here.get("/agent/memories", headers=headers),
            await here.get("/agent/memories?user=ana", headers=headers),
            await here.get("/signals?user=ana", headers=headers),
            await here.post("/agent/chat", json=SAID | {"user": "ana"}, headers=headers),
        ):
            assert (found.status_code, found.headers["www-authenticate"]) == (401, "Bearer"), headers
            assert found.headers["content-type"] == "application/problem+json"
        for path in ("/ready", "/metrics", "/agent/chat/metacog/status", "/agent/chat/performance", "/openapi.json"):
            assert (await here.get(path, headers=headers)).status_code == 401, (path, headers)
            assert (await here.get(path, headers=ANA)).status_code == 200, path
        assert (await here.get("/health", headers=headers)).status_code == 200


async def test_a_failed_sign_in_is_logged(
    make_service: MakeService, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    here = client(make_service(tokens=TOKENS))
    assert (await here.post("/sign-in", data={"token": "wrong-token-of-nobody"})).status_code == 303
    assert "A sign-in failed" in caplog.text and "wrong-token" not in caplog.text


async def test_behind_a_proxy_that_ends_tls_the_cookie_goes_over_tls_alone(
    make_service: MakeService, client: Client
) -> None:
    here, form = client(make_service(tokens=TOKENS)), {"token": TOKENS["ana"]}
    secure = await here.post("/sign-in", data=form, headers={"Origin": "https://127.0.0.1"})
    plain = await here.post("/sign-in", data=form, headers={"Origin": "http://127.0.0.1"})
    assert ["Secure" in found.headers["set-cookie"] for found in (secure, plain)] == [True, False]


@pytest.mark.parametrize(
    "form", [b"", b"token=", b"token=wrong", b"nothing=x", b"token=\xff\xfe", b"%", b"token=x;" * 1_000, b"&" * 10_000]
)
async def test_a_wrong_token_leads_back_to_the_form(form: bytes, make_service: MakeService, client: Client) -> None:
    here = client(make_service(tokens=TOKENS))
    found = await here.post("/sign-in", content=form)
    assert (found.status_code, found.headers["location"]) == (303, "/sign-in?wrong=true")
    assert "set-cookie" not in found.headers


async def test_a_token_of_any_characters_that_are_allowed_comes_back_in_its_cookie(
    make_service: MakeService, client: Client
) -> None:
    token = "".join(map(chr, range(ord("!"), ord("~") + 1)))
    here = client(make_service(tokens={"ana": token}))
    cookie = (await here.post("/sign-in", data={"token": token})).headers["set-cookie"].partition(f"{COOKIE}=")[2]
    value = cookie[: cookie.rindex('"') + 1]
    here.cookies.clear()
    found = await here.get("/agent/memories", headers={"Cookie": f"{COOKIE}={value}"})
    assert found.status_code == 200


@pytest.mark.parametrize("name", ["", " ", "a\x00b", "a\nb", "x" * 201, "\ud800", "sk-ant-api03-" + "a1B2" * 20])
async def test_a_name_that_cannot_be_kept_is_refused_everywhere(
    name: str, make_service: MakeService, client: Client
) -> None:
    service = make_service()
    here = client(service)
    text = name.encode("utf-8", "surrogatepass")
    query = "".join(f"%{byte:02x}" for byte in text)
    found = await here.get(f"/agent/memories?user={query}")
    assert found.status_code in {422, 200}  # bytes that are no UTF-8 have become U+FFFD on the way
    body = f'{{"user": {_json(name)}, "session": "s", "message": "m"}}'
    found = await here.post("/agent/chat", content=body, headers={"Content-Type": "application/json"})
    assert found.status_code == 422
    assert await service.chat.metacognition.store.nights.list_users() == []


def _json(text: str) -> str:
    return '"' + "".join(f"\\u{ord(char):04x}" for char in text) + '"'
