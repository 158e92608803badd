"""Whom a clause is about, in Chinese and Japanese."""

import re
from collections.abc import Mapping

from insula.language.kinship import CALLINGS, Mention, People


def unspaced(text: str, known: People, me: str, you: str, they: str) -> tuple[list[Mention], set[str]]:
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
