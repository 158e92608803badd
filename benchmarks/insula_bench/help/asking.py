"""The requests of an experiment and the replies to them: paired, kept, and gone on with after a kill."""

import asyncio
import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from insula import settings
from insula.errors import InputError, ModelError
from insula.llm.client import Generation, Prompt, generate_reply
from insula.llm.models import resolve_model
from insula_bench.lines import Lines

TOKENS = 80
"""Tokens of a reply: the questions here are answered in a sentence or two."""
REPLY_SECONDS = 3_600.0
"""A reply is bounded by its tokens; time is that of a machine that may have other things to do."""
REPLIES = "replies.jsonl"


class Request(NamedTuple):
    """What a model is asked for one item in one arm."""

    part: str
    item: str
    arm: str
    prompt: Prompt
    sample: int = 0
    """0 is the greedy reply; from 1 on, replies that are drawn, to see whether they agree."""


class Reply(TypedDict):
    """A reply as a line of the file holds it."""

    part: str
    item: str
    arm: str
    sample: int
    asked: str
    """Digest of the model and of all that it was told: where that changes, the item is asked anew."""
    text: str
    tokens: int
    """Of the request."""
    ms: float
    mean: float | None
    """Mean log-probability of the reply's tokens, where the model returns them."""
    least: float | None
    """The lowest of them."""
    logprobs: list[tuple[str, float]] | None
    error: str


Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who is asked, and how."""

    model: str
    out: Path
    parallel: int = 1
    tokens: int = TOKENS
    keep_logprobs: bool = False


def replies(requests: Sequence[Request], terms: Terms) -> dict[Key, Reply]:
    """The reply to each request; only what is not in `terms.out` is asked.

    Raises:
        InputError: the folder cannot be written.
        ModelError: the model cannot be used at all.
    """
    with closing(Lines(terms.out / REPLIES)) as lines:
        known = _by_key(lines)
        missing = [one for one in requests if _is_missing(one, known, terms.model)]
        if missing:
            asyncio.run(_ask(missing, terms, lines))
        held = _by_key(lines)
    return {of(one): held[of(one)] for one in requests if of(one) in held}


def kept(out: Path) -> dict[Key, Reply]:
    """The replies of a folder, as the last run left them.

    Raises:
        InputError: there are none.
    """
    if not (out / REPLIES).is_file():
        raise InputError(f"{str(out)!r} holds no {REPLIES}; name the folder of an earlier run, or leave --limit out.")
    with closing(Lines(out / REPLIES)) as lines:
        return _by_key(lines)


def _by_key(lines: Lines) -> dict[Key, Reply]:
    """The last line of each item, arm and sample: what was asked anew stands behind what it replaces."""
    found = cast("list[Reply]", lines.records)
    return {key(line): line for line in found}


def key(line: Reply) -> Key:
    """What a line is about."""
    return line["part"], line["item"], line["arm"], line["sample"]


def of(request: Request) -> Key:
    """The key of a request's reply."""
    return request.part, request.item, request.arm, request.sample


def digest(request: Request, model: str) -> str:
    """A digest of all that a reply depends on."""
    told = [model, request.prompt.instructions, list(request.prompt.history), request.prompt.prompt, request.sample]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _is_missing(request: Request, known: dict[Key, Reply], model: str) -> bool:
    line = known.get(of(request))
    return line is None or bool(line["error"]) or line["asked"] != digest(request, model)


async def _ask(requests: Sequence[Request], terms: Terms, lines: Lines) -> None:
    gate = asyncio.Semaphore(terms.parallel)
    shown = _Progress(len(requests))
    same: dict[str, asyncio.Task[Generation]] = {}

    async with resolve_model(terms.model, settings.load_settings().weights) as model:

        async def once(request: Request) -> Generation:
            async with gate:
                return await generate_reply(
                    model,
                    request.prompt,
                    purpose="bench",
                    max_tokens=terms.tokens,
                    temperature=0.0 if not request.sample else 0.7,
                    seed=request.sample,
                    logprobs=True,
                    timeout=REPLY_SECONDS,
                )

        async def one(request: Request) -> None:
            asked = digest(request, terms.model)
            task = same.setdefault(asked, asyncio.ensure_future(once(request)))
            try:
                made = await asyncio.shield(task)
            except ModelError as error:
                lines.add({**_line(request, asked), "error": str(error)})
            else:
                lines.add({**_line(request, asked), **_told(made, terms.keep_logprobs)})
            shown.step()

        # In order and few at a time, so that what a killed run leaves is whole items.
        width = max(terms.parallel * 4, 4)
        for start in range(0, len(requests), width):
            await asyncio.gather(*map(one, requests[start : start + width]))
            same.clear()


def _line(request: Request, asked: str) -> dict[str, object]:
    return {
        "part": request.part,
        "item": request.item,
        "arm": request.arm,
        "sample": request.sample,
        "asked": asked,
        "text": "",
        "tokens": 0,
        "ms": 0.0,
        "mean": None,
        "least": None,
        "logprobs": None,
        "error": "",
    }


def _told(made: Generation, keep: bool) -> dict[str, object]:
    odds = [value for _, value in made.logprobs or ()]
    return {
        "text": made.text,
        "tokens": made.usage.input_tokens,
        "ms": round(1000 * made.usage.seconds),
        "mean": round(statistics.fmean(odds), 4) if odds else None,
        "least": round(min(odds), 4) if odds else None,
        "logprobs": [(token, round(value, 3)) for token, value in made.logprobs or ()] if keep else None,
    }


def paired(items: Iterable[str], arms: Sequence[str], build: Callable[[str, str], Request]) -> list[Request]:
    """The requests of all items in all arms, item by item, so that whatever there is, is paired."""
    return [build(item, arm) for item in items for arm in arms]


class _Progress:
    """A line every few replies: for a person who waits, and for a log."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._began, self._said = total, 0, time.monotonic(), 0.0
        self._say()

    def step(self) -> None:
        self._done += 1
        if self._done == self._total or time.monotonic() - self._said > 5:
            self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        rate = (self._said - self._began) / self._done if self._done else 0.0
        left = f", {rate * (self._total - self._done) / 60:.0f} min left" if self._done else ""
        print(f"insula: {self._done} of {self._total} replies{left}", file=sys.stderr, flush=True)
