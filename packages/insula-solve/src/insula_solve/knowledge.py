"""Metacognitive knowledge: the strategies there are, and how each has done on problems of a class (M1, M4)."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from insula.errors import SettingsError
from insula.memory.storage.rows import StrategyTally

FILE = "strategies.toml"
NAME_CHARS, WHEN_CHARS, HOW_CHARS, MOST = 40, 160, 600, 100
"""Limits of a strategy and of a repertoire: all of it stands in a prompt."""
FITTING, OTHER = (2.0, 1.0), (1.0, 1.0)
"""Beta priors of a strategy on a class that it fits, and on another, of which it has a record: one success ahead."""


class Records(Protocol):
    """Where it is kept how strategies did."""

    async def read(self, model: str, kind: str) -> Mapping[str, StrategyTally]:
        """The tally of each strategy that a model has tried on problems of a class."""
        ...

    async def add(self, model: str, kind: str, strategy: str, success: bool) -> None:
        """Count one more outcome."""
        ...


def _text(most: int) -> Any:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=most)


class Strategy(BaseModel):
    """A way to go about a problem."""

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, _text(NAME_CHARS)]
    when: Annotated[str, _text(WHEN_CHARS)]
    """Completes "fits problems …"."""
    how: Annotated[str, _text(HOW_CHARS), AfterValidator(lambda how: " ".join(how.split()))]
    classes: tuple[str, ...] = ()
    """Those of the problems that it fits; none for problems of any class."""


class _Repertoire(BaseModel):
    """A file of strategies."""

    strategy: Annotated[tuple[Strategy, ...], Field(max_length=MOST)] = ()


@cache
def read_shipped() -> tuple[Strategy, ...]:
    """The repertoire of twenty strategies and the general one."""
    return _read_strategies(resources.files("insula_solve").joinpath(FILE).read_text("utf-8"))


def read_repertoire(home: Path) -> tuple[Strategy, ...]:
    """The shipped repertoire with what a person's own file adds to it or replaces."""
    path = home / FILE
    try:
        own = _read_strategies(path.read_text("utf-8"))
    except FileNotFoundError:
        return read_shipped()
    except (OSError, ValueError) as error:
        raise SettingsError(f"The strategies in {str(path)!r} cannot be used ({error}); mend the file.") from error
    return tuple({each.name: each for each in (*read_shipped(), *own)}.values())


def _read_strategies(text: str) -> tuple[Strategy, ...]:
    return _Repertoire.model_validate(tomllib.loads(text)).strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The repertoire, and the records of it where they are kept."""

    repertoire: tuple[Strategy, ...] = field(default_factory=read_shipped)
    records: Records | None = None

    async def read_tallies(self, model: str, kind: str) -> Mapping[str, StrategyTally]:
        """How the strategies did; nothing where no records are kept."""
        return await self.records.read(model, kind) if self.records is not None else {}

    async def learn_outcome(self, model: str, kind: str, strategy: str, success: bool) -> None:
        """Count an outcome, where records are kept and the strategy has a name."""
        if self.records is not None and strategy:
            await self.records.add(model, kind, strategy, success)

    def find_strategy(self, words: str) -> Strategy | None:
        """The strategy that some words name, also where a model wrote more around the name, or its number."""
        said = " ".join(words.casefold().split())
        listed = said.strip(".#) ")
        numbered = {str(number): known for number, known in enumerate(self.repertoire, 1)}
        if listed in numbered:
            return numbered[listed]
        strategies = [strategy for strategy in self.repertoire if strategy.name.casefold() in said]
        return max(strategies, key=lambda strategy: len(strategy.name), default=None)


def draw_strategy(
    repertoire: Sequence[Strategy],
    tallies: Mapping[str, StrategyTally],
    classes: Sequence[str],
    seed: int,
    *,
    without: frozenset[str] = frozenset(),
) -> Strategy:
    """A strategy by Thompson's sampling: each draws from its Beta posterior, and the highest draw wins.

    Those that fit take part, and those that are known from such problems; of twenty others one would nearly always win.

    Args:
        without: names of those that were tried already.
    """
    draw = np.random.default_rng(abs(seed))
    left = [each for each in repertoire if each.name not in without] or list(repertoire)
    left = [each for each in left if fits_classes(each, classes) or each.name in tallies] or left
    values = [draw.beta(*compute_posterior(each, tallies.get(each.name, StrategyTally()), classes)) for each in left]
    return left[int(np.argmax(values))]


def fits_classes(strategy: Strategy, classes: Sequence[str]) -> bool:
    """Whether a strategy is for problems of one of some classes; one that names none is for all."""
    return not strategy.classes or not set(strategy.classes).isdisjoint(classes)


def compute_posterior(strategy: Strategy, tally: StrategyTally, classes: Sequence[str]) -> tuple[float, float]:
    """The two parameters of the Beta distribution of a strategy's rate of success on problems of some classes."""
    won, lost = FITTING if fits_classes(strategy, classes) else OTHER
    return won + tally.successes, lost + tally.failures
