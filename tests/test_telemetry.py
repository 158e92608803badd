"""What is counted and traced: under which names, at what cost, and that nobody's words are in it."""

import re
import subprocess
import sys
import time
import timeit
from collections.abc import Generator
from importlib import import_module

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from insula import Chat, Metacognition
from insula.errors import ModelRefused
from insula.llm.client import generate_reply
from insula.llm.wire import Prompt
from insula.memory.storage.store import Store
from insula.night.cycle import Night, PhaseName, Result, sleep_cycle
from insula.telemetry import (
    ASSESSMENT,
    ATTRIBUTES,
    EMBEDDING,
    ERROR_TYPE,
    FINISH,
    MODELS,
    NIGHT,
    OTHER,
    PHASE,
    RECALL,
    TURN,
    WRITE,
    Telemetry,
    open_span,
)
from insula.testing import ScriptedModel

pytestmark = pytest.mark.anyio

SECRET = "Anastasia told the zeppelin story"
"""Words that no span and no event may hold."""
COST_MICROSECONDS = 25.0
"""What a span may cost where nobody listens: 3 are measured, on a shared machine a multiple."""


class Traces:
    """What was exported."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()

    @property
    def ended(self) -> dict[str, ReadableSpan]:
        """The spans by name."""
        return {one.name: one for one in self.spans.get_finished_spans()}

    def attributes(self, name: str) -> dict[str, object]:
        return dict(self.ended[name].attributes or {})

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(one.to_json() for one in self.spans.get_finished_spans())


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Generator[Traces]:
    """A host's SDK, for one test: that of the process can be set but once."""
    found = Traces()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(found.spans))
    monkeypatch.setattr("insula.telemetry._tracer", tracers.get_tracer("insula"))
    yield found
    tracers.shutdown()


async def phase(_: Night) -> Result:
    return Result({})


async def broken(_: Night) -> Result:
    raise ValueError(SECRET)


async def test_a_night_and_its_phases_are_spans_within_one_another(store: Store, traces: Traces) -> None:
    async with Metacognition(store).turn("ana", "monday", SECRET) as turn:
        turn.finish("Yes.")
    traces.spans.clear()
    await sleep_cycle(store, "ana", ((PhaseName.SUMMARIES, phase), (PhaseName.REFLECTION, broken)), force=True)
    spans = traces.spans.get_finished_spans()
    assert [(one.name, dict(one.attributes or {})) for one in spans] == [
        (PHASE, {"insula.night.phase": "summaries", "insula.night.state": "done"}),
        (PHASE, {"insula.night.phase": "reflection", "insula.night.state": "failed"}),
        (NIGHT, {"insula.night.state": "failed"}),
    ]
    night = spans[-1].context
    assert night
    assert [one.parent and one.parent.span_id for one in spans] == [night.span_id, night.span_id, None]
    assert SECRET not in traces.text


async def test_the_call_of_a_model_is_a_span_of_the_conventions(traces: Traces) -> None:
    model = ScriptedModel(lambda _: SECRET, name="tiny")
    with open_span(TURN):
        await generate_reply(model, Prompt(instructions=SECRET, prompt=SECRET), purpose="answer", temperature=0.5)
    found, said = traces.ended["chat tiny"], traces.attributes("chat tiny")
    used = [said.pop(f"gen_ai.usage.{name}_tokens") for name in ("input", "output")]
    assert all(isinstance(tokens, int) and tokens > 0 for tokens in used)
    assert said == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "function",
        "gen_ai.request.model": "tiny",
        "gen_ai.request.max_tokens": 512,
        "gen_ai.request.temperature": 0.5,
        "insula.purpose": "answer",
    }
    assert found.kind is SpanKind.CLIENT
    assert found.parent
    assert SECRET not in traces.text


async def test_what_fails_is_named_by_its_class_and_not_by_its_message(traces: Traces) -> None:
    model = ScriptedModel([ModelRefused(SECRET)])
    with pytest.raises(ModelRefused):
        await generate_reply(model, Prompt(instructions="", prompt=SECRET), purpose="answer")
    found = traces.ended["chat scripted"]
    assert found.status.status_code is StatusCode.ERROR
    assert traces.attributes("chat scripted")[ERROR_TYPE] == "ModelRefused"
    assert not found.events
    assert SECRET not in traces.text


async def test_a_turn_is_one_trace(store: Store, traces: Traces) -> None:
    model = ScriptedModel(lambda _: f"{SECRET} is what you said.", name="tiny")
    chat = Chat(Metacognition(store), model)
    await chat.reply("ana", "monday", f"{SECRET}. What is it about?")
    parents = {name: one.parent and one.parent.span_id for name, one in traces.ended.items()}
    turn = traces.ended[TURN].context
    assert turn
    stages = (RECALL, WRITE, "chat tiny", ASSESSMENT, FINISH)
    assert parents.pop(EMBEDDING) not in {None, turn.span_id}  # within one of the stages
    assert parents == {TURN: None} | dict.fromkeys(stages, turn.span_id)
    assert traces.attributes(TURN).keys() == {
        *("insula.turn.number", "insula.confidence.level", "insula.hedged", "insula.promoted")
    }
    assert traces.attributes(RECALL) == {"insula.recall.limit": 16, "insula.recall.memories": 0}
    assert not re.search("zeppelin|anastasia|ana|monday", traces.text, re.IGNORECASE)


async def test_a_turn_that_raises_is_a_trace_of_an_error(store: Store, traces: Traces) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Metacognition(store).turn("ana", "monday", SECRET):
            raise ZeroDivisionError(SECRET)
    assert traces.attributes(TURN)[ERROR_TYPE] == "ZeroDivisionError"
    assert SECRET not in traces.text


def test_names_that_are_not_ours_are_those_of_the_conventions() -> None:
    known = import_module("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    defined = {value for name, value in vars(known).items() if name.startswith("GEN_AI_") and isinstance(value, str)}
    for name in ATTRIBUTES.values():
        assert name in defined if name.startswith("gen_ai.") else re.fullmatch(r"insula(\.[a-z_]+)+", name), name


def test_without_an_sdk_a_span_costs_next_to_nothing() -> None:
    def traced() -> None:
        with open_span(RECALL, limit=16) as one:
            one.add_attributes(recalled=3)

    assert min(timeit.repeat(traced, timer=time.thread_time, number=1_000, repeat=5)) * 1_000 < COST_MICROSECONDS


def test_the_sdk_of_the_process_receives_spans() -> None:
    code = """
from opentelemetry import trace
from insula.telemetry import TURN, RECALL, open_span  # before the SDK is set, as a host imports it
with open_span(TURN): pass
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
tracers = TracerProvider()
tracers.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda one: one.name + chr(10))))
trace.set_tracer_provider(tracers)
with open_span(TURN), open_span(RECALL): pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["insula.recall", "insula.turn"]


def test_latency_is_a_histogram_in_seconds_whose_labels_are_bounded() -> None:
    telemetry = Telemetry()
    for number in range(100):
        telemetry.note_turn(f"model {number}", 1.5)
    telemetry.note_turn("model 0", 0.2)
    found = {
        sample.labels["model"]: sample.value
        for family in telemetry.latency.collect()
        for sample in family.samples
        if sample.name == "insula_turn_seconds_count"
    }
    assert len(found) == MODELS + 1
    assert (found["model 0"], found[OTHER]) == (2.0, 100.0 - MODELS)
    assert telemetry.registry.get_sample_value("insula_turn_seconds_sum", {"model": "model 0"}) == pytest.approx(1.7)
