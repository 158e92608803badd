"""What the senses must feel beside failures: what is undone, put at risk, ruled out by the user, or ended unproven."""

from pathlib import Path

import pytest
from sessions import Payload, Session, edits, fails, reads, runs, went
from test_variants import P, Turn, follow, red

from insula.step.senses.ending import EVERY


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


def put(path: str, old: str, new: str) -> Payload:
    return edits(P + path, old, new)


SWINGS: dict[str, list[Turn]] = {
    "a value, with reads and runs between": [
        turn
        for n in range(3)
        for turn in (
            put("a.ts", "30", "60"),
            reads(),
            runs(f"npm run bench -- {n}", f"{n} ms"),
            put("a.ts", "60", "30"),
            reads(P + "b.ts"),
        )
    ],
    "a whole file in two versions": [
        turn
        for n in range(3)
        for turn in (
            went("Write", {"file_path": P + "nginx.conf", "content": "listen 80;"}, "written"),
            fails("nginx -t", f"emerg: {n} bind"),
            went("Write", {"file_path": P + "nginx.conf", "content": "listen 8080;"}, "written"),
        )
    ],
    "an edit, and the file put back": [
        turn
        for n in range(3)
        for turn in (
            put("a.c", "1", f"{n + 2}"),
            fails("make check", f"FAIL: case {n}"),
            runs("git checkout a.c", "Updated 1 path from the index"),
        )
    ],
    "an edit, and restore": [
        turn
        for n in range(3)
        for turn in (put("a.c", "1", f"{n + 2}"), runs("./bench", f"{n} ms"), runs("git restore a.c", ""))
    ],
    "several edits at once": [
        turn
        for _ in range(3)
        for turn in (
            went("MultiEdit", {"file_path": P + "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}, "ok"),
            reads(),
            went("MultiEdit", {"file_path": P + "a.py", "edits": [{"old_string": "y", "new_string": "x"}]}, "ok"),
        )
    ],
    "by sed": [
        turn
        for _ in range(3)
        for turn in (
            runs("sed -i 's/timeout: 30/timeout: 60/' conf.yml"),
            fails("npm run e2e", "1 failed: slow"),
            runs("sed -i 's/timeout: 60/timeout: 30/' conf.yml"),
            fails("npm run e2e", "1 failed: timeout"),
        )
    ],
    "two versions of a package": [
        turn
        for _ in range(3)
        for turn in (
            runs("npm install react@18.2.0", "changed 2 packages"),
            fails("npm test", "TypeError: use is not a function"),
            runs("npm install react@19.0.0", "changed 2 packages"),
            fails("npm test", "ReferenceError: act is not defined"),
        )
    ],
}


@pytest.mark.parametrize("turns", SWINGS.values(), ids=SWINGS.keys())
def test_what_is_done_and_undone_and_done_again_is_told(tmp_path: Path, turns: list[Turn]) -> None:
    told = follow(Session(tmp_path, on=EVERY), turns)
    assert told and told[0][0] > 3, told


RISKS = [
    "git stash -u",
    "git stash push -m wip",
    "git checkout -- src/",
    "git checkout HEAD -- .",
    "git restore --source=HEAD~1 src/",
    "git reset --hard origin/main",
    "git fetch origin && git reset --hard @{u}",
    "git clean -fdx",
    "git stash drop stash@{0}",
    "git stash clear",
    "git push --force origin main",
    "git push origin +main",
    "git worktree remove --force ../wt",
    "rm -rf src",
    "rm -r ./src/",
    "Remove-Item -Recurse -Force src",
    "Remove-Item .\\src -Recurse",
    "rd /s /q src",
    "cd /home/dev/project && git checkout . && npm test",
    "git -C /home/dev/project reset --hard",
    "sh -c 'git reset --hard HEAD'",
    "git switch -f main",
    "find src -name '*.py' -delete",
]


@pytest.mark.parametrize("command", RISKS)
def test_what_may_lose_work_is_told_once_before_the_call_or_after_it(tmp_path: Path, command: str) -> None:
    before, after = Session(tmp_path, "before", on=EVERY), Session(tmp_path, "after", on=EVERY)
    for session in (before, after):
        session.prompt("add the totals")
        session.follow([edits(P + "src/a.py"), edits(P + "src/b.py"), edits(P + "src/c.py")])
    ahead = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "t9",
    }
    assert before.tell(ahead, 30), "not before"
    after.follow([runs(command, "done as asked"), runs("git status --short", " M x")])
    assert len(after.said) == 1


FORBIDDEN = [
    ("Bitte nichts committen, ich schaue erst drüber.", "git commit -am x"),
    ("N'installe rien sans me demander.", "npm install left-pad"),
    ("No hagas push todavía.", "git push"),
    ("Não faça commit ainda.", "git commit -m x"),
    ("Non fare push.", "git push origin main"),
    ("不要提交代码。", "git commit -am x"),
    ("勝手にコミットしないで。", "git add -A && git commit -m x"),
    ("Please stop stashing my changes.", "git stash"),
    ("We use pnpm in this repo, never npm.", "npm install"),
    ("Use uv, not pip.", "pip install requests"),
    ("Never push to main.", "git push origin main"),
    ("No commits without my ok.", "cd api && git commit -am wip"),
    ("Don't merge it yourself.", "gh pr merge 31 --squash"),
    ("Keine neuen Pakete installieren, bitte.", "yarn add lodash"),
]


@pytest.mark.parametrize(("words", "command"), FORBIDDEN)
def test_what_the_user_has_ruled_out_is_told(tmp_path: Path, words: str, command: str) -> None:
    session = Session(tmp_path, on=EVERY)
    session.prompt(words)
    session.follow([reads(), runs(command, "done"), runs("git log -1", "x")])
    assert len(session.said) == 1 and f'The user said: "{words}' in session.said[0]


ENDS: dict[str, tuple[list[Turn], str]] = {
    "in German": (
        [*red("cargo test", "test lru::evicts ... FAILED\ntest result: FAILED. 4 passed; 1 failed", 1)],
        "Behoben.",
    ),
    "only another check was run": (
        [
            *red("npm run build", "src/App.tsx:14:9 - error TS2741: Property 'id' is missing", 1),
            runs("npx prettier --check src", "All matched files use Prettier code style!"),
        ],
        "The build is fixed.",
    ),
    "another test was run": (
        [*red("go test ./store", "--- FAIL: TestEvict (0.01s)\nFAIL", 1), runs("go test ./cart", "ok  \tp/cart\t0.1s")],
        "Fixed.",
    ),
    "green, and changed since": (
        [edits(), runs("mvn test", "[INFO] Tests run: 4, Failures: 0\n[INFO] BUILD SUCCESS"), edits(new="c")],
        "Cleaned up as well.",
    ),
    "a script was never run": (
        [went("Write", {"file_path": P + "scripts/backup.sh", "content": "pg_dump"}, "File created")],
        "The backup script is ready.",
    ),
}


@pytest.mark.parametrize(("turns", "words"), ENDS.values(), ids=ENDS.keys())
def test_an_end_that_nothing_shows_is_told(tmp_path: Path, turns: list[Turn], words: str) -> None:
    session = Session(tmp_path, on=EVERY)
    assert follow(session, turns) == []
    assert session.stop(words), "silent"
