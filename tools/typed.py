"""The programs in docs/how-to/frameworks.md under pyright's strictest rules, as their reader has them.

    python tools/typed.py ENVIRONMENT/bin/python

Those whose libraries that environment has are checked. What a library's own types leave unknown is no fault of ours:
the rules that speak of it (`reportUnknown…`) count for names of Insula's alone.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "frameworks.md"
SOURCE = Path(__file__).parents[1] / "src"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
LIBRARY = re.compile(r"^from (?!insula|asyncio)([\w.]+) import", re.M)
HAS = "import importlib.util, sys; print(*(int(importlib.util.find_spec(one) is not None) for one in sys.argv[1:]))"


def faults(python: str) -> tuple[list[str], list[str]]:
    """The libraries whose programs were checked, and what is wrong with those."""
    programs = {
        found[1].partition(".")[0]: block
        for block in BLOCK.findall(PAGE.read_text("utf-8"))
        for found in LIBRARY.finditer(block)
    }
    there = subprocess.run([python, "-c", HAS, *programs], capture_output=True, text=True, check=True).stdout.split()
    known = [name for name, has in zip(programs, there, strict=True) if has == "1"]
    with tempfile.TemporaryDirectory() as folder:
        for name in known:
            (Path(folder) / f"{name}_program.py").write_text(programs[name], "utf-8")
        settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(SOURCE)]}
        (Path(folder) / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
        command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", python, "-p", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return known, [f"{Path(one['file']).stem}: {one['message']}" for one in found if _is_ours(one)]


def _is_ours(found: dict[str, str]) -> bool:
    return not found.get("rule", "").startswith("reportUnknown") or "nsula" in found["message"]


def main() -> int:
    """Say what is wrong; fails where something is, or where no program could be checked."""
    known, wrong = faults(sys.argv[1])
    print(f"insula: types of {', '.join(known) or 'nothing'} checked", *wrong, sep="\n")
    return bool(wrong) or not known


if __name__ == "__main__":
    sys.exit(main())
