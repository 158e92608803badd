"""Guidance, as pages: preferences, lessons and rules, and what a person may do; SOUL.md; what nights changed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import zip_longest
from typing import Literal, cast, get_args

from fastapi import APIRouter, HTTPException
from fastapi.responses import RedirectResponse, Response

from insula.coding.hosts import places
from insula.coding.replay import figures
from insula.errors import InputError
from insula.memory.storage import unread
from insula.memory.storage import views as store_views
from insula.memory.storage.ledger import Do
from insula.memory.storage.rows import Revised
from insula.night import curation, guidelines
from insula.night.cycle import is_due
from insula.night.soul import document as soul
from insula.operations.guidance import KINDS, STANDINGS, GuidanceItem, describe_rule, list_guidance
from insula.operations.nights import READING, NightChanges, describe_report, list_nights
from insula.operations.rules import decide_everywhere, find_everywhere
from insula.server.api.lessons import WORDS
from insula.server.page.rendering import Form, PageUser, Visitor, Word, make_address, render_page
from insula.server.page.words import describe_author
from insula.server.service import Service
from insula.server.timer import run_user_night
from insula.server.users import Served

AROUND = 2
"""Unchanged lines that are shown on each side of a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine:
    """A line of the document as a reader sees it."""

    kind: Literal["heading", "item", "text"]
    text: str
    learned: bool
    """Whether the night wrote it; else it is a person's."""
    card: GuidanceItem | None = None
    """What is known of it, and what a person can do with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRevision:
    """A state of the document."""

    id: int
    when: str
    author: str
    why: str
    diff: list[str]
    """Against the state before it."""


def document_lines(text: str, cards: Mapping[str, GuidanceItem] | None = None) -> list[DocumentLine]:
    """The document without its comments and marks, and without headings that nothing stands under.

    Args:
        cards: what was learned, by its id.
    """
    known = cards or {}
    lines = [line for line in soul.parse_document(text).lines if line.text]
    return [
        DocumentLine(
            kind="text" if line.kind not in ("heading", "item") else line.kind,
            text=line.text,
            learned=line.derived,
            card=known.get(line.id) if line.derived else None,
        )
        for line, following in zip_longest(lines, lines[1:])
        if line.kind != "heading" or (following is not None and following.kind != "heading")
    ]


def compare_documents(before: str, after: str) -> list[str]:
    """What changed between two states, line by line, with a little of what surrounds it; the first sign says how."""
    changed = unified_diff(_visible_lines(before), _visible_lines(after), lineterm="", n=AROUND)
    return list(changed)[2:]


def _visible_lines(text: str) -> list[str]:
    bullets: Mapping[str, str] = {"heading": "## ", "item": "- "}
    return [f"{bullets.get(line.kind, '')}{line.text}" for line in document_lines(text)]


def list_revisions(past: Sequence[Revised]) -> list[DocumentRevision]:
    """Every state, newest first, each with what it changed.

    Args:
        past: the states, newest first.
    """
    before = [*(state.content for state in past), ""][1:]
    return [
        DocumentRevision(
            id=state.id,
            when=figures.format_time(state.at),
            author=describe_author(state.author),
            why=state.summary,
            diff=compare_documents(earlier, state.content),
        )
        for state, earlier in zip(past, before, strict=True)
    ]


DIGITS = 18
"""Of the number of a state, at most: what the database can hold."""
RULED = "rule"
SAID = {
    **{do: f"It {text}" for do, text in curation.DONE.items()},
    "forget": "It is forgotten: it is used no more, until you undo that or say it again.",
    "erase": "It is erased. The messages that it was learned from stay, until you erase them.",
    "preference": "It is a preference: it counts from your next message on.",
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
        lines=document_lines(soul.text, known),
        foreign=(path.name if service.keys else str(path)) if path and soul.foreign else None,
        waiting=soul.waiting,
        reasons=soul.waiting.reasons if soul.waiting else (),
        change=compare_documents(soul.text, soul.waiting.content) if soul.waiting else (),
        history=list_revisions(soul.past),
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


NIGHTS = 14
"""Nights on the page, the latest."""


@router.get("/nights")
async def show_nights(service: Served, who: Visitor, said: Word = "") -> Response:
    """What the last nights changed, and whether there is anything to sleep on."""
    return await _render_nights(service, who, said=SAID.get(said, ""))


@router.post("/nights")
async def submit_night(service: Served, who: Visitor) -> Response:
    """Run the night now, to its end whoever goes away meanwhile."""
    report = await service.turns.finish_work(run_user_night(service, who.name, force=True))
    return await _render_nights(service, who, ran=describe_report(report))


async def _render_nights(
    service: Service, who: PageUser, *, said: str = "", ran: NightChanges | None = None
) -> Response:
    store = service.store
    reports = await store.read(store_views.list_phase_reports, who.name, None, NIGHTS)
    nights = list_nights(reports, store.now())
    listed = [change for night in nights for change in night.changes]
    user_id = await store.nights.find_user_id(who.name)
    return render_page(
        "nights.html",
        who.link,
        who=who,
        here="nights",
        ran=ran,
        unlisted=[change.text for change in ran.changes if change not in listed] if ran else (),
        nights=[night for night in nights if night.changes or night.progress],
        slept=bool(nights),
        due=await is_due(store, who.name),
        reading=READING[service.understanding if service.understands else "off"],
        spent=0 if user_id is None else await store.read(unread.tokens_spent, user_id, store.now()),
        most=service.understanding_tokens,
        said=said,
    )
