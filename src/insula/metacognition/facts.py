"""Facts of a user that take more than the store: searched by meaning, and added by hand."""

from insula.errors import InputError
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.filters import Filter
from insula.memory.storage.store import check_names
from insula.metacognition.mind import Mind
from insula.metacognition.observing import read_line, remember
from insula.metacognition.searching import search_memories
from insula.operations.facts import Fact, FactPage, describe_facts, facts_of, get_fact
from insula.operations.memories import PAGE

ADDED = "added"
"""The conversation of what a person added by hand."""


async def search_facts(mind: Mind, user: str, query: str, wanted: Filter | None = None, limit: int = PAGE) -> FactPage:
    """The facts that answer a question or share words with it, best first."""
    with on_behalf_of(user):
        found = await search_memories(mind, user, query, wanted or facts_of(), limit)
        return FactPage(facts=await describe_facts(mind.store, user, [hit.memory for hit in found.hits]))


async def add_fact(mind: Mind, user: str, text: str) -> Fact:
    """Remember a fact in a person's own words, all of them.

    Raises:
        InputError: there are no words.
    """
    if not text.strip():
        raise InputError("There is nothing to remember; write a sentence, as in: My sister Ana lives in Lisbon.")
    check_names(user, ADDED)
    line = read_line(text.strip(), "user")._replace(is_fact=True)
    (number,) = await remember(mind, user, ADDED, [line])
    mind.backlog.again(user)
    with on_behalf_of(user):
        return await get_fact(mind.store, user, number)
