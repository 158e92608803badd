"""`python -m insula.cli`: the same as the command `insula`."""

from insula.cli.start import main

main()
