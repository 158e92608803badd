"""Consolidation: what was said twice becomes one memory, and what nobody came back to is let go (K7).

Both can be undone: a memory that is merged or forgotten is retired, with a record of why (law 8). Only what is word for
word the same is merged, but for a slip of the pen: "I like tea" and "I don't like tea" are alike by other measures.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import DamerauLevenshtein

from insula.memory.retrieval.scoring import base_level, retrieval_probability
from insula.memory.storage import statements
from insula.memory.storage.changes import Forget, Merge
from insula.memory.storage.rows import RememberedItem
from insula.night.cycle import Night, Result
from insula.text.wording import count_noun, undo_by

LOOKED_AT = 20_000
"""Memories that one night looks at, the latest ones."""
FORGOTTEN = 0.12
"""Probability of retrieval below which a memory of no importance is let go: some four months after its only use."""
NEIGHBOURS = 200
"""Texts with the same frame that one is compared with."""
SLIP = 5
"""Letters of a word in which one wrong letter is a slip of the pen."""
_DAY = 86_400.0
YOUNGEST = 30 * _DAY
"""Nothing younger is forgotten, whatever its activation."""


async def consolidate_memories(night: Night) -> Result:
    """The phase: remember all that was asserted, merge near-duplicates, forget by activation."""
    await night.store.run(statements.promote_all, night.user_id, night.now)
    held = await night.store.nights.list_remembered(night.user_id, LOOKED_AT)
    merges = list(merge_duplicates(held))
    gone = {other for merge in merges for other in merge.others}
    forgotten = [item for item in find_forgettable(held, night.now) if item.memory_id not in gone]
    report = {
        "looked_at": len(held),
        "merged": [{"kept": merge.kept, "others": list(merge.others)} for merge in merges],
        "forgotten": [item.memory_id for item in forgotten],
    }
    if not merges and not forgotten:
        return Result(report, skipped="Nothing was said twice, and nothing is old and unused.")
    if not forgotten:
        return Result(report, merges)  # that the same was said twice is no news
    gone_now, undo = f"{count_noun(len(forgotten), 'memory')}, old and never used again,", forgotten[0].memory_id
    return Result(
        report,
        (*merges, *forgotten),
        says=[f"{gone_now} {'was' if len(forgotten) == 1 else 'were'} let go."],
        undo=[f"memory undo {undo}"],
        news=[f"{gone_now} let go {undo_by(f'memory undo {undo}')}"],
    )


def merge_duplicates(held: Sequence[RememberedItem]) -> Iterator[Merge]:
    """The memories that say the same, by the same speaker: the most used of them is kept, and of those the latest."""
    for group in _group_duplicates(held):
        best = max(group, key=lambda item: (item.uses, item.said_at, item.id))
        others = tuple(sorted(item.id for item in group if item is not best))
        yield Merge(kept=best.id, others=others, why="it says the same")


def _group_duplicates(held: Sequence[RememberedItem]) -> Iterator[list[RememberedItem]]:
    """Groups of two or more: equal words first, then groups whose words differ by slips of the pen."""
    equal: dict[tuple[str, str, tuple[str, ...]], list[RememberedItem]] = defaultdict(list)
    for item in (item for item in held if not item.restored):  # a person's word
        equal[item.speaker, item.provenance, split_words(item.content)].append(item)
    by_frame: dict[tuple[str, str, int, str], list[list[RememberedItem]]] = defaultdict(list)
    for (speaker, provenance, said), group in equal.items():
        if not said:
            continue
        near = by_frame[speaker, provenance, len(said), _word_frame(said)]
        for other in near[-NEIGHBOURS:]:
            if _is_slip(said, split_words(other[0].content)):
                other.extend(group)
                break
        else:
            near.append(group)
    for groups in by_frame.values():
        yield from (group for group in groups if len(group) > 1)


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text, without case, punctuation and spacing."""
    return tuple(re.findall(r"[^\W_]+", text.lower()))


def _word_frame(said: tuple[str, ...]) -> str:
    """What two texts that differ by slips have in common for sure: short words, numbers, first and last letters."""
    return " ".join(word if len(word) < SLIP or not word.isalpha() else f"{word[0]}…{word[-1]}" for word in said)


def _is_slip(words: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a single longer word differs, by one letter that is not its first."""
    different = [(a, b) for a, b in zip(words, other, strict=True) if a != b]
    if len(different) != 1:
        return False
    a, b = different[0]
    return a[0] == b[0] and a[-1] == b[-1] and DamerauLevenshtein.distance(a, b) == 1


def find_forgettable(held: Sequence[RememberedItem], now: float) -> Iterator[Forget]:
    """The memories that nobody came back to for so long that ACT-R would hardly find them; the important ones last."""
    for item in held:
        if item.restored or now - item.said_at < YOUNGEST:
            continue
        likely = retrieval_probability(base_level(item.used_at, max(item.uses, len(item.used_at)), item.said_at, now))
        if likely < FORGOTTEN * (1 - item.importance):
            days = round((now - max((item.said_at, *item.used_at))) / _DAY)
            yield Forget(item.id, f"not used for {days} days (probability of retrieval {likely:.2f})")
