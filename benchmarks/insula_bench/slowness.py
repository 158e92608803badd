"""`insula bench slowness`: real conversations with a model that slows down, each as one long session.

The model takes a second, and a fiftieth of one for each token, times a chance that spreads as that of hosted models
does; each turn takes a minute besides. It is as usual, then three times as slow, then six times, then as usual again.
What the levers saved is read from the records that users see, and beside it stands how often a model that is never
slow is called slow by chance, and what is still found of what was told where the model is slow in each turn.
"""

import asyncio
import json as jsonlib
import random
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from insula import assess
from insula.agent.chat import Chat
from insula.llm.budget import Account
from insula.memory.retrieval.embedding import embed_text, resolve_embedding
from insula.metacognition import Metacognition, Regulator
from insula.session.conditions import ANSWER, Condition, Conditions, Observation, Pace
from insula.session.regulator import TurnAllowance, regulate_controls
from insula.session.snapshot import Adaptation, Lever, Saved, Snapshot
from insula.testing import Request, ScriptedModel, memory_store
from insula.types import Assessment, Controls, Identity
from insula_bench import conversations, locomo, talks
from insula_bench.session import MINUTE, exchanges

USER, SESSION = "user", "all of it"
FIXED, PER_TOKEN, TOKEN_CHARS = 1.0, 0.02, 4
SPREAD = 0.3
"""Standard deviation of the logarithm of the model's times."""
SPREADS = 0.3, 0.5, 0.7
CALM, STRETCH = 40, 20
"""Turns as usual, and turns at each slowness."""
SLOWER = 3.0, 6.0
CHANCE_TURNS, CHANCE_RUNS = 1_000, 20
_SLOW = Condition(active=True)
DEGREES = {
    "as usual": Conditions(),
    "degraded": Conditions(degraded=_SLOW),
    "severely degraded": Conditions(degraded=_SLOW, severe=_SLOW),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One turn, as it reached the model."""

    slower: float
    """How many times slower than usual the model was."""
    memories: int
    """Lines before it."""
    history_chars: int
    controls: Controls
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """How a conversation went."""

    name: str
    turns: Sequence[Answered]
    saved: dict[Lever, Saved]
    """By lever, over all turns, as their advisories had it."""
    adaptations: Sequence[Adaptation]
    snapshots: Sequence[Snapshot]
    advised: int
    """Turns with an advisory."""
    told: int
    """Requests in which the model read of any of it."""

    @property
    def noticed(self) -> int | None:
        """Turns with a slow model until it was noticed; None where it was not."""
        slow = [turn.controls.history_share < 1 for turn in self.turns if turn.slower > 1]
        return slow.index(True) if True in slow else None

    @property
    def early(self) -> int:
        """Turns before it slowed down in which it was taken for slow."""
        first = next((place for place, turn in enumerate(self.turns) if turn.slower > 1), len(self.turns))
        return sum(turn.controls.history_share < 1 for turn in self.turns[:first])

    @property
    def late(self) -> int:
        """Turns in which it was still taken for slow, though it was as usual again."""
        last = max((place for place, turn in enumerate(self.turns) if turn.slower > 1), default=len(self.turns))
        return sum(turn.controls.history_share < 1 for turn in self.turns[last + 1 :])


class Forced(Regulator):
    """A regulator by which a model is as slow in each turn."""

    def __init__(self, conditions: Conditions) -> None:
        super().__init__()
        self._forced = conditions

    def begin_turn(self, session: Hashable, model: str, at: float) -> TurnAllowance:
        """What the turn may use under the forced conditions."""
        del session, model, at
        return TurnAllowance(regulate_controls(self.settings, self._forced), self._forced, ())


def run(data: str | None, limit: int, json: bool) -> int:
    """Measure and print."""
    found = locomo.read(Path(data) / "locomo" / "locomo.json")[:limit] if data else []
    spoken = [(talk.name, list(exchanges(talk))) for talk in found]
    own = list(chain.from_iterable(map(exchanges, talks.with_assistant())))
    report = [asyncio.run(live_through(name, said)) for name, said in [("our own talks", own), *spoken]]
    chances = {spread: count_by_chance(spread) for spread in SPREADS}
    known = {degree: asyncio.run(find_known(conditions)) for degree, conditions in DEGREES.items()}
    if json:
        print(
            jsonlib.dumps(
                {"conversations": [_record(talk) for talk in report], "chance": chances, "known": known}, indent=2
            )
        )
        return 0
    for talk in report:
        slow = sum(turn.slower > 1 for turn in talk.turns)
        print(f"{talk.name}: {len(talk.turns)} turns, {slow} with a slow model")
        print(
            f"  noticed after {talk.noticed} slow turns, over {talk.late} turns after its end; "
            f"taken for slow before: {talk.early}"
        )
        print(f"  advisories in {talk.advised} turns; requests that tell the model of it: {talk.told}")
        for lever, saved in talk.saved.items():
            print(f"  {lever:<24} {saved.words}")
    for spread, often in chances.items():
        print(f"by chance, spread {spread}: {often:.2f} stretches called slow in 1,000 turns")
    for degree, row in known.items():
        print(
            f"told and asked, {degree}: {row['right']} of {row['known']} found, "
            f"{row['low']} of {row['unknown']} known not to be told"
        )
    return 0


async def live_through(
    name: str,
    said: Sequence[tuple[str, str]],
    *,
    slower: Sequence[float] = SLOWER,
    calm: int = CALM,
    stretch: int = STRETCH,
    seed: int = 0,
) -> Lived:
    """Live through a conversation in one session.

    Args:
        slower: how many times slower the model becomes, one stretch after the other; none: it never does.
        calm: turns before the first stretch.
    """
    at, times = 1_767_614_400.0, random.Random(seed)
    turns, factors, answers = list[Answered](), list[float](), dict[str, str](said)

    def answer(request: Request) -> str:
        nonlocal at
        text = answers.get(request.prompt.partition("\n\n")[0], "Noted.")
        at += factors[-1] * (FIXED + PER_TOKEN * len(text) / TOKEN_CHARS) * times.lognormvariate(0, SPREAD)
        return text

    async def judge(message: str, response: str, recent: Sequence[str], identity: Identity) -> Assessment:
        return assess(message, response, recent, identity)

    model, total, advised = ScriptedModel(answer), dict[Lever, Saved](), 0
    async with memory_store(lambda: at) as store:
        owner = Metacognition(store, regulator=Regulator(Controls(retry=1)))
        chat = Chat(owner, model, account=Account(clock=lambda: at), assessor=judge)
        for number, (message, _) in enumerate(said):
            place = (number - calm) // stretch
            factors.append(slower[place] if 0 <= place < len(slower) else 1.0)
            at += MINUTE
            asked = len(model.requests)
            reply = await chat.reply(USER, SESSION, message)
            advised += bool(reply.advisories)
            for advisory in reply.advisories:
                total[advisory.lever] = total.get(advisory.lever, Saved()) + advisory.saved
            first = model.requests[asked]
            turns.append(
                Answered(
                    slower=factors[-1],
                    memories=len(reply.shown),
                    history_chars=sum(len(text) for _, text in first.history),
                    controls=reply.controls,
                    skipped=reply.skipped,
                )
            )
        ring = owner.engine.regulator.ring
    told = sum("metacog" in request.text or "slow lately" in request.text for request in model.requests)
    return Lived(
        name=name,
        turns=turns,
        saved=total,
        adaptations=ring.adaptations,
        snapshots=ring.snapshots,
        advised=advised,
        told=told,
    )


async def find_known(conditions: Conditions) -> dict[str, int]:
    """What is found of what was told, and what was not told, where conditions are such in each turn."""
    asked = conversations.read(None, held=True)
    return conversations.figures(
        await conversations.asked(asked, resolve_embedding(embed_text), lambda: Forced(conditions))
    )


def count_by_chance(spread: float) -> float:
    """How often in 1,000 turns a stretch begins in which a model that is never slow is called slow."""
    begun = sum(_count_stretches(seed, spread) for seed in range(CHANCE_RUNS))
    return round(1_000 * begun / (CHANCE_RUNS * CHANCE_TURNS), 2)


def _count_stretches(seed: int, spread: float) -> int:
    times = random.Random(seed)
    pace, conditions, at, begun = Pace(), Conditions(), 0.0, 0
    for _ in range(CHANCE_TURNS):
        at += MINUTE
        tokens = max(1, round(times.lognormvariate(4.5, 1.0)))
        seconds = (FIXED + PER_TOKEN * tokens) * times.lognormvariate(0, spread)
        pace = pace.observe_answer(Observation(at, ANSWER, seconds, tokens))
        after = conditions.observe_turn(at, pace.measure_slowdown(at), None)
        begun += after.degraded.active and not conditions.degraded.active
        conditions = after
    return begun


def _record(talk: Lived) -> dict[str, object]:
    return {
        "name": talk.name,
        "turns": [asdict(turn) for turn in talk.turns],
        "noticed": talk.noticed,
        "early": talk.early,
        "late": talk.late,
        "advised": talk.advised,
        "told": talk.told,
        "saved": {lever: saved.model_dump() for lever, saved in talk.saved.items()},
        "adaptations": [made.model_dump(mode="json") for made in talk.adaptations],
    }
