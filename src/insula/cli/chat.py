"""`insula chat`: talk to the agent, by hand or through a pipe; `insula ask`: one question, one answer."""

import asyncio
import json as jsonlib
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from insula import settings as settings_module
from insula.agent.chat import Chat, Reply, new_session
from insula.cli import lines, render
from insula.cli.common import LOG_FILE, input_history, log_to, model_understands, soul_of
from insula.cli.lines import ask_yes
from insula.cli.opening import open_agent
from insula.cli.options import Json, Model, User
from insula.cli.sleep import print_report, run_night_of, show_sleeping
from insula.cli.soul import EMPTY, FOREIGN
from insula.errors import InputError, InsulaError, ModelSilent
from insula.language.statements import CONTEXT_LINES
from insula.memory.storage import views
from insula.night.cycle import is_due
from insula.night.guidelines import adopt_edits, read_soul_state
from insula.night.understanding import read_next_lines
from insula.operations.facts import list_facts
from insula.operations.guidance import list_guidance
from insula.operations.nights import OFF, TITLE, changed_last_night
from insula.settings import Settings
from insula.text.analysis import clean_text

OVER = "The night is over."
OFFER = (
    "A night is due: it goes through what you said, tidies memory and learns from your corrections.\n"
    "Later you can run it with: insula sleep"
)
SHOWING = ("/why", "/memory", "/status", "/guidance", "/soul", "/sleep", "/help")
COMMANDS = (*SHOWING, "/session", "/quit", "/exit")
HELP = (
    ("/why", "what the last answer rests on: memory, guidance, and its check"),
    ("/memory", "what is known of you, latest first"),
    ("/status", "the session, the model, and what was spent"),
    ("/guidance", "what was learned: your preferences, and lessons from your corrections"),
    ("/soul", "SOUL.md: the same as a document that you can edit"),
    ("/sleep", "runs the night now: what happened today becomes lessons"),
    ("/session", "/session NAME begins or goes on with a session"),
    ("/help", "this list"),
    ("/quit", "leave (also Ctrl-D)"),
)
SMALL = (
    "insula: the embedded model is tiny: it repeats what you tell it, and knows nothing of the world. For a real one: "
    "insula model install qwen-coder-1.5b, then insula chat --model qwen-coder-1.5b; or --model with any other."
)
"""Said at the first start, once."""
LEAVING = "(/quit or Ctrl-D leaves)"
LATEST = 20
"""Facts that `/memory` shows."""
STOPPED, STOPPED_KEPT = "(stopped)", "(stopped; what you wrote is kept)"
STOPPED_BEFORE = "(stopped before what you wrote was kept; write it again if it counts)"


@dataclass
class ChatSession:
    """A chat in progress."""

    chat: Chat
    runner: asyncio.Runner
    user: str
    session: str
    model: str
    console: Console
    json: bool
    settings: Settings
    reply: Reply | None = None
    """The last one."""
    failed: bool = False
    kept: bool = False
    """Whether what was typed last is on the disk."""
    said: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])
    """The lines of the conversation so far, each with whether the user said it."""

    def mark_kept(self) -> None:
        """Note that it is."""
        self.kept = True


def chat(
    model: Model = None,
    user: User = "me",
    session: Annotated[str | None, typer.Option(help="Name of the session; a new one by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last session.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON record per turn.")] = False,
) -> int:
    """Talk to the agent. Piped input is answered line by line; "/session ID" lines start a session."""
    settings = settings_module.load_settings()
    log_to(settings_module.home() / LOG_FILE)
    name = model or settings.model
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            with Console(stderr=True).status("waking the model"):
                agent = runner.run(stack.enter_async_context(open_agent(settings, name)))
                runner.run(_adopt_soul(agent, user))
            if agent.guided and not json and not runner.run(agent.metacognition.store.nights.list_users()):
                print(SMALL, file=sys.stderr)
            begun = session or (runner.run(_last_session(agent, user)) if resume else None) or new_session()
            runner.run(
                agent.metacognition.store.resolve_place(user, begun)
            )  # a name that cannot be used is said at once
            talk = ChatSession(agent, runner, user, begun, name, console, json, settings)
            if settings.news and not json:
                _tell_news(talk)
            _run_conversation(talk)
            _read_conversation(talk)
            _offer_night(talk)
        finally:
            runner.run(stack.aclose())
    return int(talk.failed)


def _tell_news(talk: ChatSession) -> None:
    """What the last night changed; on standard error, since no model said it."""
    if lines := talk.runner.run(changed_last_night(talk.chat.metacognition.store, talk.user)):
        said = Text("\n".join((TITLE, *(f"• {line}" for line in lines), OFF)))
        Console(stderr=True, highlight=False, soft_wrap=True).print(said, style="dim")


async def _adopt_soul(chat: Chat, user: str) -> None:
    """Take in what a person wrote into SOUL.md since; a file that cannot be read is no reason not to talk."""
    try:
        await adopt_edits(chat.metacognition.store, user, soul_of(user))
    except InsulaError as error:
        lines.print_warning(str(error))


async def _last_session(chat: Chat, user: str) -> str | None:
    sittings = await chat.metacognition.store.read(views.list_sittings, user, None, views.MOST)
    return max(sittings, key=lambda sitting: sitting.last_at).name if sittings else None


def _run_conversation(talk: ChatSession) -> None:
    interactive = sys.stdin.isatty()
    if interactive and not talk.json:
        talk.console.print(render.render_greeting(talk.model, talk.session), style="dim")
    for line in _read_typed(talk) if interactive else _read_piped():
        try:
            if _is_command(line):
                if not _run_command(talk, line):
                    return
            elif line.strip():
                _run_exchange(talk, line, interactive)
        except InsulaError as error:
            talk.failed |= not interactive
            _show_error(talk, str(error), line)
        except KeyboardInterrupt:
            if not interactive:
                raise
            stopped = STOPPED if _is_command(line) else STOPPED_KEPT if talk.kept else STOPPED_BEFORE
            talk.console.print(stopped, style="dim")


def _read_typed(talk: ChatSession) -> Iterator[str]:
    """Lines from a person, with editing and history; Ctrl-C clears the line, Ctrl-D ends."""
    hints = iter((LEAVING,))
    input_history.load()
    try:
        while True:
            try:
                yield input("> ")
            except KeyboardInterrupt:
                talk.console.print(f"\n{next(hints, '')}".rstrip(), style="dim")
    except EOFError:
        return
    finally:
        input_history.save()


def _read_piped() -> Iterator[str]:
    """Lines from a pipe, whatever bytes they hold."""
    for raw in sys.stdin.buffer:
        yield raw.decode("utf-8", errors="replace").rstrip("\r\n")


def _is_command(line: str) -> bool:
    """A known command, or a lone word that looks like one; "/etc/hosts is broken, why?" is a message."""
    name, _, rest = line.partition(" ")
    return name in COMMANDS or (line.startswith("/") and not rest and "/" not in name[1:])


def _run_command(talk: ChatSession, line: str) -> bool:
    """Obey a line that begins with a slash; returns whether to go on."""
    name, _, argument = line.partition(" ")
    if talk.json and name in SHOWING:
        raise InputError(f"The command {name} shows something to a person; leave --json out to use it.")
    match name:
        case "/quit" | "/exit":
            return False
        case "/session":
            talk.session = argument.strip() or new_session()
            if not talk.json:
                talk.console.print(f"session {talk.session}", style="dim")
        case "/why":
            said = talk.runner.run(_explain_reply(talk, talk.reply)) if talk.reply else "Nothing was said yet."
            talk.console.print(said)
        case "/memory":
            talk.console.print(Text(talk.runner.run(_list_facts(talk))))
        case "/status":
            talk.console.print(talk.runner.run(_show_status(talk)), soft_wrap=True)
        case "/guidance":
            talk.console.print(Text(talk.runner.run(_list_guidance(talk))))
        case "/soul":
            talk.console.print(Text(talk.runner.run(_show_soul(talk))))
        case "/sleep":
            _run_sleep(talk)
        case "/help":
            talk.console.print(render.render_columns(HELP), soft_wrap=True)
        case _:
            raise InputError(f"There is no command {name!r}; /help lists them.")
    return True


async def _explain_reply(talk: ChatSession, reply: Reply) -> RenderableType:
    """What was recalled and seen, and the lessons that were told or withheld, with what they were learned from."""
    store = talk.chat.metacognition.store
    place = await store.resolve_place(talk.user, reply.session)
    kept = {lesson.id: lesson for lesson in await store.guidance.list_lessons(place.user_id)} if reply.lessons else {}
    used = [(used_one, kept[used_one.id]) for used_one in reply.lessons if used_one.id in kept]
    cited = await store.guidance.read_cited(
        place.user_id, [message for _, lesson in used for message in lesson.citations]
    )
    return render.render_why(reply, used, cited)


async def _show_status(talk: ChatSession) -> object:
    from insula.cli.status import describe_held, read_held  # with the figures of coding agents, which few ask for

    store = talk.chat.metacognition.store
    stands = list(describe_held(await read_held(store, talk.user, talk.settings), store.now()))
    return render.render_status(talk.model, talk.user, talk.session, store.path, stands, talk.chat.account)


async def _list_facts(talk: ChatSession) -> str:
    """The latest facts that are known of the user, as `insula memory` lists them."""
    page = await list_facts(talk.chat.metacognition.store, talk.user, limit=LATEST)
    more = ["… and more; insula memory --all shows them"] if page.next else []
    return "\n".join([*map(render.render_fact, page.facts), *more]) or "Nothing is known of you yet."


async def _list_guidance(talk: ChatSession) -> str:
    """What was learned from the user, as `insula guidance` lists it."""
    items = await list_guidance(talk.chat.metacognition.store, talk.user)
    return "\n".join(render.render_piece(item) for item in items if item.standing != "gone") or render.NOTHING_LEARNED


async def _show_soul(talk: ChatSession) -> str:
    """The document, with what a person wrote into it by now; that is told from the next message on."""
    path = soul_of(talk.user)
    text, _, waiting, foreign = await read_soul_state(talk.chat.metacognition.store, talk.user, path)
    if foreign:
        return FOREIGN.format(path=str(path))
    return (text or EMPTY) + ("\nA change waits for you: insula guidance soul propose" if waiting else "")


def _run_sleep(talk: ChatSession) -> None:
    """Run the night, and say what was learned."""
    chat = talk.chat
    model = chat.model if model_understands(talk.model) else None
    engine = chat.metacognition.engine
    with show_sleeping():
        night = run_night_of(talk.settings, engine, talk.user, model, chat.account, force=True)
        report = talk.runner.run(night)
    talk.failed |= bool(report.failed)
    print_report(report)
    over = "A phase failed; /sleep goes on from there." if report.failed else OVER
    talk.console.print(report.skipped or over)


def _read_conversation(talk: ChatSession) -> None:
    """At the end of a conversation, let the model read what was said, where the settings say so."""
    chat, settings = talk.chat, talk.settings
    if settings.understanding != "idle" or not model_understands(talk.model):
        return
    with suppress(InsulaError, KeyboardInterrupt), Console(stderr=True).status("reading what you said; Ctrl-C leaves"):
        store, embed = chat.metacognition.store, chat.metacognition.engine.embed
        tokens = settings.understanding_tokens
        talk.runner.run(read_next_lines(store, talk.user, chat.model, account=chat.account, embed=embed, tokens=tokens))


def _offer_night(talk: ChatSession) -> None:
    """At the end of a conversation at a terminal, offer the night if one is due."""
    if talk.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    with suppress(InsulaError, EOFError, KeyboardInterrupt):
        waits = talk.runner.run(is_due(talk.chat.metacognition.store, talk.user, talk.settings.zone_of(talk.user)))
        if not waits:
            return
        print(OFFER)
        if ask_yes("Run it now?"):
            _run_sleep(talk)


def _run_exchange(talk: ChatSession, line: str, interactive: bool) -> None:
    talk.kept, stream = False, interactive and talk.console.is_terminal and not talk.json
    if interactive:
        input_history.redact_last(line, talk.said)
    reply = _get_reply(talk, line, stream)
    talk.reply = reply
    talk.said = [*talk.said, (True, line), (False, reply.response)][-CONTEXT_LINES:]
    talk.failed |= reply.error is not None
    if talk.json:
        print(jsonlib.dumps(reply.record(), ensure_ascii=False), flush=True)
        return
    if not interactive:
        talk.console.print(Text(f"› {clean_text(line)}", style="bold"))
    if reply.error is not None:
        talk.console.print(Text(reply.error, style="red"))
    elif interactive:
        talk.console.print(Markdown(reply.response))
    else:
        talk.console.print(Text(reply.response))
    if under := render.under_reply(reply):
        talk.console.print(under, style="dim")
    talk.console.print()


def _get_reply(talk: ChatSession, line: str, stream: bool) -> Reply:
    """The reply; streamed, its provisional text is on screen until the assessed text takes its place (K2)."""
    pieces: list[str] = []
    with Live(console=talk.console, transient=True, refresh_per_second=12) if stream else nullcontext() as live:

        def show_delta(delta: str) -> None:
            pieces.append(clean_text(delta))
            if live is not None:
                live.update(Text("".join(pieces), style="dim"))

        on_delta = show_delta if stream else None
        return talk.runner.run(
            talk.chat.reply(talk.user, talk.session, line, on_delta=on_delta, on_kept=talk.mark_kept)
        )


def _show_error(talk: ChatSession, sentence: str, line: str) -> None:
    if talk.json:
        record = {"turn": None, "session": talk.session, "message": line[:200], "error": sentence}
        print(jsonlib.dumps(record, ensure_ascii=False), flush=True)
    else:
        lines.print_warning(sentence)


MISSING = 'There is no question; write one: insula ask "Where does Ana live?"'


def ask(
    question: Annotated[str | None, typer.Argument(help="What to ask; by default what is piped in.")] = None,
    model: Model = None,
    user: User = "me",
    json: Json = False,
) -> int:
    """Ask one question and print the answer alone; what it rests on is said on standard error.

    A text on standard input beside a question is what the question is about. The exit status is 1 where there was no
    answer.
    """
    piped = "" if question and lines.is_asked() else lines.read_input(MISSING)
    settings = settings_module.load_settings()
    log_to(settings_module.home() / LOG_FILE)

    async def ask_agent() -> Reply:
        async with open_agent(settings, model or settings.model) as agent:
            return await agent.reply(user, new_session(), question or piped, text=piped if question else "")

    reply = asyncio.run(ask_agent())
    if json and reply.error is not None:
        raise reply.failure or ModelSilent(reply.error)
    if json:
        sources = [recalled.memory.content for recalled in reply.recalled if recalled.memory.id in reply.shown]
        lines.print_json({**reply.record(), "sources": sources, "saved": list(reply.saved)})
        return 0
    if reply.error is None:
        print(reply.response)
    lines.print_warning(reply.error or "")
    if under := render.under_reply(reply).plain:
        print(under, file=sys.stderr)
    return int(reply.error is not None)
