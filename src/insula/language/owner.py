"""Whose a clause is: the beings that it speaks of, each as a path from who speaks, and which of them is its subject.

"My boss's dog" is `user/boss/dog`, neither me nor my boss; "Ana" is `ana`. Words of eight languages stand in
`people.json`; what they don't tell is nobody's, and fits everyone.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from insula.language.kinship import NOBODY, SOMEBODY, joints, people
from insula.language.spaced import spaced
from insula.language.unspaced import unspaced
from insula.text.grammar import UNSPACED

__all__ = [
    "ASSISTANT",
    "GROUPS",
    "NOBODY",
    "SOMEBODY",
    "USER",
    "Whose",
    "called",
    "fits",
    "joints",
    "meant_by",
    "names_of",
    "people",
    "same",
    "whose",
]

USER = "user"
ASSISTANT = "assistant"

GROUPS = {
    "partner": {"wife", "husband"},
    "parent": {"mother", "father"},
    "child": {"son", "daughter"},
    "sibling": {"sister", "brother", "twin"},
    "grandparent": {"grandmother", "grandfather"},
    "pet": {"dog", "cat", "horse", "bird", "rabbit", "hamster", "fish"},
    "family": {
        *("wife", "husband", "mother", "father", "son", "daughter", "sister", "brother", "child", "parent", "aunt"),
        *("uncle", "cousin", "niece", "nephew", "grandmother", "grandfather", "grandchild", "inlaw", "sibling", "twin"),
    },
}
"""Who may be meant by a word that says less."""
_INVERTED = re.compile(r"-(?:t-)?(je|tu|il|elle|on|nous|vous|ils|elles|moi|toi)\b", re.IGNORECASE)


@lru_cache(maxsize=1_024)
def called(name: str) -> str:
    """The word by which a person is spoken of, lower-case: of "Dr. Bea Ray" the first name. Families share the last."""
    words = name.lower().split()
    return next((word for word in words if not word.endswith(".")), words[-1] if words else "")


class Whose(NamedTuple):
    """Whom a clause is about, and who else stands in it."""

    subjects: frozenset[str]
    mentions: frozenset[str]


def whose(text: str, language: str, speaker: str, listener: str, before: Sequence[str] = ()) -> Whose:
    """Whom a clause is about.

    Args:
        text: the clause.
        language: its language.
        speaker: who says it: "I".
        listener: to whom: "you".
        before: the subjects of the clause before, whom "he" and "she" stand for.
    """
    me, you = called(speaker), called(listener)
    read = unspaced if language in UNSPACED else spaced
    text = _INVERTED.sub(r" \1", text) if language == "fr" else text
    found, subjects = read(text, people(language), me, you, next((one for one in before if one != me), SOMEBODY))
    return Whose(frozenset(subjects), frozenset(path for one in found for path in (one.path, one.named) if path))


def fits(asked: frozenset[str], said: frozenset[str]) -> bool:
    """Whether what is said of some may be of those asked about; of nobody in particular it always may."""
    if not asked or not said:
        return True
    kin, other_kin = asked - names_of(asked) - {USER}, said - names_of(said) - {USER}
    if kin and other_kin and not any(same(one, other) for one in kin for other in other_kin):
        return False  # my son Pablo is not my boss Pablo
    names, others = names_of(asked), names_of(said)
    if names and others and names.isdisjoint(others):  # my sister Ana is not my sister Eva
        return False
    return any(same(one, other) for one in asked for other in said)


def names_of(paths: frozenset[str]) -> frozenset[str]:
    """Those of some paths that are names."""
    return frozenset(path for path in paths if "/" not in path) - {NOBODY, SOMEBODY, USER, ASSISTANT}


def same(one: str, other: str) -> bool:
    """Whether two paths may mean the same being: "my partner" and "my wife"."""
    first, second = one.split("/"), other.split("/")
    return len(first) == len(second) and all(map(_kin, first, second))


def meant_by(path: str) -> frozenset[str]:
    """A path and those that may mean the same: of "my partner" also "my wife"."""
    owner, slash, last = path.rpartition("/")
    others = {*GROUPS.get(last, ()), *(group for group, kinds in GROUPS.items() if last in kinds)}
    return frozenset({path, *(f"{owner}/{other}" for other in others)}) if slash else frozenset({path})


def _kin(one: str, other: str) -> bool:
    return one == other or other in GROUPS.get(one, ()) or one in GROUPS.get(other, ())
