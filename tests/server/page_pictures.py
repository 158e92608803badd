"""Makes the pictures of `docs/how-to/page.md` anew, all or those named: python tests/server/page_pictures.py [NAME…]"""

import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from page_site import Site, site
from page_site import guidelines as learned
from playwright.sync_api import Browser, Page, sync_playwright

from insula.guidance import SHOWN, WITHHELD
from insula.memory.storage.changes import LessonChange, Lived, RevisionChange
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES
from insula.night.soul import document as soul
from insula.testing import Request, ScriptedModel

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images"
TALK = {
    "My sister Ana moved to Lisbon in May, and she works nights as a nurse.": "Noted: Ana moved to Lisbon in May and "
    "works nights as a nurse.",
    "Where does Ana live, and when can I call her?": "Ana lives in Lisbon. She works nights, so call her in the late "
    "afternoon.",
    "What is the capital of Mongolia, and how many people live there?": "The capital of Mongolia is Ulaanbaatar.",
    "How do I bake bread?": "Blue.",
    "From now on, answer in one sentence.": "I will answer in one sentence.",
    "Which trains go from Porto to Lisbon on Sunday?": "Trains from Porto to Lisbon leave hourly on Sunday from "
    "7:00 to 20:00.",
    "You forgot the platform.": "From platform 3.",
    "When does Ana's shift end?": "Ana's night shift ends at seven in the morning.",
    "What should I bring Ana from Porto?": "Bring Ana a tin of sardines from Porto.",
    "Thanks, that will do.": "You are welcome.",
}
SHOWN_TALK = {
    "My sister Ana moved to Lisbon in May.": "Noted.",
    "Where does Ana live?": "Ana lives in Lisbon.",
    "From now on, give me three options when I ask for ideas.": "I will.",
    "What could I bring her from Porto?": "- **Sardines** in a tin, which keep\n- a bottle of *tawny* port\n"
    "- a scarf from the market",
}
DIARY: Sequence[Mapping[str, str]] = (
    {
        "Hi! I just started as a carpenter in Porto.": "Welcome to Porto.",
        "What should I look at when I buy a used plane?": "Check that the **sole is flat**, the iron long enough, and "
        "the mouth not chipped.",
        "How do I sharpen its iron?": "1. Flatten the back.\n2. Grind to 25°.\n3. Hone to 30° on a fine stone.",
    },
    {
        "My landlord Rui wants the rent on the first of the month.": "Noted.",
        "Write Rui a friendly note that the tap in the kitchen drips.": "Dear Rui, the kitchen tap has begun to drip. "
        "Could somebody look at it this week? Kind regards.",
    },
    {
        "I can't eat lactose.": "Noted.",
        "What can I cook tonight with chickpeas and spinach?": "A stew: onion, garlic, cumin, chickpeas, and the "
        "spinach at the end.",
        "Please give amounts in grams.": "400 g chickpeas, 300 g spinach, 1 onion.",
    },
    {
        "My friend Inês plays the cello in the city orchestra.": "That is a fine orchestra.",
        "She has a concert on the 14th.": "I will remember the concert.",
        "What could I wear to it?": "A dark jacket and a shirt without a tie.",
    },
    {
        "Explain the difference between oak and ash.": "Oak is heavier and rots less; ash is springier.",
        "And which one for a garden bench?": "Oak.",
    },
    {"Good morning.": "Good morning!", "How long does wood glue take?": "Clamp it for an hour, and wait a day."},
    {
        "My bike is a red Órbita from 1987.": "Noted.",
        "Its chain slips under load. What is it?": "Mostly a worn chain on a worn sprocket; change both.",
    },
    {
        "I have learned Portuguese for three years.": "Noted.",
        "How do I say that I'm running late?": "*Estou atrasado.*",
    },
    {
        "I plan to visit my aunt Teresa in Braga at Easter.": "Noted.",
        "How far is it?": "About 55 km, 45 minutes by train.",
    },
    {
        "Thanks for yesterday, the bench stands.": "Glad to hear it.",
        "Which oil for oak outside?": "| oil | dries in | lasts |\n|---|---|---|\n| tung | 2 days | 2 years |\n"
        "| linseed | 4 days | 1 year |",
    },
    {
        "Inês moved to Coimbra last week.": "Noted.",
        "Where does Inês live now?": "Inês lives in Coimbra.",
        "Don't use exclamation marks, please.": "I will not.",
    },
)
"""What was said before, a day each."""
FACTS = (
    "Hello! My daughter Zoë is allergic to nuts. What can I bake for her?",
    "I plan to run the marathon in Porto next month.",
    "My boss Karl is in the office from Tuesday to Thursday.",
)
TRAINS = "When the user asks about trains, also name the platform."


DAY = 86_400.0


def answer(request: Request) -> str:
    """What the model says."""
    return (TALK | SHOWN_TALK | {told: said for day in DIARY for told, said in day.items()}).get(
        request.prompt.partition("\n\n(")[0], "I do not know that one."
    )


def fill(running: Site) -> None:
    """Two weeks of talk, the last days with a slow spell, a night, and guidelines with a change that waits."""
    said = list(TALK)
    running.clock.ahead = -(len(DIARY) + 3) * DAY
    for number, day in enumerate(DIARY, 1):
        running.say("me", f"day {number}", *day)
        running.clock.ahead += DAY
    running.say("me", "sunday", *FACTS)
    running.clock.ahead += DAY
    running.say("me", "monday", *said)
    running.clock.ahead += DAY
    for seconds in (2.0, 6.0, 2.0):
        for _ in range(24):
            running.end_elsewhere(seconds)
        running.clock.ahead += 400
        running.say("me", "tuesday", *(said[5:] + said[:5]))
    running.clock.ahead += DAY
    running.say("me", "wednesday", *itertools.islice(said, 3))
    first = soul.revise_document(soul.Document(), add=[("Personality", "p1", "Be brief: the user works nights.")])
    second = soul.revise_document(
        first,
        reword={"p1": "Be calm and brief; the user's sister is a nurse who works nights."},
        add=[("Interaction principles", "p2", "When trains come up, name the platform without being asked.")],
    )
    third = soul.revise_document(second, remove=["p2"])

    async def write() -> None:
        user_id = await running.store.nights.find_user_id("me")
        assert user_id is not None
        (said_first, *_) = await running.store.guidance.read_cited(user_id, [1])
        await running.store.run(learned, user_id, second, said_first.id)
        for document, changes in ((first, 1), (second, 2)):
            running.clock.ahead += 3_600
            told: dict[str, list[object]] = {"changes": [{}] * changes}
            await running.store.guidance.write_changes(
                user_id, RevisionChange("soul", "night", soul.render_document(document), told)
            )
        why = {"reasons": ["it would take out a lesson that 2 conversations back."]}
        await running.store.guidance.write_changes(
            user_id, RevisionChange("soul:proposal", "night", soul.render_document(third), why)
        )

    running.run(weigh(running))
    running.run(write())
    path = running.service.soul_of("me")
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(soul.render_document(second))


async def weigh(running: Site) -> None:
    """A night, and one that weighed a lesson in eighty conversations."""
    store = running.store
    user_id = await store.nights.find_user_id("me")
    assert user_id is not None
    lesson = LessonChange("mistake/x", TRAINS, ("train",), "", "derived", (1,))
    await store.nights.record_phase(user_id, "2026-01-01", "mistakes", {}, [lesson])
    await sleep_cycle(store, "me", PHASES, force=True)
    (one,) = [each for each in await store.guidance.list_lessons(user_id) if each.key == lesson.key]
    sessions = [(await store.resolve_place("me", f"trains {number}")).session_id for number in range(80)]
    lived = [
        Lived(one.id, session, SHOWN if number % 2 else WITHHELD, number % (9 if number % 2 else 3) == 0)
        for number, session in enumerate(sessions)
    ]
    effect = {"verdict": "not enough evidence", "estimate": 0.24, "low": 0.05, "high": 0.41}
    stands = {"id": one.id, "key": one.key, "state": "active", "effect": effect}
    report = {"sessions": 80, "counted": {"suppression": 36, "breach": 4, "absence": 26, "detection": 14}}
    await store.nights.record_phase(user_id, "2026-01-02", "lessons", report | {"lessons": [stands], "up_to": 0}, lived)


def talk(page: Page) -> None:
    """Something told, an answer with where it comes from, what was saved, and an answer laid out."""
    page.goto("/new?user=eva")
    for turn, message in enumerate(SHOWN_TALK, 1):
        page.get_by_label("Your message").fill(message)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#turn-{turn}")
    page.locator("#welcome").evaluate("one => one.remove()")
    page.evaluate("scrollTo(0, 0)")


def phone(page: Page) -> None:
    """The first screen."""
    page.goto("/new?user=ana")


def request(page: Page) -> None:
    """What the model was told in a past turn, part by part."""
    page.goto("/?session=wednesday")
    page.locator("#turn-2 .why > summary").click()
    page.locator("#turn-2 .request > summary").click()
    page.locator("#turn-2 .part summary").nth(1).click()
    page.locator("#turn-2 .request").scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, -80)")


def memories(page: Page) -> None:
    """Facts as cards, with what may be done with one."""
    page.goto("/memory")
    page.get_by_label("Edit fact").first.click()


def lessons(page: Page) -> None:
    """What was learned, by how it stands, and an effect with its interval."""
    page.goto("/guidance")


SHOTS: dict[str, tuple[Callable[[Page], None], int, int, str]] = {
    "page-talk": (talk, 1280, 940, "light"),
    "page-phone": (phone, 390, 844, "dark"),
    "page-request": (request, 1280, 900, "light"),
    "page-memories": (memories, 1280, 860, "light"),
    "page-lessons": (lessons, 1280, 1000, "dark"),
}


def shoot(browser: Browser, running: Site) -> None:
    """Take each picture."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SHOTS:
        show, width, height, scheme = SHOTS[name]
        page = browser.new_page(
            base_url=running.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        show(page)
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURES / f"{name}.png")
        page.close()


def main() -> None:
    """All of them."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        site(
            Path(folder),
            model=ScriptedModel(answer, delay=0.05),
        ) as running,
        sync_playwright() as driver,
    ):
        fill(running)
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        shoot(opened, running)
        opened.close()


if __name__ == "__main__":
    main()
