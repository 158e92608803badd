"""`insula bench short`: which short plain lines are kept as facts, and which requests to forget are heard.

The tables (`short/`, eight languages) are by two authors who saw neither code nor other tables, and no fit reads them:
in each language forty lines that tell something of the user's own life and forty that only look like it; thirty-two
requests to forget and twenty-eight sentences with the same words that are none; by the second author, thirty requests
to forget a fact that is spelled out ("Forget that …"), and thirty messages with the same verbs and facts that are none.
"""

import json as jsonlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from insula.language.facts import find_fact_candidates, select_facts
from insula.language.forget import find_request
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.pasted import split_units


def run(json: bool) -> int:
    """Print how many lines of each kind are taken for what, and return the exit code."""
    counts = Counter[str]()
    for language in LANGUAGES:
        counts.update(_read_facts(language))
        counts.update(_read_requests("forget", "", language))
        counts.update(_read_requests("clauses", ", spelled out", language))
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
        pieces = dict.fromkeys([row["text"], *split_units(analyse_text(row["text"], default=language))])
        vectors = embed_all(embed_text, list(pieces))
        request = find_request({text: vectors[text] for text in pieces})
        name = ("no request" if row["meaning"] == "none" else f"to forget {row['meaning']}") + kind
        yield name
        if request:
            yield f"{name}: heard as {request.scope}"


def read_rows(table: str, language: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a table, `facts`, `forget` or `clauses`."""
    path = files("insula_bench") / "short" / f"{table}_{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]
