"""Fingerprints: equal for what is the same, whatever clock time, line number or explanation stands beside it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from insula.coding.step.digests import hash_text
from insula.coding.step.failure import are_similar, make_template
from insula.coding.step.fingerprint import make_action

words = st.text(min_size=1, max_size=300)


def act(command: str = "make", output: str = "", **fields: Any) -> Any:
    return make_action(tool="Bash", input={"command": command, **fields}, output=output, at=1.0)


def test_what_an_agent_says_about_a_call_does_not_change_it() -> None:
    assert act("make", description="first try").call == act("make", description="once more, carefully").call


def test_another_command_is_another_call() -> None:
    assert act("make a").call != act("make b").call


def test_white_space_does_not_make_another_call() -> None:
    assert act("make  a").call == act("make a").call


def test_a_clock_time_does_not_make_another_result() -> None:
    one = act(output="2026-11-20T09:15:17Z server is up, pid 4711, took 3.2s")
    two = act(output="2026-11-20T09:15:21Z server is up, pid 4800, took 1.1s")
    assert one.result == two.result != ""


def test_a_percentage_that_moves_is_another_result() -> None:
    assert act(output="download: 10 % of the whole").result != act(output="download: 20 % of the whole").result


def test_an_output_that_tells_nothing_is_marked() -> None:
    assert act(output="ok").result.startswith("~")
    assert act(output="ok").result != act(output="no").result
    assert act(output=" ").result == ""


def test_errors_of_a_kind_are_similar_whatever_they_name() -> None:
    one, two = (
        make_template("ls: cannot access '/a/b': No such file or directory"),
        make_template("ls: cannot access '/c': No such file or directory"),
    )
    assert one == two == "ls: cannot access <quoted>: no such file or directory"
    assert are_similar(one, two)
    assert not are_similar(one, make_template("Segmentation fault (core dumped)"))


def test_a_long_traceback_is_told_by_its_end() -> None:
    frames = "".join(f'  File "/app/m{n}.py", line {n}, in f{n}\n    call({n})\n' for n in range(60))
    error = f"Traceback (most recent call last):\n{frames}KeyError: 'name'"
    assert make_template(error).endswith("keyerror: <quoted>")


@given(words, words)
def test_similarity_is_symmetric_and_reflexive(one: str, other: str) -> None:
    a, b = make_template(one), make_template(other)
    assert are_similar(a, b) == are_similar(b, a)
    assert are_similar(a, a)


@given(st.text(max_size=2_000))
def test_a_template_is_short(error: str) -> None:
    assert len(make_template(error)) <= 240


def test_no_secret_reaches_the_trace() -> None:
    secret = "sk-ant-" + "a1B2" * 10
    done = make_action(
        tool="Bash",
        input={"command": f"curl -H 'x-api-key: {secret}' https://api.test"},
        output=f"Error: bad key {secret}",
        at=0.0,
        ok=False,
    )
    assert secret not in repr(done)
    assert "[REDACTED:anthropic]" in done.target


@given(st.text(max_size=50))
def test_a_digest_has_the_size_that_was_asked_for(text: str) -> None:
    assert len(hash_text(text)) == 12
    assert len(hash_text(text, 16)) == 16


json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(max_size=30), json, st.text(max_size=200), st.none() | st.booleans())
def test_any_call_makes_an_action(tool: str, given_input: object, output: str, ok: bool | None) -> None:
    done = make_action(tool=tool, input=given_input, output=output, at=0.0, ok=ok)
    assert done.ok is True or done.error is not None
    assert len(done.target) <= 140
