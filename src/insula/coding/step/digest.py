"""What a session is told when it starts: the rules that earlier sessions taught, in a few lines, or nothing.

Which rules those are, and which of them this session does without for the sake of comparison (the holdout), is written
to the marker of the session before a word is said. Nothing replaces it: a session that is resumed or compacted is told
what it was told before.
"""

import os

from insula import guidance
from insula.coding.step import corrections, evidence, trace
from insula.coding.step.corrections import Wish
from insula.coding.step.digests import hash_text
from insula.coding.step.evidence import MARKER, Marker
from insula.coding.step.patterns import PATTERNS
from insula.coding.step.trace import VERSION
from insula.guidance import (
    ACCEPTED,
    ACTIVE,
    MINIMUM,
    PINNED,
    RETIRED,
    SHOWN,
    WITHHELD,
    Evidence,
    GuidanceDecision,
    Life,
)
from insula.value import Value, dump_json
from insula.worth import WORKS

OPENING = "[insula] Learned in earlier sessions:"
RULES = 3
"""The most rules that are told of what was learned: what is always there is soon not read."""
WISHES = 6
"""The most of what the user asked for again and again."""
PINS = 6
"""The most that a person's own word adds; all together stay below `LIMIT`."""
LIMIT = 2_000
"""Characters of a digest (P6): hosts cut longer ones."""
HOLDOUT = 0.1
"""Share of sessions in which an active rule is withheld (P4)."""
MOST_HOLDOUT = 0.5
VARIABLE = "INSULA_HOLDOUT"
SALT = "salt"
PROJECT = "project"
GLOBAL = "global"


class ProjectRule(Value):
    """What an agent may be told, and where it stands in a project: a maxim, an imported rule, a wish of the user's."""

    id: str
    pattern: str
    """The failure that it is against; empty for a wish of the user's."""
    advice: str
    """What is told; of a wish the user's own words, and whose they are."""
    scope: str
    """`project` or `global`: whose evidence decided."""
    life: Life
    source: str = ""
    """Of an imported rule, the file that it came from."""
    wish: Wish | None = None
    """What the user asked for, and when."""

    @property
    def is_maxim(self) -> bool:
        """Whether it is one of ours, which every model may follow anyway: it stays only where its effect is shown."""
        return self.wish is None and self.id == self.pattern

    @property
    def is_shown_to_work(self) -> bool:
        """Whether a comparison shows its effect."""
        effect = self.life.effect
        return effect is not None and effect.verdict == WORKS

    @property
    def order(self) -> "tuple[bool, bool, bool, float, str]":
        """Pinned before others, the user's before ours, the project's before global ones, then by confidence."""
        return self.life.state != PINNED, self.wish is None, self.scope != PROJECT, -self.life.rank, self.id


def open_session(home: str, session: str, project: str, now: float, share: float, *, goes_on: bool = False) -> str:
    """Score what ended, choose what to tell a session, write it down, and give the text; empty where nothing is active.

    Args:
        session: the host's id of the session, or its key.
        project: hash of its project; empty for none.
        share: of sessions in which a rule is withheld, as `holdout` gives it.
        goes_on: whether its context holds what was said before. One without a marker of its own (a fork of another)
            may then have been told anything: it is told nothing more, and stands in no arm.
    """
    key = trace.make_key(session)
    _score_ended(home, key, now)
    rules = compile_rules(home, project, now)
    folder = trace.get_folder(home, key)
    told = evidence.read_marker(folder) or (Marker() if goes_on else _choose_told(home, folder, rules, share))
    shown = [rule for name in told.shown for rule in rules if rule.id == name and rule.life.state != guidance.MUTED]
    if wishes := [rule.wish.words for rule in shown if rule.wish is not None]:  # what the senses mind
        trace.append_records(folder, {"e": "rules", "at": now, "words": wishes})
    return render_rules(shown)


def _score_ended(home: str, key: str, now: float) -> None:
    try:
        evidence.score_ended(home, key, now)
    except OSError:
        return  # scoring has time; what was learned so far can still be told


def render_rules(rules: list[ProjectRule]) -> str:
    """The rules as a list of at most `LIMIT` characters; empty for none."""
    lines = [OPENING, *(f"- {rule.advice}" for rule in rules)]
    while len("\n".join(lines)) > LIMIT:
        lines.pop()
    return "\n".join(lines) if len(lines) > 1 else ""


# --- which rules -------------------------------------------------------------------------------------------------


def compile_rules(home: str, project: str, now: float) -> list[ProjectRule]:
    """All rules, the user's, ours and imported ones, as they stand in a project; those told first come first."""
    records, decided = evidence.read_evidence(home, project), evidence.read_decisions(home)
    rules = [
        _make_rule(word, records.get(word.rule, []), decided.get(word.rule, []), project, now)
        for word in (*_OURS, *evidence.list_imported(decided).values())
    ]
    wishes = corrections.group_corrections(corrections.read_corrections(home, project))
    rules += [
        _make_wish_rule(wish, records.get(wish.id, []), decided.get(wish.id, []), project, now) for wish in wishes
    ]
    return sorted(rules, key=lambda rule: rule.order)


def _make_wish_rule(
    wish: Wish, records: list[Evidence], decided: list[GuidanceDecision], project: str, now: float
) -> ProjectRule:
    """What the user said is told in their project alone: from the second time on, or once they accept it."""
    mode = guidance.find_mode(decided, project)
    kept = [item for item in guidance.list_remembered(records, decided) if item.project == project]
    life = guidance.assess_guidance(kept, now, mode=mode or (ACCEPTED if wish.is_repeated else ""))
    if life.state == guidance.PROPOSED and not wish.is_repeated:
        life = life.replace(state=guidance.HEARD)
    advice = corrections.phrase_wish(wish.words, wish.about, corrects=wish.corrects)
    return ProjectRule(id=wish.id, pattern="", advice=advice, scope=PROJECT, life=life, wish=wish)


_OURS = [
    GuidanceDecision(do="import", rule=pattern.id, scope=GLOBAL, at=0.0, advice=pattern.advice, pattern=pattern.id)
    for pattern in PATTERNS
]


def _make_rule(
    word: GuidanceDecision, records: list[Evidence], decided: list[GuidanceDecision], project: str, now: float
) -> ProjectRule:
    mode, kept = guidance.find_mode(decided, project), guidance.list_remembered(records, decided)
    here = guidance.assess_guidance([item for item in kept if item.project == project], now, mode=mode)
    everywhere = guidance.assess_guidance(kept, now, mode=mode, widely=True)
    scope = PROJECT if _project_decides(here, everywhere) else GLOBAL
    life = here if scope == PROJECT else everywhere
    return ProjectRule(
        id=word.rule, pattern=word.pattern, advice=word.advice, source=word.source, scope=scope, life=life
    )


def _project_decides(here: Life, everywhere: Life) -> bool:
    """The project goes first, but for a comparison that it has too few sessions for."""
    if everywhere.state == RETIRED and here.tally.smaller_arm < MINIMUM:
        return False
    if everywhere.state == ACTIVE and here.state not in (ACTIVE, RETIRED):
        return False
    return here.tally.records > 0 or everywhere.tally.records == 0


# --- the holdout and the marker ----------------------------------------------------------------------------------


def read_holdout(home: str) -> float:
    """Share of sessions in which a rule is withheld: `INSULA_HOLDOUT`, else `holdout` in hook.json, else a tenth."""
    for value in (os.environ.get(VARIABLE), trace.read_settings(home).get("holdout")):
        share = _parse_share(value)
        if share is not None:
            return share
    return HOLDOUT


def _parse_share(value: object) -> float | None:
    """A number from 0 to 1, with "off" for 0; None for anything else. More than half is taken as half."""
    if value == "off" or value is False:
        return 0.0
    try:
        share = float(value) if isinstance(value, str | int | float) and value is not True else -1.0
    except ValueError:
        return None
    return min(share, MOST_HOLDOUT) if 0.0 <= share <= 1.0 else None


def _choose_told(home: str, folder: str, rules: list[ProjectRule], share: float) -> Marker:
    """Draw what the session is told, and write it down; what cannot be written down is not told."""
    told = choose_rules(rules)
    try:
        salt = read_salt(home) if told and share > 0 else ""
        session = os.path.basename(folder)
        out = {rule.id for rule in told if _is_withheld(rule, session, salt, share)}
        shown = tuple(rule.id for rule in told if rule.id not in out)
        return _write_marker(folder, Marker(shown=shown, withheld=tuple(rule.id for rule in told if rule.id in out)))
    except OSError:
        return Marker()


def choose_rules(rules: list[ProjectRule]) -> list[ProjectRule]:
    """What a session may be told: what a person pinned, what the user asked for, and a little of what was learned."""
    pinned = [rule for rule in rules if rule.life.state == PINNED][:PINS]
    active = [rule for rule in rules if rule.life.is_told and rule.life.state != PINNED]
    wishes = [rule for rule in active if rule.wish is not None][:WISHES]
    learned = [rule for rule in active if rule.wish is None]
    return [*pinned, *wishes, *sorted(learned, key=lambda rule: rule.is_maxim)[:RULES]]


def _is_withheld(rule: ProjectRule, session: str, salt: str, share: float) -> bool:
    """A draw that comes out the same each time; what a person pinned is never withheld.

    A maxim whose effect is not shown is the other way round: it is told in that share of sessions alone, to find out.
    """
    if rule.life.state == PINNED:
        return False
    drawn = is_drawn(salt, f"{session} {rule.id}", share)
    return not drawn if rule.is_maxim and not rule.is_shown_to_work else drawn


def is_drawn(salt: str, name: str, share: float) -> bool:
    """Whether something falls into a share by lot; the same each time."""
    return int(hash_text(f"{salt} {name}", 8), 16) < share * 16**8


def read_salt(home: str) -> str:
    """A random text of this installation, so that nobody outside can know or choose the draw."""
    path = f"{home}/{SALT}"
    if not os.path.exists(path):
        _create_file(path, os.urandom(16).hex().encode())
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read(64)


def _write_marker(folder: str, marker: Marker) -> Marker:
    """The marker as it stands on the disk: ours, or that of a process that was quicker."""
    trace.make_folder(folder)
    record = {"v": VERSION, SHOWN: marker.shown, WITHHELD: marker.withheld}
    if _create_file(f"{folder}/{MARKER}", dump_json(record).encode()):
        return marker
    return evidence.read_marker(folder) or Marker()


def _create_file(path: str, data: bytes) -> bool:
    """Make a file that is whole from its first moment; False where there is one already, which stays as it is.

    Raises:
        OSError: it cannot be written.
    """
    fresh = f"{path}.new.{os.getpid()}"
    trace.replace_file(fresh, data)
    try:
        os.link(fresh, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if os.path.exists(path):
            return False
        os.replace(fresh, path)
        return True
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)
    return True
