"""The benchmark of the self-monitor reads what it should, and its figures are what they say."""

import csv
import io
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from insula_bench.monitor import measure
from insula_bench.monitor_dialogues import BASELINES, fitted_elsewhere, spearman
from insula_bench.monitor_languages import languages

GOOD = "My dog loves long walks in the forest, and yours?"
BAD = "I do not know know what to to say say say."
ENGLISH = "The capital of the country is a large city by the river, and many of the people live in the old part of it."
GERMAN = "Die Hauptstadt des Landes ist eine große Stadt am Fluss, und viele der Menschen leben in der Mitte der Stadt."


def rated(response: str, rating: float, what: str = "overall") -> dict[str, Any]:
    return {"context": "Hi!\nDo you like your dog ?", "response": response, "annotations": {what: [rating, rating]}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "dialogue_quality" / "dstc10_dev"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        records = [rated(GOOD, 5), rated("Yes, a big one.", 4), rated("Yes .", 3), rated(BAD, 1)]
        (folder / f"{name}_eval.json").write_text(json.dumps(records), "utf-8")
    (folder / "dialogues_eval.json").write_text(json.dumps([{"context": "Hi!", "annotations": {"overall": [3]}}]))
    return tmp_path


def test_sets_that_are_missing_are_left_out_and_ours_is_compared_with_one_feature_on_all(data: Path) -> None:
    figures = measure(data)
    assert set(figures["sets"]) == {"one", "two"}
    assert figures["sets"]["one"]["spearman"] > 0
    assert figures["mean_spearman"] == pytest.approx(figures["sets"]["one"]["spearman"])
    assert figures["mean_baseline_spearman"] == max(figures["mean_baselines"].values())
    assert set(figures["sets"]["one"]["baselines"]) == set(BASELINES)
    assert figures["us_per_call"] > 0
    assert "language_f1" not in figures and "correction_auroc" not in figures


def test_spearman_shares_the_ranks_of_ties() -> None:
    one, other = np.array([1.0, 2.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    assert spearman(one, other) == pytest.approx(0.9486833)
    assert spearman(one, -other) == pytest.approx(-0.9486833)
    assert spearman(one, np.ones(4)) == 0.0


def test_a_fit_never_sees_the_set_that_it_is_measured_on() -> None:
    draw = np.random.default_rng(0)
    signs = {name: draw.normal(size=(40, 2)) for name in "abc"}
    ratings = {name: (1 if name != "c" else -1) * signs[name][:, 0] for name in "abc"}
    assert fitted_elsewhere("c", signs, ratings) < -0.9
    ratings["c"] = -ratings["c"]
    assert fitted_elsewhere("c", signs, ratings) > 0.9


def written(rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


@pytest.fixture
def confused(tmp_path: Path) -> Path:
    prompts = {"en": "What is the capital of the country, and who are the people?", "de": "Was ist die Stadt am Fluss?"}
    with zipfile.ZipFile(tmp_path / "test_sets.zip", "w") as archive:
        for code, text in {"en": ENGLISH, "de": GERMAN}.items():
            rows = [{"prompt": prompts[code]}, {"prompt": text}]
            archive.writestr(f"test_sets/monolingual/aya/{code}.csv", written(rows))
    replies = {"en": (ENGLISH, GERMAN), "de": (GERMAN, f"```python\n{ENGLISH}\n```")}
    rows = [
        {"id": str(i), "task": "monolingual", "source": "aya_human_annotated", "language": code, "completion": text}
        for code, texts in replies.items()
        for i, text in enumerate(texts)
    ]
    (tmp_path / "model.csv.xz").write_bytes(lzma.compress(written(rows).encode()))
    return tmp_path


def test_only_replies_in_their_language_count_and_each_is_kept_and_swapped(confused: Path) -> None:
    figures = languages(confused)
    assert (figures["language"]["replies"], figures["language"]["in_their_language"]) == (4, 2)
    assert figures["language"]["n"] == 4
    assert figures["language_f1"] == 1.0
    assert figures["language"]["false_on_code"] == {"n": 1, "flagged": 0, "examples": []}
