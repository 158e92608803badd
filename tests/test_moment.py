"""The picture on the first page is what a run says, and what turns the run is the note."""

from pathlib import Path

import moment
import moving

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "moment.svg"


def test_the_picture_shows_the_run_to_the_letter() -> None:
    """Each hook and each command of the run is a process, hence the seconds."""
    assert moving.picture((moment.coding(), moment.remembering())) == PICTURE.read_text("utf-8")


def test_without_the_hook_the_same_agent_does_not_get_there() -> None:
    said = [line.text for line in moment.coding(hooked=False)]
    assert said.count("AssertionError: 117.0 != 119.0") == moment.MOST_STEPS // 2
    assert "OK" not in said
