"""What the models are told. The problem is data: it stands first or in tags, and what is wanted of the model last.

The prompts of `mgv` follow the paper (Oh and Gobet 2025) word for word where it gives them; those of the baselines
follow their papers, with examples of our own.
"""

from collections.abc import Mapping, Sequence

from insula.llm.client import Prompt
from insula.memory.storage.rows import Tally
from insula.solve.knowledge import Knowledge, Strategy
from insula.solve.solution import Attempt

AGAIN = "That cannot be used: {form} is missing.\nAnswer again in the required form, and write nothing else."

# Every baseline's chain, and the first attempt of `insula`: the same to the letter, so that they share replies.

CHAIN = "{problem}\n\nPlease reason step by step, and put your final answer within \\boxed{{}}."

# insula

# The comments carry the reasoning: with an example that had shorter ones, a small model did worse.
PROGRAM = """\
Question: Mia buys 4 notebooks at $3 each and 2 pens for half the price of a notebook each. She pays with a $20 note.
How much change does she get?

```python
# Mia buys 4 notebooks at $3 each.
notebooks = 4
notebook_price = 3
notebooks_cost = notebooks * notebook_price
# A pen costs half of a notebook, which is 3 / 2.
pens = 2
pen_price = notebook_price / 2
pens_cost = pens * pen_price
# The change is what is left of the $20 after both.
paid = 20
answer = paid - notebooks_cost - pens_cost
```

Question: {problem}

Write the program for this question in the same way: a comment that reasons before each step, then assignments with
numbers, names and arithmetic only, the last of them to `answer`."""

STRATEGY = """\
{problem}

Solve this by the following approach: {name}.
{how}
Write every calculation as an equation with numbers. Put your final answer within \\boxed{{}}."""

CHOOSE = """\
Problem: {problem}

Two solutions of this problem came to different answers: {answers}.
Which approach would help most to decide it?

{catalogue}

Reply with the number of one approach and nothing else."""

# mgv

MONITOR = """\
You plan how a problem will be solved. You do not solve it.

What is known of the solver: it is a language model that reasons in writing. It is good at planning and language; it
slips in long calculations, in what a percentage or fraction is taken of, and in answering another question than is
asked.
What is known of tasks: a task is harder the more steps depend on one another, the more quantities it names that are
not needed, and the less directly it says how they are related.
What is known of strategies (name: when it fits{recorded}):
{catalogue}"""

MONITOR_ASKS = """\
Problem: {problem}
{previous}
Assess:
- task_features: what kind of task this is and what makes it easy or hard, in one sentence.
- difficulty: a whole number from 0 (trivial) to 100 (hardly solvable).
- strategy: the name of the one strategy from the list that fits best."""

BEFORE = """
The previous attempt was felt as difficulty {difficulty} and used the strategy "{strategy}".
Its solution was judged: coherence {coherence:.1f}, plausibility {plausibility:.1f}, consistency {consistency:.1f},
goal-conduciveness {goal_conduciveness:.1f}.
Evaluation: {evaluation}
{advice}
"""
REVISE = "Keep that strategy, and raise the difficulty if the low scores call for more care."
SWITCH = "Choose another strategy than that, and raise the difficulty if the low scores call for more care."

EXECUTE = """\
Problem: {problem}

Strategy: {name}
{how}

Output format:
<think>
Work through the problem step by step using the {name} approach. Show all calculations and reasoning.
{previous}</think>
<answer>
Output only the final numerical answer (no units or text).
</answer>"""

PREVIOUS_CYCLE = """
previous_cycle:
difficulty: {difficulty}
task_features: {features}
strategy_used: {strategy}
reasoning: {reasoning}
evaluation_scores:
coherence: {coherence:.1f}
plausibility: {plausibility:.1f}
consistency: {consistency:.1f}
goal_conduciveness: {goal_conduciveness:.1f}
evaluation: {evaluation}
"""

VERIFY = """\
Problem: {problem}

Solution: {solution}

Evaluate this solution on these dimensions (0-1 scale):
1. COHERENCE: Do the steps logically connect?
2. PLAUSIBILITY: Is the approach reasonable?
3. CONSISTENCY: Are calculations correct?
4. GOAL-CONDUCIVENESS: Does it answer the question?

Output format:
<evaluate>
Coherence: X.X
Plausibility: X.X
Consistency: X.X
Goal-conduciveness: X.X
Evaluation: [Provide a 2-3 sentence analysis explaining the scores. Identify specific errors or strengths. For low
scores, indicate what went wrong (e.g., "arithmetic error in step 3", "misunderstood the question", "skipped crucial
reasoning"). For high scores, note what worked well. Be specific and actionable.]
</evaluate>"""

# Self-Refine (Madaan et al. 2023, GSM): programs, with criticism and a better program in one reply

REFINE_FEEDBACK = """\
Question: A box holds 6 eggs. Tom buys 5 boxes and breaks 4 eggs. How many whole eggs has he?

```python
# A box holds 6 eggs.
eggs_per_box = 6
boxes = 5
broken = 4
eggs = eggs_per_box + boxes
answer = eggs - broken
```

There may be an error in the code above. Go through it line by line and check each against the question; then write
the code anew.

`eggs` adds the boxes to the eggs of one box. Five boxes of six eggs are 5 * 6 eggs. This is wrong.

```python
# A box holds 6 eggs.
eggs_per_box = 6
boxes = 5
broken = 4
eggs = eggs_per_box * boxes
answer = eggs - broken
```

There may be an error in the code above. Go through it line by line and check each against the question; then write
the code anew.

Each line follows from the question, and the answer is the whole eggs. It is correct!

Question: {problem}

{history}

There may be an error in the code above. Go through it line by line and check each against the question; then write
the code anew. If no line is wrong, write "It is correct!" instead."""

# Self-Verification (Weng et al. 2022): an answer as a statement, a number masked, and found again or not

STATE = """\
Question: {question}
Answer: {answer}

Rewrite the question and its answer as one declarative sentence that states the answer as a fact. Write that sentence
and nothing else."""

RECOVER = """\
{masked} {statement}

What is the value of X? Reason step by step, and put the value within \\boxed{{}}."""


def chain(problem: str) -> Prompt:
    """The plain chain of thought."""
    return Prompt(prompt=CHAIN.format(problem=problem))


def program(problem: str) -> Prompt:
    """A straight-line program, which is computed here."""
    return Prompt(prompt=PROGRAM.format(problem=problem))


def by_strategy(problem: str, strategy: Strategy) -> Prompt:
    """A chain by a strategy of the repertoire."""
    return Prompt(prompt=STRATEGY.format(problem=problem, name=strategy.name, how=strategy.how))


def choose(problem: str, answers: Sequence[str], shortlist: Sequence[Strategy]) -> Prompt:
    """Which approach would decide between answers."""
    catalogue = "\n".join(f"{at}. {one.name}: fits problems {one.when}" for at, one in enumerate(shortlist, 1))
    return Prompt(prompt=CHOOSE.format(problem=problem, answers=" and ".join(answers), catalogue=catalogue))


def monitor(
    problem: str, knowledge: Knowledge, tallies: Mapping[str, Tally], previous: Attempt | None, advice: str
) -> Prompt:
    """Difficulty, features and a strategy, from what is known and from the previous cycle."""
    catalogue = "\n".join(_entry(one, tallies.get(one.name)) for one in knowledge.repertoire)
    recorded = "; how often it led to an accepted solution of such a problem" if tallies else ""
    before = "" if previous is None else BEFORE.format(**_cycle(previous), advice=advice)
    return Prompt(
        instructions=MONITOR.format(catalogue=catalogue, recorded=recorded),
        prompt=MONITOR_ASKS.format(problem=problem, previous=before),
    )


def execute(problem: str, strategy: Strategy, previous: Attempt | None) -> Prompt:
    """A solution by a strategy, from the second cycle on with the whole previous one."""
    before = "" if previous is None else PREVIOUS_CYCLE.format(**_cycle(previous))
    return Prompt(
        prompt=EXECUTE.format(problem=problem, name=strategy.name, how=strategy.how, previous=before),
    )


def verify(problem: str, solution: str) -> Prompt:
    """Four scores and an evaluation."""
    return Prompt(prompt=VERIFY.format(problem=problem, solution=solution))


def refine(problem: str, history: Sequence[str]) -> Prompt:
    """Criticism and a better program, after all that was written so far."""
    return Prompt(prompt=REFINE_FEEDBACK.format(problem=problem, history="\n\n".join(history)))


def state(question: str, answer: str) -> Prompt:
    """A question and its answer as a statement."""
    return Prompt(prompt=STATE.format(question=question, answer=answer))


def recover(masked: str, statement: str) -> Prompt:
    """Which number was masked, if the statement is true."""
    return Prompt(prompt=RECOVER.format(masked=masked, statement=statement))


def _entry(strategy: Strategy, tally: Tally | None) -> str:
    record = f" ({tally.successes} of {sum(tally)})" if tally else ""
    return f"- {strategy.name}: problems {strategy.when}{record}"


def _cycle(attempt: Attempt) -> dict[str, object]:
    """What a prompt says of a cycle."""
    scores = attempt.scores
    parts = ("coherence", "plausibility", "consistency", "goal_conduciveness")
    return {
        **{part: getattr(scores, part) if scores else 0.0 for part in parts},
        "difficulty": f"{attempt.difficulty or 0.0:.2f}",
        "features": attempt.features,
        "strategy": attempt.strategy,
        "reasoning": attempt.reasoning,
        "evaluation": attempt.evaluation or "the solution could not be read",
    }
