"""Guidance, as pages: preferences, lessons and rules, each with its sources and what a person may do; and SOUL.md."""

import asyncio
from typing import cast, get_args

from fastapi import APIRouter, HTTPException
from fastapi.responses import RedirectResponse, Response

from insula.coding.hosts import places
from insula.errors import InputError
from insula.memory.storage.ledger import Do
from insula.night import curation, guidelines
from insula.operations.guidance import KINDS, STANDINGS, GuidanceItem, describe_rule, list_guidance
from insula.operations.rules import decide_everywhere, find_everywhere
from insula.server.api.lessons import WORDS
from insula.server.page.rendering import make_address, render_page
from insula.server.page.views import guidelines as shown
from insula.server.page.visitors import Form, Visitor, Word
from insula.server.users import Served

DIGITS = 18
"""Of the number of a state, at most: what the database can hold."""
RULED = "rule"
SAID = {
    **{do: f"It {text}" for do, text in curation.DONE.items()},
    "forget": "It is forgotten: it is used no more, until you undo that or say it again.",
    "erase": "It is erased. The messages that it was learned from stay, until you erase them.",
    RULED: "The rule stands as you want it from the next session of a coding agent on.",
    "back": "SOUL.md is as it was then. To take this back, go back to the state before it.",
    "accepted": "The change is accepted: it counts from the next message on.",
    "rejected": "The change is rejected: SOUL.md stays as it is.",
}
"""What a person is told of a decision."""

router = APIRouter(include_in_schema=False)


@router.get("/guidance")
@router.get("/learned")  # its name before
async def show_guidance(service: Served, who: Visitor, said: Word = "") -> Response:
    """Preferences and lessons, and the rules of this machine's coding agents where it has one owner."""
    items = await list_guidance(service.store, who.name)
    if not service.keys:
        rules = await asyncio.to_thread(find_everywhere, str(places.find_home()))
        items += [describe_rule(rule) for rule, _ in rules]
    return render_page(
        "guidance.html",
        who.link,
        who=who,
        here="guidance",
        kinds={name: title for name, title in KINDS.items() if name != "rule" or not service.keys},
        groups={name: _order_guidance(items, name) for name in KINDS},
        most=WORDS,
        said=SAID.get(said, ""),
    )


def _order_guidance(items: list[GuidanceItem], kind: str) -> list[GuidanceItem]:
    """Those of a kind, what is used first."""
    return sorted((item for item in items if item.kind == kind), key=lambda item: STANDINGS.index(item.standing))


@router.post("/guidance/decide")
async def submit_decision(service: Served, who: Visitor, form: Form) -> Response:
    """A person's word on a preference, a lesson or a rule."""
    name, kind, do = form["id"], form["kind"], form["do"]
    if kind == RULED and service.keys:
        raise HTTPException(404, "The rules of coding agents belong to the owner of this machine: insula guidance.")
    store, soul = service.store, service.soul_of(who.name)
    if kind == RULED:
        await asyncio.to_thread(decide_everywhere, str(places.find_home()), name, do)
    elif do == "erase":
        await curation.erase_piece(store, who.name, name, soul)
    elif do in get_args(Do):
        await curation.decide_piece(store, who.name, soul, name, cast(Do, do), form["text"][: WORDS + 1])
    else:
        raise InputError("The form names nothing that can be done with it; go back and choose a button.")
    place = {"soul": "/soul", "nights": "/nights"}.get(form["back"], "/guidance")
    said = RULED if kind == RULED else do
    return RedirectResponse(f"{make_address(place, who.link, said=said)}#guidance-{name}", 303)


@router.get("/soul")
async def show_soul(service: Served, who: Visitor, said: Word = "") -> Response:
    """SOUL.md as it stands, what waits, and its history."""
    store, path = service.store, service.soul_of(who.name)
    soul = await guidelines.read_soul_state(store, who.name, path)
    known = {item.id: item for item in await list_guidance(store, who.name)}
    return render_page(
        "soul.html",
        who.link,
        who=who,
        here="guidance",
        lines=shown.document_lines(soul.text, known),
        foreign=(path.name if service.keys else str(path)) if path and soul.foreign else None,
        waiting=soul.waiting,
        reasons=soul.waiting.reasons if soul.waiting else (),
        change=shown.compare_documents(soul.text, soul.waiting.content) if soul.waiting else (),
        history=shown.list_revisions(soul.past),
        most=WORDS,
        said=SAID.get(said, ""),
    )


@router.post("/soul/back")
async def go_back(service: Served, who: Visitor, form: Form) -> Response:
    """Go back to a state of the document."""
    number = form["revision"]
    if not (number.isascii() and number.isdigit() and len(number) <= DIGITS):
        raise InputError(f"There is no state {number[:20]!r} of SOUL.md; go back and choose one of the list.")
    await guidelines.undo_revision(service.store, who.name, service.soul_of(who.name), int(number))
    return RedirectResponse(make_address("/soul", who.link, said="back"), 303)


@router.post("/soul/decide")
async def decide_change(service: Served, who: Visitor, form: Form) -> Response:
    """Accept or reject the change that waits."""
    if (word := form["word"]) not in ("accepted", "rejected"):
        raise InputError("The form says neither to accept nor to reject; go back and choose one of the two.")
    await guidelines.decide_proposal(service.store, who.name, service.soul_of(who.name), word == "accepted")
    return RedirectResponse(make_address("/soul", who.link, said=word), 303)
