"""The hook: one event of a coding agent on standard input, at most one text for its model on standard output.

It never breaks its host (law 4): whatever goes wrong is counted for `insula doctor`, and the exit status is 0 with no
output. It has a few milliseconds, so it imports what an event needs and no more.
"""

import os
import sys
import time

from insula.coding.hosts.dialects import BaseDialect, load_dialect, read_tail
from insula.coding.step import trace
from insula.coding.step.action import EDIT
from insula.value import dump_json, is_list, is_object, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from insula.coding.step.action import Action, HookEvent
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
    """Answer one event; always ends the process with status 0."""
    host = argv[0] if argv else ""
    text = ""
    os.umask(0o077)
    try:
        _end_in_time(home, host)
        if not is_switched_off(home, os.environ.get("INSULA_OFF", "")):
            text = respond(home, host, _read_payload(), time.time())
    except BaseException as error:
        count_failure(home, host, error)
    try:
        os.write(1, text.encode())
    finally:
        os._exit(0)  # no thread, no exit handler, no flush that could still fail


def is_switched_off(home: str, variable: str) -> bool:
    """Whether the senses are switched off, by INSULA_OFF or by `insula off`."""
    return variable not in {"", "0"} or trace.read_settings(home).get("off") is True


def respond(home: str, host: str, payload: "dict[str, Any]", now: float) -> str:
    """The answer to an event as the host reads it; empty for silence.

    Raises:
        OSError: the trace cannot be written.
    """
    dialect = load_dialect(host)
    if _needs_no_look(home, payload):
        return ""
    event = dialect.read_event(payload, now)
    if event is None:
        return ""
    hook = Hook(home, host, dialect, event, now)
    if hook.is_off_here():
        return ""
    text = hook.answer_event(payload)
    if not text:
        return ""
    write = dialect.write_question if isinstance(text, UserQuestion) else dialect.write_answer
    return dump_json(write(event.name, text))


_EDITS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch"))
WORDS = "words.json"
"""The ledger of a session, as `step.instructions` writes it; named here, so that few calls need load that."""


def _needs_no_look(home: str, payload: "dict[str, Any]") -> bool:
    """Whether it is the announcement of an edit in a session in which the user has ruled nothing out."""
    tool = payload.get("tool_name")
    if payload.get("hook_event_name") != "PreToolUse" or not isinstance(tool, str) or tool not in _EDITS:
        return False
    session = payload.get("session_id")
    return not (isinstance(session, str) and os.path.exists(f"{trace.get_folder(home, session)}/{WORDS}"))


def count_failure(home: str, host: str, error: BaseException) -> None:
    """Note a failure of ours, without a word of the payload; says nothing if even that fails."""
    try:
        line = dump_json({"v": 1, "t": int(time.time()), "host": host[:20], "kind": type(error).__name__})
        path = f"{home}/{FAILURES}"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, (line + "\n").encode())
        full = os.fstat(file).st_size > _FAILURES_KEPT
        os.close(file)
        if full:
            os.replace(path, f"{home}/{OLD_FAILURES}")
    except Exception:  # nothing is left to do
        return


class PayloadError(ValueError):
    """What the hook was handed is no event of a host: no JSON object, or too large. It says nothing of the hook."""


def _read_payload() -> "dict[str, Any]":
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        while sys.stdin.buffer.read(LARGEST):  # the host must be able to write it all
            pass
        raise PayloadError("the payload is too large")
    try:
        value = load_json(data)
    except (ValueError, RecursionError) as error:
        raise PayloadError("the payload is no JSON") from error
    if not is_object(value):
        raise PayloadError("the payload is no object")
    return value


def _end_in_time(home: str, host: str) -> None:
    if TYPE_CHECKING:
        import signal
    else:
        import _signal as signal  # the same without its enums, which take a millisecond

    def end_process(*_: object) -> None:
        count_failure(home, host, TimeoutError())
        os._exit(0)

    if hasattr(signal, "setitimer"):  # Windows has none
        signal.signal(signal.SIGPROF, end_process)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        signal.signal(signal.SIGALRM, end_process)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)


class UserQuestion(str):
    """A text that the host puts to the user, and not to the model, where it can."""


_ASKING = frozenset(("", "default", "acceptEdits", "plan"))
"""Modes of permission in which a host puts questions to its user."""
_KEY = 40
"""Characters at the beginning of a message in which a word to Insula begins."""
_TWICE = 2.0
"""Seconds within which the same event is the same one."""


def _is_unattended() -> bool:
    """Whether the host says that nobody attends."""
    return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0"


class Hook:
    """One call of the hook: what a host tells of a session, noted in its trace, and what there is to say to it."""

    def __init__(self, home: str, host: str, dialect: BaseDialect, event: "HookEvent", now: float) -> None:
        self._home, self._host, self._dialect, self._event, self._now = home, host, dialect, event, now
        self._session, self._settings = trace.get_folder(home, event.session), trace.read_settings(home)

    def is_off_here(self) -> bool:
        """Whether the senses are switched off in the project of the event."""
        projects = self._settings.get("projects_off")
        return is_list(projects) and bool(projects) and trace.hash_project(self._event.cwd) in projects

    def answer_event(self, payload: "dict[str, Any]") -> str:
        """The text for the event; empty for silence."""
        event = self._event
        if event.kind in {"before", "action"} and event.actions and os.path.exists(f"{self._session}/{WORDS}"):
            self._event = event.replace(actions=self._find_breaches(payload))
        if event.kind == "start":
            return self._start_session()
        if event.kind == "prompt":
            return self._take_prompt()
        if event.kind == "before":
            return self._foresee_call()
        if event.kind == "action":
            return self._take_actions()
        trace.append_records(self._session, {"e": event.kind, "at": self._now})
        if event.kind == "subagent":
            return self._tell_standing()
        return self._settle_trace() if event.kind == "stop" and not (event.drops_output or event.agent) else ""

    def _start_session(self) -> str:
        from insula.coding.step.digest import open_session, read_holdout

        event, project = self._event, trace.hash_project(self._event.cwd)
        start = {"e": "start", "at": self._now, "host": self._host, "project": project, "source": event.source}
        start["pid"] = os.getpid()
        trace.append_records(self._session, start)
        if self._is_second(start):
            return ""
        known = event.source in {"resume", "compact"}
        share = read_holdout(self._home)
        text = open_session(self._home, trace.make_key(event.session), project, self._now, share, goes_on=known)
        if event.source == "compact":
            text = "\n".join(filter(None, (text, self._tell_standing())))
        return "" if event.source == "resume" else text  # it is in the context already

    def _is_second(self, start: "Record") -> bool:
        """Whether a hook that was installed beside this one tells of the same start and was there first."""
        starts = [record for record in trace.read_tail(self._session) if record.get("e") == "start"]
        same = [
            record
            for record in starts
            if record.get("source") == start["source"] and abs(start["at"] - record.get("at", 0.0)) < _TWICE
        ]
        return bool(same) and same[0].get("pid") != start["pid"]

    def _tell_standing(self) -> str:
        """What the user has ruled out in this session and not taken back: after a compaction all of it; to a subagent
        which files it must leave alone, since what else was ruled out is for the agent that sent it."""
        from insula.coding.step.instructions.instruction import (
            AGAIN,
            TO_OTHERS,
            TOLD_AGAIN,
            has_ledger,
            list_standing,
            read_ledger,
        )

        if not has_ledger(self._session) or TOLD_AGAIN not in self._list_senses():
            return ""
        kind = self._event.kind
        words = read_ledger(self._session)
        if kind == "subagent":
            text = list_standing([word for word in words if word.guards_files], TO_OTHERS)
        else:
            text = list_standing(words, AGAIN)
        if not text:
            return ""
        from insula.coding.step.proprioception import Sensed
        from insula.coding.step.state import Reading, State

        reading = Reading(sense=TOLD_AGAIN, count=1, key=f"told {kind} {self._now}", form=kind)
        return self._note_text(Sensed(state=State(), said=reading, text=text), agent="")

    def _take_prompt(self) -> str:
        """Note what the user says, and what they did before it: of an interrupt the host's record tells alone."""
        from insula.coding.step.person import PROMPT, Remark, is_of_host

        if is_of_host(self._event.prompt):
            return ""
        noted = self._take_verdict()
        transcript = self._event.transcript
        before = self._dialect.read_remarks(read_tail(transcript)) if transcript else ()
        remarks = (*before, Remark(kind=PROMPT, words=self._redact_answer(self._event.prompt)))
        trace.append_records(self._session, *self._dump_remarks(remarks, _is_unattended()))
        return self._settle_trace() or noted

    def _take_verdict(self) -> str:
        """Note what the message says of the last note, if anything, and go on with the rest of it; the answer."""
        if "insula" not in self._event.prompt[:_KEY].lower():
            return ""
        from insula.coding.step.worth import note_word, read_verdict

        verdict, rest = read_verdict(self._event.prompt)
        if not verdict:
            return ""
        self._event = self._event.replace(prompt=rest)
        return note_word(self._home, self._event.session, verdict, self._now)

    def _redact_answer(self, prompt: str) -> str:
        """A prompt without its secrets, where the one before it may announce one."""
        from insula.redaction import may_answer, take_answer

        if not may_answer(prompt):
            return prompt
        said = [str(record.get("words", "")) for record in trace.read_tail(self._session) if record.get("e") == "user"]
        return take_answer(prompt, [(True, words) for words in said[-1:]])[0]

    def _dump_remarks(self, remarks: "tuple[Remark, ...]", away: bool = False) -> "list[Record]":
        from insula.coding.step.instructions.extraction import extract_instructions
        from insula.coding.step.instructions.instruction import dump_instructions
        from insula.coding.step.person import dump_remark, extract_own_words

        records: list[Record] = []
        for remark in remarks:
            words = dump_instructions(extract_instructions(remark.words)) if remark.words else []
            line = dump_remark(remark.replace(words=extract_own_words(remark.words)), self._now, away)
            records.append({**line, "heard": words} if words else line)
        return records

    def _foresee_call(self) -> str:
        """Before a call: of one that does nothing to what others rely on, not even a line is written."""
        from insula.coding.step.command import BYPASSES

        event = self._event
        asks = self._dialect.asks and event.mode in _ASKING and not event.agent and not _is_unattended()
        mark = {"asks": True} if asks else {}
        records: list[Record] = [
            {"e": "before", **mark, **action.as_dict()}
            for action in event.actions
            if BYPASSES in action.acts or action.breaks
        ]
        if not records:
            return ""
        trace.append_records(self._get_folder(), *records)
        return self._settle_trace()

    def _get_folder(self) -> str:
        """Where the acts of the agent stand that the event is of."""
        return trace.get_folder(self._home, self._event.session, self._event.agent)

    def _take_actions(self) -> str:
        event, folder = self._event, self._get_folder()
        records: list[Record] = [{"e": "action", **action.as_dict()} for action in event.actions]
        if event.batch is not None:
            records.append({"e": "turn", "at": self._now, "ids": event.batch})
        if event.remarks:
            records += self._dump_remarks(event.remarks)
        if not records:
            return ""
        trace.append_records(folder, *records)  # before anything that may take its time
        more = [found for action in event.actions if (found := self._find_more(folder, action))]
        if more:
            trace.append_records(folder, *more)
        return self._settle_trace()

    def _find_breaches(self, payload: "dict[str, Any]") -> "tuple[Action, ...]":
        """The actions, each with the word of the user's that it breaks."""
        from insula.coding.hosts.payload import read_raw_call
        from insula.coding.step.instructions.breach import find_breach, read_call
        from insula.coding.step.instructions.instruction import read_ledger

        actions = self._event.actions
        if len(actions) != 1:  # a batch: each of its calls was told alone
            return actions
        instructions = read_ledger(self._session)
        tool, given, _ = read_raw_call(payload)
        breaks = find_breach(instructions, read_call(tool, given), self._event.cwd) if instructions else ()
        return (actions[0].replace(breaks=breaks),) if breaks else actions

    def _list_senses(self) -> frozenset[str]:
        """The senses that are on."""
        from insula.coding.step.senses.register import list_switched_on

        return list_switched_on(self._settings.get("senses"))

    def _find_more(self, folder: str, action: "Action") -> "Record":
        """What else can be found out about a call: its turn, the tokens in the context, and who imports its file."""
        event = self._event
        more: Record = {}
        if event.transcript and not event.agent:
            tail = read_tail(event.transcript)
            used, window = self._dialect.read_context(tail)
            turn = self._dialect.read_turn(tail, action.id)
            numbers = (("context", used), ("context_window", window), ("turn", turn))
            more = {key: value for key, value in numbers if value}
        if action.kind == EDIT and action.ok:
            if event.cwd and os.path.isabs(action.target):
                from insula.coding.step.project import is_of_project, path_inside

                more["of_project"] = is_of_project(path_inside(event.cwd, action.target))
            if "spatial" in self._list_senses():
                from insula.coding.step.blast import count_importers

                hubs = count_importers(folder, action.target, event.cwd)
                more |= {"importers": hubs} if hubs else {}
        return {"e": "more", "id": action.id or action.call, **more} if more else {}

    def _settle_trace(self) -> str:
        """Take in what the trace has since the last hook, and return what there is to say."""
        from insula.coding.step.proprioception import fold_trace, sense_end
        from insula.coding.step.state import dump_state, load_state

        event, on = self._event, self._list_senses()
        folder = self._get_folder() if event.kind in {"before", "action"} else self._session
        with trace.Checkpoint(folder, load_state) as checkpoint:
            if not checkpoint.held:
                return ""
            state, outcomes = fold_trace(checkpoint.value, checkpoint.fresh, on)
            if not event.agent and state.words != (checkpoint.value.words if checkpoint.value is not None else ()):
                from insula.coding.step.instructions.instruction import write_ledger

                write_ledger(folder, state.words)
            if checkpoint.value is None:
                outcomes = (
                    outcomes[-len(event.actions) :] if event.actions else []
                )  # the others were told in their time
            if event.kind == "stop":
                outcomes.append(sense_end(self._with_acts(state, on), event.said, on))
                state = outcomes[-1].state.replace(done=None)
            last = max(outcomes, key=lambda sensed: (bool(sensed.text), sensed.rung)) if outcomes else None
            text = self._note_text(last, event.agent) if last is not None and last.text else ""
            text = text or state.held
            text = UserQuestion(text) if last is not None and last.asks and text else text
            checkpoint.keep_value(dump_state(state.replace(held=text if event.drops_output else "")))
        self._note_outcomes(folder, outcomes)
        return "" if event.drops_output else text

    def _with_acts(self, state: "State", on: frozenset[str]) -> "State":
        """The state with what was done in the session, for the senses that compare words with it."""
        event = self._event
        if "unmet" not in on or not event.said or event.pending or event.mode == "plan" or event.drops_output:
            return state
        from insula.coding.step.instructions.acts import read_done

        return state.replace(done=read_done(self._session))

    def _note_text(self, sensed: "Sensed", agent: str) -> str:
        """The text, noted; empty where it is withheld by lot, or where a person has said that it is a false alarm."""
        from insula.coding.step.worth import note_text

        return note_text(self._home, self._event.session, agent, self._event.cwd, sensed, self._now)

    def _note_outcomes(self, folder: str, outcomes: "list[Sensed]") -> None:
        """Note what became of what was said."""
        if not any(sensed.heeded is not None or sensed.ended for sensed in outcomes):
            return
        from insula.coding.step.worth import name_trouble

        session, now = self._event.session, self._now
        records: list[Record] = []
        for sensed in outcomes:
            if sensed.heeded is not None:
                records.append(
                    {"e": "heeded", "at": now, "id": name_trouble(session, sensed.watched), "yes": sensed.heeded}
                )
            records += [
                {"e": "ended", "at": now, "id": name_trouble(session, ended.key), **ended.as_dict()}
                for ended in sensed.ended
            ]
        trace.append_records(folder, *records)
