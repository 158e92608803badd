"""The command `insula`. Each command imports what it needs when it runs, so that `--help` stays quick."""

import sys
from typing import Annotated

import typer

app = typer.Typer(
    name="insula",
    help="Metacognition for LLM agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Measure Insula on real data.", no_args_is_help=True)
app.add_typer(bench, name="bench")


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """Metacognition for LLM agents: it knows how much it knows, checks itself, and learns."""
    if version:
        from insula import __version__

        print(__version__)
        raise typer.Exit


@app.command()
def chat(
    model: Annotated[
        str | None, typer.Option(help="embedded, test, openai:NAME, anthropic:NAME, ollama:NAME or a URL.")
    ] = None,
    user: Annotated[str, typer.Option(help="Whose memory to use.", envvar="INSULA_USER")] = "me",
    session: Annotated[str | None, typer.Option(help="Name of the session; a new one by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last session.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON record per turn.")] = False,
) -> None:
    """Talk to the agent. Piped input is answered line by line; "/session ID" lines start a session."""
    from insula.cli.chat import run

    raise typer.Exit(run(model=model, user=user, session=session, resume=resume, json=json))


@bench.command("turn")
def bench_turn(
    data: Annotated[str, typer.Option(help="A LoCoMo file (locomo.json).")],
    memories: Annotated[int, typer.Option(help="Memories of the one user whose recall is timed.")] = 100_000,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """What a turn costs: recall at 10^5 memories, confidence, the monitor, and a whole turn without its model."""
    from insula.bench.turn import run

    raise typer.Exit(run(data, memories, json))


def main() -> None:
    """Run the command; an error of ours is one sentence on standard error."""
    from insula.errors import InsulaError

    try:
        app()
    except InsulaError as error:
        print(f"insula: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
