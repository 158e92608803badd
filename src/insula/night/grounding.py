"""What a reflection may keep: what does no harm in a prompt (R9) and rests on the user's own words, by meaning (R7).

Guidance on how to work rests on feedback: what the user said of how the assistant works or should work. Guidance on
content rests on a fact that they told, and may only ward off: from "I'm allergic to walnuts" follows "check recipes for
walnuts", and never a dish. Thanks ask for nothing, and a number that the user did not say is nobody's wish. What tools
returned and users pasted is evidence of nothing.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from insula.language.facts import speaks_of_user
from insula.language.guiding import FEEDBACK, TELLS, WARDS, guiding_chance
from insula.language.heads import Vector
from insula.language.owner import ASSISTANT, USER
from insula.language.preferences import is_of_one_part, part_of
from insula.language.statements import extract_statements
from insula.memory.retrieval.embedding import embed_each, hands_of
from insula.memory.storage.rows import TranscriptLine
from insula.memory.storage.vectors import Embed
from insula.night import prompts
from insula.night.agreement import keeps_advice, read_claim
from insula.night.corrections import Corrected, find_corrections, is_users, only_thanks, own_lines
from insula.redaction import kinds
from insula.screening import screen_text
from insula.text.analysis import analyse_text, detect_language
from insula.text.answers import number_words
from insula.text.pasted import own_words, split_units
from insula.text.wording import flatten_words

QUOTED, NEAR = 0.15, 0.4
"""Nearness in meaning from which an item rests on words that it quotes, on feedback elsewhere in the sessions that it
cites. Chosen on `insula_bench/nights/reflections_dev.jsonl` (`insula bench
nights`)."""
ON_ANSWER = 0.2
"""Chance from which words that are quoted, and were said of an answer, are feedback on it: "tutoie-la, c'est ma
cousine". Of 75 good items of the three sets it keeps three more, of 112 invented ones none, of 44 opposites two
(*development*)."""
WARDS_SURELY, WARDS_NOT = 0.95, 0.34
"""Chances of keeping something away: words that surely do bear out no item that rather does not, since whoever says
"don't add what isn't there" asks for no drama. Of 44 opposites of what they quote it finds 3, and of 61 good ones none;
of 17 and 20 of three fortnights 3 and none (*development*, all of them)."""
CLOSE, SURE = 0.2, 0.6
"""The same for an item on the manner of answers of which the words say nothing."""
ABOUT_PEOPLE = "about people"
"""Why such a text is no guidance."""
OF_WORK = 0.5
"""Chance of feedback from which words that thank ask for something, too."""
SAID = 0.65
"""Nearness from which an item says what the user asked for in nearly the same words, if that is no fact."""
SAME_SENSE = 0.6
"""Nearness from which a part of a wording says what a guideline said, if it wards off where that does."""
AGREED = 0.4
"""The same where both want the same of the manner of answers."""
RESTATED = 0.45
"""Nearness from which an item says what a preference says that it quotes, or the opposite."""
AGAINST = 0.25
"""Nearness from which feedback is about a guideline, and may be the reason to retire it."""
SAYINGS = 200
"""Messages of a session that are weighed, the latest."""
CHARS = 300
WAITING = (
    *("Please send me the text.", "I am waiting for the next message.", "OK, go ahead."),
    *("I have received the first part.", "The text is missing."),
)
"""What a response says that only waits for a text; in any language: the encoder puts all into one space."""
ANSWERING = ("I have rewritten everything.", "The text is about this.", "Dear Sir or Madam,")
"""What one says that works on it: what the user says next is of that. Of 58 responses by hand that wait, 55 are taken
to wait, and 10 of 50 that answer; the sentences were chosen on these."""
WAITS = 0.2
"""Nearness to one that waits below which a response answers, however little it is like these answers."""
PART, PART_SURELY = 0.4, 0.7
"""Chances from which a text is taken to be about a part of an answer, and to say the opposite of a preference: guidance
is seldom about any."""
ECHO = 4
"""So many words in a row are a passage; in languages that write no spaces, so many characters."""
ECHOES = 0.5
"""Share of the passages of an item that stand in foreign text, from which it only repeats that."""
ITEM_CHARS = 300
"""A longer item is an essay; it is dropped and never cut."""
_LINK = re.compile(r"\w\w+://|\bwww\.\w|\]\(|\bmailto:|\bdata:\w+/|\w@[\w-]+\.\w", re.IGNORECASE)
_PART = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_THOUSANDS = re.compile(r"(?<=\d)[.,'’\u00a0\u202f](?=\d{3}\b)")
_JOINERS = frozenset("\u200c\u200d")
"""Two format characters that scripts and emoji need; `screen_text` sees where they are misused."""


class Saying(NamedTuple):
    """A message of the user's, in their own plain words."""

    text: str
    terms: frozenset[str]
    vectors: tuple[Vector, ...]
    """Of its sentences and clauses, and of it with the message before; empty without an embedding."""
    feedback: float
    """The chance that it speaks of how the assistant works; 1 where it corrects."""
    on_answer: bool
    """Whether an answer stands before it."""
    is_fact: bool
    """Whether it tells a fact of somebody: what rests on it wards something off."""
    wards: float
    """The chance that it keeps something away."""
    message: int
    """Its id."""

    @property
    def parts(self) -> frozenset[str]:
        """What it wants of answers, such as "length.short"."""
        return frozenset(part_of(vector, PART) for vector in self.vectors)

    def is_feedback(self, least: float = FEEDBACK) -> bool:
        """Whether it speaks of how the assistant works."""
        return self.feedback >= least

    def contains_quote(self, quote: str) -> bool:
        """Whether some words stand in it."""
        return bool(_flatten_text(quote)) and _flatten_text(quote) in _flatten_text(self.text)


class Text(NamedTuple):
    """What a model wrote, as it is weighed."""

    text: str
    terms: frozenset[str]
    vector: Vector | None
    bids: bool = True
    """Whether it says what to do; else it may tell what went badly."""

    @property
    def part(self) -> str:
        """What it wants of answers, such as "length.short"; empty where that cannot be told."""
        return part_of(self.vector, PART)

    @property
    def warding(self) -> float:
        """The chance that it keeps something away."""
        return guiding_chance("wards", self.vector) or 0.0

    @property
    def wards(self) -> bool:
        """Whether it does."""
        return self.warding >= WARDS

    @property
    def is_about_people(self) -> bool:
        """Whether it tells of somebody: such things are remembered. Without a vector, whether it says "I" or "my"."""
        chance = guiding_chance("tells", self.vector)
        return speaks_of_user(self.text, detect_language(self.text, "en")) if chance is None else chance >= TELLS

    def nearness_to_saying(self, saying: Saying) -> float:
        """How near it is in meaning to something said; without an embedding, the share of its words there."""
        if self.vector is None or not saying.vectors:
            return len(self.terms & saying.terms) / max(1, len(self.terms))
        return max(float(np.dot(self.vector, each)) for each in saying.vectors)

    def nearness_to(self, other: "Text") -> float:
        """How near it is in meaning to another; 0 without an embedding."""
        if self.vector is None or other.vector is None:
            return 0.0
        return float(np.dot(self.vector, other.vector))


def read_text(text: str, embed: Embed | None, *, bids: bool = True) -> Text:
    """A text as it is weighed."""
    vector = embed_each(embed, [text])[0] if embed else None
    return Text(text, frozenset(analyse_text(text).terms), vector, bids)


def without_people(correction: Corrected, embed: Embed | None) -> Corrected:
    """A correction, refused where its words tell of somebody."""
    if correction.refused or not read_text(correction.wanted, embed).is_about_people:
        return correction
    return correction._replace(refused=ABOUT_PEOPLE)


def about_no_answers(corrections: Sequence[Corrected], embed: Embed | None) -> list[Corrected]:
    """Those corrections that are not about how answers are to be: that is a preference, and has a ledger of its own."""
    if embed is None or not corrections:
        return list(corrections)
    vectors = embed_each(embed, [correction.wanted for correction in corrections])
    return [correction for correction, vector in zip(corrections, vectors, strict=True) if not part_of(vector)]


def list_sayings(lines: Sequence[TranscriptLine], embed: Embed | None) -> tuple[Saying, ...]:
    """What the user said in a session."""
    lines = read_own(lines, embed)
    asking = {message.line.id for message in find_corrections(lines, embed)}
    own = [(line, words) for line in lines if is_users(line) and (words := own_words(line.content))][-SAYINGS:]
    first = next((line.id for line in lines if line.provenance == "assistant"), None)
    sayings: list[Saying] = []
    previous = ""
    for line, words in own:
        analysis = analyse_text(words)
        pieces = list(dict.fromkeys((*split_units(analysis), words[:CHARS])))
        both = [f"{previous} {words}"[:CHARS]] if previous else []
        vectors = tuple(embed_each(embed, [*pieces, *both])) if embed else ()
        said = vectors[: len(pieces)]
        feedback = 1.0 if line.id in asking else _feedback_chance(said)
        on_answer = first is not None and line.id > first
        whole = said[pieces.index(words[:CHARS])] if said else None
        wards = guiding_chance("wards", whole) or 0.0
        terms = frozenset(analysis.terms)
        is_fact = _tells_fact(words, said)
        sayings.append(Saying(words, terms, vectors, feedback, on_answer, is_fact, wards, line.id))
        previous = words
    return tuple(sayings)


def read_own(lines: Sequence[TranscriptLine], embed: Embed | None) -> list[TranscriptLine]:
    """The lines of a session, those of the user's without what they handed over: feedback on an answer is theirs."""
    return own_lines(lines, hands_of(embed), lambda response: _only_waits(response, embed))


def _only_waits(response: str, embed: Embed | None) -> bool:
    """Whether a response only waits for a text, or asks for it."""
    if embed is None or "?" in response or "？" in response:
        return True
    vector, *told = embed_each(embed, [response, *WAITING, *ANSWERING])
    near = [float(np.dot(vector, each)) for each in told]
    return max(near[: len(WAITING)]) >= max(WAITS, *near[len(WAITING) :])


def _feedback_chance(vectors: Iterable[Vector]) -> float:
    return max((guiding_chance("feedback", each) or 0.0 for each in vectors), default=0.0)


def _tells_fact(text: str, vectors: Sequence[Vector]) -> bool:
    """Whether a text tells a fact of somebody; without vectors, whether it states anything of the user."""
    if vectors:
        return any((guiding_chance("tells", each) or 0.0) >= TELLS for each in vectors)
    told = extract_statements(analyse_text(text), USER, ASSISTANT)
    return any(subject.startswith(USER) for statement in told for subject in statement.subjects)


# Whether an item may be kept.


class CitedProposal(NamedTuple):
    """Something proposed, with the sessions that it cites."""

    text: str
    sessions: tuple[int, ...]
    section: str = ""
    """Of SOUL.md; empty for an insight."""
    about: str = ""
    """The part of the text that is the user's own, where we put it into a sentence of ours."""
    quotes: tuple[str, ...] = ()
    """The user's words that it rests on, as its author has them."""
    messages: tuple[int, ...] = ()
    """The ids of those of the user's that bear it out, one of each session."""


class DroppedProposal(NamedTuple):
    """What was not kept, and why."""

    item: CitedProposal
    reason: str


class Ground(NamedTuple):
    """What a session holds that an item may rest on."""

    said: tuple[Saying, ...]
    foreign: frozenset[tuple[str, ...]] = frozenset()
    """Passages of what a tool returned or the user pasted, and did not say."""


def sift_proposals(
    items: Sequence[CitedProposal], ground: Mapping[int, Ground], preferences: Sequence[str], embed: Embed | None
) -> tuple[list[CitedProposal], list[DroppedProposal]]:
    """The items that may be kept, each with only the sessions that bear it out, and those that may not."""
    kept: list[CitedProposal] = []
    dropped: list[DroppedProposal] = []
    for item in items:
        if reason := find_flaw(item, ground):
            dropped.append(DroppedProposal(item, reason))
            continue
        text = read_text(" ".join(item.text.split()), embed, bids=bool(item.section))
        said = {session: ground[session].said for session in item.sessions}
        if reason := explain_unsupported(text, item.quotes, said, embed):
            dropped.append(DroppedProposal(item, reason))
        elif item.section and restates_preference(text, item.quotes, preferences, embed):
            dropped.append(DroppedProposal(item, "the user's own words stand already"))
        elif item.section and contradicts_preferences(text, preferences, embed):
            dropped.append(DroppedProposal(item, "says the opposite of what the user wants"))
        else:
            support = supporting_messages(text, item.quotes, said)
            kept.append(item._replace(text=text.text, sessions=(*support,), messages=(*support.values(),)))
    return kept, dropped


def find_flaw(item: CitedProposal, ground: Mapping[int, Ground]) -> str:
    """Why an item may not be kept whatever it means, in a word or two; empty where it may."""
    if unsafe := find_harm(item.text):
        return unsafe
    if not any(map(str.isalnum, item.text)):
        return "says nothing"
    if len(item.text) > ITEM_CHARS:
        return "too long"
    if not item.sessions:
        return "cites nothing"
    if not ground.keys() >= set(item.sessions):
        return "unknown session"
    if repeats_foreign(item.text, _prompt_passages()):
        return "repeats the prompt"
    foreign = frozenset[tuple[str, ...]]().union(*(ground[session].foreign for session in item.sessions))
    return "foreign" if repeats_foreign(item.text, foreign) else ""


def repeats_foreign(text: str, foreign: frozenset[tuple[str, ...]]) -> bool:
    """Whether a text mostly repeats what a tool returned or the user pasted: that is nobody's experience."""
    passages = list_passages(text)
    return bool(passages) and len(passages & foreign) >= ECHOES * len(passages)


@cache
def _prompt_passages() -> frozenset[tuple[str, ...]]:
    """The passages of what a model is asked for."""
    return list_passages(prompts.REFLECTION)


def list_passages(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of `ECHO` words of a text; where words are not told apart, of characters."""
    parts = _PART.findall(text.lower())
    return frozenset(tuple(parts[i : i + ECHO]) for i in range(len(parts) - ECHO + 1))


def find_harm(text: str) -> str:
    """Why a text that a model wrote may not stand in any prompt; empty where it may (R9)."""
    if kinds(text):
        return "secret"
    if reasons := screen_text(text, max(1, len(text))).reasons:
        return reasons[0]
    if _LINK.search(text):
        return "link"
    if any(unicodedata.category(ch) in {"Cf", "Co", "Cs"} and ch not in _JOINERS for ch in text):
        return "hidden"
    return ""


def explain_unsupported(
    text: Text, quotes: Sequence[str], said: Mapping[int, Sequence[Saying]], embed: Embed | None
) -> str:
    """Why an item may not be kept, in a few words; empty where what the user said bears it out.

    Args:
        quotes: the user's words that it rests on, as its author has them; without any it must be near what was said.
        said: what the user said in each session that it cites.
    """
    if text.is_about_people:
        return ABOUT_PEOPLE
    every = [saying for each in said.values() for saying in each]
    if quotes and not any(saying.contains_quote(quote) for quote in quotes for saying in every):
        return "quotes what was not said"
    if text.bids and quotes and all(_asks_nothing(quote, embed) for quote in quotes):
        return "quotes words that only thank"
    if text.bids and unsaid_numbers(text.text, [saying.text for saying in every]) - {len(said)}:
        return "names a number that was not said"
    return "" if supporting_messages(text, quotes, said) else "not borne out"


def _asks_nothing(quote: str, embed: Embed | None) -> bool:
    """Whether words thank and surely speak of no work: "thank you, that's what I mean" does."""
    feedback = guiding_chance("feedback", read_text(quote, embed).vector) or 0.0
    return only_thanks(quote, embed) and feedback < OF_WORK


def unsaid_numbers(text: str, said: Sequence[str]) -> set[int]:
    """The numbers in a text that stand in nothing that was said."""
    language = detect_language(text, "en")
    known = (_read_numbers(each, (language, detect_language(each, language))) for each in said)
    return _read_numbers(text, (language,)).difference(*known)


def _read_numbers(text: str, languages: Iterable[str]) -> set[int]:
    """The numbers above one in a text, in digits and in the words of some languages."""
    digits = {int(each) for each in re.findall(r"\d{1,12}", _THOUSANDS.sub("", text))}
    return {each for each in digits if each > 1}.union(*(number_words(text, language) for language in languages))


def supporting_messages(text: Text, quotes: Sequence[str], said: Mapping[int, Sequence[Saying]]) -> dict[int, int]:
    """The message that bears an item out, by its session: one that is quoted, else the nearest; none of other sessions.

    Of an item that quotes, at least one quotation must bear it out.

    Args:
        said: what the user said in each session that it cites.
    """
    bearing: dict[int, list[Saying]] = {}
    is_quoted = False
    for session, sayings in sorted(said.items()):
        quoted = [saying for saying in sayings if _bears_out(text, saying, quotes)]
        bearing[session] = quoted or [saying for saying in sayings if _bears_out(text, saying, ())]
        is_quoted |= bool(quoted)
    support = {session: max(each, key=text.nearness_to_saying).message for session, each in bearing.items() if each}
    return support if is_quoted else {}


def words_behind(item: CitedProposal, ground: Mapping[int, Ground]) -> str:
    """The user's words that an item rests on: what it quotes, else what bears it out."""
    said = [saying for session in item.sessions for saying in ground[session].said]
    if quoted := next((quote for quote in item.quotes if any(saying.contains_quote(quote) for saying in said)), ""):
        return quoted
    return next(saying.text for saying in said if saying.message in item.messages)


def _bears_out(text: Text, saying: Saying, quotes: Sequence[str]) -> bool:
    """Whether something said bears an item out; where quotations are given, whether one of them stands in it, too."""
    if quotes and not any(map(saying.contains_quote, quotes)):
        return False
    of_manner = bool(text.part) and text.part not in saying.parts
    least = (CLOSE if of_manner else QUOTED) if quotes else (SURE if of_manner else NEAR)
    near = text.nearness_to_saying(saying)
    if near < least:
        return False
    if text.wards if saying.is_fact else near >= SAID:
        return True
    if text.bids and saying.wards >= WARDS_SURELY and text.warding <= WARDS_NOT:
        return False
    return saying.is_feedback(ON_ANSWER if quotes and saying.on_answer else FEEDBACK)


def contradicts_preferences(text: Text, preferences: Sequence[str], embed: Embed | None) -> bool:
    """Whether an item says the opposite of what the user wants of all answers."""
    part = part_of(text.vector, PART_SURELY)
    if embed is None or not part:
        return False
    wanted = (part_of(vector, PART_SURELY) for vector in embed_each(embed, preferences))
    return any(other != part and is_of_one_part(other, part) for other in wanted)


def restates_preference(text: Text, quotes: Sequence[str], preferences: Sequence[str], embed: Embed | None) -> bool:
    """Whether an item says the same as a preference that it quotes, or the opposite of it: which of the two cannot be
    told by meaning, and of both the user's own words are the better ones."""
    quoted = [each for each in preferences if any(_is_within(quote, each) for quote in quotes)]
    if embed is None or text.vector is None or not quoted:
        return False
    return any(float(np.dot(text.vector, vector)) >= RESTATED for vector in embed_each(embed, quoted))


def _is_within(quote: str, preference: str) -> bool:
    """Whether one of two texts stands in the other."""
    shorter, longer = sorted((_flatten_text(quote), _flatten_text(preference)), key=len)
    return bool(shorter) and shorter in longer


# Whether a wording keeps what it replaces.


def keeps_sense(wording: Text, piece: Text, embed: Embed | None) -> bool:
    """Whether a wording says what a guideline said, in its words or by its meaning, and wards off what it does."""
    in_words = keeps_advice(wording.text, piece.text)
    if embed is None or piece.vector is None:
        return in_words
    parts = [read_text(part, embed) for part in dict.fromkeys((wording.text, *split_units(analyse_text(wording.text))))]
    near, part = max(((each.nearness_to(piece), each) for each in parts), key=lambda pair: pair[0])
    names = read_claim(wording.text).marks >= read_claim(piece.text).marks
    manner = bool(piece.part) and piece.part == wording.part and near >= AGREED
    return part.wards == piece.wards and (in_words or (names and near >= SAME_SENSE) or manner)


def speaks_against(piece: Text, said: Iterable[Saying]) -> bool:
    """Whether feedback of the user's is about a guideline, so that it may be the reason to retire it."""
    return any(saying.is_feedback() and piece.nearness_to_saying(saying) >= AGAINST for saying in said)


def _flatten_text(text: str) -> str:
    return flatten_words(text).strip(" .!?。！？")
