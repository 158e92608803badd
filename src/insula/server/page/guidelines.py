"""SOUL.md and the nights that write it, as pages."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from insula.errors import InputError
from insula.memory.storage import unread
from insula.memory.storage import views as store_views
from insula.memory.storage.rows import Cited
from insula.memory.storage.store import Store
from insula.memory.storage.views import named as shown_by_number
from insula.night import decisions, desk
from insula.night.cycle import due
from insula.server.api.lessons import WORDS
from insula.server.page.rendering import address, page
from insula.server.page.views import guidelines as shown
from insula.server.page.views import learned, nights
from insula.server.page.views.learned import Card
from insula.server.page.visitors import PageRoute, Visitor
from insula.server.service import Service
from insula.server.timer import night
from insula.server.turns import Turns
from insula.server.users import service_of

DIGITS = 18
"""Of the number of a state, at most: what the database can hold."""
NIGHTS = 14
"""Nights on the page, the latest."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/soul")
async def soul(request: Request, who: Visitor, said: str = "") -> Response:
    """The document, what waits, and its history."""
    service = service_of(request)
    store = service.chat.metacognition.store
    path = service.soul_of(who.name)
    found = await decisions.state(store, who.name, path)
    known = {one.name: one for one in await cards(store, who.name)}
    return page(
        "soul.html",
        who.link,
        who=who,
        here="guidance",
        lines=shown.document(found.text, known),
        foreign=(path.name if service.keys else str(path)) if path and found.foreign else None,
        waiting=found.waiting,
        reasons=shown.reasons(found.waiting),
        change=shown.difference(found.text, found.waiting.content) if found.waiting else (),
        history=shown.history(found.past),
        most=WORDS,
        said=_SAID.get(said, learned.SAID.get(said, "")),
    )


async def cards(store: Store, user: str) -> list[Card]:
    """All that was learned of a user, with the messages behind it."""
    pieces = await desk.pieces(store, user)
    user_id = await store.nights.sleeper(user)
    quoted: list[Cited] = (
        await store.guidance.cited(user_id, learned.citations([one.kept for one in pieces])) if user_id else []
    )
    return learned.lessons(pieces, {one.id: one for one in quoted}, store.now())


_SAID = {
    "back": "The guidelines are as they were then. To take this back, go back to the state before it.",
    "accepted": "The change is accepted: it is told from the next message on.",
    "rejected": "The change is rejected: the guidelines stay as they are.",
}


@router.post("/soul/back")
async def back(request: Request, who: Visitor) -> Response:
    """Go back to a state of the document."""
    service, number = service_of(request), await field(request, "revision")
    if not (number.isascii() and number.isdigit() and len(number) <= DIGITS):
        raise InputError(f"There is no state {number[:20]!r} of the guidelines; go back and choose one of the list.")
    store = service.chat.metacognition.store
    await decisions.undo(store, who.name, service.soul_of(who.name), int(number))
    return RedirectResponse(address("/soul", who.link, said="back"), 303)


@router.post("/soul/decide")
async def decide(request: Request, who: Visitor) -> Response:
    """Accept or reject the change that waits."""
    service, word = service_of(request), await field(request, "word")
    if word not in ("accepted", "rejected"):
        raise InputError("The form says neither to accept nor to reject; go back and choose one of the two.")
    store = service.chat.metacognition.store
    await decisions.decide(store, who.name, service.soul_of(who.name), word == "accepted")
    return RedirectResponse(address("/soul", who.link, said=word), 303)


async def field(request: Request, name: str) -> str:
    """A field of the form that was sent."""
    sent = parse_qs((await request.body()).decode("utf-8", "replace"))
    return sent.get(name, [""])[0]


@router.get("/nights")
async def all_nights(request: Request, who: Visitor) -> Response:
    """The last nights, and whether there is anything to sleep on."""
    store = service_of(request).chat.metacognition.store
    found = await store.read(store_views.reported, who.name, None, NIGHTS)
    told = nights.nights(found, await _names(store, who.name, [one.report for one in found]), store.now())
    news = [one for one in told if not one.nothing]
    return page(
        "nights.html",
        who.link,
        who=who,
        here="nights",
        nights=news,
        quiet=len(told) - len(news),
        due=await due(store, who.name),
        reading=await _reading(service_of(request), who.name),
    )


async def _reading(service: Service, user: str) -> nights.Reading:
    """When the model reads what the user said, and what that took."""
    store = service.chat.metacognition.store
    user_id = await store.nights.sleeper(user)
    spent = 0 if user_id is None else await store.read(unread.tokens_spent, user_id, store.now())
    return nights.reading(service.understanding if service.understands else "off", spent, service.understanding_tokens)


@router.post("/nights")
async def run(request: Request, who: Visitor) -> Response:
    """Run the night now, to its end whoever goes away meanwhile."""
    turns = cast(Turns, request.app.state.turns)
    report = await asyncio.shield(turns.start(night(service_of(request), who.name, force=True)))
    names = await _names(service_of(request).chat.metacognition.store, who.name, [one.found for one in report.phases])
    return page("night.html", who.link, night=nights.of_report(report, names), fresh=True)


async def _names(store: Store, user: str, reports: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """What the lessons and the insights of some reports say."""
    lessons = {one.kept.name: one.kept.advice for one in await desk.pieces(store, user)}
    found = await store.read(shown_by_number, user, nights.insights(reports))
    return lessons | {f"insight {number}": one.content for number, one in found.items()}
