"""`make audit`: what we rest on is pinned, hashed, licensed and listed."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AUDIT = Path(__file__).parent.parent / "locks" / "audit.py"
known: dict[str, Any] = runpy.run_path(str(AUDIT))
HASH = "a" * 64


def test_the_locks_are_in_order_and_the_bill_names_each_package(tmp_path: Path) -> None:
    out = tmp_path / "insula.cdx.json"
    done = subprocess.run(
        [sys.executable, str(AUDIT), "--offline", "--out", str(out)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    made = json.loads(out.read_text())
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    names = {one["name"] for one in made["components"]}
    assert {"numpy", "sqlalchemy", "htmx.org"} <= names
    assert all(one["hashes"] and one["version"] and one["purl"] for one in made["components"])
    assert len(made["dependencies"][0]["dependsOn"]) == len(made["components"])


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (f"one==1.0 \\\n    --hash=sha256:{HASH}\n", ""),
        (f"one==1.0 ; python_version < '3.12' \\\n    --hash=sha256:{HASH}\n", ""),
        ("one==1.0\n", "one has no hash"),
        (f"one>=1.0 \\\n    --hash=sha256:{HASH}\n", "not pinned"),
        (f"--index-url https://mirror.example/simple\none==1.0 \\\n    --hash=sha256:{HASH}\n", "a host is named"),
    ],
)
def test_what_is_wrong_with_a_lock_is_said(text: str, trouble: str) -> None:
    found = list(known["troubles_of_lock"]("x.lock", text))
    assert len(found) == bool(trouble)
    assert trouble in "".join(found)


@pytest.mark.parametrize(
    ("licence", "trouble"),
    [
        ("MIT", ""),
        ("Apache-2.0 OR BSD-3-Clause", ""),
        ("Mozilla Public License 2.0 (MPL 2.0)", ""),
        (None, ""),
        ("", "says nothing"),
        ("GNU Affero General Public License v3 (AGPLv3)", "binds"),
        ("GPL-3.0-only", "binds"),
        ("Ask the author", "none that is known"),
    ],
)
def test_a_licence_that_binds_or_is_not_known_is_said(licence: str | None, trouble: str) -> None:
    said = known["trouble_of_licence"]("one", licence)
    assert (trouble in said, bool(said)) == (True, bool(trouble))
