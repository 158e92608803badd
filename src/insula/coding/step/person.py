"""What a person says to a coding agent: each interrupt, rejection, correction or prompt, in words of their own.

Only plain words are kept, redacted and bounded: what was pasted, quoted or written by a host in the user's name was
said by somebody else, and a rule must never be founded on it (law 10). A short quotation or piece of code is a name
("run `make test`"), and stays.
"""

import re

from insula.coding.step.redacting import redact_command, redact_start
from insula.value import Value

PROMPT = "prompt"
INTERRUPT = "interrupt"
REJECTION = "rejection"

LONGEST = 600
"""Characters of a person's words that are kept."""
LONGEST_TARGET = 120
"""Characters of what was turned down that are kept."""
PARAGRAPH = 400
"""A longer paragraph was hardly typed for an agent."""
_READ = 20_000
"""Characters of a prompt that are looked at."""
_QUOTED_WORDS, _CODE_WORDS = 2, 6
"""Words of a quotation, or of code in a line, up to which it is a name."""

_BLOCKS = r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)|<([\w-]+)[^>\n]*>.*?(?:</\1>|\Z)|<[\w/-]+[^>\n]*>"
_CITED = (
    r"(?m)^[ \t]*(?:[>|]|[$%❯➜✓✔✗✘⎿●☐☒] ?|at \S+\(|File \"|"
    r"\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d|[^\s:]+:\d+(?::\d+)?:"
    r"|[|+]{2,}|\d+ \||"
    r"(?:diff --git|@@ |\+\+\+ |--- a/|index [0-9a-f]{7})|(?:\+|-)(?! |\s*$)[^\n]*[;{}]$)[^\n]*$"
)
_QUOTES = (
    r"`[^`\n]*`?|\"[^\"\n]*\"?|“[^”\n]*”?|„[^“”\n]*[“”]?|«[^»\n]*»?|「[^」\n]*」?|『[^』\n]*』?"
    r"|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^’\n]*’(?!\w)"
)
_WIDE = r"[\u3040-\u30ff\u3400-\u9fff]"
_WIDE_CHARS = 8


FROM_HOSTS = (
    "<task-notification>",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below",
    "Stop hook feedback",
    "Implement the following plan:",
    "<system-reminder>",
)
"""How a message begins that a host wrote in the user's name."""


def is_of_host(message: str) -> bool:
    """Whether a host wrote a message in the user's name, such as the end of a task in the background."""
    return message[:200].lstrip().startswith(FROM_HOSTS)


class Remark(Value):
    """One thing that a person did or said."""

    kind: str
    """`prompt`, `interrupt` or `rejection`."""
    words: str = ""
    """Their own words, redacted; empty where there were none, or none that are surely theirs."""
    about: str = ""
    """Of a rejection: the command or path that was turned down, redacted."""


def extract_own_words(message: str) -> str:
    """The plain words of a person's own in a message, redacted, at most `LONGEST` characters; empty for none.

    What stands in blocks of code, tags and citations is left out, so are long quotations, lines that a program wrote,
    paragraphs too long to have been typed, and whatever follows a line that ends with a colon.
    """
    text = redact_start(message, _READ)[:_READ].replace("\r", "\n")
    text = strip_pasted(text)
    kept: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip() and len(paragraph) <= PARAGRAPH:
            kept.append(" ".join(paragraph.split()))
        if paragraph.rstrip().endswith((":", "：")):
            break
    words = kept if len(kept) <= 2 else [kept[0], kept[-1]]
    return " ".join(words)[:LONGEST].strip(" …")


def strip_pasted(text: str) -> str:
    """A text without blocks of code, tags, lines that a program wrote, and quotations that are no names."""
    if "```" in text or "~~~" in text or "<" in text:
        text = re.sub(_BLOCKS, " … ", text, flags=re.DOTALL)
    return re.sub(_QUOTES, _keep_name, re.sub(_CITED, "", text))


_REJECTED = "The user doesn't want to"
_REASON = "the user said:"


def read_rejection(output: str, target: str = "") -> Remark | None:
    """The rejection of a call (of its command or path) that stands in place of its result; None for a result."""
    if not output[:80].lstrip().startswith(_REJECTED):
        return None
    return make_rejection(output.partition(_REASON)[2], target)


def make_rejection(words: str, target: str) -> Remark:
    """What the user says to a call that they turned down; without words where they gave no reason."""
    about = redact_command(target, LONGEST_TARGET)[0][:LONGEST_TARGET]
    return Remark(kind=REJECTION, words=words.strip(), about=about)


def _keep_name(match: "re.Match[str]") -> str:
    quoted = match[0]
    most = _CODE_WORDS if quoted[0] == "`" else _QUOTED_WORDS
    return quoted if len(quoted.split()) <= most and len(re.findall(_WIDE, quoted)) <= _WIDE_CHARS else "…"


def dump_remark(remark: Remark, at: float, away: bool = False) -> "dict[str, object]":
    """The line of a trace: `{"e": "user", "at", "kind", "words"}`; `away` where nobody attends the session."""
    return {"e": "user", "at": at, **remark.as_dict(), **({"away": True} if away else {})}
