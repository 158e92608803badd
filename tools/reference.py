"""docs/reference.md, from the docstrings of the public names: `python tools/reference.py [--check]`.

Public is what `dir(insula)`, `insula.senses.__all__` and `insula.testing.__all__` name; the rest may change any day.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
TITLES = {"insula": "The package", "insula.senses": "The senses", "insula.testing": "Fakes for tests"}
HEAD = """# Reference

What stands here is kept stable; all else may change. [The library](how-to/library.md) says how it goes together, and
`help(insula.Metacognition.add)` what each argument means. What cannot be used raises `InputError`, what is not there
`NotFound`, trouble with the store `StoreError`: each is an `InsulaError` that says what to do.
"""
OPTIONS = "Metacognition"
"""The class whose options are told, too: it is made by `open` and `sync`, which take them by name."""
PROMISED = {
    "Action": "",
    "Assessment": "score passed outcome flags unanswered faults",
    "Blocking": "",
    "Chat": "reply",
    "Confidence": "level score reasons",
    "Controls": "max_context_items history_share retry",
    "FakeServer": "url requests received prompt",
    "Metacognition": """
        open sync close turn begin finish add observe search list get update delete history export
        forget subscribe sleep understand solve""",
    "FrozenClock": "advance",
    "Memory": "id content provenance speaker said_at session kind line withheld state mode metadata",
    "Recalled": "memory score told",
    "ScriptedModel": "requests",
    "Signal": "kind reason user session turn at",
    "State": "",
    "Turn": """
        message instructions prompt instructions_stable instructions_now confidence recalled number controls advisories
        result signals troubles finish stream stuck to_json""",
    "Verdict": "text kind source",
}
"""Of a class that does more inside than users may rely on: the members that are promised, in their order."""
SECTION = re.compile(r"^(?:Args|Attributes|Raises|Returns):$", re.M)
ITEM = re.compile(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", re.M)
NOTHING = re.compile(r" = (field\(.*|''|\(\)|None)$")
"""A default that says nothing."""
LAW = re.compile(r" \((?:[A-Z]\d*[a-z]?(?:–[A-Z]\d+)?|law \d+|seed \d+: [\d.]+)\)")

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def page() -> str:
    """The whole page."""
    lines = [HEAD, *(line for module in TITLES for line in chapter(module))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def chapter(name: str) -> Iterator[str]:
    """What a module offers."""
    module = import_module(name)
    yield from (f"## {TITLES[name]}: `{name}`", "")
    for public in names(module):
        body, place = found(parsed(name), public)
        yield from entry(public, body, place)


def names(module: ModuleType) -> list[str]:
    """The public names of a module."""
    public: Sequence[str] = getattr(module, "__all__", None) or dir(module)
    return sorted(one for one in public if not one.startswith("_"))


def found(body: list[ast.stmt], name: str) -> tuple[list[ast.stmt], int]:
    """The statements of the module in which a name is made, and its place there; begun where it is only imported."""
    for place, node in enumerate(body):
        if name in made(node):
            return body, place
    imports = (one for top in body for one in ast.walk(top) if isinstance(one, ast.ImportFrom))
    for node in (one for one in imports if str(one.module).startswith("insula")):
        for alias in (one for one in node.names if (one.asname or one.name) == name):
            return found(parsed(str(node.module)), alias.name)
    raise LookupError(name)


@cache
def parsed(module: str) -> list[ast.stmt]:
    """The statements of a module."""
    return ast.parse(inspect.getsource(import_module(module))).body


def made(node: ast.stmt) -> list[str]:
    """The names that a statement makes."""
    if isinstance(node, Documented):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]


def entry(name: str, body: list[ast.stmt], place: int) -> Iterator[str]:
    """What is said of one name."""
    node = body[place]
    if not isinstance(node, Documented):
        yield from (f"### {name}", "", f"`{ast.unparse(node)}`", "", first(after(body, place)), "")
        return
    yield from (f"### {name}", "")
    told = ast.get_docstring(node) or ""
    if not isinstance(node, ast.ClassDef):
        yield from (f"`{signature(node).replace(node.name, name, 1)}`: {first(told)}", "")
        return
    yield from (first(told), "")
    if name == OPTIONS:
        yield from ("Options of `open` and `sync`, by name:", "", *arguments(told), "", "Methods:", "")
    yield from promised(name, dict(members(body, node)))


def promised(name: str, known: Mapping[str, str]) -> Iterator[str]:
    """The members of a class that are promised, each in a line."""
    for member in PROMISED[name].split() if name in PROMISED else known:
        yield f"* {known[member]}"
    yield ""


def members(body: list[ast.stmt], node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The fields, properties and methods of a class, after those of its bases of ours, each with what is said of it."""
    for base in (one.id for one in node.bases if isinstance(one, ast.Name)):
        with suppress(LookupError):
            above, place = found(body, base)
            if isinstance(inherited := above[place], ast.ClassDef):
                yield from members(above, inherited)
    for listed in ITEM.finditer((ast.get_docstring(node) or "").partition("Attributes:")[2]):
        yield listed[1], f"`{listed[1]}`: {joined(listed[2])}"
    for place, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            told = joined(after(node.body, place))
            field = NOTHING.sub("", ast.unparse(one))
            yield one.target.id, f"`{field}`" + (f": {told}" if told else "")
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_"):
            yield one.name, method(one)


def method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """One method, or one property."""
    told = ast.get_docstring(node) or ""
    if any(ast.unparse(one).endswith("property") for one in node.decorator_list):
        return f"`{node.name}: {ast.unparse(node.returns) if node.returns else 'object'}`: {joined(told)}"
    return f"`{signature(node)}`: {first(told)}"


def first(docstring: str) -> str:
    """The first paragraph of a docstring, which says what something is or does."""
    return joined(SECTION.split(docstring)[0].strip().split("\n\n")[0])


def arguments(docstring: str) -> list[str]:
    """The arguments of a docstring, but for the one that is there anyway."""
    listed = ITEM.findall(SECTION.split(docstring.partition("Args:")[2])[0])
    return [f"* `{name}`: {joined(told)}" for name, told in listed if name != "store"]


def joined(text: str) -> str:
    """A text on one line, without the letters of the laws that it rests on."""
    return LAW.sub("", " ".join(text.split()))


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """How it is called."""
    is_block = any(ast.unparse(one) == "asynccontextmanager" for one in node.decorator_list)
    is_asynchronous = isinstance(node, ast.AsyncFunctionDef)
    is_series = is_asynchronous and "AsyncGenerator" in ast.unparse(node.returns or ast.Constant(""))
    waits = "async with " if is_block else "async for … in " if is_series else "await " if is_asynchronous else ""
    begin = f"{waits}{node.name}("
    end = ")" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")
    for one in ast.walk(args := deepcopy(node.args)):
        if isinstance(one, ast.arg):
            one.annotation = None  # an editor says it; here it would hide what there is to give
    given = re.sub(r"^(self|cls)(, |$)", "", re.sub(r"=[A-Z][A-Z_]+\b", "=…", ast.unparse(args)))
    return re.sub(r"'([A-Z][^']*)'", r"\1", begin + given + end)  # a name that is only known to type checkers


def after(body: list[ast.stmt], place: int) -> str:
    """The text that stands behind an assignment, as its docstring."""
    nxt = body[place + 1] if place + 1 < len(body) else None
    text = nxt.value.value if isinstance(nxt, ast.Expr) and isinstance(nxt.value, ast.Constant) else ""
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def main() -> int:
    """Writes the page; with `--check` only says whether it is up to date."""
    wanted = page()
    if "--check" in sys.argv:
        return PAGE.read_text("utf-8") != wanted
    PAGE.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
