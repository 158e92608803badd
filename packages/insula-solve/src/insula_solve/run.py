"""One problem being solved: what is asked of the models, and what was found."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeVar, cast
from zlib import crc32

from pydantic import BaseModel

from insula.errors import ModelCutOff, ModelError, ModelMalformed, ModelRefused, ModelTimeout
from insula.llm.budget import Account
from insula.llm.client import DEFAULT_TIMEOUT, Generation, Prompt, generate_reply
from insula.llm.model import Model
from insula.llm.structured import parse_object
from insula.llm.wire import bound_of
from insula.types import Usage
from insula_solve.amounts import write_number
from insula_solve.answers import ONCE, Form, ParsedAnswer, find_answer, strip_thought
from insula_solve.claims import find_claims
from insula_solve.knowledge import Knowledge
from insula_solve.prompts import fill_in, make_prompt
from insula_solve.solution import Attempt, Kind, Step, StepKind, measure_likelihood

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
CIRCLE_CHARS, CIRCLES = 60, 3
"""A reply that was cut off and whose end stands so often in it runs in circles: more tokens would not end it."""

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)
OnStep = Callable[[Step], object]


class Pool(Protocol):
    """Where replies are kept, so that methods which ask the same are compared on the same reply."""

    def get(self, key: str) -> Generation | None:
        """The reply under a key, if there is one."""
        ...

    def put(self, key: str, generation: Generation) -> None:
        """Keep a reply."""
        ...


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
    refused: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """By the name of a model, the settings that its provider refused; they are left out from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may be asked for, by whoever solves; what is None is as the method has it."""

    tokens: int | None = None
    """Of a reply, at first."""
    most_tokens: int = MOST_TOKENS
    """Of a reply that is asked for again because the first was cut off."""
    temperature: float | None = None
    """Of sampled replies."""
    attempts: int | None = None
    """At one problem."""


class _Question(NamedTuple):
    """One request."""

    stage: str
    prompt: Prompt
    model: Model
    max_tokens: int
    temperature: float
    number: int
    schema: type[BaseModel] | None


@dataclass(slots=True)
class SolveRun:
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
    grown: int | None = None
    """Tokens that further replies are given because one was cut off; 0 where that did not help."""

    @property
    def monitor(self) -> Model:
        """Who plans."""
        return self.models.monitor or self.models.generator

    @property
    def verifier(self) -> Model:
        """Who judges."""
        return self.models.verifier or self.models.generator

    def draw_seed(self, index: int) -> int:
        """The seed of a lot: the same for the same run of a problem, another for another problem."""
        return crc32(f"{self.seed} {index} {self.problem}".encode(errors="replace"))

    def add_step(self, kind: StepKind, text: str, **data: object) -> None:
        """Add a line to the trace."""
        step = Step(kind=kind, text=text, data=data)
        self.trace.append(step)
        if self.on_step is not None:
            self.on_step(step)

    # What is asked of the models

    async def ask_model(
        self,
        stage: str,
        prompt: Prompt,
        *,
        model: Model | None = None,
        max_tokens: int,
        temperature: float,
        index: int = 0,
        schema: type[BaseModel] | None = None,
    ) -> Generation | None:
        """A reply, from the pool where it stands there; None if it did not come or was empty.

        One that is cut off before it says what it answers is asked for once more, with `Limits.most_tokens`.
        """
        tokens = max(max_tokens, self.grown or 0)
        asked = _Question(stage, prompt, model or self.models.generator, tokens, temperature, index, schema)
        made, is_cut_off = await self._send_question(asked)
        if not is_cut_off or self.grown is not None or tokens >= self.limits.most_tokens:
            return made
        self.grown = self.limits.most_tokens
        self.add_step("lost", f"A reply was cut off at {tokens:,} tokens; it is asked for again, with {self.grown:,}.")
        try:
            again, is_cut_off = await self._send_question(asked._replace(max_tokens=self.grown))
        except ModelRefused as error:
            self.add_step("lost", str(error))
            again, is_cut_off = None, True
        if is_cut_off:
            self.grown = 0
        return made if is_cut_off else again

    async def ask_readable(
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
        """A reply that can be read: asked for a second time where the first cannot be, and counted if neither can."""
        again = prompt
        last: Generation | None = None
        for _ in range(2):
            made = await self.ask_model(
                stage, again, model=model, max_tokens=max_tokens, temperature=temperature, index=index
            )
            if made is not None:
                last = made
                if (value := readable(made)) is not None:
                    return value, made
                said = ("user", prompt.prompt), ("assistant", made.text[:REPEATED_CHARS])
                again = replace(prompt, history=(*prompt.history, *said), prompt=fill_in("again", form=form))
        self.unparsed += 1
        self.add_step("lost", f"The reply for {stage} could not be read, twice.", stage=stage)
        return None, last

    async def fill_form(
        self, stage: str, prompt: Prompt, schema: type[B], *, model: Model, max_tokens: int, index: int = 0
    ) -> B | None:
        """A reply of a form, greedily; the client asks a second time itself. None, and counted, if neither is one."""
        made = await self.ask_model(
            stage, prompt, model=model, max_tokens=max_tokens, temperature=0.0, index=index, schema=schema
        )
        if made is not None:
            with suppress(ValueError):  # a pool may outlive the form
                return parse_object(made.text, schema)
        self.unparsed += 1
        return None

    async def _send_question(self, asked: "_Question") -> tuple[Generation | None, bool]:
        """A reply, and whether it was cut off before it said what it answers."""
        model, seed = asked.model, self.seed * SEEDS + asked.number
        key = key_of(
            model.model_name, asked.prompt, max_tokens=asked.max_tokens, temperature=asked.temperature, seed=seed
        )
        if (kept := self._take_kept(asked, key)) is not None:
            return kept, False
        refused = self.models.refused.setdefault(model.model_name, set())
        before = frozenset(refused)
        try:
            made = await generate_reply(
                model,
                asked.prompt,
                purpose=asked.stage,
                account=self.account,
                max_tokens=asked.max_tokens,
                temperature=asked.temperature,
                seed=seed,
                timeout=self.models.timeout,
                logprobs=asked.schema is None,
                schema=asked.schema,
                refused=refused,
            )
        except (ModelTimeout, ModelMalformed) as error:
            self._count_lost(error)
            return None, isinstance(error, ModelCutOff)
        finally:
            for name in sorted(refused - before):
                told = f"The model {model.model_name!r} refuses {name!r}: it is left out from here on."
                self.add_step("setting", told)
        made = cast("Generation", replace(made, value=None))
        if self.models.pool is not None and not (made.truncated and made.usage.output_tokens < asked.max_tokens):
            self.models.pool.put(key, made)
        return made, asked.schema is None and made.truncated and self._goes_on(made.text)

    def _goes_on(self, text: str) -> bool:
        """Whether a reply that was cut off would come to an answer with more tokens."""
        answered = find_answer(text, truncated=True, form=self.form, problem=self.problem)
        return answered is None and text.count(text[-CIRCLE_CHARS:]) < CIRCLES

    def _take_kept(self, asked: "_Question", key: str) -> Generation | None:
        """The reply from the pool, charged as if it were asked for now; None where it would not fit the account."""
        generation = self.models.pool.get(key) if self.models.pool is not None else None
        if generation is None:
            return None
        most = asked.max_tokens * (TRIES if asked.schema else 1)
        grant = self.account.reserve_call(asked.stage, most, bound_of(asked.prompt, None))
        fits = generation.usage.output_tokens <= grant.output_tokens
        self.account.charge_usage(grant, generation.usage if fits else Usage())
        return generation if fits else None

    def _count_lost(self, error: ModelError) -> None:
        self.lost += isinstance(error, ModelTimeout)
        self.add_step("lost", str(error))
        if self.lost > LOST:
            raise error

    # What was found

    async def attempt_chain(self, index: int, temperature: float | None = None) -> Attempt | None:
        """One plain chain of thought; every method that asks for number `index` gets the same."""
        made = await self.ask_model(
            "chain",
            make_prompt("chain", problem=self.problem),
            max_tokens=self.limits.tokens or CHAIN_TOKENS,
            temperature=self.choose_temperature(index) if temperature is None else temperature,
            index=index,
        )
        return None if made is None else self.note_attempt("chain", made)

    async def attempt_plain(self, index: int = 0) -> Attempt | None:
        """The problem alone, as a person would ask it; what cannot be compared is the answer as it stands."""
        tokens = self.limits.tokens or CHAIN_TOKENS
        asked = Prompt(prompt=self.problem)
        made = await self.ask_model(
            "plain", asked, max_tokens=tokens, temperature=self.choose_temperature(index), index=index
        )
        if made is None or not (text := strip_thought(made.text)):
            return None
        answer = None
        if self.form not in ONCE:
            answer = find_answer(made.text, truncated=made.truncated, form=self.form, problem=self.problem)
        if answer is None and self.form not in ("number", "expression"):
            answer = as_it_stands(text, self.form)
        if answer is not None:
            self.form = answer.form
        return self.note_attempt("plain", made, answer)

    def choose_temperature(self, index: int) -> float:
        """The temperature of a reply: the first is greedy, the others are sampled."""
        if index == 0:
            return 0.0
        return CHAIN_TEMPERATURE if self.limits.temperature is None else self.limits.temperature

    def note_attempt(
        self,
        kind: Kind,
        made: Generation | None,
        answer: ParsedAnswer | None = None,
        *,
        reasoning: str = "",
        strategy: str = "",
        difficulty: float | None = None,
        features: str = "",
    ) -> Attempt:
        """Note an attempt, with its arithmetic recomputed.

        Args:
            made: the reply; None where none came.
            answer: what it answers, where that is known; by default it is looked for.
            reasoning: what was reasoned; by default the reply.
        """
        if made is not None:
            reasoning = reasoning or "\n\n".join(part for part in (made.thinking, made.text) if part)
            if answer is None and kind not in ("program", "plain"):
                answer = find_answer(made.text, truncated=made.truncated, form=self.form, problem=self.problem)
        attempt = Attempt(
            number=len(self.attempts) + 1,
            kind=kind,
            reasoning=reasoning,
            answer=answer,
            claims=find_claims(reasoning) if kind != "program" and self.form not in ONCE else (),
            likelihood=measure_likelihood(made.logprobs, answer.raw if answer else "") if made else None,
            truncated=made is not None and made.truncated,
            strategy=strategy,
            difficulty=difficulty,
            features=features,
        )
        self.attempts.append(attempt)
        shown = "no answer" if answer is None else " ".join(answer.shown.split())
        shown = shown if len(shown) <= SHOWN_CHARS else f"{shown[:SHOWN_CHARS]}…"
        how = f"{kind}, {strategy}" if strategy else kind
        self.add_step(
            "attempt",
            f"Attempt {attempt.number} ({how}): {shown.rstrip('.')}.",
            number=attempt.number,
            answer=attempt.shown,
        )
        if attempt.claims:
            self.add_step("arithmetic", _describe_claims(attempt), number=attempt.number)
        return attempt

    def change_attempt(self, attempt: Attempt) -> Attempt:
        """Put an attempt of which more is known in the place of what was known before."""
        self.attempts[attempt.number - 1] = attempt
        return attempt


def as_it_stands(text: str, form: Form) -> ParsedAnswer:
    """A reply that cannot be compared, as the answer; what fences code is code."""
    return ParsedAnswer(text, text, form="code" if form == "code" or "```" in text else "text")


def key_of(model: str, prompt: Prompt, *, max_tokens: int, temperature: float | None, seed: int) -> str:
    """What a reply is kept under: everything that it depends on."""
    told = [prompt.instructions, list(prompt.history), prompt.prompt]
    text = json.dumps([model, told, max_tokens, temperature, seed], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _describe_claims(attempt: Attempt) -> str:
    if not attempt.wrong:
        return f"Recomputed {len(attempt.claims)} of its equations: all hold."
    shown = "; ".join(f"{claim.text} (it is {write_number(claim.computed)})" for claim in attempt.wrong[:3])
    return f"Recomputed {len(attempt.claims)} of its equations, {len(attempt.wrong)} do not hold: {shown}."
