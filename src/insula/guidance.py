"""The life of what was learned: a rule, a lesson or a guideline; evidence in, confidence, effect and state out.

    proposed ──► active ──► retired      by evidence
    accepted                             by a person: active at once, and retired by evidence all the same
    pinned, muted                        by a person, and undone by one

A session says something about guidance only where it had its *opportunity* to fail. What it says depends on whether
the guidance was told in it, and on whether the failure happened all the same:

    |            | told ("shown") | not told ("withheld", "none") |
    |------------|----------------|-------------------------------|
    | happened   | breach         | detection                     |
    | did not    | suppression    | absence                       |

Detections say that the guidance is needed and suppressions that it is kept, so both raise confidence; silence, which is
what a good rule causes, never lowers it (the seesaw of seed 002). What guidance *does* is another question, and only
sessions in which it was withheld by lot answer it: the effect is the rate of failure withheld less that shown.
"""

import math

from insula.value import Value
from insula.worth import UNKNOWN, USELESS, WORKS, WORTHWHILE, Worth, compare_outcomes, make_rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = "shown"
WITHHELD = "withheld"
NONE = "none"
ARMS = (SHOWN, WITHHELD, NONE)

PROPOSED = "proposed"
HEARD = "said once"
"""Of what a user said: not again so far, and so no rule."""
ACTIVE = "active"
RETIRED = "retired"
PINNED = "pinned"
MUTED = "muted"
ACCEPTED = "accepted"
"""Not a state but what a person said: as if it had been corroborated."""
PRUNED = "pruned"
"""Long silent with next to no evidence: as if it had never been proposed."""

DAY = 86_400.0
START = 0.4
"""Confidence of guidance without evidence (seed 002, its code)."""
CAP = 0.95
"""Confidence that is never exceeded (seed 002, its code)."""
STRENGTH = 5.0
"""Sessions that the start counts for; two detections then give 0.57, and 0.56 in the code of seed 002."""
DORMANT = 60 * DAY
"""Without evidence for so long, confidence begins to decay, and halves each time as long again (seed 002)."""
FORGOTTEN = 120 * DAY
"""Without evidence for so long, guidance with fewer than `FEW` records is pruned (seed 002)."""
FEW = 3
CORROBORATED = 2
"""Sessions (or projects) in which a failure must be seen before anything is told about it (R9)."""
MINIMUM = 30
"""Opportunities per arm before an effect is spoken of (P4)."""
FUTILE = 0.05
"""Guidance is retired where an effect worth while is less likely than this (P4)."""
VAIN = 0.97
"""Posterior probability that guidance is broken in more than half of the sessions that are told it, from which on it is
told no longer: five of five, seven of eight."""


class Evidence(Value):
    """What one session, in which a failure had its opportunity, says about one piece of guidance."""

    session: str
    at: float
    """When the session was last active, in seconds since the epoch."""
    arm: str
    """`shown`, `withheld` by lot, or `none`: not told for any other reason."""
    happened: bool
    project: str = ""

    @property
    def kind(self) -> str:
        """`detection`, `suppression`, `breach` or `absence`."""
        if self.arm == SHOWN:
            return "breach" if self.happened else "suppression"
        return "detection" if self.happened else "absence"


class EvidenceTally(Value):
    """What all sessions say together; each counts once."""

    detections: int = 0
    suppressions: int = 0
    breaches: int = 0
    absences: int = 0
    withheld: int = 0
    """Of the detections and absences, those where the guidance was withheld by lot."""
    withheld_failed: int = 0
    places: int = 0
    """Projects with a detection."""
    last: float = 0.0
    """When there was evidence last; zero for never."""
    alive: float = 0.0
    """The same without breaches: they are no sign of life. The first breach where there is nothing else."""

    @property
    def shown_count(self) -> int:
        """Sessions with opportunity in which it was told."""
        return self.suppressions + self.breaches

    @property
    def records(self) -> int:
        """Sessions with opportunity."""
        return self.shown_count + self.detections + self.absences

    @property
    def smaller_arm(self) -> int:
        """Opportunities in the smaller arm of the comparison."""
        return min(self.shown_count, self.withheld)


class Life(Value):
    """Where a piece of guidance stands."""

    state: str
    confidence: float
    tally: EvidenceTally

    @property
    def effect(self) -> Worth | None:
        """How much less often the failure happens where it is told, by an interval that holds however often somebody
        looks; None where an arm has fewer than `MINIMUM` opportunities. Computed when asked for.
        """
        return compare_arms(self.tally) if self.tally.smaller_arm >= MINIMUM else None

    @property
    def verdict(self) -> str:
        """What is said of its effect; that it was given up as useless is no claim but a decision."""
        if (effect := self.effect) is None:
            return UNKNOWN
        is_given_up = self.state == RETIRED and effect.verdict == UNKNOWN and not is_in_vain(self.tally)
        return USELESS if is_given_up else effect.verdict

    @property
    def reason(self) -> str:
        """Why it was retired, where the verdict on its effect does not say it."""
        if self.state != RETIRED or not is_in_vain(self.tally):
            return ""
        return f"broken in {self.tally.breaches} of the {self.tally.shown_count} sessions with it"

    @property
    def is_told(self) -> bool:
        """Whether it is told at the start of a session, but for the lot."""
        return self.state in (ACTIVE, PINNED)

    @property
    def rank(self) -> float:
        """What goes first where there is no room for all: confidence times evidence (seed 002, its code)."""
        return self.confidence * self.tally.records


def assess_guidance(evidence: "Iterable[Evidence]", now: float, *, mode: str = "", widely: bool = False) -> Life:
    """Where guidance stands, given its evidence.

    Args:
        evidence: in any order; of two records of one session the earlier counts.
        mode: `pinned`, `muted` or `accepted` where a person said so.
        widely: whether it is to be told in every project, and so must have been seen in two of them.
    """
    counts = tally_evidence(evidence)
    state = mode if mode in (PINNED, MUTED) else _decide_state(counts, now, widely)
    if mode == ACCEPTED and state in (PROPOSED, PRUNED):
        state = ACTIVE
    return Life(state=state, confidence=compute_confidence(counts, now), tally=counts)


def _decide_state(counts: EvidenceTally, now: float, widely: bool) -> str:
    if counts.smaller_arm >= MINIMUM and _chance_worthwhile(counts) < FUTILE:
        return RETIRED
    if is_in_vain(counts):
        return RETIRED
    if counts.records < FEW and _measure_idle(counts, now) >= FORGOTTEN:
        return PRUNED
    seen = counts.places if widely else counts.detections
    return ACTIVE if seen >= CORROBORATED else PROPOSED


def is_in_vain(counts: EvidenceTally) -> bool:
    """Whether guidance is told and broken again and again, and no comparison shows that it works all the same."""
    told, broken = counts.shown_count, counts.breaches
    if 2 * broken <= told:
        return False
    surely = sum(math.comb(told + 1, some) for some in range(broken + 1)) >= VAIN * 2 ** (told + 1)  # under Beta(1, 1)
    return surely and not (counts.smaller_arm >= MINIMUM and compare_arms(counts).verdict == WORKS)


def tally_evidence(evidence: "Iterable[Evidence]") -> EvidenceTally:
    """Count each session once."""
    sessions: dict[str, Evidence] = {}
    for item in evidence:
        other = sessions.setdefault(item.session, item)
        if other is not item and _order_key(item) < _order_key(other):
            sessions[item.session] = item
    return _count_outcomes(list(sessions.values()))


def _order_key(item: Evidence) -> "tuple[float, str, bool, str]":
    return item.at, item.arm, item.happened, item.project


def _count_outcomes(items: "list[Evidence]") -> EvidenceTally:
    if not items:
        return EvidenceTally()
    happened = [item for item in items if item.happened]
    shown = sum(item.arm == SHOWN for item in items)
    detected = [item for item in happened if item.arm != SHOWN]
    breaches = len(happened) - len(detected)
    living = [item.at for item in items if item.arm != SHOWN or not item.happened]
    return EvidenceTally(
        detections=len(detected),
        suppressions=shown - breaches,
        breaches=breaches,
        absences=len(items) - shown - len(detected),
        withheld=sum(item.arm == WITHHELD for item in items),
        withheld_failed=sum(item.arm == WITHHELD for item in detected),
        places=len({item.project for item in detected}),
        last=max(item.at for item in items),
        alive=max(living) if living else min(item.at for item in items),
    )


def compute_confidence(counts: EvidenceTally, now: float) -> float:
    """How far to trust that guidance is needed and kept, in (0, `CAP`]: a Beta-like mean, less what dormancy took.

    Another detection or suppression never lowers it, and a breach never raises it. Time alone lowers it only after
    `DORMANT` without a session that had the opportunity.
    """
    good = counts.detections + counts.suppressions
    mean = (START * STRENGTH + good) / (STRENGTH + good + counts.breaches)
    dormant = max(0.0, _measure_idle(counts, now) - DORMANT)
    return min(CAP, mean) * 0.5 ** (dormant / DORMANT)


def _measure_idle(counts: EvidenceTally, now: float) -> float:
    return now - counts.alive if counts.records else 0.0


# --- what a person decided ---------------------------------------------------------------------------------------

EVERYWHERE = "global"
"""The scope of what holds in every project; any other scope is a project."""
_MODES = {"pin": PINNED, "unpin": "", "mute": MUTED, "unmute": "", "accept": ACCEPTED}


class GuidanceDecision(Value):
    """What a person decided about one piece of guidance. Decisions are only ever added, so that each can be undone."""

    do: str
    """`mute`, `unmute`, `pin`, `unpin`, `accept`, `forget` or `import`."""
    rule: str
    scope: str
    at: float
    advice: str = ""
    pattern: str = ""
    source: str = ""


def find_mode(decisions: "Iterable[GuidanceDecision]", project: str) -> str:
    """`pinned`, `muted`, `accepted` or nothing: the last word on it, that on the project before that on all."""
    said: dict[str, str | None] = {}
    for decision in decisions:
        if decision.do in _MODES:
            said[decision.scope] = _MODES[decision.do]
        elif decision.do == "forget":
            said[decision.scope] = None
    here, everywhere = said.get(project), said.get(EVERYWHERE)
    return (everywhere or "") if here is None else here


def list_remembered(evidence: "Iterable[Evidence]", decisions: "Iterable[GuidanceDecision]") -> list[Evidence]:
    """The evidence that nobody had forgotten: what is older than that word, in its scope, does not count."""
    since: dict[str, float] = {}
    for decision in decisions:
        if decision.do == "forget":
            since[decision.scope] = max(decision.at, since.get(decision.scope, 0.0))
    if not since:
        return list(evidence)
    whole = since.get(EVERYWHERE, 0.0)
    return [item for item in evidence if item.at > max(whole, since.get(item.project, 0.0))]


# --- effect ------------------------------------------------------------------------------------------------------


def compare_arms(counts: EvidenceTally) -> Worth:
    """How much less often guidance is broken where it is told."""
    return compare_outcomes(
        make_rate(counts.breaches, counts.shown_count), make_rate(counts.withheld_failed, counts.withheld)
    )


def _chance_worthwhile(counts: EvidenceTally) -> float:
    """The posterior probability of an effect worth while, under uniform priors and a normal approximation.

    It decides what is told no longer, for which nobody has to be as sure as for a claim.
    """
    withheld, spread = _compute_posterior(counts.withheld_failed, counts.withheld)
    shown, other = _compute_posterior(counts.breaches, counts.shown_count)
    return 0.5 * math.erfc((WORTHWHILE - (withheld - shown)) / math.sqrt(2 * (spread + other)))


def _compute_posterior(failed: int, total: int) -> "tuple[float, float]":
    """Mean and variance of a rate under Beta(1, 1)."""
    mean = (failed + 1) / (total + 2)
    return mean, mean * (1 - mean) / (total + 3)
