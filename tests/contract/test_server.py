"""The routes of `insula serve`: what is answered over HTTP, to whom, and what stands on the disk then."""

import html
import itertools
import json
import re
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from harness import GUARD_SECONDS, Served, run_insula, serving

Json = dict[str, Any]
HTML = {"Accept": "text/html"}
STREAM = {"Accept": "text/event-stream"}
SISTER = "My sister lives in Lisbon."
ASKED = "Where does my sister live?"
WISH = "From now on, answer in one sentence."
USERS = itertools.count(1)
NIGHT: Json = {
    "summary": "They talked.",
    "topics": [],
    "explanation": [],
    "principles": [],
    "procedures": [],
    "advice": [],
}
"""What a model answers that is asked by a night: for a summary, and for what there is to learn."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server without tokens, where a request names its user: each test has a user of its own."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with serving(folder / "insula", holdout="0") as server:
            yield server


@pytest.fixture
def server(alone: Served) -> Served:
    """The server, with a model that says what every model says."""
    alone.model.answer, alone.model.behaviour = "I see.", "ok"
    return alone


@pytest.fixture
def user() -> str:
    """A user of the test's own."""
    return f"ana{next(USERS)}"


def get(server: Served, path: str, user: str = "", **query: Any) -> Any:
    """What a path answers as JSON."""
    answer = server.client.get(path, params=query | ({"user": user} if user else {}))
    assert answer.status_code == 200, answer.text
    return answer.json()


def change(server: Served, method: str, path: str, user: str, **body: object) -> Any:
    """What a path answers to a change, as JSON."""
    answer = server.client.request(method, path, params={"user": user}, json=body or None)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def contents(server: Served, user: str, **query: Any) -> list[str]:
    """What is remembered of a user, newest first."""
    return [memory["content"] for memory in get(server, "/agent/memories", user, **query)["memories"]]


def numbered(server: Served, user: str, content: str) -> str:
    """The path of a memory."""
    (found,) = (one["id"] for one in get(server, "/agent/memories", user)["memories"] if one["content"] == content)
    return f"/agent/memories/{found}"


def problem(answer: httpx2.Response, status: int) -> str:
    """The sentences of an answer that says what went wrong."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    detail = answer.json()["detail"]
    assert detail.endswith(".")
    return detail


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """The events of a stream, each with its kind and data."""
    kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def wait_until(happened: Callable[[], bool]) -> None:
    """Look again and again until something has happened."""
    end = time.monotonic() + GUARD_SECONDS
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


# Talking


def test_what_was_told_in_one_session_stands_before_the_model_in_another(server: Served, user: str) -> None:
    told = server.say(SISTER, user)
    asked = server.say(ASKED, user, "tuesday")
    assert (told["turn"], told["response"], told["troubles"]) == (1, "I see.", [])
    assert (asked["session"], asked["confidence"]["level"]) == ("tuesday", "high")
    assert SISTER in server.model.prompt()


def test_a_streamed_answer_ends_with_the_text_that_is_kept(server: Served, user: str) -> None:
    half = server.model.answer = "The capital of Mongolia is Ulaanbaatar."
    asked = "What is the capital of Mongolia, and how many people live there?"
    said = {"user": user, "session": "monday", "message": asked}
    with server.client.stream("POST", "/agent/chat", json=said, headers=STREAM) as answer:
        *pieces, (kind, reply) = events(answer.iter_lines())
    assert "".join(piece["text"] for _, piece in pieces).strip() == half
    assert {name for name, _ in pieces} == {"delta"}
    assert (kind, reply["turn"], half in reply["response"]) == ("reply", 1, True)
    (turn,) = get(server, "/agent/sessions/monday", user)["turns"]
    assert [line["content"] for line in turn["lines"]] == [asked, reply["response"]]


@pytest.mark.parametrize(("behaviour", "status"), [("401", 503), ("refusal", 502), ("garbage", 502)])
def test_a_model_that_fails_is_said_and_the_message_is_kept(
    server: Served, user: str, behaviour: Any, status: int
) -> None:
    server.model.behaviour = behaviour
    said = {"user": user, "session": "monday", "message": SISTER}
    answer = server.client.post("/agent/chat", json=said)
    assert "is kept" in problem(answer, status)
    with server.client.stream("POST", "/agent/chat", json=said, headers=STREAM) as streamed:
        *_, (kind, told) = events(streamed.iter_lines())
    assert (kind, told["status"]) == ("error", status)
    assert contents(server, user) == [SISTER, SISTER]


def test_a_model_that_answers_without_a_word_is_a_sentence_and_no_failure(server: Served, user: str) -> None:
    server.model.behaviour = "empty_text"
    said = {"user": user, "session": "monday", "message": "Wo wohnt meine Schwester?"}
    answer = server.client.post("/agent/chat", json=said)
    assert answer.status_code == 200
    assert answer.json()["response"].startswith("Das Modell hat ohne ein Wort geantwortet")
    assert answer.json()["error"].endswith(".")
    assert "empty" in answer.json()["assessment"]["flags"]
    assert contents(server, user) == [said["message"]]


def test_who_goes_away_finds_the_answer_when_they_come_back(server: Served, user: str) -> None:
    said = {"user": user, "session": "monday", "message": SISTER}
    with server.model.held(), server.client.stream("POST", "/agent/chat", json=said, headers=STREAM):
        assert server.model.received.wait(GUARD_SECONDS)
    wait_until(lambda: contents(server, user) == ["I see.", SISTER])


BODIES: Sequence[tuple[bytes, str]] = (
    (b"", "body"),
    (b"{", "body.1"),
    (b"[]", "body"),
    (b'"text"', "body"),
    (b'{"session": "s", "message": "m"}', "user"),
    (b'{"user": "u", "message": "m"}', "body.session"),
    (b'{"user": "u", "session": "s"}', "body.message"),
    (b'{"user": "u", "session": "s", "message": ""}', "body.message"),
    (b'{"user": "u", "session": "s", "message": " \\n\\t\\u0000 "}', "body.message"),
    (b'{"user": "u", "session": "s", "message": ["m"]}', "body.message"),
    (b'{"user": "u", "session": "s", "message": {"role": "system", "content": "m"}}', "body.message"),
    (b'{"user": "u", "session": "s", "message": 7}', "body.message"),
    (b'{"user": 7, "session": "s", "message": "m"}', "body.user"),
    (b'{"user": "u\\u0000", "session": "s", "message": "m"}', "user"),
    (b'{"user": "u", "session": "a\\u0007b", "message": "m"}', "session"),
    (b'{"user": "u", "session": "\\ud800", "message": "m"}', "session"),
    (b'{"user": "u", "session": "s", "message": "m", "history": []}', "body.history"),
    (b'{"user": "u", "session": "s", "message": "m", "messages": [{"role": "system"}]}', "body.messages"),
    (b"\xff\xfe", "body"),
    (b"[" * 50_000, "body"),
)
"""What is no message, and by which name that is said."""


def test_a_message_that_does_not_fit_is_refused_by_the_name_of_what_is_wrong(server: Served) -> None:
    for body, named in BODIES:
        answer = server.client.post("/agent/chat", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in {400, 422}, body
        assert named in problem(answer, answer.status_code)
    assert contents(server, "u") == []


# Looking at what is kept, and changing it


def test_sessions_turns_and_memories_come_page_by_page_and_each_once(server: Served, user: str) -> None:
    for session in ("monday", "tuesday", "wednesday"):
        for number in range(3):
            server.say(f"My friend number {number} lives in Lisbon.", user, session)
    sessions = _paged(server, user, "/agent/sessions", "sessions", 2)
    assert [(one["session"], one["turns"]) for one in sessions] == [("wednesday", 3), ("tuesday", 3), ("monday", 3)]
    page = get(server, "/agent/sessions/monday", user, limit=2)
    before = get(server, "/agent/sessions/monday", user, limit=2, before=page["next"])
    assert [turn["turn"] for turn in (*before["turns"], *page["turns"])] == [1, 2, 3]
    numbers = [memory["id"] for memory in _paged(server, user, "/agent/memories", "memories", 5)]
    assert (len(numbers), numbers) == (18, sorted(set(numbers), reverse=True))


def _paged(server: Served, user: str, path: str, name: str, limit: int) -> list[Any]:
    """All that a path lists, a few at a time."""
    page = get(server, path, user, limit=limit)
    found = page[name]
    while page["next"] is not None:
        page = get(server, path, user, limit=limit, before=page["next"])
        assert len(page[name]) <= limit
        found += page[name]
    return found


def test_of_who_said_nothing_there_is_nothing_and_looking_makes_nobody(server: Served, user: str) -> None:
    for path, name in (("/agent/sessions", "sessions"), ("/agent/memories", "memories"), ("/agent/sleep", "nights")):
        assert get(server, path, user) == {name: [], "next": None}
    assert get(server, "/agent/soul", user)["text"] == ""
    for path in ("sessions/sunday", "memories/99", "soul/revisions/1", "data/export"):
        assert problem(server.client.get(f"/agent/{path}", params={"user": user}), 404)
    assert user not in server.client.get("/", headers=HTML).text


def test_memory_is_searched_by_words(server: Served, user: str) -> None:
    server.say(SISTER, user)
    server.say("I play the violin.", user)
    assert contents(server, user, q="violin") == ["I play the violin."]
    assert contents(server, user, q="zebra") == []


def test_a_corrected_memory_reaches_the_model_in_its_new_words_until_that_is_undone(server: Served, user: str) -> None:
    server.say(SISTER, user)
    path = numbered(server, user, SISTER)
    assert change(server, "POST", path, user, do="correct", text="My sister lives in Porto.")
    server.say(ASKED, user, "tuesday")
    assert ("in Porto" in server.model.prompt(), "in Lisbon" in server.model.prompt()) == (True, False)
    assert contents(server, user, q="Porto") == ["My sister lives in Porto."]
    assert contents(server, user, q="Lisbon") == []
    assert change(server, "POST", path, user, do="undo")["content"] == SISTER
    server.say(ASKED, user, "wednesday")
    assert ("in Porto" in server.model.prompt(), "in Lisbon" in server.model.prompt()) == (False, True)


def test_a_muted_memory_stands_before_no_model_until_that_is_undone(server: Served, user: str) -> None:
    server.say(SISTER, user)
    path = numbered(server, user, SISTER)
    assert change(server, "POST", path, user, do="mute")["mode"] == "muted"
    change(server, "POST", path, user, do="correct", text="My sister lives in Porto.")
    server.say(ASKED, user, "tuesday")
    assert "My sister lives" not in server.model.prompt()
    change(server, "POST", path, user, do="undo")
    assert change(server, "POST", path, user, do="undo")["mode"] == ""
    server.say(ASKED, user, "wednesday")
    assert SISTER in server.model.prompt()
    assert problem(server.client.post(path, params={"user": user}, json={"do": "undo"}), 409)


def test_a_pinned_memory_says_so_and_what_cannot_be_decided_is_refused(server: Served, user: str) -> None:
    server.say(SISTER, user)
    path = numbered(server, user, SISTER)
    assert change(server, "POST", path, user, do="pin")["mode"] == "pinned"
    for decision, status in (({"do": "explode"}, 422), ({"do": "correct", "text": " "}, 409)):
        assert problem(server.client.post(path, params={"user": user}, json=decision), status)
    assert problem(server.client.post("/agent/memories/9999", params={"user": user}, json={"do": "pin"}), 404)
    assert get(server, path, user)["content"] == SISTER
    assert change(server, "POST", path, user, do="unpin")["mode"] == ""


def test_an_erased_memory_is_nowhere_any_more(server: Served, user: str) -> None:
    erased = "My sister lives in Xylokastron."
    server.say(erased, user)
    server.say(SISTER, user)
    path = numbered(server, user, erased)
    change(server, "DELETE", path, user)
    left = get(server, path, user)
    assert (left["content"], left["stands"], bool(left["history"])) == ("", "retired", True)
    shown = [
        server.client.get(address, params={"user": user}).text
        for address in ("/agent/memories", "/agent/sessions/monday", "/agent/data/export")
    ]
    assert all(SISTER in text for text in shown)
    assert not any("Xylokastron" in text for text in shown)
    server.say(ASKED, user, "tuesday")
    assert "Xylokastron" not in server.model.prompt()


def test_a_preference_is_muted_worded_anew_and_erased_over_http(server: Served, user: str) -> None:
    saved = server.say(WISH, user)
    assert WISH in saved["verdict"]["text"]
    (lesson,) = get(server, "/agent/lessons", user)["lessons"]
    path = f"/agent/lessons/{lesson['id']}"
    (source,) = get(server, path, user)["sources"]
    assert (lesson["advice"], source["content"]) == (WISH, WISH)
    brief = "From now on, answer in five words."
    steps: Sequence[tuple[Json, str]] = (
        ({"do": "mute"}, ""),
        ({"do": "unmute"}, WISH),
        ({"do": "edit", "text": brief}, brief),
        ({"do": "undo"}, WISH),
    )
    for number, (decision, told) in enumerate(steps):
        change(server, "POST", path, user, **decision)
        server.say("Hello.", user, f"session {number}")
        heard = [words for words in (WISH, brief) if words in server.model.prompt()]
        assert heard == [told] * bool(told)
    change(server, "DELETE", path, user)
    server.say("Hello.", user, "last")
    assert WISH not in server.model.prompt()


def test_nights_over_http_write_guidelines_that_can_be_undone(server: Served, user: str) -> None:
    celsius = "From now on use Celsius."
    nights = list[Json]()
    for wish in (WISH, celsius):
        server.model.answer = "I see."
        for text in (wish, SISTER, "Thanks."):
            server.say(text, user)
        server.model.answer = json.dumps(NIGHT)
        slept = server.client.post("/agent/sleep", params={"user": user, "force": True})
        nights.append(slept.json())
    assert [night["skipped"] for night in nights] == ["", ""]
    listed = _paged(server, user, "/agent/sleep", "nights", 1)
    assert [night["night"] for night in listed] == [night["night"] for night in reversed(nights)]
    stands = get(server, "/agent/soul", user)
    newest, oldest = get(server, "/agent/soul/revisions", user)["revisions"]
    assert newest["id"] == stands["revision"]
    assert celsius not in get(server, f"/agent/soul/revisions/{oldest['id']}", user)["text"]
    assert f"+- {celsius}" in get(server, "/agent/soul/diff", user)["diff"]
    undone = change(server, "POST", "/agent/soul/undo", user, revision=oldest["id"])["text"]
    file = server.home / "users" / user / "SOUL.md"
    assert (WISH in undone, celsius in undone, file.read_text()) == (True, False, undone)
    server.say("Hello.", user, "later")
    assert (WISH in server.model.prompt(), celsius in server.model.prompt()) == (True, False)
    assert change(server, "POST", "/agent/soul/undo", user, revision=newest["id"])["text"] == stands["text"]
    server.say("Hello.", user, "last")
    assert celsius in server.model.prompt()


def test_a_change_that_does_not_wait_cannot_be_accepted(server: Served, user: str) -> None:
    server.say(SISTER, user)
    for path, word in (("proposal", {"decision": "accept"}), ("undo", {"revision": 99})):
        answer = server.client.post(f"/agent/soul/{path}", params={"user": user}, json=word)
        assert problem(answer, answer.status_code)
        assert answer.status_code in {404, 409}


def test_a_night_that_is_not_due_does_nothing_and_says_why(server: Served, user: str) -> None:
    assert change(server, "POST", "/agent/sleep", user)["skipped"]
    for text in (SISTER, "I play the violin.", "Thanks."):
        server.say(text, user)
    server.model.answer = json.dumps(NIGHT)
    assert change(server, "POST", "/agent/sleep", user)["phases"]
    again = change(server, "POST", "/agent/sleep", user)
    assert again["phases"] == []
    assert again["skipped"].endswith(".")


def test_the_exact_request_can_be_looked_at(server: Served, user: str) -> None:
    server.say(SISTER, user)
    server.say(ASKED, user, "tuesday")
    shown = get(server, "/agent/answers/request", user, session="tuesday", turn=1)
    assert {SISTER, ASKED} <= {
        line for part in shown["parts"] for line in re.findall(r"My sister.*?\.|Where.*\?", part["text"])
    }
    assert all(part["text"].strip() in server.model.prompt() for part in shown["parts"])


def test_a_word_on_an_answer_counts_once(server: Served, user: str) -> None:
    server.say(SISTER, user)
    server.say(ASKED, user, "tuesday")
    word = {"session": "tuesday", "turn": 1, "right": False}
    assert change(server, "POST", "/agent/answers/judge", user, **word)["said"]
    again = server.client.post("/agent/answers/judge", params={"user": user}, json=word)
    assert problem(again, 422)


def test_a_user_takes_all_along_and_leaves_nothing(server: Served, user: str) -> None:
    server.say("My sister lives in Heraklion.", user)
    assert "Heraklion" in server.client.get("/agent/data/export", params={"user": user}).text
    assert change(server, "POST", "/agent/data/backup", user)["copies"] == 1
    other = server.client.post("/agent/data/erase", params={"user": user}, json={"name": "somebody"})
    assert "nothing was erased" in problem(other, 422)
    assert change(server, "POST", "/agent/data/erase", user, name=user)["erased"]
    assert contents(server, user) == []
    files = [path for path in server.home.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"Heraklion" in path.read_bytes()] == []


def test_a_user_who_is_being_answered_is_not_erased(server: Served, user: str) -> None:
    said = {"user": user, "session": "monday", "message": SISTER}
    with server.client.stream("POST", "/agent/chat", json=said, headers=STREAM) as answer:
        with server.model.held():
            assert server.model.received.wait(GUARD_SECONDS)
            early = server.client.post("/agent/data/erase", params={"user": user}, json={"name": user})
            assert "wait for the answer" in problem(early, 409)
        *_, (kind, _) = events(answer.iter_lines())
    assert kind == "reply"
    assert change(server, "POST", "/agent/data/erase", user, name=user)["erased"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("From now on, use Celsius.", "From now on, use Fahrenheit."),
        ("Please answer in short sentences.", "From now on, always answer in short sentences."),
    ],
    ids=["wanted otherwise", "asked for once"],
)
def test_what_was_saved_is_undone_below_the_answer_and_what_it_replaced_is_back(
    server: Served, user: str, before: str, after: str
) -> None:
    server.say(before, user)
    stood = _states(server, user)
    server.say(after, user)
    page = server.client.get("/", params={"user": user, "session": "monday"}, headers=HTML).text
    (undo,) = re.findall(r' action="(/parts/undo[^"]*turn=2[^"]*)"', page)
    assert server.client.post(html.unescape(undo)).status_code == 303
    now = _states(server, user)
    assert now[before] == stood[before]
    assert now[after].startswith("retired")


def _states(server: Served, user: str) -> dict[str, str]:
    return {one["advice"]: one["state"] for one in get(server, "/agent/lessons", user)["lessons"]}


# For agents that run elsewhere


def test_an_agent_elsewhere_begins_a_turn_and_finishes_it_once(server: Served, user: str) -> None:
    server.say(SISTER, user)
    asked = {"user": user, "session": "tuesday", "message": ASKED}
    begun = server.client.post("/v1/turns", json=asked).json()
    assert SISTER in begun["instructions_now"]
    answered = {"state": begun["state"], "response": "In Lisbon."}
    first, second = (server.client.post("/v1/turns/finish", json=answered).json() for _ in range(2))
    assert (first["response"], first["troubles"]) == ("In Lisbon.", [])
    assert SISTER in first["verdict"]["text"]
    assert second["troubles"]
    assert contents(server, user).count("In Lisbon.") == 1
    for state in ("{}", "[]", "no JSON", '{"v": 1}'):
        for path, body in (("turns/finish", {"response": "Hi"}), ("actions", {"tool": "query"})):
            assert "give" in problem(server.client.post(f"/v1/{path}", json={"state": state, **body}), 422)


def test_an_agent_elsewhere_is_told_nothing_of_who_this_server_is(server: Served, user: str) -> None:
    asked = {"user": user, "session": "monday", "message": "Hello there, what can you do?"}
    begun = server.client.post("/v1/turns", json=asked).json()
    assert (begun["instructions_stable"], begun["instructions_now"]) == ("", "")
    answered = {"state": begun["state"], "response": "I can help."}
    assert server.client.post("/v1/turns/finish", json=answered).json()["troubles"] == []


def test_a_model_elsewhere_that_becomes_slow_is_given_less_and_its_host_is_told(server: Served, user: str) -> None:
    def turn(message: str, seconds: float) -> tuple[int, list[Json]]:
        asked = {"user": user, "session": "monday", "message": message, "model": f"model of {user}"}
        begun = server.client.post("/v1/turns", json=asked).json()
        used = {"output": 100, "seconds": seconds}
        answered = {"state": begun["state"], "response": "I see.", "usage": used}
        finished = server.client.post("/v1/turns/finish", json=answered).json()
        return begun["instructions_now"].count("- My friend number"), finished["advisories"]

    usual = [turn(f"My friend number {number} lives in Lisbon.", 2.0) for number in range(20)]
    slow = [turn("Which of my friends live in Lisbon?", 6.0) for _ in range(10)]
    assert [advisories for _, advisories in (*usual, *slow[:8])] == [[]] * 28
    (first, _), (last, advisories) = slow[0], slow[-1]
    (advisory,) = (one for one in advisories if one["lever"] == "max_context_items")
    assert (advisory["source_system"], advisory["reason"]) == ("metacog", "performance_degraded")
    assert advisory["saved"]["memories"] == first - last > 0


def test_an_agent_elsewhere_is_told_that_it_fails_again_and_again(server: Served) -> None:
    state, notes = None, list[str]()
    for number in range(6):
        failed = {"isError": True, "content": [{"type": "text", "text": "relation users does not exist"}]}
        acted = {"state": state, "tool": "query", "input": {"sql": f"select {number}"}, "output": failed}
        felt = server.client.post("/v1/actions", json=acted).json()
        state, notes = felt["state"], [*notes, felt["note"]["text"] if felt["note"] else ""]
    assert notes[:2] == ["", ""]
    assert any("query" in note and "failed" in note for note in notes)


# How it stands


def test_signals_are_told_as_they_are_written_and_go_on_where_they_were_cut(server: Served, user: str) -> None:
    with server.client.stream("GET", "/signals", params={"user": user}) as listening:
        lines = listening.iter_lines()
        next(lines)
        server.say(SISTER, user)
        _, first = next(events(lines))
    assert (first["session"], first["turn"]) == ("monday", 1)
    server.say(ASKED, user)
    resumed = {"Last-Event-ID": str(first["id"])}
    with server.client.stream("GET", "/signals", params={"user": user}, headers=resumed) as listening:
        _, second = next(events(listening.iter_lines()))
    assert second["turn"] == 2


def test_figures_are_counted_and_hold_no_word_of_anybody(server: Served, user: str) -> None:
    def turns() -> float:
        figures = server.client.get("/metrics").text
        return sum(float(number) for number in re.findall(r"^insula_turns_total\{.*\} (\S+)$", figures, re.MULTILINE))

    before = turns()
    server.say("My sister lives in Ierapetra.", user)
    assert turns() == before + 1
    for path in ("/metrics", "/agent/chat/performance", "/agent/chat/metacog/status", "/agent/sleep/all"):
        answer = server.client.get(path)
        assert answer.status_code == 200
        assert "Ierapetra" not in answer.text


def test_a_snapshot_comes_with_the_turn_in_which_it_is_due(server: Served, user: str) -> None:
    said = [server.say(f"My friend number {number} lives in Lisbon.", user) for number in range(10)]
    (snapshot, *_) = (answer["metacog"] for answer in said if "metacog" in answer)
    assert snapshot["last_user_turn_status"] == "stored"
    status = get(server, "/agent/chat/metacog/status")
    assert status["available"]
    assert status["snapshot"]["turn_counter"] >= snapshot["turn_counter"]


def test_a_store_that_is_away_is_said_and_used_again_once_it_is_back(server: Served, user: str) -> None:
    server.say(SISTER, user)
    database = server.home / "insula.db"
    database.rename(server.home / "aside.db")
    try:
        assert server.client.get("/health").json() == {"status": "ok"}
        assert "insula.db" in problem(server.client.get("/ready"), 503)
        lost = server.say("I play the violin.", user)
        assert lost["response"] == "I see."
        assert any("insula.db" in trouble for trouble in lost["troubles"])
    finally:
        (server.home / "aside.db").rename(database)
    assert server.client.get("/ready").json() == {"status": "ok"}
    server.say("I play chess.", user)
    assert [text for text in contents(server, user) if text != "I see."] == ["I play chess.", SISTER]


def test_every_route_is_described_and_what_there_is_not_is_said_in_a_sentence(server: Served) -> None:
    described = get(server, "/openapi.json")["paths"]
    assert {"/agent/chat", "/agent/memories/{number}", "/agent/soul", "/agent/data/erase", "/v1/turns"} <= set(
        described
    )
    assert "/openapi.json" in problem(server.client.get("/nothing"), 404)
    assert problem(server.client.get("/agent/memories/99", params={"user": "nobody"}), 404)
    assert "limit" in problem(server.client.get("/agent/memories", params={"user": "u", "limit": "many"}), 422)


# The page


def test_no_page_runs_anything_but_our_own(server: Served, user: str) -> None:
    server.say(SISTER, user)
    for path in ("/", "/operate", "/memory", "/guidance", "/learned", "/soul", "/nights", "/agents", "/yours"):
        page = server.client.get(path, params={"user": user}, headers=HTML)
        assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html"), path
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert all("src=" in tag for tag in page.text.split("<script")[1:]), path
        assert "/sign-out" not in page.text


@pytest.mark.parametrize("path", ["/", "/memory/transcript"])
def test_a_page_shows_what_was_said_as_text(server: Served, user: str, path: str) -> None:
    server.model.answer = "Is <img src=x onerror=alert(1)> nice?"
    server.say("My sister lives in <script>alert(1)</script> Lisbon.", user)
    given = {"user": user, "session": "monday"}
    page = server.client.get(path, params=given, headers=HTML).text
    assert "&lt;img src=x" in page
    assert ("<script>alert" in page, "<img src=x" in page) == (False, False)


def test_a_page_erases_a_memory_and_shows_it_no_more(server: Served, user: str) -> None:
    server.say(SISTER, user)
    number = numbered(server, user, SISTER).rpartition("/")[2]
    shown = server.client.get("/memory", params={"user": user}, headers=HTML)
    assert SISTER in shown.text
    erased = server.client.post(f"/memory/{number}/erase", params={"user": user}, headers=HTML)
    assert erased.status_code == 303
    assert SISTER not in server.client.get("/memory", params={"user": user}, headers=HTML).text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "evil.example"}, 400),
    ],
)
def test_no_other_site_says_anything_in_a_users_name(
    server: Served, user: str, headers: dict[str, str], status: int
) -> None:
    said = {"user": user, "session": "monday", "message": SISTER}
    assert problem(server.client.post("/agent/chat", json=said, headers=headers), status)
    assert contents(server, user) == []


# With tokens


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Served, dict[str, dict[str, str]]]]:
    """A server for other machines, on which Ana, Ben and an operator have a token each; the header that each sends."""
    home = tmp_path_factory.mktemp("guarded") / "insula"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home.parent))
        patch.setenv("INSULA_HOME", str(home))
        headers = {name: _token(name, *more) for name, *more in (("ana",), ("ben",), ("boss", "--operator"))}
        with serving(home, "--host", "0.0.0.0", "--allow-host", "insula.example", holdout="0") as server:
            server.client.base_url = f"http://127.0.0.1:{server.client.base_url.port}"
            yield server, headers


def _token(user: str, *words: str) -> dict[str, str]:
    made = run_insula("token", "new", user, *words, "--json").json
    return {"Authorization": f"Bearer {made['token']}"}


Guarded = tuple[Served, dict[str, dict[str, str]]]


def test_without_a_token_no_route_tells_anything(guarded: Guarded) -> None:
    server, headers = guarded
    described = server.client.get("/openapi.json", headers=headers["ana"]).json()["paths"]
    asked = [(method, path) for path, methods in described.items() for method in methods]
    closed = [one for one in asked if one[1] not in {"/health", "/sign-in", "/sign-out"}]
    assert len(closed) > 30
    for method, path in closed:
        address = path.format(session="monday", number=1, name="x")
        answer = server.client.request(method, address, params={"user": "ana"})
        assert answer.status_code == 401, (method, path)
    assert server.client.get("/health").status_code == 200
    assert server.client.get("/", headers=HTML).headers["location"] == "/sign-in"
    assert problem(server.client.get("/ready", headers={"Authorization": "Bearer nobody"}), 401)


def test_the_token_says_who_the_user_is_and_opens_nobody_elses_memory(guarded: Guarded) -> None:
    server, headers = guarded
    said = {"session": "monday", "message": "My sister lives in Xylokastron."}
    assert server.client.post("/agent/chat", json=said, headers=headers["ana"]).status_code == 200
    mine = server.client.get("/agent/memories", headers=headers["ana"]).json()["memories"]
    assert said["message"] in [memory["content"] for memory in mine]
    assert server.client.get("/agent/memories", headers=headers["ben"]).json()["memories"] == []
    memory = f"/agent/memories/{min(memory['id'] for memory in mine)}"
    for path in (memory, "/agent/sessions/monday", "/agent/answers/request?session=monday&turn=1"):
        assert server.client.get(path, headers=headers["ana"]).status_code == 200
        assert "Xylokastron" not in problem(server.client.get(path, headers=headers["ben"]), 404)
    assert problem(server.client.post(memory, json={"do": "mute"}, headers=headers["ben"]), 404)
    assert problem(server.client.delete(memory, headers=headers["ben"]), 404)
    assert server.client.get(memory, headers=headers["ana"]).json()["mode"] == ""


def test_nobody_finishes_a_turn_of_anothers(guarded: Guarded) -> None:
    server, headers = guarded
    asked = {"session": "s", "message": "Hello"}
    begun = server.client.post("/v1/turns", json=asked, headers=headers["ana"]).json()
    answered = {"state": begun["state"], "response": "Hello!"}
    assert problem(server.client.post("/v1/turns/finish", json=answered, headers=headers["ben"]), 403)
    assert problem(server.client.post("/v1/turns/finish", json=answered), 401)
    assert server.client.post("/v1/turns/finish", json=answered, headers=headers["ana"]).status_code == 200


def test_who_names_another_user_is_turned_away_on_every_route(guarded: Guarded) -> None:
    server, headers = guarded
    described = server.client.get("/openapi.json", headers=headers["ben"]).json()["paths"]
    named = [
        (method, path)
        for path, methods in described.items()
        for method, route in methods.items()
        if "user" in [given["name"] for given in route.get("parameters", [])]
    ]
    assert len(named) > 20
    for method, path in named:
        address = path.format(session="monday", number=1, name="x")
        given = {"user": "ana", "session": "monday", "turn": 1}
        answer = server.client.request(method, address, params=given, headers=headers["ben"])
        assert "another user" in problem(answer, 403), (method, path)
    said = {"user": "ana", "session": "monday", "message": SISTER}
    for path in ("/agent/chat", "/v1/turns"):
        assert "another user" in problem(server.client.post(path, json=said, headers=headers["ben"]), 403)


def test_with_tokens_it_listens_to_other_machines_under_the_names_that_are_allowed(guarded: Guarded) -> None:
    server, headers = guarded
    named = {host: headers["ana"] | {"Host": host} for host in ("insula.example", "evil.example")}
    assert [server.client.get("/ready", headers=named[host]).status_code for host in named] == [200, 400]


def test_a_new_token_counts_at_once_and_a_revoked_one_no_more(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = guarded
    monkeypatch.setenv("INSULA_HOME", str(server.home))
    cleo = _token("cleo", "--name", "tablet")
    assert server.client.get("/ready", headers=cleo).status_code == 200
    run_insula("token", "revoke", "tablet")
    assert server.client.get("/ready", headers=cleo).status_code == 401


def test_how_all_nights_go_is_for_the_operators_token_alone(guarded: Guarded) -> None:
    server, headers = guarded
    statuses = {name: server.client.get("/agent/sleep/all", headers=headers[name]).status_code for name in headers}
    assert statuses == {"ana": 403, "ben": 403, "boss": 200}
    assert problem(server.client.get("/agent/memories", params={"user": "ana"}, headers=headers["boss"]), 403)


def test_a_browser_signs_in_and_out_by_a_cookie_that_no_script_reads(guarded: Guarded) -> None:
    server, headers = guarded
    token = headers["ana"]["Authorization"].removeprefix("Bearer ")
    with httpx2.Client(base_url=server.client.base_url, timeout=GUARD_SECONDS) as browser:
        wrong = browser.post("/sign-in", data={"token": "nobody's"})
        assert "set-cookie" not in wrong.headers
        entered = browser.post("/sign-in", data={"token": token})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert all(word in entered.headers["set-cookie"] for word in ("HttpOnly", "SameSite=strict", "Path=/"))
        assert browser.get("/agent/memories").status_code == 200
        assert 'action="/sign-out"' in browser.get("/", headers=HTML).text
        assert browser.post("/sign-out", headers={"Origin": "http://evil.example"}).status_code == 403
        assert browser.get("/agent/memories").status_code == 200
        assert browser.post("/sign-out").headers["location"] == "/sign-in"
        assert browser.get("/agent/memories").status_code == 401
    assert server.client.get("/agent/memories", headers=headers["ana"]).status_code == 200


# How it stops


def test_a_server_that_is_told_to_stop_finishes_the_turn_and_keeps_it_and_waits_for_no_listener(
    server: Served, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"user": user, "session": "monday", "message": SISTER}
    with (
        server.model.held(),
        server.client.stream("GET", "/signals", params={"user": user}),
        server.client.stream("POST", "/agent/chat", json=said, headers=STREAM) as answer,
    ):
        assert server.model.received.wait(GUARD_SECONDS)
        server.process.send_signal(signal.SIGTERM)  # the server of all tests: this one stands last
        server.model.may_answer.set()
        *_, (kind, reply) = events(answer.iter_lines())
        assert server.process.wait(GUARD_SECONDS) == 0
    assert (kind, reply["response"]) == ("reply", "I see.")
    monkeypatch.setenv("INSULA_HOME", str(server.home))
    kept = [
        memory["content"] for memory in run_insula("memory", "--transcript", "--user", user, "--all", "--json").json
    ]
    assert kept == ["I see.", SISTER]


def test_a_server_whose_last_token_is_gone_stays_closed_and_says_how_to_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "insula"))
    header = _token("ana")
    remedy = "No token is left, so nobody comes in; make one with `insula token new NAME`."
    with serving(tmp_path / "insula", holdout="0") as server:
        said = {"session": "monday", "message": SISTER}
        assert server.client.post("/agent/chat", json=said, headers=header).status_code == 200
        assert remedy in run_insula("user", "erase", "ana", "--yes").out
        assert remedy in problem(server.client.get("/ready", headers=header), 401)
        assert remedy in server.client.get("/sign-in", headers=HTML).text
        assert remedy in run_insula("token", "list").out
        assert server.client.get("/ready", headers=_token("ana")).status_code == 200
