"""What the pages show, as values: in plain words, and silent about what is not known."""

import re
from datetime import UTC, datetime

import pytest

from insula import Controls, Memory
from insula.guidance import SHOWN, WITHHELD
from insula.memory.storage.ledger import GuidancePiece
from insula.memory.storage.rows import (
    Cited,
    LedgerEntry,
    Revised,
    SessionStretch,
    StoredGuidance,
    StoredPhaseReport,
    TalkLine,
)
from insula.night import soul
from insula.night.cycle import PhaseName, PhaseReport
from insula.night.phases import PHASES
from insula.night.telling import describe_phase
from insula.operations import nights
from insula.operations.adaptations import describe_adaptations
from insula.operations.guidance import GuidanceItem, describe_pieces
from insula.server.page.markdown import LONGEST, MOST_ROWS, as_html
from insula.server.page.views import guidelines, times, turns, words
from insula.session.adaptation import Adaptation, AdaptationEffect
from insula.session.ring import Ring
from insula.session.saved import Saved
from insula.session.snapshot import Performance, Snapshot

NOW = 1_767_614_400.0
TURN = {
    "confidence": {"level": "low", "score": 0.12},
    "assessment": {"score": 0.62, "flags": ["incomplete"]},
    "hedged": True,
    "topic": ["lisbon", "ana"],
    "recalled": [7, 8],
    "usage": {"input": 120, "output": 40},
    "seconds": 1.25,
}


def entry(number: int, data: object, kind: str = "meta:turn") -> LedgerEntry:
    return LedgerEntry(number, "one", number, kind, "the turn is over", NOW + number, data)  # pyright: ignore[reportArgumentType]


def memory(number: int) -> Memory:
    return Memory(
        id=number,
        kind="semantic",
        provenance="user",
        speaker="user",
        content="Ana lives in Lisbon.",
        said_at=datetime.fromtimestamp(NOW, UTC),
        session="one",
        importance=0.5,
        confidence=1.0,
        line="Ana lives in Lisbon.",
    )


def kept(*evidence: tuple[str, str, bool, float], key: str = "asked/x", mode: str = "") -> StoredGuidance:
    return StoredGuidance(1, key, "Give the platform.", ("train",), "", "derived", mode, (3,), NOW, evidence)


@pytest.mark.parametrize(
    ("score", "word", "tone"),
    [(0.7, "good", "good"), (0.699, "doubtful", "doubt"), (0.5, "doubtful", "doubt"), (0.49, "poor", "poor")],
)
def test_the_words_for_a_score_change_where_what_is_done_about_it_does(score: float, word: str, tone: str) -> None:
    assert words.describe_quality(score) == (word, tone)


def test_a_turn_of_the_ledger_is_shown_as_far_as_it_is_known() -> None:
    said = (
        TalkLine(1, "user", "user", "Where does Ana live?", NOW, None),
        TalkLine(1, "assistant", "assistant", "In Lisbon.", NOW, 0.62),
        TalkLine(2, "user", "user", "And Ben?", NOW, None),
    )
    noticed = (entry(1, TURN), entry(2, {"hedged": False}))
    first, second = turns.of_session("one", SessionStretch(said, noticed))
    shown = turns.show_turn(first, {7: memory(7)}, {}, Controls())
    assert shown.sure is not None
    assert (shown.sure.word, shown.sure.score) == ("low", 0.12)
    assert shown.good is not None
    assert shown.good.word == "doubtful"
    assert [(memory.id, one.score) for memory, one in shown.recalled] == [(7, None)]
    assert shown.parts == []
    assert shown.allowed == ()
    assert shown.spent == ("120 tokens read and 40 written.", "1.2\N{NO-BREAK SPACE}s for the model.")
    assert second.error == turns.UNANSWERED
    assert turns.show_turn(second, {}, {}, Controls()).sure is None


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
    said = (TalkLine(1, "user", "user", "Hello", NOW, None),)
    (facts,) = turns.of_session("one", SessionStretch(said, (entry(1, data),)))
    assert facts.message == "Hello"
    assert turns.show_turn(facts, {}, {}, Controls()).recalled == ()


def test_an_adaptation_says_what_was_different_afterwards_and_not_because_of_it() -> None:
    first = Adaptation(at=NOW, lever="max_context_items", reason="performance_degraded", before=16, after=12)
    later = first.model_copy(update={"at": NOW + 9, "before": 12, "after": 16, "reason": "stable"})
    effect = AdaptationEffect(latency_p95_ms=-320.0, stm_utilization=-0.06)
    newest, oldest = describe_adaptations([first.model_copy(update={"effect": effect}), later])
    assert (oldest.change, oldest.why) == ("16 → 12", "the model had become slow")
    assert oldest.afterwards == "turns 320\N{NO-BREAK SPACE}ms faster; working memory 6 points emptier"
    assert (newest.change, newest.why, newest.afterwards) == (
        "12 → 16",
        "all was well",
        "not known before the next snapshot",
    )
    (unknown,) = describe_adaptations([first.model_copy(update={"effect": AdaptationEffect()})])
    assert unknown.afterwards == "nothing to compare"
    assert [one.saved for one in (oldest, unknown)] == ["", ""]
    (saving,) = describe_adaptations([first.with_saved(Saved(memories=3, history_chars=1_200))])
    assert saving.saved == "3 fewer memories shown, 1,200 fewer characters of the conversation sent"
    (same,) = describe_adaptations([first.model_copy(update={"effect": AdaptationEffect(latency_p95_ms=0.4)})])
    assert same.afterwards == "as before"


def test_how_it_stands_is_said_in_words() -> None:
    fallen = Adaptation(at=NOW, lever="max_context_items", reason="performance_degraded", before=16, after=12)
    snapshot = Snapshot(ts=NOW, turn_counter=5, performance=Performance(), stm_utilization=0.4)
    slow = Performance(latency_p95_ms=9_000.0, slowdown=2.4, degraded=True)
    lowered = [LedgerEntry(1, "s", 1, "meta:turn", "", NOW, {"controls": {"max_context_items": 12}})]
    ring = Ring(adaptations=(fallen,), snapshots=(snapshot,))
    told = times.describe_now(slow, ring, lowered, Controls())
    assert told.replace("\N{NO-BREAK SPACE}", " ") == (
        "The model takes 2.4 times as long as usual and working memory is 40 % full. "
        "Because the model had become slow, up to 12 memories went into your last answer instead of 16."
    )
    even = times.describe_now(Performance(slowdown=1.02), ring, [], Controls())
    assert even.startswith("The model is as fast as usual and working memory")
    usual = "There is too little to say whether the model is slow. Up to 16 memories go into an answer, as usual."
    elsewhere = Ring(adaptations=(fallen,))  # in somebody else's conversation
    assert times.describe_now(Performance(), elsewhere, [], Controls()) == usual


def describe(one: StoredGuidance, *cited: Cited) -> GuidanceItem:
    quoted = {each.id: each for each in cited}
    (made,) = describe_pieces([GuidancePiece(one, "")], quoted, NOW, soul.Document())
    return made


def test_not_enough_evidence_is_a_normal_state_and_says_what_there_is() -> None:
    lesson = describe(kept(("1", "none", True, NOW)))
    assert (lesson.state, lesson.standing, lesson.verdict) == ("not used yet", "waits", "not enough evidence")
    assert lesson.measured == "0 of 30 sessions with it, and 0 of 30 without"
    assert lesson.waits == "Used once 2 conversations show the need; 1 did so far."
    assert lesson.effect is None


def test_an_effect_is_shown_with_its_interval() -> None:
    evidence = [(str(n), SHOWN, n < 3, NOW) for n in range(40)]
    evidence += [(str(100 + n), WITHHELD, n < 30, NOW) for n in range(40)]
    lesson = describe(kept(*evidence, key="mistake/x"))
    assert lesson.verdict == "works"
    assert "failed in 3 of 40 sessions with it and 30 of 40 without" in lesson.measured
    assert lesson.why == "Missed in 30 sessions without it; followed 37 times and ignored 3 times."
    assert lesson.effect is not None
    bar = words.make_bar(lesson.effect)
    assert 50 < bar.low < bar.middle < bar.high <= 100


def test_a_difference_shows_what_a_reader_sees_and_no_marks() -> None:
    first = soul.revise_document(soul.Document(), add=[("Personality", "p1", "Be brief.")])
    second = soul.revise_document(first, reword={"p1": "Be calm."}, add=[("Known patterns", "p2", "Asks at night.")])
    past = [Revised(2, "person", soul.render_document(second), {"why": "back to 1"}, NOW)]
    past.append(Revised(1, "night", soul.render_document(first), {"changes": [{}, {}]}, NOW))
    newest, oldest = guidelines.list_revisions(past)
    assert (newest.author, newest.why, oldest.author, oldest.why) == ("you", "back to 1", "the night", "2 changes")
    assert newest.diff == (
        ("same", "## Personality"),
        ("removed", "- Be brief."),
        ("added", "- Be calm."),
        ("added", "## Known patterns"),
        ("added", "- Asks at night."),
    )
    assert oldest.diff == (("added", "## Personality"), ("added", "- Be brief."))
    assert guidelines.compare_documents(soul.render_document(first), soul.render_document(first)) == ()
    assert guidelines.list_revisions([]) == []
    assert [line.text for line in guidelines.document_lines(soul.render_document(first))] == [
        "Personality",
        "Be brief.",
    ]


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
    assert describe_phase(PhaseReport(name=PhaseName.SOUL, state="failed", why="The disk is full.")).failed


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


def test_each_change_of_a_night_names_what_takes_it_back() -> None:
    effect = {"what": "Name the platform.", "verdict": "works", "estimate": 0.24, "low": 0.05, "high": 0.41}
    changed = {"changes": [{"kind": "added", "id": "p1"}], "says": ["1 change.", "Added: Be brief."]}
    reports = [StoredPhaseReport(1, "2026-01-05", "lessons", {"counted": {}, "effects": [effect]}, NOW)]
    reports.append(StoredPhaseReport(2, "2026-01-05", "soul", changed, NOW))
    let_go = {"merged": [], "forgotten": [7, 8], "says": ["2 memories, old and never used again, were let go."]}
    reports.append(StoredPhaseReport(3, "2026-01-05", "consolidation", let_go, NOW))
    (night,) = nights.list_nights(reports)
    tidied, measured, added = night.changes
    assert tidied.undo is not None
    assert tidied.undo.command == "insula memory undo 7"
    assert measured.text.startswith("Name the platform.: works")
    assert added == nights.NightChange("Added: Be brief.", nights.UndoAction("guidance", "forget", "p1"))


def test_a_trigger_is_told_in_the_words_of_its_messages() -> None:
    lesson = kept(key="wish/length/x")._replace(trigger=("kilometr", "metr"), citations=(7,))
    said = Cited(7, "one", "Please give kilometres and metres.", NOW)
    assert describe(lesson, said).about == "When you mention kilometres, metres."
    assert describe(lesson).about == "When its topic comes up."


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
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 5_000
    made = as_html(table)
    assert made.count("<tr>") == MOST_ROWS + 1
    assert "And 4,800 more rows." in made
    long = as_html("word\n" * LONGEST)
    assert "The rest, as plain text (400,000 characters)" in long
    assert as_html("> " * 2_000).count("<blockquote>") < 30


def test_headings_of_an_answer_begin_below_those_of_the_page_and_skip_none() -> None:
    made = as_html("### a\n\n# b\n\n###### c\n\n## d")
    assert re.findall(r"<h(\d)", made) == ["2", "2", "3", "3"]
