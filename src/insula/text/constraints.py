"""What a message demands of the form of its answer: counts, lengths, formats, "only", "without", ordered steps.

Only what the user asks for in their own words counts: not what is quoted, pasted or said of other texts ("What did the
author say in three words?"). The phrases of each language stand in `constraints.json` as alternatives of a regular
expression; what a constraint means is the same in all of them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Literal, NamedTuple, cast

from insula.text.analysis import LANGUAGES, Analysis, analyse_sentence, content_words, without_code, words_of
from insula.text.constraint_phrases import ABSENT, ALONE, BOUNDS, FORMS, UNITS, Table, table_of
from insula.text.grammar import UNSPACED, load_grammar
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
_BREAK = re.compile(r"[,;:.!?，；：。！？、()（）\n]+|\s[-–—]+\s")
_COUNTED = 12
"""Up to so many things are counted where no unit is named."""
_REST = re.compile(r"[^\W_]")

Unit = Literal["words", "sentences", "paragraphs", "lines", "characters", "items"]
Form = Literal["table", "json", "bullets", "numbered", "upper", "lower"]
Sole = Literal["number", "name", "code", "yes_no"]
Absent = Literal["emoji", "lists", "digits"]
Kind = Literal[
    Unit,
    Form,
    Sole,
    Absent,
    "opens_yes_no",
    "word",
    "begin",
    "end",
    "end_question",
    "steps",
    "questions",
]

EXACT = 12
"""Up to this number "in three sentences" means three; "in 100 words" means about so many."""
TOLERANCE, WIDE_TOLERANCE = 0.2, 0.5
"""How far one may be from such a number, and from one that is called rough."""
SOLE: tuple[tuple[Sole, str], ...] = (("number", "sole"), ("name", "sole_name"), ("code", "sole_code"))
"""What may be all that is wanted, and the pattern that says so."""


class Constraint(NamedTuple):
    """One demand on the form of an answer."""

    kind: Kind
    text: str
    """As it stands in the message."""
    least: int = 0
    most: int = 0
    """0: no upper bound."""
    what: str = ""
    """The word, letter or phrase that is demanded or unwanted."""
    language: str = "en"


def range_of(number: int, upto: int, bound: str) -> tuple[int, int]:
    """The least and the most that a number with its bound allows."""
    match bound:
        case "most":
            return 0, upto or number
        case "below":
            return 0, number - 1
        case "least":
            return number, 0
        case "exactly":
            return number, upto or number
        case "about":
            return int(number * (1 - WIDE_TOLERANCE)), int((upto or number) * (1 + WIDE_TOLERANCE)) + 1
        case _ if number <= EXACT:
            return number, max(upto, number)
        case _:
            return int(number * (1 - TOLERANCE)), int((upto or number) * (1 + TOLERANCE)) + 1


def find_constraints(message: Analysis) -> tuple[Constraint, ...]:
    """The demands of a message, in order; none where its language is not known."""
    if message.language not in LANGUAGES:
        return ()
    constraints = _find_in_message(message, message.language)
    if (
        not constraints and len(message.text) <= UNSURE_CHARS and message.language not in UNSPACED
    ):  # too short to be sure of
        several = message.text.endswith("?") and "," in message.text
        others = (
            _find_in_message(message, each)
            for each in LANGUAGES
            if each not in {*UNSPACED, message.language} and (several or table_of(each).hint.search(message.text))
        )
        constraints = next(filter(None, others), ())
    return constraints


def _find_in_message(message: Analysis, language: str) -> tuple[Constraint, ...]:
    constraints: dict[tuple[Kind, str], Constraint] = {}
    for text in _own_sentences(message, language):
        for constraint in _read_sentence(text, language):
            constraints.setdefault((constraint.kind, constraint.what), constraint)
    told = [constraint for constraint in constraints.values() if not _is_of_parts(constraint, message.text, language)]
    table = any(constraint.kind == "table" for constraint in told)  # its lines are rows, and its head is none
    return tuple(constraint for constraint in told if not (table and constraint.kind == "lines"))[:MOST]


def _is_of_parts(constraint: Constraint, text: str, language: str) -> bool:
    """Whether a count is one of each part of the answer ("six letters each"), which are not told apart here."""
    at = text.replace("’", "'").find(constraint.text)
    counted = constraint.kind in UNITS
    return (
        counted and at >= 0 and table_of(language).each.search(text, at, at + len(constraint.text) + _NEAR) is not None
    )


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
    colon = _COLON.search(_drop_quotations(text))
    if colon is None or colon.start() < 4:
        return text, False
    head = text[: colon.start()]
    rules = load_grammar(language)
    requested = rules.request.search(head) is not None
    return (head, not text[colon.end() :].strip() or bool(requested)) if requested else (text, False)


def _only_steps(text: str, language: str) -> bool:
    """Whether nothing but the marks of steps stands behind a colon ("the steps: first, then, finally")."""
    tail = _COLON.split(text, maxsplit=1)[-1]
    return len(tail) <= UNSURE_CHARS and not any(map(str.isalnum, table_of(language).patterns["steps"].sub("", tail)))


def _read_sentence(text: str, language: str) -> Iterator[Constraint]:
    """The demands of a sentence, but for those that somebody else made ("My teacher wants exactly 300 words")."""
    reported = [match.start() for match in table_of(language).patterns["reported"].finditer(text)]
    for constraint in chain(
        _sentence_constraints(text, language), cap_constraints(_drop_quotations(text), table_of(language))
    ):
        at = text.find(constraint.text)
        if not any(start < at and not _CLAUSE.search(text, start, at) for start in reported):
            yield constraint


def _drop_quotations(text: str) -> str:
    return _QUOTED.sub(lambda match: " " * len(match[0]), text)


def _sentence_constraints(text: str, language: str) -> Iterator[Constraint]:
    table = table_of(language)
    if text.endswith("?") and "," in text:
        yield from _question_constraints(text, table)
    if table.hint.search(text) is None:
        return
    plain = _drop_quotations(text)
    yield from clause_constraints(plain, table)
    if not plain.rstrip().endswith(("?", "？")):
        yield from _step_constraints(plain, table)
    kinds = _ask_kinds(text, language)
    wished = bool(table.wish.search(plain) or table.telling_opener.match(plain)) or _is_fragment(plain, table)
    wished = wished or _stands_before(plain, table) or (not kinds and _is_named(plain, table))
    wished = wished or (not table.spaced and bool(table.patterns["verbs"].search(plain)) and plain[-1] not in "?？")
    if not (kinds & _WISHED or wished or (kinds and table.strict.search(plain))):
        return
    asked = table.question.search(plain) is not None and not wished
    if kinds & _TOLD or wished:
        yield from _compound_counts(plain, table)
    yield from _count_constraints(plain, text, kinds, wished, table)
    if not asked and "code" not in kinds:
        yield from _form_constraints(plain, table)
    yield from _sole_constraints(plain, _WORD_QUOTED.sub(r"\1", text), table)
    yield from _absence_constraints(plain, text, table)
    yield from _border_constraints(text, table)


def _ask_kinds(text: str, language: str) -> frozenset[AskKind]:
    return frozenset(ask.kind for ask in asks_in(analyse_sentence(text, language), language))


def _is_fragment(text: str, table: Table) -> bool:
    """Whether a few words demand a form by themselves ("Exactly five words." "No emojis.")."""
    few = len(text.split()) <= _FRAGMENT and len(text) <= 60
    return few and bool(table.opening.match(text))


def _stands_before(text: str, table: Table) -> bool:
    """Whether a demand stands before what is asked ("Without the word blue, describe the sky")."""
    _, comma, asked = text.partition(",")
    told = table.is_request(asked.strip()) or table.question.match(asked.strip(" ¿"))
    return bool(comma and told and table.opening.match(text))


def _count_constraints(
    text: str, whole: str, kinds: frozenset[AskKind], wished: bool, table: Table
) -> Iterator[Constraint]:
    for match in table.quantity.finditer(text):
        groups = match.groupdict()
        unit = cast(Unit, next((unit for unit in UNITS if groups.get(unit)), "items"))
        bound = next((name for name in BOUNDS if groups.get(name)), "")
        after = next((name for name in BOUNDS if groups.get(f"after_{name}")), "")
        wanted = kinds & _TOLD or table.telling_opener.match(text) or _is_named(text[: match.start()], table)
        told = bool(groups["enumerate"]) or (bool(groups["of"]) and bool(wanted))
        asked = bool(kinds) and not kinds & _TOLD and not wished
        placed = bool(groups["in"] or groups.get("after_in") or groups.get("hyphen"))
        placed = placed or bool(table.patterns["in_one"].fullmatch(groups["n"]))
        placed = placed or (not table.spaced and bool(table.patterns["verbs"].match(text, match.end())))
        if asked:  # "what did he say in three words?" demands nothing; "what is DNS, in three words?" does
            placed = placed and text[: match.start()].rstrip()[-1:] in {"", ",", "，", "、"}
        told = told or (unit == "items" and bool(table.enumeration.search(text, match.end())))
        if not (bound or after or told or placed):
            continue
        if kinds and not kinds & _WISHED and not (wished or bound == "exactly"):
            continue
        if unit == "characters" and table.spaced and not (bound or after):
            continue
        number, upto = table.parse_number(groups["n"]), table.parse_number(groups["m"] or "")
        if groups["enumerate"] and unit == "words" and not (bound or after) and number <= EXACT:
            unit = "items"
        aside = groups.get("between") or ""
        if bound == "about" and number < EXACT:  # "a story about two words"
            continue
        if not number or (unit == "items" and number < 2) or (number == 1 and aside and not table.parse_number(aside)):
            continue
        least, most = range_of(number, upto, after or bound)
        yield Constraint(unit, whole[match.start() : match.end()].strip(), least, most, "", table.language)


def _is_named(text: str, table: Table) -> bool:
    """Whether a request only names what is wanted ("A slogan of five words for a bakery.")."""
    match = table.quantity.search(text)
    head = (text[: match.start()] if match else text).split()
    return 1 < len(head) <= _OPENING and table.parse_number(head[0]) == 1 and text[-1:] not in "?？"


def _compound_counts(text: str, table: Table) -> Iterator[Constraint]:
    """A number in one word with its unit ("a six-word slogan")."""
    for match in table.patterns["compound"].finditer(text):
        unit = cast(Unit, next(unit for unit in UNITS if match[unit]))
        yield Constraint(unit, match.group(), *range_of(table.parse_number(match["n"]), 0, ""), "", table.language)


def _form_constraints(text: str, table: Table) -> Iterator[Constraint]:
    for form in FORMS:
        match = table.patterns[form].search(text)
        if match is None or table.question.search(match.group()[:-_RELATIVE]):  # "in welcher Tabelle"
            continue
        if not table.negation.search(text, max(0, match.start() - 24), match.start()):
            yield Constraint(form, match.group().strip(), language=table.language)
    if match := _JSON.search(text):
        yield Constraint("json", match.group().strip(" .!"), language=table.language)


def _sole_constraints(text: str, whole: str, table: Table) -> Iterator[Constraint]:
    for kind, name in SOLE:
        if match := table.patterns[name].search(text):
            yield Constraint(kind, match.group().strip(), language=table.language)
    if match := table.patterns["yes_no"].search(whole):
        kind: Kind = "yes_no" if table.only.search(match.group()) else "opens_yes_no"
        yield Constraint(kind, match.group().strip(), language=table.language)


def _absence_constraints(text: str, whole: str, table: Table) -> Iterator[Constraint]:
    for kind in ABSENT:
        if match := table.patterns[kind].search(text):
            yield Constraint(kind, match.group().strip(), language=table.language)
    for name, among in (("word", whole), ("bare_word", text)):
        for match in table.patterns[name].finditer(among):
            yield Constraint("word", match.group().strip(), what=match["w"].strip(" .,"), language=table.language)
    for match in table.patterns["mention"].finditer(text):
        word = match["w"] or match.groupdict().get("v") or ""
        if content_words(word, table.language):
            yield Constraint("word", match.group().strip(), what=word, language=table.language)


def _border_constraints(text: str, table: Table) -> Iterator[Constraint]:
    borders: tuple[Literal["begin", "end"], ...] = ("begin", "end")
    for kind in borders:
        if match := table.patterns[kind].search(text):
            word = match["w"] or match.groupdict().get("v") or ""  # German may say it at the end
            yield Constraint(kind, match.group().strip(), what=word.strip(), language=table.language)
    if match := table.patterns["end_question"].search(text):
        yield Constraint("end_question", match.group().strip(), language=table.language)


def _step_constraints(text: str, table: Table) -> Iterator[Constraint]:
    """Ordered steps ("first define it, then give an example, finally …"), where each is told to be done."""
    if not table.patterns["steps_open"].search(text):
        return
    marks = list(table.patterns["steps"].finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    told = sum(
        1
        for mark, end in zip(marks, ends, strict=True)
        if table.tells_or_asks(text[mark.end() : end].strip(" ,，、"))
        or table.is_request(text[: mark.start()][-40:].strip())
    )
    between = [text[match.end() : other.start()] for match, other in pairwise(marks)]
    if len(marks) > 2 and not any(map(str.isalnum, "".join(between))):  # "the steps: first, then, finally"
        told = len(marks)
    if len(marks) >= 2 and (told >= 2 or (told and len(marks) > 2)):
        yield Constraint("steps", text.strip(), len(marks), language=table.language)


def _question_constraints(text: str, table: Table) -> Iterator[Constraint]:
    """Several questions in one sentence ("Who wrote it, when, and what is it about?")."""
    pieces = [piece.strip(" ¿?？") for piece in table.list_joint.split(text)]
    asking = [piece for piece in pieces if table.question.match(piece.lstrip("¿ "))]
    joined = bool(table.joined_last.search(text))
    if pieces and asking and asking[0] == pieces[0] and len(asking) >= (2 if joined or len(pieces) > 2 else 3):
        yield Constraint("questions", text.strip(), len(asking), language=table.language)


# Demands that stand by themselves beside what is asked: "ten words max: …", "bulleted, please", "…, no more". A clause
# demands where nothing is left of it beside the demand but words that only carry one ("please", "in", "your answer"):
# what is said of other texts leaves a subject or a verb.


def clause_constraints(text: str, table: Table) -> Iterator[Constraint]:
    """The demands of the clauses that hold nothing else."""
    clauses = _split_clauses(text)
    for clause in clauses:
        constraint = next(_clause_demands(clause, clauses, table), None)
        if constraint is not None:
            yield constraint


def _split_clauses(text: str) -> list[str]:
    return [each.strip() for each in _BREAK.split(text) if each and _REST.search(each)]


def _clause_demands(clause: str, clauses: Sequence[str], table: Table) -> Iterator[Constraint]:
    count = table.patterns["count"].search(clause)
    if count and not _is_each(count, table) and (bound := _read_bound(clause, count, table)) is not None:
        yield _counted_alone(count, bound, clause, table)
    for form in ALONE:
        match = table.patterns[f"alone_{form}"].search(clause)
        if match and _is_bare(clause, match, table):
            yield Constraint(form, clause, language=table.language)
    for kind in ABSENT:
        match = table.patterns[kind].search(clause)
        if match and _is_bare(clause, match, table):
            yield Constraint(kind, clause, language=table.language)
    for kind, name in SOLE:
        match = table.patterns[name].search(clause)
        if match and _is_bare(clause, match, table):
            yield Constraint(kind, clause, language=table.language)
    match = table.patterns["yes_no_bare"].search(clause)
    if match and _is_bare(clause, match, table):
        strict = any(table.only.search(each) or table.patterns["only_alone"].search(each) for each in clauses)
        yield Constraint("yes_no" if strict else "opens_yes_no", clause, language=table.language)


def _is_each(count: re.Match[str], table: Table) -> bool:
    """Whether what is counted is told of each ("one per line")."""
    between = (count["between"] or "").lower()
    return between in words_of("function", table.language) and not table.parse_number(between)


def _read_bound(clause: str, count: re.Match[str], table: Table) -> str | None:
    """How a number is bound in a clause that holds nothing else; None where it holds more."""
    beside = f"{clause[: count.start()]} {clause[count.end() :]}"
    if table.patterns["no_more"].search(beside):
        return "most" if _is_filler(table.patterns["no_more"].sub(" ", beside), table) else None
    for bound in ("below", "least", "most", "about", "exactly"):
        pattern = table.patterns[f"bound_{bound}"]
        if bound in BOUNDS and pattern.search(beside) and _is_filler(pattern.sub(" ", beside), table):
            return bound
    return "" if _is_filler(beside, table) else None


def _is_bare(clause: str, match: re.Match[str], table: Table) -> bool:
    return _is_filler(f"{clause[: match.start()]} {clause[match.end() :]}", table)


def _is_filler(rest: str, table: Table) -> bool:
    """Whether nothing is left but words that carry a demand."""
    return not _REST.search(table.patterns["filler"].sub(" ", table.only.sub(" ", rest)))


def _counted_alone(count: re.Match[str], bound: str, text: str, table: Table) -> Constraint:
    number = table.parse_number(count["n"])
    unit = cast(Unit, next(unit for unit in UNITS if count[unit]))
    return Constraint(unit, text, *range_of(number, 0, bound), "", table.language)


def cap_constraints(text: str, table: Table) -> Iterator[Constraint]:
    """The number of things where it is said that no more are wanted ("Three castles on the Rhine, no more")."""
    clauses = _split_clauses(text)
    for i, clause in enumerate(clauses):
        cap = table.patterns["no_more"].search(clause)
        if cap is None or (i == 0 and table.spaced):
            continue
        whole = _is_bare(clause, cap, table)
        heads = clauses[:i] if whole else [clause] if cap.end() == len(clause) else []
        for head in heads:
            match = table.patterns["head"].match(head)
            number = table.parse_number(match["n"]) if match else 0
            if match is None or not 1 < number <= _COUNTED:
                continue
            count = table.patterns["count"].match(head, match.start("n"))
            unit = cast(Unit, next((unit for unit in UNITS if count and count[unit]), "items"))
            least = number if any(table.patterns["no_less"].search(each) for each in clauses[i:]) else 0
            yield Constraint(unit, head, least, number, "", table.language)
