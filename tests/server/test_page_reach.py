"""The pages in a real browser: whose they are, that they run nothing of anybody's, and that they need no mouse."""

import re
from pathlib import Path

import pytest
from page_tab import PAGES, Site, Sites, is_wide, say, tab
from playwright.sync_api import Browser, Locator, Page, expect

from insula.testing import ScriptedModel

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '"><svg onload=window.hacked=1>',
    "</textarea></template><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "<div hx-get='/new' hx-trigger='load' hx-on:load='window.hacked=1' style='position:fixed;inset:0'>",
    "```\n</pre><script>window.hacked = 1</script>\n```",
)

# --- whoever it is -----------------------------------------------------------------------------------------------


def test_with_tokens_a_person_signs_in_and_is_who_the_token_says(browser: Browser, tmp_path: Path, site: Sites) -> None:
    with site(tmp_path, tokens={"ana": "token-of-ana-0123456789", "ben": "token-of-ben-0123456789"}) as running:
        running.say("ana", "one", "I am Ana.")
        with tab(browser, running, fails=True) as page:
            page.goto("/memory")
            expect(page).to_have_url(re.compile("/sign-in"))
            page.get_by_label("Token").fill("wrong")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert").last).to_contain_text("not known")
            page.get_by_label("Token").fill("token-of-ana-0123456789")
            page.keyboard.press("Enter")
            expect(page.locator(".me summary bdi")).to_have_text("ana")
            page.wait_for_load_state()
            say(page, "Where does Ana live?", 2)
            page.goto("/agents")
            expect(page.locator(".empty")).to_contain_text("several users")
            page.goto("/guidance")
            expect(page.locator("#rules-h")).to_have_count(0)
            page.goto("/memory?user=ben")
            expect(page.locator("h1")).to_have_text("This did not work")
            page.goto("/")
            page.locator(".me summary").click()
            page.get_by_role("button", name="Sign out").click()
            expect(page).to_have_url(re.compile("/sign-in"))
            page.goto("/memory")
            expect(page).to_have_url(re.compile("/sign-in"))


# --- harmless, reachable, honest ---------------------------------------------------------------------------------


def test_hostile_words_are_shown_and_do_nothing(browser: Browser, tmp_path: Path, site: Sites) -> None:
    with site(tmp_path, model=ScriptedModel(lambda request: request.prompt)) as running:
        running.say("me", "one", *HOSTILE)
        running.guide()
        with tab(browser, running) as page:
            page.goto("/?session=one")
            for number, text in enumerate((HOSTILE[0], "\n\n".join(HOSTILE[1:])), len(HOSTILE) + 2):
                page.get_by_label("Your message").fill(text)
                page.keyboard.press("Enter")
                expect(page.locator(f"#turn-{number}")).to_be_visible()
                page.locator(f"#turn-{number} .why > summary").click()
            expect(page.locator(f"#turn-{len(HOSTILE) + 2} .user")).to_have_text(HOSTILE[0])
            for path in PAGES:
                page.goto(path)
                page.wait_for_load_state("networkidle") if path != "/operate" else page.wait_for_timeout(200)
                page.locator("main summary").evaluate_all("all => all.forEach((one) => one.click())")
                assert page.evaluate("window.hacked") is None
                assert (
                    page.locator("main [onload], main [onerror], main iframe, main img, main [style*=fixed]").count()
                    == 0
                )
            page.goto(f"/?user={HOSTILE[1]}&session={HOSTILE[0]}")
            expect(page.locator("#me summary")).to_contain_text("<img")
            say(page, "Where does Ana live?", 1)
            assert page.evaluate("window.hacked") is None


SHOWS_FOCUS = """() => {
  const here = document.activeElement, style = getComputedStyle(here);
  if (here === document.body) return "the focus is lost";
  const box = here.closest(".composer > div");  // the box of a message shows it around itself
  return style.outlineStyle !== "none" || (box && getComputedStyle(box).boxShadow !== "none") ? "" : here.outerHTML;
}"""
LANDED = "() => document.activeElement !== document.body"


def reach(page: Page, wanted: Locator, key: str = "Tab") -> None:
    """Press a key until it leads there; each place on the way shows that it has the focus."""
    for _ in range(60):
        page.keyboard.press(key)
        assert page.evaluate(SHOWS_FOCUS) == ""
        if wanted.evaluate("one => one === document.activeElement"):
            return
    pytest.fail(f"{key} leads nowhere near {wanted}")


def press(page: Page, name: str, key: str = "Tab") -> None:
    """Reach the button of that name, and press it."""
    reach(page, page.get_by_role("button", name=name, exact=True).first, key)
    page.keyboard.press("Enter")


def test_talk_edit_undo_and_erase_are_done_by_keyboard_alone(browser: Browser, running: Site) -> None:
    with tab(browser, running, width=390) as page:
        page.goto("/")
        for turn, said in enumerate(("My sister Ana lives in Lisbon.", "From now on, answer in one sentence."), 1):
            page.keyboard.type(said)
            page.keyboard.press("Enter")
            expect(page.locator(f"#turn-{turn} .under")).to_be_visible()
            expect(page.get_by_label("Your message")).to_be_focused()
        press(page, "Undo", "Shift+Tab")
        expect(page.get_by_role("button", name="Undo")).to_have_count(0)
        page.wait_for_function(LANDED)
        reach(page, page.locator("#turn-2").get_by_role("button", name="That was right"))
        page.keyboard.press("Enter")
        expect(page.locator("#turn-2 p.judged")).to_be_visible()
        page.wait_for_function(LANDED)
        page.set_viewport_size({"width": 1280, "height": 844})  # where there is no menu, a link leads there
        reach(page, page.get_by_role("link", name="What I know about you"), "Shift+Tab")
        page.set_viewport_size({"width": 390, "height": 844})
        press(page, "Menu", "Shift+Tab")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Menu")).to_be_focused()
        page.keyboard.press("Enter")
        reach(page, page.get_by_role("link", name="Memory"))
        page.keyboard.press("Enter")
        page.wait_for_url("**/memory*")
        edit = page.get_by_label("Edit fact 1")
        reach(page, edit)
        page.set_viewport_size({"width": 1280, "height": 844})
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(edit).to_be_focused()
        expect(page.get_by_label("What fact 1 should say")).to_be_hidden()
        for key in ("Enter", "Tab", "ControlOrMeta+a"):
            page.keyboard.press(key)
        page.keyboard.type("My sister Ana lives in Porto.")
        press(page, "Save fact 1")
        expect(page.locator("#facts h2")).to_contain_text("Porto")
        expect(page.locator("#memory-1")).to_be_focused()
        press(page, "Undo this change of fact 1")
        expect(page.locator("#facts h2")).to_contain_text("Lisbon")
        expect(page.locator("#memory-1")).to_be_focused()
        reach(page, page.get_by_label("Erase fact 1"))
        page.keyboard.press("Enter")
        press(page, "Erase for good: fact 1")
        expect(page.get_by_role("status")).to_contain_text("It is erased")
        expect(page.get_by_role("status")).to_be_focused()


def skip(page: Page) -> None:
    """The first key on a page that was just opened leads to the way past its header, whatever script ran before it."""
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    expect(page.get_by_role("link", name="To the content")).to_be_in_viewport()


def test_every_page_has_a_word_when_it_is_empty_fits_a_phone_and_leads_past_its_header_with_the_first_tab(
    browser: Browser, running: Site
) -> None:
    with tab(browser, running, width=320) as page:
        page.goto("/yours")
        skip(page)
        page.get_by_role("button", name="Menu").press("Enter")
        expect(page.get_by_role("link", name="Memory")).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Memory")).to_be_hidden()
        for path in PAGES:
            page.goto(path)
            if path != "/":  # there one writes at once
                skip(page)
            expect(page.locator(".welcome, .empty").first).to_be_visible()
            expect(page.get_by_role("heading", level=1)).to_have_count(1)
            expect(page.locator("nav [aria-current=page]")).to_have_count(1)
            assert not is_wide(page)


def test_a_model_that_fails_is_said_and_the_message_is_not_lost(browser: Browser, tmp_path: Path, site: Sites) -> None:
    with site(tmp_path, away=True) as running, tab(browser, running) as page:
        page.goto("/")
        page.get_by_label("Your message").fill("Where does Ana live?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").last).to_contain_text("cannot be reached; start it")
        expect(page.get_by_label("Your message")).to_have_value("Where does Ana live?")
        page.reload()
        expect(page.locator("#turn-1")).to_contain_text("There was no answer; the message is kept.")


def test_a_server_that_is_gone_is_said_and_the_page_stays(browser: Browser, running: Site) -> None:
    with tab(browser, running, fails=True) as page:
        page.goto("/")
        say(page, "Where does Ana live?", 1)
        running.stop()
        page.get_by_label("Your message").fill("Are you there?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").last).to_contain_text("The server cannot be reached")
        expect(page.get_by_label("Your message")).to_have_value("Are you there?")
        expect(page.locator("#turn-1")).to_be_visible()


def test_a_store_that_is_gone_is_said_on_a_page(browser: Browser, running: Site, tmp_path: Path) -> None:
    file = tmp_path / "insula.db"
    with tab(browser, running, fails=True) as page:
        page.goto("/nights")
        file.rename(tmp_path / "aside.db")
        page.get_by_role("button", name="Run the night now").click()
        expect(page.locator("#notice")).to_contain_text("put the file back")
        answer = page.goto("/memory")
        assert answer is not None
        assert answer.status == 503
        expect(page.locator("main")).to_contain_text("put the file back")
        (tmp_path / "aside.db").rename(file)
        page.goto("/memory")
        expect(page.locator(".empty")).to_be_visible()
