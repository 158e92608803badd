"""Text of an untrusted transcript as a person may safely look at it: nothing in it hides, reorders or breaks off."""

import re

LONGEST = 160
"""Characters of a text that are shown."""
LONG_PATH = 40
"""Characters from which only the end of a path is shown where it stands among others."""
PATH_ENDS = 3
"""Parts of it that are."""
_PICTURES = 0x2400
"""Where Unicode keeps a picture of each control character."""
_DELETE = 0x7F
_JOINER = "\u200d"
_EMOJI = re.compile(f"(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]){_JOINER}(?=[\u2600-\u27bf\U0001f000-\U0001faff])")
"""What joins two emoji to one hides nothing."""
_LINE = "\n\r\x0b\x0c\x85\u2028\u2029"


def show_safely(text: str, longest: int = LONGEST) -> str:
    """The text on one line, cut, with a picture or the number of each character that cannot be seen.

    What cannot be seen can deceive: a right-to-left override turns the end of a file's name round. Escaping for HTML
    is not done here; the template does it for everything.
    """
    cut = text[:longest]
    shown = cut if cut.isprintable() else _JOINER.join("".join(map(_show_char, part)) for part in _EMOJI.split(cut))
    return f"{shown}…" if len(text) > longest else shown


def show_briefly(text: str, longest: int = LONGEST) -> str:
    """The same with only the end of each long path: their beginnings are alike, and their ends tell them apart."""
    return show_safely(" ".join(map(_shorten_path, text[: 4 * longest].split(" "))), longest)


def _shorten_path(word: str) -> str:
    parts = word.split("/")
    return word if len(word) <= LONG_PATH or len(parts) <= PATH_ENDS else "…/" + "/".join(parts[-PATH_ENDS:])


def _show_char(char: str) -> str:
    if char.isprintable() or char == "\u00a0":
        return char
    if char in _LINE:
        return "↵"
    if char == "\t":
        return " "
    code = ord(char)
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"‹U+{code:04X}›"
