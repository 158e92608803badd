"""The arithmetic that a reasoning claims ("3 boxes * $4 = $12"), recomputed.

Only what is certain counts against a reasoning: a claim with an unknown in it, a conversion of units or a number that
was rounded is not held to be wrong.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from insula.errors import InputError
from insula.solve.arithmetic import Token, bounded, compute

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

_LATEX: Sequence[tuple[str, str]] = (
    (r"\\d?frac\s*\{([^{}]{1,80})\}\s*\{([^{}]{1,80})\}", r"((\1)/(\2))"),
    (r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]{0,80})\}", r" \1 "),
    (r"\\(?:times|cdot)\b", "×"),
    (r"\\div\b", "÷"),
    (r"\\(?:approx|simeq)\b", "≈"),
    (r"\\(?:left|right)\b", ""),
    (r"\\([$%#&])", r"\1"),
    (r"\\[,;!:]|\{,\}|\\ ", ""),
    (r"\\[()\[\]]|\$\$", "\n"),
)
_BOLD = re.compile(r"(?<![\w)\s])\*\*|\*\*(?![\w(\s$£€-])|(?:(?<=\s)|^)\*\*(?=\S)|(?<=\S)\*\*(?=\s|$)", re.M)
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!\d)"
_PIECE = re.compile(
    rf"(?P<number>(?:[$€£][ ]?)?(?:{_THOUSANDS}|\d+)(?:\.\d+)?(?!\d|\.\d)|[$€£]?\.\d+)"
    r"|(?P<equal>=+>?|≈|~=|≃)"
    r"|(?P<op>\*\*|[-+*/×÷·∙⋅−–^()%])"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
    r"|(?P<blank>[ \t\xa0]+)"
    r"|(?P<stop>.)",
    re.S,
)
_SIGNS = {"×": "*", "·": "*", "∙": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "^": "**"}
_SPOKEN = {"times": "*", "plus": "+", "minus": "-"}
_CROSS = frozenset("xX")
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_MULTIPLIERS = frozenset({"dozen", "dozens", "half", "quarter", "third", "twice", "score", "pair", "pairs"})
"""Words that change the number beside them; a claim with one of them is left alone."""
_CONNECTING = frozenset(
    {
        "of",
        "per",
        "more",
        "less",
        "and",
        "so",
        "which",
        "then",
        "for",
        "in",
        "to",
        "is",
        "are",
        "from",
        "or",
        "with",
        "as",
    }
)
"""Words that are no unit: what is computed ends before them."""
_HEDGES = frozenset({"about", "approximately", "roughly", "around", "exactly", "only"})


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
    """One piece of prose: a number, a sign, a word, or an end."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of an equation, ready to be computed."""

    tokens: tuple[Token, ...]
    units: tuple[str, ...]
    last: str
    """Its last number as written, which says how finely it was rounded."""
    start: int
    end: int

    @property
    def is_computed(self) -> bool:
        return any(token.kind == "op" and token.text in ("+", "-", "*", "/", "**") for token in self.tokens[1:])

    @property
    def has_percent(self) -> bool:
        return any(token.percent for token in self.tokens)


def claims(reasoning: str) -> tuple[Claim, ...]:
    """The equations in a reasoning that can be recomputed, in order."""
    text = plain(reasoning[:REASONING_CHARS])
    pieces = [
        _Piece(found.lastgroup or "", found[0], *found.span())
        for found in _PIECE.finditer(text)
        if found.lastgroup != "blank"
    ]
    made: list[Claim] = []
    for at, piece in enumerate(pieces):
        if piece.kind == "equal" and len(made) < CLAIMS:
            made.extend(_claimed(text, pieces, at))
    return tuple(made)


def plain(text: str) -> str:
    """A text with the marks of LaTeX and Markdown written as arithmetic."""
    for pattern, replacement in _LATEX:
        text = re.sub(pattern, replacement, text)
    return _BOLD.sub("", text)


def corrected(reasoning: Sequence[Claim], answer: Fraction) -> Fraction:
    """The answer that the reasoning comes to when its wrong results are put right and carried forward."""
    changed: dict[Fraction, Fraction] = {}
    for claim in reasoning:
        value = claim.with_operands(changed) if changed else claim.computed
        if value is not None and (not claim.holds or value != claim.computed) and value != claim.stated:
            changed[claim.stated] = value
    return changed.get(answer, answer)


def _claimed(text: str, pieces: Sequence[_Piece], at: int) -> Iterator[Claim]:
    left, right = _before(pieces, at), _after(pieces, at)
    if left is None or right is None or not left.is_computed:
        return
    try:
        computed, stated = compute(left.tokens, {}), compute(right.tokens, {})
        if right.is_computed and not _agree(left, computed, right, stated, pieces[at].text):
            right = _first_number(pieces, at, right)  # "3 * 4 = 12 + 2 = 14": only what is next to the sign is meant
            stated = compute(right.tokens, {})
    except InputError:
        return
    holds = _agree(left, computed, right, stated, pieces[at].text)
    yield Claim(
        text=" ".join(text[left.start : right.end].split()),
        left=left.tokens,
        computed=computed,
        stated=stated,
        holds=holds,
    )


def _first_number(pieces: Sequence[_Piece], at: int, side: _Side) -> _Side:
    """The number that a side begins with; the side itself where it begins with a parenthesis."""
    length = 2 if pieces[at + 1].kind == "op" else 1
    return _side(pieces[at + 1 : at + 1 + length], whole=True) or side


def _agree(left: _Side, computed: Fraction, right: _Side, stated: Fraction, sign: str) -> bool:
    """Whether two sides say the same, by what is known of units and rounding.

    "6 - 9 = 3" does: who writes so means the difference, and goes on with it.
    """
    if computed in (stated, -stated) or _is_rounded(computed, stated, right.last, sign):
        return True
    ratio = abs(computed / stated) if stated and computed else Fraction(0)
    if (left.has_percent or right.has_percent) and ratio in (100, Fraction(1, 100)):
        return True
    differ = left.units and right.units and not set(left.units) & set(right.units)
    return bool(differ and ratio and (ratio in CONVERSIONS or 1 / ratio in CONVERSIONS))


def _is_rounded(computed: Fraction, stated: Fraction, written: str, sign: str) -> bool:
    """Whether a value was written with fewer digits than it has."""
    decimals = len(written.partition(".")[2])
    step = Fraction(1, 10**decimals)
    if sign not in ("≈", "~=", "≃") and (computed / step).denominator == 1:
        return False
    return abs(computed - stated) < step


def _after(pieces: Sequence[_Piece], at: int) -> _Side | None:
    """The side to the right of a sign of equality."""
    taken: list[_Piece] = []
    for piece in pieces[at + 1 : at + 1 + SIDE_TOKENS]:
        if piece.kind in ("equal", "stop"):
            break
        if piece.kind == "word" and not taken and piece.text.lower() in _HEDGES:
            continue
        taken.append(piece)
    return _side(_balanced(taken))


def _before(pieces: Sequence[_Piece], at: int) -> _Side | None:
    """The side to the left, from as far back as it can be read whole; None if it has an unknown in it."""
    taken: list[_Piece] = []
    for piece in reversed(pieces[max(0, at - SIDE_TOKENS) : at]):
        if piece.kind in ("equal", "stop"):
            break
        taken.append(piece)
    taken.reverse()
    for start, piece in enumerate(taken):
        if piece.kind == "number" or piece.text == "(" or _is_negation(taken, start):
            side = _side(taken[start:], whole=True)
            if side is not None:
                return side if _begins(taken, start) else None
    return None


def _is_negation(words: Sequence[_Piece], at: int) -> bool:
    """Whether a minus at the beginning belongs to the number that it touches, and is not the mark of an item."""
    is_minus = at == 0 and words[at].text in ("-", "−")
    return is_minus and len(words) > 1 and words[0].end == words[1].start


def _begins(words: Sequence[_Piece], start: int) -> bool:
    """Whether an expression begins here, and not before: "total - 5" begins with an unknown, "- 5" is an item."""
    before = start - 1
    if before >= 0 and words[before].text == "(":
        before -= 1
    return before < 0 or not _sign(words, before) or (before == 0 and words[0].end < words[1].start)


def _sign(words: Sequence[_Piece], at: int) -> str:
    """The sign of arithmetic that a piece is; empty for any other, parentheses among them."""
    word = words[at]
    if word.kind == "op" and word.text not in "()":
        return _SIGNS.get(word.text, word.text)
    if word.kind != "word":
        return ""
    if word.text in _CROSS:
        return "*" if _between_operands(words, at) else ""
    spoken = word.text.lower()
    if spoken in ("multiplied", "divided") and at + 1 < len(words) and words[at + 1].text.lower() == "by":
        return "*" if spoken == "multiplied" else "/"
    if spoken == "of":
        return "*" if _is_share(words, at) else ""
    return _SPOKEN.get(spoken, "")


def _is_share(words: Sequence[_Piece], at: int) -> bool:
    """Whether "of" stands between a share and a number: "20% of 50", "3/4 of 20"."""
    if at < 1 or at + 1 >= len(words) or words[at + 1].kind != "number":
        return False
    return words[at - 1].text == "%" or (at > 2 and words[at - 2].text == "/" and words[at - 1].kind == "number")


def _between_operands(words: Sequence[_Piece], at: int) -> bool:
    following = words[at + 1] if at + 1 < len(words) else None
    before = words[at - 1] if at else None
    return bool(
        before
        and following
        and (before.kind in ("number", "word") or before.text in (")", "%"))
        and (following.kind == "number" or following.text == "(")
    )


def _balanced(words: Sequence[_Piece]) -> Sequence[_Piece]:
    """The words up to a parenthesis that closes nothing."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        if depth < 0:
            return words[:at]
    return words


def _side(words: Sequence[_Piece], *, whole: bool = False) -> _Side | None:
    """Some pieces as one side of an equation: read to the end, or as far as they make sense.

    Args:
        words: its pieces.
        whole: whether nothing may be left over.
    """
    tokens: list[Token] = []
    units: list[str] = []
    last, end, at = "", 0, 0
    while at < len(words) and (step := _step(words, at, tokens)):
        token, unit = step[1:]
        if token is not None:
            tokens.append(token)
            last = token.text if token.kind == "number" else last
        if unit:
            units.append(unit)
        at += step[0]
        end = words[at - 1].end
    if not tokens or (whole and at < len(words)) or (at < len(words) and words[at].text.lower() in _MULTIPLIERS):
        return None
    return _Side(tuple(tokens), tuple(units), last, words[0].start, end)


def _step(words: Sequence[_Piece], at: int, tokens: Sequence[Token]) -> tuple[int, Token | None, str] | None:
    """What the next pieces add: how many they are, with their token or unit; None where the side ends."""
    word, sign = words[at], _sign(words, at)
    complete = bool(tokens) and (tokens[-1].kind == "number" or tokens[-1].text == ")")
    if word.kind == "number":
        return None if complete else _number(words, at)
    if word.text == "(":
        return None if complete else (1, Token("op", "("), "")
    if word.text == ")":
        return (1, Token("op", ")"), "") if complete else None
    if sign:
        length = 2 if word.text.lower() in ("multiplied", "divided") else 1
        if _is_unit_slash(words, at):
            return (2, None, "") if complete else None
        return (length, Token("op", sign), "") if _operand_follows(words, at + length) else None
    if complete and _is_unit(words, at):
        return 1, None, word.text.lower()
    return None


def _number(words: Sequence[_Piece], at: int) -> tuple[int, Token, str] | None:
    """A number with the percent sign or the "thousand" behind it."""
    text = words[at].text.lstrip("$€£ \xa0")
    following = words[at + 1] if at + 1 < len(words) else None
    scale = _SCALES.get(following.text.lower()) if following is not None and following.kind == "word" else None
    is_percent = following is not None and following.text == "%"
    try:
        value = bounded(Fraction(text.replace(",", "")) * (scale or 1))
    except InputError:
        return None
    return 2 if is_percent or scale else 1, Token("number", text, value / 100 if is_percent else value, is_percent), ""


def _is_unit_slash(words: Sequence[_Piece], at: int) -> bool:
    """Whether a stroke stands before a unit: "$4/hour"."""
    return words[at].text == "/" and at + 1 < len(words) and words[at + 1].kind == "word"


def _operand_follows(words: Sequence[_Piece], at: int) -> bool:
    return at < len(words) and (words[at].kind == "number" or words[at].text in ("(", "-", "−", "+"))


def _is_unit(words: Sequence[_Piece], at: int) -> bool:
    """Whether a word names what is counted: no variable, and no word that connects or changes the number."""
    word, named = words[at], words[at].text.lower()
    if word.kind != "word" or named in _MULTIPLIERS or named in _CONNECTING:
        return False
    if len(named) == 1 and (words[at - 1].end == word.start or named in "xyzn"):
        return False
    first = max(0, at - UNIT_WORDS)
    return any(other.kind == "number" or other.text in (")", "%", "/") for other in words[first:at])
