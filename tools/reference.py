"""docs/reference.md, from the docstrings of the public names: `python tools/reference.py [--check]`.

Public is what `dir(insula)`, `insula.senses.__all__` and `insula.testing.__all__` name; the rest may change any day.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
TITLES = {"insula": "The package", "insula.senses": "The senses", "insula.testing": "Fakes for tests"}
HEAD = """# Reference

Made of the docstrings by `python tools/reference.py`. What stands here is kept stable; how it goes together is in
[the library](library.md), and what can be put in the place of a part in [a part of your own](extend.md).
"""
SECTION = re.compile(r"(Args|Attributes|Raises|Returns):")
ITEM = re.compile(r"    (\w+): (.*)")

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
        if name in {alias.asname or alias.name for alias in node.names}:
            return found(parsed(str(node.module)), name)
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
        yield from (f"### {name}", "", f"`{ast.unparse(node)}`", "", *prose(after(body, place)), "")
        return
    yield from (f"### {name}", "")
    if not isinstance(node, ast.ClassDef):
        yield from ("```python", signature(node), "```", "")
    yield from (*prose(ast.get_docstring(node) or ""), "")
    if isinstance(node, ast.ClassDef):
        yield from members(body, node)


def members(body: list[ast.stmt], node: ast.ClassDef) -> Iterator[str]:
    """The fields, properties and methods of a class, after those of its bases of ours."""
    for base in (one.id for one in node.bases if isinstance(one, ast.Name)):
        with suppress(LookupError):
            above, place = found(body, base)
            if isinstance(inherited := above[place], ast.ClassDef):
                yield from members(above, inherited)
    for place, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign) and not any(name.startswith("_") for name in made(one)):
            told = " ".join(prose(after(node.body, place)))
            yield f"* `{ast.unparse(one)}`" + (f": {told}" if told else "")
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_"):
            yield from method(one)
    yield ""


def method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """One method, or one property."""
    told = prose(ast.get_docstring(node) or "")
    if any(ast.unparse(one).endswith("property") for one in node.decorator_list):
        yield f"* `{node.name}: {ast.unparse(node.returns) if node.returns else 'object'}`: {' '.join(told)}"
        return
    yield from ("", f"#### {node.name}", "", "```python", signature(node), "```", "", *told, "")


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """How it is called: a line, or one for each argument."""
    begin = f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}def {node.name}("
    end = ")" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")
    given = re.sub(r"^(self|cls)(, |$)", "", ast.unparse(node.args))
    return re.sub(r"'([A-Z][^']*)'", r"\1", begin + given + end)  # a name that is only known to type checkers


def after(body: list[ast.stmt], place: int) -> str:
    """The text that stands behind an assignment, as its docstring."""
    nxt = body[place + 1] if place + 1 < len(body) else None
    text = nxt.value.value if isinstance(nxt, ast.Expr) and isinstance(nxt.value, ast.Constant) else ""
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def prose(docstring: str) -> list[str]:
    """A docstring as Markdown: its sections are lists."""
    lines: list[str] = []
    listed = False
    for line in docstring.splitlines():
        if SECTION.fullmatch(line):
            listed = True
            lines += [f"**{line}**", ""]
        elif listed and (item := ITEM.fullmatch(line)):
            lines.append(f"* `{item[1]}`: {item[2]}")
        else:
            listed = listed and (not line or line.startswith(" "))
            lines.append(f"  {line.strip()}" if listed and line else line)
    return lines


def main() -> int:
    """Writes the page; with `--check` only says whether it is up to date."""
    wanted = page()
    if "--check" in sys.argv:
        return PAGE.read_text("utf-8") != wanted
    PAGE.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
