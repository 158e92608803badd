"""What a request demands, compared at the end with what happened: checks to run, files to bring up to date, acts.

A demand is unmet where nothing that was done can have met it. What another command may have done, what the agent says
itself that it left out, and an end that is a question or a plan, are no breach.
"""

import re

from insula.coding.step import programs
from insula.coding.step.command import COMMITS, FORCES, PUSHES
from insula.coding.step.instructions import acts as acted
from insula.coding.step.instructions import heads
from insula.coding.step.instructions.acts import ALL_KINDS, CHECK_NAMES, Act, ActHistory
from insula.coding.step.instructions.breach import covers_path, is_test
from insula.coding.step.instructions.clauses import load_table, lower_text
from insula.coding.step.instructions.extraction import names_nothing, strip_joins
from insula.coding.step.instructions.instruction import ASKED as REQUEST
from insula.coding.step.instructions.instruction import BAN, HOW, Instruction
from insula.coding.step.shell import name_program
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST = 110
"""Characters of a clause that demands something plainly."""
BRIEF = 60
"""The same of one that asks for a commit, a push or a pull request."""
HALF = 0.5
"""How probable a run must be where a check is named by its command."""
SURE_KIND = 0.8
"""How probable it must be what a request demands."""
NEVER, RED, STALE, UNTOUCHED = "never", "red", "stale", "untouched"


class Demand(Value):
    """Something that a request demands, in a form that acts can meet."""

    instruction: Instruction
    target: str
    """The command, the kind of check, or the file."""
    form: str
    """`command`, `check`, `file`, `test` or `act`."""


class Unmet(Value):
    """A demand that nothing met."""

    demand: Demand
    why: str
    """`never`, `red`, `stale` or `untouched`."""
    missing: str
    """What is missing, or the command that came out red."""


def list_demands(instruction: Instruction) -> "list[Demand]":
    """What an instruction of the user's demands that acts can show."""
    low = lower_text(instruction.clause)
    if not instruction.orders or len(low) > LONGEST or re.search(load_table()["pending"], low):
        return []
    if instruction.said.rstrip(" \"')").endswith(("?", "？")) and instruction.acts:
        return []
    chances = heads.score_clause("demand", instruction.clause)
    kind = max(chances, key=lambda name: chances[name])
    at_end = _is_last(low) or _is_last(instruction.said)
    if any(" " in name for name in _list_named_checks(instruction)) and (chances["run"] >= HALF or at_end):
        kind = "run"
    elif chances[kind] < SURE_KIND or kind not in _FORMS:
        return []
    if instruction.kind == HOW and not (kind == "run" and _is_last(low)):
        return []
    return [
        Demand(instruction=instruction, target=target, form=form) for form, target in _FORMS[kind](instruction, low)[:2]
    ]


_ACTS = {"commit": {COMMITS}, "push": {PUSHES, FORCES}, "pr": {"pr"}}
_CHECKS = {"suite": programs.TEST, "lint": programs.LINT, "types": programs.TYPES, "build": programs.BUILD}
_DOCUMENTS = ("changelog", "readme")
_FILES = (*programs.SETTINGS_FILES, ".md", ".mdx", ".rst", ".txt", ".adoc", ".csv", ".ipynb")
"""Endings of files."""
Forms = list[tuple[str, str]]


def _list_checks(instruction: Instruction, low: str) -> Forms:
    """The commands that a clause asks to run, else the kinds of check."""
    kinds = [kind for name, kind in _CHECKS.items() if re.search(load_table()[name], low)]
    return [("command", name) for name in _list_named_checks(instruction)] or [("check", kind) for kind in kinds]


def _list_named_checks(instruction: Instruction) -> "list[str]":
    """The commands that an instruction names, and programs that are nothing but checks."""
    named = (*instruction.programs, instruction.likes)
    return [name for name in named if " " in name or programs.PROGRAMS.get(name) in programs.PROVING]


def _list_files(instruction: Instruction, low: str) -> Forms:
    """The files that a clause asks to bring up to date; of "the docs" nobody can tell whether a comment is meant."""
    names = [name for name in _DOCUMENTS if re.search(load_table()[name], low)]
    names += [
        path for path in instruction.paths if _is_file(path) and not any(name in path.lower() for name in _DOCUMENTS)
    ]
    return [("file", name) for name in names]


def _is_file(path: str) -> bool:
    """Whether a path is that of a file that is brought up to date: `t4g.large` may be anything, and code that a request
    names may well be read, run or shown."""
    low = path.lower()
    named = re.search(r"[\w-]\.\w+$", low) is not None
    return named and ("/" in low or low.endswith(_FILES)) and not low.endswith(programs.CODE_FILES)


def _asks_for_act(act: str, low: str) -> bool:
    """Whether a clause asks for an act and little else: "commit it", and not "add push notifications"."""
    match = next(re.finditer(load_table()["acts"][act], low), None)
    if match is None or len(low) > BRIEF or len(strip_joins(low[: match.start()]).split()) == 1:
        return False  # "draft PR", "via PR", "same commit"
    if act == "pr" or re.search(heads.WIDE, low):
        return True
    return names_nothing(re.split(load_table()["conditions"], low[match.end() :], maxsplit=1)[0])


_FORMS: "dict[str, Callable[[Instruction, str], Forms]]" = {
    "run": _list_checks,
    "write": _list_files,
    "test": lambda instruction, low: [("test", "test")] if re.search(load_table()["tests"], low) else [],
    "act": lambda instruction, low: [
        ("act", act)
        for act in _ACTS
        if act in instruction.acts and not (act == "pr" and "push" in instruction.acts) and _asks_for_act(act, low)
    ],
}


def find_unmet(
    instructions: "Sequence[Instruction]", done: ActHistory, told: "Sequence[AgentClause]", latest: float
) -> "Unmet | None":
    """The first demand that nothing met and of which the agent says nothing itself, the newest first.

    Args:
        told: the agent's last words.
        latest: when the user spoke last: what they asked for before that, they have seen the end of.
    """
    if not any(act.at >= latest and (act.kind == "edit" or act.changes or act.acts) for act in done.acts):
        return None
    banned = {act for instruction in instructions if instruction.kind == BAN for act in instruction.acts}
    for instruction in reversed(instructions):
        if instruction.kind == REQUEST and instruction.at < latest:
            continue
        for demand in list_demands(instruction):
            if demand.form == "act" and demand.target in banned:
                continue
            why, missing = _find_missing(demand, done)
            if why and not _is_admitted(demand, told):
                return Unmet(demand=demand, why=why, missing=missing or demand.target)
    return None


def _find_missing(demand: Demand, done: ActHistory) -> "tuple[str, str]":
    """Why a demand is unmet, and the command that came out red; empty where it is met, or may be."""
    since = [act for act in done.acts if act.at >= demand.instruction.at]
    if demand.form in {"command", "check"}:
        return _judge_check(demand, since, done)
    if any(acted.is_opaque(act) for act in since if demand.form != "file"):
        return "", ""
    if demand.form == "act":
        return _judge_act(demand.target, since)
    if demand.form == "test":
        written = any(act.tests or is_test(act.path) or _may_write(act, r"test|spec") for act in since)
    else:
        written = _is_written(demand, since)
    return ("", "") if written else (UNTOUCHED, "")


def _judge_act(name: str, since: "list[Act]") -> "tuple[str, str]":
    names = _ACTS[name]
    tried = any(names & {*act.acts, *(each for run in act.runs for each in run.acts)} for act in since)
    if tried or any(re.search(rf"\b{name}\b", act.line) and act.ok for act in since):
        return "", ""  # one that failed may have had nothing to do: a hook had committed it
    return ("", "") if any(act.tool.startswith("mcp__") for act in since) else (NEVER, "")


def _is_written(demand: Demand, since: "list[Act]") -> bool:
    """Whether a file that was demanded was written, or may have been."""
    pattern = _make_file_pattern(demand.target)
    touched = any(
        re.search(pattern, act.path.lower()) or covers_path(demand.target, act.path)
        for act in since
        if act.kind == "edit" and act.ok
    )
    if touched or any(_may_write(act, pattern) for act in since):
        return True
    if _is_document(demand.target):
        return False
    telling = "|".join(re.escape(word) for word in demand.instruction.words if len(word) > _SHORT)
    return any(act.does_act(pattern) or (telling and act.does_act(telling)) for act in since)


_SHORT = 4
"""Letters up to which a word is in commands by chance."""


def _is_document(name: str) -> bool:
    return name in _DOCUMENTS or re.search(r"\.(?:md|mdx|rst|adoc)$", name.lower()) is not None


def _make_file_pattern(name: str) -> str:
    if name == "changelog" or "changelog" in name.lower():
        return r"change|history|news|release|\.changeset"
    return re.escape(name.lower().rsplit("/", 1)[-1])


def _may_write(act: Act, pattern: str) -> bool:
    """Whether a command names such a file as one that it may write, or may have written any."""
    if act.kind == "execute":
        return any(
            not command.is_read_only
            and command.kind not in programs.PROVING
            and not acted.list_kinds(command)
            and re.search(pattern, " ".join((*command.words, *command.writes)).lower())
            for command in act.runs
        ) or any(re.search(pattern, path.lower()) for command in act.runs for path in command.writes)
    return act.tool.lower() in {"agent", "task"} or (act.tool.startswith("mcp__") and not act.path)


def _judge_check(demand: Demand, since: "list[Act]", done: ActHistory) -> "tuple[str, str]":
    hits = [act for act in since if _meets_check(demand, act)]
    if not hits and any(_may_meet_check(demand, act) for act in since):
        return "", ""
    if not hits:
        return ("", "") if any(acted.is_opaque(act) for act in since) else (NEVER, "")
    last = hits[-1]
    if last.red:
        failed = (run.display_text for run in last.runs if acted.list_kinds(run))
        return RED, demand.target if demand.form == "command" else next(failed, "")
    changed = acted.find_last_change(done)
    late = changed > last.at and (_is_last(demand.instruction.clause) or _is_last(demand.instruction.said))
    return (STALE, "") if late else ("", "")


def _is_last(said: str) -> bool:
    """Whether a demand is for the end of the work."""
    return re.search(load_table()["ending"], said.lower()) is not None


def _meets_check(demand: Demand, act: Act) -> bool:
    """Whether a command is what was demanded, or may stand for it."""
    if act.kind != "execute":
        return False
    if demand.form == "check":
        return bool({demand.target, ALL_KINDS} & act.check_kinds)
    words = demand.target.lower().split()
    bare = [word for word in words if not word.startswith("-")]
    if any(command.is_of(" ".join(bare)) for command in act.runs) or demand.target.lower() in act.line.lower():
        return True
    script = bare[-1] if len(bare) > 1 and name_program(words[0]) in programs.SCRIPTS else ""
    if script:  # the same script by another runner
        return any(
            script in command.words and programs.SCRIPTS & {command.program, *command.outer} for command in act.runs
        )
    kind = programs.PROGRAMS.get(
        bare[0], programs.SUBCOMMANDS.get(bare[0], {}).get(bare[1] if len(bare) > 1 else "", "")
    )
    return bool(kind) and bool({kind, ALL_KINDS} & act.check_kinds)


def _may_meet_check(demand: Demand, act: Act) -> bool:
    """Whether a command names what was demanded, though behind a program that nobody knows."""
    if act.kind != "execute":
        return False
    wanted = re.escape(demand.target.lower().split()[-1]) if demand.form == "command" else CHECK_NAMES[demand.target]
    unknown = (
        command
        for command in act.runs
        if not command.is_read_only and (command.program in programs.SCRIPTS or not acted.list_kinds(command))
    )
    return any(re.search(wanted, " ".join(command.words).lower()) for command in unknown)


def _is_admitted(demand: Demand, told: "Sequence[AgentClause]") -> bool:
    """Whether the agent says itself that it has not done it, or that something is left."""
    pattern = make_pattern(demand)
    left = {clause.sentence for clause in told if clause.means == NOT}
    for clause in told:
        low = clause.text.lower()
        if (
            clause.means != DID
            and re.search(pattern, low)
            and (clause.means == NOT or re.search(load_table()["nothing"], low))
        ):
            return True
        if clause.means != DID and re.search(pattern, low) and clause.sentence in left:
            return True
    return False


def make_pattern(demand: Demand) -> str:
    """A pattern for what somebody calls a demand by."""
    words = load_table()
    if demand.form == "file":
        known = {"changelog": words["changelog"], "readme": words["readme"]}
        return known.get(demand.target, re.escape(demand.target.lower()))
    if demand.form == "act":
        return words["acts"][demand.target]
    if demand.form == "test":
        return words["tests"]
    own = re.escape(demand.target.lower()) if demand.form == "command" else ""
    return "|".join(filter(None, (own, words["suite"], words["lint"], words["runs"])))


DID, NOT, OTHER = "did", "not", "other"
READ = 6_000
MOST = 80
SURE = 0.6


class AgentClause(Value):
    """A clause of an agent's last words."""

    text: str
    means: str
    sentence: str


def read_last_words(said: str) -> "tuple[AgentClause, ...]":
    """The clauses of an agent's last words, with what each means; code, quotations and tables are none of its words."""
    text = re.sub(r"```.*?(?:```|\Z)|(?m:^[ \t]*[|>].*$)", " ", said[-READ:], flags=re.DOTALL)
    text = re.sub(r"\*\*|__|(?m:^#+ )", "", text)
    clauses: list[AgentClause] = []
    for line in text.split("\n"):
        for sentence in re.split(r"(?<=[.!?…])\s+|(?<=[。！？])", re.sub(r"^\s*(?:[-*•·✓✔✅☑]|\d+[.)])\s*", "", line)):
            for piece in re.split(load_table()["told"], sentence):
                if any(map(str.isalnum, piece)) and len(piece) <= 300:
                    clauses.append(_read_clause(piece.strip(), sentence.strip()))
                if len(clauses) >= MOST:
                    return tuple(clauses)
    return tuple(clauses)


def _read_clause(text: str, sentence: str) -> AgentClause:
    if sentence.endswith(("?", "？")):
        return AgentClause(text=text, means=OTHER, sentence=sentence)
    chances = heads.score_clause("report", text)
    means = max(chances, key=lambda name: chances[name])
    return AgentClause(text=text, means=means if chances[means] >= SURE else OTHER, sentence=sentence)


def ends_with_question(said: str) -> bool:
    """Whether the agent ends with a question, or says that it waits for an answer."""
    lines = [line.strip() for line in said.strip().split("\n") if line.strip()]
    return bool(lines) and (
        lines[-1].rstrip("*_ )").endswith(("?", "？")) or any(line.endswith(("?", "？")) for line in lines[-3:])
    )
