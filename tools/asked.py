"""docs/reference/asked.json, what a night asks a model for, as JSON schemas: `python tools/asked.py [--check]`.

The version rises with each change that an answer of before would not fit.
"""

import json
import sys
from pathlib import Path

from insula.language.extract.answer import Answer
from insula.night.phases.reflection import Reflection
from insula.night.phases.summaries import SessionSummary
from insula.night.second_look import SecondLook

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "asked.json"
VERSION = 2


def main() -> int:
    """Write the page, or say whether it is what it would be."""
    forms = {"summary": SessionSummary, "statements": Answer, "reflection": Reflection, "second_look": SecondLook}
    schemas = {name: form.model_json_schema() for name, form in forms.items()}
    text = json.dumps({"version": VERSION, **schemas}, indent=2) + "\n"
    if "--check" in sys.argv:
        return int(not PAGE.exists() or PAGE.read_text("utf-8") != text)
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
