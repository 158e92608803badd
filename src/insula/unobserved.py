"""What stands in for the libraries of telemetry where they are not installed: nothing happens, whatever is asked."""

from typing import Any


class Nothing:
    """Takes any call and has any attribute, all of them itself; false, so that what depends on it is left out."""

    def __call__(self, *_: Any, **__: Any) -> "Nothing":
        return self

    def __getattr__(self, name: str) -> "Nothing":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __bool__(self) -> bool:
        return False


NOTHING = Nothing()
