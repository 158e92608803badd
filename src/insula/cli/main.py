"""The command `insula`. Each command imports what it needs when it runs, so that `--help` stays quick."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from insula.cli import as_json, benches
from insula.cli.address import HOST, PORT, PROXY_PORT
from insula.cli.config import app as config
from insula.cli.kept import memory, soul
from insula.cli.lessons import app as lessons
from insula.cli.options import Json, User
from insula.cli.plugin import app as plugin
from insula.cli.rules import app as rules
from insula.cli.streams import prepare
from insula.cli.tokens import app as tokens
from insula.cli.users import app as users
from insula.cli.worth import app as worth
from insula.hosts.registry import EXPERIMENTAL, NAMES

app = typer.Typer(
    name="insula",
    help="Metacognition for LLM agents.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
benches.add_to(app)


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


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


_HOSTS = (
    f"{_listed(name for name in NAMES if name not in EXPERIMENTAL)}; "
    f"experimental: {_listed(name for name in NAMES if name in EXPERIMENTAL)}."
)
Host = Annotated[str | None, typer.Argument(metavar="HOST", help=_HOSTS)]
Project = Annotated[bool, typer.Option("--project", help="This project alone, not all of yours.")]
Sense = Annotated[
    str | None, typer.Argument(metavar="SENSE", help="One sense alone, such as delivery; insula doctor names them.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


@app.command()
def install(host: Host = None, project: Project = False, dry_run: DryRun = False, json: Json = False) -> None:
    """Put the hooks into a coding agent."""
    from insula.cli.hooks import install_hooks

    raise typer.Exit(install_hooks(host, project, dry_run, json))


@app.command()
def uninstall(
    host: Host = None,
    everything: Annotated[bool, typer.Option("--all", help="Out of every host and project.")] = False,
    project: Project = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take the hooks out of a coding agent; its settings are as before, to the byte."""
    from insula.cli.hooks import uninstall_hooks

    raise typer.Exit(uninstall_hooks(host, everything, project, dry_run, json))


@app.command()
def doctor(
    host: Host = None,
    live: Annotated[bool, typer.Option("--live", help="Run the real client against a model on this machine.")] = False,
    json: Json = False,
) -> None:
    """Say whether the hooks work, and what to do where they do not.

    Exit status 0: they work.
    Exit status 1: something is broken.
    Exit status 2: nothing is broken, but they do not run here; they are
    not installed, switched off, or not trusted by the host.
    """
    from insula.cli.diagnosis import examine

    raise typer.Exit(examine(host, live, json))


@app.command()
def on(sense: Sense = None, project: Project = False, json: Json = False) -> None:
    """Switch the hooks on, or one of their senses."""
    from insula.cli.hooks import turn

    raise typer.Exit(turn(True, sense, project, json))


@app.command()
def off(sense: Sense = None, project: Project = False, json: Json = False) -> None:
    """Switch the hooks off, or one of their senses; also INSULA_OFF=1."""
    from insula.cli.hooks import turn

    raise typer.Exit(turn(False, sense, project, json))


@app.command()
def purge(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Erase all that the hooks observed and learned, and the backups of your settings from before each change."""
    from insula.cli.hooks import purge as erase

    raise typer.Exit(erase(yes, json))


@app.command()
def replay(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Transcripts, or folders of them; by default those of your agents."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the timelines to a page.")] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Found rules on these sessions, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Learn from transcripts of others, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Let the page replace a file that is none.")] = False,
    json: Json = False,
) -> None:
    """Look back at past sessions: where agents were stuck, what they would have been told, what was spent in vain."""
    from insula.cli.replay import run

    raise typer.Exit(run(paths or (), json, html, learn, yes, trust, force))


app.add_typer(worth, name="worth")
app.add_typer(rules, name="rules")
app.add_typer(lessons, name="lessons")
app.add_typer(soul, name="soul")
app.add_typer(memory, name="memory")
app.add_typer(users, name="user")
app.add_typer(tokens, name="token")
app.add_typer(config, name="config")
app.add_typer(plugin, name="plugin")


@app.command()
def sleep(
    user: User = "me",
    everybody: Annotated[bool, typer.Option("--all", help="The nights of all users.")] = False,
    model: Annotated[
        str | None, typer.Option(help="The model that summarises and reflects; none for `embedded`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Though the last night was less than 20 hours ago.")] = False,
    durable: Annotated[
        bool, typer.Option("--durable", help="With --all: on the queue that workers share, on PostgreSQL.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the night now: summaries, consolidation, lessons, SOUL.md; what was learned is shown."""
    if durable:
        from insula.cli.worker import run_all
        from insula.errors import InputError

        if not everybody or force:
            raise InputError("Nights on the shared queue are those of all for whom one is due; give --all --durable.")
        raise typer.Exit(run_all(model=model, json=json))
    from insula.cli.sleep import run

    raise typer.Exit(run(user=user, everybody=everybody, model=model, force=force, json=json))


@app.command()
def worker(  # noqa: PLR0913, PLR0917 an option for each limit
    model: Annotated[
        str | None, typer.Option(help="The model that summarises and reflects; none for `embedded`.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="This worker's own; by default host and process.")] = None,
    at_once: Annotated[int, typer.Option(help="Nights that this worker is at.", min=1)] = 8,
    everywhere: Annotated[int | None, typer.Option(help="Nights that all workers are at.", min=1)] = None,
    per_minute: Annotated[int | None, typer.Option(help="Nights that all begin in a minute.", min=1)] = None,
    tenant_at_once: Annotated[int | None, typer.Option(help="Nights of one tenant (acme/ana).", min=1)] = None,
    tenant_per_minute: Annotated[int | None, typer.Option(help="Nights of one tenant in a minute.", min=1)] = None,
    night_calls: Annotated[int | None, typer.Option(help="Model calls of all nights of a date.", min=1)] = None,
    night_tokens: Annotated[int | None, typer.Option(help="Tokens of all nights of a date.", min=1)] = None,
    night_cost: Annotated[float | None, typer.Option(help="Money, for all nights of a date.", min=0.0)] = None,
) -> None:
    """Run the nights of many users on PostgreSQL, beside other workers, in everybody's quiet hours."""
    from insula.cli.worker import cap, run
    from insula.night.durable import Limits

    limits = Limits(
        at_once=at_once,
        everywhere=everywhere,
        per_minute=per_minute,
        tenant_at_once=tenant_at_once,
        tenant_per_minute=tenant_per_minute,
        cap=cap(night_calls, night_tokens, night_cost),
    )
    raise typer.Exit(run(model=model, name=name, limits=limits))


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; another than this machine's own needs tokens.")
    ] = HOST,
    port: Annotated[int, typer.Option(help="The port; 0 for any that is free.", min=0, max=65535)] = PORT,
    model: Annotated[str | None, typer.Option(help="As for `insula chat`.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name by which the server is reached; repeatable.")
    ] = None,
) -> None:
    """The agent over HTTP: API, metrics, and a page to watch it think."""
    from insula.cli import serve

    raise typer.Exit(serve.run(host=host, port=port, model=model, allowed=allow_host or ()))


@app.command()
def status(
    user: User = "me",
    url: Annotated[
        str | None, typer.Option(help="Of the server; by default that of this machine, else the store.")
    ] = None,
    json: Json = False,
) -> None:
    """How the agent is doing: speed, working memory, what it changed about itself, and what it holds."""
    from insula.cli.status import run

    raise typer.Exit(run(user=user, url=url, json=json))


model_app = typer.Typer(help="The embedded weights: list them, bring them here.", no_args_is_help=True)
app.add_typer(model_app, name="model")


@model_app.command("list")
def model_list(json: Json = False) -> None:
    """The models that run inside the process, and where their weights are."""
    from insula.cli.model import listing

    raise typer.Exit(listing(json))


@model_app.command("install")
def model_install(name: Annotated[str, typer.Argument(help="smollm2 or qwen-coder-1.5b.")], json: Json = False) -> None:
    """Bring weights here, verified; run it again after an interruption, and it goes on from there."""
    from insula.cli.model import bring

    raise typer.Exit(bring(name, json))


@model_app.command("path")
def model_path(
    name: Annotated[str, typer.Argument(help="smollm2 or qwen-coder-1.5b.")] = "embedded",
) -> None:
    """Print the file of weights."""
    from insula.cli.model import path

    raise typer.Exit(path(name))


@app.command()
def solve(  # noqa: PLR0913, PLR0917 one for each option
    problem: Annotated[str | None, typer.Argument(help="What to solve; `-` or nothing reads standard input.")] = None,
    method: Annotated[
        str, typer.Option(help="insula, mgv, direct, self_consistency, adaptive_self_consistency, self_refine, …")
    ] = "insula",
    model: Annotated[str | None, typer.Option(help="The model for all of it.")] = None,
    monitor_model: Annotated[str | None, typer.Option(help="Another one to plan.")] = None,
    generator_model: Annotated[str | None, typer.Option(help="Another one to solve.")] = None,
    verifier_model: Annotated[str | None, typer.Option(help="Another one to verify.")] = None,
    max_tokens_total: Annotated[
        int | None, typer.Option(min=1, help="What a problem may cost, prompts and answers together.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Problems: JSON Lines with `question`, or one a line.")
    ] = None,
    export_preferences: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what succeeded beside what failed, to train on.")
    ] = None,
    json: Json = False,
) -> None:
    """Solve a problem step by step, verified, and show how; exit status 1 where there is no answer."""
    from insula.cli.solve import Asked, run

    asked = Asked(
        method=method,
        model=model,
        monitor=monitor_model,
        generator=generator_model,
        verifier=verifier_model,
        tokens=max_tokens_total,
        json=json,
        export=export_preferences,
    )
    raise typer.Exit(run(problem, file, asked))


@app.command()
def proxy(
    to: Annotated[str, typer.Option(metavar="URL", help="The provider's address, as clients are given it.")],
    user: User = "me",
    port: Annotated[int, typer.Option(help="The port; 0 for any that is free.", min=0, max=65535)] = PROXY_PORT,
) -> None:
    """OpenAI's chat completions in front of a provider: memory and notes go in, answers come back as they are."""
    from insula.cli.proxy import run

    raise typer.Exit(run(to, user, port))


@app.command()
def mcp(user: User = "me") -> None:
    """Memory, lessons, rules and worth as tools for a coding agent (Model Context Protocol, over standard input)."""
    from insula.cli.mcp import run

    raise typer.Exit(run(user))


def main() -> None:
    """Run the command; an error of ours is one sentence on standard error, and with --json an object there."""
    from insula.errors import InsulaError
    from insula.foreign import search_path

    json = as_json.OPTION in sys.argv
    os.environ["PATH"] = search_path()  # libraries run programs, too
    prepare(json=json)
    try:
        sys.exit(as_json.run(app) if json else app())
    except InsulaError as error:
        as_json.failed(type(error).__name__, str(error), json)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
