"""Insula inside another's agent: from its message to the request, from the response to what its user gets."""

import asyncio
import importlib
import json
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from harness import GUARD_SECONDS, run_insula, spawn_insula
from openai import AsyncOpenAI, InternalServerError, OpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from insula import InputError, Metacognition
from insula.integrations.clients import talking, wrap
from insula.integrations.guest import Guest
from insula.integrations.proxy import create_proxy
from insula.integrations.pydantic_ai import Insula
from insula.testing import Behaviour, FakeServer, ScriptedModel

Json = dict[str, Any]
FACT, QUESTION = "My sister lives in Lisbon.", "Where does my sister live?"
TWO_QUESTIONS = "How long does the train from Lisbon to Porto take? And what does a first-class ticket cost?"
HALF = "The train from Lisbon to Porto takes about three hours."
FAILED = '{"isError": true, "content": [{"type": "text", "text": "relation users does not exist"}]}'


def breaks(*_: object, **__: object) -> Any:
    """Whatever fails in Insula."""
    raise ZeroDivisionError


@pytest.fixture
def mind(tmp_path: Path) -> Generator[Any]:
    """Insula, to whom a fact was told."""
    with Metacognition.sync(tmp_path / "insula.db", holdout=0.0, claims=["doubt.missing"]) as mind:
        mind.observe("ana", "before", FACT)
        yield mind


@pytest.fixture
def broken(tmp_path: Path) -> Generator[Any]:
    """Insula in which everything fails that a turn needs."""
    with Metacognition.sync(tmp_path / "broken.db", holdout=0.0, estimate=breaks, assess=breaks) as mind:
        yield mind


def heard_of(mind: Any) -> list[str]:
    """The kinds of the signals that come, as they come."""
    heard: list[str] = []

    def hear(signal: Any) -> None:
        heard.append(signal.kind)

    mind.subscribe(hear)
    return heard


# Pydantic AI


def talk(mind: Any, model: Any, **options: Any) -> Any:
    """An agent of Pydantic AI with Insula's capability."""
    capability: Any = Insula(mind, user="ana", **options)
    return Agent(model, instructions="You are Acme.", capabilities=[capability])


def run(agent: Any, words: str, conversation: str = "monday") -> Any:
    """A run of an agent, in a loop that ends with it."""
    return asyncio.run(agent.run(words, conversation_id=conversation))


def test_pydantic_ai_has_memory_behind_the_question_and_its_history_stays_as_it_is(mind: Any) -> None:
    model, heard = ScriptedModel(["In Lisbon."]), heard_of(mind)
    result = run(talk(mind, model), QUESTION)
    assert result.output == "In Lisbon."
    assert FACT in model.requests[0].text.partition(QUESTION)[2]
    assert model.requests[0].instructions.startswith("You are Acme.")
    assert FACT not in str(result.all_messages())
    assert "meta:turn" in heard


def test_pydantic_ai_keeps_what_is_told_in_one_conversation_for_the_next(mind: Any) -> None:
    model = ScriptedModel(lambda _: "Noted.")
    agent = talk(mind, model)
    run(agent, "My brother lives in Braga.", "monday")
    run(agent, "Where does my brother live?", "tuesday")
    assert "My brother lives in Braga." in model.requests[-1].text


# What is hedged by default follows from how often that was right (law 3): then this answer stands as it is.
def test_pydantic_ai_hedges_an_answer_that_leaves_half_of_the_question_open(mind: Any) -> None:
    said = run(talk(mind, ScriptedModel([HALF])), TWO_QUESTIONS).output
    assert said != HALF
    assert HALF in said


def insisting(times: int) -> tuple[FunctionModel, list[str]]:
    """A model that calls the same tool until it has failed so often; and the results as it read them."""
    read: list[str] = []

    def reply(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        results = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        read[:] = [str(part.content) for part in results]
        if len(results) >= times:
            return ModelResponse(parts=[TextPart("The table is missing.")])
        return ModelResponse(parts=[ToolCallPart("query", {"sql": f"select {len(results)}"}, f"c{len(results)}")])

    return FunctionModel(reply), read


def counting(mind: Any, model: FunctionModel, **options: Any) -> Any:
    """An agent whose tool always fails."""
    agent = talk(mind, model, **options)
    agent.tool_plain(_query, name="query")
    return agent


def _query(sql: str) -> str:
    """Ask the database."""
    del sql
    return FAILED


def test_pydantic_ai_has_a_note_behind_the_result_that_it_is_about(mind: Any) -> None:
    model, read = insisting(4)
    result = run(counting(mind, model), "Count the users.")
    assert ["[insula] The tool `query` has failed in 3 turns" in text for text in read] == [False, False, True, False]
    assert "[insula]" not in str(result.all_messages())
    model, read = insisting(4)
    run(counting(mind, model, exempt={"query"}), "Count the users.", "tuesday")
    assert "[insula]" not in "".join(read)


def test_pydantic_ai_stops_at_an_impasse_only_where_it_is_asked_to(mind: Any) -> None:
    model, read = insisting(30)
    assert run(counting(mind, model, stop=True), "Count them.").output.startswith("[insula] ")
    assert len(read) < 30
    model, read = insisting(14)
    assert run(counting(mind, model), "Count them.", "tuesday").output.startswith("The table is missing.")


def test_a_failure_of_ours_changes_nothing_for_pydantic_ai(broken: Any) -> None:
    model = ScriptedModel(["In Lisbon."])
    assert run(talk(broken, model), QUESTION).output == "In Lisbon."
    assert model.requests[0].prompt == QUESTION


def test_a_failure_of_the_model_is_raised_as_without_us_and_the_next_turn_works(mind: Any) -> None:
    model = ScriptedModel([RuntimeError("down"), "In Lisbon."])
    agent = talk(mind, model)
    with pytest.raises(RuntimeError, match="down"):
        run(agent, QUESTION)
    assert run(agent, QUESTION).output == "In Lisbon."
    assert FACT in model.requests[-1].text


# OpenAI's client


def messages(words: str) -> list[Any]:
    return [{"role": "system", "content": "You are Acme."}, {"role": "user", "content": words}]


def client(server: FakeServer) -> Any:
    """OpenAI's own."""
    return OpenAI(base_url=server.url, api_key="none", max_retries=0)


def completed(server: FakeServer, mind: Any, words: str = QUESTION) -> str:
    """What the client's user gets."""
    wrapped = wrap(client(server), mind, user="ana")
    return wrapped.chat.completions.create(model="m", messages=messages(words)).choices[0].message.content


def test_openais_client_has_memory_behind_the_question_and_the_messages_stay_as_they_are(mind: Any) -> None:
    heard, given = heard_of(mind), messages(QUESTION)
    with FakeServer(answer="In Lisbon.") as server:
        wrapped = wrap(client(server), mind, user="ana")
        answer = wrapped.chat.completions.create(model="m", messages=given)
    assert answer.choices[0].message.content == "In Lisbon."
    assert FACT in server.prompt().partition(QUESTION)[2]
    assert server.prompt().startswith("You are Acme.")
    assert given == messages(QUESTION)
    assert "meta:turn" in heard


async def _awaited(server: FakeServer, mind: Any) -> str | None:
    async with AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as plain:
        wrapped = wrap(plain, mind, user="ana")
        answer = await wrapped.chat.completions.create(model="m", messages=messages(QUESTION))
        return answer.choices[0].message.content


@pytest.mark.anyio
async def test_openais_awaited_client_has_it_too(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db", holdout=0.0) as mind:
        await mind.observe("ana", "before", FACT)
        with FakeServer(answer="In Lisbon.") as server:
            assert await _awaited(server, mind) == "In Lisbon."
    assert FACT in server.prompt()


def test_what_openais_client_streams_comes_as_it_is_and_is_assessed_at_its_end(mind: Any) -> None:
    heard = heard_of(mind)
    with FakeServer(answer=HALF) as server:
        wrapped = wrap(client(server), mind, user="ana")
        stream = wrapped.chat.completions.create(model="m", messages=messages(TWO_QUESTIONS), stream=True)
        said = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert said == HALF
    assert "meta:turn" in heard


def test_a_failure_of_ours_changes_nothing_for_openais_client(broken: Any) -> None:
    with FakeServer(answer="In Lisbon.") as server:
        assert completed(server, broken) == "In Lisbon."
    assert server.requests[0]["messages"] == messages(QUESTION)


def test_a_failure_of_the_provider_is_raised_as_without_us(mind: Any) -> None:
    with FakeServer("500", "ok", answer="In Lisbon.") as server:
        with pytest.raises(InternalServerError):
            completed(server, mind)
        assert completed(server, mind) == "In Lisbon."


class Telephone:
    """A client for something else, which has messages, too."""

    class messages:  # noqa: N801 as its library names it
        """What it sends."""

        @staticmethod
        def create(to: str, body: str = "") -> str:
            """Send one."""
            return to + body


def test_what_is_no_client_or_is_wrapped_already_is_refused_at_once(mind: Any) -> None:
    with FakeServer(answer="In Lisbon.") as server:
        once: Any = wrap(client(server), mind, user="ana")
        for wrong in (None, "openai", OpenAI, Telephone()):
            with pytest.raises(InputError, match="is no client of OpenAI's or Anthropic's"):
                wrap(wrong, mind)
        with pytest.raises(InputError, match="wrapped already"):
            wrap(once, mind, user="ben")
        with pytest.raises(InputError, match="is no Metacognition"):
            wrap(client(server), cast(Any, "insula.db"))


def test_whose_conversation_a_run_is_can_be_said_around_it(mind: Any) -> None:
    with FakeServer(answer="In Lisbon.") as server:
        wrapped = wrap(client(server), mind, user="ben")
        for user, knows in (("ana", True), ("ben", False)):
            with talking(user, "monday"):
                wrapped.chat.completions.create(model="m", messages=messages(QUESTION))
            assert (FACT in server.prompt()) is knows


# What is not installed


LIBRARIES = {
    "langchain": ("langchain", "langchain>=1,<2"),
    "openai_agents": ("agents", "openai-agents>=0.20,<1"),
    "inspect_ai": ("inspect_ai", "inspect-ai>=0.3.285"),
    "pydantic_ai": ("pydantic_ai.capabilities", "pydantic-ai-slim>=2.60,<3"),
    "claude_agent_sdk": ("claude_agent_sdk", "claude-agent-sdk>=0.2.110,<1"),
}


def test_an_integration_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, (library, wanted) in LIBRARIES.items():
        for name in [library, *(name for name in sys.modules if name.startswith(f"{library}."))]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"insula.integrations.{module}", raising=False)
        with pytest.raises(ImportError, match="pip install") as said:
            integration = importlib.import_module(f"insula.integrations.{module}")
            integration.hooks()  # the SDK is needed only once its hooks are asked for
        assert wanted in str(said.value)


# The proxy


@pytest.fixture
def told(home: Path) -> None:
    """Somebody told the terminal's memory a fact."""
    assert run_insula("chat", "--model", "test", stdin=f"{FACT}\n").status == 0


@contextmanager
def proxy(server: FakeServer) -> Generator[httpx2.Client]:
    """`insula proxy` in a process of its own."""
    with spawn_insula("proxy", "--to", server.url, "--port", "0") as process:
        assert process.stdout
        line = process.stdout.readline()
        assert "http://" in line, process.communicate()[1]
        with httpx2.Client(base_url=line[line.find("http://") :].split()[0], timeout=GUARD_SECONDS) as client:
            yield client


def asked(words: str, **more: Any) -> Json:
    return {"model": "m", "messages": [{"role": "user", "content": words}], **more}


@pytest.mark.usefixtures("told")
def test_the_proxy_puts_memory_in_and_passes_the_answer_on_byte_for_byte() -> None:
    with FakeServer(answer="In Lisbon.") as server, proxy(server) as client, httpx2.Client() as alone:
        answer = client.post("/chat/completions", json=asked(QUESTION), headers={"Authorization": "Bearer k"})
        plain = alone.post(f"{server.url}/chat/completions", json=asked(QUESTION))
        streamed = client.post("/chat/completions", json=asked(QUESTION, stream=True))
        plainly = alone.post(f"{server.url}/chat/completions", json=asked(QUESTION, stream=True))
        elsewhere = client.post("/chat/completions", json=asked("Hi"), headers={"Host": "evil.example"})
    assert FACT in server.prompt(0)
    assert server.keys[0] == "Bearer k"
    assert (answer.content, streamed.content) == (plain.content, plainly.content)
    assert answer.headers["x-insula-confidence"].startswith("high ")
    assert float(answer.headers["x-insula-assessment"].split()[0]) > 0.7
    assert elsewhere.status_code >= 400
    assert len(server.requests) == 4


def test_the_proxy_that_is_interrupted_closes_its_store_and_says_nothing(home: Path) -> None:
    with FakeServer() as server, spawn_insula("proxy", "--to", server.url, "--port", "0") as process:
        assert process.stdout
        assert "http://" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=GUARD_SECONDS)
    assert (process.returncode, errors) == (0, "")
    assert not list(home.rglob("*-wal"))


def test_the_proxy_of_a_provider_that_is_not_one_says_so() -> None:
    ran = run_insula("proxy", "--to", "nowhere")
    assert (ran.status, ran.out, ran.err.strip()[-1]) == (1, "", ".")


@asynccontextmanager
async def proxied(
    server: FakeServer, hear: Callable[[Any], None] = lambda _: None, **options: Any
) -> AsyncGenerator[httpx2.AsyncClient]:
    """The proxy's application in this process; its signals are heard."""
    async with await Metacognition.open(":memory:", holdout=0.0, **options) as mind, httpx2.AsyncClient() as outward:
        mind.subscribe(hear)
        app = create_proxy(Guest(mind, user="ana"), server.url, outward)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            yield client


@pytest.mark.anyio
async def test_whatever_the_provider_answers_comes_through_the_proxy_as_it_is() -> None:
    each: tuple[Behaviour, ...] = ("400", "401", "404", "429", "500", "tool_call", "garbage")
    twice: list[Behaviour] = [behaviour for behaviour in each for _ in range(2)]
    with FakeServer(*twice) as server:
        async with proxied(server) as client, httpx2.AsyncClient() as alone:
            for behaviour in each:
                answer = await client.post("/v1/chat/completions", json=asked("Hello"))
                plain = await alone.post(f"{server.url}/chat/completions", json=asked("Hello"))
                assert (answer.status_code, answer.content) == (plain.status_code, plain.content), behaviour
                assert answer.headers.get("retry-after") == plain.headers.get("retry-after")
    assert len(server.requests) == 2 * len(each)


@pytest.mark.anyio
async def test_what_the_proxy_streams_is_assessed_at_its_end_and_a_call_of_a_tool_is_no_answer() -> None:
    each: dict[Behaviour, list[str]] = {"tool_call": [], "ok": ["meta:turn"]}
    for behaviour, kinds in each.items():
        heard: list[Any] = []
        with FakeServer(behaviour, answer="In Lisbon, since May.") as server:
            async with proxied(server, heard.append) as client:
                await client.post("/v1/chat/completions", json=asked(QUESTION, stream=True))
        assert [signal.kind for signal in heard] == kinds


@pytest.mark.anyio
async def test_a_failure_of_ours_leaves_the_proxys_request_and_response_as_they_are() -> None:
    with FakeServer(answer="In Lisbon.") as server:
        async with proxied(server, estimate=breaks, assess=breaks) as client, httpx2.AsyncClient() as alone:
            answer = await client.post("/v1/chat/completions", json=asked(QUESTION))
            plain = await alone.post(f"{server.url}/chat/completions", json=asked(QUESTION))
    assert (answer.status_code, answer.content) == (200, plain.content)
    assert server.requests[0]["messages"] == server.requests[1]["messages"]


@pytest.mark.anyio
async def test_what_the_proxy_cannot_read_goes_on_as_it_is() -> None:
    with FakeServer(answer="Hm.") as server:
        async with proxied(server) as client:
            for body in ("no JSON", "[]", "{}", json.dumps({"messages": 5})):
                answer = await client.post("/v1/chat/completions", content=body)
                assert (answer.status_code, "x-insula-confidence" in answer.headers) == (200, False), body


@pytest.mark.anyio
async def test_a_provider_that_is_not_there_is_said_in_a_sentence() -> None:
    with FakeServer() as server:
        pass
    async with proxied(server) as client:
        answer = await client.post("/v1/chat/completions", json=asked("Hello"))
    assert answer.status_code == 502
    assert "cannot be reached" in answer.json()["error"]["message"]


# The Model Context Protocol


def call(name: str, **arguments: Any) -> Json:
    """The request of a tool."""
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def mcp(*requests: Json | str) -> list[Json]:
    """What `insula mcp` answers, line by line."""
    numbered = [
        request if isinstance(request, str) else json.dumps({"jsonrpc": "2.0", "id": number, **request})
        for number, request in enumerate(requests)
    ]
    ran = run_insula("mcp", stdin="".join(f"{line}\n" for line in numbered))
    assert (ran.status, ran.err) == (0, "")
    return ran.lines


def texts(answers: Sequence[Json]) -> list[str]:
    """What the tools said to the model."""
    return [answer["result"]["content"][0]["text"] for answer in answers]


@pytest.mark.usefixtures("told")
def test_a_client_of_mcp_looks_memory_up_and_writes_nothing() -> None:
    held = run_insula("memory", "--transcript", "--json").json
    begun, tools, found, nothing = mcp(
        {"method": "initialize", "params": {"protocolVersion": "2024-11-05"}},
        {"method": "tools/list"},
        call("memory_look_up", query=QUESTION),
        call("memory_look_up", query="Which wine do I like?"),
    )
    assert begun["result"]["protocolVersion"] == "2024-11-05"
    named = [tool["name"] for tool in tools["result"]["tools"]]
    assert named == ["memory_look_up", "lessons", "rules", "worth", "record_outcome"]
    assert FACT in texts([found])[0]
    assert FACT not in texts([nothing])[0]
    assert run_insula("memory", "--transcript", "--json").json == held


def test_an_outcome_is_kept_as_a_report_of_a_tool() -> None:
    what = "Building the image with podman."
    told, found = texts(mcp(call("record_outcome", what=what, outcome="failed"), call("memory_look_up", query=what)))
    assert told.startswith("Noted")
    assert "Building the image with podman: failed." in found
    (memory,) = [
        memory for memory in run_insula("memory", "--transcript", "--json").json if "podman" in memory["content"]
    ]
    assert memory["provenance"] == "tool"


def test_what_cannot_be_done_is_said_to_the_model_and_the_server_goes_on() -> None:
    hostile: list[Json | str] = [
        "no JSON",
        "5",
        {"method": "resources/list"},
        {"method": "tools/call", "params": {"name": "memory_look_up", "arguments": ["a"]}},
        {"method": "tools/call", "params": 7},
        call("nothing"),
        call("memory_look_up", query=5),
        call("record_outcome", what="x", outcome="maybe"),
        call("lessons"),
    ]
    answers = mcp(*hostile)
    assert [answer["error"]["code"] for answer in answers[:3]] == [-32700, -32600, -32601]
    assert [answer["result"]["isError"] for answer in answers[3:]] == [True] * 5 + [False]
