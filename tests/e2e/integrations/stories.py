"""What a model does in the stories that each framework's agent is put through."""

from typing import Any

from fake import Json, Reply

FACT = "My sister Ana lives in Lisbon."
QUESTION = "Where does my sister Ana live?"
IGNORES = "I have no idea where your sister lives, and nothing was said about it."
TWO_QUESTIONS = "How long does the train from Lisbon to Porto take? And what does a first-class ticket cost?"
HALF = "The train from Lisbon to Porto takes about three hours."
SAID_TO_KNOW = "These facts bear directly on this; answer with them."
ERROR = '{"isError": true, "content": [{"type": "text", "text": "relation users does not exist"}]}'
COUNT = "How many users does the database hold? Count them."
TURNS = 10


def knows(_: Json) -> Reply:
    """A healthy model without tools."""
    return "Your sister Ana lives in Lisbon."


def ignores(_: Json) -> Reply:
    """Passes over what memory holds."""
    return IGNORES


def insists(body: Json) -> Reply:
    """Calls the same tool until it has failed six times, then answers."""
    results = [m for m in body["messages"] if m["role"] == "tool" or _results(m)]
    if len(results) >= 6:
        return "I could not count them: the table is missing."
    return [("query", {"sql": f"select count(*) from users where shard = {len(results)}"})]


def parallel(body: Json) -> Reply:
    """Calls two tools at once, then answers."""
    if any(m["role"] == "tool" or _results(m) for m in body["messages"]):
        return "There are two rooms free on both days."
    return [("rooms", {"day": "monday"}), ("rooms", {"day": "tuesday"})]


def raising(body: Json) -> Reply:
    """Calls a tool that raises."""
    del body
    return [("broken", {})]


def _results(message: Json) -> list[Any]:
    content: Any = message["content"]
    return (
        [p for p in content if isinstance(p, dict) and p.get("type") == "tool_result"]
        if isinstance(content, list)
        else []
    )


def shared(sent: list[str]) -> float:
    """Share of what was sent that is the beginning of what was sent before."""

    def common(one: str, other: str) -> int:
        return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))

    return sum(map(common, sent, sent[1:])) / sum(map(len, sent[1:]))
