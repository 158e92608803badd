"""The register of claims: nothing is stated before a model, in a reply, or by a night without an entry."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import pytest
from claims import main as make_page

from insula import Assessment, Chat, Controls, Identity, InputError, Metacognition, Turn
from insula import claims as register
from insula.claims import REGISTER, SENSE, Claimed, quote_claim, switch_claims
from insula.cli import render
from insula.coding.step.senses import EVERY
from insula.coding.step.senses import register as senses
from insula.errors import SettingsError
from insula.hosts.hook import respond
from insula.memory.storage.changes import InsightChange, LessonChange, RevisionChange
from insula.memory.storage.store import Store
from insula.metacognition.effects import KINDS, ClaimCount, count_claims
from insula.metacognition.engine import SOUL
from insula.metacognition.outcome import TurnResult
from insula.night import outcomes
from insula.night.cycle import PhaseName, PhaseReport, SleepReport
from insula.operations.nights import TITLES, NightChange, describe_report
from insula.server.page import turns, words
from insula.server.page.rendering import render_page
from insula.settings import load_settings
from insula.testing import FrozenClock, ScriptedModel, memory_store
from insula.turn.instructions import compose_instructions
from insula.turn.verdict import KINDS as VERDICTS
from insula.types import Fault, Flag, Parts

pytestmark = pytest.mark.anyio
ALL = tuple(name for name in REGISTER if not name.startswith(SENSE))
FIGURE = re.compile(r"(?:[\d\s.,:;%+–—-]|\d{1,2} \w+ \d{4}|the (?:day|week|month|year) before)*")


class Words:
    """What others wrote, which Insula may repeat."""

    def __init__(self, *texts: str) -> None:
        self.blob = _flat(" ".join(texts))

    def holds(self, text: str) -> bool:
        return _flat(text) in self.blob


def _flat(text: str) -> str:
    return " ".join(text.split()).strip(" .,:;?!“”\"'…。？()").casefold()


def unclaimed(text: str, own: Words, places: Sequence[str]) -> list[str]:
    """The sentences of a text that are neither others' words nor those of an entry of the register."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    left = [line for line in lines if not is_claimed(line, own, places)]
    sentences = [one for line in left for one in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", line) if one]
    return [one for one in sentences if not any(is_claimed(each, own, places) for each in _forms(one))]


def _forms(sentence: str) -> tuple[str, str]:
    """As it is, and without what it was put between."""
    bare = sentence.strip("()")
    return bare, bare.rstrip(".")


def is_claimed(line: str, own: Words, places: Sequence[str], deep: int = 3) -> bool:
    """Whether a line is another's words, a figure, or made of the words of an entry and such."""
    if own.holds(line) or FIGURE.fullmatch(line) or own.holds(line.removeprefix("- ")):
        return True
    if len(several := re.split(r"[,;] |” “", line)) > 1 and all(map(own.holds, several)):
        return True
    return deep > 0 and any(
        all(is_claimed(part, own, places, deep - 1) for part in found.groups())
        for pattern in patterns(tuple(places))
        if (found := pattern.fullmatch(line) or pattern.fullmatch(line.removeprefix("- ")))
    )


def claim_templates(claim: str) -> list[str]:
    """All words of a claim, in each language; empty where they stand in code."""
    file = REGISTER[claim].file
    if not file.endswith(".json"):
        return []
    words: dict[str, dict[str, str]] = json.loads((files("insula") / file).read_text("utf-8"))
    return [said[key] for said in words.values() for key in register.claim_keys(claim) if key in said]


@cache
def patterns(places: tuple[str, ...]) -> list[re.Pattern[str]]:
    return [
        re.compile("(.+?)".join(map(re.escape, re.split(r"\{[^}]*\}", words))), re.IGNORECASE)
        for name, claim in REGISTER.items()
        if claim.place in places
        for words in claim_templates(name)
    ]


def test_a_text_without_an_entry_cannot_be_made() -> None:
    with pytest.raises(LookupError, match="entry"):
        Claimed("The user seems tired.", ())
    with pytest.raises(LookupError, match="entry"):
        quote_claim("mood", "The user seems tired.")
    with pytest.raises(LookupError, match="words"):
        register.say_claim("memory", "mood")


@pytest.mark.parametrize("name", [name for name, claim in REGISTER.items() if claim.file.endswith(".json")])
def test_an_entry_points_at_words_that_are_there(name: str) -> None:
    assert register.claim_keys(name)
    assert all(claim_templates(name))


def test_the_words_of_each_entry_stand_where_it_says() -> None:
    assert [one.id for one in REGISTER.values() if not (files("insula") / one.file).is_file()] == []


# --- before a model, and in a reply --------------------------------------------------------------------------------

FACTS = (
    "I live in Porto.",
    "My sister Ana lives in Lisbon.",
    "I'm allergic to peanuts.",
    "Last week I started at the harbour office.",
    "My gym is Atlas.",
    "I cancelled my gym Atlas, I go to Boreas now.",
)
WISH = "From now on, always answer in metres."
ASKED = (
    "Where do I live?",
    "Where does my sister Ana live?",
    "Suggest a dinner for tonight.",
    "When did I start at the harbour office?",
    "Which gym do I go to?",
    "When was I born?",
    "What did you tell me about boats?",
    "Which tyre pressure did the workshop measure?",
    "Which train connections are there to Lyon?",
    "What is the capital of Mongolia, and how many people live there?",
)
ANSWERS = ("You live in Porto.", "You live in Braga.", "Boats are fine, Ulaanbaatar is big.", "El cielo es azul hoy.")
BOATS = "Boats need paint every second year."
TOOL = "The workshop measured a tyre pressure of 2.4 bar."
IDENTITY = Identity(name="Mira", about="a guide", voice="warm", guidance={"dinner": "Name prices in euro."})
FAULTS: tuple[tuple[Flag, str], ...] = (
    ("ignored_memory", "I live in Porto."),
    ("constraint", "answer in metres"),
    ("incomplete", "how many people live there?"),
    ("unsupported", ""),
    ("wrong_language", ""),
    ("declined", "I live in Porto."),
)


TRAINS = "The train connections to Lyon went well once every platform was named."
PLATFORM = "When the user asks about trains, name the platform."
CLEAR = "Be clear about what is uncertain."


async def learn(store: Store) -> None:
    """What nights may have learned: an insight, a lesson, and a guideline."""
    place = await store.resolve_place("u", "night")
    learned = (
        InsightChange(TRAINS, ("train", "Lyon"), (place.session_id,), 0.8, 0.8),
        LessonChange("asked/trains", PLATFORM, ("train",), "", "person", ()),
        RevisionChange(SOUL, "night", f"# SOUL.md\n\n## Interaction principles\n\n- {CLEAR}\n", {}),
    )
    await store.nights.record_phase(place.user_id, "night 1", "reflection", {}, learned)


async def lived(say: Callable[[Turn, TurnResult], object], quoted: Sequence[str] = (), **options: Any) -> Words:
    """A few days with somebody, in which all kinds of things are told; `say` gets each turn and what became of it."""
    clock = FrozenClock()
    own = [*FACTS, WISH, *ASKED, *ANSWERS, BOATS, TOOL, TRAINS, PLATFORM, CLEAR, *quoted]
    own += ["### Interaction principles", "Mira, a guide", "Name prices in euro.", "a tool"]
    async with memory_store(lambda: clock().timestamp()) as store:
        await learn(store)
        mind = Metacognition(store, identity=IDENTITY, holdout=0.0, claims=ALL, **options)
        for number, fact in enumerate((*FACTS, WISH)):
            clock.advance(86_400)
            async with mind.turn("u", f"day {number}", fact) as turn:
                say(turn, turn.finish(BOATS))
        await mind.observe("u", "workshop", TOOL, provenance="tool")
        for number, asked in enumerate(ASKED * 2):
            clock.advance(86_400)
            async with mind.turn("u", f"later {number // 3}", asked) as turn:
                say(turn, turn.finish(ANSWERS[number % len(ANSWERS)]))
    return Words(*own)


def assessed(flag: Flag, about: str) -> Callable[..., Assessment]:
    """A monitor that finds one fault in everything."""
    parts = Parts(responsiveness=0.6, completeness=0.6, consistency=1.0, length_ok=True, repetition=False)
    missing = (about,) if flag == "incomplete" else ()
    found = Assessment(
        score=0.6, flags=(flag,), parts=parts, unanswered=missing, faults=(Fault(flag=flag, about=about),)
    )
    return lambda *_: found


@pytest.mark.parametrize(("flag", "about"), [("", ""), *FAULTS])
async def test_all_that_stands_before_a_model_or_in_a_reply_is_in_the_register(flag: Flag, about: str) -> None:
    told: list[tuple[str, str, str]] = []
    made: set[str] = set()

    def say(turn: Turn, result: TurnResult) -> None:
        beside = turn.prompt.removeprefix(turn.message)
        said = result.verdict.text if result.verdict else ""
        told.append((f"{turn.instructions}\n{beside}", f"{result.response}\n{said}", result.again))
        made.update(*[one.data.get("claims", ()) for one in result.signals if one.kind == "meta:turn"])  # pyright: ignore[reportArgumentType]

    options = {"assess": assessed(flag, about), "controls": Controls(retry=1)} if flag else {}
    own = await lived(say, (about,), **options)
    for before, reply, again in told:
        assert not unclaimed(before, own, ["request", "reply"])  # what was answered may be asked for, a doubt with it
        assert not unclaimed(reply.replace("！", "").replace(". ", ".\n"), own, ["reply"])
        assert not unclaimed(again, own, ["request"])
    kind = "memory" if flag in {"ignored_memory", "declined"} else flag
    learned = {"identity", "insight", "lesson", "guideline"}
    assert {"memory", "limit", "wish", f"mend.{kind}" if flag else "memory.when", *learned} <= made


async def test_a_new_sentence_before_a_model_is_found_though_it_borrows_an_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added = quote_claim("memory", "The user seems tired today.")

    def more(*given: Any, **named: Any) -> Any:
        words = compose_instructions(*given, **named)
        return words._replace(beside=(*words.beside, (added,)))

    monkeypatch.setattr("insula.metacognition.turn.compose_instructions", more)
    told: list[str] = []
    own = await lived(lambda turn, _: told.append(turn.instructions))
    assert {line for text in told for line in unclaimed(text, own, ["request"])} == {added.text}


async def test_what_is_below_the_bar_is_said_only_where_it_was_switched_on() -> None:
    answer = "The capital of Mongolia is Ulaanbaatar."
    said: list[str] = []
    for claims in ((), ("doubt.missing", "mend.incomplete")):
        async with memory_store() as store:
            mind = Metacognition(store, holdout=0.0, claims=claims)
            async with mind.turn("u", "s", ASKED[-1]) as turn:
                said.append(turn.finish(answer).response)
            async with mind.turn("u", "s", "Thanks.") as turn:
                said.append(turn.prompt)
    assert said[:2] == [answer, "Thanks."]
    assert all("how many people live there" in text for text in said[2:])


@pytest.mark.parametrize(("named", "why"), [("mood", "no claim"), ("sense.o2", "insula on o2")])
def test_what_cannot_be_switched_on_is_said(named: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=why):
        switch_claims([named])
    monkeypatch.setenv("INSULA_CLAIMS", f"doubt, {named}")
    with pytest.raises(SettingsError, match=why):
        load_settings()
    monkeypatch.setenv("INSULA_CLAIMS", "doubt, doubt.missing")
    assert load_settings().claims == ("doubt", "doubt.missing")


def test_only_what_is_right_often_enough_is_earned() -> None:
    good = register.ClaimMeasurement(per_1000=10.0, wrong_per_1000=1.0, right=19, of=20)
    assert good.earned
    assert not any(
        register.ClaimMeasurement(per_1000=10.0, wrong_per_1000=wrong, right=right, of=of).earned
        for wrong, right, of in ((1.1, 19, 20), (None, 20, 20), (1.0, 18, 20), (0.0, 19, 19))
    )


# --- how often it was said -----------------------------------------------------------------------------------------


async def test_what_was_said_and_called_wrong_is_counted_without_a_word_of_the_user() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
        for session, message in (("one", FACTS[0]), ("two", ASKED[0]), ("two", "Thanks."), ("three", ASKED[0])):
            clock.advance(86_400)
            async with mind.turn("u", session, message) as turn:
                turn.finish(ANSWERS[0])
        await outcomes.judge_answer(store, "u", "two", 1, False, mind.engine.calibration)
        place = await store.resolve_place("u", "two")
        noticed = await store.nights.list_signals(place.user_id, KINDS, 0.0)
    made = count_claims(noticed)
    assert (made["memory"], made["source"], made["untold"]) == (
        ClaimCount(2, 4, 1),
        ClaimCount(2, 4, 1),
        ClaimCount(0, 4, 0),
    )
    assert "Porto" not in json.dumps([{**one.data, "quoted": None, "topic": None} for one in noticed])
    assert count_claims([one._replace(data={}) for one in noticed]) == {}


# --- to who asks, by a night, beside a call ------------------------------------------------------------------------

LABELS = re.compile(
    r"How sure \(from memory, before the answer\): \w+, \d+\s*%|How good \(the check of the answer\): [\w ]+, \d+\s*%|"
    r"What it remembered and put before the model:|It put nothing of memory before the model\.|\d+\s*% match: .*|"
    rf"(?:{'|'.join(words.PARTS.values())}): \d+\s*%|Left unanswered: .*|What it took: .*|What was noticed: .*|"
    r"You|Insula|Why\?|What memory had to do with it|How sure|from memory, before the answer|What it remembered|"
    r"and put before the model|Nothing\.|\w+, \d+\s*%|you, .*|How good|the check of the answer|[\d.]+|"
    rf"{'|'.join(words.PARTS.values())}|"
    r"Found: .*|Left unanswered:|"
    r"What it could use|Up to \d+ memories before the model, as usual\.|What is at least [\d.]+ notable is kept for "
    r"good, as usual\.|What it took|[\d,]+ tokens read and [\d,]+ written\.|"
    r"\S+ m?s for the model(?:, and \S+ m?s to watch it)?\.|"
    rf"What was noticed|{'|'.join(words.SIGNALS.values())}|The exact request|Look it up|Copy|Undo|"
    r"That was right|That was wrong|\.|"
    r"\d+ more came up, and (?:was|were) left out|"
    rf"(?:{'|'.join(get_args(Flag))})(?:: .*)?"
)
"""What says which figure follows: no statement."""


class Read(HTMLParser):
    """The texts of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.feed(source)

    def handle_data(self, data: str) -> None:
        if text := " ".join(data.split()):
            self.texts.append(text)


def unlabelled(texts: Iterable[str], own: Words) -> list[str]:
    bare = [re.sub(r"^(?:✓ |(?:meta:[\w-]+)?: )", "", text.strip()) for text in texts]
    said = [text for text in bare if not LABELS.fullmatch(text)]
    return [one for text in said for one in unclaimed(text, own, ["why", "reply"])]


async def asked_why(answer: str, asked: str, told: Sequence[str] = FACTS) -> tuple[list[str], list[str], Words]:
    """What the terminal and the page show to who asks why: of an answer given twice, so that it may be stuck."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        chat = Chat(Metacognition(store, holdout=0.0), ScriptedModel(lambda _: answer))
        for fact in told:
            await chat.reply("u", "before", fact)
        clock.advance(86_400)
        await chat.reply("u", "now", asked)
        reply = await chat.reply("u", "now", asked)
    lines = [
        *map(str, getattr(render.render_why(reply), "renderables", ())),
        *str(render.under_reply(reply)).splitlines(),
    ]
    shown = turns.show_turn(turns.TurnFacts.model_validate(reply.record()), {}, {}, Controls())
    seen = Read(bytes(render_page("turn.html", "", turn=shown).body).decode()).texts
    own = Words(*FACTS, asked, answer, "live", *get_args(Flag), *map(words.describe_flag, get_args(Flag)))
    return [line for line in lines if "rich.table" not in line], seen, own


SKY = "Why is the sky blue on clear days?"


@pytest.mark.parametrize(
    ("answer", "asked", "told"),
    [
        *((answer, ASKED[0], FACTS) for answer in (*ANSWERS, "I don't know.")),
        (ANSWERS[-1], SKY, FACTS),
        ("No.", SKY, ()),
    ],
)
async def test_what_is_shown_to_who_asks_why_is_in_the_register(answer: str, asked: str, told: Sequence[str]) -> None:
    terminal, seen, own = await asked_why(answer, asked, told)
    assert terminal
    assert not unlabelled(terminal, own)
    assert len(seen) > 10
    assert not unlabelled(seen, own)


async def test_a_new_sentence_on_the_page_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns.ShownTurn, "came_to", property(lambda _: "you seem to like Porto a lot"))
    _, seen, own = await asked_why(ANSWERS[0], ASKED[0])
    assert unlabelled(seen, own) == ["You seem to like Porto a lot."]


def test_each_verdict_of_a_turn_has_its_words_in_the_register() -> None:
    assert set(register.claim_keys("why.memory")) == {f"kind.{kind}" for kind in VERDICTS}


@pytest.mark.parametrize("name", [name for name in TITLES if name != PhaseName.FILE])
def test_what_a_phase_of_a_night_says_needs_an_entry(name: PhaseName, monkeypatch: pytest.MonkeyPatch) -> None:
    said = PhaseReport(name=name, state="done", found={"says": ["Something."]})
    report = SleepReport(user="ana", date="night", phases=(said,))
    assert describe_report(report).changes == (NightChange("Something."),)
    without = {key: one for key, one in REGISTER.items() if key != f"night.{name}"}
    monkeypatch.setattr(register, "REGISTER", without)
    with pytest.raises(LookupError, match="entry"):
        describe_report(report)


def test_each_sense_is_in_the_register_and_none_speaks_that_its_register_has_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {name.removeprefix(SENSE) for name in REGISTER if name.startswith(SENSE)} == EVERY
    monkeypatch.setenv("INSULA_HOLDOUT", "0")
    assert any("failed" in text for text in failing(tmp_path / "one"))
    monkeypatch.setattr("insula.coding.step.senses.register.DEFAULT", senses.DEFAULT - {"nociception"})
    assert not any(failing(tmp_path / "two"))


def failing(home: Path) -> list[str]:
    """What the hook says beside a build that fails alike again and again."""
    home.mkdir()
    said: list[str] = []
    for number in range(5):
        payload = {
            "session_id": "s",
            "cwd": str(home),
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_use_id": f"use {number}",
            "tool_input": {"command": "make build"},
            "error": "Exit code 2\nmake: *** [build] Error 2",
        }
        said.append(respond(str(home), "claude-code", payload, 1_000.0 + 60 * number))
    return said


def test_docs_claims_is_made_of_the_register() -> None:
    assert make_page(["--check"]) == 0, "run: python tools/claims.py"
