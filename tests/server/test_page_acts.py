"""Every action of the page in a real browser, on a phone; none touches what is another user's."""

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from harness import run_insula
from page_tab import Site, Sites, is_wide, say, tab
from playwright.sync_api import Browser, Page, expect

USERS = {"ana": ("Porto", "Lisbon"), "ben": ("Lima", "Quito")}
WISH = "From now on, answer in one sentence."


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, site: Sites) -> Generator[Site]:
    with site(tmp_path_factory.mktemp("acts")) as started:
        for user, (city, _) in USERS.items():
            started.guide(user)
            started.say(user, "past", f"My sister Eva lives in {city}.", WISH, "Thanks!")
        yield started


def test_a_user_does_all_that_the_page_offers(browser: Browser, shared: Site, home: Path) -> None:
    before, user = shared.list_users(), "ben"
    with tab(browser, shared, width=390, dark=True) as page:
        _talk(page, user)
        _memories(page, user, *USERS[user])
        _preference(page, user)
        _rules(page, user, home)
        _guideline(page, shared, user)
        _guidelines_and_nights(page, user)
        _time(page, user)
        _yours(page, user)
    left = shared.list_users()
    assert left == [one for one in before if one != user], "nobody else is erased"


def _talk(page: Page, user: str) -> None:
    """It opens at the last exchange, with header and conversations in place; past turns keep their reasons."""
    page.goto(f"/?user={user}&session=past")
    last = page.locator(".turn").last
    expect(last).to_be_in_viewport()
    expect(page.locator("header.top")).to_be_in_viewport()
    expect(page.locator("#sessions > summary")).to_be_in_viewport()
    say(page, "Where does Eva live?", 4)
    before = _reasons(page, 4)
    page.locator("#turn-4").get_by_role("button", name="That was right").click()
    expect(page.locator("#turn-4 .judged")).to_contain_text("You said: it was right.")
    page.reload()
    assert _reasons(page, 4) == before
    page.locator("#turn-4 .request > summary").click()
    expect(page.locator("#turn-4 .part").first).to_contain_text(re.compile(r"about \d+ token"))
    expect(page.locator("#turn-4 .request")).to_contain_text("Where does Eva live?")
    say(page, "Where does Eva work?", 5)
    page.locator("#turn-5").get_by_role("button", name="That was wrong").click()
    expect(page.locator("#turn-5 .judged")).to_contain_text("it was wrong")
    assert not is_wide(page)


def _reasons(page: Page, turn: int) -> list[str]:
    page.locator(f"#turn-{turn} .why > summary").click()
    return page.locator(f"#turn-{turn} .reasons > dd").first.locator("li").all_inner_texts()


def _memories(page: Page, user: str, city: str, other: str) -> None:
    fact = page.locator("#facts > li").first

    def decide(word: str, said: str) -> None:
        fact.get_by_role("button", name=re.compile(f"^{word}")).click()
        expect(page.get_by_role("status").first).to_contain_text(said)

    page.goto(f"/memory?user={user}")
    page.get_by_label("Words or a question").fill(city)
    page.keyboard.press("Enter")
    expect(fact).to_contain_text(f"My sister Eva lives in {city}.")
    decide("Pin", "is pinned")
    expect(fact.locator(".chip")).to_have_text("pinned by you")
    fact.get_by_label("More about").click()
    decide("Mute", "in no answer")
    expect(fact.locator(".chip").first).to_have_text("muted by you")
    fact.get_by_label("More about").click()
    decide("Undo memory", "as it was before")
    decide("Unpin", "no longer pinned")
    fact.get_by_label(re.compile(r"^Edit fact")).click()
    fact.get_by_label("What fact").fill(f"My sister Eva lives in {other}.")
    decide("Save", "what you wrote")
    page.goto(f"/memory?user={user}&q={other}")
    fact.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"session=past.*#turn-1$"))
    expect(page.locator("#turn-1 .user")).to_contain_text(city)  # what was said stays as it was said
    page.goto(f"/memory?user={user}&q={other}")
    fact.get_by_label(re.compile(r"^Erase fact \d+$")).click()
    decide("Erase for good", "is erased")
    expect(page.locator("#facts > li", has_text="Eva")).to_have_count(0)
    page.get_by_role("link", name="Transcript").click()
    page.get_by_role("link", name="What nights merged or let go").click()
    expect(page.locator("#memories, .empty").first).to_be_visible()
    assert not is_wide(page)


def _preference(page: Page, user: str) -> None:
    one = page.locator("#preferences li").first

    def decide(word: str, said: str) -> None:
        button = page.get_by_role("button", name=re.compile(f"^{word} the preference")).first
        if not button.is_visible():
            page.get_by_label("More about the preference").first.click()
        button.click()
        expect(page.get_by_role("status").first).to_contain_text(said)

    page.goto(f"/learned?user={user}")  # where it was before
    expect(one.locator(".chip")).to_have_text("used")
    decide("Pin", "is pinned")
    expect(one.locator(".chip")).to_have_text("pinned by you")
    decide("Unpin", "no longer pinned")
    decide("Mute", "is muted")
    expect(one.locator(".chip")).to_have_text("muted by you")
    decide("Undo", "as it was before")
    page.get_by_label("Edit the preference").first.click()
    page.get_by_label("What the preference").first.fill("Answer in two sentences.")
    decide("Save", "has your words now")
    decide("Forget", "until you undo that")
    expect(page.locator("details[open] > summary", has_text="Used no more")).to_be_visible()  # where it is now
    decide("Undo", "as it was before")
    expect(one).to_contain_text("two sentences")
    page.get_by_label("More about the preference").first.click()
    expect(one.locator(".quotes").first).to_contain_text(WISH)
    decide("Erase for good", "It is erased")
    assert not is_wide(page)


def _rules(page: Page, user: str, home: Path) -> None:
    """A rule of the machine's coding agents, that a person imported."""
    advice = "Read the error to its end."
    shared = json.dumps({"v": 1, "rules": [{"advice": advice, "pattern": "stale-edit"}]})
    assert run_insula("rules", "import", "-", stdin=shared).status == 0
    (rule,) = (one["id"] for one in run_insula("rules", "--json").json["rules"] if one["advice"] == advice)
    page.goto(f"/guidance?user={user}")
    for word, state in (("Pin", "pinned by you"), ("Mute", "muted by you"), ("Unmute", "not used yet")):
        page.get_by_role("button", name=f"{word} the rule {rule}").click()
        expect(page.locator(f"#guidance-{rule} .chip")).to_have_text(state)
    page.get_by_label(f"More about the rule {rule}").click()
    page.get_by_role("button", name=f"Erase for good the rule {rule}").click()
    expect(page.locator(f"#guidance-{rule}")).to_have_count(0)
    assert advice not in (home / "rules.jsonl").read_text(), "its words are gone"


def _guideline(page: Page, running: Site, user: str) -> None:
    """Each line of SOUL.md is traced, corrected, pinned, muted, forgotten, undone and erased where it stands."""
    document, path = page.locator("#document"), running.soul_path(user)

    def decide(word: str, said: str) -> None:
        button = page.get_by_role("button", name=f"{word} the lesson p1")
        if not button.is_visible():
            page.get_by_label("More about the lesson p1").click()
        button.click()
        expect(page.get_by_role("status").first).to_contain_text(said)

    page.goto(f"/soul?user={user}")
    expect(page.get_by_role("button", name="Undo the lesson p1")).to_have_count(0)  # there is nothing to undo yet
    page.get_by_label("More about the lesson p1").click()
    expect(page.locator("#guidance-p1 .quotes a").first).to_be_visible()
    decide("Pin", "is pinned")
    expect(page.locator("#guidance-p1 .chip")).to_have_text("pinned by you")
    page.get_by_label("Edit the lesson p1").click()
    page.get_by_label("What the lesson p1 should say").fill("Be brief and kind.")
    decide("Save", "has your words now")
    expect(document).to_contain_text("Be brief and kind.")
    assert "Be brief and kind." in path.read_text()
    decide("Undo", "as it was before")
    assert "kind" not in path.read_text()
    decide("Mute", "is muted")
    expect(document).not_to_contain_text("Be brief.")
    page.goto(f"/guidance?user={user}")
    decide("Unmute", "no longer muted")
    decide("Forget", "is forgotten")
    assert "brief" not in path.read_text()
    decide("Undo", "as it was before")
    page.goto(f"/soul?user={user}")
    expect(document).to_contain_text("Be brief.")
    assert not is_wide(page)


def _guidelines_and_nights(page: Page, user: str) -> None:
    page.goto(f"/soul?user={user}")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("status").first).to_contain_text("accepted")
    page.locator("#history > li").last.get_by_role("button").click()
    expect(page.get_by_role("status").first).to_contain_text("as it was then")
    page.goto(f"/nights?user={user}")
    expect(page.locator(".empty")).to_contain_text("Nothing has changed yet")
    page.get_by_role("button", name="Run the night now").click()
    night = page.locator(".night")
    expect(night).to_contain_text("No longer: Be brief.")
    expect(night).not_to_contain_text("in short")
    expect(night.locator("h2")).to_have_text(re.compile(r"^\d+ \w+ \d{4} just now$"))
    expect(page.locator("#ran")).to_contain_text("What it changed stands below.")
    expect(page.locator(".empty")).to_have_count(0)
    page.get_by_role("button", name="Run the night now").press("Enter")
    expect(page.locator("#ran")).to_contain_text("It changed nothing.")
    expect(page.locator("#ran")).to_be_focused()
    expect(night).to_contain_text("No longer: Be brief.")
    page.goto(f"/nights?user={user}")
    expect(night).to_have_count(1)
    assert not is_wide(page)


def _time(page: Page, user: str) -> None:
    page.goto(f"/operate?user={user}")
    page.locator("#signals a").last.click()
    expect(page.locator("#turn-1")).to_be_in_viewport()
    page.goto(f"/agents?user={user}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("coding agents")


def _yours(page: Page, user: str) -> None:
    page.goto(f"/yours?user={user}")
    with page.expect_download() as begun:
        page.get_by_role("link", name="Export").click()
    assert begun.value.suggested_filename == f"{user}.insula.jsonl"
    page.get_by_role("button", name="Keep a copy here").click()
    expect(page.get_by_role("status").first).to_contain_text("A copy is kept")
    page.get_by_label("To say that it is meant").fill("somebody")
    page.get_by_role("button", name="Erase all of it").click()
    expect(page.get_by_role("alert").last).to_contain_text("nothing was erased")
    expect(page.get_by_role("button", name="Menu")).to_be_visible()
    page.get_by_label("To say that it is meant").fill(user)
    page.get_by_role("button", name="Erase all of it").click()
    expect(page.get_by_role("status").first).to_contain_text("Nothing is kept of you any more")
