"""What goes wrong without a failed call: nothing is there, what was done has vanished, the end rests on a guess."""

from pathlib import Path

import pytest
from sessions import Session, edits, failed, fails, reads, runs, went

from insula.step.hedges import admits, guesses
from insula.step.senses.ending import EVERY

ONE = "/home/dev/project/price.py"
GREEN = runs("pytest -q", "4 passed in 0.1s")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, on=EVERY)


def grep(pattern: str, output: str = "No matches found") -> dict[str, object]:
    return went("Grep", {"pattern": pattern, "path": "src"}, output)


# What is looked for is not there.

EMPTY = (
    runs("gh api repos/a/b/pulls/1/comments --jq '.[] | select(.user.login == \"ann\")'"),
    grep("InitialAttribution"),
    runs("git log --all --grep=Strategy || echo 'No matches found'", "No matches found"),
)


def test_three_searches_of_six_in_vain_are_told_once(session: Session) -> None:
    session.act(reads(), reads("/home/dev/project/other.py"))
    session.follow(EMPTY)
    assert len(session.said) == 1 and "looked for something and found nothing" in session.said[0]
    session.follow([grep("SomethingElse"), grep("YetAnother")])
    assert len(session.said) == 1


def test_searches_that_find_something_are_no_trouble(session: Session) -> None:
    session.follow([grep(f"name_{n}", f"src/a.py:{n}: name_{n} = {n}, as it should be here") for n in range(8)])
    assert not session.said


def test_that_an_old_name_is_gone_after_a_change_is_what_was_wanted(session: Session) -> None:
    session.follow([reads(), edits(ONE, "old_name", "new_name"), grep("old_name"), grep("oldName"), grep("old-name")])
    assert not session.said


def test_several_searches_of_one_turn_are_one(session: Session) -> None:
    session.follow([reads(), reads("/b"), reads("/c"), (grep("aaaaa"), grep("bbbbb"), grep("ccccc"))])
    assert not session.said


@pytest.mark.parametrize(
    "command",
    ["git diff", "git status --short", "mkdir -p out", "touch a", "true", "grep -q x a.py", "find . -name x -delete"],
)
def test_what_is_silent_by_design_has_looked_for_nothing(session: Session, command: str) -> None:
    session.follow([reads(), *(runs(f"{command} {'' if n else '.'}") for n in range(2)), runs("cp a b"), runs("cd x")])
    assert session.stop("Nothing to do.") == ""


def test_an_answer_after_two_searches_in_vain_is_told_at_the_end(session: Session) -> None:
    session.follow([reads(), reads("/b"), *EMPTY[:2]])
    assert "found nothing" in session.stop("There is no such setting.")


# What was done has vanished.


def test_a_file_that_was_changed_and_is_missing_is_told(session: Session) -> None:
    session.follow([edits(ONE), runs("ls", "price.py")])
    gone = failed("Read", {"file_path": ONE}, "<tool_use_error>File does not exist.</tool_use_error>")
    assert "is not where it was" in session.act(gone)[0]


def test_a_missing_file_that_was_never_there_is_none(session: Session) -> None:
    session.act(edits(ONE))
    missing = failed("Read", {"file_path": "/home/dev/project/x.py"}, "<tool_use_error>File does not exist.")
    assert session.act(missing) == []


def test_changes_that_version_control_no_longer_shows_are_told(session: Session) -> None:
    session.prompt("add the comments")
    session.follow([edits(ONE, "a", "b"), edits(ONE, "c", "d"), runs("git diff price.py")])
    assert "None of your changes of `price.py`" in session.said[0]


@pytest.mark.parametrize("between", ["git commit -am x", "git checkout price.py", "git stash"])
def test_what_the_agent_itself_took_in_or_away_has_not_vanished(session: Session, between: str) -> None:
    session.prompt("add the comments")
    session.follow([edits(ONE, "a", "b"), runs(between, "done as you have asked"), runs("git diff price.py")])
    assert not any("None of your changes" in text for text in session.said)


# The end.


def test_an_end_after_a_change_that_the_check_has_not_seen_is_told(session: Session) -> None:
    session.follow([GREEN])
    session.prompt("round the total")
    session.follow([edits(ONE)])
    assert "`pytest` has not been run since the last change" in session.stop("I have rounded it.")


@pytest.mark.parametrize("path", ["/home/dev/project/README.md", "/home/dev/project/settings.yaml"])
def test_what_has_nothing_to_run_needs_no_run(session: Session, path: str) -> None:
    session.follow([GREEN])
    session.prompt("say so there")
    session.follow([edits(path)])
    assert session.stop("It says so now.") == ""


def test_a_script_that_was_written_and_never_run_is_told_and_one_that_was_run_is_not(session: Session) -> None:
    script = "/home/dev/project/scripts/e2e.sh"
    session.prompt("write an end-to-end test")
    session.follow([edits(script), runs("chmod +x scripts/e2e.sh")])
    assert "`e2e.sh` was written and has never been run" in session.stop("Here it is.")
    session.prompt("and one for the deploy")
    session.follow([edits("/home/dev/project/scripts/deploy.sh"), runs("bash scripts/deploy.sh --dry-run", "ok")])
    assert session.stop("Here it is.") == ""


def test_a_check_that_went_well_on_the_way_to_another_has_been_run(session: Session) -> None:
    session.follow([edits(ONE), fails("ruff check .", "price.py:1:1: F401 unused"), edits(ONE, "c", "d")])
    session.follow([runs("ruff check . && pytest -q 2>&1 | tail -5", "4 passed in 0.1s")])
    assert session.stop("All good.") == ""


def test_a_whole_run_of_the_same_kind_has_shown_it(session: Session) -> None:
    session.follow([edits(ONE), fails("pytest tests/test_price.py", "1 failed"), edits(ONE, "c", "d")])
    session.follow([runs("make test", "5 passed in 2.1s")])
    assert session.stop("All good.") == ""


def test_an_end_that_explains_by_a_guess_is_told_once(session: Session) -> None:
    session.follow([reads()])
    assert "likely that has not been shown" in session.stop("The most likely cause is a stale cache.")
    session.prompt("are you sure?")
    session.follow([reads("/b")])
    assert session.stop("I suspect it is the proxy.") == ""


def test_talk_without_work_is_no_end_of_anything(session: Session) -> None:
    session.prompt("what could it be?")
    assert session.stop("It is probably a race.") == ""


GUESSES = (
    "The most likely cause is a stale cache.",
    "The issue might be that the worker starts too early.",
    "The two remaining failures are unrelated to my changes.",
    "These are pre-existing failures.",
    "The diagnostics in your editor are stale.",
    "That is probably caused by the proxy.",
    "Das liegt wahrscheinlich an einem alten Cache, wahrscheinlich durch den Proxy.",
    "Ich vermute, dass der Dienst zu früh startet.",
    "C'est probablement un problème de cache.",
    "Je soupçonne le cache.",
    "Probablemente sea un problema de caché.",
    "Sospecho que el proxy lo corta.",
    "Provavelmente é um problema de cache.",
    "Probabilmente è un problema di cache.",
    "这很可能是缓存导致的。",
    "我怀疑是代理的问题。",
    "おそらくキャッシュが原因です。",
    "原因は古いキャッシュかもしれません。",
)
PLAIN = (
    "All four tests pass now.",
    "The cause was a stale handle: the test shows it, and it passes with the fix.",
    "That is probably the best way to do it.",
    "I would most likely use a dictionary here.",
    "Fixed a pre-existing bug in the parser as well, with a test.",
    "```\nThe most likely cause is X\n```\nThis is what the log says.",
    "> The issue might be the cache\n\nNo: it is the index, as the run shows.",
    "Der Fehler lag am Index; der Test zeigt es.",
    "Wahrscheinlich willst du das auch dokumentieren.",
    "La cause était l'index, le test le montre.",
    "La causa era el índice; la prueba lo muestra.",
    "A causa era o índice; o teste mostra.",
    "La causa era l'indice, come mostra il test.",
    "原因是索引，测试已经证明。",
    "原因はインデックスでした。テストで確認しました。",
)


@pytest.mark.parametrize("words", GUESSES)
def test_a_guess_is_told_from_what_is_known(words: str) -> None:
    assert guesses(words)


@pytest.mark.parametrize("words", PLAIN)
def test_what_was_shown_or_recommended_is_no_guess(words: str) -> None:
    assert not guesses(words)


ADMITS = (
    "I changed the timeout, but I have not re-run the test.",
    "I couldn't run the suite here; the fix is untested.",
    "This is unverified: the tests need a database.",
    "Ich habe das Timeout geändert; die Tests habe ich nicht erneut laufen lassen.",
    "Die Änderung ist ungetestet.",
    "J'ai corrigé le total, je n'ai pas relancé les tests.",
    "He cambiado el valor; no he vuelto a ejecutar las pruebas.",
    "Mudei o valor; não executei os testes.",
    "Ho cambiato il valore, non ho eseguito i test.",
    "已修改，但没有运行测试。",
    "修正しましたが、テストは実行していません。",
)
CLAIMS = (
    "All tests pass now.",
    "Fixed: the total is rounded, and the test no longer fails.",
    "Behoben, alle Tests laufen.",
    "Corrigé, tous les tests passent.",
    "Arreglado; las pruebas pasan.",
    "Corrigido, os testes passam.",
    "Corretto, i test passano.",
    "已修复，测试全部通过。",
    "修正しました。テストはすべて通ります。",
    "The cache was not the cause; the index was.",
)


@pytest.mark.parametrize("words", ADMITS)
def test_an_end_that_says_itself_what_was_not_run_needs_no_word(session: Session, words: str) -> None:
    assert admits(words)
    session.follow([fails("pytest -q", "FAILED a.py::b - assert\n1 failed"), edits(ONE)])
    assert session.stop(words) == ""


@pytest.mark.parametrize("words", CLAIMS)
def test_a_claim_is_told_from_an_admission(session: Session, words: str) -> None:
    assert not admits(words)
    session.follow([fails("pytest -q", "FAILED a.py::b - assert\n1 failed"), edits(ONE)])
    assert "failed" in session.stop(words)
