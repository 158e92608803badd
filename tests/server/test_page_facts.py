"""What is known of a user, on the page: cards, search, the transcript, in a browser and in numbers."""

import json
import re
import urllib.request
from html import unescape
from pathlib import Path

from page_tab import Site, Sites, is_wide, tab
from playwright.sync_api import Browser, expect

TOLD = (
    "Hello! My sister Ana moved to Lisbon in May. Can you plan a trip?",
    "I plan to visit Porto next week.",
    "My boss Karl hates coffee.",
    "Where does Ana live?",
)


def test_a_fact_is_shown_with_whose_it_is_when_and_in_which_words_it_was_said(browser: Browser, running: Site) -> None:
    running.say("me", "monday", *TOLD)
    with tab(browser, running) as page:
        page.goto("/memory")
        expect(page.locator("#facts > li")).to_have_count(3)
        ana = page.locator("#facts > li", has_text="Ana")
        expect(ana.locator("h2")).to_have_text("My sister Ana moved to Lisbon in May.")
        expect(ana).to_contain_text("About your sister Ana · told on")
        expect(ana).to_contain_text(f"You said: {TOLD[0]}")
        ana.get_by_role("link").first.click()
        expect(page.locator("#turn-1 .user")).to_have_text(TOLD[0])


def test_facts_are_searched_and_found_again_after_a_change(browser: Browser, running: Site) -> None:
    running.say("me", "monday", *TOLD)
    with tab(browser, running, width=320, dark=True) as page:
        page.goto("/memory")
        page.get_by_label("Words or a question").fill("Lisbon")
        page.get_by_role("button", name="Show").click()
        found = page.locator("#facts > li").first
        expect(found).to_contain_text("My sister Ana moved to Lisbon")
        found.get_by_role("button", name="Pin fact").click()
        expect(page.get_by_role("status")).to_contain_text("It is pinned")
        expect(found.locator(".chip")).to_have_text("pinned by you")
        page.get_by_role("status").get_by_role("button", name="Undo").click()
        expect(page.locator("#facts .chip")).to_have_count(0)
        page.goto("/memory?q=Who hates coffee?")
        expect(page.locator("#facts h2").first).to_have_text("My boss Karl hates coffee.")
        page.goto("/memory?q=zebra")
        expect(page.locator(".empty")).to_contain_text("Nothing fits")
        assert not is_wide(page)


def test_a_fact_is_added_edited_and_deleted_by_hand(browser: Browser, running: Site) -> None:
    with tab(browser, running) as page:
        page.goto("/memory")
        page.get_by_label("A fact, in a sentence").fill("Karl hates tomatoes.")
        page.get_by_role("button", name="Remember it").click()
        expect(page.get_by_role("status")).to_contain_text("It is remembered.")
        expect(page.locator("#facts > li")).to_contain_text("About Karl · added by you on")
        page.get_by_label("Edit fact").click()
        page.get_by_label("What fact").fill("Karl loves tomatoes.")
        page.get_by_role("button", name="Save fact").click()
        expect(page.locator("#facts h2")).to_have_text("Karl loves tomatoes.")
        expect(page.locator("#facts > li")).to_be_focused()
        page.get_by_role("button", name="Undo this change").press("Enter")
        expect(page.locator("#facts h2")).to_have_text("Karl hates tomatoes.")
        expect(page.locator("#facts > li")).to_contain_text("About Karl · added by you on")
        expect(page.locator("#facts > li")).to_be_focused()
        page.goto("/")
        expect(page.locator("#sessions li")).to_have_count(0)
        page.goto("/memory")
        page.get_by_label("Erase fact").first.click()
        page.get_by_role("button", name=re.compile("Erase for good")).click()
        expect(page.locator(".empty")).to_contain_text("Nothing yet")


def test_who_erases_a_fact_is_shown_where_else_it_was_said(browser: Browser, running: Site) -> None:
    said = "My boss Karl hates coffee."
    running.say("me", "other", "I plan to visit Porto next week.")
    for number in range(6):
        running.say("me", f"day {number}", said)
    with tab(browser, running) as page:
        page.goto("/memory")
        for left in (5, 4):
            page.get_by_label(re.compile(r"^Erase fact \d+$")).first.click()
            page.get_by_role("button", name=re.compile("Erase for good")).first.click()
            expect(page.get_by_role("status")).to_contain_text(
                f"It is erased, with the line that it came from. {left} other"
            )
            expect(page.locator("#facts > li")).to_have_count(left)
            expect(page.locator("#facts h2").last).to_have_text(said)
        page.get_by_role("link", name=re.compile("^All ")).click()
        expect(page.locator("#facts > li")).to_have_count(5)


def test_the_transcript_stays_as_it_was_said_when_a_fact_is_edited(browser: Browser, running: Site) -> None:
    running.say("me", "monday", "My boss Karl hates coffee.")
    with tab(browser, running) as page:
        page.goto("/memory")
        page.get_by_label("Edit fact").click()
        page.get_by_label("What fact").fill("My boss Karl loves coffee.")
        page.get_by_role("button", name="Save fact").click()
        expect(page.locator("#facts h2")).to_have_text("My boss Karl loves coffee.")
        page.goto("/memory/transcript")
        line = page.locator("#memories tbody tr", has_text="Karl").last
        expect(line.locator("bdi").first).to_have_text("My boss Karl hates coffee.")
        line.get_by_label("More about line").click()
        expect(line).to_contain_text("As it was said: My boss Karl hates coffee.")


def test_what_was_added_or_edited_is_told_to_the_model_whatever_it_says(browser: Browser, running: Site) -> None:
    with tab(browser, running) as page:
        page.goto("/memory")
        page.get_by_label("A fact, in a sentence").fill("The spare key lies under the third flowerpot.")
        page.get_by_role("button", name="Remember it").click()
        expect(page.locator("#facts > li")).to_have_count(1)
    running.say("me", "tuesday", "Where does the spare key lie?")
    assert "third flowerpot" in running.read_request("me", "tuesday", 1)


def test_what_was_done_with_a_card_is_said_where_the_page_stands(browser: Browser, running: Site) -> None:
    for number in range(12):
        running.say("me", f"day {number}", f"My boss Karl likes the number {number}{number}.")
    with tab(browser, running) as page:
        page.goto("/memory")
        last = page.locator("#facts > li").last
        last.get_by_role("button", name=re.compile("^Pin")).click()
        expect(page.get_by_role("status")).to_be_in_viewport()
        expect(last.get_by_role("status")).to_contain_text("It is pinned")
        last.get_by_role("button", name="Undo this change").click()
        expect(page.get_by_role("status")).to_be_in_viewport()
        expect(last.locator(".chip")).to_have_count(0)


def test_what_is_added_is_said_to_have_become_what_it_became(browser: Browser, running: Site) -> None:
    became = {
        "My sister Ana lives in Lisbon.": "It is remembered.",
        "my sister Ana lives in  Lisbon.": "That was remembered already.",
        "My password is hunter2xK9#vQ2!pL7z": "It holds a secret, so nothing of it was added.",
        "My boss is Karl. My password is hunter2xK9#vQ2!pL7z": "but for what holds a secret: that is not kept.",
        "Where does Ana live?": "That is a question, so nothing was added.",
        "Never use emojis.": "It is a preference: it counts from your next message on.",
    }
    with tab(browser, running) as page:
        for text, said in became.items():
            page.goto("/memory")
            if not page.get_by_label("A fact, in a sentence").is_visible():
                page.get_by_text("Add something", exact=True).click()
            page.get_by_label("A fact, in a sentence").fill(text)
            page.get_by_role("button", name="Remember it").click()
            expect(page.get_by_role("status")).to_contain_text(said)
        expect(page.locator("#preferences h3").first).to_contain_text("Never use emojis.")
        page.goto("/memory")
        expect(page.locator("#facts > li")).to_have_count(2)
        page.goto("/memory?said=asked&q=Where does Ana live?")
        expect(page.locator("#facts h2").first).to_have_text("My sister Ana lives in Lisbon.")


def test_without_javascript_facts_are_added_changed_and_looked_into(browser: Browser, running: Site) -> None:
    context = browser.new_context(base_url=running.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/memory")
    page.get_by_label("A fact, in a sentence").fill("Karl hates tomatoes.")
    page.get_by_role("button", name="Remember it").click()
    page.get_by_role("button", name="Pin fact").click()
    expect(page.locator("#facts .chip")).to_have_text("pinned by you")
    page.get_by_label("More about fact").click()
    page.get_by_role("link", name="More about it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A memory")
    page.get_by_role("button", name="Mute").click()
    expect(page.locator("#facts .chip").first).to_have_text("muted by you")
    context.close()


ODD = (
    "My sister <b onmouseover=alert(1)>Ana</b> lives in Lisbon.",
    "My brother Tom \u202egnp.exe lives in Porto.",
    "x" * 3_000,
    "[Eva](javascript:alert(1)) lives in Quito.",
)


def test_odd_facts_are_shown_as_text_and_break_nothing(browser: Browser, running: Site) -> None:
    with tab(browser, running, width=320) as page:
        page.goto("/memory")
        for number, text in enumerate(ODD, 1):
            if number > 1:  # where there are facts, the form is folded
                page.get_by_text("Add something", exact=True).click()
            page.get_by_label("A fact, in a sentence").fill(text)
            page.get_by_role("button", name="Remember it").click()
            expect(page.locator("#facts > li")).to_have_count(number)
            shown = page.locator("#facts h2", has_text=text.replace("\u202e", "")[:100])
            expect(shown).to_be_visible()
        expect(page.locator("#facts h2 a, #facts h2 b")).to_have_count(0)
        page.wait_for_load_state()
        assert not is_wide(page)


def test_many_facts_are_paged_each_once(tmp_path: Path, site: Sites) -> None:
    said = [
        {"role": "user", "content": f"My {name} likes the number {n}."} for n in range(60) for name in ("boss", "aunt")
    ]
    with site(tmp_path) as running:
        for at in range(0, len(said), 40):
            body = json.dumps({"messages": said[at : at + 40]}).encode()
            sent = urllib.request.Request(
                f"{running.url}/agent/memories?user=me", body, {"Content-Type": "application/json"}
            )
            urllib.request.urlopen(sent).close()
        numbers, page = list[str](), read(running, "/memory")
        for _ in range(3):
            numbers += re.findall(r'<li id="memory-(\d+)"', page)
            page = read(running, unescape((re.findall(r'href="([^"]+)">Earlier ones', page) or ["/memory"])[0]))
        assert len(set(numbers)) == len(numbers) >= 110, "but for what reads as no fact"


def read(running: Site, path: str) -> str:
    """A page, as a browser asks for it."""
    with urllib.request.urlopen(urllib.request.Request(running.url + path, headers={"Accept": "text/html"})) as answer:
        return answer.read().decode()
