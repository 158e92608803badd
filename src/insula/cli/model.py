"""`insula model`: the embedded weights, where they are and how they come here."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from insula import settings
from insula.cli.lines import print_json
from insula.cli.options import Json
from insula.errors import InputError, ModelUnavailable
from insula.llm import local
from insula.llm.local import Weights, install_weights
from insula.text.wording import count_noun

app = typer.Typer()
NAMES = "smollm2 or qwen-coder-1.5b."


@app.callback(invoke_without_command=True)
@app.command("list")
def list_models(context: typer.Context, json: Json = False) -> None:
    """The models that run inside the process, and where their weights are."""
    if context.invoked_subcommand is not None:
        return None
    folder = settings.load_settings().weights
    rows = [_weights_row(weights, _find_file(weights, folder)) for weights in local.WEIGHTS.values()]
    if json:
        return print_json({"v": 1, "models": rows})
    for row in rows:
        where = row["path"] or f"not installed; run: insula model install {row['name']}"
        print(f"{row['name']:<16} {row['bytes'] / 1e6:>6,.0f} MB  {where}\n{'':<27} {row['about']}")
    return None


@app.command("install")
def install_model(name: Annotated[str, typer.Argument(help=NAMES)], json: Json = False) -> None:
    """Bring weights here, verified; run it again after an interruption, and it goes on from there."""
    weights, folder = _find_weights(name), settings.load_settings().weights
    path = _find_verified(weights, folder) or _fetch_weights(weights, folder or local.weights_folder())
    print_json({"v": 1, **_weights_row(weights, path)}) if json else print(path)


@app.command("path")
def print_path(name: Annotated[str, typer.Argument(help=NAMES)] = "embedded") -> None:
    """Print the file of weights."""
    print(local.find_weights(_find_weights(name), settings.load_settings().weights))


def _find_weights(name: str) -> Weights:
    if (weights := local.weights_of(name)) is None:
        raise InputError(f"There are no embedded weights called {name[:40]!r}; name one of {', '.join(local.WEIGHTS)}.")
    return weights


def _find_file(weights: Weights, folder: Path | None) -> Path | None:
    try:
        return local.find_weights(weights, folder)
    except ModelUnavailable:
        return None


def _find_verified(weights: Weights, folder: Path | None) -> Path | None:
    """The file, if it is here and is what it should be."""
    path_found = _find_file(weights, folder)
    try:
        if path_found:
            local.verify_weights(path_found, weights)
        return path_found
    except ModelUnavailable:
        return None


def _fetch_weights(weights: Weights, folder: Path) -> Path:
    """Install them, with a bar for whoever looks on."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    parts = count_noun(len(weights.parts), "package")
    console.print(f"insula: installing {weights.name} ({weights.bytes / 1e6:,.0f} MB in {parts}) into {folder}")
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(weights.name, total=weights.bytes)
        return install_weights(weights, folder, lambda there: progress.update(task, completed=there))


def _weights_row(weights: Weights, path: Path | None) -> dict[str, Any]:
    return {
        "name": weights.name,
        "about": weights.about,
        "bytes": weights.bytes,
        "installed": path is not None,
        "path": str(path) if path else None,
    }
