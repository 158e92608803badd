"""What was said, and what of it is withheld by lot or silenced by a person.

A text that climbs the ladder is withheld for a whole trouble, by lot, in a share of troubles that is disclosed (10 %,
`INSULA_HOLDOUT`): only then can be known what it changes. The draw is by trouble, so that all its rungs fare alike.

    trace:       {"e": "text", "id", "project", "at", "sense", "form", "rung", "key", "family", "text", "withheld"}
                 {"e": "heeded", "id", "yes"}, {"e": "ended", "id", "turns", "seconds", "tokens"}
    quiet.jsonl  {"project", "family", "sense"}: what a person called a false alarm; with "helped", the id of a text,
                 that it was none: the last word on a kind counts
"""

import re

from insula.coding.step import trace
from insula.coding.step.digests import hash_text
from insula.coding.step.senses import CLIMBING
from insula.coding.step.trace import append_lines, parse_records, read_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from insula.coding.step.proprioception import Sensed
    from insula.coding.step.trace import Record

    Kind = tuple[str, str, str]

QUIET = "quiet.jsonl"
TEXT = "text"
WRONG = "insula: wrong"
"""What a person writes to their agent to call the last note a false alarm; `insula: helped` takes it back."""
_VERDICT = re.compile(r"\s*\[?insula\]?\s*[:：]\s*(wrong|helped)(?!\w)[\s.,;:!-]*", re.IGNORECASE)
NOTED = {
    "wrong": "[insula] Noted as a false alarm: nothing like the last note is said in this project again. This was said "
    "to Insula, and nothing is to be done about it here.",
    "helped": "[insula] Noted that the last note helped. This was said to Insula, and nothing is to be done about it "
    "here.",
    "": "[insula] Insula has said nothing lately that this could be about. Nothing is to be done about it here.",
}
"""What is answered to a person's word on the last note."""


def note_text(home: str, session: str, agent: str, cwd: str, sensed: "Sensed", now: float) -> str:
    """The text of an outcome after it was noted; empty where it is withheld or silenced.

    Raises:
        OSError: it cannot be noted.
    """
    reading = sensed.said
    if reading is None:
        return ""
    family = reading.goal.family if reading.goal else reading.form or reading.sense
    project = trace.hash_project(cwd)
    if (project, reading.sense, family) in list_false_alarms(home):
        return ""
    withheld = reading.sense in CLIMBING and _is_withheld(home, session, reading.key)
    note: Record = {
        "e": TEXT,
        "id": name_trouble(session, reading.key),
        "project": project,
        "at": now,
        "sense": reading.sense,
        "form": reading.form,
        "rung": sensed.rung,
        "key": reading.key,
        "family": family,
        "text": sensed.text,
    }
    trace.append_records(trace.get_folder(home, session, agent), {**note, "withheld": True} if withheld else note)
    return "" if withheld else sensed.text


def name_trouble(session: str, key: str) -> str:
    """The id of a trouble, as a person may type it."""
    return hash_text(f"{session} {key}", 6)


def _is_withheld(home: str, session: str, key: str) -> bool:
    from insula.coding.step.digest import is_drawn, read_holdout, read_salt

    share = read_holdout(home)
    return share > 0 and is_drawn(read_salt(home), f"{session} {key}", share)


def list_false_alarms(home: str) -> "set[Kind]":
    """What a person has called a false alarm, and not taken back: project, sense and family."""
    last = {
        (str(record.get("project")), str(record.get("sense")), str(record.get("family"))): record
        for record in _read_quiet(home)
    }
    return {kind for kind, record in last.items() if not record.get("helped")}


def list_helped(home: str) -> "set[str]":
    """The ids of the texts of which a person said that they helped."""
    return {str(record["helped"]) for record in _read_quiet(home) if record.get("helped")}


def write_verdict(home: str, kind: "Kind", now: float, helped: str = "") -> None:
    """Note a person's word on a kind of text in a project: a false alarm, which ends it there, or that one helped.

    Args:
        helped: the id of the text that did; empty for a false alarm.

    Raises:
        OSError: it cannot be written.
    """
    word = {"helped": helped} if helped else {}
    record = dict(zip(("project", "sense", "family"), kind, strict=True))
    append_lines(f"{home}/{QUIET}", [{**record, **word, "t": now}])


def read_verdict(prompt: str) -> "tuple[str, str]":
    """What a message says of the last note (`wrong` or `helped`; empty for nothing), and the rest of the message."""
    match = _VERDICT.match(prompt)
    return (match[1].lower(), prompt[match.end() :]) if match else ("", prompt)


def note_word(home: str, session: str, verdict: str, now: float) -> str:
    """Note a person's word on the last note of a session; what there is to answer.

    Raises:
        OSError: it cannot be written.
    """
    records = trace.read_tail(trace.get_folder(home, session))
    last = next((each for each in reversed(records) if each.get("e") == TEXT and not each.get("withheld")), None)
    if last is None:
        return NOTED[""]
    kind = (str(last.get("project", "")), str(last.get("sense", "")), str(last.get("family", "")))
    write_verdict(home, kind, now, helped=str(last.get("id", "")) if verdict == "helped" else "")
    return NOTED[verdict]


def _read_quiet(home: str) -> "Iterator[Record]":
    return parse_records(read_end(f"{home}/{QUIET}", 1 << 20))
