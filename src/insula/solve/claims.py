"""The arithmetic that a reasoning claims ("3 boxes * $4 = $12"), recomputed.

Only what is certain counts against it. An equation is no claim where a side of it cannot be read from border to border
("21 - 6 = 3X", "5(15) + 12 = 75"), nor where rounding, hedging or a conversion of units can be why its sides differ.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice

from insula.errors import InputError
from insula.solve.answers import plain, written
from insula.solve.arithmetic import Token, bounded, compute, is_rounded, number, span

REASONING_CHARS = 20_000
"""Characters of a reasoning that are looked through; ten times what a model writes in 800 tokens."""
CLAIMS = 200
"""Claims of a reasoning that are recomputed."""
SIDE_TOKENS = 60
"""Tokens of one side of an equation."""
UNIT_WORDS = 3
"""Words that may stand between a number and the next sign: "3 red apples * 2"."""
CONVERSIONS = frozenset({7, 12, 14, 16, 24, 30, 36, 52, 60, 100, 365, 1000, 1440, 3600, 5280})
"""Factors between units in common use: sides in different units that differ by one of them may be the same amount."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MEASURED: Mapping[str, frozenset[str]] = {
    "time": _words("second sec minute min hour hr h day week month year decade century centurie"),
    "length": _words("inch inche foot feet ft yard mile m km cm mm meter metre kilometer centimeter millimeter"),
    "weight": _words("ounce oz pound lb ton gram g kg mg kilogram kilo"),
    "volume": _words("ounce cup pint quart gallon l ml liter litre milliliter teaspoon tablespoon tsp tbsp"),
    "money": _words("dollar cent penny pennie nickel dime quarter euro pence"),
}
"""Units that are converted into each other, without the s of their plural."""
_MEASURES = frozenset[str]().union(*_MEASURED.values())
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "sterling"}
_CLOCK = _words("am pm o'clock noon midnight")

_PIECE = re.compile(
    r"(?P<number>(?:[$€£][ ]?)?(?:\d{1,2}/\d{1,2}/\d{4}(?!\d)|\d+(?:[.,:'’]\d+)*|\.\d+))"
    r"|(?P<end>[\n,;.:!?。，：；！？\"“”«»‘’'`\[{<>$&\\—→⇒…•]|=+>|(?<=\s)\|(?=\s))"
    r"|(?P<equal>=+|≈|~=|≃|≅)"
    r"|(?P<op>\*\*|[-+*/×÷·∙⋅−–^()%])"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
    r"|(?P<blank>[ \t\r\xa0]+)"
    r"|(?P<other>.)",
    re.S,
)
_NUMBER = re.compile(r"[$€£]?[ ]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)")
_SIGNS = {"×": "*", "·": "*", "∙": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "^": "**"}
_SPOKEN = {"times": "*", "plus": "+", "minus": "-", "multiplied": "*", "divided": "/"}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_PERCENT = frozenset({"%", "percent"})
_HEDGES = _words("≈ ~= ≃ ≅ about approximately approx roughly around nearly almost rounded")
_SKIPPED = _HEDGES | _words("exactly only just")
_MULTIPLIERS = _words(
    "dozen dozens half halves quarter third thirds fourths fifths sixths eighths tenths hundredths twice score"
    " pair pairs tens hundreds thousands millions billions mil squared cubed"
)
"""Words that change the number beside them; a claim with one of them is left alone."""
_GOING_ON = _MULTIPLIERS | frozenset(_SPOKEN) | {"than"}
"""Words with which a side goes on, though it cannot be read further."""
_CHANGING = _HEDGES | _words(
    "half quarter third twice thrice double triple by from to than not if mod choose log sqrt root square cube average"
    " mean median product difference Step Day Week Month Year Part Case Option Problem Question Item Round Game Team"
)
"""Words after which an expression is no claim by itself: "half of 10 + 2", "not 3 + 4", "Step 2 - 3 + 4"."""
_CONNECTING = _words("of per more less and so which then for in to is are from or with as")
"""Words that are no unit: what is computed ends before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One equation of a reasoning."""

    text: str
    """As it was written."""
    left: tuple[Token, ...]
    """What is computed."""
    computed: Fraction
    stated: Fraction
    holds: bool

    def with_operands(self, changed: Mapping[Fraction, Fraction]) -> Fraction | None:
        """The value with some operands replaced; None if that cannot be computed."""
        tokens = [token._replace(value=changed.get(token.value, token.value)) for token in self.left]
        try:
            return compute(tokens, {})
        except InputError:
            return None


@dataclass(frozen=True, slots=True)
class _Piece:
    """One piece of prose: a number, a sign, a word, an end (what parts sentences), or something that cannot be read."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of an equation, ready to be computed."""

    tokens: tuple[Token, ...]
    terms: tuple[frozenset[str], ...]
    """The units of each thing that is added or subtracted."""
    begin: int
    after: int
    """The pieces that it begins with, and that follow it."""

    @property
    def is_computed(self) -> bool:
        return any(token.kind == "op" and token.text in ("+", "-", "*", "/", "**") for token in self.tokens[1:])

    @property
    def units(self) -> frozenset[str]:
        return frozenset[str]().union(*self.terms)

    @property
    def step(self) -> Fraction:
        """What the last digit of its number is worth, which says how finely it was rounded; 0 of more than one."""
        steps = [token.step for token in self.tokens if token.kind == "number"]
        return steps[0] if len(steps) == 1 else Fraction(0)


def claims(reasoning: str) -> tuple[Claim, ...]:
    """The equations in a reasoning that can be recomputed, in order."""
    if len(reasoning) > REASONING_CHARS:  # the line in which it is cut off may end within a number
        reasoning = reasoning[:REASONING_CHARS].rpartition("\n")[0]
    text = plain(reasoning)
    pieces = [_piece(found) for found in _PIECE.finditer(text) if found.lastgroup != "blank"]
    made = (_claim(text, pieces, at) for at, piece in enumerate(pieces) if piece.kind == "equal")
    return tuple(islice((claim for claim in made if claim is not None), CLAIMS))


def corrected(reasoning: Sequence[Claim], answer: Fraction) -> Fraction:
    """The answer that the reasoning comes to when its wrong results are put right and carried forward."""
    changed: dict[Fraction, Fraction] = {}
    for claim in reasoning:
        value = claim.with_operands(changed) if changed else claim.computed
        if value is not None and (not claim.holds or value != claim.computed) and value != claim.stated:
            changed[claim.stated] = value
    return changed.get(answer, answer)


def _piece(found: re.Match[str]) -> _Piece:
    kind = found.lastgroup or ""
    if kind == "number" and not _NUMBER.fullmatch(found[0]):  # a clock time, a date, a version
        kind = "other"
    return _Piece(kind, found[0], *found.span())


def _claim(text: str, pieces: Sequence[_Piece], at: int) -> Claim | None:
    left, right = _before(pieces, at), _after(pieces, at)
    if left is None or right is None or not left.is_computed:
        return None
    loosely = any(piece.text.lower() in _HEDGES for piece in pieces[at : _border(pieces, at + 1)])
    try:
        computed = compute(left.tokens, {})
        readings = [(side, compute(side.tokens, {})) for side in _readings(pieces, right)]
        agreeing = [one for one in readings if _agree(left, computed, *one, loosely=loosely)]
    except InputError:
        return None
    side, stated = (agreeing or readings)[0]
    is_last = side.after == len(pieces) and pieces[-1].kind == "number"
    is_cut_off = is_last and written(abs(computed)).startswith(written(abs(stated)))  # 12 for 1200
    if not agreeing and (loosely or is_cut_off or _is_doubtful(left, right)):
        return None
    equation = " ".join(text[pieces[left.begin].start : pieces[side.after - 1].end].split())
    return Claim(text=equation, left=left.tokens, computed=computed, stated=stated, holds=bool(agreeing))


def _readings(pieces: Sequence[_Piece], right: _Side) -> Iterator[_Side]:
    """What a right side can mean: all of it, or, in "3 * 4 = 12 + 2 = 14", only the number next to the sign."""
    yield right
    for end in range(right.begin + 1, right.after):
        first = _side(pieces, right.begin, end)
        if first is not None and first.after == end and first.tokens[-1].kind == "number":
            if not any(token.text == "(" for token in first.tokens):
                yield first
            return


def _agree(left: _Side, computed: Fraction, right: _Side, stated: Fraction, *, loosely: bool) -> bool:
    """Whether two sides say the same, by what is known of units and rounding.

    "6 - 9 = 3" does: who writes so means the difference, and goes on with it.
    """
    percents = [100 for token in left.tokens if token.percent]
    shares = [Fraction(1, 100) for token in right.tokens if token.percent]
    if any(is_rounded(computed * of, stated, right.step, loosely) for of in (1, *percents, *shares)):
        return True
    (least, most), (lowest, highest) = span(left.tokens), span(right.tokens)
    if computed == -stated or (least <= highest and lowest <= most):
        return True
    ratio = abs(computed / stated) if stated and computed else Fraction(0)
    differ = right.units and not left.units & right.units and (left.units or right.units & _MEASURES)
    return bool(differ and ratio and (ratio in CONVERSIONS or 1 / ratio in CONVERSIONS))


def _is_doubtful(left: _Side, right: _Side) -> bool:
    """Whether units can be why two sides differ: times of the day, and amounts that are counted in different units."""
    groups = [group for group in (*left.terms, *right.terms) if group]
    converted = any(_are_converted(one, other) for one, other in combinations(groups, 2))
    shared = [bool(term & right.units) for term in left.terms if term]
    is_unlike = any(shared) and not all(shared)  # "1 box + 3 eggs = 15 eggs"
    return converted or is_unlike or any(group & _CLOCK for group in groups)


def _are_converted(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two amounts are counted in different units of one kind: hours and minutes."""
    return not one & other and any(one & kind and other & kind for kind in _MEASURED.values())


def _after(pieces: Sequence[_Piece], at: int) -> _Side | None:
    """The side to the right of a sign of equality; None if it goes on in a way that cannot be read."""
    begin = at + 1
    while begin < len(pieces) and pieces[begin].kind == "word" and pieces[begin].text.lower() in _SKIPPED:
        begin += 1
    side = _side(pieces, begin, _border(pieces, begin))
    return side if side is not None and _closes(pieces, side.after) else None


def _border(pieces: Sequence[_Piece], begin: int) -> int:
    """Where an expression is at its end: with its sentence, its equation, or a parenthesis that closes nothing."""
    depth, last = 0, min(len(pieces), begin + SIDE_TOKENS)
    for at in range(begin, last):
        depth += (pieces[at].text == "(") - (pieces[at].text == ")")
        if depth < 0 or pieces[at].kind in ("end", "equal"):
            return at
    return last


def _before(pieces: Sequence[_Piece], at: int) -> _Side | None:
    """The side to the left, from as far back as it can be read whole; None if it has something unknown in it."""
    low = at
    while low > max(0, at - SIDE_TOKENS) and pieces[low - 1].kind not in ("end", "equal"):
        low -= 1
    while low < at:
        begins = pieces[low].kind == "number" or pieces[low].text == "(" or _is_negation(pieces, low)
        side = _side(pieces, low, at) if begins else None
        if side is not None and side.after == at:
            return side if _opens(pieces, low) else None
        low = side.after if side is not None else low + 1  # what cannot be read from here cannot be from within either
    return None


def _is_negation(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a minus at the beginning belongs to the number that it touches, and is not the mark of an item."""
    is_first = at == 0 or pieces[at - 1].kind in ("end", "equal")
    return is_first and pieces[at].text in ("-", "−") and pieces[at].end == pieces[at + 1].start


def _opens(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether an expression begins here, and is no part of what stands before: "total - 5", "t_1 - 3", "2 (3 + 4)"."""
    if at == 0 or pieces[at - 1].kind in ("end", "equal"):
        return True
    before, text = pieces[at - 1], pieces[at - 1].text
    if before.end == pieces[at].start or before.kind in ("number", "other"):
        return False
    if text == ")":
        return pieces[at].text != "("
    if before.kind == "op":  # "- 5 * 3" is an item of a list at the beginning of a line
        return text in "-−–*" and (at == 1 or pieces[at - 2].text == "\n")
    changing = pieces[at - 2].text if at > 1 and text.lower() == "of" else text
    return len(text) > 1 and not _sign(pieces, at - 1) and not {changing, changing.lower()} & _CHANGING


def _closes(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether an expression ends before this piece, and does not go on: "3X", "12 * x", "2 1/2", "3 of them"."""
    if at >= len(pieces):
        return True
    piece, before, named = pieces[at], pieces[at - 1], pieces[at].text.lower()
    touches, following = before.end == piece.start, pieces[at + 1] if at + 1 < len(pieces) else piece
    match piece.kind:
        case "end":
            return named not in "!?！？"
        case "op":
            return named == ")" or (named == "(" and not touches and following.kind == "word")
        case "word" if named == "of":  # "20% of the total", but "10 cups of flour"
            return before.kind == "word" and before.text.lower() not in _PERCENT
        case "word" if named in ("and", "to") and following.kind == "number":  # "1 hour and 30 minutes", "3 to 4"
            return named == "and" and _unit(before) not in _MEASURES
        case "word":
            return len(named) > 1 and not touches and named not in _GOING_ON
        case "other":
            return before.kind == "word" or named in "}]"
        case _:
            return piece.kind == "equal"


def _sign(pieces: Sequence[_Piece], at: int) -> str:
    """The sign of arithmetic that a piece is; empty for any other, parentheses among them."""
    piece = pieces[at]
    if piece.kind == "op" and piece.text not in "()":
        return _SIGNS.get(piece.text, piece.text)
    if piece.kind != "word":
        return ""
    if piece.text in ("x", "X"):
        return "*" if _is_between_operands(pieces, at) else ""
    if piece.text == "of":
        return "*" if _is_share(pieces, at) else ""
    return _SPOKEN.get(piece.text.lower(), "")


def _is_share(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether "of" stands between a share and a number: "20% of 50", "3/4 of 20"."""
    if at < 1 or at + 1 >= len(pieces) or pieces[at + 1].kind != "number":
        return False
    before = pieces[at - 1]
    return before.text.lower() in _PERCENT or (at > 2 and pieces[at - 2].text == "/" and before.kind == "number")


def _is_between_operands(pieces: Sequence[_Piece], at: int) -> bool:
    before, following = pieces[max(0, at - 1)], pieces[min(at + 1, len(pieces) - 1)]
    is_after = at > 0 and (before.kind in ("number", "word") or before.text in (")", "%"))
    return is_after and (following.kind == "number" or following.text == "(")


def _side(pieces: Sequence[_Piece], begin: int, end: int) -> _Side | None:
    """Some pieces as one side of an equation, as far as they make sense; None where they make none."""
    tokens: list[Token] = []
    terms: list[frozenset[str]] = [frozenset()]
    at = begin
    while at < end and (step := _step(pieces, at, tokens)):
        length, token, unit = step
        if token is not None:
            tokens.append(token)
            terms.extend([frozenset[str]()] * (token.text in ("+", "-")))
        if unit:
            terms[-1] |= {unit}
        at += length
    return _Side(tuple(tokens), tuple(terms), begin, at) if tokens else None


def _step(pieces: Sequence[_Piece], at: int, tokens: Sequence[Token]) -> tuple[int, Token | None, str] | None:
    """What the next pieces add: how many they are, with their token or unit; None where the side ends."""
    piece, sign = pieces[at], _sign(pieces, at)
    is_complete = bool(tokens) and (tokens[-1].kind == "number" or tokens[-1].text == ")")
    if piece.kind == "number":
        return None if is_complete else _number(pieces, at)
    if piece.text in ("(", ")"):
        return (1, Token("op", piece.text), "") if is_complete == (piece.text == ")") else None
    if _is_of_unit(pieces, at):
        return (2, None, _unit(pieces[at + 1])) if is_complete else None
    if sign:
        length = 2 if piece.text.lower() in ("multiplied", "divided") else 1
        return (length, Token("op", sign), "") if _operand_follows(pieces, at + length) else None
    return (1, None, _unit(piece)) if is_complete and _is_unit(pieces, at) else None


def _number(pieces: Sequence[_Piece], at: int) -> tuple[int, Token, str] | None:
    """A number with the percent sign or the "thousand" behind it, and its currency."""
    text = pieces[at].text.lstrip("$€£ ").replace(",", "")
    following = pieces[at + 1].text.lower() if at + 1 < len(pieces) else ""
    is_percent = following in _PERCENT
    worth = Fraction(1, 100) if is_percent else Fraction(_SCALES.get(following, 1))
    try:
        value = bounded(number(text) * worth)
    except InputError:
        return None
    token = Token("number", text, value, is_percent, worth / 10 ** len(text.partition(".")[2]))
    return 1 if worth == 1 else 2, token, _CURRENCIES.get(pieces[at].text[0], "")


def _is_of_unit(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a sign is part of a unit: "$4/hour", "12 m^2"; in "120 / total" and "12/x" it is not."""
    sign, following = pieces[at], pieces[min(at + 1, len(pieces) - 1)]
    if sign.text == "^":
        return pieces[at - 1].kind == "word" and following.kind == "number"
    is_named = _unit(following) in _MEASURES or (len(following.text) > 1 and sign.end == following.start)
    return sign.text == "/" and following.kind == "word" and is_named


def _operand_follows(pieces: Sequence[_Piece], at: int) -> bool:
    return at < len(pieces) and (pieces[at].kind == "number" or pieces[at].text in ("(", "-", "−", "+"))


def _is_unit(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a word names what is counted: no variable, and no word that connects or changes the number."""
    word, named = pieces[at], pieces[at].text.lower()
    if word.kind != "word" or named in _MULTIPLIERS | _CONNECTING:
        return False
    if len(named) == 1 and (pieces[at - 1].end == word.start or (named not in _MEASURES and word.text != "a")):
        return False
    near = pieces[max(0, at - UNIT_WORDS) : at]
    return any(piece.kind == "number" or piece.text in (")", "%", "/") for piece in near)


def _unit(word: _Piece) -> str:
    return word.text.lower().removesuffix("s")
