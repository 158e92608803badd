"""What the terminal shows: what is to be said of an answer, mostly nothing, and the answers to /why and the like."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from insula.agent.chat import Reply
from insula.cli.lines import fold, width
from insula.guidance import SHOWN as TOLD
from insula.llm.budget import Account
from insula.memory.storage.rows import Cited, Kept
from insula.memory.wishes import is_wish
from insula.operations.guidance import Guidance
from insula.operations.words import counted
from insula.turn.guidance import Used
from insula.turn.verdict import Tone
from insula.turn.verdict import why as why_so
from insula.types import Memory

MARKS: Mapping[Tone, str] = {"good": "✓ ", "sure": "", "doubt": "! ", "poor": "! "}
TONES: Mapping[Tone, str] = {"good": "green", "sure": "", "doubt": "yellow", "poor": "red"}
"""How a verdict is marked."""
SHOWN = 90
"""Characters of a memory in a table."""
CITED = 6
"""Messages named for a lesson."""


def greeting(model: str, session: str) -> str:
    """The first line of a conversation."""
    return f"insula · {model} · session {session} · /memory shows what it knows of you, /help lists commands"


def under_reply(reply: Reply) -> Text:
    """What stands under a reply: its source, what it contradicts, what was saved, what failed; mostly nothing."""
    lines: list[Text] = []
    if (told := reply.verdict) is not None and told.text:
        first, *more = told.text.splitlines()
        lines.append(Text(f"  {MARKS[told.tone]}{first}", style=TONES[told.tone]))
        lines += [Text(f"  {line}") for line in more]
    lines += [Text(f"  insula: {trouble}", style="yellow") for trouble in reply.troubles]
    return Text("\n").join(lines)


def why(reply: Reply, used: Sequence[tuple[Used, Kept]] = (), cited: Sequence[Cited] = ()) -> RenderableType:
    """What was recalled with scores, what was learned, and what the monitor saw."""
    sure = reply.confidence
    lines: list[RenderableType] = [Text(why_so(reply.verdict.kind).text.capitalize() + ".")] if reply.verdict else []
    lines += [Text(f"Confidence from memory: {sure.level} ({sure.score:.2f})")]
    lines += [Text(f"  {reason}") for reason in sure.reasons]
    if reply.recalled:
        lines.append(_recalled(reply))
    lines += [line for one in used for line in _lesson(*one, cited)]
    if (judged := reply.assessment) is not None:
        parts = judged.parts
        lines.append(Text(f"Response: {judged.score:.2f}, {'passed' if judged.passed else 'did not pass'}"))
        lines.append(
            Text(
                f"  responsiveness {parts.responsiveness:.2f}, completeness {parts.completeness:.2f}, "
                f"consistency {parts.consistency:.2f}, length {'ok' if parts.length_ok else 'odd'}, "
                f"{'a repetition' if parts.repetition else 'no repetition'}"
            )
        )
        if parts.likelihood is not None:
            lines.append(Text(f"  the model's own likelihood {parts.likelihood:.2f}"))
        about = {fault.flag: fault.about for fault in judged.faults}
        lines += [Text(f"  {flag}" + (f": {about[flag]}" if about.get(flag) else "")) for flag in judged.flags]
        lines += [Text(f'  unanswered: "{text}"') for text in judged.unanswered]
    lines += [Text(f"{one.kind}: {one.reason}") for one in reply.signals if one.kind != "meta:turn"]
    lines.append(Text(f"{reply.usage.output_tokens} tokens, {reply.model_ms:.0f} + {reply.added_ms:.0f} ms"))
    return Group(*lines)


def _lesson(used: Used, lesson: Kept, cited: Sequence[Cited]) -> list[RenderableType]:
    """A lesson, whether the model was told of it, and the messages that it was learned from."""
    told = "used" if used.arm == TOLD else "left out of this session, to find out whether it helps"
    sources = [one for one in cited if one.id in lesson.citations][-CITED:]
    return [
        Text(f"{'Preference' if is_wish(lesson) else 'Lesson'} {lesson.name}, {told}: {lesson.advice}"),
        *(Text(f"  learned from {one.session}, memory {one.memory}: {_short(one.content)}") for one in sources),
        Text(f"  insula guidance why|mute|forget {lesson.name}"),
    ]


def guidance(found: Sequence[Guidance]) -> RenderableType:
    """What was learned, with where each piece stands."""
    if not found:
        return "Nothing is learned yet: say what you want otherwise, and it counts from your next message on."
    table = Table("id", "kind", "state", "when", "what", box=None, pad_edge=False, header_style="dim")
    for one in found:
        table.add_row(one.id, one.kind, one.state, one.about.rstrip("."), Text(one.text))
    return table


def _recalled(reply: Reply) -> Table:
    table = Table(
        "match", "shared words", "same person", "who said it", "memory", box=None, pad_edge=False, header_style="dim"
    )
    for one in reply.recalled:
        memory = one.memory
        table.add_row(
            f"{one.score:.2f}",
            f"{one.parts.get('overlap', 0):.2f}",
            f"{one.parts.get('owner', 0):.2f}",
            f"{memory.speaker}, {memory.said_at:%Y-%m-%d}",
            Text(_short(memory.content)),
        )
    return table


def memories(kept: Sequence[tuple[Memory, bool]]) -> RenderableType:
    """A table of memories, latest first."""
    if not kept:
        return "Nothing is remembered yet."
    table = Table("id", "where", "kind", "said", "uses", "memory", box=None, pad_edge=False, header_style="dim")
    for memory, long_term in kept:
        where = "long-term" if long_term else "working"
        said = f"{memory.speaker}, {memory.said_at:%Y-%m-%d}"
        table.add_row(str(memory.id), where, memory.kind, said, str(memory.uses), Text(_short(memory.content)))
    return table


def status(
    model: str, user: str, session: str, path: str, counts: Mapping[str, int], account: Account
) -> RenderableType:
    """Where one stands: session, store, model, and what was spent on what."""
    kept = ", ".join(f"{name.replace('_', '-')} {number}" for name, number in counts.items())
    rows = [("model", model), ("user, session", f"{user}, {session}"), ("memory", path), ("", kept)]
    for purpose, spent in account.by_purpose.items():
        tokens = f"{spent.input_tokens} + {spent.output_tokens} tokens"
        cost = f", {spent.cost:.4f} in money" if spent.cost else ""
        rows.append((f"spent on {purpose}", f"{counted(spent.calls, 'call')}, {tokens}, {spent.seconds:.1f} s{cost}"))
    return listed(rows)


def listed(rows: Sequence[tuple[str, str]]) -> Text:
    """What goes by a name, in two columns: the further lines of a row stand below its first."""
    columns, names = width(), max(len(name) for name, _ in rows) + 2
    return Text("\n".join(line for name, said in rows for line in fold(said, columns, name.ljust(names), " " * names)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
