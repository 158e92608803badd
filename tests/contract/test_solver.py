"""`insula solve`: from a problem, through the requests that reach the model, to the answer, its steps and its price."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from harness import Ran, run_insula

from insula.testing import Behaviour, FakeServer

Json = dict[str, Any]
PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"
RIGHT = r"3 * 4 = 12. 12 - 2 = 10. \boxed{10}"
WRONG = r"3 * 4 = 12. 12 - 2 = 9. \boxed{9}"
PROGRAM = "```python\nboxes = 3\napples = boxes * 4\nanswer = apples - 2\n```"
METHODS = {
    "direct": 1,
    "self_consistency": 5,
    "adaptive_self_consistency": 8,
    "self_refine": 8,
    "self_verification": 160,
    "mgv": 18,
    "insula": 10,
}
"""The most calls that each may make of this problem: `self_verification` recovers each number of it ten times."""


class Server(FakeServer):
    """A model server that answers by a function of the prompt, or by a script whose last reply holds for all further.

    Args:
        replies: the function or the script.
        behaviours: what it does instead, as `FakeServer` has it.
    """

    def __init__(self, replies: Callable[[str], str] | Sequence[str], *behaviours: Behaviour) -> None:
        super().__init__(*behaviours)
        self._replies = replies

    def keep(self, body: Json, key: str) -> Behaviour:
        """Decide what is said to a request."""
        given = self._replies
        prompt = str(body["messages"][-1]["content"])
        self.answer = given(prompt) if callable(given) else given[min(len(self.requests), len(given) - 1)]
        return super().keep(body, key)


def solve(server: FakeServer, *words: str | Path, problem: str = PROBLEM, stdin: str = "") -> Ran:
    """Solve a problem with the model of a server."""
    asked = [problem] if problem else []
    return run_insula("solve", *asked, "--model", f"{server.url}#fake", *words, stdin=stdin)


def solved(server: FakeServer, *words: str | Path, status: int = 0) -> Json:
    """What solving the problem came to, as JSON."""
    ran = solve(server, "--json", *words)
    assert (ran.status, ran.err) == (status, "")
    return ran.json


def by_kind(prompt: str) -> str:
    """A model that is right, whatever way it is asked."""
    if "Assess:" in prompt:
        return '{"task_features": "sum", "difficulty": 50, "strategy": "step by step"}'
    if "Evaluate" in prompt:
        return JUDGED.format(0.9)
    return PROGRAM if "program" in prompt else f"<think>{RIGHT}</think>\n<answer>10</answer>"


JUDGED = "Coherence: {0}\nPlausibility: {0}\nConsistency: {0}\nGoal-conduciveness: {0}\nEvaluation: It is so."


# Insula's own method


def test_one_attempt_at_an_easy_problem_is_enough_where_its_arithmetic_holds() -> None:
    with Server([RIGHT, PROGRAM]) as model:
        told = solved(model)
    assert (told["answer"], told["ending"], told["spent"]["calls"], len(model.requests)) == ("10", "accepted", 1, 1)
    assert 0.5 < told["confidence"] < 1
    assert [claim["holds"] for claim in told["attempts"][0]["claims"]] == [True, True]


def test_each_step_is_stated_with_why_it_ended_and_what_it_cost() -> None:
    with Server([RIGHT, PROGRAM]) as model:
        lines = solve(model).out.splitlines()
    kinds = [line.split()[0] for line in lines if line and line[0].islower()]
    assert kinds == ["attempt", "arithmetic", "stop", "chain"]
    assert "Stopped: the first attempt is enough" in "\n".join(lines)
    assert next(line for line in lines if line.startswith("Answer: 10  (confidence 0."))
    assert lines[-1].split()[1:3] == ["1", "call,"]


def test_wrong_arithmetic_is_put_right_and_settles_nothing() -> None:
    with Server([WRONG, PROGRAM, RIGHT]) as model:
        told = solved(model)
    assert (told["answer"], len(model.requests)) == ("10", 3)
    wrong = told["attempts"][0]["claims"][-1]
    assert (wrong["text"], wrong["computed"], wrong["holds"]) == ("12 - 2 = 9", "10", False)


def test_attempts_that_never_agree_end_with_the_most_probable_answer_and_less_confidence() -> None:
    with Server([rf"So it is \boxed{{{number}}}" for number in range(20, 40)]) as model:
        told = solved(model)
    assert told["ending"] == "done"
    assert len(told["attempts"]) <= 9
    assert told["confidence"] < 0.5
    assert len(model.requests) <= METHODS["insula"]


def test_an_answer_that_can_hardly_be_is_not_given() -> None:
    with Server([r"\boxed{-3}", "no program", "I cannot say."]) as model:
        told = solved(model, status=1)
    assert (told["answer"], told["abstained"]) == (None, True)
    assert "-3" in [attempt["answer"] for attempt in told["attempts"]]


def test_a_problem_that_stayed_without_an_answer_is_told_to_the_next_talk(home: Path) -> None:
    with Server(["I do not know."]) as model:
        assert "No answer" in solve(model, "--method", "direct").out
        run_insula("chat", "--model", f"{model.url}#fake", stdin="Hello\n")
    assert f"came to no answer: {PROBLEM}" in model.prompt()


def test_nothing_is_ever_executed(tmp_path: Path) -> None:
    program = f"```python\nimport pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\nanswer = 12\n```"
    with Server([program]) as model:
        ran = solve(model, "--json")
    assert ran.json["attempts"]
    assert not (tmp_path / "ran").exists()


# The methods


@pytest.mark.parametrize("method", METHODS)
def test_each_method_answers_a_problem_that_its_model_can_solve(method: str) -> None:
    with Server(by_kind) as model:
        told = solved(model, "--method", method)
    assert (told["answer"], told["method"], told["completed"]) == ("10", method, True)
    assert told["spent"]["calls"] == len(model.requests)
    assert told["trace"]


def test_no_method_makes_more_calls_than_it_may_of_a_model_that_is_never_sure() -> None:
    numbers = iter(range(1_000, 9_000))

    def unsure(prompt: str) -> str:
        judged = JUDGED.format(0.1) if "Evaluate" in prompt else f"I guess \\boxed{{{next(numbers)}}}"
        return f"```python\nanswer = {next(numbers)}\n```" if "program" in prompt else judged

    for method, most in METHODS.items():
        with Server(unsure) as model:
            told = solve(model, "--json", "--method", method).json
        assert 0 < len(model.requests) <= most, method
        assert told["stopped"]


def test_whatever_a_model_does_the_command_says_why_there_is_no_answer() -> None:
    each: tuple[Behaviour, ...] = ("empty_text", "cut_off", "garbage", "refusal", "no_choices", "400")
    for behaviour in each:
        with Server(["As for the apples, I cannot"], behaviour) as model:
            told = solved(model, "--method", "mgv", status=1)
        assert 0 < len(model.requests) <= METHODS["mgv"], behaviour
        assert told["answer"] is None
        assert told["ending"] in {"refused", "failed", "done"}
        assert told["stopped"]


# Monitor, generate, verify


def cycles(*means: float, difficulty: object = 50) -> Server:
    """A model whose solutions are judged so, one after the other."""
    replies: list[str] = []
    for number, mean in enumerate(means):
        replies.append(json.dumps({"task_features": "a sum", "difficulty": difficulty, "strategy": "step by step"}))
        replies.append(f"<think>Thought number {number}.</think><answer>{10 + number}</answer>")
        replies.append(JUDGED.format(mean))
    return Server(replies)


@pytest.mark.parametrize(
    ("difficulty", "tokens", "temperature"), [(-5, 400, 0.3), (33, 532, 0.366), (50, 600, 0.4), (250, 800, 0.5)]
)
def test_a_harder_problem_gets_more_tokens_and_a_higher_temperature(
    difficulty: int, tokens: int, temperature: float
) -> None:
    with cycles(0.9, difficulty=difficulty) as model:
        assert solved(model, "--method", "mgv")["ending"] == "accepted"
    monitor, generator, verifier = model.requests
    assert (generator["max_tokens"], round(generator["temperature"], 6)) == (tokens, temperature)
    assert monitor["temperature"] == verifier["temperature"] == 0


def test_a_cycle_that_is_not_accepted_is_told_whole_to_the_next() -> None:
    with cycles(0.4, 0.9) as model:
        assert solved(model, "--method", "mgv")["answer"] == "11"
    assert len(model.requests) == 6
    for told in ("Thought number 0.", "It is so.", "a sum"):
        assert told not in model.prompt(0)
        assert told in model.prompt(4)


@pytest.mark.parametrize(("means", "answer"), [((0.84, 0.9), "11"), ((0.85,), "10"), ((0.3, 0.7, 0.7), "11")])
def test_it_stops_at_a_mean_of_085_and_at_the_end_the_first_of_the_best_scored_stands(
    means: tuple[float, ...], answer: str
) -> None:
    with cycles(*means) as model:
        told = solved(model, "--method", "mgv")
    assert (told["answer"], len(model.requests)) == (answer, 3 * len(means))
    assert told["ending"] == ("accepted" if max(means) >= 0.85 else "done")


def test_each_part_may_be_another_model() -> None:
    with ExitStack() as open_ones:
        monitor, generator, verifier = (open_ones.enter_context(Server(by_kind)) for _ in range(3))
        others = ["--monitor-model", f"{monitor.url}#m", "--verifier-model", f"{verifier.url}#v"]
        told = solved(generator, "--method", "mgv", *others)
    assert told["answer"] == "10"
    assert [len(server.requests) for server in (monitor, generator, verifier)] == [1, 1, 1]
    assert "Assess:" in monitor.prompt()
    assert "Evaluate" in verifier.prompt()


# What it is given, and what it may cost


def test_a_problem_comes_from_standard_input() -> None:
    with Server(by_kind) as model:
        for words in ((), ("-",)):
            ran = solve(model, *words, "--json", problem="", stdin=f"{PROBLEM}\n")
            assert (ran.status, ran.json["answer"]) == (0, "10")
        assert PROBLEM in model.prompt()
        empty = solve(model, "--json", problem="")
    assert (empty.status, empty.json["ending"]) == (1, "input")


def test_a_file_of_problems_has_a_line_each_and_how_many_were_right(tmp_path: Path) -> None:
    file = tmp_path / "problems.jsonl"
    problems: list[Json] = [{"question": PROBLEM, "answer": "#### 10"}, {"problem": PROBLEM, "answer": 9}]
    file.write_text("\n".join(map(json.dumps, [*problems, {"question": ""}])))
    with Server(by_kind) as model:
        ran = solve(model, "--file", file, "--method", "direct", "--json", problem="")
        shown = solve(model, "--file", file, "--method", "direct", problem="").out
    assert ran.status == 1
    assert [line.get("correct") for line in ran.lines] == [True, False, None]
    assert "3 problems: 2 answered, 1 of 2 right" in shown


def test_a_file_that_cannot_be_used_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_text('{"question": "a"}\nno JSON')
    with Server(by_kind) as model:
        ran = solve(model, "--file", file, problem="")
    assert (ran.status, ran.out, "line 2" in ran.err) == (1, "", True)
    assert model.requests == []


def test_what_a_problem_may_cost_is_kept_to() -> None:
    for method in METHODS:
        with Server(by_kind) as model:
            told = solve(model, "--json", "--method", method, "--max-tokens-total", "60").json
        assert (told["answer"], told["ending"], model.requests) == (None, "budget", [])
        assert "raise the cap on tokens" in told["stopped"]


def test_the_caps_of_the_settings_hold_for_a_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_MAX_CALLS", "2")
    file = tmp_path / "problems.txt"
    file.write_text(f"{PROBLEM}\n" * 3)
    with Server(by_kind) as model:
        ran = solve(model, "--file", file, "--method", "direct", "--json", problem="")
    assert (ran.status, len(model.requests)) == (1, 2)
    assert [line["answer"] for line in ran.lines] == ["10", "10", None]


def test_preferences_are_written_to_a_new_file_alone(tmp_path: Path) -> None:
    file, problems = tmp_path / "pairs.jsonl", tmp_path / "problems.jsonl"
    problems.write_text(json.dumps({"question": PROBLEM, "answer": "10"}))
    words = ["--file", problems, "--method", "self_consistency", "--export-preferences", file]
    with Server([RIGHT, RIGHT, WRONG]) as model:
        assert solve(model, *words, problem="").status == 0
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        asked = len(model.requests)
        refused = solve(model, *words, problem="")
    assert rows
    assert {row["chosen_plan"]["answer"] for row in rows} == {"10"}
    assert (refused.status, "is there already" in refused.err, len(model.requests)) == (1, True, asked)


def test_a_strategy_of_ones_own_is_offered_to_the_monitor(home: Path) -> None:
    own = '[[strategy]]\nname = "abacus"\nwhen = "with big sums"\nhow = "Move the beads, column by column."\n'
    (home / "strategies.toml").write_text(own)
    with Server(lambda prompt: by_kind(prompt).replace("step by step", "abacus")) as model:
        assert solved(model, "--method", "mgv")["answer"] == "10"
        assert "abacus" in model.prompt(0)
        assert "Move the beads, column by column." in model.prompt(1)
        (home / "strategies.toml").write_text("[[strategy]]")
        ran = solve(model)
    assert (ran.status, "strategies.toml" in ran.err) == (1, True)


def test_what_came_of_a_strategy_is_told_to_the_monitor_of_the_next_problem() -> None:
    with Server(lambda prompt: by_kind(prompt).replace("step by step", "table")) as model:
        for _ in range(2):
            solved(model, "--method", "mgv")
    first, second = (model.prompt(number).splitlines() for number in (0, 3))
    told = [line for line in second if line not in first]
    assert any("1 of 1" in line for line in told)


def test_a_store_that_cannot_be_used_costs_the_records_alone(home: Path) -> None:
    (home / "insula.db").write_bytes(b"no database" * 1_000)
    with Server(by_kind) as model:
        ran = solve(model, "--json")
    assert (ran.status, ran.json["answer"]) == (0, "10")
    assert "records are not kept this time" in ran.err
