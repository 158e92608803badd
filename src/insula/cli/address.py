"""Where the server listens, and `insula status` looks for it, if nothing else is said."""

from typing import Final

HOST: Final = "127.0.0.1"
"""This machine alone."""
PORT: Final = 8787
"""One that is easily typed and seldom taken."""
PROXY_PORT: Final = 8788
