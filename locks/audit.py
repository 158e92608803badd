"""What we rest on, looked at: hashes, hosts, licences, advisories, and a bill of materials (CycloneDX 1.6).

    .venv/bin/python locks/audit.py [--offline] [--out FILE]

Exit status 1 where something has to be looked into; what could not be looked into is said.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = "requirements.lock"
LOCKS = (SHIPPED, "locks/dev.lock", "locks/uv.lock", "locks/weights.lock")
OUT = "dist/insula.cdx.json"
PIP_AUDIT = "pip-audit==2.9.0"
ADVISORY_SECONDS = 300
STATIC = ROOT / "src/insula/server/page/static"
VENDORED = (("htmx.org", "2.0.11", "0BSD", ("htmx.min.js",)),)
"""What stands in the package itself; the digests are those of docs/reference/dependencies.md."""
FREE = re.compile(
    r"MIT|BSD|0BSD|Apache|ISC|MPL-2|Mozilla Public License 2|PSF|Python Software Foundation|Unlicense|Zlib|CC0|HPND",
    re.IGNORECASE,
)
"""Licences that ask for no more than a notice, or for changes of their own files alone."""
BOUND = re.compile(r"AGPL|\bGPL|SSPL|BUSL|Proprietary|Commercial|NonCommercial", re.IGNORECASE)
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)\s*(?:;\s*([^\\]*))?")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_HOST = re.compile(r"https?://|--(?:extra-)?index-url|--find-links|--trusted-host")


class Pinned(NamedTuple):
    """A package as a lock names it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    where: str
    """The condition under which it is installed; empty for everywhere."""

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name.lower().replace('_', '-')}@{self.version}"


def pinned(text: str) -> Iterator[Pinned]:
    """The packages of a lock."""
    for block in re.split(r"\n(?=\S)", text):
        if found := _ENTRY.match(block):
            yield Pinned(found[1], found[2], tuple(_HASH.findall(block)), (found[3] or "").strip())


def troubles_of_lock(name: str, text: str) -> Iterator[str]:
    """What is wrong with a lock: entries without a version or a hash, and hosts."""
    entries = list(pinned(text))
    named = [line for line in text.splitlines() if line and not line.startswith((" ", "#", "-"))]
    if len(named) != len(entries):
        yield f"{name}: {len(named) - len(entries)} entries are not pinned to a version"
    yield from (f"{name}: {one.name} has no hash" for one in entries if not one.hashes)
    if _HOST.search(text):
        yield f"{name}: a host is named; a lock says what, and not from where"


def licence_of(name: str) -> str | None:
    """The licence of an installed package, as it says itself; None where it is not installed here."""
    try:
        told = distribution(name).metadata
    except PackageNotFoundError:
        return None
    if "License-Expression" in told:
        return told["License-Expression"]
    classified = [one.rpartition(" :: ")[2] for one in told.get_all("Classifier") or () if one.startswith("License ::")]
    if named := " / ".join(one for one in classified if one != "OSI Approved"):
        return named
    return told["License"].strip().partition("\n")[0][:80] if "License" in told else ""


def trouble_of_licence(name: str, licence: str | None) -> str:
    """What is wrong with a licence; empty where nothing is."""
    if licence is None:
        return ""
    if not licence:
        return f"{name}: says nothing of its licence"
    if FREE.search(licence):
        return ""
    why = "binds what uses it" if BOUND.search(licence) else "is none that is known here"
    return f"{name}: its licence, {licence!r}, {why}"


def bill(entries: list[Pinned], version: str) -> dict[str, Any]:
    """The bill of materials: the same for the same lock."""
    parts = [_component(one) for one in entries] + [_vendored(*one) for one in VENDORED]
    own: dict[str, Any] = {"type": "library", "bom-ref": "insula", "name": "insula", "version": version}
    if wheels := sorted((ROOT / "dist").glob("*.whl")):
        own["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(wheels[-1].read_bytes()).hexdigest()}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**own, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": parts,
        "dependencies": [{"ref": "insula", "dependsOn": [one["bom-ref"] for one in parts]}],
    }


def _component(one: Pinned) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": one.purl,
        "name": one.name,
        "version": one.version,
        "purl": one.purl,
        "hashes": [{"alg": "SHA-256", "content": each} for each in one.hashes],
    }
    if licence := licence_of(one.name):
        found["licenses"] = [{"license": {"name": licence}}]
    if one.where:
        found["properties"] = [{"name": "insula:marker", "value": one.where}]
    return found


def _vendored(name: str, version: str, licence: str, files: tuple[str, ...]) -> dict[str, Any]:
    purl = f"pkg:npm/{name}@{version}"
    digests = [hashlib.sha256((STATIC / file).read_bytes()).hexdigest() for file in files]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": each} for each in digests],
        "licenses": [{"license": {"id": licence}}],
    }


def troubles_of_vendored() -> Iterator[str]:
    """Files of others in the package that are not those of the table in the documentation."""
    told = (ROOT / "docs/reference/dependencies.md").read_text(encoding="utf-8")
    for name, _, _, files in VENDORED:
        for file in files:
            if hashlib.sha256((STATIC / file).read_bytes()).hexdigest() not in told:
                yield f"{name}: {file} is not the file that docs/reference/dependencies.md names"


def advisories() -> tuple[int, str]:
    """What is known against the locked packages: pip-audit's exit status and words, where it can be had."""
    runner = shutil.which("pip-audit")
    uvx = Path(sys.executable).with_name("uvx")
    command = [runner] if runner else [str(uvx), "--from", PIP_AUDIT, "pip-audit"] if uvx.exists() else None
    if command is None:
        return 0, "not looked into: there is no pip-audit here"
    options = ("--require-hashes", "--disable-pip", "--progress-spinner=off")
    asked = [*command, "--requirement", str(ROOT / SHIPPED), *options]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=ADVISORY_SECONDS)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return 0, f"not looked into: {type(error).__name__}"
    if done.returncode and "Found" not in done.stdout + done.stderr:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return 0, f"not looked into: the advisories could not be had ({last[:120]})"
    if not done.returncode and (skipped := done.stdout.count("could not be audited")):
        return 0, f"not looked into for {skipped} packages: the index that was asked knows no advisories of them"
    return done.returncode, (done.stdout or done.stderr).strip()


def main() -> int:
    """Look into all of it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offline", action="store_true", help="do not ask for advisories")
    parser.add_argument("--out", type=Path, default=ROOT / OUT, help=f"the bill of materials; by default {OUT}")
    asked = parser.parse_args()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in LOCKS}
    entries = list(pinned(texts[SHIPPED]))
    licences = {one.name: licence_of(one.name) for one in entries}
    troubles = [each for name, text in texts.items() for each in troubles_of_lock(name, text)]
    troubles += filter(None, (trouble_of_licence(name, licence) for name, licence in licences.items()))
    troubles += troubles_of_vendored()
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "src/insula/__init__.py").read_text(encoding="utf-8"))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(bill(entries, version[1] if version else "0"), indent=1) + "\n", encoding="utf-8")
    hashes = sum(len(one.hashes) for text in texts.values() for one in pinned(text))
    print(
        f"hashes: {hashes} of {sum(len(list(pinned(text))) for text in texts.values())} packages in {len(LOCKS)} locks"
    )
    absent = sum(licence is None for licence in licences.values())
    print(f"licences: {len(licences) - absent} read, {absent} of packages that are not installed here")
    print(f"bill of materials: {len(entries)} packages, {len(VENDORED)} in the package itself: {asked.out}")
    status, said = (0, "not asked for") if asked.offline else advisories()
    print(f"advisories: {said}")
    for one in troubles:
        print(f"to look into: {one}", file=sys.stderr)
    return int(bool(troubles or status))


if __name__ == "__main__":
    sys.exit(main())
