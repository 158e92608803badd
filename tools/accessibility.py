"""Run axe on each page, for a new user and for one with a history.

    python tools/accessibility.py AXE.min.js [FOLDER]

axe-core is on npm (MPL-2.0). With a folder, a picture of each page is put there. The exit status is 1 where it finds
anything.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from insula.testing import ScriptedModel

TESTS = Path(__file__).parents[1] / "tests"
sys.path.append(str(TESTS / "server"))

from page_pictures import answer, fill  # noqa: E402 the folder of the tests is no package
from page_site import site  # noqa: E402

PAGES = (
    "/", "/new", "/?session=wednesday", "/memory", "/memory/transcript", "/memory/1", "/guidance",
    "/soul", "/nights", "/operate", "/agents", "/sign-in", "/yours", "/nothing-here",
)  # fmt: skip
SIZES = ((1280, 900), (390, 844), (320, 640))


def main() -> int:
    """Print what axe finds."""
    axe = Path(sys.argv[1]).read_text("utf-8")
    pictures = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    found = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder), model=ScriptedModel(answer)) as running,
        sync_playwright() as started,
    ):
        fill(running)
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for user in ("me", "somebody-new"):
            for width, height in SIZES:
                for scheme in ("light", "dark"):
                    page = browser.new_page(
                        base_url=running.url,
                        viewport={"width": width, "height": height},
                        color_scheme="dark" if scheme == "dark" else "light",
                        reduced_motion="reduce",
                    )
                    for address in PAGES:
                        page.goto(address + ("&" if "?" in address else "?") + f"user={user}")
                        page.wait_for_timeout(200)
                        page.evaluate(axe)
                        violations = page.evaluate("axe.run().then(result => result.violations)")
                        for one in violations:
                            found += len(one["nodes"])
                            print(f"{address} {user} {width} {scheme}: {one['id']}: {one['help']}")
                            for node in one["nodes"][:2]:
                                print(f"    {node['html'][:150]}")
                        if pictures:
                            name = address.strip("/").replace("/", "-").replace("?", "-").replace("=", "-") or "home"
                            page.screenshot(path=pictures / f"{name}-{user}-{width}-{scheme}.png")
                    page.close()
        browser.close()
    print(f"{found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
