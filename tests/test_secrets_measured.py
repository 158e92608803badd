"""The registry of secret shapes, measured: on secrets that are nobody's, and on code in which there are none."""

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from insula.redaction import redact
from insula.secret_shapes import PLACES, TOKENS
from secrets_corpus import cases, left

RECALL = 0.98
FALSE_PER_WORD = 1 / 100_000
WORDS = 200_000
SAME = 10
"""Seeds with which the templates are filled in: a shape holds for any value, not for one."""


@pytest.mark.parametrize("half", ["held", "tuning"])
def test_what_people_paste_by_mistake_is_found(half: str) -> None:
    found = cases(half)
    missed = [case.line for case in found if any(left(redact(case.text), secret) for secret in case.secrets)]
    assert len(found) >= 150
    assert len(missed) / len(found) <= 1 - RECALL, "\n".join(missed)


@pytest.mark.parametrize("seed", range(SAME))
def test_a_shape_holds_whatever_stands_in_it(seed: int) -> None:
    found = [*cases("held", seed), *cases("tuning", seed)]
    missed = [case.line for case in found if any(left(redact(case.text), secret) for secret in case.secrets)]
    assert len(missed) / len(found) <= 1 - RECALL, "\n".join(missed)


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
