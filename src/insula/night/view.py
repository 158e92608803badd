"""SOUL.md as it is shown and told. Its preferences are a view of the ledger, made anew each night, that a person may
edit like the rest; they are told right before the message, and not a second time among the guidelines. Of the night's
own guidelines a message is told the few that can apply to it; a person's lines are always told.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from insula.guidance import MUTED, PINNED
from insula.language.heads import Vector
from insula.language.preferences import is_of_one_part, part_of
from insula.memory.retrieval.embedding import embed_each
from insula.memory.storage.changes import Retired
from insula.memory.storage.rows import StoredGuidance
from insula.memory.storage.vectors import Embed
from insula.memory.wishes import is_told, is_wish, preference_words
from insula.night.agreement import says_same
from insula.night.distil import find_flaw
from insula.night.soul.document import Document, Section, is_preference, prompt_text, revise_document, taken_out

SECTION: Section = "Interaction principles"
MOST = 30
"""Wishes that the document shows, the latest."""
AT_ONCE = 3
"""Guidelines of the night that a message is told at most, as of lessons."""
APPLIES = 0.28
"""Nearness in meaning of a message to a guideline, or to the topics of the talks that it was learned in, from which it
may apply. Of 30 good ones by hand (`insula_bench/nights/reflections_*.jsonl`, English) 9 are as near by their own words
to a message that opens one of their talks, and 22 to any of the user's there; of 166 ordinary messages 8 % are as near
to any. From 0.2 it were 12, 24 and 39 % (*development*)."""
SURELY = 0.7
"""Chance from which one is about the manner of answers, such as their length, and so applies to all."""


def with_preferences(document: Document, kept: Iterable[StoredGuidance]) -> Document:
    """The document with a line for each preference that stands, and that a person did not write there themselves."""
    standing = {
        preference.name: preference_words(preference)
        for preference in kept
        if is_wish(preference) and is_told(preference) and preference.mode != MUTED
    }
    own = [line.text for line in document.own]
    wanted = {
        name: text
        for name, text in list(standing.items())[-MOST:]
        if not find_flaw(text) and not any(map(partial(says_same, text), own))
    }
    here = {line.id: line.text for line in document.derived if is_preference(line.id)}
    return revise_document(
        document,
        remove=here.keys() - wanted.keys(),
        reword={name: text for name, text in wanted.items() if here.get(name, text) != text},
        add=[(SECTION, name, text) for name, text in wanted.items() if name not in here],
    )


def retire_removed(before: Document, after: Document, kept: Iterable[StoredGuidance]) -> list[Retired]:
    """The wishes whose line a person took out of the document, or wrote anew."""
    gone = taken_out(before, after)
    return [
        Retired(preference.key, "person", "taken out of SOUL.md")
        for preference in kept
        if is_wish(preference) and preference.name in gone
    ]


class Guidelines(NamedTuple):
    """What may be told of SOUL.md, and what its guidelines of the night are about."""

    document: Document = Document()
    order: tuple[str, ...] = ()
    """The ids of the guidelines of the night: those pinned, then the best supported."""
    about: Mapping[str, tuple[Vector, ...]] = {}
    """By id: the meaning of a guideline, and that of the topics it comes from."""
    pinned: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()
    """The ids of those that hold for all messages."""

    @property
    def text(self) -> str:
        """All of it, as a model would be told."""
        return prompt_text(self.document)

    def choose_applying(self, message: Collection[Vector], before: Collection[str] = ()) -> tuple[str, ...]:
        """The ids of the guidelines that can apply to a message: those pinned, the nearest, those that hold for all,
        and those told before in its session, which may go on.

        Args:
            message: the meaning of the message and of its pieces; without any, the best supported are told.
        """
        if not message:
            return self.order[:AT_ONCE]
        near = {
            name: max(float(np.dot(vector, other)) for vector in message for other in vectors)
            for name, vectors in self.about.items()
        }
        fitting = sorted((name for name, nearness in near.items() if nearness >= APPLIES), key=lambda name: -near[name])
        pinned, general = ([name for name in self.order if name in names] for names in (self.pinned, self.everywhere))
        known = [name for name in before if name in self.order]
        return tuple(dict.fromkeys([*pinned, *fitting, *general, *known]))[:AT_ONCE]

    def render_applying(self, applying: Collection[str]) -> str:
        """What a model is told, with these guidelines of the night alone."""
        return prompt_text(self.document, frozenset(line.id for line in self.document.derived) - {*applying})


def read_guidelines(
    document: Document, kept: Iterable[StoredGuidance], parts: Collection[str], embed: Embed | None
) -> Guidelines:
    """What may be told of SOUL.md: not its preferences, nor what contradicts them.

    Args:
        document: as it stands.
        parts: what of an answer the preferences are about, such as "length.short".
        embed: makes vectors; without one all is told.
    """
    ledger = {preference.key: preference for preference in kept if preference.section}
    lines = document.learned
    topics = {line.id: " ".join(ledger[line.id].trigger) for line in lines if line.id in ledger}
    texts = [text for line in lines for text in (line.text, topics.get(line.id, "")) if text]
    known = dict(zip(texts, embed_each(embed, texts), strict=True)) if embed and texts else {}
    read = {line.id: part_of(known.get(line.text)) for line in lines}
    out = {name for name, part in read.items() for newer in parts if newer != part and is_of_one_part(newer, part)}
    left = revise_document(
        document, remove=[line.id for line in document.derived if is_preference(line.id) or line.id in out]
    )
    pinned = frozenset(name for name, preference in ledger.items() if preference.mode == PINNED)
    manner = frozenset(line.id for line in lines if "." in part_of(known.get(line.text), SURELY))
    about = {
        line.id: tuple(known[text] for text in (line.text, topics.get(line.id, "")) if text in known) for line in lines
    }
    support = {name: len({*preference.citations}) for name, preference in ledger.items()}
    names = sorted((line.id for line in left.derived), key=lambda name: (name not in pinned, -support.get(name, 0)))
    return Guidelines(
        left, tuple(names), {name: about[name] for name in names if about[name]}, pinned & {*names}, manner & {*names}
    )
