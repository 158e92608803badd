"""What a message demands of the form of its answer: counts, lengths, formats, "only", "without", ordered steps.

Only what the user asks for in their own words counts: not what is quoted, pasted or said of other texts ("What did the
author say in three words?"). The phrases of each language stand in `constraints.json` as alternatives of a regular
expression; what a constraint means is the same in all of them.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Literal, cast

from insula.text.analysis import LANGUAGES, Analysis, content_words, sentence, without_code
from insula.text.constraint_phrases import ABSENT, BOUNDS, FORMS, UNITS, Table, table_of
from insula.text.demand import EXACT, Constraint, Kind, Unit, range_of
from insula.text.fragments import SOLE, alone, capped, verses
from insula.text.grammar import UNSPACED, grammar
from insula.text.questions import AskKind, asks_in

MOST = 8
"""Constraints of one message that are read; nobody keeps more."""
MAX_SENTENCES = 24
"""Sentences of a message that are read."""
MAX_CHARS = 400
"""A longer sentence is pasted."""
UNSURE_CHARS = 60
"""The language of a shorter message is often a guess."""

_WISHED: frozenset[AskKind] = frozenset({"request", "list", "code", "how_to", "why", "open", "choice"})
_TOLD: frozenset[AskKind] = frozenset({"request", "list", "code"})
_QUOTED = re.compile(
    r"(?<!\w)'[^'\n]{2,200}'(?!\w)|\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|「[^」\n]{0,200}」"
)
_WORD_QUOTED = re.compile(r"[\"“„«「『'](\w{1,4})[\"”“»」』'](?!\w)")
"""The "yes" and the "no" that are to be answered."""
_CLAUSE = re.compile(r"[,;:.!?，、；：。！？]")
_COLON = re.compile(r"[:：](?=\s|$|[\u3040-\u9fff「“\"])")
_FRAGMENT = 9
"""Words of a fragment that demands something by itself: "Exactly five words, please." """
_NEAR = 16
"""Characters behind a count within which "each" makes it one of a part."""
_RELATIVE = 4
"""Characters at the end of a form, where a relative pronoun may stand ("un tableau qui …")."""
_OPENING = 3
"""Words before the number in a request that only names what is wanted."""
_JSON = re.compile(
    r"(?<!\w)(?:as|in|into|en|como|au|als|im|em|come|formato?|format|valid|only|just|nur|solo|só|seulement|以|用|返回|输出)"
    r"[ -]?(?:\w+ )?(?i:json)(?!\w)|(?i:json)(?:形式|格式)?(?:で|输出|返回)|(?i:json)(?:[ -]format|-Format)?[.!]?\s*$",
)


def constraints(message: Analysis) -> tuple[Constraint, ...]:
    """The demands of a message, in order; none where its language is not known."""
    if message.language not in LANGUAGES:
        return ()
    found = _found(message, message.language)
    if not found and len(message.text) <= UNSURE_CHARS and message.language not in UNSPACED:  # too short to be sure of
        several = message.text.endswith("?") and "," in message.text
        others = (
            _found(message, each)
            for each in LANGUAGES
            if each not in {*UNSPACED, message.language} and (several or table_of(each).hint.search(message.text))
        )
        found = next(filter(None, others), ())
    return found


def _found(message: Analysis, language: str) -> tuple[Constraint, ...]:
    found: dict[tuple[Kind, str], Constraint] = {}
    for text in _own_sentences(message, language):
        for one in _read(text, language):
            found.setdefault((one.kind, one.what), one)
    told = [one for one in found.values() if not _is_of_parts(one, message.text, language)]
    table = any(one.kind == "table" for one in told)  # its lines are rows, and its head is none
    return tuple(one for one in told if not (table and one.kind == "lines"))[:MOST]


def _is_of_parts(one: Constraint, text: str, language: str) -> bool:
    """Whether a count is one of each part of the answer ("six letters each"), which are not told apart here."""
    at = text.replace("’", "'").find(one.text)
    counted = one.kind in UNITS or one.kind == "letters"
    return counted and at >= 0 and table_of(language).each.search(text, at, at + len(one.text) + _NEAR) is not None


def _own_sentences(message: Analysis, language: str) -> Iterator[str]:
    """The sentences that the user asks something with, each without what is pasted behind its colon."""
    message_text = without_code(message.text) if "```" in message.text else ""
    for each in message.sentences[:MAX_SENTENCES]:
        text = each.text.replace("’", "'")
        if len(text) > MAX_CHARS or (message_text and each.text not in message_text):
            continue
        if (told := _told_first(text)) is not None:
            yield told
        head, pasted = _before_paste(text, language)
        yield text if pasted and _only_steps(text, language) else head
        if pasted:
            return


def _told_first(text: str) -> str | None:
    """The few words before the colon of a message that say how to answer it ("Only the date: when did …?")."""
    colon = _COLON.search(text)
    head = text[: colon.start()] if colon else ""
    return head if head and len(head.split()) <= _FRAGMENT and len(head) <= UNSURE_CHARS else None


def _before_paste(text: str, language: str) -> tuple[str, bool]:
    """What stands before the colon of "Summarise this in two sentences: …", and whether there was one."""
    colon = _COLON.search(_unquoted(text))
    if colon is None or colon.start() < 4:
        return text, False
    head = text[: colon.start()]
    rules = grammar(language)
    requested = rules.request.search(head) is not None
    return (head, not text[colon.end() :].strip() or bool(requested)) if requested else (text, False)


def _only_steps(text: str, language: str) -> bool:
    """Whether nothing but the marks of steps stands behind a colon ("the steps: first, then, finally")."""
    tail = _COLON.split(text, maxsplit=1)[-1]
    return len(tail) <= UNSURE_CHARS and not any(map(str.isalnum, table_of(language).patterns["steps"].sub("", tail)))


def _read(text: str, language: str) -> Iterator[Constraint]:
    """The demands of a sentence, but for those that somebody else made ("My teacher wants exactly 300 words")."""
    reported = [match.start() for match in table_of(language).patterns["reported"].finditer(text)]
    for one in chain(_said(text, language), capped(_unquoted(text), table_of(language))):
        at = text.find(one.text)
        if not any(start < at and not _CLAUSE.search(text, start, at) for start in reported):
            yield one


def _unquoted(text: str) -> str:
    return _QUOTED.sub(lambda found: " " * len(found[0]), text)


def _said(text: str, language: str) -> Iterator[Constraint]:
    table = table_of(language)
    if text.endswith("?") and "," in text:
        yield from _questioned(text, table)
    if table.hint.search(text) is None:
        return
    plain = _unquoted(text)
    yield from alone(plain, table)
    yield from verses(plain, table)
    if not plain.rstrip().endswith(("?", "？")):
        yield from _stepped(plain, table)
    kinds = _kinds(text, language)
    if "why" not in kinds:
        yield from _left_out(plain, table)
    wished = bool(table.wish.search(plain) or table.told.match(plain)) or _is_fragment(plain, table)
    wished = wished or _stands_before(plain, table) or (not kinds and _is_named(plain, table))
    wished = wished or (not table.spaced and bool(table.patterns["verbs"].search(plain)) and plain[-1] not in "?？")
    if not (kinds & _WISHED or wished or (kinds and table.strict.search(plain))):
        return
    asked = table.question.search(plain) is not None and not wished
    if kinds & _TOLD or wished:
        yield from _compound(plain, table)
    yield from _counted(plain, text, kinds, wished, table)
    if not asked and "code" not in kinds:
        yield from _formed(plain, table)
    yield from _sole(plain, _WORD_QUOTED.sub(r"\1", text), table)
    yield from _absent(plain, text, table)
    yield from _bordered(text, table)


def _kinds(text: str, language: str) -> frozenset[AskKind]:
    return frozenset(ask.kind for ask in asks_in(sentence(text, language), language))


def _is_fragment(text: str, table: Table) -> bool:
    """Whether a few words demand a form by themselves ("Exactly five words." "No emojis.")."""
    few = len(text.split()) <= _FRAGMENT and len(text) <= 60
    return few and bool(table.opening.match(text))


def _stands_before(text: str, table: Table) -> bool:
    """Whether a demand stands before what is asked ("Without the word blue, describe the sky")."""
    _, comma, asked = text.partition(",")
    told = table.request(asked.strip()) or table.question.match(asked.strip(" ¿"))
    return bool(comma and told and table.opening.match(text))


def _counted(text: str, whole: str, kinds: frozenset[AskKind], wished: bool, table: Table) -> Iterator[Constraint]:
    for match in table.quantity.finditer(text):
        groups = match.groupdict()
        unit = cast(Unit, next((unit for unit in UNITS if groups.get(unit)), "items"))
        bound = next((name for name in BOUNDS if groups.get(name)), "")
        after = next((name for name in BOUNDS if groups.get(f"after_{name}")), "")
        wanted = kinds & _TOLD or table.told.match(text) or _is_named(text[: match.start()], table)
        told = bool(groups["enumerate"]) or (bool(groups["of"]) and bool(wanted))
        asked = bool(kinds) and not kinds & _TOLD and not wished
        placed = bool(groups["in"] or groups.get("after_in") or groups.get("hyphen"))
        placed = placed or bool(table.patterns["in_one"].fullmatch(groups["n"]))
        placed = placed or (not table.spaced and bool(table.patterns["verbs"].match(text, match.end())))
        if asked:  # "what did he say in three words?" demands nothing; "what is DNS, in three words?" does
            placed = placed and text[: match.start()].rstrip()[-1:] in {"", ",", "，", "、"}
        told = told or (unit == "items" and bool(table.enumerated.search(text, match.end())))
        if not (bound or after or told or placed):
            continue
        if kinds and not kinds & _WISHED and not (wished or bound == "exactly"):
            continue
        if unit == "characters" and table.spaced and not (bound or after):
            continue
        number, upto = table.number(groups["n"]), table.number(groups["m"] or "")
        if groups["enumerate"] and unit == "words" and not (bound or after) and number <= EXACT:
            unit = "items"
        aside = groups.get("between") or ""
        if bound == "about" and number < EXACT:  # "a story about two words"
            continue
        if not number or (unit == "items" and number < 2) or (number == 1 and aside and not table.number(aside)):
            continue
        least, most = range_of(number, upto, after or bound)
        yield Constraint(unit, whole[match.start() : match.end()].strip(), least, most, "", table.language)


def _is_named(text: str, table: Table) -> bool:
    """Whether a request only names what is wanted ("A slogan of five words for a bakery.")."""
    match = table.quantity.search(text)
    head = (text[: match.start()] if match else text).split()
    return 1 < len(head) <= _OPENING and table.number(head[0]) == 1 and text[-1:] not in "?？"


def _compound(text: str, table: Table) -> Iterator[Constraint]:
    """A number in one word with its unit ("a six-word slogan")."""
    for match in table.patterns["compound"].finditer(text):
        unit = cast(Unit, next(unit for unit in UNITS if match[unit]))
        yield Constraint(unit, match.group(), *range_of(table.number(match["n"]), 0, ""), "", table.language)


def _formed(text: str, table: Table) -> Iterator[Constraint]:
    for form in FORMS:
        match = table.patterns[form].search(text)
        if match is None or table.question.search(match.group()[:-_RELATIVE]):  # "in welcher Tabelle"
            continue
        if not table.negated.search(text, max(0, match.start() - 24), match.start()):
            yield Constraint(form, match.group().strip(), language=table.language)
    if match := _JSON.search(text):
        yield Constraint("json", match.group().strip(" .!"), language=table.language)


def _sole(text: str, whole: str, table: Table) -> Iterator[Constraint]:
    for kind, name in SOLE:
        if match := table.patterns[name].search(text):
            yield Constraint(kind, match.group().strip(), language=table.language)
    if match := table.patterns["yes_no"].search(whole):
        kind: Kind = "yes_no" if table.only.search(match.group()) else "opens_yes_no"
        yield Constraint(kind, match.group().strip(), language=table.language)


def _absent(text: str, whole: str, table: Table) -> Iterator[Constraint]:
    for kind in ABSENT:
        if match := table.patterns[kind].search(text):
            yield Constraint(kind, match.group().strip(), language=table.language)
    for name, among in (("word", whole), ("bare_word", text)):
        for match in table.patterns[name].finditer(among):
            yield Constraint("word", match.group().strip(), what=match["w"].strip(" .,"), language=table.language)
    for match in table.patterns["mention"].finditer(text):
        what = match["w"] or match.groupdict().get("v") or ""
        if content_words(what, table.language):
            yield Constraint("word", match.group().strip(), what=what, language=table.language)
    if match := table.patterns["letters"].search(text):
        number = table.number(match["n"] or match["m"])
        yield Constraint("letters", match.group().strip(), number, number, language=table.language)
    if match := table.patterns["letter"].search(whole):
        yield Constraint("letter", match.group().strip(), what=match["c"], language=table.language)


def _left_out(text: str, table: Table) -> Iterator[Constraint]:
    """What is not to be in what is cooked ("pesto without garlic")."""
    for match in table.patterns["thing"].finditer(text):
        if not table.spaced or content_words(match["w"], table.language):
            yield Constraint("thing", match.group().strip(), what=match["w"], language=table.language)


def _bordered(text: str, table: Table) -> Iterator[Constraint]:
    borders: tuple[Literal["begin", "end"], ...] = ("begin", "end")
    for kind in borders:
        if match := table.patterns[kind].search(text):
            what = match["w"] or match.groupdict().get("v") or ""  # German may say it at the end
            yield Constraint(kind, match.group().strip(), what=what.strip(), language=table.language)
    if match := table.patterns["end_question"].search(text):
        yield Constraint("end_question", match.group().strip(), language=table.language)


def _stepped(text: str, table: Table) -> Iterator[Constraint]:
    """Ordered steps ("first define it, then give an example, finally …"), where each is told to be done."""
    if not table.patterns["steps_open"].search(text):
        return
    marks = list(table.patterns["steps"].finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    told = sum(
        1
        for mark, end in zip(marks, ends, strict=True)
        if table.tells(text[mark.end() : end].strip(" ,，、")) or table.request(text[: mark.start()][-40:].strip())
    )
    between = [text[one.end() : other.start()] for one, other in pairwise(marks)]
    if len(marks) > 2 and not any(map(str.isalnum, "".join(between))):  # "the steps: first, then, finally"
        told = len(marks)
    if len(marks) >= 2 and (told >= 2 or (told and len(marks) > 2)):
        yield Constraint("steps", text.strip(), len(marks), language=table.language)


def _questioned(text: str, table: Table) -> Iterator[Constraint]:
    """Several questions in one sentence ("Who wrote it, when, and what is it about?")."""
    pieces = [piece.strip(" ¿?？") for piece in table.joined.split(text)]
    asking = [piece for piece in pieces if table.question.match(piece.lstrip("¿ "))]
    joined = bool(table.joined_last.search(text))
    if pieces and asking and asking[0] == pieces[0] and len(asking) >= (2 if joined or len(pieces) > 2 else 3):
        yield Constraint("questions", text.strip(), len(asking), language=table.language)
