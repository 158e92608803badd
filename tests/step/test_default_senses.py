"""Which senses speak to whom: those that were wrong on projects of others are off until a person switches them on."""

import json
from pathlib import Path

import pytest
from sessions import Session, fails, reads

from insula.coding.hosts import switch
from insula.coding.step import trace
from insula.coding.step.senses import EVERY
from insula.coding.step.senses.register import DEFAULT, FEWEST, MEASURED, SenseMeasurement, list_reasons


def works_long_alone(session: Session, turns: int = 80) -> None:
    session.prompt("find out why it is slow")
    session.follow(reads(f"/home/dev/project/{n}.py", f"the text of file {n}\n") for n in range(turns))


@pytest.fixture(autouse=True)
def _no_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


def noted(home: Path) -> list[str]:
    """The senses whose texts stand in the trace, from which worth and evidence are read."""
    records = trace.read_trace(trace.get_folder(str(home), "s"))[0]
    return [record["sense"] for record in records if record.get("e") == "text"]


def fails_alike(session: Session) -> None:
    session.follow(fails("npm test", "Error: cannot find module 'left-pad'") for _ in range(3))


def test_a_sense_that_is_switched_on_in_a_session_knows_what_went_before(tmp_path: Path) -> None:
    session = Session(tmp_path)
    works_long_alone(session, 40)
    switch.switch_sense(tmp_path, "chronos", True)
    session.act(reads("/home/dev/project/last.py", "the end\n"))
    assert "since the user's last message" in session.said[0]


def test_what_a_sense_said_before_it_was_switched_off_does_not_count_as_heeded(tmp_path: Path) -> None:
    session = Session(tmp_path)
    fails_alike(session)
    switch.switch_sense(tmp_path, "nociception", False)
    fails_alike(session)
    session.follow(reads(f"/home/dev/project/{n}.py", f"x = {n}\n") for n in range(6))
    records = trace.read_trace(trace.get_folder(str(tmp_path), "s"))[0]
    assert noted(tmp_path) == ["nociception"] and not [one for one in records if one.get("e") == "heeded"]


def test_a_sense_that_is_off_keeps_no_other_from_speaking(tmp_path: Path) -> None:
    session = Session(tmp_path)
    works_long_alone(session)
    fails_alike(session)
    assert noted(tmp_path) == ["nociception"]


@pytest.mark.parametrize("odd", [3, [], "chronos", {"chronos": "yes"}, {"chronos": 1}, {"none such": True}, None])
def test_what_is_no_switch_changes_nothing(tmp_path: Path, odd: object) -> None:
    (tmp_path / "hook.json").write_text(json.dumps({"senses": odd}))
    session = Session(tmp_path)
    works_long_alone(session)
    fails_alike(session)
    assert noted(tmp_path) == ["nociception"]


# The table.


def test_every_sense_stands_in_the_table_once() -> None:
    assert sorted(row.sense for row in MEASURED) == sorted(EVERY)
    assert sorted(DEFAULT) == ["against_words", "bypass", "nociception", "told_again", "unmet", "vestibular"]


@pytest.mark.parametrize(
    ("useful", "useless", "false", "kinds", "speaks"),
    [
        *((14, 4, 2, 5, True), (14, 3, 3, 5, False), (13, 7, 0, 5, False), (19, 0, 0, 5, False), (0, 0, 0, 0, False)),
        *((140, 40, 20, 9, True), (140, 40, 20, 4, False)),
    ],
)
def test_a_sense_speaks_by_the_texts_that_were_judged(
    useful: int, useless: int, false: int, kinds: int, speaks: bool
) -> None:
    assert (
        SenseMeasurement(sense="x", useful=useful, useless=useless, false=false, kinds=kinds).speaks_by_default
        is speaks
    )


def test_a_sense_that_is_kept_speaks_only_until_there_are_texts_enough() -> None:
    assert SenseMeasurement(sense="x", useful=FEWEST - 2, false=1, kept="as it is new").speaks_by_default
    assert not SenseMeasurement(sense="x", useful=FEWEST - 3, false=3, kept="as it is new").speaks_by_default


def test_a_person_is_told_why_a_sense_speaks_or_does_not() -> None:
    told = list_reasons(DEFAULT | {"o2"}, True)
    assert "nociception (" in told and "o2 (" in told and "switched by you" in told
    assert "chronos (" in list_reasons(DEFAULT, False) and "chronos (" not in told
