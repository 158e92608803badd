"""What a user says to agents in two sessions is a rule of theirs: the log of what they said, by project.

    ~/.insula/asked/<project>.jsonl   one line per correction or word that stands; appended, never changed

What was said once is told nobody: of what users of real sessions rule out, most is meant for the moment.

Only a person's own words come here: redacted and without what was pasted when they went to the trace, screened before
they go to the log. They are told in their own project alone, and a log that somebody else could have written is not
read (law 10).
"""

import os
import re
from functools import lru_cache

from insula.coding.step import trace
from insula.coding.step.digests import hash_text
from insula.coding.step.person import INTERRUPT, PROMPT, REJECTION
from insula.coding.step.stop_words import DENIALS, GENERIC, LIGHT, SPOILERS
from insula.coding.step.trace import append_lines, parse_records, read_end
from insula.value import Value, is_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from insula.coding.step.trace import Record

FOLDER = "asked"
READ_LIMIT = 1 << 18
"""Bytes that are read of a log, the newest: about a thousand corrections."""
PREFIX = "said-"
AGAIN = 600.0
"""Seconds within which the same words are the same request, sent twice."""
ABOUT = 60
"""Characters of a call that are kept."""
MOST = 32
"""Corrections that one session may bring."""
LONGEST = 200
"""Characters of a rule: what is longer tells a story."""
PLAIN = 300
"""Characters of a prompt from which on it is a task, whatever it rules out."""
RULING = 0.4
"""How probable it must be that a clause of a prompt rules something out or sets a way; that it is said again tells the
rest."""
_GO_AHEAD = 3
"""Words of a go-ahead, which is an order of the moment."""
_NAMES = r"[\w@:./-]+"
_HEAD = 4
"""Words of a command that say what it runs."""


class UserCorrection(Value):
    """A correction, or something that a user ruled out or set as the way."""

    session: str
    at: float
    words: str
    """The user's own, redacted and screened."""
    how: str = PROMPT
    """`prompt`, `interrupt` or `rejection`."""
    about: str = ""
    """What they turned down: the names that begin the command, or the name of the file."""
    origin: str = ""
    rules: tuple[str, ...] = ()
    """What it rules out or sets, as a call would show it: acts, paths, programs."""
    opens: bool = False
    """Whether it was said before anything was done in the session: it corrects nothing."""


class Wish(Value):
    """Corrections of one meaning: the first gives the words and the id."""

    id: str
    words: str
    about: str
    times: "tuple[UserCorrection, ...]"

    @property
    def rules(self) -> "tuple[str, ...]":
        """What it rules out or sets, as a call would show it."""
        return self.times[0].rules

    @property
    def corrects(self) -> bool:
        """Whether it was ever said of something that was done, and not at the beginning of sessions alone."""
        return not all(time.opens for time in self.times)

    @property
    def is_repeated(self) -> bool:
        """Whether it was asked for at another time, too."""
        first = self.times[0]
        return any(time.session != first.session or time.at - first.at >= AGAIN for time in self.times[1:])


# Found in a session.


def find_corrections(session: str, records: "Iterable[Record]") -> list[UserCorrection]:
    """What the user of a session corrected, ruled out or set as the way, in order."""
    asked: list[UserCorrection] = []
    stopped = acted = False
    for record in records:
        kind = record.get("e")
        if kind == "action":
            stopped, acted = False, True
        elif kind == "user":
            said = _read_correction(session, record, stopped=stopped, acted=acted)
            says_why = bool(record.get("words"))
            stopped = not says_why and (stopped or record.get("kind") in {INTERRUPT, REJECTION})
            if said is not None and not any(said.words == one.words and said.at - one.at < AGAIN for one in asked):
                asked.append(said)
    return asked[:MOST]


def _read_correction(session: str, record: "Record", *, stopped: bool, acted: bool) -> UserCorrection | None:
    from insula.coding.step.instructions.instruction import screen_words

    words, at = record.get("words"), record.get("at")
    if not isinstance(words, str) or not words.strip() or not isinstance(at, int | float):
        return None
    how = REJECTION if record.get("kind") == REJECTION else INTERRUPT if stopped else PROMPT
    safe = screen_words(_join_sentences(find_rulings(words, how)), LONGEST)
    about = name_call(str(record.get("about", "")))
    if not safe or "[REDACTED" in safe:
        return None
    rules = name_rules(safe)
    opens = how == PROMPT and not acted
    return UserCorrection(session=session, at=float(at), words=safe, how=how, about=about, rules=rules, opens=opens)


def find_rulings(words: str, how: str) -> "list[str]":
    """The sentences of a user's words that may say how things are done, for more than this once.

    Args:
        words: their own words, redacted.
        how: `rejection`, `interrupt` (the first words after one): a correction, but for its questions; `prompt`: the
            sentences that rule something out, set a way or always ask for something, by the head of the ledger.
    """
    from insula.coding.step.instructions.clauses import split_clauses

    if how == PROMPT and len(words) > PLAIN:
        return []
    said = [clause for clause in split_clauses(words) if not clause.asks]
    said = [clause for clause in said if how == REJECTION or not _is_of_moment(clause.sentence)]
    kept = [clause.sentence for clause in said if how != PROMPT or _is_ruling(clause.text, clause.sentence)]
    return list(dict.fromkeys(kept))


def _is_of_moment(sentence: str) -> bool:
    """Whether a sentence is a bare command, or a go-ahead of a few words that deny and name nothing: "keep trying"."""
    from insula.coding.step.instructions.clauses import says
    from insula.coding.step.programs import KNOWN

    low = sentence.lower()
    words = re.findall(rf"{_WIDE}{{1,3}}|[^\W\d_]+", low)
    brief = len(words) <= _GO_AHEAD or words[0] in KNOWN
    denies = len(words) > 1 and says(low, "denies", "always")
    return brief and not denies and not name_rules(sentence)


def _is_ruling(clause: str, sentence: str) -> bool:
    from insula.coding.step.instructions import heads
    from insula.coding.step.instructions.clauses import says
    from insula.coding.step.instructions.instruction import ASKED, MOMENT, STANDING

    if says(sentence.lower(), "task", "now"):
        return False
    if name_rules(clause):
        return True
    low, chances = clause.lower(), heads.score_clause("prompt", clause)
    ruled = sum(chances[kind] for kind in STANDING)
    if says(low, "always"):
        ruled += chances[ASKED]
    if says(low, "denies"):
        ruled += chances[MOMENT]  # "don't run them" may be meant for now: that it is said again tells
    return ruled >= RULING


def name_rules(words: str) -> "tuple[str, ...]":
    """What words rule out or set that a call would show, in names that are the same however it is worded."""
    from insula.coding.step.instructions.breach import can_be_judged
    from insula.coding.step.instructions.clauses import says
    from insula.coding.step.instructions.extraction import extract_instructions
    from insula.coding.step.instructions.instruction import ASKED, SESSION

    named: set[str] = set()
    for instruction in extract_instructions(words):
        asked = instruction.kind == ASKED and says(instruction.clause.lower(), "ending")
        if instruction.holds == SESSION and (can_be_judged(instruction) or (asked and instruction.programs)):
            names = (*instruction.acts, *instruction.places, *instruction.paths, *instruction.programs)
            named.add(" ".join((instruction.kind, *sorted({*names, instruction.likes} - {""}))))
    return tuple(sorted(named))


def _join_sentences(sentences: "Sequence[str]") -> str:
    """As many of the sentences as a rule may hold."""
    from insula.coding.step.instructions.instruction import cut_text

    text = ""
    for sentence in sentences:
        if text and len(text) + 1 + len(sentence) > LONGEST:
            break
        text = f"{text} {sentence}".strip()
    return cut_text(text, LONGEST)


def name_call(call: str) -> str:
    """What a call is about, in names alone: the first words of a command, or the last part of a path."""
    words = call.split()
    if len(words) == 1 and "/" in call:
        words = [call.rstrip("/").rsplit("/", 1)[-1]]
    head: list[str] = []
    for word in words[:_HEAD]:
        if not re.fullmatch(_NAMES, word):
            break
        head.append(word)
    return " ".join(head)[:ABOUT]


# The log.


def log_path(home: str, project: str) -> str:
    """Path of the log of a project."""
    return f"{home}/{FOLDER}/{project}.jsonl"


def write_corrections(home: str, project: str, asked: "Iterable[UserCorrection]") -> None:
    """Add corrections to the log of a project; those of sessions outside any are nobody's rules.

    Raises:
        OSError: it cannot be written.
    """
    lines = [{"project": project, **correction.as_dict()} for correction in asked]
    if project and lines:
        append_lines(log_path(home, project), lines)


def read_corrections(home: str, project: str) -> list[UserCorrection]:
    """The corrections of a project, in order; none from a log that is not ours alone, and none of another project."""
    path = log_path(home, project)
    if not project or not _is_ours(path):
        return []
    kept: list[UserCorrection] = []
    for record in parse_records(read_end(path, READ_LIMIT)):
        correction = _load_correction(record) if record.get("project") == project else None
        if correction is not None:
            kept.append(correction)
    return kept


def list_projects(home: str) -> list[str]:
    """The projects in which something was asked for."""
    try:
        names = sorted(os.listdir(f"{home}/{FOLDER}"))
    except OSError:
        return []
    return [name[:-6] for name in names if name.endswith(".jsonl")]


def _is_ours(path: str) -> bool:
    """Whether nobody but ourselves can have written it, as far as the system tells."""
    try:
        state = os.stat(path)
    except OSError:
        return False
    owner = getattr(os, "getuid", lambda: state.st_uid)()
    return state.st_uid == owner and not state.st_mode & 0o022


def _load_correction(record: "Record") -> UserCorrection | None:
    texts = {name: record.get(name, "") for name in ("session", "words", "about", "origin")}
    texts["how"] = record["how"] if record.get("how") in (INTERRUPT, REJECTION) else PROMPT
    if not all(isinstance(value, str) for value in texts.values()) or not isinstance(record.get("at"), int | float):
        return None
    words, about = texts["words"], texts["about"]
    fit = 0 < len(words) <= LONGEST and words.isprintable() and about == name_call(about)
    named = record.get("rules")
    rules = tuple(rule for rule in named if isinstance(rule, str)) if is_list(named) else ()
    opens = record.get("opens") is True
    return UserCorrection(at=float(record["at"]), rules=rules, opens=opens, **texts) if fit else None


def erase_wish(home: str, project: str, wish: Wish) -> None:
    """Take the words of a wish out of the log.

    Raises:
        OSError: it cannot be written.
    """
    kept = [correction for correction in read_corrections(home, project) if correction not in wish.times]
    path = log_path(home, project)
    trace.make_folder(os.path.dirname(path))
    lines = ({"project": project, **correction.as_dict()} for correction in kept)
    trace.replace_file(path, trace.dump_records(lines))


# What they add up to.


def group_corrections(asked: "Iterable[UserCorrection]") -> list[Wish]:
    """Corrections of one meaning together, in the order in which each was first said."""
    groups: list[list[UserCorrection]] = []
    by_key: dict[str, list[int]] = {}
    for correction in sorted(asked, key=lambda correction: correction.at):
        shared = list_keys(correction.words, correction.about).union(correction.rules)
        near = sorted({place for key in shared for place in by_key.get(key, ())})
        place = next((place for place in near if means_the_same(groups[place][0], correction)), None)
        if place is None:
            groups.append([correction])
            for key in shared:
                by_key.setdefault(key, []).append(len(groups) - 1)
        else:
            groups[place].append(correction)
    return [_make_wish(group) for group in groups]


def _make_wish(group: "Sequence[UserCorrection]") -> Wish:
    first = group[0]
    name = PREFIX + hash_text(f"{first.words} {first.about}", 6)
    return Wish(id=name, words=first.words, about=first.about, times=tuple(group))


def means_the_same(first: "UserCorrection | Wish", other: "UserCorrection | Wish") -> bool:
    """Whether they ask for the same: in like words, or in any by which a call is judged alike."""
    if first.rules and first.rules == other.rules and first.about == other.about:
        return True
    return measure_likeness(first.words, other.words, first.about, other.about) >= SAME


def phrase_wish(words: str, about: str = "", *, corrects: bool = True) -> str:
    """A wish as an agent is told it: whose words they are, and what was turned down.

    Args:
        corrects: whether the user had to say it of something that was done.
    """
    said = "had to say" if corrects else "said"
    return f'Your user {said} of `{about}`: "{words}"' if about else f'Your user {said}: "{words}"'


SAME = 0.5
"""Likeness from which two corrections are one."""
_ABOUT = 0.5
"""What a word counts that only the call in question holds: nobody said whether it is wanted."""
_WEAK = 0.25
"""What a word counts that every correction may hold."""
_LEAST = 4
"""Letters that the beginnings of two words must share to be forms of one."""

_WORD = r"[^\W_]+(?:[._/'-][^\W_]+)*"
_CLAUSE = (
    r"[,;:，、；：。.!?！？\n()（）–—]+(?=\s|$)|[，、；：。！？]|\bbut\b|\bsino\b|\bsondern\b|\bmais\b|\bmas sim\b"
)
_WIDE = "[\u3040-\u30ff\u3400-\u9fff]"

_PARTICLES = "[的我你了都请就和把让给的をはがにでもと]"

Marked = tuple[str, int]
"""A word, and whether it is wanted (1), denied (-1) or neither said (0)."""


def measure_likeness(words: str, other: str, about: str = "", other_about: str = "") -> float:
    """How far two corrections ask for the same, in [0, 1].

    Args:
        about: the call that the first were said of; empty for none.
    """
    first, second = _weigh_words(words, about), _weigh_words(other, other_about)
    total = sum(first.values()) + sum(second.values())
    return _sum_shared(first, second) / total if total else 0.0


def list_keys(words: str, about: str = "") -> frozenset[str]:
    """Beginnings of the telling words: two corrections that share none are not alike."""
    return frozenset(word[:_LEAST] for word, _ in _weigh_words(words, about))


@lru_cache(maxsize=2048)
def _weigh_words(words: str, about: str) -> "dict[Marked, float]":
    return dict(_list_weights(words, about))


def _sum_shared(first: "Mapping[Marked, float]", second: "Mapping[Marked, float]") -> float:
    left = dict(second)
    shared = 0.0
    for marked, weight in first.items():
        best = next((one for one in left if marked[1] * one[1] >= 0 and _are_forms(marked[0], one[0])), None)
        if best is not None:
            shared += weight + left.pop(best)
    return shared


def _are_forms(first: str, other: str) -> bool:
    """Whether two words are the same but for their ending."""
    if first == other or re.search(_WIDE, first + other):
        return first == other
    pairs = enumerate(zip(first, other, strict=False))
    shared = next((place for place, (one, two) in pairs if one != two), min(len(first), len(other)))
    return shared >= max(_LEAST, round(0.75 * max(len(first), len(other))))


def _list_weights(words: str, about: str) -> "Iterator[tuple[Marked, float]]":
    said: set[str] = set()
    for clause in re.split(_CLAUSE, words.lower().replace("’", "'")):
        for word, sign in _sign_words(clause):
            said.add(word)
            yield (word, sign), _WEAK if word in GENERIC else 1.0
    for word in _split_words(about.lower()):
        if word not in said:
            yield (word, 0), _WEAK * _ABOUT if word in GENERIC else _ABOUT


def _sign_words(clause: str) -> "Iterator[Marked]":
    if re.search(_WIDE, clause):
        marks = [mark for mark in DENIALS if mark in clause and re.search(_WIDE, mark)]
        for mark in sorted(marks, key=len, reverse=True):
            clause = clause.replace(mark, " ")
        yield from ((word, -1 if marks else 1) for word in _split_words(clause))
        return
    said = re.findall(_WORD, clause)
    sign = -1 if not SPOILERS.isdisjoint(said) else 1
    for each in said:
        if each in DENIALS:
            sign = -1
        elif each not in SPOILERS:
            yield from ((word, sign) for word in _split_words(each))


def _split_words(text: str) -> "Iterator[str]":
    """The telling words of a text; of `test:ci` and `src/app.py` their parts; of unspaced scripts pairs of signs."""
    for match in re.finditer(rf"{_WIDE}+|[a-zà-ÿ0-9ß-ɏ]+", text):
        word = match[0]
        if re.match(_WIDE, word):
            pairs = (word[i : i + 2] for i in range(len(word) - 1))
            yield from (pair for pair in pairs if not re.search(_PARTICLES, pair))
        elif word not in LIGHT and word not in DENIALS and (len(word) > 1 or word.isdigit()):
            yield word
