"""The hook: one event of a coding agent on standard input, at most one text for its model on standard output.

It never breaks its host (law 4): whatever goes wrong is counted for `insula doctor`, and the exit status is 0 with no
output. It has a few milliseconds, so it imports what an event needs and no more.
"""

import json
import os
import sys
import time

from insula.coding.hosts import registry
from insula.coding.step import trace
from insula.coding.step.action import EDIT, EXECUTE
from insula.value import is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from insula.coding.step.action import Action, Event
    from insula.coding.step.person import Remark
    from insula.coding.step.proprioception import Sensed
    from insula.coding.step.state import State

    Record = dict[str, Any]

LARGEST = 8 * 1024 * 1024
"""Bytes of a payload that are taken in."""
CPU_SECONDS = 3.0
"""Seconds of work after which the hook ends whatever it is doing; on a loaded machine they take longer."""
PATIENCE = 30.0
"""Seconds after which it ends though it has not worked: its input never ends, or a disk hangs. Hosts give it five."""
FAILURES, OLD_FAILURES = "failures.jsonl", "failures.1.jsonl"
_FAILURES_KEPT = 256 * 1024


def main(home: str, argv: list[str]) -> None:
    """Answer one event; always ends the process with status 0.

    Args:
        home: the folder of Insula's state.
        argv: the host's id.
    """
    host = argv[0] if argv else ""
    told = ""
    os.umask(0o077)
    try:
        _end_in_time(home, host)
        if not off(home, os.environ.get("INSULA_OFF", "")):
            told = respond(home, host, _payload(), time.time())
    except BaseException as error:
        count(home, host, error)
    try:
        os.write(1, told.encode())
    finally:
        os._exit(0)  # no thread, no exit handler, no flush that could still fail


def off(home: str, switch: str) -> bool:
    """Whether the senses are switched off, by INSULA_OFF or by `insula off`."""
    return switch not in {"", "0"} or config(home).get("off") is True


def config(home: str) -> "dict[str, Any]":
    """What `insula install`, `on` and `off` wrote; off where that cannot be read: it may have said so."""
    try:
        with open(f"{home}/hook.json", "rb") as file:
            value = json.loads(file.read())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        return {"off": True}
    return value if is_object(value) else {"off": True}


def respond(home: str, host: str, payload: "dict[str, Any]", now: float) -> str:
    """The answer to an event as the host reads it; empty for silence.

    Raises:
        OSError: the trace cannot be written.
    """
    dialect = registry.dialect(host)
    if _needs_no_look(home, payload):
        return ""
    event = dialect.event(payload, now)
    if event is None or _off_here(home, event.cwd):
        return ""
    if event.kind in {"before", "action"} and _said_a_word(home, event):
        event = event.replace(actions=_judged(home, payload, event))
    if event.kind == "action" and len(event.actions) == 1:
        event = event.replace(noted=_noted_for_the_end(home, payload, event.actions[0]))
    told = _EVENTS[event.kind](home, host, event, now)
    if not told:
        return ""
    asks = dialect.ask if isinstance(told, Question) else None
    return json.dumps(asks(event.name, told) if asks is not None else dialect.answer(event.name, told))


class Question(str):
    """A text that the host puts to the user, and not to the model."""


def _needs_no_look(home: str, payload: "dict[str, Any]") -> bool:
    """Whether it is the announcement of an edit in a session in which the user has ruled nothing out."""
    tool = payload.get("tool_name")
    if payload.get("hook_event_name") != "PreToolUse" or not isinstance(tool, str) or tool not in _EDITS:
        return False
    session = payload.get("session_id")
    return not (isinstance(session, str) and os.path.exists(f"{trace.folder(home, session)}/{WORDS}"))


_EDITS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch"))
WORDS = "words.json"
"""The ledger of a session, as `step.word.word` writes it; named here, so that few calls need load that."""


def _said_a_word(home: str, event: "Event") -> bool:
    return bool(event.actions) and os.path.exists(f"{trace.folder(home, event.session)}/{WORDS}")


def _judged(home: str, payload: "dict[str, Any]", event: "Event") -> "tuple[Action, ...]":
    """The actions, each with the word of the user's that it breaks."""
    from insula.coding.hosts.fields import raw_call
    from insula.coding.step.word.breach import judged
    from insula.coding.step.word.word import read_ledger

    if len(event.actions) != 1:  # a batch: each of its calls was told alone
        return event.actions
    words = read_ledger(trace.folder(home, event.session))
    tool, given, _ = raw_call(payload)
    breaks = judged(words, tool, given, event.cwd, lambda: _paths(home, event)) if words else ()
    return (event.actions[0].replace(breaks=breaks),) if breaks else event.actions


def _noted_for_the_end(home: str, payload: "dict[str, Any]", action: "Action") -> "Record":
    """What of a check or an edit an action does not hold, and the end of the session is judged by."""
    if not (action.kind == EXECUTE or (action.kind == EDIT and action.ok)):
        return {}
    from insula.coding.hosts.fields import raw_call, said

    _, given, output = raw_call(payload)
    if action.kind == EDIT:
        from insula.coding.step.fingerprint import writes_test

        return {"tests": True} if writes_test(given) else {}
    if action.ok:
        return {}
    from insula.coding.step.outcome import is_red

    return {"red": is_red(said(output), "error" in payload or action.failed)}


def _paths(home: str, event: "Event") -> "list[str]":
    """The files that the session has met lately."""
    records = trace.tail(trace.folder(home, event.session))
    return [str(one.get("target", "")) for one in records if one.get("kind") in {"read", "edit"}]


def count(home: str, host: str, error: BaseException) -> None:
    """Note a failure of ours, without a word of the payload; says nothing if even that fails."""
    try:
        line = json.dumps({"v": 1, "t": int(time.time()), "host": host[:20], "kind": type(error).__name__})
        path = f"{home}/{FAILURES}"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, (line + "\n").encode())
        full = os.fstat(file).st_size > _FAILURES_KEPT
        os.close(file)
        if full:
            os.replace(path, f"{home}/{OLD_FAILURES}")
    except Exception:  # nothing is left to do
        return


def _payload() -> "dict[str, Any]":
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        while sys.stdin.buffer.read(LARGEST):  # the host must be able to write it all
            pass
        raise ValueError("the payload is too large")
    value = json.loads(data)
    if not is_object(value):
        raise TypeError("the payload is no object")
    return value


def _end_in_time(home: str, host: str) -> None:
    if TYPE_CHECKING:
        import signal
    else:
        import _signal as signal  # the same without its enums, which take a millisecond

    def end(*_: object) -> None:
        count(home, host, TimeoutError())
        os._exit(0)

    if hasattr(signal, "setitimer"):  # Windows has none
        signal.signal(signal.SIGPROF, end)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)


def _off_here(home: str, cwd: str) -> bool:
    projects = config(home).get("projects_off")
    return is_list(projects) and bool(projects) and trace.project(cwd) in projects


# Events.


def _start(home: str, host: str, event: "Event", now: float) -> str:
    from insula.coding.step.digest import holdout, open_session

    folder, project = trace.folder(home, event.session), trace.project(event.cwd)
    began = {"e": "start", "at": now, "host": host, "project": project, "source": event.source, "pid": os.getpid()}
    trace.append(folder, began)
    if _is_second(folder, began):
        return ""
    known = event.source in {"resume", "compact"}
    told = open_session(home, trace.key(event.session), project, now, holdout(home), goes_on=known)
    if event.source == "compact":
        told = "\n".join(filter(None, (told, _what_stands(home, event, now))))
    return "" if event.source == "resume" else told  # it is in the context already


def _brief(home: str, host: str, event: "Event", now: float) -> str:
    """To a subagent, which has heard nothing of what the user said: what stands."""
    trace.append(trace.folder(home, event.session), {"e": event.kind, "at": now})
    return _what_stands(home, event, now)


def _what_stands(home: str, event: "Event", now: float) -> str:
    """What the user has ruled out in this session and not taken back, noted as told."""
    from insula.coding.step.senses.register import switched
    from insula.coding.step.word.word import AGAIN, TO_OTHERS, TOLD_AGAIN, has_ledger, list_standing, read_ledger

    folder = trace.folder(home, event.session)
    if not has_ledger(folder) or TOLD_AGAIN not in switched(config(home).get("senses")):
        return ""
    text = list_standing(read_ledger(folder), TO_OTHERS if event.kind == "subagent" else AGAIN)
    if not text:
        return ""
    from insula.coding.step.proprioception import Sensed
    from insula.coding.step.state import Reading, State

    reading = Reading(sense=TOLD_AGAIN, count=1, key=f"told {event.kind} {now}", form=event.kind)
    return _said(home, event.replace(agent=""), Sensed(state=State(), said=reading, text=text), now)


_TWICE = 2.0
"""Seconds within which the same event is the same one."""


def _is_second(folder: str, began: "Record") -> bool:
    """Whether a hook that was installed beside this one tells of the same start and was there first."""
    starts = [record for record in trace.tail(folder) if record.get("e") == "start"]
    same = [
        start
        for start in starts
        if start.get("source") == began["source"] and abs(began["at"] - start.get("at", 0.0)) < _TWICE
    ]
    return bool(same) and same[0].get("pid") != began["pid"]


def _prompt(home: str, host: str, event: "Event", now: float) -> str:
    from insula.coding.step.person import PROMPT, Remark, is_of_host

    if is_of_host(event.prompt):
        return ""
    said = (*_before_it(host, event), Remark(kind=PROMPT, words=event.prompt))
    trace.append(trace.folder(home, event.session), *_remarks(said, now, _away()))
    return _settled(home, event, now)


def _before_it(host: str, event: "Event") -> "tuple[Remark, ...]":
    """Interrupts and rejections since the agent last spoke: no hook is told of them, but the host's own record is."""
    dialect = registry.dialect(host)
    if not event.transcript or dialect.remarks is None:
        return ()
    from insula.coding.hosts.transcripts import tail

    return dialect.remarks(tail(event.transcript))


def _remarks(remarks: "tuple[Remark, ...]", now: float, away: bool = False) -> "list[Record]":
    from insula.coding.step.person import own_words, record
    from insula.coding.step.word.extraction import hear
    from insula.coding.step.word.word import dump_words

    found: list[Record] = []
    for each in remarks:
        heard = dump_words(hear(each.words)) if each.words else []
        line = record(each.replace(words=own_words(each.words)), now, away)
        found.append({**line, "heard": heard} if heard else line)
    return found


def _away() -> bool:
    """Whether the host says that nobody attends."""
    return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0"


_ASKING = frozenset(("", "default", "acceptEdits", "plan"))
"""Modes of permission in which the host puts questions to the user."""


def _foresee(home: str, host: str, event: "Event", now: float) -> str:
    """Before a call: of one that does nothing to what others rely on, not even a line is written."""
    from insula.coding.step.command import BYPASSES

    asks = registry.dialect(host).ask is not None and event.mode in _ASKING and not event.agent and not _away()
    mark = {"asks": True} if asks else {}
    records: list[Record] = [
        {"e": "before", **mark, **action.as_dict()}
        for action in event.actions
        if BYPASSES in action.acts or action.breaks
    ]
    if not records:
        return ""
    trace.append(trace.folder(home, event.session, event.agent), *records)
    return _settled(home, event, now)


def _act(home: str, host: str, event: "Event", now: float) -> str:
    records: list[Record] = [{"e": "action", **event.noted, **action.as_dict()} for action in event.actions]
    if event.batch is not None:
        records.append({"e": "turn", "at": now, "ids": event.batch})
    if event.remarks:
        records += _remarks(event.remarks, now)
    if not records:
        return ""
    folder = trace.folder(home, event.session, event.agent)
    trace.append(folder, *records)  # before anything that may take its time
    more = [found for action in event.actions if (found := _more(home, folder, host, event, action))]
    if more:
        trace.append(folder, *more)
    return _settled(home, event, now)


def _senses(home: str) -> frozenset[str]:
    """The senses that are on."""
    from insula.coding.step.senses.register import switched

    return switched(config(home).get("senses"))


def _more(home: str, folder: str, host: str, event: "Event", action: "Action") -> "Record":
    """What else can be found out about a call: its turn and the tokens in the context, and who imports its file."""
    found: Record = {}
    if event.transcript and not event.agent:
        from insula.coding.hosts.transcripts import tail

        dialect, end = registry.dialect(host), tail(event.transcript)
        used, window = dialect.context(end)
        name = dialect.turn(end, action.id) if dialect.turn is not None else ""
        found = {key: value for key, value in (("context", used), ("context_window", window), ("turn", name)) if value}
    if action.kind == EDIT and action.ok:
        if event.cwd and os.path.isabs(action.target):
            found["of_project"] = _is_of_project(event, action)
        if "spatial" in _senses(home):
            from insula.coding.step.blast import importers

            hubs = importers(folder, action.target, event.cwd)
            found |= {"importers": hubs} if hubs else {}
    return {"e": "more", "id": action.id or action.call, **found} if found else {}


def _is_of_project(event: "Event", action: "Action") -> bool:
    """Whether the file of an edit is code or a setting of the project that the host works in."""
    from insula.coding.step.project import is_of_project, path_inside

    return is_of_project(path_inside(event.cwd, action.target))


def _stop(home: str, host: str, event: "Event", now: float) -> str:
    trace.append(trace.folder(home, event.session), {"e": event.kind, "at": now})
    return "" if event.drops_output or event.agent else _settled(home, event, now)


def _note(home: str, host: str, event: "Event", now: float) -> str:
    trace.append(trace.folder(home, event.session), {"e": event.kind, "at": now})
    return ""


_EVENTS = {
    "start": _start,
    "prompt": _prompt,
    "before": _foresee,
    "action": _act,
    "subagent": _brief,
    "stop": _stop,
    "end": _note,
}


def _settled(home: str, event: "Event", now: float) -> str:
    """Takes in what the trace has since the last hook, and returns what there is to say."""
    from insula.coding.step.proprioception import dump, end, fold, load

    on = _senses(home)
    folder = trace.folder(home, event.session, event.agent if event.kind in {"before", "action"} else "")
    with trace.Checkpoint(folder, load) as checkpoint:
        if not checkpoint.held:
            return ""
        state, outcomes = fold(checkpoint.value, checkpoint.fresh, on)
        if not event.agent and state.words != (checkpoint.value.words if checkpoint.value is not None else ()):
            _publish(folder, state)
        if checkpoint.value is None:
            outcomes = outcomes[-len(event.actions) :] if event.actions else []  # the others were told in their time
        if event.kind == "stop":
            outcomes.append(end(_with_acts(folder, event, state, on), event.said, on))
            state = outcomes[-1].state.replace(done=None)
        last = max(outcomes, key=lambda sensed: (bool(sensed.text), sensed.rung)) if outcomes else None
        told = _said(home, event, last, now) if last is not None and last.text else ""
        told = told or state.held
        told = Question(told) if last is not None and last.asks and told else told
        checkpoint.keep(dump(state.replace(held=told if event.drops_output else "")))
    _noted(folder, event.session, outcomes, now)
    return "" if event.drops_output else told


def _with_acts(folder: str, event: "Event", state: "State", on: "frozenset[str]") -> "State":
    """The state with what was done in the session, for the senses that compare words with it."""
    if "unmet" not in on or not event.said or event.pending or event.mode == "plan" or event.drops_output:
        return state
    from insula.coding.step.word.acts import read

    return state.replace(done=read(folder))


def _publish(folder: str, state: "State") -> None:
    from insula.coding.step.word.word import write_ledger

    write_ledger(folder, state.words)


def _said(home: str, event: "Event", sensed: "Sensed", now: float) -> str:
    """The text, noted; empty where it is withheld by lot, or where a person has said that it is a false alarm."""
    from insula.coding.step.worth import told

    return told(home, event.session, event.agent, event.cwd, sensed, now)


def _noted(folder: str, session: str, outcomes: "list[Sensed]", now: float) -> None:
    """Notes what became of what was said."""
    if not any(sensed.heeded is not None or sensed.ended for sensed in outcomes):
        return
    from insula.coding.step.worth import name

    records: list[Record] = []
    for sensed in outcomes:
        if sensed.heeded is not None:
            records.append({"e": "heeded", "at": now, "id": name(session, sensed.watched), "yes": sensed.heeded})
        records += [
            {"e": "ended", "at": now, "id": name(session, ended.key), **ended.as_dict()} for ended in sensed.ended
        ]
    trace.append(folder, *records)
