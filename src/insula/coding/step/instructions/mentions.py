"""What a clause names: paths, programs, acts, code, words; told from the text alone."""

import re

from insula.coding.step import programs
from insula.coding.step.instructions.clauses import list_telling, load_table, lower_text, says
from insula.coding.step.instructions.heads import COMMON, KNOWN, PATH, PLAIN, SCRIPT, SCRIPT_CALL, is_form_word
from insula.coding.step.instructions.instruction import Instruction
from insula.coding.step.stop_words import DENIALS, GENERIC, LIGHT
from insula.value import Value

MOST = 8
_SUBCOMMANDS = frozenset(
    "apply destroy migrate reset deploy publish up down install add remove run build test prune push delete upgrade "
    "update release exec start stop restart drop rollback downgrade seed sync import plan".split()
)
"""Words that say what of a program is meant, where they follow its name."""
_ADVERBS = frozenset(("just", "task", "invoke"))
"""Programs whose names stand in any sentence before a verb: they are named in back quotes."""
_NO_PATH = re.compile(
    r"(?:and/or|he/she|him/her|w/o?|n/a|i/o|ci/cd|tcp/ip|e/o|und/oder|y/o|et/ou|/[\w-]+|[\d.]+/[\d.]+|\d[\d.]*|[a-z]\.[a-z]\.?)",
    re.IGNORECASE,
)
_FOLDER = (
    r"(?<![\w/.])([a-z][\w.-]*)[ -](?:folder|director(?:y|ies)|ordner|verzeichnis)\b"
    r"|\b(?:dossier|r[ée]pertoire|carpeta|directorio|pasta|diret[óo]rio|cartella|directory|ordner|verzeichnis)\s+"
    r"(?:(?:de|del|do|des|di)\s+)?([a-z][\w.-]*)(?![\w/.])"
    r"|(?<![\w/.])([a-zA-Z][\w.-]*)\s*(?:目录|文件夹|フォルダー?|ディレクトリ)"
)
"""A folder by its name beside the word for one: "the uploads folder", "la carpeta uploads", "ios 目录"."""
_LITERAL = re.compile(r"[@#]?[\w.-]*[@#.(){}<>\[\]!:_-][\w.(){}<>\[\]!:-]*|\w+ \w+")


class Named(Value):
    """What a clause names."""

    paths: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    """Programs and commands that it names, and does not set aside."""
    unwanted: tuple[str, ...] = ()
    """Programs that it sets against others: `pnpm, not npm`."""
    acts: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    """What stands in back quotes, and is neither path nor program."""
    words: tuple[str, ...] = ()
    """Its other telling words, in small letters."""


def find_named(text: str) -> Named:
    """What a clause names."""
    paths: list[str] = []
    code: list[str] = []
    commands: list[str] = []
    bare = re.sub(r"`([^`\n]*)`?", lambda found: _sort_quoted(found[1].strip(), paths, code, commands), text)
    bare = re.sub(SCRIPT_CALL, lambda found: _keep_call(found[0], commands), bare, flags=re.ASCII)
    paths += [name for found in re.finditer(_FOLDER, bare, flags=re.IGNORECASE) if (name := _name_folder(found))]
    paths += [found[0] for found in re.finditer(PATH, bare, flags=re.ASCII) if not _NO_PATH.fullmatch(found[0])]
    bare = re.sub(PATH, " ", bare, flags=re.ASCII)
    wanted, unwanted = _find_programs(bare)
    low = lower_text(bare)
    acts = [act for act, pattern in load_table()["acts"].items() if re.search(pattern, low)]
    if "force-push" in acts:
        acts.remove("push")
    return Named(
        paths=tuple(dict.fromkeys(map(_tidy_path, paths)))[:MOST],
        wanted=tuple(dict.fromkeys((*commands, *wanted)))[:MOST],
        unwanted=tuple(dict.fromkeys(unwanted))[:MOST],
        acts=tuple(acts)[:MOST],
        code=tuple(dict.fromkeys(code))[:MOST],
        words=tuple(dict.fromkeys(_list_words(low)))[:24],
    )


def _keep_call(call: str, commands: "list[str]") -> str:
    commands.append(call)
    return " "


def _name_folder(match: "re.Match[str]") -> str:
    """The name of a folder; nothing where the word beside it says which and is no name."""
    name = next(filter(None, match.groups()))
    return "" if name.lower() in LIGHT or name.lower() in GENERIC or is_form_word(name) else name


def _sort_quoted(inner: str, paths: "list[str]", code: "list[str]", commands: "list[str]") -> str:
    first = inner.split(" ", 1)[0].lower()
    if first in KNOWN or (first.startswith("./") and " " in inner):
        if " " in inner or first in COMMON:
            commands.append(inner)
            return " "
        return f" {first} "
    if re.fullmatch(PATH, inner, flags=re.ASCII):
        paths.append(inner)
    elif inner:
        code.append(inner)
    return " "


def _tidy_path(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./").rstrip("*").rstrip("/.,") or path


def _find_programs(text: str) -> "tuple[list[str], list[str]]":
    """The programs that a text names, with the word that says what of them; and those that it sets aside."""
    wanted: list[str] = []
    unwanted: list[str] = []
    low = text.lower()
    contrast = load_table()["negations"]
    for match in re.finditer(r"(?<![\w.-])[a-z][\w+-]*(?:\.py)?(?![\w-])", low, flags=re.ASCII):
        name = match[0]
        behind = re.match(r"((?: [\w:./-]+){1,3})", low[match.end() :], flags=re.ASCII)
        rest = behind[1].split() if behind else []
        if name not in PLAIN and not (name in COMMON and rest and _is_command(name, rest[0])):
            continue
        taken: list[str] = []
        for word in rest:
            before = taken[-1] if taken else name
            if word not in _SUBCOMMANDS and word not in KNOWN - COMMON and not _is_command(before, word):
                break
            taken.append(word)
        if not taken and rest and re.match(r"(?: [\w:-]+){1,2} --?\w", low[match.end() :], flags=re.ASCII):
            taken = rest[:1]  # `mix format --check-formatted`
        ahead = low[max(0, match.start() - 24) : match.start()]
        against = re.search(contrast["before"], ahead) or re.match(contrast["after"], low[match.end() :])
        (unwanted if against else wanted).append(" ".join((name, *taken)))
    return wanted, unwanted


def _is_command(name: str, word: str) -> bool:
    """Whether a word says what a program shall do, so that the two are a command: `make check`, `go test`."""
    if word in programs.SUBCOMMANDS.get(name, ()):
        return True
    if name in programs.SCRIPTS:
        plural = name == "make" and word.endswith("s")  # "make tests faster"
        return name not in _ADVERBS and not plural and re.fullmatch(SCRIPT, word) is not None
    return False


_PLACING = (
    r"\b(?:in|inside|within|into|to|from|of|for|under|at|on|im|aus|von|vom|für|unter|an|dans|à|au|de|du|des|pour|sous|"
    r"en|a|al|del|para|em|no|na|nos|nas|do|da|ao|nel|nell['’]|nella|nello|nei|dal|di|per)\s*"
    r"(?:(?:the|der|die|das|dem|den|le|la|el|o|il|lo|file|datei|fichier|archivo|arquivo)\s+|l['’])*[`\"']?$"
)
_PLACED = (
    r"[`\"']?/?\s*(?:(?:里|中|内)的?|下的|で(?:は)?|に(?:は)?|の(?!中|下|ファイル|コード))\s*(?:[a-z]|[^\s、。]+を)"
)
"""What stands before a path, or behind it, that is where something lies."""


def is_place(path: str, low: str) -> bool:
    """Whether a clause, in small letters, names a path only as the place of something else: "no print in cli.py"."""
    place = low.find(path.lower())
    ahead, behind = low[: max(0, place)], low[place + len(path) :]
    if re.match(_PLACED, behind):
        return True
    if re.search(_PLACING, ahead) is None:
        return False
    words = load_table()
    ruled = re.search(words["touches"], ahead) or re.search(words["denies"], ahead)
    if ruled is None:  # "in cli.py, no print"
        return not re.search(words["touches"], behind)
    things = re.sub(_PLACING, "", ahead[ruled.end() :])
    return bool(list_things(things)) or re.search(PATH, things, re.ASCII) is not None


def list_things(low: str) -> "set[str]":
    """The words of a text that name a thing, and not that something is changed."""
    words = list_telling(_list_words(re.sub(PATH, " ", low, flags=re.ASCII)))
    return {word for word in words if not re.fullmatch(f"{load_table()['touches']}|{load_table()['denies']}", word)}


_SMALL = LIGHT | DENIALS | GENERIC


def _list_words(low: str) -> "list[str]":
    words = re.findall(r"[^\W\d_][\w-]*\w", low)
    return [word for word in words if word not in _SMALL and len(word) > 2]


def make_code_pattern(code: str) -> str:
    """A pattern for a piece of code that a person has named: as it stands, where no prose has such a form."""
    if _LITERAL.fullmatch(code):
        bare = code.removesuffix("()")
        edge = r"(?<![\w.])" if bare[0].isalnum() else ""
        return edge + re.escape(bare) + (r"\s*\(" if code.endswith("()") else r"(?!\w)" if bare[-1].isalnum() else "")
    return rf"(?:(?<=: )|(?<=<)|(?<=\bas )|(?<=\.)){re.escape(code)}\b|(?<![\w.]){re.escape(code)}\("


def list_subjects(instruction: Instruction) -> "set[str]":
    """The words of an instruction that say of what it is, where it names that by no path, program or act."""
    ways = f"(?:{load_table()['touches']}|{load_table()['only']})"
    return {word for word in list_telling(instruction.words) if not re.fullmatch(ways, word)}


MOST_WORDS = 2
"""Words by which a command is named; a clause with more says more than that."""


def list_command_names(instruction: Instruction) -> "set[str]":
    """The words by which a ban names a command: "don't run the e2e tests"; none where it names it otherwise.

    What is not to be added or used is a name, and so one word: "do not add the full names" names no command.
    """
    if instruction.paths or instruction.programs or instruction.code or instruction.edits or instruction.acts:
        return set()
    low = instruction.clause.lower()
    most = MOST_WORDS if says(low, "runs") else int(says(low, "uses"))
    words = list_subjects(instruction) - _PLAIN_WORDS if most else set[str]()
    return words if len(words) <= most and all(map(str.isascii, words)) else set()


_PLAIN_WORDS = frozenset(
    "run running use using start execute launch trigger call test tests suite script command commands please server "
    "dev laufen starten ausführen lance lancer exécute ejecutes ejecutar corras rode rodar execute eseguire lanciare "
    "anything".split()
)
