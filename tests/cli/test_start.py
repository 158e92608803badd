"""How a process of the command begins."""

import json
import os
import subprocess
import sys

import pytest

THREADS = "OPENBLAS_NUM_THREADS"
SHOWN = f"""
import gc, json, os, sys, runpy
sys.argv = ["insula", "--version"]
try:
    runpy.run_module("insula.cli", run_name="__main__")
except SystemExit:
    pass
print(json.dumps([os.environ.get({THREADS!r}), "numpy" in sys.modules, gc.isenabled()]))
"""


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("4", "4")])
def test_matrices_are_multiplied_by_one_thread_unless_somebody_says_otherwise_and_garbage_is_looked_for(
    given: str | None, used: str
) -> None:
    told = {name: value for name, value in os.environ.items() if name != THREADS} | ({THREADS: given} if given else {})
    done = subprocess.run([sys.executable, "-c", SHOWN], env=told, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [used, False, True]
