# What type checkers see: at run time the base class is looked up when the module is imported (`guest.import_extra`).
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportUntypedBaseClass=false, reportUnknownMemberType=false
from typing import Any, Unpack

from agents import Model

from insula.integrations.guest import Guest, GuestOptions, talking
from insula.metacognition import Blocking, Metacognition

__all__ = ["InsulaModel", "talking", "wrapped"]

def wrapped(model: str | Model, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> InsulaModel: ...

class InsulaModel(Model):
    model: Model
    guest: Guest
    def __init__(self, model: Model, guest: Guest) -> None: ...
    async def get_response(self, *given: Any, **more: Any) -> Any: ...
    def stream_response(self, *given: Any, **more: Any) -> Any: ...
