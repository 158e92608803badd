"""What gitleaks (MIT) and detect-secrets (Apache-2.0) know of secrets: tables of another hand, and gitleaks' rules.

    python -m insula_bench.other_hands REPOSITORY --table FOLDER [--half development | held-out]
    python -m insula_bench.other_hands REPOSITORY --templates | --rules

The repository is a git directory of one or the other. Each rule of gitleaks stands in Go beside texts in which it must
find a secret and texts in which it must find none. They are read by evaluating the few expressions that Go writes them
with; what a rule takes from a text is its secret. A provider, which is a file, is in one half or the other. The texts
of detect-secrets stand in its tests, each beside what is found in it.
"""

import argparse
import ast
import base64
import json
import random
import re
import string
import subprocess
import tomllib
from binascii import crc32
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from insula import redaction

FOLDER = "cmd/generate/config/rules"
SAMPLES = "cmd/generate/config/utils/generate.go"
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<raw>`[^`]*`)|(?P<text>"(?:\\.|[^"\\])*")"""
    r"""|(?P<word>[A-Za-z_][\w.]*)|(?P<sign>:=|\.\.\.|.)""",
    re.DOTALL,
)
_START = re.compile(r"(?m)^func (\w*)\([^)]*\)[^{\n]*\{\n")
_ID = re.compile(r'RuleID:\s*"([^"]+)"')


class Text(NamedTuple):
    """A text beside a rule."""

    provider: str
    rule: str
    text: str
    has_secret: bool


def show(repository: Path, path: str) -> str:
    """A file of a git directory, as it stands at its head."""
    command = ["git", "--git-dir", str(repository), "show", f"HEAD:{path}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def list_files(repository: Path, folder: str) -> list[str]:
    """The names of the files in a folder of a git directory."""
    command = ["git", "--git-dir", str(repository), "ls-tree", "--name-only", "HEAD", folder + "/"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def read_texts(repository: Path) -> Iterator[Text]:
    """The texts beside each rule, in the order of its files."""
    samples = _read_samples(show(repository, SAMPLES))
    for path in list_files(repository, FOLDER):
        if not path.endswith(".go"):
            continue
        source = show(repository, path)
        starts = list(_START.finditer(source))
        for number, start in enumerate(starts):
            end = starts[number + 1].start() if number + 1 < len(starts) else len(source)
            body = source[start.end() : end]
            if rule := _ID.search(body):
                found = _Evaluator(_tokens(body), samples, random.Random(crc32(rule[1].encode()))).run()
                for name, has_secret in (("tps", True), ("fps", False)):
                    for text in found.get(name, ()):
                        yield Text(Path(path).stem, rule[1], text, has_secret)


def _read_samples(source: str) -> list[str]:
    """The forms in which gitleaks puts a token: assignments of many languages."""
    body = re.sub(r"(?m)^\s*//.*$", "", source[source.index("samples := map") : source.index("replacer :=")])
    kinds = [kind for kind in _tokens(body) if kind[0] in ("raw", "text")]
    return [_unquoted(*kind) for kind in kinds[1::2]]


def _tokens(source: str) -> list[tuple[str, str]]:
    return [(str(match.lastgroup), match[0]) for match in _TOKEN.finditer(source) if match.lastgroup != "blank"]


def _unquoted(kind: str, token: str) -> str:
    return token[1:-1] if kind == "raw" else str(json.loads(re.sub(r"\\(?=[^\"\\/bfnrtu])", r"\\\\", token)))


class _UnknownError(Exception):
    """What this evaluator does not know of Go."""


class _Evaluator:
    """Evaluates the assignments of a function as far as they make texts."""

    def __init__(self, tokens: list[tuple[str, str]], samples: list[str], chance: random.Random) -> None:
        self.tokens, self.samples, self.chance, self.at = tokens, samples, chance, 0
        self.names: dict[str, Any] = {}
        self.skipped = 0

    def run(self) -> dict[str, Any]:
        while self.at < len(self.tokens) - 1:
            kind, name = self.tokens[self.at]
            if kind == "word" and self.tokens[self.at + 1][1] in (":=", "=") and "." not in name:
                start, self.at = self.at, self.at + 2
                try:
                    self.names[name] = self.sum()
                except (_UnknownError, IndexError, ValueError, KeyError):
                    self.skipped += 1
                    self.at = start + 2
            else:
                self.at += 1
        return {name: self.names.get(name) or [] for name in ("tps", "fps")}

    def peek(self) -> str:
        return self.tokens[self.at][1]

    def take(self, sign: str = "") -> tuple[str, str]:
        token = self.tokens[self.at]
        if sign and token[1] != sign:
            raise _UnknownError(token)
        self.at += 1
        return token

    def sum(self) -> Any:
        value = self.term()
        while self.at < len(self.tokens) and self.peek() == "+":
            self.take()
            value = value + self.term()
        return value

    def items(self, end: str) -> list[Any]:
        """What stands up to a closing bracket, between commas; of a pair the latter, of a spread list all."""
        found: list[Any] = []
        while self.peek() != end:
            value = self.sum()
            if self.peek() == ":":
                self.take()
                value = self.sum()
            if self.peek() == "...":
                self.take()
                found += value
            else:
                found.append(value)
            if self.peek() == ",":
                self.take()
        self.take(end)
        return found

    def term(self) -> Any:
        kind, token = self.take()
        if kind in ("raw", "text"):
            return _unquoted(kind, token)
        if token == "[":  # noqa: S105
            self.take("]")
            if self.take()[1] == "byte":
                self.take("(")
                return self.items(")")[0]
            self.take("{")
            return self.items("}")
        if token == "map":  # noqa: S105
            for sign in ("[", "string", "]", "string", "{"):
                self.take(sign)
            return self.items("}")
        if kind == "word" and self.at < len(self.tokens) and self.peek() == "(":
            self.take()
            return self.call(token, self.items(")"))
        if kind == "word" and token in self.names:
            return self.names[token]
        if token == "nil":  # noqa: S105
            return []
        raise _UnknownError(token)

    def call(self, name: str, given: list[Any]) -> Any:
        if name == "append":
            return given[0] + given[1:]
        if name in ("secrets.NewSecret", "newPlausibleSecret"):
            return make_match(given[0], self.chance)
        if name == "fmt.Sprintf":
            return given[0] % tuple(given[1:])
        if name == "utils.GenerateSampleSecret":
            return f'{given[0]}_api_token = "{given[1]}"'
        if name == "utils.GenerateSampleSecrets":
            return [
                form.replace("{i}", given[0]).replace("{I}", given[0].upper()).replace("{s}", given[1])
                for form in self.samples
            ]
        if name.endswith("StdEncoding.EncodeToString"):
            return base64.b64encode(given[0].encode()).decode()
        if name in _PATTERNS:
            return _PATTERNS[name](*given)
        raise _UnknownError(name)


_PATTERNS: dict[str, Callable[..., str]] = {
    "utils.Numeric": "[0-9]{{{}}}".format,
    "utils.Hex": "[a-f0-9]{{{}}}".format,
    "utils.AlphaNumeric": "[a-z0-9]{{{}}}".format,
    "utils.AlphaNumericExtendedShort": "[a-z0-9_-]{{{}}}".format,
    "utils.AlphaNumericExtended": "[a-z0-9=_\\-]{{{}}}".format,
    "utils.AlphaNumericExtendedLong": "[a-z0-9\\/=_\\+\\-]{{{}}}".format,
    "utils.Hex8_4_4_4_12": lambda: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
}


def make_match(pattern: str, chance: random.Random) -> str:
    """A text that a pattern matches, by chance."""
    parser: Any = __import__("re._parser", fromlist=["parse"])
    return _made(parser.parse(to_python(pattern)), chance, {})


_ANY = string.ascii_letters + string.digits
_CATEGORIES = {"CATEGORY_DIGIT": string.digits, "CATEGORY_WORD": _ANY + "_", "CATEGORY_SPACE": " "}


def _made(parsed: Any, chance: random.Random, groups: dict[int, str]) -> str:
    out: list[str] = []
    for operation, value in parsed:
        name = str(operation)
        if name == "LITERAL":
            out.append(chr(value))
        elif name == "ANY":
            out.append(chance.choice(_ANY))
        elif name == "IN":
            out.append(chance.choice(_members(value)))
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = value
            times = chance.randint(int(least), min(int(most), int(least) + 8))
            out += [_made(inner, chance, groups) for _ in range(times)]
        elif name == "SUBPATTERN":
            out.append(_made(value[3], chance, groups))
        elif name == "BRANCH":
            out.append(_made(chance.choice(value[1]), chance, groups))
    return "".join(out)


def _members(parts: Any) -> str:
    found = ""
    for operation, value in parts:
        name = str(operation)
        if name == "LITERAL":
            found += chr(value)
        elif name == "RANGE":
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif name == "CATEGORY":
            found += _CATEGORIES[str(value)]
    return found


# --- detect-secrets ---------------------------------------------------------------------------------------------


def read_tests(repository: Path) -> Iterator[dict[str, Any]]:
    """The texts of the tests of detect-secrets, with the secret in each, or None."""
    for path in list_files(repository, "tests/plugins"):
        tree = ast.parse(show(repository, path)) if path.endswith("_test.py") else ast.Module([], [])
        names = {
            name.id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for name in node.targets
            if isinstance(name, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Tuple) and len(node.elts) == len(("text", "found")):
                text, found = (_value(part, names) for part in node.elts)
                if isinstance(text, str) and isinstance(found, str | bool | None):
                    secret = max(_DENSE.findall(text), key=len, default=text) if found is True else found or None
                    if secret is None or secret in text:
                        yield {"rule": Path(path).stem, "text": text, "secret": secret}


_DENSE = re.compile(r"[\w.+/=~%-]{6,}")


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """A constant, a name of one, or a text into which such are put; else a number, which no test holds."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        form, given = _value(node.func.value, names), [_value(part, names) for part in node.args]
        named = {str(part.arg): _value(part.value, names) for part in node.keywords}
        known = isinstance(form, str) and all(isinstance(part, str) for part in (*given, *named.values()))
        return form.format(*given, **named) if known else 0
    return 0


# --- the rules ----------------------------------------------------------------------------------------------------


def to_python(pattern: str) -> str:
    """A pattern of Go as Python reads it: flags in its midst hold for the rest of the group that they stand in."""
    pattern = pattern.replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z")
    while flag := re.search(r"\(\?(-?[ism]+)\)", pattern):
        depth, end = 0, len(pattern)
        for at, char in _brackets(pattern, flag.end()):
            depth += 1 if char == "(" else -1
            if depth < 0:
                end = at
                break
        pattern = f"{pattern[: flag.start()]}(?{flag[1]}:{pattern[flag.end() : end]}){pattern[end:]}"
    return pattern


def _brackets(pattern: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Where the brackets of groups stand, of which none is escaped or in a class."""
    for found in re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", re.DOTALL).finditer(pattern, start):
        if found[0] in "()":
            yield found.start(), found[0]


def read_rules(repository: Path) -> dict[str, dict[str, Any]]:
    """The rules of gitleaks, as it ships them, by their names."""
    return {rule["id"]: rule for rule in tomllib.loads(show(repository, "config/gitleaks.toml"))["rules"]}


RULES = Path(redaction.__file__).with_name("providers.tsv")
OURS = re.compile(r"^(?:generic-api-key|private-key|jwt|curl-|kubernetes-secret|hashicorp-tf-password)")
"""Rules that stand back for wider ones of our own, or ask for the name of a file."""
_ASSIGNED = r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}"""
_OPERATOR = r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
_ENDS = (r"""(?:[\x60'"\s;]|\\[nr]|$|\b)""", r"""(?:[\x60'"\s;]|\\[nr]|$)""", r"(?:[^\w-]|\z)")


def write_rules(repository: Path, half: str = "") -> None:
    """Write the rules that `insula.redaction` reads: of each its kind, its marks, its entropy and its pattern."""
    rows: list[str] = []
    homes = {text.rule: text.provider for text in read_texts(repository)}
    for name, rule in read_rules(repository).items():
        if "regex" not in rule or NO_SECRETS.search(name) or OURS.match(name):
            continue
        if half and is_held_out(homes.get(name, name)) != (half == "held-out"):
            continue
        kind = name.split("-")[0] if name.split("-")[0].isalpha() else "token"
        pattern = read_pattern(rule["regex"])
        named = re.match(r"\(\?i:\(\?:([a-z]+)\)", pattern)  # rarer than `test_`, which `lob` has for a mark
        marks = [named[1]] if named else rule["keywords"]
        rows.append("\t".join((kind, ",".join(marks), f"{rule.get('entropy', 0):g}", pattern)))
    RULES.write_text("\n".join(rows) + "\n", "utf-8")
    print(len(rows), "rules,", RULES.stat().st_size, "bytes")


def read_pattern(pattern: str) -> str:
    """A pattern as we read it: from the name on, up to where no letter or digit follows, its secret a group `s`.

    gitleaks asks for a quote, a blank or the end behind a token; in what people write a comma or a bracket may stand
    there, too.
    """
    named = re.sub(r"\[\\w\.-\]\{0,50\}\?", "", pattern)
    for end in _ENDS:
        named = named.replace(end, "(?![A-Za-z0-9])")
    python = re.sub(r"\(\?P<\w+>", "(?:", to_python(named))
    out, last, name = "", 0, "(?P<s>"
    for at, char in _brackets(python):
        if char == "(" and python[at + 1] != "?":
            out, last, name = out + python[last:at] + name, at + 1, "(?:"
    out += python[last:]
    out = re.sub(r"^((?:\(\?i:)*)\\b", r"\1{BEGIN}", out)
    return out.replace(_ASSIGNED, "{ASSIGNED}").replace(_OPERATOR, "{OPERATOR}")


def find_secret(rule: dict[str, Any], text: str) -> str:
    """What a rule takes for the secret of a text; empty where it finds none."""
    if "regex" not in rule or not (match := re.search(to_python(rule["regex"]), text)):
        return ""
    return next((group for group in match.groups() if group), match[0])


def is_held_out(provider: str) -> bool:
    """Whether a provider is in the half that nothing is fitted on or written for."""
    return crc32(provider.encode()) % 2 == 0


def write_table(repository: Path, folder: Path, half: str) -> None:
    """Write the texts as the tables that `insula_bench.secrets` counts."""
    tables: dict[str, list[dict[str, Any]]] = {"secrets": [], "lookalikes": []}
    unknown = 0
    if not list_files(repository, FOLDER):
        for number, row in enumerate(read_tests(repository)):
            secret = row.pop("secret")
            table = tables["secrets" if secret else "lookalikes"]
            table.append({"id": number} | row | ({"secret": [secret]} if secret else {}))
        _write_rows(folder, tables)
        return
    rules = read_rules(repository)
    for number, text in enumerate(read_texts(repository)):
        if half and is_held_out(text.provider) != (half == "held-out"):
            continue
        row: dict[str, Any] = {"id": number, "rule": text.rule, "provider": text.provider, "text": text.text}
        if not text.has_secret:
            tables["lookalikes"].append(row)
        elif secret := find_secret(rules.get(text.rule, {}), text.text):
            tables["secrets"].append(row | {"secret": [secret]})
        else:
            unknown += 1
    _write_rows(folder, tables)
    print(f"{unknown} texts whose secret is not known")


NO_SECRETS = re.compile(r"-id$|-id-|pub-|public|gcp-service-account|bedrock-api-key-short|ip_public|pkcs12")
"""Rules that name what may be seen: an account, a public key, an address."""
MOST_TEXTS, MOST_CHARACTERS = 8, 600
"""How many texts of a rule become templates, and of which length."""
LINES = Path(__file__).parent / "secret_lines"
_RUN = re.compile(r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{6,}|[A-Za-z]{16,}")
_OPAQUE = re.compile(r"(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[\w-]{20,}")
_RUNS = (("d", r"\d+"), ("h", r"[0-9a-f]+"), ("l", r"[a-z0-9]+"), ("u", r"[A-Z0-9]+"), ("a", r".+"))


def write_templates(repository: Path) -> None:
    """Write templates of the texts of both halves, in which what is long in a secret is left to chance."""
    rules = read_rules(repository)
    texts: dict[str, list[Text]] = {}
    for text in read_texts(repository):
        if not NO_SECRETS.search(text.rule) and len(text.text) <= MOST_CHARACTERS:
            texts.setdefault(text.rule, []).append(text)
    lines: dict[str, list[str]] = {"gitleaks": [], "gitleaks_held": [], "none_gitleaks": [], "none_gitleaks_held": []}
    chance = random.Random(5)
    for found in texts.values():
        for is_secret in (True, False):
            beside = [text for text in found if text.has_secret == is_secret]
            for text in chance.sample(beside, min(MOST_TEXTS, len(beside))):
                if line := _template(text, rules):
                    held = "_held" if is_held_out(text.provider) else ""
                    lines[("" if is_secret else "none_") + "gitleaks" + held].append(line)
    lines["forms"] = [_escape(form) for form in _read_samples(show(repository, SAMPLES))]
    for name, found in lines.items():
        notice = "# From the rules of gitleaks (MIT, see NOTICE), by insula_bench.other_hands --templates"
        (LINES / f"{name}.txt").write_text("\n".join((notice, *dict.fromkeys(found))) + "\n", "utf-8")
        print(name, len(found))


def _template(text: Text, rules: dict[str, dict[str, Any]]) -> str:
    """A text as a line with its secret between « and »; empty where it can't be one."""
    written = text.text
    if text.has_secret:
        secret = find_secret(rules.get(text.rule, {}), written)
        written = written.replace(secret, f"«{_RUN.sub(_by_chance, secret)}»") if secret else ""
    elif _OPAQUE.search(written) or any(find_secret(rule, written) for rule in rules.values()):
        return ""  # to whom keeps secrets, a token of a wrong length is one
    return "" if written.startswith("#") else _escape(written)


def _escape(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _by_chance(run: re.Match[str]) -> str:
    kind = next(kind for kind, form in _RUNS if re.fullmatch(form, run[0]))
    return f"{{{kind}{len(run[0])}}}"


def _write_rows(folder: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    for name, rows in tables.items():
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")
        print(name, len(rows))


def main() -> None:
    """Write the table of a repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--templates", action="store_true")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--half", choices=("", "development", "held-out"), default="")
    arguments = parser.parse_args()
    if arguments.rules:
        write_rules(arguments.repository, arguments.half)
    if arguments.templates:
        write_templates(arguments.repository)
    if arguments.table:
        arguments.table.mkdir(parents=True, exist_ok=True)
        write_table(arguments.repository, arguments.table, arguments.half)


if __name__ == "__main__":
    main()
