"""What is remembered, as a page: searched, opened where it came from, corrected, pinned, muted, erased, undone."""

from typing import Annotated, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from insula.errors import InputError, NotFound
from insula.memory.amendment import Do
from insula.memory.filters import Filter
from insula.memory.store import NAME_CHARS
from insula.operations.memories import list_memories
from insula.server.api.memories import WORDS, amend, erase
from insula.server.api.numbers import Id
from insula.server.page.guidelines import field
from insula.server.page.rendering import address, page
from insula.server.page.visitors import PageRoute, Visitor
from insula.server.users import service_of

MEMORIES = 50
"""Memories on one page."""
SAID = {
    "erased": "The memory is erased, with the line that it came from.",
    "correct": "The memory has your words now. What was said in the conversation stays as it was said.",
    "pin": "The memory is pinned: no night merges or forgets it.",
    "unpin": "The memory is no longer pinned.",
    "mute": "The memory is muted: it is put before no model.",
    "unmute": "The memory is no longer muted.",
    "undo": "The memory is as it was before.",
}

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Word = Annotated[str, Query(max_length=20)]
Words = Annotated[str, Query(max_length=NAME_CHARS)]


@router.get("/memories")
async def memories(
    request: Request,
    who: Visitor,
    before: Id | None = None,
    q: Words = "",
    gone: Word = "",
    answers: Word = "",
    said: Word = "",
) -> Response:
    """What is remembered, the latest first; what holds the words that are looked for; or what nights let go.

    What the agent answered is left out unless it is asked for: half of all lines are, and few are of use.
    """
    mind = service_of(request).chat.metacognition
    if q.strip():
        hits = (await mind.search(who.name, q, limit=MEMORIES)).hits
        listed, more = tuple(hit.memory for hit in hits), None
    else:
        wanted = Filter(answers=bool(answers or gone), retired=bool(gone))
        found = await list_memories(mind.store, who.name, wanted, before=before, limit=MEMORIES)
        listed, more = found.memories, found.next
    return page(
        "memories.html",
        who.link,
        who=who,
        here="memories",
        memories=listed,
        more=more,
        first=before is None,
        q=q,
        gone=bool(gone),
        answers=bool(answers),
        said=SAID.get(said, ""),
    )


@router.get("/memories/{number}")
async def memory(request: Request, who: Visitor, number: Id, q: Words = "") -> Response:
    """Where a memory is from, what became of it, and what may be done with it."""
    mind = service_of(request).chat.metacognition
    try:
        found, history = await mind.get(who.name, number), await mind.history(who.name, number)
    except NotFound:
        found, history = None, ()
    shown = {"memory": found, "history": history, "q": q, "most": WORDS}
    return page("memory.html", who.link, **shown, status=200 if found else 404)


@router.post("/memories/{number}/decide")
async def decide(request: Request, who: Visitor, number: Id) -> Response:
    """A person's word on a memory."""
    do, text, q = [await field(request, name) for name in ("do", "text", "q")]
    known: dict[str, Do] = {each: each for each in get_args(Do)}
    if do not in known:
        raise InputError("The form names nothing that can be done with a memory; go back and choose a button.")
    if len(text) > WORDS:
        raise InputError(f"The new words have more than {WORDS:,} characters; go back and shorten them.")
    await amend(request, who.name, number, known[do], text)
    return RedirectResponse(f"{address('/memories', who.link, q=q, said=do)}#memory-{number}", 303)


@router.post("/memories/{number}/erase")
async def gone(request: Request, who: Visitor, number: Id) -> Response:
    """Erase a memory for good."""
    await erase(request, who.name, number)
    return RedirectResponse(address("/memories", who.link, q=await field(request, "q"), said="erased"), 303)
