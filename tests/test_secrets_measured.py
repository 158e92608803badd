"""The registry of secret shapes, measured: on secrets that are nobody's, and on texts in which there are none."""

import asyncio
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from insula import Metacognition
from insula.redaction import redact
from insula.redaction.shapes import PLACES, TOKENS
from insula_bench.secret_lines import Case, cases, is_left

RECALL = 0.98
TOUCHED = 0.01
FALSE_PER_WORD = 1 / 100_000
WORDS = 200_000
SAME = 10
"""Seeds with which the templates are filled in: a shape holds for any value, not for one."""


@pytest.mark.parametrize("half", ["tokens", "tokens_more", "shapes"])
def test_what_people_paste_by_mistake_is_found(half: str) -> None:
    found = cases(half)
    missed = [case.line for case in found if any(is_left(redact(case.text), secret) for secret in case.secrets)]
    assert len(found) >= 150
    assert len(missed) / len(found) <= 1 - RECALL, "\n".join(missed)


@pytest.mark.parametrize("seed", range(SAME))
def test_a_shape_holds_whatever_stands_in_it(seed: int) -> None:
    found = [*cases("tokens", seed), *cases("tokens_more", seed), *cases("shapes", seed)]
    missed = [case.line for case in found if any(is_left(redact(case.text), secret) for secret in case.secrets)]
    assert len(missed) / len(found) <= 1 - RECALL, "\n".join(missed)


@pytest.mark.parametrize("seed", range(SAME))
def test_what_only_looks_like_a_secret_is_left_as_it_is(seed: int) -> None:
    found = cases("none_shapes", seed)
    touched = [case.line for case in found if redact(case.text) != case.text]
    assert len(found) >= 150
    assert len(touched) / len(found) <= TOUCHED, "\n".join(touched)


TELLING = 6
"""Characters of a secret that stand in a file by no accident."""


def test_no_secret_of_a_message_reaches_the_disk(tmp_path: Path) -> None:
    """One user says them all; what is kept is searched byte by byte, but for four digits: a time may hold them, too."""
    told = cases("shapes")
    kept = asyncio.run(_kept(told, tmp_path))
    missed = [
        case.line
        for case in told
        if any(secret in (kept if len(secret) >= TELLING else redact(case.text)) for secret in case.secrets)
    ]
    assert len(missed) / len(told) <= 1 - RECALL, "\n".join(missed)


async def _kept(told: list[Case], folder: Path) -> str:
    async with await Metacognition.open(folder / "insula.db", embed=None) as metacognition:
        for number, case in enumerate(told):
            async with metacognition.turn("ana", f"s{number // 20}", case.text) as turn:
                turn.finish("Noted.")
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("insula.db*")))


def test_code_without_secrets_is_left_as_it_is() -> None:
    """Python's own library, without its tests: as long as a person's novels, and full of names of passwords."""
    words, false = 0, list[str]()
    for text in _library():
        words += len(text.split())
        found = redact(text)
        false += [line for line in found.splitlines() if "[REDACTED:" in line]
        if words > WORDS:
            break
    assert words > WORDS
    assert len(false) <= words * FALSE_PER_WORD, "\n".join(false)


def test_each_rule_has_a_source_and_a_mark_that_stands_in_what_it_finds() -> None:
    rows = [line.split(None, 3) for line in TOKENS.strip().splitlines()]
    assert all(len(row) == 4 and set(row[2]) <= set("gdtvb") for row in rows)
    assert all(set(sources) <= set("gdtvb") and sources for _, _, sources, _, _ in PLACES)


def _library() -> Iterator[str]:
    folder = Path(sysconfig.get_paths()["stdlib"])
    for name in ("asyncio", "email", "http", "urllib", "json", "logging", "unittest", "xml", "."):
        for path in sorted((folder / name).glob("*.py")):
            yield path.read_text("utf-8", "replace")
