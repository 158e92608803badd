"""The door of the senses: no part of an action holds a secret of what it was made of, and it is still understood."""

import json
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth, lengthened
from insula.coding.step.action import Action
from insula.coding.step.command import parse_command
from insula.coding.step.fingerprint import make_action
from insula.coding.step.redacting import drop_kinds, redact_command, redact_output, redact_start
from insula.coding.step.state import dump_state
from insula.redaction import take_secrets
from insula.senses import action as felt
from insula.senses import feel, feel_messages
from insula_bench.secret_lines import cases, read_lines

TOKEN = "ghp_" + "aB3d" * 9
HEALTHY = read_lines("none_commands")


def acted(command: str, error: str = "", tool: str = "Bash") -> Action:
    return make_action(tool=tool, input={"command": command}, output=error, at=1.0, ok=not error)


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]  # type: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in texts(each)]  # type: ignore[reportUnknownVariableType]
    return [value] if isinstance(value, str) else []


# What is kept.


SECRETS = st.sampled_from(
    (
        *(TOKEN, "AKIA" + "IOSFODNN7QWERTYU", "sk_live_" + "aB3dE5fG7h" * 3, "glpat-" + "aB3dE5fG7hJ9kL1mN2pQ"),
        *("hunter2", "Kw83mdPq", "Tr0ub4dor&3", "swordfish9", "pass word 9", "9f8e7d6c" * 5),
    )
)
PLACES = st.sampled_from(
    (
        *("DB_PASSWORD={} make", "export API_TOKEN='{}'", "psql --password {} -h db", "mysql -uroot -p{} shop"),
        *("curl -u ada:{} https://x.org", 'curl -H "Authorization: Bearer {}" x.org', "git clone https://u:{}@x.org/a"),
        *(
            'curl -d \'{{"password": "{}"}}\' x',
            "sshpass -p '{}' ssh h",
            "cat > .env <<E\nTOKEN={}\nE",
            "echo {}",
            "{}",
        ),
        *("docker login -u a \\\n -p {} x.org", "$env:TOKEN = '{}'", "TOKEN={0} ./run; ./again {0}", "rm -rf {}"),
    )
)
OTHER = st.text(alphabet="abc xyz\n$=:;|&-/.<>(){}[]#,@0123456789", max_size=60)
BEFORE = OTHER | st.sampled_from(("0'", 'say "', "it's ", "x='a b'; ", 'echo "a"b; ', "true && \\\n"))


@settings(max_examples=300, deadline=None)
@given(
    before=BEFORE,
    place=PLACES,
    secret=SECRETS,
    after=OTHER,
    fails=st.booleans(),
    tool=st.sampled_from(("Bash", "Read", "Edit", "Grep", "mcp__x__y")),
)
def test_no_field_of_an_action_holds_what_redaction_takes_from_its_input(
    before: str, place: str, secret: str, after: str, fails: bool, tool: str
) -> None:
    command = before + place.format(secret) + after
    output = f"Exit code 1\n{before}\n+ {command}\nError: no" if fails else ""
    taken = {**take_secrets(command)[1], **(take_secrets(output)[1] if fails else {})}
    done = make_action(
        tool=tool,
        input={"file_path" if tool in {"Read", "Edit"} else "command": command},
        output=output,
        at=1.0,
        ok=not fails,
    )
    fields = texts(done.as_dict())
    for value in (value for value in taken if len(value) >= 6 and any(map(str.isdigit, value)) and "[" not in value):
        if any(map(str.isalpha, value)):
            assert not [field for field in fields if value in field or value.lower() in field]


def test_what_a_command_gave_away_is_taken_out_of_its_output_where_nothing_shows_it() -> None:
    error = acted("psql --password Kw83mdPq -h db", "fatal: role Kw83mdPq of db does not exist").error
    assert "kw83mdpq" not in error
    assert "role [redacted:password] of db" in error


def test_a_plain_word_that_is_a_password_is_no_secret_elsewhere() -> None:
    done = acted("POSTGRES_PASSWORD=postgres psql -U postgres -d shop -c 'select 1'", "psql: error: no such database")
    assert done.family == "query psql"
    assert "postgres" in done.selectors


@pytest.mark.parametrize(
    "command",
    [
        f"T='{TOKEN[:12]}''{TOKEN[12:]}' gh pr list",
        f"T={TOKEN[:12]}'{TOKEN[12:]}' gh pr list",
        f"T=\"{TOKEN[:12]}\"'{TOKEN[12:]}' gh pr list",
        f"'{TOKEN[:4]}''{TOKEN[4:]}'",
        f'curl -H "Authorization: Bearer {TOKEN[:9]}""{TOKEN[9:]}" x.org',
        f"gh auth login \\\n --with-token \\\r\n <<< {TOKEN}",
        f"export \\\nT={TOKEN[:12]}\\\n{TOKEN[12:]}",
    ],
)
def test_a_secret_in_parts_is_seen_as_the_shell_sees_it(command: str) -> None:
    kept = " ".join(texts(acted(command, f"+ {command}\nfailed").as_dict()))
    assert TOKEN[12:].lower() not in kept.lower()
    assert TOKEN[4:12].lower() not in kept.lower()


@pytest.mark.parametrize("command", ["git commit -m 'it''s \"done\"'", 'a "$HOME"/b \'c\'"d"', "x=''", "echo '' \"\""])
def test_a_command_without_secrets_means_what_it_meant(command: str) -> None:
    assert parse_command(redact_command(command, 4_000)[0]) == parse_command(command)


# Where a text is cut.


@pytest.mark.parametrize("place", range(3_950, 6_100, 43))
def test_a_cut_does_not_make_a_secret_unknown(place: int) -> None:
    mark = "mysql --user=root --password="
    command = "true;" * (place // 5) + f"{mark}{TOKEN} shop; " + "true;" * 20_000
    assert "aB3daB3d" not in redact_command(command, 4_000)[0]
    output = (
        "word " * (place // 5) + f"password={TOKEN} " + "word " * 20_000 + f"password={TOKEN} " + "word " * (place // 5)
    )
    assert "aB3daB3d" not in redact_output(output, 4_000, {})
    assert "aB3daB3d" not in redact_start(output, 4_000)


def test_the_ends_of_a_long_output_are_kept() -> None:
    output = "first line\n" + "word " * 50_000 + "\nlast line"
    kept = redact_output(output, 4_000, {})
    assert kept.startswith("first line")
    assert kept.endswith("last line")
    assert redact_output("short", 4_000, {}) == "short"


@pytest.mark.parametrize(
    "unit", ["a", "'a'", '"\\', "a'b", "-p x ", "token=", "<<<", "password ", "\\\n", f"--password {TOKEN} ", "://a:b"]
)
def test_the_time_that_a_command_takes_grows_with_its_length_at_most(unit: str) -> None:
    assert growth(acted, lengthened("", unit), 100_000) < LINEAR


# What is still understood.


def test_a_redacted_command_is_understood_as_before() -> None:
    same = ("acts", "proves", "changes", "waits", "probes", "limited")
    for case in cases("commands"):
        clean = redact_command(case.text, 4_000)[0]
        before, after = parse_command(case.text), parse_command(drop_kinds(clean))
        assert after.family.partition("[")[0] == before.family[: len(after.family.partition("[")[0])], case.line
        assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same], case.line
        assert _is_balanced(clean) == _is_balanced(case.text), case.line


def _is_balanced(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return False
    return True


def test_commands_without_secrets_are_not_touched() -> None:
    touched = [line for line in HEALTHY if redact_command(line, 4_000) != (line, {})]
    assert len(HEALTHY) > 150
    assert len(touched) <= len(HEALTHY) / 100, touched


@pytest.mark.parametrize(
    "other", ["sk_live_" + "aB3dE5fG7h" * 3, "glpat-" + "aB3dE5fG7hJ9kL1mN2pQ", "aB3dE5fG7hJ9kL1mN2pQ4r"]
)
@pytest.mark.parametrize(
    "command",
    [
        "curl -H 'Authorization: Bearer {}' https://api.example.org/me",
        "docker run -e API_TOKEN={} api pytest",
        "curl -u ada:{} https://api.example.org/me",
        "MY_SECRET_TOKEN={} ./deploy.sh prod",
        "./deploy.sh --token {} prod",
        "git clone https://u:{}@example.org/a.git",
    ],
)
def test_the_same_command_with_another_secret_is_the_same(command: str, other: str) -> None:
    first, second = (acted(command.format(secret), "error: refused") for secret in (TOKEN, other))
    assert (first.family, first.selectors, first.label) == (second.family, second.selectors, second.label)


# Where else actions are made.


def test_what_a_program_hands_to_the_senses_is_redacted() -> None:
    done = felt("bash", json.dumps({"command": f"psql --password Kw83mdPq; echo {TOKEN}"}), f"Error: {TOKEN}", ok=False)
    kept = json.dumps(dump_state(feel(None, done).state))
    assert "Kw83mdPq" not in kept
    assert TOKEN.lower() not in kept.lower()


def test_what_stands_in_messages_is_redacted() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"never touch {TOKEN}.txt, the password is Kw83mdPq"}]
    for number in range(4):
        call = {"name": "bash", "arguments": json.dumps({"command": f"deploy --token {TOKEN} --password Kw83mdPq"})}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]}
        )
        messages.append(
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"Error: Kw83mdPq and {TOKEN} refused"}
        )
    result = feel_messages(messages)
    kept = json.dumps(dump_state(result.state)) + (result.note.text if result.note else "")
    assert "kw83mdpq" not in kept.lower()
    assert TOKEN.lower() not in kept.lower()
