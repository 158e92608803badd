"""Whether a user corrects the assistant, and what they want instead: told from their words, without a model.

The weights are set by hand; none is fitted.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz import fuzz

from insula.text.analysis import term_of
from insula.text.correction_phrases import Phrases, load_phrases
from insula.text.likeness import known_language, wish_likeness

THRESHOLD = 0.5
"""From this score on a message is taken for a correction."""

MAX_CHARS = 2_000
"""A message and a response are read up to here: who corrects says so early, and what follows may be pasted."""

MAX_WANTED = 200
"""A wish is cut to so many characters."""

_HEAD, _TAIL = 5, 3
"""So many sentences at each end of a message are read."""

_WEIGHTS = {
    "reject": 4.2,
    "meant": 3.4,
    "no": 3.3,
    "standing": 4.0,
    "prefer": 3.4,
    "dont": 3.4,
    "why": 3.4,
    "should": 3.2,
    "revise": 3.2,
    "instead": 3.2,
    "actually": 1.4,
    "denied": 2.0,
    "again": 1.0,
    "emphasis": 0.6,
    "negated": 0.6,
    "failed": 1.8,
    "similar": 2.6,
    "retried": 1.2,
    "thanks": -2.2,
}
"""Log odds that each cue adds."""

_BIAS = -3.0
_WISHES = ("standing", "prefer", "dont")
_STATED = ("meant", "should", "revise", "instead")
_SPOKEN = ("reject", "meant", *_WISHES, "should", "revise", "instead", "actually", "why", "again")
_ALONE = frozenset({"standing"})
"""What may be said before the assistant did anything."""

_ANSWERS = frozenset({"no", "prefer", "dont", "instead", "actually", "denied", "should", "revise", "again"})
"""What, after a question of the assistant's, may simply answer it ("Do you want tea?" "No, coffee.")."""

_ASKED = frozenset({"reject", "meant", "why"})
"""What a question may say that does not ask the assistant to do something else."""

_OWN = frozenset({"reject", "should", "instead", "actually"})
"""What a user may also tell of others ("my doctor says that is wrong")."""

_PLAIN = frozenset({"reject", "meant", "should", "standing", "dont"})
"""Cues that thanks do not soften ("Thanks, but please don't")."""

_FIRST = frozenset({"should", "revise"})
"""What only a first sentence says of the response; later it describes a new request ("It should be cheap")."""

_ALIKE_FROM = 0.4
"""Similarity of two messages from which one may rephrase the other."""

_SAME, _RETRY = 0.99, 0.6
_COMPARED = 400
_APOLOGY_WITHIN = 100
"""An apology opens a response; further on it may be quoted, as from a mail that is read out."""

_SHORT = 80
_ASKS_WITHIN = 100
_EDGE = " \t\n,;:.!?…，、；：。！？–—-"
_MARK = re.compile(r"[?？]")
_BOUNDARY = re.compile(r"[,;:，、；：–—]")
_CLAUSE = re.compile(r"[,;:.!?…–—\n]")
_SENTENCE = re.compile(r"\s*(?P<said>\S.*?(?:[.!?…]+(?=[\s)]|$)|[。！？]+|$))", re.MULTILINE)
_NOT_SAID = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|^[ \t]*>[^\n]*|https?://\S+|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]"
    r"|«[^»\n]{1,400}»|「[^」\n]{1,400}」|『[^』\n]{1,400}』",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[\w']+")
_LOUD = re.compile(r"[!！?？]{2,}|\b[A-Z]{3,}\s+[A-Z]{2,}\b")
_EMPTY: frozenset[str] = frozenset()


class MessageCorrection(NamedTuple):
    """What a message says of what the assistant did just before."""

    score: float
    """How likely it corrects or rejects that, in [0, 1]."""
    kind: str
    """"correction" (says what is right or what to do instead), "rejection" (says that it is wrong), "repair" (asks the
    same anew), "instruction" (a standing wish); empty below `THRESHOLD`."""
    wanted: str
    """The clause that says what the user wants, verbatim, cut to `MAX_WANTED`; empty where there is none."""
    cues: tuple[str, ...]
    """The names of the cues that spoke."""


class _Hit(NamedTuple):
    """Where a cue spoke: offsets in the message, and the sentence around it."""

    start: int
    end: int
    sentence: "_Sentence"


class _Sentence(NamedTuple):
    """A sentence behind its courtesies and its "no", by offsets in the message; `place` counts from 0."""

    place: int
    start: int
    end: int
    denies: bool


class _Heard(NamedTuple):
    """A message as it is read: its text, the same with what is quoted blanked out, and its sentences."""

    text: str
    plain: str
    sentences: list[_Sentence]
    table: Phrases


def judge_correction(message: str, previous_message: str, response: str) -> MessageCorrection:
    """Judge whether a message corrects the assistant.

    Only the user's words say what is wanted; the response only tells what they may refer to.

    Args:
        message: the user's message.
        previous_message: the user's message before it; empty in the first turn.
        response: what the assistant said between the two; empty in the first turn.
    """
    message, previous, response = (text[:MAX_CHARS] for text in (message, previous_message, response))
    judged = [
        _judge_by_phrases(message, previous, response, table) for table in _phrase_tables(message, previous, response)
    ]
    return max(judged, key=lambda correction: correction.score)


def _judge_by_phrases(message: str, previous: str, response: str, table: Phrases) -> MessageCorrection:
    heard = _read_message(message, table)
    hits = _find_hits(heard, response)
    strengths = dict.fromkeys(hits, 1.0) | _message_cues(heard, previous, response)
    if not _PLAIN.isdisjoint(hits):
        strengths.pop("thanks", None)
    score = _score_cues(strengths)
    cues = tuple(name for name in _WEIGHTS if strengths.get(name))
    if score < THRESHOLD:
        return MessageCorrection(score, "", "", cues)
    wanted = _wanted_clause(heard, hits)
    return MessageCorrection(score, _correction_kind(cues, wanted), wanted, cues)


def _score_cues(strengths: dict[str, float]) -> float:
    """The log odds that the cues add up to, as a share; without any, or with thanks alone, 0."""
    if all(name == "thanks" for name in strengths):
        return 0.0
    odds = _BIAS + sum(_WEIGHTS[name] * strength for name, strength in strengths.items())
    return 1 / (1 + math.exp(-odds))


def _correction_kind(cues: tuple[str, ...], wanted: str) -> str:
    if any(name in cues for name in _WISHES):
        return "instruction"
    if wanted or ("reject" not in cues and any(name in cues for name in (*_STATED, "denied"))):
        return "correction"
    return "rejection" if any(name in cues for name in ("reject", "no", "why")) else "repair"


def _phrase_tables(message: str, previous: str, response: str) -> list[Phrases]:
    """The phrases of the message's language; of a short message also those of what was said before it."""
    own = known_language(message)
    if own and len(message) > _SHORT:
        return [load_phrases(own)]
    before = known_language(previous) or known_language(response)
    return [load_phrases(language) for language in dict.fromkeys(filter(None, (own, before)))] or [load_phrases("en")]


def _read_message(message: str, table: Phrases) -> _Heard:
    plain = _NOT_SAID.sub(lambda match: "_" * len(match.group()), message.replace("’", "'"))
    spans = [match.span("said") for match in _SENTENCE.finditer(plain)]
    if len(spans) > _HEAD + _TAIL:
        spans = spans[:_HEAD] + spans[-_TAIL:]
    read = [_read_sentence(plain, *span, table) for span in spans]
    said = [sentence for sentence in read if sentence.denies or sentence.start < sentence.end]
    return _Heard(message, plain, [sentence._replace(place=i) for i, sentence in enumerate(said)], table)


def _read_sentence(plain: str, start: int, end: int, table: Phrases) -> _Sentence:
    start = _past_opener(plain, start, end, table)
    denial = table.patterns["no"].match(plain, start, end)
    if denial is None:
        return _Sentence(0, start, end, False)
    return _Sentence(0, _past_opener(plain, denial.end(), end, table), end, True)


def _past_opener(plain: str, start: int, end: int, table: Phrases) -> int:
    """The offset behind "ok, but please "."""
    while True:
        while start < end and plain[start] in _EDGE:
            start += 1
        match = table.patterns["opener"].match(plain, start, end)
        if match is None or match.end() == start:
            return start
        start = match.end()


def _find_hits(heard: _Heard, response: str) -> dict[str, _Hit]:
    """The first hit of each cue that may speak here."""
    silent = _ANSWERS if _asks_user(response) else _EMPTY
    if not response.strip():
        silent = frozenset(_WEIGHTS) - _ALONE
    hits: dict[str, _Hit] = {}
    for sentence in heard.sentences:
        for name, start, end in _sentence_cues(heard, sentence, response):
            if name not in silent and name not in hits:
                hits[name] = _Hit(start, end, sentence)
    return hits


def _asks_user(response: str) -> bool:
    return bool(_MARK.search(response[-_ASKS_WITHIN:]))


def _sentence_cues(heard: _Heard, sentence: _Sentence, response: str) -> Iterator[tuple[str, int, int]]:
    """The cues of one sentence with their offsets."""
    patterns, start = heard.table.patterns, sentence.start
    if sentence.denies:
        yield "no", start, start
    said = heard.plain[start : sentence.end]
    asking = bool(_MARK.search(said[-3:])) and not patterns["you_can"].search(said)
    told = patterns["reported"].search(said)
    for name in _SPOKEN:
        later = sentence.place > 0 and name in _FIRST
        if later or (asking and name not in _ASKED) or (told and name in _OWN):
            continue
        if (match := patterns[name].search(said)) is not None:
            yield name, start + match.start(), start + match.end()
    if not asking and (denied := _find_denied(heard.table, said, response)):
        yield "denied", start + denied.start(1), start + denied.end(1)


def _find_denied(table: Phrases, said: str, response: str) -> re.Match[str] | None:
    """A word that the user denies and the assistant had said ("in Berlin, not Paris")."""
    lower = response.lower()
    for match in table.patterns["denied"].finditer(said):
        word = match[1].lower()
        if len(word) > 1 and word in lower and (table.unspaced or term_of(word, table.language)):
            return match
    return None


def _message_cues(heard: _Heard, previous: str, response: str) -> dict[str, float]:
    """How strong the cues are that no single sentence holds."""
    if not response.strip() and not previous.strip():
        return {}
    failed = _response_failed(response, heard.table)
    alike = _rephrase_share(heard.text, previous, failed)
    cues = {
        "failed": float(failed),
        "similar": alike,
        "retried": float(failed and alike > 0),
        "thanks": float(_clause_thanks(heard.plain[:_COMPARED], heard.table)),
        "emphasis": float(bool(_LOUD.search(heard.plain[:_COMPARED]))),
        "negated": float(_denies_something(heard)),
    }
    return {name: strength for name, strength in cues.items() if strength}


def _clause_thanks(said: str, table: Phrases) -> bool:
    """Whether a clause thanks or praises, and does not only hold such a word ("say: have a wonderful morning")."""
    matches = table.patterns["thanks"].finditer(said)
    return any(table.unspaced or _is_clause(said, *match.span()) for match in matches)


def _is_clause(said: str, start: int, end: int) -> bool:
    """Whether words begin a clause, but for one before them, or end it."""
    before = _CLAUSE.split(said[:start])[-1].split()
    return len(before) <= 1 or not _CLAUSE.split(said[end:])[0].strip()


def _denies_something(heard: _Heard) -> bool:
    """Whether the message denies anything at all."""
    said, negators = heard.plain[:_COMPARED].lower(), heard.table.negators
    if heard.table.unspaced:
        return any(word in said for word in negators)
    return not negators.isdisjoint(_WORD.findall(said))


def _response_failed(response: str, table: Phrases) -> bool:
    """Whether the assistant has just apologised or said that it could not."""
    return bool(table.patterns["sorry"].search(response[:_APOLOGY_WITHIN].replace("’", "'")))


def _rephrase_share(message: str, previous: str, failed: bool) -> float:
    """How much a message says the one before anew, in [0, 1]; the same command again may just be wanted twice."""
    text, other = message[:_COMPARED].lower().strip(_EDGE), previous[:_COMPARED].lower().strip(_EDGE)
    if len(text) < 2 or len(other) < 2:
        return 0.0
    ratio = fuzz.ratio(text, other) / 100
    if " " in text + other:
        ratio = (ratio + fuzz.token_set_ratio(text, other) / 100) / 2
    alike = max(0.0, (ratio - _ALIKE_FROM) / (1 - _ALIKE_FROM))
    return alike * _RETRY if text == other and not failed else alike


def _wanted_clause(heard: _Heard, hits: dict[str, _Hit]) -> str:
    """The clause that says what is wanted, the plainest first."""
    for name in (*_WISHES, *_STATED, "denied"):
        if (hit := hits.get(name)) is not None and not _within_rejection(hit, hits):
            clause = _clause_after(heard, hit) if name == "meant" else _clause_around(heard, hit)
            if clause:
                return clause
    if "no" in hits and (clause := _unless_rejecting(heard, hits["no"].start, hits["no"].sentence.end)):
        return clause
    rejection = hits.get("reject") or hits.get("no")
    return _following_clause(heard, rejection) if rejection else ""


def _within_rejection(hit: _Hit, hits: dict[str, _Hit]) -> bool:
    """Whether a cue is part of a rejection ("not what I asked for")."""
    rejection = hits.get("reject")
    return rejection is not None and rejection.start <= hit.start < rejection.end


def _clause_around(heard: _Heard, hit: _Hit) -> str:
    """The clause around a cue, without courtesies and "from now on"; of the rest of the sentence where that is all."""
    start = hit.sentence.start
    for boundary in _BOUNDARY.finditer(heard.plain, start, hit.start):
        start = boundary.end()
    return _clean_clause(heard, start, hit.sentence.end) or _clean_clause(heard, hit.sentence.start, hit.sentence.end)


def _clause_after(heard: _Heard, hit: _Hit) -> str:
    """What follows "I meant"; in languages whose verb comes last, what precedes it."""
    if clause := _clean_clause(heard, hit.end, hit.sentence.end):
        return clause
    return _clean_clause(heard, hit.sentence.start, hit.start) if heard.table.unspaced else ""


def _following_clause(heard: _Heard, hit: _Hit) -> str:
    """What is said behind a rejection: the rest of its sentence, or the next one."""
    boundary = _BOUNDARY.search(heard.plain, hit.end, hit.sentence.end)
    if boundary and (clause := _unless_rejecting(heard, boundary.end(), hit.sentence.end)):
        return clause
    later = [sentence for sentence in heard.sentences if sentence.place == hit.sentence.place + 1]
    return _unless_rejecting(heard, later[0].start, later[0].end) if later else ""


def _unless_rejecting(heard: _Heard, start: int, end: int) -> str:
    """A clause, if it says what is wanted and not again that something is wrong, or thanks."""
    said = heard.plain[start:end]
    if any(heard.table.patterns[name].search(said) for name in ("reject", "why", "thanks", "sorry")):
        return ""
    return _clean_clause(heard, start, end)


def _clean_clause(heard: _Heard, start: int, end: int) -> str:
    start = _past_opener(heard.plain, start, end, heard.table)
    if (lead := heard.table.patterns["lead"].match(heard.plain, start, end)) is not None:
        start = _past_opener(heard.plain, lead.end(), end, heard.table)
    return heard.text[start:end].strip(_EDGE)[:MAX_WANTED]


def correction_likeness(correction: MessageCorrection | str, other: MessageCorrection | str) -> float:
    """Whether two corrections ask for the same, in [0, 1] (`wish_likeness`); one that says no wish is like no other."""
    return wish_likeness(*(said if isinstance(said, str) else said.wanted for said in (correction, other)))
