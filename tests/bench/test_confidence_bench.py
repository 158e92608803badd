import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from insula.errors import InputError
from insula.memory.storage.store import MemoryRepository, Recollection
from insula_bench.confidence import run
from insula_bench.confidence_figures import equal_mass_ece
from insula_bench.confidence_probes import (
    ANOTHER,
    ANSWERABLE,
    AROUND_ERASED,
    ERASED,
    FOREIGN,
    SWAPPED,
    WRONG_DETAIL,
    talks,
)
from insula_bench.locomo import Conversation, Line, Question

THINGS = ("guitar", "garden", "ferry", "oven", "kite", "canoe", "quilt", "beehive")


def conversation(name: str, one: str, other: str, shift: int) -> Conversation:
    things = THINGS[shift:] + THINGS[:shift]
    lines = [
        Line(f"D1:{i}", "session 1", (one, other)[i % 2], f"I bought a {thing} in {place} and I love it.", 1e9 + 60 * i)
        for i, (thing, place) in enumerate(
            zip(things[:6], ("Rome", "Oslo", "Kyoto", "Lima", "Cairo", "Perth"), strict=True)
        )
    ]
    questions = [
        Question(f"Where did {(one, other)[i % 2]} buy the {things[i]}?", 4, frozenset({f"D1:{i}"})) for i in range(6)
    ]
    questions += [
        Question(f"Where did {(one, other)[1 - i % 2]} buy the {things[i]}?", 5, frozenset({f"D1:{i}"}))
        for i in range(4)
    ]
    return Conversation(name, (one, other), tuple(lines), tuple(questions))


TALKS = [conversation("a", "Ana", "Tom", 0), conversation("b", "Eva", "Max", 3)]


def kinds(world_probes: tuple[object, ...]) -> list[str]:
    return [getattr(one, "kind") for one in world_probes]  # noqa: B009


def test_each_question_is_asked_in_every_way_of_not_knowing() -> None:
    (world, _) = talks(TALKS)
    found = kinds(world.probes)
    assert [found.count(kind) for kind in (ANSWERABLE, ERASED, AROUND_ERASED, SWAPPED, ANOTHER)] == [6, 6, 6, 6, 4]
    assert found.count(FOREIGN) == 6
    assert WRONG_DETAIL not in found


def test_bins_of_equal_mass_tell_how_far_off_a_probability_is() -> None:
    import numpy as np

    p, ones = np.full(100, 0.8), np.ones(100)
    known = (np.arange(100) < 80).astype(float)
    assert equal_mass_ece(p, known, ones) == pytest.approx(0.0, abs=1e-9)  # pyright: ignore[reportUnknownMemberType]
    assert equal_mass_ece(p, np.zeros(100), ones) == pytest.approx(0.8)  # pyright: ignore[reportUnknownMemberType]


def locomo(folder: Path) -> None:
    folder.mkdir()
    raw = [
        {
            "sample_id": talk.name,
            "conversation": {
                "speaker_a": talk.speakers[0],
                "speaker_b": talk.speakers[1],
                "session_1_date_time": f"{datetime(2023, 5, 8, 13, 56, tzinfo=UTC):%I:%M %p on %d %B, %Y}",
                "session_1": [{"dia_id": one.id, "speaker": one.speaker, "text": one.text} for one in talk.lines],
            },
            "qa": [
                {"question": one.text, "category": one.category, "evidence": sorted(one.evidence)}
                for one in talk.questions
            ],
        }
        for talk in TALKS
    ]
    (folder / "locomo.json").write_text(json.dumps(raw), "utf-8")


BAG_OF_WORDS = """
import zlib

def embed(text):
    vector = [0.0] * 64
    for word in text.lower().rstrip(".?").split():
        vector[zlib.crc32(word.encode()) % 64] += 1.0
    return vector

def scalar(text):
    return 1.0

def broken(text):
    raise KeyError("no model")
"""


@pytest.fixture
def embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module with an embedding, and others that are none."""
    (tmp_path / "toy_embeddings.py").write_text(BAG_OF_WORDS, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "toy_embeddings", raising=False)


@pytest.mark.usefixtures("embeddings")
def test_the_command_tells_every_figure_leaves_out_what_is_missing_and_names_the_embedding_with_its_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    locomo(tmp_path / "locomo")
    found: list[float] = []
    recall = MemoryRepository.recall_memories

    async def listened(*args: Any, **options: Any) -> Recollection:
        recollection = await recall(*args, **options)
        found.extend(one.parts["cosine"] for one in recollection.recalled)
        return recollection

    monkeypatch.setattr(MemoryRepository, "recall_memories", listened)
    assert run(str(tmp_path), None, None, json=True, embed="toy_embeddings:embed") == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["locomo", "embedding"]
    assert report["embedding"]["name"] == "toy_embeddings:embed"
    assert report["embedding"]["ms"] > 0
    figures = report["locomo"]
    assert figures["kinds"][ANOTHER]["auroc"] > 0.9
    assert figures["recall_at_5"] == 1.0
    assert {"auroc", "interval", "ece", "brier_skill", "n", "evidence_auroc", "baselines", "ms_per_query"} <= set(
        figures
    )
    assert "are in" in figures["excluded"]
    assert any(found)


@pytest.mark.usefixtures("embeddings")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:embed", "cannot be imported"),
        ("toy_embeddings:broken", "failed at a text"),
    ],
)
def test_what_is_no_embedding_is_refused_before_anything_is_measured(tmp_path: Path, name: str, why: str) -> None:
    locomo(tmp_path / "locomo")
    with pytest.raises(InputError, match=why):
        run(str(tmp_path), None, None, json=True, embed=name)
