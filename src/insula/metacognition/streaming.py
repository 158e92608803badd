"""A response that is shown while it is made, and assessed when it is whole."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator

from insula.errors import InputError


def pass_pieces(
    finish: Callable[[object], object], pieces: AsyncIterable[str] | Iterable[str]
) -> AsyncIterator[str] | Iterator[str]:
    """The pieces as they come; `finish` is called with all of them behind the last, and not where there is no last."""
    if not isinstance(pieces, AsyncIterable | Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{str(pieces)[:40]!r} is no stream; give the pieces of text as a model makes them.")
    return _pass_async(finish, pieces) if isinstance(pieces, AsyncIterable) else _pass_iterable(finish, pieces)


def _pass_iterable(finish: Callable[[object], object], pieces: Iterable[str]) -> Iterator[str]:
    heard: list[str] = []
    for piece in filter(_is_text, pieces):
        heard.append(piece)
        yield piece
    finish("".join(heard))


async def _pass_async(finish: Callable[[object], object], pieces: AsyncIterable[str]) -> AsyncIterator[str]:
    heard: list[str] = []
    async for piece in pieces:
        if _is_text(piece):
            heard.append(piece)
            yield piece
    finish("".join(heard))


def _is_text(piece: object) -> bool:
    """Whether a piece holds text: a client's last one may hold None."""
    if piece is not None and not isinstance(piece, str):
        kind = type(piece).__name__
        raise InputError(f"A piece of the stream is a {kind} and no text; give the text that is in each of them.")
    return bool(piece)
