"""A command line as the simple commands that it is made of: enough of the shell to tell what is run, and no more.

By hand and in one pass, because the hook pays for each call: no regular expression, no `shlex`. What is quoted stays
one word, here-documents and comments fall away, redirections are told apart from words, and nothing is ever run.
"""

from insula.value import Value

READ = 4_000
"""Characters of a command that are looked at."""
MOST = 40
"""Simple commands of a line that are told apart."""


class Simple(Value):
    """One simple command."""

    words: tuple[str, ...]
    before: str = ""
    """The operator before it: `&&`, `||`, `;`, `|`, `&`, or none."""
    writes: tuple[str, ...] = ()
    """Files that its output goes to."""
    muted: bool = False
    """Whether its complaints are thrown away (`2>/dev/null`)."""
    within: tuple[int, ...] = ()
    """The parentheses that it stands in, by number: what is entered there is left with them."""


def simple_commands(line: str) -> tuple[Simple, ...]:
    """The simple commands of a line, in their order."""
    return tuple(_Reader(line[:READ]).commands)


class _Reader:
    def __init__(self, line: str) -> None:
        self.commands: list[Simple] = []
        self._line, self._at = line, 0
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._before, self._writes, self._muted = "", list[str](), False
        self._redirect, self._ends = "", list[str]()
        self._within: tuple[int, ...] = ()
        while self._at < len(line) and len(self.commands) < MOST:
            self._step(line[self._at])
        self._end(";")

    def _step(self, char: str) -> None:
        self._at += 1
        if char in " \t\r":
            self._flush()
        elif char == "\\":
            self._escaped()
        elif char in "'\"":
            self._quoted(char)
        elif char == "#" and self._word is None:
            self._at = self._find("\n")
        elif char == "\n":
            self._end(";")
            self._skip_documents()
        elif char in ";|&":
            self._operator(char)
        elif char in "<>":
            self._redirected(char)
        elif char in "()" and not (self._word and self._word[-1] == "$"):
            self._end(self._before or ";")
            self._within = (*self._within, self._at) if char == "(" else self._within[:-1]
        elif char == "(":
            self._substituted()
        else:
            self._add(char)

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _find(self, mark: str) -> int:
        found = self._line.find(mark, self._at)
        return len(self._line) if found < 0 else found

    def _escaped(self) -> None:
        following = self._line[self._at : self._at + 1]
        if following.isalnum() or following in {".", "_"}:  # nobody escapes a letter: a path of Windows
            self._add("/")
            return
        self._at += 1
        if following not in {"\n", "\r", ""}:
            self._add(following)

    def _quoted(self, mark: str) -> None:
        end = self._find(mark)
        while mark == '"' and self._line[end - 1 : end] == "\\" and end < len(self._line):
            end = self._line.find(mark, end + 1)
            if end < 0:
                end = len(self._line)
        self._add(self._line[self._at : end])
        self._at = end + 1

    def _substituted(self) -> None:
        depth = 1
        while self._at < len(self._line) and depth:
            depth += {"(": 1, ")": -1}.get(self._line[self._at], 0)
            self._at += 1
        self._add("(…)")

    def _operator(self, char: str) -> None:
        following = self._line[self._at : self._at + 1]
        if char == "&" and following == ">":  # &>file
            return
        if char == "&" and self._redirect:  # 2>&1
            self._add("&")
            return
        if following == char:
            self._at += 1
            self._end(char * 2 if char != ";" else ";")
        else:
            self._end(char)

    def _redirected(self, char: str) -> None:
        number = "".join(self._word or ())
        if number.isdigit():
            self._word = None
        self._flush()
        if self._line.startswith("<", self._at) and char == "<":
            self._at += 1
            if self._line.startswith("<", self._at):  # <<< a word
                self._at += 1
                self._redirect = "<"
            else:
                self._redirect = "<<"
            return
        if self._line.startswith(char, self._at):
            self._at += 1
        self._redirect = f"{number if number.isdigit() else ''}{char}"

    def _flush(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        redirect, self._redirect = self._redirect, ""
        if not redirect:
            self._words.append(word)
        elif redirect == "<<":
            self._ends.append(word.lstrip("-"))
        elif word in {"/dev/null", "$null"}:
            self._muted = self._muted or redirect == "2>"
        elif redirect.endswith(">") and not word.startswith("&"):
            self._writes.append(word)

    def _end(self, operator: str) -> None:
        self._flush()
        self._redirect = ""
        if self._words:
            self.commands.append(
                Simple(
                    words=tuple(self._words),
                    before=self._before,
                    writes=tuple(self._writes),
                    muted=self._muted,
                    within=self._within,
                )
            )
        self._words, self._writes, self._muted, self._before = [], [], False, operator

    def _skip_documents(self) -> None:
        for end in self._ends:
            while self._at < len(self._line):
                stop = self._find("\n")
                line, self._at = self._line[self._at : stop], stop + 1
                if line.strip() == end:
                    break
        self._ends = []
