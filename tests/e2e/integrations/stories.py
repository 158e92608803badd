"""What a model does in the stories that each framework's agent is put through."""

from itertools import pairwise
from os.path import commonprefix

from fake import Json, Reply, results

SYSTEM = "You are Acme, who helps travellers. " + 8 * (
    "Answer in a few friendly sentences, name prices in euro, and say where a figure may be out of date. "
)
FACT = "My sister Ana lives in Lisbon."
QUESTION = "Where does my sister Ana live?"
TWO_QUESTIONS = "How long does the train from Lisbon to Porto take? And what does a first-class ticket cost?"
HALF = "The train from Lisbon to Porto takes about three hours."
TOLD_BEFORE = "From earlier conversations with the user, likeliest first:"
ERROR = '{"isError": true, "content": [{"type": "text", "text": "relation users does not exist"}]}'
COUNT = "How many users does the database hold? Count them."


def query(sql: str) -> str:
    """Ask the database."""
    del sql
    return ERROR


def rooms(day: str) -> str:
    """Free rooms on a day."""
    return f"{day}: 2"


def broken() -> str:
    """Raises."""
    raise ZeroDivisionError("the tool is broken")


def knows(_: Json) -> Reply:
    """A healthy model without tools."""
    return "Your sister Ana lives in Lisbon."


def insists(body: Json) -> Reply:
    """Calls the same tool until it has failed six times, then answers."""
    done = len(results(body))
    if done >= 6:
        return "I could not count them: the table is missing."
    return [("query", {"sql": f"select count(*) from users where shard = {done}"})]


def parallel(body: Json) -> Reply:
    """Calls two tools at once, then answers."""
    if results(body):
        return "There are two rooms free on both days."
    return [("rooms", {"day": "monday"}), ("rooms", {"day": "tuesday"})]


def raising(body: Json) -> Reply:
    """Calls a tool that raises."""
    del body
    return [("broken", {})]


def talks(body: Json) -> Reply:
    """Answers at length."""
    del body
    return "Start with the old town and its market in the morning, then take the tram up the hill to the castle. " * 5


CHAT = (
    "I am going to Lisbon with my sister Ana next month.",
    "What should we see on the first day?",
    "Is the castle worth it?",
    "Ana does not eat fish. Where could we have dinner?",
    "How much is a tram ticket?",
    "And a day ticket?",
    "What is the weather like in May?",
    "Which day trip would you take?",
    "How long is the train to Sintra?",
    "Thanks! Anything that we should book before we leave?",
)


def shared(sent: list[str]) -> float:
    """Share of what was sent that is the beginning of what was sent before."""
    return sum(len(commonprefix(two)) for two in pairwise(sent)) / sum(map(len, sent[1:]))  # noqa: RUF071 texts
