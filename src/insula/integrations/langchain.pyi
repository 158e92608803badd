# What type checkers see: at run time the base class is looked up when the module is imported (`guest.import_extra`).
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUntypedBaseClass=false
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware

from insula.integrations.guest import Guest, GuestOptions
from insula.metacognition import Blocking, Metacognition

class InsulaMiddleware(AgentMiddleware[Any, Any, Any]):
    guest: Guest
    def __init__(self, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> None: ...
