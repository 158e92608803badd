"""`insula plugin`: the hook as a plugin in a coding agent's own format."""

from pathlib import Path
from typing import Annotated

import typer

from insula.cli.lines import print_json
from insula.cli.options import Json
from insula.coding.hosts import places, plugins

app = typer.Typer(no_args_is_help=True)


@app.command()
def build(
    host: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code or gemini.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to; made where there is none.")],
    json: Json = False,
) -> None:
    """Write the plugin to a folder, from which the agent installs it."""
    known = places.get_host(host)
    files = plugins.build_plugin(known, folder)
    install = plugins.get_form(known).install.format(folder=folder)
    if json:
        return print_json({"host": host, "folder": str(folder), "files": len(files), "install": install})
    print(f"{known.name}: a plugin of {len(files)} files in {folder}\n  Install it with: {install}")
    return None
