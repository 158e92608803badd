"""How a command may be named: to the agent, to itself, and without what is nobody's business."""

LABEL = 60
"""Characters of a command as it is named to the agent."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-=~")


def label(words: "tuple[str, ...]") -> str:
    """Words as they may be told: plain ones only, at most `LABEL` characters, cut between them."""
    told = ""
    for word in words:
        if not word or len(word) > LABEL or not _PLAIN.issuperset(word):
            continue
        if len(told) + len(word) >= LABEL:
            break
        told += f" {word}" if told else word
    return told


def named_check(family: str, selectors: "tuple[str, ...]", workspace: str = "") -> str:
    """A check, which part of it is run and where, as one word."""
    return " ".join((family, *((f"@{workspace}",) if workspace else ()), *selectors))[:160]


def address(url: str) -> str:
    """Host and path of an address: no user, no query."""
    bare = url.split("://", 1)[-1].split("?", 1)[0].split("#", 1)[0]
    return bare.rsplit("@", 1)[-1]
