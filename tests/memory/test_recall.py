"""What a question finds: the activation of a memory, the time that a question names, and the score of what fits."""

import json
import math
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.query import (
    ANY_TIME,
    Cue,
    Statistics,
    build_cue,
    content_weights,
    encode_claims,
    named_time,
    weigh_terms,
)
from insula.memory.retrieval.scoring import (
    DECAY,
    KEPT_USES,
    NO_MATCH,
    Item,
    Scene,
    base_level,
    match_claims,
    retrieval_probability,
    score_item,
    time_fit,
)
from insula.memory.storage.rows import CandidateMemory
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.relative_times import find_date

NOW = 1_800_000_000.0
SCENE = Scene(8.0)
NAMES = ["ana", "lisbon", "moved", "sister", "train", "guitar", "piano", "rome", "school", "cat"]
WORDS = st.lists(st.sampled_from(NAMES), max_size=6)


def asked(text: str) -> Cue:
    return build_cue(analyse_text(text), USER, ASSISTANT)


def item(
    text: str, question: Cue, statistics: Statistics, *, speaker: str = USER, before: str = "", uses: int = 1
) -> Item:
    shares = content_weights(question, statistics)
    analysis = analyse_text(text)
    encoding = encode_claims(analysis, speaker, ASSISTANT)
    around = encode_claims(analyse_text(before), ASSISTANT, speaker).dump_claims()
    row = CandidateMemory(
        id=1,
        session_id=1,
        after_id=None,
        kind=encoding.kind,
        provenance="user",
        speaker=speaker,
        language=analysis.language,
        content=text,
        line=text,
        withheld="",
        claims=encoding.dump_claims(),
        importance=1.0,
        confidence=1.0,
        uses=uses,
        used_at=json.dumps([NOW - 3600]),
        vector=None,
        said_at=NOW - 3600,
        promoted_at=NOW,
        retired_at=None,
        metadata="",
        session="monday",
    )
    said_before = match_claims(question, shares, around) if before else NO_MATCH
    return Item(row, match_claims(question, shares, row.claims), said_before)


@given(WORDS, WORDS, st.floats(-1, 1), st.integers(1, 50))
def test_scores_and_parts_stand_on_one_scale(memory: list[str], question: list[str], cosine: float, uses: int) -> None:
    given_cue, statistics = asked(" ".join(question)), Statistics()
    one = item(" ".join(memory), given_cue, statistics, uses=uses)._replace(cosine=cosine)
    found = score_item(given_cue, weigh_terms(given_cue, statistics), one, SCENE, NOW)
    assert 0.0 <= found.score <= 1.0
    assert all(0.0 <= part <= 1.0 for part in found.parts.values())


@given(WORDS.filter(bool), st.integers(0, 5))
def test_a_memory_that_holds_more_of_the_question_never_scores_less(question: list[str], kept: int) -> None:
    text = " ".join(question)
    given_cue, statistics = asked(text), Statistics()
    shares = weigh_terms(given_cue, statistics)
    whole = item(text, given_cue, statistics)
    held = dict(list(whole.match.frequencies.items())[:kept])
    part = whole._replace(match=whole.match._replace(frequencies=held))
    assert (
        score_item(given_cue, shares, whole, SCENE, NOW).score >= score_item(given_cue, shares, part, SCENE, NOW).score
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_closer_embedding_never_scores_less(one: float, other: float) -> None:
    given_cue, statistics = asked("Where does Ana live?"), Statistics()
    memory = item("My sister Ana moved to Lisbon.", given_cue, statistics)
    low, high = (
        score_item(given_cue, weigh_terms(given_cue, statistics), memory._replace(cosine=cosine), SCENE, NOW).score
        for cosine in sorted((one, other))
    )
    assert high >= low


# activation


HOUR = 3600.0
AGES = st.floats(min_value=60.0, max_value=10_000 * HOUR)


def exact(uses: list[float], now: float) -> float:
    """The definition: ln of the sum of the ages in hours to the power of minus d."""
    return math.log(sum(((now - use) / HOUR) ** -DECAY for use in uses))


@given(st.lists(AGES, min_size=1, max_size=KEPT_USES))
def test_base_level_is_the_definition_while_every_use_is_kept(ages: list[float]) -> None:
    now = 1e9
    uses = sorted(now - age for age in ages)
    assert math.isclose(base_level(uses, len(uses), uses[0], now), exact(uses, now), rel_tol=1e-6, abs_tol=1e-6)


def test_older_uses_in_closed_form_come_close_to_the_definition() -> None:
    now = 1e9
    uses = [now - age * HOUR for age in range(200, 0, -2)]
    approximate = base_level(uses[-KEPT_USES:], len(uses), uses[0], now)
    assert abs(approximate - exact(uses, now)) < 0.1


@given(st.floats(allow_nan=False))
def test_probability_of_retrieval_stays_in_bounds(activation: float) -> None:
    assert 0.0 <= retrieval_probability(activation) <= 1.0


def test_a_clock_that_jumped_back_does_no_harm() -> None:
    assert math.isfinite(base_level([2000.0], 1, 2000.0, 1000.0))


# cue


JULY_3_2023 = 1_688_342_400.0


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What did I do on 3 July 2023?"),
        ("de", "Was war am 3. Juli 2023?"),
        ("es", "¿Qué hice el 3 de julio de 2023?"),
        ("fr", "Qu'ai-je fait le 3 juillet 2023 ?"),
        ("pt", "O que fiz em 3 de julho de 2023?"),
        ("it", "Che cosa ho fatto il 3 luglio 2023?"),
        ("zh", "2023年7月3日我做了什么？"),
        ("ja", "2023年7月3日に何をした？"),
    ],
)
def test_a_date_is_found_in_each_language(language: str, text: str) -> None:
    when = named_time(text, language)
    assert (when.months, when.years) == ({7}, {2023})
    assert 3 in when.days
    assert time_fit(when, JULY_3_2023) == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize("text", ["May I ask you something?", "Who will march with us?", "I may go.", "How are you?"])
def test_other_words_are_no_months(text: str) -> None:
    assert named_time(text, "en") == ANY_TIME


def test_no_time_asked_tells_nothing() -> None:
    assert time_fit(ANY_TIME, JULY_3_2023) == 0.0


# When "last week" was: told on Wednesday 23 August 2023


TOLD = date(2023, 8, 23)

CASES = [
    ("en", "I bought it yesterday.", "22 August 2023"),
    ("en", "We met the day before yesterday.", "21 August 2023"),
    ("en", "I saw them last night, they were great.", "22 August 2023"),
    ("en", "I made a self-portrait last week.", "the week before 23 August 2023"),
    ("en", "The race is next month.", "September 2023"),
    ("en", "We moved here last year.", "2022"),
    ("en", "She called last Friday.", "18 August 2023"),
    ("en", "The wedding is this coming Saturday.", "26 August 2023"),
    ("en", "I quit two weeks ago.", "about 9 August 2023"),
    ("en", "My visa ends in 10 days.", "2 September 2023"),
    ("en", "I started three years ago.", "about 2020"),
    ("es", "Anteayer fui al dentista.", "21 August 2023"),
    ("es", "Hace tres meses dejé de fumar.", "about May 2023"),
    ("es", "El examen es el viernes que viene.", "25 August 2023"),
    ("es", "Nos mudamos la semana pasada.", "the week before 23 August 2023"),
    ("fr", "Je l'ai vu avant-hier.", "21 August 2023"),
    ("fr", "Il y a deux jours, j'ai perdu mes clés.", "21 August 2023"),
    ("fr", "On part dans trois semaines.", "about 13 September 2023"),
    ("fr", "Le rendez-vous est mardi prochain.", "29 August 2023"),
    ("de", "Vorgestern war ich beim Arzt.", "21 August 2023"),
    ("de", "Vor zwei Monaten habe ich gekündigt.", "about June 2023"),
    ("de", "Letzten Sonntag waren wir am See.", "20 August 2023"),
    ("de", "Nächstes Jahr heiraten wir.", "2024"),
    ("pt", "Comprei anteontem.", "21 August 2023"),
    ("pt", "A prova é depois de amanhã.", "25 August 2023"),
    ("pt", "Parei de fumar há cinco meses.", "about March 2023"),
    ("pt", "Foi na sexta passada.", "18 August 2023"),
    ("it", "L'ho visto l'altro ieri.", "21 August 2023"),
    ("it", "Ci siamo trasferiti due anni fa.", "about 2021"),
    ("it", "L'esame è giovedì prossimo.", "24 August 2023"),
    ("zh", "我前天去看了牙医。", "21 August 2023"),
    ("zh", "我们上周三见过面。", "16 August 2023"),
    ("zh", "她下个月结婚。", "September 2023"),
    ("zh", "我三年前搬来这里。", "about 2020"),
    ("zh", "大前天才回来的。", "20 August 2023"),
    ("zh", "我十年前年轻多了。", "about 2013"),
    ("zh", "孩子后年上小学。", "2025"),
    ("ja", "一昨日、歯医者に行きました。", "21 August 2023"),
    ("ja", "来週の金曜日に試験があります。", "1 September 2023"),
    ("ja", "去年引っ越しました。", "2022"),
    ("ja", "一昨年、父が定年になった。", "2021"),
    ("es", "El finde que viene subimos al refugio.", "the weekend after 23 August 2023"),
    ("ja", "3日前に届いた。", "20 August 2023"),
]

LOOK_ALIKES = [
    ("de", "Ich wohne hier."),
    ("en", "I run on Fridays."),
    ("en", "See you next Friday."),
    ("en", "It lasts two weeks."),
    ("en", "I have lived here for three years."),
    ("en", "I can do it in ten minutes."),
    ("de", "Morgens trinke ich Tee."),
    ("de", "Wir treffen uns morgen früh um acht und am Morgen."),
    ("es", "Hace tres meses que vivo aquí."),
    ("es", "Por la mañana corro."),
    ("pt", "De manhã corro."),
    ("it", "La domenica vado a messa."),
    ("zh", "我每周三上课。"),
    ("ja", "日曜日は休みです。"),
    ("fr", "J'habite ici depuis deux ans."),
]
UNSEEN = Path(__file__).parents[1] / "fixtures" / "relative_times_unseen.jsonl"


@pytest.mark.parametrize(("language", "line", "when"), CASES)
def test_a_time_counted_from_the_day_it_was_told_is_dated(language: str, line: str, when: str) -> None:
    found = find_date(line, TOLD, language)
    assert found is not None
    assert found.when == when
    assert found.said in line


@pytest.mark.parametrize(("language", "line"), LOOK_ALIKES)
def test_what_names_no_single_day_or_may_mean_two_is_left_as_it_was_said(language: str, line: str) -> None:
    assert find_date(line, TOLD, language) is None


def test_lines_of_somebody_who_knew_neither_words_nor_rules_are_dated_rightly_or_not_at_all() -> None:
    """Held out when they were first read: 37 of 40 dated, all of them rightly, and none of 24 look-alikes."""
    rows = [json.loads(line) for line in UNSEEN.read_text("utf-8").splitlines()]
    read = [(row["when"], find_date(row["line"], TOLD, row["lang"])) for row in rows]
    assert [(when, found) for when, found in read if found and found.when != when] == []
    assert sum(found is not None for when, found in read if when) >= 39


@given(st.text(max_size=80), st.dates(date(1970, 1, 1), date(2090, 1, 1)), st.sampled_from(sorted(LANGUAGES)))
def test_any_line_of_any_day_is_read(line: str, told: date, language: str) -> None:
    found = find_date(line, told, language)
    assert found is None or found.said in line
