"""A command line as it is kept: without what is secret, and read as before, in a time that grows no faster."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_action import PLACES, SECRETS, TOKEN, act, kept

from growth import LINEAR, growth, lengthened
from insula.coding.step.command import parse_command
from insula.coding.step.redacting import drop_kinds, redact_command, redact_output, redact_start
from insula.redaction import take_secrets
from insula_bench.secret_lines import cases, read_lines

OTHER = st.text(alphabet="abc xyz\n$=:;|&-/.<>(){}[]#,@0123456789", max_size=60)
BEFORE = OTHER | st.sampled_from(("0'", 'say "', "it's ", "x='a b'; ", 'echo "a"b; ', "true && \\\n"))


@settings(max_examples=150)
@given(BEFORE, st.sampled_from([*PLACES, "echo {}", "{}", "rm -rf {}"]), SECRETS, OTHER, st.booleans())
def test_no_field_of_an_action_holds_what_redaction_takes_from_its_input(
    before: str, place: str, secret: str, after: str, fails: bool
) -> None:
    command = before + place.format(secret) + after
    output = f"Exit code 1\n{before}\n+ {command}\nError: no" if fails else ""
    left = kept(act(command, output, not fails))
    for value in {**take_secrets(command)[1], **(take_secrets(output)[1] if fails else {})}:
        if len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and "[" not in value:
            assert value.lower() not in left


def test_a_redacted_command_is_understood_as_before() -> None:
    same = ("acts", "proves", "changes", "waits", "probes", "limited")
    for case in cases("commands"):
        clean = redact_command(case.text, 4_000)[0]
        before, after = parse_command(case.text), parse_command(drop_kinds(clean))
        assert after.family.partition("[")[0] == before.family[: len(after.family.partition("[")[0])], case.line
        assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same], case.line
        assert is_balanced(clean) == is_balanced(case.text), case.line


def is_balanced(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return False
    return True


def test_commands_without_secrets_are_not_touched_and_mean_what_they_meant() -> None:
    healthy = read_lines("none_commands")
    touched = [line for line in healthy if redact_command(line, 4_000) != (line, {})]
    assert len(healthy) > 150
    assert len(touched) <= len(healthy) / 100, touched
    for line in ("git commit -m 'it''s \"done\"'", 'a "$HOME"/b \'c\'"d"', "x=''", "echo '' \"\""):
        assert parse_command(redact_command(line, 4_000)[0]) == parse_command(line)


@pytest.mark.parametrize("place", range(3_950, 6_100, 43))
def test_a_cut_does_not_make_a_secret_unknown(place: int) -> None:
    command = "true;" * (place // 5) + f"mysql --user=root --password={TOKEN} shop; " + "true;" * 20_000
    words = "word " * (place // 5)
    output = f"{words}password={TOKEN} " + "word " * 20_000 + f"password={TOKEN} {words}"
    assert "aB3daB3d" not in redact_command(command, 4_000)[0]
    assert "aB3daB3d" not in redact_output(output, 4_000, {})[0]
    assert "aB3daB3d" not in redact_start(output, 4_000)


def test_the_ends_of_a_long_output_are_kept() -> None:
    left = redact_output("first line\n" + "word " * 50_000 + "\nlast line", 4_000, {})[0]
    assert left.startswith("first line")
    assert left.endswith("last line")
    assert redact_output("short", 4_000, {}) == ("short", {})


@pytest.mark.parametrize(
    "unit", ["a", "'a'", '"\\', "a'b", "-p x ", "token=", "<<<", "password ", "\\\n", f"--password {TOKEN} ", "://a:b"]
)
def test_the_time_that_a_command_takes_grows_with_its_length_at_most(unit: str) -> None:
    assert growth(act, lengthened("", unit), 100_000) < LINEAR
