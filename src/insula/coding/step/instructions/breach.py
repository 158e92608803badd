"""Whether a call breaks an instruction of the user's: by the paths that it writes, what it runs, what it writes.

Only what is certain is a breach: where an instruction names nothing that the call shows, or a request of theirs names
the same file, there is none.
"""

import os
import re

from insula.coding.step.command import (
    BYPASSES,
    COMMITS,
    DELETES,
    FORCES,
    MERGES,
    PUSHES,
    RESETS,
    STASHES,
    parse_command,
)
from insula.coding.step.fingerprint import EDITS, EXECUTES, NEW, OLD, PATHS, get_patch
from insula.coding.step.instructions.clauses import load_table
from insula.coding.step.instructions.commands import Ran, list_commands
from insula.coding.step.instructions.instruction import ASKED, BAN, HOW, LIFT, MOMENT, ONLY, Instruction, screen_words
from insula.coding.step.instructions.mentions import MOST_WORDS, is_literal, list_command_names, list_telling
from insula.coding.step.project import is_code, read_branch
from insula.coding.step.stop_words import DENIALS
from insula.foreign import real_path
from insula.value import Value, is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Record = dict[str, Any]

READ = 60_000
"""Characters of what is written that are looked at."""
_SCRATCH = ("/tmp/", "/var/folders/", "/private/tmp/", "/dev/")  # noqa: S108
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
    runs: tuple[Ran, ...] = ()
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
        return _read_command(_get_command(given))
    if name not in EDITS or not (is_object(given) or isinstance(given, str)):
        return CallEffects()
    if patch := get_patch(given):
        return _read_patch(patch)
    if not is_object(given) or given.get("command") == "view":
        return CallEffects()
    path = next((str(given[key]) for key in PATHS if isinstance(given.get(key), str)), "")
    edits = [edit for edit in given["edits"] if is_object(edit)] if is_list(given.get("edits")) else [given]
    return CallEffects(
        paths=(path,) if path else (),
        new="\n".join(str(edit[key]) for edit in edits for key in NEW if isinstance(edit.get(key), str))[:READ],
        old="\n".join(str(edit[key]) for edit in edits for key in OLD if isinstance(edit.get(key), str))[:READ],
    )


def _get_command(given: object) -> str:
    if isinstance(given, str):
        return given
    value: Any = given.get("command", given.get("cmd", "")) if is_object(given) else ""
    if is_list(value):
        return " ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _read_command(line: str) -> CallEffects:
    if not line:
        return CallEffects()
    if "*** Begin Patch" in line:
        return _read_patch(line)
    runs = list_commands(line)
    known = parse_command(line)
    return CallEffects(
        paths=tuple(path for command in runs for path in command.writes),
        deleted=tuple(path for command in runs for path in command.deletes),
        runs=runs,
        acts=tuple(dict.fromkeys((*known.acts, *(act for command in runs for act in command.acts)))),
        touches=known.touches,
    )


def _read_patch(patch: str) -> CallEffects:
    lines = patch[:READ].splitlines()
    files: dict[str, list[str]] = {"Update": [], "Add": [], "Delete": []}
    for line in lines:
        mark = re.match(r"\*\*\* (Update|Add|Delete) File: (.+)", line)
        if mark:
            files[mark[1]].append(mark[2].strip())
    return CallEffects(
        paths=(*files["Update"], *files["Add"]),
        deleted=tuple(files["Delete"]),
        new="\n".join(line[1:] for line in lines if line[:1] == "+" and line[:3] != "+++"),
        old="\n".join(line[1:] for line in lines if line[:1] == "-" and line[:3] != "---"),
    )


def judge_call(instructions: "Sequence[Instruction]", call: CallEffects, cwd: str) -> Breach | None:
    """The first of the instructions that a call, done or about to be, breaks for certain, the newest first."""
    if not (call.paths or call.deleted or call.runs):
        return None
    requests = [instruction for instruction in instructions if instruction.kind in {ASKED, LIFT}]
    for instruction in reversed(instructions):
        if (
            instruction.kind in {BAN, HOW, MOMENT}
            and (breach := _find_broken(instruction, call, cwd, requests)) is not None
        ):
            return breach
    limits = [instruction for instruction in instructions if instruction.kind == ONLY]
    return _find_outside(limits, call, cwd, requests) if limits else None


def find_breach(instructions: "Sequence[Instruction]", tool: str, given: object, cwd: str) -> tuple[str, ...]:
    """What a call breaks, as an action keeps it: id of the instruction, its words, how, and what; empty for nothing."""
    call = read_call(tool, given)
    breach = judge_call(instructions, call, cwd)
    if breach is None:
        return ()
    said, target = screen_words(breach.instruction.said), _name_breach(breach, call)
    return (breach.instruction.id, said, breach.how, target) if said and target else ()


def _name_breach(breach: Breach, call: CallEffects) -> str:
    """What breaks an instruction, in plain characters: of what is written its names, else the file it is written to."""
    from insula.coding.step.command import make_label

    if breach.how == "runs":
        return breach.target
    if breach.how == "writes":
        return make_label(tuple(re.split(r"[^\w./:@+=~-]+", breach.target))) or make_label(call.paths[:1])
    return make_label((breach.target,))


def _find_broken(instruction: Instruction, call: CallEffects, cwd: str, requests: "list[Instruction]") -> Breach | None:
    run = _find_banned_run(instruction, call, cwd, requests)
    if run:
        return Breach(instruction=instruction, target=run, how="runs")
    if instruction.kind == HOW and not instruction.edits:
        return None
    for path in call.paths:
        inside = make_relative(path, cwd)
        if _forbids_edit(instruction, inside, cwd) and not _is_wanted(instruction, inside, requests):
            return Breach(instruction=instruction, target=inside)
    for path in call.deleted:
        inside = make_relative(path, cwd)
        if (
            (instruction.edits or instruction.deletes)
            and _names_file(instruction, inside, cwd)
            and not _is_wanted(instruction, inside, requests)
        ):
            return Breach(instruction=instruction, target=inside, how="deletes")
    if instruction.kind == BAN and instruction.deletes and (broken := _find_deletion(instruction, call)):
        return Breach(instruction=instruction, target=broken, how="runs")
    if instruction.kind == BAN and call.new and (broken := _find_written(instruction, call)):
        return Breach(instruction=instruction, target=broken, how="writes")
    return None


_DELETING = frozenset("rm delete destroy drop prune remove del rmdir purge truncate unlink -D --delete".split())


def _find_deletion(instruction: Instruction, call: CallEffects) -> str:
    """The command that deletes what an instruction rules out to be deleted: tests, or anything at all."""
    for run in call.runs:
        if not _DELETING & set(run.words) or (run.program in {"git"} and run.sub in {"add", "commit", "remote"}):
            continue
        if any(path.startswith(_SCRATCH) for path in run.deletes):
            continue
        low = instruction.clause.lower()
        tests = re.search(load_table()["tests"], low) and any(map(is_test, run.deletes))
        if tests or (re.search(load_table()["anything"], low) and run.deletes and not instruction.paths):
            return run.display_text
    return ""


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
    if instruction.kind == MOMENT:
        low = instruction.clause.lower()
        stops = not DENIALS.isdisjoint(re.findall(r"[\w'’-]+", low)) or re.search("[不别無ないな]", low)
        of_code = re.search(load_table()["coding"], low) or (instruction.edits and re.search(load_table()["code"], low))
        return bool(stops and of_code and not instruction.paths and _is_inside(path) and is_code(path))
    return (instruction.edits or _is_not_there(instruction, cwd)) and _names_file(instruction, path, cwd)


def _is_not_there(instruction: Instruction, cwd: str) -> bool:
    """Whether a ban names a path that is not there yet, so that to make it is all that it can rule out."""
    names = instruction.kind == BAN and not (instruction.acts or instruction.programs) and instruction.paths
    return bool(names) and os.path.isdir(cwd) and not any(os.path.lexists(f"{cwd}/{path}") for path in names or ())


def _names_file(instruction: Instruction, path: str, cwd: str) -> bool:
    """Whether an instruction names a file by a path."""
    return any(covers_path(make_relative(own, cwd), path) for own in instruction.paths)


def covers_path(own: str, path: str) -> bool:
    """Whether a path that somebody wrote is that of a file, or of a folder that it is in."""
    own, path = own.lower().removeprefix("./").strip("/"), path.lower()
    if "*" in own:
        import fnmatch

        return fnmatch.fnmatch(path, own) or fnmatch.fnmatch(path.rsplit("/", 1)[-1], own.rsplit("/", 1)[-1])
    stem = f"/{path}".rsplit(".", 1)[0]
    return (
        f"/{own}/" in f"/{path}/"
        or (("/" in own or own.isupper()) and stem.endswith(f"/{own}"))
        or stem.rsplit("/", 1)[-1] == own
    )


def is_test(path: str) -> bool:
    """Whether a file is one of tests, by its path."""
    return (
        re.search(
            r"(?:^|[/_.-])(?:tests?|specs?|stories|__tests__|e2e|cypress|playwright)(?:$|[/_.-])|test\.\w+$|tests?\.\w+$|spec\.\w+$",
            path.lower(),
        )
        is not None
    )


def split_words(path: str) -> "set[str]":
    """The words of which the names in a path are made, in the singular and plural."""
    words: set[str] = set()
    for name in re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", path).lower()):
        if len(name) > 2:
            words |= {name, f"{name}s", name.removesuffix("s")}
    return words | set(
        re.findall(r"[a-z]\w{2,}(?=\.)", path.lower())
    )  # `ClaimService.java` is what "ClaimService" names


def _is_inside(path: str) -> bool:
    """Whether a path is one of the project, as far as it tells."""
    if path.startswith(("/", "..", "~")) or path[1:3] == ":/":
        return False
    return not f"/{path}".startswith(_SCRATCH) and not any(plan in f"/{path}" for plan in _PLANS)


def _is_wanted(instruction: Instruction, path: str, requests: "list[Instruction]") -> bool:
    """Whether the user has asked for this very file since."""
    return any(
        (request.at > instruction.at or (request.kind == LIFT and request.at == instruction.at))
        and any(covers_path(own, path) for own in request.paths)
        for request in requests
    )


def _find_outside(
    limits: "list[Instruction]", call: CallEffects, cwd: str, requests: "list[Instruction]"
) -> Breach | None:
    """The write that lies outside what alone may be changed."""
    inside = [make_relative(given, cwd) for given in (*call.paths, *call.deleted)]
    outside = [
        path
        for path in inside
        if _is_inside(path) and not any(covers_path(own, path) for limit in limits for own in limit.paths)
    ]
    since = [request for request in requests if request.at >= limits[-1].at]
    if not outside or any(_asks_for(request, path, limits[-1]) for request in since for path in outside):
        return None
    return Breach(instruction=limits[-1], target=outside[0])


def _asks_for(request: Instruction, path: str, limit: Instruction) -> bool:
    """Whether a request of the user's is for a file: by its path, its kind or its name.

    What was asked for in the same message as where alone to work is asked for there.
    """
    low, name = request.said.lower(), path.lower()
    if any(covers_path(own, path) for own in request.paths):
        return True
    if not (limit.paths and request.at == limit.at) and set(request.words) & split_words(path):
        return True
    if re.search(r"test|spec", name) and re.search(load_table()["tests"], low):
        return True
    if re.search(r"change|readme|docs?/|\.md$", name):
        return any(re.search(load_table()[kind], low) for kind in ("changelog", "readme", "docs"))
    return False


# Programs and acts.

_ACTS = {
    "commit": {COMMITS},
    "push": {PUSHES, FORCES},
    "force-push": {FORCES},
    "stash": {STASHES},
    "merge": {MERGES, "merge"},
    "reset": {RESETS},
    "bypass": {BYPASSES},
}
"""What of a command does an act; of the others the act has its own name."""


def _find_banned_run(instruction: Instruction, call: CallEffects, cwd: str, requests: "list[Instruction]") -> str:
    if _is_conditional(instruction):
        return ""
    for run in call.runs:
        if any(run.is_of(program) for program in instruction.programs):
            return run.display_text
        if (
            instruction.kind == HOW
            and instruction.likes
            and not instruction.programs
            and _is_rival(instruction.likes, run)
        ):
            return run.display_text
    if instruction.kind == BAN and (run_text := _find_named(instruction, call)):
        return run_text
    for act in instruction.acts if instruction.kind == BAN else ():
        if act == "delete":
            if DELETES in call.acts and any(_is_inside(path) for path in call.deleted) and not instruction.paths:
                return _show_act(call, DELETES)
        elif act == "install":
            named_since = {name for run in requests if run.at > instruction.at for name in run.words}
            added = next(
                (run for run in call.runs if run.adds and not named_since & split_words(" ".join(run.words))),
                None,
            )
            if added is not None:
                return added.display_text
        elif _ACTS.get(act, {act}) & set(call.acts) and _is_at_place(instruction, act, call, cwd):
            return _show_act(call, act)
    return ""


_TO_HEAD = frozenset(("commit", "amend", "merge"))
"""Acts on what is checked out."""
_SWITCHING = frozenset(("switch", "checkout", "worktree"))


def _is_at_place(instruction: Instruction, act: str, call: CallEffects, cwd: str) -> bool:
    """Whether an act is done to one of the branches or remotes that it is ruled out for: a push names them, a commit
    goes to what is checked out, and where a pull request is merged to, the line does not tell."""
    if not instruction.places or (act == "merge" and any(run.program == "gh" for run in call.runs)):
        return True
    if act not in _TO_HEAD:
        return bool(set(instruction.places) & _list_targets(call))
    if any(run.program == "git" and run.sub in _SWITCHING for run in call.runs):
        return False
    return read_branch(cwd) in instruction.places


def can_be_judged(instruction: Instruction) -> bool:
    """Whether a call can show that it is broken: it names paths, programs, acts, or a command by its words."""
    if instruction.kind not in {BAN, HOW, ONLY} or _is_conditional(instruction):
        return False
    files = instruction.paths and (instruction.edits or instruction.deletes)
    rivals = instruction.likes and any(instruction.likes in family for family in _FAMILIES)
    return bool(
        instruction.programs
        or files
        or rivals
        or (instruction.kind == BAN and (instruction.acts or list_command_names(instruction)))
    )


def _find_named(instruction: Instruction, call: CallEffects) -> str:
    """The command that has all the telling words of a ban in it: "don't run the e2e tests" and `npm run e2e`."""
    telling = list_command_names(instruction)
    if not telling:
        return ""
    return next(
        (run.display_text for run in call.runs if not run.is_read_only and telling <= split_words(" ".join(run.words))),
        "",
    )


def _is_conditional(instruction: Instruction) -> bool:
    low = instruction.clause.lower()
    return bool(re.search(load_table()["conditions"], low)) and not re.search(load_table()["asking"], low)


def _list_targets(call: CallEffects) -> "set[str]":
    return {part for path in call.touches for part in re.split(r"[:/]", path)}


def _is_rival(likes: str, run: Ran) -> bool:
    family = next((family for family in _FAMILIES if likes in family), None)
    return (
        family is not None
        and run.program in family - {likes}
        and run.sub in _MANAGING
        and not (likes == "uv" and run.program == "pip")
    )


def _show_act(call: CallEffects, act: str) -> str:
    names = _ACTS.get(act, {act})
    return next(
        (run.display_text for run in call.runs if set(run.acts) & names),
        call.runs[0].display_text if call.runs else act,
    )


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
    if "install" in instruction.acts and (text := _find_dependency(call)):
        return text
    if _MOCKS.search(instruction.clause.lower()) and (text := _find_brought_in(_MOCK, call)):
        return text
    if instruction.paths or instruction.edits or not _is_short(instruction):
        return ""
    code_file = any(is_code(path) for path in call.paths)
    low = instruction.clause.lower()
    if code_file and re.search(load_table()["comments"], low) and (text := _find_brought_in(_COMMENT, call)):
        return text
    if re.search(load_table()["emojis"], low) and (
        text := _find_brought_in("[\U0001f300-\U0001faff\u2600-\u27bf]", call)
    ):
        return text
    for code in instruction.code:
        if text := _find_brought_in(_make_code_pattern(code), call):
            return text
    for name in instruction.words:
        if name.isascii() and (text := _find_brought_in(_make_import_pattern(name), call)):
            return text
    return ""


_COMMENT = (
    r"(?m)^[ \t]*(?://(?!/?\s*(?:eslint|@ts|nolint|go:))|#(?![!\[]|include|define|if|endif|pragma)|/\*|<!--)[^\n]*"
)


def _is_short(instruction: Instruction) -> bool:
    return len(list_telling(instruction)) <= MOST_WORDS + 1


def _find_dependency(call: CallEffects) -> str:
    for path in call.paths:
        name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
        pattern = _REQUIREMENT if re.fullmatch(r"requirements[\w.-]*\.(?:txt|in)", name) else _MANIFESTS.get(name, "")
        if pattern and (text := _find_brought_in(f"(?m){pattern}", call)):
            return text
    return ""


def _make_code_pattern(code: str) -> str:
    """A pattern for a piece of code that a person has named."""
    if is_literal(code):
        bare = code.removesuffix("()")
        edge = r"(?<![\w.])" if bare[0].isalnum() else ""
        return edge + re.escape(bare) + (r"\s*\(" if code.endswith("()") else r"(?!\w)" if bare[-1].isalnum() else "")
    return rf"(?:(?<=: )|(?<=<)|(?<=\bas )|(?<=\.)){re.escape(code)}\b|(?<![\w.]){re.escape(code)}\("


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
