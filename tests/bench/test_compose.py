"""The messages that heads are trained on: their labels follow their parts."""

import re
from collections import Counter, defaultdict

import pytest

from insula_bench.compose import MARKED, SLOT, Composed, compose, list_languages, load_table

LANGUAGES = ["de", "en", "es", "fr", "it", "ja", "pt", "zh"]
GROUPS = {
    "personal": 50,
    "world": 110,
    "request": 45,
    "general": 45,
    "shaped": 20,
    "statement": 60,
    "no_statement": 60,
    "preference": 45,
    "for_now": 40,
    "no_preference": 40,
    "correction": 20,
    "thanks": 12,
    "follow_up": 20,
}


@pytest.fixture(scope="module")
def messages() -> list[Composed]:
    """What one seed makes."""
    return list(compose())


def test_every_language_has_the_least_number_of_groups_a_kind(messages: list[Composed]) -> None:
    """A head learns from many templates, and not from many fillings of a few."""
    groups: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for message in messages:
        groups[message.language, message.kind].add(message.group)
    assert list_languages() == LANGUAGES
    few = {
        (language, kind): len(groups[language, kind])
        for language in LANGUAGES
        for kind, least in GROUPS.items()
        if len(groups[language, kind]) < least
    }
    assert not few
    assert {kind for _, kind in groups} == set(GROUPS)


def test_each_language_has_as_many_messages_as_asked_for_and_none_twice(messages: list[Composed]) -> None:
    """No message is both in the training half and in the held-out half."""
    assert Counter(message.language for message in messages) == dict.fromkeys(LANGUAGES, 1500)
    times = Counter((message.language, message.text) for message in messages)
    assert not {message for message, number in times.items() if number > 1}


def test_spans_are_what_the_templates_mark(messages: list[Composed]) -> None:
    """A span's offsets hold after joining, and after the message has been put into another shape."""
    marked = _list_marked()
    for message in messages:
        assert not set("⟦⟧") & set(message.text)
        assert not SLOT.search(message.text)
        for span in message.spans:
            said = message.text[span.start : span.end]
            assert said == said.strip() != ""
            assert span.owner and span.matter and span.value
            if not {"typos", "short"} & set(message.ways):
                patterns = (pattern for group in (message.group, *message.beside) for pattern in marked[group])
                assert any(pattern.fullmatch(_strip_pauses(said)) for pattern in patterns), message


def _list_marked() -> dict[str, list[re.Pattern[str]]]:
    templates = [template for language in list_languages() for template in load_table(language)["templates"]]
    return {
        template["group"]: [
            re.compile(".+".join(re.escape(_strip_pauses(part)) for part in SLOT.sub("\0", mark).split("\0")))
            for mark in MARKED.findall(template["text"])
        ]
        for template in templates
    }


def _strip_pauses(text: str) -> str:
    return re.sub(r"[^\w\0]", "", text).lower()


def test_labels_follow_the_parts(messages: list[Composed]) -> None:
    """A pasted part changes nothing, and what is quoted is not the user's."""
    ways: defaultdict[str, list[Composed]] = defaultdict(list)
    for message in messages:
        for way in message.ways:
            ways[way].append(message)
    assert {message.kind for message in ways["quoted"]} == {"request"}
    assert not any(message.spans or message.scope or message.slot for message in ways["quoted"])
    assert {message.kind for message in ways["own statement"]} == {"personal", "preference"}
    assert all(message.spans for message in ways["own statement"])
    for message in messages:
        assert bool(message.scope) == (message.kind == "preference")
        assert bool(message.slot) == (message.kind in {"preference", "shaped"})
        assert message.spans or message.kind != "statement"
        assert not message.spans or message.kind != "no_statement"


def test_a_held_out_half_of_the_names_is_not_in_the_other(messages: list[Composed]) -> None:
    """What a head knows of one half's names says nothing of the other's."""
    for language in LANGUAGES:
        for words in load_table(language)["vocabulary"].values():
            assert not set(words[::2]) & set(words[1::2])
    halves = Counter(message.names for message in messages)
    assert set(halves) == {f"{language}-{half}" for language in LANGUAGES for half in (0, 1)}
    assert min(halves.values()) > 600
