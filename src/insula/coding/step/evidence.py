"""What sessions say about rules, kept in logs, and the scoring that writes it once a session has ended.

    ~/.insula/evidence/<project>.jsonl   one line per session and rule that had its opportunity; appended, never changed
    ~/.insula/evidence/global.jsonl      the same for sessions outside any project
    ~/.insula/rules.jsonl                what a person decided about rules
    ~/.insula/sessions/<session>/rules.json   the marker: which rules were shown in it and which withheld
    ~/.insula/sessions/<session>/scored       there once its evidence is written

A session is written once, to the log of its project; whoever wants to know about all projects reads all logs. Should
the machine stop between line and mark, the lines are written again, and readers count a session once.
"""

import os
import re

from insula.coding.step import corrections, trace
from insula.coding.step.action import Action, load_done
from insula.coding.step.instructions.breach import can_be_judged, judge_call, read_action
from insula.coding.step.instructions.extraction import BRIEF, extract_instructions
from insula.coding.step.instructions.instruction import RULE, SESSION, STANDING, Instruction, load_instructions
from insula.coding.step.instructions.ledger import merge_instructions, names_same
from insula.coding.step.patterns import BY_ID, is_work, judge_patterns
from insula.coding.step.trace import VERSION, append_lines, parse_records, read_end
from insula.guidance import ARMS, NONE, SHOWN, WITHHELD, Evidence, GuidanceDecision
from insula.value import Value, dump_json, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from insula.coding.step.trace import Record

FOLDER = "evidence"
OUTSIDE = "global"
"""Name of the log of sessions outside any project."""
DECISIONS = "rules.jsonl"
MARKER = "rules.json"
SCORED = "scored"
READ_LIMIT = 1 << 20
"""Bytes of evidence that are read, the newest of each log; about 2,000 sessions. What is older no longer counts."""
ADVICE_LIMIT = 200
"""Characters of imported advice."""

HOUR = 3_600.0
IDLE = 2 * HOUR
"""Without a word for so long, a session has ended; not every host says so."""
KEPT = 30 * 24 * HOUR
"""Traces are deleted after that time."""
SESSION_BYTES = 4 << 20
START_BYTES, START_SESSIONS = 1 << 20, 8
"""Bytes of traces, and sessions, after which no further one is scored at this start; the next start goes on."""
ACTIONS = 20_000
AGENTS = 64
_TAIL = 4_096
_END_OF_TIME = 1e11
"""No time of ours, nor infinity, nor what is no number at all."""


# --- logs --------------------------------------------------------------------------------------------------------


def get_log(home: str, project: str) -> str:
    """Path of the log of a project, or of what has none."""
    return f"{home}/{FOLDER}/{project or OUTSIDE}.jsonl"


def read_evidence(home: str, project: str = "") -> dict[str, list[Evidence]]:
    """All evidence by rule: that of `project` first, then of the others, the latest log first, within `READ_LIMIT`."""
    evidence: dict[str, list[Evidence]] = {}
    room = READ_LIMIT
    for name in _list_logs(home, project):
        data = read_end(f"{home}/{FOLDER}/{name}.jsonl", room)
        room -= len(data)
        for record in parse_records(data):
            item = _load_evidence(record, "" if name == OUTSIDE else name)
            if item:
                evidence.setdefault(record["pattern"], []).append(item)
        if room <= 0:
            break
    return evidence


def _list_logs(home: str, project: str) -> list[str]:
    try:
        with os.scandir(f"{home}/{FOLDER}") as entries:
            logs = [(entry.stat().st_mtime, entry.name[:-6]) for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:
        return []
    own = project or OUTSIDE
    return [name for _, name in sorted(logs, key=lambda log: (log[1] != own, -log[0]))]


def _load_evidence(record: "Record", project: str) -> Evidence | None:
    arm, session = record.get("arm"), record.get("session")
    if arm not in ARMS or not _is_time(record.get("t")) or not isinstance(session, str):
        return None
    if not isinstance(record.get("pattern"), str) or not isinstance(record.get("happened"), bool):
        return None
    return Evidence(session=session, at=record["t"], arm=arm, happened=record["happened"], project=project)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _END_OF_TIME


# --- decisions ---------------------------------------------------------------------------------------------------


def write_decision(home: str, decision: GuidanceDecision) -> None:
    """Write down what a person decided.

    Raises:
        OSError: it cannot be written.
    """
    fields = decision.as_dict()
    append_lines(f"{home}/{DECISIONS}", [{"t": fields.pop("at"), **fields}])


def read_decisions(home: str) -> dict[str, list[GuidanceDecision]]:
    """What a person decided, by rule, in order."""
    decisions: dict[str, list[GuidanceDecision]] = {}
    for record in parse_records(read_end(f"{home}/{DECISIONS}", READ_LIMIT)):
        fields = {name: record.get(name, "") for name in ("do", "rule", "scope", "advice", "pattern", "source")}
        if all(isinstance(value, str) for value in fields.values()) and _is_time(record.get("t")):
            decisions.setdefault(fields["rule"], []).append(GuidanceDecision(at=record["t"], **fields))
    return decisions


def erase_advice(home: str, rule: str) -> None:
    """Take the words of an imported rule out of the log; that there was one stays.

    Raises:
        OSError: it cannot be written.
    """
    path = f"{home}/{DECISIONS}"
    with open(path, "rb") as file:
        kept = [_without_advice(line, rule) for line in file.read().splitlines(keepends=True)]
    trace.replace_file(path, b"".join(kept))


def _without_advice(line: bytes, rule: str) -> bytes:
    try:
        record: Record = load_json(line)
        if record["rule"] != rule or "advice" not in record:
            return line
    except (ValueError, TypeError, KeyError, RecursionError):
        return line
    kept = {name: value for name, value in record.items() if name not in ("advice", "source")}
    return dump_json(kept).encode() + b"\n"


def list_imported(decided: dict[str, list[GuidanceDecision]]) -> dict[str, GuidanceDecision]:
    """The imported rules that were not forgotten since."""
    known = (decision for decisions in decided.values() for decision in decisions)
    last = {decision.rule: decision for decision in known if decision.do in {"import", "forget"}}
    return {rule: decision for rule, decision in last.items() if _is_usable(decision)}


def _is_usable(decision: GuidanceDecision) -> bool:
    """Whether it is an import that may be told; it was screened when a person imported it."""
    fit = 0 < len(decision.advice) <= ADVICE_LIMIT and decision.advice.isprintable()
    return decision.do == "import" and decision.pattern in BY_ID and fit and decision.rule not in BY_ID


# --- the marker --------------------------------------------------------------------------------------------------


class Marker(Value):
    """Which rules a session was told, and which were withheld from it by lot."""

    shown: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    whole: bool = True
    """Whether it could be read; of a session with a broken one, nobody knows what it was told."""

    def find_arm(self, rule: str) -> str:
        """`shown`, `withheld` or `none`."""
        return SHOWN if rule in self.shown else WITHHELD if rule in self.withheld else NONE


def read_marker(folder: str) -> Marker | None:
    """The marker of a session; None where it has none."""
    try:
        with open(f"{folder}/{MARKER}", "rb") as file:
            record: Record = load_json(file.read(1 << 16))
        if record["v"] != VERSION:
            return Marker(whole=False)
        shown, withheld = (tuple(str(rule) for rule in record[arm]) for arm in (SHOWN, WITHHELD))
        return Marker(shown=shown, withheld=withheld)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Marker(whole=False)


# --- scoring -----------------------------------------------------------------------------------------------------


def score_ended(home: str, current: str, now: float) -> int:
    """Write the evidence of sessions that have ended, each once, the oldest first; delete traces that are too old.

    Where another process scores at the same time, nothing is done. Returns how many were scored.

    Args:
        current: key of the session that starts now: it has not ended.

    Raises:
        OSError: our folder cannot be written.
    """
    trace.make_folder(f"{home}/{FOLDER}")
    file = os.open(f"{home}/{FOLDER}/lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        return _score_all(home, current, now) if trace.lock_file(file) else 0
    finally:
        os.close(file)  # and with it the lock, as when we are killed


def _score_all(home: str, current: str, now: float) -> int:
    ended, outdated = _list_sessions(home, current, now)
    rules = map_patterns(home)
    scored = spent = 0
    for last, folder in ended:  # one that cannot be scored does not stand in the way of the others
        try:
            spent += _score_session(home, folder, last, rules)
            scored += 1
        except (OSError, TypeError, ValueError, AttributeError):
            continue
        if spent >= START_BYTES or scored >= START_SESSIONS:
            break
    for folder in outdated[:START_SESSIONS]:
        _delete_session(folder)
    return scored


def map_patterns(home: str) -> dict[str, str]:
    """Each rule, ours or imported, with the failure pattern that it is against."""
    imported = list_imported(read_decisions(home)).items()
    return {**{rule: rule for rule in BY_ID}, **{rule: decision.pattern for rule, decision in imported}}


def _list_sessions(home: str, current: str, now: float) -> "tuple[list[tuple[float, str]], list[str]]":
    """The sessions to be scored, with the time of their last word, oldest first; and those to be deleted."""
    ended: list[tuple[float, str]] = []
    outdated: list[str] = []
    for folder in _list_folders(f"{home}/sessions"):
        if os.path.basename(folder) == current:
            continue
        scored, last = _get_modified(f"{folder}/{SCORED}"), _find_last_word(folder)
        if scored is None and (now - last >= IDLE or _has_ended(folder)):
            ended.append((last, folder))
        if now - max(scored or 0.0, last) >= (KEPT if scored else 2 * KEPT):
            outdated.append(folder)
    return sorted(ended), outdated


def _list_folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _get_modified(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def _find_last_word(folder: str) -> float:
    traces = (f"{place}/{trace.FILE}" for place in _list_agents(folder))
    times = [_get_modified(path) for path in (*traces, f"{folder}/{MARKER}")]
    return max((time for time in times if time is not None), default=_get_modified(folder) or 0.0)


def _list_agents(folder: str) -> list[str]:
    return [folder, *_list_folders(f"{folder}/agents")[:AGENTS]]


def _has_ended(folder: str) -> bool:
    records = trace.read_tail(folder, _TAIL)
    return bool(records) and records[-1].get("e") == "end"


def _score_session(home: str, folder: str, last: float, rules: dict[str, str]) -> int:
    """Write the evidence of one session and mark it; returns how many bytes were read."""
    if not os.access(folder, os.W_OK):
        raise OSError(f"{folder!r} cannot be marked, and would be written again and again")
    records, size = _read_main(folder)  # a subagent is told no rules, so it stands in no arm
    actions, project = _load_actions(records[:ACTIONS]), _find_project(records)
    told = read_marker(folder) or Marker()
    session, at = os.path.basename(folder), actions[-1].at if actions else last
    new = corrections.find_corrections(session, records)
    results = _judge_wishes(home, project, new, told, actions, records)
    if told.whole:
        by_pattern = judge_patterns([actions])
        results |= {rule: by_pattern[pattern] for rule, pattern in rules.items() if pattern in by_pattern}
        lines = [
            {"session": session, "pattern": rule, "arm": told.find_arm(rule), "happened": happened, "t": at}
            for rule, happened in results.items()
        ]
        if lines:
            append_lines(get_log(home, project), [{**line, "project": project} for line in lines])
    corrections.write_corrections(home, project, new)
    os.close(os.open(f"{folder}/{SCORED}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return size


def _judge_wishes(
    home: str,
    project: str,
    new: "list[corrections.UserCorrection]",
    told: Marker,
    run: list[Action],
    said: "list[Record]",
) -> dict[str, bool]:
    """For each wish of the user's that the session bears on, whether it was broken.

    Broken: it had to be said again, or an act that it names was done. Kept: it was told or withheld in a session that
    was long enough to break it, and its own acts show that it did not; where they cannot, there is no evidence. What is
    said again before anything was done is no sign of either.
    """
    if not project:
        return {}
    known = corrections.group_corrections([*corrections.read_corrections(home, project), *new])
    corrected = [correction for correction in new if not correction.opens]
    again = {wish.id for wish in known if any(corrections.means_the_same(wish, one) for one in corrected)}
    others = [wish for wish in known if is_work(run) and wish.id not in again and told.find_arm(wish.id) != NONE]
    kept = {wish.id: was_kept(wish.words, said) for wish in others}
    return {
        **dict.fromkeys(again, True),
        **{wish: not verdict for wish, verdict in kept.items() if verdict is not None},
    }


def was_kept(rule: str, records: "Sequence[Record]") -> bool | None:
    """Whether a session kept a rule, in the words that the user said; None where nobody could tell."""
    judged = filter(can_be_judged, extract_instructions(rule))
    own = tuple(instruction.replace(holds=SESSION, at=-1.0) for instruction in judged)
    if not own:
        return None
    instructions, names = own, {instruction.id for instruction in own}
    acted = False
    for record in records:
        if record.get("e") == "user":
            if acted and _is_said_again(record, own):
                return False
            heard = load_instructions(record.get("heard", ()))
            instructions = merge_instructions(instructions, heard, float(record.get("at", 0.0)))
        elif (action := load_done(record)) is not None:
            if _is_broken(instructions, names, action):
                return False
            acted = True
    return True


def _is_said_again(record: "Record", own: "tuple[Instruction, ...]") -> bool:
    """Whether a message says again what a rule says, in whatever words."""
    again = [
        each for each in load_instructions(record.get("heard", ())) if each.kind in STANDING and each.holds != RULE
    ]
    same = any(names_same(each, instruction) for each in again for instruction in own)
    return same or any(_calls_for_name(record.get("words"), instruction) for instruction in own)


def _calls_for_name(said: object, instruction: Instruction) -> bool:
    """Whether a message says no more than the name of what a rule wants: "pnpm!"."""
    names = re.findall(r"[\w.+-]+", said.lower()) if isinstance(said, str) else []
    return bool(instruction.likes) and instruction.likes in names and len(names) <= BRIEF


def _is_broken(instructions: "tuple[Instruction, ...]", names: "set[str]", action: Action) -> bool:
    """Whether an action breaks one of the instructions that are a rule's."""
    if action.breaks and action.breaks[0] in names:
        return True
    rule = [each for each in instructions if each.at < 0 and each.id in names]
    requests = [each for each in instructions if each.at >= 0]
    breach = judge_call([*rule, *requests], read_action(action.kind, action.target), "")
    return breach is not None and breach.instruction.at < 0


def _read_main(folder: str) -> "tuple[list[Record], int]":
    try:
        return trace.read_trace(folder, 0, SESSION_BYTES)
    except OSError:
        return [], 0


def _find_project(records: "list[Record]") -> str:
    """The hash that stands in the first record of a start; it becomes a file name, so nothing else will do."""
    for record in records:
        value = record.get("project")
        if record.get("e") == "start" and isinstance(value, str) and 0 < len(value) <= 64:
            return value if all(digit in "0123456789abcdef" for digit in value) else ""
    return ""


def _load_actions(records: "list[Record]") -> list[Action]:
    """The actions among the records; a call that two hooks wrote counts once, one that never ran not at all."""
    actions: dict[str, Action] = {}
    for place, record in enumerate(records):
        if (action := load_done(record)) is not None:
            actions.setdefault(action.id or str(place), action)
    return list(actions.values())


def _delete_session(folder: str) -> None:
    """Remove a session: its files, those of its agents, and nothing that a link points to."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
