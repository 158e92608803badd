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

from insula_solve.amounts import satisfies_equation
from insula_solve.answers import answer_with_number, compute_program, compute_program_in
from insula_solve.claims import compute_stated_value, correct_answer
from insula_solve.features import ProblemFeatures, read_features
from insula_solve.knowledge import Strategy, draw_strategy
from insula_solve.method import Method, make_method
from insula_solve.programs import find_program
from insula_solve.prompts import ask_choice, ask_strategy, make_prompt
from insula_solve.run import CHAIN_TOKENS, SolveRun
from insula_solve.solution import Attempt, Kind, MethodEnd, MethodVerdict
from insula_solve.verification import ONCE, SURE, answer_once, conclude_once
from insula_solve.votes import (
    AnswerStanding,
    VotePolicy,
    estimate_confidence,
    is_settled,
    is_sure,
    list_shares,
    raise_confidence,
    rank_answers,
)

UNLIKE: tuple[Kind, ...] = ("chain", "program", "chain", "strategy", "chain", "chain", "chain", "strategy")
"""The kinds of the first attempts; then come chains. Where there is nothing to compute with, a strategy stands in for
the program. A second program is not worth its tokens: where the first had not settled it, 5 of 28 were right, and 15 of
39 chains (docs/benchmarks/gsm8k.md)."""
PROGRAM_TOKENS = 300
"""Those of the small reasoner have 160 on average."""
SHORTLIST = 6
"""Strategies that the Monitor is shown."""
CHOICE_TOKENS = 16


def build_method(policy: VotePolicy) -> Method:
    """The method with other figures to decide by."""

    def conclude_first(run: SolveRun) -> MethodVerdict:
        seen = read_features(run.problem)
        standing = rank_answers(run.attempts, seen, policy)
        if run.form in ONCE or not standing:
            return conclude_once(run)
        if (proven := _find_proven(run, standing)) is not None:
            return _make_verdict(run, proven, SURE)
        sure = estimate_confidence(standing, run.attempts, seen, policy)
        return _make_verdict(run, standing[0], sure if len(run.attempts) == 1 else raise_confidence(sure, policy))

    @make_method(conclude_first, abstain_below=policy.abstain)
    async def insula(run: SolveRun) -> MethodEnd:
        """Unlike attempts, recomputed and weighed, until two that can be relied on agree."""
        seen = read_features(run.problem)
        counts: dict[Kind, int] = {"plain": 0, "chain": 0, "program": 0, "strategy": 0}
        most = run.limits.attempts or policy.attempts
        for at in range(most):
            kind: Kind = UNLIKE[at] if at < len(UNLIKE) else "chain"
            kind = "plain" if at == 0 and not _wants_number(run, seen) else kind
            kind = "strategy" if kind == "program" and not seen.is_computable else kind
            await _make_attempt(run, kind, counts[kind], seen, policy)
            counts[kind] += 1
            if run.form in ONCE:
                return await answer_once(run)
            standing = rank_answers(run.attempts, seen, policy)
            if _find_proven(run, standing):
                return MethodEnd("accepted", "the problem itself says that it is right")
            if at == 0 and run.attempts and is_sure(run.attempts[0], seen, policy) and not _is_stated(run):
                return MethodEnd("accepted", "the first attempt is enough for this problem")
            if standing:
                run.add_step("vote", _describe_votes(standing), **list_shares(standing))
            if is_settled(standing, policy):
                await _learn_outcomes(run, seen, standing[0].answer)
                return MethodEnd("agreed", _describe_agreement(standing[0]))
        return MethodEnd("done", f"{most} attempts are made", stuck=True)

    return insula


insula = build_method(VotePolicy())


def _wants_number(run: SolveRun, seen: ProblemFeatures) -> bool:
    """Whether a problem wants a number that several others come to."""
    return run.form == "number" and seen.is_computable and not _is_stated(run)


def _is_stated(run: SolveRun) -> bool:
    """Whether the problem itself says what comes out: an expression with a value."""
    return run.form == "number" and compute_stated_value(run.problem) is not None


def _find_proven(run: SolveRun, standing: Sequence[AnswerStanding]) -> AnswerStanding | None:
    """The answer that the problem itself proves: its expression comes to it, or its equation holds with it."""
    value = compute_stated_value(run.problem) if run.form == "number" else None
    for each in standing:
        answer = each.attempts[0].answer
        if answer is None:
            continue
        if value is not None and answer.number is not None and answer.number == value:
            return each
        if run.form == "expression" and satisfies_equation(run.problem, answer.value):
            return each
    return None


async def _make_attempt(run: SolveRun, kind: Kind, index: int, seen: ProblemFeatures, policy: VotePolicy) -> None:
    match kind:
        case "plain":
            await run.attempt_plain()
        case "chain":
            _recompute_attempt(run, await run.attempt_chain(index))
        case "program":
            made = await run.ask_model(
                "program", make_prompt("program", problem=run.problem), max_tokens=PROGRAM_TOKENS, temperature=0.0
            )
            if made is not None:
                program = find_program(made.text)
                run.note_attempt("program", made, compute_program(program), reasoning=program)
        case "strategy":
            _recompute_attempt(run, await _by_strategy(run, index, seen, policy))


async def _by_strategy(run: SolveRun, index: int, seen: ProblemFeatures, policy: VotePolicy) -> Attempt | None:
    strategy = await _choose_strategy(run, index, seen, policy)
    made = await run.ask_model(
        "strategy",
        ask_strategy(run.problem, strategy),
        max_tokens=run.limits.tokens or CHAIN_TOKENS,
        temperature=run.choose_temperature(1),
        index=index,
    )
    if made is None:
        return None
    return run.note_attempt("strategy", made, strategy=strategy.name, difficulty=seen.difficulty)


async def _choose_strategy(run: SolveRun, index: int, seen: ProblemFeatures, policy: VotePolicy) -> Strategy:
    """A strategy that was not tried yet: the Monitor's where the problem looks hard, else one by lot."""
    tallies = await run.knowledge.read_tallies(run.models.generator.model_name, seen.kind)
    tried = {attempt.strategy for attempt in run.attempts}
    shortlist: list[Strategy] = []
    for at in range(SHORTLIST):
        without = frozenset(tried | {each.name for each in shortlist})
        shortlist.append(
            draw_strategy(run.knowledge.repertoire, tallies, seen.classes, run.draw_seed(at), without=without)
        )
    answers = list(dict.fromkeys(attempt.value for attempt in run.attempts if attempt.value is not None))
    if seen.difficulty < policy.monitor_from or len(answers) < 2:
        run.add_step(
            "monitor", f'Strategy "{shortlist[0].name}", by lot among those that fit ({", ".join(seen.classes)}).'
        )
        return shortlist[0]
    asked = ask_choice(run.problem, answers, shortlist)
    made = await run.ask_model(
        "monitor", asked, model=run.monitor, max_tokens=CHOICE_TOKENS, temperature=0.0, index=index
    )
    named = replace(run.knowledge, repertoire=tuple(shortlist)).find_strategy(made.text) if made is not None else None
    picked = named or shortlist[0]
    run.add_step("monitor", f'Difficulty {seen.difficulty:.2f} at first sight; the Monitor chose "{picked.name}".')
    return picked


def _recompute_attempt(run: SolveRun, attempt: Attempt | None) -> None:
    """Put right what can be computed: by its program where its words compute nothing, else by its equations."""
    if attempt is None:
        return
    is_number = attempt.answer is None or attempt.answer.number is not None
    if is_number and not attempt.claims and (value := compute_program_in(attempt.reasoning)) is not None:
        run.change_attempt(replace(attempt, answer=value, computed=True))
        run.add_step("arithmetic", f"The program in attempt {attempt.number} comes to {value.value}.")
    else:
        _repair_arithmetic(run, attempt)


def _repair_arithmetic(run: SolveRun, attempt: Attempt) -> None:
    """Put right an answer that follows from wrong arithmetic."""
    if attempt.answer is None or attempt.answer.number is None or not attempt.wrong:
        return
    value = correct_answer(attempt.claims, attempt.answer.number)
    if value != attempt.answer.number:
        run.change_attempt(replace(attempt, answer=answer_with_number(value), repaired=True))
        run.add_step(
            "arithmetic",
            f"With its arithmetic put right, attempt {attempt.number} comes to {answer_with_number(value).value}.",
        )


async def _learn_outcomes(run: SolveRun, seen: ProblemFeatures, answer: str) -> None:
    for attempt in run.attempts:
        model = run.models.generator.model_name
        await run.knowledge.learn_outcome(model, seen.kind, attempt.strategy, attempt.shown == answer)


def _make_verdict(run: SolveRun, best: AnswerStanding, sure: float) -> MethodVerdict:
    confidences = {"combined": sure, "agreement": len(best.attempts) / len(run.attempts)}
    likelihoods = [attempt.likelihood.confidence for attempt in best.attempts if attempt.likelihood is not None]
    if likelihoods:
        confidences["likelihood"] = sum(likelihoods) / len(likelihoods)
    number = best.attempts[0].number
    return MethodVerdict(answer=best.answer, confidence=sure, confidences=confidences, chosen=number)


def _describe_votes(standing: tuple[AnswerStanding, ...]) -> str:
    return "Votes so far: " + ", ".join(f"{each.answer} with {each.share:.2f}" for each in standing[:4]) + "."


def _describe_agreement(best: AnswerStanding) -> str:
    kinds = list(dict.fromkeys(attempt.strategy or attempt.kind for attempt in best.attempts))
    return f"{len(best.attempts)} attempts agree ({', '.join(kinds)}), with {best.share:.2f} of the votes"
