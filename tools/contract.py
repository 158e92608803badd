"""Whether the tests of the contract are what they should be: they hold promises, and no internal name.

    .venv/bin/python tools/contract.py stub      # run against a package that does nothing: each test must fail
    .venv/bin/python tools/contract.py rename    # run with ten modules and forty functions renamed: each must pass

Further words go to pytest (`-x`, a file).
"""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "insula"
MODULES, FUNCTIONS = 10, 40
SUFFIX = "_renamed"
PUBLIC = re.compile(
    r"insula(\.__init__|\.testing|\.senses\b.*|\.integrations\b.*|\.turn\.monitor|\.hosts\.hook|\.cli\b.*)"
)
"""Modules that users name; the command's own functions are named after its words."""
KEPT = re.compile(r"insula\.(server|cli|integrations|testing|memory\.migrations|senses)\b")
"""Modules whose functions bear names that are told: commands, routes, migrations, the public ones."""
STUB = '''"""A package with all names and nothing behind them."""
import importlib.abc, importlib.machinery, sys

class Nothing:
    def __init__(self, *_, **__): pass
    def __call__(self, *_, **__): return self
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self
    def __enter__(self): return self
    def __exit__(self, *_): return None
    async def __aenter__(self): return self
    async def __aexit__(self, *_): return None
    def __await__(self):
        return self
        yield
    def __iter__(self): return iter(())
    async def __aiter__(self):
        return
        yield
    def __bool__(self): return False
    def __len__(self): return 0
    def __int__(self): return 0
    def __float__(self): return 0.0
    def __str__(self): return ""
    def __fspath__(self): return "nothing"
    def __getitem__(self, _): return self
    def __contains__(self, _): return False
    def __lt__(self, _): return False
    __gt__ = __le__ = __ge__ = __lt__
    def __add__(self, _): return self
    __radd__ = __sub__ = __rsub__ = __mul__ = __truediv__ = __floordiv__ = __or__ = __ror__ = __add__

class InsulaError(Exception): pass
__version__ = ""
__path__ = []

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith("insula.") else None
    def exec_module(self, module):
        module.__getattr__ = lambda name: _found(name)

def _found(name):
    if name.startswith("__"): raise AttributeError(name)
    return InsulaError if name.endswith("Error") else Nothing()

sys.meta_path.insert(0, Finder())
__getattr__ = _found
'''


def main(words: list[str]) -> int:
    """Run the contract as the first word says; returns the exit status."""
    if not words or words[0] not in {"stub", "rename"}:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "insula"
        if words[0] == "rename":
            rename(package)
            return _run(folder, words[1:], None).returncode
        package.mkdir()
        (package / "__init__.py").write_text(STUB)
        return _all_fail(_run(folder, ["-rp", "--tb=no", "-W", "ignore", *words[1:]], subprocess.PIPE).stdout)


def _run(source: str, words: list[str], told: int | None) -> "subprocess.CompletedProcess[str]":
    given = words if any(Path(word).exists() for word in words) else ["tests/contract", *words]
    command = [sys.executable, "-m", "pytest", *given]
    environment = os.environ | {"PYTHONPATH": source}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=told, text=True, check=False)


def _all_fail(told: str) -> int:
    """Whether no test passed against the stub; those that did are named."""
    passed = [line for line in told.splitlines() if line.startswith("PASSED")]
    print("\n".join(passed))
    print(told.strip().splitlines()[-1] if told.strip() else "pytest said nothing")
    return 1 if passed else 0


def rename(package: Path) -> None:
    """Copy the package, with its most imported modules and functions renamed, and say which."""
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    files = {_module(path, package): path for path in package.rglob("*.py")}
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in files.items()}
    modules = [name for name, _ in _imported_modules(trees, files).most_common(MODULES)]
    functions = [name for name, _ in _imported_functions(trees).most_common(FUNCTIONS)]
    print("modules:", ", ".join(modules), "\nfunctions:", ", ".join(functions), flush=True)
    for path in files.values():
        path.write_text(_rewritten(path.read_text("utf-8"), modules, functions), "utf-8")
    for name in modules:
        files[name].rename(files[name].with_stem(files[name].stem + SUFFIX))


def _module(path: Path, package: Path) -> str:
    return ".".join(("insula", *path.relative_to(package).with_suffix("").parts))


def _imports(trees: Iterable[ast.Module]) -> Iterator[ast.ImportFrom]:
    for tree in trees:
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))


def _imported_modules(trees: dict[str, ast.Module], files: dict[str, Path]) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in _imports(trees.values()):
        found.update({f"{node.module}.{name.name}" for name in node.names} | {str(node.module)})
    return Counter({name: times for name, times in found.items() if name in files and not PUBLIC.fullmatch(name)})


def _imported_functions(trees: dict[str, ast.Module]) -> Counter[str]:
    """Functions by how often they are imported, whose name means nothing else in the whole package."""
    defined = Counter(
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
    parts = {part for module in trees for part in module.split(".")}
    other = parts | {word for tree in trees.values() for node in ast.walk(tree) for word in _other_names(node)}
    found: Counter[str] = Counter()
    for module, tree in trees.items():
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        if KEPT.match(module) or PUBLIC.fullmatch(module):
            continue
        used = Counter(name.name for node in _imports(trees.values()) if node.module == module for name in node.names)
        found.update({name: used[name] for name in own if defined[name] == 1 and name not in other and used[name]})
    return found


def _other_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.arg(arg=name) | ast.Attribute(attr=name) | ast.alias(asname=str(name)):
            yield name
        case ast.keyword(arg=str(name)) | ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.Constant(value=str(text)):
            yield text
        case _:
            pass


def _rewritten(source: str, modules: list[str], functions: list[str]) -> str:
    for name in modules:
        parent, _, leaf = name.rpartition(".")
        source = re.sub(rf"\b{re.escape(name)}\b", name + SUFFIX, source)
        brought = re.compile(rf"^([ ]*from {re.escape(parent)} import )(\([^)]*\)|.*)$", re.MULTILINE)
        source = brought.sub(lambda line, leaf=leaf: line[1] + _aliased(line[2], leaf), source)
    lines = source.splitlines(keepends=True)
    called = re.compile(rf"(?<![\w.])({'|'.join(functions)})(?=\()")
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in reversed(tokens):
        if token.type == tokenize.NAME and token.string in functions:
            _put(lines, token, token.string + SUFFIX)
        elif token.type == tokenize.STRING and re.match(r"\w*[fF]", token.string):  # before Python 3.12 it is one token
            _put(lines, token, called.sub(rf"\1{SUFFIX}", token.string))
    return "".join(lines)


def _put(lines: list[str], token: tokenize.TokenInfo, text: str) -> None:
    """Put a text in the place of a token."""
    (first, column), (last, end) = token.start, token.end
    lines[first - 1 : last] = [lines[first - 1][:column] + text + lines[last - 1][end:]]


def _aliased(names: str, leaf: str) -> str:
    """What is imported, with a renamed module under its old name."""
    return re.sub(rf"(?<![\w.]){leaf}(?! as)(?![\w.])", f"{leaf}{SUFFIX} as {leaf}", names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
