"""What is known of a user, as a page: facts as cards, what was said, word for word; to take along, or have erased."""

from typing import Annotated, Any, cast, get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from insula.coding.replay.figures import format_count
from insula.errors import InputError, NotFound
from insula.memory.privacy.amendment import Do
from insula.memory.storage import views
from insula.memory.storage.filters import Filter
from insula.memory.storage.rows import Place
from insula.memory.storage.store import NAME_CHARS
from insula.metacognition.observing import add_fact, amend_fact
from insula.metacognition.searching import search_facts
from insula.operations.facts import FACTS, FactPage, describe_facts, get_fact, list_facts
from insula.operations.memories import count_memories, list_memories
from insula.server.api import data
from insula.server.api.memories import WORDS, erase_memory
from insula.server.api.schema import Id
from insula.server.page.rendering import Form, PageUser, Visitor, Word, make_address, render_page
from insula.server.service import Service
from insula.server.users import Served

MEMORIES = 50
"""Facts, or lines, on one page."""
SAID = {
    "added": "It is remembered.",
    "redacted": "It is remembered, but for what holds a secret: that is not kept.",
    "secret": "It holds a secret, so nothing of it was added.",
    "known": "That was remembered already.",
    "asked": "That is a question, so nothing was added. Here is what was looked up for it.",
    "erased": "It is erased, with the line that it came from.",
    "correct": "It says what you wrote. The conversation stays as it was said.",
    "pin": "It is pinned: it is never merged or forgotten.",
    "unpin": "It is no longer pinned.",
    "mute": "It is muted: it is used in no answer.",
    "unmute": "It is used in answers again.",
    "undo": "It is as it was before.",
}
CAN_UNDO = frozenset({"correct", "pin", "unpin", "mute", "unmute"})

router = APIRouter(include_in_schema=False)

Words = Annotated[str, Query(max_length=NAME_CHARS)]
Numbers = Annotated[str, Query(pattern=r"^([0-9]{1,18}(,[0-9]{1,18}){0,49})?$")]
"""Ids of memories, separated by commas."""


@router.get("/memory")
async def show_facts(
    service: Served,
    who: Visitor,
    before: Id | None = None,
    q: Words = "",
    said: Word = "",
    at: Id | None = None,
    also: Numbers = "",
) -> Response:
    """The facts, the latest first; or those that hold or answer what is looked for, or words of what was erased."""
    others = await _find_facts(service, who.name, also)
    if others.facts:
        found = others
    elif q.strip():
        found = await search_facts(service.mind.engine, who.name, q, MEMORIES)
    else:
        found = await list_facts(service.store, who.name, before=before, limit=MEMORIES)
    return render_page(
        "facts.html",
        who.link,
        who=who,
        here="memory",
        found=found,
        lines=await service.store.read(views.find_lines, who.name, [fact.memory.id for fact in found.facts]),
        total=await count_memories(service.store, who.name, FACTS),
        q=q,
        others=bool(others.facts),
        back=make_address("", "", q=q, also=also).removeprefix("?"),
        first=before is None,
        said=f"{SAID.get(said, '')} {_describe_others(len(others.facts))}".strip(),
        undo=at if said in CAN_UNDO else None,
        most=WORDS,
    )


async def _find_facts(service: Service, user: str, numbers: str) -> FactPage:
    """Those of some memories that stand, by their ids."""
    ids = [int(number) for number in filter(None, numbers.split(","))]
    known = await service.store.read(views.find_memories, user, ids, Filter())
    return FactPage(facts=await describe_facts(service.store, user, [known[number] for number in sorted(known)]))


def _describe_others(count: int) -> str:
    """What is said of the facts that hold words of what was erased; nothing where there are none."""
    if not count:
        return ""
    stand = "holds words of it; it stands" if count == 1 else "hold words of it; they stand"
    return f"{format_count(count, 'other fact')} {stand} until you erase {'it' if count == 1 else 'them'}, too."


@router.get("/memory/transcript")
async def show_transcript(
    service: Served, who: Visitor, before: Id | None = None, q: Words = "", gone: Word = "", said: Word = ""
) -> Response:
    """What was said, word for word, the latest first; what holds the words looked for; or what nights let go."""
    if q.strip():
        hits = (await service.mind.search(who.name, q, limit=MEMORIES)).hits
        listed, more = tuple(hit.memory for hit in hits), None
    else:
        wanted = Filter(retired=bool(gone))
        found = await list_memories(service.store, who.name, wanted, before=before, limit=MEMORIES)
        listed, more = found.memories, found.next
    lines = await service.store.read(views.find_lines, who.name, [memory.id for memory in listed])
    shown: dict[str, Any] = {
        "memories": listed,
        "lines": lines,
        "more": more,
        "first": before is None,
        "q": q,
        "gone": bool(gone),
    }
    return render_page("memories.html", who.link, who=who, here="memory", said=SAID.get(said, ""), **shown)


@router.get("/memory/{number}")
async def show_memory(
    request: Request, service: Served, who: Visitor, number: Id, back: Words = "", card: Word = ""
) -> Response:
    """Where a memory is from, what became of it, and what may be done with it."""
    try:
        fact, history = await get_fact(service.store, who.name, number), await service.mind.history(who.name, number)
    except NotFound:
        fact, history = None, ()
    line = (await service.store.read(views.find_lines, who.name, [number])).get(number)
    shown = {"fact": fact, "line": line, "history": history, "back": back, "is_card": bool(card)}
    part = "memory.html" if request.headers.get("hx-request") else "memory_alone.html"
    return render_page(part, who.link, who=who, here="memory", **shown, status=200 if fact else 404)


@router.post("/memory/add")
async def submit_memory(service: Served, who: Visitor, form: Form) -> Response:
    """Remember what a person wrote into the form."""
    outcome, fact = await add_fact(service.mind.engine, who.name, _check_words(form["text"]))
    if outcome == "preference":
        return RedirectResponse(f"{make_address('/guidance', who.link, said=outcome)}#preferences", 303)
    asked = make_address("", "", q=form["text"][:NAME_CHARS]).removeprefix("?") if outcome == "asked" else ""
    return _redirect_back(who, asked, outcome, fact.memory.id if fact else None)


@router.post("/memory/{number}/decide")
async def submit_decision(service: Served, who: Visitor, number: Id, form: Form) -> Response:
    """A person's word on a memory."""
    if (do := form["do"]) not in get_args(Do):
        raise InputError("The form names nothing that can be done with a memory; go back and choose a button.")
    await amend_fact(service.mind.engine, who.name, number, cast(Do, do), _check_words(form["text"]))
    return _redirect_back(who, form["back"], do, number)


@router.post("/memory/{number}/erase")
async def submit_erasure(service: Served, who: Visitor, number: Id, form: Form) -> Response:
    """Erase a memory for good."""
    gone = await erase_memory(service, who.name, number)
    also = ",".join(map(str, gone.others[-MEMORIES:]))
    return _redirect_back(who, f"also={also}" if also else form["back"], "erased", None)


def _check_words(text: str) -> str:
    if len(text) > WORDS:
        raise InputError(f"What you wrote has more than {WORDS:,} characters; go back and shorten it.")
    return text


def _redirect_back(who: PageUser, back: str, said: str, number: int | None) -> Response:
    """To where the form was, with what was done."""
    asked = {name: value for name, value in parse_qsl(back) if name in {"q", "before", "also"}}
    place = "/memory/transcript" if ("tab", "transcript") in parse_qsl(back) else "/memory"
    place = "/nights" if back == "nights" else place
    to = make_address(place, who.link, **asked, said=said, at=number)
    return RedirectResponse(to if number is None else f"{to}#memory-{number}", 303)


OTHER_NAME = "other"
SAID_OF_USER = {
    OTHER_NAME: "That is not your name, so nothing was erased; write it as it stands below.",
    "copied": "A copy is kept on this machine.",
    "erased": "Nothing is kept of you any more.",
    "left": "Nothing is kept of you any more, but another program reads the memory: until it ends, its file still holds"
    " some of it. Erase again then.",
}


@router.get("/yours")
async def show_yours(service: Served, who: Visitor, said: Word = "") -> Response:
    """How much is kept, and what may be done with it."""
    store = service.store
    user_id = await store.nights.find_user_id(who.name)
    place = Place(user_id=user_id or 0, session_id=0, user=who.name, session="")
    counts = await store.sessions.count_rows(place) if user_id is not None else None
    told, failed = SAID_OF_USER.get(said, ""), said == OTHER_NAME
    return render_page("yours.html", who.link, who=who, here="yours", counts=counts, said=told, failed=failed)


@router.post("/yours/backup")
async def submit_backup(service: Served, who: Visitor) -> Response:
    """Put a copy aside."""
    await data.back_up_data(service, who.name)
    return RedirectResponse(make_address("/yours", who.link, said="copied"), 303)


@router.post("/yours/erase")
async def submit_user_erasure(service: Served, who: Visitor, form: Form) -> Response:
    """Erase all of it, where the name was written out."""
    if form["name"] != who.name:
        return RedirectResponse(make_address("/yours", who.link, said=OTHER_NAME), 303)
    gone = await data.erase_data(service, who.name, data.ErasureConfirmation.model_construct(name=form["name"]))
    return RedirectResponse(make_address("/yours", who.link, said="left" if gone.left else "erased"), 303)
