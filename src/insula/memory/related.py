"""What a sentence makes, by its meaning, of a wish that stands: the same, more exact, the opposite, taken back.

Of both the heads tell what value of the manner of answers they speak of (`VALUES` in the weights: short, long,
Celsius, …); two of one slot and another value are opposites, in whatever language. A last small head weighs that with
what the words show. `insula bench wishes` fits them on `wish_values.txt` and on the tables of pairs.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from insula.memory.manner import KINDS, WEIGHTS, kinds, weights
from insula.memory.matter import DIMENSIONS, SCALE
from insula.memory.vectors import Array, Vector
from insula.text.force import is_none, is_once, read
from insula.text.marks import Part, between
from insula.text.wishing import WORDS_CHARS, Relation, Wish

RELATIONS: tuple[Relation, ...] = ("same", "refines", "contradicts", "lifts", "unrelated")
SURE = 0.6
"""Chance from which a sentence makes anything of a wish that stands."""
POSSIBLE = 0.15
"""Chance of being a wish, or of taking one back, from which a part is compared with those that stand."""
NAME, TOOL, ELSE = "name", "code", "else"
"""Values that are a person's own word, and what speaks of no answer."""
_LEAST = 1e-3


class Heads(NamedTuple):
    """The weights: of the kinds of sentences, of the values, with their names, and of the relations."""

    kinds: Array
    names: tuple[str, ...]
    values: Array
    relations: Array


class Said(NamedTuple):
    """A part of a message, or a wish that stands, with its vector."""

    part: Part
    vector: Vector


@cache
def heads() -> Heads:
    """The shipped weights."""
    with (files("insula.memory") / WEIGHTS).open("rb") as file:
        raw = np.load(file)
        return Heads(weights(), tuple(map(str, raw["names"])), raw["values"].astype(np.float32), raw["relations"])


def may_change(one: Said) -> bool:
    """Whether a part that its words took for no wish may yet change one: hardly any other word of the day does."""
    if one.vector.size != DIMENSIONS:
        return False
    chances = kinds(one.vector, one.part.marks)
    return float(chances[KINDS.index("wish")] + chances[KINDS.index("lift")]) >= POSSIBLE


def with_related(
    heard: Sequence[Wish], said: Sequence[Said], standing: Sequence[tuple[str, Vector]], known: Heads | None = None
) -> tuple[Wish, ...]:
    """The wishes of a message with what they make, by their meaning, of those that stand; and what its words alone
    did not take for a wish, where it changes one of them.

    Args:
        heard: what the message wishes.
        said: its parts.
        standing: the words of the wishes that stand.
        known: the weights; the shipped ones unless others are being measured.
    """
    told, more = list(heard), list[Wish]()
    for one in said:
        if one.vector.size == DIMENSIONS and (found := related(one, standing, known or heads())):
            mine = [place for place, wish in enumerate(told) if one.part.text in wish.words]
            for place in mine:
                told[place] = _changing(told[place], found)
            more += [] if mine else _unheard(one.part, found)
    return (*told, *more)


def _changing(wish: Wish, found: tuple[tuple[str, Relation], ...]) -> Wish:
    """A wish with what it makes of others: one for now that says otherwise than one that stands is one, too."""
    if wish.force in ("once", "pointing"):
        return wish
    stands = wish.force == "asked" and any(each in ("refines", "contradicts") for _, each in found)
    return wish._replace(meant=found, force="standing" if stands else wish.force)


def _unheard(part: Part, found: tuple[tuple[str, Relation], ...]) -> list[Wish]:
    """A part that its words took for no wish, as one that changes those that stand."""
    one = read(part.text, part.language)
    made = tuple(each for each in found if each[1] != "same")
    if not made or is_none(one) or is_once(one) or len(part.text) > WORDS_CHARS:
        return []
    lifts = all(each == "lifts" for _, each in made)
    return [Wish(part.text, one.slots, "weak" if lifts else "standing", lifts, meant=made)]


def related(new: Said, standing: Sequence[tuple[str, Vector]], known: Heads) -> tuple[tuple[str, Relation], ...]:
    """What a part makes of each wish that stands; those that it leaves as they are do not come."""
    found: list[tuple[str, Relation]] = []
    for text, vector in standing:
        chances = _softmax(weighed(new, text, vector, known) @ known.relations)
        best = int(chances.argmax())
        if chances[best] >= SURE and RELATIONS[best] != "unrelated":
            found.append((text, RELATIONS[best]))
    return tuple(found)


def weighed(new: Said, standing: str, vector: Vector, known: Heads) -> Array:
    """What tells of a sentence and a wish that stands, as numbers, the last one for the intercept."""
    mine, theirs = (_valued(one, known.values) for one in (new.vector, vector))
    slots = _slots(known.names)
    none = known.names.index(ELSE)
    slot = float((mine @ slots) @ (theirs @ slots) - mine[none] * theirs[none])
    value = float(mine @ theirs - mine[none] * theirs[none])
    words = between(new.part.text, new.part.language, standing)
    kind = kinds(new.vector, new.part.marks, known.kinds)
    apart = max(slot - value, 0.0)
    own = [float(mine[at] * theirs[at]) for at in (known.names.index(NAME), known.names.index(TOOL))]
    found = [slot, value, apart, *np.log(np.array([slot, value, apart]) + _LEAST), float(new.vector @ vector)]
    found += [*kind, *words.plain, *(slot * each for each in (*words.of_one_slot, kind[KINDS.index("lift")]))]
    found += [part for each in own for part in (each, each * words.holds, each * (not words.holds))]
    return np.array([*found, 1.0], np.float32)


def _valued(vector: Vector, head: Array) -> Array:
    return _softmax(SCALE * vector @ head[:-1] + head[-1])


def _softmax(odds: Array) -> Array:
    chance = np.exp(odds - odds.max())
    return chance / chance.sum()


@cache
def _slots(names: tuple[str, ...]) -> Array:
    """Of each value its slot."""
    of = sorted({name.partition(".")[0] for name in names})
    return np.array([[name.partition(".")[0] == slot for slot in of] for name in names], np.float32)
