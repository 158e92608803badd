"""`insula config`: the settings in force, where their file is, and one with a comment for each."""

import json as jsonlib

import typer

from insula.cli.options import Json

app = typer.Typer(help="The settings: see them, find their file, begin one.", no_args_is_help=True)


@app.command()
def show(json: Json = False) -> None:
    """The settings in force, from the files and the environment; tokens are not shown."""
    from insula import settings
    from insula.cli.commented import line

    known = settings.load().model_dump(mode="json")
    if json:
        print(jsonlib.dumps(known, indent=2, ensure_ascii=False))
        return
    for name, value in known.items():
        print(line(name, value))


@app.command()
def path(json: Json = False) -> None:
    """Where the file of settings is looked for."""
    from insula import settings

    file = str(settings.home() / settings.FILE)
    print(jsonlib.dumps({"path": file}) if json else file)


@app.command()
def init(json: Json = False) -> None:
    """Write a file of settings with a comment for each; one that is there is left as it is."""
    from insula import settings
    from insula.cli.commented import commented
    from insula.errors import InputError

    file = settings.home() / settings.FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as made:
            made.write(commented())
    except FileExistsError:
        raise InputError(f"There are settings at {str(file)!r} already; they were left as they are.") from None
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be written ({error.strerror or error}); make room there.") from error
    print(jsonlib.dumps({"path": str(file)}) if json else f"Wrote {str(file)!r}.")
