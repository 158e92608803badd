# What type checkers see: at run time the base class is looked up when the module is imported (`guest.import_extra`).
from typing import Any, Unpack

from pydantic_ai.capabilities import AbstractCapability

from insula.integrations.guest import Guest, GuestOptions
from insula.metacognition import Blocking, Metacognition

class Insula(AbstractCapability[Any]):
    guest: Guest
    def __init__(self, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> None: ...
