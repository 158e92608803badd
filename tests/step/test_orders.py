"""What is held against an end: an order of the user's last message; and what a long message rules out."""

from pathlib import Path

import pytest
from sessions import Session, edits, runs

from insula.coding.step.instructions.extraction import extract_instructions
from insula.coding.step.instructions.instruction import STANDING

PLAN = "The importer reads one file after another and keeps a list of what it has seen so far.\n" * 5
CHANGE = edits("/home/dev/project/price.py")
ORDERS = [
    ("Mend the price, then run `make check`.", "`make check` was not run"),
    ("Mend the price and update CHANGELOG.md.", "nothing touched the changelog"),
    ("Mend the price. Add a test for it.", "no test was written"),
    ("Mend the price, then commit it.", "there was no commit"),
    ("Behebe den Preis, dann führe `make check` aus.", "`make check` was not run"),
]
NO_ORDERS = [
    "Mend the price. When running `make check` I get an error.",
    "Mend the price. `make check` is failing.",
    "Mend the price. The end-to-end test is failing, too.",
    "Mend the price. After this PR no code sets the flag.",
    "Mend the price (or commit",
    "Mend the price: is it the same commit as yesterday",
    f"Mend the price, then run `make check`.\n{PLAN}",
]


@pytest.mark.parametrize(("words", "missing"), ORDERS)
def test_an_order_of_the_last_message_that_nothing_met_is_named_at_the_end(
    tmp_path: Path, words: str, missing: str
) -> None:
    session = Session(tmp_path)
    session.prompt(words)
    session.act(CHANGE)
    assert missing in session.stop()


@pytest.mark.parametrize("words", NO_ORDERS)
def test_a_report_a_remark_and_a_message_too_long_to_be_typed_order_nothing(tmp_path: Path, words: str) -> None:
    session = Session(tmp_path)
    session.prompt(words)
    session.act(CHANGE)
    assert not session.stop()


def test_an_order_is_not_held_against_the_end_of_what_was_asked_later(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt("Mend the price, then commit it.")
    session.act(runs("cat price.py"))
    session.stop("Which price?")
    session.prompt("the one with tax")
    session.act(CHANGE)
    assert not session.stop()


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("Do NOT modify backend/ or infra/.", True),
        ("never force-push", True),
        ("Not committing merge; use 'git commit' to complete the merge.", False),
        ("error: No `prek.toml` found in the parent directories.", False),
        ("The i18n strings (no dependencies) come first.", False),
        ("`footer.tsx` and `panel.tsx` are only read inside the effect.", False),
        ("The stderr race is gone. No default `git@` injection. The rest lines up.", False),
        ("- No default `git@` injection.", True),
        ("Please start. No new dependencies. Thanks.", True),
    ],
)
def test_of_a_long_message_only_an_order_rules_something_out(words: str, rules: bool) -> None:
    standing = [word for word in extract_instructions(f"{PLAN}\n{words}") if word.kind in STANDING]
    assert bool(standing) == rules


@pytest.mark.parametrize(
    "words",
    [
        "Currently the wal files are not reset and grow after a start.",
        "One of them is about a key (outside of the range of the diff).",
        "In this repository the linter (of markdown) globs `**/*.md` only.",
        "lib.rs is a single file of 1,370 lines with zero unit tests",
        "Great!!",
        "If the task changed no file, we shouldn't do a commit.",
        "Review the changes of docs/embedding.md plus the linked README.",
        "We also added themes. Plus CSS variables and more.",
        "Solo gli amministratori possono modificare le quote.",
    ],
)
def test_a_report_holds_no_call_against_the_agent(words: str) -> None:
    for word in extract_instructions(words):
        assert word.kind not in STANDING or not (word.acts or word.programs or word.edits or word.deletes)


def test_to_stop_after_an_act_is_no_ban_of_it() -> None:
    kinds = [word.kind for word in extract_instructions("Stop after all three commits and report what was done.")]
    assert not set(kinds) & set(STANDING)
    assert "ban" in [word.kind for word in extract_instructions("Stop committing.")]


@pytest.mark.parametrize(
    ("told", "rules"),
    [
        ("lib.rs is a single 1,370-line file with zero unit tests.", False),
        ("vendor/ is off limits.", True),
    ],
)
def test_what_a_file_has_or_is_is_no_rule(told: str, rules: bool) -> None:
    assert any(word.kind in STANDING for word in extract_instructions(told)) == rules
