"""The agent as a person's settings describe it, opened for as long as a command runs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from insula import settings as settings_module
from insula.agent import identity
from insula.agent.assessor import llm_assessor
from insula.agent.chat import HISTORY_CHARS, Chat
from insula.agent.requests import KeptRequests
from insula.cli.common import account_of, finish_erasure, memory_of, model_understands, soul_of
from insula.cli.start import loading
from insula.llm.local import Weights, weights_of
from insula.llm.model import Model
from insula.llm.models import resolve_model
from insula.memory.retrieval import embedding
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition, Regulator, warm_up
from insula.night.curation import REQUESTS
from insula.settings import Settings
from insula.types import Controls, Identity


@asynccontextmanager
async def open_agent(settings: Settings, name: str) -> AsyncGenerator[Chat]:
    """The agent, ready to talk; when the block ends, its store and its model are let go of.

    Args:
        name: the model that answers, as a person wrote it.
    """
    async with AsyncExitStack() as stack:
        with loading():
            embed = embedding.embedding_by_name(settings.embed)
            warming = asyncio.create_task(asyncio.to_thread(warm_up, embed))
            who = load_identity(settings)
            llm = await stack.enter_async_context(resolve_model(name, settings.weights))
            account = account_of(settings)
            assessor = None
            if settings.assessor_model:
                judge = await stack.enter_async_context(resolve_model(settings.assessor_model, settings.weights))
                assessor = llm_assessor(judge, account)
            weights = weights_of(name)
            brief = weights.brief if weights else ""
            if weights and weights.guided and who == identity.OWN:
                # Told that it is "Insula, a helpful assistant", it answers 25 of 36 plain questions; by name alone, 30.
                who, brief = Identity(), f"{brief}\n\nYour name is {who.name}."
            await warming
        store = await Store.open(memory_of(settings))
        try:
            await finish_erasure(store)
        except BaseException:
            await store.close()
            raise
        metacognition = Metacognition(
            store,
            identity=who,
            embed=embed,
            holdout=settings.holdout,
            regulator=Regulator(
                _make_controls(settings, weights),
                interval=settings.metacog_turn_interval,
                size=settings.metacog_snapshot_history_size,
            ),
            claims=settings.claims,
            soul=soul_of,
        )
        yield Chat(
            await stack.enter_async_context(metacognition),
            llm,
            base=brief,
            history_chars=weights.history_chars if weights else HISTORY_CHARS,
            max_tokens=min(settings.max_tokens, weights.max_tokens) if weights else settings.max_tokens,
            account=account,
            temperature=settings.temperature,
            timeout=settings.timeout,
            assessor=assessor,
            guided=bool(weights and weights.guided),
            requests=KeptRequests(lambda user: soul_of(user).with_name(REQUESTS)),
        )


def load_identity(settings: Settings) -> Identity:
    """Who answers: as in the file that the settings name, else in the one beside the memory, if there is one."""
    path = settings.identity or settings_module.home() / identity.FILE
    return identity.load_identity(path, required=bool(settings.identity))


@asynccontextmanager
async def open_night_model(settings: Settings, name: str) -> AsyncGenerator[Model | None]:
    """The model of a night; None for one that is not asked to understand anybody."""
    if not model_understands(name):
        yield None
        return
    async with resolve_model(name, settings.weights) as model:
        yield model


def _make_controls(settings: Settings, weights: Weights | None) -> Controls:
    """The settings' controls, with no more memories than a small embedded model can use."""
    items = min(settings.max_context_items, weights.memories) if weights else settings.max_context_items
    return replace(settings.controls, max_context_items=items)
