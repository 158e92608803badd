"""Methods side by side: paired by a common pool, capped alike, gone on with after a kill, and judged without favour."""

import json
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from insula.errors import InputError, ModelUnavailable
from insula.llm.client import Generation
from insula.testing import Request, ScriptedModel
from insula.types import Usage
from insula_bench import gsm8k, plots
from insula_bench.arms import latest
from insula_bench.gsm8k import TOKENS, run
from insula_bench.gsm8k_figures import alone, confidences, paired, surer_half
from insula_bench.lines import FilePool, Lines
from insula_bench.page import page

Json = dict[str, Any]
Reply = Callable[[Request], str]
DOCS = Path(__file__).parents[2] / "docs" / "benchmarks"
UNTOLD = {"self_refine", "self_verification", "mgv"}
"""Methods that were measured on twenty problems alone, and have a table of their own."""
CHAINS = "direct,self_consistency@3,adaptive_self_consistency"


def data_of(folder: Path, count: int = 3) -> Path:
    path = folder / "data.jsonl"
    lines = [
        {"question": f"What is {n} plus {n}?", "answer": f"<<{n}+{n}={2 * n}>>\n#### {2 * n}"} for n in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def solves(request: Request) -> str:
    """Every problem but that of 1 is solved, and that of 2 only by chains that are sampled."""
    n = int(request.text.split("What is ")[1].split()[0])
    right = n != 1 and (n != 2 or bool(request.settings.get("temperature")))
    return f"{n} + {n} = {2 * n}, so \\boxed{{{2 * n if right else 99}}}"


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures, which take most of the time of a report, are a dot each."""

    def dot(_: object) -> bytes:
        return b"."

    monkeypatch.setattr(plots, "_png", dot)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs the benchmark; returns the model, the exit code, the figures and what was said."""

    def measured(methods: str = CHAINS, reply: Reply = solves, **options: Any) -> tuple[ScriptedModel, int, Json, str]:
        model = ScriptedModel(reply)

        @asynccontextmanager
        async def resolve(*_: object) -> AsyncGenerator[ScriptedModel]:
            yield model

        monkeypatch.setattr(gsm8k, "resolve_model", resolve)
        terms: Json = {"limit": None, "offset": 0, "seed": 0, "tokens": TOKENS, "model": "scripted"} | options
        data = str(terms.pop("data", None) or data_of(tmp_path))
        code = run(data, methods, out=str(tmp_path / "out"), json=True, **terms)
        output = capsys.readouterr()
        return model, code, json.loads(output.out), output.err

    return measured


def kept(text: str) -> Generation:
    return Generation(
        text=text,
        value=None,
        thinking="",
        usage=Usage(calls=1),
        logprobs=None,
        first_token_seconds=None,
        model="scripted",
        truncated=False,
    )


def results(tmp_path: Path) -> list[Json]:
    return [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]


def test_chains_are_asked_for_once_and_charged_to_every_method_that_uses_them(
    bench: Callable[..., Any], tmp_path: Path
) -> None:
    model, code, measured, _ = bench()
    assert code == 0
    assert [one["calls"] for one in results(tmp_path) if one["arm"] == "self_consistency@3"] == [3, 3, 3]
    # Problems 0 and 1: three chains, of which the adaptive method takes two. Problem 2: the first chain is an outlier.
    assert [one["calls"] for one in results(tmp_path) if one["arm"] == "adaptive_self_consistency"] == [2, 2, 4]
    assert len(model.requests) == 3 + 3 + 4
    assert {name: one["right"] for name, one in measured["arms"].items()} == {
        "direct": 1,
        "self_consistency@3": 2,
        "adaptive_self_consistency": 2,
    }


@pytest.mark.parametrize("requests", [4])
def test_a_run_that_is_killed_goes_on_where_it_was(bench: Callable[..., Any], tmp_path: Path, requests: int) -> None:
    asked = 0

    def killed(request: Request) -> str:
        nonlocal asked
        if asked == requests:
            raise KeyboardInterrupt
        asked += 1
        return solves(request)

    with pytest.raises(KeyboardInterrupt):
        bench(reply=killed)
    model, code, measured, _ = bench()
    assert (code, len(model.requests)) == (0, 10 - requests)
    lines = [
        {name: value for name, value in one.items() if name not in ("seconds", "stages")}
        for one in latest(results(tmp_path))
    ]
    (tmp_path / "out").rename(tmp_path / "interrupted")
    _, _, whole, _ = bench()
    assert [
        {name: value for name, value in one.items() if name not in ("seconds", "stages")} for one in results(tmp_path)
    ] == lines
    assert measured["pairs"] == whole["pairs"]


def test_torn_lines_are_left_out_and_measured_again_from_the_pool(bench: Callable[..., Any], tmp_path: Path) -> None:
    _, _, before, _ = bench()
    file = tmp_path / "out" / "results.jsonl"
    content = file.read_bytes()
    file.write_bytes(content[:-30])
    model, _, after, said = bench()
    assert model.requests == []
    assert "1 line(s) of results.jsonl were cut off" in said
    assert after["pairs"] == before["pairs"]
    assert len(file.read_bytes().splitlines()) == 10  # the torn line stays, alone in its line


@pytest.mark.parametrize("folder", ["held_out", "."])
def test_the_tables_of_the_page_are_those_of_the_raw_lines(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = DOCS / "gsm8k" / folder
    for name in ("results.jsonl.xz", "run.json"):
        shutil.copy(kept / name, tmp_path)
    run(None, CHAINS, None, 0, 0, 0, str(tmp_path), TOKENS, True)
    measured = json.loads(capsys.readouterr().out)
    assert measured == json.loads((kept / "figures.json").read_text())
    written = (DOCS / "gsm8k.md").read_text().replace("*", "")
    for name, one in measured["arms"].items():
        low, high = (100 * end for end in one["interval"])
        row = f"{one['right']}, {100 * one['accuracy']:.1f} % [{low:.1f}, {high:.1f}]"
        assert row in written or name in UNTOLD or folder != "held_out"


def test_the_surer_half_is_judged_without_favour_to_any_of_equally_sure_ones() -> None:
    assert surer_half([0.9, 0.8, 0.2, 0.1], [True, True, False, False]) == 1.0
    assert surer_half([0.9, 0.5, 0.5, 0.5], [True, True, False, False]) == pytest.approx((1 + 1 / 3) / 2)
    assert surer_half([0.9], [False]) == 0.0


def test_a_failure_is_counted_as_wrong_and_tried_again_the_next_time(bench: Callable[..., Any], tmp_path: Path) -> None:
    def broken(request: Request) -> str:
        if "What is 0" in request.text:
            raise ModelUnavailable("The model is away.")
        return solves(request)

    _, code, measured, _ = bench("direct", broken)
    one = measured["arms"]["direct"]
    assert (code, one["n"], one["right"], one["failed"]) == (1, 3, 0, 1)
    assert results(tmp_path)[0]["failed"] == "The model is away"
    model, code, measured, _ = bench("direct")
    assert (code, len(model.requests), measured["arms"]["direct"]["failed"]) == (0, 1, 0)


def test_no_method_spends_more_than_the_cap(bench: Callable[..., Any], tmp_path: Path) -> None:
    _, _, measured, _ = bench("self_consistency,adaptive_self_consistency,insula,mgv,self_refine", tokens=150)
    for one in results(tmp_path):
        assert one["input_tokens"] + one["output_tokens"] <= 150
    assert measured["arms"]["self_consistency"]["capped"] == 3
    assert measured["arms"]["self_consistency"]["failed"] == 0
    assert measured["arms"]["self_consistency"]["endings"] == {"budget": 3}


def test_results_on_other_terms_are_not_mixed(bench: Callable[..., Any], tmp_path: Path) -> None:
    bench("direct")
    with pytest.raises(InputError, match="another tokens, which do not compare"):
        bench("direct", tokens=500)
    with pytest.raises(InputError, match="another model"):
        bench("direct", model="other")
    (tmp_path / "more").mkdir()
    with pytest.raises(InputError, match="another data"):
        bench("direct", data=data_of(tmp_path / "more", 4))


# The figures.


def line(arm: str, problem: int, correct: bool, **more: Any) -> Json:
    usage = {"calls": 1, "input_tokens": 100, "output_tokens": 50, "seconds": 2.0}
    given: Json = {"answer": "1", "leaning": "1", "leaning_correct": correct, "confidences": {}, "attempts": [{}]}
    return {"arm": arm, "problem": problem, "seed": 0, "correct": correct, "failed": None, **given, **usage, **more}


def test_what_was_abstained_from_is_wrong_and_its_confidence_is_judged_all_the_same() -> None:
    held_back = line(
        "insula", 1, False, answer=None, abstained=True, leaning_correct=True, confidences={"combined": 0.1}
    )
    given = line("insula", 0, True, confidences={"combined": 0.9})
    one = alone([given, held_back])
    assert (one["accuracy"], one["abstained"], one["unanswered"], one["right_when_answered"]) == (0.5, 1, 0, 1.0)
    assert confidences([given, held_back])["combined"]["right"] == 2


def test_two_methods_are_compared_on_the_problems_that_both_have() -> None:
    ours = {(n, 0): line("a", n, n < 8, output_tokens=50 - n) for n in range(10)}
    theirs = {(n, 0): line("b", n, n < 3) for n in range(2, 12)}
    told = paired("a", "b", ours, theirs)
    assert (told["n"], told["only_one"], told["only_other"], told["difference"]) == (8, 5, 0, 0.625)
    assert told["p"] == 0.0625
    assert told["interval"][0] < 0.625 < told["interval"][1]
    assert told["tokens_difference"] == -5.5


def test_more_seeds_of_the_same_problems_make_nothing_more_certain() -> None:
    ours = {(n, seed): line("a", n, n < 8) for n in range(12) for seed in range(4)}
    theirs = {(n, seed): line("b", n, n < 3) for n in range(12) for seed in range(4)}
    once, often = (
        paired("a", "b", *({unit: one for unit, one in of.items() if unit[1] < seeds} for of in (ours, theirs)))
        for seeds in (1, 4)
    )
    assert (once["n"], often["n"]) == (12, 48)
    assert (once["difference"], once["interval"]) == (often["difference"], often["interval"])
    assert (once["p"], often["p"]) == (0.0625, None)
    low, high = alone(list(ours.values()))["interval"]
    assert high - low > 0.4


def test_a_reply_that_could_not_be_kept_is_not_taken_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Lines.add

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with closing(FilePool(tmp_path / "replies.jsonl")) as pool:
        monkeypatch.setattr(Lines, "add", full)
        with pytest.raises(OSError, match="No space"):
            pool.put("one", kept("of one"))
        monkeypatch.setattr(Lines, "add", add)
        pool.put("other", kept("of the other"))
        assert pool.get("one") is None
        assert pool.get("other") == kept("of the other")


def test_a_confidence_is_judged_where_it_is_known_and_a_figure_that_is_none_is_left_out() -> None:
    records = [
        line("a", 0, True, confidences={"likelihood": 0.9, "prompted": float("nan")}),
        line("a", 1, False, confidences={"likelihood": 0.4}),
        line("a", 2, False, confidences={}),
    ]
    told = confidences(records)
    assert list(told) == ["likelihood"]
    assert (told["likelihood"]["n"], told["likelihood"]["auroc"], told["likelihood"]["ece"]) == (2, 1.0, 0.25)


def test_no_text_becomes_markup_on_the_page() -> None:
    shown = page("T", "<b>", {"<i>": (("<u>",), [("<s>",)])}, {"<p>": "AA=="}, None)
    assert not any(tag in shown for tag in ("<b>", "<i>", "<u>", "<s>", '"<p>"'))


# Bad input.
