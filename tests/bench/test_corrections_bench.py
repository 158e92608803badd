"""`insula bench corrections`: both formats are read, ours is judged beside baselines, with intervals."""

import json
import lzma
from pathlib import Path

import pytest
from harness import run_insula

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


def test_the_figures_hold_ours_and_the_baselines_of_each_set(data: Path) -> None:
    figures = run_insula("bench", "corrections", "--data", data, "--json").json["sets"]
    assert set(figures) == {"saif", "uss_mwoz"}
    saif = figures["saif"]
    assert (saif["n"], saif["base_rate"]) == (4, 0.5)
    assert saif["insula"]["auroc"] == 1.0
    assert saif["insula"]["recall"]["share"] == 1.0
    assert set(saif["baselines"]) == {"similarity", "similarity + apology", "negation or apology"}
    assert saif["kinds"]["repair"] == {"n": 1, "right": 1}
    assert saif["baselines"]["negation or apology"]["recall"]["n"] == 2
    mwoz = figures["uss_mwoz"]
    assert (mwoz["n"], mwoz["base_rate"]) == (3, pytest.approx(1 / 3, abs=0.001)), (
        "what the system said in a row is one response, and what was rated overall is none"
    )


def test_a_file_of_another_form_is_passed_over_with_a_sentence(data: Path) -> None:
    (data / "notes.txt").write_text("nothing of the kind\n", "utf-8")
    (data / "other.jsonl").write_text('{"a": 1}\n', "utf-8")
    ran = run_insula("bench", "corrections", "--data", data, "--json")
    assert [one["n"] for one in ran.json["sets"].values()] in ([4, 3], [3, 4])
    said = " ".join(ran.err.split())
    assert "it holds neither command pairs nor rated dialogues." in said
    assert "a record lacks one of agent_response, first, label, second." in said


def test_the_figures_are_printed_as_tables(data: Path) -> None:
    assert "similarity + apology" in run_insula("bench", "corrections", "--data", data).out


@pytest.mark.parametrize(("place", "said"), [("nowhere", "does not exist"), (".", "No message could be read")])
def test_a_path_without_conversations_is_an_error(tmp_path: Path, place: str, said: str) -> None:
    ran = run_insula("bench", "corrections", "--data", tmp_path / place)
    assert ran.status
    assert said in " ".join(ran.err.split())
