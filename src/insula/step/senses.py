"""The senses: each looks at the last actions and at what the window cannot hold, and tells what it feels, or nothing.

Five of them, after every call (seed 002). Nociception and vestibular climb the ladder; the others only inform.
"""

from insula.step.action import BRIEF, EDIT, EXECUTE, OTHER, READ, Action
from insula.step.fingerprint import similar
from insula.value import Value

Window = tuple[Action, ...]

NOCICEPTION = "nociception"
VESTIBULAR = "vestibular"
O2 = "o2"
CHRONOS = "chronos"
SPATIAL = "spatial"
CLIMBING = frozenset((NOCICEPTION, VESTIBULAR))
"""The senses whose readings mean that the agent is stuck."""

BASELINE_CALLS = 10
"""Calls that make the baseline of the token velocity (seed 002)."""
VELOCITY = 3.0
"""Token velocity over the baseline that is worth a word (seed 002)."""
RECENT_CALLS = 3
CHARS_PER_TOKEN = 4
"""The usual estimate for English and code, where the host counts no tokens."""
LEAST_TOKENS = 10_000
"""Tokens per call below which no velocity matters: a twentieth of a usual context."""
O2_REST = 25
"""Calls between two words about the velocity."""

STEPS = 25
MINUTES = 15
"""Calls and minutes since the user's last message from which Chronos speaks (seed 002); each time at the double."""

EQUAL_ERRORS = 2
ALIKE_ERRORS = 3
"""Errors in a row that are felt: two with the same words, three of the same kind."""
ANY_ERRORS = 4
"""Errors in a row, each of another kind, that are felt."""
SEVERE_ERRORS = 4
"""Similar errors in a row that call for more than awareness (seed 002)."""
BRIDGE = 4
"""Steps between two equal errors of the same call that do not end the row: they changed nothing."""
REPEATS = 3
SEVERE_REPEATS = 5
"""The same call with the same result, the same result of other calls, the same unchanged file."""
POLL_SECONDS = 5.0
SLOWER = 1.5
"""A call repeated after five seconds, and after longer than the agent's other calls, may be waiting for something."""
SLOW_REPEATS = 8
"""... but not for ever."""
PERIODS = (2, 3, 4)
ROUNDS = 2
SEVERE_ROUNDS = 4
WIDE = 5
"""Importers from which a changed file has a blast radius (seed 002)."""


class Carry(Value):
    """What the window cannot hold."""

    calls: int = 0
    first_tokens: int = 0
    """Tokens of the first ten calls."""
    o2_at: int = -O2_REST
    """Call at which the velocity was last spoken of."""
    user_at: float = 0.0
    """When the user last spoke; 0 where nobody did."""
    steps: int = 0
    """Calls since then."""
    edits: int = 0
    """Files changed since then."""
    level: int = 0
    """How often Chronos has spoken since then."""


class Reading(Value):
    """What a sense feels."""

    sense: str
    count: int
    """Errors, repeats, rounds, calls, importers: what the sense counts."""
    severe: bool = False
    form: str = ""
    """Which of the things that a sense tells apart."""
    ratio: float = 0.0
    """Of O2: recent tokens per call over the baseline."""
    full: float = 0.0
    """Of O2: share of the context that is used; 0 unknown."""
    minutes: int = 0
    """Of Chronos: minutes since the user's last message."""


def nociception(window: Window) -> Reading | None:
    """Consecutive similar errors, or the very same one again after other steps, or nothing but errors."""
    if not window or window[-1].ok:
        return None
    row = errors_in_a_row(window)
    adjacent = row == list(window[: -len(row) - 1 : -1])
    equal = adjacent and len(row) > 1 and row[1].result == row[0].result
    if len(row) >= (EQUAL_ERRORS if equal else ALIKE_ERRORS):
        form = "" if adjacent else "again"
        return Reading(sense=NOCICEPTION, count=len(row), severe=len(row) >= SEVERE_ERRORS, form=form)
    failing = next((count for count, action in enumerate(reversed(window)) if action.ok), len(window))
    return Reading(sense=NOCICEPTION, count=failing, form="mixed") if failing >= ANY_ERRORS else None


def errors_in_a_row(window: Window) -> list[Action]:
    """The trailing similar errors, newest first; across steps that went well, only the same call with the same words.

    A fix that changes nothing, a look, a test that fails as before: that is a row, though other things succeed in it.
    """
    row, between = [window[-1]], 0
    for action in reversed(window[:-1]):
        if action.ok:
            if action.call == row[-1].call or between == BRIDGE:  # it went well once, or long ago
                break
            between += 1
        elif _alike(action, row[-1]) if between == 0 else _same(action, row[-1]):
            row.append(action)
            between = 0
        elif between == 0:
            break
        else:
            between += 1
    return row


def _same(one: Action, other: Action) -> bool:
    return (one.call, one.result) == (other.call, other.result)


def _alike(one: Action, other: Action) -> bool:
    return similar(one.error, other.error) if one.error and other.error else one.call == other.call


def _blind(action: Action) -> bool:
    """Whether nothing is known of what came of it: keys pressed in a browser, a picture."""
    return action.kind == OTHER and action.result[:1] in {"", BRIEF}


def vestibular(window: Window) -> Reading | None:
    """The agent moves and gets nowhere: the same again, a cycle, the same result by other ways, the same file again."""
    if not window or window[-1].waits or _blind(window[-1]):
        return None
    return _same_again(window) or _cycle(window) or _same_result(window) or _reread(window)


def _same_again(window: Window) -> Reading | None:
    row = _row(
        window, lambda action, last: (action.call, action.result, action.ok) == (last.call, last.result, last.ok)
    )
    if len(row) < REPEATS or (_waited(window, len(row)) and len(row) < SLOW_REPEATS):
        return None
    return _vestibular("same", len(row))


def _waited(window: Window, count: int) -> bool:
    """Whether the last so many actions are further apart than the others: the agent waits for something."""
    gaps = [later.at - earlier.at for earlier, later in zip(window, window[1:], strict=False)]
    others = sorted(gaps[: len(gaps) - count + 1])
    usual = others[len(others) // 2] if others else 0.0
    return min(gaps[len(gaps) - count + 1 :]) >= max(POLL_SECONDS, SLOWER * usual)


def _same_result(window: Window) -> Reading | None:
    last = window[-1]
    if last.kind != EXECUTE or last.result[:1] in {"", BRIEF}:
        return None
    row = _row(window, lambda action, last: action.kind == last.kind and action.result == last.result)
    others = len({action.call for action in row}) > 1  # the same call again may be waiting: that is told above
    return _vestibular("result", len(row)) if len(row) >= REPEATS and others else None


def _row(window: Window, same: "Callable[[Action, Action], bool]") -> list[Action]:
    row: list[Action] = []
    for action in reversed(window):
        if not same(action, window[-1]):
            break
        row.append(action)
    return row


def _cycle(window: Window) -> Reading | None:
    for period in PERIODS:
        if len({action.call for action in window[-period:]}) == 1:
            continue  # the same call again, which is told above
        rounds = 1
        while _round(window, period, rounds) == _round(window, period, 0):
            rounds += 1
        if rounds >= ROUNDS and not any(action.waits or _blind(action) for action in window[-period:]):
            return Reading(sense=VESTIBULAR, count=rounds, severe=rounds >= SEVERE_ROUNDS, form=f"cycle of {period}")
    return None


def _round(window: Window, period: int, back: int) -> list[tuple[str, str]] | None:
    end = len(window) - period * back
    part = window[max(0, end - period) : end]
    if len(part) < period:
        return [] if back == 0 else None
    return [(action.call, action.result) for action in part]


def _reread(window: Window) -> Reading | None:
    last = window[-1]
    if last.kind != READ or not last.ok or not last.result:
        return None
    reads = 1
    for action in reversed(window[:-1]):
        if action.kind == EDIT and action.ok and action.target == last.target:
            break
        reads += (action.call, action.result) == (last.call, last.result)
    return _vestibular("reread", reads) if reads >= REPEATS else None


def _vestibular(form: str, count: int) -> Reading:
    return Reading(sense=VESTIBULAR, count=count, severe=count >= SEVERE_REPEATS, form=form)


def o2(window: Window, carry: Carry) -> Reading | None:
    """The last calls take many times the tokens that the first ones took."""
    if carry.calls < BASELINE_CALLS + RECENT_CALLS or carry.calls - carry.o2_at < O2_REST:
        return None
    if len(window) < RECENT_CALLS:  # the context has just been compacted
        return None
    recent = sum(tokens(window[: len(window) - back]) for back in range(RECENT_CALLS)) / RECENT_CALLS
    ratio = recent / max(1.0, carry.first_tokens / BASELINE_CALLS)
    if ratio < VELOCITY or recent < LEAST_TOKENS:
        return None
    last = window[-1]
    return Reading(
        sense=O2,
        count=round(recent),
        ratio=ratio,
        full=last.context / last.context_window if last.context_window else 0.0,
    )


def tokens(window: Window) -> int:
    """About how many tokens the last action brought: by how much the context grew, else by its characters."""
    last, before = window[-1], window[-2] if len(window) > 1 else None
    if before is not None and last.context > before.context > 0:
        return last.context - before.context
    return last.chars // CHARS_PER_TOKEN


def chronos(carry: Carry, now: float) -> Reading | None:
    """It is long since the user spoke: 15 minutes or 25 calls, then twice that, and so on; once each.

    While the work shows (a file was changed since), both must be past: by either alone, every hundred calls of healthy
    sessions bring two texts (docs/benchmarks/stuck.md).
    """
    if not carry.user_at or level(carry, now) <= carry.level:
        return None
    return Reading(sense=CHRONOS, count=carry.steps, minutes=int(max(0.0, now - carry.user_at) / 60))


def level(carry: Carry, now: float) -> int:
    """How often Chronos would have spoken by now."""
    steps, minutes = carry.steps / STEPS, max(0.0, now - carry.user_at) / 60 / MINUTES
    return int(min(steps, minutes) if carry.edits else max(steps, minutes)).bit_length()


def spatial(window: Window) -> Reading | None:
    """The file that was changed is imported by many others."""
    importers = window[-1].importers
    return Reading(sense=SPATIAL, count=importers) if importers >= WIDE else None


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
