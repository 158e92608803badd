"""The page of a look back: harmless whatever a transcript holds, whole without a script, small, useful when empty."""

import base64
import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pages
import pytest

from insula.coding.replay import figures, page
from insula.coding.replay.gather import KEPT
from insula.coding.replay.model import (
    GivenWord,
    Moment,
    Replayed,
    TimelinePoint,
    Totals,
)
from insula.coding.replay.visible import show_safely
from insula.errors import InputError

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'><svg/onload=alert(3)>",
    "<!-- --><details open ontoggle=alert(4)>",
    "javascript:alert(5)//{{ 7 * 7 }}{% raw %}",
    "invoice\u202efdp.exe\u2066\u200b",
    "\x00\x1b[31m\x07\x7f\x9b\ud800\U000e0041",
    "]]>\u2028\u2029</style></title></textarea>",
    "A" * 10_000,
    "&lt;b&gt;&#x3c;/script&#x3e;",
)


class Parsed(HTMLParser):
    """Elements with their attributes in order, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[tuple[str, str], ...]]] = []
        self.texts: list[str] = []
        self.inside: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple((name, value or "") for name, value in attrs)))
        self._open = tag
        if tag in {"script", "style"}:
            self.inside.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open in self.inside:
            self.inside[self._open][-1] += data

    def values(self, name: str) -> list[str]:
        """Of an attribute, wherever it stands."""
        return [value for _, attributes in self.elements for key, value in attributes if key == name]


def spoilt(value: Any, say: Callable[[], str]) -> Any:
    """The same value with every text that is not empty replaced, and every key of a mapping."""
    if isinstance(value, str):
        return say() if value else value
    if isinstance(value, dict):
        mapping = cast("dict[Any, Any]", value)
        made = {spoilt(key, say): spoilt(one, say) for key, one in mapping.items()}
        return Counter(made) if isinstance(value, Counter) else made
    if isinstance(value, list):
        return [spoilt(one, say) for one in cast("list[Any]", value)]
    if isinstance(value, (Replayed, Moment, TimelinePoint, Totals, GivenWord)):
        named = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return type(value)(**{name: spoilt(one, say) for name, one in named.items()})
    return value


def shape(text: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """The elements of a page with their attributes; anchors by the order in which they come."""
    seen: dict[str, str] = {}

    def ordinal(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], f"session-{len(seen)}")

    return Parsed(re.sub(r"session-[0-9a-f]{10}", ordinal, text)).elements


def spoilt_page(words: tuple[str, ...]) -> str:
    """A page in which every text of every session is one of these, each distinct."""
    sessions = pages.week(14, 60)
    totals = pages.totals(sessions)
    totals.passed_over, totals.incomplete = {"a": "b"}, {"c": "d"}
    given = GivenWord(words="w", kind="ban", at=1.8e9, step=1, broken=[2], by="Bash x", unmet="u", project="p")
    totals.words, totals.given = [given], 1
    sessions[0].words = [given, dataclasses.replace(given, broken=[])]
    turn = iter(range(10**9))

    def say() -> str:
        number = next(turn)
        return f"{words[number % len(words)]}{number}" if len(words[number % len(words)]) < 99 else words[-2]

    said: dict[str, str] = {}
    for one in sessions:  # a moment names its session by the same text
        said.setdefault(one.id, say())
    bad = spoilt(sessions, say)
    for was, now in zip(sessions, bad, strict=True):
        now.id = said[was.id]
    bad_totals: Totals = spoilt(totals, say)
    bad_totals.worst = [
        dataclasses.replace(now, session=said[was.session])
        for was, now in zip(totals.worst, bad_totals.worst, strict=True)
    ]
    return page.render_page(bad, bad_totals)


def test_no_text_of_a_transcript_becomes_an_element_or_an_attribute() -> None:
    assert shape(spoilt_page(HOSTILE)) == shape(spoilt_page(("plain words", "more of them")))


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_text_is_shown_as_text(words: str) -> None:
    one = pages.session(1, 30, stuck=1)
    one.project, one.path = words, words
    one.points = [dataclasses.replace(point, tool=words, target=words) for point in one.points]
    parsed = Parsed(page.render_page([one], pages.totals([one])))
    assert any(show_safely(words, 20)[:20] in text for text in parsed.texts)
    assert "script" not in parsed.inside


def test_what_cannot_be_seen_is_made_visible() -> None:
    assert show_safely("a\u202eb") == "a‹U+202E›b"
    assert show_safely("\x1b[31m\nx\ty\x7f\ud800") == "␛[31m↵x y␡‹U+D800›"
    assert show_safely("x" * 500, 10) == "x" * 10 + "…"
    assert show_safely("naïve – 日本語 \u00a0") == "naïve – 日本語 \u00a0"


def test_the_policy_lets_no_script_run_only_this_style_and_nothing_be_fetched() -> None:
    sessions = pages.week(3, 40)
    parsed = Parsed(page.render_page(sessions, pages.totals(sessions)))
    policy = next(value for value in parsed.values("content") if "default-src" in value)
    digest = base64.b64encode(hashlib.sha256(parsed.inside["style"][0].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    names = {name for _, attributes in parsed.elements for name, _ in attributes}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "style", "srcset", "action"}
    assert all(value.startswith("#") for value in parsed.values("href"))
    assert "//" not in parsed.inside["style"][0].replace("/*", "")


def test_every_link_has_a_place_and_every_place_is_there_once() -> None:
    sessions = pages.week()
    sessions += sessions[:2]  # the same files, given twice
    parsed = Parsed(page.render_page(sessions, pages.totals(sessions)))
    ids = Counter(parsed.values("id"))
    assert max(ids.values()) == 1
    assert {value[1:] for value in parsed.values("href")} <= set(ids)


def test_the_worst_moment_is_one_click_away_without_a_script() -> None:
    sessions = pages.week()
    totals = pages.totals(sessions)
    text = page.render_page(sessions, totals)
    anchor = Parsed(text[text.index("Worst moments") :]).values("href")[0][1:]
    place = text[text.index(f'<li id="{anchor}"') :]
    assert place.index(figures.format_tokens(totals.worst[0].tokens)) < place.index("</li>")
    opened = text.rindex("<details", 0, text.index(f'<li id="{anchor}"'))
    assert anchor.startswith(re.findall(r'id="(session-\w+)"', text[opened:])[0])


def test_sessions_without_an_action_a_time_or_a_timeline_are_no_trouble() -> None:
    idle = Replayed(id="idle", host="codex", path="x")
    dropped = dataclasses.replace(pages.session(2, 50), points=[])
    timeless = pages.session(3, 50, stuck=1)
    timeless.began = timeless.ended = 0.0
    timeless.points = [dataclasses.replace(point, at=0.0) for point in timeless.points]
    wild = pages.session(4, 50, stuck=1)
    wild.began, wild.ended, wild.project = 1e300, float("nan"), ""
    wild.moments = [dataclasses.replace(moment, at=-1e18) for moment in wild.moments]
    text = page.render_page([idle, dropped, timeless, wild], pages.totals([idle, dropped, timeless]))
    assert text.count('<details class="session') == 3
    assert "left out to bound the memory" in text


def test_a_page_of_fifty_long_sessions_stays_small() -> None:
    long = pages.session(1, 1_000, stuck=9)
    long.points = [dataclasses.replace(one, target=f"{one.step}{'漢' * 110}") for one in long.points]
    sessions = [dataclasses.replace(long, id=str(number)) for number in range(KEPT)]
    assert len(page.render_page(sessions, pages.totals([long])).encode()) < 5_000_000


def test_the_page_is_written_and_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    page.write_page(tmp_path / "page.html", pages.week(2, 30), pages.totals(pages.week(2, 30)))
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!doctype html><!-- insula replay -->\n")
    with pytest.raises(InputError, match="nowhere"):
        page.write_page(tmp_path / "nowhere" / "page.html", [], Totals())
