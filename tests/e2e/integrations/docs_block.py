"""Follow docs/how-to/frameworks.md to the letter for one library: docs_block.py openai|langchain|pydantic_ai

Its block is saved as `agent.py` and the one that needs no key as `try.py`, and that is run in this environment. Prints
what the reader sees; exit status 1 where what was told does not stand before the model.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "frameworks.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
SEEN = "In Lisbon.\nWhere does my sister live?", "- My sister Mia lives in Lisbon."


def main() -> int:
    """Run the two files in a folder of their own."""
    found = BLOCK.findall(PAGE.read_text("utf-8"))
    (agent,) = (block for block in found if re.search(rf"^from {sys.argv[1]}[. ]", block, re.M))
    (attempt,) = (block for block in found if "FakeServer" in block)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "agent.py").write_text(agent, "utf-8")
        (Path(folder) / "try.py").write_text(attempt, "utf-8")
        command = [sys.executable, "try.py"]
        run = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    sys.stdout.write(run.stdout)
    return int(run.returncode != 0 or any(line not in run.stdout for line in SEEN))


if __name__ == "__main__":
    sys.exit(main())
