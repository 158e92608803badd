"""`insula bench short`: which short plain lines are kept as facts, and which requests to forget are heard.

The tables (`short/`, eight languages) are by two authors who saw neither code nor other tables, and no fit reads them:
in each language forty lines that tell something of the user's own life and forty that only look like it; thirty-two
requests to forget and twenty-eight sentences with the same words that are none; by the second author, thirty requests
to forget a fact that is spelled out ("Forget that …"), and thirty messages with the same verbs and facts that are none.
By a third, three people a language who each told fourteen things and later write twenty messages (`erase_*`): eleven
ask to forget one of them, two what was never told, seven nothing of the kind; it is counted what is offered for
erasure.
"""

import asyncio
import json as jsonlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from insula import Metacognition, Turn
from insula.language.facts import find_fact_candidates, select_facts
from insula.language.forget import find_request
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.testing import memory_store
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.pasted import split_units

TALK = 3
"""Messages of a conversation in which things are told."""
TOLD, UNTOLD, NO_REQUEST = "to forget what was told", "to forget what was never told", "no request, of what was told"


def run(json: bool) -> int:
    """Print how many lines of each kind are taken for what, and return the exit code."""
    counts = Counter[str]()
    for language in LANGUAGES:
        counts.update(_read_facts(language))
        counts.update(_read_requests("forget", "", language))
        counts.update(_read_requests("clauses", ", spelled out", language))
        counts.update(asyncio.run(_live_requests(language)))
    figures = {name: f"{counts[name]} of {counts[name.partition(':')[0]]}" for name in sorted(counts) if ":" in name}
    lines = (f"{name}: {count}" for name, count in figures.items())
    print(jsonlib.dumps(figures, indent=2) if json else "\n".join(lines))
    return 0


def _read_facts(language: str) -> Iterator[str]:
    for row in read_rows("facts", language):
        candidates = find_fact_candidates(analyse_text(row["text"], default=language))
        vectors = embed_all(embed_text, [text for candidate in candidates for text in candidate.weighed])
        yield row["kind"]
        if select_facts(candidates, vectors):
            yield f"{row['kind']}: kept"


def _read_requests(table: str, kind: str, language: str) -> Iterator[str]:
    for row in read_rows(table, language):
        message = analyse_text(row["text"], default=language)
        pieces = dict.fromkeys([row["text"], *split_units(message)])
        vectors = embed_all(embed_text, list(pieces))
        request = find_request({text: vectors[text] for text in pieces}, message)
        name = ("no request" if row["meaning"] == "none" else f"to forget {row['meaning']}") + kind
        yield name
        if request and request.is_sure:
            yield f"{name}: heard as {request.scope}"


async def _live_requests(language: str) -> list[str]:
    """What is offered for erasure of what some people told, and which requests are kept as facts."""
    found = list[str]()
    for row in read_rows("erase", language):
        async with memory_store() as store:
            mind, told = Metacognition(store, holdout=0.0), dict[int, int]()
            for number, message in enumerate(row["told"]):
                async with mind.turn("ana", f"told {number // TALK}", message) as turn:
                    turn.finish("OK.")
                (memory,) = [one for one in (await mind.list("ana", limit=2)).memories if one.provenance == "user"]
                told[memory.id] = number
            for number, ask in enumerate(row["asks"]):
                async with mind.turn("ana", f"asked {number}", ask["text"]) as turn:
                    turn.finish("OK.")
                kind = NO_REQUEST if ask.get("none") else UNTOLD if ask.get("missing") else TOLD
                found += [kind, f"{kind}: {_judge_offer(turn, told, ask['means'])}"]
                found += [f"{kind}: kept as a fact"] if kind != NO_REQUEST and turn.told else []
    return found


def _judge_offer(turn: Turn, told: Mapping[int, int], means: Sequence[int]) -> str:
    """What is offered for erasure, against the lines that are meant."""
    if turn.forgetting is None:
        return "not heard"
    if turn.forgetting.offer is None:
        return "nothing found"
    offered = {told.get(memory) for memory in turn.forgetting.offer.memories}
    if offered & {*means}:
        return "the line offered" if offered == {*means} else "the line and others offered"
    return "another line offered"


def read_rows(table: str, language: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a table: `facts`, `forget`, `clauses`, `erase`, `corrections` or `untold`."""
    path = files("insula_bench") / "short" / f"{table}_{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]
