"""From a reply to the program in it, and to what that comes to."""

import re

from insula.errors import InputError
from insula.solve.answers import Answer, of_number
from insula.solve.arithmetic import run

_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n?(.*?)(?:```|\Z)", re.S | re.I)
_LINE = re.compile(
    r"^\s*(?:#.*|def \w+\(\).*|return\b.*|print\(.*|[A-Za-z_]\w*\s*(?::\s*\w+\s*)?(?:[-+*/%]|//|\*\*)?=[^=].*)$"
)


def program_in(text: str) -> str:
    """The last program in a reply: the last fenced block that has one, else its last lines that are one."""
    for block in reversed(_FENCE.findall(text)):
        if "=" in block or "return" in block:
            return block.strip("\n")
    lines = text.splitlines()
    start = max((at for at, line in enumerate(lines) if line.lstrip().startswith("def ")), default=0)
    return "\n".join(line for line in lines[start:] if _LINE.match(line))


def guessed(text: str) -> Answer | None:
    """What the program that is fenced in a reply comes to, whatever the reply says that it prints; None without one."""
    return computed(program_in(text)) if "```" in text else None


def computed(program: str) -> Answer | None:
    """What a program comes to; None where it is none that can be computed."""
    try:
        return of_number(run(program))
    except InputError:
        return None
