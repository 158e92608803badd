"""Whether a call breaks an instruction of the user's: by the paths that it writes, what it runs, what it writes.

Only what is certain is a breach: where an instruction names nothing that the call shows, or a request of theirs names
the same file, there is none.
"""

import os
import re

from insula.coding.step.action import EDIT, EXECUTE
from insula.coding.step.command import (
    DELETES,
    adds_package,
    get_kind,
    get_word,
    list_acts,
    list_deleted,
    list_same_acts,
    list_written,
    make_label,
    names_program,
    only_looks,
    parse_command,
    show_command,
    strip_excluded,
)
from insula.coding.step.fingerprint import EDITS, EXECUTES, PATHS, get_patch, get_target, list_patched, read_edit
from insula.coding.step.instructions.clauses import is_conditional, lower_text, says
from insula.coding.step.instructions.instruction import (
    ASKED,
    BAN,
    HERE,
    HOW,
    LIFT,
    MOMENT,
    ONLY,
    Instruction,
    screen_words,
)
from insula.coding.step.instructions.mentions import (
    MOST_WORDS,
    is_place,
    list_command_names,
    list_subjects,
    make_code_pattern,
)
from insula.coding.step.programs import CLEARING, FORMATTERS, LINT, LINTERS, SCRATCH, SCRIPTS, TYPES
from insula.coding.step.project import is_code, read_branch
from insula.coding.step.shell import SimpleCommand
from insula.coding.step.stop_words import DENIALS
from insula.coding.step.trace import find_project_root
from insula.foreign import real_path
from insula.value import Value, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

READ = 60_000
"""Characters of what is written that are looked at."""
_PLANS = ("/.claude/", "/.codex/", "/.cursor/")
_RUNS = EXECUTES - {"sql", "python", "ipython"}
"""Tools that are handed a line of the shell."""
_FAMILIES = (frozenset("npm pnpm yarn bun".split()), frozenset("pip poetry uv pipenv pdm".split()))
"""Programs of which a project uses one."""
_MANAGING = frozenset(
    "install add ci i run test exec dlx remove uninstall update up upgrade sync lock create init".split()
)


class CallEffects(Value):
    """A call as the ledger sees it: what it writes where, and what it runs."""

    paths: tuple[str, ...] = ()
    """Files that it writes, as the call names them."""
    deleted: tuple[str, ...] = ()
    new: str = ""
    old: str = ""
    runs: tuple[SimpleCommand, ...] = ()
    acts: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()


class Breach(Value):
    """An instruction of the user's, and what of a call breaks it."""

    instruction: Instruction
    target: str
    """The path, or the command."""
    how: str = "edits"
    """`edits`, `deletes`, `runs` or `writes`."""


def read_call(tool: str, given: object) -> CallEffects:
    """What a call does, by its tool and its arguments."""
    name = tool.lower()
    if name in _RUNS:
        line = get_target(given)
        return _read_edit(line) if "*** Begin Patch" in line else _read_command(line)
    return _read_edit(given) if name in EDITS else CallEffects()


def read_action(kind: str, target: str) -> CallEffects:
    """What an action did, as far as its path or its command tells."""
    if kind == EXECUTE:
        return _read_command(target)
    return CallEffects(paths=(target,)) if kind == EDIT and target else CallEffects()


def _read_command(line: str) -> CallEffects:
    known = parse_command(line)
    return CallEffects(
        paths=tuple(path for part in known.parts for path in list_written(part)),
        deleted=tuple(path for part in known.parts for path in list_deleted(part)),
        runs=known.parts,
        acts=known.acts,
        touches=known.touches,
    )


def _read_edit(given: object) -> CallEffects:
    old, new = read_edit(given)
    if patch := get_patch(given):
        files = list_patched(patch[:READ])
        deleted = tuple(path for mark, path in files if mark == "Delete")
        return CallEffects(
            paths=tuple(path for mark, path in files if mark != "Delete"),
            deleted=deleted,
            new=new[:READ],
            old=old[:READ],
        )
    if not is_object(given) or given.get("command") == "view":
        return CallEffects()
    path = next((str(given[key]) for key in PATHS if isinstance(given.get(key), str)), "")
    return CallEffects(paths=(path,) if path else (), new=new[:READ], old=old[:READ])


def judge_call(instructions: "Sequence[Instruction]", call: CallEffects, cwd: str) -> Breach | None:
    """The first of the instructions that a call, done or about to be, breaks for certain, the newest first.

    No call is held against what a long message names: most of those are plans, reviews and templates.
    """
    if not (call.paths or call.deleted or call.runs):
        return None
    instructions = [each for each in instructions if not _is_of_long_message(each)]
    freed = [instruction for instruction in instructions if instruction.kind in {ASKED, LIFT}]
    for instruction in reversed(instructions):
        if instruction.kind in {BAN, HOW, MOMENT} and (breach := _find_broken(instruction, call, cwd, freed)):
            return breach
    limits = [instruction for instruction in instructions if instruction.kind == ONLY]
    return _find_outside(limits, call, cwd, freed) if limits else None


def _is_of_long_message(instruction: Instruction) -> bool:
    """Whether it names files and stands for one message alone: of a short one it would stand on."""
    return instruction.kind == BAN and instruction.holds == HERE and bool(instruction.paths)


def find_breach(instructions: "Sequence[Instruction]", call: CallEffects, cwd: str) -> tuple[str, ...]:
    """What a call breaks, as an action keeps it: id of the instruction, its words, how, and what; empty for nothing."""
    breach = judge_call(instructions, call, cwd)
    if breach is None:
        return ()
    said, target = screen_words(breach.instruction.said), _name_breach(breach, call)
    return (breach.instruction.id, said, breach.how, target) if said and target else ()


def _name_breach(breach: Breach, call: CallEffects) -> str:
    """What breaks an instruction, in plain characters: of what is written its names, else the file it is written to."""
    if breach.how == "runs":
        return breach.target
    if breach.how == "writes":
        return make_label(tuple(re.split(r"[^\w./:@+=~-]+", breach.target))) or make_label(call.paths[:1])
    return make_label((breach.target,))


def _find_broken(instruction: Instruction, call: CallEffects, cwd: str, freed: "list[Instruction]") -> Breach | None:
    """How a call breaks one instruction that rules something out or sets a way."""
    target, how = _find_banned_run(instruction, call, cwd, freed), "runs"
    if not target and instruction.kind != HOW:
        written, deleted = ([make_relative(path, cwd) for path in paths] for paths in (call.paths, call.deleted))
        changed = [("edits", path) for path in written if _forbids_edit(instruction, path, cwd)]
        if instruction.edits or instruction.deletes:
            changed += [("deletes", path) for path in deleted if _names_file(instruction, path, cwd)]
        for how, path in changed:
            asked = how == "deletes" and any(_asks_to_delete(each) for each in freed if each.at > instruction.at)
            if not asked and not _is_freed(instruction, path, freed):
                return Breach(instruction=instruction, target=path, how=how)
    if not target and instruction.kind == BAN:
        target, how = _find_written(instruction, call), "writes"
    return Breach(instruction=instruction, target=target, how=how) if target else None


# Files.


def make_relative(path: str, cwd: str) -> str:
    """A path as it stands in the project; a link by where it leads, where that is in the project."""
    plain, root = path.replace("\\", "/"), cwd.replace("\\", "/").rstrip("/")
    if plain.startswith(("./", "../")):
        plain = os.path.normpath(plain).replace("\\", "/")
    if root and plain.lower().startswith(f"{root.lower()}/"):
        plain = plain[len(root) + 1 :]
    if (root and os.path.islink(os.path.dirname(f"{root}/{plain}"))) or os.path.islink(f"{root}/{plain}"):
        real, top = real_path(f"{root}/{plain}"), real_path(root)
        plain = real[len(top) + 1 :] if real.startswith(f"{top}/") else real
    return plain


def _forbids_edit(instruction: Instruction, path: str, cwd: str) -> bool:
    if instruction.kind == MOMENT:  # "no code yet"
        low = instruction.clause.lower()
        stops = not DENIALS.isdisjoint(re.findall(r"[\w'’-]+", low)) or re.search("[不别無ないな]", low)
        of_code = says(low, "coding") or (instruction.edits and says(low, "code"))
        return bool(stops and of_code and not instruction.paths and _is_inside(path) and is_code(path))
    return (instruction.edits or _is_not_there(instruction, path, cwd)) and _names_file(instruction, path, cwd)


def _is_not_there(instruction: Instruction, path: str, cwd: str) -> bool:
    """Whether a ban names a path that is not there yet, so that to make it is all that it can rule out."""
    if not instruction.paths or instruction.acts or instruction.programs or not os.path.isdir(cwd):
        return False
    low = lower_text(instruction.clause)
    if any(is_place(own, low) for own in instruction.paths):
        return False
    return not any(os.path.lexists(f"{cwd}/{each}") for each in (path, *instruction.paths))


def _names_file(instruction: Instruction, path: str, cwd: str) -> bool:
    """Whether an instruction names a file by a path."""
    owns = [own for own in instruction.paths if own.startswith(("/", "~", "..")) or not _is_elsewhere(path, cwd)]
    return any(covers_path(make_relative(own, cwd), path) for own in owns)


def _is_elsewhere(path: str, cwd: str) -> bool:
    """Whether a path leads out of the project that a folder belongs to: what it holds is not what a name means."""
    if not cwd or not (path.startswith(("/", "..", "~")) or path[1:3] == ":/"):
        return False
    root = find_project_root(cwd).replace("\\", "/").rstrip("/")
    real = real_path(os.path.join(cwd, os.path.expanduser(path))).replace("\\", "/")
    return not f"{real}/".startswith(f"{root}/")


def covers_path(own: str, path: str) -> bool:
    """Whether a path that somebody wrote is that of a file, or of a folder that it is in."""
    own, path = own.lower().removeprefix("./").strip("/"), path.lower()
    if "*" in own:
        import fnmatch

        return fnmatch.fnmatch(path, own) or fnmatch.fnmatch(path.rsplit("/", 1)[-1], own.rsplit("/", 1)[-1])
    stem = f"/{path}".rsplit(".", 1)[0]
    return f"/{own}/" in f"/{path}/" or stem.rsplit("/", 1)[-1] == own or ("/" in own and stem.endswith(f"/{own}"))


def is_test(path: str) -> bool:
    """Whether a file is one of tests, by its path."""
    names = r"(?:^|[/_.-])(?:tests?|specs?|stories|__tests__|e2e|cypress|playwright)(?:$|[/_.-])"
    return re.search(rf"{names}|tests?\.\w+$|spec\.\w+$", path.lower()) is not None


def _is_inside(path: str) -> bool:
    """Whether a path is one of the project, as far as it tells."""
    if path.startswith(("/", "..", "~")) or path[1:3] == ":/":
        return False
    return not f"/{path}".startswith(SCRATCH) and not any(plan in f"/{path}" for plan in _PLANS)


def _is_freed(instruction: Instruction, path: str, freed: "list[Instruction]") -> bool:
    """Whether the user has asked for this very file since, or excepted it."""
    since = (each for each in freed if each.at > instruction.at or (each.kind == LIFT and each.at == instruction.at))
    return any(covers_path(own, path) for each in since for own in each.paths)


def _asks_to_delete(request: Instruction) -> bool:
    """Whether a request is to delete what was spoken of, and says of what no more: "delete that file again"."""
    what = {word for word in list_subjects(request) if not says(word, "deletes")}
    return request.kind == ASKED and request.deletes and not request.paths and not what


def _find_outside(
    limits: "list[Instruction]", call: CallEffects, cwd: str, freed: "list[Instruction]"
) -> Breach | None:
    """The write that lies outside what alone may be changed, and that nobody has asked for since."""
    limit, allowed = limits[-1], [own for each in limits for own in each.paths]
    inside = [make_relative(given, cwd) for given in (*call.paths, *call.deleted)]
    outside = [path for path in inside if _is_inside(path) and not any(covers_path(own, path) for own in allowed)]
    since = [each for each in freed if each.at >= limit.at]
    if not outside or any(_asks_for(request, path, limit) for request in since for path in outside):
        return None
    return Breach(instruction=limit, target=outside[0])


_KINDS = {r"test|spec": ("tests",), r"change|readme|docs?/|\.md$": ("changelog", "readme", "docs")}
"""What is in the path of a file of a kind, and the words by which a request asks for one."""


def _asks_for(request: Instruction, path: str, limit: Instruction) -> bool:
    """Whether a request of the user's is for a file: by its path, its name or its kind.

    What was asked for in the same message as where alone to work is asked for there.
    """
    if any(covers_path(own, path) for own in request.paths):
        return True
    if request.at > limit.at and not _split_names(path).isdisjoint(request.words):
        return True
    asked = (kinds for pattern, kinds in _KINDS.items() if re.search(pattern, path.lower()))
    return any(says(request.said.lower(), *kinds) for kinds in asked)


# Programs and acts.


def _find_banned_run(instruction: Instruction, call: CallEffects, cwd: str, freed: "list[Instruction]") -> str:
    """The command that an instruction rules out: by its program, by its words, or by what it does."""
    if not call.runs or is_conditional(instruction.clause.lower()):
        return ""
    for run in call.runs:
        named = any(names_program(run, program) for program in instruction.programs)
        if (named and not only_looks(run)) or (instruction.kind == HOW and _is_rival(instruction.likes, run)):
            return show_command(run)
    if instruction.kind != BAN:
        return ""
    if telling := list_command_names(instruction):
        meant = (run for run in call.runs if _is_named(run, telling, instruction) and not only_looks(run))
        return next(map(show_command, meant), "")
    if added := next((run for run in call.runs if _adds_ruled_out(instruction, run)), None):
        return show_command(added)
    if instruction.deletes and says(instruction.clause.lower(), "tests"):
        return next((show_command(run) for run in call.runs if any(map(is_test, list_deleted(run)))), "")
    asked = {word for each in freed if each.at > instruction.at for word in each.words}
    return next(filter(None, (_find_act(instruction, act, call, cwd, asked) for act in instruction.acts)), "")


def _is_named(run: SimpleCommand, telling: "set[str]", instruction: Instruction) -> bool:
    """Whether a command is the one that such words name: "don't run the e2e tests" and `npm run e2e`. What is not to be
    used or added is the program itself or a package: "do not add comments" says nothing of `gh pr view --comments`."""
    if says(instruction.clause.lower(), "runs"):
        return _may_run(run) and telling <= _split_names(" ".join(strip_excluded(run)))
    return any(names_program(run, name) for name in telling) or _adds_ruled_out(instruction, run)


def _may_run(run: SimpleCommand) -> bool:
    """Whether a simple command may run what its words name: a linter only reads it, and git, `mv` and `sed` run
    nothing."""
    reads = run.program in LINTERS | FORMATTERS or get_kind(run.words) in {LINT, TYPES}
    return not (run.program in {"git", "sed"} | CLEARING or (reads and run.program not in SCRIPTS))


def _adds_ruled_out(instruction: Instruction, run: SimpleCommand) -> bool:
    """Whether a command adds a package that an instruction names by its words alone: "use httpx, not requests"."""
    if instruction.paths or instruction.edits or instruction.acts or not adds_package(run.words):
        return False
    subjects = list_subjects(instruction)
    added = {re.split(r"[=<>~!\[]|(?<=.)@", word.lower())[0] for word in run.words}
    return len(subjects) <= MOST_WORDS and not subjects.isdisjoint(added)


def _find_act(instruction: Instruction, act: str, call: CallEffects, cwd: str, asked: "set[str]") -> str:
    """The command that does an act where an instruction rules it out, but for packages that were asked for since."""
    if act == "install":
        adding = (run for run in call.runs if adds_package(run.words))
        return next((show_command(run) for run in adding if asked.isdisjoint(_split_names(" ".join(run.words)))), "")
    names = list_same_acts(act)
    if act == DELETES:
        inside = any(_is_inside(make_relative(path, cwd)) for path in call.deleted)
        is_done = DELETES in call.acts and inside and not instruction.paths
    else:
        is_done = not names.isdisjoint(call.acts) and _is_at_place(instruction, act, call, cwd)
    doing = (run for run in call.runs if names.intersection(list_acts(run.words)))
    return show_command(next(doing, call.runs[0])) if is_done else ""


def _split_names(text: str) -> "set[str]":
    """The words of which the names in a path or a command are made, in the singular and the plural."""
    names = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {form for name in names if name for form in (name, f"{name}s", name.removesuffix("s"))}


_TO_HEAD = frozenset(("commit", "amend", "merge"))
"""Acts on what is checked out."""
_SWITCHING = frozenset(("switch", "checkout", "worktree"))


def _is_at_place(instruction: Instruction, act: str, call: CallEffects, cwd: str) -> bool:
    """Whether an act is done to one of the branches or remotes that it is ruled out for: a push names them, a commit
    goes to what is checked out, and where a pull request is merged to, the line does not tell."""
    if not instruction.places or (act == "merge" and any(run.program == "gh" for run in call.runs)):
        return True
    if act not in _TO_HEAD:
        return any(part in instruction.places for path in call.touches for part in re.split(r"[:/]", path))
    if any(run.program == "git" and get_word(run.words) in _SWITCHING for run in call.runs):
        return False
    return read_branch(cwd) in instruction.places


def can_be_judged(instruction: Instruction) -> bool:
    """Whether a call can show that it is broken: it names paths, programs, acts, or a command by its words."""
    if instruction.kind not in {BAN, HOW, ONLY} or is_conditional(instruction.clause.lower()):
        return False
    rivals = any(instruction.likes in family for family in _FAMILIES)
    ruled_out = instruction.kind == BAN and (instruction.acts or list_command_names(instruction))
    return bool(instruction.programs or instruction.guards_files or rivals or ruled_out)


def _is_rival(likes: str, run: SimpleCommand) -> bool:
    """Whether a command manages packages by another program than the one that is wanted."""
    family = next((family for family in _FAMILIES if likes in family), frozenset[str]())
    rivals = family - ({likes, "pip"} if likes == "uv" else {likes})  # uv has its own pip
    return run.program in rivals and get_word(run.words) in _MANAGING


# What is written.

_MOCK = (
    r"unittest\.mock|\bMagicMock\b|\bAsyncMock\b|\bMock\(|\bmocker\b|mock\.patch|@patch\b|\bmonkeypatch\.setattr|"
    r"\b(?:jest|vi)\.(?:mock|fn|spyOn|doMock)\b|\bsinon\b|\bgomock\b|\bmockery\b|\btestify/mock|\bMockito\b|@Mock\b|\bmockk\b|"
    r"\b(?:allow|expect)\([^()\n]*\)\.to receive|\binstance_double\(|"
    r"\bmockall\b|#\[automock\]|\bMox\.|\bmock\(|\bnock\(|\bMockServer"
)
_MOCKS = re.compile(r"\bmock\w*|モック|模拟对象|打桩")
_MANIFESTS = {
    "package.json": (
        r"""^\s*"(?!(?:version|name|node|npm|type|main|license|packageManager|target|engines)")[@\w/.-]+"\s*:\s*"""
        r""""(?:[\^~]|\d+\.\d|workspace:|latest|\*)"""
    ),
    "cargo.toml": (
        r"""^(?!version|edition|name|rust-version)[\w-]+\s*=\s*"""
        r"""(?:"[\^~=]?\d|\{[^}]*(?:version|path|git)\s*=)"""
    ),
    "pyproject.toml": r"""^\s*"?[A-Za-z][\w.-]+(?:\[[\w,]+\])?\s*(?:[=<>~!]=|=\s*"[\^~]?\d)""",
    "go.mod": r"""^\s*(?:require\s+)?[\w.-]+\.[\w.-]+/\S+\s+v\d""",
    "gemfile": r"""^\s*gem\s+["']""",
    "mix.exs": r"""\{:\w+,\s*["'](?:~>|>=|==)""",
    "pom.xml": r"<dependency>",
    "build.gradle": r"""^\s*(?:implementation|api|testImplementation|compileOnly|kapt)\b""",
    "build.gradle.kts": r"""^\s*(?:implementation|api|testImplementation|compileOnly|kapt)\b""",
    "composer.json": r"""^\s*"[\w-]+/[\w-]+"\s*:\s*"[\^~\d]""",
    "pubspec.yaml": r"""^\s{2}[a-z_]+:\s*[\^\d]""",
}
_REQUIREMENT = r"^[A-Za-z][\w.-]*(?:\[[\w,]+\])?\s*(?:[=<>~!]=\s*[\d.*]+|$)"


def _find_written(instruction: Instruction, call: CallEffects) -> str:
    """What a write brings in that an instruction rules out."""
    if not call.new:
        return ""
    if "install" in instruction.acts and (text := _find_dependency(call)):
        return text
    if _MOCKS.search(instruction.clause.lower()) and (text := _find_brought_in(_MOCK, call)):
        return text
    if instruction.paths or instruction.edits or len(list_subjects(instruction)) > MOST_WORDS + 1:
        return ""
    patterns = [make_code_pattern(code) for code in instruction.code]
    patterns += [_make_import_pattern(name) for name in instruction.words if name.isascii()]
    return next(filter(None, (_find_brought_in(pattern, call) for pattern in patterns)), "")


def _find_dependency(call: CallEffects) -> str:
    for path in call.paths:
        name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
        pattern = _REQUIREMENT if re.fullmatch(r"requirements[\w.-]*\.(?:txt|in)", name) else _MANIFESTS.get(name, "")
        if pattern and (text := _find_brought_in(f"(?m){pattern}", call)):
            return text
    return ""


def _make_import_pattern(name: str) -> str:
    """A pattern for the import of a module of that name."""
    return (
        rf"""(?mi:^\s*(?:import|from|use)\s+["'<]?{re.escape(name)}\b|\bfrom\s+["']{re.escape(name)}["'/]|"""
        rf"""\brequire\(?\s*["']{re.escape(name)}["'/])"""
    )


def _find_brought_in(pattern: str, call: CallEffects) -> str:
    """The first match in what is written, where there are more of them than in what it takes the place of."""
    matches = [match[0] for match in re.finditer(pattern, call.new)]
    if not matches or len(matches) <= len(re.findall(pattern, call.old)):
        return ""
    return " ".join(matches[0].split())[:60]
