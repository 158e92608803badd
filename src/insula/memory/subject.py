"""Whose a clause is: the beings that it speaks of, each as a path from who speaks, and which of them is its subject.

"My boss's dog" is `user/boss/dog`, neither me nor my boss; "Ana" is `ana`. Words of eight languages stand in
`people.json`; what they don't tell is nobody's, and fits everyone.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from insula.memory.encoding import ASSISTANT, USER, called
from insula.text.analysis import LANGUAGES, fold, words_of
from insula.text.grammar import UNSPACED

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
    "pet": {"dog", "cat", "horse", "bird", "rabbit", "hamster"},
    "family": {"wife", "husband", "mother", "father", "son", "daughter", "sister", "brother", "child", "parent"},
}
"""Who may be meant by a word that says less."""

_TOKEN = re.compile(r"[^\W_]+(?:-[^\W\d_]+)*")
CALLINGS = frozenset(
    [
        "teacher",
        "doctor",
        "dentist",
        "coach",
        "student",
        "client",
        "boss",
        "tradesman",
        "shopkeeper",
        "driver",
        "lawyer",
        "officer",
        "apprentice",
        "hairdresser",
        "cleaner",
        "caretaker",
        "nanny",
        "tenant",
    ]
)
"""Beings that are also what somebody does: "我是老师" speaks of me."""
_ARTICLES = frozenset({"a", "an", "ein", "eine", "einen", "einem", "un", "une", "uno", "una", "um", "uma"})
_IS = frozenset({"is", "was", "ist", "war", "est", "es", "era", "e", "sono"})
_REACH = 3
"""Words between "my" and whom it owns, at most ("my very best old friend")."""
_HEAD = 5
"""Words into a clause at which what is reported may begin: "I told you yesterday that"."""


class People(NamedTuple):
    """The words of one language."""

    words: Mapping[str, frozenset[str]]
    beings: Mapping[str, str]
    """Word -> what being it names, by its English name."""
    function: frozenset[str]
    """Words that are nobody's name."""
    pattern: re.Pattern[str] | None = None
    """Unspaced languages: what names a being."""

    def being(self, word: str) -> str:
        """What being a word names, in the plural, too; empty for none."""
        known = self.beings.get(word) or (self.beings.get(word[:-1], "") if word.endswith("s") else "")
        if known or "-" not in word:
            return known
        return "ex" if word.startswith("ex-") and self.being(word[3:]) else self.being(word.replace("-", ""))


class Mention(NamedTuple):
    """A being in a clause."""

    path: str
    at: int
    """Which word of the clause."""
    oblique: bool = False
    """Whether a preposition stands before it: then it is hardly the subject."""
    genitive: bool = False
    """Whether that is "of": what it belongs to may be the subject ("my uncle" of "the boat of my uncle")."""
    named: str = ""
    """The name beside it: "my sister Ana"."""
    pronoun: bool = False


class Whose(NamedTuple):
    """Whom a clause is about, and who else stands in it."""

    subjects: frozenset[str]
    mentions: frozenset[str]


@cache
def people(language: str) -> People:
    """The words for people in a language; those of English where it has none."""
    raw = json.loads((files("insula.memory") / "people.json").read_text("utf-8"))
    data = raw[language if language in LANGUAGES else "en"]
    plain = str if language in UNSPACED else fold  # "ど" is another sign than "と"
    beings = {plain(word): being for being, line in data["beings"].items() for word in line.split()}
    words = {name: frozenset(plain(line).split()) for name, line in data.items() if name not in {"beings", "name"}}
    if language not in UNSPACED:
        words["names"] = frozenset(map(fold, raw["names"].split()))
        words["titles"] = frozenset(raw["titles"].split())
        return People(words, beings, frozenset(map(fold, words_of("function", language))) | words["say"])
    kinds = {"first": words["first"], "third": words["third"], "second": words["second"], "being": beings.keys()}
    longest = {kind: "|".join(sorted(map(re.escape, some), key=len, reverse=True)) for kind, some in kinds.items()}
    named = f"(?P<name>{data['name']})"
    groups = "|".join(f"(?P<{kind}>{longest[kind]})" for kind in ("being", "first", "third", "second"))
    return People(words, beings, frozenset(), re.compile(f"{groups}|{named}"))


@cache
def joints(language: str) -> str:
    """Words that join clauses, as alternatives of a regular expression."""
    raw = json.loads((files("insula.memory") / "people.json").read_text("utf-8"))
    return "|".join(
        re.escape(word).replace("_", " ")
        for word in raw[language if language in LANGUAGES else "en"].get("joints", "").split()
    )


def whose(text: str, language: str, speaker: str, listener: str, before: Sequence[str] = ()) -> Whose:
    """Whom a clause is about.

    Args:
        text: the clause.
        language: its language.
        speaker: who says it: "I".
        listener: to whom: "you".
        before: the subjects of the clause before, whom "he" and "she" stand for.
    """
    me, you = called(speaker), called(listener)
    read = _unspaced if language in UNSPACED else _spaced
    found, subjects = read(text, people(language), me, you, next((one for one in before if one != me), SOMEBODY))
    return Whose(frozenset(subjects), frozenset(path for one in found for path in (one.path, one.named) if path))


def fits(asked: frozenset[str], said: frozenset[str]) -> bool:
    """Whether what is said of some may be of those asked about; of nobody in particular it always may."""
    if not asked or not said:
        return True
    kin, other_kin = asked - names_of(asked) - {USER}, said - names_of(said) - {USER}
    if kin and other_kin and not any(same(one, other) for one in kin for other in other_kin):
        return False  # my son Pablo is not my boss Pablo
    names, others = names_of(asked), names_of(said)
    if names and others and names.isdisjoint(others):  # my sister Ana is not my sister Eva
        return False
    return any(same(one, other) for one in asked for other in said)


def names_of(paths: frozenset[str]) -> frozenset[str]:
    """Those of some paths that are names."""
    return frozenset(path for path in paths if "/" not in path) - {NOBODY, SOMEBODY, USER, ASSISTANT}


def same(one: str, other: str) -> bool:
    """Whether two paths may mean the same being: "my partner" and "my wife"."""
    first, second = one.split("/"), other.split("/")
    return len(first) == len(second) and all(map(_kin, first, second))


def meant_by(path: str) -> frozenset[str]:
    """A path and those that may mean the same: of "my partner" also "my wife"."""
    owner, slash, last = path.rpartition("/")
    others = {*GROUPS.get(last, ()), *(group for group, kinds in GROUPS.items() if last in kinds)}
    return frozenset({path, *(f"{owner}/{other}" for other in others)}) if slash else frozenset({path})


def _kin(one: str, other: str) -> bool:
    return one == other or other in GROUPS.get(one, ()) or one in GROUPS.get(other, ())


# Languages that write spaces.


def _spaced(text: str, known: People, me: str, you: str, they: str) -> tuple[list[Mention], set[str]]:
    tokens = [(fold(match.group().lower()), match.group()) for match in _TOKEN.finditer(text)]
    found = list(_mentions(tokens, known, me, you, they))
    start = _reported(tokens, found, known)
    if start:
        teller = next((one.path for one in found if one.at < start and one.path not in (me, you)), they)
        inner = list(_mentions(tokens[start:], known, me, you, teller))
        if inner or any(one.at < start for one in found):
            subjects = _subjects(tokens[start:], inner, known, me, you, teller) or {me}
            return found, subjects
    return found, _subjects(tokens, found, known, me, you, they)


def _subjects(
    tokens: Sequence[tuple[str, str]], found: Sequence[Mention], known: People, me: str, you: str, they: str
) -> set[str]:
    words = known.words
    direct = [one for one in found if not one.oblique] or [one for one in found if one.genitive]
    if not direct:
        first = next((low for low, _ in tokens), "")
        third = words.get("third_verbs", frozenset())
        if any(low in third for low, _ in tokens[:_REACH]) and not found:
            return {they}
        return {NOBODY} if not tokens or first in words["determiners"] else {me}
    subject = direct[0]
    if subject.path == SOMEBODY and any(one.path == me for one in found):  # "they're putting my rent up"
        return {me}
    if subject.at == 0 and _is_called(tokens, words):  # "Hart is my surname"
        return {me}
    subjects = {subject.path, *([subject.named] if subject.named else [])}
    for one in direct[1:]:
        joined = one.at - subject.at <= _REACH and any(low in words["and"] for low, _ in tokens[subject.at : one.at])
        if joined:
            subjects.add(one.path)
    if subject.path == me:  # "I have a dog called Rex" says of the dog, too
        has = next((at for at, (low, _) in enumerate(tokens) if low in words["has"]), None)
        if has is not None:
            subjects |= {
                one.path for one in found if one.at > has and one.path.startswith(f"{me}/") and not one.oblique
            }
    return {path for path in subjects if path != you} or subjects


def _is_called(tokens: Sequence[tuple[str, str]], words: Mapping[str, frozenset[str]]) -> bool:
    """Whether a clause says that something of mine is called by its first word."""
    return len(tokens) > 2 and tokens[1][0] in _IS and tokens[2][0] in words["first_own"]


def _reported(tokens: Sequence[tuple[str, str]], found: Sequence[Mention], known: People) -> int:
    """The word with which the reported clause begins; 0 where nothing is reported."""
    words = known.words
    say = next((at for at, (low, _) in enumerate(tokens[:_HEAD]) if low in words["say"]), None)
    if say is None:
        return 0
    for at in range(say + 1, min(say + 1 + _HEAD, len(tokens))):
        if tokens[at][0] in words["that"]:
            return at + 1
    for one in found:
        if one.at > say and not one.oblique and one.pronoun and one.at - say <= _HEAD:
            after = tokens[one.at + 1][0] if one.at + 1 < len(tokens) else ""
            follows = any(other.at in (one.at + 1, one.at + 2) and not other.oblique for other in found)
            if after and not follows:
                return one.at
    return 0


def _mentions(tokens: Sequence[tuple[str, str]], known: People, me: str, you: str, they: str) -> Iterator[Mention]:
    """The beings of a clause in order, each once."""
    words = known.words
    found: list[Mention] = []
    last, first_verbs = they, words.get("first_verbs", frozenset[str]())
    for at, (low, written) in enumerate(tokens):
        oblique = at > 0 and _governed(tokens, at - 1, words)
        if low in first_verbs and not any(one.path == me for one in found):
            found.append(Mention(me, at, pronoun=True))
        elif _is_being(tokens, at, known):
            found = _being(tokens, at, found, known, me, you, last)
            last = found[-1].path
        elif low in words["first"]:
            found.append(Mention(me, at, oblique, pronoun=True))
        elif low in words["first_own"]:
            if not _owned(tokens, at, known):
                found.append(Mention(me, at, oblique))
        elif low in words["second_own"] and _owned(tokens, at, known):
            continue
        elif low in words["second"] or low in words["second_own"] or (written == "Sie" and at and _german(known)):
            found.append(Mention(you, at, oblique, pronoun=True))
        elif (low in words["third"] and not _article(tokens, at, words)) or low in words["third_own"]:
            if not (low in words["third_own"] and _owned(tokens, at, known)):
                found.append(Mention(last, at, oblique, pronoun=True))
        elif _is_name(tokens, at, known):
            found = _name(tokens, at, found, words, fold(written.lower()), oblique=oblique)
            last = found[-1].named or found[-1].path
    yield from found


def _governed(tokens: Sequence[tuple[str, str]], at: int, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether a word is a preposition; not the "a" that opens a clause ("a mi hermana le gusta")."""
    low = tokens[at][0]
    return low in words["prepositions"] and not (at == 0 and low == "a")


def _is_being(tokens: Sequence[tuple[str, str]], at: int, known: People) -> bool:
    """Whether a word names a being in particular: not of a kind that is asked for ("which pet"), nor a calling."""
    words, being = known.words, known.being(tokens[at][0])
    if not being or tokens[at][0] in words["first_own"]:
        return False
    before = [low for low, _ in tokens[max(0, at - 2) : at]]
    if words["which"].intersection(before):
        return False
    owners = words["first_own"] | words["second_own"] | words["third_own"]
    back = {low for low, _ in tokens[max(0, at - _REACH) : at]}
    owned = at > 0 and (tokens[at - 1][0] == "s" or tokens[at - 1][0] in words["of"])
    after = tokens[at + 1 : at + 3]
    of = len(after) > 1 and after[0][0] in words["of"]
    genitive = owned or (of and (after[1][0] in words["first_own"] or bool(known.being(after[1][0]))))
    return being not in words["owned"] or genitive or bool(back & (owners | (words["determiners"] - _ARTICLES)))


def _article(tokens: Sequence[tuple[str, str]], at: int, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether a word that is both pronoun and article ("el") stands before a noun."""
    return tokens[at][0] in words["determiners"]


def _owned(tokens: Sequence[tuple[str, str]], at: int, known: People) -> bool:
    """Whether a possessive is followed by a being, so that the two are one."""
    return any(known.being(low) for low, _ in tokens[at + 1 : at + 1 + _REACH])


def _being(
    tokens: Sequence[tuple[str, str]],
    at: int,
    found: list[Mention],
    known: People,
    me: str,
    you: str,
    they: str,
) -> list[Mention]:
    """The mentions with the being at a word among them, at the end of the path of whom it belongs to."""
    words, kind = known.words, known.being(tokens[at][0])
    back = [low for low, _ in tokens[max(0, at - _REACH) : at]]
    oblique = any(_governed(tokens, one, words) for one in range(max(0, at - 2), at))
    root, begin = me, at
    for steps, low in enumerate(reversed(back), 1):
        if low in words["first_own"]:
            root, begin = me, at - steps
            break
        if low in words["second_own"]:
            root, begin = you, at - steps
            break
        if low in words["third_own"]:
            root, begin = they, at - steps
            break
        if known.being(low):
            break
    own = Mention(f"{root}/{kind}", at, oblique)
    previous = found[-1] if found else None
    if previous is not None and previous.at == at - 1 and previous.path.endswith(f"/{kind}"):
        return found
    if previous is not None and previous.path != me:
        between = [low for low, _ in tokens[previous.at + 1 : at]]
        if begin == previous.at + 1 and "/" not in previous.path and not previous.pronoun:  # "Pablo, my boss,"
            return [*found[:-1], own._replace(named=previous.path, oblique=previous.oblique)]
        if (
            between[:1] == ["s"] and "mine" in words["first_own"] and len(between) <= _REACH and begin == at
        ):  # "my boss's dog"
            return [*found[:-1], Mention(f"{previous.path}/{kind}", at, previous.oblique)]
        genitive = between and (
            between[0] in words["of"] or between[0] in {"des", "der", "meines", "meiner", "unseres"}
        )
        if genitive and len(between) <= _REACH and previous.path.count("/") == 1 and not previous.pronoun:
            inner = previous.path.rpartition("/")[2]  # "el perro de mi jefe"
            return [*found[:-1], Mention(f"{root}/{kind}/{inner}", at, previous.oblique)]
        if root == they != previous.path and begin < at and previous.path != me:
            own = own._replace(path=f"{previous.named or previous.path}/{kind}")
    if begin > 0:
        oblique = _governed(tokens, begin - 1, words) or (
            begin > 1 and tokens[begin - 1][0] in words["determiners"] and _governed(tokens, begin - 2, words)
        )
    genitive = oblique and begin > 1 and any(tokens[one][0] in words["of"] for one in (begin - 1, begin - 2))
    return [*found, own._replace(oblique=oblique, genitive=genitive)]


def _is_name(tokens: Sequence[tuple[str, str]], at: int, known: People) -> bool:
    """Whether a word names somebody: one of the common names, or with a capital before what a person does."""
    low, written = tokens[at]
    words = known.words
    if not written[:1].isupper() or low in words["determiners"] or low in words["prepositions"]:
        return False
    if low in words["names"]:
        return True
    if low in known.function or low in words["titles"]:
        return False
    if at and tokens[at - 1][0] in words["titles"]:
        return True
    before = tokens[at - 1][0] if at else ""
    after = tokens[at + 1][0] if at + 1 < len(tokens) else ""
    if before in known.beings and len(written) > 1:
        return not _german(known) or after in words["verbs"] or not after
    if before in words["determiners"] or before in words["prepositions"] or low in words["say"]:
        return (
            before in words["prepositions"]
            and before in {"a", "to", "than"}
            and at + 1 < len(tokens)
            and after in words["that"]
        )
    joins = not at or before in words["and"] or before in words["that"]
    return len(written) > 1 and after in words["verbs"] and low not in words["verbs"] and (joins or not _german(known))


def _german(known: People) -> bool:
    return "ich" in known.words["first"]


def _name(
    tokens: Sequence[tuple[str, str]],
    at: int,
    found: list[Mention],
    words: Mapping[str, frozenset[str]],
    name: str,
    *,
    oblique: bool,
) -> list[Mention]:
    """The mentions with a name: of the being just before it, of what "of" joins it to, or somebody of their own."""
    previous = found[-1] if found else None
    if previous is not None and "/" in previous.path and previous.at == at - 1:
        return [*found[:-1], previous._replace(named=name)]
    between = [low for low, _ in tokens[previous.at + 1 : at]] if previous is not None else []
    if previous is not None and previous.path.count("/") == 1 and len(between) == 1 and between[0] in words["of"]:
        inner = previous.path.rpartition("/")[2]
        return [*found[:-1], Mention(f"{name}/{inner}", at, previous.oblique)]
    if before_article(tokens, at, words):
        oblique = False
    return [*found, Mention(name, at, oblique, genitive=oblique and tokens[at - 1][0] in words["of"])]


def before_article(tokens: Sequence[tuple[str, str]], at: int, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether the "a" before a name is an article, as in Portuguese ("que idade tem a Inês?")."""
    return at > 0 and tokens[at - 1][0] == "a" and "a" in words["determiners"]


# Chinese and Japanese.


def _unspaced(text: str, known: People, me: str, you: str, they: str) -> tuple[list[Mention], set[str]]:
    words = known.words
    found: list[Mention] = []
    ends: list[int] = []
    last = they
    for match in known.pattern.finditer(text) if known.pattern else ():
        kind, word = match.lastgroup or "", match.group()
        start, end = match.span()
        gap = text[ends[-1] : start] if ends else None
        joined = bool(found) and (gap in {"", "家的", "家", "们的", *words["of"]} or _relative(gap, text[end:], words))
        path = {"first": me, "second": you, "third": last}.get(kind, "")
        if kind == "being":
            own = known.beings[word]
            if own in CALLINGS and re.search("[是个位当做为]$", text[:start]):
                continue
            path = f"{found[-1].path}/{own}" if joined else f"{me}/{own}"
        elif kind == "name":
            path = re.sub("(?:さん|くん|ちゃん|様|氏)$", "", word)
            if joined and gap == "" and "/" in found[-1].path:
                found[-1] = found[-1]._replace(named=path)
                ends[-1] = end
                continue
        if not path:
            continue
        if joined and kind == "being":
            before = found.pop()
            ends.pop()
            start = before.at
        oblique = _oblique(text, start, end, words, japanese="の" in words["of"])
        found.append(Mention(path, start, oblique, pronoun=kind in {"first", "second", "third"}))
        ends.append(end)
        last = path if path not in (me, you) else last
    direct = [one for one in found if not one.oblique]
    if not direct:
        return found, {me}
    say = next((text.find(word) + len(word) for word in words["say"] if word in text), 0)
    chosen = direct[0]
    if say and "の" not in words["of"]:
        chosen = next((one for one in direct if one.at >= say), chosen)
    subjects = {chosen.path, *([chosen.named] if chosen.named else [])} - {you} or {me}
    if chosen.path == me and re.search("有|养|飼|いる|います", text):
        subjects |= {one.path for one in found if one.path.startswith(f"{me}/")}
    return found, subjects


def _relative(gap: str | None, after: str, words: Mapping[str, frozenset[str]]) -> bool:
    """Japanese: whether what stands between two beings makes the second the first one's ("友達が飼っている犬は")."""
    return (
        bool(gap)
        and "の" in words["of"]
        and bool(re.fullmatch("[がの][^、。はが]{1,8}(?:る|た)", gap))
        and after[:1] in "はがの"
    )


def _oblique(text: str, start: int, end: int, words: Mapping[str, frozenset[str]], *, japanese: bool) -> bool:
    if japanese:
        after = text[end : end + 2]
        return any(after.startswith(mark) for mark in words["oblique"]) and not after.startswith(
            ("には", "では", "から「")
        )
    return any(text[:start].endswith(mark) for mark in words["oblique"])
