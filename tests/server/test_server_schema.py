"""Schemathesis over the whole description: no request that it can think of makes the server fail.

It is loaded where it is used: each worker collects this file, and one runs it.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest import SkipTest

import jsonschema_rs
import pytest
from api_service import TOKENS
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

if TYPE_CHECKING:
    from schemathesis import GenerationMode

EXAMPLES = 2
"""Requests of each route and method that are as described, and that are not; by token, of every third one."""
ANA = {"Authorization": f"Bearer {TOKENS['ana']}"}


def _list_checks() -> list[Any]:
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as described

    conformance = (f"{what}_conformance" for what in ("status_code", "content_type", "response_schema"))
    return [cast(Any, checks).not_a_server_error, *(getattr(described, name) for name in conformance)]


def _ask(operation: Any, mode: "GenerationMode", headers: Mapping[str, str]) -> None:
    """Make requests of a kind, and see whether each answer is as described."""
    wanted = _list_checks()

    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def requests(case: Any) -> None:
        case.headers = {**(case.headers or {}), **headers}
        response = case.call()
        case.validate_response(response, checks=wanted)

    requests()


def test_no_request_makes_the_server_fail_or_answer_otherwise_than_described(
    app: FastAPI, request: pytest.FixtureRequest
) -> None:
    import schemathesis
    from schemathesis import GenerationMode

    headers = ANA if "by token" in request.node.name else {}
    schema: Any = schemathesis.openapi.from_asgi("/openapi.json", app, headers=headers)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 20
    for operation in operations[::3] if headers else operations:
        for mode in (GenerationMode.POSITIVE,) if headers else (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable, SkipTest):  # what has no parameters cannot be wrong
                _ask(operation, mode, headers)


@pytest.mark.parametrize("app", [{}], indirect=True)
def test_every_route_stands_on_its_page_with_its_methods(app: FastAPI) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/server.md").read_text("utf-8")
    told, methods, is_begun = set[str](), list[str](), False
    for word in re.findall(r"\bGET|POST|DELETE|(?<=[ `])/[^`]+", page.partition("## ")[0]):
        if word.startswith("/"):
            told.update(f"{method} {word}" for method in methods)
        else:
            methods = [*(methods if is_begun else ()), word]
        is_begun = not word.startswith("/")
    described = app.openapi()["paths"].items()
    assert {f"{method.upper()} {path}" for path, known in described for method in known} - told == set()


@pytest.mark.parametrize("app", [{}], indirect=True)
def test_every_example_is_as_described(app: FastAPI) -> None:
    components = {"components": {"schemas": app.openapi()["components"]["schemas"]}}
    examples = json.loads((files("insula.server.api") / "examples.json").read_text("utf-8"))
    for name, example in examples.items():
        validator = jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", **components})
        assert not [error.message for error in validator.iter_errors(example)], name
