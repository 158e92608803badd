"""From what a model answered to what the user gets, and to what the model is told next."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from harness import Agent, agent, run_insula
from pydantic_ai.exceptions import ModelRequestRejectedError, ModelServerError, UnexpectedModelBehavior

from insula import Assessment, Confidence, Controls, Identity, InsulaError, Metacognition, Signal, Usage, assess
from insula.testing import Behaviour, FakeServer, Request, ScriptedModel

pytestmark = pytest.mark.anyio

SISTER = "My sister lives in Lisbon."
ASKED = "Where does my sister live?"
TWO_QUESTIONS = "What is the capital of Mongolia, and how many people live there?"
HALF = "The capital of Mongolia is Ulaanbaatar."


async def _answered(answer: str, question: str = ASKED, *told: str) -> Any:
    """What comes of an answer to a question, the day after something was told."""
    async with agent(lambda request: answer if question in request.prompt else "I see.") as ana:
        for fact in told:
            await ana.say(fact)
        ana.next_day()
        return await ana.reply(question)


def _line(reply: Any) -> str:
    """The line that a person reads under a response."""
    return reply.record()["verdict"]["text"]


# The line under a response


@pytest.mark.parametrize(
    ("fact", "question", "answer"),
    [
        (SISTER, ASKED, "Your sister lives in Lisbon."),
        ("My sister Ana lives in Lisbon.", ASKED, "Your sister lives in Lisbon."),
        ("I live in Porto.", "Where do I live?", "You live in Porto."),
        ("My rent is £1,250 a month.", "How much is my rent?", "Your rent is £1,250 a month."),
        ("My birthday is on 4 March.", "When is my birthday?", "Your birthday is on 4 March."),
        ("Ich wohne in Graz.", "Wo wohne ich?", "Du wohnst in Graz."),
        ("Vivo en Sevilla.", "¿Dónde vivo?", "Vives en Sevilla."),
        ("J'habite à Lyon.", "Où est-ce que j'habite ?", "Tu habites à Lyon."),
        ("Moro no Porto.", "Onde moro?", "Moras no Porto."),
        ("Vivo a Torino.", "Dove vivo?", "Vivi a Torino."),
        ("我住在杭州。", "我住在哪里？", "你住在杭州。"),
        ("私は京都に住んでいます。", "私はどこに住んでいますか？", "あなたは京都に住んでいます。"),
    ],
)
async def test_an_answer_from_memory_names_the_line_and_its_day(fact: str, question: str, answer: str) -> None:
    line = _line(await _answered(answer, question, fact))
    assert fact in line
    assert "5 January 2026" in line


@pytest.mark.parametrize(
    ("facts", "question", "answer"),
    [
        (("My rent is £1,250 a month.",), "How much is my rent?", "Your rent is £1,520 a month."),
        (("My sister lives in Lisbon.", "I live in Porto."), "Where do I live?", "You live in Lisbon."),
        (("Meine Katze heißt Miso.",), "Wie heißt meine Katze?", "Deine Katze heißt Luna."),
        (("Mi gato se llama Miso.",), "¿Cómo se llama mi gato?", "Tu gato se llama Luna."),
    ],
)
async def test_another_value_than_the_one_told_is_said_to_be_so(
    facts: tuple[str, ...], question: str, answer: str
) -> None:
    line = _line(await _answered(answer, question, *facts))
    assert "otherwise" in line
    assert facts[-1] in line


async def test_a_preference_is_said_to_be_saved() -> None:
    line = _line(await _answered("I will.", "From now on, answer in one sentence."))
    assert line.startswith("Saved")
    assert "From now on, answer in one sentence." in line


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How long should I boil an egg?", "Six minutes for a soft yolk, ten for a hard one."),
        ("Thanks!", "You're welcome!"),
        ("Write a haiku about Lisbon.", "Lisbon in the rain."),
        ("What is the capital of Portugal?", "It is Lisbon."),
    ],
)
async def test_an_ordinary_response_goes_out_as_it_came_and_nothing_stands_under_it(question: str, answer: str) -> None:
    reply = await _answered(answer, question, SISTER)
    assert (reply.response, reply.hedged, _line(reply), reply.troubles) == (answer, False, "", ())
    assert (reply.assessment.passed, reply.assessment.flags) == (True, ())


@pytest.mark.parametrize("answer", ["I don't know.", "Your sister lives in Portugal."])
async def test_where_the_value_is_not_surely_said_no_source_is_named(answer: str) -> None:
    reply = await _answered(answer, ASKED, SISTER)
    assert reply.response.endswith(answer)
    assert _line(reply) == ""


# How sure memory is, before a response


async def test_confidence_is_high_where_memory_answers_and_low_where_nothing_was_told() -> None:
    async with agent() as ana:
        assert (await ana.reply(ASKED)).confidence.level == "low"
        ana.next_day()
        await ana.say(SISTER)
        ana.next_day()
        known = await ana.reply(ASKED)
        assert known.confidence.level == "high"
        assert any(SISTER in reason for reason in known.confidence.reasons)
        assert (await ana.reply("When is my dentist's appointment?")).confidence.level == "low"


async def test_what_the_assistant_said_makes_nothing_surer() -> None:
    async with agent(lambda _: SISTER.replace("My", "Your")) as ana:
        for _ in range(3):
            reply = await ana.reply(ASKED)
            ana.next_day()
            assert reply.confidence.level == "low"
        await ana.say(SISTER)
        ana.next_day()
        assert (await ana.reply(ASKED)).confidence.level == "high"


# What is made of a response


async def test_a_question_that_is_left_out_is_named_to_the_user_and_once_to_the_model() -> None:
    async with agent(lambda _: HALF, claims=["doubt.missing", "mend.incomplete"]) as ana:
        reply = await ana.reply(TWO_QUESTIONS)
        assert "how many people live there?" in reply.assessment.unanswered[0]
        assert reply.hedged
        assert HALF in reply.response
        assert "how many people live there?" in reply.response
        following = await ana.ask("Thanks.")
        assert "how many people live there?" in following.prompt
        assert "how many people live there?" not in (await ana.ask("Hello.")).prompt


async def test_what_is_right_too_seldom_is_said_only_where_it_was_switched_on() -> None:
    async with agent(lambda _: HALF) as ana:
        reply = await ana.reply(TWO_QUESTIONS)
        assert (reply.response, reply.hedged) == (HALF, False)
        assert (await ana.ask("Thanks.")).prompt == "Thanks."


@pytest.mark.parametrize("answer", ['{"capital": "Ulaanbaatar"}', "```python\nprint('Ulaanbaatar')\n```"])
async def test_nothing_is_written_into_data_or_code(answer: str) -> None:
    async with agent(lambda _: answer, assess=_scored(0.6), claims=["doubt"]) as ana:
        reply = await ana.reply(TWO_QUESTIONS)
        assert (reply.response, reply.hedged, reply.assessment.score) == (answer, False, 0.6)


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        ("El cielo es azul porque la luz se dispersa en la atmósfera.", "language"),
        ("As an AI, I can tell you that it scatters.", "forbidden"),
        ("???", ""),
    ],
)
async def test_a_poor_response_is_flagged_and_never_blocked(answer: str, flag: str) -> None:
    identity = Identity(forbidden=("(?i)as an ai",))
    async with agent(lambda _: answer, identity=identity) as ana:
        reply = await ana.reply("Why is the sky blue on a clear day?")
        assert reply.response.endswith(answer)
        assert not reply.assessment.passed
        assert any(flag in name for name in reply.assessment.flags)
        assert "meta:confidence-low" in [signal.kind for signal in reply.signals] or reply.hedged
        assert (await ana.ask("And at night?")).history[-1] == ("assistant", reply.response)


async def test_two_poor_responses_on_one_topic_are_an_impasse_that_the_next_request_is_told_of() -> None:
    poor = "El cielo es azul porque la luz se dispersa en la atmósfera de la Tierra."
    async with agent(lambda _: poor) as ana:
        first = await ana.reply("Why is the sky blue on a clear day?")
        second = await ana.reply("Why is the sky so blue on a clear day?")
        stuck = ["meta:impasse" in [signal.kind for signal in reply.signals] for reply in (first, second)]
        assert stuck == [False, True]
        assert "language" in (await ana.ask("And at night?")).prompt


@pytest.mark.parametrize(("logprob", "hedged"), [(-5.0, True), (-0.01, False), (None, False)])
async def test_an_answer_that_the_model_itself_finds_unlikely_is_hedged(logprob: float | None, hedged: bool) -> None:
    async with agent(claims=["doubt"]) as ana:
        ana.use(ScriptedModel(lambda _: "The capital of Mongolia is Khantakal.", logprob=logprob))
        reply = await ana.reply("What is the capital of Mongolia?")
        assert reply.hedged is hedged
        assert (reply.record()["assessment"]["parts"]["likelihood"] is None) is (logprob is None)
        assert reply.response.endswith("The capital of Mongolia is Khantakal.")
        assert ("unsure" in reply.assessment.flags) is hedged


def _scored(score: float) -> Any:
    """A monitor of a host's own, which gives every response one score."""

    def judge(message: str, response: str, recent: Any, identity: Identity) -> Assessment:
        return dataclasses.replace(assess(message, response, recent, identity), score=score, unanswered=())

    return judge


async def test_a_monitor_and_an_estimate_of_a_hosts_own_take_the_place_of_ours() -> None:
    def estimate(*_: Any, **__: Any) -> Confidence:
        return Confidence(level="medium", score=0.5, reasons=("because we say so",))

    async with agent(lambda _: "It rains.", assess=_scored(0.3), estimate=estimate) as ana:
        reply = await ana.reply("How do I undo a commit?")
    assert (reply.assessment.score, reply.confidence.reasons[0]) == (0.3, "because we say so")
    assert "meta:confidence-low" in [signal.kind for signal in reply.signals]


async def test_a_model_is_asked_once_more_only_where_its_host_allows_that() -> None:
    asked = list[int]()
    for retry in (0, 1):
        async with agent(
            [HALF, f"{HALF} About 1.6 million people live there."][: retry + 1], controls=Controls(retry=retry)
        ) as ana:
            reply = await ana.reply(TWO_QUESTIONS)
            asked.append(len(ana.model.requests))
    assert asked == [1, 2]
    assert "how many people live there?" in ana.model.requests[-1].text
    assert reply.response == f"{HALF} About 1.6 million people live there."


# Streaming, tools and other processes


async def test_a_streamed_response_comes_to_the_same_as_a_plain_one() -> None:
    pieces, came = list[str](), list[Any]()
    options: tuple[dict[str, Any], ...] = ({}, {"on_delta": pieces.append})
    for given in options:
        async with agent(lambda _: HALF) as ana:
            reply = await ana.reply(TWO_QUESTIONS, **given)
            came.append((reply.response, reply.assessment, (await ana.ask("Thanks.")).text))
    assert "".join(pieces) == HALF
    assert came[0] == came[1]
    assert HALF in came[0][0]


async def test_beside_tool_calls_a_turn_waits_for_its_answer() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    async with agent() as ana, ana.mind.turn("ana", "s", ASKED) as turn:
        waiting = turn.finish({"role": "assistant", "content": None, "tool_calls": [call]})
        assert (waiting.response, waiting.assessment, turn.result) == ("", None, None)
        assert turn.finish("I do not know.").response.endswith("I do not know.")


async def test_a_turn_is_finished_by_another_process_and_only_once(tmp_path: Path) -> None:
    async with agent(place=tmp_path / "insula.db") as ana:
        await ana.say(SISTER)
        kept = (await ana.mind.begin("ana", "t", ASKED)).to_json()
    async with agent(place=tmp_path / "insula.db") as ana:
        first = await ana.mind.finish(kept, "Your sister lives in Lisbon.")
        second = await ana.mind.finish(kept, "Your sister lives in Lisbon.")
        following = await ana.ask("Thanks.", session="t")
    assert (first.troubles, first.signals != ()) == ((), True)
    assert (second.signals, len(second.troubles)) == ((), 1)
    assert following.history == (("user", ASKED), ("assistant", "Your sister lives in Lisbon."))


async def test_what_a_tool_found_out_is_told_as_the_tools() -> None:
    async with agent() as ana:
        await ana.mind.observe(
            "ana", "s", "The hotel in Lisbon is booked for 12 May.", speaker="calendar", provenance="tool"
        )
        ana.next_day()
        request = await ana.ask("When is my hotel in Lisbon booked?")
        assert "calendar" in request.text
        assert "12 May" in request.text


async def test_looking_something_up_is_not_said_by_anybody() -> None:
    async with agent() as ana:
        await ana.say(SISTER)
        ana.next_day()
        found = await ana.mind.search("ana", ASKED)
        assert [hit.memory.content for hit in found.hits][:1] == [SISTER]
        assert (await ana.ask("Hello.", session="s")).history == ()


def test_plain_functions_do_the_same_without_await(tmp_path: Path) -> None:
    with Metacognition.sync(tmp_path / "insula.db") as mind:
        for session, message, answer in (("s", SISTER, "I see."), ("t", ASKED, "Your sister lives in Lisbon.")):
            with mind.turn("ana", session, message) as turn:
                result = turn.finish(answer)
        assert SISTER in turn.instructions
        assert result.verdict is not None
        assert SISTER in result.verdict.text


# What fails


@pytest.mark.parametrize(
    "error",
    [
        ModelServerError("scripted", "internal error"),
        UnexpectedModelBehavior("nothing came"),
        TimeoutError(),
        ConnectionResetError(),
        RuntimeError("the provider's library broke"),
    ],
)
async def test_an_error_of_the_model_is_said_and_the_talk_goes_on(error: Exception) -> None:
    async with agent([error, "I see."]) as ana:
        failed = await ana.reply(SISTER)
        assert len(ana.model.requests) == 1
        assert failed.error.endswith(".")
        assert (failed.response, failed.assessment) == ("", None)
        following = await ana.reply(ASKED)
        assert (following.error, following.response.endswith("I see.")) == (None, True)
        assert SISTER in ana.model.requests[-1].text


async def test_a_server_that_knows_no_log_probabilities_is_asked_without_them() -> None:
    def answer(request: Request) -> str:
        if request.settings.get("openai_logprobs"):
            raise ModelRequestRejectedError("scripted", "logprobs is not supported")
        return "I see."

    async with agent(answer) as ana:
        first, second = await ana.reply(SISTER), await ana.reply("Thanks.")
    assert (first.error, first.response, second.error) == (None, "I see.", None)
    assert [bool(request.settings.get("openai_logprobs")) for request in ana.model.requests] == [True, False, False]


def test_a_cap_on_calls_ends_the_asking_and_keeps_the_message(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_MAX_CALLS", "1")
    ran = run_insula("chat", "--model", "test", "--json", stdin=f"Hello.\n{SISTER}\n")
    first, second = ran.lines
    assert first["error"] is None
    assert "cap on calls" in second["error"]
    assert SISTER in [memory["content"] for memory in run_insula("memory", "--transcript", "--json").json]


async def test_every_error_of_ours_is_of_one_family() -> None:
    with pytest.raises(InsulaError, match=r"\.$"):
        await Metacognition.open("postgresql://nobody@127.0.0.1:1/nowhere")
    async with agent() as ana:
        with pytest.raises(InsulaError, match=r"\.$"):
            await ana.say("")
        with pytest.raises(InsulaError, match=r"\.$"):
            await ana.mind.finish("no turn", "Hi")


BROKEN: tuple[Behaviour, ...] = ("truncated", "empty_text", "garbage", "no_choices", "refusal", "401", "404")


@pytest.mark.parametrize("behaviour", BROKEN)
def test_whatever_a_provider_does_is_a_sentence_and_the_next_turn_works(home: Path, behaviour: Behaviour) -> None:
    with FakeServer(behaviour, answer="I see.") as model:
        ran = run_insula("chat", "--model", f"{model.url}#fake", "--json", stdin=f"{SISTER}\n")
    error = ran.lines[0]["error"]
    assert error.endswith(".")
    assert len(error.split()) > 5
    again = run_insula("chat", "--model", "test", "--json", stdin=f"{ASKED}\n")
    assert (again.lines[0]["error"], again.lines[0]["confidence"]["level"]) == (None, "high")


def _fail(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError


@pytest.mark.parametrize("part", ["assess", "estimate", "embed"])
async def test_what_fails_inside_leaves_the_response_as_it_was_and_is_said(part: str) -> None:
    options: dict[str, Any] = {part: _fail}
    async with agent(lambda _: "Your sister lives in Lisbon.", **options) as ana:
        await ana.say(SISTER)
        reply = await ana.reply(ASKED)
    assert (reply.response, reply.error) == ("Your sister lives in Lisbon.", None)
    assert any("ZeroDivisionError" in trouble for trouble in reply.troubles)


async def test_a_store_that_goes_away_in_a_turn_leaves_the_host_alone(tmp_path: Path) -> None:
    database = tmp_path / "insula.db"
    async with agent(lambda _: "Your sister lives in Lisbon.", place=database) as ana:
        await ana.say(SISTER)
        for file in tmp_path.glob("insula.db*"):
            file.unlink()
        reply = await ana.reply(ASKED)
        assert (reply.response, reply.error) == ("Your sister lives in Lisbon.", None)
        assert any("insula.db" in trouble for trouble in reply.troubles)


async def test_an_exception_of_the_host_passes_and_its_message_is_kept() -> None:
    async with agent() as ana:
        with pytest.raises(KeyError):
            async with ana.mind.turn("ana", "s", SISTER):
                raise KeyError("the host's own")
        assert (await ana.ask("Hello.", session="s")).history == (("user", SISTER),)


async def test_a_subscriber_hears_every_signal_and_one_that_fails_harms_nobody() -> None:
    heard = list[Signal]()
    async with agent() as ana:
        ana.mind.subscribe(cast(Callable[[Signal], object], _fail))
        stop = ana.mind.subscribe(heard.append)
        reply = await ana.reply(SISTER)
        stop()
        await ana.say(ASKED)
    assert (reply.response, reply.troubles) == ("I see.", ())
    assert [(signal.kind, signal.session) for signal in heard] == [("meta:turn", "day 0")]


# What a turn may use


async def _facts(ana: Agent, number: int) -> None:
    for name in range(number):
        await ana.say(f"My friend number {name} lives in Lisbon.")
    ana.next_day()


async def test_no_more_memories_stand_before_the_model_than_its_controls_allow() -> None:
    counted = list[int]()
    for most in (3, 6):
        async with agent(controls=Controls(max_context_items=most)) as ana:
            await _facts(ana, 8)
            reply = await ana.reply("Which of my friends live in Lisbon?")
            assert reply.controls.max_context_items == most
            counted.append(ana.model.requests[-1].text.count("lives in Lisbon"))
    assert counted == [3, 6]


async def test_what_a_turn_may_use_cannot_be_changed() -> None:
    async with agent() as ana, ana.mind.turn("ana", "s", SISTER) as turn:
        assert turn.controls == Controls()
        with pytest.raises((AttributeError, TypeError)):
            turn.controls.max_context_items = 99  # pyright: ignore[reportAttributeAccessIssue]
        assert turn.controls.max_context_items == ana.mind.controls.max_context_items == 16


USUAL, LATER = 20, 10
"""Turns at which a model has its usual pace, and turns after them."""
FAST = Usage(output_tokens=100, seconds=2.0)


@pytest.mark.parametrize(
    ("usual", "later", "slow"),
    [
        pytest.param(FAST, Usage(output_tokens=100, seconds=6.0), True, id="slow per token"),
        pytest.param(
            Usage(input_tokens=500, seconds_to_first_token=0.5),
            Usage(input_tokens=500, seconds_to_first_token=2.0),
            True,
            id="slow to the first token",
        ),
        pytest.param(FAST, Usage(output_tokens=2_000, seconds=40.0), False, id="long answers"),
        pytest.param(
            Usage(output_tokens=9, seconds=2.0, seconds_to_first_token=0.5),
            Usage(output_tokens=9, seconds=40.0, seconds_to_first_token=0.5),
            False,
            id="long answers that begin as soon as ever",
        ),
        pytest.param(Usage(output_tokens=100), Usage(output_tokens=100), False, id="an unknown pace"),
    ],
)
async def test_a_model_that_has_become_slow_is_given_less_and_one_with_long_answers_all(
    usual: Usage, later: Usage, slow: bool
) -> None:
    given = await paced([usual] * USUAL + [later] * LATER)
    assert given[0] == given[USUAL] == Controls()
    last = given[-1]
    assert (last.max_context_items < 16, last.consolidation_threshold > 0.55, last.history_share < 1) == (slow,) * 3


async def test_a_model_that_is_slow_for_once_is_given_all() -> None:
    once = [FAST] * 3 + [Usage(output_tokens=100, seconds=90.0)]
    assert set(await paced([FAST] * USUAL + once * 3)) == {Controls()}


async def paced(usages: Sequence[Usage]) -> list[Controls]:
    """What each turn may use of a model that answers at such a pace, a turn a minute."""
    given = list[Controls]()
    async with agent(embed=None) as ana:
        for number, usage in enumerate(usages):
            ana.clock.advance(60.0)
            async with ana.mind.turn("ana", "s", f"So much for {number}.", model="m") as turn:
                given.append(turn.controls)
                turn.finish("I see.", usage=usage)
    return given


async def test_what_a_slow_model_is_spared_is_told_to_the_host_and_never_to_the_model() -> None:
    question = "Which of my friends live in Lisbon?"
    async with agent() as ana:
        for number in range(22):
            await ana.mind.observe("ana", "before", f"My friend number {number} lives in Lisbon.")
        asked = await ana.ask(question, session="now")
        for number in range(USUAL + LATER):
            ana.clock.advance(60.0)
            async with ana.mind.turn("bo", "s", f"So much for {number}.", model="scripted") as turn:
                turn.finish("I see.", usage=Usage(output_tokens=100, seconds=2.0 if number < USUAL else 6.0))
        reply = await ana.reply(question, session="then")
        spared = ana.model.requests[-1]
    (advisory,) = (one for one in reply.record()["advisories"] if one["lever"] == "max_context_items")
    assert (advisory["source_system"], advisory["reason"]) == ("metacog", "performance_degraded")
    fewer = asked.text.count("lives in Lisbon") - spared.text.count("lives in Lisbon")
    assert advisory["saved"]["memories"] == fewer > 0
    assert not any(word in spared.text.lower() for word in ("metacog", "slow", "degraded", "left out", "fewer"))


def test_each_turn_is_on_record_as_the_command_prints_it(home: Path) -> None:
    said = f"{SISTER}\n/session tuesday\n{ASKED}\n"
    ran = run_insula("chat", "--model", "test", "--json", stdin=said)
    first, second = ran.lines
    assert (first["message"], second["session"], second["recalled"][0]["shown"]) == (SISTER, "tuesday", True)
    told = {"turn", "session", "message", "response", "confidence", "assessment", "verdict", "recalled", "lessons"}
    assert told | {"signals", "controls", "hedged", "tokens", "error", "troubles"} <= first.keys() & second.keys()
