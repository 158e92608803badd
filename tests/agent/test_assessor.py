from typing import Any

import pytest
from inline_snapshot import snapshot

from insula import Chat, Identity, Metacognition
from insula.agent.assessor import llm_assessor
from insula.testing import ScriptedModel

pytestmark = pytest.mark.anyio

POOR = {"responsiveness": 30, "completeness": 10, "consistency": 90, "repetition": False}


async def test_a_model_may_replace_the_monitor_and_its_judgement_counts(store: Any) -> None:
    judge = ScriptedModel([POOR])
    mind = Metacognition(store, identity=Identity(name="Insula", about="a helpful assistant"))
    chat = Chat(mind, ScriptedModel(["It rains."]), assessor=llm_assessor(judge))
    reply = await chat.reply("me", "s", "How do I undo a commit?")
    assert reply.assessment is not None
    assert round(reply.assessment.score, 3) == 0.433
    assert reply.assessment.flags == ("off_topic", "incomplete")
    assert reply.assessment.unanswered == ("How do I undo a commit?",)
    assert [signal.kind for signal in reply.signals] == ["meta:turn", "meta:confidence-low"]


async def test_what_the_judging_model_is_asked(store: Any) -> None:
    judge = ScriptedModel([POOR])
    mind = Metacognition(store, identity=Identity(name="Insula", about="a helpful assistant"))
    chat = Chat(mind, ScriptedModel(["It rains."]), assessor=llm_assessor(judge))
    await chat.reply("me", "s", "How do I undo a commit?")
    assert judge.requests[0].prompt == snapshot("""\
The assistant: Insula, a helpful assistant

<message>
How do I undo a commit?
</message>

<reply>
It rains.
</reply>

<recent_replies>

</recent_replies>\
""")


async def test_a_judge_that_fails_leaves_the_response_with_the_builtin_assessment(store: Any) -> None:
    judge = ScriptedModel([RuntimeError("gone"), RuntimeError("gone")])
    chat = Chat(Metacognition(store), ScriptedModel(["Use git revert."]), assessor=llm_assessor(judge))
    reply = await chat.reply("me", "s", "How do I undo a commit?")
    assert reply.response.endswith("Use git revert.")
    assert reply.assessment is not None
    assert reply.error is None
