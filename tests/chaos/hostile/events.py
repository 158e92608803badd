"""Payloads that mean harm, in the form in which each host sends its own to the hook."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from coding_agents import recorded

from hostile.repositories import ORDER
from hostile.trial import TOKEN, Site
from insula.coding.hosts import trials
from insula.coding.hosts.places import HOSTS

Payload = dict[str, Any]
Spoil = Callable[[Payload, Site], bytes]
RECORDED = ("claude-code", "codex", "gemini", "copilot", "qwen", "opencode", "cline")
DIGITS = "9" * 100_000
NAMES = {
    "session": ("session_id", "sessionId", "session", "taskId", "conversation_id"),
    "agent": ("agent_id", "agent", "parent_agent_id"),
    "cwd": ("cwd",),
    "roots": ("workspaceRoots", "workspace_roots"),
    "transcript": ("transcript_path", "transcriptPath"),
}
"""What hosts call the same thing."""
WAYS = {
    "device": "/dev/zero",
    "memory": "/proc/self/mem",
    "pipe": "{outside}/pipe",
    "socket": "{outside}/socket",
    "folder": "{outside}",
    "link to a device": "{outside}/zero",
    "sparse": "{outside}/sparse",
    "loop": "{outside}/loop",
    "NUL": "/tmp/a\0b",
    "surrogate": "/tmp/\ud800",
    "long": "/" + "a" * 100_000,
    "deep": "/a" * 50_000,
    "up": "../" * 5_000 + "etc/passwd",
    "order": ORDER,
    "escapes": "/tmp/\x1b]0;x\x07",
    "address": "http://127.0.0.1:9/x",
    "option": "--upload-pack=evil",
}
"""Paths that lead where none should."""
SESSIONS = {
    "up": "../../../outside/x",
    "absolute": "/etc/x",
    "dot": ".",
    "dots": "..",
    "empty": "",
    "NUL": "a\0b",
    "surrogate": "\ud800",
    "long": "a" * 1_000_000,
    "lines": "a\nb\r\n{}",
    "escapes": "\x1b[2J\u202e",
    "device": "CON",
    "unicode": "日本語" * 99,
    "order": ORDER,
    "half an address": "file:///etc/passwd",
}
VALUES: dict[str, object] = {
    "null": None,
    "true": True,
    "minus": -1,
    "list": [],
    "object": {},
    "nested": [[[{"x": [None]}]]],
    "text": "x",
    "NUL": "\0",
    "half a character": "\ud800",
    "long": "x" * 3_000_000,
    "many": ["x"] * 100_000,
    "escapes": "\x1b]52;c;eA==\x07\u202e",
    "order": ORDER,
}
RAW: dict[str, bytes] = {
    "nothing": b"",
    "NUL": b"\0" * 4_000,
    "no JSON": b"{",
    "a list": b"[]",
    "a number": b"1",
    "digits": DIGITS.encode(),
    "not a number": b'{"cwd": NaN, "timestamp": Infinity}',
    "latin": b'{"cwd": "\xff\xfe"}',
    "two": b"{}{}",
    "UTF-16": '{"cwd": "x"}'.encode("utf-16"),
    "deep lists": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 1_000_000,
    "deep and closed": b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "100 MB": b'{"prompt": "' + b"x" * 100_000_000 + b'"}',
    "many keys": json.dumps({f"k{number}": number for number in range(200_000)}).encode(),
    "one key often": b"{" + b'"cwd": "/x", ' * 200_000 + b'"cwd": 1}',
    "escapes": b'{"prompt": "' + b"\\u001b" * 500_000 + b'"}',
}


def make_ways(site: Site) -> None:
    """What the paths of payloads lead to."""
    import os
    import socket

    os.mkfifo(site.outside / "pipe")
    (site.outside / "zero").symlink_to("/dev/zero")
    (site.outside / "loop").symlink_to("loop")
    with (site.outside / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    here = Path.cwd()
    os.chdir(site.outside)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    os.chdir(here)


def events(host: str) -> Iterator[Payload]:
    """What a host sends, one payload of each event."""
    if host in RECORDED:
        seen = set[str]()
        for payload in recorded(host):
            kind = next(
                (str(payload[name]) for name in ("hook_event_name", "hookName", "event") if name in payload), ""
            )
            kind += str(sorted(payload))
            if kind not in seen:
                seen.add(kind)
                yield payload
    else:
        yield from (form(host, name) for name in ("prompt", "healthy", "failing"))


def form(host: str, name: str, **given: str) -> Payload:
    """A payload of a host's, as the doctor tries its hook with it."""
    forms = json.loads(trials.FORMS.read_text())[host]
    text = json.dumps({**forms["all"], **forms[name]})
    for key, value in {"session": "s-1", "cwd": "/nowhere", "n": "1", **given}.items():
        text = text.replace(f"${key}", json.dumps(value)[1:-1])
    return json.loads(text)


def payloads() -> Iterator[tuple[str, Spoil]]:
    """Each with a name that says what is wrong with it."""
    yield from ((f"raw: {name}", _raw(raw)) for name, raw in RAW.items())
    for key in ("cwd", "transcript"):
        yield from ((f"{key}: {name}", _set(key, way)) for name, way in WAYS.items())
    yield from ((f"roots: {name}", _set("roots", way)) for name, way in WAYS.items())
    yield from ((f"session: {name}", _set("session", name_)) for name, name_ in SESSIONS.items())
    yield from ((f"agent: {name}", _set("agent", name_)) for name, name_ in SESSIONS.items())
    yield from (
        (f"files: {name}", _leaves(("file_path", "path", "filePath", "absolute_path"), way))
        for name, way in WAYS.items()
    )
    yield from ((f"commands: {name}", _leaves(("command", "commands"), value)) for name, value in COMMANDS.items())
    yield from ((f"every field: {name}", _every(value)) for name, value in VALUES.items())
    yield from ((f"first field: {name}", _first(value)) for name, value in VALUES.items())
    yield (
        "every number: digits",
        lambda payload, _: _spelled(_with_numbers(payload)).replace(b'"DIGITS"', DIGITS.encode()),
    )
    yield "every number: endless", lambda payload, _: _spelled(_with_numbers(payload)).replace(b'"DIGITS"', b"1e999")


COMMANDS: dict[str, object] = {
    "quotes": "cat '" + "'\"" * 50_000,
    "braces": "echo " + "{a,b}" * 30,
    "nested": "$(" * 50_000,
    "heredocs": "cat <<A <<B <<C\n" * 5_000,
    "lines": "true\n" * 100_000,
    "pipes": "cat x |" * 50_000,
    "escapes": "cat \x1b]0;x\x07\u202e\\",
    "NUL": "cat a\0b",
    "half a character": "cat \ud800",
    "list": ["cat", 1, None, ["x"]],
    "object": {"command": "x"},
    "words": "a=" * 50_000,
    "wide": "rm " + "a" * 1_000_000,
    "patch": "*** Begin Patch\n" + "*** Update File: ../../x\n" * 20_000,
    "order": f"pytest -k '{ORDER}'",
}


def _raw(raw: bytes) -> Spoil:
    return lambda _payload, _site: raw


def _set(key: str, value: str) -> Spoil:
    def spoil(payload: Payload, site: Site) -> bytes:
        told = value.replace("{outside}", str(site.outside))
        names = NAMES[key]
        given = [told] if key == "roots" else told
        found = {name: given for name in names if name in payload} or {names[0]: given}
        return _spelled(payload | found)

    return spoil


def _leaves(keys: tuple[str, ...], value: object) -> Spoil:
    def spoil(payload: Payload, site: Site) -> bytes:
        told = value.replace("{outside}", str(site.outside)) if isinstance(value, str) else value
        return _spelled(_replaced(payload, lambda key, old: told if key in keys else old))

    return spoil


def _every(value: object) -> Spoil:
    def changed(key: str, old: object) -> object:
        return old if key in {"hook_event_name", "hookName", "event", "tool_name", "toolName"} else value

    return lambda payload, _: _spelled(_replaced(payload, changed))


def _first(value: object) -> Spoil:
    return lambda payload, _: _spelled(
        {key: value if key == next(iter(payload)) else old for key, old in payload.items()}
    )


def _with_numbers(payload: Payload) -> Payload:
    def changed(_: str, old: object) -> object:
        return "DIGITS" if isinstance(old, int | float) and not isinstance(old, bool) else old

    return {**_replaced(payload, changed), "duration_ms": "DIGITS", "timestamp": "DIGITS"}


def _replaced(value: Any, changed: Callable[[str, object], object], key: str = "") -> Any:
    if isinstance(value, dict):
        inner = cast(Payload, value)
        return {name: _replaced(each, changed, name) for name, each in inner.items()}
    if isinstance(value, list):
        return [_replaced(each, changed, key) for each in cast("list[Any]", value)]
    return changed(key, value)


def _spelled(payload: Payload) -> bytes:
    return json.dumps(payload).encode()


def is_told(host: str, out: str) -> bool:
    """Whether their word reached the model by what a hook said."""
    return host in HOSTS and TOKEN in out
