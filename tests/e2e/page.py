"""The page of a look back in a real browser: it runs nothing of a transcript's, asks for nothing, and is found through.

Not part of `make test`; `make test-page` installs what drives the browser and runs it.
"""

import dataclasses
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pages
import pytest
import test_page

from insula.coding.replay import page
from insula.coding.replay.model import Replayed

Browser = Any  # playwright is there only where this file is run
Tab = Any

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
SECONDS_TO_OPEN = 0.3
"""... of CPU of the page's thread: a machine that is busy with other things takes longer by the clock."""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.exit("There is no Chromium here; install it, or name it with CHROMIUM=path.", 1)
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield opened
        opened.close()


def _note(events: list[str], say: Callable[[Any], str], event: Any) -> None:
    events.append(say(event))


def _refuse(dialog: Any) -> str:
    dialog.dismiss()
    return f"dialog: {dialog.message}"


def _error(error: Any) -> str:
    return f"error: {error}"


def _console(message: Any) -> str:
    return f"console: {message.text}"


def _request(request: Any) -> str:
    return f"request: {request.url}"


_EVENTS = {"console": _console, "pageerror": _error, "dialog": _refuse, "request": _request}


@contextmanager
def tab(browser: Browser, path: Path, width: int = 1280, scheme: str = "light", **options: Any) -> Generator[Tab]:
    """The page in a tab; whatever is said, asked or asked for by it fails the test."""
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce", **options
    )
    opened = context.new_page()
    events: list[str] = []
    for kind, say in _EVENTS.items():
        opened.on(kind, partial(_note, events, say))
    opened.goto(path.as_uri())
    yield opened
    assert events == [f"request: {path.as_uri()}"]
    context.close()


def written(folder: Path, sessions: list[Replayed]) -> Path:
    """The page of these sessions."""
    page.write_page(folder / "page.html", sessions, pages.totals(sessions))
    return folder / "page.html"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_worst_moment_is_one_click_away(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    with tab(browser, written(tmp_path, pages.week()), width, scheme) as opened:
        opened.click("h2:has-text('Worst moments') ~ ol a >> nth=0")
        place = opened.locator(".moments li:target")
        assert place.is_visible()
        box = place.bounding_box()
        assert 0 <= box["y"] < 844
        assert opened.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_text_does_nothing(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "page.html"
    path.write_text(test_page.spoilt_page(test_page.HOSTILE), encoding="utf-8", newline="\n")
    with tab(browser, path, width) as opened:
        for section in opened.locator("details.session").all()[1:]:
            section.locator("summary").click()
        for plot in opened.locator("figure svg").all():
            box = plot.bounding_box()
            for share in range(20):
                plot.hover(position={"x": box["width"] * share / 20, "y": 60})
        assert opened.evaluate("document.documentElement.scrollWidth") == width
        assert opened.locator("img, iframe, object, [onerror], [onload]").count() == 0


def test_fifty_long_sessions_open_at_once(browser: Browser, tmp_path: Path) -> None:
    long = pages.session(1, 2_000, stuck=4)
    path = written(tmp_path, [dataclasses.replace(long, id=str(number)) for number in range(50)])
    context = browser.new_context()
    opened = context.new_page()
    tools = context.new_cdp_session(opened)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    opened.goto(path.as_uri())
    spent = {metric["name"]: metric["value"] for metric in tools.send("Performance.getMetrics")["metrics"]}
    context.close()
    assert 0 < spent["TaskDuration"] < SECONDS_TO_OPEN


def test_without_scripts_everything_is_still_there(browser: Browser, tmp_path: Path) -> None:
    with tab(browser, written(tmp_path, pages.week()), java_script_enabled=False) as opened:
        opened.click("h2:has-text('Worst moments') ~ ol a >> nth=0")
        assert opened.locator(".moments li:target").is_visible()
