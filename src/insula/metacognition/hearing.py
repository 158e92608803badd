"""What is kept of a user's message, whether a turn answers it or it was said elsewhere: facts and preferences."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from insula.language.facts import (
    FactCandidate,
    answer_own_question,
    find_fact_candidates,
    join_facts,
    select_facts,
)
from insula.language.follow_up import FollowUp, gives_answer
from insula.language.forget import is_in_request
from insula.language.heads import Vector, operating_point, predict_chance
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import Statement, Utterance, extract_statements, state_answer
from insula.memory.item import NewItem
from insula.memory.storage.rows import TranscriptLine
from insula.memory.wishes import OwnWish, is_all
from insula.text.analysis import Analysis, analyse_text
from insula.text.answers import declines_answer, says_untold
from insula.text.questions import find_asks

ASKED_CHARS = 200
"""Characters of a user's question, of the answer to it, and of the message that gives the answer."""

EmbedTexts = Callable[[Iterable[str]], Awaitable[Mapping[str, Vector]]]
"""Makes the vectors of some texts; returns all that there are of the message's."""


class HeardMessage(NamedTuple):
    """What is kept of a user's message."""

    facts: tuple[FactCandidate, ...]
    statements: tuple[Statement, ...]
    preferences: tuple[OwnWish, ...]
    is_only_request: bool
    """Whether it asks to have something forgotten, and tells nothing."""
    is_only_preference: bool
    """Whether it says how answers are wanted, and tells nothing."""

    @property
    def is_untold(self) -> bool:
        """Whether it tells nothing of the user."""
        return self.is_only_request or self.is_only_preference

    def show_facts(self, language: str) -> str:
        """What may be shown of it."""
        return join_facts(self.facts, language)

    def set_kind(self, item: NewItem) -> NewItem:
        """The message as it is remembered: what is only a preference is told from the ledger, where the newest counts,
        and a request to forget not at all."""
        return item._replace(kind="episodic") if self.is_untold else item


async def hear_message(
    message: Analysis,
    whole: str,
    before: Sequence[TranscriptLine],
    preferences: Sequence[OwnWish],
    request: str,
    embed_texts: EmbedTexts,
    *,
    has_heads: bool,
) -> HeardMessage:
    """What is kept of a user's message.

    Args:
        message: what of it the user said themselves, without secrets.
        whole: all of it.
        before: the lines of its session before it, oldest first.
        preferences: those that it states.
        request: what of it asks to have something forgotten; mostly empty.
        has_heads: whether the vectors are of the shipped embedding, which the heads know.
    """
    utterances = [Utterance(line.content, line.speaker == USER) for line in before]
    candidates = find_fact_candidates(message, utterances)
    vectors = await embed_texts(text for candidate in candidates for text in candidate.weighed)
    facts = [fact for fact in select_facts(candidates, vectors) if not is_in_request(fact.text, request)]
    statements = extract_statements(message, USER, ASSISTANT, utterances, [fact.text for fact in facts])
    if has_heads and not request and (follow_up := await _find_follow_up(message, before, embed_texts)):
        facts = answer_own_question(message.text, candidates, facts, follow_up.question, corrects=follow_up.was_known)
        statements = tuple(state_answer(follow_up.question, fact.text, message.language) for fact in facts)
    statements = tuple(stated for stated in statements if not is_in_request(stated.text, request))
    heard = tuple(wish for wish in preferences if not is_in_request(wish.words, request))
    tells_of_user = any(fact.own for fact in facts)  # "I'm not vegetarian any more" is a fact, too
    said = [wish for wish in heard if wish.part or not statements]
    return HeardMessage(
        tuple(facts),
        statements,
        heard,
        is_only_request=bool(request) and not facts,
        is_only_preference=not tells_of_user and is_all(said, whole),
    )


async def _find_follow_up(
    message: Analysis, before: Sequence[TranscriptLine], embed_texts: EmbedTexts
) -> FollowUp | None:
    """The user's own question before a message, where only they can have told its answer, and the message gives it."""
    asked = before[-2:]
    if [line.provenance for line in asked] != ["user", "assistant"] or asked[0].speaker != USER:
        return None
    question, answer = asked[0].content, asked[1].content[:ASKED_CHARS]
    if not message.text or max(len(message.text), len(question)) > ASKED_CHARS or find_asks(message):
        return None
    personal = predict_chance("personal", question, (await embed_texts([question])).get(question))
    if (personal or 0.0) < operating_point("personal", "sure") or not find_asks(analyse_text(question)):
        return None
    follow_up = FollowUp(question, answer, message.text, not _is_unknown(answer, message.language))
    return follow_up if gives_answer(follow_up, await embed_texts(follow_up.texts)) else None


def _is_unknown(answer: str, language: str) -> bool:
    """Whether an answer says that it is not known, or was not told."""
    return declines_answer(answer, language) or says_untold(answer, language)
