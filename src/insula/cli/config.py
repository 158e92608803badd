"""`insula config`: the settings in force, where their file is, one with a comment for each, and one set or unset."""

import json as jsonlib
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from insula import settings
from insula.cli.lines import print_json
from insula.cli.options import Json
from insula.errors import InputError
from insula.files import replace_file
from insula.settings import Settings

HEAD = "# Insula's settings. Take the mark from a line to set it; each is also read from INSULA_NAME.\n"
APART = frozenset(("users",))
"""Set in tables of their own."""
SECRET = frozenset(("store", *APART))
"""What may hold a password, which would stay in the shell's history."""

app = typer.Typer(no_args_is_help=True)
Key = Annotated[str, typer.Argument(metavar="KEY", help="A setting, as `insula config show` names it.")]


@app.command()
def show(json: Json = False) -> None:
    """The settings in force, from the files and the environment; tokens are not shown."""
    known = settings.load_settings().model_dump(mode="json")
    print_json(known) if json else print("\n".join(write_line(name, value) for name, value in known.items()))


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


@app.command("set", context_settings={"ignore_unknown_options": True})  # a negative number is no option
def set_value(
    key: Key, value: Annotated[str, typer.Argument(metavar="VALUE", help="As in the file; quotes may be left out.")]
) -> None:
    """Write one setting, checked, into the file; its comments stay."""
    line = write_line(key, _read_value(key, value))
    _change_line(key, line)
    print(f"{line} stands in {_settings_file()}, and counts from the next start.")
    if (name := f"INSULA_{key.upper()}") in os.environ:
        print(f"The variable {name} says otherwise and wins.")


@app.command()
def unset(key: Key) -> None:
    """Go back to the default of a setting."""
    _change_line(key, "")
    print(f"{key} is not set in {_settings_file()}.")


def _settings_file() -> Path:
    return settings.home() / settings.FILE


def _check_key(key: str) -> FieldInfo:
    known = Settings.model_fields.get(key)
    if known is None:
        raise InputError(f"There is no setting {key[:40]!r}; `insula config show` lists them.")
    if key in SECRET:
        raise InputError(
            f"{key!r} may hold a password, which would stay in the shell's history; "
            f"write it into {str(_settings_file())!r}, or give INSULA_{key.upper()}."
        )
    return known


def _read_value(key: str, value: str) -> object:
    """What was typed as the file would hold it: a number, a list, or a text with or without quotes."""
    _check_key(key)
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _change_line(key: str, line: str) -> None:
    """Put a line of the file in the place of that of a setting, if the whole of it can be used then.

    Raises:
        InputError: there is no such setting, or the value cannot be used.
        SettingsError: the file cannot be used.
    """
    _check_key(key)
    before = _settings_file().read_text("utf-8") if _settings_file().is_file() else ""
    tables = re.search(r"^\s*\[", before, re.M)
    top, rest = (before[: tables.start()], before[tables.start() :]) if tables else (before, "")
    mine = re.compile(rf"^{re.escape(key)}[ \t]*=.*\n?", re.M)
    commented = re.compile(rf"^#[ \t]?{re.escape(key)}[ \t]*=.*\n?", re.M)
    place = mine.search(top) or (commented.search(top) if line else None)
    start, end = place.span() if place else (len(top), len(top))
    if line and start and top[start - 1] != "\n":
        line = f"\n{line}"
    after = f"{top[:start]}{line}{chr(10) if line else ''}{top[end:]}{rest}"
    settings.check_file(after)
    _write_settings(after)


def _write_settings(text: str) -> None:
    try:
        _settings_file().parent.mkdir(parents=True, exist_ok=True)
        mode = _settings_file().stat().st_mode & 0o777 if _settings_file().exists() else 0o600
        with replace_file(_settings_file(), mode) as file:
            file.write(text.encode())
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"{str(_settings_file())!r} cannot be written ({why}); make room there.") from error


def write_commented() -> str:
    """The text of a file of settings in which each stands with a comment, and none is set yet."""
    fields = ((name, field) for name, field in Settings.model_fields.items() if name not in APART)
    return "\n".join([HEAD, *(_write_comment(name, field) for name, field in fields)])


def write_line(name: str, value: Any) -> str:
    """A setting as the file has it; one that is not set, as a comment."""
    return f"#{name} =" if value is None else f"{name} = {jsonlib.dumps(value, ensure_ascii=False, default=str)}"


def _write_comment(name: str, field: FieldInfo) -> str:
    about = [f"# {each}" for each in re.split(r"\n\s*", field.description or "") if each]
    value = field.get_default(call_default_factory=True)
    return "\n".join([*about, "#" + write_line(name, value).removeprefix("#"), ""])
