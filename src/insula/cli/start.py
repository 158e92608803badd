"""Where the command `insula` begins: it says what is missing where the library alone is installed."""

import sys

USAGE = 2
"""The exit code for what cannot be used as it is."""


def main() -> None:
    """Run the command line, where its packages are installed."""
    try:
        from insula.cli.main import main as command
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"insula", ""}:
            raise
        print(
            f"The command line needs the package {error.name!r}, which the library alone does not bring; "
            "install Insula with its extra `all`, or run: pip install typer rich pydantic-settings",
            file=sys.stderr,
        )
        raise SystemExit(USAGE) from error
    command()
