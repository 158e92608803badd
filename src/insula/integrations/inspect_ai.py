"""Insula's ways to solve a problem as solvers of Inspect, so that anyone can run them on any task of theirs.

    inspect eval inspect_evals/gsm8k --solver insula/mgv -S tokens=6400 --model openai/gpt-5-mini

Every request goes through Inspect's models, so that its usage, cache, limits and logs hold for them. `--model-role
monitor=…` and `verifier=…` give these tasks to other models. What a solver found out stands in the sample's metadata
under `insula`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from insula.errors import BudgetExceeded, ModelUnavailable
from insula.integrations.guest import import_extra
from insula.llm.budget import Account, Budget
from insula.llm.callback import CallbackModel
from insula.llm.wire import Prompt, Response, Settings
from insula.text.analysis import clean_text

if TYPE_CHECKING:
    from insula_solve import Solution

NAME, RANGE = "Inspect", "inspect-ai>=0.3.285"
_model: Any = import_extra("inspect_ai.model", NAME, RANGE)
_solver: Any = import_extra("inspect_ai.solver", NAME, RANGE)
_util: Any = import_extra("inspect_ai.util", NAME, RANGE)

METADATA = "insula"
TRUNCATED = frozenset({"max_tokens", "model_length"})
"""What Inspect calls the reasons of a reply that was cut off; a reply that was withheld is called what all call it."""

MakesSolver = Callable[..., Any]


def _register_solver(name: str) -> MakesSolver:
    """The method as a solver that Inspect knows as `insula/name`."""

    def make_solver(tokens: int | None = None, seed: int = 0) -> Any:
        """Solve each sample.

        Args:
            tokens: what a sample may cost, input and output together; no cap by default.
            seed: of the first epoch; the others count on.
        """

        async def solve_sample(state: Any, generate: object) -> Any:
            from insula_solve import Models, find_method  # a package of its own

            ended: list[Exception] = []
            own = _model.get_model()
            models = Models(
                generator=_bridge_model(own, ended),
                monitor=_bridge_model(_model.get_model(role="monitor", default=own), ended),
                verifier=_bridge_model(_model.get_model(role="verifier", default=own), ended),
            )
            account = Account(budget=Budget(tokens=tokens))
            solution = await find_method(name)(state.input_text, models, account, seed=seed + state.epoch - 1)
            state.metadata[METADATA] = solution_metadata(solution)
            state.output = _model.ModelOutput.from_content(str(state.model), render_solution(solution))
            if ended:
                raise ended[0]  # a limit or a failed model: Inspect scores what there is, or tries the sample again
            state.messages.append(state.output.message)
            return state

        return solve_sample

    make_solver.__name__ = make_solver.__qualname__ = name
    return _solver.solver(name=name)(make_solver)


def _bridge_model(model: Any, ended: list[Exception]) -> CallbackModel:
    """Inspect's model as one of ours. What Inspect raises is kept, and ends the method at once.

    A model that fails here has failed after all of Inspect's own tries, so that nothing is to be gained by another.
    """

    async def ask_inspect(prompt: Prompt, settings: Settings) -> Response:
        try:
            output = await model.generate(_make_messages(prompt), config=_make_config(settings))
        except _util.LimitExceededError as error:
            ended.append(error)
            raise BudgetExceeded(f"{error}; give Inspect a higher limit.") from error
        except Exception as error:
            ended.append(error)
            raise ModelUnavailable(
                f"The model {str(model)!r} failed under Inspect ({type(error).__name__})."
            ) from error
        return _read_output(output)

    return CallbackModel(str(model), ask_inspect)


def _make_messages(prompt: Prompt) -> list[Any]:
    kinds = {"user": _model.ChatMessageUser, "assistant": _model.ChatMessageAssistant}
    said = [kinds[role](content=clean_text(text)) for role, text in (*prompt.history, ("user", prompt.prompt))]
    told = clean_text(prompt.instructions)
    return [_model.ChatMessageSystem(content=told), *said] if told else said


def _make_config(settings: Settings) -> Any:
    return _model.GenerateConfig(**settings)


def _read_output(output: Any) -> Response:
    choice = output.choices[0] if output.choices else None
    logprobs = choice.logprobs if choice else None
    usage = output.usage
    return Response(
        text=output.completion,
        thinking=_read_thinking(choice.message.content) if choice else "",
        finish_reason="length" if choice and choice.stop_reason in TRUNCATED else choice and choice.stop_reason,
        input_tokens=usage.total_tokens - usage.output_tokens if usage else 0,
        output_tokens=usage.output_tokens if usage else 0,
        logprobs=tuple((token.token, token.logprob) for token in logprobs.content) if logprobs else None,
    )


def _read_thinking(content: Any) -> str:
    """What Inspect took out of the text: a reasoning field, but also `<think>` tags, which `mgv` asks for."""
    parts = [] if isinstance(content, str) else [part for part in content if part.type == "reasoning"]
    said = [(part.summary or "") if part.redacted else part.reasoning for part in parts]
    return "\n\n".join(text for text in said if text)


def render_solution(solution: "Solution") -> str:
    """The reply that Inspect scores: the reasoning that was chosen, and the answer in the last line."""
    if solution.answer is None:
        return f"There is no answer: {solution.stopped}."
    chosen = next((attempt for attempt in solution.attempts if attempt.number == solution.chosen), None)
    parts = [chosen.reasoning if chosen else "", f"ANSWER: {solution.answer}"]
    if chosen and chosen.repaired:
        parts.insert(1, f"With its arithmetic put right, it comes to {chosen.value}.")
    return "\n\n".join(part for part in parts if part)


def solution_metadata(solution: "Solution") -> dict[str, Any]:
    """What of a solution stands in the metadata."""
    spent = solution.spent
    return {
        "method": solution.method,
        "answer": solution.answer,
        "confidence": solution.confidence,
        "confidences": dict(solution.confidences),
        "attempts": len(solution.attempts),
        "ending": solution.ending,
        "stopped": solution.stopped,
        "completed": solution.completed,
        "abstained": solution.abstained,
        "unparsed": solution.unparsed,
        "calls": spent.calls,
        "tokens": spent.input_tokens + spent.output_tokens,
    }


insula = _register_solver("insula")
mgv = _register_solver("mgv")
direct = _register_solver("direct")
self_consistency = _register_solver("self_consistency")
adaptive_self_consistency = _register_solver("adaptive_self_consistency")
self_refine = _register_solver("self_refine")
self_verification = _register_solver("self_verification")
