"""What a person does not want done, read from their own words in eight languages; nothing where it cannot be told.

"Don't commit", "never push to main", "stop stashing", "use pnpm, not npm", "don't touch `vendor/`". A wish about one
thing ("don't commit the lockfile") is no wish about all commits, a question is none, and neither is what is not to be
forgotten. What they ask for later is allowed again.
"""

import json
import os
import re

from insula.step import programs
from insula.step.state import BANS, RUN, TOUCH, Ban

_WORDS = "bans.json"
_NEAR = 42
"""Characters between a negation and what it is about."""
_ADJACENT = frozenset(("no", "kein", "keine", "keinen", "pas de", "aucun", "niente", "nessun"))
"""Negations of nouns: "no commits" is a wish, "no condensation commit" tells what is missing."""
_FILLING = frozenset(
    "hagas haga hagáis hacer un ningún más new more further other neuen weiteren mehr nouveau autre package packages "
    "dependency dependencies library libraries paket pakete abhängigkeiten bibliotheken paquets dépendances paquetes "
    "dependencias pacotes dependências pacchetti dipendenze".split()
)
_BETWEEN = 4
"""Words between them."""
_LINE = 600
_PATH = r"`?((?:[\w.-]+/)+[\w.*-]*|[\w-]+\.(?:[a-z]{1,5}))`?"
_NOT = (
    r"(?:,| and| und| et| y| e|，)?\s*(?:not|never|nicht|nie|niemals|pas|jamais|no|nunca|não|non|mai"
    r"|rather than|instead of|statt|anstatt|au lieu de|en vez de|而不是|不要用)\s+`?([\w-]+(?:\.\w+)*)`?"
)
_COMMON = frozenset("git go python node make cargo env time call".split())
"""Programs that a sentence may well set against others without a wish that they are never run."""
_KNOWN = frozenset((*programs.PROGRAMS, *programs.SUBCOMMANDS, *programs.SCRIPTS, *programs.WRAPPERS))


def minded(bans: tuple[Ban, ...], words: str) -> tuple[Ban, ...]:
    """The bans after further words of the user's: what they forbid is added, what they ask for is taken out."""
    forbidden, allowed = read(words)
    kept = [ban for ban in bans if ban not in forbidden and not (ban.act in allowed and not ban.what)]
    return (*kept, *forbidden)[-BANS:]


def read(words: str) -> tuple[tuple[Ban, ...], frozenset[str]]:
    """What the words forbid, and the acts that they ask for."""
    if not words:
        return (), frozenset()
    table, forbidden, allowed = _table(), list[Ban](), set[str]()
    for clause in re.split(table["clauses"], words[:_LINE].lower()):
        asked = clause.rstrip().endswith(("?", "？"))
        for act, pattern in table["acts"].items():
            found = re.search(pattern, clause)
            if found is None or (act == "push" and re.search(table["acts"]["force-push"], clause)):
                continue
            if not _negated(table, clause, found.start(), found.end()):
                allowed.add(act)
            elif not asked and (ban := _ban(table, act, clause, found.start(), found.end())) is not None:
                forbidden.append(ban)
        forbidden += [] if asked else _things(table, clause)
    return tuple(dict.fromkeys(forbidden)), frozenset(allowed - {ban.act for ban in forbidden})


def guesses(words: str) -> bool:
    """Whether an agent's last words explain something by a guess; code, tables and citations are none of its words."""
    if not words:
        return False
    own = re.sub(r"```.*?(?:```|\Z)|(?m:^[ \t]*[|>].*$)", " ", words[-4_000:], flags=re.DOTALL)
    return re.search(_table()["guesses"], own.lower()) is not None


def _negated(table: "Table", clause: str, start: int, end: int) -> bool:
    """Whether a word is denied: by a negation shortly before it, or behind it where the language puts it there."""
    before, after = clause[max(0, start - _NEAR) : start], clause[end : end + 24]
    if any(_denies(table, pattern, before) for pattern in table["before"].values()):
        return True
    return any(re.match(rf"\W{{0,3}}(?:\w+\W+){{0,2}}?(?:{pattern})", after) for pattern in table["after"].values())


def _denies(table: "Table", pattern: str, before: str) -> bool:
    last = next(reversed(list(re.finditer(pattern, before))), None)
    if last is None or re.search(table["existing"], before[: last.start()]):  # "there is no stash"
        return False
    between = before[last.end() :]
    if last[0].strip() in _ADJACENT and not set(between.split()) <= _FILLING:
        return False
    return "," not in between and len(between.split()) <= _BETWEEN and re.search(table["innocent"], between) is None


def _ban(table: "Table", act: str, clause: str, start: int, end: int) -> Ban | None:
    """A wish about an act as such; None where it is about one thing, or under a condition."""
    rest = clause[end:]
    if act == "push" and (place := re.search(table["places"], clause)):
        return Ban(act=act, what=place[1] or place[2])
    if re.search(table["asking"], rest):
        return Ban(act=act)
    about = re.split(table["reasons"], rest, maxsplit=1)[0]
    if re.search(table["conditions"], clause[:end] + about) or re.search(table["one_thing"], clause[:start]):
        return None
    return Ban(act=act) if re.match(table["tail"], about) else None


def _things(table: "Table", clause: str) -> "list[Ban]":
    """Programs that are not to be used, and paths that are not to be touched."""
    found = [
        Ban(act=RUN, what=match[1])
        for match in re.finditer(_NOT, clause)
        if match[1] in _KNOWN - _COMMON
        and re.search(table["uses"], clause[: match.start()])
        and not clause[match.end() :].strip(" .!`")
    ]
    for match in re.finditer(table["uses"], clause):
        thing = re.match(r"\s*(?:the\s+|(keine?n?|pas|no)\s+)?`?([\w-]+(?:\.\w+)*)`?", clause[match.end() :])
        if thing is None or thing[2] not in _KNOWN - _COMMON:
            continue
        if thing[1] or _negated(table, clause, match.start(), match.end() + thing.end()):
            found.append(Ban(act=RUN, what=thing[2]))
    for match in re.finditer(table["touches"], clause):
        path = re.match(rf"\W{{0,3}}(?:\w+\W){{0,4}}?{_PATH}", clause[match.end() :])
        if path and _negated(table, clause, match.start(), match.end() + path.end()):
            found.append(Ban(act=TOUCH, what=path[1].strip("/*.")))
    return [ban for ban in found if ban.what]


def _table() -> "Table":
    if not _READ:  # once in a process: an agent with the senses in it hears many messages
        with open(os.path.join(os.path.dirname(__file__), _WORDS), encoding="utf-8") as file:
            _READ.update(json.loads(file.read()))
    return _READ


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Table = dict[str, Any]
_READ: "Table" = {}
