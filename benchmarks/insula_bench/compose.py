"""Made-up messages with labels, from templates and word lists, to train small heads on sentence vectors.

Templates in the eight languages of `compose/{language}.json` are filled from word lists, joined with others, and put
into the shapes in which people write: dictated, in lower case, with typos. The labels follow the parts. All is decided
by the seed alone:

    python -m insula_bench.compose --count 20 --language de --kind personal
"""

import argparse
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TypedDict

FOLDER = Path(__file__).parent / "compose"
JOINERS = "joiners"

# How a template comes with others, and the share of the messages made so, where the template's kind allows it.
JOINED = {
    "alone": 0.40,
    "greeting": 0.09,
    "thanks": 0.07,
    "other before": 0.07,
    "other after": 0.09,
    "list": 0.05,
    "pasted below": 0.06,
    "own statement": 0.09,
    "quoted": 0.08,
}
# How the message is written down, and the share of the messages written so.
MANNERS = {"plain": 0.59, "lower": 0.11, "dictated": 0.08, "typos": 0.10, "emoji": 0.04, "short": 0.08}

# What no other part goes with.
BRIEF = {"thanks", "follow_up", "correction", "general"}
# What changes no label beside another part.
COMPANY = {"world", "request"}
# What stays what it is where the user states a fact beside it.
WITH_STATEMENT = {"personal", "preference"}
# What is not the user's own in a mail of somebody else.
QUOTED = {"statement", "personal", "preference"}
EMOJI = ("😅", "🙂", "🙏", "😂", "🤔", "❤️", "👍", "😩")

TRIES = 12
LONGEST_QUOTATION = 220
SHORTEST_MISSPELT = 5
MARKED = re.compile(r"⟦([^⟦⟧]*)⟧")
SLOT = re.compile(r"\{([^\W\d]\w*?)(\d*)\}")
ENDED = re.compile(r"[.!?…:,;)\"”“»」。！？、，：）]$")
SENTENCE_START = re.compile(r"(?:^|[.!?]\s)[\s⟦\"“„«¿¡(]*$")
PAUSE = re.compile(r"[.,;:!?…]+(?=[\s⟦⟧\"“”„«»]|$)|[\"“”„«»¿¡「」。、，！？：；]|\s[–—-](?=\s)")
CODE = re.compile(r"[`{}<>=\\\[\]]|\(\)|\n")


class State(TypedDict):
    """What a template says about a marked span: the fields of `Span`, with slots."""

    owner: str
    matter: str
    value: str
    polarity: str
    modality: str


class _Named(TypedDict):
    kind: str
    group: str
    text: str


class Template(_Named, total=False):
    """A message with slots."""

    states: list[State]
    scope: str
    slot: str


class Table(TypedDict):
    """The templates and word lists of a language."""

    language: str
    vocabulary: dict[str, list[str]]
    templates: list[Template]


class Joiners(TypedDict):
    """What goes between the parts of a message in a language."""

    space: str
    stop: str
    spelt: bool
    greetings: list[str]
    links: list[str]
    thanks: list[str]
    asks: list[str]
    mails: list[str]
    names: list[str]
    short: dict[str, str]


@dataclass(frozen=True, slots=True)
class Span:
    """A statement in a message.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        owner: Whom it is about: "user", or the words for somebody else.
        matter: What it is about, in a word.
        value: What it says.
        polarity: "+" or "-".
        modality: "fact", "plan", "doubt" or "past".
    """

    start: int
    end: int
    owner: str
    matter: str
    value: str
    polarity: str
    modality: str


@dataclass(frozen=True, slots=True)
class Composed:
    """A message and its labels.

    Attributes:
        text: The message.
        language: Its language.
        kind: What it is.
        group: The template that gave it its kind.
        names: The half of the word lists that filled it.
        spans: What it states.
        scope: When a preference holds: "all", or the condition in words.
        slot: What a preference is about, or what limits a good answer.
        beside: The templates of its other parts.
        ways: How it was joined and written down, where that is out of the ordinary.
    """

    text: str
    language: str
    kind: str
    group: str
    names: str
    spans: tuple[Span, ...] = ()
    scope: str = ""
    slot: str = ""
    beside: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that is being made: its spans are still marked in the text.

    Attributes:
        text: The text, with ⟦ and ⟧ around what `states` says.
        kind: What it is.
        states: What the marked spans say, in order.
        beside: The templates of its other parts.
    """

    text: str
    kind: str
    states: tuple[State, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Writer:
    """What the parts of a message are made from.

    Attributes:
        table: The templates and word lists of the language.
        joiners: What goes between parts.
        half: The half of the word lists to fill from, 0 or 1.
        dice: Where chance comes from.
        filled: The half of each word list.
    """

    table: Table
    joiners: Joiners
    half: int
    dice: random.Random
    filled: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        """Halve the word lists."""
        halves = {slot: words[self.half :: 2] for slot, words in self.table["vocabulary"].items()}
        object.__setattr__(self, "filled", halves)

    def fill_template(self, template: Template) -> Draft:
        """Put a word into each slot of a template.

        Returns:
            The draft, alone.
        """
        states = template.get("states", [])
        said = " ".join([template["text"], *(f"{state['owner']} {state['value']}" for state in states)])
        fillings = self._choose_fillings(SLOT.findall(said))
        filled = tuple(_fill_state(state, fillings) for state in states)
        return Draft(_fill_text(template["text"], fillings), template["kind"], filled)

    def _choose_fillings(self, slots: Iterable[tuple[str, str]]) -> dict[str, str]:
        fillings: dict[str, str] = {}
        for slot, number in dict.fromkeys(slots):
            name = slot + number
            words = self.filled[name] if name in self.filled else self.filled[slot]
            free = [word for word in words if word not in fillings.values()]
            fillings[name] = self.dice.choice(free or words)
        return fillings

    def fill_other(self, kinds: set[str], *, stating: bool = False) -> tuple[str, Draft]:
        """Fill a template that can stand beside another.

        Args:
            stating: Whether it may state something.

        Returns:
            The template's group, and the draft.
        """
        fitting = [
            template
            for template in self.table["templates"]
            if template["kind"] in kinds
            and (stating or "states" not in template)
            and "\n" not in template["text"]
            and len(template["text"]) < LONGEST_QUOTATION
        ]
        template = self.dice.choice(fitting)
        return template["group"], self.fill_template(template)

    def join_after(self, text: str, further: str) -> str:
        """Put a part after another, with a full stop between them where there is none.

        Args:
            text: The first part.

        Returns:
            Both.
        """
        ended = ENDED.search(text.rstrip("⟧"))
        return f"{text}{'' if ended else self.joiners['stop']}{self.joiners['space']}{further}"

    def link(self, text: str, further: str) -> str:
        """Put a part after another, at times with "Also:" between them.

        Args:
            text: The first part.

        Returns:
            Both.
        """
        if self.dice.random() < 0.6:
            further = f"{self.dice.choice(self.joiners['links'])}{self.joiners['space']}{further}"
        return self.join_after(text, further)

    def write_mail(self, body: str) -> str:
        """Put a text into a mail of somebody else.

        Args:
            body: The text, marked or not.

        Returns:
            The mail, without marks.
        """
        frame = self.dice.choice(self.joiners["mails"])
        name = self.dice.choice(self.joiners["names"])
        return frame.replace("{name}", name).replace("{body}", MARKED.sub(r"\1", body))


def compose(seed: int = 0, count: int = 1500) -> Iterator[Composed]:
    """Make messages in each language.

    Yields:
        The messages, a language at a time, no text twice in a language.
    """
    for language in list_languages():
        yield from compose_language(language, seed, count)


def compose_language(language: str, seed: int = 0, count: int = 1500) -> Iterator[Composed]:
    """Make messages in a language.

    Yields:
        The messages, no text twice.
    """
    dice = random.Random(f"{seed} {language}")
    table, joiners = load_table(language), load_joiners(language)
    writers = [Writer(table, joiners, half, dice) for half in (0, 1)]
    yield from islice(_compose_rounds(table["templates"], writers, dice), count)


def list_languages() -> list[str]:
    """List the languages that there are templates for.

    Returns:
        Their codes, sorted.
    """
    return sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != JOINERS)


@cache
def load_table(language: str) -> Table:
    """Read the templates and word lists of a language.

    Returns:
        What the file says.
    """
    table: Table = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return table


@cache
def load_joiners(language: str) -> Joiners:
    """Read what goes between the parts of a message.

    Returns:
        What the file says.
    """
    joiners: dict[str, Joiners] = json.loads((FOLDER / f"{JOINERS}.json").read_text(encoding="utf-8"))
    return joiners[language]


def _compose_rounds(templates: list[Template], writers: list[Writer], dice: random.Random) -> Iterator[Composed]:
    seen: set[str] = set()
    before = -1
    while len(seen) > before:
        before = len(seen)
        for template in dice.sample(templates, len(templates)):
            message = _compose_new(template, dice.choice(writers), seen, quoting=before > 0)
            if message is not None:
                seen.add(message.text)
                yield message


def _compose_new(template: Template, writer: Writer, seen: set[str], *, quoting: bool) -> Composed | None:
    for _ in range(TRIES):
        message = _compose_one(template, writer, quoting=quoting)
        if message.text not in seen:
            return message
    return None


def _compose_one(template: Template, writer: Writer, *, quoting: bool) -> Composed:
    draft = writer.fill_template(template)
    joined = _choose_share(JOINED, writer.dice)
    if joined in _list_fitting(template, quoting=quoting):
        draft = _JOINS[joined](draft, writer)
    else:
        joined = "alone"
    manner = _choose_share(MANNERS, writer.dice)
    written = _write_down(draft, manner, writer)
    ways = tuple(way for way in (joined, manner if written != draft.text else "plain") if way not in {"alone", "plain"})
    return _label(replace(draft, text=written), template, writer, ways)


def _choose_share(shares: dict[str, float], dice: random.Random) -> str:
    return dice.choices(list(shares), list(shares.values()))[0]


def _list_fitting(template: Template, *, quoting: bool) -> set[str]:
    kind = template["kind"]
    if kind in BRIEF or "\n" in template["text"]:
        return {"greeting"} if kind == "request" else set()
    fitting = {"greeting", "thanks", "other before", "other after", "list", "pasted below"}
    if kind == "for_now":
        fitting -= {"other after", "list"}
    if kind in WITH_STATEMENT:
        fitting.add("own statement")
    if quoting and kind in QUOTED:
        fitting.add("quoted")
    return fitting


def _join_greeting(draft: Draft, writer: Writer) -> Draft:
    greeting = writer.dice.choice(writer.joiners["greetings"])
    return replace(draft, text=f"{greeting}{writer.joiners['space']}{draft.text}")


def _join_thanks(draft: Draft, writer: Writer) -> Draft:
    return replace(draft, text=writer.join_after(draft.text, writer.dice.choice(writer.joiners["thanks"])))


def _join_other(draft: Draft, writer: Writer, *, before: bool) -> Draft:
    group, other = writer.fill_other(COMPANY)
    text = writer.link(other.text, draft.text) if before else writer.link(draft.text, other.text)
    return replace(draft, text=text, beside=(group,))


def _join_list(draft: Draft, writer: Writer) -> Draft:
    others = [writer.fill_other(COMPANY) for _ in range(writer.dice.choice((1, 2)))]
    items = [draft.text, *(other.text for _, other in others)]
    writer.dice.shuffle(items)
    bullet = writer.dice.choice(("- ", "* ", "{}. ", "{}) "))
    text = "\n".join(bullet.format(number) + item for number, item in enumerate(items, 1))
    return replace(draft, text=text, beside=tuple(group for group, _ in others))


def _join_mail(draft: Draft, writer: Writer) -> Draft:
    group, body = writer.fill_other({*QUOTED, "no_statement"}, stating=True)
    asked = writer.link(draft.text, writer.dice.choice(writer.joiners["asks"]))
    return replace(draft, text=f"{asked}\n\n{writer.write_mail(body.text)}", beside=(group,))


def _join_statement(draft: Draft, writer: Writer) -> Draft:
    group, statement = writer.fill_other({"statement"}, stating=True)
    if writer.dice.random() < 0.5:
        text, states = writer.link(draft.text, statement.text), draft.states + statement.states
    else:
        text, states = writer.link(statement.text, draft.text), statement.states + draft.states
    return replace(draft, text=text, states=states, beside=(group,))


def _quote(draft: Draft, writer: Writer) -> Draft:
    asked = writer.dice.choice(writer.joiners["asks"])
    return Draft(f"{asked}\n\n{writer.write_mail(draft.text)}", "request")


_JOINS: dict[str, Callable[[Draft, Writer], Draft]] = {
    "greeting": _join_greeting,
    "thanks": _join_thanks,
    "other before": partial(_join_other, before=True),
    "other after": partial(_join_other, before=False),
    "list": _join_list,
    "pasted below": _join_mail,
    "own statement": _join_statement,
    "quoted": _quote,
}


def _fill_text(text: str, fillings: dict[str, str]) -> str:
    literal = SLOT.sub("", text)
    formal = literal != literal.lower() or bool(re.search(r"[.!?]⟧?$", literal))

    def put(found: re.Match[str]) -> str:
        word = fillings[found[1] + found[2]]
        starts = formal and SENTENCE_START.search(text, 0, found.start())
        return word[0].upper() + word[1:] if starts else word

    return SLOT.sub(put, text)


def _fill_state(state: State, fillings: dict[str, str]) -> State:
    def fill(text: str) -> str:
        return SLOT.sub(lambda found: fillings[found[1] + found[2]], text)

    return State(
        owner=fill(state["owner"]),
        matter=state["matter"],
        value=fill(state["value"]),
        polarity=state["polarity"],
        modality=state["modality"],
    )


def _write_down(draft: Draft, manner: str, writer: Writer) -> str:
    if manner == "emoji" and "\n" not in draft.text:
        return f"{draft.text} {writer.dice.choice(EMOJI)}"
    if manner == "plain" or CODE.search(draft.text):
        return draft.text
    match manner:
        case "lower":
            return draft.text.lower()
        case "dictated":
            return " ".join(PAUSE.sub("" if writer.joiners["space"] else " ", draft.text).lower().split())
        case "short":
            return _shorten(draft.text, writer.joiners)
        case _:
            return _misspell(draft, writer) if writer.joiners["spelt"] else draft.text


def _shorten(text: str, joiners: Joiners) -> str:
    edge = r"\b" if joiners["spelt"] else ""
    for word in sorted(joiners["short"], key=len, reverse=True):
        text = re.sub(f"{edge}{re.escape(word)}{edge}", joiners["short"][word], text)
    return text


def _misspell(draft: Draft, writer: Writer) -> str:
    kept = " ".join(f"{state['owner']} {state['value']}" for state in draft.states)
    words = [word for word in re.finditer(r"[^\W\d_]+", draft.text) if len(word[0]) >= SHORTEST_MISSPELT]
    words = [word for word in words if word[0] not in kept]
    text = draft.text
    chosen = writer.dice.sample(words, min(len(words), writer.dice.choice((1, 1, 2))))
    for word in sorted(chosen, key=re.Match[str].start, reverse=True):
        text = text[: word.start()] + _misspell_word(word[0], writer.dice) + text[word.end() :]
    return text


def _misspell_word(word: str, dice: random.Random) -> str:
    at = dice.randrange(1, len(word) - 2)
    if dice.random() < 0.5:
        return word[:at] + word[at + 1 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _label(draft: Draft, template: Template, writer: Writer, ways: tuple[str, ...]) -> Composed:
    text, places = _take_marks(draft.text)
    spans = [Span(start, end, **state) for (start, end), state in zip(places, draft.states, strict=True)]
    own = draft.kind == template["kind"]
    return Composed(
        text=text,
        language=writer.table["language"],
        kind=draft.kind,
        group=template["group"],
        names=f"{writer.table['language']}-{writer.half}",
        spans=tuple(spans),
        scope=template.get("scope", "") if own else "",
        slot=template.get("slot", "") if own else "",
        beside=draft.beside,
        ways=ways,
    )


def _take_marks(text: str) -> tuple[str, list[tuple[int, int]]]:
    places: list[tuple[int, int]] = []
    for number, found in enumerate(MARKED.finditer(text)):
        start = found.start() - 2 * number
        places.append((start, start + len(found[1])))
    return MARKED.sub(r"\1", text), places


def main() -> None:
    """Print samples."""
    parser = argparse.ArgumentParser(description="Print messages with labels.")
    parser.add_argument("--count", type=int, default=20, help="how many to print")
    parser.add_argument("--language", default="", help="of one language alone")
    parser.add_argument("--kind", default="", help="of one kind alone")
    parser.add_argument("--seed", type=int, default=0, help="what decides all that is left to chance")
    asked = parser.parse_args()
    made = compose_language(asked.language, asked.seed) if asked.language else compose(asked.seed)
    fitting = (message for message in made if asked.kind in {"", message.kind})
    for message in islice(fitting, asked.count):
        print(f"{message.group} {message.names} {message.kind} {', '.join(message.ways)}\n  {message.text!r}")
        for span in message.spans:
            print(f"    {message.text[span.start : span.end]!r}: {span.owner}, {span.matter}, {span.value}")


if __name__ == "__main__":
    main()
