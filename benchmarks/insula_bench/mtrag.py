"""MTRAG (Katsis et al. 2025, Apache-2.0): questions at the end of a talk, with the passages that answer them."""

import json
import lzma
from pathlib import Path
from typing import Any, NamedTuple

from insula.errors import InputError

FILE = "mtragun_reference.jsonl.xz"


class Task(NamedTuple):
    """One question; an unanswerable one comes without passages."""

    id: str
    collection: str
    answerability: str
    """"ANSWERABLE", "UNANSWERABLE", "PARTIAL" or "UNDERSPECIFIED"."""
    question: str
    before: tuple[tuple[str, str], ...]
    """The talk before it: (speaker, text), oldest first."""
    passages: tuple[tuple[str, str], ...]
    """Id and text."""


def read(folder: str | Path) -> list[Task]:
    """The tasks of a folder.

    Raises:
        InputError: the file is missing or of another form.
    """
    path = Path(folder) / FILE
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return [_task(json.loads(line)) for line in file]
    except (OSError, ValueError, KeyError, TypeError, IndexError, lzma.LZMAError) as error:
        raise InputError(f"{str(path)!r} is not MTRAG's file ({error}); give the folder that holds {FILE}.") from error


def _task(raw: dict[str, Any]) -> Task:
    said = tuple((turn["speaker"], turn["text"]) for turn in raw["input"])
    return Task(
        id=raw["task_id"],
        collection=raw["Collection"],
        answerability=raw["answerability"][0],
        question=said[-1][1],
        before=said[:-1],
        passages=tuple((one["document_id"], one["text"]) for one in raw["contexts"]),
    )
