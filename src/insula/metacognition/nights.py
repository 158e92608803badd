"""A user's night, as the library, the terminal and the server run it."""

from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from insula.metacognition.engine import Engine
from insula.metacognition.reading import catch_up
from insula.night.cycle import Phase, PhaseName, SleepReport, sleep_cycle
from insula.night.phases import PHASES

if TYPE_CHECKING:
    from insula.llm.budget import Account
    from insula.llm.model import Model


async def run_night(
    engine: Engine,
    user: str,
    *,
    model: "Model | None" = None,
    soul: Path | None = None,
    force: bool = False,
    phases: Sequence[tuple[PhaseName, Phase]] = PHASES,
    zone: tzinfo | None = None,
    account: "Account | None" = None,
) -> SleepReport:
    """Run a user's night, or go on with one that was stopped; what is still to come of their memory is made first.

    Args:
        engine: what memory is held by.
        model: writes summaries and reflections; without one they are made without.
        soul: the user's SOUL.md; None keeps it in the store alone.
        force: whether to sleep though the last night was less than 20 hours ago or nothing happened since.
        zone: where the user counts days; by default where the machine stands.
        account: caps on what it may spend.

    Raises:
        StoreError: the store cannot be used, or another version, with other phases, began this night.
    """
    await catch_up(engine.store, user, engine.embed)
    return await sleep_cycle(
        engine.store,
        user,
        phases,
        zone=zone,
        identity=engine.identity,
        calibration=engine.calibration,
        model=model,
        account=account,
        soul=soul,
        embed=engine.embed,
        force=force,
    )
