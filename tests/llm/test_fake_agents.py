"""The fake model has coding agents play a script, in the API of each."""

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest

from insula.llm.fake_agents import DONE, Edit, FakeModel, Read, Shell

Json = dict[str, Any]

CLAUDE_TOOLS: list[Json] = [
    {"name": "Bash", "input_schema": {"properties": {"command": {}, "description": {}}}},
    {"name": "Read", "input_schema": {"properties": {"file_path": {}}}},
    {"name": "Edit", "input_schema": {"properties": {"file_path": {}, "old_string": {}, "new_string": {}}}},
]
CODEX_TOOLS: list[Json] = [
    {"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}},
    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
    {"type": "web_search"},
]
GEMINI_TOOLS: list[Json] = [
    {
        "functionDeclarations": [
            {"name": "run_shell_command", "parametersJsonSchema": {"properties": {"command": {}}}},
            {"name": "read_file", "parametersJsonSchema": {"properties": {"file_path": {}}}},
        ]
    }
]


def post(url: str, body: object) -> str:
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as response:
        return response.read().decode()


def events(stream: str) -> list[Json]:
    return [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: ")]


def claude(model: FakeModel, results: int = 0, **more: object) -> Json:
    blocks = [{"type": "tool_result", "tool_use_id": "x", "content": "out"}] * results
    messages = [{"role": "user", "content": "Do it."}, {"role": "user", "content": blocks}]
    return json.loads(post(f"{model.url}/v1/messages?beta=true", {"messages": messages, "tools": CLAUDE_TOOLS, **more}))


def called(answer: Json) -> list[tuple[str, Json]]:
    return [(block["name"], block["input"]) for block in answer["content"] if block["type"] == "tool_use"]


def test_the_turn_is_found_from_the_number_of_results() -> None:
    with FakeModel([Shell("ls"), [Read("/a"), Shell("pwd")], Edit("/a", "x", "y")]) as model:
        assert called(claude(model, 0)) == [("Bash", {"command": "ls", "description": "A step of a script."})]
        parallel = claude(model, 1)
        assert [name for name, _ in called(parallel)] == ["Read", "Bash"]
        assert len({block["id"] for block in parallel["content"]}) == 2
        assert called(claude(model, 3)) == [("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"})]
        last = claude(model, 4)
        assert (last["stop_reason"], last["content"]) == ("end_turn", [{"type": "text", "text": DONE}])
        assert called(claude(model, 0)), "a request that comes again gets the same answer"


def test_claude_is_answered_in_a_stream_of_named_events() -> None:
    with FakeModel([[Shell("ls"), Read("/a")]]) as model:
        stream = post(f"{model.url}/v1/messages", {"messages": [], "tools": CLAUDE_TOOLS, "stream": True})
    assert stream.startswith("event: message_start\n")
    told = events(stream)
    assert [event["type"] for event in told[:4]] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ]
    assert [event["content_block"]["input"] for event in told if "content_block" in event] == [{}, {}]
    deltas = [json.loads(event["delta"]["partial_json"]) for event in told if "index" in event and "delta" in event]
    assert deltas == [{"command": "ls", "description": "A step of a script."}, {"file_path": "/a"}]
    assert told[-2]["delta"]["stop_reason"] == "tool_use"


def test_codex_reads_by_the_shell_and_edits_by_a_patch() -> None:
    with FakeModel([Read("/a"), Edit("/a", "x", "y")]) as model:
        outputs: list[Json] = []
        items: list[Json] = []
        for kind in ("function_call_output", "custom_tool_call_output", ""):
            body: Json = {"input": outputs, "tools": CODEX_TOOLS, "stream": True}
            told = events(post(f"{model.url}/v1/responses", body))
            assert told[0]["response"]["output"] == []
            assert told[-1]["type"] == "response.completed"
            items += told[-1]["response"]["output"]
            outputs = [*outputs, {"type": kind, "call_id": "x", "output": "out"}]
    assert json.loads(items[0]["arguments"]) == {"cmd": "cat '/a'"}
    assert (items[1]["type"], items[1]["name"]) == ("custom_tool_call", "apply_patch")
    assert "*** Update File: /a\n@@\n-x\n+y\n" in items[1]["input"]
    assert items[2]["content"][0]["text"] == DONE


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent?alt=sse"])
def test_gemini_is_answered_whole_and_in_a_stream(method: str) -> None:
    done: list[Json] = [{"role": "user", "parts": [{"functionResponse": {"name": "x"}}] * 2}]
    with FakeModel([[Read("/a"), Shell("ls")]]) as model:
        url = f"{model.url}/v1beta/models/any:{method}"
        answers = [post(url, {"contents": contents, "tools": GEMINI_TOOLS}) for contents in ([], done)]
    first, last = (json.loads(answer.removeprefix("data: ")) for answer in answers)
    calls = [part["functionCall"] for part in first["candidates"][0]["content"]["parts"]]
    assert [(call["name"], call["args"]) for call in calls] == [
        ("read_file", {"file_path": "/a"}),
        ("run_shell_command", {"command": "ls"}),
    ]
    assert last["candidates"][0]["content"]["parts"] == [{"text": DONE}]


CHAT_TOOLS: list[Json] = [
    {"type": "function", "function": {"name": "bash", "parameters": {"properties": {"command": {}}}}},
    {"type": "function", "function": {"name": "edit", "parameters": {"properties": {"filePath": {}, "oldString": {}}}}},
]


@pytest.mark.parametrize("stream", [False, True])
def test_clients_of_chat_completions_are_answered_whole_and_in_a_stream(stream: bool) -> None:
    done: list[Json] = [{"role": "tool", "tool_call_id": "x", "content": "out"}] * 2
    with FakeModel([[Shell("ls"), Edit("/a", "x", "y")]]) as model:
        url = f"{model.url}/v1/chat/completions"
        bodies: list[Json] = [{"messages": each, "tools": CHAT_TOOLS, "stream": stream} for each in ([], done)]
        told = [events(post(url, body)) if stream else [json.loads(post(url, body))] for body in bodies]
    first, last = (answer[0]["choices"][0]["delta" if stream else "message"] for answer in told)
    calls = [call["function"] for call in first["tool_calls"]]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [
        ("bash", {"command": "ls"}),
        ("edit", {"filePath": "/a", "oldString": "x"}),
    ]
    assert [choice["finish_reason"] for answer in told for part in answer for choice in part["choices"]][-1] == "stop"
    assert last["content"] == DONE


def test_requests_beside_the_conversation_get_an_answer_that_fits_and_are_no_part_of_it() -> None:
    route = {
        "type": "object",
        "properties": {"why": {"type": "string"}, "model": {"enum": ["flash", "pro"]}, "score": {"type": "integer"}},
        "required": ["model", "score"],
    }
    config = {"responseMimeType": "application/json", "responseJsonSchema": route}
    title = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    with FakeModel([Shell("ls")]) as model:
        url = f"{model.url}/v1beta/models/m:generateContent"
        routed = json.loads(post(url, {"contents": [], "generationConfig": config}))
        named = claude(model, tools=[], output_config={"format": {"type": "json_schema", "schema": title}})
        plain = claude(model, tools=[])
        counted = post(f"{model.url}/v1/messages/count_tokens", {"messages": []})
        post(f"{model.url}/telemetry", [1, 2])
        assert called(claude(model)), "the script still stands at its beginning"
    assert json.loads(routed["candidates"][0]["content"]["parts"][0]["text"]) == {"model": "flash", "score": 0}
    assert json.loads(named["content"][0]["text"]) == {"title": "fake"}
    assert plain["content"][0]["type"] == "text"
    assert json.loads(counted)["input_tokens"] == 100
    assert (len(model.requests), len(model.dialogue)) == (4, 1)


def test_the_texts_are_those_that_the_model_would_read() -> None:
    with FakeModel([]) as model:
        claude(model, system=[{"type": "text", "text": 'Say "yes",\nthen stop.'}])
    (text,) = model.texts()
    assert 'Say "yes",\nthen stop.' in text
    assert "Do it." in text


def test_a_step_that_the_client_has_no_tool_for_is_a_problem_that_is_told() -> None:
    with FakeModel([Edit("/a", "x", "y")]) as model:
        claude(model, tools=CLAUDE_TOOLS[:2])
    (problem,) = model.problems
    assert "Edit(path='/a'" in problem
    assert "the client offers only Bash, Read" in problem


def test_a_request_in_chunks_is_read() -> None:
    def chunks() -> list[bytes]:
        return [b'{"contents": [],', b' "tools": []}']

    with FakeModel([]) as model:
        request = Request(
            f"{model.url}/v1beta/models/m:generateContent", iter(chunks()), {"Transfer-Encoding": "chunked"}
        )
        with urlopen(request, timeout=60) as response:
            assert response.status == 200
    assert model.requests == [{"contents": [], "tools": []}]
