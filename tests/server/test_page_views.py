"""What the pages show, as values: in plain words, and silent about what is not known."""

import re

import pytest

from insula import Controls
from insula.memory.storage.rows import (
    LedgerEntry,
    SessionStretch,
    StoredPhaseReport,
    TranscriptLine,
)
from insula.night.cycle import PhaseName, PhaseReport, SleepReport
from insula.night.phases import PHASES
from insula.operations import nights
from insula.server.page import turns
from insula.server.page.markdown import LONGEST, as_html

NOW = 1_767_614_400.0


def entry(number: int, data: object, kind: str = "meta:turn") -> LedgerEntry:
    return LedgerEntry(number, "one", number, kind, "the turn is over", NOW + number, data)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"recalled": "x"},
        {"recalled": None, "seconds": "x", "usage": {}},
        {"assessment": {"score": 7, "parts": "x"}},
        {"confidence": None, "controls": [], "lessons": "x", "recalled": [{"id": -1}, {}]},
    ],
)
def test_a_ledger_of_another_version_takes_no_page_with_it(data: object) -> None:
    said = (TranscriptLine(1, 1, "user", "Hello", NOW, None, "user"),)
    (facts,) = turns.of_session("one", SessionStretch(said, (entry(1, data),)))
    assert facts.message == "Hello"
    assert turns.show_turn(facts, {}, {}, Controls()).recalled == ()


def test_a_report_of_another_version_is_told_as_far_as_it_is_understood() -> None:
    reports = [
        StoredPhaseReport(
            1,
            "2026-01-05",
            "soul",
            {"changes": [{"kind": "added"}], "says": ["1 change.", "Added: Be brief."]},
            NOW,
        ),
        StoredPhaseReport(2, "2026-01-06", "soul", {"changes": 7}, NOW),
        StoredPhaseReport(3, "2026-01-06", "trends", {}, NOW),
        StoredPhaseReport(4, "2026-01-06", "of a later version", {}, NOW),
    ]
    newest, oldest = nights.list_nights(reports)
    assert newest.changes == (nights.NightChange("A phase of another version of Insula."),)
    assert oldest.changes == (nights.NightChange("Added: Be brief."),)
    report = PhaseReport(name=PhaseName.SOUL, state="failed", why="The disk is full.")
    assert nights.describe_report(SleepReport(user="ana", date="night", phases=(report,))).failed


def test_a_night_that_has_not_ended_says_how_far_it_is() -> None:
    begun = [
        StoredPhaseReport(1, "2026-01-05", "summaries", {"summarised": {}}, NOW),
        StoredPhaseReport(2, "2026-01-05", "trends", {}, NOW),
    ]
    (going,) = nights.list_nights(begun, NOW + 60)
    assert (going.progress, going.goes_on) == (f"Under way: 2 of {len(PHASES)} steps are done.", True)
    (stopped,) = nights.list_nights(begun, NOW + 86_400)
    assert stopped.progress.startswith(f"Stopped after 2 of {len(PHASES)} steps")
    assert not stopped.goes_on
    (over,) = nights.list_nights([*begun, StoredPhaseReport(3, "2026-01-05", "end", {"up_to": 1}, NOW)], NOW + 60)
    assert not over.progress


# An answer in Markdown becomes HTML in which nothing runs, nothing is fetched, and nothing is endless


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "[a](vbscript:x)",
        "[a](//evil.example)",
        "[a](/sign-out)",
        "<javascript:alert(1)>",
        "[a]: javascript:alert(1)\n\n[a]",
        "![a](javascript:alert(1))",
        "![a](data:image/svg+xml;base64,PHN2Zz4=)",
        "<a href='https://evil.example' onclick='x()'>a</a>",
        "<style>*{display:none}</style>",
        "<form action='https://evil.example'><input></form>",
        "`<script>`",
        "~~~\n</code></pre><script>\n~~~",
        "| <img src=x onerror=x()> |\n|---|\n| <svg onload=x()> |",
        "# <iframe srcdoc=x>",
    ],
)
def test_markdown_that_means_harm_is_text(text: str) -> None:
    made = as_html(text)
    tags = set(re.findall(r"<(\w+)", made))
    assert tags <= {"p", "div", "button", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "h2"}
    assert not re.search(r"<[^>]*(href|src|style|\son\w+)=", made)


def test_a_link_leads_away_without_a_trace_and_a_picture_is_only_a_link() -> None:
    made = as_html('![a cat](https://evil.example/cat.png?who=ana "x") and [b](https://e.example/"onclick="x)')
    assert "<img" not in made
    assert made.count('rel="noopener noreferrer nofollow" target="_blank"') == 2
    assert 'href="https://evil.example/cat.png?who=ana"' in made
    assert "onclick=&#34;" in made or "onclick=%22" in made


def test_what_is_long_is_cut_and_says_so() -> None:
    long = as_html("word\n" * LONGEST)
    assert "The rest, as plain text (400,000 characters)" in long
    assert as_html("> " * 2_000).count("<blockquote>") < 30


def test_headings_of_an_answer_begin_below_those_of_the_page_and_skip_none() -> None:
    made = as_html("### a\n\n# b\n\n###### c\n\n## d")
    assert re.findall(r"<h(\d)", made) == ["2", "2", "3", "3"]
