"""The pages that people see: a conversation, how it goes over time, what is remembered and learned.

Whatever they show is read from the store and turned into values by `views`; the templates only place it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from insula.agent.chat import new_session
from insula.coding.hosts import places
from insula.coding.replay.worth import measure_lately, note_verdict
from insula.errors import InputError
from insula.memory.storage import views as store_views
from insula.memory.storage.rows import Sitting
from insula.memory.storage.store import NAME_CHARS
from insula.metacognition.observing import ADDED
from insula.night import curation
from insula.operations.adaptations import describe_adaptations
from insula.operations.guidance import find_saved, undo_saved
from insula.server.api import answers
from insula.server.api.answers import AnswerJudgement
from insula.server.api.schema import Id
from insula.server.api.talk import ChatMessage, answer_message, check_queue
from insula.server.page import guidance, memories, turns
from insula.server.page.markdown import as_html
from insula.server.page.rendering import Form, PageUser, Visitor, Word, make_address, render_page
from insula.server.page.turns import ShownTurn, TurnFacts
from insula.server.page.words import describe_now
from insula.server.problems import Problem
from insula.server.service import Service
from insula.server.tokens import NONE_LEFT
from insula.server.users import Served, settle_user
from insula.types import TURN

TRIES = ("My sister Ana moved to Lisbon in May.", "Where does Ana live?", "What is my cat's name?")
"""What a newcomer may try: something to remember, something that was told, and something that was not."""
TURNS = 50
"""Turns of a session that its page shows."""
SESSIONS = 30
"""Sessions in the list, the latest."""
ERASED = "(erased)"
"""What a session is called in the list of which all is erased that the user said."""
NOTICED = 40
"""Signals that stand in the list when the page opens."""

router = APIRouter(include_in_schema=False)
for part in (guidance.router, memories.router):
    router.include_router(part)

Named = Annotated[str, Query(max_length=NAME_CHARS)]


# --- the conversation --------------------------------------------------------------------------------------------


@router.get("/")
async def show_talk(service: Served, who: Visitor, session: Named = "", draft: Named = "") -> Response:
    """A session, the latest one where none is named, with what a newcomer chose to try in the box."""
    return await _render_talk(service, who, session, draft if draft in TRIES else "")


@router.post("/")
async def submit_message(service: Served, who: Visitor, form: Form) -> Response:
    """A message from a browser that runs no script: the whole page comes back, once the answer is complete."""
    session, message = form["session"] or new_session(), form["message"]
    settle_user(None, who.name, session)
    try:
        said = ChatMessage(session=session, message=message)
    except ValidationError as error:
        return await _render_talk(service, who, session, message, f"This was not sent: {error.errors()[0]['msg']}.")
    check_queue(service, who.name)
    reply = await answer_message(service, who.name, said)
    if isinstance(reply, Problem):
        return await _render_talk(service, who, session, message, reply.detail)
    return RedirectResponse(f"{make_address('/', who.link, session=session)}#turn-{reply.turn}", 303)


async def _render_talk(service: Service, who: PageUser, session: str, draft: str = "", failure: str = "") -> Response:
    sessions = await _list_sessions(service, who.name)
    session = session or (sessions[0][0].name if sessions else new_session())
    shown = await _list_turns(service, who.name, session)
    return await run_in_threadpool(
        lambda: render_page(
            "talk.html",
            who.link,
            who=who,
            here="talk",
            session=session,
            sessions=sessions,
            turns=shown,
            model=service.model,
            tries=() if sessions else TRIES,
            draft=draft,
            failure=failure,
        )
    )


@router.get("/new")
async def begin_session(who: Visitor) -> Response:
    """A new session."""
    return RedirectResponse(make_address("/", who.link, session=new_session()), 303)


@router.get("/parts/sessions")
async def show_sessions(service: Served, who: Visitor, session: Named = "") -> Response:
    """The list of sessions alone."""
    sittings = await _list_sessions(service, who.name)
    return render_page("sessions.html", who.link, who=who, session=session, sessions=sittings)


@router.post("/parts/turn")
async def show_turn(service: Served, who: Visitor, record: TurnFacts) -> Response:
    """A turn as the conversation shows it, from the record of its reply, which the browser has just been given."""
    (shown,) = await _show_turns(service, who.name, [record])
    return await run_in_threadpool(render_page, "turn.html", who.link, turn=shown)


@router.post("/parts/prose")
async def show_prose(request: Request, _: Visitor) -> Response:
    """As much of an answer as there is, laid out while it is being written."""
    text = (await request.body()).decode("utf-8", "replace")
    return HTMLResponse(await run_in_threadpool(as_html, text))


@router.post("/parts/undo")
async def submit_undo(request: Request, service: Served, who: Visitor, session: Named, turn: Id) -> Response:
    """Take back what a message saved."""
    await undo_saved(service.store, who.name, session, turn, service.soul_of(who.name))
    if request.headers.get("hx-request"):
        return HTMLResponse('<span class="sub" role="status" tabindex="-1" autofocus>Undone.</span>')
    return RedirectResponse(f"{make_address('/', who.link, session=session)}#turn-{turn}", 303)


@router.get("/parts/request")
async def exact_request(service: Served, who: Visitor, session: Named, turn: Id) -> Response:
    """What the model was told in a turn."""
    parts = await answers.find_request(service, who.name, session, turn)
    why = answers.NOT_KEPT if parts is None else answers.NOT_ASKED
    return render_page("request.html", who.link, parts=parts, why=why)


@router.post("/parts/judge")
async def submit_judgement(
    request: Request, service: Served, who: Visitor, session: Named, turn: Id, form: Form
) -> Response:
    """A person's word on an answer."""
    if (word := form["word"]) not in ("right", "wrong"):
        raise InputError("The form says neither right nor wrong; go back and choose one of the two.")
    judged = AnswerJudgement(session=session, turn=turn, right=word == "right")
    heard = await answers.post_judgement(service, who.name, judged)
    if request.headers.get("hx-request"):
        return Response(f'<p class="judged sub" role="status">You said: it was {word}. {heard.said}</p>')
    return RedirectResponse(make_address("/", who.link, session=session), 303)


async def _list_sessions(service: Service, user: str) -> list[tuple[Sitting, str]]:
    """The sessions of a user, the latest first, each with how it begins."""
    sittings = await service.store.read(store_views.list_sittings, user, None, SESSIONS)
    begins = await service.store.read(store_views.first_lines, user, [sitting.id for sitting in sittings])
    talks = [sitting for sitting in sittings if sitting.name != ADDED]  # what was added by hand is no conversation
    return [
        (sitting, begins.get(sitting.id, ERASED)) for sitting in sorted(talks, key=lambda sitting: -sitting.last_at)
    ]


async def _list_turns(service: Service, user: str, session: str) -> list[ShownTurn]:
    stretch = await service.store.read(store_views.read_talk, user, session, None, TURNS)
    return await _show_turns(service, user, turns.of_session(session, stretch)) if stretch else []


async def _show_turns(service: Service, user: str, known: Sequence[TurnFacts]) -> list[ShownTurn]:
    """Turns with the texts of the memories and lessons that they name."""
    store = service.store
    ids = sorted({memory.id for facts in known for memory in facts.recalled})
    memories = await store.read(store_views.find_memories, user, ids)
    pieces = await curation.list_pieces(store, user) if any(facts.lessons for facts in known) else []
    lessons = {piece.kept.id: piece.kept for piece in pieces}
    shown = [turns.show_turn(facts, memories, lessons, service.mind.controls) for facts in known]
    return [
        replace(turn, can_undo=bool(await find_saved(store, user, turn.facts.session, turn.facts.turn)))
        if turn.says_saved
        else turn
        for turn in shown
    ]


# --- over time ---------------------------------------------------------------------------------------------------


@router.get("/operate")
async def over_time(service: Served, who: Visitor) -> Response:
    """For operators: how it does, snapshots, adaptations, and signals as they happen."""
    noticed = await service.store.read(store_views.list_latest_entries, who.name, [], NOTICED)
    figures = await _over_time(service, who.name)
    return render_page("operate.html", who.link, who=who, here="operate", noticed=noticed, **figures)


@router.get("/parts/time")
async def time_part(service: Served, who: Visitor) -> Response:
    """Of the page over time what changes with a turn."""
    return render_page("figures.html", who.link, **await _over_time(service, who.name))


@router.get("/parts/signals")
async def signals_part(service: Served, who: Visitor, after: Id = 0) -> Response:
    """The signals after one, the latest first."""
    entries = await service.store.read(store_views.list_entries, who.name, after, store_views.MOST)
    return render_page("signals.html", who.link, noticed=entries[::-1])


async def _over_time(service: Service, user: str) -> Mapping[str, Any]:
    regulator, store = service.mind.engine.regulator, service.store
    recent, ring = await store.read(store_views.list_latest_entries, user, [TURN], 1), regulator.ring
    performance = regulator.measure_performance(service.chat.model.model_name, store.now())
    return {
        "now": describe_now(performance, ring, recent, service.mind.controls),
        "adaptations": describe_adaptations(ring.adaptations),
        "snapshots": ring.snapshots[::-1],
        "schedule": ring.schedule,
        "taken": regulator.turns,
    }


# --- coding agents -----------------------------------------------------------------------------------------------


WORDS = {
    "helped": "Noted: it helped. What it is about is said there as before.",
    "wrong": "Noted as a false alarm: what it is about is not said there again, until you say that it helped.",
}
"""What a person may say of a text of the hook, and what they are told then."""


@router.get("/agents")
async def show_agents(service: Served, who: Visitor, said: Word = "") -> Response:
    """Whether notes to this machine's coding agents help; they are its owner's, so not where several have tokens."""
    own = not service.keys
    hooks = await run_in_threadpool(measure_lately, str(places.find_home())) if own else None
    return render_page("agents.html", who.link, who=who, here="agents", own=own, hooks=hooks, said=WORDS.get(said, ""))


@router.post("/agents/word")
async def word_on_a_text(service: Served, who: Visitor, form: Form) -> Response:
    """A person's word on a text of the hook, as `insula worth wrong` and `helped` take it."""
    if service.keys:
        raise HTTPException(404, "The hooks of coding agents belong to the owner of this machine: insula worth.")
    if (word := form["word"]) not in WORDS:
        raise InputError("The form says neither that it helped nor that it was wrong; go back and choose one.")
    await run_in_threadpool(note_verdict, str(places.find_home()), form["id"], right=word == "helped", now=time.time())
    return RedirectResponse(f"{make_address('/agents', who.link, said=word)}#worth-h", 303)


# --- who is here -------------------------------------------------------------------------------------------------


@router.get("/sign-in")
async def sign_in(service: Served, wrong: bool = False) -> Response:
    """The form that asks for a token; where there are none, there is nothing to sign in to."""
    if not service.keys:
        return RedirectResponse("/", 303)
    return render_page("sign_in.html", "", wrong=wrong, gone=NONE_LEFT if service.keys.are_gone else "")
