"""What must hold before anything is published; `make release-check` runs it. It needs the package registry.

The wheels and source archives of all three packages are made twice and must be the same to the byte; they are installed
bare, and with each extra alone, in environments that are thrown away.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = (ROOT, ROOT / "packages" / "insula", ROOT / "packages" / "insula-solve")
MOST_PACKAGES, MOST_MEGABYTES = 15, 60.0
"""Of the bare library; NumPy is not weighed."""
HEAVY = {"fastapi", "uvicorn", "sqlalchemy", "alembic", "pydantic_ai", "openai", "typer", "rich", "jinja2"}
"""What `insula.assess` must not load."""
ASSESS = "import sys, insula; insula.assess('Where is Ana?', 'In Lisbon.'); print(*sys.modules)"
OPEN = """
import asyncio, insula
async def main():
    async with await insula.Metacognition.open(":memory:") as mind:
        await mind.observe("me", "s", "My sister Ana lives in Lisbon.")
        async with mind.turn("me", "t", "Where does Ana live?") as turn:
            assert turn.finish("In Lisbon.").assessment and turn.confidence.level == "high" and not turn.troubles
asyncio.run(main())
"""
MODULES = {
    "cli": "insula.cli.main",
    "meaning": "insula.memory.retrieval.embedding",
    "models": "insula.agent.chat",
    "server": "insula.server.app",
    "telemetry": "insula.telemetry",
    "langchain": "insula.integrations.langchain",
    "pydantic-ai": "insula.integrations.pydantic_ai",
    "openai-agents": "insula.integrations.openai_agents",
    "claude-agent-sdk": "insula.integrations.claude_agent_sdk",
}
"""Extra -> the module that it is for."""


def main() -> None:
    """Check all of it, and say what does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        made = built(here / "one")
        say("wheels and source archives are reproducible", made == built(here / "two"))
        say("all packages have one version", len({name.split("-")[1] for name in made if name.endswith(".whl")}) == 1)
        slim = next((here / "one").glob("insula_slim-*.whl"))
        bare(here / "bare", slim)
        for extra, module in MODULES.items():
            python = environment(here / extra, f"insula-slim[{extra}] @ {slim.as_uri()}")
            say(f"the extra {extra} alone is enough for {module}", ran(python, f"import {module}") is not None)
        python = environment(here / "whole", "insula", "--find-links", str(here / "one"))
        say(
            "the package insula has the command line and the solver",
            ran(python, "import insula.cli.main, insula.server.app, insula_solve, insula.cli.solve") is not None,
        )
        python = environment(
            here / "solver", f"insula-slim @ {slim.as_uri()}", "insula-solve", "--find-links", str(here / "one")
        )
        say("the package insula-solve alone has the methods", ran(python, "import insula_solve") is not None)
    say("no message names a package of ours that is not published", not named())


def built(where: Path) -> dict[str, str]:
    """The files of a build with their digests."""
    stamped = {**os.environ, "SOURCE_DATE_EPOCH": run("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()}
    for package in PACKAGES:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(where)]
        subprocess.run(command, cwd=package, env=stamped, check=True, capture_output=True)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(where.iterdir())}


def bare(where: Path, wheel: Path) -> None:
    """The library alone: how many packages, how large, and what it loads."""
    python = environment(where, str(wheel))
    listed = json.loads(uv("pip", "list", "--format", "json", "--python", str(python)))
    folder = next((where / "lib").glob("python*")) / "site-packages"
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and "numpy" not in str(file)) / 1e6
    say(f"the bare library is {len(listed)} packages, of {MOST_PACKAGES} at most", len(listed) <= MOST_PACKAGES)
    say(f"it weighs {size:.0f} MB without NumPy, of {MOST_MEGABYTES:.0f} at most", size <= MOST_MEGABYTES)
    loaded = {name.partition(".")[0] for name in (ran(python, ASSESS) or "fastapi").split()}
    say(f"insula.assess loads none of {', '.join(sorted(HEAVY))}", not loaded & HEAVY)
    say("a turn runs in it", ran(python, OPEN) is not None)


def environment(where: Path, *what: str) -> Path:
    """The interpreter of a new environment with some packages in it."""
    uv("venv", "--quiet", str(where))
    uv("pip", "install", "--quiet", "--python", str(where / "bin" / "python"), *what)
    return where / "bin" / "python"


def ran(python: Path, code: str) -> str | None:
    """What a program printed; None where it failed."""
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
    return None if done.returncode else done.stdout


def named() -> list[str]:
    """Messages that tell somebody to install a name of ours."""
    ours = re.compile(r"pip install (?:--upgrade )?['\"]?insula")
    return [str(file) for file in (ROOT / "src").rglob("*.py") if ours.search(file.read_text("utf-8"))]


def uv(*words: str) -> str:
    """What uv says."""
    return run(os.environ.get("UV", str(Path(sys.executable).parent / "uv")), *words)


def run(*words: str) -> str:
    """What a program prints."""
    unset = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "UV_PYTHON"}}
    return subprocess.run(words, capture_output=True, text=True, check=True, env=unset).stdout


def say(what: str, holds: bool) -> None:
    """Print a line; a check that does not hold fails the whole at its end."""
    print(f"{'holds' if holds else 'FAILS'}: {what}", flush=True)
    if not holds:
        FAILED.append(what)


FAILED: list[str] = []

if __name__ == "__main__":
    main()
    sys.exit(bool(FAILED))
