import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as limited
from hypothesis import strategies as st

from insula.coding.hosts import jsonc
from insula.coding.hosts.install import add_hooks, remove_hooks
from insula.coding.hosts.jsonc import JsonError, Node
from insula.coding.hosts.places import HOSTS, HookCommand
from insula.coding.hosts.present import list_our_hooks

COMMANDS = {name: HookCommand("/usr/bin/python3", "/home/dev/.insula", name) for name in HOSTS}
HOUSE = Path("/home/dev/.insula")
EDITED = sorted(name for name, host in HOSTS.items() if not host.script)

foreign_command = st.sampled_from(
    [
        "node /x/hook.js",
        "/usr/bin/python3 -I -S /opt/insula/hook/run.py --claude",
        "insula doctor",
        "sh -c 'echo \"{}\"'",
        "/usr/bin/python3 -I -S /opt/.insula/hooks/run.py codex",
    ]
)
handler = st.fixed_dictionaries({"type": st.just("command"), "command": foreign_command})
group = st.fixed_dictionaries({"hooks": st.lists(handler, max_size=2)}, optional={"matcher": st.just("Bash")})
events = st.sampled_from(["SessionStart", "PostToolUse", "AfterTool", "Stop", "PreToolUse", "SessionEnd"])
hooks = st.dictionaries(events, st.lists(group, max_size=2), max_size=4)
leaf = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6) | st.sampled_from(["// no", "/* no */", '"'])
)
value = st.recursive(
    leaf,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
settings = st.dictionaries(st.sampled_from(["model", "env", "permissions", "", "é"]), value, max_size=4)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A settings file as a person might have written it, and what it says."""
    content: dict[str, Any] = draw(settings)
    if draw(st.booleans()):
        items = [*content.items(), ("hooks", draw(hooks))]
        content = dict(draw(st.permutations(items)))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    blank = st.sampled_from(
        ["", "", " ", "\n", "\n  ", "\n\t", "\n\n    ", " // note\n", "/* a */", "\n  // b, c }\n  ", "\t"]
    )

    def space() -> str:
        return draw(blank).replace("\n", newline)

    def show(one: Any) -> str:
        if isinstance(one, dict):
            parts = [f"{json.dumps(key)}{space()}:{space()}{show(inner)}" for key, inner in one.items()]  # type: ignore
            return "{" + join(parts) + "}"
        if isinstance(one, list):
            return "[" + join([show(inner) for inner in one]) + "]"  # type: ignore
        return json.dumps(one, ensure_ascii=draw(st.booleans()))

    def join(parts: list[str]) -> str:
        text = ",".join(f"{space()}{part}{space()}" for part in parts)
        return text + draw(st.sampled_from(["", "," + space()])) if parts else space()

    style = draw(st.sampled_from(["wild", "wild", "indented", "one line"]))
    if style == "wild":
        text = space() + show(content) + space()
    else:
        text = json.dumps(content, indent=draw(st.sampled_from([2, 4, "\t"])) if style == "indented" else None)
        text = text.replace("\n", newline) + draw(st.sampled_from(["", newline]))
    return draw(st.sampled_from(["", "\ufeff"])) + text, content


def without_empty(content: dict[str, Any]) -> dict[str, Any]:
    """What a file says but for hooks that are none."""
    hooks = {event: groups for event, groups in content.get("hooks", {}).items() if groups}
    return {key: value for key, value in content.items() if key != "hooks"} | ({"hooks": hooks} if hooks else {})


@limited(max_examples=20)
@given(files(), st.sampled_from(EDITED))
def test_what_is_put_in_is_taken_out(file: tuple[str, dict[str, Any]], name: str) -> None:
    text, content = file
    host, command = HOSTS[name], COMMANDS[name]
    after = add_hooks(text, host, command)
    assert add_hooks(after, host, command) == after
    restored: Any = jsonc.parse_jsonc(remove_hooks(after, host, HOUSE)).to_plain()
    assert without_empty(restored) == without_empty(content)


@limited(max_examples=20)
@given(files(), st.sampled_from(sorted(HOSTS)))
def test_hooks_are_added_behind_what_is_there_and_nothing_else_changes(
    file: tuple[str, dict[str, Any]], name: str
) -> None:
    text, content = file
    host, command = HOSTS[name], COMMANDS[name]
    after: Any = jsonc.parse_jsonc(add_hooks(text, host, command)).to_plain()
    before = content.get("hooks", {})
    assert {key: one for key, one in after.items() if key != "hooks"} == {
        key: one for key, one in content.items() if key != "hooks"
    }
    for event, groups in after["hooks"].items():
        ours = [host.entry(on, str(command), host.scale) for on in host.events if on.event == event]
        assert groups == [*before.get(event, []), *ours]


def boundaries(text: str, node: Node, ours: set[int]) -> list[tuple[int, Node | None]]:
    """Where a person may write something, outside our hooks; with the container where a member may begin."""
    if node.start in ours or node.kind == "scalar":
        return []
    found: list[tuple[int, Node | None]] = [(node.start + 1, node), (node.end - 1, None)]
    for member in node.members:
        found += [(member.start, None), (member.node.start, None), (member.node.end, None)]
        found += boundaries(text, member.node, ours)
    return found


def hooks_of(text: str, name: str) -> set[int]:
    """Where our hooks begin in a file."""
    root = jsonc.parse_jsonc(text)
    starts: set[int] = set()
    for found in list_our_hooks(root, HOSTS[name], HOUSE):
        group = root.get_value("hooks").get_value(found.event).members[found.group].node  # type: ignore[union-attr]
        inner = group.get_value("hooks")
        starts.add(inner.members[found.index].node.start if inner else group.start)
    return starts


@limited(max_examples=20)
@given(files(), st.sampled_from(EDITED), st.data())
def test_whatever_a_person_writes_in_between_stays_and_all_of_ours_goes(
    file: tuple[str, dict[str, Any]], name: str, data: st.DataObject
) -> None:
    host = HOSTS[name]
    text = add_hooks(file[0], host, COMMANDS[name])
    added: list[str] = []
    for number in range(data.draw(st.integers(1, 4))):
        at, box = data.draw(st.sampled_from(boundaries(text, jsonc.parse_jsonc(text), hooks_of(text, name))))
        new = data.draw(st.sampled_from([f" // mine{number}\n", f"/* mine{number} */", "\n", "  ", "\r\n", "member"]))
        if new == "member":
            key = f'"theirs{number}": ' if box and box.kind == "object" else ""
            new = f'{key}"mine{number}"{"," if box.members else ""}' if box else ""
        text = text[:at] + new + text[at:]
        added += [f"mine{number}"] if "mine" in new else []
    after = remove_hooks(text, host, HOUSE)
    assert not hooks_of(after, name)
    for mark in (*added, "// note", "/* a */", "// b, c }", "node /x/hook.js", "insula doctor"):
        assert after.count(mark) == text.count(mark)
    was: Any = jsonc.parse_jsonc(text).to_plain()
    now: Any = jsonc.parse_jsonc(after).to_plain()
    assert {**now, "hooks": 0} == {**was, "hooks": 0}


@pytest.mark.parametrize(
    "text",
    [
        '{ // c\n"hooks": { } }',
        '{ // c\n"hooks": { "Stop": [] }, "a": 1 }',
        '{"a": 1, // c\n"hooks": { } }',
        '{"hooks": { // c\n"Stop": [ ] } }',
        '{"hooks": { // c\n"Stop": [ // d\n ] /* e */ } }',
        '{"hooks": { // c\n"Stop": [ ] /* e\n */, "Other": [] } }',
    ],
)
def test_a_line_comment_never_swallows_what_follows(text: str) -> None:
    host, command = HOSTS["codex"], COMMANDS["codex"]
    after = remove_hooks(add_hooks(text, host, command), host, HOUSE)
    assert jsonc.parse_jsonc(after) and "// c\n" in after


@given(st.text(alphabet='{}[]",:/*\n tru1.-e\\', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expected: object = json.loads(text)
    except ValueError:
        try:
            assert isinstance(jsonc.parse_jsonc(text), Node)
        except JsonError as error:
            assert str(error).startswith("line ")
    else:
        if isinstance(expected, dict):
            assert jsonc.parse_jsonc(text).to_plain() == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1\n  "b": 2}', "line 3: a comma or '}' is missing"),
        ('{"a": }', "line 1: a value is missing"),
        ("{a: 1}", "line 1: a key in double quotes is missing"),
        ('{"a" 1}', "line 1: a colon is missing"),
        ('{"a": 1', "line 1: a comma or '}' is missing"),
        ('{\n/* "a": 1}', "line 2: a comment that does not end"),
        ('{"a": "b}', "line 1: Unterminated string"),
        ('{"a": NaN}', "line 1: not a value: 'N'"),
        ("{}\n{}", "line 2: something follows the end"),
        ("[]", "line 1: not an object"),
        ('{"a":' + "[" * 200, "line 1: nested too deeply"),
        ('{\n"a": ' + "1" * 5_000 + "}", "line 2: a number with too many digits"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(JsonError) as error:
        jsonc.parse_jsonc(text)
    assert str(error.value).startswith(said)
