"""What instructions a message of the user's holds: bans, ways, demands, and what it takes back.

What an instruction names decides what a call can be held against; where it names nothing that a call shows, it is only
told again. Where an act of version control is named, its negation is told by the form of the clause.
"""

import re

from insula.coding.step.instructions import heads
from insula.coding.step.instructions.clauses import (
    Clause,
    is_conditional,
    list_telling,
    load_table,
    lower_text,
    says,
    split_clauses,
)
from insula.coding.step.instructions.instruction import (
    ASKED,
    BAN,
    HERE,
    HOW,
    LIFT,
    MOMENT,
    NEXT,
    ONLY,
    SESSION,
    SPARED,
    STANDING,
    TASK,
    Instruction,
    cut_text,
)
from insula.coding.step.instructions.mentions import Named, find_named, is_place, list_command_names, list_things
from insula.coding.step.stop_words import DENIALS, LIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NAMED = 0.3
"""How probable it must be that a clause rules something out which denies in words that a file is touched, and names it.
"""
NOT_RUN = 0.4
"""The same of one that denies in words that something is run."""
POSSIBLE = 0.1
"""The same of one that denies an act by its form."""
UNNAMED = 0.8
"""The same of a ban that no call can be held against: it may as well be an opinion."""
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
SAID = 160
"""Characters of an instruction that are kept."""
TYPED = 400
"""Characters of a message that was surely typed: a longer one may hold logs, reports and plans of others."""


def extract_instructions(message: str) -> "tuple[Instruction, ...]":
    """What instructions a message of the user's holds, in order: bans, ways, demands, and what it takes back."""
    instructions: list[Instruction] = []
    before: Instruction | None = None
    here: tuple[str, ...] = ()  # paths that a pronoun may mean: named in this sentence
    above: tuple[str, ...] = ()  # ... and in the one before it
    sentence = supposed = ""
    clauses = split_clauses(message)
    for clause in clauses:
        if clause.sentence != sentence:
            sentence, above, here = clause.sentence, here, ()
        if before is not None and _bounds_ban(clause, before):
            instructions.pop()
            before = None
            continue
        instruction = None if _is_remark(clause) else _read_clause(clause, before)
        if before is not None and _shares_object(before, instruction, clause):
            instructions[-1] = before = instructions[-1].replace(acts=())
            continue
        if instruction is not None and supposed == clause.sentence:
            instruction = _suppose(instruction)
        if says(clause.low, "supposing", "pending"):
            supposed = clause.sentence
        if instruction is not None and not instruction.paths and _is_rest(instruction, clause.low):
            instruction = _narrow_scope(instructions.pop(), instruction) if instructions else None
        elif instruction is not None and before is not None and _belongs_to(instruction, before):
            instruction = instruction.replace(sure=False)
        elif instruction is not None and _points_back(instruction, clause):
            paths = here or above
            known = paths or not says(clause.low, "pronouns")
            instruction = instruction.replace(kind=BAN, paths=paths) if known else None
        if instruction is not None:
            instructions.append(instruction)
        before = instruction
        here = _list_spoken_of(clause, instruction, here)
    if len(message) <= TYPED:
        instructions += _list_asked(
            dict.fromkeys(clause.sentence for clause in clauses if not clause.asks), instructions
        )
    if instructions and says(message[:SAID].lower(), "closes"):
        instructions[0] = instructions[0].replace(closes=True)
    return tuple(_list_certain(instructions, message))


def _list_asked(sentences: "Iterable[str]", instructions: "Sequence[Instruction]") -> "Iterator[Instruction]":
    """What is asked for by a whole sentence: that a check is gone round, and that something is done so many times."""
    ruled = any("bypass" in each.acts for each in instructions)
    for sentence in sentences:
        asked = ("bypass" if not ruled and _asks_for_bypass(sentence) else "", "repeat" if _counts(sentence) else "")
        if acts := tuple(filter(None, asked)):
            said = cut_text(" ".join(sentence.split()), SAID)
            yield Instruction(kind=ASKED, said=said, acts=acts, sure=False)


def _counts(sentence: str) -> bool:
    return says(lower_text(sentence), "times")


def _asks_for_bypass(sentence: str) -> bool:
    """Whether a sentence names a check, and that it is gone round, and does not deny that: "the hook is broken, bypass
    it"."""
    low = lower_text(sentence)
    found = re.search(load_table()["bypasses"], low)
    ahead = re.split("[,;:.，；：。]", low[: found.start()])[-1] if found else ""
    return found is not None and not any(_denies_before(pattern, ahead) for pattern in load_table()["before"])


# Of one clause to the next.


def _suppose(instruction: Instruction) -> Instruction | None:
    """What an instruction is behind an "if": of "if it fails, don't push" nothing stands."""
    if instruction.kind == ASKED:
        return instruction.replace(sure=False)
    return None if instruction.kind in STANDING else instruction


def _bounds_ban(clause: Clause, before: Instruction) -> bool:
    """Whether a clause that denies hangs on a ban by nothing between, so that both say under which condition it may be
    done: "never commit | without signing" rules out no commit. Being asked is a condition that the user can show."""
    first = re.findall(_WORD, clause.low)[:1]
    hangs = not clause.joined and clause.ahead.rstrip()[-1:] not in set(",;:–—-") and not DENIALS.isdisjoint(first)
    of_ban = before.kind == BAN and clause.is_of_sentence(before.said[: SAID // 2])
    return hangs and of_ban and not says(clause.sentence.lower(), "asking")


def _is_remark(clause: Clause) -> bool:
    """Whether a clause is a remark in brackets, or what goes on behind one: its subject stands before that."""
    ahead = clause.ahead
    return ahead.count("(") > ahead.count(")") or (ahead.rstrip().endswith(")") and not clause.joined)


def _belongs_to(lift: Instruction, before: Instruction) -> bool:
    """Whether what may be done is how a request may be met: "build it, in parallel if you like"."""
    of_request = lift.kind == LIFT and before.kind == ASKED and before.said == lift.said
    return of_request and not (lift.paths or lift.acts)


def _shares_object(ban: Instruction, instruction: Instruction | None, clause: Clause) -> bool:
    """Whether a clause names one more act, and what both are done to: "don't commit and push the guide"."""
    if instruction is None or not clause.joined or ban.kind != BAN or not ban.acts or instruction.kind != ASKED:
        return False
    ends = [match.end() for act in instruction.acts for match in re.finditer(load_table()["acts"][act], clause.low)]
    return bool(ends) and not names_nothing(clause.low[max(ends) :])


def _is_rest(instruction: Instruction, low: str) -> bool:
    """Whether a clause says "nothing else" and no more."""
    return instruction.kind == ONLY and says(low, "rest")


def _narrow_scope(before: Instruction, rest: Instruction) -> Instruction:
    """What may be changed, to which "nothing else" was added: only that may be."""
    if before.kind != LIFT:
        return before
    return before.replace(kind=ONLY, holds=TASK, said=rest.said, text=rest.text, edits=True)


POINTING = 7
"""Words of a clause that says of something only that it is not to be changed, and of what by a pronoun alone."""
_WIDE_POINTING = 16
"""The same in characters, where no words are parted."""


def _points_back(instruction: Instruction, clause: Clause) -> bool:
    """Whether a clause rules out that something is changed which it names by a pronoun alone."""
    rules = instruction.kind == BAN or (instruction.kind == MOMENT and says(clause.low, "denies"))
    if not rules or not (instruction.edits or instruction.deletes) or instruction.paths or instruction.acts:
        return False
    if re.search(heads.WIDE, clause.low):
        return len(clause.low) <= _WIDE_POINTING
    bare = not list_telling(instruction.words)  # "hands off"
    return len(clause.low.split()) <= POINTING and (bare or says(clause.low, "pronouns"))


_IDENTIFIER = r"(?<![\w/.`])[a-z]+(?:_[a-z]+)+(?![\w(])"
"""A name that no prose has: of "third_party is vendored, hands off" it is the folder."""


def _list_spoken_of(clause: Clause, instruction: Instruction | None, before: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that a pronoun in the next clause means: those named last, unless they are to be changed."""
    paths = find_named(clause.text).paths or tuple(re.findall(_IDENTIFIER, clause.text))
    if not paths:
        return before
    asked = instruction is not None and instruction.kind == ASKED and not says(clause.low, "reads")
    return () if asked else paths


# What is certain.


def _list_certain(instructions: "Sequence[Instruction]", message: str) -> "Iterator[Instruction]":
    """The instructions, each with whether it orders something; of those that stand only what is certain.

    A long message is mostly a description of a task: of it only stands that files are to be left alone, these or all,
    until the next message. That nothing at all is to be changed holds as long wherever it is said.
    """
    typed = len(message) <= TYPED
    for instruction in instructions:
        orders = _begins_as_order(instruction)
        if instruction.kind not in STANDING:
            if typed or instruction.kind != MOMENT:
                yield instruction.replace(orders=typed and orders and instruction.kind == ASKED and instruction.sure)
        elif _is_certain(instruction, message, orders):
            brief = not typed or _is_every_file(instruction)
            yield instruction.replace(holds=HERE) if brief else instruction


def _is_certain(instruction: Instruction, message: str, orders: bool) -> bool:
    """Whether it stands for certain: a call can be held against it, or it is an order that denies by its first word.

    In a long message it must be both, and be about files. What no call can be held against is a limit only where it
    stands beside a task or names a path: alone it is the task itself. A way must be an order that names a program, or
    name one and what it takes the place of.
    """
    if len(message) > TYPED:
        files = (instruction.guards_files and _spells_path(instruction)) or _is_every_file(instruction)
        return instruction.kind == BAN and files and orders and _denies_first(instruction)
    if instruction.kind == HOW:
        both = instruction.programs and instruction.likes  # "npmではなくpnpmを使ってください。"
        return bool(both or (orders and (instruction.programs or instruction.likes)))
    if instruction.kind == ONLY:
        conditional = is_conditional(lower_text(instruction.clause))  # "if the only change is to *.md"
        return bool(instruction.paths) and not conditional and not _tells_how_it_is(instruction, orders)
    if _rules_out_calls(instruction):
        return orders or not instruction.paths or _leads_with_ban(instruction)
    beside = len(message.split()) > len(instruction.clause.split()) + BESIDE
    return orders and _denies_first(instruction) and bool(instruction.paths or beside)


def _tells_how_it_is(only: Instruction, orders: bool) -> bool:
    """Whether an "only" is no order: "only a.py uses it", "the only file we need is a.py", "it is in a.py only"."""
    low = strip_joins(lower_text(only.clause))
    if re.search(_ONLY_ONE, low):
        return not (says(low, "touches") and says(low, "frees"))  # "the only file that you may change"
    word = re.match(load_table()["only"], low)
    if word is None or not low[word.end() :].lstrip("有 `").startswith(only.paths[0].lower()):
        return not (orders or says(low, "touches") or re.search(heads.WIDE, low))
    whole = lower_text(only.said)  # "only a.py | and b.py use it"
    behind = re.sub(heads.PATH, " ", whole[whole.find(low) + word.end() :], flags=re.ASCII)
    return bool(list_things(re.split(r"[,;:.!?，。]\s|$", behind)[0])) or word[0].endswith("有")


_ONLY_ONE = r"\b(?:the|an?|my|our|your|its|this|that) only\b|(?:だけ|のみ)が"


def _spells_path(instruction: Instruction) -> bool:
    """Whether a path is written as nothing else is: with a dot, a slash at its end or in back quotes. "Do not remove
    existing modules/features" names no folder."""
    said = instruction.clause
    return any("." in path or f"{path}/" in said or f"`{path}" in said for path in instruction.paths)


def _leads_with_ban(instruction: Instruction) -> bool:
    """Whether a clause begins with what is to be left alone, or with who does not want it changed: "vendor/ is off
    limits", "I don't want x.py changed", and not "tell x.md never to say so"."""
    low = strip_joins(lower_text(instruction.clause)).replace("’", "'")
    paths = tuple(path.lower() for path in instruction.paths)
    return low.startswith(paths) or not DENIALS.isdisjoint(re.findall(_WORD, low)[:2])


BESIDE = 2
"""Words of the least task that a limit stands beside."""


def _denies_first(instruction: Instruction) -> bool:
    """Whether a clause denies by its first word; in scripts without spaces, where it denies at all."""
    low = strip_joins(lower_text(instruction.clause)).replace("’", "'")
    if re.search(heads.WIDE, low):
        return says(low, "denies")
    words = re.findall(_WORD, low)
    return bool(words) and (words[0] in DENIALS or words[:2] == ["do", "not"])


_WORD = r"[^\W\d_][\w']*"


def _rules_out_calls(instruction: Instruction) -> bool:
    """Whether a call can be held against it: it rules out an act, a program, a package, or that files are changed."""
    if instruction.kind == BAN and instruction.words and _sets_name_aside(instruction.said, instruction.clause):
        return True
    command = instruction.kind == BAN and _denies_first(instruction) and list_command_names(instruction)
    named = instruction.acts or instruction.programs or instruction.guards_files or command
    return bool(named) or _is_every_file(instruction)


def _is_every_file(instruction: Instruction) -> bool:
    """Whether nothing at all is to be changed: "do not edit files"."""
    changes = (instruction.edits or instruction.deletes) and not (instruction.paths or instruction.acts)
    every = changes and not list_telling(instruction.words)
    return instruction.kind == BAN and every and _denies_first(instruction)


def strip_joins(low: str) -> str:
    """A clause without what joins it to the one before it, without "please", and without a "no" that is an answer."""
    return re.sub(rf"^[^\w`]*(?:(?:{load_table()['joins']})|(?:{_BEFORE}) )*", "", low)


_BEFORE = (
    "but|aber|mais|pero|mas|ma|then|please|dann|bitte|puis|luego|depois|poi|no(?= (?:i|you|we|they|she|it|this|that) )"
)


def _begins_as_order(instruction: Instruction) -> bool:
    """Whether a clause begins with what is to be done or not: "then commit it", "don't touch it", and not "when running
    `make test`", "the tests failed", "`main.py` has no tests", "not committing merge"."""
    bare = strip_joins(lower_text(instruction.clause)).replace("’", "'")
    words = re.findall(_WORD, re.sub(rf"`[^`]*`?|{heads.PATH}", " ", bare, flags=re.ASCII))
    if instruction.kind in STANDING and len(words) < 2 and not (instruction.acts or re.search(heads.WIDE, bare)):
        return False  # "only `/`", "no `cmd`"
    first = words[0] if words and bare.startswith(words[0]) else ""
    if not first or first == "not":
        return False
    denies = first in DENIALS or words[:2] == ["do", "not"] or _begins_with(bare, "only")
    if denies and instruction.kind in STANDING:
        return True
    told = next((place for place, word in enumerate(words) if word in DENIALS), 0)
    if instruction.kind == BAN and told and words[told - 1] in LIGHT:
        return False  # "sometimes it fails, and then we don't want that"
    named = (*instruction.programs, *(path.lower() for path in instruction.paths))
    if first.split("'")[0] in LIGHT or bare.startswith(named):
        return False
    return not _begins_with(bare, "conditions", "tests", "suite", "lint", "types", "build")


def _begins_with(low: str, *kinds: str) -> bool:
    return any(re.match(load_table()[kind], low) for kind in kinds)


# What one clause means.


def _read_clause(clause: Clause, before: Instruction | None) -> Instruction | None:
    low = clause.low
    if says(low, "next") and len(clause.text) < 80:
        return Instruction(kind=NEXT, said=clause.text)
    kind, chance = _find_meaning(clause.text, low)
    if kind in _RULING and (clause.asks or clause.sentence.rstrip(" \"')").endswith(("?", "？"))):
        return None
    is_aside = says(low, "aside")
    if kind in STANDING and (is_aside or says(low, "reversals")):  # "don't leave it as it is" orders a change
        return None
    named = find_named(clause.text)
    formed = _find_form(clause, before, named, kind, chance, is_aside)
    if formed:
        return _make_instruction(formed, clause, named).replace(
            sure=formed != LIFT or _is_exception(clause, before, named)
        )
    if clause.joined and before is not None and _continues_instruction(before.kind, kind, chance, low, named):
        kind, chance = before.kind, 1.0 if before.sure else chance
    elif _is_listed(clause, before):
        kind, chance = ASKED, 1.0
    elif kind not in SURE or chance < SURE[kind]:
        return _read_doubtful(clause, named)
    instruction = _make_instruction(kind, clause, named)
    if kind == BAN and before is not None and _is_one_more_path(clause):  # "don't touch vendor/ | or legacy/a.py"
        instruction = instruction.replace(edits=before.edits, deletes=before.deletes)
    if kind == ASKED:
        return instruction.replace(sure=chance >= DEMANDED and not clause.asks)
    if kind == BAN and not (instruction.paths or _rules_out_calls(instruction)):
        first = strip_joins(low).split(maxsplit=1)[:1]
        tells = clause.joined and before is None and bool(_ADJACENT.intersection(first))
        if tells or chance < UNNAMED:  # "it has a shell and no monitor"
            return None
    return instruction


def _find_form(
    clause: Clause, before: Instruction | None, named: Named, kind: str, chance: float, is_aside: bool
) -> str:
    """What a clause means by its form alone, whatever else it may mean: an exception, a denied act, a lifting."""
    low = clause.low
    if _is_exception(clause, before, named):
        return LIFT
    open_to_form = (kind not in STANDING or chance < SURE[kind]) and not is_aside and not clause.asks
    if open_to_form and any(_is_ruled_out(act, low) for act in list_denied(low)) and _may_rule(clause.text):
        return BAN
    certain = kind == ASKED and chance >= CERTAIN
    if kind != LIFT and not certain and (kind not in _RULING or says(low, "ended")) and _frees_act(low):
        return LIFT
    if before is None or len(low.split()) > BRIEF:
        return ""
    sets_aside = named.unwanted and (before.likes or before.programs)
    return BAN if sets_aside or (before.kind == ASKED and _sets_name_aside(clause.sentence, clause.text)) else ""


def _sets_name_aside(sentence: str, clause: str) -> bool:
    """Whether a sentence is "use X, not Y" of two names and nothing else, and the clause is its second half."""
    words, name = load_table(), r"[@\w][\w.@/-]*"
    ahead, _, _ = strip_joins(lower_text(sentence)).rpartition(lower_text(clause))
    denial = re.sub(rf"{name}\W*$", "", lower_text(clause))
    uses = re.fullmatch(rf"(?:{words['uses']})\s+{name}[,\s]*", ahead)
    return uses is not None and re.fullmatch(words["negations"]["before"], denial) is not None


def _is_exception(clause: Clause, before: Instruction | None, named: Named) -> bool:
    """Whether a clause names what is excepted from a ban: "… except crates/parser"."""
    if not named.paths or not re.match(rf"\W*(?:{load_table()['except']})", clause.low):
        return False
    return (before is not None and before.kind == BAN) or says(clause.ahead.lower(), "denies")


def _may_rule(text: str) -> bool:
    """Whether a clause may rule something out at all: "the build never commits its output" tells of a program."""
    chances = heads.score_clause("prompt", text)
    return sum(chances[kind] for kind in _RULING) >= POSSIBLE


def _read_doubtful(clause: Clause, named: Named) -> Instruction | None:
    """What a clause may do that surely means nothing: spare something, or ask for an act."""
    low = clause.low
    needless = len(low.split()) <= BRIEF + 1 and says(low, "denies")
    if needless or says(low, "spares"):
        return _make_instruction(SPARED, clause, named)
    asks = named.acts and not says(low, "denies")
    return _make_instruction(ASKED, clause, named).replace(sure=False) if asks else None


def _find_meaning(text: str, low: str) -> "tuple[str, float]":
    """The likeliest meaning of a clause, and how likely it is; whether something stands comes before what.

    A head alone takes a sentence about commits for one against them; so a ban has to deny or keep something in words,
    and what is said with "except" is read by whether it denies before that.
    """
    chances = heads.score_clause("prompt", _without_scope(text))
    ruling = sum(chances[meaning] for meaning in STANDING)
    kind = max(STANDING, key=lambda meaning: chances[meaning])
    apart = re.search(load_table()["except"], low)
    if apart is not None and ruling >= SURE["except"]:
        ahead = low[: apart.start()] if low.isascii() or apart.start() > 4 else low
        denied = says(ahead, "denies", "keeps") or re.search("[不别]|ない|ません", low[apart.end() :])
        denied = denied or apart[0].startswith(("nothing", "nichts"))  # "change nothing but src/"
        kind = ONLY if denied else BAN
        return kind, max(ruling, SURE[kind]) if ahead.strip() else SURE[kind]  # "outside of …" alone says of what it is
    named = find_named(text)
    denies, has_path = says(low, "denies"), re.search(heads.PATH, text, flags=re.ASCII)
    if ruling >= NAMED and denies and named.paths and says(low, "touches", "deletes"):
        return (ONLY if kind == ONLY and says(low, "only") else BAN), max(ruling, SURE[BAN])
    if ruling >= NOT_RUN and denies and says(low, "runs"):
        return BAN, max(ruling, SURE[BAN])
    if ruling < SURE[BAN]:
        kind = max(chances, key=lambda meaning: chances[meaning])
        return kind, chances[kind]
    if kind == BAN and not denies and not says(low, "keeps"):
        acts = any(re.search(pattern, low) for pattern in load_table()["acts"].values())
        return HOW if ruling >= SURE[HOW] and not acts else "none", ruling  # "the names stay in English"
    if kind == HOW and "`" not in text and has_path and says(low, "keeps"):
        return BAN, ruling  # "vendor/ stays as it is"
    if kind == ONLY and not has_path and named.wanted:
        return HOW, max(ruling, SURE[HOW])  # "we only use yarn here"
    if kind == ONLY and not says(low, "alone") and not (chances[ONLY] >= PLAIN and has_path):
        return "none", ruling
    return kind, ruling


def _without_scope(text: str) -> str:
    """A clause without its "for this ticket", which says nothing of what is meant."""
    match = re.search(load_table()["task"], text.lower())
    return f"{text[: match.start()]} {text[match.end() :]}" if match is not None else text


def _is_listed(clause: Clause, before: Instruction | None) -> bool:
    """Whether a clause is one of what must be so in the end: "done means: lint clean, README updated"."""
    if before is None or before.kind != ASKED or len(clause.low) > 60 or clause.asks or says(clause.low, "denies"):
        return False
    return clause.is_of_sentence(before.said[: SAID // 2]) and says(before.said.lower(), "ending")


def _frees_act(low: str) -> bool:
    """Whether a clause says that something may be done, or that a rule is over, whatever else it may mean: what was
    ruled out of that is in doubt then, and what is in doubt is held against nobody."""
    return says(low, "ended") or (says(low, "frees") and not says(low, "denies"))


def _continues_instruction(before: str, kind: str, chance: float, low: str, named: Named) -> bool:
    """Whether a clause behind "and" or "or" has no verb of its own: it names one more thing of the same."""
    if before not in STANDING and (before != ASKED or says(low, "denies")):
        return False
    if kind == ASKED and before in STANDING and chance >= CERTAIN:
        return False
    rest = re.sub(load_table()["joins"], "", low, count=1).split()
    return kind in {*STANDING, ASKED, "none"} and len(rest) <= 4 and bool(named.paths or named.acts or named.wanted)


def _is_one_more_path(clause: Clause) -> bool:
    """Whether a clause goes on with a path, and no word besides: what is said of it stands before."""
    return clause.joined and re.fullmatch(heads.PATH, strip_joins(clause.text).rstrip(".!"), re.ASCII) is not None


# What an instruction is made of.


def _make_instruction(kind: str, clause: Clause, named: Named) -> Instruction:
    low = clause.low
    acts = tuple(act for act in named.acts if kind not in STANDING or _is_ruled_out(act, low))
    touches, paths = says(low, "touches"), named.paths
    if kind == BAN and paths and not named.acts:
        touches = touches or says(low, "keeps") or _stands_first(paths[0], low)
        paths = tuple(path for path in paths if not is_place(path, low))
    placed, paths = not paths and bool(named.paths), paths or named.paths
    depends = is_conditional(re.sub(load_table()["until"], " ", low))  # what is ruled out until something is so now
    said = _show_sentence(clause)
    return Instruction(
        kind=kind,
        said=said,
        text=clause.text[:SAID] if clause.text[:SAID] != said else "",
        holds=HERE if kind == MOMENT else TASK if says(clause.sentence.lower(), "task") else SESSION,
        paths=paths,
        programs=_list_banned(kind, named, low),
        acts=acts,
        places=_list_places(low) if _PLACED & set(acts) else (),
        code=named.code,
        words=named.words,
        edits=kind == ONLY or (touches and not (depends or placed)),
        deletes=says(low, "deletes") and not (depends or placed),
        likes=named.wanted[0] if kind == HOW and named.wanted else "",
    )


_PLACED = frozenset(("push", "force-push", "commit", "amend", "merge", "rebase", "reset"))
"""Acts of which one may rule out that they are done to a branch."""


def _stands_first(path: str, low: str) -> bool:
    """Whether a path stands before what denies: "X is not to be touched", and not "import nothing from X"."""
    denies, place = re.search(load_table()["denies"], low), low.find(path.lower())
    if denies is None or not 0 <= place < denies.start():
        return False
    between = low[place + len(path) : denies.start()].split()
    return len(between) <= _BETWEEN  # not "lib.rs is one file of … with no test"


def _list_banned(kind: str, named: Named, low: str) -> tuple[str, ...]:
    if kind != BAN:
        return named.unwanted if kind in {HOW, ONLY} else named.wanted
    used = says(low, "uses")
    said = (program for program in named.wanted if used or " " in program or _is_bare(program, low))
    return (*said, *named.unwanted)


def _is_bare(program: str, low: str) -> bool:
    """Whether a clause says little more than "no" and the name of a program."""
    return len(re.findall(r"\w+", low.replace(program, " "))) <= 3


def _list_places(low: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(next(filter(None, match)) for match in re.findall(load_table()["places"], low)))


def _show_sentence(clause: Clause) -> str:
    """The sentence, or the clause of it where that is long."""
    sentence = " ".join(clause.sentence.split())
    return cut_text(sentence if len(sentence) <= SAID else " ".join(clause.text.split()), SAID)


# Acts that are denied.


def _is_ruled_out(act: str, low: str) -> bool:
    """Whether an act is ruled out as such, and not of one thing alone or under a condition."""
    words = load_table()
    matches = list(re.finditer(words["acts"][act], low))
    if is_conditional(low):
        return False
    first, last = matches[0], matches[-1]
    if says(low, "places") or says(low[last.end() :], "asking"):
        return True
    about = re.split(words["reasons"], low[last.end() :], maxsplit=1)[0]
    return not says(low[: first.start()], "one_thing") and names_nothing(about)


def names_nothing(text: str) -> bool:
    """Whether a text has only small words, so that no object is among them."""
    if re.match(_OF_FILES, text) or re.search(_CODE, text) or not _begins_with(re.sub(_LATIN, " ", text), "tail"):
        return False
    return all(word in LIGHT or word in DENIALS or _begins_with(word, "tail") for word in re.findall(_LATIN, text))


_OF_FILES = r"\s+(?:folders?|director(?:y|ies)|files?|modules?)\b"
"""Behind the name of an act: "the migrations folder" names files and no act."""
_CODE = r"[/\\`_]|\w\.\w"
_LATIN = rf"(?:(?!{heads.WIDE})[^\W_])+(?:['’-](?:(?!{heads.WIDE})[^\W_])+)*"
_NEAR, _BEHIND = 42, 24
"""Characters between a negation and what it is about: before it, and behind it."""
_BETWEEN = 4
"""Words between them."""
_ADJACENT = frozenset(("no", "kein", "keine", "keinen", "pas de", "aucun", "niente", "nessun"))
"""Negations of nouns: "no commits" is a wish, "no condensation commit" tells what is missing."""


def list_denied(low: str) -> "list[str]":
    """The acts that a clause, in small letters, denies."""
    acts = load_table()["acts"]
    denied = [act for act in acts if any(_is_denied(low, match) for match in re.finditer(acts[act], low))]
    return [act for act in denied if not (act == "push" and "force-push" in denied)]


_PASSIVE_REPORT = r"\b(?:is|are|was|were)(?:n['’]t| not)\s+$"
"""Before an act: "the files are not reset" tells how it is."""


def _is_denied(low: str, act: "re.Match[str]") -> bool:
    if re.search(_PASSIVE_REPORT, low[: act.start()]):
        return False
    before, after = low[max(0, act.start() - _NEAR) : act.start()], low[act.end() : act.end() + _BEHIND]
    if any(_denies_before(pattern, before) for pattern in load_table()["before"]):
        return True
    return any(re.match(rf"\W{{0,3}}(?:\w+\W+){{0,2}}?(?:{pattern})", after) for pattern in load_table()["after"])


def _denies_before(pattern: str, before: str) -> bool:
    last = next(reversed(list(re.finditer(pattern, before))), None)
    if last is None:
        return False
    between = before[last.end() :].split()
    if between and last[0].strip() in _ADJACENT:
        return False
    return len(between) <= _BETWEEN and not says(before[last.end() :], "innocent")
