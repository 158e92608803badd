"""What is kept of a person, as a page: to take along, to put aside, to have erased."""

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from insula.memory.storage.rows import Place
from insula.server.api import data
from insula.server.page.rendering import make_address, render_page
from insula.server.page.visitors import Form, Visitor, Word
from insula.server.users import Served

SAID = {
    "copied": "A copy is kept on this machine.",
    "erased": "Nothing is kept of you any more.",
    "left": "Nothing is kept of you any more, but another program reads the memory: until it ends, its file still holds"
    " some of it. Erase again then.",
}

router = APIRouter(include_in_schema=False)


@router.get("/yours")
async def show_yours(service: Served, who: Visitor, said: Word = "") -> Response:
    """How much is kept, and what may be done with it."""
    store = service.store
    user_id = await store.nights.find_user_id(who.name)
    place = Place(user_id=user_id or 0, session_id=0, user=who.name, session="")
    counts = await store.sessions.count_rows(place) if user_id is not None else None
    return render_page("yours.html", who.link, who=who, here="yours", counts=counts, said=SAID.get(said, ""))


@router.post("/yours/backup")
async def submit_backup(service: Served, who: Visitor) -> Response:
    """Put a copy aside."""
    await data.back_up_data(service, who.name)
    return RedirectResponse(make_address("/yours", who.link, said="copied"), 303)


@router.post("/yours/erase")
async def submit_erasure(service: Served, who: Visitor, form: Form) -> Response:
    """Erase all of it, where the name was written out."""
    gone = await data.erase_data(service, who.name, data.ErasureConfirmation.model_construct(name=form["name"]))
    return RedirectResponse(make_address("/yours", who.link, said="left" if gone.left else "erased"), 303)
