"""The type of a model, for those who hold one and need not know whose it is; at run time it costs no import."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.models import Model as FrameworkModel

    from insula.llm.callback import CallbackModel
    from insula.llm.compatible import AddressedModel

    Model = FrameworkModel | AddressedModel | CallbackModel
else:
    Model = Any

__all__ = ["Model"]
