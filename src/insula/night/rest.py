"""A rest: when a user has said nothing for a minute, their own model reads what they said; see `understanding`."""

from typing import TYPE_CHECKING

from insula.llm.budget import Account
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.store import Store
from insula.memory.storage.unread import TOKENS_A_DAY
from insula.memory.storage.vectors import Embed
from insula.night.understanding import Reader, Report, read_lines

if TYPE_CHECKING:
    from pydantic_ai.models import Model

REST_SECONDS = 60.0
"""How long nothing was said before a user rests."""


async def rest(
    store: Store,
    user: str,
    model: "Model",
    *,
    account: Account | None = None,
    embed: Embed | None = None,
    tokens: int = TOKENS_A_DAY,
) -> Report | None:
    """Let a model read the next lines of a user; None where there are none, or somebody else is at them.

    Args:
        store: where they stand.
        user: who said them.
        model: the user's own.
        account: caps on what it may spend.
        embed: makes the vectors of what it understands.
        tokens: that reading this user's lines may take in a day.

    Raises:
        BudgetExceeded: what may be spent is spent.
        ModelError: the model was not reached, or not in time.
        StoreError: the store cannot be used, or a line changed meanwhile; the next rest reads it.
    """
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        return None
    async with store.nights.alone(user_id) as alone:
        if not alone:
            return None
        with on_behalf_of(user):
            reader = Reader(
                store=store,
                user=user,
                user_id=user_id,
                model=model,
                account=account or Account(),
                embed=embed,
                tokens=tokens,
            )
            return await read_lines(reader)
