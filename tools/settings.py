"""docs/reference/settings.md, from the settings' own comments: `python tools/settings.py [--check]`."""

import sys
from pathlib import Path

from insula.cli.config import write_commented

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"
HEAD = """# Settings

Settings stand in `insula.toml` in Insula's folder; `insula config path` names the file. Each is also read from the
environment as `INSULA_NAME`, which wins. `insula config show` prints those in force, and `insula config init` writes
this file:

"""
TAIL = """
An `insula.toml` in the working folder may set numbers and the time zone, and nothing else: a repository cannot choose
your model, store or identity ([security](../explanation/security.md)).

| variable | |
|---|---|
| `INSULA_HOME` | moves Insula's folder, and that of the hooks |
| `INSULA_USER` | the user of the commands; `me` by default |
| `INSULA_OFF=1` | switches the hooks of coding agents off for one process |
| `INSULA_USERS` | time zones of users, as JSON: `{"ana": {"time_zone": "Europe/Berlin"}}` |
"""


def main() -> int:
    """Write the page; with `--check`, say whether it is as it would be written."""
    text = f"{HEAD}```toml\n{write_commented().strip()}\n```\n{TAIL}"
    if "--check" in sys.argv:
        return int(PAGE.read_text("utf-8") != text)
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
