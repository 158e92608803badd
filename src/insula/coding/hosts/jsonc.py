"""An edit of JSON with comments that leaves what else stands there alone.

The settings of coding agents are written by hand: they have comments, trailing commas and a layout of their own. So
nothing is parsed and printed again; a text is read to spans, and text is put in or taken out at spans.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal, cast

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DEEPEST = 100
"""Containers in one another; no settings file has so many, and the stack of Python has an end."""


class JsonError(ValueError):
    """A text that is no JSON, even with comments and trailing commas; says in which line, and why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands."""

    start: int
    end: int
    kind: Literal["object", "array", "scalar"]
    value: object = None
    """Of a scalar."""
    members: "tuple[Member, ...]" = ()

    def get_value(self, key: str) -> "Node | None":
        """The value under `key`; of a key that stands there twice the last one, as readers of JSON have it."""
        return self.members[place].node if (place := self.find_place(key)) >= 0 else None

    def find_place(self, key: str) -> int:
        """Which member has that key, the last one of several; -1 for none."""
        return max((number for number, member in enumerate(self.members) if member.key == key), default=-1)

    def to_plain(self) -> object:
        """The value without its places."""
        if self.kind == "scalar":
            return self.value
        if self.kind == "array":
            return [member.node.to_plain() for member in self.members]
        return {member.key: member.node.to_plain() for member in self.members}


@dataclass(frozen=True, slots=True)
class Member:
    """An item of an array, or a key and value of an object."""

    key: str
    start: int
    node: Node
    comma: int
    """Where the comma after it stands; -1 without one."""


class _JsonReader:
    def __init__(self, text: str) -> None:
        self.text = text

    def make_error(self, at: int, reason: str) -> JsonError:
        return JsonError(f"line {self.text.count(chr(10), 0, at) + 1}: {reason}")

    def skip_blank(self, at: int) -> int:
        """The first character that is neither white space nor comment."""
        while True:
            at = _skip_space(self.text, at)
            if not self.text.startswith("/", at):
                return at
            if (comment := _COMMENT.match(self.text, at)) is None:
                raise self.make_error(at, "a comment that does not end")
            at = comment.end()

    def read_value(self, at: int, depth: int = 0) -> Node:
        first = self.text[at : at + 1]
        if first in ("{", "["):
            if depth > _DEEPEST:
                raise self.make_error(at, "nested too deeply")
            return self.read_container(at, depth)
        if first == '"':
            value, end = self.read_string(at)
            return Node(at, end, "scalar", value)
        if (match := _SCALAR.match(self.text, at)) is None:
            raise self.make_error(
                at, "a value is missing" if first in ("", ",", "]", "}", ":") else f"not a value: {first!r}"
            )
        try:
            return Node(at, match.end(), "scalar", json.loads(match.group()))
        except ValueError as error:  # Python reads no number of more than 4,300 digits
            raise self.make_error(at, "a number with too many digits") from error

    def read_string(self, at: int) -> tuple[str, int]:
        if not self.text.startswith('"', at):
            raise self.make_error(at, "a key in double quotes is missing")
        try:
            return json.JSONDecoder().raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self.make_error(at, error.msg) from error

    def read_container(self, start: int, depth: int) -> Node:
        kind, closing = ("object", "}") if self.text[start] == "{" else ("array", "]")
        members: list[Member] = []
        at = self.skip_blank(start + 1)
        while not self.text.startswith(closing, at):
            if members and members[-1].comma < 0:
                raise self.make_error(at, f"a comma or {closing!r} is missing")
            member = self.read_member(at, kind == "object", depth)
            members.append(member)
            at = self.skip_blank(member.node.end if member.comma < 0 else member.comma + 1)
        return Node(start, at + 1, kind, members=tuple(members))

    def read_member(self, start: int, named: bool, depth: int) -> Member:
        key, at = self.read_string(start) if named else ("", start)
        if named:
            at = self.skip_blank(at)
            if not self.text.startswith(":", at):
                raise self.make_error(at, "a colon is missing")
            at = self.skip_blank(at + 1)
        node = self.read_value(at, depth + 1)
        after = self.skip_blank(node.end)
        return Member(key, start, node, after if self.text.startswith(",", after) else -1)


def parse_jsonc(text: str) -> Node:
    """The object that the text holds, with the place of each part.

    Raises:
        JsonError: it is no JSON object, even with comments and trailing commas.
    """
    reader = _JsonReader(text)
    root = reader.read_value(reader.skip_blank(0))
    if (rest := reader.skip_blank(root.end)) < len(text):
        raise reader.make_error(rest, "something follows the end")
    if root.kind != "object":
        raise reader.make_error(root.start, "not an object")
    return root


def append_value(text: str, box: Node, value: object, key: str = "") -> str:
    """`text` with one more value at the end of an array, or under `key` at the end of an object."""
    line = _find_newline(text)
    inside = _find_margin(text, box.start)
    if not box.members:
        first = _skip_space(text, box.start + 1)
        close = line if "\n" in text[box.start + 1 : first] else line + inside
        new = _print_value(text, value, key, inside + _find_unit(text))
        new = new if _is_one_line(text) else line + inside + _find_unit(text) + new + close
        return text[: box.start + 1] + new + text[box.start + 1 :]
    last = box.members[-1]
    before = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    indent = inside + _find_unit(text) if before.strip(" \t") else before
    new = _print_value(text, value, key, indent)
    new = new if _is_one_line(text) else line + indent + new
    if last.comma >= 0:
        at = _after_comments(text, last.comma + 1)
        return text[:at] + new + "," + text[at:]
    at = _after_comments(text, last.node.end)
    return text[: last.node.end] + "," + text[last.node.end : at] + new + text[at:]


def remove_member(text: str, box: Node, index: int) -> str:
    """`text` without one member of an array or object, and without the white space before it.

    What a person wrote around it stays. What was written within it, comments too, goes with it.
    """
    member, previous = box.members[index], box.members[index - 1] if index else None
    around = text[box.start + 1 : member.start] + text[member.node.end : box.end - 1]
    if len(box.members) == 1 and not around.strip(" \t\r\n,"):
        return text[: box.start + 1] + text[box.end - 1 :]
    gap, line = _find_gap(text, previous.comma + 1 if previous else box.start + 1, member.start)
    before, after = text[:gap], text[member.node.end :]
    if member.comma >= 0:
        after = text[member.node.end : member.comma] + text[member.comma + 1 :]
    elif previous is not None:
        before = text[: previous.comma] + text[previous.comma + 1 : gap]
    else:
        after = after.removeprefix(_find_newline(text))  # which `append_value` put there
    return before + ("" if after.lstrip(" \t").startswith(("\n", "\r")) else line) + after


def has_comment(text: str, member: Member) -> bool:
    """Whether a comment stands in a member, its key and value."""
    return _COMMENT.search(_STRING.sub("", text[member.start : member.node.end])) is not None


def replace_value(text: str, node: Node, value: object) -> str:
    """`text` with another value in the place of a scalar."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def _find_gap(text: str, start: int, end: int) -> tuple[int, str]:
    """Where the white space before `end` begins, after the last comment; and what must end that if it is of a line."""
    line = ""
    for comment in _find_comments(text, start, end):
        start = comment.end()
        line = _find_newline(text) if comment.group().startswith("//") else ""
    return start, line


def _find_comments(text: str, start: int, end: int) -> "list[re.Match[str]]":
    comments: list[re.Match[str]] = []
    while (comment := _COMMENT.match(text, _skip_space(text, start), end)) is not None:
        comments.append(comment)
        start = comment.end()
    return comments


def _after_comments(text: str, at: int) -> int:
    """The end of the comments that follow in the same line: they are about what stands before them."""
    for comment in _find_comments(text, at, len(text)):
        if "\n" in text[at : comment.start()]:
            break
        at = comment.end()
    return at


def _print_value(text: str, value: object, key: str, indent: str) -> str:
    name = json.dumps(key, ensure_ascii=False) + ": " if key else ""
    if _is_one_line(text):
        return name + json.dumps(value, ensure_ascii=False)
    printed = json.dumps(value, ensure_ascii=False, indent=_find_unit(text))
    return name + printed.replace("\n", _find_newline(text) + indent)


def _is_one_line(text: str) -> bool:
    root = parse_jsonc(text)
    return bool(root.members) and not {"\n", "\r"} & set(text[root.start : root.end])


def _find_unit(text: str) -> str:
    """One step of indentation, as the file has it."""
    match = re.match(r"\{[ \t]*\r?\n([ \t]+)[\"/]", text[parse_jsonc(text).start :])
    return match.group(1) if match else "  "


def _find_margin(text: str, at: int) -> str:
    """The white space at the beginning of the line."""
    begin = text.rfind("\n", 0, at) + 1
    match = re.compile(r"\ufeff?([ \t]*)").match(text, begin)
    return match.group(1) if match else ""


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip_space(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()
