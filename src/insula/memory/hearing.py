"""What a message wishes of the manner of answers, in the user's own plain words.

Its words propose, by form (`insula.text.wishing`), and a head on the meaning of its sentences has a say in both
directions: a preference for good that the head all but rules out is none, and what it is sure of is one in any words;
it need be less sure of what is put as a bidding or as holding always.
"""

from collections.abc import Mapping, Sequence

from insula.language.handed import Hands, Spoken, UsersWords, users_words
from insula.language.heads import Vector, chance, point
from insula.memory.wishes import OwnWish, plain, wished
from insula.redaction import without_markers
from insula.text.analysis import detect
from insula.text.payload import is_payload
from insula.text.wishing import Wish, form_of, is_bare, is_of_address, speaks_a_part, standing_wish


def wishes_of(said: UsersWords, language: str, history: Sequence[Spoken]) -> tuple[OwnWish, ...]:
    """The wishes of a message by its words alone; a payload's are its own, and none of the user's.

    Args:
        said: what of the message the user said, redacted.
        language: its language, as far as it can be told.
        history: the session so far, oldest first.
    """
    if is_payload(said.text):
        return ()
    talk = [line for line in history if line.provenance != "tool"]
    previous = next((line.content for line in reversed(talk) if line.provenance == "user"), "")
    response = talk[-1].content if talk and talk[-1].provenance == "assistant" else ""
    return wished(said, detect(previous, detect(said.text, language)), previous, response, _of_tools(history))


def _of_tools(history: Sequence[Spoken]) -> list[str]:
    return [line.content for line in history if line.provenance == "tool"]


def meant_wishes(
    said: UsersWords, pieces: Mapping[str, Vector], language: str, history: Sequence[Spoken]
) -> tuple[OwnWish, ...]:
    """The wishes of a message that its words tell, and those that its sentences surely mean in any words.

    Args:
        said: what of the message the user said, redacted; a payload's wishes are its own, and those of a part to play
            are the part's.
        pieces: its sentences and clauses, with their vectors; of those that overlap the surest counts.
        language: its language.
        history: the session so far; what a tool said in it, or what reads like an attack, is no wish of the user's.
    """
    found = wishes_of(said, language, history)
    likely = {text: odds for text, each in pieces.items() if (odds := chance("preference", text, each)) is not None}
    found = tuple(one for one in found if not _is_doubtful(one, pieces, likely))
    for_now = [one.words for one in found if one.force in ("once", "weak")]
    sure = [text for text in likely if likely[text] >= _least(text, language, for_now)]
    sure.sort(key=lambda text: -likely[text])
    if sure and not (is_payload(said.text) or speaks_a_part(said.text) or without_markers(said.text) != said.text):
        heard = [one.words for one in found if one.force in ("standing", "pointing") or is_bare(one)]
        meant: list[Wish] = []
        for text in sure:
            if not any(_overlap(text, other) for other in heard):
                heard.append(text)
                meant.append(standing_wish(text, language))
        new = plain(meant, said, _of_tools(history))
        found = (*(one for one in found if not any(_overlap(one.words, each.words) for each in new)), *new)
    return found if all(one.force != "standing" for one in found) or not _hands_over(pieces, found) else ()


def _least(text: str, language: str, for_now: Sequence[str]) -> float:
    """The chance from which a sentence is heard, by how it is put, and more where its words tell of this answer."""
    form = form_of(text, language)
    if form and any(_overlap(text, words) for words in for_now):
        form = "" if form == "bidden" else "wanted"
    return point("preference", {"general": "general", "wanted": "formed", "bidden": "formed"}.get(form, "hear"))


def _is_doubtful(wish: Wish, pieces: Mapping[str, Vector], likely: Mapping[str, float]) -> bool:
    """Whether the meaning of a wish for good all but rules out that it is one, or it rather tells a fact.

    How to be called, and the language to speak, are told by their form alone.
    """
    about = [text for text in likely if _overlap(text, wish.words)]
    if not about or wish.force != "standing" or is_of_address(wish):
        return False
    meant = max(likely[text] for text in about)
    told = max(chance("fact", text, pieces[text]) or 0.0 for text in about)
    is_fact = not wish.slots and meant < min(told, point("preference", "general"))
    return is_fact or meant < point("preference", "doubt")


def _hands_over(pieces: Mapping[str, Vector], found: Sequence[Wish]) -> bool:
    """Whether a message hands something over beside what it wishes: nobody can tell then whose the wish is."""
    others = ((text, each) for text, each in pieces.items() if not any(_overlap(text, one.words) for one in found))
    return any((chance("handed", text, each) or 0.0) >= point("handed", "cut") for text, each in others)


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def requests_before(history: Sequence[Spoken], language: str, hands: Hands) -> tuple[OwnWish, ...]:
    """What the user asked of the manner of answers earlier in the session, where no later word of theirs ended it."""
    found: list[OwnWish] = []
    for place, line in enumerate(history):
        said = users_words(line.content, line.provenance, history[:place], hands)
        found += wishes_of(said, language, history[:place]) if said.text else ()
    standing = max((place for place, wish in enumerate(found) if wish.force == "standing"), default=-1)
    return tuple(wish for wish in found[standing + 1 :] if wish.force == "asked")
