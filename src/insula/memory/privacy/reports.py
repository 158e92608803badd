"""What nights reported, once something is erased: what holds its words goes, and what is left can still be undone."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar, cast

import sqlalchemy as sa

from insula.memory.privacy.echoes import split_words
from insula.memory.storage.journal import ASKED
from insula.memory.storage.rows import name_of
from insula.memory.storage.schema import lessons, memories, messages, nights, sessions
from insula.memory.wishes import unframe_advice
from insula.text.analysis import analyse_text, words_of
from insula.value import is_list, is_object

T = TypeVar("T")

ERASED = ""
SAYS, UNDO, SESSIONS = "says", "undo", "sessions"
"""Where a report holds what a person is told, beside what undoes each line of it, and a record what it cites."""
OURS = frozenset({UNDO, "by", "do", "effects_known", "id", "reason", "section", "states", "verdict", "why"})
"""Where a report holds names and words of ours, and nobody else's."""


class KeptTexts(NamedTuple):
    """All that is kept of a user in words, but for the reports."""

    said: Mapping[tuple[str, int], str]
    """Messages, memories of what somebody said, and the names of sessions, by table and id."""
    derived: Mapping[int, str]
    """What nights understood, by the id of its memory."""
    guidance: Mapping[str, str]
    """By name."""


class ErasedTexts(NamedTuple):
    """What an erasure took."""

    words: frozenset[str]
    """Those that nothing holds which is kept."""
    texts: frozenset[str]
    """What nights understood and learned, whole."""
    guidance: frozenset[str]
    """By name."""
    kept: frozenset[str]
    """The guidance that stands: what a line holds beside it is ours."""
    session: int | None
    """Whose line it was: what a record of a report draws from it goes."""

    def is_quoted_in(self, text: str) -> bool:
        """Whether a text of a report holds some of it."""
        if any(each in text for each in self.texts) or self.is_named_in(text):
            return True
        return not any(each in text for each in self.kept) and not self.words.isdisjoint(split_words(text))

    def is_named_in(self, text: str) -> bool:
        """Whether a text names guidance that is gone, as the command does that takes it back."""
        return any(name in text for name in self.guidance)


def read_texts(connection: sa.Connection, user_id: int) -> KeptTexts:
    """All that is kept of a user in words, to be compared before and after an erasure."""
    line, memory, piece = messages.c, memories.c, lessons.c
    lines = connection.execute(sa.select(line.id, line.content).where(line.user_id == user_id)).all()
    known = sa.select(memory.id, memory.content, memory.provenance).where(memory.user_id == user_id)
    rows = connection.execute(known).all()
    learned = sa.select(piece.key, piece.section, piece.advice).where(piece.user_id == user_id)
    titles = connection.execute(sa.select(sessions.c.id, sessions.c.name).where(sessions.c.user_id == user_id))
    said = {
        **{(messages.name, row.id): row.content for row in lines},
        **{(memories.name, row.id): row.content for row in rows if row.provenance != "derived"},
        **{(sessions.name, row.id): row.name for row in titles},
    }
    return KeptTexts(
        said,
        {row.id: row.content for row in rows if row.provenance == "derived"},
        {name_of(row.key, row.section): unframe_advice(row.advice) for row in connection.execute(learned)},
    )


def scrub_reports(connection: sa.Connection, user_id: int, before: KeptTexts, session: int | None = None) -> None:
    """Take what was erased out of what earlier nights reported, and the answers of models out of their journal.

    Args:
        before: what was kept before the erasure.
        session: whose line was erased, where one was.
    """
    mine = nights.c.user_id == user_id
    connection.execute(sa.delete(nights).where(mine, nights.c.state == ASKED))
    rows = connection.execute(sa.select(nights.c.id, nights.c.report).where(mine)).all()
    gone = compare_texts(before, read_texts(connection, user_id), session) if rows else None
    for row in rows:
        if gone and (left := drop_quotes(row.report, gone)) != row.report:
            connection.execute(sa.update(nights).where(nights.c.id == row.id).values(report=left))


def compare_texts(before: KeptTexts, after: KeptTexts, session: int | None) -> ErasedTexts:
    """What an erasure took, by what was kept before and after it."""
    said, derived = _find_gone(before.said, after.said), _find_gone(before.derived, after.derived)
    guidance = _find_gone(before.guidance, after.guidance)
    standing = frozenset(filter(None, after.guidance.values()))
    texts = frozenset((*derived.values(), *guidance.values()))
    words = frozenset[str]().union(*map(_split_content, {*said.values(), *texts}))
    kept = frozenset[str]().union(*map(split_words, {*after.said.values(), *standing})) if words else words
    return ErasedTexts(words - kept, texts, frozenset(guidance), standing, session)


def _find_gone(before: Mapping[T, str], after: Mapping[T, str]) -> dict[T, str]:
    return {key: text for key, text in before.items() if text and after.get(key) != text}


def _split_content(text: str) -> frozenset[str]:
    """The words of a text that say something: "from" stands in half of what nights report."""
    return split_words(text) - words_of("function", analyse_text(text).language)


def drop_quotes(report: object, gone: ErasedTexts) -> object:
    """A report without what holds something erased: a text is emptied where it stands, a record is taken out whole."""
    if isinstance(report, str):
        return ERASED if gone.is_quoted_in(report) else report
    if is_list(report):
        return [drop_quotes(each, gone) for each in report if not (is_object(each) and _holds_erased(each, gone))]
    if not is_object(report):
        return report
    left = {key: value if key in OURS else drop_quotes(value, gone) for key, value in report.items()}
    if is_list(says := report.get(SAYS)):
        left[SAYS] = _drop_lines(says, cast("Sequence[object]", report.get(UNDO, ())), gone)
    return left


def _drop_lines(says: Sequence[object], undo: Sequence[object], gone: ErasedTexts) -> list[object]:
    """What a person was told, the lines emptied that quote something erased; the first one counts them."""
    pairs = zip_longest(says[1:], undo[: len(says) - 1], fillvalue="")
    return [
        *says[:1],
        *(ERASED if gone.is_quoted_in(str(text)) or gone.is_named_in(str(by)) else text for text, by in pairs),
    ]


def _holds_erased(record: Mapping[str, object], gone: ErasedTexts) -> bool:
    """Whether a record was drawn from what is erased, or holds words of it."""
    cited = record.get(SESSIONS)
    values = (value for key, value in record.items() if key not in OURS)
    return (is_list(cited) and gone.session in cited) or any(drop_quotes(value, gone) != value for value in values)
