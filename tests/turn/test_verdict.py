"""What a person reads of a turn: each level of confidence with each thing that may come of the response."""

import pytest

from insula.agent.chat import Reply
from insula.cli.render import quiet_line
from insula.server.page.views.turns import Facts
from insula.server.page.views.words import came_to
from insula.turn.monitor import assess
from insula.turn.verdict import KINDS, WORDS, Kind, verdict
from insula.types import Assessment, Confidence, Fault, Flag, Level, Parts, Usage

LINE = "My sister lives in Lyon."
WHOLE = Parts(responsiveness=1.0, completeness=1.0, consistency=1.0, length_ok=True, repetition=False)


def judged(
    *flags: Flag, score: float = 0.9, about: str = "", used: bool = False, modest: bool = False, unclear: bool = False
) -> Assessment:
    faults = tuple(Fault(flag=flag, about=about) for flag in flags if flag != "off_topic")
    return Assessment(
        score=score, flags=flags, parts=WHOLE, unanswered=(), faults=faults, used=used, modest=modest, unclear=unclear
    )


USED = judged(used=True)
PLAIN = judged()
MODEST = judged(modest=True)
UNCLEAR = judged("off_topic", score=0.69, unclear=True)
FAR = judged("off_topic", score=0.5)
DECLINED, DECLINED_LINE = judged("declined", score=0.6), judged("declined", score=0.35, about=LINE)
IGNORED = judged("ignored_memory", score=0.3, about=LINE)
OTHER = judged("other_person", score=0.3, about=LINE)
CLAIMS, BEYOND = judged("unsupported", score=0.6), judged("unsupported", score=0.6, about=LINE)
EMPTY, ECHO = judged("empty", score=0.0), judged("echo", score=0.1)

EACH: list[tuple[Assessment, tuple[Kind, Kind, Kind]]] = [
    (USED, ("used", "used", "used")),
    (PLAIN, ("general", "partly", "held")),
    (MODEST, ("modest", "partly", "held")),
    (UNCLEAR, ("general", "partly", "held")),
    (FAR, ("general", "partly", "held")),
    (DECLINED, ("nothing", "partly", "unused")),
    (DECLINED_LINE, ("unused", "unused", "unused")),
    (IGNORED, ("unused", "unused", "unused")),
    (OTHER, ("mistaken", "mistaken", "mistaken")),
    (CLAIMS, ("claims", "claims", "claims")),
    (BEYOND, ("beyond", "beyond", "beyond")),
    (EMPTY, ("nothing", "partly", "unused")),
    (ECHO, ("nothing", "partly", "unused")),
]
LEVELS: tuple[Level, ...] = ("low", "medium", "high")


def sure(level: Level) -> Confidence:
    return Confidence(score={"low": 0.1, "medium": 0.5, "high": 0.9}[level], level=level, reasons=())


@pytest.mark.parametrize(("judgement", "kinds"), EACH)
def test_each_level_and_outcome_is_said_as_it_is(judgement: Assessment, kinds: tuple[Kind, Kind, Kind]) -> None:
    for level, kind in zip(LEVELS, kinds, strict=True):
        told = verdict(sure(level), judgement, asked=True)
        assert told.kind == kind, (level, judgement.flags)
        assert told.text.startswith(WORDS[kind])
        assert told.tone == ("poor" if judgement.score < 0.5 else told.tone)
        assert told.line == (LINE if LINE in str(judgement.faults) else "")


@pytest.mark.parametrize("level", LEVELS)
def test_no_sentence_contradicts_itself(level: Level) -> None:
    for judgement, _ in EACH:
        for personal in (True, False):
            text = verdict(sure(level), judgement, asked=True, personal=personal).text
            assert not ("nothing stored" in text and (level == "high" and judgement is not CLAIMS)), text
            assert not ("answered from general knowledge" in text and "declines" in text), text
            assert not ("nothing stored" in text and LINE in text), text


@pytest.mark.parametrize("level", LEVELS)
def test_what_was_asked_of_the_world_is_not_called_remembered(level: Level) -> None:
    for judgement in (PLAIN, UNCLEAR, DECLINED, EMPTY):
        assert "remembered" not in verdict(sure(level), judgement, asked=True, personal=False).text


def test_what_is_told_is_no_question() -> None:
    assert verdict(sure("low"), PLAIN, asked=False).kind == "talk"
    assert verdict(sure("low"), None, asked=True).kind == "unchecked"


@pytest.mark.parametrize(
    ("question", "line", "response"),
    [
        ("Which city is my sister in?", "My sister moved to Lyon in May.", "She is in Paris."),
        ("¿En qué ciudad está mi hermana?", "Mi hermana se mudó a Lyon en mayo.", "Tu hermana está en París."),
        ("Dans quelle ville est ma sœur ?", "Ma sœur a déménagé à Lyon en mai.", "Ta sœur est à Paris."),
        ("In welcher Stadt ist meine Schwester?", "Meine Schwester zog im Mai nach Lyon.", "Sie ist in Paris."),
        ("In che città è mia sorella?", "Mia sorella si è trasferita a Lione.", "Tua sorella è a Parigi."),
    ],
)
def test_a_line_that_the_answer_contradicts_at_medium_is_not_called_nothing(
    question: str, line: str, response: str
) -> None:
    told = verdict(sure("medium"), assess(question, response, memory=[line], level="medium"), asked=True)
    assert told.kind in {"beyond", "unused"}
    assert "nothing stored" not in told.text
    assert told.line == line


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_a_sentence_for_each_of_which_the_ledger_kept_the_kind_alone(kind: Kind) -> None:
    assert came_to(kind) == WORDS[kind]


@pytest.mark.parametrize("level", LEVELS)
def test_the_terminal_and_the_page_say_the_same_sentence(level: Level) -> None:
    for judgement, _ in EACH:
        told = verdict(sure(level), judgement, asked=True)
        reply = Reply(
            session="s",
            turn=1,
            message="?",
            response="!",
            confidence=sure(level),
            assessment=judgement,
            hedged=False,
            signals=(),
            recalled=(),
            usage=Usage(),
            model_ms=0,
            added_ms=0,
            verdict=told,
        )
        line = quiet_line(reply).plain
        assert told.text in line
        assert (f"remembered: {LINE}" in line) is bool(told.line)
        shown = Facts.model_validate(reply.record()).verdict
        assert shown is not None
        assert shown.text == told.text
