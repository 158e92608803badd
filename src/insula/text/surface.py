"""Terms as people write them: a stem ("kilometr") is no word, and nobody should have to read one."""

from collections.abc import Iterable, Sequence

from insula.text.analysis import analyse_text


def surface_forms(terms: Iterable[str], texts: Sequence[str]) -> list[str]:
    """Some terms as the texts that they come from write them; one that stands in none of them is left out."""
    forms: dict[str, str] = {}
    for text in texts:
        for sentence in analyse_text(text).sentences:
            for word in sentence.words:
                forms.setdefault(word.term, word.text.lower())
    together = " ".join(texts)
    words = (forms.get(term) or (term if _is_whole(term, together) else "") for term in terms)
    return list(dict.fromkeys(word for word in words if word))


def _is_whole(term: str, text: str) -> bool:
    """Whether a term is what was written: of Chinese and Japanese, which are not stemmed."""
    return not term.isascii() and term in text
