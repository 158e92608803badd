"""No sentence before a model changes without its figures."""

import json
from pathlib import Path

from insula_bench.help.gate import FILE, digest

FIGURES = Path(__file__).parents[2] / "docs" / "benchmarks" / "help" / FILE


def test_the_sentences_before_a_model_are_those_whose_figures_stand_in_the_repository() -> None:
    stored = json.loads(FIGURES.read_text("utf-8"))["words"]
    assert stored == digest(), "A sentence before the model has changed: run `make bench-help`, and read the figures."
