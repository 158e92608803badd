"""Secrets that reach the disk, or the model, through chat and through the hook of a coding agent.

    python -m insula_bench.secrets --data FOLDER | --fit | --folds

The folder holds `secrets.jsonl` (text and the exact substrings that must not be kept) and `lookalikes.jsonl` or
`alikes.jsonl` (texts in which nothing is secret). Each text takes the whole path alone: a turn with a store, and a
command, an output that succeeds, one that fails, a prompt and a file written. Every file that was kept is searched, and
every answer to the model. Where a text is a talk of user and assistant, its lines are turns.
"""

import argparse
import asyncio
import json
import logging
import os
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from insula import Metacognition
from insula.hosts.hook import respond
from insula.redaction import head, redact, take_answer
from insula_bench.secret_lines import NONE, SECRETS, fill, is_left
from insula_bench.secrets_fit import FOLDS, fit, templates

Row = dict[str, Any]
HEAD = Path(head.__file__).with_suffix(".bin")
_TALK = re.compile(r"(?m)^(user|assistant): (.*(?:\n(?!user: |assistant: ).*)*)")
_BY_CHANCE = 4
"""Characters that a time or a size may hold: a secret as short is looked for in the redacted text alone."""


def read(path: Path) -> list[Row]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def kept(folder: Path) -> str:
    """Every byte below a folder, and what JSON escapes as it reads."""
    text = "\n".join(
        path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.rglob("*")) if path.is_file()
    )
    return text + "\n" + re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text).replace('\\"', '"')


def said(row: Row) -> list[tuple[str, str]]:
    """The messages of a row, each with who says it; a text of lines of a user and an assistant is one of several."""
    if "messages" in row:
        return [(message["role"], message["text"]) for message in row["messages"]]
    talk = _TALK.findall(row["text"]) if row["text"].startswith(("user: ", "assistant: ")) else []
    return talk or [("user", row["text"])]


def alone(talk: Sequence[tuple[str, str]]) -> list[str]:
    """The messages without their secrets, each after those before it."""
    before = [(who == "user", words) for who, words in talk]
    return [take_answer(words, before[max(0, place - 3) : place])[0] for place, (_, words) in enumerate(talk)]


async def through_chat(talk: Sequence[tuple[str, str]], folder: Path) -> str:
    """What is kept of a talk."""
    async with await Metacognition.open(folder / "insula.db", embed=None) as metacognition:
        for message, reply in _turns(talk):
            async with metacognition.turn("ana", "s", message) as turn:
                turn.finish(reply)
    return kept(folder)


def _turns(talk: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    message = ""
    for who, words in talk:
        if who == "user":
            if message:
                yield message, "Noted."
            message = words
        else:
            yield message or "Hello.", words
            message = ""
    if message:
        yield message, "Noted."


def through_hook(talk: Sequence[tuple[str, str]], home: Path) -> str:
    """What is kept, and told to the model, of prompts, and of a text as a command, an output, an error and a file.

    The last line of a talk is an answer, which no program is or says.
    """
    text = talk[-1][1]
    base: Row = {"session_id": "s", "cwd": str(home), "tool_name": "Bash"}
    shell = {"command": text}
    events: list[Row] = [
        *(
            {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(home), "prompt": words}
            for who, words in talk
            if who == "user"
        ),
        base | {"hook_event_name": "PostToolUse", "tool_input": shell, "tool_response": "ok", "tool_use_id": "a"},
        base
        | {
            "hook_event_name": "PostToolUse",
            "tool_input": {"command": "cat notes"},
            "tool_response": text,
            "tool_use_id": "b",
        },
        base
        | {
            "hook_event_name": "PostToolUse",
            "tool_name": "Write",
            "tool_use_id": "c",
            "tool_input": {"file_path": "notes.txt", "content": text},
            "tool_response": "ok",
        },
    ]
    events = events[:-3] if len(talk) > 1 else events
    failing = (
        []
        if len(talk) > 1
        else [(shell, "Exit code 1\nfailed"), ({"command": "make x"}, f"Exit code 1\nError: {text}")]
    )
    events += [
        base
        | {"hook_event_name": "PostToolUseFailure", "tool_input": command, "tool_use_id": f"d{number}", "error": error}
        for number in range(3)
        for command, error in failing
    ]
    told = "".join(respond(str(home), "claude-code", event, 1.7e9 + 30 * number) for number, event in enumerate(events))
    return told + kept(home)


def leaks(row: Row) -> dict[str, bool]:
    """Where a secret of a row is kept."""
    with tempfile.TemporaryDirectory() as folder:
        chat, hook = Path(folder, "chat"), Path(folder, "hook")
        chat.mkdir()
        hook.mkdir()
        talk = said(row)
        clean = "\n".join(alone(talk))
        found = {
            "chat": asyncio.run(through_chat(talk, chat)),
            "hook": through_hook(talk, hook),
            "text alone": clean,
        }
    return {
        way: any(secret in (text if len(secret) > _BY_CHANCE else clean) for secret in row["secret"])
        for way, text in found.items()
    }


def report(folder: Path) -> "tuple[list[bool], list[Row], list[Row], list[Row]]":
    """Count the tables of a folder: which secrets are kept off, both tables, and the look-alikes that are touched."""
    rows = read(folder / "secrets.jsonl")
    found = [leaks(row) for row in rows]
    for way in ("chat", "hook", "text alone"):
        print(f"{way}: {sum(not place[way] for place in found)} of {len(rows)} kept off")
    kept_off = [not (place["chat"] or place["hook"]) for place in found]
    print(f"chat and hook: {sum(kept_off)} of {len(rows)}")
    names = (folder / name for name in ("lookalikes.jsonl", "alikes.jsonl"))
    plain = read(next(path for path in names if path.exists()))
    touched = [row for row in plain if alone(said(row)) != [words for _, words in said(row)]]
    print(f"look-alikes touched: {len(touched)} of {len(plain)}")
    return kept_off, rows, plain, touched


def report_folds() -> None:
    """Fit the head without each fold of the templates, and count on what was left out."""
    counts: dict[str, list[int]] = {}
    chance = random.Random(4)
    shipped = HEAD.read_bytes()
    try:
        for fold in range(FOLDS):
            HEAD.write_bytes(fit(fold))
            head.read_weights.cache_clear()
            for name in (*SECRETS, *NONE):
                cases = [fill(line, chance) for line in templates((name,), fold, left_out=True)]
                right = [
                    not any(is_left(redact(case.text), secret) for secret in case.secrets)
                    if case.secrets
                    else redact(case.text) == case.text
                    for case in cases
                ]
                found = counts.setdefault(name, [0, 0])
                found[0], found[1] = found[0] + sum(right), found[1] + len(right)
    finally:
        HEAD.write_bytes(shipped)
        head.read_weights.cache_clear()
    for name, (right, number) in counts.items():
        print(f"{name}: {right} of {number} right, each by a head that had not seen its template")


def main() -> None:
    """Count the tables of a folder, or fit the head."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--fit", action="store_true", help="write the weights of the head anew (some four minutes)")
    parser.add_argument("--folds", action="store_true", help="measure the head on templates left out (fifteen minutes)")
    parser.add_argument("--show", action="store_true", help="print the ids of the rows that fail")
    arguments = parser.parse_args()
    os.environ["INSULA_HOLDOUT"] = "off"
    logging.disable(logging.CRITICAL)
    if arguments.fit:
        HEAD.write_bytes(fit())
    if arguments.folds:
        report_folds()
    if arguments.data:
        kept_off, rows, _, touched = report(arguments.data)
        if arguments.show:
            print([row["id"] for row, fine in zip(rows, kept_off, strict=True) if not fine])
            print([row["id"] for row in touched])


if __name__ == "__main__":
    main()
