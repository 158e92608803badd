"""What labelled moments say of our texts, of the rules of others, and of the rules that users' own words found."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from insula.coding.replay.readers import TranscriptCall, UserPrompt
from insula.coding.step.corrections import find_rulings
from insula.coding.step.person import PROMPT
from insula.coding.step.senses.register import DEFAULT
from insula.stats import wilson
from insula_bench.moments import KINDS, Lived, Moment, Told, lives, read
from insula_bench.peers import gemini, hermes, openhands

Figures = dict[str, Any]

BEFORE = 20
"""Calls before an event of the user's in which a text may have announced it; the rules of others begin as early."""
_PEERS: "Mapping[str, Callable[[Sequence[TranscriptCall | UserPrompt]], int | None]]" = {
    "openhands": lambda events: openhands(events).stops,
    "hermes": lambda events: hermes(events).warns,
    "hermes_main": lambda events: hermes(events, main=True).warns,
    "gemini": gemini,
}


class _Met(NamedTuple):
    """A moment with what was told in it."""

    moment: Moment
    lived: Lived
    told: tuple[Told, ...]


def measure(file: str, data: Sequence[str]) -> Figures:
    """All figures of the moments in a file.

    Raises:
        InputError: the file, or a session that it is of, cannot be read.
    """
    moments = read(file)
    by_session, default = lives(moments, data), lives(moments, data, DEFAULT)
    met = [_met(moment, by_session[moment.file, moment.session]) for moment in moments]
    return {
        **_ours(met),
        "by_default": _ours([_met(moment, default[moment.file, moment.session]) for moment in moments]),
        "baselines": {name: _theirs(met, fires) for name, fires in _PEERS.items()},
        **_person(by_session.values()),
        **_taught(met),
    }


def _met(moment: Moment, lived: Lived) -> _Met:
    told = tuple(one for one in lived.told if moment.first <= one.place < moment.over + one.ahead)
    return _Met(moment, lived, told)


# Texts.


def _ours(met: Sequence[_Met]) -> Figures:
    texts = _texts(met)
    right = [stuck for stuck in texts.values() if stuck is not None]
    true = [one for one in met if one.moment.stuck is True]
    found = [one for one in true if one.told]
    healthy = _union(one for one in met if one.moment.stuck is False)
    noise = sum(len(_told_in(one.lived, places)) for one, places in healthy)
    calls = sum(len(places) for _, places in healthy)
    after = [one.told[0].place - one.moment.knowable_at for one in found if one.moment.knowable_at is not None]
    precision, recall = _Share(sum(right), len(right)), _Share(len(found), len(true))
    return {
        "precision_per_text": precision.value,
        "recall": recall.value,
        "median_lead_calls": _median([one.moment.over - one.told[0].place - 1 for one in found]),
        "median_calls_after_knowable": _median(after),
        "texts": len(right),
        "per_1000_healthy": round(1_000 * noise / calls, 2) if calls else None,
        "intervals": {"precision_per_text": precision.interval, "recall": recall.interval},
        "by_kind": {kind: _kind(met, kind) for kind in KINDS if any(one.moment.kind == kind for one in met)},
        "by_sense": _by_sense(met),
        "counts": {
            "moments": len(met),
            "true": len(true),
            "false": sum(one.moment.stuck is False for one in met),
            "unclear": sum(one.moment.stuck is None for one in met),
            "texts_right": sum(right),
            "moments_found": len(found),
            "healthy_calls": calls,
            "healthy_texts": noise,
        },
    }


def _texts(met: Iterable[_Met]) -> dict[tuple[str, str, int], bool | None]:
    """Each text within a labelled moment once, and whether it was right: of several moments a true one decides."""
    found: dict[tuple[str, str, int], bool | None] = {}
    for one in met:
        for told in one.told:
            place = (one.moment.file, one.moment.session, told.place)
            stuck = one.moment.stuck
            known = found.get(place)
            found[place] = True if stuck or known else stuck if known is None else known
    return found


def _by_sense(met: Sequence[_Met]) -> dict[str, Figures]:
    senses = sorted({told.sense for one in met for told in one.told})
    kept = {
        sense: [one._replace(told=tuple(told for told in one.told if told.sense == sense)) for one in met]
        for sense in senses
    }
    judged = {sense: [stuck for stuck in _texts(group).values() if stuck is not None] for sense, group in kept.items()}
    return {sense: {"texts": len(right), "right": sum(right)} for sense, right in judged.items()}


def _kind(met: Iterable[_Met], kind: str) -> Figures:
    group = [one for one in met if one.moment.kind == kind]
    true = [one for one in group if one.moment.stuck is True]
    return {
        "moments": len(group),
        "true": len(true),
        "recall": _Share(sum(bool(one.told) for one in true), len(true)).value,
        "with_text": sum(bool(one.told) for one in group),
    }


def _union(met: Iterable[_Met]) -> list[tuple[_Met, set[int]]]:
    """The places of moments, each session once."""
    found: dict[tuple[str, str], tuple[_Met, set[int]]] = {}
    for one in met:
        key = (one.moment.file, one.moment.session)
        _, places = found.setdefault(key, (one, set()))
        places |= set(range(one.moment.first, one.moment.last + 1))
    return list(found.values())


def _told_in(lived: Lived, places: set[int]) -> list[Told]:
    return [told for told in lived.told if told.place in places]


# The rules of others.


def _theirs(met: Sequence[_Met], fires: "Callable[[Sequence[TranscriptCall | UserPrompt]], int | None]") -> Figures:
    """A rule of others on each moment, with a start of some calls before it."""
    fired = [(one.moment, _fires_in(one, fires)) for one in met if one.moment.stuck is not None]
    right = sum(bool(moment.stuck) for moment, hit in fired if hit)
    return {
        "texts": sum(hit for _, hit in fired),
        "precision_per_text": _Share(right, sum(hit for _, hit in fired)).value,
        "recall": _Share(right, sum(bool(moment.stuck) for moment, _ in fired)).value,
    }


def _fires_in(one: _Met, fires: "Callable[[Sequence[TranscriptCall | UserPrompt]], int | None]") -> bool:
    start, over = one.moment.first - BEFORE, one.moment.over
    events = [(place, event) for place, event in one.lived.events if start <= place < over]
    while (step := fires([event for _, event in events])) is not None:
        place = [place for place, event in events if isinstance(event, TranscriptCall)][step - 1]
        if place >= one.moment.first:
            return True
        events = [(later, event) for later, event in events if later > place]
    return False


# The user.


def _person(lived: Iterable[Lived]) -> Figures:
    """How many of the user's interrupts, rejections and corrections a text had announced."""
    events = announced = 0
    for one in lived:
        for heard in one.heard:
            if heard.kind == PROMPT and not (heard.place and find_rulings(heard.words, PROMPT)):
                continue
            events += 1
            announced += any(heard.place - BEFORE <= told.place < heard.place for told in one.told)
    return {"person": {"events": events, "announced": announced, "share": _Share(announced, events).value}}


def _taught(met: Iterable[_Met]) -> Figures:
    """Of the moments that teach something, those from whose end a rule in the user's words came."""
    pairs: list[Figures] = []
    for one in met:
        if not one.moment.teaches:
            continue
        end = one.moment.last + 1 if one.moment.ended_at is None else one.moment.ended_at
        rules = [asked for asked in one.lived.asked if one.moment.first <= asked.at <= max(one.moment.last, end) + 1]
        rules.sort(key=lambda asked: -abs(asked.at - end))  # the last is nearest to the end
        pairs.append(
            {
                "session": one.moment.session,
                "first": one.moment.first,
                "teaches": one.moment.teaches,
                "rule": rules[-1].words if rules else "",
                "about": rules[-1].about if rules else "",
            }
        )
    return {"taught": _Share(sum(bool(pair["rule"]) for pair in pairs), len(pairs)).value, "taught_pairs": pairs}


class _Share(NamedTuple):
    part: int
    whole: int

    @property
    def value(self) -> float | None:
        return round(self.part / self.whole, 4) if self.whole else None

    @property
    def interval(self) -> list[float]:
        return [round(end, 4) for end in wilson(self.part, self.whole)]


def _median(values: Sequence[int]) -> float | None:
    return statistics.median(values) if values else None
