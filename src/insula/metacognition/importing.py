"""Conversations of other programs on their way into memory, a few messages at a time, so that it can be stopped."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from insula.memory.storage.store import check_names
from insula.metacognition.engine import Engine
from insula.metacognition.observing import read_messages, remember_lines
from insula.operations.exports import ExportedConversation

AT_ONCE = 50
"""Messages that are written together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far an import is.

    Attributes:
        done: the user's messages that were looked at.
        total: how many there are.
        added: how many of them were new; the others were taken in before, or erased since.
    """

    done: int
    total: int
    added: int


async def import_conversations(
    engine: Engine, user: str, conversations: Sequence[ExportedConversation]
) -> AsyncGenerator[ImportProgress]:
    """Remember what the user said in conversations of another program, or the facts that it kept as if they were added
    by hand; the assistant's words are only read along.

    What was taken in before is passed over, so an import that was stopped goes on when it is run again.

    Raises:
        InputError: a message cannot be used.
        StoreError: the store cannot be used.
    """
    total = sum(message["role"] == "user" for each in conversations for message in each.messages)
    done = added = 0
    for each in conversations:
        check_names(user, each.session)
        lines = [said._replace(is_fact=each.are_facts) for said in read_messages(each.messages, each.session)]
        for start in range(0, len(lines), AT_ONCE):
            some = lines[start : start + AT_ONCE]
            added += len(await remember_lines(engine, user, each.session, some, read_along=True))
            done += sum(line.provenance == "user" for line in some)
            yield ImportProgress(done=done, total=total, added=added)
