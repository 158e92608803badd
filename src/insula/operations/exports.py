"""Exports of other programs, read as conversations: ChatGPT's, Claude's, mem0's, and messages as JSON Lines."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from insula import foreign
from insula.errors import InputError
from insula.memory.storage.filters import read_moment
from insula.text.wording import count_noun
from insula.value import is_list, is_object

MOST_BYTES = 500_000_000
"""The largest file that is read, unpacked."""
FILE = "conversations"
"""How the file of conversations in a zip begins."""
REMEDY = (
    "give ChatGPT's or Claude's conversations.json (or the zip as you downloaded it), what mem0's get_all returns, or "
    'JSON Lines of {"role": "user", "content": "…"}'
)
MEM0 = "mem0"
"""The conversation of the facts that mem0 kept."""
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
Json = Mapping[str, Any]


class ExportedConversation(NamedTuple):
    """What was said in one conversation, by the user and the assistant, oldest first."""

    session: str
    messages: tuple[dict[str, object], ...]
    """Each with `role` and `content`, and `id` and `at` as far as they are known."""
    are_facts: bool = False
    """Whether each is a fact that the other program kept, and no words of the user's."""


class ExportFile(NamedTuple):
    """What a file holds."""

    program: str
    conversations: tuple[ExportedConversation, ...]

    @property
    def own(self) -> int:
        """How many messages of the user's own there are, or facts."""
        return sum(message["role"] == "user" for each in self.conversations for message in each.messages)

    @property
    def found(self) -> str:
        """What is in it, in words."""
        if any(conversation.are_facts for conversation in self.conversations):
            return count_noun(self.own, "fact")
        return f"{count_noun(self.own, 'message')} of yours in {count_noun(len(self.conversations), 'conversation')}"


def read_export(path: Path) -> ExportFile:
    """The conversations of a file, which is read to its end first: nothing is taken from a damaged one.

    Raises:
        InputError: it cannot be read, or is of no program or version that is known.
    """
    name = repr(str(path))
    try:
        texts = _read_texts(foreign.read(str(path), MOST_BYTES, path.parent), name)
        values = [value for text in texts for value in _parse_entries(text)]
    except OSError as error:
        raise InputError(f"{name} cannot be read ({foreign.why(error)}); {REMEDY}.") from error
    except (ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise InputError(f"{name} is damaged or no export ({error}); download it again, or {REMEDY}.") from error
    for program, (is_one, convert) in _PROGRAMS.items():
        if values and all(map(is_one, values)):
            conversations = [conversation for conversation in convert(values, path.stem) if conversation.messages]
            if not conversations:
                break
            return ExportFile(program, tuple(conversations))
    if not values or any(is_one(value) for value in values for is_one, _ in _PROGRAMS.values()):
        raise InputError(f"{name} holds no message; {REMEDY}.")
    fields = ", ".join(list(values[0])[:6]) if is_object(values[0]) else type(values[0]).__name__
    raise InputError(
        f"{name} is of no version that is known here (its first entry holds: {fields}); export again, or {REMEDY}."
    )


def _read_texts(data: bytes, name: str) -> list[str]:
    """The texts of a file: of a zip those of its conversations."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return [data.decode("utf-8-sig")]
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        inside = [member for member in packed.infolist() if _is_conversations(member.filename)]
        if not inside:
            raise InputError(f"{name} holds no {FILE}.json; {REMEDY}.")
        if sum(member.file_size for member in inside) > MOST_BYTES:
            raise InputError(f"{name} unpacks to more than {MOST_BYTES // 10**6} MB; split its {FILE}.json.")
        return [
            packed.read(member).decode("utf-8-sig") for member in sorted(inside, key=lambda member: member.filename)
        ]


def _is_conversations(name: str) -> bool:
    last = name.rsplit("/", 1)[-1]
    return last.startswith(FILE) and last.endswith(".json")


def _parse_entries(text: str) -> list[Any]:
    """The entries of a text: of a list of JSON, of mem0's `results`, or of JSON Lines."""
    try:
        whole: Any = json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]
    if is_object(whole) and is_list(whole.get("results")):
        return list(whole["results"])
    return list(whole) if is_list(whole) else [whole]


# --- ChatGPT -----------------------------------------------------------------------------------------------------


def _is_chatgpt(value: Any) -> bool:
    return is_object(value) and is_object(value.get("mapping"))


def _convert_chatgpt(values: Sequence[Json], _: str) -> Iterator[ExportedConversation]:
    for value in values:
        number = value.get("conversation_id") or value.get("id") or value.get("create_time")
        messages = (_convert_node(node) for node in _walk_nodes(value["mapping"], value.get("current_node")))
        yield ExportedConversation(f"chatgpt {number}", tuple(filter(None, messages)))


def _walk_nodes(mapping: Json, last: object) -> list[Json]:
    """The nodes of the conversation as it was left, oldest first: other branches were given up."""
    nodes: list[Json] = []
    seen = set[str]()
    while isinstance(last, str) and last in mapping and last not in seen:
        seen.add(last)
        nodes.append(mapping[last])
        last = mapping[last].get("parent")
    if nodes:
        return nodes[::-1]
    return sorted(mapping.values(), key=_time_of)


def _time_of(node: Json) -> float:
    message = node.get("message")
    at = message.get("create_time") if is_object(message) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _convert_node(node: Json) -> dict[str, object] | None:
    message = node.get("message")
    if not is_object(message):
        return None
    author, content = message.get("author"), message.get("content")
    parts = content.get("parts") if is_object(content) else None
    text = "\n".join(part for part in parts if isinstance(part, str)) if is_list(parts) else ""
    return _make_message(
        author.get("role") if is_object(author) else "", text, message.get("id"), message.get("create_time")
    )


# --- Claude ------------------------------------------------------------------------------------------------------


def _is_claude(value: Any) -> bool:
    return is_object(value) and is_list(value.get("chat_messages"))


def _convert_claude(values: Sequence[Json], _: str) -> Iterator[ExportedConversation]:
    for value in values:
        said = (message for message in value["chat_messages"] if is_object(message))
        messages = (
            _make_message(message.get("sender"), _text_of(message), message.get("uuid"), message.get("created_at"))
            for message in said
        )
        yield ExportedConversation(f"claude {value.get('uuid')}", tuple(filter(None, messages)))


def _text_of(message: Json) -> str:
    parts = message.get("content")
    texts = [part.get("text") for part in parts if is_object(part)] if is_list(parts) else []
    return "\n".join(text for text in texts if isinstance(text, str)) or str(message.get("text") or "")


# --- mem0, and messages ------------------------------------------------------------------------------------------


def _is_mem0(value: Any) -> bool:
    return is_object(value) and isinstance(value.get("memory"), str)


def _convert_mem0(values: Sequence[Json], _: str) -> Iterator[ExportedConversation]:
    messages = (
        _make_message("user", memory["memory"], memory.get("id"), memory.get("created_at")) for memory in values
    )
    yield ExportedConversation(MEM0, tuple(filter(None, messages)), are_facts=True)


def _is_message(value: Any) -> bool:
    return is_object(value) and isinstance(value.get("content"), str) and value.get("role", "user") in ROLES


def _convert_messages(values: Sequence[Json], stem: str) -> Iterator[ExportedConversation]:
    sessions: dict[str, list[dict[str, object]]] = {}
    for number, message in enumerate(values, 1):
        session = str(message.get("session") or stem)[:80]
        made = _make_message(
            message.get("role", "user"), message["content"], message.get("id", number), message.get("at")
        )
        if made:
            sessions.setdefault(session, []).append(made)
    for session, messages in sessions.items():
        yield ExportedConversation(session, tuple(messages))


def _make_message(role: object, text: str, number: object, at: object) -> dict[str, object] | None:
    """A message of the user's or the assistant's; None of anybody else, and of one without words."""
    who = ROLES.get(str(role))
    if who is None or not text.strip():
        return None
    said: dict[str, object] = {"role": who, "content": text, "id": str(number)}
    if isinstance(at, int | float) and not isinstance(at, bool) and at > 0:
        said["at"] = datetime.fromtimestamp(at, UTC).isoformat()
    elif isinstance(at, str) and _is_moment(at):
        said["at"] = at
    return said


def _is_moment(text: str) -> bool:
    try:
        read_moment(text)
    except InputError:
        return False
    return True


_PROGRAMS: Mapping[
    str, tuple[Callable[[Any], bool], Callable[[Sequence[Json], str], Iterable[ExportedConversation]]]
] = {
    "ChatGPT": (_is_chatgpt, _convert_chatgpt),
    "Claude": (_is_claude, _convert_claude),
    "mem0": (_is_mem0, _convert_mem0),
    "messages": (_is_message, _convert_messages),
}
