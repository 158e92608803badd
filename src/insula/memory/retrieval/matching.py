"""Whether a statement is about those whom a question asks about, and holds the kind of value that it asks for."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from insula.caches import clear_on_erasure
from insula.language.owner import NOBODY, names_among, owners_may_match
from insula.language.statements import MessageQuestion, Statement
from insula.text.answers import carries_answer, names_in
from insula.text.grammar import UNSPACED


def find_aliases(owners: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """Who else a name or a path may mean, by the owners of statements: "my sister Ana" makes them one."""
    aliases: dict[str, set[str]] = {}
    for several in {owner_names for owner_names in owners if len(owner_names) > 1}:
        names = {path for path in several if path and "/" not in path}
        paths = {path for path in several if "/" in path}
        if len(names) == 1 and len(paths) == 1 and "user" not in names:
            for path in (*names, *paths):
                aliases.setdefault(path, set()).update(names | paths)
    return {path: frozenset(others) for path, others in aliases.items()}


def add_aliases(owners: frozenset[str], aliases: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Those asked about under all their names; who is asked about by name is nobody of another name."""
    others = frozenset[str]().union(*(aliases.get(path, frozenset()) for path in owners))
    if not names_among(owners):
        return owners | others
    known = any("/" in path for path in owners)  # "my son Pablo" is not my boss Pablo
    return owners if known else owners | frozenset(path for path in others if "/" in path)


@clear_on_erasure
@lru_cache(maxsize=512)
def is_about(question: MessageQuestion, owners: frozenset[str]) -> bool:
    """Whether a statement about some may be about whom the question asks about: few are spoken of in hundreds."""
    if owners_may_match(question.subjects, owners - {NOBODY}):
        return True
    things = {path.rpartition("/")[0] for path in question.subjects if "/" in path}
    counted = question.ask.kind in {"list", "number"}  # "how many cats do I have" asks about me
    return bool(things) and counted and owners_may_match(frozenset(things), owners - {NOBODY})


def holds_answer(question: MessageQuestion, statement: Statement) -> bool | None:
    """Whether a statement holds the kind of value that a question asks for; None where that cannot be told."""
    kind, language = question.ask.kind, statement.language
    said = statement.text.rpartition("? ")[2]  # without the question that it answers
    if kind != "yes_no" and language == question.language and language not in UNSPACED:
        new = statement.terms - question.terms or any(map(str.isdigit, said))
        if statement.terms and not new:  # "I bought a novel" names none
            return False
    if kind in {"number", "time"}:
        return carries_answer(kind, said, language)
    if kind in {"name", "person"} and language not in UNSPACED and language != "de":  # there nouns have a capital
        first = said.split(maxsplit=1)[0] if said else ""
        return bool(names_in(said.removeprefix(first), language) - names_in(question.text, language)) or None
    return None
