"""The wishes of the ledger as lines of SOUL.md: a view, made anew each night, that a person may edit like the rest.

They are told right before the message, and not a second time among the guidelines.
"""

from collections.abc import Collection, Iterable
from functools import partial

from insula.guidance import MUTED
from insula.language.preferences import is_of_one_part, part_of
from insula.memory.retrieval.embedding import embedded_all
from insula.memory.storage.changes import Retired
from insula.memory.storage.rows import Kept
from insula.memory.storage.vectors import Embed
from insula.memory.wishes import WISH, is_wish, stands, words
from insula.night.agreement import same
from insula.night.distil import find_flaw
from insula.night.soul import Document, Section, revise, taken_out

SECTION: Section = "Interaction principles"
MOST = 30
"""Wishes that the document shows, the latest."""


def is_view(name: str) -> bool:
    """Whether a line of the document is that of a wish, by its id."""
    return name.startswith(WISH[:1])


def without_wishes(document: Document) -> Document:
    """The document without the lines of wishes, as it is distilled."""
    gone = [line.id for line in document.derived if is_view(line.id)]
    return revise(document, remove=gone) if gone else document


def with_wishes(document: Document, old: Document, kept: Iterable[Kept]) -> Document:
    """The document with a line for each wish that stands, and that a person did not write there themselves.

    Args:
        document: as it was distilled.
        old: as it was found; what stands there keeps its place.
        kept: the user's guidance.
    """
    standing = {one.name: words(one) for one in kept if is_wish(one) and stands(one) and one.mode != MUTED}
    shown = {name: text for name, text in list(standing.items())[-MOST:] if not find_flaw(text)}
    own = [line.text for line in document.own]
    wanted = {name: text for name, text in shown.items() if not any(map(partial(same, text), own))}
    here = {line.id: line.text for line in old.derived if is_view(line.id)}
    if (
        {name: wanted.get(name) for name in here} == here
        and wanted.keys() == here.keys()
        and document == without_wishes(old)
    ):
        return old
    return revise(document, add=[(SECTION, name, text) for name, text in wanted.items()])


def forgotten(before: Document, after: Document, kept: Iterable[Kept]) -> list[Retired]:
    """The wishes whose line a person took out of the document, or wrote anew."""
    gone = taken_out(before, after)
    return [Retired(one.key, "person", "taken out of SOUL.md") for one in kept if is_wish(one) and one.name in gone]


def contradicted(document: Document, parts: Collection[str], embed: Embed | None) -> frozenset[str]:
    """The ids of guidelines of the night that say the opposite of a preference that stands, which is the newest word.

    Args:
        document: as it stands.
        parts: what of an answer the preferences are about, such as "length.short".
        embed: makes vectors; without one nothing is taken for the opposite.
    """
    lines = [line for line in document.derived if not is_view(line.id)] if embed and any(parts) else []
    told = embedded_all(embed, [line.text for line in lines]) if embed and lines else []
    read = [(line.id, part_of(vector)) for line, vector in zip(lines, told, strict=True)]
    return frozenset(name for name, part in read for one in parts if one != part and is_of_one_part(one, part))
