"""What was learned, as a page: it is searched, traced, corrected, pinned, muted, erased, and that is undone."""

import time
from typing import Annotated, get_args

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from insula import guidance
from insula.errors import InputError
from insula.guidance import EVERYWHERE, Decision
from insula.hosts import places
from insula.memory.storage.ledger import Do
from insula.memory.storage.store import NAME_CHARS
from insula.night import desk, forgetting
from insula.server.api.lessons import WORDS
from insula.server.page.guidelines import cards, field
from insula.server.page.rendering import address, page
from insula.server.page.views import learned as views
from insula.server.page.visitors import PageRoute, Visitor
from insula.server.users import service_of
from insula.step import corrections, digest, evidence

RULED = "rule"
SAID = {**views.SAID, RULED: "The rule stands as you want it from the next session of a coding agent on."}
RULE = ("accept", "pin", "unpin", "mute", "unmute", "forget")

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/learned")
async def learned(
    request: Request,
    who: Visitor,
    q: Annotated[str, Query(max_length=NAME_CHARS)] = "",
    said: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Lessons and wishes, and the rules of this machine's coding agents where it has one owner."""
    service = service_of(request)
    known = await cards(service.chat.metacognition.store, who.name)
    rules = None if service.keys else views.rules(await run_in_threadpool(_rules))
    return page(
        "learned.html",
        who.link,
        who=who,
        here="guidance",
        groups=views.grouped(views.holding(known, q)),
        rules=None if rules is None else views.holding(rules, q),
        q=q,
        most=WORDS,
        said=SAID.get(said, ""),
    )


@router.post("/learned/decide")
async def decide(request: Request, who: Visitor) -> Response:
    """A person's word on a lesson."""
    service = service_of(request)
    name, do, text, back = [await field(request, each) for each in ("lesson", "do", "text", "back")]
    store, soul = service.chat.metacognition.store, service.soul_of(who.name)
    known: dict[str, Do] = {each: each for each in get_args(Do)}
    if do == "erase":
        await forgetting.unlearn(store, who.name, name, soul)
    elif do in known:
        await desk.decide(store, who.name, soul, name, known[do], text[: WORDS + 1])
    else:
        raise InputError("The form names nothing that can be done with a lesson; go back and choose a button.")
    place = "/soul" if back == "soul" else "/learned"
    return RedirectResponse(f"{address(place, who.link, said=do)}#lesson-{name}", 303)


@router.post("/learned/rule")
async def rule(request: Request, who: Visitor) -> Response:
    """A person's word on a rule of coding agents."""
    if service_of(request).keys:
        raise HTTPException(404, "The rules of coding agents belong to the owner of this machine: insula rules.")
    name, do = [await field(request, each) for each in ("rule", "do")]
    await run_in_threadpool(_decide, name, do)
    return RedirectResponse(f"{address('/learned', who.link, said=RULED)}#rule-{name}", 303)


def _rules() -> list[views.Placed]:
    """The rules for all projects, and what was asked for in each, with the project where it is one's alone."""
    home, now = str(places.home()), time.time()
    everywhere = [views.Placed(one, "") for one in digest.compile_rules(home, "", now)]
    return everywhere + [
        views.Placed(one, project)
        for project in corrections.list_projects(home)
        for one in digest.compile_rules(home, project, now)
        if one.wish is not None and one.life.state != guidance.HEARD
    ]


def _decide(name: str, do: str) -> None:
    found = next((one for one in _rules() if one.rule.id == name), None)
    if found is None or do not in RULE:
        raise InputError("The form names no rule that is there, or nothing that can be done; go back and choose anew.")
    home, wish = str(places.home()), found.rule.wish
    evidence.decide(home, Decision(do=do, rule=name, scope=found.project or EVERYWHERE, at=time.time()))
    if do == "forget" and wish is not None:
        corrections.erase_wish(home, found.project, wish)
    elif do == "forget":
        evidence.erase_advice(home, name)
