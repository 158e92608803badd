"""Factory droid (experimental, from its documents): Claude Code's events, but none for a tool that failed."""

from insula.coding.hosts.dialects import BaseDialect, read_call
from insula.coding.hosts.payload import Payload, collect_text
from insula.coding.step.action import Action


class DroidDialect(BaseDialect):
    """What droid sends and reads."""

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call; whether it failed is told by its words alone."""
        return read_call(payload, at, collect_text(payload.get("tool_response")))


DIALECT = DroidDialect
