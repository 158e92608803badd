"""The conversation in a real browser: answers laid out, copied, taken back, and nothing lost that somebody typed."""

from collections.abc import AsyncIterator
from pathlib import Path

from page_tab import Site, Sites, is_wide, say, tab
from playwright.sync_api import Browser, expect
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel

from insula.testing import Request, ScriptedModel

WISH = "From now on, answer in one sentence."
BREAD = """## Bread

1. **Mix** it, as in [the book](https://example.org/bread).
2. Wait.

| kind | hours |
|:-----|------:|
| rye  | 12    |

```python
print("<b>")
```
"""
TOKENS = {"ana": "token-of-ana-0123456789"}


def bread(request: Request) -> str:
    return BREAD if "bread" in request.prompt else request.prompt.partition("\n\n(")[0]


def test_an_answer_is_laid_out_while_it_is_written_and_after_a_reload_alike(
    browser: Browser, tmp_path: Path, site: Sites
) -> None:
    async def drip(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        for number in range(0, len(BREAD), 9):
            yield BREAD[number : number + 9]

    with site(tmp_path, model=FunctionModel(stream_function=drip)) as running, tab(browser, running) as page:
        page.goto("/")
        with page.expect_response(lambda response: response.url.endswith("prose?user=me")):
            say(page, "How do I bake bread?", 1)
        answer = page.locator("#turn-1 .agent")
        for tag in ("h2", "ol > li > strong", "td", "pre > code", "a[rel~=noopener]"):
            expect(answer.locator(tag).first).to_be_visible()
        live = answer.inner_html()
        page.reload()
        assert page.locator("#turn-1 .agent").inner_html() == live


def test_code_and_answers_are_copied_as_they_were_written(browser: Browser, tmp_path: Path, site: Sites) -> None:
    with site(tmp_path, model=ScriptedModel(bread)) as running, tab(browser, running) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto("/")
        say(page, "How do I bake bread?", 1)
        page.locator("#turn-1 .code .copy").click()
        expect(page.locator("#turn-1 .code .copy")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == 'print("<b>")\n'
        page.locator("#turn-1 .under .copy").press("Enter")
        expect(page.locator("#turn-1 .under .copy")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()").strip() == BREAD.strip()


def test_what_was_saved_is_taken_back_under_the_message_and_what_it_replaced_counts_again(
    browser: Browser, running: Site
) -> None:
    with tab(browser, running) as page:
        page.goto("/")
        say(page, WISH, 1)
        say(page, "Answer in detail from now on.", 2)
        saved = page.locator("#turn-2 .verdict")
        expect(saved).to_contain_text("Saved: “Answer in detail from now on.”")
        expect(page.locator("#turn-1 .verdict")).to_contain_text("Saved")
        saved.get_by_role("button", name="Undo").click()
        expect(saved).to_contain_text("Undone.")
        expect(saved.get_by_role("status")).to_be_focused()
        page.reload()
        expect(saved.get_by_role("button")).to_have_count(0)
        expect(page.locator("#turn-1 .verdict").get_by_role("button", name="Undo")).to_be_visible()
        say(page, "How do I bake bread?", 3)
        session = page.locator("#composer").get_attribute("data-session") or ""
    told = running.read_request("me", session, 3)
    told = told.rpartition("How do I bake bread?")[2]
    assert "answer in one sentence" in told
    assert "in detail" not in told


def test_a_token_that_runs_out_while_somebody_types_loses_no_word(
    browser: Browser, tmp_path: Path, site: Sites
) -> None:
    typed = "A long message, typed with care."
    with site(tmp_path, tokens=TOKENS) as running, tab(browser, running, fails=True) as page:
        page.goto("/sign-in")
        page.get_by_label("Token").fill(TOKENS["ana"])
        page.keyboard.press("Enter")
        expect(page.get_by_label("Your message")).to_be_visible()
        page.wait_for_load_state()
        page.get_by_label("Your message").fill(typed)
        page.context.clear_cookies()
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").last).to_contain_text("You are signed out")
        expect(page.get_by_label("Your message")).to_have_value(typed)
        page.reload()
        page.get_by_label("Token").fill(TOKENS["ana"])
        page.keyboard.press("Enter")
        expect(page.get_by_label("Your message")).to_have_value(typed)
        page.get_by_label("Your message").press("Enter")
        expect(page.locator("#turn-1 .user")).to_have_text(typed)
        expect(page.get_by_label("Your message")).to_have_value("")
        page.reload()
        expect(page.get_by_label("Your message")).to_have_value("")


def test_what_a_newcomer_may_try_comes_into_the_box_and_goes_with_the_first_message(
    browser: Browser, running: Site
) -> None:
    with tab(browser, running) as page:
        page.goto("/")
        page.locator("#tries button").first.click()
        box = page.get_by_label("Your message")
        expect(box).to_have_value("My sister Ana moved to Lisbon in May.")
        expect(box).to_be_focused()
        expect(page.locator(".turn")).to_have_count(0)
        say(page, "Hello.", 1)
        page.goto("/new")
        expect(page.locator("#welcome")).to_be_visible()
        expect(page.locator("#tries")).to_have_count(0)
    context = browser.new_context(base_url=running.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/?user=somebody")
    page.locator("#tries button").first.click()
    expect(page.get_by_label("Your message")).to_have_value("My sister Ana moved to Lisbon in May.")
    page.goto("/?user=somebody&draft=Wipe it all.")
    expect(page.get_by_label("Your message")).to_have_value("")
    context.close()


def test_without_javascript_the_page_answers_by_forms(browser: Browser, tmp_path: Path, site: Sites) -> None:
    with site(tmp_path, model=ScriptedModel(bread)) as running:
        context = browser.new_context(base_url=running.url, java_script_enabled=False)
        page = context.new_page()
        page.goto("/")
        assert "Without JavaScript" in page.locator("noscript").evaluate("one => one.textContent")
        page.get_by_role("button", name="My sister Ana moved").click()
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#turn-1 .agent")).to_have_text("My sister Ana moved to Lisbon in May.")
        page.get_by_label("Your message").fill("How do I bake bread?")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#turn-2 .agent h2")).to_have_text("Bread")
        expect(page.locator(".copy").first).to_be_hidden()
        page.get_by_label("Your message").fill(WISH)
        page.get_by_role("button", name="Send").click()
        page.locator("#turn-3").get_by_role("button", name="Undo").click()
        expect(page.locator("#turn-3")).to_be_visible()
        expect(page.locator("#turn-3").get_by_role("button", name="Undo")).to_have_count(0)
        page.locator("#turn-3 .why > summary").click()
        page.locator("#turn-3 .request > summary").click()
        page.get_by_role("link", name="Look it up").last.click()
        expect(page.locator("body")).to_contain_text(WISH)
        context.close()


def test_a_message_that_a_form_cannot_send_stays_in_its_box(browser: Browser, tmp_path: Path, site: Sites) -> None:
    with site(tmp_path, away=True) as running:
        context = browser.new_context(base_url=running.url, java_script_enabled=False)
        page = context.new_page()
        page.goto("/")
        for text, why in (("Are you there?", "cannot be reached"), ("   ", "nothing in it")):
            page.get_by_label("Your message").fill(text)
            page.get_by_role("button", name="Send").click()
            expect(page.get_by_role("alert").last).to_contain_text(why)
            expect(page.get_by_label("Your message")).to_have_value(text)
        context.close()


def test_what_is_not_there_is_a_page_for_a_person_and_a_problem_for_a_program(browser: Browser, running: Site) -> None:
    with tab(browser, running, width=320, fails=True) as page:
        for path in ("/nowhere", "/static/nowhere.js", "/agents/x/y"):
            answer = page.goto(path)
            assert answer is not None
            assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (404, "text/html")
            expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
            assert not is_wide(page)
        page.get_by_role("link", name="To the start").click()
        expect(page.get_by_label("Your message")).to_be_visible()
        for path, accepts in (("/nowhere", "*/*"), ("/agent/nowhere", "text/html")):
            answer = page.request.get(running.url + path, headers={"Accept": accepts})
            assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")


def test_a_narrow_screen_cuts_nothing(browser: Browser, tmp_path: Path, site: Sites) -> None:
    wide = "| " + " | ".join("column" * 3 for _ in range(20)) + " |\n" + "|---" * 20 + "|\n\n`" + "x" * 400 + "`\n\n"
    with (
        site(tmp_path, model=ScriptedModel(lambda _: wide + "    " + "y" * 400)) as running,
        tab(browser, running, width=320) as page,
    ):
        page.goto("/?user=👩‍🚀 \u05d3\u05e0\u05d4")
        say(page, "z" * 400, 1)
        page.locator("#turn-1 .why > summary").click()
        assert not is_wide(page)
        page.get_by_role("button", name="Menu").click()
        for name in ("Talk", "Memory", "Guidance", "What changed", "Coding agents", "Operate"):
            expect(page.get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)
