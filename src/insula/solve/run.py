"""One problem being solved: what is asked of the models, and what was found."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast
from zlib import crc32

from pydantic import BaseModel

from insula.errors import ModelCutOff, ModelError, ModelMalformed, ModelTimeout
from insula.llm.budget import Account
from insula.llm.client import DEFAULT_TIMEOUT, Generation, Prompt, generate
from insula.llm.model import Model
from insula.llm.structured import parse
from insula.llm.wire import bound_of, messages_of
from insula.solve import pool as pools
from insula.solve import prompts
from insula.solve.amounts import written
from insula.solve.answers import Answer, extract, said
from insula.solve.claims import claims
from insula.solve.forms import Form
from insula.solve.knowledge import Knowledge
from insula.solve.likelihood import likelihood
from insula.solve.pool import Pool
from insula.solve.solution import Attempt, Kind, Step, StepKind
from insula.types import Usage

CHAIN_TOKENS = 600
"""Tokens of a chain. A small reasoner writes 316 on average, and beyond this it runs in circles."""
MOST_TOKENS = 8_192
"""Tokens of a reply that was cut off and is asked for once more; a model that thinks before it answers needs them."""
CHAIN_TEMPERATURE = 0.7
"""Of every chain but the first (Wang et al. 2022: 0.7). The first is greedy, as a single chain is at its best."""
SEEDS = 1_000
"""Seeds that one run of a problem may use."""
LOST = 2
"""Replies that may fail to come, by a time limit, before the method ends with what it has."""
TRIES = 2
"""Replies that the client asks for where a form is wanted; a kept reply may be the two together."""
SHOWN_CHARS = 80
"""Characters of an answer in a line of the trace."""
REPEATED_CHARS = 2_000
"""Characters of an unreadable reply that the second try shows."""

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)
OnStep = Callable[[Step], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Who does what (M7): a small model may plan or verify for a large one."""

    generator: Model
    monitor: Model | None = None
    """By default the generator."""
    verifier: Model | None = None
    """By default the generator."""
    pool: Pool | None = None
    """Replies that are kept between methods and runs."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds that one reply may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may be asked for, by whoever solves."""

    tokens: int = CHAIN_TOKENS
    """Of a reply, at first."""
    most_tokens: int = MOST_TOKENS
    """Of a reply that is asked for again because the first was cut off."""
    temperature: float = CHAIN_TEMPERATURE
    """Of sampled chains."""
    attempts: int | None = None
    """At one problem; by default what the method says."""


@dataclass(slots=True)
class Run:
    """One problem in the hands of one method."""

    problem: str
    models: Models
    account: Account
    seed: int
    knowledge: Knowledge
    on_step: OnStep | None
    limits: Limits = Limits()
    form: Form = "number"
    """What kind of answer the problem wants."""
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    trace: list[Step] = field(default_factory=list[Step])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    """What a method found out about an answer beyond the attempts that gave it."""
    unparsed: int = 0
    lost: int = 0
    grown: int = 0
    """Tokens that a reply was given after another had been cut off; it holds for those that follow."""

    @property
    def monitor(self) -> Model:
        return self.models.monitor or self.models.generator

    @property
    def verifier(self) -> Model:
        return self.models.verifier or self.models.generator

    def lot(self, index: int) -> int:
        """The seed of a lot: the same for the same run of a problem, another for another problem."""
        return crc32(f"{self.seed} {index} {self.problem}".encode(errors="replace"))

    def say(self, kind: StepKind, text: str, **data: object) -> None:
        """Add a line to the trace."""
        step = Step(kind=kind, text=text, data=data)
        self.trace.append(step)
        if self.on_step is not None:
            self.on_step(step)

    async def ask(
        self,
        stage: str,
        prompt: Prompt,
        *,
        model: Model | None = None,
        max_tokens: int,
        temperature: float,
        index: int = 0,
    ) -> Generation | None:
        """A reply, from the pool where it stands there; None if it did not come or was empty.

        One that is cut off before it marks an answer is asked for once more, with `Limits.most_tokens`.

        Raises:
            BudgetExceeded: too little is left to ask.
            ModelError: the model cannot be used, declined, or failed too often.
        """
        most = max(max_tokens, self.grown)
        made, cut = await self._asked(stage, prompt, model, most, temperature, index)
        if not cut or self.grown or most >= self.limits.most_tokens:
            return made
        self.grown = self.limits.most_tokens
        self.say("lost", f"A reply was cut off at {most:,} tokens; it is asked for again, with {self.grown:,}.")
        again, cut = await self._asked(stage, prompt, model, self.grown, temperature, index)
        return made if cut else again

    async def _asked(
        self, stage: str, prompt: Prompt, model: Model | None, max_tokens: int, temperature: float, index: int
    ) -> tuple[Generation | None, bool]:
        """A reply, and whether it was cut off before it said what it answers."""
        asked = model or self.models.generator
        seed = self.seed * SEEDS + index
        key = pools.key(asked.model_name, prompt, max_tokens=max_tokens, temperature=temperature, seed=seed)
        if (kept := self._kept(stage, prompt, key, max_tokens)) is not None:
            return kept, False
        try:
            made = await generate(
                asked,
                prompt,
                purpose=stage,
                account=self.account,
                max_tokens=max_tokens,
                temperature=temperature,
                seed=seed,
                timeout=self.models.timeout,
                logprobs=True,
            )
        except ModelCutOff as error:
            self._lose(error)
            return None, True
        except (ModelTimeout, ModelMalformed) as error:
            self._lose(error)
            return None, False
        if self.models.pool is not None and not (made.truncated and made.usage.output_tokens < max_tokens):
            self.models.pool.put(key, made)
        answered = extract(made.text, truncated=True, form=self.form, problem=self.problem)
        return made, made.truncated and answered is None

    async def read(
        self,
        stage: str,
        prompt: Prompt,
        readable: Callable[[Generation], T | None],
        *,
        model: Model | None = None,
        max_tokens: int,
        temperature: float,
        index: int = 0,
        form: str,
    ) -> tuple[T | None, Generation | None]:
        """A reply that can be read: asked for a second time where the first cannot be, and counted if neither can.

        Args:
            form: what the second try says is missing.
        """
        again = prompt
        last: Generation | None = None
        for _ in range(2):
            made = await self.ask(
                stage, again, model=model, max_tokens=max_tokens, temperature=temperature, index=index
            )
            if made is not None:
                last = made
                if (value := readable(made)) is not None:
                    return value, made
                said = ("user", prompt.prompt), ("assistant", made.text[:REPEATED_CHARS])
                again = replace(prompt, history=(*prompt.history, *said), prompt=prompts.AGAIN.format(form=form))
        self.unparsed += 1
        self.say("lost", f"The reply for {stage} could not be read, twice.", stage=stage)
        return None, last

    async def fill(
        self, stage: str, prompt: Prompt, schema: type[B], *, model: Model, max_tokens: int, index: int = 0
    ) -> B | None:
        """A reply of a form, greedily; the client asks a second time itself. None, and counted, if neither is one."""
        seed = self.seed * SEEDS + index
        key = pools.key(model.model_name, prompt, max_tokens=max_tokens, temperature=0.0, seed=seed)
        if (kept := self._kept(stage, prompt, key, TRIES * max_tokens)) is not None:
            with suppress(ValueError):  # a pool may outlive the form
                return parse(kept.text, schema)
        try:
            made = await generate(
                model,
                prompt,
                purpose=stage,
                account=self.account,
                max_tokens=max_tokens,
                temperature=0.0,
                seed=seed,
                timeout=self.models.timeout,
                schema=schema,
            )
        except ModelMalformed as error:
            self.unparsed += 1
            self.say("lost", str(error), stage=stage)
            return None
        except ModelTimeout as error:
            self._lose(error)
            return None
        if self.models.pool is not None:
            self.models.pool.put(key, cast("Generation", replace(made, value=None)))
        return made.value

    async def chain(self, index: int) -> Attempt | None:
        """One plain chain of thought; every method that asks for number `index` gets the same."""
        temperature = 0.0 if index == 0 else self.limits.temperature
        prompt = prompts.chain(self.problem)
        made = await self.ask("chain", prompt, max_tokens=self.limits.tokens, temperature=temperature, index=index)
        return None if made is None else self.attempted("chain", made)

    async def plain(self) -> Attempt | None:
        """The problem alone, as a person would ask it; what cannot be compared is the answer as it stands."""
        prompt = Prompt(prompt=self.problem)
        made = await self.ask("plain", prompt, max_tokens=self.limits.tokens, temperature=0.0)
        if made is None or not (text := said(made.text)):
            return None
        answer = None
        if self.form not in ("text", "code"):
            answer = extract(made.text, truncated=made.truncated, form=self.form, problem=self.problem)
        if answer is None and self.form not in ("number", "expression"):
            answer = Answer(text, text, marked=False, form="code" if self.form == "code" else "text")
        if answer is not None:
            self.form = answer.form
        return self.attempted("plain", made, answer)

    def attempted(
        self,
        kind: Kind,
        made: Generation | None,
        answer: Answer | None = None,
        *,
        reasoning: str = "",
        strategy: str = "",
        difficulty: float | None = None,
        features: str = "",
    ) -> Attempt:
        """Note an attempt, with its arithmetic recomputed.

        Args:
            kind: how it was asked for.
            made: the reply; None where none came.
            answer: what it answers, where that is known; by default it is looked for.
            reasoning: what was reasoned; by default the reply.
            strategy: its name in the repertoire.
            difficulty: as it was felt before.
            features: what the Monitor saw.
        """
        if made is not None:
            reasoning = reasoning or "\n\n".join(part for part in (made.thinking, made.text) if part)
            if answer is None and kind not in ("program", "plain"):
                answer = extract(made.text, truncated=made.truncated, form=self.form, problem=self.problem)
        attempt = Attempt(
            number=len(self.attempts) + 1,
            kind=kind,
            reasoning=reasoning,
            answer=answer,
            claims=claims(reasoning) if kind != "program" else (),
            likelihood=likelihood(made.logprobs, answer.raw if answer else "") if made else None,
            truncated=made is not None and made.truncated,
            strategy=strategy,
            difficulty=difficulty,
            features=features,
        )
        self.attempts.append(attempt)
        what = "no answer" if answer is None else " ".join(answer.shown.split())
        what = what if len(what) <= SHOWN_CHARS else f"{what[:SHOWN_CHARS]}…"
        self.say("attempt", f"{_named(attempt)}: {what.rstrip('.')}.", number=attempt.number, answer=attempt.shown)
        if attempt.claims:
            self.say("arithmetic", _recomputed(attempt), number=attempt.number)
        return attempt

    def change(self, attempt: Attempt) -> Attempt:
        """Put an attempt of which more is known in the place of what was known before."""
        self.attempts[attempt.number - 1] = attempt
        return attempt

    def _kept(self, stage: str, prompt: Prompt, key: str, max_tokens: int) -> Generation | None:
        """The reply from the pool, charged as if it were asked for now; None where it would not fit the account."""
        found = self.models.pool.get(key) if self.models.pool is not None else None
        if found is None:
            return None
        grant = self.account.allow(stage, max_tokens, bound_of(messages_of(prompt), None))
        fits = found.usage.output_tokens <= grant.output_tokens
        self.account.charge(grant, replace(found.usage, cost=0.0) if fits else Usage())
        return found if fits else None

    def _lose(self, error: ModelError) -> None:
        self.lost += isinstance(error, ModelTimeout)
        self.say("lost", str(error))
        if self.lost > LOST:
            raise error


def _named(attempt: Attempt) -> str:
    how = f", {attempt.strategy}" if attempt.strategy else ""
    return f"Attempt {attempt.number} ({attempt.kind}{how})"


def _recomputed(attempt: Attempt) -> str:
    if not attempt.wrong:
        return f"Recomputed {len(attempt.claims)} of its equations: all hold."
    shown = "; ".join(f"{claim.text} (it is {written(claim.computed)})" for claim in attempt.wrong[:3])
    return f"Recomputed {len(attempt.claims)} of its equations, {len(attempt.wrong)} do not hold: {shown}."
