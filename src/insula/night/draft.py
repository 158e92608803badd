"""A model's draft of SOUL.md: suggestions of how to word guidelines that are supported, and nothing else.

The model is asked for `{"items": [{"id": …, "text": …}]}`; a list with bullets is read as well. Whatever it returns, a
wording is taken only for a guideline that it is faithful to, so a draft can neither add nor drop one.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple, cast

MOST_CHARS = 20_000
"""Four times what 600 words take as JSON; a longer draft distils nothing and is dropped whole."""
MOST_WORDINGS = 200
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(.+)$", re.MULTILINE)
_ID = re.compile(r"\A\[([0-9a-z_]{1,40})\][ \t:]*|[ \t]*<!--[ \t]*i:([0-9a-z_]{1,40})[^>]{0,20}-->[ \t]*\Z")

TASK = """\
Word each of these guidelines for an AI assistant, which will read them as its own. Write to it: use the imperative, \
or "you". One sentence each, at most 200 characters. Keep the meaning, names and numbers; use the words that are \
given, and add no advice of your own. Answer with JSON alone: {"items": [{"id": "…", "text": "…"}]}

"""
"""What a model is told before the guidelines."""


class Wording(NamedTuple):
    """One suggestion."""

    text: str
    id: str = ""
    """Of the guideline that it is meant for; empty where the draft does not say."""


class Draft(NamedTuple):
    """What was read of a draft."""

    wordings: tuple[Wording, ...] = ()
    problem: str = ""
    """`overlong` or `unparsable` where nothing was."""


def ask(items: Iterable[tuple[str, str]]) -> str:
    """The prompt that asks for wordings of guidelines, each an id and its text."""
    return TASK + "\n".join(json.dumps({"id": name, "text": text}, ensure_ascii=False) for name, text in items)


def read(text: str) -> Draft:
    """Read what a model returned."""
    if not text.strip():
        return Draft()
    if len(text) > MOST_CHARS:
        return Draft(problem="overlong")
    answer = _THOUGHT.sub("", text)
    fenced = _FENCED.search(answer)
    body = (fenced[1] if fenced else answer).strip()
    found = list(_of_json(body) if body[:1] in ("{", "[") else _of_bullets(body))[:MOST_WORDINGS]
    return Draft(tuple(found), "" if found else "unparsable")


def _of_json(body: str) -> Iterator[Wording]:
    with suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        if isinstance(value, dict):
            value = cast(dict[str, object], value).get("items")
        for entry in cast(list[object], value) if isinstance(value, list) else []:
            if isinstance(entry, dict):
                fields = cast(dict[str, object], entry)
                text, name = fields.get("text"), fields.get("id", "")
                if isinstance(text, str) and isinstance(name, str):
                    yield Wording(text.strip(), name)


def _of_bullets(body: str) -> Iterator[Wording]:
    for match in _BULLET.finditer(body):
        text = match[1].strip()
        name = _ID.search(text)
        yield Wording(_ID.sub("", text).strip(), (name[1] or name[2]) if name else "")
