"""The pictures of a report: images that can be opened, with all of what they say inside their edges."""

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from insula_bench import plots

PAPER = 1.0
"""Of each channel of a white pixel."""
INCHES = plots.DPI
LONG = [f"adaptive_self_consistency@{number}" for number in range(9)]


def opened(picture: bytes) -> Any:
    """Rows of pixels, as matplotlib itself reads them."""
    from matplotlib.image import imread

    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return imread(io.BytesIO(picture))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def told(rows: list[tuple[float, float, float]], auroc: float | None = 0.8) -> dict[str, Any]:
    return {"reliability": rows, "auroc": auroc, "ece": 0.1}


def arm(tokens: float, accuracy: float, low: float, high: float) -> dict[str, Any]:
    return {"tokens": tokens, "accuracy": accuracy, "interval": [low, high]}


CROWDED = {name: arm(900.0 * at, 0.1 * at, 0.1 * at - 0.05, 0.1 * at + 0.05) for at, name in enumerate(LONG, 1)}
MANY = [(1_000.0, 0.1, 0.2), (3_000.0, 1.0, 1.0)]
PICTURES: dict[str, Callable[[], bytes]] = {
    "one method that is always right": lambda: plots.accuracy_against_tokens({"direct": arm(450.0, 1.0, 0.7, 1.0)}),
    "methods with long names": lambda: plots.accuracy_against_tokens(CROWDED),
    "a confidence of one answer": lambda: plots.reliability("direct", {"likelihood": told([(1, 0.9, 1.0)], None)}),
    "thousands of answers": lambda: plots.reliability("insula", {name: told(MANY) for name in LONG[:4]}),
    "no confidence at all": lambda: plots.reliability("self_refine", {}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_opened_is_of_a_readable_size_and_nothing_is_cut_off_at_its_edges(name: str) -> None:
    drawn = PICTURES[name]()
    assert drawn == PICTURES[name](), "the same figures give the same bytes"
    pixels = opened(drawn)
    height, width, _ = pixels.shape
    assert 4 * INCHES <= width <= 8 * INCHES
    assert 3 * INCHES <= height <= 8 * INCHES
    assert pixels[..., :3].min() < 0.5, "there is ink"
    edges = (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])
    assert all((edge[..., :3] == PAPER).all() for edge in edges), "and none of it touches an edge"


def test_it_says_that_pictures_can_be_made_and_else_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plots.missing() is None
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert plots.missing() == "plots need matplotlib; for them, run: pip install matplotlib"
