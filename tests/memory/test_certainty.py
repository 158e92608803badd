"""High is said of a home or a job where just that is told, and not of what only sounds so."""

import pytest

from insula import Metacognition
from insula.memory.store import Store
from insula.testing import memory_store

TOLD = [
    ("My sister Ana moved to Lisbon in May.", "Where does my sister Ana live?"),
    ("Meine Schwester wohnt in Graz.", "Wo lebt meine Schwester?"),
    ("Ma tante Odile s'est installée à Nantes l'an dernier.", "Où habite ma tante Odile ?"),
    ("Mi hermano Luis se mudó a Bogotá.", "¿Dónde vive mi hermano Luis?"),
    ("Minha prima Rita mora em Braga.", "Onde vive a minha prima Rita?"),
    ("Mio zio Carlo si è trasferito a Bari.", "Dove abita mio zio Carlo?"),
    ("我姐姐搬到成都了。", "我姐姐住在哪里？"),
    ("姉は札幌に引っ越しました。", "姉はどこに住んでいますか？"),
    ("Meine Schwester Ana arbeitet als Hebamme.", "Was ist meine Schwester Ana von Beruf?"),
]
ONLY_NEAR = [
    ("My sister moved the sofa to the attic.", "Where does my sister live?"),
    ("My brother settled the bill in Ghent.", "Where does my brother live?"),
    ("Mi hermana mudó el armario al sótano.", "¿Dónde vive mi hermana?"),
    ("Meine Schwester hat das Auto nach vorne gezogen.", "Wo wohnt meine Schwester?"),
    ("Ma sœur a installé une étagère.", "Où habite ma sœur ?"),
    ("Mio zio ha trasferito i soldi.", "Dove abita mio zio?"),
    ("My brother moved out last week.", "Where does my brother live?"),
]


async def level(store: Store, told: str, asked: str) -> str:
    mind = Metacognition(store, holdout=0.0)
    await mind.observe("ana", "monday", told)
    async with mind.turn("ana", "tuesday", asked) as turn:
        return turn.confidence.level


@pytest.mark.anyio
@pytest.mark.parametrize(("told", "asked"), TOLD)
async def test_what_tells_just_that_is_high(told: str, asked: str) -> None:
    async with memory_store() as store:
        assert await level(store, told, asked) == "high"


@pytest.mark.anyio
@pytest.mark.parametrize(("told", "asked"), ONLY_NEAR)
async def test_what_only_sounds_so_is_not(told: str, asked: str) -> None:
    async with memory_store() as store:
        assert await level(store, told, asked) != "high"
