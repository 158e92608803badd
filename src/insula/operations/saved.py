"""What a message of the user's saved for all answers to come, and how that is taken back at once."""

from collections.abc import Sequence
from pathlib import Path

from insula.errors import NotFound
from insula.memory.storage import views
from insula.memory.storage.ledger import GuidancePiece
from insula.memory.storage.store import Store
from insula.memory.wishes import is_told, is_wish
from insula.night import curation

NOTHING = "Turn {turn} of the conversation {session!r} saved nothing that still stands; see what is saved on the page."


async def find_saved(store: Store, user: str, session: str, turn: int) -> list[GuidancePiece]:
    """The preferences that stand because of what was said in a turn, and did not stand before it."""
    said = set(await store.read(views.said_in, user, session, turn))
    every = await curation.list_pieces(store, user) if said else []
    return [piece for piece in every if _is_new(piece, said, every)]


async def undo_saved(store: Store, user: str, session: str, turn: int, soul: Path | None = None) -> Sequence[str]:
    """Take back what a turn saved, and let what it had replaced count again; returns the words that are taken back.

    Raises:
        NotFound: it saved nothing that still stands.
    """
    pieces = await find_saved(store, user, session, turn)
    if not pieces:
        raise NotFound(NOTHING.format(turn=turn, session=session))
    for piece in pieces:
        before = [each for each in await curation.list_pieces(store, user) if each.by == piece.kept.key]
        for each in before:
            await curation.decide_piece(store, user, soul, each.kept.name, "undo")
        if not before:  # what is brought back retires what took its place
            await curation.decide_piece(store, user, soul, piece.kept.name, "forget")
    return [piece.kept.advice for piece in pieces]


def _is_new(piece: GuidancePiece, said: set[int], every: Sequence[GuidancePiece]) -> bool:
    """Whether a preference stands since some messages; what it took over from those that it replaced is not its own."""
    kept = piece.kept
    replaced = {message for each in every if each.by == kept.key for message in each.kept.citations}
    own = set(kept.citations) - replaced
    before = kept._replace(citations=tuple(own - said))
    stood = bool(before.citations) and is_told(before)
    return not piece.retired and is_wish(kept) and is_told(kept) and not own.isdisjoint(said) and not stood
