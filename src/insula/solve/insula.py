"""Insula's own method (M10): cheap and unlike attempts first, recomputed, until their agreement can be relied on.

The first attempt is the same plain chain that every baseline begins with. The second is of another kind: a
straight-line program that our evaluator computes, which costs as much and errs elsewhere. Where both come to one
answer and their arithmetic holds, it ends there. Else it goes on, with chains from the common series and strategies of
the repertoire, and the answers are weighed by `votes`. A chain that writes a program and says what it would print has
guessed that, so the program is computed here. The Monitor is asked only where the attempts differ and the
problem looks hard; below that a strategy is drawn from what is known of the strategies.
"""

from collections.abc import Sequence
from dataclasses import replace

from insula.solve import prompts
from insula.solve.answers import of_number
from insula.solve.claims import corrected, value_asked
from insula.solve.features import Features, features
from insula.solve.forms import Form
from insula.solve.knowledge import Strategy, chosen
from insula.solve.method import Method, method
from insula.solve.mgv import verified
from insula.solve.programs import computed, guessed, program_in
from insula.solve.run import Run
from insula.solve.solution import Attempt, End, Kind, Verdict
from insula.solve.votes import LOGIT_CAP, Policy, Standing, confidence, is_sure, raised, settled, shares, standings

UNLIKE: tuple[Kind, ...] = ("chain", "program", "chain", "strategy", "chain", "chain", "chain", "strategy")
"""The kinds of the first attempts; then come chains. Where there is nothing to compute with, a strategy stands in for
the program. A second program is not worth its tokens: where the first had not settled it, 5 of 28 were right, and 15 of
39 chains (docs/benchmarks/gsm8k.md)."""
PROGRAM_TOKENS = 300
"""Those of the small reasoner have 160 on average."""
ONCE: frozenset[Form] = frozenset({"code", "text"})
"""Kinds of answers that cannot be compared."""
SHORTLIST = 6
"""Strategies that the Monitor is shown."""
CHOICE_TOKENS = 16


def tuned(policy: Policy) -> Method:
    """The method with other figures to decide by."""

    def concluded(run: Run) -> Verdict:
        seen = features(run.problem)
        standing = standings(run.attempts, seen, policy)
        if not standing:
            return Verdict(answer=None)
        if run.form in ONCE:
            return _answered(run.attempts[0])
        sure = confidence(standing, run.attempts, seen, policy)
        if (computed := _stated(run, standing)) is not None:
            return _verdict(run, computed, 1 - LOGIT_CAP)
        return _verdict(run, standing[0], sure if len(run.attempts) == 1 else raised(sure, policy))

    @method(concluded, abstain_below=policy.abstain)
    async def insula(run: Run) -> End:
        """Unlike attempts, recomputed and weighed, until two that can be relied on agree."""
        seen = features(run.problem)
        counts: dict[Kind, int] = {"plain": 0, "chain": 0, "program": 0, "strategy": 0}
        most = run.limits.attempts or policy.attempts
        for at in range(most):
            kind: Kind = UNLIKE[at] if at < len(UNLIKE) else "chain"
            kind = "plain" if at == 0 and not _calculates(run, seen) else kind
            kind = "strategy" if kind == "program" and not seen.is_computable else kind
            await _attempt(run, kind, counts[kind], seen, policy)
            counts[kind] += 1
            if at == 0 and run.attempts and (end := await _once(run, seen, policy)):
                return end
            standing = standings(run.attempts, seen, policy)
            if standing:
                run.say("vote", _told(standing), **shares(standing))
            if at and _stated(run, standing):
                return End("accepted", "the problem itself comes to that")
            if settled(standing, policy):
                await _learn(run, seen, standing[0].answer)
                return End("agreed", _agreement(standing[0]))
        return End("done", f"{most} attempts are made", stuck=True)

    return insula


insula = tuned(Policy())


def _calculates(run: Run, seen: Features) -> bool:
    """Whether a problem wants a number that several others come to."""
    return run.form == "number" and seen.is_computable and value_asked(run.problem) is None


def _stated(run: Run, standing: Sequence[Standing]) -> Standing | None:
    """The answer that the expression in the problem comes to, where an attempt gave it."""
    value = value_asked(run.problem) if run.form == "number" else None
    given = ((one, one.attempts[0].answer) for one in standing)
    return next((one for one, answer in given if answer and value is not None and answer.number == value), None)


async def _once(run: Run, seen: Features, policy: Policy) -> End | None:
    """Why a first attempt is enough; None where it is not."""
    first = run.attempts[0]
    if run.form in ONCE:
        if run.models.verifier not in (None, run.models.generator):
            await verified(run, first, 0)
        return End("done", "what it wants cannot be voted on, and is answered once")
    if first.answer is None:
        return None
    if (value := value_asked(run.problem)) is not None:
        return End("accepted", "the problem itself comes to that") if first.answer.number == value else None
    return End("accepted", "the first attempt is enough for this problem") if is_sure(first, seen, policy) else None


def _answered(first: Attempt) -> Verdict:
    """What is answered once: as sure as the verifier that was named for it, or as the model's own likelihood."""
    known = {"prompted": first.scores.mean} if first.scores else {}
    told = {"likelihood": first.likelihood.confidence} if first.likelihood else {}
    return Verdict(answer=first.shown, confidence=known.get("prompted"), confidences=known | told, chosen=first.number)


async def _attempt(run: Run, kind: Kind, index: int, seen: Features, policy: Policy) -> None:
    match kind:
        case "plain":
            await run.plain()
        case "chain":
            _recompute(run, await run.chain(index))
        case "program":
            await _program(run)
        case "strategy":
            _recompute(run, await _by_strategy(run, index, seen, policy))


async def _program(run: Run) -> None:
    made = await run.ask("program", prompts.program(run.problem), max_tokens=PROGRAM_TOKENS, temperature=0.0)
    if made is not None:
        program = program_in(made.text)
        run.attempted("program", made, computed(program), reasoning=program)


async def _by_strategy(run: Run, index: int, seen: Features, policy: Policy) -> Attempt | None:
    strategy = await _strategy(run, index, seen, policy)
    made = await run.ask(
        "strategy",
        prompts.by_strategy(run.problem, strategy),
        max_tokens=run.limits.tokens,
        temperature=run.limits.temperature,
        index=index,
    )
    if made is None:
        return None
    return run.attempted("strategy", made, strategy=strategy.name, difficulty=seen.difficulty)


async def _strategy(run: Run, index: int, seen: Features, policy: Policy) -> Strategy:
    """A strategy that was not tried yet: the Monitor's where the problem looks hard, else one by lot."""
    tallies = await run.knowledge.tallies(run.models.generator.model_name, seen.kind)
    tried = {attempt.strategy for attempt in run.attempts}
    shortlist: list[Strategy] = []
    for at in range(SHORTLIST):
        without = frozenset(tried | {one.name for one in shortlist})
        shortlist.append(chosen(run.knowledge.repertoire, tallies, seen.classes, run.lot(at), without=without))
    answers = list(dict.fromkeys(attempt.value for attempt in run.attempts if attempt.value is not None))
    if seen.difficulty < policy.monitor_from or len(answers) < 2:
        run.say("monitor", f'Strategy "{shortlist[0].name}", by lot among those that fit ({", ".join(seen.classes)}).')
        return shortlist[0]
    prompt = prompts.choose(run.problem, answers, shortlist)
    made = await run.ask("monitor", prompt, model=run.monitor, max_tokens=CHOICE_TOKENS, temperature=0.0, index=index)
    named = replace(run.knowledge, repertoire=tuple(shortlist)).named(made.text) if made is not None else None
    picked = named or shortlist[0]
    run.say("monitor", f'Difficulty {seen.difficulty:.2f} at first sight; the Monitor chose "{picked.name}".')
    return picked


def _recompute(run: Run, attempt: Attempt | None) -> None:
    """Put right what can be computed: by its program where its words compute nothing, else by its equations."""
    if attempt is None:
        return
    is_number = attempt.answer is None or attempt.answer.number is not None
    if is_number and not attempt.claims and (value := guessed(attempt.reasoning)) is not None:
        run.change(replace(attempt, answer=value, computed=True))
        run.say("arithmetic", f"The program in attempt {attempt.number} comes to {value.value}.")
    else:
        _repair(run, attempt)


def _repair(run: Run, attempt: Attempt) -> None:
    """Put right an answer that follows from wrong arithmetic."""
    if attempt.answer is None or attempt.answer.number is None or not attempt.wrong:
        return
    value = corrected(attempt.claims, attempt.answer.number)
    if value != attempt.answer.number:
        run.change(replace(attempt, answer=of_number(value), repaired=True))
        run.say(
            "arithmetic", f"With its arithmetic put right, attempt {attempt.number} comes to {of_number(value).value}."
        )


async def _learn(run: Run, seen: Features, answer: str) -> None:
    for attempt in run.attempts:
        model = run.models.generator.model_name
        await run.knowledge.learn(model, seen.kind, attempt.strategy, attempt.shown == answer)


def _verdict(run: Run, best: Standing, sure: float) -> Verdict:
    confidences = {"combined": sure, "agreement": len(best.attempts) / len(run.attempts)}
    likelihoods = [one.likelihood.confidence for one in best.attempts if one.likelihood is not None]
    if likelihoods:
        confidences["likelihood"] = sum(likelihoods) / len(likelihoods)
    return Verdict(
        answer=best.answer,
        confidence=sure,
        confidences=confidences,
        chosen=best.attempts[0].number,
    )


def _told(standing: tuple[Standing, ...]) -> str:
    return "Votes so far: " + ", ".join(f"{one.answer} with {one.share:.2f}" for one in standing[:4]) + "."


def _agreement(best: Standing) -> str:
    kinds = list(dict.fromkeys(attempt.strategy or attempt.kind for attempt in best.attempts))
    return f"{len(best.attempts)} attempts agree ({', '.join(kinds)}), with {best.share:.2f} of the votes"
