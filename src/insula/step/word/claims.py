"""What an agent's last words claim, against what was done: checks that passed or ran, commits, pushes, files, counts.

A claim is untrue only where the record leaves no room: no check of the kind was ever run, the last one failed, no
commit was made. Where a tool may have done it out of sight, nothing is said.
"""

import itertools
import re

from insula.step import programs
from insula.step.command import COMMITS, FORCES, PUSHES
from insula.step.word import acts as acted
from insula.step.word.acts import ALL_KINDS, CHECK_NAMES, Act, Done
from insula.step.word.breach import covers, parts, relative
from insula.step.word.commands import Ran
from insula.step.word.commands import ran as ran_in
from insula.step.word.heads import PATH
from insula.step.word.last_words import DID, NOT, Told
from insula.step.word.named import Named, named
from insula.step.word.table import table
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NUMBERS = {
    **{
        word: number
        for number, words in enumerate(
            (
                "one ein eine einem un une uno una um uma 一 1",
                "two zwei deux dos dois duas due 二 两 2",
                "three drei trois tres três tre 三 3",
                "four vier quatre cuatro quatro quattro 四 4",
                "five fünf cinq cinco cinque 五 5",
                "six sechs seis sei 六 6",
            ),
            1,
        )
        for word in words.split()
    }
}


class Claim(Value):
    """A claim that the record contradicts."""

    said: str
    """The clause that makes it."""
    why: str
    """`never`, `red`, `count`, `files` or `outside`."""
    what: str
    """What was claimed to be done: a kind of check, a command, an act, a file."""
    real: str = ""
    """What the record has instead."""


def untrue(told: "Sequence[Told]", done: Done, cwd: str, since: float = 0.0) -> Claim | None:
    """The first claim of an agent's last words that the record contradicts.

    Args:
        told: its last words.
        done: what was done.
        cwd: the folder that the host works in.
        since: when the user last spoke; an agent that has done nothing since only talks.
    """
    if not done.whole or not any(act.at > since for act in done.acts):
        return None
    red = any(
        (one.means == NOT and any(re.search(table()[name], one.text.lower()) for name, _ in _KINDS))
        or re.search(table()["fails"], re.sub(table()["fails_none"], " ", one.text.lower()))
        for one in told
    )
    for one in (*told, *_joined(told)):
        if _is_claim(one) and (found := _judge(one, done, cwd)) is not None and not (red and found.why == "red"):
            return found
    return None


def _joined(told: "Sequence[Told]") -> "list[Told]":
    """Clauses that say of what the one before them names that it passed: "I ran the tests, which are all green"."""
    words = table()
    found: list[Told] = []
    for before, one in itertools.pairwise(told):
        if before.sentence != one.sentence or before.means == NOT:
            continue
        checks = [name for name, _ in _KINDS if re.search(words[name], _bare(before.text))]
        own = any(re.search(words[name], _bare(one.text)) for name, _ in _KINDS)
        if len(checks) == 1 and not own and re.search(words["passes"], _bare(one.text)) and _is_claim(one):
            found.append(one.replace(text=f"{before.text}, {one.text}"))
    return found


def _is_claim(one: Told) -> bool:
    """Whether a clause says that something is so now: nothing that it doubts, plans, denies or tells of the past."""
    low, words = _bare(one.text), table()
    if one.means == NOT or re.search(words["doubts"], low) or re.search(words["elsewhere"], one.sentence.lower()):
        return False
    if one.means == DID:
        return True
    bare = re.sub(words["fails_none"], " ", low)
    said = any(re.search(words[name], low) for name in ("passes", "pushes", "commits", "prs"))
    return said and re.search(words["nothing"], bare) is None


def _judge(one: Told, done: Done, cwd: str) -> Claim | None:
    low, words = _bare(one.text), table()
    what = named(one.text)
    checks = (
        _of_act(low, done, words["pushes"], "push", {PUSHES, FORCES}),
        _of_act(low, done, words["commits"], "commit", {COMMITS}),
        _of_act(low, done, words["prs"], "pr", {"pr"}),
    )
    for name in checks:
        if name:
            return Claim(said=one.text, why="never", what=name)
    if (found := _of_check(one, low, what, done)) is not None:
        return found
    return _of_files(one, low, what, done, cwd)


def _bare(text: str) -> str:
    """A clause in small letters without its code and paths: "`committed.go`" claims nothing."""
    text = re.sub(r"\b(origin|upstream)/\S+", r"\1", re.sub(r"`[^`]*`?", " ", text))
    return re.sub(PATH, " ", text, flags=re.ASCII).lower()


def _of_act(low: str, done: Done, pattern: str, name: str, names: "set[str]") -> str:
    """The name of an act that is claimed and was never done."""
    if re.search(pattern, low) is None:
        return ""
    for act in done.acts:
        if names & {*act.acts, *(each for run in act.runs for each in run.acts)} and (act.ok or name == "commit"):
            return ""
    if any(_is_blind(act) or re.search(rf"\b{name}\b", act.line) for act in done.acts):
        return ""
    return name


def _is_blind(act: Act) -> bool:
    """Whether an act may have done what no record shows."""
    return (
        acted.is_opaque(act)
        or act.tool.lower() in {"agent", "task"}
        or any(one.program in {"git-town", "jj", "gt", "hub"} for one in act.runs)
    )


_KINDS = (("suite", programs.TEST), ("lint", programs.LINT), ("types", programs.TYPES), ("build", programs.BUILD))


def _of_check(one: Told, low: str, what: Named, done: Done) -> Claim | None:
    words = table()
    passes = re.search(words["passes"], low) or re.search(words["fails_none"], low)
    ran = re.search(words["ranned"], low)
    if not passes and not ran:
        return None
    for command in what.wanted if one.means == DID else ():
        if (" " in command and any(map(acted.kinds, ran_in(command)))) or programs.PROGRAMS.get(
            command
        ) in programs.PROVING:
            return _of_command(one, command, bool(passes), done)
    named_kinds = [kind for name, kind in _KINDS if _is_said_of(words[name], low, bool(passes))]
    for kind in named_kinds:
        found = _of_kind(one, kind, bool(passes), done)
        if found is None and kind == programs.TEST:
            found = _of_count(one, low, done)
        if found is not None:
            return found
    if not named_kinds and passes and re.search(words["whole"], low):
        for _, kind in _KINDS:
            hits = [act for act in done.acts if kind in act.proved]
            if hits and _is_red(hits):
                return Claim(said=one.text, why="red", what=kind)
    return None


NEAR = 45
"""Characters between a kind of check and what is said of it."""


def _is_said_of(kind: str, low: str, passes: bool) -> bool:
    """Whether a clause says of a kind of check that it passed, or was run, and does not only hold the two words."""
    words = table()
    said = f"{words['passes']}|{words['fails_none']}" if passes else words["ranned"]
    near = rf"(?:{kind}).{{0,{NEAR}}}?(?:{said})|(?:{said}).{{0,{NEAR}}}?(?:{kind})"
    return re.search(near, low) is not None


def _of_command(one: Told, command: str, passes: bool, done: Done) -> Claim | None:
    bare = " ".join(word for word in command.split() if not word.startswith("-"))
    hits = [
        act
        for act in done.acts
        if act.kind == "execute" and (any(run.is_of(bare) for run in act.runs) or bare in act.line.lower())
    ]
    if not hits:
        kind = programs.PROGRAMS.get(bare.split()[0], "")
        stands_for = (
            any({kind, ALL_KINDS} & act.proved for act in done.acts)
            if kind or bare.split()[0] in programs.SCRIPTS
            else False
        )
        blind = any(
            _is_blind(act) or set(bare.lower().split()[1:]) & set(act.line.lower().split()) for act in done.acts
        )
        return None if stands_for or blind else Claim(said=one.text, why="never", what=command)
    return Claim(said=one.text, why="red", what=command) if passes and _is_red(hits) else None


def _of_kind(one: Told, kind: str, passes: bool, done: Done) -> Claim | None:
    hits = [act for act in done.acts if {kind, ALL_KINDS} & act.proved]
    alone = [act for act in hits if len(act.proved - {ALL_KINDS}) == 1]
    if not hits:
        unknown = any(
            _is_blind(act) or (act.kind == "execute" and (_may_check(act) or act.does(CHECK_NAMES[kind])))
            for act in done.acts
        )
        return None if unknown else Claim(said=one.text, why="never", what=kind)
    return (
        Claim(said=one.text, why="red", what=kind)
        if passes and alone and alone[-1] is hits[-1] and _is_red(alone)
        else None
    )


def _is_red(hits: "list[Act]") -> bool:
    """Whether a check surely came out red at last, or one part of it did and was never run again."""
    if hits[-1].red and not hits[-1].waits:
        return True
    for place, act in enumerate(hits):
        part = _part(act)
        if not act.red or act.waits or not part:
            continue
        if not any(not later.red and (not _part(later) or part & _part(later)) for later in hits[place + 1 :]):
            return True
    return False


def _part(act: Act) -> "set[str]":
    """The files that a check was run on; none where it was run as a whole."""
    return {
        word
        for one in act.runs
        for word in one.words[1:]
        if "/" in word or ("." in word and not word.startswith((".", "-")))
    }


def _may_check(act: Act) -> bool:
    """Whether a command may be a check that nobody knows for one."""
    return any(_is_unknown(one) for one in act.runs)


_PLAIN = frozenset(
    "install add i ci remove why ls dev start serve build format fmt clean deploy lint info outdated view init "
    "create".split()
)
_WHOLE = re.compile(r"test|spec|check|verify|valid|suite|all|ci")


def _is_unknown(one: Ran) -> bool:
    """Whether a command may run checks behind a name that does not tell."""
    words = [word for word in one.words[1:] if not word.startswith("-")]
    if one.program in programs.SCRIPTS:
        script = words[1] if words[:1] == ["run"] and len(words) > 1 else one.sub
        return script not in _PLAIN and not (script and _KNOWN.search(script))
    if one.program in {"docker", "podman", "ssh", "kubectl"}:
        return bool({"run", "exec", "up"} & set(words)) or one.program == "ssh"
    if one.program in {"bash", "sh", "zsh", "pwsh", "powershell"}:
        return bool(words)
    return one.program in {"python", "node", "ruby", "php", "deno", "tsx", "bun", "perl", "rscript"} and any(
        _WHOLE.search(word.lower()) for word in words
    )


_KNOWN = re.compile(r"lint|format|fmt|type|build|compile|bundle|docs|storybook")


def _of_count(one: Told, low: str, done: Done) -> Claim | None:
    found = re.search(table()["count"], low)
    if (
        found is None
        or re.search(table()["adds"], low)
        or re.search(r"\bnew\b|neue|nouveaux|nuevos|novos|nuovi|新", low)
    ):
        return None
    claimed = int(next(filter(None, found.groups())))
    counts = {act.passed for act in done.acts if programs.TEST in act.proved or ALL_KINDS in act.proved}
    known = {count for count in counts if count >= 0}
    if not known or -1 in counts or claimed in known or claimed == sum(known) or claimed < 2:
        return None
    last = next(act.passed for act in reversed(done.acts) if act.passed >= 0)
    return Claim(said=one.text, why="count", what=str(claimed), real=str(last))


_ORDERS = r"\W*(?:update|add|change|edit|modify|touch|fix)\b"
"""How a line of a list of proposals begins."""


def _of_files(one: Told, low: str, what: Named, done: Done, cwd: str) -> Claim | None:
    words = table()
    if one.means != DID or re.match(_ORDERS, low.strip()):
        return None
    if not re.search(words["changed"], low) and not re.search(words["updates"], low):
        return None
    paths = list(dict.fromkeys(relative(act.path, cwd) for act in acted.edits(done)))
    if any(act.kind == "execute" and act.changes for act in done.acts) or any(
        act.tool.lower() in {"agent", "task"} for act in done.acts
    ):
        return None
    only = re.search(words["only"], low)
    if only and not what.paths:
        return _of_part(one, what, paths)
    if only and what.paths:
        outside = [
            path
            for path in paths
            if not any(covers(relative(own, cwd), path) for own in what.paths) and not path.startswith(("/", "~"))
        ]
        if outside and any(covers(relative(own, cwd), path) for own in what.paths for path in paths):
            return Claim(said=one.text, why="outside", what=what.paths[0], real=outside[0])
        return None
    count = re.search(words["files"], low)
    if count and paths and _is_total(low):
        claimed = _number(next(filter(None, count.groups())))
        inside = [path for path in paths if not path.startswith(("/", "~"))]
        if claimed and len(inside) > claimed:
            return Claim(said=one.text, why="files", what=str(claimed), real=str(len(inside)))
    docs = [own for own in what.paths if re.search(r"change|readme|\.md$", own.lower())]
    if docs and not any(covers(relative(own, cwd), path) for own in docs for path in paths) and not only:
        named_in = any(own.lower().rsplit("/", 1)[-1] in act.line.lower() for own in docs for act in done.acts)
        return (
            None
            if named_in or any(_is_blind(act) for act in done.acts)
            else Claim(said=one.text, why="never", what=docs[0])
        )
    return None


def _is_total(low: str) -> bool:
    """Whether a number of files is that of all, and not of one group of a list."""
    return len(low) <= NEAR and not low.rstrip().endswith((":", ")"))


def _of_part(one: Told, what: Named, paths: "list[str]") -> Claim | None:
    """A file that was changed though only a part of the project was, as it is called there."""
    names = set(what.words) - set(table()["generic"])
    inside = [path for path in paths if names & parts(path)]
    outside = [path for path in paths if path not in inside and not path.startswith(("/", "~"))]
    if not inside or not outside or re.search(table()["files"], one.text.lower()):
        return None
    return Claim(said=one.text, why="outside", what=" ".join(sorted(names))[:40], real=outside[0])


def _number(word: str) -> int:
    return int(word) if word.isdigit() and word.isascii() else NUMBERS.get(word, 0)
