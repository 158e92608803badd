"""What a sentence of a reply says in place of an answer, in eight languages; what only sounds like it does not."""

import numpy as np
import pytest

from insula.language.replies import DECLINES, find_meanings
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.vectors import Vector, embed_normalised

DECLINED = (
    *(
        "I have no idea which school she goes to.",
        "Leider weiß ich das nicht.",
        "No me lo habías contado.",
        "Je n'ai pas la réponse.",
    ),
    *(
        "Você nunca me falou disso.",
        "Non posso aiutarti a scriverlo.",
        "我没有这方面的信息。",
        "それは教えてもらっていません。",
    ),
)
ANSWERED = (
    *(
        "She goes to the school by the river.",
        "Ihr Bruder wohnt in Bern.",
        "Escribe: «No sé cuándo llego».",
        "Oui, à huit heures.",
    ),
    *("Não custa nada entrar no museu.", "Devi girare a destra.", "图书馆九点开门。", "会議は三時に始まります。"),
    *("```\nraise ValueError('I cannot do that')\n```", "“I don't know” is what he said."),
)


def _read_vector(text: str) -> Vector:
    return embed_normalised(embed_text, text)


@pytest.mark.parametrize("reply", DECLINED)
def test_who_does_not_know_was_not_told_or_will_not_declines(reply: str) -> None:
    assert find_meanings(reply, _read_vector) & DECLINES


@pytest.mark.parametrize("reply", ANSWERED)
def test_an_answer_a_quotation_and_code_decline_nothing(reply: str) -> None:
    assert not find_meanings(reply, _read_vector)


def test_phrases_of_service_are_no_answer() -> None:
    assert find_meanings("Hello! How can I help you today?", _read_vector) == {"offer"}


def test_only_the_beginning_of_a_long_reply_is_read() -> None:
    reply = "The library opens at nine. " * 20 + "I don't know where she works."
    assert find_meanings(reply, _read_vector)
    assert not find_meanings(reply, _read_vector, 200)


def test_of_another_embedding_nothing_is_told() -> None:
    assert not find_meanings("I don't know.", lambda _: np.ones(8, np.float32))
