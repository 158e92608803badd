"""The door of the senses: what a tool call says loses its secrets here, whole and before anything parses it.

A part of a command no longer shows what it is: `--password x` is a secret, and `x` alone is a word. So a command is
redacted as one text, as the shell would read it, and cut afterwards; what was found in it is taken out of the output,
too. Each secret becomes one word without quotes, so that what is left can be parsed as before.
"""

import re

from insula.redaction import redact, take_out, take_secrets

MARGIN = 1_000
"""Characters at a cut that are redacted and then left out, with the rest of a word that is longer: a secret that is cut
in two may not be known for one."""
_SEAM = r"""\w['"]\w|['"]{2}|(?i:bearer|basic|token) ['"]\w"""
_PIECE = r"""'([^']*)'|"((?:[^"\\]++|\\.)*)"|((?:\\.|[^\s'"\\]++)+)"""
"""A part of a word of the shell: in quotes of either kind, or in none."""
_PART = r"[\w+/.~-]+"
_PLAIN = r"[\w+/=.:@%~-]+"
"""What means the same with and without quotes."""


def redact_start(text: str, most: int) -> str:
    """The beginning of a text, of which `most` characters are read, without its secrets."""
    return redact(text) if len(text) <= most + MARGIN else _cut_end(redact(text[: most + MARGIN]))


def redact_command(line: str, most: int) -> "tuple[str, dict[str, str]]":
    """The beginning of a command without its secrets, and the secrets that were in it, each with its kind."""
    cut = len(line) > most + MARGIN
    written = line[: most + MARGIN] if cut else line
    read = _read_as_shell(written)
    clean, secrets = take_secrets(read)
    if read != written:  # what shows in one form may not in the other, and an output may repeat either
        clean, secrets = _redact_both(clean, secrets, written)
    return take_out(_cut_end(clean) if cut else clean, secrets), secrets


def _redact_both(clean: str, secrets: "dict[str, str]", written: str) -> "tuple[str, dict[str, str]]":
    """A command, as the shell reads it, without what is secret in the way it is written; and all secrets and parts."""
    shown = take_secrets(written)[1]
    for secret, kind in shown.items():
        clean = clean.replace(secret, f"[REDACTED:{kind}]")
    parts = {part: kind for part in re.findall(_PART, written) for whole, kind in secrets.items() if part in whole}
    return clean, parts | shown | secrets


def drop_kinds(text: str) -> str:
    """A redacted text in which all secrets look alike: which kind one is says nothing about what a command is for."""
    return re.sub(r"\[REDACTED:[a-z_]+\]", "[REDACTED]", text) if "[REDACTED:" in text else text


def redact_output(output: str, edge: int, secrets: "dict[str, str]") -> "tuple[str, dict[str, str]]":
    """Both ends of an output, without its secrets and those of the command; and the secrets that were in it."""
    if len(output) <= 2 * (edge + MARGIN):
        clean, shown = take_secrets(output)
    else:
        (start, first), (end, last) = take_secrets(output[: edge + MARGIN]), take_secrets(output[-edge - MARGIN :])
        clean, shown = "\n".join((_cut_end(start), *end[MARGIN:].split(None, 1)[-1:])), first | last
    return take_out(clean, secrets), shown


def _cut_end(cut: str) -> str:
    return cut[:-MARGIN].rsplit(None, 1)[0] if cut[:-MARGIN].strip() else ""


def _read_as_shell(line: str) -> str:
    """A command as the shell reads it: a line that goes on is one line, and `'ab''cd'` is one word."""
    line = line.replace("\\\r\n", "").replace("\\\n", "")
    return _join_pieces(line) if ("'" in line or '"' in line) and re.search(_SEAM, line) else line


def _join_pieces(line: str) -> str:
    done: list[str] = []
    text, mark, end = "", "", -1  # the part before, which the next one may belong to
    for piece in re.finditer(_PIECE, line, re.DOTALL):
        quote = piece[0][0] if piece[3] is None else ""
        said = piece[0][1:-1] if quote else piece[0]
        if piece.start() == end and _continues_quote(text, mark, said, quote):
            text += said
        else:
            done += mark, text, mark, line[max(end, 0) : piece.start()]
            text, mark = said, quote
        end = piece.end()
    return "".join((*done, mark, text, mark, line[max(end, 0) :]))


def _continues_quote(text: str, mark: str, said: str, quote: str) -> bool:
    """Whether a part can stand within the quotes of the one before it; `name='value'` are two."""
    if mark:
        return mark == quote or not said or re.fullmatch(_PLAIN, said) is not None
    return bool(quote) and text[-1:] not in {"=", ":"} and re.fullmatch(_PLAIN, text + said) is not None
