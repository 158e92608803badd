"""`insula ask`, as its users meet it."""

import json

from harness import run_insula as insula

from insula.testing import Behaviour, FakeServer


def test_one_question_gets_one_answer_with_what_it_rests_on() -> None:
    assert insula("ask", "My sister Ana lives in Lisbon.")[0] == 0
    code, out, _ = insula("ask", "Where does Ana live?")
    assert (code, "Lisbon" in out, len(out.splitlines())) == (0, True, 1)
    answer = json.loads(insula("ask", "--json", stdin="Where does Ana live?")[1])
    assert answer["sources"] == ["My sister Ana lives in Lisbon."]
    assert (answer["confidence"]["level"], answer["saved"]) == ("high", [])


def test_nothing_is_learned_of_a_text_that_is_asked_about() -> None:
    with FakeServer(answer="A letter.") as model:
        asked = insula("ask", "What is this?", "--model", f"{model.url}#fake", stdin="I live in Braga.\nYours, Ben")
    assert asked[:2] == (0, "A letter.\n")
    assert "Braga" in str(model.requests[-1])
    assert [one["content"] for one in json.loads(insula("memory", "--transcript", "--json")[1])] == [
        "A letter.",
        "What is this?",
    ]


def test_a_model_that_does_not_answer_is_an_error_in_json() -> None:
    kinds: dict[Behaviour, str] = {"401": "ModelUnavailable", "empty_text": "ModelSilent"}
    for behaviour, kind in kinds.items():
        with FakeServer(behaviour) as model:
            code, out, err = insula("ask", "What is this?", "--json", "--model", f"{model.url}#fake")
        assert (code, out) == (1, "")
        assert json.loads(err)["error"]["kind"] == kind
