"""How a sentence wishes for something of answers, and for how long: told from its words alone.

What is said of somebody else, supposed or asked is no wish; what belongs to the one task at hand is one for now. The
phrases stand in `wishing.json`.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from insula.text.analysis import words, words_of
from insula.text.corrections import correction
from insula.text.grammar import UNSPACED
from insula.text.pasted import own_words
from insula.text.slots import Slot, says, slots, without_slots

Force = Literal["standing", "asked", "once", "weak", "pointing"]
"""For good; for now, unless it is asked again; for this answer alone; only of what stands already, which it limits or
takes back; what was told last is to be told no more ("stop doing that")."""
_SHORT = 8
"""Words of a message that may be nothing but a wish ("Celsius please")."""
_WORD = 4
"""Characters of a part of a sentence that bids nothing by itself ("No")."""
_FACTUAL = frozenset({"diet", "currency", "tool"})
"""Slots of things that one also likes for themselves: only a bidding that holds always is a wish."""
_WORLDLY = frozenset(
    {
        "language",
        "code",
        "example",
        "steps",
        "table",
        "level",
        "humour",
        "source",
        "reasons",
        "word",
        "formality",
        "heading",
    }
)
"""Slots of things that one also likes for themselves: a liking must be one of answers."""
_ME = re.compile(r"\w(?:me|mi)\b", re.IGNORECASE)
"""What verbs of Spanish, Portuguese and Italian end with that are done to their speaker ("tutéame")."""
_IN = re.compile(r"(?<!\w)(?:in|en|em|auf)(?!\w)|[用以]|で", re.IGNORECASE)
"""What makes of a language one to answer in ("in Italian, please"), and not a dish."""
_FEWEST = 2
"""Words of a part that a sentence may begin with and go on ("Also, …")."""
_OBJECT = 3
"""Words that a verb behind a mere "always" has behind it where it is a bidding."""
_ME_WORDS = frozenset({"me", "mi", "mir", "mich", "moi", "m", "我"})
_MARK = re.compile(r"[?？]\W*\Z|[か吗][。．]?\Z")
PIECE = re.compile(r"[,;:.!?()，、；：。！？–—]|(?<!\w)(?:and|und|y|et|e|so|aber|but)(?!\w)")
_COMMA = re.compile(r"[,，、]")
_OF = re.compile(r"\s+(?:of|de|del|des|du|di|della|dei|von|vom|da|do)(?!\w)|\s+d'")
"""What makes of a slot a part of another thing ("listas de espera")."""


_OF_MANNER = (
    "general",
    "target",
    "answers",
    "prefer",
    "only",
    "hate",
    "stop",
    "modal",
    "want",
    "lift",
    "negative",
    "means",
    "please",
    "measured",
)
"""Phrases beside what is wanted that are about nothing else."""
_FEW, _BARE = (1, 6), (0, 2)
"""Words and, where these are not spaced, characters of something else, in what is about the manner of answers alone."""


class Sentence(NamedTuple):
    """A sentence with what it says of the manner of an answer."""

    text: str
    language: str
    slots: tuple[Slot, ...]

    def says(self, what: str) -> bool:
        """Whether it holds a phrase of `wishing.json`."""
        return says(what, self.language).search(self.text) is not None

    def any(self, *what: str) -> bool:
        """Whether it holds one of several."""
        return any(map(self.says, what))


def read(text: str, language: str) -> Sentence:
    """A sentence as one language reads it."""
    plain = text.replace("’", "'")
    return Sentence(plain, language, slots(plain, language))


def is_none(one: Sentence) -> bool:
    """Whether a sentence supposes, asks, or speaks of somebody else."""
    if one.any("hypothetical", "reported", "why") or _asks(one) or _is_own(one):
        return True
    first = min((slot.start for slot in one.slots), default=len(one.text))
    if says("things", one.language).search(one.text, 0, first) and not (
        bids(one) or one.any("modal", "only", "target")
    ):
        return True
    other = says("others", one.language).search(one.text)
    return other is not None and other.start() < first


def _is_own(one: Sentence) -> bool:
    """Whether it tells what the user does themselves, or likes of the world ("I like lists in novels")."""
    bidding = one.language not in UNSPACED and bids(one)
    return one.says("own") and not bidding and not one.any("target", "modal", "stop")


def _asks(one: Sentence) -> bool:
    """Whether it asks to know something, and does not ask for something to be done ("… always, ok?")."""
    mark = _MARK.search(one.text)
    if not mark or one.says("modal"):
        return False
    tag = rf"(?:^|[\W_])(?:{says('tag', one.language).pattern})\W*$"
    return re.search(tag, one.text, re.IGNORECASE) is None


def bids(one: Sentence) -> bool:
    """Whether a part of a sentence is a bidding."""
    if one.language in UNSPACED:
        return any(map(_orders, _pieces(one)))
    pattern = says("directive", one.language)
    parts = (part.strip() for part in PIECE.split(one.text) if len(part.strip()) > _WORD)
    return any(pattern.match(_behind_general(part, one.language)) for part in parts)


def _behind_general(part: str, language: str) -> str:
    """A part of a sentence without a "from now on" before it."""
    lead = says("general", language).match(part)
    return part[lead.end() :].strip() if lead else part


def force_of(one: Sentence, previous: str, *, alone: bool) -> Force | None:
    """For how long a sentence that speaks of the manner of answers wishes it; None where it wishes nothing.

    For good only where it says so: by a word such as "always" on what it bids or likes; by how its writer is to be
    called; by what they prefer or can read at all; or, with nothing beside it, by the language to speak with them or by
    "your answers" in general. A bidding that is nothing but what it wants is a request, and stands if it is made again
    in another session. Whatever else it bids is for now.

    Args:
        one: the sentence.
        previous: the user's message before it.
        alone: whether its message speaks of nothing else.
    """
    bidding = bids(one) or one.any("modal", "want")
    if any(_names(part) for part in _pieces(one)):
        return "standing"
    if is_once(one):
        return "once"
    if _is_always(one, bidding) or of_something_else(one):
        return "standing"
    if any(_addresses(part, bidding) or _likes(part) for part in _pieces(one)):
        return "standing"
    if _ordered(one) or _is_of_the_text_before(one, previous):
        return "once" if bidding else None
    if alone and is_plain(one) and _is_of_answers(one, bidding):
        return "standing"
    return _requested(one, bidding) if alone else "once" if bidding else None


def _requested(one: Sentence, bidding: bool) -> Force | None:
    """A bidding without a word on how long: a request where it begins with nothing but what it wants, else for now."""
    if all(slot.wants == ("preamble", "on", True) for slot in one.slots):
        return None  # a greeting
    begun = next(iter(_pieces(one)), one)
    bare = begun.slots and is_plain(begun, _FEW if begun.says("stop") else _BARE)
    if not bare or (_MARK.search(one.text) and not _is_asked_politely(one)):
        return "once" if bidding else None
    if {slot.name for slot in one.slots} == {"language"} and not (one.says("speak") or _IN.search(one.text)):
        return None
    return "asked" if bidding or is_short(one) else None


def _is_asked_politely(one: Sentence) -> bool:
    """Whether a question asks for the manner of answers ("Could you answer in metres?"), and not what somebody can."""
    return one.says("modal") and one.says("target") and not {slot.name for slot in one.slots} <= _WORLDLY


def _is_always(one: Sentence, bidding: bool) -> bool:
    """Whether it says of what it bids or likes, or of nothing but what it wants, that it holds always."""
    if not is_general(one):
        return False
    if one.any("prefer", "hate", "only"):
        return not _is_worldly(one, {slot.name for slot in one.slots})
    parts = _pieces(one)
    alone = bidding or any(map(_is_only_general, parts))
    wanted = (part for part in parts if part.slots and (alone or is_general(part)))
    return _orders_always(parts) or any(_is_wanted(part, bidding) for part in wanted)


def _orders_always(parts: Sequence[Sentence]) -> bool:
    """Whether a part of a sentence bids something always ("…, so always convert"), and points at nothing outside it."""
    return any(is_general(part) and _orders(part) and (len(parts) > 1 or not part.says("refer")) for part in parts)


def _orders(part: Sentence) -> bool:
    """Whether a part of a sentence is surely a bidding: where verbs end a sentence, it ends as one, too."""
    if part.language not in UNSPACED:
        return bids(part)
    text = _behind_general(part.text, part.language)
    bidden = list(says("directive", part.language).finditer(text))
    ends = (*bidden, *says("want", part.language).finditer(text))
    return any(match.start() == 0 for match in bidden) or any(match.end() >= len(text) - 1 for match in ends)


def _is_wanted(part: Sentence, bidding: bool) -> bool:
    """Whether a part of what holds always is wanted, and not what its writer does ("I never use emojis")."""
    if is_short(part):
        return True
    if bidding:
        return is_general(part) or is_plain(part)
    return is_plain(part, _BARE) and not _is_worldly(part, {slot.name for slot in part.slots})


def _pieces(one: Sentence) -> list[Sentence]:
    """The parts of a sentence between its commas and conjunctions."""
    return [read(part.strip(), one.language) for part in PIECE.split(one.text) if part and part.strip()]


def is_general(one: Sentence) -> bool:
    """Whether it says that it holds always, or whenever its writer speaks of a topic."""
    return one.says("general") or bool(topic_of(one))


def topic_of(one: Sentence) -> str:
    """What a sentence says that it holds for, whenever that comes up ("when I ask about recipes"); else nothing."""
    match = says("topic", one.language).search(one.text)
    return (match["topic"] or "").strip() if match else ""


def _is_of_answers(one: Sentence, bidding: bool) -> bool:
    """Whether it sets the language to speak, or what all answers are to be like."""
    if any(slot.name == "language" for slot in one.slots):
        speaks = says("speak", one.language)
        return bool(speaks.match(one.text) or (bidding and speaks.search(one.text)))
    return one.says("answers") and (bidding or is_short(one))


def _is_of_the_text_before(one: Sentence, previous: str) -> bool:
    """Whether the message before it ordered a text, or handed one over, which this may speak of ("shorter please")."""
    return bool(previous) and (creates(previous, one.language) or not own_words(previous))


def is_once(one: Sentence) -> bool:
    """Whether it is for this one answer: what limits it is no part of what makes it general ("ab heute")."""
    spans = [match.span() for match in says("general", one.language).finditer(one.text)]
    for match in says("once", one.language).finditer(one.text):
        if not any(start <= match.start() < end for start, end in spans):
            return True
    return False


def _names(one: Sentence) -> bool:
    """Whether it says what its writer is to be called."""
    start = min((slot.start for slot in one.slots if slot.name == "name"), default=None)
    if start is None or is_once(one):
        return False
    head = one.text[:start].split()
    return len(head) <= 1 or bids(one) or one.any("modal", "want", "prefer", "hate", "general", "stop")


def _addresses(one: Sentence, bidding: bool) -> bool:
    """Whether it says how formally its writer is to be spoken to ("Siez mich", "tutéame")."""
    if not any(slot.name == "formality" for slot in one.slots) or _ordered(one) or not is_plain(one):
        return False
    first = words_of("first", one.language)
    of_me = any(word.text.lower() in first for word in words(one.text, one.language))
    return bool(_ME.search(one.text)) or (of_me and (bidding or one.any("prefer", "hate")))


def _likes(one: Sentence) -> bool:
    """Whether it says what of answers the user likes, can't bear or can't do without."""
    names = {slot.name for slot in one.slots}
    if not names or names <= _FACTUAL or is_of_a_thing(one) or _ordered(one) or not is_plain(one):
        return False
    return one.says("only") or (one.any("prefer", "hate") and not _is_worldly(one, names))


def _is_worldly(one: Sentence, names: set[str]) -> bool:
    """Whether it may be of things that one also likes for themselves ("short trips"), and not of answers."""
    of_length = names == {"length"} and not any(slot.detail for slot in one.slots)
    return (names <= _WORLDLY or of_length) and not one.says("target")


def is_of_a_thing(one: Sentence) -> bool:
    """Whether a slot is part of what a thing is called ("listas de espera")."""
    return any(_OF.match(one.text, slot.end) for slot in one.slots) and not one.says("target")


def _ordered(one: Sentence) -> re.Match[str] | None:
    """What orders a text or anything else to be made."""
    return says("creates", one.language).search(one.text)


def creates(message: str, language: str) -> bool:
    """Whether a message orders a text, or anything else, to be made."""
    return says("creates", language).search(message) is not None


def is_plain(one: Sentence, others: tuple[int, int] = _FEW) -> bool:
    """Whether a sentence speaks of the manner of answers, and of hardly anything else: so many words, or characters."""
    left = without_slots(one.text, one.language)
    for what in _OF_MANNER:
        left = says(what, one.language).sub(" ", left)
    if one.language in UNSPACED:
        return len(re.sub(r"[\W_]", "", left)) <= others[1]
    pieces = (says("directive", one.language).sub(" ", piece.strip(), count=2) for piece in PIECE.split(left) if piece)
    return sum(bool(word.term) for piece in pieces for word in words(piece, one.language)) <= others[0]


def speaks_plainly(one: Sentence) -> bool:
    """Whether each part of a sentence that speaks of the manner of answers speaks of nothing else."""
    return all(is_plain(part) for part in _pieces(one) if part.slots)


def is_short(one: Sentence) -> bool:
    """Whether a sentence is nothing but what it wants, and courtesies."""
    left = one.text
    for slot in sorted(one.slots, key=lambda slot: -slot.start):
        left = f"{left[: slot.start]} {left[slot.end :]}"
    left = says("general", one.language).sub(" ", left)
    if one.language in UNSPACED:
        return bool(one.slots) and not re.sub(r"[\W_]", "", says("please", one.language).sub("", left))
    words = re.findall(r"[\w']+", left)
    return bool(one.slots) and len(words) <= _SHORT and all(says("please", one.language).fullmatch(w) for w in words)


def of_something_else(one: Sentence) -> Force | None:
    """Whether it is a standing bidding of something else ("Always check the dates first").

    It must begin with what it bids, but for a "From now on": what follows "I …, and always …" tells of its writer.
    """
    if one.any("once", "lift"):
        return None
    parts = _pieces(one)
    begun = next((part for part in parts if len(part.text.split()) > _FEWEST and not _is_only_general(part)), one)
    about = bool(topic_of(one)) and any(map(_orders, parts))
    if about or _opens_generally(one) or any(map(_asks_always, parts)):
        return "standing"
    if is_general(one) and _orders_alone(begun, one):
        return "standing"
    return "standing" if _opens_with_always(one) else None


def _opens_generally(one: Sentence) -> bool:
    """Whether a sentence opens with when it holds, and goes on with what is wanted ("Whenever there's a choice, …")."""
    head, *later = _COMMA.split(one.text)
    if not later or says("general", one.language).match(head) is None:
        return False
    part = read(later[0].strip(), one.language)
    return _orders(part) or (bool(part.slots) and is_plain(part))


def _asks_always(part: Sentence) -> bool:
    """Whether a part of a sentence asks for something always, by a "please" or of what is to be done to its writer."""
    if not is_general(part) or part.says("refer"):
        return False
    to_me = not _ME_WORDS.isdisjoint(word.text.lower() for word in words(part.text, part.language))
    return _orders(part) and (to_me or _ME.search(part.text) is not None)


def _orders_alone(begun: Sentence, one: Sentence) -> bool:
    """Whether the part that a sentence begins with is a bidding, and nobody is its subject."""
    own = words_of("first", one.language) - _ME_WORDS
    lead = says("general", one.language).search(begun.text)
    before = words(begun.text[: lead.start() if lead else 0], one.language)
    subject = any(word.text.lower() in own for word in before)
    return _orders(begun) and not subject and not (begun.says("refer") and len(_pieces(one)) == 1)


def _is_only_general(part: Sentence) -> bool:
    return not re.sub(r"[\W_]", "", says("general", part.language).sub("", part.text))


def _opens_with_always(one: Sentence) -> bool:
    """Whether an English sentence opens by saying that it holds always, and goes on to bid ("Always check the dates").

    In the other languages a verb behind "always" may as well tell what its writer does ("Nunca salgo sin paraguas").
    """
    lead = says("general", one.language).match(one.text)
    if one.language != "en" or lead is None or one.says("refer"):
        return False
    left = list(words(one.text[lead.end() :], one.language))
    if not left or left[0].text.lower() in words_of("first", one.language):
        return False
    if " " not in lead[0] and (not left[0].term or len(left) <= _OBJECT):
        return False  # "Never saw it", "Always here to help"
    judged = correction(one.text, "", "")
    return "standing" in judged.cues and bool(judged.wanted)
