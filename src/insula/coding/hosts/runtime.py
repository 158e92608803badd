"""What a hook runs: a copy of the standard-library half of the package, and an interpreter that stays.

A hook must outlive the environment that Insula was installed from (law 4). So `install` copies what the hook imports to
`<home>/hook/lib-<digest>`, and writes `<home>/hook/run.py`, whose path never changes; an upgrade writes a new folder
beside the old one and then changes one line of the script.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import insula
from insula.coding.hosts import files
from insula.coding.hosts.places import SHIM
from insula.errors import SettingsError

PACKAGE = Path(insula.__file__).parent
CODE = (
    *("__init__.py", "foreign.py", "guidance.py", "screening.py", "screening_patterns.py", "value.py", "worth.py"),
    *("redaction", "coding/__init__.py", "coding/step"),
    *(f"coding/hosts/{part}" for part in ("__init__.py", "hook.py", "payload.py", "dialects")),
)
"""The half of the package that needs the standard library alone: what the hook imports, and nothing else."""
_KINDS = frozenset((".py", ".json", ".tsv", ".bin"))
Condition = Literal["whole", "missing", "damaged", "other"]
OLDEST = (3, 11)
"""What the package asks for, hence the copy too."""
PATIENCE = 20.0
"""Seconds for an interpreter to say its version or to compile the copy."""
_LIB = re.compile(r'"(lib-[0-9a-f]{16})"')
_PASSING = frozenset({"archive-v0", "builds-v0", "environments-v2", "shims"})
"""Folders whose interpreters come and go (uv's caches), or are scripts that start slowly (pyenv, asdf)."""

_HOMES = {
    False: "os.path.dirname(os.path.dirname(os.path.abspath(__file__)))",
    True: """os.path.expanduser(os.environ.get("INSULA_HOME", ""))
if not os.path.isabs(home):  # a relative one would be another in each project, brought by it
    home = os.path.join(os.path.expanduser("~"), ".insula")""",
}
"""Where the hook's state is: above the script, but for one that lies in a plugin."""
_SCRIPT = '''"""Runs Insula's hook; {origin}.

A coding agent waits for this. Whatever goes wrong, it leaves with 0 and without a word; `insula doctor` tells.
"""

import gc
import marshal
import os
import sys

gc.disable()  # it ends in milliseconds
home = {home}
lib = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{lib}")


class Compiled:
    """Imports our modules from the one file that they were compiled to: a tenth of the time of looking for each."""

    def __init__(self):
        self.file = open(os.path.join(lib, "compiled.%s.pyc" % sys.implementation.cache_tag), "rb", 0)
        size = int.from_bytes(self.file.read(4), "little")
        self.modules, self.start = marshal.loads(self.file.read(size)), 4 + size

    def find_spec(self, name, path=None, target=None):
        if name in self.modules:
            return ModuleSpec(name, self, is_package=self.modules[name][0].endswith("__init__.py"))

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path, start, size = self.modules[module.__name__]
        module.__file__ = os.path.join(lib, path)
        self.file.seek(self.start + start)
        exec(marshal.loads(self.file.read(size)), module.__dict__)


try:
    os.umask(0o077)
    sys.path.append(lib)
    try:
        from _frozen_importlib import ModuleSpec

        sys.meta_path.insert(0, Compiled())
    except (ImportError, OSError):
        pass  # compiled for another interpreter, or for none
    from insula.coding.hosts.hook import main

    main(home, sys.argv[1:])
    sys.stdout.flush()
except SystemExit:
    sys.stdout.flush()
except BaseException as error:
    try:
        import time

        host = "".join(c for c in "".join(sys.argv[1:2]) if c.isalnum() or c == "-")[:40]
        line = '{{"v":1,"t":%d,"host":"%s","event":"","kind":"%s"}}\\n' % (time.time(), host, type(error).__name__)
        path = os.path.join(home, "failures.jsonl")
        if os.path.exists(path) and os.path.getsize(path) >= 262144:
            os.replace(path, os.path.join(home, "failures.1.jsonl"))
        os.write(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), line.encode())
    except BaseException:
        pass
finally:
    os._exit(0)
'''
"""`os._exit`: what is left to do at the end of Python may fail, or speak, too."""

_COMPILE = """
import marshal, os, sys
from pathlib import Path
os.umask(0o077)
fresh, lib = map(Path, sys.argv[1:])
modules, codes = {}, b""
for file in fresh.rglob("*.py"):
    path = file.relative_to(fresh)
    code = marshal.dumps(compile(file.read_bytes(), str(lib / path), "exec", dont_inherit=True, optimize=2))
    modules[".".join(path.with_suffix("").parts).removesuffix(".__init__")] = (path.as_posix(), len(codes), len(code))
    codes += code
index = marshal.dumps(modules)
(fresh / f"compiled.{sys.implementation.cache_tag}.pyc").write_bytes(len(index).to_bytes(4, "little") + index + codes)
"""
# Nothing is compared at a call: a folder named after its contents never changes, nor does what was compiled of it; and
# a restored backup with other file times does not make each call compile anew.


def collect_modules(package: Path = PACKAGE) -> Mapping[str, bytes]:
    """The files that the hook needs, by their path: modules, and the tables and weights that these read.

    Raises:
        SettingsError: a part of it is not there.
    """
    modules: dict[str, bytes] = {}
    for part in CODE:
        place = package / part
        if not place.exists():
            raise SettingsError(f"{part!r}, which the hook needs, is not in {str(package)!r}; install insula again.")
        files = (path for path in place.rglob("*") if path.suffix in _KINDS) if place.is_dir() else (place,)
        modules |= {path.relative_to(package.parent).as_posix(): path.read_bytes() for path in files}
    return dict(sorted(modules.items()))


def name_lib(contents: Mapping[str, bytes]) -> str:
    """The folder's name: a digest of all that it holds."""
    total = hashlib.sha256()
    for path, data in contents.items():
        total.update(f"{path}\0{len(data)}\0".encode() + data)
    return f"lib-{total.hexdigest()[:16]}"


def find_lib(home: Path) -> str:
    """The name of the folder that the script runs; empty where there is no script of ours."""
    try:
        match = _LIB.search((home / SHIM).read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    return match.group(1) if match else ""


def is_whole(home: Path, lib: str, contents: Mapping[str, bytes]) -> bool:
    """Whether the folder holds just what it should."""
    folder = home / "hook" / lib
    try:
        return all((folder / path).read_bytes() == data for path, data in contents.items())
    except OSError:
        return False


def check_code(home: Path) -> Condition:
    """In what state the installed code is, against that of this package."""
    lib, contents = find_lib(home), collect_modules()
    if not lib or not (home / "hook" / lib).is_dir():
        return "missing"
    if lib != name_lib(contents):
        return "other"
    return "whole" if is_whole(home, lib, contents) else "damaged"


def render_runner(lib: str, shared: bool = False) -> bytes:
    """What a host runs.

    Args:
        lib: the name of the folder beside it with the hook's code.
        shared: whether it lies in a plugin, and the state elsewhere.
    """
    origin = (
        "written by `insula plugin build`"
        if shared
        else "written by `insula install`, removed by `insula uninstall --all`"
    )
    return _SCRIPT.format(lib=lib, home=_HOMES[shared], origin=origin).encode()


def write_code(home: Path, python: str, package: Path = PACKAGE) -> None:
    """Put the hook's code in place; the caller holds the lock of `home`.

    Raises:
        SettingsError: it cannot be written.
    """
    contents = collect_modules(package)
    lib, before = name_lib(contents), find_lib(home)
    hook = files.make_private_folder(home / "hook")
    if not is_whole(home, lib, contents):
        _write_lib(hook / lib, contents, python)
    wanted = render_runner(lib)
    if files.read_file(home / SHIM) != wanted:
        files.replace_file(home / SHIM, wanted, 0o600)
    for old in hook.glob("lib-*"):  # but for the previous one: a hook that runs now may still import from it
        if old.name not in (lib, before):
            shutil.rmtree(old, ignore_errors=True)


def _write_lib(lib: Path, contents: Mapping[str, bytes], python: str) -> None:
    """Write it beside and move it into place, so that no hook ever sees half of it."""
    try:
        fresh = Path(tempfile.mkdtemp(prefix="new-", dir=lib.parent))
    except OSError as error:
        raise SettingsError(
            f"{str(lib.parent)!r} cannot be written ({error.strerror}); make room or allow it."
        ) from error
    try:
        for path, data in contents.items():
            (fresh / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (fresh / path).touch(mode=0o600)
            (fresh / path).write_bytes(data)
        _run_python(python, "-X", "no_debug_ranges", "-c", _COMPILE, str(fresh), str(lib))  # less to read
        if lib.exists():  # damaged
            lib.rename(fresh / "damaged")
        fresh.rename(lib)
        shutil.rmtree(lib / "damaged", ignore_errors=True)
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise SettingsError(f"{str(lib)!r} cannot be written ({error.strerror}); make room or allow it.") from error


def find_interpreter() -> str:
    """An interpreter that will still be there: the one behind the virtual environment, by its steadiest name.

    Raises:
        SettingsError: there is none that will do; the message says why.
    """
    base = Path(getattr(sys, "_base_executable", "") or sys.executable)
    steady = base.with_name("python3")
    chosen = steady if steady.exists() and base.exists() and steady.samefile(base) else base
    return check_interpreter(chosen)


def check_interpreter(python: Path) -> str:
    """The path of an interpreter, after it has been seen to work and found not to be a passing one.

    Raises:
        SettingsError: it is missing, too old, or will not stay.
    """
    remedy = "install Insula with an interpreter that stays (the system's, uv's or pyenv's own) and try again"
    if _is_passing(python):
        raise SettingsError(f"The interpreter {str(python)!r} lies in a passing folder and would vanish; {remedy}.")
    said = read_version(str(python))
    if not said:
        raise SettingsError(f"The interpreter {str(python)!r} does not run; {remedy}.")
    if said < OLDEST:
        version, wanted = (".".join(map(str, numbers)) for numbers in (said, OLDEST))
        raise SettingsError(f"The interpreter {str(python)!r} is Python {version}, and hooks need {wanted}; {remedy}.")
    return str(python)


def read_version(python: str) -> tuple[int, ...]:
    """Its version as it tells when run as a hook is; empty where it does not run."""
    said = _run_python(python, "-c", "import json, sys; print(*sys.version_info[:2])")
    return tuple(int(word) for word in said.split() if word.isdigit())


def list_passing_folders() -> list[Path]:
    """Folders that are emptied."""
    return [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")]  # noqa: S108 refused


def _is_passing(python: Path) -> bool:
    emptied = [Path(place) for folder in list_passing_folders() for place in (folder, os.path.realpath(folder))]
    for path in (python.absolute(), Path(os.path.realpath(python))):
        if any(map(path.is_relative_to, emptied)):
            return True
        if _PASSING & set(path.parts) or {"pipx", ".cache"} <= set(path.parts):
            return True
    return False


def _run_python(python: str, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 the interpreter that runs us, or the one that the settings name
            [python, "-I", "-S", *words], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
