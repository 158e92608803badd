import json
import lzma
from pathlib import Path

import pytest

from insula.errors import InputError
from insula_bench.corrections import Pair, apology, detector, likeness, measure, negation, pairs, run

SORRY = "Sorry, but I don't understand.\\ \\ "
RECORDS = [
    {"first": "set the subjects to hello", "agent_response": SORRY, "second": "set the subject to hello", "label": 1},
    {"first": "delete the mail", "agent_response": "It was sent.", "second": "No, I said delete the mail", "label": 2},
    {"first": "next email", "agent_response": "This is the next.", "second": "read it to me", "label": 0},
    {"first": "play a song", "agent_response": SORRY, "second": "what time is it", "label": 0},
]
DIALOGUES = "\n".join(
    (
        "",
        "USER\tI want a cheap hotel.\tHotel-Inform\t3,3,3",
        "SYSTEM\tI'm sorry, there are no hotels.\tHotel-NoOffer\t",
        "SYSTEM\tAnything else?\tgeneral\t",
        "USER\tThat's wrong, look again.\t\t2,3,2",
        "USER\tOVERALL\t\t3,3,3",
        "",
        "USER\tHello.\t\t3,3",
    )
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, RECORDS)), "utf-8")
    (tmp_path / "MWOZ.txt.xz").write_bytes(lzma.compress(DIALOGUES.encode()))
    return tmp_path


def test_both_formats_are_read_and_what_the_system_said_in_a_row_is_one_response(data: Path) -> None:
    found = list(pairs([data]))
    assert found == [
        Pair("uss_mwoz", "I want a cheap hotel.", "", "", False),
        Pair(
            "uss_mwoz",
            "That's wrong, look again.",
            "I want a cheap hotel.",
            "I'm sorry, there are no hotels. Anything else?",
            True,
        ),
        Pair("uss_mwoz", "Hello.", "", "", False),
        *(
            Pair("saif", str(one["second"]), str(one["first"]), response, one["label"] != 0)
            for one, response in zip(
                RECORDS,
                (
                    "Sorry, but I don't understand.",
                    "It was sent.",
                    "This is the next.",
                    "Sorry, but I don't understand.",
                ),
                strict=True,
            )
        ),
    ]


def test_a_file_of_another_form_is_passed_over_with_a_sentence(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "notes.txt").write_text("nothing of the kind\n", "utf-8")
    (data / "other.jsonl").write_text('{"a": 1}\n', "utf-8")
    assert len(list(pairs([data]))) == 7
    said = " ".join(capsys.readouterr().err.split())
    assert "it holds neither command pairs nor rated dialogues." in said
    assert "a record lacks one of agent_response, first, label, second." in said


def test_the_figures_hold_ours_and_the_baselines_of_each_set(data: Path) -> None:
    figures = measure([data])["sets"]
    assert set(figures) == {"saif", "uss_mwoz"}
    saif = figures["saif"]
    assert (saif["n"], saif["base_rate"]) == (4, 0.5)
    assert saif["insula"]["auroc"] == 1.0
    assert saif["insula"]["recall"]["share"] == 1.0
    assert set(saif["baselines"]) == {"similarity", "similarity + apology", "negation or apology"}
    assert saif["kinds"]["repair"] == {"n": 1, "right": 1}


def test_a_detector_is_judged_with_intervals() -> None:
    figures = detector([0.9, 0.2, 0.6, 0.1], [True, True, False, False], 0.5)
    assert figures["auroc"] == 0.75
    assert figures["precision"] == {"share": 0.5, "interval": [0.095, 0.905], "n": 2}
    assert figures["recall"]["share"] == 0.5
    assert figures["f1"] == 0.5


def test_a_detector_that_never_speaks_has_no_precision() -> None:
    figures = detector([0.1], [False], 0.5)
    assert figures["auroc"] is None
    assert figures["precision"] == {"share": None, "interval": [0.0, 1.0], "n": 0}


def test_the_baselines_score_what_they_say() -> None:
    pair = Pair("", "no, a red one", "a red one", "Sorry.", True)
    assert likeness(pair) == 1.0
    assert apology(pair) == 1.75
    assert negation(pair) == 1.0
    assert likeness(pair._replace(previous="")) == 0.0


def test_the_figures_are_printed_as_tables_or_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(data)], json=True) == 0
    assert json.loads(capsys.readouterr().out)["sets"]["saif"]["n"] == 4
    assert run([str(data)], json=False) == 0
    assert "similarity + apology" in capsys.readouterr().out


def test_a_path_without_conversations_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        measure([str(tmp_path / "nowhere")])
    with pytest.raises(InputError, match="No message could be read"):
        measure([str(tmp_path)])
