"""Replies that are kept, so that methods which ask the same are compared on the same reply, and it is paid for once."""

import hashlib
import json
from dataclasses import asdict
from typing import Any, Protocol

from insula.llm.client import Generation, Prompt
from insula.types import Usage

Record = dict[str, Any]


class Pool(Protocol):
    """Where replies are kept."""

    def get(self, key: str) -> Generation | None:
        """The reply under a key, if there is one."""
        ...

    def put(self, key: str, generation: Generation) -> None:
        """Keep a reply."""
        ...


class MemoryPool:
    """Replies for as long as the process lives.

    Attributes:
        replies: what is kept, by key.
        hits: how often a reply was found.
    """

    def __init__(self) -> None:
        self.replies: dict[str, Generation] = {}
        self.hits = 0

    def get(self, key: str) -> Generation | None:
        """The reply under a key, if there is one."""
        found = self.replies.get(key)
        self.hits += found is not None
        return found

    def put(self, key: str, generation: Generation) -> None:
        """Keep a reply."""
        self.replies[key] = generation


def key(model: str, prompt: Prompt, *, max_tokens: int, temperature: float | None, seed: int) -> str:
    """What a reply is kept under: everything that it depends on."""
    told = [prompt.instructions, list(prompt.history), prompt.prompt]
    text = json.dumps([model, told, max_tokens, temperature, seed], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def record(generation: Generation) -> Record:
    """A reply as it can be written as JSON."""
    fields = {name: getattr(generation, name) for name in ("text", "thinking", "model", "truncated", "logprobs")}
    return {**fields, "usage": asdict(generation.usage)}


def recalled(record: Record) -> Generation:
    """The reply that was written as JSON."""
    logprobs = record["logprobs"]
    return Generation(
        text=record["text"],
        value=None,
        thinking=record["thinking"],
        usage=Usage(**record["usage"]),
        logprobs=None if logprobs is None else tuple((token, value) for token, value in logprobs),
        first_token_seconds=None,
        model=record["model"],
        truncated=record["truncated"],
    )
