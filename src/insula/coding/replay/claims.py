"""The register of claims with this machine's own rates: what was said here, and how often it was wrong."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from insula.claims import PER, REGISTER, SENSE, Claim
from insula.coding.hosts import places, switch
from insula.coding.replay.worth import HookWorth, measure_lately
from insula.memory.storage.store import Store
from insula.metacognition.effects import KINDS, ClaimCount, count_claims
from insula.stats import wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEntry:
    """A claim of the register, as it stands for one person."""

    claim: Claim
    on: bool
    yours: ClaimCount | None
    """None where nothing is recorded of it: it is said to who asks alone."""

    @property
    def your_rate(self) -> float | None:
        """How often it was made to the user per 1,000 messages or calls."""
        return PER * self.yours.made / self.yours.of if self.yours and self.yours.of else None

    @property
    def precision(self) -> tuple[float, float, float] | None:
        """In which share of judged cases it was right, with the 95 % interval; None where none was judged."""
        if (measured := self.claim.measured) is None or not measured.of:
            return None
        return measured.right / measured.of, *wilson(measured.right, measured.of)

    def to_json(self) -> dict[str, object]:
        """Every figure."""
        measured, yours, right = self.claim.measured, self.yours, self.precision
        return {
            "id": self.claim.id,
            "asserts": self.claim.asserts,
            "place": self.claim.place,
            "words": self.claim.words,
            "on": self.on,
            "why": self.claim.kept or None,
            "yours": {**yours._asdict(), "per_1000": _round_rate(self.your_rate)} if yours else None,
            "measured": {
                "per_1000": measured.per_1000,
                "wrong_per_1000": measured.wrong_per_1000,
                "right": measured.right,
                "of": measured.of,
                "precision": _round_rate(right[0], 3) if right else None,
                "interval": [_round_rate(right[1], 3), _round_rate(right[2], 3)] if right else None,
                "command": measured.command,
                "day": measured.day,
            }
            if measured
            else None,
        }


def _round_rate(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


async def read_register(store: Store, user: str, claims: frozenset[str], home: str | None) -> list[ClaimEntry]:
    """The whole register, with how often each claim was made to a user.

    Args:
        store: where their turns are on record.
        claims: those that may be made in a turn.
        home: the folder of hook state; None where the coding agents are not the user's.
    """
    user_id = await store.nights.find_user_id(user)
    noticed = await store.nights.list_signals(user_id, KINDS, 0.0) if user_id is not None else []
    hooks = await asyncio.to_thread(measure_lately, home) if home is not None else None
    return list_entries(claims, count_claims(noticed), hooks)


def list_entries(claims: frozenset[str], talk: Mapping[str, ClaimCount], hooks: HookWorth | None) -> list[ClaimEntry]:
    """The whole register, in its order.

    Args:
        claims: those that may be made in a turn.
        talk: how often each was made in the user's turns.
        hooks: what the hooks of coding agents said; None where they have seen no session.
    """
    senses = switch.list_senses(places.find_home())
    return [
        ClaimEntry(claim=claim, on=sense in senses, yours=_count_sense(sense, hooks) if hooks else None)
        if (sense := claim.id.partition(SENSE)[2])
        else ClaimEntry(claim=claim, on=claim.id in claims, yours=talk.get(claim.id))
        for claim in REGISTER.values()
    ]


def _count_sense(name: str, hooks: HookWorth) -> ClaimCount:
    told = [trouble for trouble in hooks.told_troubles if trouble.sense == name]
    wrong = sum(trouble.texts for trouble in told if trouble.wrong)
    return ClaimCount(sum(trouble.texts for trouble in told), hooks.calls, wrong)
