"""Whether an answer keeps what was demanded of its form, counted and compared, never estimated.

Where it cannot be counted (three reasons told in flowing prose) the answer is taken to keep it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from insula.text.analysis import analyse_text
from insula.text.constraints import BRIEFEST, Constraint, Kind
from insula.text.grammar import UNSPACED
from insula.turn.exchange import Exchange
from insula.types import Fault

MAX_CHARS = 20_000
"""A longer answer is not counted."""

_WORD = re.compile(r"[^\W_]+(?:['’.\-,][^\W_]+)*")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff々]")
_BULLET = re.compile(r"^\s*(?:[-*•–‣·]|\(?\d{1,2}[.):、．]|[①-⑩])\s*(?=\S)")
_NUMBERED = re.compile(r"^\s*(?:\*\*)?(?:\(?\d{1,2}[.):、．]|[①-⑩])\s*(?=\S)")
_FENCE = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"[\"“„«「]([^\"“”«»」\n]+)[\"”“»」]")
_COMMA = re.compile(r"\s*(?:[,;，、；]|\s(?:and|y|e|et|und|o|or|ou|oder)\s|[和与及])\s*")
_LABEL = 60
"""A line before a colon up to here only announces what follows."""
_SHORT_ITEM = 5
"""Words of one item of an enumeration in prose."""
_TERM = 2
"""Words of an item that may be called one ("New York")."""

_CLAUSES = re.compile(r"[.!?。！？;；\n:：]+|, |，|、")
_VALUED = re.compile(r"[^\W\d_]\S* .*\d|\d+ .*[^\W\d_]")
"""A clause with a number beside what it says."""


def check_constraints(turn: Exchange) -> Iterator[Fault]:
    """What was demanded of the form of the answer and is not kept; who declines or asks back need not keep it."""
    if turn.declined:
        return
    for demand in turn.asked.demands:
        told_apart = demand.kind == "questions" and len(turn.asked.asks) >= demand.least
        if not told_apart and breaks_constraint(demand, turn.response):
            parts = demand.kind == "questions"
            yield Fault(flag="incomplete" if parts else "constraint", about=demand.text, certain=not parts)


def breaks_constraint(constraint: Constraint, answer: str) -> bool:
    """Whether an answer plainly breaks a demand; what introduces the answer ("Here you are:") is looked past."""
    text = answer.strip()
    if not text or len(text) > MAX_CHARS:
        return False
    check = _CHECKS[constraint.kind]
    return not any(check(constraint, candidate) for candidate in _answer_candidates(text))


def _answer_candidates(text: str) -> Iterator[str]:
    """The answer, and what is left of it without an introduction, a farewell, or the quotation marks around it."""
    yield text
    head, colon, rest = text.partition(":")
    if colon and rest.strip() and "\n" not in head and len(head) <= _LABEL:
        yield rest.strip()
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    if len(blocks) > 1:
        if blocks[0].rstrip().endswith((":", "：")):
            yield "\n\n".join(blocks[1:])
        yield "\n\n".join(blocks[:-1])
    if (quoted := _QUOTED.findall(text)) and len(quoted) == 1:
        yield quoted[0]
    if (fence := _FENCE.search(text)) is not None and fence[1].strip():
        yield fence[1].strip()


def _is_within(count: int, constraint: Constraint) -> bool:
    return count >= constraint.least and (not constraint.most or count <= constraint.most)


def _keeps_words(constraint: Constraint, text: str) -> bool:
    """Chinese and Japanese words cannot be counted exactly: only what exceeds every reading is too many."""
    if constraint.language in UNSPACED and _CJK.search(text):
        return not constraint.most or len(_CJK.findall(text)) <= 4 * constraint.most + 6
    plain = re.sub(r"[*_#`|>]", " ", text)
    fewest, most = len(plain.split()), len(_WORD.findall(plain))
    listed = _list_items(text)
    items = len(listed) if all(len(item.split()) <= _TERM for item in listed) else 0
    if "-" in plain or "'" in plain or "/" in plain:
        most = max(most, len(re.findall(r"[^\W_]+", plain)))
    dashes = len([word for word in plain.split() if not any(map(str.isalnum, word))])
    low, high = min(fewest - dashes, most), max(fewest - dashes, most)
    return any(_is_within(count, constraint) for count in range(low, high + 1)) or (
        items > 1 and _is_within(items, constraint)
    )


def _keeps_sentences(constraint: Constraint, text: str) -> bool:
    prose = "\n".join(_BULLET.sub("", line) for line in text.splitlines())
    counted = sum(1 for each in analyse_text(prose).sentences if any(map(str.isalnum, each.text)))
    joined = sum(1 for each in analyse_text(" ".join(prose.split())).sentences if any(map(str.isalnum, each.text)))
    return _is_within(counted, constraint) or _is_within(joined, constraint)


def _keeps_paragraphs(constraint: Constraint, text: str) -> bool:
    blocks = [block for block in re.split(r"\n\s*\n", text) if any(map(str.isalnum, block))]
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    return _is_within(len(blocks), constraint) or (len(blocks) == 1 and _is_within(len(lines), constraint))


def _keeps_lines(constraint: Constraint, text: str) -> bool:
    return _is_within(sum(1 for line in text.splitlines() if line.strip()), constraint)


def _keeps_characters(constraint: Constraint, text: str) -> bool:
    plain = "".join(text.split())
    letters = sum(1 for each in plain if each.isalnum())
    return any(_is_within(count, constraint) for count in {letters, len(plain), len(text.strip())})


def _list_items(text: str) -> list[str]:
    """The items of a list, or of an enumeration that is all that the text holds; none where it is prose."""
    lines = text.splitlines()
    depth = min((len(line) - len(line.lstrip()) for line in lines if _BULLET.match(line)), default=0)
    marked = [line for line in lines if _BULLET.match(line) and len(line) - len(line.lstrip()) <= depth + 1]
    if len(marked) > 1 or (marked and len(lines) == 1):
        numbered = [line for line in marked if _NUMBERED.match(line)]
        return numbered if 1 < len(numbered) < len(marked) else marked
    body = " ".join(text.split()).rstrip(".。!！")
    if re.search(r"[.!?。！？:：]\s*\S", body):
        return []
    parts = [part for part in _COMMA.split(body) if part.strip()]
    limit = _SHORT_ITEM if not _CJK.search(text) else 1
    few = all(len(part.split()) <= limit and len(_CJK.findall(part)) <= 3 * _SHORT_ITEM for part in parts)
    return parts if few and len(parts) > 1 else []


def _counted_items(constraint: Constraint, text: str) -> bool:
    listed = _list_items(text)
    if not listed:
        single = len(text.split()) <= _SHORT_ITEM and "\n" not in text and not _CJK.search(text)
        return not (single and constraint.least > 1)
    return _is_within(len(listed), constraint)


def _has_table(constraint: Constraint, text: str) -> bool:
    rows = [line for line in text.splitlines() if line.count("|") >= 2 or "\t" in line.strip()]
    return len(rows) >= 2 or "<table" in text.lower() or "```" in text


def _is_json(constraint: Constraint, text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _has_bullets(constraint: Constraint, text: str) -> bool:
    return any(_BULLET.match(line) for line in text.splitlines())


def _has_numbers(constraint: Constraint, text: str) -> bool:
    return sum(1 for line in text.splitlines() if _NUMBERED.match(line)) >= 1


def _is_brief(constraint: Constraint, text: str) -> bool:
    """A value and nothing else; a sentence may be short in Chinese and Japanese."""
    words = _WORD.findall(re.sub(r"(?<=\d)[\s,.](?=\d{3})", "", text))
    listed = constraint.most > BRIEFEST and bool(_list_items(text))
    return listed or (len(words) <= constraint.most and len(_CJK.findall(text)) <= 3 * constraint.most)


def _answers_each(constraint: Constraint, text: str) -> bool:
    """As many clauses, items and values ("Mozart, in 1791") as there are questions."""
    pieces = [part for clause in _CLAUSES.split(text) for part in _COMMA.split(clause) if any(map(str.isalnum, part))]
    return len(pieces) + sum(1 for piece in pieces if _VALUED.search(piece)) >= constraint.least


_CHECKS: Mapping[Kind, Callable[[Constraint, str], bool]] = {
    "words": _keeps_words,
    "sentences": _keeps_sentences,
    "paragraphs": _keeps_paragraphs,
    "lines": _keeps_lines,
    "characters": _keeps_characters,
    "items": _counted_items,
    "table": _has_table,
    "json": _is_json,
    "bullets": _has_bullets,
    "numbered": _has_numbers,
    "brief": _is_brief,
    "questions": _answers_each,
}


# The language of code

_BLOCK = re.compile(r"```([\w+#.-]*)[^\n]*\n.*?(?:```|\Z)", re.DOTALL)

_NAMES = {
    "python": r"(?i:python|django|flask|pandas)(?:3|\d)?",
    "javascript": r"(?i:javascript|node\.?js|js)",
    "typescript": r"(?i:typescript)",
    "java": r"(?i:java)",
    "c": r"C(?![\w+#])",
    "c++": r"(?i:c\+\+|cpp)",
    "c#": r"(?i:c#|csharp)",
    "go": r"Go(?=[ ,.:：?!，。、\u3040-\u30ff\u4e00-\u9fff]|$)|(?i:golang)",
    "rust": r"Rust|rust(?=で|程序|コード)",
    "ruby": r"(?i:ruby)",
    "php": r"(?i:php)",
    "sql": r"(?i:sql|postgres\w*|mysql|sqlite)",
    "bash": r"(?i:bash|shell|zsh)",
    "powershell": r"(?i:powershell)",
    "html": r"(?i:html)",
    "css": r"(?i:css)",
    "swift": r"Swift",
    "kotlin": r"(?i:kotlin)",
    "r": r"R(?=[ ,.?!]|$)(?<=\bin R)",
    "perl": r"Perl",
    "haskell": r"(?i:haskell)",
    "lua": r"(?i:lua)",
    "scala": r"Scala",
}
_EACH = {name: re.compile(rf"(?<![A-Za-z0-9_.])(?:{pattern})(?![A-Za-z0-9_])") for name, pattern in _NAMES.items()}
_TAGS = {
    "py": "python", "python3": "python", "js": "javascript", "node": "javascript", "jsx": "javascript",
    "ts": "typescript", "tsx": "typescript", "cpp": "c++", "cs": "c#", "csharp": "c#", "golang": "go", "rs": "rust",
    "rb": "ruby", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "bash", "postgresql": "sql", "mysql": "sql",
    "sqlite": "sql", "kt": "kotlin", "hs": "haskell", "ps1": "powershell", "pwsh": "powershell",
}  # fmt: skip
_KIN = ({"javascript", "typescript"}, {"c", "c++"}, {"html", "css", "javascript"})


def check_code_language(turn: Exchange) -> Iterator[Fault]:
    """Code in other languages than the one that was asked for."""
    if is_in_wrong_code(turn.asked.text, turn.response):
        yield Fault(flag="constraint", about=", ".join(sorted(code_asked_for(turn.asked.text))))


def code_asked_for(message: str) -> frozenset[str]:
    """The programming languages that a message names."""
    return frozenset(name for name, pattern in _EACH.items() if pattern.search(message))


def code_written(response: str) -> frozenset[str]:
    """The programming languages that the code blocks of a response are said to be in."""
    tags = (_TAGS.get(tag.lower(), tag.lower()) for tag in _BLOCK.findall(response))
    return frozenset(tag for tag in tags if tag in _NAMES)


def is_in_wrong_code(message: str, response: str) -> bool:
    """Whether code was asked for in one language, and all that came is in others; a shell may run any of them."""
    if "```" not in response or not (wanted := code_asked_for(message)):
        return False
    allowed = wanted.union(*(kin for kin in _KIN if kin & wanted))
    written = code_written(response) - {"bash"}
    return bool(written) and not written & allowed
