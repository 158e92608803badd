"""The ledger of a session: what the user has ruled out, allowed alone, set as the way and demanded, and what stands.

A word keeps the user's own sentence. What it names decides what a call can be held against; where it names nothing that
a call shows, it is only told again. What the user takes back, or asks for later, ends.
"""

import re

from insula.step.word import heads
from insula.step.word.clauses import Clause, clauses, lowered
from insula.step.word.denials import denied
from insula.step.word.named import Named, named
from insula.step.word.said import (
    ASKED,
    BAN,
    HERE,
    HOW,
    LIFT,
    MOMENT,
    NEXT,
    ONLY,
    RULE,
    SESSION,
    SPARED,
    STANDING,
    TASK,
    Word,
)
from insula.step.word.table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAMED = 0.3
"""The same of a ban that denies in words that a file is touched, and names it."""
UNNAMED = 0.8
"""The same of a ban that names nothing which a call could show: it may as well say what a program must not do."""
PLAIN = 0.9
"""The same of an "only" that says so by none of the words for it: "all your edits should be in src/"."""
SURE = {BAN: 0.55, ONLY: 0.55, "except": 0.3, HOW: 0.9, LIFT: 0.5, ASKED: 0.45, MOMENT: 0.5}
"""How probable a meaning must be; of those that stand, all of them together."""
DEMANDED = 0.65
"""How probable a request must be to be held against an end."""
CERTAIN = 0.8
"""How probable a request must be to be no lifting, whatever its words sound like: "don't forget to …"."""
_RULING = (*STANDING, MOMENT)
BRIEF = 4
"""Words of "not npm", behind "use pnpm"."""
MOST = 24
"""Words that are kept: the newest of each kind."""
ASKED_KEPT = 16
"""Requests that are kept."""
SAID = 160
"""Characters of a word that are kept."""


def hear(message: str) -> "tuple[Word, ...]":
    """What a message of the user's says, in order: bans, ways, demands, and what it takes back."""
    found: list[Word] = []
    before: Word | None = None
    here: tuple[str, ...] = ()  # paths that a pronoun may mean: named in this sentence
    above: tuple[str, ...] = ()  # ... and in the one before it
    sentence = supposed = ""
    for clause in clauses(message):
        if clause.sentence != sentence:
            sentence, above, here = clause.sentence, here, ()
        word = _heard(clause, before)
        if word is not None and word.kind == ASKED and supposed == clause.sentence:
            word = word.replace(sure=False)  # "if you change the format, raise the version"
        if any(re.search(table()[name], clause.text.lower()) for name in ("supposing", "pending")):
            supposed = clause.sentence
        if word is not None and not word.paths and _is_rest(word, clause.text):
            word = _narrowed(found.pop(), word) if found and before is not None else None
        elif word is not None and _points_back(word, clause):
            word = word.replace(kind=BAN if word.kind == MOMENT else word.kind, paths=here or above)
        if found and _is_meant(found[-1], clause, word):
            found[-1] = found[-1].replace(paths=named(clause.text).paths)
            continue
        if word is not None:
            found.append(word)
        before = word
        here = _spoken_of(clause, word, here)
    if found and re.search(table()["closes"], message[:SAID].lower()):
        found[0] = found[0].replace(closes=True)
    return tuple(found)


def _is_rest(word: Word, text: str) -> bool:
    """Whether a clause says "nothing else" and no more."""
    pattern = {ONLY: table()["rest"], BAN: table()["others"]}.get(word.kind)
    return pattern is not None and re.search(pattern, text.lower()) is not None


def _narrowed(before: Word, rest: Word) -> Word:
    """What may be changed, to which "nothing else" was added: only that may be."""
    if (before.kind == ASKED and before.edits and (before.paths or before.words)) or (
        before.kind == LIFT and before.paths
    ):
        return before.replace(kind=ONLY, holds=TASK, said=rest.said, text=rest.text, edits=True)
    return before


def _is_meant(ban: Word, clause: Clause, word: Word | None) -> bool:
    """Whether a clause says only which files the ban before it means: "the backend stays as it is, all of server/"."""
    if (
        ban.kind != BAN
        or not ban.edits
        or ban.paths
        or ban.acts
        or not " ".join(clause.sentence.split()).startswith(ban.said[: SAID // 2])
    ):
        return False
    low = clause.text.lower()
    plain = not any(re.search(table()[name], low) for name in ("denies", "touches", "frees", "reads"))
    return plain and (word is None or word.kind == HOW) and bool(named(clause.text).paths)


POINTING = 7
"""Words of a clause that says of something only that it is not to be changed, and of what by a pronoun alone."""
_WIDE_POINTING = 16
"""The same in characters, where no words are parted."""


def _points_back(word: Word, clause: Clause) -> bool:
    """Whether a clause rules out that something is changed which it names by a pronoun alone."""
    if word.kind not in {BAN, MOMENT} or not (word.edits or word.deletes) or word.paths or word.code or word.acts:
        return False
    low = clause.text.lower()
    if re.search(heads.WIDE, low):
        return len(low) <= _WIDE_POINTING
    return len(low.split()) <= POINTING and re.search(table()["pronouns"], low) is not None


def _spoken_of(clause: Clause, word: Word | None, before: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that a pronoun in the next clause means: those named last, unless they are to be changed."""
    paths = named(clause.text).paths
    if not paths:
        return before
    asked = word is not None and word.kind == ASKED and not re.search(table()["reads"], clause.text.lower())
    return () if asked else paths


def _heard(clause: Clause, before: Word | None) -> Word | None:
    text = clause.text
    low = lowered(text)
    if re.search(table()["next"], low) and len(text) < 80:
        return Word(kind=NEXT, said=text)
    kind, chance = _meaning(text, low)
    if kind in {*STANDING, MOMENT} and (clause.asks or clause.sentence.rstrip(" \"')").endswith(("?", "？"))):
        return None
    is_aside = re.search(table()["aside"], low) is not None
    if kind in STANDING and is_aside:
        return None
    what = named(text)
    formed = _by_form(clause, before, what, kind, chance, is_aside)
    if formed is not None:
        return formed
    if clause.joined and before is not None and _hangs_on(before.kind, kind, low, what):
        kind, chance = before.kind, 1.0 if before.sure else chance
    elif _is_listed(clause, before, low):
        kind, chance = ASKED, 1.0
    elif kind not in SURE or chance < SURE[kind]:
        return _in_doubt(clause, low, what)
    elif kind == MOMENT and _may_ask(low, what):
        kind, chance = ASKED, 0.0
    word = _word(kind, clause, low, what)
    if kind == BAN and chance < UNNAMED and not _names_something(word):
        return None
    return word.replace(sure=chance >= DEMANDED and not clause.asks) if kind == ASKED else word


def _by_form(clause: Clause, before: Word | None, what: Named, kind: str, chance: float, is_aside: bool) -> Word | None:
    """What a clause means by its form alone, whatever else it may mean: an exception, a denied act, a lifting."""
    low = lowered(clause.text)
    if before is not None and before.kind == BAN and what.paths and re.match(rf"\W*(?:{table()['except']})", low):
        return _word(LIFT, clause, low, what)
    open_to_form = (kind not in STANDING or chance < SURE[kind]) and not is_aside and not clause.asks
    if open_to_form and any(_as_such(act, low) for act in denied(low)):
        return _word(BAN, clause, low, what)
    certain = kind == ASKED and chance >= CERTAIN
    if kind != LIFT and not certain and (kind not in _RULING or re.search(table()["ended"], low)) and _frees(low):
        return _word(LIFT, clause, low, what).replace(sure=False)
    if what.unwanted and len(low.split()) <= BRIEF and before is not None and (before.likes or before.programs):
        return _word(BAN, clause, low, what)
    return None


def _in_doubt(clause: Clause, low: str, what: Named) -> Word | None:
    """What a clause may do that surely means nothing: spare something, or ask for an act."""
    needless = len(low.split()) <= BRIEF + 1 and re.search(table()["denies"], low)
    if needless or (re.search(table()["spares"], low) and len(low) < SAID):
        return _word(SPARED, clause, low, what)
    return _word(ASKED, clause, low, what).replace(sure=False) if _may_ask(low, what) else None


def _names_something(word: Word) -> bool:
    """Whether a ban says of an agent's own acts what is ruled out, and not of the program that it writes."""
    low = word.clause.lower()
    does = any(re.search(table()[name], low) for name in ("uses", "runs"))
    return bool(word.paths or word.programs or word.acts or word.code or word.edits or word.deletes or does)


def _meaning(text: str, low: str) -> "tuple[str, float]":
    """The likeliest meaning of a clause, and how likely it is; whether something stands comes before what.

    A head alone takes a sentence about commits for one against them; so a ban has to deny or keep something in words,
    and what is said with "except" is read by whether it denies before that.
    """
    words = table()
    chances = heads.score("prompt", _without_scope(text))
    ruling = sum(chances[one] for one in STANDING)
    kind = max(STANDING, key=lambda one: chances[one])
    apart = re.search(words["except"], low)
    if apart is not None and ruling >= SURE["except"]:
        denied = re.search(words["denies"], low[: apart.start()] if low.isascii() or apart.start() > 4 else low)
        kind = ONLY if denied or re.search("[不别]|ない|ません", low[apart.end() :]) else BAN
        return kind, max(ruling, SURE[kind])
    if ruling >= NAMED and all(re.search(words[name], low) for name in ("denies", "touches")) and _has_path(text):
        return (ONLY if kind == ONLY and re.search(words["only"], low) else BAN), max(ruling, SURE[BAN])
    if ruling >= SURE[BAN]:
        if kind == BAN and not re.search(words["denies"], low) and not re.search(words["keeps"], low):
            acts = any(re.search(pattern, low) for pattern in words["acts"].values())
            return HOW if ruling >= SURE[HOW] and not acts else "none", ruling  # "the names stay in English"
        if kind == ONLY and not re.search(words["alone"], low) and not (chances[ONLY] >= PLAIN and _has_path(text)):
            return "none", ruling
        return kind, ruling
    kind = max(chances, key=lambda one: chances[one])
    return kind, chances[kind]


def _without_scope(text: str) -> str:
    """A clause without its "for this ticket", which says nothing of what is meant."""
    found = re.search(table()["task"], text.lower())
    return f"{text[: found.start()]} {text[found.end() :]}" if found is not None else text


def _has_path(text: str) -> bool:
    return re.search(heads.PATH, text, flags=re.ASCII) is not None


def _may_ask(low: str, what: Named) -> bool:
    """Whether a clause names an act and denies nothing: then it is not held against an agent that does it."""
    return bool(what.acts) and re.search(table()["denies"], low) is None


def _is_listed(clause: Clause, before: Word | None, low: str) -> bool:
    """Whether a clause is one of what must be so in the end: "done means: lint clean, README updated"."""
    if before is None or before.kind != ASKED or len(low) > 60 or clause.asks or re.search(table()["denies"], low):
        return False
    same = " ".join(clause.sentence.split()).startswith(before.said[: SAID // 2])
    return same and re.search(table()["ending"], before.said.lower()) is not None


def _frees(low: str) -> bool:
    """Whether a clause says that something may be done, or that a rule is over, whatever else it may mean: what was
    ruled out of that is in doubt then, and what is in doubt is held against nobody."""
    words = table()
    if re.search(words["ended"], low):
        return True
    return re.search(words["frees"], low) is not None and re.search(words["denies"], low) is None


def _hangs_on(before: str, kind: str, low: str, what: Named) -> bool:
    """Whether a clause behind "and" or "or" has no verb of its own: it names one more thing of the same."""
    if not (before in STANDING or (before == ASKED and re.search(table()["denies"], low) is None)):
        return False
    rest = re.sub(table()["joins"], "", low, count=1).split()
    return kind in {BAN, ONLY, HOW, ASKED, "none"} and len(rest) <= 4 and bool(what.paths or what.acts or what.wanted)


def _word(kind: str, clause: Clause, low: str, what: Named) -> Word:
    holds = TASK if re.search(table()["task"], clause.sentence.lower()) else SESSION
    acts = tuple(act for act in what.acts if kind not in STANDING or _as_such(act, low))
    touches = bool(re.search(table()["touches"], low))
    if kind == BAN and what.paths and not what.acts and not what.wanted:
        touches = touches or bool(re.search(table()["keeps"], low))
    said = _shown(clause)
    return Word(
        kind=kind,
        said=said,
        text=clause.text[:SAID] if clause.text[:SAID] != said else "",
        holds=HERE if kind == MOMENT else holds,
        paths=what.paths,
        programs=_banned(kind, what, low),
        acts=acts,
        places=_places(low) if "push" in acts else (),
        code=what.code,
        words=what.words,
        edits=kind == ONLY or (touches and not _depends(low)),
        deletes=bool(re.search(table()["deletes"], low)) and not _depends(low),
        likes=what.wanted[0] if kind == HOW and what.wanted else "",
    )


def _banned(kind: str, what: Named, low: str) -> tuple[str, ...]:
    if kind == BAN:
        used = re.search(table()["uses"], low) is not None
        return (*(one for one in what.wanted if used or " " in one or _is_bare(one, low)), *what.unwanted)
    return what.unwanted if kind in {HOW, ONLY} else what.wanted


def _is_bare(program: str, low: str) -> bool:
    """Whether a clause says little more than "no" and the name of a program."""
    return len(re.findall(r"\w+", low.replace(program, " "))) <= 3


def _places(low: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(next(filter(None, found)) for found in re.findall(table()["places"], low)))


def _conditional(low: str) -> bool:
    """Whether it is ruled out under a condition alone, other than that the user agrees first."""
    return bool(re.search(table()["conditions"], low)) and not re.search(table()["asking"], low)


def _depends(low: str) -> bool:
    """Whether files are ruled out under a condition alone; what is ruled out until something happens, is so now."""
    return _conditional(re.sub(table()["until"], " ", low))


def _as_such(act: str, low: str) -> bool:
    """Whether an act is ruled out as such, and not of one thing alone or under a condition."""
    words = table()
    matches = list(re.finditer(words["acts"][act], low))
    if not matches or _conditional(low):
        return False
    first, found = matches[0], matches[-1]
    if re.search(words["places"], low) or re.search(words["asking"], low[found.end() :]):
        return True
    about = re.split(words["reasons"], low[found.end() :], maxsplit=1)[0]
    return re.search(words["one_thing"], low[: first.start()]) is None and bool(re.match(words["tail"], about))


def _shown(clause: Clause) -> str:
    """The sentence, or the clause of it where that is long."""
    sentence = " ".join(clause.sentence.split())
    text = sentence if len(sentence) <= SAID else " ".join(clause.text.split())
    return text if len(text) <= SAID else text[: SAID - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


# What stands.


def merge(words: "Sequence[Word]", heard: "Sequence[Word]", at: float) -> "tuple[Word, ...]":
    """The ledger after a message: what it adds, and without what it takes back or ends.

    Args:
        words: the ledger before.
        heard: what the message says.
        at: when it was said.
    """
    stands = [word for word in words if word.holds != HERE]
    closes = bool(heard) and heard[0].closes and any(word.kind == ASKED for word in heard)
    if closes or any(word.kind == ASKED and word.sure for word in heard):  # another task, as far as anybody can tell
        stands = [word for word in stands if word.holds != TASK and not (closes and word.kind == ONLY)]
    for word in (each.replace(at=at) for each in heard):
        stands = _spared(stands, word)
        if word.kind == NEXT:
            stands = [one for one in stands if one.holds != TASK and one.kind not in {ASKED, LIFT, ONLY}]
        elif word.kind == SPARED:
            continue
        elif word.kind == LIFT:
            stands = [*_lifted(stands, word), word]
        elif word.kind == ASKED:
            stands = [*(one for one in (_without(one, word) for one in stands) if one is not None), word]
        else:
            stands = [*(one for one in stands if not _replaces(word, one)), word]
    asked = [one for one in stands if one.kind in {ASKED, LIFT}][-ASKED_KEPT:]
    others = [one for one in stands if one.kind in {*STANDING, MOMENT}][-MOST:]
    return tuple(one for one in stands if one in asked or one in others)


def _lifted(stands: "list[Word]", lift: Word) -> "list[Word]":
    """What stands after the user has taken something back: what it names, else the last that was ruled out.

    What only sounds like it takes nothing back that was said in the same message.
    """
    open_to = [one for one in stands if one.kind in STANDING and (lift.sure or one.at < lift.at)]
    hit = [one for one in open_to if shares(lift, one) and not (one.at == lift.at and _is_part(lift, one))]
    telling = set(lift.words) - set(table()["generic"])
    if not hit and not (lift.paths or lift.programs or lift.acts or lift.code or telling):
        hit = [one for one in open_to if one.holds != RULE][-1:]
    if not hit and lift.sure and len(open_to) == 1 and not (lift.paths or lift.programs or lift.acts or lift.code):
        hit = open_to if open_to[0].holds != RULE and open_to[0].at < lift.at else []
    return [left for one in stands if (left := _rest(one, lift) if one in hit else one) is not None]


def _is_part(lift: Word, word: Word) -> bool:
    """Whether what is allowed lies in what the same message rules out: an exception, that takes nothing else back."""
    return bool(lift.paths) and all(
        any(path != own and _within(own, path) for own in word.paths) for path in lift.paths
    )


def _spared(stands: "list[Word]", word: Word) -> "list[Word]":
    """What stands after the user has said that something which they asked for may be left out."""
    low = lowered(word.clause)
    if word.kind == ASKED or not (re.search(table()["denies"], low) or re.search(table()["spares"], low)):
        return stands
    from insula.step.word.done import demands, mentions

    def is_spared(one: Word) -> bool:
        return any(re.search(mentions(demand), low) for demand in demands(one))

    return [one for one in stands if one.kind != ASKED or not is_spared(one)]


def _rest(word: Word, lift: Word) -> Word | None:
    """What is left of a word when some of what it names is taken back."""
    paths = tuple(
        path for path in word.paths if not any(_within(path, other) or _within(other, path) for other in lift.paths)
    )
    acts = tuple(act for act in word.acts if act not in lift.acts)
    if (paths and paths != word.paths) or (acts and acts != word.acts):
        return word.replace(paths=paths, acts=acts)
    return None


def _without(word: Word, asked: Word) -> Word | None:
    """A word after the user has asked for something: what they ask for themselves is no longer ruled out."""
    if word.kind not in STANDING or word.holds == RULE:
        return word
    if asked.acts and set(asked.acts) & set(word.acts) and not word.places:
        return _rest(word, asked)
    if word.kind == BAN and word.edits and not word.paths and _changes(asked) and _alike(asked.words, word.words) > 0:
        return None
    if word.kind == BAN and word.paths and any(_within(path, own) for path in asked.paths for own in word.paths):
        return _rest(word, asked)
    return word


def _changes(asked: Word) -> bool:
    """Whether a request is for something to be changed or brought up to date."""
    return asked.edits or re.search(table()["renews"], lowered(asked.clause)) is not None


def _replaces(new: Word, old: Word) -> bool:
    """Whether a word takes the place of an older one: the same again, or the other way round."""
    if old.kind not in STANDING:
        return False
    if new.said == old.said:
        return new.paths == old.paths and new.words == old.words and new.kind == old.kind
    if new.kind == ONLY and old.kind == ONLY:
        return new.at > old.at
    if new.likes and (new.likes in old.programs or (old.likes and set(new.programs) & {old.likes})):
        return True
    return new.kind == old.kind == HOW and new.at > old.at and _alike(new.words, old.words) >= 0.5


def shares(one: Word, other: Word) -> bool:
    """Whether two words name the same."""
    if any(_within(a, b) or _within(b, a) for a in one.paths for b in other.paths):
        return True
    if set(one.acts) & set(other.acts) or set(one.code) & set(other.code):
        return True
    if set(one.programs) & {*other.programs, other.likes} or ("push" in one.acts and "force-push" in other.acts):
        return True
    return _alike(one.words, other.words) > 0


def _within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it, however much of it is written."""
    return f"/{folder.strip('/').lower()}/" in f"/{path.strip('/').lower()}/"


def _alike(one: "Sequence[str]", other: "Sequence[str]") -> float:
    """The share of telling words that two texts have in common, by their beginnings."""
    first, second = {word[:5] for word in one}, {word[:5] for word in other}
    first, second = _spaced(first), _spaced(second)
    return len(first & second) / max(1, min(len(first), len(second)))


def _spaced(words: "set[str]") -> "set[str]":
    found: set[str] = set()
    for word in words:
        found |= {word[at : at + 2] for at in range(len(word) - 1)} if re.match("[\u3040-\u9fff]", word) else {word}
    return found
