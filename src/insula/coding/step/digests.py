"""Digests: short hex digits that stand for a text."""

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL: 2 ms
except ImportError:
    from hashlib import blake2b


def hash_text(text: str, size: int = 12) -> str:
    """`size` hex digits that stand for `text`."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=(size + 1) // 2).hexdigest()[:size]


def sum_text(text: str) -> str:
    """The length of a text and eight bits of it: they show that it changed, and are too few to find a secret by."""
    return f"{len(text):x}.{hash_text(text, 2)}" if text else ""
