"""What a turn asks of memory for a message, for benchmarks that ask the store itself."""

from collections.abc import Collection
from typing import NamedTuple

from insula.language.owner import ASSISTANT, USER
from insula.language.statements import MessageQuestion, extract_question
from insula.memory.retrieval.embedding import embed_all, predict_personal, read_requests
from insula.memory.storage.vectors import Embed, Vector
from insula.metacognition.reading import question_text
from insula.text.analysis import Analysis
from insula.text.pasted import split_units
from insula.turn.gate import most_personal


class Sought(NamedTuple):
    """What is passed to `recall_memories` beside the cue."""

    read: tuple[Vector, ...]
    """What is read of the message and of its sentences that ask; see `insula.language.heads.read_request`."""
    asked: tuple[MessageQuestion, ...]


def sought(message: Analysis, talkers: Collection[str], embed: Embed) -> Sought:
    """What is asked of memory, as `Opening` asks it: all texts at once, each once."""
    whole, pieces = question_text(message, talkers), split_units(message)
    known = embed_all(embed, list(dict.fromkeys([whole, *pieces])))
    chosen = most_personal(pieces, [predict_personal(embed, one, known) for one in pieces])
    asked = [one for piece in chosen for one in extract_question(piece, message.language, USER, ASSISTANT)]
    known |= embed_all(embed, list(dict.fromkeys(one.text for one in asked if one.text not in known)))
    read = read_requests(embed, known, known)
    return Sought(
        tuple(read[one] for one in (whole, *chosen)), tuple(one._replace(request=read[one.text]) for one in asked)
    )
