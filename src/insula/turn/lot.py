"""Whether something is told or withheld, by lot, so that it can be seen what it is worth (law 7)."""

from hashlib import sha256

_STEPS = 16**8


def is_withheld(key: str, share: float) -> bool:
    """Whether the lot of a key falls within the share that is withheld; the same each time."""
    return int(sha256(key.encode()).hexdigest()[:8], 16) < share * _STEPS
