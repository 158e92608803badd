"""The pages over HTTP without a browser: odd requests, and what stands on every answer."""

import itertools
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from api_service import TOKENS
from page_tab import Site, Sites

from insula.hosts.hook import respond

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, site: Sites) -> Generator[Site]:
    with site(tmp_path_factory.mktemp("site")) as started:
        started.say("me", "one", "My sister Ana moved to Lisbon in May.")
        yield started


def ask(
    running: Site, path: str, data: bytes | None = None, headers: Mapping[str, str] = HTML
) -> tuple[int, str, Mapping[str, str]]:
    """Status, text and headers of an answer."""
    asked = urllib.request.Request(running.url + path, data, dict(headers))
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/?user={'x' * 201}", 422),
        ("/?user=%00", 422),
        ("/memory?before=x", 422),
        ("/memory?before=99999999999999999999", 422),
        ("/memory/0", 404),
        ("/memory/99", 404),
        ("/shared/page.py", 404),
        ("/shared/..%2fpage.py", 404),
    ],
)
def test_an_odd_address_is_answered_with_a_page_that_says_so(running: Site, path: str, status: int) -> None:
    found, text, _ = ask(running, path)
    assert found == status
    assert "Traceback" not in text


def test_a_script_that_asks_oddly_is_told_as_a_problem(running: Site) -> None:
    status, text, headers = ask(running, "/memory?before=x", headers={"Accept": "*/*"})
    assert status == 422
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(text)["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/soul/back", b"revision=1"),
        ("/soul/back", b"revision=%F0%9D%9F%97"),
        ("/soul/back", b"revision=999999999999999999999999999"),
        ("/soul/back", b""),
        ("/soul/decide", b"word=accepted"),
        ("/soul/decide", b"word=perhaps"),
        ("/soul/decide", b"\xff\xfe=\x00"),
    ],
)
def test_a_form_that_fits_nothing_changes_nothing_and_says_so(running: Site, path: str, body: bytes) -> None:
    status, text, _ = ask(running, path, body)
    assert status == 422
    assert "This did not work" in text


def test_facts_are_what_the_user_told_and_the_transcript_has_both_sides(running: Site) -> None:
    facts = re.findall(r"<h2><bdi>(.*?)</bdi>", ask(running, "/memory")[1])
    said = re.findall(r'data-name="said by">(\w+)', ask(running, "/memory/transcript")[1])
    assert (facts, set(said)) == (["My sister Ana moved to Lisbon in May."], {"you", "Insula"})


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"turn": "one", "session": "one"},
        {"turn": 1, "session": "one", "confidence": {"level": "low", "score": 7}},
        {"turn": 1, "session": "one", "recalled": [{"id": "x"}]},
        {"turn": 1, "session": "one", "message": "x" * 400_001},
        {"turn": 2**64, "session": "one"},
        {"turn": 1, "session": "one", "recalled": [{"id": 2**64}]},
        {"turn": 1, "session": "one", "recalled": [{"id": -1}]},
        {"turn": 1, "session": "one", "lessons": [{"id": 2**64, "arm": "shown"}]},
        {"turn": 1, "session": "one", "assessment": {"score": 0.5, "parts": {"responsiveness": 1e308}}},
        {"turn": 1, "session": "one", "assessment": {"score": 0.5, "parts": {"responsiveness": float("inf")}}},
        {"turn": 1, "session": "one", "ms": {"model": float("nan"), "added": float("inf")}},
    ],
)
def test_a_record_that_is_none_is_refused(running: Site, record: object) -> None:
    body = json.dumps(record).encode()
    status, _, _ = ask(running, "/parts/turn", body, {"Content-Type": "application/json"})
    assert status == 422


def test_a_record_shows_nothing_of_another_user_and_is_escaped(running: Site) -> None:
    record = {
        "turn": 1,
        "session": "one",
        "message": "<b>",
        "response": "x",
        "recalled": [{"id": 1, "score": 0.5, "shown": True}],
        "confidence": {"level": "low", "score": 0.5, "reasons": ["<script>"]},
        "verdict": {"kind": "used", "text": "<i>"},
    }
    body = json.dumps(record).encode()
    headers = {"Content-Type": "application/json"}
    status, text, _ = ask(running, "/parts/turn?user=other", body, headers)
    assert status == 200
    assert "Lisbon" not in text
    assert "<b>" not in text
    assert "<i>" not in text
    assert "<script>" not in text
    assert "Lisbon" in ask(running, "/parts/turn?user=me", body, headers)[1]


def test_looking_makes_nobody(running: Site) -> None:
    for path in ("/", "/operate", "/memory", "/guidance", "/soul", "/nights"):
        assert ask(running, f"{path}?user=nobody")[0] == 200
    assert running.list_users() == ["me"]


def test_no_page_holds_a_style_or_an_address_of_another_site(running: Site) -> None:
    for path in ("/", "/operate", "/memory", "/guidance", "/soul", "/nights", "/agents"):
        _, text, _ = ask(running, path)
        assert " style=" not in text
        assert "<style" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text


def test_what_is_vendored_is_what_the_docs_name() -> None:
    root = Path(__file__).parents[2]
    named = (root / "docs" / "reference" / "dependencies.md").read_text()
    held = (root / "src" / "insula" / "server" / "page" / "static" / "htmx.min.js").read_bytes()
    assert sha256(held).hexdigest() in named


def test_the_scripts_of_ours_are_small() -> None:
    folder = Path(__file__).parents[2] / "src" / "insula" / "server" / "page" / "static"
    ours = [path for path in folder.glob("*.js") if not path.name.endswith(".min.js")]
    assert sum(len(path.read_text().splitlines()) for path in ours) < 450
    assert not any(".innerHTML" in path.read_text() for path in ours)


def test_a_night_without_news_takes_no_room_on_the_page_of_nights(running: Site) -> None:
    wish = "From now on, answer in one sentence."
    for day, first in enumerate(("Hello.", wish, "How are you?")):
        running.say("quinn", f"day {day}", first, "How long do I boil an egg?", "Thanks!")
        assert ask(running, "/agent/sleep?user=quinn&force=true", b"", {})[0] == 200
    _, text, _ = ask(running, "/nights?user=quinn")
    assert text.count('class="night"') == 1
    assert wish in text


def test_with_tokens_no_page_leads_to_the_coding_agents_of_the_machine(
    running: Site, tmp_path: Path, site: Sites
) -> None:
    assert 'href="/agents' in ask(running, "/soul")[1]
    with site(tmp_path, tokens=TOKENS) as guarded:
        _, text, _ = ask(guarded, "/soul", headers={**HTML, "Authorization": f"Bearer {TOKENS['ana']}"})
    assert 'href="/nights' in text
    assert 'href="/agents' not in text


def test_the_page_tells_what_the_hooks_were_worth(running: Site, home: Path) -> None:
    now = time.time() - 600
    for number in range(5):
        payload = {
            "session_id": "worth",
            "cwd": "/home/dev/project",
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": "deploy <now>"},
            "tool_use_id": f"toolu_{number}",
            "error": "Exit code 1\nno rule for <i>deploy</i>",
        }
        respond(str(home), "claude-code", payload, now + number)
    _, text, _ = ask(running, "/agents")
    section = text.partition("coding agents help?")[2]
    assert "nothing to compare yet" in section
    assert "1 session" in section
    assert "<i>" not in section


def test_a_word_on_a_text_of_the_hook_ends_its_kind_there_and_another_brings_it_back(
    running: Site, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "0")
    times = iter(range(100))

    def fails(session: str) -> str:
        """What the agent is told when the same command fails five times."""
        payload = {"session_id": session, "cwd": "/home/dev/project", "hook_event_name": "PostToolUseFailure"}
        asked = payload | {"tool_name": "Bash", "tool_input": {"command": "deploy"}, "error": "Exit code 1\nno rule"}
        at = time.time() - 100
        return "".join(
            respond(str(home), "claude-code", asked | {"tool_use_id": f"t{n}"}, at + n)
            for n in itertools.islice(times, 5)
        )

    assert fails("one")
    name = re.findall(r'name="id" value="(\w+)"', ask(running, "/agents")[1])[0]
    for word, chip in (("wrong", "false alarm</span>"), ("helped", "it helped</span>")):
        status, text, _ = ask(running, "/agents/word", f"id={name}&word={word}".encode())
        assert (status, "Noted" in text, chip in text) == (200, True, True)
        assert bool(fails(word)) is (word == "helped")
    for body, why in ((b"id=none&word=helped", "Nothing was said under the id"), (b"id=x&word=", "neither")):
        status, text, _ = ask(running, "/agents/word", body)
        assert (status, why in text) == (422, True)
