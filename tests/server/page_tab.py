"""A browser and its tabs, which complain of whatever a page does that it should not."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, Page, Response, expect

PAGES = ("/", "/operate", "/memory", "/guidance", "/soul", "/nights", "/agents")
PATIENCE_MS = 60_000
"""Machines may be busy; what is there is seen at once."""
expect.set_options(timeout=PATIENCE_MS)
WATCH = """
addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective}`));
"""


class Site(Protocol):
    """A server that runs, as the fixtures start it."""

    @property
    def url(self) -> str:
        """Where it listens."""
        ...

    @property
    def clock(self) -> Any:
        """The time of its store, which can be put ahead."""
        ...

    @property
    def loop(self) -> Any:
        """What it runs in."""
        ...

    @property
    def soul(self) -> Path:
        """Where the SOUL.md of the user of this machine lies."""
        ...

    def soul_path(self, user: str) -> Path:
        """Where a user's SOUL.md lies."""
        ...

    def list_users(self) -> list[str]:
        """Of whom anything is kept."""
        ...

    def read_request(self, user: str, session: str, turn: int) -> str:
        """All that reached the model in a turn."""
        ...

    def guide(self, user: str = "me") -> None:
        """Two states of SOUL.md, and a change that waits."""
        ...

    def say(self, user: str, session: str, *messages: str) -> Sequence[Any]:
        """Have a conversation without a browser."""
        ...

    def end_elsewhere(self, seconds: float) -> None:
        """End a turn in another session, whose model took so long for a hundred tokens."""
        ...

    def stop(self) -> None:
        """End the server, as if somebody had pressed Ctrl-C."""
        ...


Sites = Callable[..., AbstractContextManager[Site]]
"""Starts a server over a folder; options as those of `page_site.site`."""


class Watched(NamedTuple):
    """A page in a profile of its own, with what it complained of and what it asked for."""

    page: Page
    complaints: list[str]
    asked: list[str]


_AT_REST = WeakKeyDictionary[Browser, list[Watched]]()
"""Pages that no test looks at: to open one takes more than most tests do with it."""


@contextmanager
def tab(browser: Browser, site: Site, *, width: int = 1280, dark: bool = False, fails: bool = False) -> Generator[Page]:
    """A tab; whatever it complains of, or asks of another server, fails the test.

    Args:
        browser: the browser.
        site: what is looked at; `goto` takes paths of it.
        width: of the window.
        dark: whether the person likes it dark.
        fails: whether requests are meant to fail.
    """
    at_rest = _AT_REST.setdefault(browser, [])
    watched = at_rest.pop() if at_rest else _open_page(browser)
    opened, goto = watched.page, watched.page.goto

    def go(path: str) -> Response | None:
        return goto(site.url + path)

    opened.set_viewport_size({"width": width, "height": 844})
    opened.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opened, "goto", go)
        yield opened
    expected = ("Failed to load resource", "htmx:", "Response Status Error") if fails else ()
    assert [one for one in watched.complaints if not any(word in one for word in expected)] == []
    assert [url for url in watched.asked if not url.startswith(site.url)] == []
    _forget(watched)
    at_rest.append(watched)


def _open_page(browser: Browser) -> Watched:
    context = browser.new_context()
    context.add_init_script(WATCH)
    context.set_default_timeout(PATIENCE_MS)
    page, complaints, asked = context.new_page(), list[str](), list[str]()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}") or dialog.dismiss())
    page.on("request", lambda one: asked.append(one.url))
    return Watched(page, complaints, asked)


def _forget(watched: Watched) -> None:
    """Leave nothing of a test in its page; what a page itself keeps goes by the address, which no two sites share."""
    watched.page.goto("about:blank")
    watched.page.context.clear_cookies()
    watched.page.context.clear_permissions()
    watched.complaints.clear()
    watched.asked.clear()


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
