"""What was said, and what of it is withheld by lot or silenced by a person.

A text that climbs the ladder is withheld for a whole trouble, by lot, in a share of troubles that is disclosed (10 %,
`INSULA_HOLDOUT`): only then can be known what it changes. The draw is by trouble, so that all its rungs fare alike.

    trace:       {"e": "text", "id", "project", "at", "sense", "form", "rung", "key", "family", "about", "text",
                  "withheld"}
                 {"e": "heeded", "id", "yes"}, {"e": "ended", "id", "turns", "seconds", "tokens"}
    quiet.jsonl  {"project", "family", "sense", "id"}: that a person called the text of that id a false alarm, and what
                 it was about is not said again; with "helped", the id of a text, that it was none: the last word counts
"""

import re

from insula.coding.step import trace
from insula.coding.step.digests import hash_text
from insula.coding.step.instructions.instruction import TOLD_AGAIN
from insula.coding.step.senses import CLIMBING, load_sense
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
    "wrong": "[insula] Noted as a false alarm: in this project Insula says no more about {0}. This was said to Insula, "
    "and nothing is to be done about it here.",
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
    about, project = name_about(sensed), trace.hash_project(cwd)
    alarms = list_false_alarms(home)
    if (project, reading.sense, about) in alarms or (reading.goal and (project, reading.sense, family) in alarms):
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
        "about": about,
        "text": sensed.text,
    }
    trace.append_records(trace.get_folder(home, session, agent), {**note, "withheld": True} if withheld else note)
    return "" if withheld else sensed.text


def name_about(sensed: "Sensed") -> str:
    """What a text is about, as its reader may call it: one word of theirs, one failure, one call; empty for no text."""
    reading = sensed.said
    if reading is None:
        return ""
    if reading.sense == TOLD_AGAIN:
        return f"your words {', '.join(line[2:] for line in sensed.text.splitlines()[1:])}, told again"
    if reading.said:
        return f'your words "{reading.said}"'
    label, how = load_sense(reading.sense).LABEL, ""
    if reading.goal is not None:
        failure = reading.goal.failure
        how = f" as it did then, {hash_text(str(sorted(failure.names)) if failure.names else reading.goal.error, 6)}"
    return f"`{reading.label}` ({label}{how})" if reading.label else f"{label}{how}"


def name_trouble(session: str, key: str) -> str:
    """The id of a trouble, as a person may type it."""
    return hash_text(f"{session} {key}", 6)


def _is_withheld(home: str, session: str, key: str) -> bool:
    from insula.coding.step.digest import is_drawn, read_holdout, read_salt

    share = read_holdout(home)
    return share > 0 and is_drawn(read_salt(home), f"{session} {key}", share)


def list_false_alarms(home: str) -> "dict[Kind, set[str]]":
    """What a person has called a false alarm, and not taken back: project, sense and what it was about, each with the
    ids of the texts that they called so."""
    alarms: dict[Kind, set[str]] = {}
    for record in _read_quiet(home):
        kind = (str(record.get("project")), str(record.get("sense")), str(record.get("family")))
        if record.get("helped"):
            alarms.pop(kind, None)
        else:
            alarms.setdefault(kind, set()).add(str(record.get("id", "")))
    return alarms


def list_helped(home: str) -> "set[str]":
    """The ids of the texts of which a person said that they helped."""
    return {str(record["helped"]) for record in _read_quiet(home) if record.get("helped")}


def write_verdict(home: str, kind: "Kind", now: float, name: str, *, helped: bool) -> None:
    """Note a person's word on a text: a false alarm, which ends what it is about in its project, or that it helped.

    Args:
        name: the id of the text.

    Raises:
        OSError: it cannot be written.
    """
    record = dict(zip(("project", "sense", "family"), kind, strict=True))
    append_lines(f"{home}/{QUIET}", [{**record, "helped" if helped else "id": name, "t": now}])


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
    about = str(last.get("about") or last.get("family", ""))
    kind = (str(last.get("project", "")), str(last.get("sense", "")), about)
    write_verdict(home, kind, now, str(last.get("id", "")), helped=verdict == "helped")
    return NOTED[verdict].format(about)


def _read_quiet(home: str) -> "Iterator[Record]":
    return parse_records(read_end(f"{home}/{QUIET}", 1 << 20))
