"""What a newer wish makes of one that stands, on pairs by hand in eight languages: by their words, and with a model.

The model is asked about the pairs that the night would ask about (`insula.night.pairs`), with the night's own words.
"""

import asyncio
import json as jsonlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from insula.errors import ModelMalformed
from insula.llm.client import generate
from insula.llm.models import resolve
from insula.night import prompts
from insula.night.phases.wishes import MAX_TOKENS, Verdict
from insula.settings import load
from insula.text.relations import doubt, relation
from insula.text.wishing import Relation, unsettled, wishes

if TYPE_CHECKING:
    from pydantic_ai.models import Model

TABLES = (
    "wish_pairs.jsonl",
    "wish_pairs_third.jsonl",
    "wish_pairs_fourth.jsonl",
    "wish_pairs_wide.jsonl",
    "wish_pairs_fifth.jsonl",
)
KINDS: tuple[Relation, ...] = ("same", "refines", "contradicts", "lifts", "unrelated")


class Pair(NamedTuple):
    """A wish that stands, what was said later, and what that makes of it; where a reader may differ, either."""

    language: str
    old: str
    new: str
    relations: tuple[Relation, ...]


def read(name: str) -> list[Pair]:
    """A table."""
    text = (files("insula_bench") / name).read_text("utf-8")
    return [_pair(jsonlib.loads(line)) for line in text.splitlines()]


def _pair(row: Mapping[str, str | list[str]]) -> Pair:
    kinds = row["relation"] if isinstance(row["relation"], list) else [row["relation"]]
    found: tuple[Relation, ...] = tuple(kind for kind in KINDS if kinds.count(kind))
    return Pair(str(row["lang"]), str(row["old"]), str(row["new"]), found)


def by_words(pair: Pair) -> Relation:
    """What the day makes of a pair."""
    for wish in wishes(pair.new, pair.language):
        if (found := relation(wish, pair.old)) != "unrelated":
            return found
    return "unrelated"


def is_asked(pair: Pair) -> bool:
    """Whether the night asks a model about it."""
    told = (*wishes(pair.new, pair.language), *unsettled(pair.new, pair.language))
    return by_words(pair) == "unrelated" and any(doubt(wish, pair.old) for wish in told)


def measured(pairs: Sequence[Pair], told: Sequence[Relation]) -> dict[str, str]:
    """How many are rightly told apart, and of each kind how precisely and how completely."""
    right = sum(one in pair.relations for pair, one in zip(pairs, told, strict=True))
    found = {"right": f"{right} of {len(pairs)}"}
    for kind in KINDS:
        said = [kind in pair.relations for pair, one in zip(pairs, told, strict=True) if one == kind]
        of = [one in pair.relations for pair, one in zip(pairs, told, strict=True) if pair.relations[0] == kind]
        found[kind] = f"precision {sum(said)} of {len(said)}, recall {sum(of)} of {len(of)}"
    return found


def report(model: str) -> dict[str, dict[str, str]]:
    """The tables, by words and with a model's answers on what is in doubt."""
    found: dict[str, dict[str, str]] = {}
    for name in TABLES:
        pairs = read(name)
        words: list[Relation] = [by_words(pair) for pair in pairs]
        doubtful = [pair for pair in pairs if is_asked(pair)]
        answers = dict(zip(doubtful, asyncio.run(_answers(model, doubtful)), strict=True))
        told: list[Relation] = [answers.get(pair, one) for pair, one in zip(pairs, words, strict=True)]
        found[f"{name}, with {model}"] = {"asked": str(len(doubtful)), **measured(pairs, told)} | _asked(answers)
    return found


def _asked(answers: Mapping[Pair, Relation]) -> dict[str, str]:
    """Of the answers alone: how many were right, and how many of the wrong ones would take a wish away."""
    right = sum(one in pair.relations for pair, one in answers.items())
    harm = Counter(one for pair, one in answers.items() if one not in (*pair.relations, "unrelated", "same"))
    return {"answers": f"right {right} of {len(answers)}; wrong, and a wish taken away: {harm.total()}"}


async def _answers(name: str, pairs: Sequence[Pair]) -> list[Relation]:
    async with resolve(name, load().weights) as model:
        await asyncio.sleep(0)  # the embedded model answers in a thread of its own
        return [await answered(model, pair) for pair in pairs]


async def answered(model: "Model", pair: Pair) -> Relation:
    """What a model says of a pair; what cannot be read leaves both as they are."""
    asked = prompts.pair(pair.old, pair.new)
    try:
        said = await generate(model, asked, purpose="wishes", max_tokens=MAX_TOKENS, temperature=0.0, schema=Verdict)
    except ModelMalformed:
        return "unrelated"
    return said.value.relation
