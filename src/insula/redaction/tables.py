"""Secrets in the columns of tables and CSV: what stands below the name of one is judged as if it stood beside it."""

from insula.redaction.head import find_likely, find_names

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Iterator

    Cell = tuple[int, int]
    """Where a cell begins and where it has ended."""

_DELIMITERS = ("|", "│", "\t", ";", ",", "  ")
_AROUND = " \t\r\"'`*"
_CODE = "(={["
"""Signs of code, whose commas part no columns."""
_HEAD = 40
"""Characters of the head of a column; a longer cell is a sentence."""


def find_in_tables(text: str, lower: str, names: "list[tuple[int, int]]") -> "Iterator[Cell]":
    """Where secrets stand below a head that names one, up to a line of another width.

    Args:
        text: the text.
        lower: the text in small letters.
        names: the names of secrets in it, as the head finds them.
    """
    done = 0
    for end, _ in names:
        if end > done and "\n" in text[end:]:
            start = text.rfind("\n", 0, end) + 1
            done = text.find("\n", end)
            line = text[start:done].strip()
            delimiter = next((mark for mark in _DELIMITERS if mark in line), "")
            if delimiter and (delimiter in "|│" or not any(mark in line for mark in _CODE)):
                yield from _find_below(text, lower, (start, done), delimiter)


def _find_below(text: str, lower: str, line: "Cell", delimiter: str) -> "Iterator[Cell]":
    heads = _cells(text, *line, delimiter)
    named = {
        column: lower[start:end]
        for column, (start, end) in enumerate(heads)
        if end - start <= _HEAD and find_names(lower[start:end])
    }
    start = line[1] + 1
    while named and start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        cells = _cells(text, start, end, delimiter)
        if len(cells) != len(heads):
            return
        for column, head in named.items():
            first, last = cells[column]
            said = f"{head}: {text[first:last]}"
            offset = first - len(head) - len(": ")
            for begin, stop in find_likely(said, said.lower()):
                if begin > len(head):
                    yield begin + offset, stop + offset
        start = end + 1


def _cells(text: str, start: int, end: int, delimiter: str) -> "list[Cell]":
    """Where the cells of a line stand, without blanks and quotes around them."""
    cells: list[Cell] = []
    for cell in text[start:end].split(delimiter):
        if cell or delimiter != "  ":
            lead = len(cell) - len(cell.lstrip(_AROUND))
            cells.append((start + lead, start + max(lead, len(cell.rstrip(_AROUND)))))
        start += len(cell) + len(delimiter)
    return cells
