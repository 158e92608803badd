"""What goes wrong, as an answer that says what to do: problem+json, RFC 9457."""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
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


ShowPage = Callable[[Problem], Response]
"""Makes the page that says what went wrong."""


def install_handlers(app: FastAPI, show_page: ShowPage) -> None:
    """Answer every error of the application with a problem, or with a page for a person, and describe what that is."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        description = described()
        _, known = models_json_schema([(Problem, "serialization")], ref_template="#/components/schemas/{model}")
        description["components"]["schemas"].update(known["$defs"])
        return description

    async def handle_error(request: Request, error: Exception) -> Response:
        return answer_error(request, error, show_page)

    app.openapi = openapi
    for kind in (errors.InsulaError, RequestValidationError, HTTPError):
        app.add_exception_handler(kind, handle_error)


def answer_error(request: Request, error: Exception, show_page: ShowPage | None = None) -> Response:
    """What went wrong, as a page where a person looks at one, else as a problem; who has no token is led to sign in."""
    person = show_page is not None and _is_for_a_person(request)
    if person and isinstance(error, HTTPError) and error.status_code == HTTPStatus.UNAUTHORIZED:
        if request.method == "GET":
            return RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
        error = HTTPException(HTTPStatus.FORBIDDEN, SIGNED_OUT)
    problem = _describe_error(error, request, _FOR_PEOPLE if person else _REMEDIES)
    if show_page is not None and person:
        return show_page(problem)
    return problem.make_response(error.headers if isinstance(error, HTTPError) else None)


def _describe_error(error: Exception, request: Request, known: Mapping[int, str]) -> Problem:
    if isinstance(error, errors.InsulaError):
        log.warning("%s", error)
        return Problem.of_error(error, request.app.state.service)
    if isinstance(error, RequestValidationError):
        return _describe_invalid(error, request, known)
    if not isinstance(error, HTTPError):
        log.error("A request failed.", exc_info=error)
        return Problem.of_failure(error)
    ours = isinstance(error, HTTPException) and error.status_code != HTTPStatus.BAD_REQUEST
    detail = error.detail if ours else known.get(error.status_code, error.detail)
    return Problem.of_status(error.status_code, str(detail))


_FOR_PEOPLE: Mapping[int, str] = {
    400: "The browser sent something that cannot be read; go back and try again.",
    404: "Nothing is at this address; it may have been mistyped, or it has moved.",
    405: "This address is not to be opened so; go to the start and find it from there.",
    422: "The address does not fit: a name may be too long, or a number is none. Go back and try again.",
}
_REMEDIES: Mapping[int, str] = {
    400: "The body cannot be read; send JSON in UTF-8, and not nested without end.",
    404: "There is nothing at this address; /openapi.json lists what there is.",
    405: "This address knows no such method; /openapi.json says which it knows.",
}
"""Sentences for what the framework itself refuses."""


def _is_for_a_person(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(PROGRAMS)


def _describe_invalid(error: RequestValidationError, request: Request, known: Mapping[int, str]) -> Problem:
    complaints = cast("Sequence[Mapping[str, Any]]", error.errors())
    faults = [_describe_fault(fault, request) for fault in complaints[:LISTED]]
    all_told = "; ".join(f"{fault.where}: {fault.why}" for fault in faults)
    unfit = f"The request does not fit: {all_told}. Mend it; /openapi.json says what is expected."
    return Problem.of_status(422, known.get(422, unfit), faults)


def _describe_fault(fault: Mapping[str, Any], request: Request) -> RequestFault:
    loc, why = cast("Sequence[str | int]", fault["loc"]), str(fault["msg"])
    where = show_harmless(".".join(map(str, loc)))
    if fault["type"] == "json_invalid":
        return RequestFault(where=where, why=f"it is no JSON from its character {loc[-1]} on")
    if list(loc) == ["body"] and not _is_json(request.headers.get("content-type", "")):
        return RequestFault(where="body", why="it does not say that it is JSON; send Content-Type: application/json")
    given = fault.get("input")
    if given is None or isinstance(given, str | int | float):
        why = f"{why} (given: {show_harmless(json.dumps(given, ensure_ascii=False))})"
    return RequestFault(where=where, why=why)


def _is_json(kind: str) -> bool:
    """Whether a Content-Type is one of JSON."""
    return kind.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def show_harmless(text: str) -> str:
    """A text from a request as an answer may repeat it: short, and without control characters."""
    text = clean_text(text).replace("\n", " ")
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
