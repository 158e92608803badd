"""`insula config`: the settings in force, where their file is, and one with a comment for each."""

import ast
import inspect
import json as jsonlib
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from pydantic.fields import FieldInfo

from insula import settings
from insula.cli.lines import print_json, print_warning
from insula.cli.options import Json
from insula.errors import InputError, SettingsError
from insula.files import replace_file
from insula.settings import Settings

HEAD = "# Insula's settings. Take the mark from a line to set it; each is also read from INSULA_NAME.\n"
APART = frozenset(("users",))
"""Set in tables of their own."""

app = typer.Typer()


@app.callback(invoke_without_command=True)
@app.command()
def show(context: typer.Context, json: Json = False) -> None:
    """The settings in force, from the files and the environment; tokens are not shown."""
    if context.invoked_subcommand is not None:
        return
    in_force = settings.load_settings()
    known = in_force.model_dump(mode="json")
    for fault in _find_faults(in_force):
        print_warning(fault)
    print_json(known) if json else print("\n".join(write_line(name, value) for name, value in known.items()))


def _find_faults(known: Settings) -> Iterator[str]:
    """What names something that there is not, which commands that need it will refuse."""
    if known.embed != Settings.model_fields["embed"].default:
        from insula.memory.retrieval.embedding import embedding_by_name  # half a second, which few need

        try:
            embedding_by_name(known.embed)
        except InputError as error:
            yield str(error)
    from insula.agent import identity

    try:
        identity.load_identity(known.identity or settings.home() / identity.FILE, required=bool(known.identity))
    except SettingsError as error:
        yield str(error)


@app.command()
def path(json: Json = False) -> None:
    """Where the file of settings is looked for."""
    print_json({"path": str(_settings_file())}) if json else print(_settings_file())


@app.command()
def init(json: Json = False) -> None:
    """Write a file of settings with a comment for each; one that is there is left as it is."""
    if _settings_file().exists():
        raise InputError(f"There are settings at {str(_settings_file())!r} already; they were left as they are.")
    _write_settings(write_commented())
    print_json({"path": str(_settings_file())}) if json else print(f"Wrote {str(_settings_file())!r}.")


def _settings_file() -> Path:
    return settings.home() / settings.FILE


def _write_settings(text: str) -> None:
    try:
        _settings_file().parent.mkdir(parents=True, exist_ok=True)
        with replace_file(_settings_file()) as file:
            file.write(text.encode())
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"{str(_settings_file())!r} cannot be written ({why}); make room there.") from error


def write_commented() -> str:
    """The text of a file of settings in which each stands with a comment, and none is set yet."""
    about = _read_comments()
    fields = ((name, field) for name, field in Settings.model_fields.items() if name not in APART)
    return "\n".join([HEAD, *(_write_comment(name, field, about.get(name, "")) for name, field in fields)])


def _read_comments() -> dict[str, str]:
    """What stands below each setting in the source; Pydantic would read it at every start (some 20 ms)."""
    lines = (line for part in ast.parse(inspect.getsource(Settings)).body for line in ast.iter_child_nodes(part))
    return {
        ast.unparse(field.target): inspect.cleandoc(ast.literal_eval(text.value))
        for field, text in pairwise(lines)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def write_line(name: str, value: Any) -> str:
    """A setting as the file has it; one that is not set, as a comment."""
    return f"#{name} =" if value is None else f"{name} = {jsonlib.dumps(value, ensure_ascii=False, default=str)}"


def _write_comment(name: str, field: FieldInfo, about: str) -> str:
    lines = [f"# {each}" for each in re.split(r"\n\s*", about) if each]
    value = field.get_default(call_default_factory=True)
    return "\n".join([*lines, "#" + write_line(name, value).removeprefix("#"), ""])
