"""Secrets in the columns of tables and CSV, and below a label: what stands there is judged as if it stood beside it."""

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
_SIGNS = "=:$#(|/"
"""What stands in no label: it is a command, or has its value beside it."""
_BLANK = " \t\r\n>"
_BLANKS = 12
"""Characters of a blank line, and of what leads in a value, between a label and its value."""
_AFTER_NAME = 16
"""Characters between the name of a secret and the end of its label, as in `key (WPA2):`."""
_HEAD = 40
"""Characters of the head of a column; a longer cell is a sentence."""


def find_in_tables(text: str, lower: str, names: "list[tuple[int, int]]") -> "Iterator[Cell]":
    """Where secrets stand below a head that names one, up to a line of another width.

    Args:
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
        if end - start <= _HEAD and ":" not in text[start:end] and find_names(lower[start:end])
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


def find_below_labels(text: str, lower: str, names: "list[tuple[int, int]]") -> "Iterator[Cell]":
    """Where a secret stands alone on its line, and the line before, but for a blank one, ends with the name of one."""
    for end, begin in names:
        stop = text.find("\n", end)
        if stop < 0 or stop - end > _AFTER_NAME or begin - text.rfind("\n", 0, begin) > _HEAD:
            continue
        start = stop + 1
        while start - stop <= _BLANKS and text[start : start + 1] in _BLANK:
            start += 1
        last = text.find("\n", start)
        last = len(text) if last < 0 else last
        value = text[start:last].rstrip()
        label = lower[text.rfind("\n", 0, begin) + 1 : stop].partition(" (")[0].strip(_AROUND + ":：>")
        if _is_worked_out(value) and not any(sign in label for sign in _SIGNS):
            said = f"{label}: {value}"
            offset = start - len(label) - len(": ")
            for first, after in find_likely(said, said.lower()):
                if first > len(label):
                    yield first + offset, after + offset


def _is_worked_out(value: str) -> bool:
    """Whether a value is one word with a number or a sign, and no label itself."""
    return " " not in value and value[-1:] != ":" and any(char in "0123456789#$%&*+~^!" for char in value)


def _cells(text: str, start: int, end: int, delimiter: str) -> "list[Cell]":
    """Where the cells of a line stand, without blanks and quotes around them."""
    cells: list[Cell] = []
    for cell in text[start:end].split(delimiter):
        if cell or delimiter != "  ":
            lead = len(cell) - len(cell.lstrip(_AROUND))
            cells.append((start + lead, start + max(lead, len(cell.rstrip(_AROUND)))))
        start += len(cell) + len(delimiter)
    return cells
