"""A response that is shown while it is made, and assessed when it is whole."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator


def streamed(
    finish: Callable[[object], object], pieces: AsyncIterable[str] | Iterable[str]
) -> AsyncIterator[str] | Iterator[str]:
    """The pieces as they come; `finish` is called with all of them behind the last, and not where there is no last."""
    return _awaited(finish, pieces) if isinstance(pieces, AsyncIterable) else _iterated(finish, pieces)


def _iterated(finish: Callable[[object], object], pieces: Iterable[str]) -> Iterator[str]:
    heard: list[str] = []
    for piece in pieces:
        heard.append(piece)
        yield piece
    finish("".join(heard))


async def _awaited(finish: Callable[[object], object], pieces: AsyncIterable[str]) -> AsyncIterator[str]:
    heard: list[str] = []
    async for piece in pieces:
        heard.append(piece)
        yield piece
    finish("".join(heard))
