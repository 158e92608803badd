"""What the session's records have in common: frozen, strict, and silent about what they do not know."""

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Record(BaseModel):
    """A frozen record that can be written as JSON; what is None is left out of it, never written as null or zero (S2).

    Raises:
        pydantic.ValidationError: a field is missing, unknown or out of range, or a number is not finite.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # No return annotation: with one, the JSON schema of a subclass would say "an object" and nothing of its fields.
    @model_serializer(mode="wrap")
    def _without_unknown(self, handler: SerializerFunctionWrapHandler):
        return {name: value for name, value in handler(self).items() if value is not None}
