"""Which remembered lines stand before the model, and the text that they stand in, stable parts first (K4)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from insula.claims import DEFAULT, Claimed, claim_template, quote_claim, say_claim
from insula.memory.relevance import ANSWERS, BEARS, BESIDE
from insula.text import relative_times
from insula.text.relative_times import format_day
from insula.turn.gate import MemoryGate
from insula.types import Identity, Level, Recalled

MEMORIES_CHARS = 4_000
"""Characters of all memories together: about 1,000 tokens."""

UNJUDGED_LINES = 5
"""Lines of others' talk, of which it is not judged how likely they answer: what memory systems show (`plain` in
docs/benchmarks/help.md). Sixteen cost twice the tokens, and tempt: on LoCoMo right 47 % for 53 %."""

WORTH_SHOWING = 0.2
"""Score from which a memory of which it is not judged how likely it answers is worth the model's attention."""

_OF_MEMORIES = frozenset({"memory", "limit"})
"""What the lines that quote memories claim."""

Section = tuple[Claimed, ...]
"""Lines that stand together, below their title where they have one."""


class TurnInstructions(NamedTuple):
    """What stands before the model in one turn: nothing but claims of the register (`claims.json`)."""

    background: tuple[Section, ...]
    """What stays as it is from turn to turn: who the agent is, and SOUL.md."""
    beside: tuple[Section, ...]
    """What belongs to this message: guidance, lessons, memories."""
    behind_it: Section
    """What a model keeps to best beside the message itself; empty in most turns."""
    shown: frozenset[int]
    """Ids of the memories that stand in the instructions."""

    @property
    def stable(self) -> str:
        """What stays the same, for the system prompt."""
        return _join_sections(self.background)

    @property
    def now(self) -> str:
        """What belongs to this message."""
        return _join_sections(self.beside)

    @property
    def reminder(self) -> str:
        """What goes behind the message, within the same user message, so that a provider's cache of what stands before
        is not touched."""
        return _join_sections((self.behind_it,))

    @property
    def claims(self) -> frozenset[str]:
        """All that is claimed before the model."""
        sections = (*self.background, *self.beside, self.behind_it)
        return frozenset(claim for section in sections for said in section for claim in said.claims)

    @property
    def memories(self) -> frozenset[str]:
        """The lines that quote memories, and their title."""
        told = (said for section in self.beside for said in section)
        return frozenset(said.text for said in told if not _OF_MEMORIES.isdisjoint(said.claims))

    @property
    def untold(self) -> bool:
        """Whether it is said that the user has not told this."""
        return "untold" in self.claims

    @property
    def instructions(self) -> str:
        """Both parts for the system prompt, the stable one first."""
        return _join_sections((*self.background, *self.beside))

    @property
    def behind(self) -> str:
        """What belongs to this message, all of it, to be put behind it: nothing before it changes."""
        return "\n\n".join(filter(None, (self.now, f"({self.reminder})" if self.reminder else "")))


def _join_sections(sections: Iterable[Section]) -> str:
    return "\n\n".join("\n".join(said.text for said in section) for section in sections if section)


def compose_instructions(  # noqa: PLR0913 one prompt, with a keyword for each thing that may stand in it
    identity: Identity,
    recalled: Sequence[Recalled],
    *,
    limits: Sequence[Recalled] = (),
    untold: bool = False,
    doubtful: bool = False,
    language: str = "en",
    guidelines: str = "",
    guidance: Iterable[str] = (),
    lessons: Iterable[Claimed] = (),
    wishes: Sequence[str] = (),
    mend: Claimed | None = None,
    forgetting: Claimed | None = None,
    claims: frozenset[str] = DEFAULT,
) -> TurnInstructions:
    """What one turn is told, in K4's order; each sentence is a claim, and was chosen by its effect.

    Args:
        recalled: memories that may stand before the model, best first; each is screened and stands on one line.
        limits: memories that limit the answer whatever is asked; they stand first.
        untold: whether it is said that the user has not told this, where no line stands before the model.
        doubtful: whether it is said that the memories may not answer what is asked.
        language: that of the message; the sentences are told in it.
        guidance: what the identity says on the topics of the message.
        lessons: advice whose trigger the message holds, wishes and insights among it.
        wishes: what the user wants of every answer, in their own words.
        mend: what fell short in the turn before, in one sentence.
        claims: those that may be made.
    """
    first = [(limit.memory.id, Claimed(render_memory(limit, language, claims).text, ("limit",))) for limit in limits]
    first = [(number, said) for number, said in first if claims.issuperset(said.claims)]
    limited = {number for number, _ in first}
    known = render_memories(recalled, language, claims) if "memory" in claims else []
    known = [*first, *((number, said) for number, said in known if number not in limited)]
    not_told = [say_claim("untold", "", language)] if untold and len(known) == len(first) else []
    wished = [
        quote_claim("wish", text) for text in (claim_template("wish", "", language), *(f"- {wish}" for wish in wishes))
    ]

    is_doubtful = doubtful and len(known) > len(first) and "memory.doubtful" in claims
    title = claim_template("memory.doubtful" if is_doubtful else "memory", "", language)

    def keep_allowed(said: Iterable[Claimed]) -> Section:
        return tuple(claimed for claimed in said if claims.issuperset(claimed.claims))

    background = (
        keep_allowed(describe_persona(identity)),
        _title_section(
            claim_template("guideline"), keep_allowed([quote_claim("guideline", guidelines)] if guidelines else [])
        ),
    )
    beside = (
        _title_section(
            claim_template("identity", "topic"), keep_allowed(quote_claim("identity", f"- {text}") for text in guidance)
        ),
        _title_section(
            claim_template("lesson"), keep_allowed(Claimed(f"- {lesson.text}", lesson.claims) for lesson in lessons)
        ),
        _title_section(title, tuple(said for _, said in known), ("memory.doubtful",) if is_doubtful else ()),
    )
    behind = keep_allowed(
        [*not_told, *([forgetting] if forgetting else []), *([mend] if mend else []), *(wished if wishes else [])]
    )
    shown = frozenset(number for number, _ in known)
    return TurnInstructions(tuple(filter(None, background)), tuple(filter(None, beside)), behind, shown)


def _title_section(title: str, lines: Section, more: Sequence[str] = ()) -> Section:
    return (Claimed(title, (*lines[0].claims, *more)), *lines) if lines else ()


def describe_persona(identity: Identity) -> Section:
    """Who the agent is, in a sentence or two; nothing where nobody has said it."""
    who = ", ".join(filter(None, (identity.name.strip(), identity.about.strip().rstrip("."))))
    own = [say_claim("identity", "persona", who=who)] if who else []
    voice = [say_claim("identity", identity.voice)] if identity.voice != "plain" else []
    text = " ".join(said.text for said in (*own, *voice))
    return (quote_claim("identity", text),) if text else ()


def render_memories(
    recalled: Sequence[Recalled], language: str = "en", claims: frozenset[str] = DEFAULT
) -> list[tuple[int, Claimed]]:
    """The id and the line of each memory that asserts something and may stand in a prompt, within `MEMORIES_CHARS`."""
    lines: list[tuple[int, Claimed]] = []
    room = MEMORIES_CHARS
    unjudged = 0
    for hit in filter(may_show, recalled):
        unjudged += hit.odds is None
        if unjudged > UNJUDGED_LINES:
            break
        line = render_memory(hit, language, claims)
        if len(line.text) <= room:
            lines.append((hit.memory.id, line))
            room -= len(line.text)
    return lines


def render_memory(recalled: Recalled, language: str = "en", claims: frozenset[str] = DEFAULT) -> Claimed:
    """The line of a memory: who said it, where it was not the user, what, and its dates.

    What it calls "last week" is counted from the day on which it was said, where it is in the language of the message.
    Where the user's own words ended it, it says since when it holds no longer (`memory/retrieval/matching.py`).
    """
    told, dates = ["memory"], format_day(recalled.memory.said_at)
    if "memory.over" in claims and recalled.until is not None:
        told.append("memory.over")
        dates = claim_template("memory.over", "over").format(said=dates, until=format_day(recalled.until))
    line, own = recalled.told, speaker_key(recalled)
    meant = relative_times.find_date(line, recalled.memory.said_at.date(), language)
    if meant is not None and "memory.when" in claims:
        told.append("memory.when")
        dates = claim_template("memory.when").format(dates=dates, said=meant.said, when=meant.when)
    if own:
        told.append("memory.speaker")
        line = claim_template("memory.speaker", own).format(speaker=recalled.memory.speaker, line=line)
    return Claimed(claim_template("memory", "line").format(line=line, dates=dates), tuple(told))


def may_show(recalled: Recalled) -> bool:
    """Whether a memory may be shown and is worth the model's attention.

    It asserts something, it was not withheld, and where the assistant or a tool said it, it is asked for: what a model
    once made up, or a page once claimed, would otherwise come back as a fact about the user.
    """
    memory = recalled.memory
    if memory.withheld or not memory.line or memory.kind == "episodic":
        return False
    if memory.provenance == "tool" and recalled.bearing == "answers" and recalled.odds is not None:
        return True
    if recalled.odds is None and recalled.score < WORTH_SHOWING:
        return False
    return memory.provenance == "user" or asked_for(recalled)


def asked_for(recalled: Recalled) -> bool:
    """Whether the message asks what the assistant or a tool said, and this is what it said."""
    memory = recalled.memory
    nameless = memory.provenance == "tool" and memory.speaker in ("", "user")  # then nobody asked for it
    return memory.provenance != "user" and recalled.parts.get("speaker", 0.0) > 0 and not nameless


def speaker_key(recalled: Recalled) -> str:
    """Which words say who said a memory; empty for the user, whose facts these are."""
    match recalled.memory.provenance, recalled.memory.speaker:
        case "user", "user":
            return ""
        case "assistant", _:
            return "you"
        case _:
            return "speaker"


DOUBTFUL = 3
"""Lines that stand before the model where none likely answers: of 107 that answered all the same 101 were among the
first three, where up to ten stood."""
NONE = -9.0
"""What counts as the log-odds of the best line where there is none."""


def is_own_line(recalled: Recalled) -> bool:
    """Whether a memory is a line of the user's own that may stand before the model."""
    return recalled.memory.provenance == "user" and recalled.odds is not None and may_show(recalled)


def lets_in(gate: MemoryGate, recalled: Sequence[Recalled]) -> bool:
    """Whether lines of what was recalled may stand before the model.

    What tools brought counts only where the gate is certain: it may come from anybody, and must not open the gate to a
    question of the world ("Which hotel is good?").
    """
    lines = [hit for hit in recalled if may_show(hit) and (gate.is_certain or hit.memory.provenance == "user")]
    plain = [hit for hit in lines if "expected" not in hit.parts]
    best = max((hit.odds for hit in plain if hit.odds is not None), default=NONE)
    overlap = max((hit.parts.get("overlap", 0.0) for hit in plain if is_own_line(hit)), default=0.0)
    return gate.lets_in(best, overlap) or any(
        gate.lets_in(hit.odds or 0.0, 0.0, hit.parts["expected"]) for hit in lines if "expected" in hit.parts
    )


def choose_lines(gate: MemoryGate, recalled: Sequence[Recalled], most: int, level: Level) -> Sequence[Recalled]:
    """The lines of what was recalled that may stand before the model.

    Args:
        gate: what the message lets memory say.
        recalled: best first.
        most: how many of the user's own may stand there, where one likely answers.
        level: how likely memory holds what the message needs.
    """
    if not lets_in(gate, recalled):
        lines = _choose_likely(recalled, most) if gate.personal is None else recalled  # without vectors sure ones alone
        surely = {"answers", "history"} if gate.personal is None else ()
        return tuple(line for line in lines if line.bearing in surely or asked_for(line))
    if not gate.talkers:
        return _choose_likely(recalled, most)
    return tuple(filter(asked_for, recalled)) if level == "low" else recalled


def _choose_likely(recalled: Sequence[Recalled], most: int) -> tuple[Recalled, ...]:
    """The lines that likely answer, the likeliest first: the user's own, then what others said.

    What a newer line ended may be less likely, and stands beside that line, called so.
    """
    own = [(hit.odds, hit) for hit in recalled if hit.odds is not None and is_own_line(hit)]
    best = max((odds for odds, _ in own), default=NONE)
    least, most = max(best - BESIDE, BEARS), most if best >= ANSWERS else min(most, DOUBTFUL)
    near = [(odds, hit) for odds, hit in own if odds >= least - (0.0 if hit.until is None else BESIDE)]
    near.sort(key=lambda pair: (-pair[0], -pair[1].memory.id))
    others = (hit for hit in recalled if hit.memory.provenance != "user" and may_show(hit))
    return (*(hit for _, hit in near[:most]), *others)


def choose_limits(gate: MemoryGate, limits: Sequence[Recalled], recalled: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """What limits the answer and does not stand before the model as what answers: lines of the user that still hold.

    A limit bears on an answer though nobody asks for it: an allergy where a dinner is asked for, a day taken. A head
    tells it from the meanings of both (`limit_odds` in `insula.language.heads`; docs/explanation/heads.md).

    Args:
        gate: what the message lets memory say.
        limits: what the head took for limits.
        recalled: what was recalled for the message.
    """
    if gate.is_certain:
        return ()
    answers = lets_in(gate, recalled)
    answering = {hit.memory.id for hit in recalled if answers and hit.odds is not None and hit.odds >= ANSWERS}
    return tuple(limit for limit in limits if _may_limit(limit) and limit.memory.id not in answering)


def _may_limit(recalled: Recalled) -> bool:
    memory = recalled.memory
    told = memory.provenance == "user" and memory.kind != "episodic" and not memory.withheld and bool(memory.line)
    return told and recalled.until is None
