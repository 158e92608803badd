"""From a model's text to a validated object: what a grammar does not enforce is put right here."""

import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

SCHEMAS = 64
"""Forms of answers whose schemas are kept; some are made for one question."""

T = TypeVar("T", bound=BaseModel)
Json = dict[str, Any]

_OPENING = re.compile(r'\{(?=\s*["}])')
"""Where an object may begin; a brace in prose is seldom followed by a quotation mark."""

_DECODER = json.JSONDecoder(strict=False)
"""Not strict: small models put bare line ends into strings."""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "number": (int, float),
    "integer": int,
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
    "null": type(None),
}


@lru_cache(maxsize=SCHEMAS)
def schema_of(schema: type[BaseModel]) -> dict[str, Any]:
    """The schema of a form, which takes milliseconds to make."""
    return schema.model_json_schema()


def parse_object(text: str, schema: type[T]) -> T:
    """The first object in `text` that is valid by `schema`, be it bare, in a fence or amid prose.

    Numbers are first clamped into their range and strings and lists cut to their length: a grammar lets floats out of
    range through (research: 7 of 12 samples), and a server without grammars everything.

    Raises:
        ValueError: If there is none; the message says what is wrong.
    """
    problem = "it holds no JSON object"
    shape = schema_of(schema)
    try:
        for candidate in _find_objects(text):
            try:
                return schema.model_validate(fit_value(candidate, shape, shape.get("$defs", {})))
            except ValidationError as error:
                problem = _first_problem(error)
    except json.JSONDecodeError as error:
        problem = f"its JSON is cut off or malformed ({error.msg} at character {error.pos})"
    raise ValueError(problem)


def fit_value(value: Any, shape: Json, definitions: Json) -> Any:
    """`value` with all numbers inside their range, and strings and lists within their greatest length.

    Args:
        shape: The JSON schema of `value`.
    """
    shape = _resolve_schema(value, shape, definitions)
    match value:
        case bool() | None:
            return value
        case int() | float():
            return _clamp_number(value, shape)
        case str():
            return value[: shape.get("maxLength")]
        case list():
            items = cast(list[Any], value)[: shape.get("maxItems")]
            return [fit_value(item, shape.get("items", {}), definitions) for item in items]
        case _:
            inner = shape.get("properties", {})
            return {key: fit_value(item, inner.get(key, {}), definitions) for key, item in cast(Json, value).items()}


def _clamp_number(value: float, shape: Json) -> float:
    whole = shape.get("type") == "integer"
    low, high = shape.get("minimum"), shape.get("maximum")
    if (above := shape.get("exclusiveMinimum")) is not None:
        low = above + 1 if whole else math.nextafter(above, math.inf)
    if (below := shape.get("exclusiveMaximum")) is not None:
        high = below - 1 if whole else math.nextafter(below, -math.inf)
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


def _resolve_schema(value: Any, shape: Json, definitions: Json) -> Json:
    """The schema that applies to `value`: references followed, and of alternatives the only one of its type."""
    if "$ref" in shape:
        shape = definitions.get(shape["$ref"].rpartition("/")[2], {})
    if "anyOf" not in shape:
        return shape
    resolved = [_resolve_schema(value, option, definitions) for option in shape["anyOf"]]
    fitting = [option for option in resolved if isinstance(value, _TYPES.get(option.get("type", ""), ()))]
    return fitting[0] if len(fitting) == 1 else {}


def _find_objects(text: str) -> Iterator[Json]:
    """The JSON objects in `text`, outermost ones only: a part of a broken object is no answer."""
    position = 0
    while opening := _OPENING.search(text, position):
        value, position = _DECODER.raw_decode(text, opening.start())
        yield value


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the object"
    return f"{where}: {first['msg']}"
