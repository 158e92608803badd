"""The nights of all users, as a page for who looks after the server."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from insula.server.api.all_nights import standing
from insula.server.page.rendering import page
from insula.server.page.views import all_nights as views
from insula.server.page.visitors import Overseer, PageRoute
from insula.server.users import service_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/nights/all")
async def all_nights(request: Request, who: Overseer) -> Response:
    """How they go: counts and amounts by date, what failed, which workers live."""
    service = service_of(request)
    found = await standing(service)
    return page("all_nights.html", who.link, who=who, here="nights", all=views.told(found, nightly=service.nightly))
