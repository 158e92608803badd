"""What users of a memory expect of one: add, search, list, get, update, delete, history, export, forget."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from insula.content import plain
from insula.errors import InputError
from insula.memory.encoding import ASSISTANT
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.filters import Filters, Metadata, dump_metadata, read_filter
from insula.memory.storage.rows import Change
from insula.memory.storage.store import check_names, check_types
from insula.metacognition.arguments import check_message, check_number, check_path
from insula.metacognition.mind import Mind
from insula.metacognition.observing import Message, read_line, read_messages, remember
from insula.operations import memories
from insula.operations.memories import PAGE, Deleted, MemoryPage
from insula.types import Memory, Provenance

if TYPE_CHECKING:
    from insula.metacognition.searching import SearchResult

SESSION = "added"
"""The conversation of what is added without one."""


class Remembering:
    """The verbs of a memory, each user's apart.

    Attributes:
        engine: what they stand on; no public part.
    """

    engine: Mind

    async def add(
        self,
        user: str,
        messages: Message | Sequence[Message],
        *,
        session: str = SESSION,
        metadata: Metadata | None = None,
    ) -> tuple[int, ...]:
        """Remember what was said, without answering it; returns the ids of the new memories.

        Args:
            user: whose memory it is.
            messages: a text of the user's, or messages with `role` (`user`, `assistant`, `tool`) and `content`, and if
                wished `name` (who spoke), `at` (when) and `id`: what has the id of a message that was added to this
                session before is not added again, also where that was erased. What holds no text is passed over.
            session: the conversation they belong to.
            metadata: what you say of them, to find them by.

        Raises:
            InputError: one of them is no message, or a name cannot be used.
            StoreError: the store cannot be used.
        """
        check_names(user, session)
        lines = [line for line in read_messages(messages, session) if plain(line.text).strip()]
        return tuple(await remember(self.engine, user, session, lines, dump_metadata(metadata)))

    async def observe(
        self,
        user: str,
        session: str,
        text: object,
        *,
        speaker: str = "",
        listener: str = ASSISTANT,
        provenance: Provenance = "user",
        at: datetime | None = None,
        metadata: Metadata | None = None,
    ) -> int:
        """Remember something that was said without answering it; returns the id of the memory.

        Args:
            user: whose memory it is.
            session: the conversation it belongs to.
            text: what was said.
            speaker: who said it; a name where more than one person talks, or the tool's. By default the user, the
                assistant or "a tool", by the provenance.
            listener: who was spoken to.
            provenance: `user`, `assistant` or `tool`.
            at: when; now by default.
            metadata: what you say of it, to find it by.

        Raises:
            InputError: the speaker is no name.
            StoreError: the store cannot be used.
        """
        check_message(text)
        check_types(speaker=speaker, listener=listener)
        line = read_line(text, provenance, speaker=speaker, listener=listener, at=at)
        check_names(user, session)
        (number,) = await remember(self.engine, user, session, [line], dump_metadata(metadata))
        return number

    async def search(self, user: str, query: str, *, limit: int = 10, **filters: Unpack[Filters]) -> "SearchResult":
        """What of a user's memory answers a question or shares words with it, and how sure that is; nothing is written.

        Args:
            user: whose memory.
            query: a question, or words.
            limit: how many hits at most.
            filters: `session`, `kind`, `since`, `metadata`; see `Filters`.

        Raises:
            InputError: the query is no text, or a filter or the limit cannot be used.
        """
        from insula.metacognition.searching import search_memories

        check_types(user=user, query=query)
        memories.check_limit(limit)
        with on_behalf_of(user):
            return await search_memories(self.engine, user, query, read_filter(filters), limit)

    async def list(
        self, user: str, *, before: int | None = None, limit: int = PAGE, **filters: Unpack[Filters]
    ) -> MemoryPage:
        """A page of what is remembered of a user, newest first; empty where nothing is known of them.

        Args:
            user: whose memory.
            before: `next` of the page before.
            limit: how many at most, up to 500.
            filters: `session`, `kind`, `since`, `metadata`; see `Filters`.

        Raises:
            InputError: a filter, the limit or the page cannot be used.
        """
        check_types(user=user)
        check_number(before=before or 0)
        wanted = read_filter(filters)
        with on_behalf_of(user):
            return await memories.list_memories(self.engine.store, user, wanted, before=before, limit=limit)

    async def get(self, user: str, memory: int) -> Memory:
        """One memory of a user, also one that was retired.

        Raises:
            NotFound: there is none such.
        """
        check_types(user=user)
        check_number(memory=memory)
        with on_behalf_of(user):
            return await memories.get_memory(self.engine.store, user, memory)

    async def update(self, user: str, memory: int, text: str) -> Memory:
        """Let a memory say something else; what it said before stands in its history until it is deleted.

        Raises:
            NotFound: there is none such.
            InputError: its words cannot be changed, with the reason.
        """
        check_types(user=user, text=text)
        check_number(memory=memory)
        with on_behalf_of(user):
            changed = await memories.change_memory(self.engine.store, user, memory, "correct", text)
        self.engine.backlog.again(user)
        return changed

    async def delete(self, user: str, memory: int) -> Deleted:
        """Erase a memory for good, with the line that it came from and what was derived of its session.

        Raises:
            NotFound: there is none such.
        """
        check_types(user=user)
        check_number(memory=memory)
        with on_behalf_of(user):
            gone = await memories.delete_memory(self.engine.store, user, memory, self.engine.soul(user))
        self.engine.backlog.again(user)
        return gone

    async def history(self, user: str, memory: int) -> tuple[Change, ...]:
        """What became of a memory, oldest first: corrections, merges, erasure, each with who did it and why.

        Raises:
            NotFound: there is none such.
        """
        check_types(user=user)
        check_number(memory=memory)
        with on_behalf_of(user):
            return await memories.read_history(self.engine.store, user, memory)

    async def export(self, user: str, path: str | Path) -> int:
        """Write all that is known of a user to a file, which `insula user import` takes; returns its size in bytes.

        Raises:
            NotFound: nothing is known of them.
            StoreFull: the file cannot be written.
        """
        check_types(user=user)
        check_path(path)
        soul = self.engine.soul(user)
        with on_behalf_of(user):
            return await memories.export_user(self.engine.store, user, Path(path), soul)

    async def forget(self, user: str, **filters: Unpack[Filters]) -> Deleted:
        """Erase for good what the filters want; without any, all that is kept of a user.

        Args:
            user: whom to forget.
            filters: `session`, `kind`, `since`, `metadata`; see `Filters`.

        Raises:
            InputError: a filter cannot be used, or none of them says anything.
            NotFound: nothing is known of them.
        """
        check_types(user=user)
        wanted, soul = read_filter(filters), self.engine.soul(user)
        if filters and wanted.is_any:
            raise InputError(
                f"The filter {filters} says nothing, so nothing is erased; to erase everything, give none."
            )
        with on_behalf_of(user):
            if filters:
                gone = await memories.forget_memories(self.engine.store, user, wanted, soul)
            else:
                gone = await memories.forget_user(self.engine.store, user, soul)
        self.engine.backlog.again(user)
        return gone
