"""The pages in a real browser: a conversation and its reasons, and how it runs."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

from page_tab import Site, Sites, say, tab, why
from playwright.sync_api import Browser, expect
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel

# --- the conversation --------------------------------------------------------------------------------------------


def test_a_newcomer_talks_at_once_and_sees_one_verdict_and_why(browser: Browser, running: Site) -> None:
    with tab(browser, running) as page:
        page.goto("/")
        expect(page.get_by_role("heading", level=1)).to_have_text("An assistant that remembers you")
        page.get_by_role("button", name="My sister Ana moved").click()
        page.keyboard.press("Enter")
        expect(page.locator("#turn-1 .agent")).to_have_text("Noted: your sister Ana moved to Lisbon in May.")
        say(page, "Where does Ana live?", 2)
        expect(page.locator("#turn-1 .verdict")).to_have_count(0)
        source = re.compile("From what you told me on .+: “My sister Ana moved to Lisbon in May.”")
        expect(page.locator("#turn-2 .verdict")).to_have_text(source)
        expect(page.locator("#spoken")).to_contain_text(source)
        told = why(page, 2)
        assert re.search(r"(medium|high), \d+", told)
        assert re.search(r"good, \d+", told)
        assert "My sister Ana moved to Lisbon in May." in told
        assert "bears on this" in told
        assert "addresses the question" in told
        assert "Remembered, and used." in told
        assert "Up to 16 memories before the model, as usual." in told
        assert re.search(r"\d+ tokens read and \d+ written", told)
        expect(page.locator("#sessions li")).to_have_count(1)
        page.goto("/")
        expect(page.locator("#turn-2 .agent")).to_have_text("Ana lives in Lisbon.")


def test_what_is_being_written_is_provisional_until_it_is_checked(
    browser: Browser, tmp_path: Path, site: Sites
) -> None:
    words = "The capital of Mongolia is Ulaanbaatar."
    go_on = asyncio.Event()

    async def drip(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        yield words[:14]
        await go_on.wait()
        yield words[14:]

    model, claims = FunctionModel(stream_function=drip), ["doubt.missing"]
    with site(tmp_path, model=model, claims=claims) as running, tab(browser, running) as page:
        page.goto("/")
        page.get_by_label("Your message").fill("What is the capital of Mongolia, and how many people live there?")
        page.keyboard.press("Enter")
        expect(page.locator(".provisional .agent")).to_have_text("The capital of")
        expect(page.locator(".provisional .state")).to_have_text("writing; this is not checked yet")
        running.loop.call_soon_threadsafe(go_on.set)
        expect(page.locator("#turn-1 .agent")).to_have_text(
            f"{words} I have not answered: “how many people live there?”"
        )
        expect(page.locator(".provisional")).to_have_count(0)
        expect(page.locator("#turn-1 .verdict")).to_have_count(0)
        told = why(page, 1)
        assert "So a careful sentence was put before it." in told
        assert "how many people live there?" in told


def test_a_poor_answer_says_so_and_is_noticed_at_once(browser: Browser, running: Site) -> None:
    with tab(browser, running) as page, tab(browser, running) as watching:
        watching.goto("/operate")
        expect(watching.locator("#live")).to_have_text("live")
        expect(watching.locator("#silent")).to_be_visible()
        page.goto("/")
        say(page, "Name three kinds of bread, as a numbered list.", 1)
        assert "Poor answer: the response scored" in why(page, 1)
        expect(watching.locator("#signals .loud")).to_contain_text("Poor answer")
        expect(watching.locator("#silent")).to_have_count(0)


# --- over time ---------------------------------------------------------------------------------------------------


def took(running: Site, seconds: float) -> None:
    """Turns of the model in other sessions, each of which took so long; after two such stretches no snapshot is due."""
    for _ in range(29):
        running.end_elsewhere(seconds)


def test_a_degraded_session_recalls_less_and_as_much_as_before_once_it_is_over(
    browser: Browser, tmp_path: Path, site: Sites
) -> None:
    with site(tmp_path) as running, tab(browser, running) as page:
        took(running, 2.0)
        running.clock.ahead += 400
        took(running, 6.0)
        page.goto("/")
        say(page, "My sister Ana moved to Lisbon in May.", 1)
        assert "Up to 12 memories before the model, lowered from 16." in why(page, 1)
        session = page.locator("#composer").get_attribute("data-session") or ""
        page.goto("/operate")
        expect(page.locator(".now")).to_contain_text("up to 12 memories went into your last answer instead of 16")
        fallen = page.locator("#adaptations tr", has_text="memories per answer").last
        expect(fallen).to_contain_text("16 → 12")
        expect(fallen).to_contain_text("the model had become slow")
        expect(fallen).to_contain_text("not known before the next snapshot")
        running.clock.ahead += 600
        took(running, 2.0)
        running.say("me", session, *["Where does Ana live?"] * 10)
        risen = page.locator("#adaptations tr", has_text="12 → 16")
        expect(risen).to_contain_text("all was well")
        expect(risen).not_to_contain_text("not known")
        expect(fallen).not_to_contain_text("not known")
        expect(page.locator(".now")).to_contain_text("Up to 16 memories go into an answer, as usual.")
        page.goto("/")
        say(page, "Where does Ana live?", 12)
        assert "Up to 16 memories before the model, as usual." in why(page, 12)


def test_signals_go_on_after_a_cut_and_none_is_lost_or_told_twice(
    browser: Browser, tmp_path: Path, site: Sites
) -> None:
    with site(tmp_path) as first:
        port = int(first.url.rpartition(":")[2])
        first.say("me", "one", "How do I bake bread?")
        with tab(browser, first, fails=True) as page:
            page.goto("/operate")
            expect(page.locator("#live")).to_have_text("live")
            first.stop()
            expect(page.locator("#live")).to_have_text("reconnecting …")
            with site(tmp_path, port=port) as second:
                second.say("me", "one", "Where does Ana live?")
                expect(page.locator("#live")).to_have_text("live")
                second.say("me", "one", "Thanks.")
                expect(page.locator("#signals")).to_contain_text("turn 3")
                ids = page.locator("#signals li").evaluate_all("all => all.map((one) => Number(one.dataset.id))")
                assert sorted(ids, reverse=True) == ids
                assert sorted(set(ids)) == list(range(1, len(ids) + 1))
