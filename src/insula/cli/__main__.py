"""`python -m insula.cli`: the same as the command `insula`."""

from insula.cli.main import main

main()
