"""What a stuck agent does next at moments that were recorded: told the note, nothing, or a neutral text as long.

    python -m insula_bench.help.step_next docs/benchmarks/help/step/runs.jsonl.xz --model qwen-coder-1.5b --out DIR

Each moment of `insula bench help step` is set up as the model saw it and asked for one reply in each arm, with the same
seed. So a placebo can be tried on every moment without the runs being made again. Killed at any point it goes on.
"""

import argparse
import asyncio
import json
import lzma
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from insula import settings
from insula.llm.models import resolve_model
from insula.llm.wire import Role
from insula.stats import wilson
from insula_bench.help import repair, step
from insula_bench.help.placebo import make_placebo
from insula_bench.help.repair import SHELL, Act, Result
from insula_bench.lines import Lines

if TYPE_CHECKING:
    from insula.llm.model import Model

ARMS = (step.TOLD, step.SILENT, step.PLACEBO)
NEXT = "next.jsonl"
TOKENS = 70
"""Of a reply: enough to tell which act it is, and on what."""
Record = Mapping[str, Any]


def rebuild(record: Record, arm: str) -> step.Run:
    """A run as it was at its first note, in an arm."""
    task = next(task for half in ("dev", "held") for task in step.tasks(half) if task.id == record["task"])
    first: Record = record["notes"][0]
    history: list[tuple[Role, str]] = []
    history.append(("user", f"{task.goal}\n\nFiles: {', '.join(sorted(task.files))}"))
    acts: Sequence[Record] = record["acts"][: first["turn"]]
    for act in acts:
        said = repair.parse(act["reply"])
        failed = int(said.kind == SHELL and not act["ok"])
        result = Result(act["ok"], act["output"], failed)
        history.append(("assistant", act["reply"]))
        history.append(("user", repair.told(said, result)))
    note = {step.TOLD: first["text"], step.SILENT: "", step.PLACEBO: make_placebo(first["text"])}[arm]
    run = step.Run(task=task, seed=record["seed"], branch=arm, history=tuple(history), acts=tuple(acts))
    return step.note_run(run, note) if note else run


def is_another(record: Record, act: Act) -> bool:
    """Whether an act is none of the three before the note."""
    turn = record["notes"][0]["turn"]
    before = [(past["act"], past["target"]) for past in record["acts"][max(turn - 3, 0) : turn]]
    return (act.kind, act.target) not in before


async def _ask(model: "Model", records: Sequence[Record], lines: Lines) -> None:
    known = {(line["key"], line["arm"]) for line in lines.records}
    for record in records:
        for arm in ARMS:
            if (record["key"], arm) not in known:
                text, _ = await step.generate_act(model, rebuild(record, arm), TOKENS)
                another = is_another(record, repair.parse(text))
                lines.add({"key": record["key"], "task": record["task"], "arm": arm, "reply": text, "another": another})


async def _run(name: str, records: Sequence[Record], lines: Lines) -> None:
    async with resolve_model(name, settings.load_settings().weights) as model:
        await _ask(model, records, lines)


def main() -> None:
    """Ask what is missing, and print the share of other acts in each arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=None)
    given = parser.parse_args()
    with lzma.open(given.runs, "rt", encoding="utf-8") as text:
        records = [json.loads(line) for line in text]
    told = [record for record in records if record["branch"] == step.TOLD][: given.limit]
    with closing(Lines(given.out / NEXT)) as lines:
        asyncio.run(_run(given.model, told, lines))
        for arm in ARMS:
            acts = [line["another"] for line in lines.records if line["arm"] == arm]
            low, high = wilson(sum(acts), len(acts))
            print(f"{arm:<8} another act next: {sum(acts)} of {len(acts)} [{100 * low:.0f}, {100 * high:.0f}]")


if __name__ == "__main__":
    main()
