"""How big the house is, and how easily a stranger finds the way in it: `python tools/house.py [--json] [--walks]`.

What each figure counts stands beside the function that counts it. `--walks` also plays five walks (tools/walks.py).
docs/adr/0001-the-house.md holds the figures of the day on which the rebuilding began.
"""

import argparse
import ast
import io
import json
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from walks import Walk

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "insula"
FOLDERS = ("src", "packages", "benchmarks", "tests")
TABLES = (".json", ".npz")
"""What holds words, weights or sentences beside the code."""

LANGUAGE = """
what a message asks: text/questions.* text/requests.* text/grammar.* turn/aim.json memory/retrieval/query.*
whose fact it is: language/owner.* language/statements.* language/modality.json
whether a line answers: memory/relevance.* memory/retrieval/scoring.* memory/retrieval/retrieve.* memory/item.*
  memory/retrieval/matching.* memory/retrieval/months.* text/relative_times.* turn/confidence.*
preferences: language/preferences.py language/scope.* memory/wishes.* turn/guidance.* night/agreement.* night/polarity.*
  night/view.*
corrections: night/corrections.* night/outcomes.*
  coding/step/instructions/* coding/step/corrections.* coding/step/person.* coding/step/stop_words.*
what a reply is worth: text/answers.* text/constraint* text/hedges.* text/languages.* text/manner.json text/pasted.*
  turn/checks/* turn/exchange.* turn/feedback.* turn/mending.json turn/monitor.* turn/remembered.* turn/similarity.*
  turn/source.* turn/values.* turn/verdict.*
all else: text/* screening* agent/guided.json night/grounding.* night/distil.*
  night/soul/document.* turn/words.*
not declared:
"""
"""The files that decide by hand-written rules, or by coefficients of our own, what people or models mean: a
subject in each row, and its files. The first row that names a file has it. Whoever moves such a file moves it here,
too; those in which `FOREIGN` finds words are counted as not declared."""
NOT_DECLARED = "not declared"
FOREIGN = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
"""A letter of Chinese or Japanese: whoever reads eight languages by rules has some."""

PUBLIC = re.compile(r"insula(\.(testing|senses|integrations(\.\w+)*))?")
"""The modules that a user may import from."""
PUBLIC_NAMES = frozenset({"insula.turn.monitor.assess", "insula.hosts.hook.respond"})
OURS = ("insula", "insula_bench")

IRREGULAR = """
begun bought bound broken brought built caught chosen done drawn driven eaten fallen fed felt forgotten foretold found
frozen given gone grown heard held hidden kept known laid led left lent lost made meant met paid said seen sent shown
sold spent spoken stolen stood struck stuck swept taken taught thought thrown told understood withheld woken won written
"""
"""Participles that do not end in -ed, and that are nothing else."""
NO_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed"})
DIRECTIVE = re.compile(r"#\s*(noqa|type:|pyright:|fmt:|ruff:)")


@dataclass(frozen=True, slots=True)
class Size:
    """Files of Python and their lines."""

    files: int
    lines: int


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules on language: their code, and the tables beside it."""

    code: Size
    table_kb: float
    subjects: dict[str, tuple[Size, float]]
    name_no_file: list[str]
    """Patterns of `LANGUAGE` that match nothing any more."""


@dataclass(frozen=True, slots=True)
class Names:
    """How functions, classes and variables of src are called, and how much is said about them."""

    functions: int
    one_word_percent: float
    participle_percent: float
    variables: dict[str, int]
    shared_classes: dict[str, int]
    """Classes of one name that stand in several modules, with the number of modules."""
    comments_per_1000_lines: float
    longest_file: int
    median_file: float


@dataclass(frozen=True, slots=True)
class Depth:
    """What test files import that no user may."""

    files: int
    public_only: int
    median_names: float
    median_modules: float
    names: dict[str, int]


@dataclass(frozen=True, slots=True)
class House:
    """All figures of a commit."""

    commit: str
    sizes: dict[str, Size]
    rules: Rules
    tables_kb: float
    """All tables of src."""
    names: Names
    code_blocks_per_100_lines: float
    tests: Depth
    walks: "list[Walk]"


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print all figures, each file's among them, as JSON")
    parser.add_argument("--walks", action="store_true", help="play the five walks, too")
    given = parser.parse_args(arguments)
    house = measure_house(walks=given.walks)
    print(json.dumps(asdict(house), indent=2) if given.json else render_tables(house))


def measure_house(*, walks: bool = False) -> House:
    """The figures of the working tree."""
    modules = {path: path.read_text("utf-8") for path in list_files(SOURCE, ".py")}
    return House(
        commit=describe_commit(),
        sizes={folder: measure_size(list_files(ROOT / folder, ".py")) for folder in FOLDERS},
        rules=measure_rules(modules),
        tables_kb=count_kilobytes(list_files(SOURCE, *TABLES)),
        names=measure_names(modules),
        code_blocks_per_100_lines=measure_docs([ROOT / "README.md", *list_files(ROOT / "docs", ".md")]),
        tests=measure_tests(ROOT / "tests"),
        walks=import_module("walks").play_walks() if walks else [],  # it alone needs what Insula needs
    )


def describe_commit() -> str:
    """The short name of the commit, with a plus where the working tree differs from it; empty outside of git."""
    described = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--dirty=+"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip()


def list_files(folder: Path, *suffixes: str) -> list[Path]:
    """The files below a folder by their endings, in order."""
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes and "node_modules" not in path.parts)


def measure_size(paths: Sequence[Path]) -> Size:
    """How many files there are, and how many lines they have."""
    return Size(len(paths), sum(len(path.read_text("utf-8").splitlines()) for path in paths))


def count_kilobytes(paths: Sequence[Path]) -> float:
    """Thousands of bytes."""
    return round(sum(path.stat().st_size for path in paths) / 1000, 1)


# Rules on language.


def measure_rules(modules: Mapping[Path, str]) -> Rules:
    """Lines of the code that reads language by rules, and the size of its tables, by subject."""
    subjects = read_subjects()
    files: dict[str, list[Path]] = {subject: [] for subject in subjects}
    unused = {pattern for patterns in subjects.values() for pattern in patterns}
    for path in (*modules, *list_files(SOURCE, *TABLES)):
        name = path.relative_to(SOURCE).as_posix()
        matching = [
            (subject, each) for subject, patterns in subjects.items() for each in patterns if fnmatch(name, each)
        ]
        if matching:
            files[matching[0][0]].append(path)
        elif holds_foreign_words(modules.get(path, "")):
            files[NOT_DECLARED].append(path)
        unused -= {pattern for _, pattern in matching}
    every = [path for paths in files.values() for path in paths]
    return Rules(*split_kinds(every), {subject: split_kinds(paths) for subject, paths in files.items()}, sorted(unused))


def read_subjects() -> dict[str, Sequence[str]]:
    """`LANGUAGE` as patterns by subject."""
    rows = LANGUAGE.replace("\n  ", " ").strip().splitlines()
    return {row.partition(":")[0]: row.partition(":")[2].split() for row in rows}


def holds_foreign_words(text: str) -> bool:
    """Whether a module has words of Chinese or Japanese among its texts; what a comment or a docstring says is none."""
    if not FOREIGN.search(text):
        return False
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return any(isinstance(node.value, str) and FOREIGN.search(node.value) for node in texts)


def split_kinds(paths: Sequence[Path]) -> tuple[Size, float]:
    """Of some files: the size of the code, and the kilobytes of the tables."""
    tables = [path for path in paths if path.suffix in TABLES]
    return measure_size([path for path in paths if path.suffix == ".py"]), count_kilobytes(tables)


# Names and comments.


def measure_names(modules: Mapping[Path, str]) -> Names:
    """How things are called.

    A function is a `def`, a method or an inner one, too, but for `__init__` and its like. A variable is counted each
    time that something is bound to it. A class name is shared by the modules that define it.
    """
    functions: list[str] = []
    variables: Counter[str] = Counter()
    classes: defaultdict[str, set[Path]] = defaultdict(set)
    for path, text in modules.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.append(node.name)
            elif isinstance(node, ast.ClassDef):
                classes[node.name].add(path)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                variables[node.id] += 1
    named = [name.strip("_") for name in functions if not re.fullmatch(r"__\w+__", name)]
    single = [name for name in named if "_" not in name]
    shared = {name: len(paths) for name, paths in classes.items() if len(paths) > 1}
    lines = [len(text.splitlines()) for text in modules.values()]
    return Names(
        functions=len(named),
        one_word_percent=round(100 * len(single) / len(named), 1),
        participle_percent=round(100 * sum(map(is_participle, single)) / len(named), 1),
        variables=dict(variables.most_common(5)),
        shared_classes=dict(sorted(shared.items(), key=lambda item: (-item[1], item[0]))),
        comments_per_1000_lines=round(1000 * sum(map(count_comments, modules.values())) / sum(lines), 1),
        longest_file=max(lines),
        median_file=statistics.median(lines),
    )


def is_participle(word: str) -> bool:
    """Whether a word is a participle and nothing else ("read" and "put" are more)."""
    return word in IRREGULAR.split() or (word.endswith("ed") and word not in NO_PARTICIPLES)


def count_comments(text: str) -> int:
    """Comments of a module that are for its readers: none that only tells a tool what to do."""
    if "#" not in text:
        return 0
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and not DIRECTIVE.match(token.string) for token in tokens)


def measure_docs(paths: Sequence[Path]) -> float:
    """Blocks of code, fenced or indented, for each 100 lines of Markdown."""
    texts = [path.read_text("utf-8") for path in paths]
    blocks = sum(len(re.findall(r"^```\w*$", text, re.M)) // 2 + len(re.findall(r"\n\n    \S", text)) for text in texts)
    return round(100 * blocks / sum(len(text.splitlines()) for text in texts), 1)


# Tests.


def measure_tests(folder: Path) -> Depth:
    """What the test files (`test_*.py`) import of ours that is not public, by names and by modules.

    What a helper beside them imports counts with them; what fixtures of a `conftest.py` do is not seen.
    """
    paths = list_files(folder, ".py")
    helpers = {path.stem: path for path in paths if not path.name.startswith(("test_", "conftest"))}
    internals = {path: find_internals(path, helpers) for path in paths if path.name.startswith("test_")}
    names = {path.relative_to(folder).as_posix(): len(found) for path, found in internals.items()}
    return Depth(
        files=len(names),
        public_only=sum(not count for count in names.values()),
        median_names=statistics.median(names.values()),
        median_modules=statistics.median(
            len({name.rpartition(".")[0] for name in found}) for found in internals.values()
        ),
        names=dict(sorted(names.items(), key=lambda item: (-item[1], item[0]))),
    )


def find_internals(path: Path, helpers: Mapping[str, Path]) -> set[str]:
    """The internal names that a file imports, wherever in it, itself or by helpers."""
    found: set[str] = set()
    waiting, seen = [path], {path}
    while waiting:
        imported = set(find_imports(ast.parse(waiting.pop().read_text("utf-8"))))
        found |= {name for name in imported if name.partition(".")[0] in OURS and not is_public(name)}
        near = {helpers[head] for head in (name.partition(".")[0] for name in imported) if head in helpers} - seen
        seen |= near
        waiting += near
    return found


def find_imports(tree: ast.AST) -> Iterator[str]:
    """Each name that is imported, whole; of `import a.b`, what it names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def is_public(name: str) -> bool:
    """Whether a user may import a name: a public module, or what it offers, if that is no internal module."""
    if name in PUBLIC_NAMES or PUBLIC.fullmatch(name):
        return True
    return PUBLIC.fullmatch(name.rpartition(".")[0]) is not None and not is_module(name)


def is_module(name: str) -> bool:
    """Whether an imported name is a module: `from insula import calibration` is as deep as any."""
    place = ROOT / "src" / Path(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


# What is printed.


def render_tables(house: House) -> str:
    """The figures as tables of Markdown."""
    names, tests, rules = house.names, house.tests, house.rules
    shared, deepest = list(names.shared_classes.items()), list(tests.names.items())
    rows: list[tuple[str, object]] = [
        *((f"lines of {name}; files", f"{size.lines:,}; {size.files}") for name, size in house.sizes.items()),
        ("files of src: median, longest", f"{names.median_file:g}, {names.longest_file} lines"),
        ("lines of rules on language; files", f"{rules.code.lines:,}; {rules.code.files}"),
        ("tables of src; of rules on language", f"{house.tables_kb} KB; {rules.table_kb} KB"),
        ("functions of one word", f"{names.one_word_percent} % of {names.functions:,}"),
        ("functions that are a bare participle", f"{names.participle_percent} %"),
        ("commonest variables", list_counts(list(names.variables.items()))),
        ("comments per 1,000 lines", names.comments_per_1000_lines),
        ("blocks of code per 100 lines of docs", house.code_blocks_per_100_lines),
        ("class names in several modules", f"{len(shared)}: {list_counts(shared[:4])}"),
        ("test files with public imports only", f"{tests.public_only} of {tests.files}"),
        ("internal names a test file imports", f"median {tests.median_names:g}; {list_counts(deepest[:3])}"),
        ("internal modules a test file imports", f"median {tests.median_modules:g}"),
    ]
    parts = [f"Commit {house.commit}", render_table(("", ""), rows)]
    subjects = [(name, f"{size.lines:,}", size.files, kb) for name, (size, kb) in rules.subjects.items()]
    parts.append(render_table(("rules on language", "lines", "files", "tables, KB"), subjects))
    if rules.name_no_file:
        parts.append("Patterns of LANGUAGE that name no file any more: " + ", ".join(rules.name_no_file))
    if house.walks:
        walked = [
            (
                f"{walk.name}{'' if walk.arrived else ' (not arrived)'}",
                walk.files,
                walk.functions,
                walk.edges,
                len(walk.types),
            )
            for walk in house.walks
        ]
        parts.append(render_table(("a walk", "files", "functions", "edges", "types"), walked))
    return "\n\n".join(parts)


def render_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def list_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Names with their counts, in a row."""
    return ", ".join(f"{name} {count}" for name, count in counts)


if __name__ == "__main__":
    main(sys.argv[1:])
