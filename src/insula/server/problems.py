"""What goes wrong, as an answer that says what to do: problem+json, RFC 9457."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException as HTTPError
from starlette.responses import JSONResponse, RedirectResponse, Response

from insula import errors
from insula.server.service import Service
from insula.text.analysis import clean_text

log = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
GENERIC: Final = "about:blank"
"""The type of a problem that its status says all about (RFC 9457, 4.2.1)."""
QUOTED = 60
"""Characters of a name from the request that an answer repeats at most."""
LISTED = 10
"""Faults of one request that an answer lists at most."""
RETRY_SECONDS = 5
"""After which a store or a model is worth another try."""
SIGN_IN: Final = "/sign-in"
SIGNED_OUT = "You are signed out, so nothing was changed. Sign in in another tab, then go back: your words are there."
PROGRAMS = ("/agent/", "/openapi.json")
"""Addresses that answer programs, and a person who looks at them with a problem, too."""

STATUSES: Mapping[type[errors.InsulaError], int] = {
    errors.NotFound: 404,
    errors.InputError: 422,
    errors.BudgetExceeded: 429,
    errors.ModelUnavailable: 503,
    errors.ModelTimeout: 504,
    errors.ModelError: 502,
    errors.StoreFull: 507,
    errors.StoreError: 503,
    errors.InsulaError: 500,
}
"""The status of each error; of one that is not named, that of the class that it is derived from."""

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


class RequestFault(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    why: str


class Problem(BaseModel):
    """What went wrong and what to do about it (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "urn:insula:store-locked",
                "title": "Store locked",
                "status": 503,
                "detail": "Another process has held the memory for too long; end it, then try again.",
            }
        }
    )

    type: str = GENERIC
    title: str
    status: int
    detail: str
    faults: list[RequestFault] | None = None
    """Of a request that does not fit: each thing that is wrong with it."""

    @classmethod
    def of_status(cls, status: int, detail: str, faults: Sequence[RequestFault] = ()) -> "Problem":
        """The problem that a status of HTTP says all about."""
        return cls(title=HTTPStatus(status).phrase, status=status, detail=detail, faults=list(faults) or None)

    @classmethod
    def of_error(cls, error: errors.InsulaError, service: Service, note: str = "") -> "Problem":
        """The problem that an error of ours is to users of a service; `note` is a sentence that is said as well."""
        kind = type(error)
        words = _WORDS.sub(" ", kind.__name__)
        return cls(
            type=f"urn:insula:{words.replace(' ', '-').lower()}",
            title=words.capitalize(),
            status=status_of(kind),
            detail=f"{service.hide_machine(str(error))} {note}".strip(),
        )

    @classmethod
    def of_failure(cls, error: BaseException) -> "Problem":
        """The problem that nobody thought of."""
        kind = type(error).__name__
        return cls.of_status(500, f"Insula failed on this request ({kind}); the log says more. Try again.")

    def make_response(self, headers: Mapping[str, str] | None = None) -> Response:
        """The response that says it."""
        waits = {"Retry-After": str(RETRY_SECONDS)} if self.status in {429, 503} else {}
        return JSONResponse(
            self.model_dump(exclude_none=True), self.status, {**waits, **(headers or {})}, media_type=MEDIA_TYPE
        )


def status_of(kind: type[errors.InsulaError]) -> int:
    """The status with which an error is answered."""
    return next(STATUSES[each] for each in kind.__mro__ if each in STATUSES)


def document_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may answer with problems of these statuses."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


ForPeople = Callable[[Exception, Service], Response | None]
"""Makes the page that says what went wrong; None where there is a better answer."""


def install_handlers(app: FastAPI, for_people: ForPeople) -> None:
    """Answer every error of the application with a problem, or with a page for a person, and describe what that is."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        description = described()
        _, known = models_json_schema([(Problem, "serialization")], ref_template="#/components/schemas/{model}")
        description["components"]["schemas"].update(known["$defs"])
        return description

    app.openapi = openapi
    app.add_exception_handler(errors.InsulaError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPError, partial(_on_http, for_people))


async def _on_ours(request: Request, error: Exception) -> Response:
    ours, service = cast(errors.InsulaError, error), cast(Service, request.app.state.service)
    log.warning("%s", ours)
    return Problem.of_error(ours, service).make_response()


async def _on_http(for_people: ForPeople, request: Request, error: Exception) -> Response:
    http, person = cast(HTTPError, error), _is_for_a_person(request)
    if http.status_code == HTTPStatus.UNAUTHORIZED and person:
        if request.method == "GET":
            return RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
        http = HTTPException(HTTPStatus.FORBIDDEN, SIGNED_OUT)
    ours = isinstance(http, HTTPException) and http.status_code != HTTPStatus.BAD_REQUEST
    known = _FOR_PEOPLE if person else _REMEDIES
    detail = http.detail if ours else known.get(http.status_code, http.detail)
    shown = for_people(HTTPException(http.status_code, detail), request.app.state.service) if person else None
    return shown or Problem.of_status(http.status_code, str(detail)).make_response(http.headers)


_FOR_PEOPLE: Mapping[int, str] = {
    400: "The browser sent something that cannot be read; go back and try again.",
    404: "Nothing is at this address; it may have been mistyped, or it has moved.",
    405: "This address is not to be opened so; go to the start and find it from there.",
}
_REMEDIES: Mapping[int, str] = {
    400: "The body cannot be read; send JSON in UTF-8, and not nested without end.",
    404: "There is nothing at this address; /openapi.json lists what there is.",
    405: "This address knows no such method; /openapi.json says which it knows.",
}
"""Sentences for what the framework itself refuses."""


def _is_for_a_person(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(PROGRAMS)


async def _on_invalid(_: Request, error: Exception) -> Response:
    complaints = cast("Sequence[Mapping[str, Any]]", cast(RequestValidationError, error).errors())
    faults = [
        RequestFault(where=show_harmless(".".join(map(str, fault["loc"]))), why=str(fault["msg"]))
        for fault in complaints[:LISTED]
    ]
    first = faults[0]
    detail = f"The request does not fit: {first.where}: {first.why}. Mend it; /openapi.json says what is expected."
    return Problem.of_status(422, detail, faults).make_response()


def show_harmless(text: str) -> str:
    """A text from a request as an answer may repeat it: short, and without control characters."""
    text = clean_text(text).replace("\n", " ")
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
