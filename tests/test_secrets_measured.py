"""What is redacted, measured on rows in no fit: providers of the half of gitleaks that is held out, and real code."""

import asyncio
from pathlib import Path

import pytest

from insula import Metacognition, redaction
from insula.redaction import redact
from insula.redaction.shapes import PLACES, TOKENS
from insula_bench.other_hands import is_held_out
from insula_bench.secret_lines import Case, cases, is_left
from insula_bench.secrets_fit import library_files

RECALL, UNNAMED = 0.965, 0.93
"""Shares that are found, by all rules and where no rule knows the provider."""
FALSE_PER_LINE = 1 / 10_000
SAME = 3
"""Seeds with which the templates are filled in: a shape holds for any value, not for one."""


def missed(found: list[Case]) -> list[str]:
    return [case.line for case in found if any(is_left(redact(case.text), secret) for secret in case.secrets)]


@pytest.mark.parametrize("seed", range(SAME))
def test_tokens_of_providers_are_found(seed: int) -> None:
    found = cases("gitleaks_held", seed)
    assert len(found) >= 700
    assert len(missed(found)) / len(found) <= 1 - RECALL, "\n".join(missed(found))


def test_tokens_of_providers_that_no_rule_knows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the head makes of a provider that it never saw, without the rule of gitleaks for it."""
    monkeypatch.setattr(redaction, "_PROVIDER_MARKS", {})
    found = cases("gitleaks_held")
    assert len(missed(found)) / len(found) <= 1 - UNNAMED, "\n".join(missed(found))


def test_what_gitleaks_leaves_alone_is_mostly_left_alone() -> None:
    found = cases("none_gitleaks_held")
    touched = [case.line for case in found if redact(case.text) != case.text]
    assert len(found) >= 30
    assert len(touched) <= 8, "\n".join(touched)


def test_code_without_secrets_is_left_as_it_is() -> None:
    """The half of Python's own library that the head was not fitted on: full of names of passwords."""
    lines, false = 0, list[str]()
    for path in library_files():
        if is_held_out(path.name):
            text = path.read_text("utf-8", "replace")
            lines += text.count("\n")
            false += [line for line in redact(text).splitlines() if "[REDACTED:" in line]
    assert lines > 50_000
    assert len(false) <= lines * FALSE_PER_LINE, "\n".join(false)


TELLING = 6
"""Characters of a secret that stand in a file by no accident."""


def test_no_secret_of_a_message_reaches_the_disk(tmp_path: Path) -> None:
    """One user says them all; what is kept is searched byte by byte."""
    told = cases("gitleaks_held")[::5]
    kept = asyncio.run(_kept(told, tmp_path))
    left = [case.line for case in told if any(secret in kept for secret in case.secrets if len(secret) >= TELLING)]
    assert len(left) / len(told) <= 1 - RECALL, "\n".join(left)


async def _kept(told: list[Case], folder: Path) -> str:
    async with await Metacognition.open(folder / "insula.db", embed=None) as metacognition:
        for number, case in enumerate(told):
            async with metacognition.turn("ana", f"s{number // 20}", case.text) as turn:
                turn.finish("Noted.")
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("insula.db*")))


def test_each_rule_has_a_source_and_a_mark_that_stands_in_what_it_finds() -> None:
    rows = [line.split(None, 3) for line in TOKENS.strip().splitlines()]
    assert all(len(row) == 4 and set(row[2]) <= set("gdtvb") for row in rows)
    assert all(set(sources) <= set("gdtvb") and sources for _, _, sources, _, _ in PLACES)
