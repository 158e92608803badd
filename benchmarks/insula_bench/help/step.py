"""`insula bench help step`: does a note of the senses help a coding agent that is stuck?

A run goes on as it would until the senses first have something to say. There it parts: in one branch the model is told
that note and all that follow, in another none, in a third a neutral text as long at the same moments (a placebo: any
words at all may part a model from its circle); everything else, the seeds of the sampling included, is the same. So
each moment is its own comparison, and runs in which nothing was said cost nothing twice.
"""

import asyncio
import hashlib
import json
import os
import shutil
import sys
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from insula import settings
from insula.coding.hosts import hook
from insula.errors import InputError, ModelError, ModelMalformed, ModelRefused
from insula.llm.client import Prompt, generate_reply
from insula.llm.models import resolve_model
from insula.llm.wire import Role
from insula.stats import wilson
from insula_bench.help import repair, sandbox
from insula_bench.help.asking import REPLY_SECONDS
from insula_bench.help.cases import HALVES
from insula_bench.help.placebo import make_placebo
from insula_bench.help.repair import DONE, EDIT, NOTHING, READ, SHELL, Act, Result
from insula_bench.lines import Lines, kept
from insula_bench.statistics import mean_interval

if TYPE_CHECKING:
    from insula.llm.model import Model

PART = "step"
RUNS = "runs.jsonl"
TURNS = 25
TOKENS = 400
"""Of a reply: a small file at most."""
TEMPERATURE = 0.7
CONTEXT = 14_000
"""Characters of a run that the model sees: the task and the last exchanges."""
HOST = "claude-code"
SAID_NOTHING = "(no reply)"
SHARED, TOLD, SILENT, PLACEBO = "shared", "told", "silent", "placebo"
COMPARED = ("solved", "turns", "tokens")
_TOOLS = {SHELL: "Bash", READ: "Read", EDIT: "Write"}
_SECONDS_A_TURN = 20.0
"""On the senses' clock: a small model on a slow machine is not what Chronos is about."""


class Task(NamedTuple):
    """Something to repair."""

    id: str
    kind: str
    goal: str
    files: Mapping[str, str]
    check: str
    """The command that succeeds when it is repaired."""
    kept: Sequence[str]
    """Files that must stay as they are: a test that was changed instead of the code is put back first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run so far: what was said, and what became of it."""

    task: Task
    seed: int
    branch: str = SHARED
    history: tuple[tuple[Role, str], ...] = ()
    """User and assistant lines, the goal first."""
    acts: tuple[Mapping[str, object], ...] = ()
    notes: tuple[Mapping[str, object], ...] = ()
    tokens: int = 0
    closed: int = 0
    """The turn after which the check first succeeded; 0 for never."""
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who is asked, and how often."""

    model: str
    out: Path
    half: str = "held"
    seeds: int = 3
    limit: int | None = None
    turns: int = TURNS
    parallel: int = 1


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a branch works: the task's folder, and the state of the senses."""

    folder: Path
    home: Path

    def copied(self, root: Path) -> "_Places":
        shutil.copytree(self.folder, root / "work", symlinks=True)
        shutil.copytree(self.home, root / "home", symlinks=True)
        return _Places(root / "work", root / "home")


def tasks(half: str, limit: int | None = None) -> list[Task]:
    """The repairs of a half.

    Raises:
        InputError: there is no such half.
    """
    if half not in HALVES[:2]:
        raise InputError(f"The repairs have no half {half!r}; name dev or held.")
    lines = (files("insula_bench.help") / "repairs.jsonl").read_text("utf-8").splitlines()
    found = [
        Task(raw["id"], raw["kind"], raw["goal"], raw["files"], raw["check"], raw["kept"])
        for raw in map(json.loads, lines)
        if raw["half"] == half
    ]
    return found if not limit or limit >= len(found) else [found[i * len(found) // limit] for i in range(limit)]


def measure(terms: Terms) -> list[dict[str, Any]]:
    """The records of all runs; only those that are missing are run, and none with a limit of 0.

    Raises:
        InputError: the folder cannot be written, or commands cannot be kept in theirs.
        ModelError: the model cannot be used at all.
    """
    if terms.limit == 0:
        return [record for record in kept(terms.out / RUNS)[0] if not record["error"]]
    wanted = [(task, seed) for seed in range(terms.seeds) for task in tasks(terms.half, terms.limit)]
    with closing(Lines(terms.out / RUNS)) as lines:
        known = {record["key"] for record in lines.records if not record["error"]}
        missing = [one for one in wanted if _key(*one, terms) not in known]
        if missing:
            sandbox.require()
            os.environ["INSULA_HOLDOUT"] = "0"  # the branches are the lot
            asyncio.run(_all(missing, terms, lines))
        keys = {_key(*one, terms) for one in wanted}
        return [record for record in lines.records if record["key"] in keys and not record["error"]]


async def _all(missing: Sequence[tuple[Task, int]], terms: Terms, lines: Lines) -> None:
    gate, done = asyncio.Semaphore(terms.parallel), 0
    print(f"insula: {len(missing)} runs of up to {terms.turns} turns", file=sys.stderr, flush=True)
    async with resolve_model(terms.model, settings.load_settings().weights) as model:

        async def one(task: Task, seed: int) -> None:
            nonlocal done
            async with gate:
                with TemporaryDirectory() as root:
                    key = _key(task, seed, terms)
                    try:
                        for run in await play(model, task, seed, Path(root), terms.turns):
                            lines.add(_record(run, key))
                    except ModelError as error:
                        lines.add({"key": key, "task": task.id, "seed": seed, "error": str(error)})
            done += 1
            print(f"insula: {done} of {len(missing)} runs", file=sys.stderr, flush=True)

        await asyncio.gather(*(one(task, seed) for task, seed in missing))


async def play(model: "Model", task: Task, seed: int, root: Path, turns: int = TURNS) -> list[Run]:
    """A run to its end, or its branches from the first note on.

    Args:
        root: an empty folder for the task's files and the state of the senses.
        turns: of the run at most.

    Raises:
        ModelError: the model cannot go on.
        InputError: commands cannot be kept in their folder here.
    """
    places = _Places(root / "work", root / "home")
    places.folder.mkdir()
    places.home.mkdir(mode=0o700)
    sandbox.write(places.folder, task.files)
    _tell(places, {"hook_event_name": "SessionStart", "source": "startup"}, 0)
    _tell(places, {"hook_event_name": "UserPromptSubmit", "prompt": task.goal}, 0)
    files_there = ", ".join(sorted(task.files))
    run = Run(task=task, seed=seed, history=(("user", f"{task.goal}\n\nFiles: {files_there}"),))
    while not run.ended:
        run, note = await _turn(model, run, places, turns)
        if note and not run.ended:
            silent, neutral = (places.copied(_made(root / branch)) for branch in (SILENT, PLACEBO))
            branches = (
                (note_run(replace(run, branch=TOLD), note), places),
                (replace(run, branch=SILENT, notes=({"turn": len(run.acts), "text": note},)), silent),
                (note_run(replace(run, branch=PLACEBO), make_placebo(note)), neutral),
            )
            return [await _to_end(model, branch, place, turns) for branch, place in branches]
    return [run]


async def _to_end(model: "Model", run: Run, places: _Places, turns: int) -> Run:
    while not run.ended:
        run, note = await _turn(model, run, places, turns)
        if note and run.branch != SILENT and not run.ended:
            run = note_run(run, note if run.branch == TOLD else make_placebo(note))
    return run


async def _turn(model: "Model", run: Run, places: _Places, turns: int) -> tuple[Run, str]:
    """One reply, its act and what came of it; and what the senses would say."""
    text, tokens = await generate_act(model, run)
    act = repair.parse(text)
    if act.kind in {DONE, NOTHING}:
        result = Result(ok=True, output="")
        note = _tell(places, {"hook_event_name": "Stop"}, len(run.acts)) if act.kind == DONE else ""
    else:
        result = repair.do(places.folder, act)
        note = _felt(places, act, result, len(run.acts) + 1)
    acts = (*run.acts, {"act": act.kind, "target": act.target, "ok": result.ok, "reply": text, "output": result.output})
    closed = run.closed or (len(acts) if act.kind in {SHELL, EDIT} and _is_repaired(run.task, places.folder) else 0)
    said: tuple[tuple[Role, str], ...] = (("assistant", text), ("user", repair.told(act, result)))
    ended = bool(closed) or (act.kind == DONE and not note) or len(acts) >= turns
    run = replace(run, acts=acts, tokens=run.tokens + tokens, closed=closed, ended=ended, history=(*run.history, *said))
    return run, note


async def generate_act(model: "Model", run: Run, most: int = TOKENS) -> tuple[str, int]:
    """The next reply, with the tokens of both ways; a model that declines or says nothing has replied, too."""
    *before, (_, last) = repair.bounded(run.history, CONTEXT)
    prompt = Prompt(instructions=repair.INSTRUCTIONS, history=before, prompt=last)
    seed = zlib.crc32(f"{run.task.id} {run.seed} {len(run.acts)}".encode()) >> 1
    try:
        made = await generate_reply(
            model, prompt, purpose="bench", max_tokens=most, temperature=TEMPERATURE, seed=seed, timeout=REPLY_SECONDS
        )
    except (ModelMalformed, ModelRefused):
        return SAID_NOTHING, 0
    return made.text, made.usage.input_tokens + made.usage.output_tokens


def note_run(run: Run, note: str) -> Run:
    """The run after its model was told something, as a host tells it: behind the last result."""
    *before, (role, last) = run.history
    told = f"{last}\n\n<system-reminder>\n{note}\n</system-reminder>"
    return replace(run, history=(*before, (role, told)), notes=(*run.notes, {"turn": len(run.acts), "text": note}))


def _is_repaired(task: Task, folder: Path) -> bool:
    """Whether the check succeeds on a copy in which what must stay is as it was."""
    with TemporaryDirectory() as name:
        copy = Path(name, "copy")
        try:
            shutil.copytree(folder, copy, symlinks=True)
            sandbox.write(copy, {kept: task.files[kept] for kept in task.kept})
        except (OSError, InputError):  # a link or a folder stands in the place of a test, or nothing can be read
            return False
        return sandbox.run(copy, task.check).code == 0


def _felt(places: _Places, act: Act, result: Result, turn: int) -> str:
    """What the installed hook would say after this call."""
    call = f"call {turn}"
    given = {"command": act.target} if act.kind == SHELL else {"file_path": str(places.folder / act.target)}
    if act.kind == EDIT:
        given["content"] = act.text
    payload: dict[str, Any] = {"tool_name": _TOOLS[act.kind], "tool_input": given, "tool_use_id": call}
    if result.ok:
        payload |= {"hook_event_name": "PostToolUse", "tool_response": {"stdout": result.output}}
    else:
        payload |= {"hook_event_name": "PostToolUseFailure", "error": f"Exit code {result.code}\n{result.output}"}
    batch = {
        "tool_name": payload["tool_name"],
        "tool_input": given,
        "tool_use_id": call,
        "tool_response": result.output,
    }
    said = [
        _tell(places, payload, turn),
        _tell(places, {"hook_event_name": "PostToolBatch", "tool_calls": [batch]}, turn),
    ]
    return "\n".join(filter(None, said))


def _tell(places: _Places, payload: Mapping[str, Any], turn: int) -> str:
    common = {"session_id": "s", "cwd": str(places.folder), "transcript_path": str(places.home / "none.jsonl")}
    told = hook.respond(str(places.home), HOST, {**common, **payload}, 1_000_000.0 + turn * _SECONDS_A_TURN)
    answer: dict[str, Any] = json.loads(told) if told else {}
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext") or answer.get("reason") or "")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _key(task: Task, seed: int, terms: Terms) -> str:
    said = [terms.model, terms.turns, repair.INSTRUCTIONS, task.goal, dict(task.files), task.check, seed]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _record(run: Run, key: str) -> dict[str, Any]:
    return {
        "key": key,
        "task": run.task.id,
        "kind": run.task.kind,
        "seed": run.seed,
        "branch": run.branch,
        "solved": bool(run.closed),
        "turns": run.closed or len(run.acts),
        "tokens": run.tokens,
        "notes": list(run.notes),
        "acts": list(run.acts),
        "error": "",
    }


def figures(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What became of the runs, and of the branches where something was said."""
    alone = [one for one in records if one["branch"] == SHARED]
    told, silent, neutral = (
        {one["key"]: one for one in records if one["branch"] == branch} for branch in (TOLD, SILENT, PLACEBO)
    )
    pairs = [(told[key], silent[key]) for key in told if key in silent]
    beside = [(told[key], neutral[key]) for key in told if key in neutral]
    return {
        "runs": len(alone) + len(pairs),
        "without_a_note": {"runs": len(alone), "solved": _share(one["solved"] for one in alone)},
        "with_a_note": {
            "pairs": len(pairs),
            "told": {"solved": _share(one["solved"] for one, _ in pairs)},
            "silent": {"solved": _share(one["solved"] for _, one in pairs)},
            "better": sum(one["solved"] > other["solved"] for one, other in pairs),
            "worse": sum(one["solved"] < other["solved"] for one, other in pairs),
            "heeded": _share(_heeded(one) for one, _ in pairs),
            "another_way_without": _share(_heeded(other) for _, other in pairs),
            **{name: _gap(pairs, name) for name in COMPARED},
        },
        "with_a_placebo": {
            "pairs": len(beside),
            "solved_by_placebo": _share(other["solved"] for _, other in beside),
            "another_way_by_placebo": _share(_heeded(other) for _, other in beside),
            "another_way_told": _share(_heeded(one) for one, _ in beside),
            **{name: _gap(beside, name) for name in COMPARED},
        },
    }


def _heeded(record: Mapping[str, Any]) -> bool:
    """Whether the act after the first note is none of the three before it."""
    turn = record["notes"][0]["turn"]
    acts = [(one["act"], one["target"]) for one in record["acts"]]
    return len(acts) > turn and acts[turn] not in acts[max(turn - 3, 0) : turn]


def _share(held: Any) -> dict[str, Any] | None:
    values = [bool(one) for one in held]
    if not values:
        return None
    low, high = wilson(sum(values), len(values))
    return {"n": len(values), "share": round(fmean(values), 4), "interval": [round(low, 4), round(high, 4)]}


def _gap(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], name: str) -> dict[str, Any] | None:
    gaps = [float(one[name]) - float(other[name]) for one, other in pairs]
    if not gaps:
        return None
    return {"difference": round(fmean(gaps), 3), "interval": [round(end, 3) for end in mean_interval(gaps)]}


def show(figures: Mapping[str, Any], records: Sequence[Mapping[str, Any]], count: int) -> None:
    """Print the figures as a person reads them, and so many runs with a note, each branch."""
    console, noted = Console(), figures["with_a_note"]
    alone = figures["without_a_note"]
    console.print(f"{figures['runs']} runs; nothing was said in {alone['runs']}, solved {_cell(alone['solved'])}")
    console.print(f"the senses spoke in {noted['pairs']}:")
    for branch in (TOLD, SILENT):
        console.print(f"  {branch:<7} solved {_cell(noted[branch]['solved'])}")
    console.print(f"  told solved it where silence did not: {noted['better']}; the other way round: {noted['worse']}")
    console.print(
        f"  went another way next: told {_cell(noted['heeded'])}, silent {_cell(noted['another_way_without'])}"
    )
    placebo = figures["with_a_placebo"]
    console.print(
        f"  told a neutral text as long, {placebo['pairs']}: solved {_cell(placebo['solved_by_placebo'])}, "
        f"another way next {_cell(placebo['another_way_by_placebo'])} (told: {_cell(placebo['another_way_told'])})"
    )
    for other, gaps in ((SILENT, noted), (PLACEBO, placebo)):
        for name in COMPARED:
            if gap := gaps[name]:
                low, high = gap["interval"]
                console.print(f"  told − {other}, {name}: {gap['difference']:+.2f} [{low:+.2f}, {high:+.2f}]")
    for key in list(dict.fromkeys(one["key"] for one in records if one["branch"] == TOLD))[:count]:
        for one in (one for one in records if one["key"] == key):
            _show_run(console, one)


def _show_run(console: Console, record: Mapping[str, Any]) -> None:
    console.print(f"\n{record['task']} {record['seed']} {record['branch']}, solved: {record['solved']}", markup=False)
    notes = {note["turn"]: note["text"] for note in record["notes"]}
    for number, act in enumerate(record["acts"], 1):
        console.print(f"  {number} {act['act']} {act['target']!r} {'ok' if act['ok'] else 'failed'}", markup=False)
        if number in notes:
            console.print(f"    note: {notes[number]}", markup=False)


def _cell(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "–"
    low, high = one["interval"]
    return f"{one['share']:.1%} of {one['n']} [{low:.1%}, {high:.1%}]"
