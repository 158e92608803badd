"""A browser and its tabs, which complain of whatever a page does that it should not."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from page_site import Site, guidelines, site
from playwright.sync_api import Browser, Page, expect, sync_playwright

from insula.memory.storage.changes import RevisionChange
from insula.night import soul

FLAGS = (
    "--no-sandbox",  # needed where root runs the tests
    *("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
)
PAGES = ("/", "/operate", "/memory", "/guidance", "/soul", "/nights", "/agents")
TRANSCRIPTS = Path(__file__).parent.parent / "fixtures" / "transcripts"
PATIENCE_MS = 60_000
"""Machines may be busy; what is there is seen at once."""
expect.set_options(timeout=PATIENCE_MS)
WATCH = """
addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective}`));
"""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    named = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not named:
        pytest.skip("There is no Chromium here; install it (apt-get install chromium), or name it with CHROMIUM=path.")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=named, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def running(tmp_path: Path) -> Generator[Site]:
    with site(tmp_path, transcripts=TRANSCRIPTS) as started:
        yield started


@contextmanager
def tab(browser: Browser, site: Site, *, width: int = 1280, dark: bool = False, fails: bool = False) -> Generator[Page]:
    """A tab; whatever it complains of, or asks of another server, fails the test.

    Args:
        browser: the browser.
        site: what is looked at.
        width: of the window.
        dark: whether the person likes it dark.
        fails: whether requests are meant to fail.
    """
    context = browser.new_context(
        base_url=site.url,
        viewport={"width": width, "height": 844},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    context.add_init_script(WATCH)
    context.set_default_timeout(PATIENCE_MS)
    opened, complaints = context.new_page(), list[str]()
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}") or dialog.dismiss())
    opened.on("request", lambda one: None if one.url.startswith(site.url) else complaints.append(one.url))
    yield opened
    expected = ("Failed to load resource", "htmx:", "Response Status Error") if fails else ()
    assert [one for one in complaints if not any(word in one for word in expected)] == []
    context.close()


def say(page: Page, message: str, turn: int) -> None:
    """Write a message, send it with Enter, and wait for the checked answer."""
    page.get_by_label("Your message").fill(message)
    page.keyboard.press("Enter")
    expect(page.locator(f"#turn-{turn}")).to_be_visible()


def why(page: Page, turn: int) -> str:
    """What the reasons of a turn say."""
    page.locator(f"#turn-{turn} .why > summary").click()
    return page.locator(f"#turn-{turn} .reasons").inner_text()


def is_wide(page: Page) -> bool:
    """Whether one has to scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def guide(running: Site, user: str = "me") -> None:
    """Two states of SOUL.md, and a change that waits."""
    running.say(user, "one", "I work at night.")
    first = soul.revise_document(soul.Document(), add=[("Personality", "p1", "Be brief.")])
    second = soul.revise_document(first, add=[("Interaction principles", "p2", "Name the platform.")])
    third = soul.revise_document(second, remove=["p1"])

    async def write() -> None:
        user_id = await running.store.nights.find_user_id(user)
        assert user_id is not None
        (said, *_) = await running.store.guidance.read_cited(user_id, list(range(1, 100)))
        await running.store.run(guidelines, user_id, second, said.id)
        for document in (first, second):
            await running.store.guidance.add_revision(
                user_id, RevisionChange("soul", "night", soul.render_document(document), {"changes": [{}]})
            )
        waits = RevisionChange(
            "soul:proposal", "night", soul.render_document(third), {"reasons": ["it drops a supported item."]}
        )
        await running.store.guidance.add_revision(user_id, waits)

    running.run(write())
    path = running.service.soul_of(user)
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(soul.render_document(second))
