"""What Insula gathers of transcripts, without the command."""

from pathlib import Path

from insula.coding.replay.find import find_transcripts
from insula.coding.replay.gather import Gathered, gather_sessions


def look(*paths: Path) -> Gathered:
    """What is gathered of some transcripts."""
    return gather_sessions(find_transcripts(paths))
