"""Whether a session kept a rule of the user's, by the acts that it names: from the trace to the list of rules."""

from pathlib import Path
from typing import Any

import pytest

from insula.coding.step import trace
from insula.coding.step.action import EDIT, EXECUTE, Action
from insula.coding.step.digest import compile_rules, open_session
from insula.coding.step.evidence import was_kept
from insula.coding.step.instructions.extraction import extract_instructions
from insula.coding.step.instructions.instruction import dump_instructions
from insula.guidance import DAY

PROJECT = "a" * 16
NOW = 1_800_000_000.0

Record = dict[str, Any]


def says(words: str, at: float = NOW) -> Record:
    return {
        "e": "user",
        "at": at,
        "kind": "prompt",
        "words": words,
        "about": "",
        "heard": dump_instructions(extract_instructions(words)),
    }


def runs(command: str, at: float = NOW) -> Record:
    return {"e": "action", **Action(tool="Bash", kind=EXECUTE, at=at, call=command, target=command).as_dict()}


def edits(path: str, at: float = NOW) -> Record:
    return {"e": "action", **Action(tool="Edit", kind=EDIT, at=at, call=path, target=path).as_dict()}


BROKEN = [
    ("Use pnpm, not npm.", runs("cd app && npm install")),
    ("Usa pnpm, no npm.", runs("npm install")),
    ("Utilise pnpm, jamais npm.", runs("npm ci")),
    ("Benutz pnpm, nicht npm.", runs("npm run build")),
    ("Não faça push.", runs("git push origin main")),
    ("Non fare commit.", runs("git commit -am done")),
    ("不要修改 vendor/ 下的文件。", edits("/home/dev/shop/vendor/a.go")),
    ("npmではなくpnpmを使ってください。", runs("npm install")),
    ("Never push to main.", runs("git push origin main")),
    ("don't run the integration tests, too slow.", runs("npm run test:integration")),
]


@pytest.mark.parametrize(("rule", "act"), BROKEN)
def test_an_act_that_a_rule_rules_out_breaks_it(rule: str, act: Record) -> None:
    assert was_kept(rule, [runs("ls"), act]) is False
    assert was_kept(rule, [runs("ls"), edits("/home/dev/shop/src/a.go"), runs("git status")]) is True


@pytest.mark.parametrize("again", ["again: pnpm, not npm", "pnpm!", "use pnpm please", "PNPM", "don't use npm here"])
def test_what_the_user_has_to_say_again_in_whatever_words_is_a_breach(again: str) -> None:
    assert was_kept("Use pnpm, not npm.", [runs("pnpm install"), says(again)]) is False


@pytest.mark.parametrize("message", ["is pnpm faster than yarn? I've read it is", "thanks!", "now fix the parser"])
def test_other_words_are_no_breach(message: str) -> None:
    assert was_kept("Use pnpm, not npm.", [runs("pnpm install"), says(message)]) is True


def test_what_the_user_asks_for_is_no_breach() -> None:
    done = runs("git commit -am done", NOW + 2)
    assert was_kept("Don't commit before I have looked.", [says("ok, commit it", NOW + 1), done]) is True
    assert was_kept("Don't commit before I have looked.", [done]) is False


@pytest.mark.parametrize("rule", ["prefer small functions", "answer in German", "the strategy is a trailer"])
def test_what_no_call_can_show_nobody_can_tell(rule: str) -> None:
    assert was_kept(rule, [runs("ls"), edits("/home/dev/shop/src/a.go")]) is None


@pytest.mark.parametrize(
    ("rule", "act", "broken", "shown"),
    [
        ("use pnpm, not npm", "npm install", 1, 1),
        ("use pnpm, not npm", "pnpm install", 0, 1),
        ("we prefer small functions here, not classes", "npm install", 0, 0),
    ],
)
def test_the_list_of_rules_counts_what_acts_show(tmp_path: Path, rule: str, act: str, broken: int, shown: int) -> None:
    home = str(tmp_path)
    for number in range(3):
        at = NOW + number * DAY
        open_session(home, f"s{number}", PROJECT, at, 0.0)
        said = [{**says(rule, at + 9), "kind": "rejection"}] if number < 2 else []
        work = [edits(f"f{i}.py", at + i) for i in range(7)]
        trace.append_records(
            trace.get_folder(home, f"s{number}"),
            {"e": "start", "project": PROJECT, "at": at},
            *(work if number < 2 else [*work, runs(act, at + 8)]),
            *said,
            {"e": "end", "at": at + 99},
        )
    open_session(home, "last", PROJECT, NOW + 9 * DAY, 0.0)
    (found,) = [one for one in compile_rules(home, PROJECT, NOW + 9 * DAY) if one.wish is not None]
    assert (found.life.tally.shown_count, found.life.tally.breaches) == (shown, broken)
