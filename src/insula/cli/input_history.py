"""What a person typed into chats, for the arrow keys: without secrets, and gone with whatever is erased."""

from collections.abc import Sequence
from contextlib import suppress

from insula import settings as settings_module
from insula.redaction import redact, take_answer

FILE = "history"
LENGTH = 1_000


class InputHistory:
    """The lines, in the memory of `readline` and in a file; where Python has no `readline` there are none."""

    def load(self) -> None:
        """Bring back what was typed before."""
        with suppress(ImportError, OSError):
            import readline

            readline.set_history_length(LENGTH)
            readline.read_history_file(settings_module.home() / FILE)

    def redact_last(self, line: str, said: Sequence[tuple[bool, str]]) -> None:
        """Take out of the last line the secrets that the lines before it ask for; others are, as it is saved.

        Args:
            said: those lines, each with whether the user said it.
        """
        with suppress(ImportError):
            import readline

            if typed := readline.get_current_history_length():
                readline.replace_history_item(typed - 1, take_answer(line, said)[0])

    def save(self) -> None:
        """Keep them for the next time, without their secrets."""
        with suppress(ImportError, OSError):
            import readline

            for i in range(readline.get_current_history_length()):
                readline.replace_history_item(i, redact(readline.get_history_item(i + 1)))
            path = settings_module.home() / FILE
            path.touch(mode=0o600)
            readline.write_history_file(path)

    def cache_clear(self) -> None:
        """Delete them: they may hold the words of what is erased."""
        with suppress(OSError):
            (settings_module.home() / FILE).unlink(missing_ok=True)
        with suppress(ImportError):
            import readline

            readline.clear_history()
