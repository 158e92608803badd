"""Whether a text is made of words at all."""

import re

MAX_CHARS = 300
"""A text is read up to here."""

_NOISY = 0.4
"""From this share of impossible words on a text is noise."""

_MIN_WORDS = 2
_WORD = re.compile(r"(?<![\w./@#-])[a-zà-ÿ]{4,}(?![\w./@-])")
_IMPOSSIBLE = re.compile(r"^[^aeiouyà-ÿ]+$|[bcdfghjklmnpqrstvwxz]{6,}|q[^u\W]|[jqvxz][jqx]|zx|wq|jk|(.)\1{3,}")


def is_noise(text: str) -> bool:
    """Whether a text holds no word, or mostly strings that no language written in Latin letters has ("zxcvb qwfp")."""
    sample = text[:MAX_CHARS]
    if not any(map(str.isalnum, sample)):
        return not any(ord(ch) > _SYMBOLS for ch in sample)
    words = _WORD.findall(sample)
    odd = sum(1 for word in words if _IMPOSSIBLE.search(word))
    return odd >= _MIN_WORDS and odd >= _NOISY * len(words)


_SYMBOLS = 0x2000
