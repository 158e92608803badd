"""Whether the hooks work: what is installed, whether it runs, and what its host makes of it.

A hook that fails says nothing to anybody (law 4), so this is where it is told. Each check is a sentence with a remedy.
"""

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING

import insula
from insula.coding.hosts import jsonc, places, present, records, runtime, switch, trials
from insula.coding.hosts.consent import HostCheck, State, check_consent
from insula.coding.hosts.dialects import PROVEN
from insula.coding.hosts.hook import FAILURES, OLD_FAILURES, PayloadError
from insula.coding.hosts.jsonc import JsonError
from insula.coding.hosts.places import HOSTS, Host
from insula.coding.hosts.present import Present, list_hooks
from insula.coding.hosts.records import Installed
from insula.coding.step.senses import load_sense
from insula.coding.step.senses.register import MEASURED
from insula.coding.step.trace import SETTINGS, parse_records, read_end
from insula.coding.step.worth import list_false_alarms
from insula.errors import InsulaError
from insula.foreign import search_path
from insula.redaction import redact
from insula.value import is_number

if TYPE_CHECKING:  # it loads a server of models
    from insula.coding.hosts.live import Proof

DAYS = 7
"""How far back failures are counted."""
QUOTED = 160
"""Characters of their command lines that are shown."""
TRIAL = "insula-doctor-"
"""How the session of a trial begins; no host makes such an id."""
LEFT = 3600
"""Seconds after which the session of a trial is nobody's any more."""
MOST = 1 << 20
"""Bytes of each that are read."""

Prover = Callable[[str, Path], "Proof"]


def summarize_checks(checks: Iterable[HostCheck]) -> int:
    """0 where all is well, 1 where something is broken, 2 where nothing is and yet the hooks do not run here."""
    states = {check.state for check in checks}
    return 1 if "broken" in states else 2 if "idle" in states else 0


def examine_host(host: Host | None = None, prove: Prover | None = None) -> Iterator[HostCheck]:
    """Look at everything that a hook needs; each check is told when it is known.

    Args:
        host: one host; all that have our hooks by default.
        prove: runs the real client of a host, and says whether a signal reached its model.
    """
    house, here = places.find_home(), Path.cwd()
    _remove_trials(house)
    present = _find_all(here, host)
    if why := records.explain_distrust(house):
        yield HostCheck("", "record", "broken", f"nothing that is installed is run: {why}")
    if any(files.here for files in present.values()):
        command = _name_install(present)
        yield from (*_check_house(house, command), *_check_code(house, command), *_check_switches(house, here))
        yield from _list_senses(house)
        yield from _check_failures(house, host, command)
    else:
        wanted = host.id if host else f"AGENT, where AGENT is one of {', '.join(HOSTS)}"
        yield HostCheck(host.id if host else "", "hooks", "idle", "none are installed here", f"insula install {wanted}")
    for agent, files in present.items():
        if files.here:  # of a check that two files lead to, one is enough
            yield from dict.fromkeys(_check_host(agent, files.here, house, places.find_root(here), prove))
        yield from _check_foreign(agent, files)


def name_install_command(folder: Path) -> str:
    """The command that puts the hooks in once more, as a person would type it in a folder.

    Raises:
        SettingsError: a settings file cannot be read.
    """
    return _name_install(_find_all(folder))


def _find_all(folder: Path, host: Host | None = None) -> dict[Host, Present]:
    return {agent: present.find_hooks(agent, folder) for agent in ([host] if host else HOSTS.values())}


def _name_install(present: Mapping[Host, Present]) -> str:
    """Into the first host that has the hooks; where none has, into the first of all."""
    where = ((host, file) for host, files in present.items() for file in files.here)
    host, file = next(where, (next(iter(HOSTS.values())), None))
    return f"insula install {host.id}{_name_option(host, file) if file else ''}"


def _name_option(host: Host, file: Path) -> str:
    return " --project" if places.get_project(host, file) else ""


def _remove_trials(house: Path) -> None:
    """Remove the sessions of trials that were ended half way."""
    for session in (house / "sessions").glob(f"{TRIAL}*"):
        with contextlib.suppress(OSError):
            if time.time() - session.stat().st_mtime > LEFT:
                shutil.rmtree(session, ignore_errors=True)


def _check_host(
    host: Host, files: Mapping[Path, bytes], house: Path, here: Path, prove: Prover | None
) -> Iterator[HostCheck]:
    installed = records.list_installed(house, host.id)
    commands: dict[Installed, None] = {}
    allowed = True
    if host.unproven:
        yield HostCheck(host.id, "experimental", "warn", host.unproven, _name_canary(host))
    for file, data in files.items():
        if host.script:
            entries = list(present.list_script_hooks(host, file))
        else:
            try:
                root = jsonc.parse_jsonc(data.decode())
            except (JsonError, UnicodeDecodeError, RecursionError) as error:
                says = f"{str(file)!r} is no JSON ({error})"
                yield HostCheck(host.id, "settings", "broken", says, "mend the file; nothing of it was changed")
                continue
            handlers = [hook for hook in list_hooks(root) if hook.command in installed]
            entries = [(hook.event, line) for hook in handlers for line in installed if line == hook.command]
            consent = list(check_consent(host, file, root, handlers, here))
            allowed = allowed and not any(check.state == "broken" for check in consent)
            yield from consent
        commands |= dict.fromkeys(command for _, command in entries)
        yield _check_entries(host, file, {event for event, _ in entries})
    for command in commands:
        yield from _check_command(host, command, house)
    if prove is not None:
        yield _check_live(host, prove, allowed)


def _name_canary(host: Host) -> str:
    """How its user sees whether a signal reaches the model."""
    if host.id in PROVEN:
        return f"insula doctor {host.id} --live"
    return f"let {host.name} run `cat missing-1` to `cat missing-5`, and ask it what [insula] said"


def _check_entries(host: Host, file: Path, there: Set[str]) -> HostCheck:
    missing = [on.event for on in host.events if on.event not in there]
    if not missing:
        return HostCheck(host.id, "settings", "ok", f"{len(there)} events in {file}")
    says = f"{file} lacks {', '.join(missing)}" if there else f"{file} has no hook of Insula's any more"
    return HostCheck(host.id, "settings", "broken", says, f"insula install {host.id}{_name_option(host, file)}")


# What all hooks share.


def _check_house(house: Path, again: str) -> Iterator[HostCheck]:
    """Whether the folder of hook state can be written, by its owner alone."""
    try:
        about = house.stat()
    except OSError as error:
        yield HostCheck("", "folder", "broken", f"{house} cannot be looked at ({error.strerror})", again)
        return
    if about.st_uid != os.geteuid():
        yield HostCheck("", "folder", "broken", f"{house} belongs to another user", f"chown -R $USER {house}")
    elif not os.access(house, os.W_OK | os.X_OK) or not about.st_mode & 0o200:
        yield HostCheck("", "folder", "broken", f"{house} cannot be written", f"chmod u+rwx {house}")
    elif open_to_others := _open_to_others(house):
        yield HostCheck(
            "", "folder", "warn", f"others may read {', '.join(open_to_others)} in {house}", f"chmod -R go= {house}"
        )
    else:
        yield HostCheck("", "folder", "ok", f"{house}, for you alone")


def _open_to_others(house: Path) -> list[str]:
    ours = [house, *(house / name for name in ("hook", SETTINGS, records.FILE, *switch.ERASED))]
    with contextlib.suppress(OSError):
        return ["it" if path == house else path.name for path in ours if path.exists() and path.stat().st_mode & 0o077]
    return []


def _check_code(house: Path, again: str) -> Iterator[HostCheck]:
    """Whether the hook's code is there, whole, and that of this version."""
    remedy = f"run {again} again"
    lib, condition = runtime.find_lib(house), runtime.check_code(house)
    where = house / "hook" / lib if lib else house / places.SHIM
    if condition == "whole":
        yield HostCheck("", "code", "ok", f"version {insula.__version__}, in {where}")
    elif condition == "other":
        yield HostCheck("", "code", "warn", "the hook runs another version than this one", remedy)
    else:
        yield HostCheck("", "code", "broken", f"{where} is {condition}", remedy)


def _check_switches(house: Path, here: Path) -> Iterator[HostCheck]:
    if os.environ.get("INSULA_OFF", "") not in ("", "0"):
        yield HostCheck("", "switch", "idle", "switched off by INSULA_OFF", "unset INSULA_OFF")
    if not switch.is_readable(house):
        says = f"{house / SETTINGS} cannot be read, so the hooks are off"
        yield HostCheck("", "switch", "broken", says, "run insula on or insula off")
    elif switch.read_switches(house)["off"]:
        yield HostCheck("", "switch", "idle", "switched off", "insula on")
    elif switch.is_off(house, here):
        yield HostCheck("", "switch", "idle", f"switched off in {places.find_root(here)}", "insula on --project")
    else:
        yield HostCheck("", "switch", "ok", "on")


def _list_senses(house: Path) -> Iterator[HostCheck]:
    """Each sense: whether it speaks, what it notices, and why it does or does not; those that speak first."""
    on, called = switch.list_senses(house), list_false_alarms(str(house)).items()
    alarms = Counter(sense for (_, sense, _), notes in called for _ in notes)
    for row in sorted(MEASURED, key=lambda row: row.sense not in on):
        is_on = row.sense in on
        says = f"{'on' if is_on else 'off'}: {load_sense(row.sense).LABEL} ({row.explain_default(is_on)})"
        if alarms[row.sense]:
            says += f"; you called {alarms[row.sense]} of its notes a false alarm"
        yield HostCheck("", row.sense, "ok", says)


def _check_failures(house: Path, host: Host | None, again: str) -> Iterator[HostCheck]:
    """What the hook noted of its own failures lately: how often which kind, and in which host."""
    since = time.time() - DAYS * 86400
    kinds: Counter[tuple[str, str]] = Counter()
    for name in (OLD_FAILURES, FAILURES):
        for record in parse_records(read_end(str(house / name), MOST)):
            at, failed = record.get("t"), str(record.get("host", ""))
            if is_number(at) and at >= since and (host is None or failed == host.id):
                kinds[str(record.get("kind", "")), failed] += 1
    if not kinds:
        yield HostCheck("", "failures", "ok", f"none in {DAYS} days")
    for (kind, failed), number in kinds.most_common(5):
        where = f" of {HOSTS[failed].name if failed in HOSTS else repr(failed)}" if failed else ""
        says = f"{number} × {kind}{where} in {DAYS} days; the agent's work went on"
        remedy = f"run {again} again; if it goes on, report it with the output of insula doctor --json"
        if kind == PayloadError.__name__:
            remedy = "what came was no event of a coding agent; nothing is to be done unless it comes again and again"
        yield HostCheck("", "failures", "warn", says, remedy)


# Whether it runs.


def _check_command(host: Host, command: Installed, house: Path) -> Iterator[HostCheck]:
    parts = places.read_command(command)
    if parts is None:
        return
    version = trials.read_version(command)
    again = f"insula install {host.id}"
    if not version:
        yield HostCheck(host.id, "interpreter", "broken", f"{parts.python} does not run", again)
        return
    state: State = "ok" if version >= runtime.OLDEST else "broken"
    said = ".".join(map(str, version))
    yield HostCheck(host.id, "interpreter", state, f"{parts.python}, Python {said}", "" if state == "ok" else again)
    if os.path.realpath(parts.home) != os.path.realpath(house):
        says = f"the hook keeps its state in {parts.home}, and this command looks at {house}"
        yield HostCheck(host.id, "folder", "warn", says, f"insula install {host.id}, or set INSULA_HOME to the former")
    elif not switch.read_switches(house)["off"]:
        yield _try_command(host, command, house)


def _try_command(host: Host, command: Installed, house: Path) -> HostCheck:
    """Run the command on a recorded session, which leaves no trace."""
    session = TRIAL + secrets.token_hex(8)
    env = {name: value for name, value in os.environ.items() if name != "INSULA_OFF"}
    try:
        with tempfile.TemporaryDirectory(prefix=TRIAL) as cwd:
            trial = trials.try_command(command, host, session, cwd, env)
    finally:
        shutil.rmtree(house / "sessions" / session, ignore_errors=True)
    return _judge_trial(host, trial)


def _judge_trial(host: Host, trial: trials.Trial) -> HostCheck:
    remedy = f"run insula install {host.id}, then insula doctor again"
    answers = [*trial.healthy, *trial.failing]
    texts = [trials.read_answer(host, answer) for answer in trial.failing]
    wrong = [answer for answer, text in zip(trial.failing, texts, strict=True) if answer.output and not text]
    if bad := [answer for answer in answers if answer.code]:
        says = f"the hook ended with {bad[0].code} at {bad[0].event}"
    elif loud := [answer for answer in trial.healthy if answer.output]:
        says = f"the hook spoke at {loud[0].event} though nothing was wrong"
    elif wrong:
        says = f"the answer at {wrong[0].event} has not the form that {host.name} reads"
    elif not any(texts):
        says = f"the hook said nothing after {trials.ERRORS} similar errors"
    else:
        example = next(filter(None, texts))  # so that a person sees once what their agent will read
        took = f"{trial.milliseconds:.0f} ms a call"
        said = f"silent when healthy, speaks after similar errors; {took}. It said: {example}"
        return HostCheck(host.id, "command", "ok", said)
    return HostCheck(host.id, "command", "broken", says, remedy)


def _check_live(host: Host, prove: Prover, allowed: bool) -> HostCheck:
    if host.id not in PROVEN:
        says = f"{host.name} cannot be run without a person, so nothing was proven"
        return HostCheck(host.id, "live", "warn", says, _name_canary(host))
    client = shutil.which(host.binary, path=search_path())
    if client is None:
        says = f"{host.binary} is not on PATH, so nothing was proven"
        return HostCheck(host.id, "live", "broken", says, f"install {host.name}, or put {host.binary} on PATH")
    try:
        proof = prove(host.id, Path(client))
    except (InsulaError, OSError) as error:
        return HostCheck(host.id, "live", "broken", f"the proof failed: {error}", "run insula doctor without --live")
    if not proof.reached:
        return HostCheck(host.id, "live", "broken", proof.reason, "run insula doctor without --live")
    forbidden = "" if allowed else "in an empty home, as your own settings forbid hooks: "
    return HostCheck(host.id, "live", "ok", forbidden + proof.reason)


# What is there and is not ours.


def _check_foreign(host: Host, present: Present) -> Iterator[HostCheck]:
    """Each file that nobody can read, or that names a hook which passes for ours and was not installed."""
    for why in present.unread.values():
        yield HostCheck(host.id, "settings", "broken", why.removesuffix("."))
    for file, lines in present.strange.items():
        hooks = f"names {len(lines)} hooks" if len(lines) > 1 else "names a hook" if lines else "is a hook"
        quoted = f": {_quote_line(lines[0])}" if lines else ""
        says = f"{file} {hooks} that Insula did not install and does not run{quoted}"
        remedy = f"take it out unless you know it; insula install {host.id} puts in Insula's own"
        yield HostCheck(host.id, "foreign", "warn", says, remedy)


def _quote_line(line: str) -> str:
    """A command line of anybody's, as it may be shown: cut, without secrets, and with nothing that deceives the eye."""
    shown = repr(redact(line[: 10 * QUOTED])[:QUOTED])
    return f"{shown}…" if len(line) > QUOTED else shown
