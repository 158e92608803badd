"""Rules founded on sessions of the past."""

import json
from pathlib import Path

import pytest

from insula.coding.replay.gather import Score
from insula.coding.replay.learn import plan_learning, write_evidence
from insula.coding.step import digest, evidence, trace
from insula.coding.step.corrections import UserCorrection, phrase_wish, read_corrections
from insula.coding.step.trace import append_lines
from insula.errors import StoreFull
from insula.guidance import ACTIVE, GuidanceDecision, tally_evidence

NOW = 1_770_000_000.0
DAY = 86_400.0
PROJECT = "a" * 16


def score(session: str, *, happened: bool = True, ago: float = DAY, project: str = PROJECT) -> Score:
    return Score(NOW - ago, session, project, {"stale-edit": happened, "reread": False})


def states(home: Path, project: str = PROJECT) -> dict[str, str]:
    return {rule.id: rule.life.state for rule in digest.compile_rules(str(home), project, NOW)}


def logged(home: Path, project: str = PROJECT) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(evidence.get_log(str(home), project)).read_text().splitlines()]


def test_what_was_planned_is_what_comes_true(tmp_path: Path) -> None:
    planned = plan_learning(str(tmp_path), [score("one"), score("two"), score("calm", happened=False)], NOW)
    assert planned.sessions == 3
    assert [rule.id for rule in planned.told] == ["stale-edit"]
    assert not (tmp_path / "evidence").exists()  # nothing yet
    write_evidence(str(tmp_path), planned)
    assert states(tmp_path)["stale-edit"] == ACTIVE
    assert states(tmp_path)["reread"] != ACTIVE


def test_evidence_has_the_form_of_what_the_hook_writes(tmp_path: Path) -> None:
    write_evidence(str(tmp_path), plan_learning(str(tmp_path), [score("one")], NOW))
    line = {"v": 1, "session": "replay-one", "arm": "none", "t": NOW - DAY, "project": PROJECT, "origin": "replay"}
    assert logged(tmp_path) == [
        {**line, "pattern": "reread", "happened": False},
        {**line, "pattern": "stale-edit", "happened": True},
    ]
    (item,) = evidence.read_evidence(str(tmp_path), PROJECT)["stale-edit"]
    assert (item.session, item.kind, item.project) == ("replay-one", "detection", PROJECT)


def test_to_learn_twice_is_to_learn_once(tmp_path: Path) -> None:
    home, scores = str(tmp_path), [score("one"), score("two"), score("two")]
    write_evidence(home, plan_learning(home, scores, NOW))
    before = logged(tmp_path)
    again = plan_learning(home, scores, NOW)
    write_evidence(home, again)
    assert (again.sessions, again.known, again.told) == (0, 3, [])
    assert logged(tmp_path) == before


def test_a_session_that_the_hook_watches_is_left_to_it(tmp_path: Path) -> None:
    trace.append_records(trace.get_folder(str(tmp_path), "watched"), {"e": "start", "at": NOW - DAY})
    append_lines(evidence.get_log(str(tmp_path), PROJECT), [{"session": "scored", "pattern": "reread", "arm": "shown"}])
    planned = plan_learning(str(tmp_path), [score("watched"), score("scored"), score("new")], NOW)
    assert (planned.sessions, planned.known) == (1, 2)


def test_a_session_that_takes_the_name_of_another_takes_the_place_of_no_evidence_of_the_hooks(tmp_path: Path) -> None:
    write_evidence(str(tmp_path), plan_learning(str(tmp_path), [score("mine", happened=False, ago=9 * DAY)], NOW))
    later = {"session": "mine", "pattern": "stale-edit", "arm": "shown", "happened": True, "t": NOW, "project": PROJECT}
    append_lines(evidence.get_log(str(tmp_path), PROJECT), [later])
    found = evidence.read_evidence(str(tmp_path), PROJECT)["stale-edit"]
    assert tally_evidence(found).detections + tally_evidence(found).records >= 2
    assert {item.session for item in found} == {"mine", "replay-mine"}


def test_what_has_no_project_is_told_in_none(tmp_path: Path) -> None:
    planned = plan_learning(str(tmp_path), [score("one", project=""), score("two", project="")], NOW)
    assert (planned.sessions, planned.told) == (2, [])


def test_a_session_that_may_go_on_is_not_learned_from(tmp_path: Path) -> None:
    planned = plan_learning(str(tmp_path), [score("now", ago=60)], NOW)
    assert (planned.sessions, planned.running) == (0, 1)


def test_what_a_person_had_forgotten_or_muted_stays_so(tmp_path: Path) -> None:
    home = str(tmp_path)
    evidence.write_decision(home, GuidanceDecision(do="forget", rule="stale-edit", scope="global", at=NOW))
    planned = plan_learning(home, [score("one"), score("two")], NOW)
    assert planned.told == []
    write_evidence(home, planned)
    assert states(tmp_path)["stale-edit"] != ACTIVE


def test_imported_rules_get_their_share(tmp_path: Path) -> None:
    word = GuidanceDecision(
        do="import", rule="ours", scope="global", at=1.0, advice="Read first.", pattern="stale-edit"
    )
    evidence.write_decision(str(tmp_path), word)
    planned = plan_learning(str(tmp_path), [score("one"), score("two")], NOW)
    assert {rule.id for rule in planned.told} == {"stale-edit", "ours"}


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    planned = plan_learning(str(tmp_path), [score("one")], NOW)
    (tmp_path / "evidence").write_text("in the way")
    with pytest.raises(StoreFull, match="cannot be written"):
        write_evidence(str(tmp_path), planned)


# What users asked for.

SLOW = "don't run CI or integration tests, too slow."


def wanted(session: str, words: str = SLOW, ago: float = DAY, project: str = PROJECT) -> Score:
    asked = (UserCorrection(session=session, at=NOW - ago, words=words, how="rejection"),)
    return score(session, happened=False, ago=ago, project=project)._replace(asked=asked)


def test_what_was_asked_for_in_two_past_sessions_is_told_and_in_one_proposed(tmp_path: Path) -> None:
    home = str(tmp_path)
    one = plan_learning(home, [wanted("one")], NOW)
    assert [rule.id for rule in one.told] == []
    write_evidence(home, one)
    assert sorted(states(tmp_path).values()).count("proposed") >= 1
    two = plan_learning(home, [wanted("two", "too slow, don't run the integration tests in CI", 9_000)], NOW)
    assert [rule.advice for rule in two.told] == [phrase_wish(SLOW)]
    write_evidence(home, two)
    assert SLOW in digest.open_session(home, "next", PROJECT, NOW, 0.0)
    assert [one.origin for one in read_corrections(home, PROJECT)] == ["replay", "replay"]


def test_what_was_asked_for_is_learned_once_and_only_in_a_project(tmp_path: Path) -> None:
    home = str(tmp_path)
    for _ in range(2):
        write_evidence(home, plan_learning(home, [wanted("one"), wanted("lost", project="")], NOW))
    assert [one.session for one in read_corrections(home, PROJECT)] == ["replay-one"]
