"""Insula's own method (M10): cheap and unlike attempts first, recomputed, until their agreement can be relied on.

The first attempt is the same plain chain that every baseline begins with. The second is of another kind: a
straight-line program that our evaluator computes, which costs as much and errs elsewhere. Where both come to one
answer and their arithmetic holds, it ends there. Else it goes on, with chains from the common series and strategies of
the repertoire, and the answers are weighed by `votes`. A chain that writes a program and says what it would print has
guessed that, so the program is computed here. The Monitor is asked only where the attempts differ and the
problem looks hard; below that a strategy is drawn from what is known of the strategies.
"""

from dataclasses import replace

from insula.solve import prompts
from insula.solve.answers import of_number
from insula.solve.claims import corrected
from insula.solve.features import Features, features
from insula.solve.knowledge import Strategy, chosen
from insula.solve.method import Method, method
from insula.solve.programs import computed, guessed, program_in
from insula.solve.run import CHAIN_TEMPERATURE, CHAIN_TOKENS, Run
from insula.solve.solution import Attempt, End, Kind, Verdict
from insula.solve.votes import Policy, Standing, confidence, raised, settled, shares, standings

UNLIKE: tuple[Kind, ...] = ("chain", "program", "chain", "strategy", "chain", "chain", "chain", "strategy")
"""The kinds of the first attempts; then come chains. Where there is nothing to compute with, a strategy stands in for
the program. A second program is not worth its tokens: where the first had not settled it, 5 of 28 were right, and 15 of
39 chains (docs/benchmarks/gsm8k.md)."""
PROGRAM_TOKENS = 300
"""Those of the small reasoner have 160 on average."""
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
        return _verdict(run, standing[0], raised(confidence(standing, run.attempts, seen, policy), policy))

    @method(concluded, abstain_below=policy.abstain)
    async def insula(run: Run) -> End:
        """Unlike attempts, recomputed and weighed, until two that can be relied on agree."""
        seen = features(run.problem)
        counts: dict[Kind, int] = {"chain": 0, "program": 0, "strategy": 0}
        for at in range(policy.attempts):
            kind = UNLIKE[at] if at < len(UNLIKE) else "chain"
            kind = "strategy" if kind == "program" and not seen.is_computable else kind
            await _attempt(run, kind, counts[kind], seen, policy)
            counts[kind] += 1
            standing = standings(run.attempts, seen, policy)
            if standing:
                run.say("vote", _told(standing), **shares(standing))
            if settled(standing, policy):
                await _learn(run, seen, standing[0].answer)
                return End("agreed", _agreement(standing[0]))
        return End("done", f"{policy.attempts} attempts are made", stuck=True)

    return insula


insula = tuned(Policy())


async def _attempt(run: Run, kind: Kind, index: int, seen: Features, policy: Policy) -> None:
    match kind:
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
        max_tokens=CHAIN_TOKENS,
        temperature=CHAIN_TEMPERATURE,
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
        await run.knowledge.learn(model, seen.kind, attempt.strategy, attempt.value == answer)


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
