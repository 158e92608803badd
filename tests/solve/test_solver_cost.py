"""What an easy question costs a strong model: hardly more than one plain call."""

import re

import pytest

from insula.testing import ScriptedModel
from insula_solve import METHODS, Models

pytestmark = pytest.mark.anyio

MOST = 1.5
"""Times the tokens of one plain call, for each question."""
TOGETHER = 1.05
"""And for all of them."""
TOKEN = re.compile(r"\w+|[^\w\s]")
TOM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"
REASONED = "1. Tom has 3 boxes with 4 apples each: 3 × 4 = 12.\n2. He eats 2 apples: 12 − 2 = 10.\n\n\\boxed{10}"
QUESTIONS = {
    "What is the capital of France?": "The capital of France is Paris.",
    "Who wrote Hamlet?": "Hamlet was written by William Shakespeare.",
    "How many legs does a spider have?": "A spider has **8** legs.",
    "What is 17 * 23?": "17 × 23 = 391",
    "What is 12 % of 250?": "12% of 250 is **30**.",
    "How far is 5 km in m?": "5 km = 5000 m",
    "What is 3/4 + 1/8?": "With the denominator 8: 3/4 = 6/8, and 6/8 + 1/8 = 7/8. The sum is **7/8**.",
    "Which planet is the largest? A) Mars B) Jupiter C) Venus": "B) Jupiter",
    "Solve 3x + 5 = 20": "Subtract 5: 3x = 15. Divide by 3: x = 5.\n\n**x = 5**",
    "Is 91 a prime number?": "No, 91 is not a prime number, since 91 = 7 × 13.",
    TOM: "Tom has 3 boxes with 4 apples each: 3 × 4 = 12 apples. After he eats 2, it is 12 − 2 = **10 apples**.",
    "A pen costs $2 and a book costs $7. What do 3 pens and a book cost?": "3 × $2 = $6, and $6 + $7 = **$13**.",
    "Write a Python function that reverses a string": "```python\ndef reverse(s):\n    return s[::-1]\n```",
    "List the three primary colours.": "Red, yellow and blue.",
    "Why is the sky blue?": "Air scatters the short waves of sunlight, which are blue, more than the long ones.",
    "Write a short poem about autumn.": "Leaves turn gold and red,\nthe wind hums them to bed.",
    "Translate 'good morning' into French.": "Bonjour",
    "What is the boiling point of water in Celsius?": "Water boils at 100 °C.",
    "Expand (x+1)^2": "(x + 1)^2 = x^2 + 2x + 1",
    "When did World War II end?": "World War II ended on 2 September 1945.",
}
"""A plain answer to each, as a strong model gives it, with no log-probabilities."""


def count(text: str) -> int:
    """Tokens of a text: a word or a sign each."""
    return len(TOKEN.findall(text))


async def test_easy_questions_cost_hardly_more_than_one_plain_call_each() -> None:
    spent: dict[str, tuple[int, int]] = {}
    for question, plain in QUESTIONS.items():
        replies = {question: plain}
        model = ScriptedModel(lambda request, replies=replies: replies.get(request.prompt, REASONED), logprob=None)
        solved = await METHODS["insula"](question, Models(generator=model))
        assert solved.answer, question
        sent = [request.prompt for request in model.requests]
        ours = sum(count(prompt) + count(replies.get(prompt, REASONED)) for prompt in sent)
        spent[question] = ours, count(question) + count(plain)
        assert ours <= MOST * spent[question][1], question
    assert sum(ours for ours, _ in spent.values()) <= TOGETHER * sum(plain for _, plain in spent.values())
