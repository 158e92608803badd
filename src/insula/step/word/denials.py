"""Acts that a clause denies: "don't commit", "nichts committen", "コミットしないで".

Where an act of version control is named, its negation is told by the form of the clause: a negation shortly before it,
or behind it where the language puts it there, with nothing between that makes it a report or a reminder.
"""

import re

from insula.step.word.table import table

_NEAR, _BEHIND = 42, 24
"""Characters between a negation and what it is about: before it, and behind it."""
_BETWEEN = 4
"""Words between them."""
_ADJACENT = frozenset(("no", "kein", "keine", "keinen", "pas de", "aucun", "niente", "nessun"))
"""Negations of nouns: "no commits" is a wish, "no condensation commit" tells what is missing."""
_FILLING = frozenset(
    "hagas haga hagáis hacer un ningún más new more further other neuen weiteren mehr nouveau autre package packages "
    "dependency dependencies library libraries paket pakete abhängigkeiten bibliotheken paquets dépendances paquetes "
    "dependencias pacotes dependências pacchetti dipendenze".split()
)


def denied(low: str) -> "tuple[str, ...]":
    """The acts that a clause, in small letters, denies."""
    acts = table()["acts"]
    found = tuple(act for act, pattern in acts.items() if any(_denies(low, one) for one in re.finditer(pattern, low)))
    return tuple(act for act in found if not (act == "push" and "force-push" in found))


def _denies(low: str, act: "re.Match[str]") -> bool:
    before, after = low[max(0, act.start() - _NEAR) : act.start()], low[act.end() : act.end() + _BEHIND]
    if any(_stands_before(pattern, before) for pattern in table()["before"]):
        return True
    return any(re.match(rf"\W{{0,3}}(?:\w+\W+){{0,2}}?(?:{pattern})", after) for pattern in table()["after"])


def _stands_before(pattern: str, before: str) -> bool:
    last = next(reversed(list(re.finditer(pattern, before))), None)
    if last is None or re.search(table()["existing"], before[: last.start()]):  # "there is no stash"
        return False
    between = before[last.end() :]
    if last[0].strip() in _ADJACENT and not set(between.split()) <= _FILLING:
        return False
    return "," not in between and len(between.split()) <= _BETWEEN and re.search(table()["innocent"], between) is None
