"""Fits `insula.redaction.head`, which tells secrets that no rule names: `python -m insula_bench.secrets --fit`.

What is fitted on: the templates of `secret_lines`, each filled in many times and put into other words; nouns of secrets
beside three times as many of other things; and, where nothing is secret, ordinary messages and half of Python's
library, but no file that changes with every commit. With `fold` every fifth template is left
out, which is what the head is measured on.
"""

import random
import re
import sysconfig
from array import array
from binascii import crc32
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from insula.redaction import head
from insula_bench.other_hands import is_held_out
from insula_bench.secret_lines import NONE, SECRETS, Case, fill, ordinary_messages, read_lines

TIMES = 6
"""How often a template is filled in."""
HEAVY = 1.5
"""What a false alarm weighs against a miss."""
ORDINARY = 1.8
"""What a false alarm in an ordinary message weighs."""
COMPOSED = 2
"""How often each noun of a secret is put into each form."""
SAID = 5
"""In how many sentences a door is spoken of with its code, and in how many without."""
_VALUE = re.compile(r"(?:\{\w+\}|の)+")
ASSIGNED = 6
"""How often each name is assigned to in each form of gitleaks."""
SIGNS = ("=", ": ", " = ", "=", ':"', '="', ' = "', "：")
"""What stands between a name and what it is assigned."""
PLAIN = 3
"""How many times as often a noun of what is no secret is, and any word: most numbers in a talk are of no code."""
OWNED, CAMEL = 0.5, 0.3
KINDS = (
    ("«{pw}»", "«{pw}»", "«{word}{n2}»"),
    ("«{pin}»", "«{c6}»", "«{pin}»", "«{c6}»", "«{pin}{L}»", "«{d3}» «{d3}»"),
    ("«{tok}»",),
    ("{id}", "{ref}", "{n4}", "{n5}", "{n6}", "{n3}", "{word}{n2}"),
)
"""What stands for a value behind the nouns of each column."""
QUESTIONS = ("", "", "what is the ", "your ", "qual è ", "¿cuál es ", "quel est ", "wie lautet ", "qual é ")
BACK = ("Which", "what is it", "¿Cuál es", "Qual è", "Qual é", "lequel", "Welches denn", "no idea", "どれ", "哪个")
"""How an assistant asks for what was named, and asks back."""
ERRORS = ("Exit code 1\nError: ", "Error: ", "error: ", "fatal: ", "failed: ", "$ ", "> ", "warning: ")
"""What stands before a text that a program repeats."""
KEYS = (
    ("{KIND}password {KIND}passwd {KIND}pwd {KIND}pass {KIND}passphrase {KIND}pin", ("«{pw}»", "«{pw}»", "«{word}»")),
    ("{KIND}secret {KIND}token {KIND}key {KIND}auth {KIND}credential {KIND}api_key", ("«{tok}»", "«{hex}»", "«{tok}»")),
    (
        "name title user host region theme mode label color path version keyboard keyword key_name token_count"
        " password_hint secret_name auth_type public_key_id",
        ("{word}", "{word}{n2}", "{ver}", "{id}", "{word}-{word}", "{path}", "{word}_{word}"),
    ),
)
"""What the forms of gitleaks assign to: names of secrets, and names of what is none, with what stands for a value."""
EPOCHS, AVERAGED, RATE, BATCH = 6, 3, 0.15, 512
DROPPED = 0.3
"""Share of the features that are left out by chance (Srivastava et al. 2014): none may be learned by heart."""
SEEDS = 2
"""How many times it is fitted, each in another order: what is shipped is the mean."""
RUNS = 4
"""Of how many messages without several words that are a secret one is read for these."""
_SEVERAL = re.compile(" |[\u3041-\u9fff]{2}")
FOLDS = 5
HERE = Path(__file__).parent
PIECE = 6
"""Lines of code that are read together."""

Row = tuple[set[int], int, float]
Order = NDArray[np.int64]


class Rows(NamedTuple):
    """What is fitted on."""

    features: NDArray[np.int32]
    """Those of all rows, one row behind the other."""
    sizes: Order
    """How many features each row has."""
    labels: NDArray[np.float64]
    """1 for a secret."""
    costs: NDArray[np.float64]


def fit(fold: int | None = None) -> bytes:
    """The weights as the head keeps them, fitted without the templates of a fold."""
    features, sizes, labels, costs = array("i"), array("q"), array("d"), array("d")
    for found, label, cost in _rows(fold):
        features.extend(sorted(found))
        sizes.append(len(found))
        labels.append(label)
        costs.append(cost)
    rows = Rows(np.array(features), np.array(sizes), np.array(labels), np.array(costs))
    return pack(sum((_descend(rows, seed) for seed in range(1, SEEDS + 1)), np.zeros(1 << head.BITS)) / SEEDS)


def pack(weights: NDArray[np.float64]) -> bytes:
    """Weights as the head keeps them: each in a byte."""
    whole = np.clip(np.round(weights * head.SCALE), -127, 127).astype(np.int16) + 128
    return bytes(whole.astype(np.uint8))


def _descend(rows: Rows, seed: int) -> NDArray[np.float64]:
    """Logistic regression by AdaGrad (Duchi et al. 2011); the weights of the last epochs are averaged (Polyak 1992)."""
    size = 1 << head.BITS
    weights, squares, total = np.zeros(size), np.full(size, 1e-3), np.zeros(size)
    chance = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        for batch, flat, sizes in _batches(rows, chance.permutation(len(rows.sizes))):
            kept = (chance.random(len(flat)) > DROPPED) / (1 - DROPPED)
            odds = np.clip(np.add.reduceat(weights[flat] * kept, np.cumsum(sizes) - sizes), -30, 30)
            error = (1 / (1 + np.exp(-odds)) - rows.labels[batch]) * rows.costs[batch]
            step = np.bincount(flat, np.repeat(error, sizes) * kept, size)
            moved = np.flatnonzero(step)
            squares[moved] += step[moved] ** 2
            weights[moved] -= RATE * step[moved] / np.sqrt(squares[moved])
        total += weights * (epoch >= EPOCHS - AVERAGED)
    return total / AVERAGED


def _batches(rows: Rows, order: Order) -> Iterator[tuple[Order, NDArray[np.int32], Order]]:
    """Some rows at a time: which, their features in a row, and how many each has."""
    starts = np.cumsum(rows.sizes) - rows.sizes
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        sizes = rows.sizes[batch]
        offsets = np.cumsum(sizes) - sizes
        yield batch, rows.features[np.repeat(starts[batch] - offsets, sizes) + np.arange(sizes.sum())], sizes


def templates(names: tuple[str, ...], fold: int | None, *, left_out: bool = False) -> list[str]:
    """The templates of some files: those of all folds but one, or of that one alone."""
    lines = [line for name in names for line in read_lines(name)]
    return [line for line in lines if (crc32(line.encode()) % FOLDS == fold) == left_out]


def compose(chance: random.Random) -> Iterator[Case]:
    """Sentences in which a noun says what a value is: of nouns that name secrets, and of such that do not."""
    for line in read_lines("nouns"):
        _, forms, owners, *nouns = ([part.strip() for part in field.split(";")] for field in line.split("|"))
        *secret, plain = nouns
        for names, kind in zip((*secret, [*plain, *["{word}"] * len(plain)] * PLAIN), KINDS, strict=True):
            for name in names:
                for form in forms:
                    subject = chance.choice(owners).replace("X", name) if chance.random() < OWNED else name
                    said = form.replace("X", "\0").replace("Y", chance.choice(kind)).replace("\0", subject)
                    yield fill(said, chance)
                value = chance.choice(kind)
                yield fill(f"assistant: {chance.choice(QUESTIONS)}{name}?\\nuser: {value}", chance)
                yield fill(f"user: {name}\\nassistant: {chance.choice(BACK)}?\\nuser: {value}", chance)
                yield from (fill(assigned, chance) for assigned in _assign_noun(name, kind, chance))


def _assign_noun(name: str, kinds: Sequence[str], chance: random.Random) -> Iterator[str]:
    """A noun as a setting: with what stands before it and without, its words joined and not."""
    for before in ("", "{word}={word}{n1}\\n", "user={user} ", "[{word}]\\n{word} = {user}\\n"):
        sign, value = chance.choice(SIGNS), chance.choice(kinds)
        key = name.replace(" ", chance.choice(("_", "", "-")))
        yield f"{before}{key}{sign}{value}" + ('"' if sign.endswith('"') else "")


def say_doors(chance: random.Random) -> Iterator[Case]:
    """Sentences of what opens with a code, comes in with a password or listens to a word, and others about the same."""
    lines = read_lines("doors")
    for values, subjects, secret, plain in zip(*(lines[start::4] for start in range(4)), strict=True):
        kinds = [_VALUE.sub(r"«\g<0>»", value) for value in values.removeprefix("> ").split(" ")]
        for subject in subjects.split("; "):
            for forms in (secret.split("; "), plain.split("; ")):
                for form in chance.sample(forms, min(SAID, len(forms))):
                    said = form.replace("X", "\0").replace("Y", chance.choice(kinds)).replace("\0", subject)
                    yield fill(said if chance.random() < 0.5 else said[0].upper() + said[1:], chance)


def assign(chance: random.Random) -> Iterator[Case]:
    """Assignments in the forms of many languages, of secrets and of what is none."""
    owners = ("", "", "db_", "my_", "app_", "user_", "admin_")
    for form in read_lines("forms"):
        for names, kinds in KEYS:
            for name in names.split():
                key = name.replace("{KIND}", chance.choice(owners))
                if chance.random() < CAMEL:
                    first, *rest = key.split("_")
                    key = first + "".join(map(str.capitalize, rest))
                line = re.sub(r"\{i\}_?[Tt]oken", lambda _, key=key: key, form)
                line = re.sub(r"\{[iI]\}_TOKEN", lambda _, key=key: key.upper(), line)
                yield fill(line.replace("{s}", chance.choice(kinds)), chance)


def _rows(fold: int | None) -> Iterator[Row]:
    chance = random.Random(9)
    ordinary = [text for text in dict.fromkeys(ordinary_messages()) if len(text) > PIECE * 2]
    for names, cost in ((SECRETS, 1.0), (NONE, HEAVY)):
        for line in templates(names, fold):
            for _ in range(TIMES):
                yield from _read(_vary(fill(line, chance), chance, ordinary), cost)
    for _ in range(COMPOSED):
        for case in compose(chance):
            yield from _read(_vary(case, chance, ordinary), 1.0 if case.secrets else HEAVY)
    for _ in range(COMPOSED):
        for case in say_doors(chance):
            yield from _read(_vary(case, chance, ordinary), 1.0 if case.secrets else HEAVY)
    for _ in range(ASSIGNED):
        for case in assign(chance):
            yield from _read(_vary(case, chance, ordinary), 1.0 if case.secrets else HEAVY)
    for text in ordinary if fold is None else [text for text in ordinary if crc32(text.encode()) % FOLDS != fold]:
        yield from _read(Case(text[:600], (), text), ORDINARY)
    for text in _code():
        yield from _read(Case(text[:600], (), text), 1.0, everywhere=False)


def _read(case: Case, cost: float, *, everywhere: bool = True) -> Iterator[Row]:
    """The words of a case, each with whether it is a secret.

    Args:
        everywhere: whether plain words far from any name are read, too, as where it is used they are not.
    """
    text, lower = case.text, case.text.lower()
    if len(text) != len(lower):
        return
    spans: list[tuple[int, int]] = []
    for secret in case.secrets:
        start = text.find(secret, spans[-1][1] if spans else 0)
        spans += [(start, start + len(secret))] if start >= 0 else []
    names = head.find_names(lower)
    around = head.Around(lower, [(0, len(text))], is_message=len(text) <= head.SHORT)
    if everywhere and around.is_message:
        yield around.list_message_features(), int(bool(spans)), cost
        yield from _read_runs(text, spans, names, around, cost)
    for start, end in head.candidates(text, [(0, len(text))] if everywhere else head.find_near(names)):
        held = [(first, last) for first, last in spans if start < last and end > first]
        is_whole = any(
            start <= first + 1 and last <= end + 1 and end - start <= last - first + 1 for first, last in held
        )
        if not held or is_whole or not any(start >= first and end <= last for first, last in held):
            yield head.list_word_features(text, (start, end), names, around), int(is_whole), cost


def _read_runs(
    text: str, spans: list[tuple[int, int]], names: list[tuple[int, int]], around: head.Around, cost: float
) -> Iterator[Row]:
    """The words of a message, each with whether it is one of several that are a secret."""
    several = [span for span in spans if _SEVERAL.search(text, *span)]
    if not several and crc32(text.encode()) % RUNS:
        return
    for start, word in zip(around.read_starts(), around.words, strict=True):
        end = start + len(word)
        inside = any(first <= start and end <= last for first, last in several)
        if word != "\n" and (inside or not any(first < end and start < last for first, last in spans)):
            yield head.list_part_features(text, (start, end), names, around), int(inside), cost


def _vary(case: Case, chance: random.Random, ordinary: list[str]) -> Case:
    """The same in small letters but for the secrets, or beside other words."""
    text, share = case.text, chance.random()
    if share < 0.3:
        lowered = case.text.lower()
        for secret in case.secrets:
            lowered = lowered.replace(secret.lower(), secret, 1)
        return Case(lowered, case.secrets, case.line)
    if share < 0.36:
        text = chance.choice(ERRORS) + text
    elif share < 0.6:
        text = chance.choice(ordinary)[:160] + chance.choice([" ", "\n", ". ", "\n\n"]) + text
    elif share < 0.75:
        text += chance.choice([" ", "\n", ". "]) + chance.choice(ordinary)[:120]
    return Case(text, case.secrets, case.line)


def _code() -> Iterator[str]:
    for path in library_files():
        if not is_held_out(path.name):
            lines = path.read_text("utf-8", "replace").splitlines()
            yield from ("\n".join(lines[start : start + PIECE]) for start in range(0, len(lines), PIECE))


def library_files() -> list[Path]:
    """The files of Python's own library, without its tests."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    names = ("asyncio", "email", "http", "urllib", "json", "logging", "unittest", "xml", ".")
    return [path for name in names for path in sorted((folder / name).glob("*.py"))]
