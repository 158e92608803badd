"""What a request demands, compared at the end with what happened: checks to run, files to bring up to date, acts.

A demand is unmet where nothing that was done can have met it. What another command may have done, what the agent says
itself that it left out, and an end that is a question or a plan, are no breach.
"""

import re

from insula.coding.step import programs
from insula.coding.step.action import EDIT, EXECUTE, OTHER
from insula.coding.step.command import (
    COMMITS,
    PUSHES,
    get_kind,
    is_read_only,
    list_same_acts,
    names_program,
    show_command,
)
from insula.coding.step.instructions import heads
from insula.coding.step.instructions.acts import (
    ALL_KINDS,
    CHECK_NAMES,
    is_opaque,
    list_changed,
    list_check_kinds,
    list_kinds,
    list_run,
)
from insula.coding.step.instructions.breach import is_test
from insula.coding.step.instructions.clauses import load_table, lower_text, says
from insula.coding.step.instructions.extraction import names_nothing, strip_joins
from insula.coding.step.instructions.instruction import ASKED as REQUEST
from insula.coding.step.instructions.instruction import HOW, Instruction
from insula.coding.step.project import is_code
from insula.coding.step.shell import name_program
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from insula.coding.step.action import Action

LONGEST = 110
"""Characters of a clause that demands something plainly."""
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
    why: str = ""
    """Of one that nothing met: `never`, `red`, `stale` or `untouched`."""
    missing: str = ""
    """... and what is missing, or the command that came out red."""


def list_demands(instruction: Instruction) -> "list[Demand]":
    """What an instruction of the user's demands that acts can show."""
    low = lower_text(instruction.clause)
    if not instruction.orders or instruction.kind == HOW or len(low) > LONGEST or says(low, "pending"):
        return []
    if instruction.said.rstrip(" \"')").endswith(("?", "？")) and instruction.acts:
        return []
    chances = heads.score_clause("demand", instruction.clause)
    kind = max(chances, key=lambda name: chances[name])
    if chances["run"] >= HALF and any(" " in name for name in _list_named_checks(instruction)):
        kind = "run"
    elif chances[kind] < SURE_KIND or kind not in _FORMS:
        return []
    return [
        Demand(instruction=instruction, target=target, form=form) for form, target in _FORMS[kind](instruction, low)[:2]
    ]


_ACTS = (COMMITS, PUSHES, "pr")
_CHECKS = {"suite": programs.TEST, "lint": programs.LINT, "types": programs.TYPES, "build": programs.BUILD}
_DOCUMENTS = ("changelog", "readme")
_FILES = (*programs.SETTINGS_FILES, ".md", ".mdx", ".rst", ".txt", ".adoc", ".csv", ".ipynb")
"""Endings of files."""
Forms = list[tuple[str, str]]


def _list_checks(instruction: Instruction, low: str) -> Forms:
    """The commands that a clause asks to run, else the kinds of check."""
    kinds = [kind for name, kind in _CHECKS.items() if says(low, name)]
    return [("command", name) for name in _list_named_checks(instruction)] or [("check", kind) for kind in kinds]


def _list_named_checks(instruction: Instruction) -> "list[str]":
    """The commands that an instruction names, and programs that are nothing but checks."""
    return [name for name in instruction.programs if " " in name or programs.PROGRAMS.get(name) in programs.PROVING]


def _list_files(instruction: Instruction, low: str) -> Forms:
    """The files that a clause asks to bring up to date; of "the docs" nobody can tell whether a comment is meant."""
    names = [name for name in _DOCUMENTS if says(low, name)]
    others = (path for path in instruction.paths if not any(name in path.lower() for name in _DOCUMENTS))
    return [("file", name) for name in (*names, *filter(_is_file, others))]


def _is_file(path: str) -> bool:
    """Whether a path is that of a file that is brought up to date: `t4g.large` may be anything, and code that a request
    names may well be read, run or shown."""
    low = path.lower()
    named = re.search(r"[\w-]\.\w+$", low) is not None
    return named and ("/" in low or low.endswith(_FILES)) and not low.endswith(programs.CODE_FILES)


def _asks_for_act(act: str, low: str) -> bool:
    """Whether a clause asks for an act and little else: "commit it", and not "add push notifications"."""
    match = re.search(load_table()["acts"][act], low)
    if match is None or len(strip_joins(low[: match.start()]).split()) == 1:
        return False  # "draft PR", "via PR", "same commit"
    if act == "pr" or re.search(heads.WIDE, low):
        return True
    return names_nothing(re.split(load_table()["conditions"], low[match.end() :], maxsplit=1)[0])


_FORMS: "dict[str, Callable[[Instruction, str], Forms]]" = {
    "run": _list_checks,
    "write": _list_files,
    "test": lambda instruction, low: [("test", "test")] if says(low, "tests") else [],
    "act": lambda instruction, low: [
        ("act", act)
        for act in _ACTS
        if act in instruction.acts and not (act == "pr" and "push" in instruction.acts) and _asks_for_act(act, low)
    ],
}


def list_unmet(
    instructions: "Sequence[Instruction]", done: "Sequence[Action]", said: str, latest: float
) -> "list[Demand]":
    """The demands that nothing met and of which the agent says nothing itself, in the order in which they were made.

    Args:
        done: what was done in the session.
        said: the agent's last words.
        latest: when the user spoke last: what they asked for before that, they have seen the end of.
    """
    if not any(act.at >= latest and (act.kind == EDIT or act.changes or act.acts) for act in done):
        return []
    unmet: list[Demand] = []
    for instruction in instructions:
        demands = list_demands(instruction) if instruction.kind == REQUEST and instruction.at >= latest else ()
        for demand in demands:
            why, missing = _find_missing(demand, [act for act in done if act.at >= instruction.at], said)
            if why and not _is_admitted(demand, said):
                unmet.append(demand.replace(why=why, missing=missing or demand.target))
    return unmet


def _find_missing(demand: Demand, since: "list[Action]", said: str) -> "tuple[str, str]":
    """Why a demand is unmet, and the command that came out red; empty where it is met, or may be."""
    if demand.form in {"command", "check"}:
        return _judge_check(demand, since, said)
    if demand.form == "file":
        return ("", "") if any(_may_write(act, demand.target) for act in since) else (UNTOUCHED, "")
    if any(map(is_opaque, since)):
        return "", ""
    if demand.form == "act":  # one that failed may have had nothing to do: a hook had committed it
        return ("", "") if any(_does_act(act, demand.target) for act in since) else (NEVER, "")
    written = any(act.tests or any(map(is_test, list_changed(act))) for act in since)
    return ("", "") if written else (UNTOUCHED, "")


def _does_act(act: "Action", name: str) -> bool:
    """Whether an act is a commit, a push or a pull request, or a command that nobody knows and that says so."""
    says_so = act.kind == EXECUTE and act.ok and re.search(rf"\b{name}\b", act.target) is not None
    return says_so or not list_same_acts(name).isdisjoint(act.acts)


def _may_write(act: "Action", name: str) -> bool:
    """Whether an act wrote a file, or may have: a command that names it and does more than look at it or check it."""
    low = name.lower()
    pattern = r"change|history|news|release" if "changelog" in low else re.escape(low.rsplit("/", 1)[-1])
    if any(re.search(pattern, path.lower()) for path in list_changed(act)) or (act.kind == OTHER and is_opaque(act)):
        return True
    return any(
        re.search(pattern, " ".join(command.words).lower()) and not (is_read_only(command) or list_kinds(command))
        for command in list_run(act)
    )


def _judge_check(demand: Demand, since: "list[Action]", said: str) -> "tuple[str, str]":
    hits = [act for act in since if _meets_check(demand, act)]
    if not hits:
        may_be = any(is_opaque(act) or _may_meet_check(demand, act) for act in since)
        return ("", "") if may_be else (NEVER, "")
    last = hits[-1]
    if last.red:
        if demand.form == "command" and not _is_demanded(demand, last):
            return "", ""  # its name stands in the line alone: `ls .pre-commit-config.yaml`
        failed = (show_command(run) for run in list_run(last) if list_kinds(run))
        return RED, demand.target if demand.form == "command" else next(failed, "")
    after = [act for act in since if act.at > last.at]
    if not any(act.kind == EDIT and act.ok and is_code(act.target) for act in after):
        return "", ""
    if says(demand.instruction.said.lower(), "ending"):
        return STALE, ""
    may_be = any(act.kind in {EXECUTE, OTHER} for act in after)  # the hook of a commit, a script
    return (STALE, "") if not may_be and _is_claimed(demand, said) else ("", "")


def _is_demanded(demand: Demand, act: "Action") -> bool:
    """Whether a command is the very one that was demanded."""
    bare = " ".join(word for word in demand.target.lower().split() if not word.startswith("-"))
    return any(names_program(command, bare) for command in list_run(act))


def _meets_check(demand: Demand, act: "Action") -> bool:
    """Whether a command is what was demanded, or may stand for it."""
    if demand.form == "check":
        return bool({demand.target, ALL_KINDS} & list_check_kinds(act))
    words = demand.target.lower().split()
    bare = [word for word in words if not word.startswith("-")]
    runs = list_run(act)
    if _is_demanded(demand, act) or (runs and " ".join(words) in act.target.lower()):
        return True
    if len(bare) > 1 and name_program(words[0]) in programs.SCRIPTS:  # the same script by another runner
        return any(
            bare[-1] in command.words and programs.SCRIPTS & {command.program, *map(name_program, command.launchers)}
            for command in runs
        )
    kind = get_kind(tuple(bare))
    return kind in programs.PROVING and bool({kind, ALL_KINDS} & list_check_kinds(act))


def _may_meet_check(demand: Demand, act: "Action") -> bool:
    """Whether a command names what was demanded, though behind a program that nobody knows."""
    wanted = re.escape(demand.target.lower().split()[-1]) if demand.form == "command" else CHECK_NAMES[demand.target]
    return any(
        re.search(wanted, " ".join(command.words).lower()) and not is_read_only(command)
        for command in list_run(act)
        if command.program in programs.SCRIPTS or not list_kinds(command)
    )


def make_pattern(demand: Demand) -> str:
    """A pattern for what somebody calls a demand by."""
    words = load_table()
    if demand.form == "file":
        return words[demand.target] if demand.target in _DOCUMENTS else re.escape(demand.target.lower())
    if demand.form == "act":
        return words["acts"][demand.target]
    if demand.form == "test":
        return words["tests"]
    own = re.escape(demand.target.lower()) if demand.form == "command" else ""
    return "|".join(filter(None, (own, words["suite"], words["lint"], words["runs"])))


DID, NOT = "did", "not"
READ = 6_000
"""Characters of an agent's last words that are read, the last ones."""
SURE = 0.6
"""How probable it must be what a clause of them says."""


def _is_admitted(demand: Demand, said: str) -> bool:
    """Whether the agent says itself that it has not done it."""
    pattern = make_pattern(demand)
    return any(_leaves_open(sentence, pattern) for sentence in _list_sentences(said))


def _is_claimed(demand: Demand, said: str) -> bool:
    """Whether the agent says of what was demanded that it is done, or is so: "all tests pass"."""
    pattern = make_pattern(demand)
    clauses = (clause for sentence in _list_sentences(said) for clause in _split_clauses(sentence))
    return any(re.search(pattern, clause.lower()) and _find_meaning(clause) == DID for clause in clauses)


def _list_sentences(said: str) -> "list[str]":
    """The sentences of an agent's last words, without questions; code, quotations and tables are none of its words."""
    text = re.sub(r"```.*?(?:```|\Z)|(?m:^[ \t]*[|>].*$)", " ", said[-READ:], flags=re.DOTALL)
    lines = (re.sub(_BULLET, "", line) for line in re.sub(r"\*\*|__|(?m:^#+ )", "", text).split("\n"))
    sentences = (sentence.strip() for line in lines for sentence in re.split(_SENTENCE, line))
    return [sentence for sentence in sentences if not sentence.endswith(("?", "？"))]


def _split_clauses(sentence: str) -> "list[str]":
    return [clause.strip() for clause in re.split(load_table()["told"], sentence) if any(map(str.isalnum, clause))]


_BULLET = r"^\s*(?:[-*•·✓✔✅☑]|\d+[.)])\s*"
_SENTENCE = r"(?<=[.!?…])\s+|(?<=[。！？])"


def _leaves_open(sentence: str, pattern: str) -> bool:
    """Whether a sentence says that something is not done, and names it where it does not say that it is."""
    if not re.search(pattern, sentence.lower()):
        return False
    clauses = _split_clauses(sentence)
    means = [_find_meaning(clause) for clause in clauses]
    named = (meant != DID and re.search(pattern, clause.lower()) for clause, meant in zip(clauses, means, strict=True))
    return NOT in means and any(named)


def _find_meaning(clause: str) -> str:
    chances = heads.score_clause("report", clause)
    means = max(chances, key=lambda name: chances[name])
    return means if chances[means] >= SURE else ""


def ends_with_question(said: str) -> bool:
    """Whether the agent ends with a question, or says that it waits for an answer."""
    lines = [line.strip() for line in said.strip().split("\n") if line.strip()]
    return bool(lines) and (
        lines[-1].rstrip("*_ )").endswith(("?", "？")) or any(line.endswith(("?", "？")) for line in lines[-3:])
    )
