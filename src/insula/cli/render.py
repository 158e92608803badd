"""What the terminal shows: what is to be said of an answer, mostly nothing, and the answers to /why and the like."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from insula.cli.lines import fold_text, terminal_width
from insula.guidance import SHOWN as TOLD
from insula.language.owner import USER
from insula.llm.budget import Account
from insula.memory.storage.rows import Cited, StoredGuidance
from insula.memory.wishes import is_wish
from insula.metacognition.observing import ADDED
from insula.operations.facts import Fact
from insula.operations.guidance import GuidanceItem
from insula.server.page.turns import ShownTurn, TurnFacts, show_turn
from insula.server.page.words import describe_flag, describe_notice, describe_signal, format_percent
from insula.text.wording import count_noun, day_of, shorten_line
from insula.turn.guidance import UsedGuidance
from insula.turn.verdict import Tone
from insula.types import Controls

if TYPE_CHECKING:
    from insula.agent.chat import Reply

MARKS: Mapping[Tone, str] = {"good": "✓ ", "sure": "", "doubt": "! ", "poor": "! "}
TONES: Mapping[Tone, str] = {"good": "green", "sure": "", "doubt": "yellow", "poor": "red"}
"""How a verdict is marked."""
SHOWN = 90
"""Characters of a memory in a list."""
SAID = 160
"""Characters of what was said, where a fact is only a part of it."""
NOTHING_LEARNED = (
    "Nothing is learned yet. Say how you want to be answered (“Celsius, please”), and it counts from then on."
)
NUMBER = 8
"""Columns of a memory's number."""
CITED = 6
"""Messages named for a lesson."""


def render_greeting(model: str, session: str) -> str:
    """The first line of a conversation."""
    return f"insula · {model} · session {session} · /memory shows what it knows of you, /help lists commands"


def under_reply(reply: "Reply") -> Text:
    """What stands under a reply: its source, what it contradicts, what was saved, what failed; mostly nothing."""
    lines: list[Text] = []
    if (verdict := reply.verdict) is not None and verdict.text:
        first, *more = verdict.text.splitlines()
        lines.append(Text(f"  {MARKS[verdict.tone]}{first}", style=TONES[verdict.tone]))
        lines += [Text(f"  {line}") for line in more]
    lines += [Text(f"  insula: {trouble}", style="yellow") for trouble in reply.troubles]
    return Text("\n").join(lines)


def render_why(
    reply: "Reply", used: Sequence[tuple[UsedGuidance, StoredGuidance]] = (), cited: Sequence[Cited] = ()
) -> RenderableType:
    """What an answer rests on, in the words of the page: how sure it was, what it remembered, how good it is."""
    memories = {recalled.memory.id: recalled.memory for recalled in reply.recalled}
    turn = show_turn(TurnFacts.model_validate(reply.record()), memories, {}, Controls())
    lines: list[str] = [f"{turn.came_to[:1].upper()}{turn.came_to[1:]}."] if turn.came_to else []
    if turn.sure:
        lines.append(f"How sure (from memory, before the answer): {turn.sure.word}, {format_percent(turn.sure.score)}")
        lines += [f"  {reason}" for reason in reply.confidence.reasons]
    lines += _list_remembered(turn)
    lines += [line for pair in used for line in _list_lesson(*pair, cited)]
    if turn.good and (judged := turn.facts.assessment) is not None:
        lines.append(f"How good (the check of the answer): {turn.good.word}, {format_percent(turn.good.score)}")
        lines += [f"  {name}: {format_percent(share)}" for name, share in turn.parts]
        about = turn.about
        lines += [
            f"  Found: {describe_flag(flag)}{f': “{about[flag]}”' if flag in about else ''}." for flag in judged.flags
        ]
        lines += [f"  Left unanswered: “{text}”" for text in judged.unanswered]
    lines += [
        f"What was noticed: {describe_signal(signal.kind)}: {describe_notice(signal.kind, signal.reason, {})}"
        for signal in turn.noticed
    ]
    lines += [f"What it took: {' '.join(turn.spent)}"] if turn.spent else []
    return Group(*(Text(part) for line in lines for part in fold_text(line, terminal_width(), "", _indent_of(line))))


def _indent_of(line: str) -> str:
    return " " * (len(line) - len(line.lstrip()) + 2)


def _list_remembered(turn: ShownTurn) -> list[str]:
    """What was put before the model, and how much more came up."""
    put = [(memory, record.score) for memory, record in turn.recalled if record.shown]
    more = len(turn.recalled) - len(put)
    lines = ["What it remembered and put before the model:" if put else "It put nothing of memory before the model."]
    for memory, score in put:
        teller = "you" if memory.speaker == USER else memory.speaker
        lines.append(
            f"  {format_percent(score)} match: {shorten_line(memory.content, SHOWN)} "
            f"({teller}, {memory.said_at:%Y-%m-%d})"
        )
    return [*lines, *([f"  {more} more came up, and {'was' if more == 1 else 'were'} left out"] if more else [])]


def _list_lesson(used: UsedGuidance, lesson: StoredGuidance, cited: Sequence[Cited]) -> list[str]:
    """A lesson, whether the model was told of it, and the messages that it was learned from."""
    how = "used" if used.arm == TOLD else "left out of this session, to find out whether it helps"
    sources = [message for message in cited if message.id in lesson.citations][-CITED:]
    return [
        f"{'Preference' if is_wish(lesson) else 'Lesson'} {lesson.name}, {how}: {lesson.advice}",
        *(
            f"  learned from {message.session}, memory {message.memory}: {shorten_line(message.content, SHOWN)}"
            for message in sources
        ),
        f"  insula guidance why|mute|forget {lesson.name}",
    ]


def render_piece(item: GuidanceItem) -> str:
    """A preference, a lesson or a rule in a few lines: what, how it stands, and why."""
    since = f"since {day_of(item.since)}" if item.since else ""
    columns = terminal_width()
    return "\n".join(
        (
            *fold_text(item.text, columns, f"  {item.id}  ", "    "),
            *fold_text(" · ".join(filter(None, (item.state, since, item.about.rstrip(".")))), columns, "    ", "    "),
            *fold_text(" ".join(filter(None, (item.why, item.waits))), columns, "    ", "    "),
        )
    )


def render_fact(fact: Fact) -> str:
    """A fact with its number; below it whose it is, since when, and in which words it was said."""
    memory, indent, columns = fact.memory, " " * NUMBER, terminal_width()
    how = "added" if memory.session == ADDED else f"from {fact.teller}" if fact.teller else "told"
    about = [", ".join(fact.whose), f"{how} on {memory.said_at:%Y-%m-%d}", memory.mode]
    about += [f"over since {fact.over:%Y-%m-%d}"] if fact.over else []
    lines = fold_text(fact.text, columns, f"{memory.id:>6}  ", indent)
    lines += fold_text(" · ".join(filter(None, about)), columns, indent, indent)
    if fact.said:
        said = fact.said if len(fact.said) <= SAID else f"{fact.said[:SAID]}…"
        lines += fold_text(f"you said: “{' '.join(said.split())}”", columns, indent, indent)
    return "\n".join(lines)


def render_status(
    model: str, user: str, session: str, path: str, held: Sequence[tuple[str, str]], account: Account
) -> RenderableType:
    """Where one stands: session, store, model, what is held, and what was spent on what."""
    rows = [("model", model), ("user, session", f"{user}, {session}"), ("memory", path), *held]
    for purpose, spent in account.by_purpose.items():
        tokens = f"{spent.input_tokens:,} tokens read and {spent.output_tokens:,} written"
        rows.append((f"spent on {purpose}", f"{count_noun(spent.calls, 'call')}, {tokens}, {spent.seconds:.1f} s"))
    return render_columns(rows)


def render_columns(rows: Sequence[tuple[str, str]]) -> Text:
    """What goes by a name, in two columns: the further lines of a row stand below its first."""
    columns, names = terminal_width(), max(len(name) for name, _ in rows) + 2
    return Text(
        "\n".join(line for name, said in rows for line in fold_text(said, columns, name.ljust(names), " " * names))
    )
