"""What is held against an end: an order of the user's last message; and what a long message rules out."""

from pathlib import Path

import pytest
from sessions import Payload, Session, edits, runs

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


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("Add a test for it and update the CHANGELOG.", "no test was written and nothing touched the changelog."),
        (
            "Update the README. Run `make check`. Push it.",
            "nothing touched the README, `make check` was not run and there was no push.",
        ),
    ],
)
def test_all_that_is_missing_at_an_end_is_named_at_once_and_once(tmp_path: Path, words: str, missing: str) -> None:
    session = Session(tmp_path)
    session.prompt(words)
    session.act(CHANGE)
    assert f"Since then {missing} Do it now" in session.stop()
    session.act(edits("/home/dev/project/CHANGELOG.md"))
    assert not session.stop()


GREEN = runs("pytest -q", "9 passed in 0.1s")
AGAIN = edits("/home/dev/project/cart.py")
STALE = "code was changed after the last test was run"
ENDS = [
    ([CHANGE, GREEN, AGAIN], "Mended. All tests pass.", True),
    ([CHANGE, GREEN, AGAIN, GREEN], "Mended. All tests pass.", False),
    ([CHANGE, GREEN, AGAIN, runs("git commit -am x", "done")], "Mended. All tests pass.", False),
    ([CHANGE, GREEN, AGAIN, runs("./check", "fine")], "Mended. All tests pass.", False),
    ([CHANGE, GREEN, edits("/home/dev/project/README.md")], "Mended. All tests pass.", False),
    ([CHANGE, GREEN, AGAIN], "Mended.", False),
    ([CHANGE, GREEN, AGAIN], "Mended. I did not run the tests again.", False),
]
"""What was done, the last words, and whether they claim what nothing shows."""


@pytest.mark.parametrize(("acts", "last", "stale"), ENDS)
def test_a_claim_that_an_ordered_check_passes_is_held_against_code_that_was_changed_since_and_nothing_was_run(
    tmp_path: Path, acts: list[Payload], last: str, stale: bool
) -> None:
    session = Session(tmp_path)
    session.prompt("Mend the price and run the tests.")
    session.follow(acts)
    assert (STALE in session.stop(last)) == stale


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
        ("Do not edit files.", True),
        ("Do not remove existing modules/features.", False),
        ("never force-push", False),
        ("The backend exposes only `/confirm`, `/decline` and `/complete`.", False),
        ("Restrict the directory/detail endpoints to the staff only.", False),
        ("Self-contained system, no external dependencies, with audit logs.", False),
        ("Keep everything strictly aligned with docs/prompt.md.", False),
        ("Not committing merge; use 'git commit' to complete the merge.", False),
        ("error: No `prek.toml` found in the parent directories.", False),
        ("The i18n strings (no dependencies) come first.", False),
        ("`footer.tsx` and `panel.tsx` are only read inside the effect.", False),
        ("The stderr race is gone. No default `git@` injection. The rest lines up.", False),
        ("- No default `git@` injection.", False),
        ("Keep retry behavior exactly as it is.", False),
        ("Please start. No new dependencies. Thanks.", False),
    ],
)
def test_of_a_long_message_only_an_order_to_leave_files_alone_stands(words: str, rules: bool) -> None:
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


def compact(session: Session) -> str:
    """What is told after a compaction."""
    return session.tell({"hook_event_name": "SessionStart", "source": "compact"}, 5)


@pytest.mark.parametrize(
    ("words", "standing"),
    [
        ("It has one bash command and no monitor, so plan how to get one.", ()),
        ("No mocks and no network in the tests.", ("No mocks and no network in the tests.",)),
        ("You said that without a check we do not do this, so check it.", ()),
        ("Sometimes the tool makes folders, and then we don't want the model to see no folders.", ()),
        ("I don't want anything in comms, it must live in the executor.", ()),
        ("I don't want src/cart.py changed.", ("I don't want src/cart.py changed.",)),
        ("都删除", ()),
        ("no you need to create the cart.md in the docs folder", ()),
        ("Never commit without signing.", ()),
        ("Fix it. Do not edit docs/ without updating the index.", ()),
        ("Don't commit, never push.", ("Don't commit, never push.",) * 2),
        ("Never commit without asking me.", ("Never commit without asking me.",)),
        ("N'installe rien sans me demander.", ("N'installe rien sans me demander.",)),
        ("Let's not run the CI if the only change in the commit is to *.md files.", ()),
        ("Tell my CLAUDE.md to never write those dashes.", ()),
        ("The pattern is right there in ../shop you don't need to change how it looks.", ()),
    ],
)
def test_what_there_is_was_said_or_is_wanted_of_a_program_is_no_rule(words: str, standing: tuple[str, ...]) -> None:
    assert tuple(each.said for each in extract_instructions(words) if each.kind in STANDING) == standing


def test_one_thing_that_two_acts_are_done_to_rules_out_neither(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt("Commit and push this. However, do not commit and push the booth guide.")
    assert session.act(runs("git commit -m x", "done")) == []
    assert session.act(runs("git push", "done")) == []
    session.prompt("Do not commit and push.")
    (told,) = session.act(runs("git commit -m y", "done"))
    assert "Do not commit and push." in told


def test_what_is_taken_back_is_no_change_and_a_report_no_code(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt("Don't touch style.css.")
    assert session.act(runs("git restore -- style.css", "")) == []
    session.prompt("Produce a report of your findings, but don't implement yet.")
    assert session.act(edits("/home/dev/project/reviews/august.md")) == []
    (told,) = session.act(edits("/home/dev/project/price.py"))
    assert "don't implement yet" in told


def test_what_a_long_message_rules_out_ends_with_the_next_message(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt(f"Review it. Do not touch vendor/.\n{PLAN}")
    assert "Do not touch vendor/." in compact(session)
    session.prompt("Fix every issue in @review.md")
    assert compact(session) == ""


def test_no_call_is_held_against_what_a_long_message_rules_out(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for words in ("Do not touch vendor/.", "Do not write application code yet."):
        session.prompt(f"{PLAN}\n{words}")
        assert session.act(edits("/home/dev/project/vendor/price.py")) == []
    session.prompt("Do not touch vendor/.")
    assert len(session.act(edits("/home/dev/project/vendor/price.py", new="b"))) == 1


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("don't append the raw transcript any more", False),
        ("Show the log. Don't rename the public functions.", True),
        ("press N to start over, then the next level", False),
        ("Skills not showing in /workspace/skills inside a running sandbox", False),
        ("Just continue, do your work as normal", False),
        ("If it fails, don't push.", False),
        ("leave it alone.", False),
        ("Findings only, ordered by severity.", False),
        ("Não gosto muito de mocks, mas neste módulo não tem jeito.", False),
        ("Fix it. Keep it py3.9 compatible.", False),
        ("Fix it, and use uv for that, not pip.", True),
        ("Running under Node 22, I have an error with standard:", False),
        ("Match the client: /leave with no name leaves the party.", False),
    ],
)
def test_what_no_call_can_be_held_against_is_a_limit_only_beside_a_task(words: str, rules: bool) -> None:
    assert any(word.kind in STANDING for word in extract_instructions(words)) == rules


def test_a_subagent_is_told_which_files_to_leave_alone_and_nothing_else(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt("Do NOT open a PR yet, and use pnpm, not npm. Don't touch vendor/.")
    told = session.tell({"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "Explore"}, 5)
    assert told.endswith('\n- "Don\'t touch vendor/."')
    assert "pnpm" not in told and "PR" not in told
    assert "pnpm" in compact(session)
