"""What a user may do with all that is kept of them: take it along, put a copy aside, have it erased."""

import asyncio
import secrets
from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Response
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.background import BackgroundTask

from insula.memory.privacy import custody
from insula.memory.privacy.custody import UserFiles
from insula.memory.storage.store import NAME_CHARS
from insula.server import tokens
from insula.server.api.schema import ApiModel, RequestBody
from insula.server.middleware import same_site
from insula.server.problems import document_problems
from insula.server.service import Service
from insula.server.users import CurrentUser, Served

router = APIRouter(prefix="/agent/data", tags=["data"])

ARCHIVE = "application/jsonl"
LOG_FILE = "insula.log"
TALKS = "This user is being answered just now; wait for the answer, then erase."
NOWHERE = "This server keeps its memory in no folder of its own, so there is nothing to write a copy to."


class ErasureConfirmation(RequestBody):
    """That an erasure is meant: the name of the user, written out."""

    name: str = Field(max_length=NAME_CHARS)


class ErasedUser(ApiModel):
    """That nothing is kept any more."""

    erased: bool = True
    left: str | None = None
    """What is left to do, if anything."""


class KeptBackup(ApiModel):
    """That a copy is kept, and how many there are."""

    copies: int


@router.get(
    "/export",
    response_class=Response,
    dependencies=[Depends(same_site)],
    responses={
        200: {"description": "An archive, as `insula user import` takes it.", "content": {ARCHIVE: {}}},
        **document_problems(401, 403, 404, 422, 503, 507),
    },
)
async def export_data(service: Served, user: CurrentUser) -> Response:
    """All that is known of a user, as one archive with a checksum."""
    house = await _find_house(service, user)
    target = house.home / f".export-{secrets.token_hex(8)}"
    await custody.export_user(service.store, user, house.soul, target)
    return FileResponse(
        target,
        media_type=ARCHIVE,
        filename=f"{house.soul.parent.name}.insula.jsonl",
        background=BackgroundTask(target.unlink, missing_ok=True),
    )


@router.post("/backup", responses=document_problems(401, 403, 404, 422, 503, 507))
async def back_up_data(service: Served, user: CurrentUser) -> KeptBackup:
    """Put a copy of all that is known of a user aside, on the machine of the server; the last ten are kept."""
    house = await _find_house(service, user)
    await custody.backup_user(service.store, user, house)
    return KeptBackup(copies=len(custody.list_backups(house)))


@router.post("/erase", responses=document_problems(401, 403, 404, 409, 422, 503, 507))
async def erase_data(service: Served, user: CurrentUser, meant: Annotated[ErasureConfirmation, Body()]) -> ErasedUser:
    """Erase a user for good, with the copies, the tokens and the log; the name in the body says that it is meant."""
    if meant.name != user:
        raise HTTPException(422, "The name is not that of this user, so nothing was erased; write it as it is.")
    house = await _find_house(service, user)
    if service.turns.count_turns(user):
        raise HTTPException(409, TALKS)
    await asyncio.to_thread(tokens.revoke_user, house.home / tokens.FILE, user)
    left = await custody.erase_user(service.store, user, house)
    return ErasedUser(left=service.hide_machine(left) or None)


async def _find_house(service: Service, user: str) -> UserFiles:
    if await service.store.nights.find_user_id(user) is None:
        raise HTTPException(404, "Nothing is known of this user.")
    soul = service.soul_of(user)
    if service.home is None or soul is None:
        raise HTTPException(404, NOWHERE)
    return UserFiles(service.home, soul, service.home / LOG_FILE)
