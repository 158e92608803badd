"""Self-Refine (Madaan et al. 2023) as their repository runs it on GSM8K.

Solutions are programs: the first greedy, within 300 tokens. Then one reply at temperature 0.7, within 600 tokens,
both criticises and rewrites, with all that was written before in the prompt; it ends when the criticism says that the
program is correct, after four programs at most. What differs: a program is computed by our own evaluator, not
executed, and one that cannot be computed is an attempt without an answer; theirs left such problems out. The first
program is asked for as `insula` asks for its own, since models that chat write prose after "def solution():".
"""

import re

from insula.solve import prompts
from insula.solve.method import method
from insula.solve.programs import computed, program_in
from insula.solve.run import Run
from insula.solve.solution import End, Verdict

ATTEMPTS = 4
FIRST_TOKENS, REFINE_TOKENS = 300, 600
FIRST_TEMPERATURE, REFINE_TEMPERATURE = 0.0, 0.7
CORRECT = re.compile(r"it is correct\W*$", re.IGNORECASE | re.MULTILINE)
"""At the end of a line: a small model also repeats the request, which names these words."""


def last(run: Run) -> Verdict:
    """The last program that could be computed; the method has no confidence of its own."""
    answered = [attempt for attempt in run.attempts if attempt.value is not None]
    if not answered:
        return Verdict(answer=None)
    final = answered[-1]
    confidences = {} if final.likelihood is None else {"likelihood": final.likelihood.confidence}
    return Verdict(answer=final.shown, confidences=confidences, chosen=final.number)


def fenced(program: str) -> str:
    """A program as the prompt shows one."""
    return f"```python\n{program}\n```"


@method(last)
async def self_refine(run: Run) -> End:
    """A program, criticised and rewritten until the critic is content."""
    made = await run.ask(
        "program", prompts.program(run.problem), max_tokens=FIRST_TOKENS, temperature=FIRST_TEMPERATURE
    )
    program = program_in(made.text) if made else ""
    run.attempted("program", made, computed(program), reasoning=program)
    history = [fenced(program)]
    for index in range(1, ATTEMPTS):
        made = await run.ask(
            "refine",
            prompts.refine(run.problem, history),
            max_tokens=REFINE_TOKENS,
            temperature=REFINE_TEMPERATURE,
            index=index,
        )
        if made is None:
            continue
        if CORRECT.search(made.text):
            run.say("verify", f"The critic holds attempt {len(run.attempts)} to be correct.")
            return End("accepted", "the critic found nothing wrong")
        run.say("verify", f"The critic rewrote attempt {len(run.attempts)}.")
        if program := program_in(made.text):
            run.attempted("program", made, computed(program), reasoning=program)
        history.append(made.text)
    return End("done", f"{ATTEMPTS} programs did not content the critic", stuck=True)
