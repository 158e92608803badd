"""What still stands, told again in the user's own words: after a compaction, and to a subagent."""

from insula.step.word.said import RULE, STANDING, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "told_again"

LONGEST = 600
"""Characters of all that is told (P2)."""
SHORT = 90
"""Characters of a word where not all would fit otherwise."""
AGAIN = "[insula] Your user said earlier in this session, and it still stands:"
TO_OTHERS = "[insula] The user said in this session, and it holds for you, too:"


def tell(words: "Sequence[Word]", opening: str = AGAIN) -> str:
    """What stands, as a list of at most `LONGEST` characters, the newest where not all fits; empty for nothing."""
    said = list(dict.fromkeys(screened(word.said) for word in words if stands(word)))
    said = [one for one in said if one]
    for most in (max(map(len, said), default=0), SHORT):
        lines = [f'- "{_cut(one, most)}"' for one in said]
        while lines and len("\n".join((opening, *lines))) > LONGEST and (most <= SHORT):
            del lines[0]
        if len("\n".join((opening, *lines))) <= LONGEST:
            return "\n".join((opening, *lines)) if lines else ""
    return ""


def stands(word: Word) -> bool:
    """Whether a word is one that is told again: what a rule says is told with the rules, what was of a moment never."""
    return word.kind in STANDING and word.holds != RULE


def screened(words: str) -> str:
    """The words as one safe line; nothing where they must not reach an agent."""
    from insula.screening import screen

    safe = screen(words, 2 * SHORT)
    return "" if safe.reasons or not safe.text.isprintable() else safe.text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"
