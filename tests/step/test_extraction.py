"""What a person rules out, in eight languages, with what only sounds like it: one thing alone, a question, a report."""

import pytest

from insula.coding.step.instructions.extraction import extract_instructions
from insula.coding.step.instructions.instruction import ASKED, BAN, HOW, LIFT

FORBIDS = [
    # English
    ("Don't commit anything until I've looked at it.", "commit"),
    ("don't push, I'll do that myself", "push"),
    ("Please do not commit - I'll review first.", "commit"),
    ("Don't commit because I want to squash it later.", "commit"),
    ("Refactor the parser. No commits without my ok.", "commit"),
    ("stop stashing my changes", "stash"),
    ("never install new packages without asking", "install"),
    ("Fix it, and don't reset the tree.", "reset"),
    ("Do not force-push, ever.", "force-push"),
    ("No new dependencies, please.", "install"),
    ("mainにプッシュしないで。", "push main"),
    ("不要推送到 main。", "push main"),
    ("Never push to main.", "push main"),
    ("do not push directly to master!", "push master"),
    ("don't delete anything", "delete"),
    ("Please don't merge it yourself.", "merge"),
    ("Use pnpm, not npm.", "run npm"),
    ("We use pnpm in this repo, never npm.", "run npm"),
    ("don't use pip here", "run pip"),
    ("Don't touch vendor/.", "touch vendor"),
    ("do not edit `src/gen/api.ts`", "touch src/gen/api.ts"),
    # German
    ("Bitte nichts committen, ich schaue erst drüber.", "commit"),
    ("Nicht pushen!", "push"),
    ("Bitte noch nicht committen.", "commit"),
    ("Mach den Test grün, aber committe nichts.", "commit"),
    ("Keine neuen Pakete installieren, bitte.", "install"),
    ("Installiere nichts ohne zu fragen.", "install"),
    ("Die Änderungen nicht committen.", "commit"),
    ("Niemals auf main pushen.", "push main"),
    ("Benutze kein npm.", "run npm"),
    # French
    ("Ne fais pas de commit.", "commit"),
    ("N'installe rien sans me demander.", "install"),
    ("Ne pousse pas encore.", "push"),
    ("Surtout ne committe rien, je relis d'abord.", "commit"),
    # Spanish
    ("No hagas push todavía.", "push"),
    ("No hagas commit, lo reviso yo primero.", "commit"),
    ("No instales nada sin preguntar.", "install"),
    ("Nunca hagas push a main.", "push main"),
    # Portuguese
    ("Não faça commit ainda.", "commit"),
    ("Não instale nada sem perguntar.", "install"),
    ("Não faça push, eu mesmo faço.", "push"),
    # Italian
    ("Non fare push.", "push"),
    ("Non fare commit, lo guardo prima io.", "commit"),
    ("Non installare niente senza chiedere.", "install"),
    # Chinese
    ("不要提交代码。", "commit"),
    ("先别提交，我要先看看。", "commit"),
    ("不要推送。", "push"),
    ("别安装任何东西！", "install"),
    # Japanese
    ("勝手にコミットしないで。", "commit"),
    ("まだプッシュしないでください。", "push"),
    ("コミットしないで、まず私が確認します。", "commit"),
    ("何もインストールしないでください。", "install"),
]
INNOCENT = [
    "Don't forget to commit when it is green.",
    "Why didn't you commit this?",
    "Don't commit the lockfile.",
    "do not push tags",
    "I have not committed yet, so go on.",
    "Don't commit if the tests fail.",
    "Not sure whether we should push this?",
    "The last commit does not build.",
    "There is no stash.",
    "Make sure that those repositories don't land in our own commits.",
    "Ne mets pas ça dans nos commits.",
    "No, the push went wrong because of the hook.",
    "Never mind the failed push.",
    "Don't delete the cache folder.",
    "Should we not install lodash?",
    "Commit nicht vergessen!",
    "Die Lock-Datei nicht committen.",
    "Der Commit von gestern war nicht gut.",
    "Warum hast du nicht committet?",
    "Committe die generierten Dateien nicht.",
    "N'oublie pas de committer.",
    "Ne committe pas le lockfile.",
    "Pourquoi tu n'as pas fait de commit ?",
    "No olvides hacer commit.",
    "No hagas commit del lockfile.",
    "¿Por qué no hiciste push?",
    "Não esqueça de fazer commit.",
    "Não faça commit do lockfile.",
    "Non dimenticare di fare commit.",
    "Non fare commit del lockfile.",
    "别忘了提交。",
    "不要提交锁文件。",
    "为什么没有推送？",
    "コミットを忘れないで。",
    "ロックファイルをコミットしないで。",
    "なぜプッシュしなかったの？",
    "Use npm, not yarn 2 syntax in the docs.",
    "Don't run the tests, they take an hour.",
]
ASKS = [
    ("Commit it when the tests pass.", "commit"),
    ("ok, push it", "push"),
    ("Stash it and pull.", "stash"),
    ("force-push the branch", "force-push"),
    ("commit with --no-verify", "bypass"),
]


def told(words: str) -> set[str]:
    """What a message rules out, as an act, a program or a path."""
    found: set[str] = set()
    for word in extract_instructions(words):
        if word.kind in {BAN, HOW}:
            found |= {f"{act} {' '.join(word.places)}".strip() for act in word.acts}
            found |= {f"run {program}" for program in word.programs}
            found |= {f"touch {path}" for path in word.paths if word.edits}
    return found


@pytest.mark.parametrize(("words", "ban"), FORBIDS)
def test_what_is_ruled_out_is_minded(words: str, ban: str) -> None:
    assert told(words) == {ban}


@pytest.mark.parametrize("words", INNOCENT)
def test_what_only_sounds_like_it_rules_nothing_out(words: str) -> None:
    assert told(words) == set()


@pytest.mark.parametrize(("words", "act"), ASKS)
def test_what_is_asked_for_is_allowed(words: str, act: str) -> None:
    assert any(act in word.acts for word in extract_instructions(words) if word.kind in {ASKED, LIFT}) and not told(
        words
    )
