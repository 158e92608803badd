"""The register of claims, as a page: what Insula says, how often to this person, and how often it is right."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from insula.coding.hosts import places
from insula.coding.replay.claims import read_register
from insula.server.page.rendering import render_page
from insula.server.page.views import says as views
from insula.server.page.visitors import PageRoute, Visitor
from insula.server.users import service_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/says")
async def show_claims(request: Request, who: Visitor) -> Response:
    """Each claim with its figures; those of coding agents with the owner's own, where the machine has one owner."""
    service = service_of(request)
    mind = service.chat.metacognition
    home = None if service.keys else str(places.find_home())
    entries = await read_register(mind.store, who.name, mind.engine.claims, home)
    return render_page("says.html", who.link, who=who, here="operate", groups=views.group_claims(entries))
