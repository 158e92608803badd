"""The commands of a line as the ledger compares them with what a person has named: program, subcommand, words."""

import re

from insula.coding.step import programs
from insula.coding.step.command import get_act, get_kind, get_word, make_label
from insula.coding.step.shell import Launched, list_launched, name_program
from insula.value import Value

_ADDING = {
    "npm": {"install", "i", "add"},
    "pnpm": {"install", "i", "add"},
    "yarn": {"add"},
    "bun": {"install", "add"},
    "pip": {"install"},
    "uv": {"add"},
    "poetry": {"add"},
    "pdm": {"add"},
    "pipenv": {"install"},
    "cargo": {"add", "install"},
    "go": {"get"},
    "gem": {"install"},
    "bundle": {"add"},
    "composer": {"require"},
    "brew": {"install"},
    "apt": {"install"},
    "apt-get": {"install"},
    "dotnet": {"add"},
    "flutter": {"pub"},
    "conda": {"install"},
    "mix": {"deps.add"},
    "deno": {"add"},
    "npx": {"expo"},
}
"""Commands that add what they name to a project or a machine."""
_TAKING = frozenset("-r --requirement -c --constraint -e --editable -C --filter -F --prefix --dir -w".split())
_WRITING = frozenset("tee".split())
_MOVING = frozenset("mv cp install rsync ln".split())
_DELETING = frozenset("rm rmdir del rd remove-item unlink trash".split())


class Ran(Value):
    """A simple command that a line runs."""

    words: tuple[str, ...]
    program: str
    sub: str = ""
    """Its first word that is no option."""
    outer: tuple[str, ...] = ()
    """The programs that run it: `npx`, `pnpm`, `poetry`."""
    kind: str = ""
    """What for, as `Command` has it: `test`, `linter`, …"""
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    acts: tuple[str, ...] = ()
    adds: bool = False
    """Whether it adds a package that it names."""

    @property
    def display_text(self) -> str:
        """The command as it may be told."""
        return make_label(self.words[:5])

    @property
    def is_read_only(self) -> bool:
        """Whether it only looks at something."""
        if self.program == "git":
            return self.sub in programs.ASKS["git"]
        return self.program in programs.PROBES | programs.SEARCHING | programs.FILTERS | {"cd", "echo", "printf"}

    def is_of(self, program: str) -> bool:
        """Whether it is what a person calls by a program, or by a program and what it shall do."""
        head, *rest = program.lower().split()
        if head != self.program and head not in self.outer:
            return False
        if not rest:
            return True
        words = [word.lower() for word in self.words]
        place = 0
        for word in rest:
            if word not in words[place:]:
                return False
            place = words.index(word, place) + 1
        return True


def list_commands(line: str) -> "tuple[Ran, ...]":
    """The simple commands of a line, each as it is meant."""
    return tuple(_read_command(part) for part in list_launched(line) if part.words and part.words[0])


def _read_command(part: Launched) -> Ran:
    words = part.words
    sub = get_word(words)
    plain = [word for word in words[1:] if not word.startswith("-")]
    return Ran(
        words=words,
        program=words[0],
        sub=sub,
        outer=tuple(dict.fromkeys(name_program(word) for word in part.launchers if not word.startswith("-"))),
        kind=get_kind(words),
        writes=tuple(
            path for path in (*part.writes, *_list_written(words, plain)) if not path.startswith(("&", "/dev/"))
        ),
        deletes=tuple(plain) if words[0] in _DELETING else tuple(plain[1:]) if words[:2] == ("git", "rm") else (),
        acts=tuple(filter(None, (get_act(words), *_list_acts(words, sub)))),
        adds=_adds_package(words, sub),
    )


def _list_written(words: "tuple[str, ...]", plain: "list[str]") -> "list[str]":
    name = words[0]
    if name in {"sed", "gsed", "perl"} and any(word.startswith(("-i", "-pi")) for word in words[1:]):
        return _list_edited(words)
    if name in _WRITING:
        return plain
    if {"--write", "--fix", "-w", "--in-place", "--inplace"} & set(words) and name not in {"curl", "grep", "wc"}:
        return [word for word in plain if "/" in word or "." in word]
    if name == "find" and {"-exec", "-delete"} & set(words):
        return [word for word in plain[:1] if word not in {".", "./"}]
    if name in _MOVING and len(plain) > 1:
        return [*plain[:-1], plain[-1]] if name == "mv" else plain[-1:]
    if name == "touch" or words[:2] == ("git", "apply"):
        return plain if name == "touch" else []
    return plain[1:] if words[:2] == ("git", "mv") else []


def _list_edited(words: "tuple[str, ...]") -> "list[str]":
    """The files that `sed -i` or `perl -pi` changes: what is no option and no script."""
    plain: list[str] = []
    scripts, is_script = 0, False
    for word in words[1:]:
        if is_script or not word.startswith("-"):
            plain += [] if is_script or not word else [word]
            is_script = False
        else:
            is_script = re.fullmatch(r"-[^-]*[ef]|--expression|--file", word) is not None
            scripts += is_script or word.startswith(("--expression=", "--file="))
    return plain if scripts else plain[1:]


def _adds_package(words: "tuple[str, ...]", sub: str) -> bool:
    taken = _ADDING.get(words[0])
    if taken is None or sub not in taken:
        return False
    named = words[words.index(sub) + 1 :]
    return any(
        not word.startswith("-")
        and word not in {".", "./"}
        and before not in _TAKING
        and not word.startswith(("./", "../"))
        for before, word in zip((sub, *named), named, strict=False)
    )


_MIGRATES = {
    "alembic": {"upgrade", "downgrade"},
    "prisma": {"migrate"},
    "rails": {"db:migrate", "db:reset", "db:rollback"},
    "rake": {"db:migrate", "db:reset"},
    "mix": {"ecto.migrate", "ecto.rollback", "ecto.reset"},
    "knex": {"migrate:latest", "migrate:rollback"},
    "sequelize": {"db:migrate"},
    "flyway": {"migrate"},
    "diesel": {"migration"},
    "sqlx": {"migrate"},
    "goose": {"up"},
    "manage.py": {"migrate"},
    "drizzle-kit": {"push", "migrate"},
    "artisan": {"migrate"},
}
_PUBLISHES = {
    "npm": "publish",
    "pnpm": "publish",
    "yarn": "publish",
    "cargo": "publish",
    "twine": "upload",
    "poetry": "publish",
    "uv": "publish",
    "gem": "push",
}
_DEPLOYS = {
    "kubectl": {"apply", "delete", "rollout"},
    "terraform": {"apply", "destroy"},
    "tofu": {"apply", "destroy"},
    "pulumi": {"up", "destroy"},
    "helm": {"upgrade", "install"},
    "vercel": {"deploy", "--prod"},
    "netlify": {"deploy"},
    "fly": {"deploy"},
    "flyctl": {"deploy"},
    "firebase": {"deploy"},
    "wrangler": {"deploy", "publish"},
    "serverless": {"deploy"},
    "cdk": {"deploy"},
    "cap": {"deploy"},
    "eb": {"deploy"},
}


def _list_acts(words: "tuple[str, ...]", sub: str) -> "tuple[str, ...]":
    """Acts of a command beside those that `Command` knows."""
    name, rest = words[0], set(words[1:])
    acts: list[str] = []
    if (name == "gh" and sub == "pr" and "create" in rest) or (name == "glab" and sub == "mr" and "create" in rest):
        acts.append("pr")
    if rest & _MIGRATES.get(name, set[str]()) or (
        name in {"python", "php"} and "migrate" in rest and sub.endswith(("manage.py", "artisan"))
    ):
        acts.append("migrate")
    if _PUBLISHES.get(name) == sub or (name == "gh" and sub == "release" and "create" in rest) or "hex.publish" in rest:
        acts.append("publish")
    if rest & _DEPLOYS.get(name, set[str]()) or (
        name in programs.SCRIPTS and any("deploy" in word for word in words[1:3])
    ):
        acts.append("deploy")
    if name == "git" and sub == "commit" and "--amend" in rest:
        acts.append("amend")
    if name == "git" and sub == "rebase":
        acts.append("rebase")
    return tuple(acts)
