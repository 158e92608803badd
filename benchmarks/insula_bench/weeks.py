"""`insula bench night --weeks`: what a model makes of ten weeks of talk, and of the guidance that stood before them.

Each week of `weeks.json` was written by hand: guidance that stands, two sessions, and what a good reflection does with
the guidance. Counted are the replies that could be read, those of which every operation was fit (nothing unknown,
ungrounded or opposite), and how many of the wanted operations were asked for.
"""

import asyncio
import json as jsonlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from insula.errors import InsulaError
from insula.llm.local import weights_of
from insula.llm.models import resolve_model
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.changes import LessonChange
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import PhaseName, sleep_cycle
from insula.night.phases.reflection import reflect_on_days
from insula.night.phases.soul import key_of
from insula.night.phases.summaries import summarise_sessions
from insula.settings import load_settings
from insula.testing import memory_store

if TYPE_CHECKING:
    from insula.llm.model import Model

USER = "user"
PHASES = ((PhaseName.SUMMARIES, summarise_sessions), (PhaseName.REFLECTION, reflect_on_days))
"""Summaries are made without the model: what is measured is the reflection."""

Week = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """What came of one week."""

    week: str
    read: bool
    """Whether the reply could be read at all."""
    fit: int
    refused: tuple[str, ...]
    """Why operations were refused."""
    wanted: int
    met: int
    """Of the wanted operations, those that were asked for and fit; to keep is what happens where nothing is asked."""
    why: str = ""

    @property
    def valid(self) -> bool:
        """Whether the reply could be read and none of its operations was refused."""
        return self.read and not self.refused


def run(model: str | None, json: bool) -> int:
    """Measure and print; the exit status is 1 where fewer than nine replies of ten are valid."""
    settings = load_settings()
    report = asyncio.run(_run(model or settings.model, settings.weights))
    share = sum(one.valid for one in report) / len(report)
    if json:
        print(jsonlib.dumps([asdict(one) for one in report], indent=2))
    else:
        for one in report:
            print(f"{one.week:<24} fit {one.fit}, wanted {one.met} of {one.wanted}, {_told(one)}")
        met, wanted = sum(one.met for one in report), sum(one.wanted for one in report)
        print(f"replies with valid operations {share:.0%}; wanted operations met {met} of {wanted}")
    return int(share < 0.9)


def _told(one: Reflected) -> str:
    return one.why or (f"refused: {', '.join(one.refused)}" if one.refused else "nothing refused")


async def _run(name: str, weights: Any) -> list[Reflected]:
    async with resolve_model(name, weights) as model:
        if weights_of(name) is not None:
            await asyncio.sleep(0)  # the embedded model answers in a thread of its own
        return [await reflected(week, model) for week in weeks()]


def weeks() -> list[Week]:
    """The ten weeks."""
    return jsonlib.loads((files("insula_bench") / "weeks.json").read_text("utf-8"))


async def reflected(week: Week, model: "Model") -> Reflected:
    """Live through a week, reflect on it, and say what came of it."""
    async with memory_store() as store:
        names = await _lived(store, week)
        try:
            await sleep_cycle(store, USER, PHASES[:1], date="week", force=True)
            report = await sleep_cycle(store, USER, PHASES, date="week", model=model, embed=embed_text, force=True)
        except InsulaError as error:
            return _unread(week, str(error))
    (done,) = (one for one in report.phases if one.name is PhaseName.REFLECTION)
    if done.state == "failed":
        return _unread(week, done.why)
    return _judged(week, names, done.found)


def _unread(week: Week, why: str) -> Reflected:
    return Reflected(week=week["name"], read=False, fit=0, refused=(), wanted=len(week["wanted"]), met=0, why=why)


async def _lived(store: Store, week: Week) -> list[str]:
    """Say all that was said in a week, with the guidance that stood; returns its ids."""
    owner = Metacognition(store)
    for number, said in enumerate(week["sessions"]):
        for message, answer in zip(said[::2], [*said[1::2], "Noted."], strict=False):
            async with owner.turn(USER, f"day {number + 1}", message) as turn:
                turn.finish(answer)
    place = await store.resolve_place(USER, "day 1")
    stood = [LessonChange(key_of(one["section"], one["text"]), one["text"], (), one["section"], "derived", (1,))
             for one in week["guidance"]]  # fmt: skip
    await store.nights.record_phase(place.user_id, "before", PhaseName.END, {}, stood)
    return [one.key for one in stood]


def _judged(week: Week, names: Sequence[str], found: Mapping[str, Any]) -> Reflected:
    fit = cast("list[dict[str, Any]]", found.get("operations", []))
    done = {(one["do"], frozenset(one["ids"])) for one in fit}
    touched = frozenset[str]().union(*(ids for _, ids in done)) if done else frozenset[str]()
    met = 0
    for one in week["wanted"]:
        ids = frozenset(names[number] for number in one["ids"])
        if one["do"] == "keep":
            met += not ids & touched
        elif one["do"] == "retire":
            met += any(do == "retire" and ids <= those for do, those in done)
        else:
            met += (one["do"], ids) in done
    refused = tuple(one["why"] for one in found.get("refused_operations", ()))
    return Reflected(week=week["name"], read=True, fit=len(fit), refused=refused, wanted=len(week["wanted"]), met=met)
