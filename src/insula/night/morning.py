"""What changed last night, for the talk that is the first after it (R)."""

from insula.memory.storage import views
from insula.memory.storage.store import Store
from insula.night.names import PhaseName
from insula.night.telling import news

TITLE = "Since last night:"
OFF = "(off: news = false in insula.toml)"


async def changed_last_night(store: Store, user: str) -> tuple[str, ...]:
    """What the last night changed, in three lines at most; nothing once something was said since."""
    user_id = await store.nights.sleeper(user)
    done = await store.read(views.reported, user, None, 1) if user_id is not None else []
    if user_id is None or not done or done[-1].phase != PhaseName.END:
        return ()
    sessions = await store.nights.sessions_to_sleep_on(user_id)
    if any(one.ended_at > done[-1].at for one in sessions):
        return ()
    return news((one.phase, one.report) for one in done)
