"""What nights changed, as pages: each change with an undo."""

import asyncio

from fastapi import APIRouter
from fastapi.responses import Response

from insula.memory.storage import unread
from insula.memory.storage import views as store_views
from insula.night.cycle import is_due
from insula.operations.nights import READING, describe_report, list_nights
from insula.server.page.guidance import SAID
from insula.server.page.rendering import render_page
from insula.server.page.visitors import Visitor, Word
from insula.server.timer import run_user_night
from insula.server.users import Served

NIGHTS = 14
"""Nights on the page, the latest."""
router = APIRouter(include_in_schema=False)


@router.get("/nights")
async def show_nights(service: Served, who: Visitor, said: Word = "") -> Response:
    """What the last nights changed, and whether there is anything to sleep on."""
    store = service.store
    reports = await store.read(store_views.list_phase_reports, who.name, None, NIGHTS)
    nights = list_nights(reports, store.now())
    user_id = await store.nights.find_user_id(who.name)
    return render_page(
        "nights.html",
        who.link,
        who=who,
        here="nights",
        nights=[night for night in nights if night.changes or night.progress],
        slept=bool(nights),
        due=await is_due(store, who.name),
        reading=READING[service.understanding if service.understands else "off"],
        spent=0 if user_id is None else await store.read(unread.tokens_spent, user_id, store.now()),
        most=service.understanding_tokens,
        said=SAID.get(said, ""),
    )


@router.post("/nights")
async def submit_night(service: Served, who: Visitor) -> Response:
    """Run the night now, to its end whoever goes away meanwhile."""
    report = await asyncio.shield(service.turns.start_work(run_user_night(service, who.name, force=True)))
    return render_page("night.html", who.link, night=describe_report(report), fresh=True)
