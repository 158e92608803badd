"""Whom a clause is about: each being as a path from who speaks, and which of them is the subject.

"My boss's dog" is `user/boss/dog`, neither me nor my boss; "Ana" is `ana`. Only what the words state is read:
possessives, kinship terms, pronouns and names, which stand for eight languages in `owner.json`. What they leave open is
nobody's, and fits everyone.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from insula.caches import clear_on_erasure
from insula.text.analysis import LANGUAGES, fold_accents, words_of
from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

USER = "user"
ASSISTANT = "assistant"
NOBODY = ""
"""The subject of a clause that speaks of no being: it fits whoever is asked about."""
SOMEBODY = "?"
"""One who is spoken of as "he" or "she", and nobody knows who: not the one who speaks."""
GROUPS = {
    "partner": {"wife", "husband"},
    "parent": {"mother", "father"},
    "child": {"son", "daughter"},
    "sibling": {"sister", "brother", "twin"},
    "grandparent": {"grandmother", "grandfather"},
    "pet": {"dog", "cat", "horse", "bird", "rabbit", "hamster", "fish"},
    "family": {
        *("wife", "husband", "mother", "father", "son", "daughter", "sister", "brother", "child", "parent", "aunt"),
        *("uncle", "cousin", "niece", "nephew", "grandmother", "grandfather", "grandchild", "inlaw", "sibling", "twin"),
    },
}
"""Who may be meant by a word that says less."""
REACH = 3
"""Words between "my" and whom it owns, at most ("my very best old friend")."""
HEAD = 5
"""Words into a clause at which what is reported may begin: "I told you yesterday that"."""

_TOKEN = re.compile(r"[^\W_]+(?:-[^\W\d_]+)*")
_INVERTED = re.compile(r"-(?:t-)?(je|tu|il|elle|on|nous|vous|ils|elles|moi|toi)\b", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "ein", "eine", "einen", "einem", "un", "une", "uno", "una", "um", "uma"})
_BEFORE_NAMES = frozenset({"o", "a", "la", "il", "el"})
"""Articles that stand before names in Portuguese, Italian and, at home, Spanish."""
_GENITIVES = frozenset({"des", "der", "meines", "meiner", "unseres"})
"""German articles that say "of"."""
_PREDICATE = re.compile("[是当做为](?:一?[个位])?$")
"""Chinese: what makes the calling behind it what somebody is, and nobody else."""
_RELATIVE = re.compile("[がの][^、。はが]{1,8}(?:る|た)")
"""Japanese: between two beings it makes the second the first one's ("友達が飼っている犬は")."""


class Lexicon(NamedTuple):
    """The words of one language for beings, and the function words around them."""

    words: Mapping[str, frozenset[str]]
    beings: Mapping[str, str]
    """Word -> what being it names, by its English name."""
    function: frozenset[str]
    """Words that are nobody's name."""
    pattern: re.Pattern[str] | None = None
    """Unspaced languages: what names a being."""

    def find_being(self, word: str) -> str:
        """What being a word names, in the plural, too; empty for none."""
        known = self.beings.get(word) or (self.beings.get(word[:-1], "") if word.endswith("s") else "")
        if known or "-" not in word:
            return known
        prefix, _, rest = word.partition("-")
        kind = {"ex": "ex", "great": "greatparent"}.get(prefix)
        return kind if kind and self.find_being(rest) else self.find_being(word.replace("-", ""))


class Owners(NamedTuple):
    """Whom a clause is about, and who else stands in it."""

    subjects: frozenset[str]
    mentions: frozenset[str]
    pronouns: frozenset[str] = frozenset()
    """Those for whom a pronoun stands ("I"), and not only by what is theirs ("my parcel")."""


class _Mention(NamedTuple):
    """A being in a clause."""

    path: str
    at: int
    """Where it begins: which word, or which character of an unspaced text."""
    oblique: bool = False
    """Whether a preposition stands before it: then it is hardly the subject."""
    genitive: bool = False
    """Whether that is "of": what it belongs to may be the subject ("my uncle" of "the boat of my uncle")."""
    named: str = ""
    """The name beside it: "my sister Ana"."""
    pronoun: bool = False
    """Whether it is a pronoun that owns nothing: "I", and not "my"."""


class _Talk(NamedTuple):
    """Who speaks, to whom, and who was spoken of."""

    me: str
    you: str
    they: str


@clear_on_erasure
@lru_cache(maxsize=1_024)
def short_name(name: str) -> str:
    """The word by which a person is spoken of, lower-case: of "Dr. Bea Ray" the first name. Families share the last."""
    words = name.lower().split()
    return next((word for word in words if not word.endswith(".")), words[-1] if words else "")


def find_owners(text: str, language: str, speaker: str, listener: str, before: Sequence[str] = ()) -> Owners:
    """Find whom a clause is about.

    Args:
        speaker: who says it: "I".
        listener: to whom: "you".
        before: the subjects of the clause before, whom "he" and "she" stand for.
    """
    me = short_name(speaker)
    they = next((path for path in before if path != me), SOMEBODY)
    return _find_owners(text, language, _Talk(me, short_name(listener), they))


@clear_on_erasure
@lru_cache(maxsize=512)
def _find_owners(text: str, language: str, talk: _Talk) -> Owners:
    """The same; a turn asks the same of a sentence three times, and of its question beside each line that came up."""
    text = _INVERTED.sub(r" \1", text) if language == "fr" else text
    mentions, subjects = (_read_unspaced if language in UNSPACED else _read_spaced)(text, load_lexicon(language), talk)
    return Owners(
        frozenset(subjects),
        frozenset(path for mention in mentions for path in (mention.path, mention.named) if path),
        frozenset(mention.path for mention in mentions if mention.pronoun),
    )


def owners_may_match(asked: frozenset[str], said: frozenset[str]) -> bool:
    """Whether what is said of some may be of those asked about; of nobody in particular it always may."""
    if not asked or not said:
        return True
    kin, other_kin = asked - names_among(asked) - {USER}, said - names_among(said) - {USER}
    if kin and other_kin and not any(may_be_same(owner, other) for owner in kin for other in other_kin):
        return False  # my son Pablo is not my boss Pablo
    names, others = names_among(asked), names_among(said)
    if names and others and names.isdisjoint(others):  # my sister Ana is not my sister Eva
        return False
    return any(may_be_same(owner, other) for owner in asked for other in said)


def names_among(paths: frozenset[str]) -> frozenset[str]:
    """Those of some paths that are names."""
    return frozenset(path for path in paths if "/" not in path) - {NOBODY, SOMEBODY, USER, ASSISTANT}


def may_be_same(path: str, other: str) -> bool:
    """Whether two paths may mean the same being: "my partner" and "my wife"."""
    first, second = path.split("/"), other.split("/")
    return len(first) == len(second) and all(map(_is_kind, first, second))


def _is_kind(word: str, other: str) -> bool:
    return word == other or other in GROUPS.get(word, ()) or word in GROUPS.get(other, ())


@cache
def load_lexicon(language: str) -> Lexicon:
    """The words for beings in a language; those of English where it has none."""
    raw = load_table("owner.json", __package__)
    data = raw[language if language in LANGUAGES else "en"]
    plain = str if language in UNSPACED else fold_accents  # "ど" is another sign than "と"
    beings = {plain(word): being for being, line in data["beings"].items() for word in line.split()}
    words = {name: frozenset(plain(line).split()) for name, line in data.items() if name not in {"beings", "name"}}
    words["joints"] = frozenset(data.get("joints", "").split())  # as they are written
    words["callings"] = frozenset(raw["callings"].split())
    if language not in UNSPACED:
        words["names"] = frozenset(map(fold_accents, raw["names"].split()))
        words["titles"] = frozenset(raw["titles"].split())
        return Lexicon(words, beings, frozenset(map(fold_accents, words_of("function", language))))
    kinds = {"being": beings.keys(), "first": words["first"], "third": words["third"], "second": words["second"]}
    groups = (
        f"(?P<{kind}>{'|'.join(sorted(map(re.escape, some), key=len, reverse=True))})" for kind, some in kinds.items()
    )
    return Lexicon(words, beings, frozenset(), re.compile(f"{'|'.join(groups)}|(?P<name>{data['name']})"))


def split_words(text: str) -> list[str]:
    """The words of a text without accents, in lower case."""
    return [fold_accents(word) for word in re.findall(r"\w+", text.lower())]


Token = tuple[str, str]
"""A word without accents in lower case, and as it is written."""


def _read_spaced(text: str, known: Lexicon, talk: _Talk) -> tuple[list[_Mention], set[str]]:
    """The beings of a clause in order, and its subjects, in languages that write spaces; those of what it reports."""
    tokens = [(fold_accents(match.group().lower()), match.group()) for match in _TOKEN.finditer(text)]
    lows, mentions = [low for low, _ in tokens], _find_mentions(tokens, known, talk)
    start = _reported_from(lows, mentions, known.words)
    told = [mention.path for mention in mentions if mention.at < start]
    if start:
        talk = talk._replace(they=next((path for path in told if path not in talk[:2]), talk.they))
        inner = _find_mentions(tokens[start:], known, talk)
        if inner or told:
            return mentions, _find_subjects(lows[start:], inner, known.words, talk)
    return mentions, _find_subjects(lows, mentions, known.words, talk)


def _find_mentions(tokens: Sequence[Token], known: Lexicon, talk: _Talk) -> list[_Mention]:
    words, lows = known.words, [low for low, _ in tokens]
    mentions: list[_Mention] = []
    heard = talk  # with whom "he" and "she" stand for by now
    for at, (low, written) in enumerate(tokens):
        oblique = at > 0 and _is_preposition(lows, at - 1, words)
        pronoun = _resolve_pronoun(lows, at, known, heard)
        if _is_being(lows, at, known) and not _is_title(tokens, at, words):
            _add_being(mentions, lows, at, known, heard)
        elif pronoun is not None:
            dropped = low in words.get("first_verbs", ()) and any(mention.path == talk.me for mention in mentions)
            if not pronoun or dropped:
                continue
            mentions.append(_Mention(pronoun, at, oblique, pronoun=low not in words["first_own"]))
        elif _is_name(written, lows, at, known):
            _add_name(mentions, lows, at, words, fold_accents(written.lower()), oblique=oblique)
        else:
            continue
        spoken_of = (mention.named or mention.path for mention in reversed(mentions) if mention.path not in talk[:2])
        heard = talk._replace(they=next(spoken_of, talk.they))
    return mentions


def _reported_from(lows: Sequence[str], mentions: Sequence[_Mention], words: Mapping[str, frozenset[str]]) -> int:
    """The word with which what is reported begins ("I told Nuria I can't bear liquorice"); 0 where nothing is."""
    say = next((at for at, low in enumerate(lows[:HEAD]) if low in words["say"]), None)
    if say is None:
        return 0
    for at in range(say + 1, min(say + 1 + HEAD, len(lows))):
        if lows[at] in words["that"]:
            return at + 1
    direct = {mention.at for mention in mentions if not mention.oblique}
    near = (
        mention.at for mention in mentions if mention.pronoun and not mention.oblique and say < mention.at <= say + HEAD
    )
    return next((at for at in near if at + 1 < len(lows) and direct.isdisjoint((at + 1, at + 2))), 0)


def _is_preposition(lows: Sequence[str], at: int, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether a word is a preposition; not the "a" that opens a clause ("a mi hermana le gusta")."""
    return lows[at] in words["prepositions"] and not (at == 0 and lows[at] == "a")


def _resolve_pronoun(lows: Sequence[str], at: int, known: Lexicon, talk: _Talk) -> str | None:
    """Whom a pronoun, or a verb without one, stands for; empty for a possessive before a being, None for the rest."""
    words, low = known.words, lows[at]
    for person, path in (("first", talk.me), ("second", talk.you), ("third", talk.they)):
        owns = low in words.get(f"{person}_own", ())
        if owns and any(known.find_being(word) for word in lows[at + 1 : at + 1 + REACH]):
            return ""
        if owns or (low in words[person] and not (person == "third" and low in words["determiners"])):
            return path
    return talk.me if low in words.get("first_verbs", ()) else None


def _is_being(lows: Sequence[str], at: int, known: Lexicon) -> bool:
    """Whether a word names a being in particular: no calling that nobody is said to have ("a doctor's appointment")."""
    words, being = known.words, known.find_being(lows[at])
    if not being or lows[at] in words["first_own"]:
        return False
    back, owners = lows[max(0, at - REACH) : at], words["first_own"] | words["second_own"] | words["third_own"]
    if not words["which"].isdisjoint(back[-2:]) and owners.isdisjoint(back[-2:]):  # "which pet" asks for none
        return False
    if being == "child" and not words["has"].isdisjoint(back):  # "I have two kids"
        return True
    if being not in words["callings"] or not (owners | (words["determiners"] - _ARTICLES)).isdisjoint(back):
        return True
    after = lows[at + 1 : at + 3]
    of = len(after) > 1 and after[0] in words["of"] and (after[1] in words["first_own"] or known.find_being(after[1]))
    return bool(of) or (at > 0 and (lows[at - 1] == "s" or lows[at - 1] in words["of"]))


def _is_title(tokens: Sequence[Token], at: int, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether a word for a being is but the title of who is named next: "Frau Schmidt", and not "meine Frau Silke"."""
    if tokens[at][0] not in words["titles"] or not tokens[at + 1 : at + 2]:
        return False
    owners = words["first_own"] | words["second_own"] | words["third_own"]
    before, (low, written) = {each for each, _ in tokens[max(0, at - REACH) : at]}, tokens[at + 1]
    return owners.isdisjoint(before) and (written[:1].isupper() or low in words["titles"])


def _add_being(mentions: list[_Mention], lows: Sequence[str], at: int, known: Lexicon, talk: _Talk) -> None:
    """Add the being at a word, at the end of the path of whom it belongs to."""
    words, kind = known.words, known.find_being(lows[at])
    root, begin = _owner_before(lows, at, known, talk)
    own = _Mention(
        f"{root}/{kind}", at, any(_is_preposition(lows, place, words) for place in range(max(0, at - 2), at))
    )
    previous = mentions[-1] if mentions else None
    if previous is not None and previous.path != talk.me:
        between = lows[previous.at + 1 : at]
        if begin == previous.at + 1 and "/" not in previous.path and not previous.pronoun:  # "Pablo, my boss,"
            mentions[-1] = own._replace(named=previous.path, oblique=previous.oblique)
            return
        if between[:1] == ["s"] and len(between) <= REACH and begin == at:  # "my boss's dog"
            mentions[-1] = _Mention(f"{previous.path}/{kind}", at, previous.oblique)
            return
        of = bool(between) and between[0] in words["of"] | _GENITIVES and len(between) <= REACH
        if of and previous.path.count("/") == 1 and not previous.pronoun:  # "el perro de mi jefe"
            inner = previous.path.rpartition("/")[2]
            mentions[-1] = _Mention(f"{root}/{kind}/{inner}", at, previous.oblique)
            return
    if begin > 0:
        article = begin > 1 and lows[begin - 1] in words["determiners"]
        oblique = _is_preposition(lows, begin - 1, words) or (article and _is_preposition(lows, begin - 2, words))
        of = oblique and not words["of"].isdisjoint(lows[max(0, begin - 2) : begin])
        own = own._replace(oblique=oblique, genitive=of)
    mentions.append(own)


def _owner_before(lows: Sequence[str], at: int, known: Lexicon, talk: _Talk) -> tuple[str, int]:
    """Whose a being is by the possessive before it, and where that stands; the speaker's where there is none."""
    for begin in range(at - 1, max(-1, at - 1 - REACH), -1):
        for name, path in (("first_own", talk.me), ("second_own", talk.you), ("third_own", talk.they)):
            if lows[begin] in known.words[name]:
                return path, begin
        if known.find_being(lows[begin]):
            break
    return talk.me, at


def _is_name(written: str, lows: Sequence[str], at: int, known: Lexicon) -> bool:
    """Whether a word names somebody: a common name, or one with a capital behind a title or before what a person does.

    Not the first word of "Hart is my surname".
    """
    low, words = lows[at], known.words
    if not written[:1].isupper() or low in words["determiners"] or low in words["prepositions"]:
        return False
    if low in words["names"]:
        return True
    if low in known.function or low in words["titles"] or len(written) < 2:
        return False
    before, after, german = lows[at - 1] if at else "", lows[at + 1 : at + 4], "ich" in words["first"]
    acts = bool(after) and after[0] in words["verbs"] and words["first_own"].isdisjoint(after)
    if before in words["titles"]:
        return True
    if before in known.beings:
        return not german or acts or not after
    if german:  # there every noun has a capital
        return acts and (not at or before in words["and"])
    article = before in words["determiners"] or before in words["prepositions"]
    return acts and (not article or (at == 1 and before in _BEFORE_NAMES))


def _add_name(
    mentions: list[_Mention],
    lows: Sequence[str],
    at: int,
    words: Mapping[str, frozenset[str]],
    name: str,
    *,
    oblique: bool,
) -> None:
    """Add a name: to the being just before it, to what "of" joins it to, or as somebody of their own."""
    previous = mentions[-1] if mentions else None
    if previous is not None and "/" in previous.path:
        between = lows[previous.at + 1 : at]
        if not between:
            mentions[-1] = previous._replace(named=name)
            return
        if previous.path.count("/") == 1 and len(between) == 1 and between[0] in words["of"]:
            mentions[-1] = _Mention(f"{name}/{previous.path.rpartition('/')[2]}", at, previous.oblique)
            return
    if oblique and lows[at - 1] == "a" and "a" in words["determiners"]:  # "que idade tem a Inês?"
        oblique = False
    mentions.append(_Mention(name, at, oblique, genitive=oblique and lows[at - 1] in words["of"]))


def _find_subjects(
    lows: Sequence[str], mentions: Sequence[_Mention], words: Mapping[str, frozenset[str]], talk: _Talk
) -> set[str]:
    """Those of the beings in a clause that are its subject."""
    direct = [mention for mention in mentions if not mention.oblique] or [
        mention for mention in mentions if mention.genitive
    ]
    if not direct:
        if not mentions and not words.get("third_verbs", frozenset()).isdisjoint(lows[:REACH]):
            return {talk.they}
        return {NOBODY} if not lows or lows[0] in words["determiners"] else {talk.me}
    subject = direct[0]
    if subject.path == SOMEBODY and any(
        mention.path == talk.me for mention in mentions
    ):  # "they're putting my rent up"
        return {talk.me}
    subjects = {path for path in (subject.path, subject.named) if path}
    for mention in direct[1:]:
        if mention.at - subject.at <= REACH and not words["and"].isdisjoint(lows[subject.at : mention.at]):
            subjects.add(mention.path)
    if subject.path == talk.me and not words["has"].isdisjoint(lows):  # "I have a dog called Rex" says of the dog, too
        had = (
            mention
            for mention in direct
            if words["first_own"].isdisjoint(lows[max(0, mention.at - REACH) : mention.at])
        )
        subjects |= {mention.path for mention in had if mention.path.startswith(f"{talk.me}/")}
    return subjects - {talk.you} or subjects


def _read_unspaced(text: str, known: Lexicon, talk: _Talk) -> tuple[list[_Mention], set[str]]:
    """The beings of a clause in order, and its subjects, in Chinese and Japanese."""
    words, japanese = known.words, "の" in known.words["of"]
    mentions: list[_Mention] = []
    last, they = 0, talk.they
    for match in known.pattern.finditer(text) if known.pattern else ():
        kind, word, start = match.lastgroup or "", match.group(), match.start()
        gap = text[last:start] if mentions else None
        path = {"first": talk.me, "second": talk.you, "third": they}.get(kind, "")
        if kind == "being":
            own = known.beings[word]
            if own in words["callings"] and _PREDICATE.search(text[:start]):  # "我是老师" speaks of me
                continue
            if gap in {"", "家的", "家", "们的", *words["of"]} or (japanese and _is_relative(gap, text[match.end() :])):
                before = mentions.pop()
                path, start = f"{before.path}/{own}", before.at
            else:
                path = f"{talk.me}/{own}"
        elif kind == "name":
            path = re.sub("(?:さん|くん|ちゃん|様|氏)$", "", word)
            if gap == "" and "/" in mentions[-1].path:
                mentions[-1] = mentions[-1]._replace(named=path)
                last = match.end()
                continue
        if path:
            owns = text.startswith(tuple(words["of"]), match.end())
            oblique = _is_oblique(text, start, match.end(), words, japanese=japanese)
            mentions.append(_Mention(path, start, oblique, pronoun=kind not in {"being", "name"} and not owns))
            last, they = match.end(), path if path not in talk[:2] else they
    direct = next((mention for mention in mentions if not mention.oblique), None)
    if direct is None:
        return mentions, {talk.me}
    subjects = {path for path in (direct.path, direct.named) if path} - {talk.you} or {talk.me}
    if direct.path == talk.me and re.search("有|养|飼|いる|います", text):
        subjects |= {mention.path for mention in mentions if mention.path.startswith(f"{talk.me}/")}
    return mentions, subjects


def _is_relative(gap: str | None, after: str) -> bool:
    return bool(gap) and bool(_RELATIVE.fullmatch(gap or "")) and after[:1] in "はがの"


def _is_oblique(text: str, start: int, end: int, words: Mapping[str, frozenset[str]], *, japanese: bool) -> bool:
    """Whether a preposition stands before a being, or in Japanese a particle behind it."""
    if not japanese:
        return text[:start].endswith(tuple(words["oblique"]))
    after = text[end : end + 2]
    return after.startswith(tuple(words["oblique"])) and not after.startswith(("には", "では", "から「"))
