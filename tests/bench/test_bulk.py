"""What is written in bulk is remembered as what was said."""

import random

import pytest

from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import build_cue
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import embed_normalised
from insula.text.analysis import analyse_text
from insula_bench import bulk

pytestmark = pytest.mark.anyio
TEXTS = ("I live in Porto.", "My sister keeps bees.", "The ferry was late.", "We painted the kitchen.")
SIZE = 40


async def test_what_is_written_in_bulk_is_found_by_its_words_and_by_its_meaning(store: Store) -> None:
    made = [bulk.sentence(text) for text in TEXTS]
    common = {0.5: [bulk.sentence("There was the breakfast.")]}
    lines = list(bulk.lines(made, common, SIZE, random.Random(1)))
    assert [one.text for one in bulk.lines(made, common, SIZE, random.Random(1))] == [one.text for one in lines]
    await bulk.fill(store, await store.resolve_place("many", "all"), lines, SIZE)
    asking = await store.resolve_place("many", "later")
    assert (await store.sessions.count_rows(asking))["long_term"] == SIZE
    for text, vector, word in (("Who keeps bees?", None, "bees"), ("¿Dónde vivo?", "Where do I live?", "Porto")):
        asked = build_cue(analyse_text(text), USER, ASSISTANT)
        meant = embed_normalised(embed_text, vector) if vector else None
        found = await store.memories.recall_memories(asking, asked, 3, vectors=[meant] if meant is not None else [])
        assert all(word in one.memory.content for one in found.recalled)
        assert found.recalled
    share = sum("breakfast" in one.text for one in lines) / SIZE
    assert 0.2 < share < 0.8
