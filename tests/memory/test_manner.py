"""The head that tells by the meaning of a sentence whether it is a standing wish on how to answer."""

import numpy as np
import pytest

from insula.memory import embedding
from insula.memory.manner import chances
from insula.text.marks import marked


@pytest.mark.skipif(not embedding.is_installed(), reason="The shipped embedding is not installed.")
def test_wishes_are_told_from_what_is_said_of_others_and_of_the_world() -> None:
    wish = ["Stop flattering me.", "Las tablas me lían, no me las pongas más.", "絵文字は使わないでください。"]
    other = ["My neighbour collects stamps.", "Mañana llueve en Sevilla.", "昨日は友達と映画を見た。"]
    parts = [part for text in (*wish, *other) for part in marked(text)]
    told = dict(chances((part, embedding.use(part.text)) for part in parts))
    assert all(told[text] > 0.5 for text in wish)
    assert all(told[text] < 0.5 for text in other)


def test_a_vector_of_another_embedding_says_nothing() -> None:
    part = marked("Be brief.")[0]
    assert chances([(part, np.zeros(3, np.float32)), (part, None)]) == ()
