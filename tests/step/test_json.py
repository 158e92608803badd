"""What the hook reads and writes as JSON, without the half of `json` that it cannot afford, is as `json` has it."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import insula
from insula.value import dump_json, load_json

TEXTS = (
    '{"a": [1, 2.5, -0.0, 1e400, true, null, "\\u00e9\\ud83d"], "a": {}}',
    " \n[1]\t\r\n",
    '"alone"',
    "1 2",
    "",
    "nul",
    '{"a":}',
    "[1,]",
    '{"a":1}x',
    '"a\nb"',
    "\ufeff[1]",
    "9" * 5_000,
    "[" * 100_000,
)
VALUES: tuple[object, ...] = (
    {"b": [1, 2.5, True, None, 'é\ud83d"\n'], "a": (1, {"z": -math.inf, "y": ()})},
    {1: "a", None: "b", 2.5: "c"},
    {"a": {1, 2}},
    {(1, 2): 3},
    b"bytes",
)


def outcome(function: object, value: object, **options: object) -> str:
    """What comes of it, an error by its kind; `repr`, since -0.0 == 0.0."""
    assert callable(function)
    try:
        return repr(function(value, **options))
    except (ValueError, TypeError, RecursionError) as error:
        return f"{type(error).__name__} {error if isinstance(error, ValueError) else ''}"


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_is_read_as_json_reads_it(text: str) -> None:
    assert outcome(load_json, text) == outcome(json.loads, text)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        data = text.encode(encoding, "surrogatepass")
        assert outcome(load_json, data) == outcome(json.loads, data)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_is_written_as_json_writes_it(value: object) -> None:
    short = {"separators": (",", ":")}
    assert outcome(dump_json, value) == outcome(json.dumps, value, **short)
    ordered = outcome(json.dumps, value, **short, sort_keys=True, ensure_ascii=False)
    assert outcome(dump_json, value, sort_keys=True) == ordered


@pytest.mark.parametrize("missing", ["None", "type('other', (), {})"])
def test_a_python_that_has_it_in_another_shape_reads_and_writes_the_same(missing: str) -> None:
    program = f"""
import json, sys
sys.modules["_json"] = {missing}
from insula.value import dump_json, load_json
text = '{{"b":[1,"\\\\u00e9"],"a":null}}'
assert dump_json(load_json(text)) == text
assert dump_json(load_json(text), sort_keys=True) == '{{"a":null,"b":[1,"\\xe9"]}}'
"""
    folder = str(Path(insula.__file__).parent.parent)
    subprocess.run([sys.executable, "-S", "-c", program], env={"PYTHONPATH": folder}, check=True)
