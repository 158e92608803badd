"""Whom a clause is about, in languages that write spaces: the beings in it, and which of them is its subject."""

import re
from collections.abc import Iterator, Mapping, Sequence

from insula.language.kinship import NOBODY, SOMEBODY, Mention, People
from insula.text.analysis import fold

_TOKEN = re.compile(r"[^\W_]+(?:-[^\W\d_]+)*")
_ARTICLES = frozenset({"a", "an", "ein", "eine", "einen", "einem", "un", "une", "uno", "una", "um", "uma"})
_BEFORE_NAMES = frozenset({"o", "la", "il", "el"})
"""Articles that stand before names in Portuguese, Italian and, at home, Spanish; "a" is a preposition, too."""
_IS = frozenset({"is", "was", "ist", "war", "est", "es", "era", "e", "sono"})
_KIN = frozenset({"child", "son", "daughter", "sibling", "brother", "sister", "twin", "dog", "cat", "pet", "horse"})
"""Whom one has, and not only sees: "I have a doctor's appointment" says nothing of a doctor."""
_REACH = 3
"""Words between "my" and whom it owns, at most ("my very best old friend")."""
_HEAD = 5
"""Words into a clause at which what is reported may begin: "I told you yesterday that"."""

_PLACE = 5
"""Words that say where a neighbour lives, at most ("del piano di sopra")."""


_WHICH = re.compile(
    r"\A(?P<named>(?:(?:O|A|Der|Die|Le|La|El|Il)\s)?[^\W\d_]+),\s+"
    r"(?:the|that|el|la|los|las|ce(?:lui|lle|ux)|le|l'|der|die|das|o|a|il|lo|quell[oaie])\b[^,;.!?]{2,40},\s+(?=\w)"
)
"""Which of those with the name is meant: "Gino, quello del terzo piano, …"."""


def spaced(text: str, known: People, me: str, you: str, they: str) -> tuple[list[Mention], set[str]]:
    text = _WHICH.sub(r"\g<named> ", text)
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
    if subject.at == 1 and not any("/" in one.path for one in found) and _is_called(_bare(tokens[1:]), words):
        return {me}  # "O Porto é a minha cidade favorita"
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


def _bare(tokens: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """A clause without the article before "my": "Porto é a minha cidade"."""
    return [one for at, one in enumerate(tokens) if at != 2 or one[0] not in _BEFORE_NAMES | {"a"}]


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
        elif _is_being(tokens, at, known) or (found and found[-1].path == me and _is_had(tokens, at, known)):
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
    owners = words["first_own"] | words["second_own"] | words["third_own"]
    if words["which"].intersection(before) and owners.isdisjoint(before):  # "es que mi marido" asks for none
        return False
    back = {low for low, _ in tokens[max(0, at - _REACH) : at]}
    owned = at > 0 and (tokens[at - 1][0] == "s" or tokens[at - 1][0] in words["of"])
    after = tokens[at + 1 : at + 3]
    of = len(after) > 1 and after[0][0] in words["of"]
    genitive = owned or (of and (after[1][0] in words["first_own"] or bool(known.being(after[1][0]))))
    return being not in words["owned"] or genitive or bool(back & (owners | (words["determiners"] - _ARTICLES)))


def _is_had(tokens: Sequence[tuple[str, str]], at: int, known: People) -> bool:
    """Whether a word names beings that somebody has: "I have two kids"."""
    has, governed = known.words["has"], at > 0 and _governed(tokens, at - 1, known.words)  # "he montado a caballo"
    return (
        not governed
        and known.being(tokens[at][0]) in _KIN
        and any(low in has for low, _ in tokens[max(0, at - _REACH) : at])
    )


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
    if at == 1 and before in _BEFORE_NAMES and not _german(known):  # "O Nuno é alérgico"
        return len(written) > 1 and _beyond_place(tokens, at, words) in words["verbs"]
    if before in words["determiners"] or before in words["prepositions"] or low in words["say"]:
        return (
            before in words["prepositions"]
            and before in {"a", "to", "than"}
            and at + 1 < len(tokens)
            and after in words["that"]
        )
    if before in words.get("first_verbs", ()):
        return False  # "tomo Naramig e deito-me"
    joins = not at or before in words["and"] or before in words["that"]
    clitic = (words["first"] | words["second"] | words["third"]) - words.get("subject_pronouns", frozenset())
    if joins and after in clitic and at + 2 < len(tokens) and tokens[at + 2][0] in words["verbs"] | words["has"]:
        return len(written) > 1  # "Giorgia mi ha confidato che"
    after = _beyond_place(tokens, at, words)
    return len(written) > 1 and after in words["verbs"] and low not in words["verbs"] and (joins or not _german(known))


def _beyond_place(tokens: Sequence[tuple[str, str]], at: int, words: Mapping[str, frozenset[str]]) -> str:
    """The word after one, past where a neighbour lives: "is" of "Dominic next door is scared"."""
    places = words.get("placed", frozenset())
    for end in range(min(at + 1 + _PLACE, len(tokens) - 1), at + 1, -1):
        if "_".join(low for low, _ in tokens[at + 1 : end]) in places:
            return tokens[end][0]
    return tokens[at + 1][0] if at + 1 < len(tokens) else ""


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
    if _before_article(tokens, at, words):
        oblique = False
    return [*found, Mention(name, at, oblique, genitive=oblique and tokens[at - 1][0] in words["of"])]


def _before_article(tokens: Sequence[tuple[str, str]], at: int, words: Mapping[str, frozenset[str]]) -> bool:
    """Whether the "a" before a name is an article, as in Portuguese ("que idade tem a Inês?")."""
    return at > 0 and tokens[at - 1][0] == "a" and "a" in words["determiners"]
