"""`POST /sign-in`: a token becomes a cookie, which no script can read and no other site's page can send.

`POST /sign-out` takes it away.
"""

from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from insula.server.problems import SIGN_IN, document_problems
from insula.server.users import COOKIE, refuse_token, service_of

router = APIRouter(tags=["users"])

WRONG = f"{SIGN_IN}?wrong=true"
_FORM = {
    "requestBody": {
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]},
                "example": {"token": "a-token-of-ana"},
            }
        }
    }
}


@router.post(
    SIGN_IN,
    status_code=303,
    response_class=RedirectResponse,
    responses={
        303: {"description": f"To the page, with the cookie {COOKIE!r}; to the form, where the token is not known."},
        **document_problems(403, 408, 413, 429),
    },
    openapi_extra=_FORM,
)
async def sign_in(request: Request) -> Response:
    """Keep a token as a cookie until the browser is closed."""
    service = service_of(request)
    if not service.keys:
        return RedirectResponse("/", 303)
    form = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=None)
    token = form.get("token", [""])[0].strip()
    if service.keys.find_token(token) is None:
        await refuse_token(request)
        return RedirectResponse(WRONG, 303)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=_is_https(request))
    return answer


def _is_https(request: Request) -> bool:
    """Whether the browser speaks TLS: behind a proxy that ends it, only the origin of the page says so."""
    return request.headers.get("origin", request.scope["scheme"]).startswith("https")


@router.post(
    "/sign-out",
    status_code=303,
    response_class=RedirectResponse,
    responses={303: {"description": "To the form, without the cookie."}, **document_problems(403, 408, 413)},
)
async def sign_out() -> Response:
    """Forget the cookie; the token itself stays in force."""
    answer = RedirectResponse(SIGN_IN, 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer
