"""What is known of a user, as a page: facts as cards, whom they are about, and what was said, word for word."""

from typing import Annotated, Any, get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from insula.errors import InputError, NotFound
from insula.memory.privacy.amendment import Do
from insula.memory.storage.filters import Filter, read_moment
from insula.memory.storage.store import NAME_CHARS
from insula.metacognition.observing import add_fact
from insula.metacognition.searching import search_facts
from insula.operations.facts import FactPage, facts_of, get_fact, list_facts, list_people
from insula.operations.memories import count_memories, forget_memories, list_memories
from insula.server.api.memories import WORDS, amend_memory, erase_memory
from insula.server.api.schema import Id
from insula.server.page.guidance import form_field
from insula.server.page.rendering import make_address, render_page
from insula.server.page.visitors import PageRoute, PageUser, Visitor
from insula.server.users import service_of

MEMORIES = 50
"""Facts, or lines, on one page."""
MEANT = {"fact": "Facts", "plan": "Plans"}
"""How a statement may be meant, where it is filtered by that."""
SAID = {
    "added": "It is remembered.",
    "erased": "It is erased, with the line that it came from.",
    "forgotten": "All of that is erased, with the lines that it came from.",
    "correct": "It says what you wrote. The conversation stays as it was said.",
    "pin": "It is pinned: it is never merged or forgotten.",
    "unpin": "It is no longer pinned.",
    "mute": "It is muted: it is used in no answer.",
    "unmute": "It is used in answers again.",
    "undo": "It is as it was before.",
}
CAN_UNDO = frozenset({"correct", "pin", "unpin", "mute", "unmute"})

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Word = Annotated[str, Query(max_length=20)]
Words = Annotated[str, Query(max_length=NAME_CHARS)]


@router.get("/memory")
async def show_facts(
    request: Request,
    who: Visitor,
    before: Id | None = None,
    q: Words = "",
    whose: Words = "",
    kind: Word = "",
    since: Word = "",
    said: Word = "",
    at: Id | None = None,
) -> Response:
    """The facts that a filter wants, the latest first; or those that hold or answer what is looked for."""
    mind = service_of(request).chat.metacognition
    wanted = facts_of(whose, kind if kind in MEANT else "", read_moment(since) if since.strip() else None)
    asked = {"q": q, "whose": whose, "kind": kind, "since": since}
    if q.strip():
        page_found = await search_facts(mind.engine, who.name, q, wanted, MEMORIES)
    else:
        page_found = await list_facts(mind.store, who.name, wanted, before=before, limit=MEMORIES)
    return await _render_facts(request, who, page_found, asked, first=before is None, said=said, at=at)


async def _render_facts(
    request: Request, who: PageUser, facts: FactPage, asked: dict[str, str], *, first: bool, said: str, at: int | None
) -> Response:
    store = service_of(request).chat.metacognition.store
    known = {name: value for name, value in asked.items() if value}
    return render_page(
        "facts.html",
        who.link,
        who=who,
        here="memory",
        found=facts,
        people=await list_people(store, who.name),
        total=await count_memories(store, who.name, facts_of()),
        asked=asked,
        known=known,
        back=make_address("", "", **known).removeprefix("?"),
        meant=MEANT,
        first=first,
        said=SAID.get(said, ""),
        undo=at if said in CAN_UNDO else None,
        most=WORDS,
    )


@router.get("/memory/people")
async def show_people(request: Request, who: Visitor, said: Word = "") -> Response:
    """Whom facts are about."""
    persons = await list_people(service_of(request).chat.metacognition.store, who.name)
    return render_page("people.html", who.link, who=who, here="memory", people=persons, said=SAID.get(said, ""))


@router.get("/memory/transcript")
async def show_transcript(
    request: Request, who: Visitor, before: Id | None = None, q: Words = "", gone: Word = "", said: Word = ""
) -> Response:
    """What was said, word for word, the latest first; what holds the words looked for; or what nights let go."""
    mind = service_of(request).chat.metacognition
    if q.strip():
        hits = (await mind.search(who.name, q, limit=MEMORIES)).hits
        listed, more = tuple(hit.memory for hit in hits), None
    else:
        memories_found = await list_memories(
            mind.store, who.name, Filter(retired=bool(gone)), before=before, limit=MEMORIES
        )
        listed, more = memories_found.memories, memories_found.next
    shown: dict[str, Any] = {"memories": listed, "more": more, "first": before is None, "q": q, "gone": bool(gone)}
    return render_page("memories.html", who.link, who=who, here="memory", said=SAID.get(said, ""), **shown)


@router.get("/memory/{number}")
async def show_memory(request: Request, who: Visitor, number: Id, back: Words = "", card: Word = "") -> Response:
    """Where a memory is from, what became of it, and what may be done with it."""
    mind = service_of(request).chat.metacognition
    try:
        fact, history = await get_fact(mind.store, who.name, number), await mind.history(who.name, number)
    except NotFound:
        fact, history = None, ()
    shown = {"fact": fact, "history": history, "back": back, "is_card": bool(card)}
    part = "memory.html" if request.headers.get("hx-request") else "memory_alone.html"
    return render_page(part, who.link, who=who, here="memory", **shown, status=200 if fact else 404)


@router.post("/memory/add")
async def submit_memory(request: Request, who: Visitor) -> Response:
    """Remember what a person wrote into the form."""
    text = await form_field(request, "text")
    if len(text) > WORDS:
        raise InputError(f"The fact has more than {WORDS:,} characters; go back and shorten it.")
    fact = await add_fact(service_of(request).chat.metacognition.engine, who.name, text)
    return _redirect_back(who, "", "added", fact.memory.id)


@router.post("/memory/forget")
async def submit_forgetting(request: Request, who: Visitor) -> Response:
    """Erase all facts about somebody for good."""
    service, whose = service_of(request), await form_field(request, "whose")
    if not whose:
        raise InputError("The form names nobody; go back and choose whom to forget.")
    mind = service.chat.metacognition
    await forget_memories(mind.store, who.name, facts_of(whose), service.soul_of(who.name))
    mind.engine.backlog.reopen_user(who.name)
    return RedirectResponse(make_address("/memory/people", who.link, said="forgotten"), 303)


@router.post("/memory/{number}/decide")
async def submit_decision(request: Request, who: Visitor, number: Id) -> Response:
    """A person's word on a memory."""
    do, text, back = [await form_field(request, name) for name in ("do", "text", "back")]
    known: dict[str, Do] = {each: each for each in get_args(Do)}
    if do not in known:
        raise InputError("The form names nothing that can be done with a memory; go back and choose a button.")
    if len(text) > WORDS:
        raise InputError(f"The new words have more than {WORDS:,} characters; go back and shorten them.")
    await amend_memory(request, who.name, number, known[do], text)
    return _redirect_back(who, back, do, number)


@router.post("/memory/{number}/erase")
async def submit_erasure(request: Request, who: Visitor, number: Id) -> Response:
    """Erase a memory for good."""
    back = await form_field(request, "back")
    await erase_memory(request, who.name, number)
    return _redirect_back(who, back, "erased", None)


def _redirect_back(who: PageUser, back: str, said: str, number: int | None) -> Response:
    """To where the form was, with what was done."""
    asked = {name: value for name, value in parse_qsl(back) if name in {"q", "whose", "kind", "since", "before"}}
    place = "/memory/transcript" if ("tab", "transcript") in parse_qsl(back) else "/memory"
    place = "/nights" if back == "nights" else place
    to = make_address(place, who.link, **asked, said=said, at=number)
    return RedirectResponse(to if number is None else f"{to}#memory-{number}", 303)
