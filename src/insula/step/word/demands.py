"""What a request demands, compared at the end with what happened: checks to run, files to bring up to date, acts.

A demand is unmet where nothing that was done can have met it. What another command may have done, what the agent says
itself that it left out, and an end that is a question or a plan, are no breach.
"""

import re

from insula.step import programs
from insula.step.command import COMMITS, FORCES, PUSHES
from insula.step.project import is_code
from insula.step.stop_words import DENIALS, LIGHT
from insula.step.word import acts as acted
from insula.step.word import heads
from insula.step.word.acts import ALL_KINDS, CHECK_NAMES, Act, Done
from insula.step.word.breach import covers
from insula.step.word.clauses import lowered, table
from insula.step.word.word import ASKED, BAN, HOW, Word
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = LIGHT | DENIALS
LONGEST = 110
"""Characters of a clause that demands something plainly."""
BRIEF = 60
"""The same of one that asks for a commit, a push or a pull request."""
CHECKED = 80
"""... and of one that asks for "the tests" or "the linter"."""
NEVER, RED, STALE, UNTOUCHED = "never", "red", "stale", "untouched"


class Demand(Value):
    """Something that a request demands, in a form that acts can meet."""

    word: Word
    what: str
    """The command, the kind of check, or the file."""
    form: str
    """`command`, `check`, `file`, `test` or `act`."""


class Unmet(Value):
    """A demand that nothing met."""

    demand: Demand
    why: str
    """`never`, `red`, `stale` or `untouched`."""


def demands(word: Word) -> "list[Demand]":
    """What a word of the user's demands that acts can show."""
    if word.kind not in {ASKED, HOW}:
        return []
    low = lowered(word.clause)
    words = table()
    found: list[Demand] = []
    if re.search(words["pending"], low) or not word.sure or len(low) > LONGEST:
        return found
    runs = re.search(words["runs"], low) is not None
    adds = re.search(words["adds"], low) is not None
    updates = re.search(words["updates"], low) is not None
    ends = re.search(words["ending"], low) is not None
    asked = word.kind == ASKED or (runs and ends)
    commands = [
        one
        for one in (*word.programs, *filter(None, (word.likes,)))
        if asked and (" " in one or (runs and _proves(one)))
    ]
    if commands and (runs or not re.search(words["reads"], _without(low, commands))):
        found += [Demand(word=word, what=one, form="command") for one in commands[:2]]
    if runs:
        kinds = (
            ("suite", programs.TEST),
            ("lint", programs.LINT),
            ("types", programs.TYPES),
            ("build", programs.BUILD),
        )
        if not commands and not adds and len(low) <= CHECKED:
            found += [
                Demand(word=word, what=kind, form="check") for name, kind in kinds if re.search(words[name], low)
            ][:2]
    if word.kind == HOW:
        return []
    if not runs and ((adds and re.search(words["tests"], low)) or re.search(words["a_test"], low)):
        found.append(Demand(word=word, what="test", form="test"))
    if not re.search(words["reads"], low):
        sure = updates or re.search(words["into"], low) is not None
        names = [name for name in ("changelog", "readme") if sure and _is_thing(words[name], low)]
        others = _files_named(word, low) if updates or adds or _is_name(word, low) else []
        others = [path for path in others if not any(name in path.lower() for name in names)]
        found += [Demand(word=word, what=path, form="file") for path in (*names, *others)]
        if re.search(words["renews"], low) and not found and _is_thing(words["docs"], low) and not word.paths:
            found.append(Demand(word=word, what="docs", form="file"))
    found += [
        Demand(word=word, what=act, form="act") for act in _ACTS if act in word.acts and _asks_for_act(act, low, word)
    ]
    return found


_ACTS = {"commit": {COMMITS}, "push": {PUSHES, FORCES}, "pr": {"pr"}}


def _asks_for_act(act: str, low: str, word: Word) -> bool:
    """Whether a clause asks for an act and little else: "commit it", "push when green", "open a pull request"."""
    if len(low) > BRIEF or "_" in low or len(word.said) > 2 * BRIEF:
        return False
    pattern = rf"(?:{table()['acts'][act]})(?![a-z0-9_-])"
    if not low.isascii():
        return re.search(pattern, low) is not None
    found = re.match(rf"{table()['orders']}({pattern})", low)
    as_such = act == "pr" and re.search(rf"\b(?:as|als|comme|como|come) (?:\w+ )?{pattern}", low) is not None
    return as_such or (found is not None and (act == "pr" or not found[1].endswith(("s", "ed", "ing"))))


def _without(low: str, commands: "Sequence[str]") -> str:
    for command in commands:
        low = low.replace(command.lower(), " ")
    return low


def _is_thing(pattern: str, low: str) -> bool:
    """Whether a clause names a file of that kind, and nothing that is named after it ("the changelog generator")."""
    for found in re.finditer(rf"(\b(?:the|our|a|an|this|that)\s+`?)?(?:{pattern})(?:\.\w+)?`?(?:\s+([a-z]+))?", low):
        behind = found[2]
        if not found[1] or not behind or behind in SMALL or len(behind) <= _SMALL or behind.startswith("entr"):
            return True
    return False


def _proves(program: str) -> bool:
    return programs.PROGRAMS.get(program) in programs.PROVING


def _files_named(word: Word, low: str) -> list[str]:
    """The files that a clause asks to change: those that it ends with, but for a small word or a verb."""
    behind = rf"`?(?:\s*$|\s*[.,;:!?)。、，！に]|\s*(?:{table()['updates']}|{table()['adds']})|\s+([a-z]+))"
    found: list[str] = []
    for path in word.paths:
        place = re.search(re.escape(path.lower()) + behind, low)
        if "." in path.rsplit("/", 1)[-1] and place and (not place[1] or place[1] in SMALL or len(place[1]) <= _SMALL):
            found.append(path)
    return found


_SMALL = 3
"""Letters up to which a word behind a name is none that the name belongs to."""


def _is_name(word: Word, low: str) -> bool:
    """Whether a clause is no more than one more name: "add it to de.json, fr.json and it.json"."""
    rest = re.sub("|".join(map(re.escape, sorted(map(str.lower, word.paths), key=len, reverse=True))) or "$^", "", low)
    verbs = lowered(word.said)
    return len(rest.split()) <= 2 and any(re.search(table()[name], verbs) for name in ("updates", "adds"))


def find_unmet(words: "Sequence[Word]", done: Done, told: "Sequence[Told]") -> "Unmet | None":
    """The first demand that nothing met and of which the agent says nothing itself, the newest request first."""
    latest = max((word.at for word in words if word.kind == ASKED), default=0.0)
    if not any(act.at >= latest and (act.kind == "edit" or act.changes or act.acts) for act in done.acts):
        return None
    banned = {act for word in words if word.kind == BAN for act in word.acts}
    for word in reversed(words):
        for demand in demands(word):
            if demand.form == "act" and demand.what in banned:
                continue
            why = _why(demand, done)
            if why and not _is_admitted(demand, told):
                return Unmet(demand=demand, why=why)
    return None


def _why(demand: Demand, done: Done) -> str:
    """Why a demand is unmet; empty where it is met, or may be."""
    since = [act for act in done.acts if act.at >= demand.word.at]
    if demand.form in {"command", "check"}:
        return _of_check(demand, since, done)
    if any(acted.is_opaque(act) for act in since if demand.form != "file"):
        return ""
    if demand.form == "test":
        return (
            "" if any(act.tests or _is_test(act.path) or _may_write(act, r"test|spec") for act in since) else UNTOUCHED
        )
    if demand.form == "act":
        names = _ACTS[demand.what]
        if any(re.search(rf"\b{demand.what}\b", act.line) and act.ok for act in since):
            return ""
        made = any(names & {*act.acts, *(one for run in act.runs for one in run.acts)} and act.ok for act in since)
        return "" if made or any(act.tool.startswith("mcp__") for act in since) else NEVER
    pattern = _pattern(demand.what)
    touched = any(
        re.search(pattern, act.path.lower()) or covers(demand.what, act.path)
        for act in since
        if act.kind == "edit" and act.ok
    )
    if touched or any(_may_write(act, pattern) for act in since):
        return ""
    updates = re.search(table()["updates"], lowered(demand.word.clause))
    if _is_document(demand.what) or (updates and not is_code(demand.what)):
        return UNTOUCHED
    telling = "|".join(re.escape(word) for word in demand.word.words if len(word) > _SHORT)
    met = any(covers(demand.what, act.seen) or act.does(pattern) for act in since if act.seen or act.runs)
    return "" if met or (telling and any(act.does(telling) for act in since)) else UNTOUCHED


_SHORT = 4
"""Letters up to which a word is in commands by chance."""


def _is_document(name: str) -> bool:
    return name in {"changelog", "readme", "docs"} or re.search(r"\.(?:md|mdx|rst|adoc)$", name.lower()) is not None


def _pattern(name: str) -> str:
    if name == "changelog" or "changelog" in name.lower():
        return r"change|history|news|release|\.changeset"
    if name == "docs":
        return r"docs?/|\.mdx?$|\.rst$|\.adoc$|readme"
    return re.escape(name.lower().rsplit("/", 1)[-1])


def _may_write(act: Act, pattern: str) -> bool:
    """Whether a command names such a file as one that it may write, or may have written any."""
    if act.kind == "execute":
        return any(
            not one.looks
            and one.kind not in programs.PROVING
            and not acted.kinds(one)
            and re.search(pattern, " ".join((*one.words, *one.writes)).lower())
            for one in act.runs
        ) or any(re.search(pattern, path.lower()) for one in act.runs for path in one.writes)
    return act.tool.lower() in {"agent", "task"} or (act.tool.startswith("mcp__") and not act.path)


def _is_test(path: str) -> bool:
    return (
        re.search(
            r"(?:^|[/_.-])(?:tests?|specs?|stories|__tests__|e2e|cypress|playwright)(?:$|[/_.-])|test\.\w+$|tests?\.\w+$|spec\.\w+$",
            path.lower(),
        )
        is not None
    )


def _of_check(demand: Demand, since: "list[Act]", done: Done) -> str:
    hits = [act for act in since if _meets(demand, act)]
    if not hits and any(_may_meet(demand, act) for act in since):
        return ""
    if not hits:
        return "" if any(acted.is_opaque(act) for act in since) else NEVER
    last = hits[-1]
    if last.red:
        return RED
    changed = acted.changed_at(done)
    return STALE if changed > last.at and (_is_last(demand.word.clause) or _is_last(demand.word.said)) else ""


def _is_last(said: str) -> bool:
    """Whether a demand is for the end of the work."""
    return re.search(table()["ending"], said.lower()) is not None


def _meets(demand: Demand, act: Act) -> bool:
    """Whether a command is what was demanded, or may stand for it."""
    if act.kind != "execute":
        return False
    if demand.form == "check":
        return bool({demand.what, ALL_KINDS} & act.proved)
    words = demand.what.lower().split()
    bare = [word for word in words if not word.startswith("-")]
    if any(one.is_of(" ".join(bare)) for one in act.runs) or demand.what.lower() in act.line.lower():
        return True
    script = bare[-1] if len(bare) > 1 and words[0] in programs.SCRIPTS else ""
    if script:  # the same script by another runner
        return any(script in one.words for one in act.runs)
    kind = programs.PROGRAMS.get(
        bare[0], programs.SUBCOMMANDS.get(bare[0], {}).get(bare[1] if len(bare) > 1 else "", "")
    )
    return bool(kind) and bool({kind, ALL_KINDS} & act.proved)


def _may_meet(demand: Demand, act: Act) -> bool:
    """Whether a command names what was demanded, though behind a program that nobody knows."""
    if act.kind != "execute":
        return False
    wanted = re.escape(demand.what.lower().split()[-1]) if demand.form == "command" else CHECK_NAMES[demand.what]
    return act.does(wanted)


def _is_admitted(demand: Demand, told: "Sequence[Told]") -> bool:
    """Whether the agent says itself that it has not done it, or that something is left."""
    pattern = mentions(demand)
    left = {one.sentence for one in told if one.means == NOT}
    for one in told:
        low, whole = one.text.lower(), one.sentence.lower()
        if one.means != DID and re.search(pattern, low) and (one.means == NOT or re.search(table()["nothing"], low)):
            return True
        if re.search(pattern, whole) and one.sentence in left:
            return True
    return False


def mentions(demand: Demand) -> str:
    """A pattern for what somebody calls a demand by."""
    words = table()
    if demand.form == "file":
        known = {"changelog": words["changelog"], "readme": words["readme"], "docs": words["docs"]}
        return known.get(demand.what, re.escape(demand.what.lower()))
    if demand.form == "act":
        return words["acts"][demand.what]
    if demand.form == "test":
        return words["tests"]
    own = re.escape(demand.what.lower()) if demand.form == "command" else ""
    return "|".join(filter(None, (own, words["suite"], words["lint"], words["runs"])))


DID, NOT, OTHER = "did", "not", "other"
READ = 6_000
MOST = 80
SURE = 0.6


class Told(Value):
    """A clause of an agent's last words."""

    text: str
    means: str
    sentence: str


def read_last_words(said: str) -> "tuple[Told, ...]":
    """The clauses of an agent's last words, with what each means; code, quotations and tables are none of its words."""
    text = re.sub(r"```.*?(?:```|\Z)|(?m:^[ \t]*[|>].*$)", " ", said[-READ:], flags=re.DOTALL)
    text = re.sub(r"\*\*|__|(?m:^#+ )", "", text)
    found: list[Told] = []
    for line in text.split("\n"):
        for sentence in re.split(r"(?<=[.!?…])\s+|(?<=[。！？])", re.sub(r"^\s*(?:[-*•·✓✔✅☑]|\d+[.)])\s*", "", line)):
            for piece in re.split(table()["told"], sentence):
                if any(map(str.isalnum, piece)) and len(piece) <= 300:
                    found.append(_told(piece.strip(), sentence.strip()))
                if len(found) >= MOST:
                    return tuple(found)
    return tuple(found)


def _told(text: str, sentence: str) -> Told:
    if sentence.endswith(("?", "？")):
        return Told(text=text, means=OTHER, sentence=sentence)
    chances = heads.score("report", text)
    means = max(chances, key=lambda one: chances[one])
    return Told(text=text, means=means if chances[means] >= SURE else OTHER, sentence=sentence)


def asks(said: str) -> bool:
    """Whether the agent ends with a question, or says that it waits for an answer."""
    lines = [line.strip() for line in said.strip().split("\n") if line.strip()]
    return bool(lines) and (
        lines[-1].rstrip("*_ )").endswith(("?", "？")) or any(line.endswith(("?", "？")) for line in lines[-3:])
    )
