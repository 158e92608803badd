"""Wishes by their meaning, from the message to the text before the model: the newest is told, and not the old one."""

import pytest

from insula.memory import embedding
from insula.metacognition import Metacognition
from insula.metacognition.turn import Turn
from insula.testing import memory_store

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not embedding.is_installed(), reason="The shipped embedding is not installed."),
]


async def told(*lines: str, ask: str) -> str:
    """What stands beside the message of a new session, after some lines were said in another."""
    async with memory_store() as store:
        mind = Metacognition(store, holdout=0.0, embed=embedding.use)
        for line in lines:
            async with mind.turn("me", "told", line) as turn:
                turn.finish("All right.")
        async with mind.turn("me", "asked", ask) as turn:
            return _before_the_model(turn)


def _before_the_model(turn: Turn) -> str:
    return f"{turn.instructions}\n{turn.reminder}"


@pytest.mark.parametrize(
    ("old", "new", "ask"),
    [
        ("Fass dich kurz.", "Ich will von nun an jede Einzelheit wissen.", "Wie funktioniert ein Motor?"),
        ("Call me Bex.", "Rebecca from here on, please.", "How does an engine work?"),
        ("Scrivi gli orari con mattina e sera.", "Passa alle 24 ore.", "A che ora tramonta il sole?"),
        ("Appelle-moi Lulu.", "Ludivine suffira dorénavant.", "Comment marche un moteur ?"),
    ],
)
async def test_the_opposite_in_words_that_share_nothing_takes_the_place_of_what_stands(
    old: str, new: str, ask: str
) -> None:
    text = await told(old, new, ask=ask)
    assert new in text
    assert old not in text


@pytest.mark.parametrize(
    ("wish", "other"),
    [
        ("Keep your answers short.", "My holiday was short."),
        ("Always answer in French.", "I bought French cheese."),
        ("Keep your answers short.", "If I had the time you could tell me every detail."),
        ("Fass dich kurz.", "Meine Tante erzählt immer jede Einzelheit."),
    ],
)
async def test_what_only_shares_its_words_or_is_of_somebody_else_leaves_what_stands(wish: str, other: str) -> None:
    text = await told(wish, other, ask="How does an engine work?")
    assert wish in text
    assert other not in text.partition(wish)[2]


async def test_a_wish_that_names_a_secret_is_told_to_nobody_by_its_meaning_either() -> None:
    text = await told(
        "Keep it short.", "From now on sign with sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.", ask="Hi"
    )
    assert "sk-ant" not in text
