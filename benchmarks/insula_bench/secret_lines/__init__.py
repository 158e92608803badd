"""Lines with and without secrets: templates, filled in with a seed when they are read.

The secrets are nobody's, and they are made when they are read, so that no scanner takes a file of this repository for a
leak. In a template « » encloses what is secret, `{kind}` is filled in by a generator, and `{a20}` by twenty characters
of an alphabet. The files whose names begin with `none` hold no secret.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any, NamedTuple, cast

from insula.redaction.head import find_names

FOLDER = Path(__file__).parent
SECRETS = (
    "tokens",
    "tokens_more",
    "shapes",
    "commands",
    "talk",
    "talk_more",
    "people",
    "strangers",
    "places",
    "gitleaks",
)
NONE = (
    "none_shapes",
    "none_commands",
    "none_talk",
    "none_talk_more",
    "none_people",
    "none_strangers",
    "none_places",
    "none_gitleaks",
)
ALPHABETS = {
    "a": ascii_letters + digits,
    "u": ascii_uppercase + digits,
    "U": ascii_uppercase + "234567",
    "l": ascii_lowercase + digits,
    "z": ascii_lowercase,
    "h": "0123456789abcdef",
    "d": digits,
    "b": ascii_letters + digits + "_-",
    "s": ascii_letters + digits + "+/",
    "v": ascii_uppercase + "234567",
}
_PART = re.compile(r"\{(?:([auUlzhdbsv])(\d+)|([a-zA-Z]\w*))\}")
_SECRET = re.compile("«(.*?)»", re.DOTALL)


class Case(NamedTuple):
    """A text, and what in it is secret."""

    text: str
    secrets: tuple[str, ...]
    line: str


def read_lines(name: str) -> list[str]:
    """The templates of a file, by its name without an ending."""
    lines = (FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def cases(name: str, seed: int = 21) -> list[Case]:
    """The cases of a file, each template filled in once."""
    chance = random.Random(seed)
    return [fill(line, chance) for line in read_lines(name)]


def fill(line: str, chance: random.Random) -> Case:
    """A template filled in by chance."""

    def part(match: re.Match[str]) -> str:
        if match[1]:
            return _random(match[1], int(match[2]), chance)
        return GENERATORS[match[3]](chance) if match[3] in GENERATORS else match[0]

    filled = _PART.sub(part, _unescape(line))
    return Case(_SECRET.sub(r"\1", filled), tuple(_SECRET.findall(filled)), line)


def is_left(text: str, secret: str) -> bool:
    """Whether a third of a secret, and four characters at least, still stands in a text."""
    length = max(4, min(len(secret), len(secret) // 3))
    return any(secret[start : start + length] in text for start in range(len(secret) - length + 1))


def _unescape(line: str) -> str:
    return line.replace(r"\n", "\n").replace(r"\t", "\t").replace(r"\r", "\r").replace("{e}", "\x1b")


def _random(kind: str, length: int, chance: random.Random) -> str:
    """As generators make them: long ones of letters and digits have both."""
    while True:
        text = "".join(chance.choices(ALPHABETS[kind], k=length))
        both = any(char in digits for char in text) and any(char not in digits for char in text)
        if length < 12 or kind in "dz" or (both and text[0] not in "-_" and text[-1] not in "-_"):
            return text


# --- what people and machines make up -------------------------------------------------------------------------------

_RARE = 12
"""In how many messages at most a word stands that somebody makes a password of: `the` is in most."""


def ordinary_messages() -> Iterator[str]:
    """What people write on ordinary days, in eight languages."""
    for path in (*sorted(FOLDER.parent.glob("ordinary/*.jsonl")), FOLDER.parent / "everyday.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            yield from _texts(json.loads(line))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        parts = cast("Iterable[Any]", value.values() if isinstance(value, dict) else value)
        for part in parts:
            yield from _texts(part)


def _find_words() -> tuple[str, ...]:
    """Words of ordinary messages, in Latin letters and none that names a secret: a password may be any."""
    counted = Counter(word for text in ordinary_messages() for word in {*re.findall(r"[^\W\d_]+", text)})
    rare = sorted(word for word, count in counted.items() if count <= _RARE and re.fullmatch("[a-zß-ÿœ]{3,10}", word))
    lines = "\n".join(rare)  # names are sought once, and not in each of 13,000 words
    naming = {lines.count("\n", 0, end) for end, _ in find_names(lines)}
    return tuple(word for number, word in enumerate(rare) if number not in naming)


def _find_ideograms() -> tuple[str, ...]:
    """Words of ordinary messages in Katakana, or of two or three ideograms in a row."""
    found = (word for text in ordinary_messages() for word in re.findall("[ァ-ー]{3,8}|[一-龥]{2,3}(?![一-龥])", text))
    return tuple(sorted({*found}))


_MADE_UP, NAMES, SERVICES = (tuple(line.split()) for line in read_lines("words"))
WORDS = (*_MADE_UP, *_find_words())
IDEOGRAMS = _find_ideograms()
HEX = ALPHABETS["h"]
_CODE = "abcdefghjkmnp23456789"

Chance = random.Random


def _draw(chance: Chance, alphabet: str, length: int) -> str:
    return "".join(chance.choices(alphabet, k=length))


def _one(*makers: Callable[[Chance], str]) -> Callable[[Chance], str]:
    return lambda chance: chance.choice(makers)(chance)


def _digits(*lengths: int) -> Callable[[Chance], str]:
    return lambda chance: _draw(chance, digits, chance.choice(lengths))


def _hex(*lengths: int) -> Callable[[Chance], str]:
    return lambda chance: _draw(chance, HEX, chance.choice(lengths))


def _number(least: int, most: int) -> Callable[[Chance], str]:
    return lambda chance: str(chance.randint(least, most))


def _word(chance: Chance) -> str:
    return chance.choice(WORDS)


def _joined(part: Callable[[Chance], str], count: Sequence[int], by: str) -> Callable[[Chance], str]:
    return lambda chance: by.join(part(chance) for _ in range(chance.choice(count)))


def _leet(word: str, chance: Chance) -> str:
    signs = {"a": "4", "e": "3", "i": "1", "o": "0", "s": "$"}
    return "".join(signs.get(char, char) if chance.random() < 0.6 else char for char in word)


def _titled(chance: Chance, count: int) -> str:
    """Words with a capital or without, joined by one sign."""
    sign, case = chance.choice("-_.+"), chance.choice([str.capitalize, str.capitalize, str])
    return sign.join(case(word) for word in chance.sample(WORDS, count))


def _password(chance: Chance) -> str:
    """As people make them up, and as password managers do."""
    first, second = _word(chance), _word(chance)
    number = str(chance.choice([chance.randint(0, 99), chance.randint(100, 999), chance.randint(1940, 2027)]))
    sign = chance.choice("!@#$%&*?+-_.~^")
    forms: list[tuple[float, Callable[[], str]]] = [
        (12, lambda: first.capitalize() + number + sign),
        (8, lambda: first + number),
        (7, lambda: first.capitalize() + number),
        (7, lambda: _leet(first.capitalize(), chance) + sign + number),
        (8, lambda: first + chance.choice("-_.") + second + chance.choice(["", "-", ""]) + number),
        (5, lambda: first.capitalize() + chance.choice(["-", "_", ".", ""]) + second.capitalize()),
        (5, lambda: first + second + number),
        (5, lambda: sign + first.capitalize() + sign + number),
        (5, lambda: "-".join(chance.sample(WORDS, chance.choice([3, 4, 5])))),
        (4, lambda: first.capitalize() + second.capitalize() + _word(chance).capitalize()),
        (5, lambda: first),
        (14, lambda: _draw(chance, ALPHABETS["a"] + "!@#$%^&*-_=+.?~", chance.randint(8, 20))),
        (7, lambda: _draw(chance, ALPHABETS["a"], chance.randint(7, 16))),
        (3, lambda: _draw(chance, ALPHABETS["l"], chance.randint(6, 12))),
        (3, lambda: _draw(chance, ALPHABETS["l"] + "{}[]()<>$/|`~;,", chance.randint(12, 32))),
        (2, lambda: number + first + sign + number),
        (3, lambda: first.upper() + number),
        (10, lambda: _titled(chance, 2) + chance.choice("-_.+/") + number + chance.choice(["", "", "x"])),
        (7, lambda: _titled(chance, chance.choice([2, 3])) + str(chance.randint(0, 9))),
        (5, lambda: first + chance.choice("-_.+") + _titled(chance, 2) + str(chance.randint(0, 9))),
        (5, lambda: first.capitalize() + sign + second.capitalize() + chance.choice(["", number])),
        (4, lambda: first.capitalize() + second + sign + number),
        (4, lambda: first + sign + number),
        (3, lambda: first.capitalize() + sign + second),
        (2, lambda: f"{first.capitalize()}-the-{chance.randint(1, 9)}th"),
        (2, lambda: chance.choice(NAMES).capitalize() + number),
    ]
    return chance.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()


def _token(chance: Chance) -> str:
    """As services issue them."""
    alphabet, word = ALPHABETS["a"], _word(chance)
    forms: list[tuple[float, Callable[[], str]]] = [
        (35, lambda: _draw(chance, alphabet, chance.choice([16, 20, 24, 32, 36, 40, 48]))),
        (15, lambda: _hex(16, 24, 32, 40, 64)(chance)),
        (12, lambda: word[:4] + chance.choice("_-") + _draw(chance, alphabet, chance.choice([16, 20, 24, 32]))),
        (8, lambda: f"{word[:3]}_{chance.choice(['live', 'test', 'prod', 'pat'])}_{_draw(chance, alphabet, 24)}"),
        (10, lambda: _draw(chance, ALPHABETS["b"], chance.choice([22, 27, 32, 43, 64]))),
        (6, lambda: _draw(chance, ALPHABETS["s"], chance.choice([24, 32, 44])) + chance.choice(["", "=", "=="])),
        (7, lambda: _uuid(chance)),
        (7, lambda: _draw(chance, ALPHABETS["u"], chance.choice([16, 20, 32]))),
    ]
    return chance.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()


def _phrase(chance: Chance) -> str:
    """Words that somebody strings together to get in by, in a language or in none."""
    first, second, third = chance.sample(WORDS, 3)
    number = str(chance.randint(2, 99))
    forms = (
        f"my {first} sold {number} {second} {third}s",
        f"{first.capitalize()} eats {second} at {number}",
        f"the {first} {second} never {third}s",
        f"o {first} comeu dois {second} {third}",
        f"el {first} baila con {second}",
        f"le {first} mange un {second} bleu",
        f"der {first} tanzt im {second}",
        f"{first} di {second} {third} {number}",
        f"{first.capitalize()} {second} {third}",
        f"{first} {second} {third} {number}!",
        f"{first} {second}",
        f"{chance.choice(NAMES).capitalize()} and the {first} {second}",
    )
    return chance.choice(forms) if chance.random() < 0.6 else " ".join(chance.sample(WORDS, chance.randint(3, 6)))


def _uuid(chance: Chance) -> str:
    return "-".join(_draw(chance, HEX, length) for length in (8, 4, 4, 4, 12))


def _user(chance: Chance) -> str:
    name = chance.choice(NAMES)
    roles = ["admin", "root", "deploy", "app", "ci", "postgres"]
    return chance.choice([name, name + str(chance.randint(1, 99)), chance.choice(roles), f"{name}.{_word(chance)}"])


def _date(chance: Chance) -> str:
    year, month, day = chance.randint(2019, 2027), chance.randint(1, 12), chance.randint(1, 28)
    return chance.choice([f"{year}-{month:02}-{day:02}", f"{month}/{day}/{year}", f"{day:02}.{month:02}.{year}"])


def _path(chance: Chance) -> str:
    start = chance.choice(["", f"/home/{chance.choice(NAMES)}/", "src/", "./", "~/.config/", "/etc/"])
    end = chance.choice([".py", ".ts", ".md", ".json", ".pem", ".go", ".txt", ".yaml"])
    return start + "/".join(chance.sample(WORDS, chance.choice([1, 2]))) + end


def _apart(chance: Chance) -> str:
    """Four digits or more as they are read out, or told to a dial, one by one or in groups."""
    sign = chance.choice("  --.")
    size = chance.choice([1, 1, 1, 2, 2, 3])
    count = chance.choice([4, 4, 5, 6]) if size == 1 else chance.choice([2, 3, 4]) if size == 2 else 2
    return sign.join(_draw(chance, digits, size) for _ in range(count))


def _door_code(chance: Chance) -> str:
    """A code of letters and digits, as doors and boxes have it."""
    parts = ("".join(chance.sample([chance.choice("ABCDEF"), *_draw(chance, digits, 4)], 5)), _draw(chance, digits, 4))
    sign = chance.choice("#*AB")
    return chance.choice([parts[0], parts[0], parts[1] + sign, parts[0][:2] + "-" + _draw(chance, digits, 2)])


def _spelled(chance: Chance) -> str:
    """A password letter by letter."""
    sign = chance.choice([" ", " ", ", ", "-"])
    word = list(_word(chance)[:7]) + list(_draw(chance, digits, chance.choice([0, 1, 2])))
    return sign.join(word if chance.random() < 0.5 else [word[0].upper(), *word[1:]])


_SPOKEN = {line.split()[0]: line.split(";") for line in read_lines("spoken")}
"""Of each language: right, left, as far as, how often, how many, a capital, signs."""


def _turn(language: str) -> Callable[[Chance], str]:
    """What a dial is turned to, as somebody says it."""
    right, left, until, times, numbers = (part.split("/") for part in _SPOKEN[language][1:6])

    def number(chance: Chance) -> str:
        return str(chance.randint(0, 99)) if chance.random() < 0.5 else chance.choice(numbers)

    def make(chance: Chance) -> str:
        form = chance.choice(["D U N", "C T D U N", "D C T U N", "N D", "C T D", "D U N"])
        parts = {"U": until, "T": times, "C": numbers}
        blank = "" if language in ("ja", "zh") else " "
        said = [
            blank.join(
                number(chance) if part == "N" else chance.choice(parts.get(part, left if step % 2 else right))
                for part in form.split()
            )
            for step in range(chance.choice([3, 3, 4]))
        ]
        return chance.choice([", ", ", ", " / "] if blank else ["、", "，"]).join(said)

    return make


def _dictated(language: str) -> Callable[[Chance], str]:
    """A password as somebody reads it out: letters, capitals and signs by their names."""
    numbers, capitals, signs = (part.split("/") for part in _SPOKEN[language][5:8])

    def make(chance: Chance) -> str:
        word = _word(chance)[: chance.randint(3, 6)]
        said = [chance.choice(capitals), *word, chance.choice(signs), *chance.choices(numbers, k=chance.choice([1, 2]))]
        return chance.choice([" ", " ", ", "]).join(said if chance.random() < 0.6 else said[1:])

    return make


GENERATORS: dict[str, Callable[[Chance], str]] = {
    # secrets
    "pw": _password,
    "tok": _token,
    "pin": _digits(4, 4, 4, 6, 5, 8),
    "c6": _digits(6, 6, 4, 5, 7, 8),
    "c3": _digits(3),
    "c5": lambda chance: _draw(chance, "ABCDEFGHJKMNPQRTVWXY2346789", 5),
    "hex": _hex(32, 40, 48, 64),
    "b64": lambda chance: _draw(chance, ALPHABETS["s"], 40),
    "phr": _phrase,
    "seed": lambda chance: " ".join(chance.choices([word for word in WORDS if word.isascii()], k=12)),
    "bk": _one(_digits(8), *(_joined(lambda chance, n=n: _draw(chance, _CODE, n), [2], "-") for n in (4, 5))),
    "comb": _joined(_number(1, 59), [3], "-"),
    "lic": _joined(lambda chance: _draw(chance, ALPHABETS["u"], 5), [4, 5], "-"),
    "b32": lambda chance: _draw(chance, ALPHABETS["U"], chance.choice([16, 32])),
    "b32s": _joined(lambda chance: _draw(chance, ascii_lowercase + "234567", 4), [8], " "),
    "blk": _joined(_digits(6), [8], "-"),
    "apart": _apart,
    **{f"turn_{language}": _turn(language) for language in _SPOKEN},
    **{f"read_{language}": _dictated(language) for language in _SPOKEN},
    "door": _door_code,
    "run": lambda chance: "".join(_word(chance) for _ in range(chance.choice([2, 2, 3]))),
    "spelled": _spelled,
    "serial": _joined(lambda chance: _draw(chance, ALPHABETS["u"], 4), [4, 5, 6], "-"),
    # what stands around them, and what only looks like one
    "word": _word,
    "Word": lambda chance: _word(chance).capitalize(),
    "ja": lambda chance: chance.choice(IDEOGRAMS),
    "svc": lambda chance: chance.choice([str.capitalize, str.lower, str])(chance.choice(SERVICES)),
    "SVC": lambda chance: chance.choice(SERVICES).upper(),
    "user": _user,
    "Tt": lambda chance: f"{_titled(chance, 2)}-{chance.randint(2, 2030)}",
    "host": lambda chance: (
        chance.choice(["db", "mail", "srv", "nas", "api", "www", "git"])
        + chance.choice([".example.com", ".acme.io", ".local", "1", "-02.internal", ".corp.net"])
    ),
    "url": lambda chance: (
        f"https://{_word(chance)}{chance.choice(['.com', '.io', '.org', '.example.net'])}"
        + chance.choice(["", "/" + _word(chance)])
    ),
    **{f"n{length}": _number(10 ** (length - 1), 10**length - 1) for length in range(1, 7)},
    "n9": _number(10**8, 10**10),
    "sha7": _hex(7),
    "sha6": _hex(6),
    **{f"sha{length}": _hex(length) for length in (16, 32, 40, 64)},
    "uuid": _uuid,
    "ver": _joined(_number(0, 30), [2, 3], "."),
    "date": _date,
    "time": lambda chance: f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}",
    "path": _path,
    "id": _one(
        lambda chance: f"{_draw(chance, ascii_uppercase, 2)}-{_draw(chance, digits, 5)}",
        lambda chance: _draw(chance, ALPHABETS["u"], 8),
        _digits(6),
        lambda chance: f"{_word(chance)}-{_draw(chance, digits, 3)}",
        _hex(12),
    ),
    "ref": lambda chance: _draw(chance, ALPHABETS["u"], 6),
    "TKT": lambda chance: _draw(chance, ascii_uppercase, chance.choice([2, 3, 4])),
    "fl": lambda chance: _draw(chance, ascii_uppercase, 2) + _draw(chance, digits, chance.choice([3, 4])),
    "phone": lambda chance: f"+{chance.randint(1, 99)} {chance.randint(100, 999)} {_draw(chance, digits, 7)}",
    "ip": _joined(_number(1, 254), [4], "."),
    "mac": _joined(_hex(2), [6], ":"),
    "L": lambda chance: chance.choice(ascii_uppercase),
    "isbn": lambda chance: "978-" + "-".join(_draw(chance, digits, length) for length in (1, 3, 5, 1)),
    "arx": lambda chance: f"{_draw(chance, digits, 4)}.{_draw(chance, digits, 5)}",
    "b64t": lambda chance: _draw(chance, ALPHABETS["a"], 60),
}
"""What fills in a template, by the name in it."""
